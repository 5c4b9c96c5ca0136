"""What a work takes, measured in a process of its own. Standard library only: the peers' environment runs it too."""

import json
import resource
import subprocess
from importlib.metadata import version
from statistics import median
from time import perf_counter, process_time


class Failed(Exception):
    """A child process that ended without a result; the text says why."""


def timed(work, *, warm=False):
    """What `work()` returns, and what it takes: `seconds` (CPU, user + system, all threads), `wall`, `peak_mb`.

    `warm`: once unmeasured, then the median of three; else one run. `peak_mb` is the largest resident memory of the
    process so far: the interpreter, the package and the input are in it.
    """
    result = work() if warm else None
    cpu, wall = [], []
    for _ in range(3 if warm else 1):
        result = None  # two results at once would count twice in the peak
        begin = process_time(), perf_counter()
        result = work()
        cpu.append(process_time() - begin[0])
        wall.append(perf_counter() - begin[1])
    return result, {"seconds": median(cpu), "wall": median(wall), "peak_mb": peak()}


def peak():
    """Largest resident memory of this process so far, in MB (Linux counts in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def system(package):
    """A package and its version, as the results name it."""
    return f"{package} {version(package)}"


def report(*rows):
    """Hand rows of results to the parent process: the last line that a child prints."""
    print(json.dumps(rows))


def child(python, *arguments):
    """Run a script of this folder. Returns its rows, and the CPU seconds of the whole process, its start included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run([python, *map(str, arguments)], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode:
        last = ran.stderr.strip().splitlines()[-1:] or [f"ended with {ran.returncode}"]
        raise Failed(last[0])
    whole = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    lines = ran.stdout.strip().splitlines()
    return json.loads(lines[-1]) if lines else [], whole
