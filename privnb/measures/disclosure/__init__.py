"""Measures of what a release discloses about people."""
