"""How much an honest user loses by a release, beside a mere guess and beside leaving out what noise blurs."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from privnb.evaluation.results import Results, of_one_miner, over_seeds, setting_name
from privnb.measures.intervals import t_interval
from privnb.reporting.findings.base import Finding, Part, extremes, of_results
from privnb.reporting.findings.rows import of, same_release, sanitized
from privnb.runtime.numerals import percent
from privnb.runtime.sentences import B

NO_DECLINE = (
    "No sanitized release was mined, or nobody is guessed right on the original: there is no decline to speak of."
)
NOISE = {  # what is said by how the cost of noise differs from that of absence, for one miner or another
    frozenset(): "There is no evidence that noise differs from leaving these attributes out.",
    frozenset({"more"}): "Where noise costs more, users do better without these attributes: it misleads the miner.",
    frozenset({"less"}): "Noise nowhere costs more than leaving these attributes out, as far as these results show.",
    frozenset({"less", "more"}): "Noise costs some miners more than leaving these attributes out, and others less.",
}


@of_results(otherwise=NO_DECLINE)
def utility_declines(results: Results) -> Iterator[Part]:
    """How much the miner that loses most loses, what guessing would lose, and whether noise costs more than absence."""
    rows = over_seeds(results)
    mined = of(sanitized(rows), "utility_decline")
    declines = mined.dropna(subset="value")  # what is withheld is nothing to speak of
    single = declines[(declines.miner_set == "") & of_one_miner(declines)]
    worst = of(declines, "utility_decline", miner="worst", miner_set="")
    if worst.empty:
        few = "All declines of the worst miner are withheld: they would tell of few people, or of all but few."
        yield few if len(mined) else ""
        return
    tops = [part.loc[part.value.idxmax()] for _, part in worst.groupby("sanitizer", sort=False)]
    top = max(tops, key=lambda row: row.value)
    miner = _loser(single, top)
    yield (
        f"Under {setting_name(top)}, {miner} loses most: it rightly predicts the {top.target} of "
        f"{Finding.of(top).text} fewer people than on the original. {_guess(rows, miner)}"
    )
    if len(tops) > 1:
        yield [Finding.of(row, f"Largest decline, of {_loser(single, row)}", better="lower") for row in tops]
    yield from _beside_absence(of(results, "utility_decline"), single)


def _loser(single: pd.DataFrame, row: Any) -> str:
    """The miner that loses most in the setting of a row."""
    same = same_release(single, row)
    return same.miner[same.value.idxmax()] if len(same) else "the worst miner"


def _guess(rows: pd.DataFrame, miner: str) -> str:
    """What a guess of the commonest value loses against a miner on the original."""
    original = of(rows, "good_utility", sanitizer="Identity", miner_set="").dropna(subset=["value", "baseline"])
    better = original[original.value > original.baseline]
    if original.empty:
        return "What a mere guess reaches was not measured."
    if better.empty:
        return f"But {B}no miner beats a mere guess{B} even on the original."
    for able in better[better.miner == miner].itertuples():
        lost = Finding("", 1 - able.baseline / able.value, format="{:.1%}")
        return f"A mere guess, the commonest value for everybody, loses {lost.text}."
    return f"But {miner} does not beat a mere guess on the original either."


def _beside_absence(rows: pd.DataFrame, single: pd.DataFrame) -> Iterator[Finding]:
    """Whether noise costs more or less than leaving out what it blurs."""
    rows = rows[rows.miner.isin(single.miner)]
    absent, noise = rows[rows.sanitizer == "Suppress"], rows[rows.parameter == "epsilon"]
    pairs = noise.merge(absent, on=["miner", "seed"], suffixes=("", "_absent"))
    apart = {_apart(pair) for _, pair in pairs.groupby(["sanitizer", "parameters", "miner"], sort=False)}
    if apart:
        gone = over_seeds(absent)
        ends = " to ".join(percent(end) for end in (gone.value.min(), gone.value.max()))
        beside, note = {setting_name(gone.iloc[0]): ends}, NOISE[frozenset(apart - {"same"})]
        yield from extremes(over_seeds(noise), "Noise costs one miner at most", beside=beside, note=note)


def _apart(pair: pd.DataFrame) -> str:
    """Whether noise costs more, less or the same: seeds paired, or, of one seed, by the intervals of both."""
    row = pair.iloc[0]
    low, high = row.low - row.high_absent, row.high - row.low_absent
    if len(pair) > 1:
        low, high = t_interval((pair.value - pair.value_absent).tolist())
    return "more" if low > 0 else "less" if high < 0 else "same"
