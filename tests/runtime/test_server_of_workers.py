"""The server of worker processes says nothing where its parent is stopped."""

import os
import signal
import subprocess
import sys
import time

LOADS = """
import pathlib, time
pathlib.Path("begun").touch()
time.sleep(1)
pathlib.Path("loaded").touch()
"""
STARTS = """
import time
from privnb.runtime.processes import preload_server
try:
    preload_server("loads")
    time.sleep(30)
except KeyboardInterrupt:
    print("stopped")
"""


def test_a_stop_while_libraries_are_loaded_prints_no_traceback(tmp_path):
    (tmp_path / "loads.py").write_text(LOADS)
    process = subprocess.Popen(
        [sys.executable, "-c", STARTS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        start_new_session=True, env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.getcwd()])},
    )  # fmt: skip
    end = time.monotonic() + 30
    while not (tmp_path / "begun").exists() and time.monotonic() < end:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # to all of them, as a terminal does
    assert process.communicate(timeout=30) == ("stopped\n", "")
    assert (tmp_path / "loaded").exists()
