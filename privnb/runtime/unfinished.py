"""Files and folders of unfinished work: a file appears whole or not at all, and a folder is gone at the end.

What a killed process left in a folder goes with the next one of its name.
"""

import contextlib
import glob
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

SCRATCH = "privnb"  # the name of those in the system's folder for temporary files


def atomic_write(path: Path, content: str | bytes, mode: int = 0o666) -> None:
    """Write a file whole or not at all, in place of one that is there; a crash of the machine leaves one of the two.

    Parameters
    ----------
    path : Path
    content : str or bytes
        Text is written in UTF-8, its line ends as they are.
    mode : int
        The most that the file permits; the process may permit less, by its mask.

    Raises
    ------
    OSError
        Nothing is left of the new file.
    """
    partial = path.with_name(f".{path.name}-{secrets.token_hex(4)}.partial")
    try:
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


@contextlib.contextmanager
def folder(beside: str | Path | None = None, name: str = SCRATCH) -> Iterator[Path]:
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


def _is_ours(path: Path) -> bool:
    """Whether a folder belongs to whoever runs this: others write into the system's folder too."""
    try:
        return path.lstat().st_uid == os.getuid()
    except OSError:  # gone by now
        return False


def _runs(process: str) -> bool:
    """Whether a process of this number, a text, runs."""
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:  # somebody else's
        pass
    return True
