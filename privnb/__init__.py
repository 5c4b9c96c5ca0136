"""Measure privacy and utility of sanitized microdata.

What the rooms of the loop export is here by name, loaded when it is asked for:
`from privnb import load, Mondrian, KAnonymity, Linkage`.
"""

import time
from importlib import import_module
from importlib.util import find_spec
from typing import Any

BEGAN = time.time()  # no file of the package was loaded before
ROOMS = ("datasets", "privacy_models", "sanitizers", "attacks", "evaluation", "publishing")  # in the order of the loop


def __getattr__(name: str) -> Any:
    if name == "__all__":  # what `from privnb import *` gives; nothing is loaded until it is asked for
        return _offered()
    if name == "__version__":
        from importlib.metadata import version  # which takes longer than all else here

        return version("privnb")
    if not name.startswith("_"):
        if find_spec(f"privnb.{name}"):
            return import_module(f"privnb.{name}")
        for room in ROOMS:
            module = import_module(f"privnb.{room}")
            if name in module.__all__:
                return getattr(module, name)
    raise AttributeError(f"privnb has no '{name}'. It has what {', '.join(ROOMS)} list in `__all__`.")


def __dir__() -> list[str]:
    return sorted([*_offered(), *(name for name in globals() if name.startswith("__"))])


def _offered() -> list[str]:
    return sorted({*ROOMS, *(name for room in ROOMS for name in import_module(f"privnb.{room}").__all__)})
