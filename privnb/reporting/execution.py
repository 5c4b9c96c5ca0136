"""One notebook run by papermill, in a process made for it: papermill changes the working folder of its whole process.

That process and its kernel are copies of one that has loaded the libraries, which else takes each of them seconds.
"""

import multiprocessing
import os
import signal
import sys
import tempfile

import papermill
from jupyter_client.manager import AsyncKernelManager

from privnb.reporting.kernels import Copy, OfCopies, end_with_the_parent, serve
from privnb.runtime import processes, progress


def execute(source, copy, folder, values, environment):
    """Run the notebook `source` in `folder` with the parameters `values`; write what comes of it to `copy`.

    `environment`: all that the environment says there. The process ends with the one that began it, if only by a kill.
    """
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # that of the environment
    processes.silence()
    processes.share_the_server()
    kernel = _Kernel()  # before this process has threads, for a copy has them as they stand
    hangs_up = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN  # under nohup the report goes on
    for number in [signal.SIGTERM] + [signal.SIGHUP] * hangs_up:
        signal.signal(number, lambda *_: sys.exit(1))  # unwinds, and so shuts the kernel down
    end_with_the_parent()
    try:
        papermill.execute_notebook(
            source,
            copy,
            values,
            kernel_name="python3",
            language="python",  # whatever the notebook says of itself, or does not say
            progress_bar=False,
            cwd=folder,
            iopub_timeout=60,  # its own 4 s are too few on a busy machine
            record_timing=False,
            store_widget_state=False,
            coalesce_streams=True,
            on_cell_start=lambda cell, cell_index: progress.note(cell=cell_index, step=""),
            kernel_manager_class=type("_Manager", (_Manager,), {"copied": staticmethod(kernel.begin)}),
        )
    except Exception as error:
        progress.note(error=f"{type(error).__name__}: {' '.join(str(error).split())}")
        sys.exit(1)
    finally:
        kernel.kill()


class _Kernel(Copy):
    """A copy of this process that becomes a kernel as soon as its connection file is there."""

    def __init__(self):
        context = multiprocessing.get_context("fork")
        waiting, self._ready = context.Pipe(duplex=False)
        process = context.Process(target=_serve, args=(waiting, self._ready))
        process.start()
        super().__init__(process)

    def begin(self, *given):
        self._ready.send(given)
        return self


class _Manager(OfCopies, AsyncKernelManager):
    """Its class says what it has `copied`: nbclient makes it."""


def _serve(waiting, ready):
    os.setsid()  # signals to the report's group do not stop it: its manager does
    ready.close()  # so that the end of the other process is the end of waiting
    serve(*waiting.recv())
