"""The decision in one look, from the results of a report: which release, why, lines of risk and of utility.

Long, since what a line is about, and of which rows its numbers are, stand side by side.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd

from privnb.decision.by_policy import how_bad
from privnb.decision.points import ORIGINAL
from privnb.evaluation.results import KEY, MADE, SETTING, Results, as_shares, over_seeds, row, setting_name, tidy, whose
from privnb.measures.base import facts, state
from privnb.runtime import expect
from privnb.runtime.validation import validated
from privnb.sanitizers.catalogue import references

state(
    "reservations",
    sentence="How many sentences of its card stand against a release although it keeps the policy.",
    format="{:,}",
    bounds=(0, np.inf),
)
Number = tuple[float, float, float]  # value, low, high
Choices = Annotated[
    pd.DataFrame,
    lambda name, value: expect.table(name, value, ["setting", *SETTING], "`decision.choices` gives one."),
]
NONE = "none"  # how results name the release where none is recommended

state(
    "recommended",
    sentence="The release that the owner's policy leads to; why stands beside it.",
    format="{:,}",
    bounds=(0, 1),
)


@dataclass(frozen=True)
class Line:
    """One risk or utility in words: of the original, of the recommended release, and without any attack or release.

    Parameters
    ----------
    kind : str
        "risk" or "utility".
    title : str
        What a person calls it.
    format : str
        How a number is written, with its unit, see `numerals`; empty where nothing was measured.
    better : str
        "lower" or "higher".
    original, release, baseline : tuple of float, optional
        (value, low, high), of which the latter two are NaN where the number is exact; a withheld one has a NaN value,
        and bounds if these may be shown. None: not measured.
    """

    kind: str
    title: str
    format: str
    better: str
    original: Number | None = None
    release: Number | None = None
    baseline: Number | None = None


@dataclass(frozen=True)
class Summary:
    """Which release is recommended, and what it gives away and keeps beside the original.

    Parameters
    ----------
    setting : str
        The release in words; empty where none is recommended, and the lines are of the original alone.
    reason : str
        Why, or what would have to be accepted.
    lines : tuple of Line
    reserved : int
        How many sentences of its card stand against it although it keeps the policy, from 0.
    """

    setting: str
    reason: str
    lines: tuple[Line, ...]
    reserved: int = 0


# Risk or utility, what a person calls it, and the measures that say so, of which the first that is there counts.
QUESTIONS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("risk", "singled out", ("alone",)),
    ("risk", "identity: found by a neighbour", ("reidentification_rate",)),
    ("risk", "attribute: sensitive value guessed beyond others' records", ("attribute_risk",)),
    ("risk", "sensitive value guessed, worst-off person", ("largest_posterior",)),
    ("risk", "worst miner nearer than what is published", ("anti_utility",)),
    ("risk", "linkability: two parts linked", ("linkability_risk",)),
    ("risk", "membership: known for a member", ("membership_risk",)),
    ("utility", "detail lost", ("certainty_penalty",)),
    ("utility", "error about large groups", ("utility_loss", "median_relative_error")),
    ("utility", "honest user's miner guesses right", ("workload_utility",)),
)
# Of a release whose cells need not be true nothing says how much detail it lost; the first of these that is there does.
CHANGED = (("categories changed", "change_rate"), ("numbers moved", "mean_absolute_error"))
READ = [*(name for *_, names in QUESTIONS for name in names), *(name for _, name in CHANGED)]
# What a line is called of which numbers hold what others' records give, too.
WHOLE = {"attribute_risk": "attribute: sensitive value guessed; baseline: from others' records"}


@validated
def recommendation(results: Results, table: Choices, why: str, note: str = "") -> pd.DataFrame:
    """What `choices` recommends, as a row of results, so that a report knows the decision.

    Parameters
    ----------
    results : DataFrame
        Tidy results of the releases that were compared.
    table : DataFrame
        Of `choices`.
    why : str
        Of `reason`.
    note : str
        Whole sentences on what else the release publishes.

    Returns
    -------
    DataFrame
        One row `recommended`: its sanitizer, and why in `reason`. Where no release may be published the sanitizer is
        "none", the status "not possible", and the reason says what would have to be relaxed.
    """
    first, dataset = table.iloc[0], results.dataset.iloc[0]
    why = f"{why[:1].upper()}{why[1:].rstrip('.')}. Measured on {whose(results)}. {note}".strip()
    if first.setting == NONE:
        found = row("recommended", np.nan, dataset=dataset, sanitizer=NONE, status="not possible", reason=why)
        return tidy([found])
    of_it = results[(results.sanitizer == first.sanitizer) & (results.parameters == first.parameters)].iloc[0]
    return tidy([row("recommended", 1, **of_it[MADE].drop("seed"), seed=np.nan, reason=why)])


@validated
def reservations(card: dict[str, Any], results: Results) -> pd.DataFrame:
    """How many sentences of a card stand against its release, as a row of results, so that a report knows.

    Parameters
    ----------
    card : dict
        The content of a card.
    results : DataFrame
        Tidy results of its release.

    Returns
    -------
    DataFrame
        One row `reservations`, with the sentences in `reason`.
    """
    said = card["answer"]["reservations"]
    of_it = results.iloc[0][MADE].drop("seed")
    return tidy([row("reservations", len(said), **of_it, seed=np.nan, reason=" ".join(said))])


@validated
def summary(results: Results) -> Summary | None:
    """The decision of a report in one look: a `Summary` of all its results, or None where no decision was made."""
    decided = results[results.measure == "recommended"]
    if decided.empty:
        return None
    chosen = decided.iloc[0]
    rows = results[(results.dataset == chosen.dataset) & results.measure.isin(READ)]
    rows = as_shares(over_seeds(rows.drop_duplicates(KEY)))  # notebooks may ask for the same number
    of_it = rows[(rows[SETTING] == (chosen[SETTING] if chosen.sanitizer != NONE else [ORIGINAL, ""])).all(axis=1)]
    rows, guessed = _as_on_the_card(rows, of_it)
    ends = rows[rows.sanitizer.isin(references())]
    sides = {
        "original": rows[rows.sanitizer == ORIGINAL],
        "release": rows[(rows.sanitizer == chosen.sanitizer) & (rows.parameters == chosen.parameters)],
        "without": ends[(ends.sanitizer != ORIGINAL) & (ends.parameters == "")],
    }
    others = results[(results.dataset == chosen.dataset) & (results.measure == "guessed_without_them")]
    others = others[others.target == guessed.get("attribute_risk", "")].value.dropna()
    without, beside = {"attribute_risk": others.iloc[0]} if len(others) else {}, {}
    if results[results.measure == "attribute_risk"].target.nunique() > 1:
        beside = {measure: f" ({target})" for measure, target in guessed.items()}
    lines = tuple(_line(*question, sides, beside, without) for question in QUESTIONS)
    if chosen.sanitizer == NONE:
        return Summary("", chosen.reason, lines)
    reserved = results[results.measure == "reservations"]
    reserved = reserved[(reserved[SETTING] == chosen[SETTING]).all(axis=1)]
    return Summary(setting_name(chosen), chosen.reason, lines, int(reserved.value.max()) if len(reserved) else 0)


def _as_on_the_card(rows: pd.DataFrame, of_it: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """The rows with the surest guess as a card has it, of people: of records it may be another number; of several
    sensitive attributes with those alone that are worst in the release `of_it`. And which these are, by measure.
    """
    attribute = rows.measure == "attribute_risk"
    mean, surest = (
        _of_the_worst(rows[attribute & (rows.variant == variant)], of_it[of_it.variant == variant])
        for variant in ("", "largest")
    )
    surest = surest.assign(measure="largest_posterior", variant="", of=np.nan)
    others = rows[~attribute & ((rows.measure != "largest_posterior") | surest.empty)]
    guessed = {each.measure.iloc[0]: each.target.iloc[0] for each in (mean, surest) if len(each)}
    return pd.concat([others, mean, surest], ignore_index=True), guessed


def _of_the_worst(rows: pd.DataFrame, of_it: pd.DataFrame) -> pd.DataFrame:
    """Of attribute risks those of the sensitive attribute that is worst in a release."""
    of_it = of_it[(of_it.measure == "attribute_risk") & (of_it.group == "") & (of_it.control == "")]
    worst = max(of_it.itertuples(), key=lambda row: how_bad(row.value, row.high, row.baseline), default=None)
    return rows if worst is None else rows[rows.target == worst.target]


def _line(
    kind: str,
    title: str,
    measures: Sequence[str],
    sides: Mapping[str, pd.DataFrame],
    beside: Mapping[str, str],
    without: Mapping[str, float],
) -> Line:
    """`beside`: what is added to the title of a measure. `without`: of one that counts what is more than a share, that
    share, which the line's numbers then have in them, and its baseline is.
    """
    if measures == ("certainty_penalty",):
        for other, name in CHANGED:
            for changed in _numbers(_of(sides["release"], name)):
                return Line(kind, other, facts(name).format, "lower", (0.0, np.nan, np.nan), changed)
    there = [measure for measure in measures if (sides["original"].measure == measure).any()]
    if not there:
        return Line(kind, title, "", "lower" if kind == "risk" else "higher")
    name = there[0]
    stated, found = facts(name), {side: _of(rows, name) for side, rows in sides.items()}
    baseline = _baseline(name, sides["release"] if len(found["release"]) else sides["original"], found["without"])
    numbers: dict[str, Any] = {side: next(_numbers(found[side]), None) for side in ("original", "release")}
    if name in without:
        title, share = WHOLE[name], without[name]
        numbers = {side: number and tuple(share + each for each in number) for side, number in numbers.items()}
        baseline = (share, np.nan, np.nan)
    format = "{:%} of people" if found["original"].of.notna().any() else stated.format
    return Line(kind, title + beside.get(name, ""), format, stated.better, **numbers, baseline=baseline)


def _of(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """The rows of a measure that a line shows: of miners the worst, of scenarios the first."""
    rows = rows[(rows.measure == measure) & (rows.variant == "") & (rows.control == "") & (rows.miner_set == "")]
    rows = rows[(rows.group == "") & rows.scenario.isin(["", "A"])]
    worst = rows[rows.miner.isin(["", "worst"])]
    return (worst if len(worst) else rows).head(1)


def _numbers(rows: pd.DataFrame) -> Iterator[Number]:
    return rows[["value", "low", "high"]].astype(float).itertuples(index=False, name=None)


def _baseline(name: str, rows: pd.DataFrame, without: pd.DataFrame) -> Number | None:
    """What is reached without the release: of the worst miner what the strongest control reaches, which needs none."""
    if name == "certainty_penalty":  # the release without quasi-identifiers is its baseline
        return next(_numbers(without), None)
    base = _of(rows, name).baseline
    reached = [(float(each), np.nan, np.nan) for each in base.dropna()]
    controls = rows[(rows.measure == name) & (rows.scenario == "A") & (rows.variant == "")]
    controls = controls[controls.control.isin(["ZeroR", "permuted"]) & controls.value.notna()]
    reached += _numbers(controls)
    if reached or base.empty:
        return max(reached, default=None)
    return (np.nan, np.nan, np.nan)  # withheld
