"""One notebook run by papermill, in a process made for it: papermill changes the working folder of its whole process.

That process and its kernel are copies of one that has loaded the libraries, which else takes each of them seconds.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import threading

import papermill
from ipykernel.kernelapp import IPKernelApp
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner

from privnb.microdata import progress


def execute(source, copy, folder, values, environment):
    """Run the notebook `source` in `folder` with the parameters `values`; write what comes of it to `copy`.

    `environment`: all that the environment says there. The process ends with the one that began it, if only by a kill.
    """
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # that of the environment
    silent = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(silent, number)
    kernel = _Kernel()  # before this process has threads, for a copy has them as they stand
    hangs_up = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN  # under nohup the report goes on
    for number in [signal.SIGTERM] + [signal.SIGHUP] * hangs_up:
        signal.signal(number, lambda *_: sys.exit(1))  # unwinds, and so shuts the kernel down
    threading.Thread(target=_end_with_the_report, daemon=True).start()
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
            kernel_manager_class=type("_Manager", (_Manager,), {"kernel": kernel}),
        )
    except Exception as error:
        progress.note(error=f"{type(error).__name__}: {' '.join(str(error).split())}")
        sys.exit(1)
    finally:
        kernel.kill()


def _end_with_the_report():
    multiprocessing.parent_process().join()
    os.kill(os.getpid(), signal.SIGTERM)


class _Kernel:
    """A copy of this process that becomes a kernel as soon as its connection file is there; what jupyter_client asks
    of it is what a `subprocess.Popen` has."""

    stdin = stdout = stderr = None

    def __init__(self):
        context = multiprocessing.get_context("fork")
        waiting, self._ready = context.Pipe(duplex=False)
        self._process = context.Process(target=_serve, args=(waiting, self._ready))
        self._process.start()
        self.pid = self._process.pid

    def begin(self, file, environment, folder):
        self._ready.send((file, environment, folder))

    def poll(self):
        return self._process.exitcode

    def wait(self):
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)

    def terminate(self):
        self._process.terminate()

    def kill(self):
        self._process.kill()


class _Copied(LocalProvisioner):
    async def launch_kernel(self, cmd, **asked):
        self.process = self.parent.kernel
        self.pid = self.pgid = self.process.pid
        self.process.begin(self.parent.connection_file, asked["env"], os.getcwd())
        return self.connection_info


class _Manager(AsyncKernelManager):
    """Its class says which `kernel`: nbclient makes it."""

    async def _async_pre_start_kernel(self, **asked):
        self.provisioner = _Copied(kernel_id="", kernel_spec=self.kernel_spec, parent=self)
        return await super()._async_pre_start_kernel(**asked)


def _serve(waiting, ready):
    os.setsid()  # signals to the report's group do not stop it: its manager does
    ready.close()  # so that the end of the other process is the end of waiting
    file, environment, folder = waiting.recv()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path.insert(0, folder)  # for its workers, to whom '' is where the first of these processes began
    app = IPKernelApp.instance(parent_handle=os.getppid())
    app.initialize(["-f", file])
    app.start()
