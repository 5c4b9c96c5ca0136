"""Numbers about releases, narrow for people and whole on request."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from privnb.evaluation.results import REASONS, bounded, counts_people, identified, setting_names
from privnb.measures.base import facts
from privnb.runtime import numerals
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import validated
from privnb.workbench.views import view

if TYPE_CHECKING:
    from privnb.decision.policies import Policy

BETTER = {"lower": "lower is better", "higher": "higher is better", "": ""}
NARROW = ["setting", "question", "value", "interval", "without release", "better", "id"]


@dataclass(frozen=True, eq=False, repr=False)
class Measurements:
    """Numbers about one release or several.

    Parameters
    ----------
    results : DataFrame
        Tidy results with all their columns, see `evaluation.results`.
    policy : Policy, optional
        Whose caps the risks are compared with.
    """

    results: pd.DataFrame
    policy: Policy | None = field(default=None)

    def __repr__(self) -> str:
        return f"Measurements({len(self.results)} numbers of {counted(len(set(self.results.sanitizer)), 'sanitizer')})"

    def __len__(self) -> int:
        return len(self.results)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row for each number: the setting of the release, the question, the value, its 95% interval, the value
        without the release, which direction is better, whether the upper end of its interval exceeds the cap of the
        policy, if there is one, and the id of the number, as the `results.csv` of a report and cards have it.
        """
        return narrowed(self.results, self.policy)

    def _repr_html_(self) -> str:
        table = self.frame.drop(columns="id")
        if table.setting.nunique() == 1:
            table = table.drop(columns="setting")
        of_groups = (self.results.group != "").to_numpy()
        return view(self.sentences, table[~of_groups], {f"{of_groups.sum()} numbers of groups": table[of_groups]})

    @property
    def sentences(self) -> list[str]:
        """What to know first: which caps are exceeded, or that there are none; and what was not measured."""
        said = []
        if self.policy is not None:
            over = self.frame[self.frame.cap.str.startswith("exceeds")]
            kept = self.frame[self.frame.cap.str.startswith("stays")]
            many, policy = self.results.sanitizer.nunique(), self.policy.title
            whose = f"The risks of these {many} sanitizers" if many > 1 else "The risks"
            below = f"stay below {counted(len(kept), 'cap')} of the policy {policy}"
            said.append(
                f"{whose} exceed {counted(len(over), 'cap')} and {below}." if len(over) else f"{whose} {below}."
            )
        if missing := int(self.results.status.isin(REASONS).sum()):
            said.append(f"{missing} of {len(self.results)} questions have no answer; the column value says why.")
        what = counted(len(self.results), "number")
        return said or [f"{what}. An interval has 95% confidence." if self.frame.interval.any() else f"{what}."]

    def plot(self) -> Any:
        """Return a chart: each number next to its value without the release."""
        import altair as alt

        from privnb.reporting.charts.base import of_columns
        from privnb.reporting.charts.looks import COLOURS

        drawn = self.results.assign(setting=setting_names(self.results), question=self.frame.question)
        drawn = drawn[drawn.value.notna() & (drawn.value.abs() <= 1)]
        rows = of_columns(drawn, ["setting", "question", "value", "low", "high", "baseline"])
        y = alt.Y("question:N", title=None, sort=None, axis=alt.Axis(labelLimit=420))
        x = alt.X("value:Q", title="value (filled) and value without the release (open)", axis=alt.Axis(format="%"))
        tips = [
            "setting:N",
            "question:N",
            alt.Tooltip("value:Q", format=".2%"),
            alt.Tooltip("baseline:Q", format=".2%"),
        ]
        colour = alt.Color("setting:N", title="release", scale=alt.Scale(range=COLOURS))
        points = rows.mark_point(filled=True, size=70, opacity=1).encode(x=x, y=y, color=colour, tooltip=tips)
        spans = rows.mark_rule(size=2).encode(x="low:Q", x2="high:Q", y=y, color=colour)
        without = rows.mark_point(filled=False, size=70).encode(x="baseline:Q", y=y, color=colour, tooltip=tips)
        return spans + without + points


@validated
def narrowed(results: pd.DataFrame, policy: Any = None) -> pd.DataFrame:
    """Return tidy results as a narrow table for people, see `Measurements.frame`."""
    results = results.reset_index(drop=True)
    people = counts_people(results)
    table = pd.DataFrame(
        {
            "setting": setting_names(results),
            "question": [question(row) for row in results.itertuples()],
            "value": [_value(row, few) for row, few in zip(results.itertuples(), people, strict=True)],
            "interval": [_interval(row) for row in results.itertuples()],
            "without release": [_number(row.measure, row.baseline) for row in results.itertuples()],
            "better": [BETTER[each] for each in results.better],
            "id": identified(results),
        },
        columns=NARROW,
    )
    if policy is not None:
        table.insert(5, "cap", [_against(row, policy) for row in results.itertuples()])
    return table


def question(row: Any) -> str:
    """Return what a row of results answers: the measure's title, of whom, by whom and under which assumption."""
    of = facts(row.measure)
    variant = of.readings.get(row.variant, row.variant)
    parts = [
        f"of {row.target}" if row.target else "",
        f"for {row.group}" if row.group else "",
        f"by {row.miner}" if row.miner else "",
        f"scenario {row.scenario}" if len(row.scenario) == 1 else row.scenario,
        f"knowing {row.knows}" if row.knows else "",
        f"control: {row.control}" if row.control else "",
        "worst-off person" if row.variant == "largest" else variant,
    ]
    return ", ".join(filter(None, [of.title, *parts]))


def _value(row: Any, counts: bool) -> str:
    if row.status in REASONS:
        return f"{row.status}: {row.reason}" if row.reason else row.status
    if np.isnan(row.value):
        return bounded(row.low, row.high) if counts and row.high > 0 else "withheld"
    return _number(row.measure, row.value)


def _interval(row: Any) -> str:
    if np.isnan(row.value) or np.isnan(row.low) or np.isnan(row.high) or row.low == row.high:
        return ""
    return f"{_number(row.measure, row.low)} to {_number(row.measure, row.high)}"


def _number(measure: str, value: float) -> str:
    return "" if np.isnan(value) else numerals.written(facts(measure).format, value)


def _against(row: Any, policy: Policy) -> str:
    """Return whether a number exceeds a cap of the policy, in words; empty where the policy has none for it."""
    for cap in policy.caps:
        of_group = (cap.group == "everybody" and row.group == "") or (cap.group != "everybody" and row.group != "")
        if cap.measure == row.measure and cap.variant == row.variant and of_group:
            worst = row.value if np.isnan(row.high) else row.high
            limit = _number(row.measure, cap.most)
            if np.isnan(worst):
                return f"unknown: does not keep the cap of {limit}"
            return f"stays below the cap of {limit}" if worst <= cap.most + ROUNDING else f"exceeds the cap of {limit}"
    return ""


def counted(number: int, noun: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "cap"), counted(0, "cap")
    ('1 cap', '0 caps')
    """
    return f"{number} {noun}{'s' * (number != 1)}"
