"""Attacks that recover values from noisy or transformed numbers."""
