"""The first module of the server of `processes.served`: it ignores Ctrl-C, which the process that started it answers.

Else a stop while the server loads its libraries would print a traceback of theirs. Elsewhere this module does nothing.
"""

import os
import signal

from privnb.runtime.processes import SERVER

if os.environ.get(SERVER):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
