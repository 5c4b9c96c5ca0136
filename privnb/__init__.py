"""Measure privacy and utility of sanitized microdata.

`from privnb import load, Mondrian, KAnonymity, Linkage`: what most people need is listed in `__init__.pyi`, and what
else the rooms export is here by name too. All of it is loaded when it is asked for.
"""

import time
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import lazy_loader

BEGAN = time.time()  # no file of the package was loaded before
ROOMS = ("datasets", "privacy_models", "sanitizers", "attacks", "evaluation", "publishing")  # in the order of the loop

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # which takes longer than all else here

        return version("privnb")
    if name in __all__:
        return _load(name)
    if not name.startswith("_"):
        if find_spec(f"privnb.{name}"):
            return import_module(f"privnb.{name}")
        for room in ROOMS:
            module = import_module(f"privnb.{room}")
            if hasattr(module, name) and name in module.__all__:
                return getattr(module, name)
    raise AttributeError(f"privnb has no '{name}'. It has what {', '.join(ROOMS)} export, and `dir(privnb)` lists.")
