"""Kernels of the page, which begin with the libraries of its board."""

from jupyter_server.services.kernels.kernelmanager import ServerKernelManager

from privnb.explorer import LIBRARIES
from privnb.reporting.kernels import OfCopies


class Kernel(OfCopies, ServerKernelManager):
    """The manager of one."""

    libraries = LIBRARIES
