"""The kernels of the report and of the explorer, which are copies of a server process that has loaded libraries.

A kernel that Jupyter starts needs 4.8 s of processor time to load the libraries, while a copy is ready in 0.2 s. A
report runs up to 15 kernels, and each page of the explorer waits for a kernel.
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

BEGINNING = threading.Lock()  # a report starts several kernels at once, and the server makes one copy at a time


class Copy:
    """A process of multiprocessing that has the methods of `subprocess.Popen` that jupyter_client calls."""

    stdin = stdout = stderr = None

    def __init__(self, process: BaseProcess) -> None:
        assert process.pid is not None, "it has started"
        self._process, self.pid = process, process.pid
        self.terminate, self.kill = process.terminate, process.kill

    def poll(self) -> int | None:
        """Return the exit code; return None while the process runs."""
        return self._process.exitcode

    def wait(self) -> int | None:
        """Wait for the end of the process, and return its exit code."""
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send a signal to the process unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)


class Copied(LocalProvisioner):
    """A provisioner of jupyter_client whose kernels are copies; the kernel's manager keeps the `Copy` as `copy`."""

    async def launch_kernel(self, cmd: list[str], **asked: Any) -> KernelConnectionInfo:
        """Start a copy of the server as a kernel, and return the facts that are needed to connect to the kernel."""
        manager: OfCopies = self.parent  # type: ignore[assignment]
        given = manager.connection_file, asked["env"], asked.get("cwd") or os.getcwd(), manager.silent
        with BEGINNING, processes.start_workers(*manager.libraries) as context:
            process = context.Process(target=run_kernel, args=given)
            with processes.hide_script():
                process.start()
        self.process = manager.copy = Copy(process)  # type: ignore[assignment]
        self.pid = self.pgid = process.pid
        return self.connection_info


class OfCopies(AsyncKernelManager):
    """A manager of jupyter_client whose kernels are `Copied`.

    The sockets of these kernels are files and not ports. A port that is free when a manager looks for a port may be in
    use when the kernel opens it, and the kernel then ends. This happened to one of 200 kernels when eight kernels
    started at the same time.
    """

    libraries: tuple[str, ...] = ()  # modules that the server loads
    silent = False  # whether the output of a kernel to its terminal is discarded
    copy: Copy | None = None

    async def _async_pre_start_kernel(self, **asked: Any) -> tuple[list[str], dict[str, Any]]:
        if self.provisioner is None:  # a kernel that starts again keeps its provisioner
            self.provisioner = Copied(kernel_id="", kernel_spec=self.kernel_spec, parent=self)
            self.transport, self.ip = "ipc", sockets(asked.get("env", {}).get("TMPDIR") or tempfile.gettempdir())
        return await super()._async_pre_start_kernel(**asked)


def sockets(folder: str) -> str:
    """Return the beginning of the names of a kernel's sockets.

    Such a name may have at most 103 bytes on macOS, and 107 bytes on Linux. The sockets are therefore not next to the
    connection file. They are in the folder for temporary files if the name of this folder is short enough, and
    otherwise in /tmp.
    """
    name = f"privnb-{secrets.token_hex(8)}"
    begins = os.path.join(folder, name)
    return begins if len(os.fsencode(begins)) <= 100 else f"/tmp/{name}"


def run_kernel(file: str, environment: Mapping[str, str], folder: str, silent: bool) -> None:
    """Run a kernel in this process, in a new session, with the sockets that a connection file states."""
    os.setsid()  # its manager stops it, not the signals to the parent's group
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    if silent:
        processes.silence_output()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    tempfile.tempdir = None  # use the folder that the environment names
    sys.path.insert(0, folder)  # for its workers, for whom '' is the folder where the server started
    gc.freeze()  # the libraries have a million objects, which every collection would visit
    app = IPKernelApp.instance(parent_handle=os.getppid())
    app.initialize(["-f", file])
    app.start()


def _end_with_the_parent() -> None:
    """End this process when the process that requested the kernel ends or is killed; this is not the server."""
    if parent := multiprocessing.parent_process():
        parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
