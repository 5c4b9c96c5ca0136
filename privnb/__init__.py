"""Measure privacy and utility of sanitized microdata."""
