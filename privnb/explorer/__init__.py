"""The explorer: what one setting publishes, keeps and gives away, live beside sliders."""

from importlib import import_module

HOMES = {
    "Setting": "setting", "asked": "board", "checked": "setting", "counted": "numbers", "explore": "board",
    "listed": "figures", "measured": "numbers", "your_table": "roles",
}  # fmt: skip
__all__ = sorted(HOMES)
LIBRARIES = ("privnb.evaluation._preloaded", "privnb.explorer.board")  # what the kernels of the page begin with


def __getattr__(name: str) -> object:
    """Loaded when it is asked for: a process beside the interface begins with `work` alone."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
