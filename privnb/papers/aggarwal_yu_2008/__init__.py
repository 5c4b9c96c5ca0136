"""Aggarwal and Yu 2008, the book: the printed numbers of the chapters on a single table, computed again."""
