"""Measures by subject, which are functions that score the information that a release keeps or discloses."""

from typing import Any

from privnb.measures.base import Measure, list_measures, measure, measure_facts, register_measure
from privnb.runtime.deprecation import warn_renamed

__all__ = ["Measure", "list_measures", "measure", "measure_facts", "register_measure"]
RENAMED = {"facts": "measure_facts", "state": "register_measure", "stated": "list_measures"}


def __getattr__(name: str) -> Any:
    """Return the function that had the name `name` in an earlier version, and warn about the old name."""
    if name not in RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warn_renamed(name, RENAMED[name])
    return globals()[RENAMED[name]]
