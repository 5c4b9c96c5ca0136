"""How a column is distributed: as it is, as its noisy cells stand, and reconstructed."""

import altair as alt

from privnb.evaluation.results import Results
from privnb.measures import facts
from privnb.reporting.charts.base import Drawing, curves, finish, none, value
from privnb.reporting.findings.base import Finding
from privnb.runtime import expect
from privnb.runtime.sentences import Sentences
from privnb.runtime.validation import validated

LITERAL, RECONSTRUCTED = "taken literally", "reconstructed (EM)"
KINDS = "the table", LITERAL, RECONSTRUCTED, "reconstructed (Bayes)"


@validated
def distributions(results: Results, target: str = "") -> Drawing | Sentences:
    """A line for each reading of one column, by interval or category.

    Parameters
    ----------
    results : DataFrame
        Of `experiments.reconstructions`.
    target : str
        The column; empty: the first.

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    shares = results[results.measure == "interval_share"]
    if shares.empty:
        return none("interval share")
    target = target or shares.target.iloc[0]
    expect.one_of("target", target, dict.fromkeys(shares.target))
    rows = shares[(shares.target == target)].dropna(subset="value")
    rows = rows[(rows.sanitizer == rows.sanitizer.iloc[0]) & (rows.parameters == rows.parameters.iloc[0])]
    of, order = facts("interval_share"), [kind for kind in KINDS if kind in set(rows.variant)]
    x = alt.X("group:N", sort=list(dict.fromkeys(rows.group)), title=target, axis=alt.Axis(labelAngle=-45))
    chart = curves(rows, x, value(of), "variant", order, size=50)
    losses = results[(results.measure == "distribution_loss") & (results.target == target)].dropna(subset="value")
    losses = losses[(losses.sanitizer == rows.sanitizer.iloc[0]) & (losses.parameters == rows.parameters.iloc[0])]
    title = f"How {target} is distributed"
    if len(losses):
        best = losses.loc[losses.value.idxmin()]
        title = Finding.of(best, f"{facts('distribution_loss').title}, {target} {best.variant}").title
    return finish(
        chart, title, f"Lines: {of.label} by {target}. A point that is missing is of few people, and withheld."
    )
