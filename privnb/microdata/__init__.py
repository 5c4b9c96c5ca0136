"""Schemas, the generalization of values, counts of records, and releases."""
