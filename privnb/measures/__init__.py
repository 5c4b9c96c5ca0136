"""Measures by subject: plain functions that score what a release keeps and what it gives away."""
