"""Plants faults in the functions that guard people, and shows which of them the tests catch: `make mutants`.

`python tests/mutants.py claims withholding` plants only the faults of these rooms, or of functions with these names.
The faults are listed in `faults.py`. Each one is planted in a copy of the tree, and the tests that guard the function
run there. The command fails if a fault survives, if it cannot be planted, or if its tests fail without it.
"""

import ast
import os
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parents[1]
SECONDS = 600  # for the tests of one fault; in a new copy some compile first
CAUGHT, SURVIVED = "caught", "SURVIVED"
FAILED = 1  # pytest: all tests were collected and run, and some failed


class Fault(NamedTuple):
    """A `text` in a function or class, its `replacement`, and the `tests` that guard it, as paths under `tests`.

    `function` is the qualified name without the module: `few`, `Release.counted`. So a fault survives that its module
    is renamed or that the function moves to another module.
    """

    room: str
    function: str
    text: str
    replacement: str
    tests: tuple[str, ...]


class NotFoundOnceError(Exception):
    """The text of a fault does not occur exactly once in the functions of that name."""


@cache
def definitions(package: Path) -> dict[str, list[tuple[Path, int, int]]]:
    """List the file, first line and last line of each function and class of a package by its qualified name."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        waiting = [("", ast.parse(path.read_text(encoding="utf-8")))]
        while waiting:
            prefix, parent = waiting.pop()
            for node in ast.iter_child_nodes(parent):
                name = prefix
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    found.setdefault(prefix + node.name, []).append((path, node.lineno, node.end_lineno))
                    name = f"{prefix}{node.name}."
                waiting.append((name, node))
    return found


def plant(fault: Fault, package: Path) -> tuple[Path, str]:
    """Return the file that a fault changes and the text of the file with the fault; the file is not written."""
    planted = []
    for path, first, last in definitions(package).get(fault.function, []):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        function = "".join(lines[first - 1 : last])
        changed = function.replace(fault.text, fault.replacement, 1)
        text = "".join([*lines[: first - 1], changed, *lines[last:]])
        planted += [(path, text)] * function.count(fault.text)
    if len(planted) != 1:
        raise NotFoundOnceError(f"{fault.text!r} occurs {len(planted)} times in functions called {fault.function}")
    ast.parse(planted[0][1])
    return planted[0]


def run(tests: tuple[str, ...], project: Path) -> int | None:
    """Run tests in a copy of the project, and return the exit code of pytest, or None if they take too long."""
    # In CI each property is tried on the same tables every time, so that two runs give the same answer.
    environment = os.environ | {"CI": "true", "PYTHONPATH": str(project)}
    paths = [f"tests/{test}" for test in tests]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", *paths]
    try:
        done = subprocess.run(command, cwd=project, env=environment, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None
    return done.returncode


def outcome(fault: Fault, project: Path, moment: int) -> str:
    """Plant a fault in a copy of the project, run its tests, remove the fault, and say what happened.

    `moment` is the file's time while the fault is there: Python recognizes a changed module by its time and length.
    """
    try:
        path, text = plant(fault, project / "privnb")
    except (NotFoundOnceError, SyntaxError) as error:
        return f"NOT PLANTED: {error}"
    original, stat = path.read_text(encoding="utf-8"), path.stat()
    try:
        path.write_text(text, encoding="utf-8")
        os.utime(path, (moment, moment))
        code = run(fault.tests, project)
    finally:
        path.write_text(original, encoding="utf-8")
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    return {FAILED: CAUGHT, 0: SURVIVED, None: "NO ANSWER IN TIME"}.get(code, f"NOT RUN: pytest ended with {code}")


def copy(project: Path, to: Path) -> Path:
    """Copy the files of a project that git knows or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(command, cwd=project, capture_output=True, text=True, check=True).stdout.split("\0"):
        if name and (project / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(project / name, to / name)
    return to


def report(faults: list[Fault], project: Path) -> int:
    """Print which faults of a list the tests of a project catch, and return how many they do not."""
    with tempfile.TemporaryDirectory() as folder:
        project = copy(project, Path(folder).resolve())
        every = tuple(dict.fromkeys(test for fault in faults for test in fault.tests))
        broken = [test for test in every if run((test,), project) != 0]
        for test in broken:
            print(f"tests/{test} fails without any fault")
        outcomes = []
        for number, fault in enumerate(faults, start=1):
            began = time.monotonic()
            found = "NOT RUN: a test fails without it" if {*broken} & {*fault.tests} else ""
            outcomes.append(found or outcome(fault, project, number))
            print(f"{fault.room:<12} {fault.function:<34} {outcomes[-1]} ({time.monotonic() - began:.0f} s)")
            if outcomes[-1] != CAUGHT:
                print(f"    {fault.text}\n    -> {fault.replacement or '(removed)'}\n    {' '.join(fault.tests)}")
            sys.stdout.flush()
    print(f"{len(faults)} faults, {outcomes.count(CAUGHT)} caught, {outcomes.count(SURVIVED)} survived")
    return len(faults) - outcomes.count(CAUGHT)


if __name__ == "__main__":
    from faults import FAULTS

    names = sys.argv[1:]
    chosen = [fault for fault in FAULTS if not names or {fault.room, fault.function} & {*names}]
    sys.exit(1 if not chosen or report(chosen, PROJECT) else 0)
