"""Scripts that print the numbers quoted elsewhere. A package so that `benchmarks.model` is not taken for `model`."""
