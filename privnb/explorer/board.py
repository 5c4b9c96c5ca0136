"""The board: controls, four panels that follow them, and what a person does there: pin, sweep, undo, save.

Widgets are told values and never redirect output: an `Output` widget can hang a notebook run by papermill. Slow work is
done in another process, see `work`; what is computed here takes a fraction of a second.
"""

import asyncio
import os
import threading
import time
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

from privnb.evaluation.releases import numbers
from privnb.explorer import controls, keep, panels, saving
from privnb.explorer.numbers import counted, mined, recalled, remember
from privnb.explorer.page import laid_out, page
from privnb.explorer.place import Place
from privnb.explorer.setting import LETTERS, SLOW, Setting, called, checked, choices, idle, unmined
from privnb.explorer.work import Work
from privnb.microdata import expect
from privnb.microdata.names import name_list, names_in
from privnb.microdata.progress import track

SOON = 0.01  # seconds in which another key press replaces this one
REST = 0.4  # seconds without a further change, before the miner takes the processor
FAULT = "This is a fault of the explorer. Change a control, or take back the last change; all else goes on."
RELEASES = "releases"  # the folder, beside the notebook, of what is saved
FIELDS = {field.name: field.type for field in fields(Setting)}
DOING = {"miner": "Miner", "sweep": "Sweep", "count": "Counting", "pins": "Pinned settings", "save": "Saving"}
ASKED = ("sweep", "save", "pins")  # which go on while controls move
PAGES = ("form", "actions", "state", "published", "kept", "gained", "place", "listed", "take")


def explore(dataset, setting=None, *, pins="09_explore.pins.json", store="", source=""):
    """The board of a dataset, from `setting` on: a `Board`, which a notebook shows.

    `pins`: the file beside the notebook that keeps pinned settings; `store`: a folder for mined results, or empty;
    `source`: what `load` was given as the dataset's name, needed where that is the path of a description file.
    Raises ValueError for a setting that means nothing.
    """
    setting = Setting() if setting is None else setting
    expect.these(dataset=dataset, setting=setting, store=store, source=source)
    return Board(dataset, setting, pins=pins, store=store, source=source)


def asked(k, l, t, delta, epsilon, **others):  # noqa: E741 - the field's letters
    """The setting that a notebook's parameters ask for: of numbers separated by commas the first; empty: not asked for.

    `others`: fields of `Setting`.

    >>> asked("10, 50", "", 0.2, "", "").asked
    {'k': 10, 't': 0.2}
    """
    if unknown := [name for name in others if name not in FIELDS]:
        raise ValueError(f"a setting has no {', '.join(unknown)}; it has {', '.join(FIELDS)}.")
    given = {"k": k, "l": l, "t": t, "delta": delta, "epsilon": epsilon}
    found = {name: numbers(name.upper(), text, float) for name, text in given.items()}
    return Setting(**{name: FIELDS[name](some[0]) for name, some in found.items() if some}, **others)


def swept(dataset, settings):
    """The readings of several settings: a task for another process."""
    return [counted(dataset, setting) for setting in track(settings, "settings")]


class Board:
    """One setting, live. The methods do what a person does with the controls; `widget` is what is shown.

    `setting`: what is asked; `reading`: what counts tell of it, None while they are counted; `mined`: what the miner
    tells, None until it is done.
    """

    def __init__(self, dataset, setting, *, pins, store, source):
        self.dataset, self.setting, self.store, self.source = dataset, checked(setting, dataset), store, source
        self.pins, self.work, self.place = (
            keep.Pins(pins),
            Work(dataset),
            Place(dataset, partial(self._try, self._list)),
        )
        self.changes = []  # what was done, in words, and what takes it back
        self.curve, self.letter, self.said, self.reading, self.seconds = [], "k", "", None, 0
        self._offered, self._mined, self._failed = choices(dataset), {}, {}
        self._doing, self._turn, self._progress = "", None, (None, "")
        self._next, self._open = {}, False
        # JupyterLab may answer widgets in another thread than cells.
        self._lock = threading.RLock()
        self.format = "CSV"
        self._pages = {name: page()() for name in PAGES}
        for each in self._pages.values():
            each.on_msg(self._heard)
        self.widget = laid_out(self._pages, self.place.chart)
        self._try(self._count)

    def _repr_mimebundle_(self, **options):
        return self.widget._repr_mimebundle_(**options)

    @property
    def mined(self):
        return self._mined.get(self.setting)

    @property
    def pinned(self):
        """The pinned settings, but for those that this table cannot be asked for: one file may serve several tables."""
        return [pin for pin in self.pins.settings if _means_something(pin, self.dataset)]

    # --- what a person does ---

    def ask(self, **changes):
        """Move controls: fields of `Setting`. What nobody should learn is taken from what is known; what was so before
        is known again if the dataset says that it is.
        """
        words = f"the change of {', '.join(name.replace('_', ' ') for name in changes)}"
        if "sensitive" in changes:
            known = {*names_in(self.setting.quasi_identifiers)}
            known |= {self.setting.sensitive} & {*self.dataset.schema.quasi_identifiers}
            changes["quasi_identifiers"] = name_list(known - {changes["sensitive"]})
        self._go(replace(self.setting, **changes), words)

    def go(self, setting):
        """Go to another setting, such as a pinned one."""
        self._go(setting, f"going to {called(setting)}")

    def axis(self, axis, measure):
        """Choose what an axis of the plane shows, "privacy" or "utility"."""
        self._did(f"the choice of the {axis} axis", partial(self.place.axes.update, {axis: self.place.axes[axis]}))
        self.place.axes[axis] = measure
        self._draw()

    def pin(self):
        """Keep the setting for comparison, in the file beside the notebook."""
        self.pins.add(self.setting)
        self._did(f"pinning {called(self.setting)}", self.pins.undo)
        self._draw()

    def unpin(self, setting):
        """Let go of a pinned setting."""
        self.pins.remove(setting)
        self._did(f"unpinning {called(setting)}", self.pins.undo)
        self._draw()

    def undo(self):
        """Take back the last change of a control or pin; without one nothing happens."""
        if self.changes:
            self.changes[-1][1]()  # which may fail, and then stays to be taken back
            self.changes.pop()
            self._draw()

    def sweep(self, letter):
        """Count every step of one slider in another process; the curve goes to the plane."""
        steps = [value for value in controls.steps(letter, getattr(self.setting, letter)) if value]
        self.curve = [checked(replace(self.setting, **{letter: value}), self.dataset) for value in steps]
        self._beside("sweep", self.curve)

    def cancel(self):
        """Stop what runs beside the interface: a sweep, a slow count, or the miner."""
        doing = self._doing
        self._stop()
        self._ended("It was cancelled.", doing)

    def again(self):
        """Start anew what was cancelled or went wrong."""
        self._failed.pop(self.setting, None)
        self._draw()
        self._go_on()

    def save(self, format="CSV"):
        """Write the release and its provenance into a new folder of `releases`, what is random drawn afresh; not while
        one is being written.
        """
        if self._doing == "save":
            return
        if not self.reading:
            raise ValueError("This setting has no numbers yet. Save it once you have seen them.")
        if self.reading.terms.refused:
            raise ValueError(self.reading.terms.refused)
        folder = Path(RELEASES).resolve()
        self._start("save", partial(saving.save, self.dataset, self.setting, folder, format), self._saved)

    def close(self):
        """End the processes of the board."""
        self.work.close()

    # --- what follows of it ---

    def _did(self, words, back):
        self.changes.append((words, back))

    def _go(self, setting, words):
        setting = checked(setting, self.dataset)
        if setting != self.setting:
            self.changes.append((words, partial(self._set, self.setting)))
            self._set(setting)

    def _set(self, setting):
        """Take a setting: say so at once, count soon; of many key presses the last one is counted."""
        self.setting, self.reading, self.said, self.fault = setting, None, "", ""
        if self._doing not in ASKED:
            self._stop()
        self._failed.pop(setting, None)
        self._state()
        self._soon("count", self._count, 0 if recalled(self.dataset, setting) else SOON)

    def _soon(self, what, call, seconds=0):
        """Call after what waits already, such as a further key press; a later call of the same replaces it."""
        if what in self._next:
            self._next.pop(what).cancel()
        try:
            self._next[what] = asyncio.get_running_loop().call_later(seconds, self._try, call)
        except RuntimeError:  # a script, which waits for nothing
            call()

    def _count(self):
        """Count the setting: here, or beside the interface if its sanitizer takes seconds."""
        began, self.fault = time.perf_counter(), ""
        if self._open and self.setting.sanitizer in SLOW and not recalled(self.dataset, self.setting):
            if self._doing != "save":  # which is not broken off: what is left is counted after it
                self._beside("count", [self.setting])
            return
        self.reading = counted(self.dataset, self.setting)
        self.seconds = time.perf_counter() - began
        self._draw()
        self._soon("miner", self._go_on, REST)

    def _go_on(self):
        """Do what is left: count the setting, then the pins of an earlier kernel, then mine."""
        if not self.reading:
            self._count()
        elif self._doing:
            return
        elif self._open and any(not recalled(self.dataset, pin) for pin in self.pinned):
            self._beside("pins", self.pinned)
        else:
            self._mine()

    def _beside(self, doing, settings):
        missing = [setting for setting in settings if not recalled(self.dataset, setting)]
        self._start(doing, partial(swept, self.dataset, missing), self._swept) if missing else self._swept([])

    def _swept(self, readings):
        self._doing = ""
        for reading in readings:
            remember(self.dataset, reading)
        if self.reading:
            self._draw()
        self._go_on()

    def _mine(self):
        """Start the miner, if somebody looks on, and it has not told yet and can."""
        told = (
            self._doing or not self.reading or self.reading.refused or self.setting in {**self._mined, **self._failed}
        )
        if self._open and not told and len(unmined(self.setting, self.dataset)) < 2:
            task = partial(mined, self.dataset, self.setting, self.store)
            self._start("miner", task, partial(self._told, self.setting))

    def _told(self, setting, results):
        self._doing, self._mined[setting] = "", results
        self._draw()

    def _start(self, doing, task, done):
        """Run a task in the other process; it ends the one that ran there."""
        turn = self._turn = object()

        def later(call):
            # Not at once: `work` holds a lock of its own while it calls.
            return lambda *told: asyncio.get_running_loop().call_soon(self._try, self._in_turn, turn, call, *told)

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

    def _in_turn(self, turn, call, *told):
        if turn is self._turn:
            call(*told)

    def _saved(self, paths):
        places = [os.path.relpath(path) for path in paths]
        self._doing, self.said = "", f"Saved as {' and '.join(places)}."
        self._draw()
        self._go_on()

    def _going(self, *told):
        self._progress = told
        self._state()

    def _stop(self):
        self.work.stop()
        self._doing, self._turn = "", None

    def _ended(self, text, doing=""):
        """What ran beside the interface ended without a result."""
        doing, self._doing = doing or self._doing, ""
        if doing == "miner":
            self._failed[self.setting] = text
        else:
            self.fault = f"{DOING[doing]}: {text}"
        self._draw()
        if self.reading:
            self._mine()
        elif doing in ASKED:
            self._count()

    # --- what is shown ---

    def _draw(self):
        """Show everything anew; the panels only once there is a reading."""
        off = idle(self.setting, self.dataset)
        letters = [letter for letter in LETTERS if letter not in off]
        self.letter = self.letter if self.letter in letters else next(iter(letters), "")
        self._put("form", controls.form(self.setting, self._offered, off))  # first: what can be moved now
        if self.reading:
            without, failed = unmined(self.setting, self.dataset), self._failed.get(self.setting, "")
            self._put("published", panels.published(self.reading))
            self._put("kept", panels.kept(self.reading, self.mined, without.get("user", ""), failed))
            self._put("gained", panels.gained(self.reading, self.mined, without.get("adversary", ""), failed))
            self._put("take", self._take())
            self._soon("place", self._draw_place, SOON)
        elif not self._busy:
            self._clear()
        self._state()
        undo = self.changes[-1][0] if self.changes else ""
        self._put("actions", controls.actions(letters, self.letter, pinned=self.setting in self.pinned, undo=undo))

    @property
    def _busy(self):
        return not self.reading and bool(self._doing or not self.fault)

    def _clear(self):
        """Show no numbers: those of an older setting are not to be taken for this one's."""
        for name in ("published", "kept", "gained", "take"):
            self._put(name, "")
        self.place.clear()
        self._put("place", self.place.head())
        self._list()

    def _draw_place(self):
        self.place.draw(self.setting, self.pinned, self.curve)
        self._put("place", self.place.head())
        self._list()

    def _list(self):
        self._put("listed", self.place.listed(self.pinned, self.setting))

    def _state(self):
        busy = self._busy
        how = f"counted in {self.seconds:.2f} s." if self.seconds > 0.005 else "counted before."
        if not self.reading:
            how = "counting …" if busy else "no numbers."
        elif self.reading.refused:
            how = "cannot be reached."
        told = f"{called(self.setting)}: {how}"
        fraction, text = self._progress if self._doing else (None, "")
        doing = f"{DOING[self._doing]}: {text}" if self._doing else ""
        marks = panels.marks(self.setting, self.reading, self.mined)
        again = self.setting in self._failed or (self.fault and not self.reading)
        self._put("state", controls.state(told, marks, busy, doing, fraction, self.fault, again))

    def _take(self):
        if self.reading.refused:
            return ""
        code, command = (take(self.dataset, self.setting, self.source) for take in (keep.code, keep.command))
        return panels.taken(code, command, self.reading.terms, saving.FORMATS, self.format, self.said)

    def _put(self, name, html):
        self._pages[name].html = str(html)

    def _try(self, call, *given, **options):
        """Call what may fail: a fault is said where the state is, and the board goes on."""
        try:
            with self._lock:
                call(*given, **options)
        except (ValueError, OSError) as error:
            self._wrong(str(error))
        except Exception as error:  # an interface has no caller who could do better
            self._wrong(f"{type(error).__name__}: {error}. {FAULT}")

    def _wrong(self, text):
        self.fault = text
        if not self.reading and not self._busy:
            self._clear()
        self._state()

    def _heard(self, page, content, __):
        if content.get("name") == "shown":
            page.send_state("html")  # what was told before anybody listened
        self._try(self._act, content.get("name"), content.get("value"))

    def _act(self, name, value):
        """Do what a control of the page asks for."""
        self.fault = "" if self.reading else self.fault
        if name == "shown" and not self._open:
            self._open = True
            self._go_on()
        elif name in FIELDS:
            self.ask(**{name: _read(name, value)})
        elif name in self.place.axes:
            self.axis(name, value)
        elif name in ("go", "unpin"):
            getattr(self, name)(self.pinned[int(value)])
        elif name == "letter":
            self.letter = value
        elif name == "sweep":
            self.sweep(self.letter)
        elif name == "format":
            self.format = value
        elif name == "save":
            self.save(self.format)
        elif name in ("pin", "undo", "cancel", "again"):
            getattr(self, name)()


def _read(name, value):
    """The value of a field of `Setting`, as a control tells it."""
    if isinstance(value, list):
        if not value:
            raise ValueError("An adversary who knows nothing links nobody. Leave at least one attribute known.")
        return name_list(value)
    try:
        return FIELDS[name](value or 0)
    except ValueError:
        raise ValueError(f"{name} is a number, got {value!r}. Type a whole one from 0.") from None


def _means_something(setting, dataset):
    try:
        return bool(checked(setting, dataset))
    except (ValueError, TypeError):
        return False
