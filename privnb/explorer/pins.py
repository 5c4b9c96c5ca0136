"""Files that outlive the board: pinned settings, and the state of the board."""

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_type_hints

from privnb.explorer.setting import Setting, check_bounds
from privnb.runtime import expect, validation
from privnb.runtime.errors import MissingFileError, UsageError, UsageTypeError
from privnb.runtime.temporary import atomic_write
from privnb.runtime.validation import validated

STATE = "PRIVNB_BOARD"  # the environment variable with the path of the file for the state of a board
KINDS = get_type_hints(Setting)


class Pins:
    """Pinned settings for comparison, in the order of pinning, in a JSON file that each change rewrites.

    `path` is the file, which the first change creates. The file holds the fields of `Setting` and no data of the table.
    Two boards may use the file at once, because each change starts from the current file. If a file cannot be read as
    settings, the file is left unchanged, and ValueError is raised. FileNotFoundError is raised for a folder that does
    not exist.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(expect.path("path", path)).resolve()  # papermill changes the working folder
        if not self.path.parent.is_dir():
            raise MissingFileError(
                f"the folder for pinned settings does not exist: {self.path.parent}. Create the folder first."
            )
        self.settings: list[Setting] = []
        self._done: list[tuple[Setting, int | None]] = []
        self.settings = self._read()

    @validated
    def add(self, setting: Setting) -> None:
        """Pin `setting`; if the setting is already pinned, its position does not change."""
        kept = self._read()
        pinned = setting in kept
        self.write(kept if pinned else [*kept, setting])
        self._done.append((setting, kept.index(setting) if pinned else None))

    @validated
    def remove(self, setting: Setting) -> None:
        """Remove a pinned setting; raise ValueError if the setting is not pinned."""
        kept = self._read()
        if setting not in kept:
            raise UsageError(
                f"{setting!r} is not pinned, so the setting cannot be removed. Run the notebook again to see the pins."
            )
        self.write([each for each in kept if each != setting])
        self._done.append((setting, kept.index(setting)))

    def undo(self) -> None:
        """Undo the last change made by `add` or `remove`, if there is one."""
        if self._done:
            setting, place = self._done[-1]
            kept = [each for each in self._read() if each != setting]
            if place is not None:
                kept.insert(place, setting)
            self.write(kept)
            self._done.pop()

    def _read(self) -> list[Setting]:
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return self.settings  # there are no pins yet; or the file was removed, and the pins are kept
        except UnicodeDecodeError:
            text = ""
        try:
            return [_parse_setting(entry) for entry in json.loads(text)["settings"]]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UsageError(
                f"{self.path.name} cannot be read as pinned settings ({type(error).__name__}: {error}). The file is "
                f"unchanged. Correct the file, or move the file out of {self.path.parent} to start without pins."
            ) from None

    def write(self, settings: list[Setting]) -> None:
        """Replace all pinned settings."""
        write_json(self.path, {"settings": [asdict(setting) for setting in settings]})
        self.settings = settings


@validated
def read_board_state(path: validation.Path) -> tuple[Setting, dict[str, str], str] | None:
    """Return the setting, the axes (`{axis: measure}`) and the policy of a board from its file.

    A page reads this state when it is loaded again. The result is None if the file cannot be read.
    """
    try:
        held = json.loads(Path(path).read_text(encoding="utf-8"))
        return _parse_setting(held["setting"]), dict(held["axes"]), str(held["policy"])
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
