"""What a person does with one setting: asks, pins, sweeps, takes back, saves; and what follows of it.

No widget is here: `Session` says when something is to be shown, and a subclass shows it (see `board`). Slow work is
done in another process, see `work`; what is computed here takes a fraction of a second. One module, for it is one state
and what each act of a person does to it.
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
from privnb.evaluation.parameters import numbers
from privnb.explorer import controls, panels, risks, saving
from privnb.explorer.numbers import Reading, counted, mined, recalled, release_key, remember
from privnb.explorer.pins import Pins
from privnb.explorer.setting import Setting, changed, checked, choices, label, unmined
from privnb.explorer.work import Work
from privnb.microdata import withholding
from privnb.runtime.errors import UsageError
from privnb.runtime.names import name_list, names_in
from privnb.runtime.progress import track

SOON = 0.003  # seconds in which another key press, which waits already, replaces this one
REST = 0.4  # seconds without a further change, before the miner takes the processor
FAULT = "This is a fault of the explorer. Change a control, or take back the last change; all else goes on."
RELEASES = "releases"  # the folder, beside the notebook, of what is saved
FIELDS = get_type_hints(Setting)
DOING = {
    "miner": "Miner", "risks": "Risks", "sweep": "Sweep", "count": "Counting", "pins": "Pinned settings",
    "save": "Saving",
}  # fmt: skip
ASKED = ("sweep", "save", "pins")  # which go on while controls move


def asked(
    k: str | float,
    l: str | float,  # noqa: E741 - the field's letter
    t: str | float,
    delta: str | float,
    epsilon: str | float,
    **others: Any,
) -> Setting:
    """The setting that a notebook's parameters ask for.

    Parameters
    ----------
    k, l, t, delta, epsilon : str, int or float
        One number, or several separated by commas, of which the first is taken; empty: the default of `Setting`.
    **others
        Fields of `Setting`.

    Returns
    -------
    Setting

    >>> asked("10, 50", "", 0.2, "", "").asked
    {'k': 10, 't': 0.2}
    """
    if unknown := [name for name in others if name not in FIELDS]:
        raise UsageError(f"a setting has no {', '.join(unknown)}; it has {', '.join(FIELDS)}.")
    given = {"k": k, "l": l, "t": t, "delta": delta, "epsilon": epsilon}
    found = {name: numbers(name.upper(), text, float) for name, text in given.items()}
    return Setting(**{name: FIELDS[name](some[0]) for name, some in found.items() if some}, **others)


def swept(dataset: Dataset, settings: Sequence[Setting], fewest: int) -> list[Reading]:
    """The readings of several settings: a task for another process."""
    return [counted(dataset, setting, fewest=fewest) for setting in track(settings, "settings")]


class Session:
    """One setting and what is known of it. The methods do what a person does with the controls.

    `setting`: what is asked; `reading`: what counts tell of it, None while they are counted; `mined`: what the miner
    tells, None until it is done; `curve`: the settings of the last sweep; `said`: what was saved; `fault`: what went
    wrong.
    """

    def __init__(
        self,
        dataset: Dataset,
        setting: Setting,
        *,
        pins: str | os.PathLike[str],
        store: str | os.PathLike[str],
        source: str | os.PathLike[str],
        fewest: int = withholding.LIMIT,
    ) -> None:
        self.fewest = withholding.check(fewest)
        self.dataset, self.store, self.source = dataset, store, source
        self.setting, self.pins, self.work = checked(setting, dataset), Pins(pins), Work(dataset)
        self.changes: list[tuple[str, Callable[[], object]]] = []  # what was done, in words, and what takes it back
        self.curve: list[Setting] = []
        self.reading: Reading | None = None
        self.seconds = 0.0
        self.said = self.fault = ""
        self._offered = choices(dataset)
        self._mined: dict[Setting, pd.DataFrame] = {}
        self._failed: dict[Setting, str] = {}
        self._risks: dict[tuple[Any, ...], dict[str, pd.DataFrame]] = {}  # by release
        self._unmeasured: dict[tuple[Any, ...], str] = {}
        self._before: dict[tuple[str, str], dict[Any, Any]] = {}  # what is guessed without a release, by roles
        self._doing, self._turn = "", object()
        self._progress: tuple[float | None, str] = (None, "")
        self._next: dict[str, asyncio.TimerHandle] = {}
        self._open = False  # whether somebody looks on
        # JupyterLab may answer widgets in another thread than cells.
        self._lock = threading.RLock()

    @property
    def mined(self) -> pd.DataFrame | None:
        """What the miner tells of the setting, or None."""
        return self._mined.get(self.setting)

    @property
    def risks(self) -> dict[str, pd.DataFrame]:
        """Of the risks those that are measured of the setting: `{risk: tidy results}`."""
        return self._risks.setdefault(self._release, {})

    @property
    def _release(self) -> tuple[Any, ...]:
        return release_key(self.dataset, self.setting, self.fewest)

    @property
    def _roles(self) -> tuple[str, str]:
        return checked(self.setting, self.dataset).roles

    @property
    def pinned(self) -> list[Setting]:
        """The pinned settings, but for those that this table cannot be asked for: one file may serve several tables."""
        return [pin for pin in self.pins.settings if means_something(pin, self.dataset)]

    # --- what each part of the board shows ---

    def _draw(self) -> None:
        """Everything is to be shown anew."""

    def _state(self) -> None:
        """What is being done is to be shown."""

    def _gauge(self) -> None:
        """The risks are to be shown, as far as they are known."""

    def _clear(self) -> None:
        """No numbers are to be shown: those of an older setting are not to be taken for this one's."""

    # --- what a person does ---

    def ask(self, **changes: Any) -> None:
        """Move controls: fields of `Setting`. What nobody should learn is taken from what is known; what was so before
        is known again if the dataset says that it is.
        """
        words = f"the change of {', '.join(name.replace('_', ' ') for name in changes)}"
        if "sensitive" in changes:
            known = {*names_in(self.setting.quasi_identifiers)}
            known |= {self.setting.sensitive} & {*self.dataset.schema.quasi_identifiers}
            changes["quasi_identifiers"] = name_list(known - {changes["sensitive"]})
        self._go(changed(self.setting, **changes), words)

    def go(self, setting: Setting) -> None:
        """Go to another setting, such as a pinned one."""
        self._go(setting, f"going to {label(setting)}")

    def pin(self) -> None:
        """Keep the setting for comparison, in the file beside the notebook."""
        self.pins.add(self.setting)
        self._did(f"pinning {label(self.setting)}", self.pins.undo)
        self._draw()

    def unpin(self, setting: Setting) -> None:
        """Let go of a pinned setting."""
        self.pins.remove(setting)
        self._did(f"unpinning {label(setting)}", self.pins.undo)
        self._draw()

    def undo(self) -> None:
        """Take back the last change of a control or pin; without one nothing happens."""
        if self.changes:
            self.changes[-1][1]()  # which may fail, and then stays to be taken back
            self.changes.pop()
            self._draw()

    def sweep(self, letter: str) -> None:
        """Count every step of one slider in another process; the curve goes to the plane."""
        found = [{letter: value} for value in controls.steps(letter, getattr(self.setting, letter)) if value]
        self.curve = [checked(changed(self.setting, **step), self.dataset) for step in found]
        self._beside("sweep", self.curve)

    def cancel(self) -> None:
        """Stop what runs beside the interface: a sweep, a slow count, or the miner."""
        doing = self._doing
        self._stop()
        self._ended("It was cancelled.", doing)

    def again(self) -> None:
        """Start anew what was cancelled or went wrong."""
        self._failed.pop(self.setting, None)
        self._unmeasured.pop(self._release, None)
        self._draw()
        self._go_on()

    def save(self, format: str = "CSV") -> None:
        """Write the release and its provenance into a new folder of `releases`, what is random drawn afresh; not while
        one is being written.
        """
        if self._doing == "save":
            return
        if not self.reading:
            raise UsageError("This setting has no numbers yet. Save it once you have seen them.")
        if self.reading.terms.refused:
            raise UsageError(self.reading.terms.refused)
        folder = Path(RELEASES).resolve()
        task = partial(saving.save, self.dataset, self.setting, folder, format)
        self._start("save", task, partial(self._saved, panels.says_exact(*self.reading.exact)))

    def close(self) -> None:
        """End the processes of the board."""
        self.work.close()

    # --- what follows of it ---

    def _did(self, words: str, back: Callable[[], object]) -> None:
        self.changes.append((words, back))

    def _go(self, setting: Setting, words: str) -> None:
        setting = checked(setting, self.dataset)
        if setting != self.setting:
            self.changes.append((words, partial(self._set, self.setting)))
            self._set(setting)

    def _set(self, setting: Setting) -> None:
        """Take a setting: say so at once, count soon; of many key presses the last one is counted."""
        self.setting, self.reading, self.said, self.fault = setting, None, "", ""
        if self._doing not in ASKED:
            self._stop()
        self._failed.pop(setting, None)
        self._unmeasured.pop(self._release, None)
        if "miner" in self._next:  # what would follow the numbers of the setting before
            self._next.pop("miner").cancel()
        again = self._recalled(setting)
        if not again:  # else all of it is shown at once
            self._state()
            self._gauge()
        self._soon("count", self._count, 0 if again else SOON)

    def _soon(self, what: str, call: Callable[[], object], seconds: float = 0) -> None:
        """Call after what waits already, such as a further key press; a later call of the same replaces it."""
        if what in self._next:
            self._next.pop(what).cancel()
        try:
            self._next[what] = asyncio.get_running_loop().call_later(seconds, self._try, call)
        except RuntimeError:  # a script, which waits for nothing
            call()

    def _count(self) -> None:
        """Count the setting: here, or beside the interface if its sanitizer takes seconds."""
        began, self.fault = time.perf_counter(), ""
        if self._open and self.setting.kind.slow and not self._recalled(self.setting):
            if self._doing != "save":  # which is not broken off: what is left is counted after it
                self._beside("count", [self.setting])
            return
        self.reading = counted(self.dataset, self.setting, fewest=self.fewest)
        self.seconds = time.perf_counter() - began
        self._draw()
        self._soon("risks", self._count_risks, SOON)
        self._soon("miner", self._go_on, REST)

    def _count_risks(self) -> None:
        """What counts tell of the risks, once the panels are drawn."""
        if self.reading and not self.reading.refused and not self.risks:
            self.risks.update(risks.at_once(self.dataset, self.setting, self.fewest))
            self._gauge()

    def _go_on(self) -> None:
        """Do what is left: count the setting, then its other risks, then the pins of an earlier kernel, then mine."""
        if not self.reading:
            self._count()
        elif self._doing:
            return
        elif self._open and (missing := self._missing):
            # One at a time, each shown as soon as it is there.
            before = self._before.get(self._roles) if missing[0] == "attribute" else None
            task = partial(risks.beside, self.dataset, self.setting, missing[:1], self.store, self.fewest, before)
            self._start("risks", task, partial(self._measured, self._release, self._roles))
        elif self._open and any(not self._recalled(pin) for pin in self.pinned):
            self._beside("pins", self.pinned)
        else:
            self._mine()

    @property
    def _missing(self) -> list[str]:
        """The risks that can still be measured of the setting."""
        without = not self.reading or self.reading.refused or self._release in self._unmeasured
        return [risk for risk in risks.ORDER if not without and risk not in self.risks]

    def _measured(
        self, release: tuple[Any, ...], roles: tuple[str, str], measured: tuple[dict[str, pd.DataFrame], dict[Any, Any]]
    ) -> None:
        found, before = measured
        self._doing = ""
        if before:  # a process that is ended takes its own with it
            self._before[roles] = before
        self._risks.setdefault(release, {}).update(found)
        self._gauge()
        self._go_on()
        self._state()

    def _recalled(self, setting: Setting) -> Reading | None:
        return recalled(self.dataset, setting, self.fewest)

    def _beside(self, doing: str, settings: Sequence[Setting]) -> None:
        missing = [setting for setting in settings if not self._recalled(setting)]
        task = partial(swept, self.dataset, missing, self.fewest)
        self._start(doing, task, self._swept) if missing else self._swept([])

    def _swept(self, readings: Iterable[Reading]) -> None:
        self._doing = ""
        for reading in readings:
            remember(self.dataset, reading)
        if self.reading:
            self._draw()
        self._go_on()

    def _mine(self) -> None:
        """Start the miner, if somebody looks on, it has given no number yet, and it can."""
        known = {**self._mined, **self._failed}
        settled = self._doing or not self.reading or self.reading.refused or self.setting in known
        if self._open and not settled and len(unmined(self.setting, self.dataset)) < 2:
            task = partial(mined, self.dataset, self.setting, self.store, self.fewest)
            self._start("miner", task, partial(self._mined_by, self.setting))

    def _mined_by(self, setting: Setting, results: pd.DataFrame) -> None:
        self._doing, self._mined[setting] = "", results
        self._draw()

    def _start(self, doing: str, task: Callable[[], Any], done: Callable[[Any], None]) -> None:
        """Run a task in the other process; it ends the one that ran there."""
        turn = self._turn = object()

        def later(call: Callable[..., None]) -> Callable[..., object]:
            # Not at once: `work` holds a lock of its own while it calls.
            return lambda *message: asyncio.get_running_loop().call_soon(self._try, self._in_turn, turn, call, *message)

        if self._doing in ASKED:
            self.fault = f"{DOING[self._doing]}: ended by what was asked for since."
        self._doing, self._progress = doing, (None, "starting")
        try:
            asyncio.get_running_loop()
        except RuntimeError:  # a script, which waits
            done(task())
            return
        self.work.start(task, done=later(done), failed=later(self._ended), progress=later(self._going))
        self._state()

    def _in_turn(self, turn: object, call: Callable[..., None], *message: Any) -> None:
        if turn is self._turn:
            call(*message)

    def _saved(self, exact: str, paths: Iterable[Path]) -> None:
        places = [os.path.relpath(path) for path in paths]
        self._doing, self.said = "", f"Saved as {' and '.join(places)}. {exact}".rstrip()
        self._draw()
        self._go_on()

    def _going(self, *message: Any) -> None:
        self._progress = message
        self._state()

    def _stop(self) -> None:
        self.work.stop()
        self._doing, self._turn = "", object()

    def _ended(self, text: str, doing: str = "") -> None:
        """What ran beside the interface ended without a result."""
        doing, self._doing = doing or self._doing, ""
        if doing == "miner":
            self._failed[self.setting] = text
        elif doing == "risks":
            self._unmeasured[self._release] = text
        else:
            self.fault = f"{DOING[doing]}: {text}"
        self._draw()
        if self.reading:
            self._mine()
        elif doing in ASKED:
            self._count()

    # --- what goes wrong ---

    @property
    def _busy(self) -> bool:
        return not self.reading and bool(self._doing or not self.fault)

    def _try(self, call: Callable[..., object], *given: Any, **options: Any) -> None:
        """Call what may fail: a fault is said where the state is, and the board goes on."""
        try:
            with self._lock:
                call(*given, **options)
        except (ValueError, OSError) as error:
            self._wrong(str(error))
        except Exception as error:  # an interface has no caller who could do better
            self._wrong(f"{type(error).__name__}: {error}. {FAULT}")

    def _wrong(self, text: str) -> None:
        self.fault = text
        if not self.reading and not self._busy:
            self._clear()
        self._state()


def means_something(setting: Setting, dataset: Dataset) -> bool:
    """Whether a table can be asked for a setting."""
    try:
        return bool(checked(setting, dataset))
    except (ValueError, TypeError):
        return False
