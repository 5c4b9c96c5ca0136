"""Who the people of a table are: charts of counts, before any release."""

import altair as alt
import numpy as np
import pandas as pd

from privnb.evaluation.results import Results
from privnb.microdata import withholding
from privnb.microdata.withholding import MinCount
from privnb.reporting.charts.base import Aggregate, Drawing, check_counts, finish, histogram, merge_small, of_columns
from privnb.reporting.charts.looks import COLOURS
from privnb.runtime import expect, numerals
from privnb.runtime.names import names_in
from privnb.runtime.numerals import percent
from privnb.runtime.sentences import Sentences, say
from privnb.runtime.validation import validated


def people(
    counts: pd.Series, everybody: int | None = None, fewest: MinCount = withholding.LIMIT
) -> Drawing | Sentences:
    """Bars of people by group.

    Parameters
    ----------
    counts : Series
        People by group, its index named after the attribute; small groups are merged with their neighbours.
    everybody : int, optional
        How many people there are, where one with several records may be in several groups; None: their sum.
    fewest : int

    Returns
    -------
    Altair chart or Sentences
        A sentence where all together are fewer than `fewest`.
    """
    check_counts(counts)
    withholding.check(fewest)
    if everybody is not None and not (expect.is_whole(everybody) and counts.max() <= everybody <= counts.sum()):
        found = expect.found(everybody)
        raise ValueError(f"everybody must be as many as the largest group, at most as all of them, got {found}.")
    if 0 < counts.sum() < fewest:
        return say(f"The table has fewer than {fewest} people, so that no group of them is shown.")
    unit = str(counts.index.name)
    merged = merge_small(counts, fewest)
    most = percent(merged.max() / (everybody or merged.sum()))
    shown = Aggregate(
        merged.rename_axis("group").rename("people").reset_index(), {"group": unit, "people": "people"}, fewest
    )
    return finish(
        histogram(shown, "group", unit, -45),
        f"{most} of all people have {unit} {merged.idxmax()}, the commonest group",
        f"Bars: number of people by {unit}.",
    )


@validated
def uniqueness(results: Results) -> Drawing | Sentences:
    """Share of people singled out, by how many quasi-identifiers are known: the mean over all sets, and their range."""
    rows = results[results.measure == "unique"].assign(known=lambda r: r.knows.map(names_in).map(len))
    if rows.empty:
        return say("No attribute is known to others: this table has no quasi-identifier.")
    rows["drawn"] = rows.value.fillna(rows.high)  # withheld: at its upper bound, if it has one
    sets = rows.groupby("known")
    spread = sets.drawn.agg(["min", "max"]).assign(mean=sets.drawn.agg(lambda drawn: drawn.mean(skipna=False)))
    spread = spread.assign(exact=sets.value.agg(lambda value: value.notna().all())).reset_index()
    base = of_columns(spread, ["known", "min", "mean", "max"]).encode(
        x=alt.X("known:O", title="number of quasi-identifiers that the adversary knows", axis=alt.Axis(labelAngle=0))
    )
    share = alt.Axis(format="%")
    return finish(
        base.mark_bar(color=COLOURS[5], size=14).encode(
            y=alt.Y("min:Q", title="share of people who are unique", axis=share), y2="max:Q"
        )
        + base.mark_point(color=COLOURS[1], filled=True, size=80, shape="diamond", opacity=1).encode(y="mean:Q"),
        f"One known attribute singles out {_mean(spread.iloc[0])} on average, "
        f"all {spread.known.iloc[-1]} together {_mean(spread.iloc[-1])}",
        "Bars: range over all sets of as many quasi-identifiers; diamonds: their mean."
        + " Of what is withheld the upper bound is drawn, if there is one." * (not spread.exact.all()),
    )


def _mean(sets: pd.Series) -> str:
    """The mean of a row of `spread`, in words: of bounds it is one itself."""
    if np.isnan(sets["mean"]):
        return "a withheld share of people"
    share = numerals.written("{:%} of people", sets["mean"])
    return share if sets.exact else f"at most {share}"
