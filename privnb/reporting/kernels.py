"""Kernels of the report and of the explorer: each is a copy of a server process that has loaded the libraries.

This is why Jupyter does not start them itself: such a kernel loads the libraries for 4.8 s of processor time, and a
copy is ready in 0.2 s. A report runs up to 15 kernels, and each page of the explorer waits for one.
"""

import gc
import multiprocessing
import os
import secrets
import signal
import sys
import tempfile
import threading
from collections.abc import Mapping
from multiprocessing.process import BaseProcess
from typing import Any

from ipykernel.kernelapp import IPKernelApp
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from privnb.runtime import processes

BEGINNING = threading.Lock()  # of a report several kernels begin at once, and the server is asked for one at a time


class Copy:
    """A process of multiprocessing with what jupyter_client asks of a `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, process: BaseProcess) -> None:
        assert process.pid is not None, "it has started"
        self._process, self.pid = process, process.pid
        self.terminate, self.kill = process.terminate, process.kill

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:  # one that has ended gets none
            os.kill(self.pid, number)


class Copied(LocalProvisioner):
    """The provisioner whose kernels are copies; its manager keeps their `Copy` as `copy`."""

    async def launch_kernel(self, cmd: list[str], **asked: Any) -> KernelConnectionInfo:
        manager: OfCopies = self.parent  # type: ignore[assignment]
        given = manager.connection_file, asked["env"], asked.get("cwd") or os.getcwd(), manager.silent
        with BEGINNING, processes.served(*manager.libraries) as context:
            process = context.Process(target=serve, args=given)
            with processes.without_script():
                process.start()
        self.process = manager.copy = Copy(process)  # type: ignore[assignment]
        self.pid = self.pgid = process.pid
        return self.connection_info


class OfCopies(AsyncKernelManager):
    """A manager of jupyter_client whose kernels are `Copied`.

    Their sockets are files: a port of the machine that is free when a manager looks for one may be taken when its
    kernel, started next to others, comes to it, which then ends. Of 200 that started by eights, one did.
    """

    libraries: tuple[str, ...] = ()  # modules that the server loads
    silent = False  # whether nothing that a kernel writes to its terminal is seen
    copy: Copy | None = None

    async def _async_pre_start_kernel(self, **asked: Any) -> tuple[list[str], dict[str, Any]]:
        if self.provisioner is None:  # it remains when a kernel starts again
            self.provisioner = Copied(kernel_id="", kernel_spec=self.kernel_spec, parent=self)
            self.transport, self.ip = "ipc", sockets(asked.get("env", {}).get("TMPDIR") or tempfile.gettempdir())
        return await super()._async_pre_start_kernel(**asked)


def sockets(folder: str) -> str:
    """Return how the names of a kernel's sockets begin. They may have 103 bytes (macOS; on Linux 107), so they are not
    next to its connection file, and in this folder for temporary files only where its name leaves room.
    """
    name = f"privnb-{secrets.token_hex(8)}"
    begins = os.path.join(folder, name)
    return begins if len(os.fsencode(begins)) <= 100 else f"/tmp/{name}"


def serve(file: str, environment: Mapping[str, str], folder: str, silent: bool) -> None:
    """Be a kernel, in a process of its own session, as a connection file says."""
    os.setsid()  # signals to the parent's group do not stop it: its manager does
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    if silent:
        processes.silence()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    tempfile.tempdir = None  # that of the environment
    sys.path.insert(0, folder)  # for its workers, to whom '' is where the first of these processes began
    gc.freeze()  # the libraries are a million objects, and a collection looks at all of them
    app = IPKernelApp.instance(parent_handle=os.getppid())
    app.initialize(["-f", file])
    app.start()


def _end_with_the_parent() -> None:
    """End this process with the one that began it, if only by a kill; that is not the server that it is a copy of."""
    if parent := multiprocessing.parent_process():
        parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
