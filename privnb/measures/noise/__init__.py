"""Measures of the protection of values by noise, and of the reconstruction of distributions from noisy values."""
