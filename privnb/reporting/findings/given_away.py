"""What rules, trees and published models give away, in sentences."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from privnb.evaluation.results import Results, setting_name
from privnb.reporting.findings.base import Finding, Part, of_results
from privnb.reporting.findings.rows import capitalized, of
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
    rows = of(results, "model_channel", control="").dropna(subset="value")
    if rows.empty:
        return
    gains = of(results, "model_gain", control="").set_index("miner")
    noise = of(results, "model_gain").query("control != ''").high.max()
    best = rows.loc[rows.miner.map(gains.value).idxmax()]
    opened = gains[(gains.low > max(noise, 0) if noise == noise else gains.low > 0)]
    if best.miner in opened.index:
        yield (
            f"{B}{capitalized(best.miner)}{B}, published, tells most: with it and a few examples an adversary guesses "
            f"{best.target} rightly for {Finding.of(best, guess='without').text}."
        )
    else:
        yield (
            f"{B}No published model{B} adds to a few examples: with {best.miner} an adversary guesses {best.target} "
            f"rightly for {Finding.of(best, guess='without').text}."
        )
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
    yield Finding.of(
        most,
        "Groups of too few people that follow from frequent itemsets",
        setting=f"a support of {most.bound:.2g}",
        beside={"itemsets": f"{published:,.0f}"}
        | ({"to block all, supports rise on average by": f"{added:.2g} of themselves"} if added else {}),
    )


def _trees(results: pd.DataFrame) -> Iterator[Any]:
    rows = of(results, "tree_accuracy").dropna(subset="value")
    small = of(results, "in_small_leaves", sanitizer="tree").dropna(subset="value")
    if len(small):
        yield Finding.of(small.iloc[0], "People in small leaves of a tree without a bound", setting="")
    bounded = rows[rows.sanitizer != "tree"]
    if len(bounded) and len(rows) > len(bounded):
        best = bounded.loc[bounded.value.idxmax()]
        free = rows[rows.sanitizer == "tree"].iloc[0]
        yield Finding.of(
            best, "Right by the best k-anonymous tree about others", setting=f"k = {best.bound:g}",
            beside={"without a bound": free.value},
        )  # fmt: skip


def _tables(results: pd.DataFrame) -> Iterator[Any]:
    small = of(results, "cells_disclosed").dropna(subset="value")
    if len(small):
        yield Finding.of(
            small.iloc[0],
            f"Counts of fewer than {small.iloc[0].bound:g}, of {small.iloc[0].target} together, disclosed by pairs",
            setting="",
        )
    lost = of(results, "entries_suppressed").dropna(subset="value")
    if len(lost):
        most = lost.loc[lost.value.idxmax()]
        yield Finding.of(most, f"Most entries suppressed, in the table of the secret and {most.target}", setting="")


def _hidden(results: pd.DataFrame) -> Iterator[Any]:
    shown = results[(results.variant == "") & results.measure.isin(["misses_cost", "hiding_failure"])]
    costs = shown.pivot_table(index="sanitizer", columns="measure", values="value", sort=False)
    if "misses_cost" in costs and "hiding_failure" in costs:
        hidden = costs[costs.hiding_failure == 0]
        if len(hidden):
            way = hidden.misses_cost.idxmin()
            row = of(results, "misses_cost", sanitizer=way, variant="").iloc[0]
            new = of(results, NEW, sanitizer=way, variant="").value.dropna()  # undefined where no rule is left
            yield Finding.of(
                row, f"Other rules lost by {way}, the way that loses fewest of those that hide all", setting="",
                beside={"rules found that are new": new.iloc[0]} if len(new) else {},
            )  # fmt: skip
    back = of(results, "hiding_failure", variant="filled in").dropna(subset="value")
    filled = of(results, "cells_filled")
    if len(back) and len(filled):
        right = filled.iloc[0]
        yield (
            f"Blocking hides for as long as nobody guesses: of blocked cells {Finding.of(right).text} are filled in "
            f"rightly, and {B}{Finding.of(back.iloc[0]).number}{B} of the hidden rules are found again."
        )


def _mined(results: pd.DataFrame) -> Iterator[Any]:
    rows = of(results, "missed_itemsets").dropna(subset="value")
    ends = rows[rows.sanitizer == "Suppress"]
    rows = rows[rows.sanitizer != "Suppress"]
    if len(rows):
        best, worst = rows.loc[rows.value.idxmin()], rows.loc[rows.value.idxmax()]
        beside = {f"with {setting_name(worst)}": worst.value} if len(rows) > 1 else {}
        if len(ends):
            beside["without the release"] = ends.value.iloc[0]
        yield Finding.of(best, "Fewest itemsets missed in a release", beside=beside)
