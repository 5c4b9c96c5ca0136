"""Measures of noise and randomization: how much they hide, and what can be reconstructed."""
