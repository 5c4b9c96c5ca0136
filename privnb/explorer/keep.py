"""What outlives the board: pinned settings and where it stands, in files, and the lines and the command that make a
release.
"""

import json
import math
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

from privnb import privacy_models, sanitizers
from privnb.datasets.dataset import Dataset
from privnb.evaluation.predictions import stream
from privnb.explorer.setting import LETTERS, Setting, check_bounds, checked, sanitizer
from privnb.microdata import withholding
from privnb.runtime import expect
from privnb.runtime.processes import runs_as
from privnb.runtime.unfinished import atomic_write

CAUTION = "# A seed undoes what is drawn with it: this release is for trying out; rng=None draws one for publication.\n"
STATE = "PRIVNB_BOARD"  # names the file in which a page keeps where its board stands
DEFAULTS = {field.name: field.default for field in fields(Setting)}
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
            raise FileNotFoundError(f"there is no folder {self.path.parent} for pinned settings. Make it first.")
        self.settings: list[Setting] = []
        self._done: list[tuple[Setting, int | None]] = []
        self.settings = self._read()

    def add(self, setting: Setting) -> None:
        """Pin `setting`; one that is pinned already stays where it is."""
        expect.these(setting=setting)
        kept = self._read()
        pinned = setting in kept
        self.write(kept if pinned else [*kept, setting])
        self._done.append((setting, kept.index(setting) if pinned else None))

    def remove(self, setting: Setting) -> None:
        """Let go of `setting`. Raises ValueError for one that is not pinned."""
        expect.these(setting=setting)
        kept = self._read()
        if setting not in kept:
            raise ValueError(
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
            raise ValueError(
                f"{self.path.name} cannot be read as pinned settings ({type(error).__name__}: {error}). It was left as "
                f"it is: correct it, or move it out of {self.path.parent} to begin anew."
            ) from None

    def write(self, settings: list[Setting]) -> None:
        write(self.path, {"settings": [asdict(setting) for setting in settings]})
        self.settings = settings


class Stand:
    """Where a board stands, its setting, axes and policy, in a file: for a page that is loaded again.

    `path`: the file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(expect.path("path", path))

    def read(self) -> tuple[Setting, dict[str, str], str] | None:
        """The setting, the axes (`{axis: measure}`) and the policy that were written last; None where none can be read:
        a board that begins anew does no harm.
        """
        try:
            held = json.loads(self.path.read_text(encoding="utf-8"))
            return _setting(held["setting"]), dict(held["axes"]), str(held["policy"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None

    def write(self, setting: Setting, axes: Mapping[str, str], policy: str) -> None:
        """Write all three."""
        write(self.path, {"setting": asdict(setting), "axes": axes, "policy": policy})


def write(path: Path, what: object) -> None:
    """A JSON file of the owner's alone, as a release's files are, written whole or not at all."""
    atomic_write(path, json.dumps(what, indent=1, allow_nan=False) + "\n", 0o600)


def _setting(entry: Mapping[str, Any]) -> Setting:
    for name, value in entry.items():
        kinds = (float, int) if KINDS[name] is float else (KINDS[name],)
        # Python reads NaN, Infinity and 1e999 from a file, though it writes none here.
        if type(value) not in kinds or (isinstance(value, float) and not math.isfinite(value)):
            raise TypeError(f"{name} cannot be {value!r}")
    setting = Setting(**entry)
    check_bounds(setting)
    return setting


def code(dataset: Dataset, setting: Setting, source: str | os.PathLike[str] = "") -> str:
    """Lines of Python that make the release of a setting, the very one that is measured, and its published form.

    Parameters
    ----------
    dataset : Dataset
        As `load` gave it, all of it or a sample.
    setting : Setting
    source : str
        What `load` was given as its name, where that is the path of a description file.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For a setting that means nothing.
    """
    expect.these(source=source)
    setting = checked(setting, dataset)
    made, own = sanitizer(setting, dataset), _roles(setting, dataset)
    name, study, records = _origin(dataset, source)
    given = f", {study!r}" * bool(study) + f", records={records}" * bool(records)
    roles = ", ".join(f"{field}={names!r}" for field, names in own.items())
    named = set(re.findall(r"[A-Z]\w+(?=\()", repr(made)))
    imports = [
        "from privnb.datasets.dataset import load",
        "from privnb.explorer.setting import Setting, of_roles" if own else "",
        *(
            f"from {home.__name__} import {', '.join(sorted(named & set(home.__all__)))}"
            for home in (privacy_models, sanitizers)
            if named & set(home.__all__)
        ),
    ]
    rng = stream(setting.seed, made, "sanitize") if made.draws else setting.seed
    return (
        "\n".join(filter(None, imports))
        + f"\n\ndataset = load({name!r}{given})\n"
        + f"dataset = of_roles(dataset, Setting({roles}))\n" * bool(own)
        + CAUTION * made.draws
        + f"release = {made!r}.sanitize(dataset, rng={rng!r})\n"
        + f"published, _ = {f'{made!r}.sanitize(dataset, rng=None)' if made.draws else 'release'}.publish()\n"
    )


def command(
    dataset: Dataset, setting: Setting, source: str | os.PathLike[str] = "", fewest: int = withholding.LIMIT
) -> str:
    """The command that reports the numbers of a setting, quoted for a shell, without defaults and idle sliders.

    Parameters
    ----------
    dataset, setting, source
        As of `code`.
    fewest : int
        Numbers of fewer people are withheld.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For a setting that means nothing.
    """
    expect.these(source=source, fewest=fewest)
    setting = checked(setting, dataset)
    name, study, records = _origin(dataset, source)
    given: dict[str, object] = {"STUDY": study} if study else {}
    given |= {"RECORDS": records} if records else {}
    asked = asdict(setting) | {"quasi_identifiers": "", "sensitive": ""} | _roles(setting, dataset)
    read = [field for field in asked if field not in LETTERS or field in setting.asked]
    given |= {field.upper(): asked[field] for field in read if asked[field] != DEFAULTS[field]}
    given |= {"FEWEST": fewest} if fewest != withholding.LIMIT else {}
    words = [runs_as(), "report", "--notebook", "09_explore", "--dataset", name]
    return shlex.join([*words, *(str(word) for item in given.items() for word in ("-p", *item))])


def _roles(setting: Setting, dataset: Dataset) -> dict[str, str]:
    """Those fields of a checked setting that name attributes other than the dataset's own: `{field: names}`."""
    usual = checked(replace(setting, quasi_identifiers="", sensitive=""), dataset)
    if setting.roles == usual.roles:
        return {}
    return {"quasi_identifiers": setting.quasi_identifiers, "sensitive": setting.sensitive}


def _origin(dataset: Dataset, source: str | os.PathLike[str]) -> tuple[str, str, int]:
    """What `load` was given: name or path, study, and the number of records of a sample, or 0."""
    whole, *sample = re.split(r" \((\d+) records\)$", dataset.name)
    name, _, study = whole.partition("/")
    return str(source or name), study, int(sample[0]) if sample else 0
