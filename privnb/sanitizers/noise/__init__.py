"""Sanitizers that add noise to numbers or randomize categories."""
