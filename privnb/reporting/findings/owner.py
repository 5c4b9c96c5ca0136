"""How much honest users lose by a release, and which one the rule of Sramka et al. chooses and leaves linkable."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from privnb.evaluation.combinations import FLOOR, Floor
from privnb.evaluation.results import Results, of_one_miner, over_seeds, setting_name
from privnb.measures.intervals import t_interval
from privnb.reporting.findings.base import Finding, Part, extremes, of_results
from privnb.reporting.findings.rows import WORST, most_often, named, of, same_release, sanitized, settings
from privnb.runtime.numerals import percent
from privnb.runtime.sentences import B, listed
from privnb.runtime.tolerances import ROUNDING

NO_CHOICE = (
    "No sanitizer keeps enough good utility, or too few people are hit to compare: there is nothing to choose. Lower "
    "MIN_GOOD, or try others."
)


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


@of_results("chosen", otherwise=NO_CHOICE)
def owner_choice(chosen: Results, links: Results, floor: Floor = FLOOR) -> Iterator[Part]:
    """Which sanitizer the paper's rule leads to in each scenario, under which criteria and seeds that stays, how far
    the others lie, and whom the choice leaves linkable.

    Parameters
    ----------
    chosen : DataFrame
        Of `owner_choice.chosen`.
    links : DataFrame
        Rows `reidentification_rate` of `evaluation.linked`, and those of `evaluation.combinations`.
    floor : int
        So many people are to share every published combination of quasi-identifiers.
    """
    chosen, links = named(chosen), over_seeds(links)
    picks: dict[str, Any] = {}
    for feared, part in most_often(of(chosen, "chosen")).groupby("scenario", sort=False):
        first = part.set_index("criterion", drop=False)
        if WORST in first.index:
            picks[feared] = first.loc[WORST]
            yield from _chosen(feared, first, of(chosen, "excess_over_choice", scenario=feared))
        else:
            yield f"Scenario {feared}: by the worst miner too few people are hit to compare."
    rows = {setting_name(row): row for row in picks.values()}
    if len(rows) > 1:
        yield "The choice depends on the scenario: on what the owner fears."
    elif len(picks) > 1:
        yield f"The choice is the same in scenarios {listed([*picks])}."
    for name, row in rows.items():
        yield from _linkable(name, same_release(links, row), of(links, "reidentification_rate"), floor)
    yield (
        "Only the sanitizers that were run and keep enough good utility were compared, and only these miners attacked. "
        "That no attack is found is not safety: other miners, and people who know more, remain."
    )


def _linkable(name: str, here: pd.DataFrame, rates: pd.DataFrame, floor: int) -> Iterator[Finding]:
    """What a choice of the paper's rule leaves linkable: it asks for nearer predictions alone."""
    smallest = of(here, "smallest_combination")
    known = {"original": rates[rates.sanitizer == "Identity"]}
    known |= {"who share the rarest combination of quasi-identifiers": smallest}
    known = {name: Finding.of(rows.iloc[0]).number for name, rows in known.items() if len(rows)}
    note = "The rule does not ask for that, and is no recommendation."
    if not (smallest.value.fillna(smallest.low) >= floor).all():
        note = f"That is below the floor of {floor} people: it is not recommended, whatever the rule says."
    for _, each in of(here, "reidentification_rate").iterrows():
        subject = f"With {name}, the rule's choice, a neighbour finds the row of"
        yield Finding.of(each, subject, guess="a row at random", beside=known, setting="", note=note)


def _chosen(feared: str, first: pd.DataFrame, others: pd.DataFrame) -> Iterator[Finding]:
    """One scenario: the choice by the worst miner, by which other criteria it stays, and how far the others lie.

    `first`: by criterion, what that chooses most often.
    """
    row = first.loc[WORST]
    away: dict[str, list[str]] = {}
    for each in first.drop(WORST).itertuples():
        away.setdefault(setting_name(each), []).append(each.criterion)
    pick = setting_name(row)
    agree = len(away.pop(pick, []))
    known, few = others.dropna(subset="value"), others[others.value.isna()]
    alone = len(known) > 0 and known.low.isna().all()  # a withheld margin has no interval either
    tied = known.low.fillna(known.value) <= ROUNDING  # one seed has no interval
    stands_by = {"other criteria that choose the same": f"{agree} of {len(first) - 1}"} if len(first) > 1 else {}
    stands_by |= {f"{choice} instead": f"by {listed(criteria)}" for choice, criteria in away.items()}
    for said, rows in {"not distinguishable from it": known[tied], "withheld, as few people are hit": few}.items():
        stands_by |= {said: settings(rows)} if len(rows) else {}
    note = "One seed: other noise and order may lead elsewhere." if alone else ""
    yield Finding(
        f"Scenario {feared}: by the worst miner the paper's rule chooses {pick}, in",
        1 if alone else row.value,
        format="one seed" if alone else "{:.0%} of the seeds",
        beside=stands_by,
        note=note if len(others) else "No other sanitizer keeps enough good utility.",
    )
    # It counts people, but in scenario W, where the owner may have weighted them.
    subject, format = "more people for whom the worst miner comes nearer", "{:,.0f} people"
    if feared == "W":
        subject, format = "more by the owner's weights for the worst miner", "{:,.1f}"
    for _, best in known[~tied].nsmallest(1, "value").iterrows():
        yield Finding.of(best, f"Scenario {feared}: {subject}, at least", format=format)
