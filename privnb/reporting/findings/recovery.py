"""What comes off again of noise and of multiplicative perturbation, and whom that hits most."""

from collections.abc import Iterator

import pandas as pd

from privnb.evaluation.results import Results, setting_name
from privnb.reporting.charts.recovery import LITERAL
from privnb.reporting.findings.base import Finding, Part, of_results
from privnb.reporting.findings.rows import capitalized, of
from privnb.runtime.sentences import B

MEANING = (
    "An error of 1 is that of whoever guesses the mean of each column for everybody; 0 is every number recovered. That "
    "an attack gains nothing does not mean that none does."
)


@of_results("recovery_error", otherwise="No number was recovered: no release of this table has noise of a public law.")
def recovered(results: Results) -> Iterator[Part]:
    """The attack that comes nearest beside the released numbers as they stand, and what outliers have to fear."""
    rows = of(results, "recovery_error", target="", group="", control="").dropna(subset="value")
    literal = rows[rows.variant == LITERAL].drop_duplicates(["dataset", "sanitizer", "parameters"])
    best = rows[rows.variant == ""].merge(
        literal[["dataset", "sanitizer", "parameters", "value"]], on=["dataset", "sanitizer", "parameters"],
        suffixes=("", "_literal"), how="left",
    )  # fmt: skip
    if best.empty:
        return
    best["gain"] = 1 - best.value / best.value_literal
    known = best.dropna(subset="gain")
    if len(known):
        top = known.loc[known.gain.idxmax()]
        found = Finding.of(top)
        yield (
            f"{capitalized(top.miner)} takes {B}{top.gain:.0%}{B} of the error off {setting_name(top)}: {found.text} "
            f"is left of {top.value_literal:.2g}."
        )
    nearest = best.loc[best.value.idxmin()]
    knows = {"knows": nearest.knows or "the law alone"}
    yield Finding.of(nearest, f"Least error, by {nearest.miner}", beside=knows, better="")
    yield from _outliers(of(results, "recovery_error", target="", variant="", control=""), nearest)
    yield MEANING


def _outliers(rows: pd.DataFrame, nearest: pd.Series) -> Iterator[Finding]:
    """What the same attack reaches for the tenth who lie furthest from the mean."""
    same = rows[
        (rows.sanitizer == nearest.sanitizer) & (rows.parameters == nearest.parameters) & (rows.miner == nearest.miner)
        & (rows.knows == nearest.knows) & (rows.dataset == nearest.dataset)
    ]  # fmt: skip
    groups = same.set_index("group")
    if {"outliers", "others"} <= {*groups.index} and groups.value[["outliers", "others"]].notna().all():
        far, rest = groups.loc["outliers"], groups.loc["others"]
        yield Finding.of(
            far,
            f"Error by {nearest.miner} for the tenth who lie furthest from the mean",
            beside={"others": rest.value},
            note="A guess of the mean misses them most: what the release adds is the difference to the baseline.",
        )
