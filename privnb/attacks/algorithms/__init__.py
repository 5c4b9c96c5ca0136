"""Algorithms of attacks, on plain arrays: rows are records, and columns are attributes."""
