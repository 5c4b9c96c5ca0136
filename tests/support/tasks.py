"""What tests of stores have computed, and the scripts that do it: no more than a worker needs to load."""

import json
import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

from privnb.evaluation import store
from privnb.evaluation.digests import list_sources
from privnb.evaluation.results import tidy
from support.results_frame import made

LOG = "TASKS_LOG"  # a file that counts the evaluations; no argument, which would be part of the key


def noted(number):
    with open(os.environ[LOG], "a", encoding="utf-8") as file:
        file.write(f"{number}\n")


def step(number, scale=1.0):
    """Tidy results with floats of every digit."""
    noted(number)
    time.sleep(0.2)
    draws = scale * np.random.default_rng(number).standard_normal(3)
    return tidy(
        [made("made up", "Identity", "", 1, f"draw {i}", "", "", x, x / 3, np.nan, 0.0) for i, x in enumerate(draws)]
    )


def value(given):
    noted("value")
    return given


def failing(number):
    if number == 2:
        raise ZeroDivisionError("in the second")
    return number


def slow(number):
    """Takes a minute; the number 0 fails as soon as another is at work."""
    noted(os.getpid())
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        if number == 0 and Path(os.environ[LOG]).read_text(encoding="utf-8").count("\n") > 1:
            raise ZeroDivisionError("in the first")
        time.sleep(0.05)
    noted("waited")
    return number


def interrupting():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.1)
    return 1


def dying():
    os._exit(9)


def worker(number):
    time.sleep(0.05)
    return os.getpid()


def threads():
    return int(os.environ["OMP_NUM_THREADS"])


def unloaded():
    return len(list_sources().keys() - sys.modules.keys())


def steps(folder, number):
    """The floats of so many steps, as text."""
    results = store.run_tasks([partial(step, place) for place in range(number)], store.Store(folder), jobs=2)
    return json.dumps([table[["value", "low", "high"]].to_numpy(float).tobytes().hex() for table in results])


def interrupted(folder):
    store.run_tasks([partial(slow, 1), partial(value, 2)], store.Store(folder), jobs=2)
