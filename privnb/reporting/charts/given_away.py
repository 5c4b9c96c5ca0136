"""What rules cost to hide, and what published models add."""

from privnb.measures import facts
from privnb.microdata import expect
from privnb.reporting.charts.base import WIDTH, finish, intervals, none
from privnb.reporting.charts.measures import ranges
from privnb.reporting.findings.base import Finding

COSTS = {"misses_cost": "other rules lost", "artifactual_patterns": "rules found that are new"}
MODEL, CONTROL = "learned from the people", "learned from random labels"


def hidden_rules(results):
    """Two points for each way to hide rules: the share of other rules that it loses, and of those found that are new.

    Parameters
    ----------
    results : DataFrame
        Of `studies.rules_hidden`.

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    expect.these(results=results)
    rows = results[results.measure.isin(COSTS) & (results.variant == "")].dropna(subset="value")
    if rows.empty:
        return none("hidden rule")
    rows = rows.assign(setting=rows.sanitizer, kind=rows.measure.map(COSTS))
    lost = rows[rows.measure == "misses_cost"]
    least, most = lost.loc[lost.value.idxmin()], lost.loc[lost.value.idxmax()]
    title = Finding.of(
        least, f"Least of the other rules lost, by {least.setting}", setting="", beside={most.setting: most.value}
    ).title
    chart = ranges(rows, "kind", "share of rules", format="{:%}", order=list(COSTS.values())).properties(width=WIDTH)
    return finish(chart, title, "Points: of each way to hide the rules, what becomes of all others; lower is better.")


def published_models(results):
    """A point for each miner's published model: how many people an adversary guesses right who has it; black ticks: who
    has not.

    Parameters
    ----------
    results : DataFrame
        Of `studies.models_published`.

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    expect.these(results=results)
    rows = results[results.measure == "model_channel"].dropna(subset="value")
    if rows.empty:
        return none("published model that may be shown")
    rows = rows.assign(setting=rows.miner, kind=rows.control.map(lambda control: CONTROL if control else MODEL))
    best = rows.loc[(rows.value - rows.baseline).idxmax()]
    of = facts("model_channel")
    chart = ranges(rows, "kind", of.unit, zero=False, format="{:%}", order=[MODEL, CONTROL]).properties(width=WIDTH)
    return finish(
        chart,
        Finding.of(best, f"{of.title}, by {best.miner}", setting="").title,
        f"Points: people guessed right with the published model, lower is better; lines: {intervals(rows)}; black "
        "ticks: without it.",
    )
