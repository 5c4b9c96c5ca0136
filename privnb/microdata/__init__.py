"""A table that obeys a schema, how its values generalize, how it is counted, and what was published of it."""

__all__ = ["Dataset", "load", "load_studies"]


def __getattr__(name):
    """Loaded when it is asked for: a process that only watches another one needs `progress`, and no pandas."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from privnb.microdata import dataset

    return getattr(dataset, name)
