"""Files that outlive the board: pinned settings and pinned files of other tools, and the state of the board."""

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, get_args, get_type_hints

from privnb.datasets.description import file_digest
from privnb.explorer.setting import Setting, check_bounds
from privnb.runtime import expect, validation
from privnb.runtime.errors import MissingFileError, UsageError, UsageTypeError
from privnb.runtime.temporary import atomic_write
from privnb.runtime.validation import Validated, validated
from privnb.sanitizers.made_elsewhere import Correspondence, MadeElsewhere
from privnb.tables.reading import list_parts

STATE = "PRIVNB_BOARD"  # the environment variable with the path of the file for the state of a board
KINDS = get_type_hints(Setting)
DIGEST = re.compile("[0-9a-f]{64}")
CHANGED = "The file has changed since it was pinned, so its numbers are not shown. Add the file again to measure it."
VANISHED = "The file no longer exists at its path, so its numbers are not shown. Put the file back, or unpin it."


@dataclass(frozen=True)
class FilePin(Validated):
    """A pinned file that another tool made: its path, its digest, and the owner's answers; no record.

    Parameters
    ----------
    path : str
        The path, relative to the folder of the pins or absolute.
    sha256 : str
        The digest of the file when it was pinned, see `description.file_digest`.
    dataset : str
        The name of the dataset from which the file was made.
    rows : str
        The origin of the rows, see `MadeElsewhere`.
    perturbed : tuple of str
        The columns whose values were changed, for example by noise.
    """

    HINT: ClassVar[str] = "`pins.pin_file` makes one."

    path: str
    sha256: str
    dataset: str
    rows: Correspondence = "measured"
    perturbed: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the file without its folder."""
        return Path(self.path).name


@validated
def find_file(path: str, folder: Path) -> Path:
    """Return the absolute path of a file that a person named.

    Parameters
    ----------
    path : str
        An absolute path, or a path relative to `folder` or to the folder that contains `folder`.
    folder : Path
        The folder of the notebook; the folder that contains it is that of the project.

    Raises
    ------
    UsageError
        For an empty path.
    MissingFileError
        If there is no such file.
    """
    if not path.strip() or "\0" in path:
        raise UsageError(f"`path` must name a file; got {path!r}. Type the path of the file that another tool made.")
    named = Path(path.strip()).expanduser()
    places = [folder / named, folder.parent / named]
    found = next((each for each in places if os.path.exists(each)), None)
    if found is None:
        places = places[:1] if named.is_absolute() else places
        looked = " or in ".join(f"'{each.parent}'" for each in dict.fromkeys(places))
        raise MissingFileError(
            f"there is no file '{named.name}' in {looked}. Correct the path, or copy the file there."
        )
    return found.resolve()


@validated
def pin_file(
    path: str, folder: Path, dataset: str, *, rows: Correspondence = "measured", perturbed: Sequence[str] = ()
) -> FilePin:
    """Return the pin of a file that another tool made, with the digest of the current content of the file.

    Parameters
    ----------
    path, folder
        As in `find_file`. If the file is in the project, its path is stored relative to `folder`.
    dataset, rows, perturbed
        As in `FilePin`.

    Raises
    ------
    UsageError, MissingFileError
        As in `find_file`.
    """
    found = find_file(path, folder)
    inside = found.is_relative_to(folder.resolve().parent)
    stored = Path(os.path.relpath(found, folder.resolve())).as_posix() if inside else str(found)
    return FilePin(stored, file_digest(found), dataset, rows, tuple(sorted(perturbed)))


@validated
def find_trouble(pin: FilePin, folder: Path) -> str:
    """Return why a pinned file has no numbers: a sentence if the file has changed or vanished, and otherwise empty."""
    try:
        stamps = [(str(each), each.stat().st_mtime_ns, each.stat().st_size) for each in list_parts(folder / pin.path)]
        return "" if _digest(folder / pin.path, tuple(stamps)) == pin.sha256 else CHANGED
    except (OSError, ValueError):
        return VANISHED


@validated
def open_file(pin: FilePin, folder: Path) -> MadeElsewhere:
    """Return the release of a pinned file; raise UsageError if the file has changed or vanished."""
    if trouble := find_trouble(pin, folder):
        raise UsageError(trouble)
    return MadeElsewhere(str(folder / pin.path), pin.rows, dict.fromkeys(pin.perturbed, "perturbed"))


@lru_cache(maxsize=64)
def _digest(path: Path, stamps: tuple[Any, ...]) -> str:
    """Return the digest of a file; `stamps` states the time and size of its parts, which change with the content."""
    return file_digest(path)


class Pins:
    """Pinned settings and files for comparison, in the order of pinning, in a JSON file that each change rewrites.

    `path` is the file, which the first change creates. The file holds the fields of `Setting` and of `FilePin`, and no
    data of the table. Two boards may use the file at once, because each change starts from the current file. If a file
    cannot be read as pins, the file is left unchanged, and ValueError is raised. FileNotFoundError is raised for a
    folder that does not exist.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(expect.path("path", path)).resolve()  # papermill changes the working folder
        if not self.path.parent.is_dir():
            raise MissingFileError(
                f"the folder for pinned settings does not exist: {self.path.parent}. Create the folder first."
            )
        self.settings: list[Setting] = []
        self.files: list[FilePin] = []
        self._done: list[tuple[Setting | FilePin, int | None, FilePin | None]] = []
        self.settings, self.files = self._read()

    @property
    def folder(self) -> Path:
        """The folder of the pins, to which the paths of pinned files are relative."""
        return self.path.parent

    @validated
    def add(self, pin: Setting | FilePin) -> None:
        """Pin a setting or a file.

        If the setting is already pinned, its position does not change; a file replaces an earlier pin of its path.
        """
        settings, files = self._read()
        if isinstance(pin, FilePin):
            place = next((place for place, each in enumerate(files) if each.path == pin.path), None)
            old = None if place is None else files[place]
            self.write(settings, [*files, pin] if place is None else [*files[:place], pin, *files[place + 1 :]])
            self._done.append((pin, place, old))
        else:
            place = settings.index(pin) if pin in settings else None
            self.write([*settings, pin] if place is None else settings, files)
            self._done.append((pin, place, None))

    @validated
    def remove(self, pin: Setting | FilePin) -> None:
        """Remove a pin; raise ValueError if the setting or the file is not pinned."""
        settings, files = self._read()
        kept: list[Any] = files if isinstance(pin, FilePin) else settings
        if pin not in kept:
            raise UsageError(
                f"{pin!r} is not pinned, so the pin cannot be removed. Run the notebook again to see the pins."
            )
        place = kept.index(pin)
        kept.remove(pin)
        self.write(settings, files)
        self._done.append((pin, place, None))

    def undo(self) -> None:
        """Undo the last change made by `add` or `remove`, if there is one."""
        if self._done:
            pin, place, old = self._done[-1]
            settings, files = self._read()
            kept: list[Any] = files if isinstance(pin, FilePin) else settings
            if pin in kept:
                kept.remove(pin)
            if place is not None:
                kept.insert(place, old or pin)
            self.write(settings, files)
            self._done.pop()

    def _read(self) -> tuple[list[Setting], list[FilePin]]:
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return [*self.settings], [*self.files]  # no pins yet; or the file was removed, and the pins are kept
        except UnicodeDecodeError:
            text = ""
        try:
            held = json.loads(text)
            settings = [_parse_setting(entry) for entry in held["settings"]]
            return settings, [_parse_file(entry) for entry in held.get("files", [])]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UsageError(
                f"{self.path.name} cannot be read as pinned settings ({type(error).__name__}: {error}). The file is "
                f"unchanged. Correct the file, or move the file out of {self.path.parent} to start without pins."
            ) from None

    def write(self, settings: list[Setting], files: list[FilePin]) -> None:
        """Replace all pins."""
        held = {"settings": [asdict(setting) for setting in settings]}
        write_json(self.path, held | ({"files": [asdict(each) for each in files]} if files else {}))
        self.settings, self.files = settings, files


@validated
def read_board_state(path: validation.Path) -> tuple[Setting, dict[str, str], str, list[str]] | None:
    """Return the setting, the axes (`{axis: measure}`), the policy and the solved exercises of a board from its file.

    A page reads this state when it is loaded again. The result is None if the file cannot be read.
    """
    try:
        held = json.loads(Path(path).read_text(encoding="utf-8"))
        solved = [str(key) for key in held.get("solved", ())]
        return _parse_setting(held["setting"]), dict(held["axes"]), str(held["policy"]), solved
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def write_json(path: Path, what: object) -> None:
    """Write a JSON file that only its owner can read, completely or not at all."""
    atomic_write(path, json.dumps(what, indent=1, allow_nan=False) + "\n", 0o600)


def _parse_setting(entry: Mapping[str, Any]) -> Setting:
    for name, value in entry.items():
        kinds = (float, int) if KINDS[name] is float else (KINDS[name],)
        # Python reads NaN, Infinity and 1e999 from a file, although it does not write them here.
        if type(value) not in kinds or (isinstance(value, float) and not math.isfinite(value)):
            raise UsageTypeError(f"{name} cannot be {value!r}")
    setting = Setting(**entry)
    check_bounds(setting)
    return setting


def _parse_file(entry: Mapping[str, Any]) -> FilePin:
    if unknown := {*entry} - {*get_type_hints(FilePin)}:
        raise UsageTypeError(f"a file has no field {min(unknown)}")
    path, sha256, dataset, rows, perturbed = (
        entry[name] for name in ("path", "sha256", "dataset", "rows", "perturbed")
    )
    if not (isinstance(path, str) and path and "\0" not in path):
        raise UsageTypeError(f"path cannot be {path!r}")
    if not (isinstance(sha256, str) and DIGEST.fullmatch(sha256)):
        raise UsageTypeError(f"sha256 cannot be {sha256!r}")
    if rows not in get_args(Correspondence):
        raise UsageTypeError(f"rows cannot be {rows!r}")
    if not isinstance(perturbed, list) or not all(isinstance(name, str) for name in perturbed):
        raise UsageTypeError(f"perturbed cannot be {perturbed!r}")
    return FilePin(path, sha256, dataset, rows, tuple(perturbed))
