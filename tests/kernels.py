"""Every kernel compiled once, before workers start: on a cold cache each worker would compile the same ones.

`python tests/kernels.py LocalRecoding` compiles those of one sanitizer, on a small table; numba keeps them.
"""

import os
import subprocess
import sys
from pathlib import Path

from privnb.microdata.dataset import PROJECT

NAMES = "LocalRecoding", "Mondrian", "KMember", "FullDomain"  # they share no kernel; the slowest first


def cold():
    """Whether numba has kept nothing yet, and would keep what it compiles."""
    kept = Path(os.environ.get("NUMBA_CACHE_DIR", PROJECT / "privnb"))
    return os.environ.get("NUMBA_DISABLE_JIT", "0") == "0" and next(kept.rglob("*.nbi"), None) is None


def compile_all():
    """Compile all, each sanitizer's in a process of its own, so that no core waits; a fault is left to the tests."""
    for process in [subprocess.Popen([sys.executable, __file__, name]) for name in NAMES]:
        process.wait()


def release(name):
    """A release of the clinic by the sanitizer of that name."""
    from made_up import CLINIC

    from privnb import sanitizers
    from privnb.microdata import dataset
    from privnb.privacy_models import KAnonymity

    sanitizer = getattr(sanitizers, name)
    return sanitizer(2 if name == "KMember" else KAnonymity(2)).sanitize(dataset.load(CLINIC), rng=0)


if __name__ == "__main__":
    release(sys.argv[1])
