"""Kernels of the page: copies of a server that has loaded the libraries, which else takes seconds."""

import os

from jupyter_server.services.kernels.kernelmanager import ServerKernelManager

from privnb.explorer import LIBRARIES
from privnb.reporting.kernels import Copy, OfCopies, end_with_the_parent, serve
from privnb.runtime import processes


class Kernel(OfCopies, ServerKernelManager):
    """The manager of one."""

    def copied(self, *given):
        with processes.served(*LIBRARIES) as context:
            process = context.Process(target=_serve, args=given)
            process.start()
        return Copy(process)


def _serve(*given):
    os.setsid()  # signals to the server's group do not stop it: its manager does
    end_with_the_parent()  # which is the server, and not the process that this is a copy of
    serve(*given)
