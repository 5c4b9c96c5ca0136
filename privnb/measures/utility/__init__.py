"""Measures of the utility of a release for its users."""
