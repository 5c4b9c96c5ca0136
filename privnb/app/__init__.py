"""The app: one program that leads from the file of a table to a signed release card."""

from importlib import import_module

from privnb import explorer

HOMES = {"open_table": "program"}
__all__ = sorted(HOMES)
LIBRARIES = (*explorer.LIBRARIES, "privnb.app.program")  # preloaded in the kernels of the page


def __getattr__(name: str) -> object:
    """Import an object on first use, because importing widgets takes long."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
