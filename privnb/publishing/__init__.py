"""Releases of files and frames of any length, and the gate that decides whether a release may be published."""

from privnb.publishing.sanitize_table import sanitize

__all__ = ["sanitize"]
