"""The explorer: the release, utility and risks of one setting, updated as the user moves sliders."""

from importlib import import_module

HOMES = {
    "Setting": "setting", "apply_roles": "setting", "check_setting": "setting", "count_setting": "readings",
    "explore": "board", "list_numbers": "figures", "measure_setting": "readings", "parse_setting": "session",
}  # fmt: skip
__all__ = sorted(HOMES)
LIBRARIES = ("privnb.evaluation._preloaded", "privnb.explorer.board")  # preloaded in the kernels of the page


def __getattr__(name: str) -> object:
    """Import an object on first use, because a background process needs only the module `background`."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
