"""The searches behind the sanitizers, on integers alone: one algorithm a module."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from privnb.runtime import progress


@contextlib.contextmanager
def announced_compiling() -> Iterator[None]:
    """Say so if numba compiles a kernel inside, as it does at the first use on a machine."""
    from numba.core import event

    class Compiling(event.Listener):
        def on_start(self, event: Any) -> None:
            progress.say("Compiling: the first time on a machine takes some seconds more.")

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Compiling()):
        yield
