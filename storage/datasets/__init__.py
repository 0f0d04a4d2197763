"""Labelled decisions on their way out to trainers and back in: one file per format, one record type between them."""
