"""Kernels of the page, in which the libraries of the board are already loaded."""

from jupyter_server.services.kernels.kernelmanager import ServerKernelManager

from privnb.app import LIBRARIES
from privnb.reporting.kernels import OfCopies


class Kernel(OfCopies, ServerKernelManager):
    """The manager of one kernel."""

    libraries = LIBRARIES
