"""Numbers about releases, narrow for people and whole on request."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from privnb.decision.by_policy import at_cap, keeps, why_broken
from privnb.evaluation.results import REASONS, bounded, counts_people, identified, setting_names
from privnb.measures.base import facts
from privnb.runtime import numerals
from privnb.runtime.validation import validated
from privnb.workbench.views import Noun, view

if TYPE_CHECKING:
    from privnb.decision.policies import Policy

BETTER = {"lower": "lower is better", "higher": "higher is better", "": ""}
# One more than there are colours, so that releases of one colour differ in shape.
SHAPES = ["circle", "square", "diamond", "triangle-up", "triangle-down", "triangle-right", "triangle-left"]
DRAWN = 20  # questions in a chart: more do not fit on a screen
NARROW = ["setting", "question", "value", "interval", "without release", "better", "id"]


@dataclass(frozen=True, eq=False, repr=False)
class Measurements(Noun):
    """Numbers about one release or several.

    Parameters
    ----------
    results : DataFrame
        Tidy results with all their columns, see `evaluation.results`.
    policy : Policy, optional
        Whose caps the risks are compared with.

    Examples
    --------
    >>> from privnb import read
    >>> risks = read("twelve").sanitize("k=3").risks("groups-of-3")
    >>> risks.caps[["risk", "verdict"]].values.tolist()
    [['identity of the worst-off person', 'kept']]
    >>> risks.frame.loc[1, ["question", "without release"]].tolist()
    ['Identity risk, worst-off person', '8.3% of people']
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
        without the release, which direction is better, and the id of the number, as the `results.csv` of a report and
        cards have it.
        """
        return narrowed(self.results)

    @cached_property
    def caps(self) -> pd.DataFrame:
        """One row for each cap of the policy, judged as a decision judges it: the worst sensitive attribute and group
        count, and of an interval the upper end. An unknown risk keeps no cap. Empty without a policy.
        """
        columns = ["risk", "value", "upper end", "cap", "verdict", "why"]
        rows = []
        for cap in self.policy.caps if self.policy else ():
            found = at_cap(self.results[self.results.measure == cap.measure], cap)
            row = SimpleNamespace(**found)
            why = "" if keeps(row) else why_broken(row)
            verdict = "kept" if not why else "unknown" if np.isnan(row.high) else "exceeded"
            rows.append((row.axis, row.value, row.high, row.cap, verdict, why))
        return pd.DataFrame(rows, columns=columns)

    def _repr_html_(self) -> str:
        table = self.frame
        if table.setting.nunique() == 1:
            table = table.drop(columns="setting")
        of_groups = (self.results.group != "").to_numpy()
        numbers = {"All numbers of everybody": table[~of_groups]} if self.policy else {}
        numbers |= {f"{counted(int(of_groups.sum()), 'number')} of groups": table[of_groups]}
        return view(self.sentences, self.caps if self.policy else table[~of_groups], numbers)

    @property
    def sentences(self) -> list[str]:
        """What to know first: how many caps of the policy are kept, and what was not measured."""
        said = []
        if self.policy is not None:
            kept = int((self.caps.verdict == "kept").sum())
            said.append(
                f"The release keeps {kept} of {counted(len(self.caps), 'cap')} of the policy {self.policy.title}."
            )
            said.append("A cap counts the upper end of an interval, and an unknown risk keeps no cap.")
        if missing := int(self.results.status.isin(REASONS).sum()):
            said.append(f"{missing} of {counted(len(self.results), 'number')} are missing; the column value says why.")
        what = counted(len(self.results), "number")
        return said or [f"{what}. An interval has 95% confidence." if self.frame.interval.any() else f"{what}."]

    def plot(self) -> Any:
        """Return a chart: the shares among the numbers of everybody, each next to its value without the release; the
        first `DRAWN` questions.
        """
        import altair as alt

        from privnb.reporting.charts.base import finish, none, of_columns
        from privnb.reporting.charts.looks import COLOURS

        rows = self.results.assign(setting=setting_names(self.results), question=self.frame.question.to_numpy())
        rows = rows[rows.value.notna() & (rows.value.abs() <= 1) & (rows.group == "")]
        questions = [*dict.fromkeys(rows.question)][:DRAWN]
        rows = rows[rows.question.isin(questions)].drop_duplicates(["setting", "question"])
        if rows.empty:
            return none("share of everybody among these numbers")
        drawn = of_columns(rows, ["setting", "question", "value", "low", "high", "baseline"])
        y = alt.Y("question:N", title=None, sort=None, axis=alt.Axis(labelLimit=420))
        x = alt.X("value:Q", title="share", axis=alt.Axis(format="%"))
        tips = [
            "setting:N", "question:N", alt.Tooltip("value:Q", format=".2%"), alt.Tooltip("baseline:Q", format=".2%")
        ]  # fmt: skip
        colour = alt.Color("setting:N", title="release", scale=alt.Scale(range=COLOURS))
        shape = alt.Shape("setting:N", title="release", scale=alt.Scale(range=SHAPES))
        points = drawn.mark_point(filled=True, size=70, opacity=1).encode(
            x=x, y=y, color=colour, shape=shape, tooltip=tips
        )
        spans = drawn.mark_rule(size=2).encode(x="low:Q", x2="high:Q", y=y, color=colour)
        without = drawn.mark_point(filled=False, size=70).encode(
            x="baseline:Q", y=y, color=colour, shape=shape, tooltip=tips
        )
        most = (rows.value - rows.baseline).abs()
        title = "Each number with its 95% interval"
        if most.notna().any():
            title = f"Largest difference from the value without the release: {facts(rows.measure[most.idxmax()]).title}"
        said = (
            f"Filled: the value, with its 95% interval. Open: without the release. {len(self)} numbers are in `.frame`."
        )
        return finish(spans + without + points, title, said)


@validated
def narrowed(results: pd.DataFrame) -> pd.DataFrame:
    """Return tidy results as a narrow table for people, see `Measurements.frame`."""
    results = results.reset_index(drop=True)
    people = counts_people(results)
    return pd.DataFrame(
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


def counted(number: int, noun: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "cap"), counted(0, "cap")
    ('1 cap', '0 caps')
    """
    return f"{number} {noun}{'s' * (number != 1)}"
