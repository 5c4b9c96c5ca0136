"""Attacks that link people to their rows."""
