"""Measures of what a release keeps for its users."""
