"""What perturbed releases keep and hide beside those that generalize, and what comes off again of their noise."""

from collections.abc import Iterator

import pandas as pd

from privnb.decision.points import Releases
from privnb.evaluation.results import SETTING, Results, over_seeds, setting_name
from privnb.reporting.charts.lines import LITERAL, RECONSTRUCTED
from privnb.reporting.findings.base import Finding, Part, of_results
from privnb.reporting.findings.rows import ENDS, capitalized, known, of
from privnb.runtime.sentences import B
from privnb.runtime.validation import Count
from privnb.sanitizers import catalogue

MEANING = (
    "An error of 1 is that of whoever guesses the mean of each column for everybody; 0 is every number recovered. That "
    "an attack gains nothing does not mean that none does."
)
HALF = 0.5  # of the way from the original to no quasi-identifiers: more loss than that is not called useful


@of_results("reidentification_rate", otherwise="No release was linked.")
def perturbation(results: Results, releases: Releases, recovered: Results, people: Count) -> Iterator[Part]:
    """The perturbed release that hides most among the useful ones, and what reconstruction gives back.

    Parameters
    ----------
    results : DataFrame
        Of `experiments.mapped`.
    releases : DataFrame
        `decision.points` of these.
    recovered : DataFrame
        Of `experiments.reconstructions`.
    people : int
        How many people were linked: a sample may stand for the table.
    """
    if releases.empty:
        return
    results = over_seeds(results)
    links = known(results, "reidentification_rate", miner="")
    losses = of(results, releases.utility_measure.iloc[0]).groupby(SETTING).value.first()
    most, scale = losses.max(), "the largest loss"
    if "Suppress" in losses:
        most, scale = losses["Suppress"].max(), "what suppression loses"
    links = links[~links.sanitizer.isin(ENDS)]
    links = links.assign(loss=[losses.get((row.sanitizer, row.parameters)) for row in links.itertuples()])
    useful = links[links.loss <= HALF * most]
    changed = useful[~useful.sanitizer.map(catalogue.group).isin(["generalization", "buckets"])]
    if len(changed):
        best, linked = changed.loc[changed.value.idxmin()], f"{{:%}} of the {people:,} people"
        yield (
            f"Of the {len(changed)} perturbed releases that are useful, {B}{setting_name(best)}{B} hides people best: "
            f"linkage finds {Finding.of(best, format=linked).text}, at {best.loss / most:.0%} of {scale}."
        )
    others = useful[useful.sanitizer.map(catalogue.group) == "generalization"]
    for _, best in others.nsmallest(1, "value").iterrows():
        beside = {f"part of {scale}": f"{best.loss / most:.0%}"}
        yield Finding.of(best, "Least share of people linked under a release that generalizes", beside=beside)
    yield from _reconstructed(of(recovered, "distribution_loss"))
    refused = releases[releases.status == "refused"]
    if len(refused):
        yield (
            f"{len(refused)} of {len(releases)} releases have a combination of quasi-identifiers of too few people: "
            "those may not be chosen, whatever they hide from this adversary. Somebody who knows more may link more."
        )


def _reconstructed(losses: pd.DataFrame) -> Iterator[Finding]:
    """Where reconstruction gives back most of a distribution."""
    of_it = [*SETTING, "target"]
    wide = losses.pivot_table(index=of_it, columns="variant", values="value")
    if not {LITERAL, RECONSTRUCTED} <= {*wide}:
        return
    gained = (wide[LITERAL] - wide[RECONSTRUCTED]).dropna()
    if gained.empty:
        return
    rows = losses[(losses[of_it] == gained.idxmax()).all(axis=1)]
    row, literal = (rows[rows.variant == each].iloc[0] for each in (RECONSTRUCTED, LITERAL))
    yield Finding.of(row, f"Loss of the distribution of {row.target}, reconstructed", beside={LITERAL: literal.value})


@of_results("recovery_error", otherwise="No number was recovered: no release of this table has noise of a public law.")
def recovered(results: Results) -> Iterator[Part]:
    """The attack that comes nearest beside the released numbers as they stand, and what outliers have to fear."""
    rows, release = known(results, "recovery_error", target="", group="", control=""), ["dataset", *SETTING]
    literal = rows[rows.variant == LITERAL].drop_duplicates(release)[[*release, "value"]]
    best = rows[rows.variant == ""].merge(literal, on=release, suffixes=("", "_literal"), how="left")
    if best.empty:
        return
    best["gain"] = 1 - best.value / best.value_literal
    for _, top in best.dropna(subset="gain").nlargest(1, "gain").iterrows():
        yield (
            f"{capitalized(top.miner)} takes {B}{top.gain:.0%}{B} of the error off {setting_name(top)}: "
            f"{Finding.of(top).text} is left of {top.value_literal:.2g}."
        )
    nearest = best.loc[best.value.idxmin()]
    knows = {"knows": nearest.knows or "the law alone"}
    yield Finding.of(nearest, f"Least error, by {nearest.miner}", beside=knows, better="")
    yield from _outliers(of(results, "recovery_error", target="", variant="", control=""), nearest)
    yield MEANING


def _outliers(rows: pd.DataFrame, nearest: pd.Series) -> Iterator[Finding]:
    """What the same attack reaches for the tenth who lie furthest from the mean."""
    of_it = ["dataset", *SETTING, "miner", "knows"]
    groups = rows[(rows[of_it] == nearest[of_it]).all(axis=1)].set_index("group")
    if {"outliers", "others"} <= {*groups.index} and groups.value[["outliers", "others"]].notna().all():
        far, rest = groups.loc["outliers"], groups.loc["others"]
        said = f"Error by {nearest.miner} for the tenth who lie furthest from the mean"
        note = "A guess of the mean misses them most: what the release adds is the difference to the baseline."
        yield Finding.of(far, said, beside={"others": rest.value}, note=note)
