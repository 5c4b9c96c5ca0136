"""The search algorithms of the sanitizers, one per module; the algorithms read only integers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from privnb.runtime import progress


@contextlib.contextmanager
def announce_compiling() -> Iterator[None]:
    """Announce it if numba compiles a kernel in this block, as numba does when a machine first uses the kernel."""
    from numba.core import event

    class Compiling(event.Listener):
        def on_start(self, event: Any) -> None:
            progress.warn_once("Compiling: the first time on a machine takes some seconds more.")

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Compiling()):
        yield


def drop_stale_kernels(kernel: Any) -> None:
    """Make numba compile all kernels of a folder again after a change to any file in the folder.

    Numba looks for changes only in the file of each kernel, not in the files of other kernels that are compiled into
    this kernel. `kernel` is one of the kernels of the folder.
    """
    if not hasattr(kernel, "stats"):  # NUMBA_DISABLE_JIT leaves a plain function
        return
    changed = max(file.stat().st_mtime for file in Path(kernel.py_func.__code__.co_filename).parent.glob("*.py"))
    for index in Path(str(kernel.stats.cache_path)).glob("*.nbi"):
        with contextlib.suppress(FileNotFoundError):  # another process that starts now may delete it first
            if index.stat().st_mtime < changed:
                index.unlink()
