"""The statistics of calibration: arrays in, numbers out. No page, no database, no model.

Contract
--------
* An *event* is `p` (n,) float64 in [0, 1], what was said, and `y` (n,) bool, whether it was so; `weights` (n,) are
  relative and positive, None means equal. Functions never draw from a global generator: they take a
  `numpy.random.Generator`, so that a page shows the same figure twice.
* What cannot be known is NaN, never 0. Whether there are enough labels to say a figure is `needs.missing`.
"""
