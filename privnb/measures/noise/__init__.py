"""Measures of noise: its protection of values, and the reconstruction of distributions."""
