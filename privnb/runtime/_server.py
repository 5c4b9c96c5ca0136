"""The module that makes the server of `processes.start_workers` ignore Ctrl-C; the server imports it first.

The process that started the server responds to Ctrl-C. Without this module, Ctrl-C while the server loads libraries
would print a traceback of these libraries. In any other process, the module does nothing.
"""

import os
import signal

from privnb.runtime.processes import SERVER

if os.environ.get(SERVER):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
