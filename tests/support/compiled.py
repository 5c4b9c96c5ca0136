"""Every kernel compiled once, before workers start: on a cold cache each worker would compile the same ones.

`python tests/support/compiled.py LocalRecoding` compiles those of one sanitizer, on a small table; numba keeps them.
"""

import os
import subprocess
import sys
from multiprocessing.pool import ThreadPool
from pathlib import Path

from privnb.datasets.dataset import PROJECT
from privnb.runtime.processes import usable_cores

# They share few kernels; the slowest first.
NAMES = "LocalRecoding", "Mondrian", "Microaggregation", "KMember", "Condensation", "RankSwapping"


def cold():
    """Whether numba has kept nothing yet, or nothing of a file as it is now, and would keep what it compiles."""
    kept = {}
    for path in Path(os.environ.get("NUMBA_CACHE_DIR", PROJECT / "privnb")).rglob("*.nbi"):
        name = path.name.partition(".")[0]  # of the file with the kernel
        kept[name] = max(kept.get(name, 0), path.stat().st_mtime)
    files = [path for path in (PROJECT / "privnb").rglob("*.py") if path.stem in kept]
    changed = any(path.stat().st_mtime > kept[path.stem] for path in files)
    return os.environ.get("NUMBA_DISABLE_JIT", "0") == "0" and (changed or not kept)


def compile_all():
    """Compile all, each sanitizer's in a process of its own, as many at a time as there are cores; a fault is left to
    the tests."""
    with ThreadPool(usable_cores()) as pool:
        pool.map(lambda name: subprocess.run([sys.executable, __file__, name], check=False), NAMES, chunksize=1)


def release(name):
    """A release of the clinic by the first example of the sanitizer of that name."""
    from privnb.datasets import dataset
    from privnb.sanitizers.catalogue import kinds
    from support.clinic import CLINIC

    clinic = dataset.load(CLINIC)
    return next(iter(kinds()[name].contract_examples(clinic.schema))).sanitize(clinic, rng=0)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))  # where `support` is
    release(sys.argv[1])
