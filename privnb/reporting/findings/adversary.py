"""What adversaries gain, how much of it needs no attack, and what mined predictions add to it."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from privnb.evaluation.results import SETTING, Results, measured, over_seeds, setting_name
from privnb.measures.intervals import t_interval
from privnb.reporting.findings.base import Finding, Part, of_results
from privnb.reporting.findings.rows import capitalized, of, same_release, sanitized
from privnb.runtime import numerals
from privnb.runtime.sentences import B
from privnb.runtime.tolerances import ROUNDING

GUESS = "the guess without the release"
CONTROLS = {"ZeroR": "one answer for everybody (ZeroR)", "permuted": "its guesses permuted at random"}
SHORT = {GUESS: "guess", CONTROLS["ZeroR"]: "ZeroR", CONTROLS["permuted"]: "shuffled guesses"}
CHANCE = 1 / 40  # of comparisons lie by chance above all draws
READINGS = {
    "with predictions": "Predictions in the first record of each distinct row",
    "with all predictions": "Predictions for all people",
}


@of_results(otherwise="No release was attacked.")
def adversary_gains(results: Results) -> Iterator[Part]:
    """Nearer predictions and correct links; per kind of sanitizer what is left beyond what needs no attack.

    `results`: of `users_and_adversaries.adversaries` and of `evaluation.linked`.
    """
    runs = of(results, "anti_utility", scenario="A", variant="")
    rows = over_seeds(runs)
    worst = main_set(rows, "worst").groupby("sanitizer", sort=False)
    # Beyond the guess: where that reaches most people, a miner may still gain least.
    beyond = [(part.value.fillna(part.high) - part.baseline.fillna(0)).fillna(-np.inf) for _, part in worst]
    tops = [rows.loc[each.idxmax()] for each in beyond]
    beside = [_strongest(top, same_release(rows, top)) for top in tops]
    yield _answer([*zip(tops, beside, strict=True)], over_seeds(of(results, "reidentification_rate")))
    yield [found for top in tops for found in _beyond_controls(top, same_release(rows, top), same_release(runs, top))]


def main_set(rows: pd.DataFrame, miner: str = "", control: str = "") -> pd.DataFrame:
    """The rows of one miner, or control, of the main set."""
    return rows[(rows.miner_set == "") & (rows.miner == miner) & (rows.control == control)]


def beyond_controls(nearer: pd.DataFrame) -> pd.DataFrame:
    """By how much the worst miner gets beyond what needs no attack: a row per setting, `strongest` and `beyond`.

    `nearer`: rows of one scenario over seeds. A setting is left out where the worst miner's number is withheld, and a
    control that is withheld anywhere.
    """
    worst, controls = _controls(nearer, SETTING)
    known, wide = worst[worst.value.notna()], pd.DataFrame(controls).dropna(axis=1)
    if wide.empty or known.empty:
        return known.assign(strongest="", beyond=0.0).iloc[:0]
    wide = wide.reindex(known.index)
    return known.assign(strongest=wide.idxmax(axis=1), beyond=known.value - wide.max(axis=1))


def _controls(rows: pd.DataFrame, keys: str | list[str]) -> tuple[pd.DataFrame, dict[str, pd.Series]]:
    """The worst miner's rows by `keys`, and the numbers that it stands beside: `{what needs no attack: Series}`."""
    worst = main_set(rows, "worst").set_index(keys)
    drawn = {said: main_set(rows, control=name).set_index(keys).value for name, said in CONTROLS.items()}
    return worst, {GUESS: worst.baseline} | {said: each for said, each in drawn.items() if len(each)}


def _strongest(top: Any, here: pd.DataFrame) -> tuple[str, float]:
    """What needs no attack and reaches most people of a setting: its short name and how many; the guess where no
    control is known."""
    beyond = beyond_controls(here)
    if beyond.empty:
        return "guess", top.baseline
    return SHORT[beyond.strongest.iloc[0]], top.value - beyond.beyond.iloc[0]


def _answer(tops: Sequence[tuple[Any, tuple[str, float]]], links: pd.DataFrame) -> str:
    """Where the worst miner gains most beyond what needs no attack, of what is not withheld, and where a neighbour
    finds most people. `tops`: each setting's row, and what is the strongest control there."""
    said, setting = [], ""
    gains = [(pd.notna(row.value), row.value - np.nan_to_num(most)) for row, (_, most) in tops]
    for _, (row, (name, most)) in sorted(zip(gains, tops, strict=True), key=lambda each: each[0])[-1:]:
        beside = {name: "withheld"} if pd.isna(most) else {}
        found = Finding.of(pd.Series({**row, "baseline": most}), guess=name, beside=beside)
        setting = found.setting
        said.append(f"one miner nears the {row.target} of {found.text} under {setting}")
    for _, row in sanitized(links).dropna(subset="value").nlargest(1, "value").iterrows():
        found = Finding.of(row, guess="chance")
        there = "there" if found.setting == setting else f"under {found.setting}"
        said.append(f"a neighbour finds {found.text} {there}")
    return capitalized(f"{'; '.join(said)}.") if said else ""


def _beyond_controls(top: Any, here: pd.DataFrame, runs: pd.DataFrame) -> Iterator[Finding]:
    """One setting: what the worst miner reaches beyond what needs no attack, and by a person's own row."""
    beyond = beyond_controls(here)
    if beyond.empty:
        return
    strongest, (worst, controls) = beyond.strongest.iloc[0], _controls(runs, "seed")
    left = worst.value - controls[strongest]
    yield _difference(top, f"The worst miner beyond {strongest}", left, "That is no more than needs no attack at all.")
    held_out = main_set(runs, control="held-out").set_index("seed").value
    if len(held_out) and held_out.notna().all():
        unseen = f"what it reaches for people whose rows it did not see ({held_out.mean():,.0f})"
        otherwise = "There is no evidence that a person's own row helps."
        yield _difference(top, f"The worst miner beyond {unseen}", worst.value - held_out, otherwise)


def _difference(top: Any, subject: str, differences: pd.Series, otherwise: str) -> Finding:
    """By how many people two numbers differ, one difference per seed; `otherwise`: what is said unless it is more.

    No more differ than there are people, which Student's t does not know.
    One seed has no interval: its two numbers are of the same people, and how they go together is not in the results.
    Nor have several that are too much alike, see `t_interval`.
    """
    most = np.nan_to_num(top.of, nan=np.inf)
    (low, high), n = np.clip(t_interval(differences.tolist()), -most, most), len(differences)
    more, notes = low > 0, []
    if pd.isna(low):
        notes = [f"{'One seed does' if n == 1 else f'{n} seeds so alike do'} not tell how sure that is."]
        more = differences.min() > 0
    note = " ".join(notes if more else [*notes, otherwise])
    return Finding(subject, differences.mean(), low, high, "{:+,.0f} people", setting_name(top), note=note)


def subgroups(rows: pd.DataFrame) -> Finding | str:
    """The two groups that the worst miner hits most differently, of those whose 95% intervals lie apart: a `Finding`,
    or a text where there are none.

    `rows`: of measure `nearer_share`, one per group and release. A withheld group stands at its upper bound.
    """
    rows = rows.assign(at=rows.value.fillna(rows.high))
    pairs = rows.dropna(subset="value").merge(rows.dropna(subset="at"), on=SETTING, suffixes=("", "_less"))
    pairs = pairs[pairs.low > pairs.high_less]
    if pairs.empty:
        return "No group is hit clearly more than another: all 95% intervals overlap."
    pair = pairs.loc[(pairs.value - pairs.at_less).idxmax()]
    less = f"{'' if pd.notna(pair.value_less) else 'at most '}{numerals.bare('{:%}', pair.at_less)}"
    subject = f"An average hides who is hit: of {pair.group}"
    return Finding.of(pair, subject, beside={f"of {pair.group_less}": less}, format="{:.1%}")


@of_results(otherwise="No predictions were put into a release beside a control: there is no increase to speak of.")
def mined_predictions(results: Results) -> Iterator[Part]:
    """Whether the worst miner's predictions add more to the adversary's gains than as many random labels do."""
    gains = measured(results[results.measure.isin(["accuracy_gain", "knowledge_gain"])])
    for variant, subject in READINGS.items():
        rows = gains[gains.variant == variant]
        mined, drawn = rows[rows.control == ""], rows[rows.control != ""]
        both = mined.merge(drawn, on=[*SETTING, "seed", "measure", "miner_set", "target"], suffixes=("", "_drawn"))
        both = both.dropna(subset=["value", "low_drawn", "high_drawn"])
        if len(both):
            above, below = both.value > both.high_drawn + ROUNDING, both.value < both.low_drawn - ROUNDING
            beside = {"by chance": f"{len(both) * CHANCE:.2g}", "below all draws": f"{below.sum()}"}
            subject = f"{subject} raise a gain beyond all draws of random labels in"
            yield Finding.count(subject, above, "comparisons", beside=beside, note=_verdict(above.mean()))


def _verdict(above: Any) -> str:
    """Whether predictions do more than random labels: in most comparisons, not in a few.

    Comparisons share releases and miners, so how many of them chance may put above all draws is not known, only that
    one in forty is on average.
    """
    if above > 1 / 2:
        return f"{B}The predictions do more than random labels.{B}"
    if above > CHANCE:
        return "The comparisons are not independent: too few to conclude that predictions beat random labels."
    return "No more than by chance: the increase is no evidence of an attack."
