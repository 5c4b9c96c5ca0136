"""A finding: one number with all that is needed to read it, in one sentence of one form."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import pandas as pd

from privnb.evaluation.results import bounded, setting_name
from privnb.measures import facts
from privnb.reporting.findings.rows import settings
from privnb.runtime import numerals
from privnb.runtime.sentences import B, Sentences
from privnb.runtime.validation import validated


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
    beside: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    better: str = ""  # "lower", "higher" or ""
    note: str = ""  # what else is to be known: whole sentences

    @classmethod
    def of(
        cls, row: Any, subject: str = "", *, guess: str = "", beside: Mapping[str, object] | None = None, **given: Any
    ) -> Self:
        """The finding of a row of results, whose measure states format and direction; its baseline stands first.

        `guess`: how the baseline is called; by default as the measure calls it.
        """
        of = facts(row.measure)
        baseline = {guess or of.baseline: row.baseline} if pd.notna(row.baseline) else {}
        stated: dict[str, Any] = {"format": of.format, "better": row.better, "setting": setting_name(row)}
        return cls(subject, row.value, row.low, row.high, beside={**baseline, **(beside or {})}, **stated | given)

    @classmethod
    def count(cls, subject: str, which: pd.Series, unit: str = "", **given: Any) -> Self:
        """How many of `which`, a Series of bool, there are, of how many."""
        return cls(subject, which.sum(), format=f"{{:.0f}} of {len(which)} {unit}".rstrip(), **given)

    def __str__(self) -> str:
        better = [f"{self.better} is better"] if self.better else []
        said = "; ".join([self._under(self.number, B), *self._beside(reported), *better])
        return f"{said}. {self.note}".rstrip()

    @property
    def title(self) -> str:
        """The finding above a chart, which draws the bounds of what is withheld."""
        number = self.number if pd.notna(self.value) else "withheld"
        return "; ".join([self._under(number), *self._beside(reported)])

    @property
    def text(self) -> str:
        """The number inside a sentence; in brackets, without the unit again, its interval and what it stands beside."""
        known = "; ".join(filter(None, [self.interval, *self._beside(numerals.bare)]))
        return f"{B}{self.number}{B}" + (f" ({known})" if known else "")

    @property
    def number(self) -> str:
        """The number with its unit, or what may be said of it."""
        return reported(self.format, self.value, self.low, self.high)

    @property
    def interval(self) -> str:
        """The 95% interval; empty for what is exact or withheld."""
        return f"95% interval {self.ends}" if self.ends else ""

    @property
    def ends(self) -> str:
        """The ends of the 95% interval; empty for what is exact or withheld."""
        if pd.isna(self.value) or not self.low < self.high:
            return ""
        _, low, high = numerals.interval(self.format, self.value, self.low, self.high)
        return f"{low} to {high}"

    def _under(self, number: str, mark: str = "") -> str:
        under = f" under {self.setting}" if self.setting else ""
        return f"{mark}{self.subject}: {number}{mark}{under}" + (f" ({self.interval})" if self.interval else "")

    def _beside(self, written: Callable[[str, float], str]) -> list[str]:
        return [
            f"{name}: {each if isinstance(each, str) else written(self.format, each) if pd.notna(each) else 'withheld'}"
            for name, each in self.beside.items()
        ]


class Findings(Sentences):
    """Sentences, and the findings that they are made of."""

    found: list[Finding]


Part = Finding | str | list[Finding] | list[str]  # a paragraph, or the lines of a list


def of_results(
    *measures: str, otherwise: str = ""
) -> Callable[[Callable[..., Iterator[Part]]], Callable[..., Findings]]:
    """What makes `Sentences`, a paragraph or list each, of a function that yields findings and texts; `found` has the
    findings.

    Without a row of each of `measures` in the first table, or with nothing to say, `otherwise` is all that is said.
    """

    def decorate(function: Callable[..., Iterator[Part]]) -> Callable[..., Findings]:
        checked = validated(function)

        @functools.wraps(function)
        def call(*tables: Any, **named: Any) -> Findings:
            found = checked(*tables, **named)
            there = not measures or {*measures} <= {*[*tables, *named.values()][0].measure}
            parts = [*filter(None, found if there else ())] or [otherwise]
            many = [part if isinstance(part, list) else [part] for part in parts]
            said = Findings(*([*map(str, part)] if isinstance(part, list) else str(part) for part in parts))
            said.found = [each for part in many for each in part if isinstance(each, Finding)]
            return said

        call.__doc__ = f"{inspect.getdoc(function)}\n\nReturns\n-------\nSentences\n"
        return call

    return decorate


def reported(format: str, value: float, low: float = np.nan, high: float = np.nan) -> str:
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


def extremes(
    rows: pd.DataFrame, subject: str, *, beside: Mapping[str, object] | None = None, note: str = "", **given: Any
) -> list[Finding]:
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
    return [Finding.of(most, subject, beside={**other, **(beside or {})}, note=note, **given)]
