"""What outlives the board: pinned settings, and where the board stands, in files."""

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
from privnb.runtime.unfinished import atomic_write
from privnb.runtime.validation import validated

STATE = "PRIVNB_BOARD"  # names the file in which a page keeps where its board stands
KINDS = get_type_hints(Setting)


class Pins:
    """Settings kept for comparison, in the order of pinning, in a JSON file that is written whole at each change.

    `path`: the file, made at the first change; it holds the fields of `Setting` and nothing of the table. Two boards
    may use it at once: each change is made to what the file holds then. Raises ValueError for a file that cannot be
    read as settings, and leaves it as it is; FileNotFoundError for a folder that does not exist.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(expect.path("path", path)).resolve()  # papermill changes the working folder
        if not self.path.parent.is_dir():
            raise MissingFileError(f"there is no folder {self.path.parent} for pinned settings. Make it first.")
        self.settings: list[Setting] = []
        self._done: list[tuple[Setting, int | None]] = []
        self.settings = self._read()

    @validated
    def add(self, setting: Setting) -> None:
        """Pin `setting`; one that is pinned already stays where it is."""
        kept = self._read()
        pinned = setting in kept
        self.write(kept if pinned else [*kept, setting])
        self._done.append((setting, kept.index(setting) if pinned else None))

    @validated
    def remove(self, setting: Setting) -> None:
        """Let go of `setting`. Raises ValueError for one that is not pinned."""
        kept = self._read()
        if setting not in kept:
            raise UsageError(
                f"{setting!r} is not pinned, so it cannot be let go of. Run the notebook anew to see pins."
            )
        self.write([each for each in kept if each != setting])
        self._done.append((setting, kept.index(setting)))

    def undo(self) -> None:
        """Take back the last change made here, by `add` or `remove`; without one nothing happens."""
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
            return self.settings  # none yet; or somebody removed the file, which is no reason to lose them
        except UnicodeDecodeError:
            text = ""
        try:
            return [_setting(entry) for entry in json.loads(text)["settings"]]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UsageError(
                f"{self.path.name} cannot be read as pinned settings ({type(error).__name__}: {error}). It was left as "
                f"it is: correct it, or move it out of {self.path.parent} to begin anew."
            ) from None

    def write(self, settings: list[Setting]) -> None:
        write(self.path, {"settings": [asdict(setting) for setting in settings]})
        self.settings = settings


@validated
def stood(path: validation.Path) -> tuple[Setting, dict[str, str], str] | None:
    """Return the setting, the axes (`{axis: measure}`) and the policy of a board before its page was loaded again, from
    the file that it keeps them in; None where none can be read: a board that begins anew does no harm.
    """
    try:
        held = json.loads(Path(path).read_text(encoding="utf-8"))
        return _setting(held["setting"]), dict(held["axes"]), str(held["policy"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def write(path: Path, what: object) -> None:
    """A JSON file of the owner's alone, as a release's files are, written whole or not at all."""
    atomic_write(path, json.dumps(what, indent=1, allow_nan=False) + "\n", 0o600)


def _setting(entry: Mapping[str, Any]) -> Setting:
    for name, value in entry.items():
        kinds = (float, int) if KINDS[name] is float else (KINDS[name],)
        # Python reads NaN, Infinity and 1e999 from a file, though it writes none here.
        if type(value) not in kinds or (isinstance(value, float) and not math.isfinite(value)):
            raise UsageTypeError(f"{name} cannot be {value!r}")
    setting = Setting(**entry)
    check_bounds(setting)
    return setting
