"""The searches behind the sanitizers, on integers alone: one algorithm a module."""

import contextlib

from privnb.runtime import progress


@contextlib.contextmanager
def announced_compiling():
    """Say so if numba compiles a kernel inside, as it does at the first use on a machine."""
    from numba.core import event

    class Compiling(event.Listener):
        def on_start(self, event):
            progress.say("Compiling: the first time on a machine takes some seconds more.")

        def on_end(self, event):
            pass

    with event.install_listener("numba:compile", Compiling()):
        yield
