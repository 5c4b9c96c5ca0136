"""The comparison of releases side by side: the current setting, the pinned settings and the pinned files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import is_
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from markupsafe import Markup

from privnb.decision.policies import Policy
from privnb.explorer.controls import describe_step
from privnb.explorer.figures import Figure
from privnb.explorer.gauges import Gauge, make_gauges
from privnb.explorer.html import render_template
from privnb.explorer.panels import list_nearer, list_predictions, split_numbers
from privnb.explorer.pinned_files import SEED, FileReading
from privnb.explorer.pins import FilePin
from privnb.explorer.readings import Reading
from privnb.explorer.setting import LETTERS, Setting, setting_label
from privnb.runtime.tolerances import nearly_equal
from privnb.runtime.wording import sentence_case
from privnb.sanitizers import catalogue

GROUPS = ("Setting", "Release", "Utility for the user", "Gain of the adversary", "Risks")
ELSEWHERE, ABSENT, NO_NUMBER, NO_RELEASE = "made by another tool", "does not apply", "no number", "no release"
WAITING, MEASURING = "counting …", "measuring …"
MEASURED = "measured"
NOTHING = (ABSENT, "off", "none")  # words for a part that a release does not have
UNKNOWN = (NO_NUMBER, NO_RELEASE, WAITING, MEASURING, "withheld", "unknown")
LOWER = "lower is better"
STATED = {"measured": "matched with records", "in order": "the records in order", "synthetic": "synthetic"}
ORIGINS = {
    "measured": "Records of the table, or a subset of them: match each row with a record",
    "in order": "The records of the table in the same order (--rows in-order)",
    "synthetic": "Nobody: the rows are synthetic (--rows synthetic)",
}


@dataclass(frozen=True, eq=False)
class Compared:
    """A release of the comparison, and what is known about it so far; equal only to itself, so that it can be a key.

    Parameters
    ----------
    pin : Setting or FilePin
    reading : Reading or FileReading or None
        The counts, or None as long as nothing is counted.
    mined : DataFrame or None
        The results of the miner, or None as long as there are none.
    risks : dict of str to DataFrame
        The tidy results by risk, as far as the risks are measured.
    trouble : str
        Why there are no numbers, for example because the file has changed; empty if there are numbers.
    unmeasured : str
        Why the risks without results are not measured; empty while they are being measured.
    unmined : dict of str to str
        Why there are no results of the miner for the "user" and for the "adversary".
    """

    pin: Setting | FilePin
    reading: Reading | FileReading | None
    mined: pd.DataFrame | None
    risks: Mapping[str, pd.DataFrame]
    trouble: str
    unmeasured: str
    unmined: Mapping[str, str]

    def has_same_facts(self, other: "Compared") -> bool:
        """Return whether another object states the same about the same release, with the identical results."""
        own, theirs = (
            [each.reading and each.reading.results, each.mined, *each.risks.values()] for each in (self, other)
        )
        stated, said = ((each.pin, each.trouble, each.unmeasured, {**each.unmined}) for each in (self, other))
        return stated == said and len(own) == len(theirs) and all(map(is_, own, theirs))

    @property
    def why(self) -> str:
        """Why there is no such release; empty if there is one, or if it is not counted yet."""
        return self.trouble or (self.reading.refused if self.reading else "")


class Column(NamedTuple):
    """One release: its name, what it is, and whether it and the current release can replace each other."""

    title: str
    what: str
    trouble: str
    is_replaceable: bool


class Cell(NamedTuple):
    """One value as text, its details, and its mark: "best", "worst" or empty; `is_known` is false without a value."""

    text: str
    details: Sequence[str]
    mark: str
    is_known: bool


class Row(NamedTuple):
    """One value of all releases; `remark` states why no value is marked as the best, or is empty."""

    key: str
    title: str
    meaning: str
    source: str
    direction: str
    remark: str
    cells: list[Cell]
    differs: bool


class Group(NamedTuple):
    """The rows about one subject."""

    title: str
    rows: list[Row]


class SideBySide(NamedTuple):
    """The comparison of releases as a table: one column per release, and groups of rows."""

    columns: list[Column]
    groups: list[Group]

    def select_different(self) -> "SideBySide":
        """Return the comparison with only those rows in which the releases differ."""
        groups = [Group(group.title, [row for row in group.rows if row.differs]) for group in self.groups]
        return SideBySide(self.columns, [group for group in groups if group.rows])


class _Entry(NamedTuple):
    """One value of one release; `number` has `value`, `low` and `high`, and `axis` names what may be compared."""

    title: str
    text: str
    details: Sequence[str] = ()
    meaning: str = ""
    source: str = ""
    direction: str = ""
    number: Any = None
    better: str = ""
    axis: str = ""


def compare_side_by_side(releases: Sequence[Compared], current: Setting, policy: Policy | None) -> SideBySide:
    """Return the comparison of releases.

    Parameters
    ----------
    releases : list of Compared
    current : Setting
        The current setting. The best and the worst number of a row are marked only among the releases that have the
        roles of the current setting, because releases with other roles cannot replace each other.
    policy : Policy, optional
        The policy whose caps the risks are compared with.
    """
    columns = [_describe_column(each, current) for each in releases]
    groups = []
    every = [_list_groups(each, current if isinstance(each.pin, FilePin) else each.pin, policy) for each in releases]
    for title in GROUPS:
        entries = [each[title] for each in every]
        rows = [_make_row(key, entries, releases, columns, title) for key in _merge_keys(entries)]
        groups.append(Group(title, [row for row in rows if {cell.text for cell in row.cells} != {MEASURED}]))
    return SideBySide(columns, groups)


def render_comparison(
    found: SideBySide | None,
    *,
    pins: int,
    is_open: bool,
    only_different: bool,
    can_resume: bool,
    columns: Sequence[str],
    form: Mapping[str, Any],
    trouble: str,
    sample: str,
) -> Markup:
    """Render the panel of the comparison, with the form that adds a file.

    Parameters
    ----------
    found : SideBySide or None
        The comparison, or None if it is not shown.
    pins : int
        The number of releases in addition to the current one.
    is_open, only_different : bool
        Whether the comparison is shown, and whether it is restricted to the rows in which the releases differ.
    can_resume : bool
        Whether missing numbers can be measured on request.
    columns : list of str
        The published columns.
    form : dict
        The answers in the form: "path", "rows" and "perturbed".
    trouble : str
        Why the file was not added, or empty.
    sample : str
        The name of the random sample on which the risks of settings are measured, or empty.
    """
    shown = found.select_different() if found and only_different else found
    every = sum(len(group.rows) for group in found.groups) if found else 0
    return render_template(
        "compare",
        found=shown,
        shown=sum(len(group.rows) for group in shown.groups) if shown else 0,
        every=every,
        pins=pins,
        is_open=is_open,
        only_different=only_different,
        can_resume=can_resume,
        columns=columns,
        form=form,
        origins=ORIGINS,
        trouble=trouble,
        sample=sample,
    )


def _describe_column(release: Compared, current: Setting) -> Column:
    if isinstance(release.pin, FilePin):
        return Column(release.pin.name, "file of another tool", release.why, is_replaceable=True)
    what = "current setting" if release.pin == current else "pinned setting"
    return Column(setting_label(release.pin), what, release.why, is_replaceable=release.pin.roles == current.roles)


@lru_cache(maxsize=64)  # a key press changes one release only
def _list_groups(release: Compared, setting: Setting, policy: Policy | None) -> dict[str, dict[str, "_Entry"]]:
    """Return the values of a release by group and key; `setting` has its roles, its miner and its scenario."""
    return {group: dict(_list_entries(group, release, setting, policy)) for group in GROUPS}


def _list_entries(
    group: str, release: Compared, setting: Setting, policy: Policy | None
) -> Iterator[tuple[str, _Entry]]:
    """Yield the values of a release that belong to a group of rows, each with its key."""
    if group == GROUPS[0]:
        yield from _describe_setting(release.pin, setting)
        return
    reading = release.reading
    if release.trouble or reading is None or reading.refused:
        return
    if group == GROUPS[-1]:
        for gauge in make_gauges(policy, release.risks, release.unmeasured):
            yield gauge.risk, _of_gauge(gauge)
        return
    parts = split_numbers(reading)
    if group == GROUPS[1]:
        for name, words in reading.treated:
            yield f"treated {name}", _Entry(name if name == "Rows" else f"Column {name}", words)
        yield from _of_figures("counted", [*parts["levels"], *parts["costs"]])
        if note := " ".join(filter(None, [reading.promise, reading.note])):
            yield "note", _Entry("Notes", note)
    elif group == GROUPS[2]:
        yield from _of_figures("counted", parts["utility"])
        yield "mined", _Entry("Numbers of the miner", _describe_mining(release, "user"))
        yield from _of_figures("mined", [] if release.mined is None else list_predictions(release.mined)["figures"])
    else:
        yield from _of_figures("counted", parts["privacy"])
        yield "mined", _Entry("Numbers of the miner", _describe_mining(release, "adversary"))
        mined = {"gains": [], "figures": []} if release.mined is None else list_nearer(release.mined)
        yield from _of_figures("mined", [*mined["gains"], *mined["figures"]])


def _describe_mining(release: Compared, reader: str) -> str:
    """Return that the miner is done, or why there are no numbers of the miner."""
    if why := release.unmined.get(reader):
        return why
    if release.mined is None:
        return MEASURING
    kinds = ["good_utility"] if reader == "user" else ["anti_utility", "accuracy_gain"]
    own = release.mined[release.mined.measure.isin(kinds) & ~release.mined.sanitizer.isin(["Identity", "Suppress"])]
    reason = next(filter(None, own.reason), "")
    return sentence_case(reason) if reason else MEASURED


def _describe_setting(pin: Setting | FilePin, own: Setting) -> Iterator[tuple[str, _Entry]]:
    """Yield what was asked of a release; a file is measured under the roles of the current setting, `own`."""
    if isinstance(pin, FilePin):
        yield "sanitizer", _Entry("Sanitizer", ELSEWHERE)
        yield "path", _Entry("File", pin.path)
        yield "origin", _Entry("Stated origin of the rows", STATED[pin.rows])
        yield "perturbed", _Entry("Columns stated to have changed values", ", ".join(pin.perturbed) or "none")
    else:
        yield "sanitizer", _Entry("Sanitizer", catalogue.title(pin.sanitizer))
        for letter in LETTERS:
            words = describe_step(letter, getattr(pin, letter), pin.kind.spends_per)
            yield letter, _Entry(letter, words if letter in pin.kind.letters else ABSENT)
    known, sensitive = own.roles
    yield "known", _Entry("Attributes known to the adversary", known)
    yield "sensitive", _Entry("Sensitive attribute", sensitive)
    yield "miner", _Entry("Miner", own.miner)
    yield "scenario", _Entry("Adversary's scenario", own.scenario)
    yield "seed", _Entry("Seed", f"{SEED if isinstance(pin, FilePin) else pin.seed}")


def _of_figures(part: str, figures: Iterable[Figure]) -> Iterator[tuple[str, _Entry]]:
    for each in figures:
        row = each.row
        if row.reason:  # it is stated once, in a row of its own
            continue
        yield (
            f"{part} {each.key} {each.title}",
            _Entry(each.title, each.value, each.details, each.meaning, each.source, each.direction, row, row.better),
        )


def _of_gauge(gauge: Gauge) -> _Entry:
    details = [*filter(None, [gauge.verdict_text if gauge.verdict != "working" else "", gauge.context])]
    axis = "" if gauge.numbers is None else f"{gauge.numbers.axis} {gauge.numbers.group}"
    number = None if gauge.numbers is None or np.isnan(gauge.numbers.high) else gauge.numbers
    return _Entry(gauge.risk.capitalize(), gauge.value, details, gauge.asks, "", LOWER, number, "lower", axis)


def _merge_keys(entries: Sequence[Mapping[str, _Entry]]) -> list[str]:
    """Return all keys; each follows the key before it in the release that has it first."""
    merged: list[str] = []
    for own in entries:
        place = 0
        for key in own:
            if key in merged:
                place = merged.index(key) + 1
            else:
                merged.insert(place, key)
                place += 1
    return merged


def _make_row(
    key: str,
    entries: Sequence[Mapping[str, _Entry]],
    releases: Sequence[Compared],
    columns: Sequence[Column],
    group: str,
) -> Row:
    own = [each.get(key) for each in entries]
    first = next(filter(None, own))
    absent = [_absent(each, key, group) for each in releases]
    texts = [absent[place] if each is None else each.text for place, each in enumerate(own)]
    marks, remark = _mark(own, columns)
    cells = [
        Cell(text, [] if each is None else each.details, mark, is_known=each is not None and text not in NOTHING)
        for text, each, mark in zip(texts, own, marks, strict=True)
    ]
    heading = first.title, first.meaning, first.source, first.direction, remark
    return Row(key, *heading, cells, differs=_differ(texts))


def _differ(texts: Sequence[str]) -> bool:
    """Return whether releases differ in a value; an unknown value makes no difference, nor does a bound that is off."""
    known = [text for text in texts if text not in UNKNOWN]
    return len({*known} - {*NOTHING}) > 1 or (bool({*known} - {*NOTHING}) and bool({*known} & {*NOTHING}))


def _absent(release: Compared, key: str, group: str) -> str:
    """Return the words for a value that a release does not have."""
    if group == GROUPS[0]:
        return ABSENT
    if release.why:
        return NO_RELEASE if not release.trouble else NO_NUMBER
    if release.reading is None:
        return WAITING
    if not key.startswith("mined"):
        return ABSENT
    reader = "user" if group == GROUPS[2] else "adversary"
    return MEASURING if release.mined is None and not release.unmined.get(reader) else NO_NUMBER


def _mark(entries: Sequence[_Entry | None], columns: Sequence[Column]) -> tuple[list[str], str]:
    """Return the mark of each value, and why no value is marked although the values differ."""
    marks = [""] * len(entries)
    numbers = {
        place: each
        for place, (each, column) in enumerate(zip(entries, columns, strict=True))
        if each and each.number is not None and column.is_replaceable and not pd.isna(each.number.value)
    }
    better = next((each.better for each in numbers.values()), "")
    if len(numbers) < 2 or not better:
        return marks, ""
    if len({each.axis for each in numbers.values()}) > 1:
        return marks, "The caps are on different statistics, so no value is marked."
    sign = -1 if better == "higher" else 1
    order = sorted(numbers, key=lambda place: sign * numbers[place].number.value)
    best, worst = numbers[order[0]], numbers[order[-1]]
    if best.text == worst.text:
        return marks, ""
    ends = [sorted(sign * each for each in _interval(entry.number)) for entry in (best, worst)]
    if ends[0][1] >= ends[1][0]:
        return marks, "The intervals of the best and the worst value overlap."
    for place, each in numbers.items():
        for mark, extreme in (("best", best), ("worst", worst)):
            if nearly_equal(each.number.value, extreme.number.value) or each.text == extreme.text:
                marks[place] = mark
    return marks, ""


def _interval(number: Any) -> tuple[float, float]:
    """Return the interval of a number; a number that is counted over everybody is its own interval."""
    low, high = (number.value if pd.isna(each) else each for each in (number.low, number.high))
    return float(low), float(high)
