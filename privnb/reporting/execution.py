"""One notebook run by papermill, in a process made for it: papermill changes the working folder of its whole process.

A module of its own, for this process needs nothing else of the package.
"""

import json
import os
import signal
import sys
import threading

from privnb.microdata import progress


def execute(source, copy, folder, values):
    """Run the notebook `source` in `folder` with the parameters `values`, as JSON; write what comes of it to `copy`."""
    hangs_up = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN  # under nohup the report goes on
    for number in [signal.SIGTERM] + [signal.SIGHUP] * hangs_up:
        signal.signal(number, lambda *_: sys.exit(1))  # unwinds, and so shuts the kernel down
    threading.Thread(target=_end_with_the_report, daemon=True).start()
    try:
        import papermill

        papermill.execute_notebook(
            source,
            copy,
            json.loads(values),
            kernel_name="python3",
            language="python",  # whatever the notebook says of itself, or does not say
            progress_bar=False,
            cwd=folder,
            iopub_timeout=60,  # its own 4 s are too few on a busy machine
            record_timing=False,
            store_widget_state=False,
            coalesce_streams=True,
            on_cell_start=lambda cell, cell_index: progress.note(cell=cell_index, step=""),
        )
    except Exception as error:
        progress.note(error=f"{type(error).__name__}: {' '.join(str(error).split())}")
        sys.exit(1)


def _end_with_the_report():
    os.read(0, 1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    execute(*sys.argv[1:])
