"""Folders of unfinished work: each is gone at the end; what a killed process left goes with the next of its name."""

import contextlib
import glob
import os
import shutil
import tempfile
from pathlib import Path

SCRATCH = "privnb"  # the name of those in the system's folder for temporary files


@contextlib.contextmanager
def folder(beside=None, name=SCRATCH):
    """A folder for its owner alone. Raises OSError where none can be made.

    Parameters
    ----------
    beside : Path, optional
        The folder in which it is made; None: the system's for temporary files.
    name : str
        What it is for. Folders of that name whose process is gone are removed.

    Yields
    ------
    Path
    """
    beside = Path(beside or tempfile.gettempdir())
    for left in beside.glob(f".{glob.escape(name)}.*-unfinished-*"):
        if _is_ours(left) and not _runs(left.name.rpartition("-unfinished-")[0].rpartition(".")[2]):
            shutil.rmtree(left, ignore_errors=True)
    place = tempfile.mkdtemp(dir=beside, prefix=f".{name}.{os.getpid()}-unfinished-")
    try:
        yield Path(place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _is_ours(path):
    """Whether a folder belongs to whoever runs this: others write into the system's folder too."""
    try:
        return path.lstat().st_uid == os.getuid()
    except OSError:  # gone by now
        return False


def _runs(process):
    """Whether a process of this number, a text, runs."""
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:  # somebody else's
        pass
    return True
