"""Attacks that guess an attribute of people."""
