"""What adversaries gain, and how much of it needs no attack."""

import numpy as np
import pandas as pd

from privnb.evaluation.results import SETTING, check_results, over_seeds
from privnb.measures.base import t_interval
from privnb.microdata import numerals
from privnb.reporting.findings.base import Finding, of_results
from privnb.reporting.findings.rows import by_sanitizer, capitalized, of, same_release, sanitized, setting_name

GUESS = "the guess without the release"
CONTROLS = {"ZeroR": "one answer for everybody (ZeroR)", "permuted": "its guesses permuted at random"}


@of_results(otherwise="No release was attacked.")
def adversary_gains(mined, links):
    """Nearer predictions and correct links; per kind of sanitizer what is left beyond what needs no attack.

    Parameters
    ----------
    mined : DataFrame
        Of `studies.adversaries`.
    links : DataFrame
        Of `evaluation.linked`.

    Returns
    -------
    Sentences
    """
    rows = of(over_seeds(mined), "anti_utility", scenario="A", variant="")
    tops = [part.loc[_beyond_guess(part).idxmax()] for part in by_sanitizer(main_set(rows, "worst"))]
    yield _answer([*_nearer(tops), *_linked(over_seeds(links))])
    yield [found for top in tops for found in _beyond_controls(top, same_release(rows, top), same_release(mined, top))]


def main_set(rows, miner="", control=""):
    """The rows of one miner, or control, of the main set."""
    return rows[(rows.miner_set == "") & (rows.miner == miner) & (rows.control == control)]


def beyond_controls(nearer):
    """By how much the worst miner gets beyond what needs no attack: a row per setting, `strongest` and `beyond`.

    `nearer`: rows of one scenario over seeds. A setting is left out where the worst miner's number is withheld, and a
    control that is withheld anywhere.
    """
    worst = main_set(nearer, "worst").set_index(SETTING)
    controls = {GUESS: worst.baseline}
    controls |= {said: main_set(nearer, control=name).set_index(SETTING).value for name, said in CONTROLS.items()}
    wide = pd.DataFrame({name: each for name, each in controls.items() if len(each)}).dropna(axis=1)
    known = worst[worst.value.notna()]
    if wide.empty or known.empty:
        return known.assign(strongest="", beyond=0.0).iloc[:0]
    wide = wide.reindex(known.index)
    return known.assign(strongest=wide.idxmax(axis=1), beyond=known.value - wide.max(axis=1))


def _beyond_guess(worst):
    """What the worst miner gains beyond the guess: where the guess reaches most people, it may still gain least."""
    return (worst.value.fillna(worst.high) - worst.baseline.fillna(0)).fillna(-np.inf)


def _answer(found):
    """What a miner and a neighbour reach at most, each in a setting that is named once."""
    settings = [each.setting for each in found]
    under = [f" under {name}" if name not in settings[:place] else " there" for place, name in enumerate(settings)]
    said = [f"{each.subject} {each.text}{where}" for each, where in zip(found, under, strict=True)]
    return capitalized(f"{'; '.join(said)}.") if said else ""


def _nearer(tops):
    """The setting where the worst miner gains most, of those that may be told."""
    for row in sorted(tops, key=lambda top: (pd.notna(top.value), top.value - np.nan_to_num(top.baseline)))[-1:]:
        subject, hidden = f"the worst miner approaches the true {row.target} of", {"guess": "withheld"}
        yield Finding.of(row, subject, guess="guess", beside=hidden if pd.isna(row.baseline) else {})


def _linked(links):
    """The setting where a neighbour finds most people."""
    for _, row in sanitized(links).dropna(subset="value").nlargest(1, "value").iterrows():
        yield Finding.of(row, "a neighbour finds", guess="chance")


def _beyond_controls(top, here, mined):
    """One setting: what the worst miner reaches beyond what needs no attack, and by a person's own row."""
    beyond, runs = beyond_controls(here), of(mined, "anti_utility", scenario="A", variant="")
    if beyond.empty:
        return
    worst, strongest = main_set(runs, "worst").set_index("seed"), beyond.strongest.iloc[0]
    by_seed = {said: main_set(runs, control=name).set_index("seed").value for name, said in CONTROLS.items()}
    left = worst.value - (by_seed | {GUESS: worst.baseline})[strongest]
    yield _difference(top, f"The worst miner beyond {strongest}", left, "That is no more than needs no attack at all.")
    held_out = main_set(runs, control="held-out").set_index("seed").value
    if len(held_out) and held_out.notna().all():
        subject = (
            f"The worst miner beyond what it reaches for people whose rows it did not see ({held_out.mean():,.0f})"
        )
        otherwise = "There is no evidence that a person's own row helps."
        yield _difference(top, subject, worst.value - held_out, otherwise)


def _difference(top, subject, differences, otherwise):
    """By how many people two numbers differ, one difference per seed; `otherwise`: what is said unless it is more.

    One seed has no interval: its two numbers are of the same people, and how they go together is not in the results.
    Nor have several that are too much alike, see `t_interval`.
    """
    (low, high), n = t_interval(differences.tolist()), len(differences)
    more, note = low > 0, ""
    if pd.isna(low):
        note = f"{'One seed does' if n == 1 else f'{n} seeds so alike do'} not tell how sure that is."
        more = differences.min() > 0
    note = note if more else f"{note} {otherwise}".strip()
    return Finding(subject, differences.mean(), low, high, "{:+,.0f} people", setting_name(top), note=note)


def subgroups(rows):
    """The two groups that the worst miner hits most differently, of those whose 95 % intervals lie apart: a `Finding`,
    or a text where there are none.

    `rows`: of measure `nearer_share`, one per group and release. A withheld group stands at its upper bound.
    """
    check_results("rows", rows)
    if rows.value.isna().all():
        return ""
    rows = rows.assign(at=rows.value.fillna(rows.high))
    pairs = rows.dropna(subset="value").merge(rows.dropna(subset="at"), on=SETTING, suffixes=("", "_less"))
    pairs = pairs[pairs.low > pairs.high_less]
    if pairs.empty:
        return "No group is hit clearly more than another: all 95% intervals overlap."
    pair = pairs.loc[(pairs.value - pairs.at_less).idxmax()]
    less = f"{'' if pd.notna(pair.value_less) else 'at most '}{numerals.bare('{:%}', pair.at_less)}"
    subject = f"An average hides who is hit: of {pair.group}"
    return Finding.of(pair, subject, beside={f"of {pair.group_less}": less}, format="{:.1%}")
