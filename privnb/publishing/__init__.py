"""Releases of files and frames of any length, and the gate that decides whether these may be published."""

from privnb.publishing.sanitize_table import sanitize

__all__ = ["sanitize"]
