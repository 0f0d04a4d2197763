"""Runs: a file in, decisions out. What a row means, the run itself, and what it found."""
