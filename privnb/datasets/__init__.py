"""Descriptions of the columns of tables, drafts of descriptions, and datasets that conform to descriptions."""

from __future__ import annotations

from typing import Any

__all__ = ["Dataset", "load", "load_studies"]


def __getattr__(name: str) -> Any:
    """Return an object of `__all__`, which is imported on first use, because some processes do not need pandas."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from privnb.datasets import dataset

    return getattr(dataset, name)
