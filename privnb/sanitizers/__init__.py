"""Sanitizers in families, with one sanitizer per file; each sanitizer turns a Dataset into a Release."""

from typing import Any

from privnb.runtime.deprecation import warn_renamed
from privnb.runtime.registry import import_lazily

RENAMED = {"Ipso": "IPSO", "Mask": "MASK", "Pram": "PRAM"}

_find, __dir__ = import_lazily(__name__, "Sanitizer", Sanitizer="base", SanitizationError="errors", MASK="mask_scheme")


def __getattr__(name: str) -> Any:
    if name in RENAMED:
        warn_renamed(name, RENAMED[name])
    return _find(RENAMED.get(name, name))
