"""Measures by subject: plain functions that score what a release keeps and what it gives away."""

from privnb.measures.base import Measure, facts, measure, state, stated

__all__ = ["Measure", "facts", "measure", "state", "stated"]
