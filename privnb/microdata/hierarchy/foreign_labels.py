"""Reading of labels that other tools write: the values of the public domain that such a label covers.

| form | examples | written by |
|---|---|---|
| value | `37`, `37.0`, `Male` | all tools |
| suppressed | `*`, `****` | ARX, anjana |
| missing | an empty cell, `NA`, `NULL`, `(null)`, `?` | sdcMicro, Amnesia, mu-Argus |
| range | `20-29`, `20.0-29.0`, `20..29`, `20:29`, `20~29`, `20 to 29` | Amnesia, anonypy, Mondrian in Python |
| interval | `[20, 30[`, `[20, 30)`, `(19.999, 29.0]`, `[20:30)` | ARX, anjana, pandas, R, PostgreSQL, UTD toolbox |
| at least, at most | `>=60`, `> 59`, `60+`, `[60,)`, `<20`, `<= 19`, `under 20` | PostgreSQL, statistical offices |
| set | `{a, b}`, `a,b`, `a~b`, `a|b`, `a;b`, `['a', 'b']` | ARX, anonypy, Mondrian in Python |
| mask | `130**`, `***53`, `2021-03-**` | ARX, anjana |
| label of a hierarchy | any text of its file | ARX, sdcMicro, anjana |

`tests/data/foreign/README.md` cites, for each form, a page of each tool that shows the form. Ranges, intervals and
labels such as `>=60` can also cover categories if all categories are numbers, or if all categories are dates such as
2021-03-09.

A label is read only if every part of the label can be read. A text of any other form is an error; it is never read as a
new category. A label with two meanings, such as `20,30`, is also an error, unless both meanings cover the same values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from privnb.microdata.hierarchy.categories import Sets, list_values
from privnb.microdata.hierarchy.generalization import SUPPRESSED, Generalization
from privnb.microdata.hierarchy.intervals import Ranges
from privnb.microdata.schema import Attribute, Categories, Numbers, SchemaError, to_text
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.tolerances import STEP

MISSING = ("", "NA", "N/A", "NULL", "null", "(null)", "NaN", "nan", "None", "?", "<NA>", ".")
NUMBER = r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"
DATE = r"\d{4}-\d{2}-\d{2}"
POINT = rf"(?:{DATE}|{NUMBER})"
TO = r"-|–|\.\.\.?|:|to|bis|~"
RANGE = re.compile(rf"({POINT})\s*(?:{TO})\s*({POINT})")
INTERVAL = re.compile(
    rf"([\[(\]])\s*({POINT}|-?inf|-?∞|)\s*([,;]|{TO})\s*({POINT}|\+?inf|\+?∞|)\s*([\])\[])", re.IGNORECASE
)
LISTED = re.compile(rf"({NUMBER})\s*,\s*({NUMBER})")
OR_MORE = r"\+|and over|and above|or more|or over|plus"
OR_LESS = "and under|or less|or under"
AT_LEAST = re.compile(rf"(?P<sign>>=|=>|≥|>)\s*(?P<number>{POINT})|(?P<plain>{POINT})\s*(?:{OR_MORE})")
AT_MOST = re.compile(rf"(?P<sign><=|=<|≤|<|under|below|up to)\s*(?P<number>{POINT})|(?P<plain>{POINT})\s*(?:{OR_LESS})")
OPEN_SIGNS = (">", "<", "under", "below")
BRACES = {"{": "}", "[": "]", "(": ")"}
SEPARATORS = ("|", ";", ",", "~")
QUOTED = re.compile(r"(['\"])(.*)\1")
Positions = range | IntArray  # a range for a run of numbers, of which there may be many


class LabelForm(StrEnum):
    """The form in which a label is written."""

    VALUE = "value"
    SUPPRESSED = "suppressed"
    MISSING = "missing"
    RANGE = "range"
    INTERVAL = "interval"
    AT_LEAST = "at least"
    AT_MOST = "at most"
    SET = "set"
    MASK = "mask"
    HIERARCHY = "label of a hierarchy"


class ReadLabel(NamedTuple):
    """A label in the notation of this package, and the form in which the other tool wrote the label."""

    label: str
    form: LabelForm


class UnreadLabel(SchemaError):
    """A label that has none of the forms in the table above, has two meanings, or covers no value of the domain."""


class _Run(NamedTuple):
    """A run of numbers or days; an open end does not belong to the run."""

    low: float
    high: float
    form: LabelForm
    is_open: tuple[bool, bool] = (False, False)


def show_form(text: str) -> str:
    """Return the form of a cell without its content: each letter becomes `a`, and each digit becomes `9`.

    >>> show_form("[20, Smith)")
    '[99, aaaaa)'
    """
    return re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "9", text))


@dataclass(frozen=True)
class LabelReader:
    """A reader of the labels of one attribute.

    Parameters
    ----------
    attribute : Attribute
        The attribute, whose public domain the labels cover.
    levels : dict of str to list of str, optional
        The values that each label of the other tool's hierarchy covers.

    >>> from privnb.microdata.schema import Role
    >>> ages = LabelReader(Attribute("age", Role.QUASI_IDENTIFIER, Numbers(17, 99)))
    >>> ages.read("[20, 30["), ages.read(">=60").label, ages.read("2*").label
    (ReadLabel(label='20-29', form=<LabelForm.INTERVAL: 'interval'>), '60-99', '20-29')
    """

    attribute: Attribute
    levels: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @cached_property
    def hierarchy(self) -> Generalization:
        """The hierarchy of all returned labels: ranges for a numeric attribute, or sets for a categorical attribute."""
        domain = self.attribute.public_domain
        if isinstance(domain, Numbers):
            return Ranges(domain, exact=True)
        return Sets(self.attribute.name, list_values(domain))

    @property
    def _domain(self) -> Numbers | Categories:
        return self.attribute.public_domain

    def read(self, text: str) -> ReadLabel:
        """Return a label in the notation of this package.

        Raises
        ------
        UnreadLabel
            For a text that is neither a value of the domain nor a label of one of the forms in the table of this
            module, for a label with two meanings, and for a label that covers no value of the domain.
        """
        text = text.strip()
        explained = [self._position(each) for each in self.levels.get(text, ())]
        if self._is_value(text):
            if {*explained} - {self._position(text)}:
                raise UnreadLabel(
                    f"the labels of the hierarchy of '{self.attribute.name}' must differ from its values; got a value "
                    f"of the form '{show_form(text)}' that is also the label of other values. Rename the label in the "
                    "hierarchy and in the file."
                )
            return ReadLabel(self._name(self._position(text)), LabelForm.VALUE)
        if text and set(text) == {SUPPRESSED}:
            return ReadLabel(SUPPRESSED, LabelForm.SUPPRESSED)
        if text in MISSING:
            return ReadLabel(self._domain.missing or SUPPRESSED, LabelForm.MISSING)
        if explained:
            return self._label(np.unique(explained), LabelForm.HIERARCHY)
        readings = [*self._list_readings(text)]
        if len({self._key(positions) for positions, _ in readings}) > 1:
            raise self._ambiguous(text)
        if readings:
            return self._label(*readings[0])
        raise UnreadLabel(
            f"the cells of '{self.attribute.name}' must be values of its domain or labels of a known form; got the "
            f"form '{show_form(text)}'. Name the hierarchy that explains the label, or correct the cell."
        )

    def _list_readings(self, text: str) -> Iterator[tuple[Positions, LabelForm]]:
        """Yield, for each possible meaning of a text, the positions, in ascending order, and the form of the text."""
        if run := self._read_run(text):
            yield self._cover(run, text), run.form
        sets = [*self._read_sets(text)]
        if not (run and isinstance(self._domain, Numbers)):  # brackets with two numbers are an interval of numbers
            yield from ((positions, LabelForm.SET) for positions in sets)
        masked = self._read_mask(text)
        if masked is not None:
            yield masked, LabelForm.MASK

    def _key(self, positions: Positions) -> object:
        """Return an object that is equal for two arguments if and only if their positions are equal.

        The positions of a range are not listed, because a domain of numbers may have too many values.
        """
        whole = isinstance(self._domain, Categories)
        return tuple(positions) if whole else (positions[0], positions[-1], len(positions))

    def _ambiguous(self, text: str) -> UnreadLabel:
        return UnreadLabel(
            f"the labels of '{self.attribute.name}' must have one meaning; got the form '{show_form(text)}', which may "
            "be a set, a range, an open interval or a number with a comma. Write {a, b} for a set and a..b for a "
            "range, or name the hierarchy that explains the label."
        )

    def _is_value(self, text: str) -> bool:
        return bool(text) and bool(self._domain.has(np.array([text], dtype=object))[0])

    def _position(self, text: str) -> int:
        domain = self._domain
        if not self._is_value(text):
            raise UnreadLabel(
                f"a label of '{self.attribute.name}' must list values of its domain; got a part of the form "
                f"'{show_form(text)}'."
            )
        return int(domain.codes([text])[0]) if isinstance(domain, Numbers) else self._places[text]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {value: place for place, value in enumerate(list_values(self._domain))}

    def _name(self, position: int) -> str:
        domain = self._domain
        return to_text(domain.value(position)) if isinstance(domain, Numbers) else list_values(domain)[position]

    def _label(self, positions: Positions, form: LabelForm) -> ReadLabel:
        """Return the label of ascending positions on the line of `hierarchy`; numbers must be neighbors."""
        domain, hierarchy = self._domain, self.hierarchy
        if isinstance(hierarchy, Ranges):
            first, last = int(positions[0]), int(positions[-1])
            if len(positions) != last - first + 1:
                raise UnreadLabel(
                    f"a label of the numeric attribute '{self.attribute.name}' must cover neighboring numbers; got a "
                    f"{form} with a gap. Give '{self.attribute.name}' a domain of categories."
                )
            whole = domain.missing is None and len(positions) == hierarchy.steps + 1
            return ReadLabel(SUPPRESSED if whole else hierarchy.label(first, last), form)
        return ReadLabel(hierarchy.labels(np.asarray(positions), np.zeros(len(positions), dtype=np.int64))[0], form)

    @cached_property
    def _points(self) -> FloatArray | None:
        """The number or the day of each category, as a float array (values,); None if the categories have no order."""
        mark = {self._domain.mark, self._domain.missing}
        texts = [value for value in list_values(self._domain) if value not in mark]
        for pattern in NUMBER, DATE:
            if texts and all(re.fullmatch(pattern, text) for text in texts):
                return np.array([math.nan if each in mark else _to_point(each) for each in list_values(self._domain)])
        return None

    @cached_property
    def _are_days(self) -> bool:
        """Whether the values of the attribute are days."""
        values = [] if isinstance(self._domain, Numbers) else list_values(self._domain)
        return any(re.fullmatch(DATE, value) for value in values)

    def _cover(self, run: _Run, text: str) -> Positions:
        """Return the ascending positions of the values in a run."""
        domain, (low_open, high_open) = self._domain, run.is_open
        if isinstance(domain, Numbers):
            first, last = 0, domain.steps
            if run.low != -math.inf:
                low = (run.low - domain.low) / domain.step
                first = max(0, math.floor(low + STEP) + 1 if low_open else math.ceil(low - STEP))
            if run.high != math.inf:
                high = (run.high - domain.low) / domain.step
                last = min(last, math.ceil(high - STEP) - 1 if high_open else math.floor(high + STEP))
            positions: Positions = range(first, last + 1)
        else:
            points = self._points
            assert points is not None
            above = points > run.low if low_open else points >= run.low
            positions = np.flatnonzero(above & (points < run.high if high_open else points <= run.high))
        if not len(positions):
            raise UnreadLabel(
                f"a label of '{self.attribute.name}' must cover a value of its domain, {domain}; got a {run.form} of "
                f"the form '{show_form(text)}', which does not."
            )
        return positions

    def _read_run(self, text: str) -> _Run | None:
        """Return the run that a text states; None for a text that states no run, and for a domain without an order."""
        if not isinstance(self._domain, Numbers) and self._points is None:
            return None
        if match := INTERVAL.fullmatch(text):
            before, low, separator, high, after = match.groups()
            if (low and high) or separator in ",;":
                is_open = before != "[", after != "]"
                ends = self._ends(low or "-inf", high or "inf")
                if ends and all(is_open) and (before, after) == ("(", ")") and math.isfinite(ends[1] - ends[0]):
                    raise self._ambiguous(text)  # an open interval, a range, or a pair
                return _Run(*ends, LabelForm.INTERVAL, is_open) if ends else None
        if match := RANGE.fullmatch(text):
            return self._run(match[1], match[2], LabelForm.RANGE)
        if match := LISTED.fullmatch(text):
            if isinstance(self._domain, Numbers):
                raise self._ambiguous(text)  # a range, a set, or a number with a comma
            return self._run(match[1], match[2], LabelForm.RANGE)
        if match := AT_LEAST.fullmatch(text):
            run = self._run(match["number"] or match["plain"], "inf", LabelForm.AT_LEAST)
            return run and run._replace(is_open=(match["sign"] in OPEN_SIGNS, False))
        if match := AT_MOST.fullmatch(text):
            run = self._run("-inf", match["number"] or match["plain"], LabelForm.AT_MOST)
            return run and run._replace(is_open=(False, match["sign"] in OPEN_SIGNS))
        return None

    def _run(self, low: str, high: str, form: LabelForm) -> _Run | None:
        ends = self._ends(low, high)
        return None if ends is None else _Run(*ends, form)

    def _ends(self, low: str, high: str) -> tuple[float, float] | None:
        """Return the ends of a run as numbers; None if an end is a day but the values are numbers, or vice versa."""
        ends = low.lower().replace("∞", "inf"), high.lower().replace("∞", "inf")
        if any("inf" not in end and bool(re.fullmatch(DATE, end)) != self._are_days for end in ends):
            return None
        try:
            return _to_point(ends[0]), _to_point(ends[1])
        except ValueError:  # a day that no calendar has
            return None

    def _read_sets(self, text: str) -> Iterator[IntArray]:
        """Yield the ascending positions of the values in a set, once for each separator that the set may have."""
        inner = text[1:-1] if BRACES.get(text[:1]) == text[-1:] and len(text) > 1 else text
        for separator in SEPARATORS:
            parts = [QUOTED.sub(r"\2", part.strip()) for part in inner.split(separator)]
            if (len(parts) > 1 or inner != text) and all(map(self._is_value, parts)):
                if isinstance(self._domain, Numbers) and separator == "," and inner == text:
                    raise self._ambiguous(text)  # a set, or a number with commas
                yield np.unique([self._position(part) for part in parts])

    def _read_mask(self, text: str) -> IntArray | None:
        """Return the positions of the values that a mask covers; None for a text that is not a mask or covers no value.

        Each `*` hides one character. A single `*` at the end may hide several characters if no value is as long as the
        mask.
        """
        domain = self._domain
        if SUPPRESSED not in text or (isinstance(domain, Numbers) and domain.steps > 10**6):
            return None
        pattern = re.compile(re.escape(text).replace(re.escape(SUPPRESSED), "."))
        values = list_values(domain)
        found = [place for place, value in enumerate(values) if pattern.fullmatch(value)]
        if not found and text.count(SUPPRESSED) == 1 and text.endswith(SUPPRESSED):
            found = [place for place, value in enumerate(values) if value.startswith(text[:-1])]
        return np.array(found) if found else None


def _to_point(text: str) -> float:
    """Return the number that a text states; for a day, return its ordinal in the calendar."""
    return float(date.fromisoformat(text).toordinal()) if re.fullmatch(DATE, text) else float(text)
