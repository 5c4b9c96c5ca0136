"""What privacy that each person sets costs."""

import altair as alt

from privnb.evaluation.results import Results
from privnb.measures.base import facts
from privnb.reporting.charts.base import Drawing, curves, finish, none, value
from privnb.runtime.sentences import Sentences
from privnb.runtime.validation import validated


@validated
def by_wishes(results: Results, measure: str) -> Drawing | Sentences:
    """A line per way of keeping wishes: a measure by the share of people who have one.

    Parameters
    ----------
    results : DataFrame
        Of `experiments.own_k` or `experiments.guards`.
    measure : str

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    of, rows = facts(measure), results[(results.measure == measure) & results.value.notna()]
    if rows.empty:
        return none(measure)
    x = alt.X("bound:Q", title="people with a wish", axis=alt.Axis(values=sorted({*rows.bound}), format=".0%"))
    apart = rows.groupby("variant").value.agg(lambda values: values.max() - values.min())
    moved = max(dict.fromkeys(rows.variant), key=apart.get)  # a line that lies flat tells nothing of wishes
    line = rows[rows.variant == moved].sort_values("bound")
    first, last = line.iloc[0], line.iloc[-1]
    return finish(
        curves(rows, x, value(of), "variant"),
        f"{of.title}, {moved}: {of.bare(first.value)} if {first.bound:.0%} of people have a wish, "
        f"{of.bare(last.value)} if {last.bound:.0%} do",
        f"Lines: {of.label} by how many people have a wish; {of.better} is better. What is withheld or "
        "impossible has no point.",
    )
