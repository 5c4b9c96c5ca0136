"""Labels that other tools write, read as the values of the public domain that they cover.

| form | examples | written by |
|---|---|---|
| value | `37`, `37.0`, `Male` | all tools |
| suppressed | `*`, `****` | ARX, anjana |
| missing | an empty cell, `NA`, `NULL`, `?` | sdcMicro, mu-Argus |
| range | `20-29`, `20 - 29`, `20..29`, `20:29`, `20 to 29` | this package, Amnesia, mu-Argus |
| interval | `[20, 30[`, `[20, 30)`, `(19, 29]`, `]19; 29]` | ARX, pandas, R's `cut`, anjana |
| at least, at most | `>=60`, `> 59`, `60+`, `60 and over`, `<20`, `<= 19`, `under 20` | sdcMicro, statistical offices |
| set | `{a, b}`, `a|b`, `a;b`, `['a', 'b']` | ARX, this package, Python tools |
| prefix | `130**`, `13***` | ARX, anjana |
| label of a hierarchy | any text of its file | ARX, sdcMicro, anjana |

A label is read only if every part of the label can be read; a text of any other form is an error and never a category.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from privnb.microdata.hierarchy.categories import Sets, list_values
from privnb.microdata.hierarchy.generalization import SUPPRESSED, Generalization
from privnb.microdata.hierarchy.intervals import Ranges
from privnb.microdata.schema import Attribute, Categories, Numbers, SchemaError, to_text
from privnb.runtime.arrays import IntArray
from privnb.runtime.tolerances import STEP

MISSING = ("", "NA", "N/A", "NULL", "null", "NaN", "nan", "None", "?", "<NA>", ".")
NUMBER = r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"
RANGE = re.compile(rf"({NUMBER})\s*(?:-|–|\.\.\.?|:|to|bis|~)\s*({NUMBER})")
INTERVAL = re.compile(rf"([\[(\]])\s*({NUMBER}|-?inf)\s*[,;]\s*({NUMBER}|inf)\s*([\])\[])", re.IGNORECASE)
OR_MORE = r"\+|and over|and above|or more|or over|plus"
OR_LESS = "and under|or less|or under"
AT_LEAST = re.compile(rf"(?P<sign>>=|=>|≥|>)\s*(?P<number>{NUMBER})|(?P<plain>{NUMBER})\s*(?:{OR_MORE})")
AT_MOST = re.compile(
    rf"(?P<sign><=|=<|≤|<|under|below|up to)\s*(?P<number>{NUMBER})|(?P<plain>{NUMBER})\s*(?:{OR_LESS})"
)
OPEN_SIGNS = (">", "<", "under", "below")
BRACES = {"{": "}", "[": "]", "(": ")"}
SEPARATORS = ("|", ";", ",", "~")
QUOTED = re.compile(r"(['\"])(.*)\1")


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
    PREFIX = "prefix"
    HIERARCHY = "label of a hierarchy"


class ReadLabel(NamedTuple):
    """A label as this package writes it, and the form in which the other tool wrote it."""

    label: str
    form: LabelForm


class UnreadLabel(SchemaError):
    """A label whose form is not known, or that covers no value of the domain."""


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
        """The hierarchy that contains all returned labels: ranges of numbers, or sets of categories."""
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
            For a text that is neither a value of the domain nor a label of a known form, and for a label that covers no
            value of the domain.
        """
        text = text.strip()
        if self._is_value(text):
            return ReadLabel(self._name(self._position(text)), LabelForm.VALUE)
        if text and set(text) == {SUPPRESSED}:
            return ReadLabel(SUPPRESSED, LabelForm.SUPPRESSED)
        if text in MISSING:
            return ReadLabel(self._domain.missing or SUPPRESSED, LabelForm.MISSING)
        if text in self.levels:
            return self._label(np.array([self._position(each) for each in self.levels[text]]), LabelForm.HIERARCHY)
        run = self._read_run(text) if isinstance(self._domain, Numbers) else None
        if run is not None:
            (low, high), form = run
            return self._cover(low, high, form, text)
        positions = self._read_set(text)
        if positions is not None:
            return self._label(positions, LabelForm.SET)
        positions = self._read_prefix(text)
        if positions is not None:
            return self._label(positions, LabelForm.PREFIX)
        raise UnreadLabel(
            f"the cells of '{self.attribute.name}' must be values of its domain or labels of a known form; got the "
            f"form '{show_form(text)}'. Name the hierarchy that explains the label, or correct the cell."
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

    def _label(self, positions: IntArray, form: LabelForm) -> ReadLabel:
        """Return the label of positions on the line of `hierarchy`. Numbers must be neighbors."""
        positions = np.unique(positions)
        if isinstance(self._domain, Numbers) and len(positions) != positions[-1] - positions[0] + 1:
            raise UnreadLabel(
                f"a label of the numeric attribute '{self.attribute.name}' must cover neighboring numbers; got a "
                f"{form} with a gap. Give '{self.attribute.name}' a domain of categories."
            )
        return ReadLabel(self.hierarchy.labels(positions, np.zeros(len(positions), dtype=np.int64))[0], form)

    def _cover(self, low: float, high: float, form: LabelForm, text: str) -> ReadLabel:
        """Return the label of the numbers from `low` to `high`, both included."""
        domain = self._domain
        assert isinstance(domain, Numbers)
        first = 0 if low == -math.inf else max(0, math.ceil((low - domain.low) / domain.step - STEP))
        last = (
            domain.steps
            if high == math.inf
            else min(domain.steps, math.floor((high - domain.low) / domain.step + STEP))
        )
        if first > last:
            raise UnreadLabel(
                f"a label of '{self.attribute.name}' must cover a value of its domain, {domain}; got a {form} of the "
                f"form '{show_form(text)}', which does not."
            )
        hierarchy = self.hierarchy
        assert isinstance(hierarchy, Ranges)
        whole = domain.missing is None and (first, last) == (0, domain.steps)
        return ReadLabel(SUPPRESSED if whole else hierarchy.label(first, last), form)

    def _read_run(self, text: str) -> tuple[tuple[float, float], LabelForm] | None:
        """Return the ends of a run of numbers, both included, and the run's form; None for a text of another form."""
        domain = self._domain
        assert isinstance(domain, Numbers)
        open_by = domain.step / 2  # an open end excludes the number, and the number of half a step is in no domain
        if match := INTERVAL.fullmatch(text):
            before, low, high, after = match.groups()
            ends = float(low) + open_by * (before != "["), float(high) - open_by * (after != "]")
            return ends, LabelForm.INTERVAL
        if match := RANGE.fullmatch(text):
            return (float(match[1]), float(match[2])), LabelForm.RANGE
        if match := AT_LEAST.fullmatch(text):
            number = float(match["number"] or match["plain"])
            return (number + open_by * (match["sign"] in OPEN_SIGNS), math.inf), LabelForm.AT_LEAST
        if match := AT_MOST.fullmatch(text):
            number = float(match["number"] or match["plain"])
            return (-math.inf, number - open_by * (match["sign"] in OPEN_SIGNS)), LabelForm.AT_MOST
        return None

    def _read_set(self, text: str) -> IntArray | None:
        """Return the positions of the values that a set lists; None for a text of another form."""
        inner = text[1:-1] if BRACES.get(text[:1]) == text[-1:] and len(text) > 1 else text
        for separator in SEPARATORS:
            parts = [QUOTED.sub(r"\2", part.strip()) for part in inner.split(separator)]
            if (len(parts) > 1 or inner != text) and all(map(self._is_value, parts)):
                return np.array([self._position(part) for part in parts])
        return None

    def _read_prefix(self, text: str) -> IntArray | None:
        """Return the positions of the values that begin with a prefix and are as long as the label; None otherwise."""
        match = re.fullmatch(r"([^*]+)(\*+)", text)
        if match is None:
            return None
        prefix, length = match[1], len(text)
        domain = self._domain
        if isinstance(domain, Numbers) and domain.steps > 10**6:
            return None
        found = [place for place, value in enumerate(list_values(domain)) if value.startswith(prefix)]
        values = list_values(domain)
        exact = [place for place in found if len(values[place]) == length]
        found = exact or (found if len(match[2]) == 1 else [])
        return np.array(found) if found else None
