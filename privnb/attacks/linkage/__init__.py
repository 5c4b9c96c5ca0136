"""Attacks that find the row of a person."""
