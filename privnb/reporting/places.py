"""The folder in which a report is made, and the exchange of this folder with an older report.

A report is made in a hidden folder next to its destination, and is exchanged with the older report when it is complete.
A file in the hidden folder is locked as long as the process runs. The next build of any report next to it removes the
hidden folders of killed processes, and puts back an older report that was being replaced.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from privnb.runtime.errors import ResourceError, output_error

LOCK = "report.lock"  # the lock of a work folder, held while its process lives; its text is the name of the report
SHORT = "privnb-"  # how the name of a folder for temporary files begins
EXCHANGE, HERE = 2, -100  # arguments of renameat2: RENAME_EXCHANGE, and AT_FDCWD


@contextlib.contextmanager
def work_folder(out: Path) -> Iterator[Path]:
    """Yield a new hidden folder next to `out`, on the same disk, and remove the folder at the end.

    The subfolder `tmp` is for temporary files. Only the user of this process can open the hidden folder. Raises
    OutputError or ResourceError if the folder cannot be written.
    """
    # A signal may end this between any two steps, so that names are chosen before they are used.
    letters, lock = secrets.token_hex(8), None
    work = out.with_name(f".{out.name}-{letters}")
    try:
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            with _alone(out.parent):
                sweep(out.parent)
                work.mkdir(mode=0o700)
                lock = open(work / LOCK, "w", encoding="utf-8")  # held until the folder is gone
                lock.write(out.name)
                lock.flush()
                with contextlib.suppress(OSError):  # on a disk without locks, the folder of a killed process remains
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # This folder is in the system's temporary folder, because the name of a socket has at most 103 bytes.
            short = Path(tempfile.gettempdir(), SHORT + letters)
            (work / "tmp").symlink_to(short)
            short.mkdir(mode=0o700)
            yield work
        except OSError as error:
            said = (
                f"the report could not be written to {out}: {error.strerror or error}. The folder is unchanged. "
                "Free space or allow writing there, or choose another folder with --out."
            )
            raise output_error(said, error) from error
        finally:
            # If moving the older report back has failed as well, the work folder holds its only copy.
            if out.exists() or not (work / "previous").exists():
                _remove(work)
    finally:
        if lock:
            lock.close()
        with contextlib.suppress(OSError):  # remains after a signal, or files that processes wrote at the end
            sweep(out.parent)
            work.rmdir()  # no later sweep would recognize it without its lock


def sweep(folder: Path) -> None:
    """Remove the work folders in `folder` whose processes have ended, and put back reports that were being replaced."""
    for path in folder.glob(f".*/{LOCK}"):
        if path.parent.lstat().st_uid != os.getuid():
            continue
        with contextlib.suppress(OSError), open(path, encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            work, out = path.parent, folder / Path(lock.read()).name
            if (work / "previous").exists() and not out.exists():
                (work / "previous").rename(out)
            _remove(work)


def swap(new: Path, out: Path, previous: Path) -> None:
    """Move the folder `new` to `out`, and an older folder at `out` to `new` or to `previous`.

    If the system can exchange folders in one step, there is a report at `out` at all times. Otherwise, the move
    consists of two steps; if the process is killed between these steps, the next sweep puts back `previous`. If the
    function raises OSError, `out` is unchanged.
    """
    if not out.exists():
        new.rename(out)
    elif not _exchanged(new, out):
        out.rename(previous)
        try:
            new.rename(out)
        except OSError:
            previous.rename(out)
            raise


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two folders in one step, and return whether the system and the disk support this exchange."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    if renameat2(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise ResourceError(number, os.strerror(number), str(other))


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lock `folder`, so that no other process makes or removes a work folder in `folder` in the meantime."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _remove(work: Path) -> None:
    """Remove a work folder, and its lock as the last file.

    If a process that ends writes further files, the lock remains, and a later sweep removes the folder.
    """
    short = work / "tmp"
    with contextlib.suppress(OSError):
        target = short.readlink()
        if target.name.startswith(SHORT) and target.lstat().st_uid == os.getuid():
            shutil.rmtree(target, ignore_errors=True)
    with contextlib.suppress(OSError):
        for path in work.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name != LOCK and not path.exists():  # a link whose target is gone
                path.unlink()
        if {path.name for path in work.iterdir()} <= {LOCK}:
            shutil.rmtree(work, ignore_errors=True)
