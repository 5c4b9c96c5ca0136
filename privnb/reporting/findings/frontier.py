"""Which release to publish, from the points of the frontier."""

import numpy as np
import pandas as pd

from privnb import decision
from privnb.decision import AXES
from privnb.decision.caps import check_choices
from privnb.decision.points import check_loss
from privnb.evaluation.results import check_results
from privnb.microdata import expect
from privnb.microdata.sentences import B, say
from privnb.reporting.findings.base import listed
from privnb.sanitizers.catalogue import group


def which_to_publish(results, releases, table):
    """The owner's choice. `releases`: `frontier.points` of `results`; `table`: `frontier.choices` of those."""
    expect.these(results=results, releases=releases)
    check_choices(table)
    said = decision.sentences(table, releases)
    said += _mined(results, releases)
    buckets = [name for name in dict.fromkeys(table.setting) if group(name.split()[0]) == "buckets"]
    if buckets:
        said.append(
            f"{listed(buckets)} {'publishes' if len(buckets) == 1 else 'publish'} quasi-identifiers as they are: who "
            "is in the table is told, and whoever knows a person finds their row. Only which sensitive value is whose "
            "is hidden, and only that is counted here."
        )
    said.append("Efficient is said of these releases, by these two measures. It does not mean safe.")
    return say(*said)


def _mined(results, releases):
    """That a gain reached by miners is a lower bound, where it is an axis."""
    if "accuracy_gain" not in [releases[f"{axis}_measure"].iloc[0] for axis in AXES]:
        return
    gains = results[(results.measure == "accuracy_gain") & (results.miner != "worst")]
    exact = set(gains[gains.miner == ""].sanitizer)
    mined = gains[~gains.sanitizer.isin(exact)]
    noisy = list(dict.fromkeys(mined.sanitizer))
    if noisy:
        many = len(noisy) > 1
        yield (
            f"Of classes and buckets the accuracy gain is exact for an adversary who knows the class. "
            f"{listed(noisy)} {'have' if many else 'has'} no classes: there it is what the best of "
            f"{listed(list(dict.fromkeys(mined.miner)))} reaches, or 0, for anybody can guess the commonest value. "
            f"{B}A better attack may reach more{B}, so in truth {'they' if many else 'it'} may lie further right: "
            f"{'they dominate' if many else 'it dominates'} no other release and {'keep' if many else 'keeps'} no cap."
        )


def what_the_search_found(tuned, cap, whole=None, **axes):
    """What a search under a cap found, how much it tried, and how near it comes to the whole grid's best.

    `tuned`: a `frontier.Tuned`, or None where no search was asked for; `whole`: results of the whole grid, or None;
    `axes`: `privacy` and `utility`, as of `frontier.points`.
    """
    if tuned is not None:
        expect.kind("tuned", tuned, decision.Tuned, instead="`frontier.tune` gives it.")
        expect.number("cap", cap)
    if whole is not None:
        check_results("whole", whole)
    for axis, loss in axes.items():
        check_loss(axis, loss)
    if tuned is None:
        return say("Nothing was searched: that takes a PRIVACY_CAP above 0 and a TUNED parameter.")
    tried = f"{tuned.evaluations} of the grid's {tuned.size} values"
    if tuned.value is None:
        nearest = tuned.releases.loc[tuned.releases.privacy_high.idxmin()]
        found = (
            f"Of {tried} that the search tried none keeps a privacy loss of at most {cap:g}; the least upper bound is "
            f"{nearest.privacy_high:.3g} ({nearest.setting})."
        )
        if np.isposinf(nearest.privacy_high) and np.isfinite(nearest.privacy_low):
            found = (
                f"The search tried {tried}. What they lose is known from below only, so none is sure to keep a privacy "
                f"loss of at most {cap:g}."
            )
    else:
        row = tuned.releases[tuned.releases.value == tuned.value].iloc[0]
        found = (
            f"{B}{row.setting}{B} has the least utility loss, {row.utility:.3g}, of those with a privacy loss of at "
            f"most {cap:g} (its own: {row.privacy_high:.3g}), after the search tried {tried}."
        )
    if tuned.unreachable:
        found += f" At {len(tuned.unreachable)} of them the table cannot be sanitized so."
    return say(found, _beside(tuned, cap, whole, axes))


def _beside(tuned, cap, whole, axes):
    """The choice beside the whole grid's best, where the grid was evaluated."""
    if whole is None:
        return (
            "The whole grid was not evaluated, so how near this comes to its best is not known here. The full profile "
            "evaluates it."
        )
    best = decision.choices(decision.points(whole, **axes), privacy_cap=cap).iloc[0]
    if best.setting == "none" or pd.isna(best.utility):
        return "Nor does any other value of the whole grid." if tuned.value is None else ""
    said = f"Of the whole grid the best under the cap is {best.setting}, with a utility loss of {best.utility:.3g}"
    if tuned.value is None:
        return f"{said}: the search missed it."
    row = tuned.releases[tuned.releases.value == tuned.value].iloc[0]
    if row.utility <= best.utility * (1 + 1e-9) + 1e-12:
        return f"{said}: the search loses no more."
    more = f"{row.utility / best.utility - 1:.1%} more" if best.utility > 0 else f"{row.utility:.3g} more"
    return f"{said}: the search loses {more}."
