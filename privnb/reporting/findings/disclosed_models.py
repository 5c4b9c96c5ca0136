"""Findings about the disclosure by rules, trees, tables and published models."""

from typing import Any

import pandas as pd

from privnb.evaluation.results import Results, name_setting
from privnb.reporting.findings.numbers import number_of_row, to_json_number
from privnb.reporting.findings.rows import select_known_rows, select_rows
from privnb.runtime.validation import validated
from privnb.runtime.wording import Worded

NEW = "artifactual_patterns"


@validated
def disclosed_models(results: Results) -> Worded:
    """Return the finding about what published models, itemsets, trees, tables and hidden rules disclose.

    Parameters
    ----------
    results : DataFrame
        The joined results of `attack_published_models`, `find_inference_channels`, `compare_rule_hiding`,
        `compare_trees`, `attack_published_tables` and `mine_releases`, all of `evaluation.experiments`.
    """
    data = {
        "models": _models(results),
        "channels": _channels(results),
        "tree": _tree(results),
        "tables": _tables(results),
        "hidden": _hidden(results),
        "unblocked": _unblocked(results),
        "mined": _mined(results),
    }
    return Worded("reporting/findings_disclosed_models", data)


def _models(results: pd.DataFrame) -> dict[str, Any] | None:
    """Return the published model with the largest gain, and how many models gain more than a model of random labels."""
    rows = select_known_rows(results, "model_channel", control="")
    if rows.empty:
        return None
    gains = select_rows(results, "model_gain", control="").set_index("miner")
    noise = select_rows(results, "model_gain").query("control != ''").high.max()
    best = rows.loc[rows.miner.map(gains.value).idxmax()]
    opened = gains[gains.low > max(0, noise)]  # 0 if no noise was measured: NaN is not larger
    return {
        "best": number_of_row(best, miner=best.miner),
        "is_open": best.miner in opened.index,
        "open": len(opened),
        "number": len(gains),
    }


def _channels(results: pd.DataFrame) -> dict[str, Any] | None:
    """Return the number of groups of few people that follow from itemsets, at the support with the most groups."""
    rows = select_rows(results, "inference_channels")
    if rows.empty:
        return None
    most = rows.loc[rows.value.idxmax()]
    itemsets = select_rows(results, "itemsets", parameters=most.parameters).value.iloc[0]
    added = select_rows(results, "support_added", parameters=most.parameters).value.iloc[0]
    return number_of_row(
        most, support=float(most.bound), itemsets=to_json_number(itemsets), added=to_json_number(added)
    )


def _tree(results: pd.DataFrame) -> dict[str, Any]:
    """Return the number of people in small leaves of a tree without a bound, and the best accuracy with a bound."""
    rows = select_known_rows(results, "tree_accuracy")
    bounded, free = rows[rows.sanitizer != "tree"], rows[rows.sanitizer == "tree"]
    best = bounded.nlargest(1, "value") if len(free) else bounded.iloc[:0]
    small = select_known_rows(results, "in_small_leaves", sanitizer="tree")
    return {
        "small": _first(small),
        "best": _first(best) | {"k": float(best.bound.iloc[0]), "free": to_json_number(free.value.iloc[0])}
        if len(best)
        else {},
    }


def _tables(results: pd.DataFrame) -> dict[str, Any]:
    disclosed = select_known_rows(results, "cells_disclosed")
    return {
        "disclosed": _first(disclosed) | {"fewer": float(disclosed.bound.iloc[0])} if len(disclosed) else {},
        "suppressed": _first(select_known_rows(results, "entries_suppressed").nlargest(1, "value")),
    }


def _hidden(results: pd.DataFrame) -> dict[str, Any]:
    """Return the algorithm that hides all rules and loses the fewest other rules."""
    shown = results[(results.variant == "") & results.measure.isin(["misses_cost", "hiding_failure"])]
    costs = shown.pivot_table(index="sanitizer", columns="measure", values="value", sort=False)
    if not {"misses_cost", "hiding_failure"} <= {*costs}:
        return {}
    for way in costs[costs.hiding_failure == 0].nsmallest(1, "misses_cost").index:
        new = select_known_rows(results, NEW, sanitizer=way, variant="").value  # undefined where no rule is left
        lost = number_of_row(select_rows(results, "misses_cost", sanitizer=way, variant="").iloc[0])
        return {"way": way, "lost": lost, "new": to_json_number(new.iloc[0]) if len(new) else None}
    return {}


def _unblocked(results: pd.DataFrame) -> dict[str, Any]:
    """Return how many blocked cells an adversary guesses, and how many hidden rules these guesses reveal again."""
    back, filled = (
        select_known_rows(results, "hiding_failure", variant="filled in"),
        select_rows(results, "cells_filled"),
    )
    return {"filled": _first(filled), "found": _first(back)} if len(back) and len(filled) else {}


def _mined(results: pd.DataFrame) -> dict[str, Any]:
    """Return the releases that miss the smallest and the largest share of itemsets."""
    rows = select_known_rows(results, "missed_itemsets")
    bare, rows = rows[rows.sanitizer == "Suppress"], rows[rows.sanitizer != "Suppress"]
    if rows.empty:
        return {}
    best, worst = rows.loc[rows.value.idxmin()], rows.loc[rows.value.idxmax()]
    return {
        "best": number_of_row(best),
        "worst": {"setting": name_setting(worst), "value": to_json_number(worst.value)} if len(rows) > 1 else {},
        "bare": to_json_number(bare.value.iloc[0]) if len(bare) else None,
    }


def _first(rows: pd.DataFrame) -> dict[str, Any]:
    """Return the number of the first row, or an empty dict if there is no row."""
    return next((number_of_row(row) for _, row in rows.head(1).iterrows()), {})
