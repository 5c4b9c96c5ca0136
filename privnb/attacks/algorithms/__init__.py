"""Algorithms of attacks on plain arrays, in which rows are records and columns are attributes."""
