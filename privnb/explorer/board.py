"""The board: controls, gauges, four panels that follow them, and the plane, drawn from what a `Session` knows.

Widgets take values and never redirect output: an `Output` widget can hang a notebook run by papermill.
"""

import gc
import os
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from markupsafe import Markup

from privnb.datasets.dataset import Dataset, Source
from privnb.evaluation.samples import record_by_record
from privnb.evaluation.store import Folder
from privnb.explorer import controls, export, gauges, panels, pins as kept, saving
from privnb.explorer.html import render
from privnb.explorer.numbers import Reading
from privnb.explorer.page import laid_out, page
from privnb.explorer.place import Place
from privnb.explorer.session import DOING, FIELDS, SOON, Session, asked, means_something
from privnb.explorer.setting import LETTERS, Setting, checked, idle, label, unmined
from privnb.microdata import withholding
from privnb.microdata.withholding import MinCount
from privnb.runtime import expect, validation
from privnb.runtime.errors import UsageError
from privnb.runtime.names import name_list
from privnb.runtime.validation import validated

__all__ = ["Board", "asked", "explore"]

PAGES = ("form", "actions", "state", "risks", "published", "kept", "gained", "place", "listed", "take")


PolicyName = Annotated[str, lambda name, value: expect.text(name, value, "a ready policy or a file")]


@validated
def explore(
    dataset: Dataset,
    setting: Setting | None = None,
    *,
    pins: validation.Path = "09_explore.pins.json",
    store: Folder = "",
    source: Source = "",
    policy: PolicyName = gauges.POLICY,
    fewest: MinCount = withholding.LIMIT,
) -> "Board":
    """The board of a dataset, which a notebook shows.

    Parameters
    ----------
    dataset : Dataset
    setting : Setting
        Where the board starts.
    pins : str or Path
        The file beside the notebook that keeps pinned settings.
    store : str
        A folder for mined results, or empty.
    source : str
        What `load` was given as the dataset's name, needed where that is the path of a description file.
    policy : str
        That the gauges stand beside at first: a ready one by its name, or the path of the owner's TOML file.
    fewest : int
        Numbers of fewer people are withheld.

    Returns
    -------
    Board

    Raises
    ------
    ValueError
        For a setting that means nothing, and for what is no policy.
    OSError
        For a policy that cannot be read.
    """
    return Board(dataset, setting or Setting(), pins=pins, store=store, source=source, policy=policy, fewest=fewest)


class Board(Session):
    """One setting, live: `widget` is what is shown."""

    @validated
    def __init__(
        self, dataset: Dataset, setting: Setting, *, policy: PolicyName = gauges.POLICY, **options: Any
    ) -> None:
        gauges.menu(policy)  # it is refused before anything runs
        super().__init__(dataset, setting, **options)
        self.place = Place(dataset, partial(self._try, self._list), self.fewest)
        self.policy, self._own = policy, policy
        self._gauged: tuple[Any, ...] | None = None
        sample = record_by_record(dataset)
        self._sample = "" if sample is dataset else f"Of a random sample: {sample.name}."
        self._stand = os.environ.get(kept.STATE)  # which a page sets, for it has no kernel of before
        if self._stand and (stood := kept.stood(self._stand)) and means_something(stood[0], dataset):
            self.setting = checked(stood[0], dataset)
            self.place.axes |= stood[1]
            self.policy = stood[2] if stood[2] in gauges.menu(self._own) else self.policy
        self.letter, self.format = "k", "CSV"
        self._pages = {name: page()() for name in PAGES}
        for each in self._pages.values():
            each.on_msg(self._heard)
        self.widget = laid_out(self._pages, self.place.chart)
        self._try(self._count)
        if not gc.get_freeze_count():
            gc.freeze()  # the libraries: looked through in the middle of some key press, they take a third of a second

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.widget._repr_mimebundle_(**options)

    def axis(self, axis: str, measure: str) -> None:
        """Choose what an axis of the plane shows, "privacy" or "utility"."""
        self._did(f"the choice of the {axis} axis", partial(self.place.axes.update, {axis: self.place.axes[axis]}))
        self.place.axes[axis] = measure
        self._draw()

    def choose(self, policy: str) -> None:
        """Choose the policy that the gauges stand beside: one of `gauges.menu`."""
        expect.one_of("policy", policy, gauges.menu(self._own))
        self._did("the choice of the policy", partial(setattr, self, "policy", self.policy))
        self.policy = policy
        self._draw()

    # --- what is shown ---

    def _draw(self) -> None:
        """Show everything anew; the panels only once there is a reading."""
        off = idle(self.setting, self.dataset)
        letters = [letter for letter in LETTERS if letter not in off]
        self.letter = self.letter if self.letter in letters else next(iter(letters), "")
        shown = {"form": controls.form(self.setting, self._offered, off)}
        if self.reading:
            without, failed = unmined(self.setting, self.dataset), self._failed.get(self.setting, "")
            shown["published"] = panels.published(self.reading)
            shown["kept"] = panels.kept(self.reading, self.mined, without.get("user", ""), failed)
            shown["gained"] = panels.gained(self.reading, self.mined, without.get("adversary", ""), failed)
            shown["take"] = self._take(self.reading)
        for name, html in shown.items():  # one after the other, so that a browser lays them out together
            self._put(name, html)
        if self.reading:
            self._soon("place", self._draw_place, SOON)
        elif not self._busy:
            self._clear()
        self._state()
        self._gauge()
        if self._stand:
            stand = {"setting": asdict(self.setting), "axes": self.place.axes, "policy": self.policy}
            self._soon("stand", partial(kept.write, Path(self._stand), stand), SOON)
        undo = self.changes[-1][0] if self.changes else ""
        pinned = self.setting in self.pinned
        self._put("actions", render("actions", letters=letters, letter=self.letter, pinned=pinned, undo=undo))

    def _clear(self) -> None:
        """Show no numbers: those of an older setting are not to be taken for this one's."""
        for name in ("published", "kept", "gained", "take"):
            self._put(name, "")
        self.place.clear()
        self._put("place", self.place.head())
        self._list()

    def _draw_place(self) -> None:
        self.place.draw(self.setting, self.pinned, self.curve)
        self._put("place", self.place.head())
        self._list()

    def _list(self) -> None:
        self._put("listed", self.place.listed(self.pinned, self.setting))

    def _gauge(self) -> None:
        if self.reading and self.reading.refused:
            self._gauged = None
            why = "There is no release to attack."
            self._put("risks", gauges.gauges(self.policy, None, of=why, own=self._own))
            return
        failed = self._unmeasured.get(self._release, "")
        what = self._release, self.policy, *self.risks, failed
        if what != self._gauged:  # some 50 ms, where all five are known
            self._gauged = what
            self._put("risks", gauges.gauges(self.policy, self.risks, failed, self._sample, self._own))

    def _state(self) -> None:
        busy = self._busy
        how = f"counted in {self.seconds:.2f} s." if self.seconds > 0.005 else "counted before."
        if not self.reading:
            how = "counting …" if busy else "no numbers."
        elif self.reading.refused:
            how = "cannot be reached."
        status = f"{label(self.setting)}: {how}"
        fraction, text = self._progress if self._doing else (None, "")
        doing = f"{DOING[self._doing]}: {text}" if self._doing else ""
        marks = panels.marks(self.setting, self.reading, self.mined)
        failed = self.setting in self._failed or self._release in self._unmeasured
        again = failed or (self.fault and not self.reading)
        shown = {"status": status, "marks": marks, "busy": busy, "doing": doing, "fraction": fraction}
        self._put("state", render("state", **shown, fault=self.fault, again=bool(again)))

    def _take(self, reading: Reading) -> Markup:
        if reading.refused:
            return render("taken", refused=True)
        code = export.code(self.dataset, self.setting, self.source)
        command = export.command(self.dataset, self.setting, self.source, self.fewest)
        shown = {"terms": reading.terms, "formats": saving.FORMATS, "format": self.format, "said": self.said}
        return render("taken", refused=False, code=code, command=command, **shown)

    def _put(self, name: str, html: str) -> None:
        self._pages[name].html = str(html)

    def _heard(self, page: Any, content: Any, __: Any) -> None:
        # All of it, for the sender of a message hears nothing of what goes wrong.
        self._try(self._said, page, content)

    def _said(self, page: Any, content: Any) -> None:
        if content["name"] == "shown":
            page.send_state("html")  # what was shown before anybody listened
        self._act(content["name"], content.get("value"))

    def _act(self, name: str, value: Any) -> None:
        """Do what a control of the page asks for."""
        self.fault = "" if self.reading else self.fault
        if name == "shown" and not self._open:
            self._open = True
            self._go_on()
        elif name in FIELDS:
            first = self.setting.first_bounds(value) if name == "sanitizer" else {}
            self.ask(**first, **{name: _read(name, value)})
        elif name in self.place.axes:
            self.axis(name, value)
        elif name in ("go", "unpin"):
            for setting in [each for each in self.pinned if repr(each) == value]:  # none if it was let go of meanwhile
                getattr(self, name)(setting)
        elif name == "policy":
            self.choose(value)
        elif name in ("letter", "format"):
            setattr(self, name, value)
        elif name == "sweep":
            self.sweep(self.letter)
        elif name == "save":
            self.save(self.format)
        elif name in ("pin", "undo", "cancel", "again"):
            getattr(self, name)()


def _read(name: str, value: Any) -> Any:
    """The value of a field of `Setting`, as a control tells it."""
    if isinstance(value, list):
        if not value:
            raise UsageError("An adversary who knows nothing links nobody. Leave at least one attribute known.")
        return name_list(value)
    try:
        return FIELDS[name](value or 0)
    except ValueError:
        raise UsageError(f"{name} is a number, got {value!r}. Type a whole one from 0.") from None
