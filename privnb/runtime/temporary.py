"""Atomic writing of files, and temporary folders that are always removed.

If a process was killed and left its folder behind, this folder is removed when the next folder with the same name is
created.
"""

import contextlib
import glob
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

SCRATCH = "privnb"  # the name of folders in the system's temporary folder


def atomic_write(path: Path, content: str | bytes, mode: int = 0o666) -> None:
    """Write a file completely or not at all, and replace an existing file.

    Even after a crash of the machine, the file has either the old or the new content, and not a part of it.

    Parameters
    ----------
    path : Path
    content : str or bytes
        Text is written in UTF-8, with unchanged line ends.
    mode : int
        The permissions of the file; the mask of the process may remove some of them.

    Raises
    ------
    OSError
        If the file cannot be written; the new file is then removed.
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
def temporary_folder(parent: str | Path | None = None, name: str = SCRATCH) -> Iterator[Path]:
    """Yield a temporary folder that only the user of this process can read.

    Raises OSError if the folder cannot be created.

    Parameters
    ----------
    parent : Path, optional
        The folder that holds the new folder; by default, the system's temporary folder.
    name : str
        A name for the purpose of the folder. Folders with the same name whose processes do not exist any more are
        removed.

    Yields
    ------
    Path
    """
    parent = Path(parent or tempfile.gettempdir())
    for left in parent.glob(f".{glob.escape(name)}.*-unfinished-*"):
        if _is_ours(left) and not _runs(left.name.rpartition("-unfinished-")[0].rpartition(".")[2]):
            shutil.rmtree(left, ignore_errors=True)
    place = tempfile.mkdtemp(dir=parent, prefix=f".{name}.{os.getpid()}-unfinished-")
    try:
        yield Path(place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _is_ours(path: Path) -> bool:
    """Return whether the user of this process owns a folder; users share the system's temporary folder."""
    try:
        return path.lstat().st_uid == os.getuid()
    except OSError:  # the folder no longer exists
        return False


def _runs(process: str) -> bool:
    """Return whether a process with this number, given as text, is running."""
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:  # somebody else's
        pass
    return True
