"""Measures of disclosure by published tables of counts and totals."""
