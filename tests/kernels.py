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
    """Whether numba has kept nothing yet, or nothing of a file as it is now, and would keep what it compiles."""
    kept = {}
    for path in Path(os.environ.get("NUMBA_CACHE_DIR", PROJECT / "privnb")).rglob("*.nbi"):
        name = path.name.partition(".")[0]  # of the file with the kernel
        kept[name] = max(kept.get(name, 0), path.stat().st_mtime)
    files = [path for path in (PROJECT / "privnb").rglob("*.py") if path.stem in kept]
    changed = any(path.stat().st_mtime > kept[path.stem] for path in files)
    return os.environ.get("NUMBA_DISABLE_JIT", "0") == "0" and (changed or not kept)


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
