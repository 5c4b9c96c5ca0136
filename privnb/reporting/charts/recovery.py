"""How near attacks come to the numbers behind noise or a rotation."""

import itertools

import altair as alt
import pandas as pd

from privnb import attacks
from privnb.attacks.recovery.base import Recovery
from privnb.evaluation.results import Results
from privnb.measures import facts
from privnb.reporting.charts.base import Drawing, finish, intervals, none, settings
from privnb.reporting.charts.looks import COLOURS, GREY, WIDTH
from privnb.reporting.charts.measures import ranges
from privnb.reporting.findings.base import Finding
from privnb.runtime.sentences import Sentences
from privnb.runtime.validation import validated

LITERAL = "taken literally"
RELEASE = ["dataset", "sanitizer", "parameters"]
NOISE = (  # what takes noise off stands together in charts: as many as there are colours
    attacks.PcaRemoval, attacks.SpectralFiltering, attacks.SvdFiltering, attacks.GaussianMap, attacks.EmpiricalMap,
    attacks.DistributionAnalysis,
)  # fmt: skip


@validated
def recovery(results: Results, measure: str = "recovery_error") -> Drawing | Sentences:
    """A point for each release and attack, ticks for the guess without anybody's row; a panel for each table.

    A method has the same colour in every chart, whatever its adversary knows.

    Parameters
    ----------
    results : DataFrame
        Tidy results of attacks that recover numbers.
    measure : str
        `recovery_error`, or `cell_error` of made-up records, whose ticks are the noisy numbers as they stand.

    Returns
    -------
    Altair chart or Sentences
        A sentence where there is nothing to draw.
    """
    of, rows = facts(measure), of_all(results, measure)
    if rows.empty:
        return none(measure)
    rows = settings(rows)
    order, known = list(dict.fromkeys(rows.miner)), _colours()
    colours = [known.get(name.partition(": ")[0], GREY) for name in order]
    panels = [
        ranges(part, "miner", of.label, format=of.format, order=order, colours=colours).properties(
            title=alt.Title(name, fontSize=12), width=WIDTH
        )
        for name, part in rows.groupby("dataset", sort=False)
    ]
    literal = rows[rows.miner == LITERAL].set_index(RELEASE).value
    attacks = rows[rows.miner != LITERAL]
    left = attacks.value / literal.reindex(pd.MultiIndex.from_frame(attacks[RELEASE])).to_numpy()
    if left.notna().any():
        best, how = attacks.loc[left.idxmin()], "takes most of it off"
        beside = {LITERAL: literal[tuple(best[RELEASE])]}
    else:
        best, how, beside = rows.loc[(rows.value / rows.baseline).idxmin()], "comes nearest", {}
    lines = f"; lines: {intervals(rows)}" if rows.low.notna().any() else ""
    return finish(
        alt.vconcat(*panels).resolve_scale(x="shared") if len(panels) > 1 else panels[0].properties(title=""),
        Finding.of(best, f"{of.title} of {best.miner}, which {how}", beside=beside).title,
        f"Points: {of.label} by release and attack, lower is nearer{lines}; ticks: {of.baseline}.",
    )


def _colours() -> dict[str, str]:
    """`{title: colour}` of the methods that recover numbers."""
    every = [each for name in attacks.__all__ if issubclass(each := getattr(attacks, name), Recovery)]
    methods = [*NOISE, *(each for each in every if each not in NOISE)]
    return {each.title: colour for each, colour in zip(methods, itertools.cycle(COLOURS), strict=False)}


def of_all(results: pd.DataFrame, measure: str) -> pd.DataFrame:
    """The rows of a measure about all columns and everybody, the released numbers as they stand as one more attack."""
    rows = results[(results.measure == measure) & (results.group == "") & (results.control == "")]
    rows = rows[(rows.target == "") & rows.value.notna()]
    as_it_stands = rows[rows.variant == LITERAL]
    once = as_it_stands.drop_duplicates(RELEASE).assign(miner=LITERAL, variant="")
    attacks = rows[rows.variant == ""]
    known = attacks.miner.where(attacks.knows == "", attacks.miner + ": " + attacks.knows)
    return pd.concat([attacks.assign(miner=known), once], ignore_index=True)
