"""What leaves: releases of files and frames of any length, and the gate that decides whether they may."""

from privnb.publishing.any_length import sanitize

__all__ = ["sanitize"]
