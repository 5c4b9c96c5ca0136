"""A plain import of any module changes nothing for the process that imports it."""

import json
import subprocess
import sys

import pytest

# The libraries change some of this themselves: they are imported first, and what is changed after that is ours.
CODE = """
import asyncio, contextlib, importlib, json, logging, os, pkgutil, signal, sys, threading, warnings
import multiprocessing.forkserver, multiprocessing.popen_forkserver, multiprocessing.resource_tracker
import multiprocessing.util
import pandas, numpy

for name in json.loads(sys.argv[1]):
    with contextlib.suppress(ImportError, AttributeError):  # a part that its library alone may import
        importlib.import_module(name)

def options(of=pandas.options):
    return {key: options(value) if isinstance(value := getattr(of, key), type(of)) else value for key in dir(of)}

def functions(of):
    return {name: value for name, value in vars(of).items() if callable(value)}

def state():
    server = multiprocessing.forkserver._forkserver
    return {
        "pandas options": repr(options()),
        "numpy options": repr((numpy.get_printoptions(), numpy.geterr())),
        "warnings filters": repr(warnings.filters),
        "logging": repr((logging.root.level, logging.root.handlers, logging.lastResort)),
        "signal handlers": repr({number: signal.getsignal(number) for number in signal.valid_signals()}),
        "hooks": repr((sys.excepthook, sys.unraisablehook, sys.displayhook, threading.excepthook)),
        "multiprocessing": repr((multiprocessing.get_start_method(allow_none=True), vars(server))),
        "the standard library": repr([functions(each) for each in (
            multiprocessing.forkserver, multiprocessing.forkserver.ForkServer, multiprocessing.popen_forkserver,
            multiprocessing.util, multiprocessing.resource_tracker, asyncio, subprocess, warnings, logging,
        )]),
        "environment": repr(sorted(os.environ.items())),
        "folder and path": repr((os.getcwd(), sys.path)),
        "threads": repr(threading.enumerate()),
        "modules of nobody": sorted(name for name, each in sys.modules.items() if foreign(name, each)),
    }

def foreign(name, module):
    return getattr(module, "__spec__", None) is None and name != "__main__"

import subprocess
import privnb

before = state()
for found in pkgutil.walk_packages(privnb.__path__, "privnb."):
    if not found.name.endswith(("__main__", "_preloaded")):  # what only a process of its own runs
        importlib.import_module(found.name)
after = state()
changed = [name for name in before if before[name] != after[name]]
others = sorted(name for name in sys.modules if not name.startswith("privnb"))
print(json.dumps({"changed": changed, "others": others}))
"""


def imported(*libraries):
    """What an import of the whole package changes, in a process that has imported these libraries."""
    command = [sys.executable, "-c", CODE, json.dumps(libraries)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return json.loads(said)


@pytest.mark.slow
def test_an_import_changes_nothing_for_the_process_that_imports():
    others = imported()["others"]
    assert imported(*(name for name in others if name != "__main__"))["changed"] == []
