"""What the columns of a table are: descriptions, their drafts, and the datasets that obey them."""

__all__ = ["Dataset", "load", "load_studies"]


def __getattr__(name):
    """Loaded when it is asked for: a process that only watches another one needs `progress`, and no pandas."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from privnb.datasets import dataset

    return getattr(dataset, name)
