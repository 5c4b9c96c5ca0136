"""The state of the explorer and the actions of its user: change, pin, add a file, compare, sweep, undo, save.

This module has no widgets: `Session` calls a method when something must be drawn, and a subclass draws it (see
`board`). Slow work runs in another process (see `background`); other work takes a fraction of a second.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.parameters import parse_numbers
from privnb.explorer import controls, panels, risks, role_saving, saving
from privnb.explorer.background import BackgroundWorker
from privnb.explorer.pinned_files import FileReading, measure_file_risks, mine_file, read_file, read_files
from privnb.explorer.pins import FilePin, Pins, find_trouble, pin_file
from privnb.explorer.readings import (
    Reading,
    cache_reading,
    count_setting,
    find_cached_reading,
    find_reading_key,
    mine_setting,
)
from privnb.explorer.setting import Setting, change_setting, check_setting, list_choices, setting_label, why_not_mined
from privnb.microdata import withholding
from privnb.runtime.errors import UsageError
from privnb.runtime.names import join_names, parse_names
from privnb.runtime.progress import track
from privnb.sanitizers.made_elsewhere import Correspondence

SOON = 0.003  # seconds of delay, in which a waiting key press can replace this one
REST = 0.4  # seconds without a change before the miner starts
FAULT = "This is an error in the explorer. Change a control, or undo the last change; the rest keeps working."
RELEASES = "releases"  # the folder of saved releases, next to the notebook
FIELDS = get_type_hints(Setting)
DOING = {
    "miner": "Miner", "risks": "Risks", "sweep": "Sweep", "count": "Counting", "pins": "Pinned settings",
    "save": "Saving", "roles": "Roles", "file": "Reading the file", "files": "Pinned files", "compare": "Comparison",
}  # fmt: skip
PERSISTENT = ("sweep", "save", "roles", "pins", "file", "files")  # tasks that continue while controls move
Pin = Setting | FilePin


def parse_setting(
    k: str | float,
    l: str | float,  # noqa: E741 - the field's letter
    t: str | float,
    delta: str | float,
    epsilon: str | float,
    **others: Any,
) -> Setting:
    """Return the setting that the parameters of a notebook describe.

    Parameters
    ----------
    k, l, t, delta, epsilon : str, int or float
        One number, or several numbers separated by commas, of which the first is used; if empty, the default of
        `Setting`.
    **others
        Fields of `Setting`.

    Examples
    --------
    >>> parse_setting("10, 50", "", 0.2, "", "").bounds
    {'k': 10, 't': 0.2}
    """
    if unknown := [name for name in others if name not in FIELDS]:
        raise UsageError(f"a setting has no field {', '.join(unknown)}. Choose from {', '.join(FIELDS)}.")
    given = {"k": k, "l": l, "t": t, "delta": delta, "epsilon": epsilon}
    found = {name: parse_numbers(name.upper(), text, float) for name, text in given.items()}
    return Setting(**{name: FIELDS[name](some[0]) for name, some in found.items() if some}, **others)


def count_settings(dataset: Dataset, settings: Sequence[Setting], min_count: int) -> list[Reading]:
    """Return the readings of several settings, as a task for another process."""
    return [count_setting(dataset, setting, min_count=min_count) for setting in track(settings, "settings")]


class Session:
    """One setting and its results, with a method for each action of a person at the controls.

    `setting` is the current setting; `reading` holds its counts, or None until the counts are made; `mined` holds the
    results of the miner, or None until the miner is done; `curve` holds the settings of the last sweep; `message`
    states the files that were saved; and `fault` is the last error. `min_count` is the limit of the screen, and
    `report_min_count` is the limit of reports.
    """

    def __init__(
        self,
        dataset: Dataset,
        setting: Setting,
        *,
        pins: str | os.PathLike[str],
        store: str | os.PathLike[str],
        source: str | os.PathLike[str],
        min_count: int = withholding.LIMIT,
    ) -> None:
        self.report_min_count = withholding.check_min_count(min_count)
        is_invented = dataset.schema.invented
        self.min_count = withholding.limit_on_screen(is_invented, self.report_min_count)
        # Numbers that a file must withhold are not stored.
        self.dataset, self.store, self.source = dataset, "" if is_invented else store, source
        self.setting, self.pins, self.work = check_setting(setting, dataset), Pins(pins), BackgroundWorker(dataset)
        self.changes: list[tuple[str, Callable[[], object]]] = []  # each change in words, and how to undo it
        self.curve: list[Setting] = []
        self.reading: Reading | None = None
        self.seconds = 0.0
        self.message = self.fault = self.saved_roles = ""
        self._offered = list_choices(dataset)
        self.comparing, self.is_paused, self.file_trouble = False, False, ""
        self._file_readings: dict[tuple[Any, ...], FileReading] = {}
        self._compared_part: tuple[Pin, str] | None = None  # the release and the part that the comparison measures now
        self._mined: dict[Any, pd.DataFrame] = {}  # by setting; of a file by `_miner_key`
        self._failed: dict[Any, str] = {}
        self._risks: dict[tuple[Any, ...], dict[str, pd.DataFrame]] = {}  # by release
        self._unmeasured: dict[tuple[Any, ...], str] = {}
        self._before: dict[tuple[str, str], dict[Any, Any]] = {}  # predictions without a release, by roles
        self._doing, self._turn = "", object()
        self._progress: tuple[float | None, str] = (None, "")
        self._next: dict[str, asyncio.TimerHandle] = {}
        self._open = False  # whether a page is open
        # JupyterLab may run the callbacks of widgets in another thread than cells.
        self._lock = threading.RLock()

    @property
    def mined(self) -> pd.DataFrame | None:
        """The results of the miner for the setting; None until the miner is done."""
        return self._mined.get(self.setting)

    @property
    def risks(self) -> dict[str, pd.DataFrame]:
        """The risks of the setting that have been measured so far, as `{risk: tidy results}`."""
        return self._risks.setdefault(self._release, {})

    @property
    def _release(self) -> tuple[Any, ...]:
        return self._release_key(self.setting)

    def _release_key(self, pin: Pin) -> tuple[Any, ...]:
        if isinstance(pin, FilePin):
            return pin, self._roles, self.min_count
        return find_reading_key(self.dataset, pin, self.min_count)

    def _miner_key(self, pin: Pin) -> Any:
        return (pin, self._roles, self.setting.miner, self.setting.scenario) if isinstance(pin, FilePin) else pin

    @property
    def _roles(self) -> tuple[str, str]:
        return self._checked.roles

    @property
    def _checked(self) -> Setting:
        """The current setting, with the names of its attributes filled in."""
        return check_setting(self.setting, self.dataset)

    @property
    def pinned(self) -> list[Setting]:
        """The pinned settings that fit this table; the file may also hold settings for other tables."""
        return [pin for pin in self.pins.settings if is_possible(pin, self.dataset)]

    @property
    def pinned_files(self) -> list[FilePin]:
        """The pinned files that other tools made from this table."""
        return [pin for pin in self.pins.files if pin.dataset == self.dataset.schema.dataset]

    @property
    def compared(self) -> list[Pin]:
        """The releases to compare: the current setting, the pinned settings, and the pinned files."""
        pinned = [check_setting(each, self.dataset) for each in self.pinned]
        return [*dict.fromkeys([self._checked, *pinned]), *self.pinned_files]

    def file_trouble_of(self, pin: FilePin) -> str:
        """Return why a pinned file has no numbers: it has changed or vanished. The text is empty if it has numbers."""
        return find_trouble(pin, self.pins.folder)

    def read_result(self, pin: Pin) -> Reading | FileReading | None:
        """Return the counts of a compared release; None if they are not counted yet, or if the file has changed."""
        if isinstance(pin, FilePin):
            return None if self.file_trouble_of(pin) else self._file_readings.get(self._release_key(pin))
        return self._cached(pin)

    # --- parts of the board ---

    def _draw(self) -> None:
        """Draw everything again."""

    def _state(self) -> None:
        """Show the current activity."""

    def _gauge(self) -> None:
        """Show the risks that are known."""

    def _compare(self) -> None:
        """Draw the comparison again."""

    def _clear(self) -> None:
        """Remove all numbers, so that nobody mistakes numbers of an older setting for current numbers."""

    # --- actions of a person ---

    def change(self, **changes: Any) -> None:
        """Move controls, which are fields of `Setting`.

        A new sensitive attribute is no longer known to the adversary. The former sensitive attribute is known again if
        it is a quasi-identifier of the dataset.
        """
        words = f"the change of {', '.join(name.replace('_', ' ') for name in changes)}"
        if "sensitive" in changes:
            known = {*parse_names(self.setting.quasi_identifiers)}
            known |= {self.setting.sensitive} & {*self.dataset.schema.quasi_identifiers}
            changes["quasi_identifiers"] = join_names(known - {changes["sensitive"]})
        self._go(change_setting(self.setting, **changes), words)

    def go(self, setting: Setting) -> None:
        """Go to another setting, such as a pinned one."""
        self._go(setting, f"the step to {setting_label(setting)}")

    def pin(self) -> None:
        """Pin the setting for comparison, in the file next to the notebook."""
        self.pins.add(self.setting)
        self._record_change(f"the pin of {setting_label(self.setting)}", self.pins.undo)
        self._draw()

    def unpin(self, setting: Setting) -> None:
        """Remove a pinned setting."""
        self.pins.remove(setting)
        self._record_change(f"the removal of {setting_label(setting)} from the pins", self.pins.undo)
        self._draw()

    def add_file(self, path: str, rows: Correspondence = "measured", perturbed: Sequence[str] = ()) -> None:
        """Read a file that another tool made, and pin it for comparison.

        Parameters
        ----------
        path : str
            The path, absolute or relative to the folder of the notebook or to the project.
        rows : str
            The origin of the rows, see `MadeElsewhere`.
        perturbed : list of str
            The columns whose values were changed.
        """
        self.file_trouble = ""
        try:
            pin = pin_file(path, self.pins.folder, self.dataset.schema.dataset, rows=rows, perturbed=perturbed)
        except (ValueError, OSError) as error:
            self.file_trouble = str(error)
            self._compare()
            return
        task = partial(read_file, self.dataset, self.setting, pin, self.pins.folder, self.min_count)
        self._start("file", task, partial(self._added, pin))

    def unpin_file(self, pin: FilePin) -> None:
        """Remove a pinned file; the file itself stays as it is."""
        self.pins.remove(pin)
        self._record_change(f"the removal of {pin.name} from the pins", self.pins.undo)
        self._draw()

    def compare(self) -> None:
        """Show or hide the comparison, which measures the missing numbers of its releases in the background."""
        self.comparing, self.is_paused = not self.comparing, False
        if not self.comparing and self._doing == "compare":
            self._stop()
            self._state()
        self._compare()
        self._go_on()

    def resume(self) -> None:
        """Measure the missing numbers of the comparison again after a cancellation or a failure."""
        self.is_paused = False
        for pin in self.compared:
            self._unmeasured.pop(self._release_key(pin), None)
            self._failed.pop(self._miner_key(pin), None)
        self._compare()
        self._go_on()

    def undo(self) -> None:
        """Undo the last change of a control or pin, if there is one."""
        if self.changes:
            self.changes[-1][1]()  # if this fails, the change can still be undone
            self.changes.pop()
            self._draw()

    def sweep(self, letter: str) -> None:
        """Count every step of one slider in another process, and draw the curve in the plane."""
        found = [{letter: value} for value in controls.slider_steps(letter, getattr(self.setting, letter)) if value]
        self.curve = [check_setting(change_setting(self.setting, **step), self.dataset) for step in found]
        self._count_in_background("sweep", self.curve)

    def cancel(self) -> None:
        """Stop the background task: a sweep, a slow count, or the miner."""
        doing = self._doing
        self.is_paused |= doing == "compare"
        self._stop()
        self._ended("This task was cancelled.", doing)

    def again(self) -> None:
        """Restart the task that was cancelled or that failed."""
        self._failed.pop(self.setting, None)
        self._unmeasured.pop(self._release, None)
        self._draw()
        self._go_on()

    def save(self, format: str = "CSV") -> None:
        """Write the release and its provenance into a new folder of `releases`, with fresh random draws.

        While another release is being written, the call has no effect.
        """
        if self._doing == "save":
            return
        if not self.reading:
            raise UsageError("This setting has no numbers yet. Wait until the board shows the numbers, then save.")
        if self.reading.terms.refused:
            raise UsageError(self.reading.terms.refused)
        folder = Path(RELEASES).resolve()
        task = partial(saving.save_release, self.dataset, self.setting, folder, format)
        self._start("save", task, partial(self._saved, panels.describe_exact_columns(*self.reading.exact)))

    def save_roles(self) -> None:
        """Write the roles of the setting into the description of the table, and load the table with these roles.

        While a release or roles are being written, the call has no effect.
        """
        if self._doing not in ("save", "roles"):
            task = partial(role_saving.save_roles, self.dataset, self.setting, self.source)
            self._start("roles", task, self._take_dataset)

    def close(self) -> None:
        """End the processes of the board."""
        self.work.close()

    # --- consequences ---

    def _record_change(self, words: str, revert: Callable[[], object]) -> None:
        self.changes.append((words, revert))

    def _go(self, setting: Setting, words: str) -> None:
        setting = check_setting(setting, self.dataset)
        if setting != self.setting:
            self.changes.append((words, partial(self._set, self.setting)))
            self._set(setting)

    def _set(self, setting: Setting) -> None:
        """Show a setting at once and count it soon after, so that many key presses cause only one count."""
        self.setting, self.reading, self.message, self.fault, self.saved_roles = setting, None, "", "", ""
        if self._doing not in PERSISTENT:
            self._stop()
        self._failed.pop(setting, None)
        self._unmeasured.pop(self._release, None)
        if "miner" in self._next:  # the miner of the previous setting
            self._next.pop("miner").cancel()
        cached = self._cached(setting)
        if not cached:  # else everything is drawn at once
            self._state()
            self._gauge()
        self._soon("count", self._count, 0 if cached else SOON)

    def _soon(self, what: str, call: Callable[[], object], seconds: float = 0) -> None:
        """Call a function after the events that already wait, such as a key press.

        A later call for the same `what` replaces an earlier call.
        """
        if what in self._next:
            self._next.pop(what).cancel()
        try:
            self._next[what] = asyncio.get_running_loop().call_later(seconds, self._try, call)
        except RuntimeError:  # a script has no event loop
            call()

    def _count(self) -> None:
        """Count the setting, in another process if its sanitizer takes seconds."""
        began, self.fault = time.perf_counter(), ""
        if self._open and self.setting.kind.slow and not self._cached(self.setting):
            if self._doing != "save":  # saving is not interrupted; the setting is counted after it
                self._count_in_background("count", [self.setting])
            return
        self.reading = count_setting(self.dataset, self.setting, min_count=self.min_count)
        self.seconds = time.perf_counter() - began
        self._draw()
        self._soon("risks", self._count_risks, SOON)
        self._soon("miner", self._go_on, REST)

    def _count_risks(self) -> None:
        """Measure the fast risks after the panels are drawn."""
        if self.reading and not self.reading.refused and not self.risks:
            self.risks.update(risks.measure_fast_risks(self.dataset, self.setting, self.min_count))
            self._gauge()

    def _go_on(self) -> None:
        """Start the next task.

        The order is: count the setting, measure its slow risks, count the pins of an earlier kernel, read the pinned
        files, run the miner, measure what the comparison lacks.
        """
        if not self.reading:
            self._count()
        elif self._doing:
            return
        elif self._open and (missing := self._missing):
            # One risk at a time, so that each is shown as soon as it is known.
            before = self._before.get(self._roles) if missing[0] == "attribute" else None
            task = partial(
                risks.measure_slow_risks, self.dataset, self.setting, missing[:1], self.store, self.min_count, before
            )
            self._start("risks", task, partial(self._measured, self._release, self._roles))
        elif self._open and any(not self._cached(pin) for pin in self.pinned):
            self._count_in_background("pins", self.pinned)
        elif self._open and (unread := self._unread_files):
            given = self.dataset, self.setting, unread, self.pins.folder, self.min_count
            self._start("files", partial(read_files, *given), partial(self._take_files, unread))
        else:
            self._mine()

    @property
    def _unread_files(self) -> list[FilePin]:
        files = (pin for pin in self.pinned_files if self._release_key(pin) not in self._file_readings)
        return [pin for pin in files if not self.file_trouble_of(pin)]

    def _take_files(self, pins: Sequence[FilePin], readings: Sequence[FileReading]) -> None:
        self._doing = ""
        for pin, reading in zip(pins, readings, strict=True):
            self._file_readings[pin, reading.roles, self.min_count] = reading
        if self.reading:
            self._draw()
        self._go_on()

    def _added(self, pin: FilePin, reading: FileReading) -> None:
        self._doing, self.file_trouble = "", reading.refused
        if not reading.refused:
            self.pins.add(pin)
            self._record_change(f"the pin of {pin.name}", self.pins.undo)
            self._file_readings[pin, reading.roles, self.min_count] = reading
        self._draw()
        self._go_on()

    @property
    def _missing(self) -> list[str]:
        """The risks of the setting that can still be measured."""
        without = not self.reading or self.reading.refused or self._release in self._unmeasured
        return [risk for risk in risks.ORDER if not without and risk not in self.risks]

    def _measured(
        self, release: tuple[Any, ...], roles: tuple[str, str], measured: tuple[dict[str, pd.DataFrame], dict[Any, Any]]
    ) -> None:
        found, before = measured
        self._doing = ""
        if before:  # a process that ends loses its own predictions
            self._before[roles] = before
        self._risks.setdefault(release, {}).update(found)
        self._gauge()
        self._go_on()
        self._state()

    def _cached(self, setting: Setting) -> Reading | None:
        return find_cached_reading(self.dataset, setting, self.min_count)

    def _count_in_background(self, doing: str, settings: Sequence[Setting]) -> None:
        missing = [setting for setting in settings if not self._cached(setting)]
        task = partial(count_settings, self.dataset, missing, self.min_count)
        self._start(doing, task, self._take_readings) if missing else self._take_readings([])

    def _take_readings(self, readings: Iterable[Reading]) -> None:
        self._doing = ""
        for reading in readings:
            cache_reading(self.dataset, reading)
        if self.reading:
            self._draw()
        self._go_on()

    def _mine(self) -> None:
        """Start the miner if a page is open, if there is no result yet, and if the release can be mined."""
        known = {**self._mined, **self._failed}
        settled = self._doing or not self.reading or self.reading.refused or self.setting in known
        if self._open and not settled and len(why_not_mined(self.setting, self.dataset)) < 2:
            task = partial(mine_setting, self.dataset, self.setting, self.store, self.min_count)
            self._start("miner", task, partial(self._mined_by, self.setting))
        elif self._open and not self._doing and self.comparing and not self.is_paused:
            self._measure_next()

    def _mined_by(self, setting: Setting, results: pd.DataFrame) -> None:
        self._doing, self._mined[setting] = "", results
        self._draw()
        self._mine()

    def _measure_next(self) -> None:
        """Measure the next risk, or run the next miner, that a release of the comparison lacks."""
        for pin in self.compared:
            reading, key = self.read_result(pin), self._release_key(pin)
            if reading is None or reading.refused:
                continue
            known = self._risks.get(key, {})
            lacking = [risk for risk in risks.ORDER if risk not in known] if key not in self._unmeasured else []
            if lacking:
                self._compared_part = pin, "risks"
                self._start("compare", self._risk_task(pin, lacking[:1]), partial(self._take_part, pin))
                return
            done = {**self._mined, **self._failed}
            if self._miner_key(pin) not in done and (task := self._miner_task(pin)):
                self._compared_part = pin, "miner"
                self._start("compare", task, partial(self._take_part, pin))
                return

    def _risk_task(self, pin: Pin, names: list[str]) -> Callable[[], Any]:
        roles = self._roles if isinstance(pin, FilePin) else pin.roles
        before = self._before.get(roles) if names == ["attribute"] else None
        if isinstance(pin, FilePin):
            given = self.dataset, self.setting, pin, self.pins.folder, names, self.min_count, before
            return partial(measure_file_risks, *given)
        return partial(risks.measure_slow_risks, self.dataset, pin, names, self.store, self.min_count, before)

    def _miner_task(self, pin: Pin) -> Callable[[], Any] | None:
        if isinstance(pin, FilePin):
            return partial(mine_file, self.dataset, self.setting, pin, self.pins.folder, self.min_count)
        if len(why_not_mined(pin, self.dataset)) > 1:
            return None
        return partial(mine_setting, self.dataset, pin, self.store, self.min_count)

    def _take_part(self, pin: Pin, found: Any) -> None:
        self._doing = ""
        if isinstance(found, pd.DataFrame):
            self._mined[self._miner_key(pin)] = found
        else:
            measured, before = found
            roles = self._roles if isinstance(pin, FilePin) else pin.roles
            self._before.setdefault(roles, {}).update(before)
            self._risks.setdefault(self._release_key(pin), {}).update(measured)
        self._compare()
        self._go_on()
        self._state()

    def _start(self, doing: str, task: Callable[[], Any], done: Callable[[Any], None]) -> None:
        """Run a task in the other process, and end the older task that still runs there."""
        turn = self._turn = object()

        def later(call: Callable[..., None]) -> Callable[..., object]:
            # Not at once, because `work` holds a lock of its own during the call.
            return lambda *message: asyncio.get_running_loop().call_soon(self._try, self._in_turn, turn, call, *message)

        if self._doing in PERSISTENT:
            self.fault = f"{DOING[self._doing]}: a newer task ended it."
        self._doing, self._progress = doing, (None, "starting")
        try:
            asyncio.get_running_loop()
        except RuntimeError:  # a script waits for the result
            done(task())
            return
        self.work.start(task, done=later(done), failed=later(self._ended), progress=later(self._going))
        self._state()

    def _in_turn(self, turn: object, call: Callable[..., None], *message: Any) -> None:
        if turn is self._turn:
            call(*message)

    def _saved(self, exact: str, paths: Iterable[Path]) -> None:
        places = [os.path.relpath(path) for path in paths]
        self._doing, self.message = "", f"Saved as {' and '.join(places)}. {exact}".rstrip()
        self._draw()
        self._go_on()

    def _take_dataset(self, dataset: Dataset) -> None:
        """Continue with the same setting on a dataset with other roles; earlier results were for other roles."""
        self.work.close()
        self.dataset, self.work, self._doing = dataset, BackgroundWorker(dataset), ""
        self.setting = check_setting(change_setting(self.setting), dataset)
        self._offered, self.curve, self.reading = list_choices(dataset), [], None
        for results in (self._mined, self._failed, self._before):
            results.clear()
        self._count()

    def _going(self, *message: Any) -> None:
        self._progress = message
        self._state()

    def _stop(self) -> None:
        self.work.stop()
        self._doing, self._turn = "", object()

    def _ended(self, text: str, doing: str = "") -> None:
        """Show that a background task ended without a result."""
        doing, self._doing = doing or self._doing, ""
        if doing == "miner":
            self._failed[self.setting] = text
        elif doing == "risks":
            self._unmeasured[self._release] = text
        elif doing == "compare":
            self._keep_failure(text)
        elif doing == "file":
            self.file_trouble = text
        else:
            self.fault = f"{DOING[doing]}: {text}"
        self._draw()
        if self.reading:
            self._mine()
        elif doing in PERSISTENT:
            self._count()

    def _keep_failure(self, text: str) -> None:
        """Keep why a part of the comparison was not measured; a cancelled part can be measured later."""
        if self._compared_part and not self.is_paused:
            pin, part = self._compared_part
            if part == "risks":
                self._unmeasured[self._release_key(pin)] = text
            else:
                self._failed[self._miner_key(pin)] = text

    # --- errors ---

    @property
    def _busy(self) -> bool:
        return not self.reading and bool(self._doing or not self.fault)

    def _try(self, call: Callable[..., object], *given: Any, **options: Any) -> None:
        """Call a function that may fail; the status line shows an error, and the board continues to work."""
        try:
            with self._lock:
                call(*given, **options)
        except (ValueError, OSError) as error:
            self._wrong(str(error))
        except Exception as error:  # no caller could handle it
            self._wrong(f"{type(error).__name__}: {error}. {FAULT}")

    def _wrong(self, text: str) -> None:
        self.fault = text
        if not self.reading and not self._busy:
            self._clear()
        self._state()


def is_possible(setting: Setting, dataset: Dataset) -> bool:
    """Return whether a setting is valid for a table."""
    try:
        return bool(check_setting(setting, dataset))
    except (ValueError, TypeError):
        return False
