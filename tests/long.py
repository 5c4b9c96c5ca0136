"""The tests that take longest, which `make check` leaves out: a seventh of all has most of the seconds.

`python tests/long.py` measures all that need no kernel, browser, Java or Spark, and writes `long.txt` anew.
"""

import sys
from collections import defaultdict
from pathlib import Path

import pytest

LONG = Path(__file__).with_suffix(".txt")
TIMES = 3  # a test is long that takes more than so many times what one takes on average,
OF_FILE = 20  # and a fixture is that takes more than so many
OTHERS = "not kernel and not browser and not java and not spark"


def names():
    """The files and test functions in `long.txt`."""
    return {*LONG.read_text(encoding="utf-8").split()}


def among(nodeid, found):
    """Whether a test, or its whole file, is among such names."""
    return not found.isdisjoint([nodeid.partition("::")[0], nodeid.partition("[")[0]])


def longest(seconds):
    """The functions of long tests, of `{test: {phase: seconds}}`, and the files of long fixtures, for which the others
    there wait longer than they take."""
    mean = sum(sum(phases.values()) for phases in seconds.values()) / len(seconds)
    found = {test.partition("[")[0] for test, phases in seconds.items() if phases["call"] > TIMES * mean}
    files = defaultdict(list)
    for test, phases in seconds.items():
        files[test.partition("::")[0]].append((phases["setup"], 0 if among(test, found) else phases["call"]))
    for file, others in files.items():
        setups, calls = zip(*others, strict=True)
        if max(setups) > OF_FILE * mean and sum(setups) > sum(calls):
            found = {name for name in found if not among(name, {file})} | {file}
    return found


class Seconds(defaultdict):
    """A plugin of pytest: how long each phase of each test takes."""

    def pytest_runtest_logreport(self, report):
        self[report.nodeid][report.when] += report.duration


if __name__ == "__main__":
    seconds = Seconds(lambda: defaultdict(float))
    failed = pytest.main(["-q", "-m", OTHERS, "--hypothesis-profile", "few"], plugins=[seconds])
    if not failed:
        LONG.write_text("".join(f"{name}\n" for name in sorted(longest(seconds))), encoding="utf-8")
    sys.exit(failed)
