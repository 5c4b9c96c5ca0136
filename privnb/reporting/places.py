"""Where a report is made, and how it comes into its place.

It is made in a hidden folder beside its destination, and exchanged with the older report when it is whole. The folder
holds a lock as long as its process lives: what a killed process leaves is swept by the next build of any report there,
which also puts back an older report that was on its way out.
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

from privnb.runtime.errors import ResourceError

LOCK = "report.lock"  # in each work folder: held while its process lives; its text is the name of the report
SHORT = "privnb-"  # how a folder for temporary files begins, in the system's own
EXCHANGE, HERE = 2, -100  # of renameat2: RENAME_EXCHANGE, and paths as everywhere (AT_FDCWD)


@contextlib.contextmanager
def work_folder(out: Path) -> Iterator[Path]:
    """A hidden folder beside `out`, on the same disk, so that a rename will do; gone afterwards.

    Its `tmp` is for temporary files. Only its owner can open it. Raises ResourceError where it cannot be written.
    """
    # A signal may end this between any two steps. So names are chosen before anything has them.
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
                with contextlib.suppress(OSError):  # a disk without locks keeps what a kill leaves
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Beside the system's other temporary files: a socket's name has room for about a hundred letters.
            short = Path(tempfile.gettempdir(), SHORT + letters)
            (work / "tmp").symlink_to(short)
            short.mkdir(mode=0o700)
            yield work
        except OSError as error:
            raise ResourceError(
                f"the report could not be written to {out}: {error.strerror or error}. What was there is unchanged. "
                "Make room or give the right to write there, or choose another folder with --out."
            ) from error
        finally:
            # If moving the older report back has failed as well, the work folder holds its only copy.
            if out.exists() or not (work / "previous").exists():
                _remove(work)
    finally:
        if lock:
            lock.close()
        with contextlib.suppress(OSError):  # what a signal has left of it, or processes wrote in their last seconds
            sweep(out.parent)
            work.rmdir()  # without its lock no sweep would know it


def sweep(folder: Path) -> None:
    """Remove the work folders in `folder` whose process is gone, and put back a report that one was replacing."""
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
    """Put the folder `new` in the place of `out`, and what was there at `new` or at `previous`.

    In one step where the system has it, so that there is always a report at `out`. Elsewhere in two: after a kill
    between them the next sweep puts back `previous`. Raises OSError, with `out` as it was.
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
    """Exchange two folders in one step; False where the system or the disk cannot."""
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
    """Nobody else makes or sweeps a work folder in `folder` meanwhile."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _remove(work: Path) -> None:
    """The lock last, so that what a dying process is still writing is swept another time."""
    short = work / "tmp"
    with contextlib.suppress(OSError):
        target = short.readlink()
        if target.name.startswith(SHORT) and target.lstat().st_uid == os.getuid():
            shutil.rmtree(target, ignore_errors=True)
    with contextlib.suppress(OSError):
        for path in work.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name != LOCK and not path.exists():  # the link, once it leads nowhere
                path.unlink()
        if {path.name for path in work.iterdir()} <= {LOCK}:
            shutil.rmtree(work, ignore_errors=True)
