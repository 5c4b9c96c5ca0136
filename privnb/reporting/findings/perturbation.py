"""What perturbed releases keep and hide, on one plane with those that generalize."""

from collections.abc import Iterator

import pandas as pd

from privnb.decision.points import Releases
from privnb.evaluation.results import Results, over_seeds, setting_name
from privnb.reporting.charts.distributions import LITERAL, RECONSTRUCTED
from privnb.reporting.findings.base import Finding, Part, of_results
from privnb.reporting.findings.rows import ENDS, of
from privnb.runtime.sentences import B
from privnb.runtime.validation import Count
from privnb.sanitizers import catalogue

HALF = 0.5  # of the way from the original to no quasi-identifiers: more loss than that is not called useful


@of_results(
    "reidentification_rate",
    otherwise="No release was linked.",
)
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
    links = of(results, "reidentification_rate", miner="").dropna(subset="value")
    losses = of(results, releases.utility_measure.iloc[0]).groupby(["sanitizer", "parameters"]).value.first()
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
    if len(others):
        best = others.loc[others.value.idxmin()]
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
    wide = losses.pivot_table(index=["sanitizer", "parameters", "target"], columns="variant", values="value")
    if not {LITERAL, RECONSTRUCTED} <= {*wide}:
        return
    gained = (wide[LITERAL] - wide[RECONSTRUCTED]).dropna()
    if gained.empty:
        return
    sanitizer, parameters, target = gained.idxmax()
    rows = losses[(losses.sanitizer == sanitizer) & (losses.parameters == parameters) & (losses.target == target)]
    row = rows[rows.variant == RECONSTRUCTED].iloc[0]
    literal = rows[rows.variant == LITERAL].value.iloc[0]
    yield Finding.of(row, f"Loss of the distribution of {target}, reconstructed", beside={"taken literally": literal})
