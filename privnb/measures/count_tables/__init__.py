"""Measures of tables of counts and totals."""
