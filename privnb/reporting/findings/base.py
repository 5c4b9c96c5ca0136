"""A finding: one number with all that is needed to read it, in one sentence of one form."""

import functools
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import pandas as pd

from privnb.evaluation.results import bounded, check_results, setting_name
from privnb.measures import facts
from privnb.reporting.findings.rows import settings
from privnb.runtime import expect, numerals
from privnb.runtime.sentences import B, say


@dataclass(frozen=True)
class Finding:
    """One number, what it stands beside, where it was found, and which direction is better."""

    subject: str  # what the number is of: the beginning of the sentence
    value: float  # NaN: it was withheld, and lies between `low` and `high`
    low: float = np.nan  # the ends of its 95% interval
    high: float = np.nan
    format: str = "{:g}"  # what the number is of, with its unit, see `numerals`
    setting: str = ""  # the release, as `setting_name` calls it
    # Baseline, controls, ends of the scale: texts, or numbers, which are written as the value is.
    beside: Mapping = field(default_factory=lambda: MappingProxyType({}))
    better: str = ""  # "lower", "higher" or ""
    note: str = ""  # what else is to be known: whole sentences

    @classmethod
    def of(cls, row, subject="", *, guess="", beside=None, **given):
        """The finding of a row of results, whose measure states format and direction; its baseline stands first.

        `guess`: how the baseline is called; by default as the measure calls it.
        """
        of = facts(row.measure)
        baseline = {guess or of.baseline: row.baseline} if pd.notna(row.baseline) else {}
        stated = {"format": of.format, "better": row.better, "setting": setting_name(row)}
        return cls(subject, row.value, row.low, row.high, beside=baseline | (beside or {}), **stated | given)

    @classmethod
    def count(cls, subject, which, unit="", **given):
        """How many of `which`, a Series of bool, there are, of how many."""
        return cls(subject, which.sum(), format=f"{{:.0f}} of {len(which)} {unit}".rstrip(), **given)

    def __str__(self):
        better = [f"{self.better} is better"] if self.better else []
        said = "; ".join([self._under(self.number, B), *self._beside(reported), *better])
        return f"{said}. {self.note}".rstrip()

    @property
    def title(self):
        """The finding above a chart, which draws the bounds of what is withheld."""
        number = self.number if pd.notna(self.value) else "withheld"
        return "; ".join([self._under(number), *self._beside(reported)])

    @property
    def text(self):
        """The number inside a sentence; in brackets, without the unit again, its interval and what it stands beside."""
        known = "; ".join(filter(None, [self.interval, *self._beside(numerals.bare)]))
        return f"{B}{self.number}{B}" + (f" ({known})" if known else "")

    @property
    def number(self):
        """The number with its unit, or what may be said of it."""
        return reported(self.format, self.value, self.low, self.high)

    @property
    def interval(self):
        """The 95% interval; empty for what is exact or withheld."""
        if pd.isna(self.value) or not self.low < self.high:
            return ""
        _, low, high = numerals.interval(self.format, self.value, self.low, self.high)
        return f"95% interval {low} to {high}"

    def _under(self, number, mark=""):
        under = f" under {self.setting}" if self.setting else ""
        return f"{mark}{self.subject}: {number}{mark}{under}" + (f" ({self.interval})" if self.interval else "")

    def _beside(self, written):
        return [
            f"{name}: {each if isinstance(each, str) else written(self.format, each) if pd.notna(each) else 'withheld'}"
            for name, each in self.beside.items()
        ]


def of_results(*measures, otherwise="", **checks):
    """What makes `Sentences`, a paragraph or list each, of a function that yields findings and texts; `found` has the
    findings.

    Without a row of each of `measures` in the first table, or with nothing to say, `otherwise` is all that is said.
    `checks`: `{argument: function(name, value)}` of what is neither results nor one of `expect.WORDS`.
    """

    def decorate(function):
        @functools.wraps(function)
        def call(*tables, **named):
            given = inspect.signature(function).bind(*tables, **named)
            for name, value in given.arguments.items():
                (expect.WORDS | checks).get(name, check_results)(name, value)
            there = not measures or {*measures} <= {*next(iter(given.arguments.values())).measure}
            parts = [*filter(None, function(*given.args, **given.kwargs) if there else ())] or [otherwise]
            many = [part if isinstance(part, list) else [part] for part in parts]
            said = say(*([*map(str, part)] if isinstance(part, list) else str(part) for part in parts))
            said.found = [each for part in many for each in part if isinstance(each, Finding)]
            return said

        call.__doc__ = f"{inspect.getdoc(function)}\n\nReturns\n-------\nSentences\n"
        return call

    return decorate


def reported(format, value, low=np.nan, high=np.nan):
    """A number with its unit; a withheld one by what may be said of it.

    >>> reported("{:,} people", 1234), reported("{:,} people", float("nan"), 1, 9)
    ('1,234 people', 'fewer than 10 people')
    >>> reported("{:%} of people", float("nan"), 0, 0.02), reported("{:%}", float("nan"))
    ('0% to 2% of people (withheld)', 'withheld')
    """
    if pd.notna(value):
        return numerals.written(format, value, *((low, high) if low < high else ()))
    if pd.isna(high):
        return "withheld"
    if format.endswith(" people") and "%" not in format:
        return f"{bounded(low, high)} people"
    return f"{' to '.join(numerals.bounds(format, low, high))} (withheld)"


def extremes(rows, subject, *, beside=None, note="", **given):
    """The largest value of rows of one measure, beside the smallest, and which are withheld; [] without rows.

    Where what is withheld is surely larger, that is said first, and the largest that is shown beside it.
    """
    known, few = rows.dropna(subset="value"), rows[rows.value.isna()]
    if known.empty:
        return [Finding.of(row, subject, beside=beside, note=note, **given) for _, row in few.iloc[:1].iterrows()]
    least, most = known.loc[known.value.idxmin()], known.loc[known.value.idxmax()]
    other = {} if least.value == most.value else {f"least, {setting_name(least)}": least.value}
    more = few[few.low > most.value]
    if len(more):
        other = {f"most of what is shown, {setting_name(most)}": most.value} | other
        most = more.loc[more.low.idxmax()]
    if len(rows) > 1 and not other and few.empty:
        given = {"setting": "every setting"} | given
    hidden = f"Withheld: {settings(few)}." if len(few) else ""
    note = " ".join(filter(None, [note, hidden]))
    return [Finding.of(most, subject, beside=other | (beside or {}), note=note, **given)]
