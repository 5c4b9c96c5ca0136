"""The board, drawn from the state of a `Session`: controls, gauges and panels, one of which has the plane.

The widgets take values and never redirect output, because an `Output` widget can block a notebook under papermill.
"""

import gc
import os
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from markupsafe import Markup

from privnb.datasets.dataset import Dataset, Source
from privnb.evaluation.samples import sample_large_table
from privnb.evaluation.store import Folder
from privnb.explorer import controls, export, gauges, panels, pins as kept, saving, side_by_side
from privnb.explorer.exercises import BoardState, Lesson, has_exercises
from privnb.explorer.frontier_panel import FrontierPanel
from privnb.explorer.html import render_template
from privnb.explorer.page import lay_out, page_class
from privnb.explorer.pinned_files import FileReading
from privnb.explorer.pins import FilePin
from privnb.explorer.reach import count_reachable
from privnb.explorer.readings import Reading
from privnb.explorer.role_saving import find_role_change
from privnb.explorer.session import DOING, FIELDS, SOON, Pin, Session, is_possible, parse_setting
from privnb.explorer.setting import LETTERS, Setting, check_setting, inactive_controls, setting_label, why_not_mined
from privnb.explorer.side_by_side import Compared
from privnb.microdata import withholding
from privnb.microdata.withholding import MinCount
from privnb.runtime import expect, validation
from privnb.runtime.errors import UsageError
from privnb.runtime.names import join_names, parse_names
from privnb.runtime.validation import validated

__all__ = ["Board", "explore", "parse_setting"]

PANELS = ("published", "boxes", "kept", "worst", "gained")  # drawn from a reading
PAGES = ("form", "actions", "roles", "state", "risks", *PANELS, "place", "listed", "compare", "take")
DIRECTIONS = ("across", "up")  # of the picture of boxes
LEARN = "learn"  # the page of the exercises, which only small invented tables have
ANSWER = "answer-"  # the beginning of the name of the control for the answer to an exercise


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
    min_count: MinCount = withholding.LIMIT,
) -> "Board":
    """Return the board of a dataset, to be shown in a notebook.

    Parameters
    ----------
    dataset : Dataset
    setting : Setting
        The first setting of the board.
    pins : str or Path
        The file for pinned settings, next to the notebook.
    store : str
        A folder for mined results, or empty.
    source : str
        The first argument of `load`, if it was the path of a description file.
    policy : str
        The initial policy of the gauges: the name of a policy of the package, or the path of the owner's TOML file.
    min_count : int
        Numbers about fewer people are withheld. If the description declares the records invented, the board withholds
        nothing, and this is the limit of the report that the board proposes.

    Raises
    ------
    ValueError
        For an invalid setting, and for a file that is not a policy.
    OSError
        For a policy file that cannot be read.
    """
    return Board(
        dataset, setting or Setting(), pins=pins, store=store, source=source, policy=policy, min_count=min_count
    )


class Board(Session):
    """The board of one setting, whose numbers are updated when the setting changes; `widget` is the widget to show."""

    @validated
    def __init__(
        self, dataset: Dataset, setting: Setting, *, policy: PolicyName = gauges.POLICY, **options: Any
    ) -> None:
        gauges.list_policies(policy)  # refuse an invalid policy before anything runs
        super().__init__(dataset, setting, **options)
        self.place = FrontierPanel(dataset, partial(self._try, self._list), self.min_count)
        self.policy, self._own = policy, policy
        self._gauged: tuple[Any, ...] | None = None
        self.file_form: dict[str, Any] = {"path": "", "rows": "measured", "perturbed": []}
        self.only_different = False
        self._described: dict[Pin, Compared] = {}
        sample = sample_large_table(dataset)
        self._sample_name = "" if sample is dataset else sample.name
        self._sample = self._sample_name and f"The risks are measured on a random sample: {self._sample_name}."
        self._state_file = os.environ.get(kept.STATE)  # set by a page, which has no earlier kernel
        solved: list[str] = []
        if self._state_file and (state := kept.read_board_state(self._state_file)) and is_possible(state[0], dataset):
            self.setting = check_setting(state[0], dataset)
            self.place.axes |= state[1]
            self.policy = state[2] if state[2] in gauges.list_policies(self._own) else self.policy
            solved = state[3]
        self.lesson = Lesson(dataset, solved) if has_exercises(dataset) else None
        self.letter, self.format = "k", "CSV"
        known, schema = parse_names(setting.quasi_identifiers) or dataset.schema.quasi_identifiers, dataset.schema
        first = dict.fromkeys([*(name for name in known if schema[name].numeric), *known])
        self.directions = dict(zip(DIRECTIONS, [*first, "", ""], strict=False))
        self._pages = {name: page_class()() for name in (*PAGES, *[LEARN] * bool(self.lesson))}
        for each in self._pages.values():
            each.on_msg(self._receive)
        self.widget = lay_out(self._pages, self.place.chart)
        self._try(self._count)
        if not gc.get_freeze_count():
            gc.freeze()  # collecting the objects of the libraries during a key press would take a third of a second

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.widget._repr_mimebundle_(**options)

    def axis(self, axis: str, measure: str) -> None:
        """Choose the measure of one axis of the plane; `axis` is "privacy" or "utility"."""
        self._record_change(
            f"the choice of the {axis} axis", partial(self.place.axes.update, {axis: self.place.axes[axis]})
        )
        self.place.axes[axis] = measure
        self._draw()

    def turn(self, direction: str, name: str) -> None:
        """Choose the attribute of one direction of the picture of boxes; `direction` is one of `DIRECTIONS`."""
        revert = partial(self.directions.update, dict(self.directions))
        self._record_change("the choice of an attribute of the cuts", revert)
        (other,) = set(DIRECTIONS) - {direction}
        if self.directions[other] == name:  # the two directions are exchanged
            self.directions[other] = self.directions[direction]
        self.directions[direction] = name
        self._draw()

    def choose(self, policy: str) -> None:
        """Choose the policy of the gauges: one of `gauges.list_policies`."""
        expect.one_of("policy", policy, gauges.list_policies(self._own))
        self._record_change("the choice of the policy", partial(setattr, self, "policy", self.policy))
        self.policy = policy
        self._draw()

    def answer(self, exercise: str, typed: str = "") -> bool:
        """Check an answer to an exercise against the board, and return whether it is right.

        Parameters
        ----------
        exercise : str
            The key of an exercise, see `lesson.exercises`.
        typed : str
            The typed or chosen answer; empty if the setting of the board is the answer.

        Raises
        ------
        UsageError
            For a table without this exercise.
        """
        lesson = self._require_lesson()
        lesson.typed[exercise] = typed
        pinned = tuple(self.pinned)
        state = BoardState(self.dataset, self.setting, self.reading, pinned, self.policy, self.min_count)
        is_right = lesson.check(exercise, state)
        self._teach()
        self._keep_state()
        return is_right

    def _require_lesson(self) -> Lesson:
        if self.lesson is None:
            raise UsageError(
                f"exercises need a small table that its description declares invented; got '{self.dataset.name}'. Try "
                "`privnb explore twelve`."
            )
        return self.lesson

    # --- drawing ---

    def _draw(self) -> None:
        """Draw everything again; draw the panels only if there is a reading."""
        off = inactive_controls(self.setting, self.dataset)
        letters = [letter for letter in LETTERS if letter not in off]
        self.letter = self.letter if self.letter in letters else next(iter(letters), "")
        reachable, invented = count_reachable(self.dataset, self.setting), self.dataset.schema.invented
        shown = {"form": controls.render_controls(self.setting, self._offered, off, reachable, invented)}
        if self.reading:
            without, failed = why_not_mined(self.setting, self.dataset), self._failed.get(self.setting, "")
            shown["published"] = panels.render_published(self.reading)
            shown["boxes"] = panels.render_boxes(self.reading, (self.directions["across"], self.directions["up"]))
            shown["worst"] = panels.render_worst(self.reading)
            shown["kept"] = panels.render_kept(self.reading, self.mined, without.get("user", ""), failed)
            shown["gained"] = panels.render_gained(self.reading, self.mined, without.get("adversary", ""), failed)
            shown["take"] = self._take(self.reading)
        for name, html in shown.items():  # in one go, so that a browser lays them out together
            self._put(name, html)
        if self.reading:
            self._soon("place", self._draw_place, SOON)
        elif not self._busy:
            self._clear()
        self._state()
        self._gauge()
        self._teach()
        self._keep_state()
        change = find_role_change(self.dataset, self.setting, self.source)
        self._put("roles", render_template("roles", change=change, saved=self.saved_roles))
        undo = self.changes[-1][0] if self.changes else ""
        pinned = self.setting in self.pinned
        self._soon("compare", self._compare, SOON)
        self._put("actions", render_template("actions", letters=letters, letter=self.letter, pinned=pinned, undo=undo))

    def _teach(self) -> None:
        if self.lesson:
            self._put(LEARN, self.lesson.render())

    def _keep_state(self) -> None:
        if self._state_file:
            solved = self.lesson.solved if self.lesson else []
            state = {"setting": asdict(self.setting), "axes": self.place.axes, "policy": self.policy, "solved": solved}
            self._soon("state", partial(kept.write_json, Path(self._state_file), state), SOON)

    def _clear(self) -> None:
        """Remove all numbers, so that nobody mistakes numbers of an older setting for current numbers."""
        for name in (*PANELS, "take"):
            self._put(name, "")
        self.place.clear()
        self._put("place", self.place.head())
        self._list()

    def _draw_place(self) -> None:
        found = [self.read_result(pin) for pin in self.pinned_files]
        self.place.draw(
            self.setting, self.pinned, self.curve, [each for each in found if isinstance(each, FileReading)]
        )
        self._put("place", self.place.head())
        self._list()

    def _list(self) -> None:
        files = [(pin, self.file_trouble_of(pin)) for pin in self.pinned_files]
        self._put("listed", self.place.listed(self.pinned, self.setting, files))

    def _compare(self) -> None:
        releases = [self._describe_compared(pin) for pin in self.compared]
        self._described = {each.pin: each for each in releases}
        policy = gauges.list_policies(self._own)[self.policy]
        found = side_by_side.compare_side_by_side(releases, self._checked, policy) if self.comparing else None
        failed = any(each.unmeasured or self._failed.get(self._miner_key(each.pin)) for each in releases)
        self._put(
            "compare",
            side_by_side.render_comparison(
                found,
                pins=len(releases) - 1,
                is_open=self.comparing,
                only_different=self.only_different,
                can_resume=self.is_paused or failed,
                columns=self.dataset.schema.published,
                form=self.file_form,
                trouble=self.file_trouble,
                sample=self._sample_name,
            ),
        )

    def _describe_compared(self, pin: Pin) -> Compared:
        """Return a release of the comparison with all that is known about it."""
        key, miner = self._release_key(pin), self._miner_key(pin)
        paused = "not measured" if self.is_paused else ""
        without = {} if isinstance(pin, FilePin) else why_not_mined(pin, self.dataset)
        failed = self._failed.get(miner) or (paused if miner not in self._mined else "")
        found = Compared(
            pin,
            self.read_result(pin),
            self._mined.get(miner),
            {**self._risks.get(key, {})},
            trouble=self.file_trouble_of(pin) if isinstance(pin, FilePin) else "",
            unmeasured=self._unmeasured.get(key) or paused,
            unmined={reader: without.get(reader) or failed for reader in ("user", "adversary")},
        )
        before = self._described.get(pin)
        return before if before and found.has_same_facts(before) else found

    def _gauge(self) -> None:
        if self.reading and self.reading.refused:
            self._gauged = None
            why = "There is no release to attack."
            self._put("risks", gauges.render_gauges(self.policy, None, of=why, own=self._own))
            return
        failed = self._unmeasured.get(self._release, "")
        what = self._release, self.policy, *self.risks, failed
        if what != self._gauged:  # drawing takes some 50 ms if all five are known
            self._gauged = what
            self._put("risks", gauges.render_gauges(self.policy, self.risks, failed, self._sample, self._own))

    def _state(self) -> None:
        busy = self._busy
        how = f"counted in {self.seconds:.2f} s." if self.seconds > 0.005 else "counted earlier."
        if not self.reading:
            how = "counting …" if busy else "there are no numbers."
        elif self.reading.refused:
            how = "there is no such release."
        status = f"{setting_label(self.setting)}: {how}"
        fraction, text = self._progress if self._doing else (None, "")
        doing = f"{DOING[self._doing]}: {text}" if self._doing else ""
        marks = panels.machine_values(self.setting, self.reading, self.mined)
        failed = self.setting in self._failed or self._release in self._unmeasured
        again = failed or (self.fault and not self.reading)
        shown = {"status": status, "marks": marks, "busy": busy, "doing": doing, "fraction": fraction}
        self._put("state", render_template("state", **shown, fault=self.fault, again=bool(again)))

    def _take(self, reading: Reading) -> Markup:
        if reading.refused:
            return render_template("taken", refused=True)
        code = export.write_code(self.dataset, self.setting, self.source)
        command = export.write_command(self.dataset, self.setting, self.source, self.report_min_count)
        shown = {"terms": reading.terms, "formats": saving.FORMATS, "format": self.format, "message": self.message}
        return render_template("taken", refused=False, code=code, command=command, **shown)

    def _take_dataset(self, dataset: Dataset) -> None:
        self.saved_roles = (
            "The roles are saved in the description, and this page uses them. Other cells of the notebook still use "
            "the former roles: run the notebook again to change that."
        )
        self.place.clear()
        self.place.dataset = dataset
        super()._take_dataset(dataset)

    def _put(self, name: str, html: str) -> None:
        self._pages[name].html = str(html)

    def _receive(self, page: Any, content: Any, __: Any) -> None:
        # `_try` covers all of it, because the sender of a message receives no errors.
        self._try(self._handle, page, content)

    def _handle(self, page: Any, content: Any) -> None:
        if content["name"] == "shown":
            page.send_state("html")  # send the text again that was set before the page listened
        self._act(content["name"], content.get("value"))

    def _act(self, name: str, value: Any) -> None:
        """Perform the action of a control."""
        self.fault = "" if self.reading else self.fault
        if name == "shown" and not self._open:
            self._open = True
            self._go_on()
        elif name in FIELDS:
            first = self.setting.first_bounds(value) if name == "sanitizer" else {}
            self.change(**first, **{name: _parse_value(name, value)})
        elif name in self.place.axes:
            self.axis(name, value)
        elif name in DIRECTIONS:
            self.turn(name, value)
        elif name in ("go", "unpin"):
            for setting in [each for each in self.pinned if repr(each) == value]:  # none if it was removed
                getattr(self, name)(setting)
        elif name == "unpin-file":
            for pin in [each for each in self.pinned_files if each.path == value]:
                self.unpin_file(pin)
        elif name in ("file-path", "file-rows", "file-perturbed"):
            self.file_form[name.removeprefix("file-")] = value
        elif name == "add-file":
            self.add_file(**self.file_form)
        elif name == "only":
            self.only_different = bool(value)
            self._compare()
        elif name == "policy":
            self.choose(value)
        elif name in ("letter", "format"):
            setattr(self, name, value)
        elif name == "sweep":
            self.sweep(self.letter)
        elif name == "save":
            self.save(self.format)
        elif name == "save-roles":
            self.save_roles()
        elif name in ("pin", "undo", "cancel", "again", "compare", "resume"):
            getattr(self, name)()
        elif name.startswith(ANSWER):
            self.answer(name.removeprefix(ANSWER), value)
        elif name == "check":
            self.answer(value, self._require_lesson().typed.get(value, ""))
        elif name in ("hint", "explain"):
            getattr(self._require_lesson(), name)(value)
            self._teach()


def _parse_value(name: str, value: Any) -> Any:
    """Return the value of a field of `Setting` from the value of its control."""
    if isinstance(value, list):
        if not value:
            raise UsageError(
                "The adversary must know at least one attribute; otherwise there is nothing to link. Select an "
                "attribute."
            )
        return join_names(value)
    try:
        return FIELDS[name](value or 0)
    except ValueError:
        raise UsageError(f"{name} must be a number; got {value!r}. Type a whole number, 0 or more.") from None
