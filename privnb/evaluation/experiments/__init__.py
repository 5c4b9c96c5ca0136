"""Experiments of the pages on any table, over a store."""
