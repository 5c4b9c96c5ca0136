"""Attacks, each of which simulates an adversary who has a release and some knowledge about people in the release."""

from typing import Any

from privnb.runtime.deprecation import warn_renamed
from privnb.runtime.registry import import_lazily

RENAMED = {
    "EnhancedIca": "EnhancedICA", "Ica": "ICA", "PcaRemoval": "PCARemoval", "SampleIca": "SampleICA",
    "SvdFiltering": "SVDFiltering",
}  # fmt: skip

_find, __dir__ = import_lazily(__name__, "Attack", Attack="base")


def __getattr__(name: str) -> Any:
    if name in RENAMED:
        warn_renamed(name, RENAMED[name])
    return _find(RENAMED.get(name, name))
