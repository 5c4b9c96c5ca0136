"""A plain import of any module changes nothing for the process that imports it."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import privnb

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
print(json.dumps([name for name in before if before[name] != after[name]]))
"""


def libraries():
    """What the package's modules import when they are imported, by name."""
    names = set()
    for path in Path(privnb.__file__).parent.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import):
                names |= {each.name for each in node.names}
            elif isinstance(node, ast.ImportFrom):
                names |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    return sorted(name for name in names if name.partition(".")[0] != "privnb")


@pytest.mark.slow
def test_an_import_changes_nothing_for_the_process_that_imports():
    command = [sys.executable, "-c", CODE, json.dumps(libraries())]
    changed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(changed) == []
