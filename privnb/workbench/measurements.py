"""Numbers about releases: a narrow table for people, and tidy results with all columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from privnb.decision.by_policy import keeps_cap, read_at_policy_cap, why_broken
from privnb.evaluation.results import REASONS, compute_row_ids, describe_bounds, find_people_counts, name_settings
from privnb.measures.base import measure_facts
from privnb.reporting.result_rows import describe_question
from privnb.runtime import numerals
from privnb.runtime.validation import validated
from privnb.workbench.views import Noun, view

if TYPE_CHECKING:
    from privnb.decision.policies import Policy

BETTER = {"lower": "lower is better", "higher": "higher is better", "": ""}
# There is one more shape than there are colours, so that releases of the same colour differ in shape.
SHAPES = ["circle", "square", "diamond", "triangle-up", "triangle-down", "triangle-right", "triangle-left"]
MAX_DRAWN = 20  # the maximum number of questions in a chart
NARROW_COLUMNS = ["setting", "question", "value", "interval", "without release", "better", "id"]


@dataclass(frozen=True, eq=False, repr=False)
class Measurements(Noun):
    """Numbers about one or several releases.

    Parameters
    ----------
    results : DataFrame
        Tidy results with all columns; see `evaluation.results`.
    policy : Policy, optional
        The policy whose caps the risks are compared with.

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
        return (
            f"Measurements({len(self.results)} numbers of {count_noun(len(set(self.results.sanitizer)), 'sanitizer')})"
        )

    def __len__(self) -> int:
        return len(self.results)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row for each number: setting, question, value, 95% interval, value without the release, and id.

        Each row also states whether a lower or a higher value is better. The id is the id of the same number in the
        `results.csv` of a report and in cards.
        """
        return shorten_results(self.results)

    @cached_property
    def caps(self) -> pd.DataFrame:
        """One row for each cap of the policy, with the verdict; the table is empty without a policy.

        As in a decision, the risk for the worst sensitive attribute and the worst group counts, and the upper end of
        its interval is compared with the cap. An unknown risk exceeds every cap.
        """
        columns = ["risk", "value", "upper end", "cap", "verdict", "why"]
        rows: list[tuple[Any, ...]] = []
        if (policy := self.policy) is None:
            return pd.DataFrame(rows, columns=columns)
        for cap in policy.caps:
            found = read_at_policy_cap(lambda name: self.results[self.results.measure == name], cap, policy)
            row = SimpleNamespace(**found)
            why = "" if keeps_cap(row) else why_broken(row)
            verdict = "kept" if not why else "unknown" if np.isnan(row.high) else "exceeded"
            rows.append((row.axis, row.value, row.high, row.cap, verdict, why))
        return pd.DataFrame(rows, columns=columns)

    def _repr_html_(self) -> str:
        table = self.frame
        if table.setting.nunique() == 1:
            table = table.drop(columns="setting")
        of_groups = (self.results.group != "").to_numpy()
        numbers = {"All numbers of everybody": table[~of_groups]} if self.policy else {}
        numbers |= {f"{count_noun(int(of_groups.sum()), 'number')} of groups": table[of_groups]}
        return view(self.sentences, self.caps if self.policy else table[~of_groups], numbers)

    @property
    def sentences(self) -> list[str]:
        """Sentences about how many caps of the policy the release stays below, and about numbers that are missing."""
        said = []
        if self.policy is not None:
            kept = int((self.caps.verdict == "kept").sum())
            said.append(
                f"The release keeps {kept} of {count_noun(len(self.caps), 'cap')} of the policy {self.policy.title}."
            )
            said.append("The upper end of an interval counts, and an unknown risk exceeds each cap.")
        if missing := int(self.results.status.isin(REASONS).sum()):
            said.append(
                f"{missing} of {count_noun(len(self.results), 'number')} are missing; the column value states why."
            )
        what = count_noun(len(self.results), "number")
        return said or [f"{what}. An interval has 95% confidence." if self.frame.interval.any() else f"{what}."]

    def plot(self) -> Any:
        """Return a chart of the numbers that are shares of all people, each next to the same share without the release.

        The chart has at most the first `MAX_DRAWN` questions.
        """
        import altair as alt

        from privnb.reporting.charts.base import choose_title, none, of_columns, style_chart
        from privnb.reporting.charts.looks import COLOURS

        rows = self.results.assign(setting=name_settings(self.results), question=self.frame.question.to_numpy())
        rows = rows[rows.value.notna() & (rows.value.abs() <= 1) & (rows.group == "")]
        questions = [*dict.fromkeys(rows.question)][:MAX_DRAWN]
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
            largest = measure_facts(rows.measure[most.idxmax()]).title
            title = choose_title(f"Largest difference from the value without the release: {largest}", title)
        said = (
            f"Filled: the value, with its 95% interval. Open: without the release. {len(self)} numbers are in `.frame`."
        )
        return style_chart(spans + without + points, title, said)


@validated
def shorten_results(results: pd.DataFrame) -> pd.DataFrame:
    """Return tidy results as a narrow table for people; see `Measurements.frame`."""
    results = results.reset_index(drop=True)
    people = find_people_counts(results)
    return pd.DataFrame(
        {
            "setting": name_settings(results),
            "question": [describe_question(row) for row in results.itertuples()],
            "value": [_value(row, few) for row, few in zip(results.itertuples(), people, strict=True)],
            "interval": [_interval(row) for row in results.itertuples()],
            "without release": [_number(row.measure, row.baseline) for row in results.itertuples()],
            "better": [BETTER[each] for each in results.better],
            "id": compute_row_ids(results),
        },
        columns=NARROW_COLUMNS,
    )


def _value(row: Any, counts: bool) -> str:
    if row.status in REASONS:
        return f"{row.status}: {row.reason}" if row.reason else row.status
    if np.isnan(row.value):
        return describe_bounds(row.low, row.high) if counts and row.high > 0 else "withheld"
    return _number(row.measure, row.value)


def _interval(row: Any) -> str:
    if np.isnan(row.value) or np.isnan(row.low) or np.isnan(row.high) or row.low == row.high:
        return ""
    return f"{_number(row.measure, row.low)} to {_number(row.measure, row.high)}"


def _number(measure: str, value: float) -> str:
    return "" if np.isnan(value) else numerals.write_number(measure_facts(measure).format, value)


def count_noun(number: int, noun: str) -> str:
    """Return a number and the noun of the counted objects, in the singular or plural.

    >>> count_noun(1, "cap"), count_noun(0, "cap")
    ('1 cap', '0 caps')
    """
    return f"{number} {noun}{'s' * (number != 1)}"
