"""What the columns of a table are: descriptions, their drafts, and the datasets that obey them."""

from __future__ import annotations

from typing import Any

__all__ = ["Dataset", "load", "load_studies"]


def __getattr__(name: str) -> Any:
    """Loaded when it is asked for: a process that only watches another one needs `progress`, and no pandas."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from privnb.datasets import dataset

    return getattr(dataset, name)
