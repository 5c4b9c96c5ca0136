"""The searches behind the sanitizers, on integers alone: one algorithm a module."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
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


def drop_stale_kernels(kernel: Any) -> None:
    """Let numba compile all kernels of a folder anew after a change to any file: it compares each with its own file
    alone, not with those of the kernels that were compiled into it. `kernel`: one of them.
    """
    if not hasattr(kernel, "stats"):  # NUMBA_DISABLE_JIT leaves a plain function
        return
    changed = max(file.stat().st_mtime for file in Path(kernel.py_func.__code__.co_filename).parent.glob("*.py"))
    for index in Path(str(kernel.stats.cache_path)).glob("*.nbi"):
        with contextlib.suppress(FileNotFoundError):  # another process that starts now may drop it first
            if index.stat().st_mtime < changed:
                index.unlink()
