"""Aggarwal and Yu 2008, the book: the printed numbers of its chapters on one table, computed again."""
