"""What rules, trees and published models give away, in sentences."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from privnb.evaluation.results import Results, setting_name
from privnb.reporting.findings.base import Finding, Part, of_results
from privnb.reporting.findings.rows import capitalized, known, of
from privnb.runtime.sentences import B

NEW = "artifactual_patterns"
SHORT = "No published result of this table was judged: too few people are guessed right or wrong to say how many."


@of_results(otherwise=SHORT)
def given_away(results: Results) -> Iterator[Part]:
    """The model that gives most away, the groups that follow from itemsets, and what else was found.

    Parameters
    ----------
    results : DataFrame
        Of `experiments.models_published`, `open_channels`, `rules_hidden`, `trees`, `tables_published` and
        `releases_mined`, joined.
    """
    yield from _models(results)
    yield from _channels(results)
    yield from _trees(results)
    yield from _tables(results)
    yield from _hidden(results)
    yield from _mined(results)


def _models(results: pd.DataFrame) -> Iterator[Any]:
    """The published model that adds most, where it adds more than one of random labels."""
    rows = known(results, "model_channel", control="")
    if rows.empty:
        return
    gains = of(results, "model_gain", control="").set_index("miner")
    noise = of(results, "model_gain").query("control != ''").high.max()
    best = rows.loc[rows.miner.map(gains.value).idxmax()]
    opened = gains[gains.low > max(0, noise)]  # 0 where no noise was measured: NaN is not larger
    said = f"{B}No published model{B} adds to a few examples: with {best.miner}"
    if best.miner in opened.index:
        said = f"{B}{capitalized(best.miner)}{B}, published, tells most: with it and a few examples"
    yield f"{said} an adversary guesses {best.target} rightly for {Finding.of(best, guess='without').text}."
    yield (
        f"{len(opened)} of {len(gains)} published models open a channel: they add more than chance, and more than a "
        "model of random labels does. That a model opens none for this adversary does not mean that it opens none."
    )


def _channels(results: pd.DataFrame) -> Iterator[Any]:
    rows = of(results, "inference_channels")
    if rows.empty:
        return
    most = rows.loc[rows.value.idxmax()]
    published = of(results, "itemsets", parameters=most.parameters).value.iloc[0]
    added = of(results, "support_added", parameters=most.parameters).value.iloc[0]
    beside = {"itemsets": f"{published:,.0f}"}
    if added:
        beside["to block all, supports rise on average by"] = f"{added:.2g} of themselves"
    said = "Groups of too few people that follow from frequent itemsets"
    yield Finding.of(most, said, setting=f"a support of {most.bound:.2g}", beside=beside)


def _trees(results: pd.DataFrame) -> Iterator[Any]:
    rows = known(results, "tree_accuracy")
    for _, small in known(results, "in_small_leaves", sanitizer="tree").head(1).iterrows():
        yield Finding.of(small, "People in small leaves of a tree without a bound", setting="")
    bounded, free = rows[rows.sanitizer != "tree"], rows[rows.sanitizer == "tree"]
    if len(bounded) and len(free):
        best, beside = bounded.loc[bounded.value.idxmax()], {"without a bound": free.value.iloc[0]}
        said = "Right by the best k-anonymous tree about others"
        yield Finding.of(best, said, setting=f"k = {best.bound:g}", beside=beside)


def _tables(results: pd.DataFrame) -> Iterator[Any]:
    for _, small in known(results, "cells_disclosed").head(1).iterrows():
        said = f"Counts of fewer than {small.bound:g}, of {small.target} together, disclosed by pairs"
        yield Finding.of(small, said, setting="")
    for _, most in known(results, "entries_suppressed").nlargest(1, "value").iterrows():
        yield Finding.of(most, f"Most entries suppressed, in the table of the secret and {most.target}", setting="")


def _hidden(results: pd.DataFrame) -> Iterator[Any]:
    shown = results[(results.variant == "") & results.measure.isin(["misses_cost", "hiding_failure"])]
    costs = shown.pivot_table(index="sanitizer", columns="measure", values="value", sort=False)
    if "misses_cost" in costs and "hiding_failure" in costs:
        for way in costs[costs.hiding_failure == 0].nsmallest(1, "misses_cost").index:
            row = of(results, "misses_cost", sanitizer=way, variant="").iloc[0]
            new = known(results, NEW, sanitizer=way, variant="").value  # undefined where no rule is left
            said = f"Other rules lost by {way}, the way that loses fewest of those that hide all"
            beside = {"rules found that are new": new.iloc[0]} if len(new) else {}
            yield Finding.of(row, said, setting="", beside=beside)
    back, filled = known(results, "hiding_failure", variant="filled in"), of(results, "cells_filled")
    if len(back) and len(filled):
        yield (
            f"Blocking hides for as long as nobody guesses: of blocked cells {Finding.of(filled.iloc[0]).text} are "
            f"filled in rightly, and {B}{Finding.of(back.iloc[0]).number}{B} of the hidden rules are found again."
        )


def _mined(results: pd.DataFrame) -> Iterator[Any]:
    rows = known(results, "missed_itemsets")
    ends, rows = rows[rows.sanitizer == "Suppress"], rows[rows.sanitizer != "Suppress"]
    if len(rows):
        best, worst = rows.loc[rows.value.idxmin()], rows.loc[rows.value.idxmax()]
        beside = {f"with {setting_name(worst)}": worst.value} if len(rows) > 1 else {}
        beside |= {"without the release": ends.value.iloc[0]} if len(ends) else {}
        yield Finding.of(best, "Fewest itemsets missed in a release", beside=beside)
