"""Aggarwal and Yu 2008, the book: what its chapters on one table print, computed again."""
