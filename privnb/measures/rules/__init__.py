"""Measures of association rules and of hidden rules."""
