"""The searches behind the sanitizers, on integers alone: one algorithm a module."""

import contextlib

from privnb.microdata import progress


@contextlib.contextmanager
def told_of_compiling():
    """People are told if numba compiles a kernel inside, as the first use on a machine does."""
    from numba.core import event

    class Told(event.Listener):
        def on_start(self, event):
            progress.say("Compiling: the first time on a machine takes some seconds more.")

        def on_end(self, event):
            pass

    with event.install_listener("numba:compile", Told()):
        yield
