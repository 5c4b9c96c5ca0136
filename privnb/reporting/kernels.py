"""Kernels that are copies of a process that has loaded the libraries, which else takes each of them seconds."""

import gc
import multiprocessing
import os
import secrets
import signal
import sys
import tempfile
import threading

from ipykernel.kernelapp import IPKernelApp
from jupyter_client.provisioning import LocalProvisioner


class Copy:
    """A process of multiprocessing as jupyter_client asks for one: it has what a `subprocess.Popen` has."""

    stdin = stdout = stderr = None

    def __init__(self, process):
        self._process, self.pid = process, process.pid
        self.terminate, self.kill = process.terminate, process.kill

    def poll(self):
        return self._process.exitcode

    def wait(self):
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number):
        if self.poll() is None:  # one that has ended gets none
            os.kill(self.pid, number)


class Copied(LocalProvisioner):
    """Its manager's `copied(connection file, environment, folder)` gives the `Copy`, which comes to `serve`."""

    async def launch_kernel(self, cmd, **asked):
        folder = asked.get("cwd") or os.getcwd()
        self.process = self.parent.copied(self.parent.connection_file, asked["env"], folder)
        self.pid = self.pgid = self.process.pid
        return self.connection_info


class OfCopies:
    """What makes a manager of jupyter_client one of `Copied` kernels.

    They are talked to by sockets that are files: a port of the machine that is free when a manager looks for one may be
    taken when its kernel, started beside others, comes to it, which then ends. Of 200 that started by eights, one did.
    """

    async def _async_pre_start_kernel(self, **asked):
        if self.provisioner is None:  # it remains when a kernel starts again
            self.provisioner = Copied(kernel_id="", kernel_spec=self.kernel_spec, parent=self)
            self.transport, self.ip = "ipc", sockets()
        return await super()._async_pre_start_kernel(**asked)


def sockets():
    """How the names of a kernel's sockets begin. They may have 103 bytes (macOS; of Linux 107), so they are not beside
    its connection file, and in a folder for what is temporary only where its name leaves room.
    """
    name = f"privnb-{secrets.token_hex(8)}"
    begins = os.path.join(tempfile.gettempdir(), name)
    return begins if len(os.fsencode(begins)) <= 100 else f"/tmp/{name}"


def end_with_the_parent():
    """From now on this process of multiprocessing ends with the one that began it, if only by a kill."""

    def wait():
        multiprocessing.parent_process().join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


def serve(file, environment, folder):
    """Be a kernel, in a process of its own session, as a connection file says."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path.insert(0, folder)  # for its workers, to whom '' is where the first of these processes began
    gc.freeze()  # the libraries are a million objects, and a collection looks at all of them
    app = IPKernelApp.instance(parent_handle=os.getppid())
    app.initialize(["-f", file])
    app.start()
