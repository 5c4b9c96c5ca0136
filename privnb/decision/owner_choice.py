"""Which sanitizer an owner chooses by the rule of Sramka et al.: by what honest users keep and what adversaries gain,
and how firmly. It asks for nearer predictions alone; `decision.choices` recommends.
"""

from collections.abc import Iterable, Set
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from privnb.evaluation.results import SETTING, SUMMARIES, Results, measured, row, tidy
from privnb.measures.base import state
from privnb.measures.intervals import t_interval
from privnb.measures.utility.mining import interest_of
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import EXACT
from privnb.runtime.validation import validated

SCENARIOS = {"A", "A_distinct", "B", "C", "C_distinct"}  # that every adversary has
CRITERION = ("miner_set", "miner", "control")  # whose anti-utility is compared, and what is taken off it
Criterion = tuple[str, str, str]
Release = tuple[str, str]
WORST = ("", "worst", "")  # the paper's own criterion
GUESS, PERMUTED = "guess", "permuted"  # what a criterion may take off


state(
    "chosen",
    better="lower",
    title="Chosen",
    sentence="Share of the seeds in which a sanitizer is the owner's choice.",
    format="{:%} of the seeds",
)
state(
    "excess_over_choice",
    better="lower",
    sentence="For how many more people the worst miner comes nearer than under the owner's choice.",
    unit="people",
)


@validated
def chosen(kept: Results, attacked: Results, *, min_good: Any = 0.95, scenarios: str = "A, B, C") -> pd.DataFrame:
    """Of the sanitizers that keep enough good utility, the one that gives adversaries least, by several criteria.

    A criterion is a row of `attacked`: the worst miner of a set, the average, a fusion, each person's own worst miner;
    or, with a `control`, the people that the worst miner gains beyond it: beyond the "guess" without the release, or
    beyond its guesses dealt at random ("permuted"), 0 where there are none. Of equal sanitizers the one with the
    smaller decline is chosen; a withheld count stands at its upper bound.

    Parameters
    ----------
    kept : DataFrame
        Rows `utility_decline` of `users_and_adversaries.users`.
    attacked : DataFrame
        Rows of `users_and_adversaries.adversaries`.
    min_good : float
        Enough is a largest decline, averaged over seeds, of at most 1 - `min_good` (0 to 1); a decline that is withheld
        may be any.
    scenarios : str
        Those to choose by, separated by commas, such as "A, C_distinct".

    Returns
    -------
    DataFrame
        Rows `chosen`, by `scenario`, `miner_set`, `miner` and `control`: the share of the seeds in which it is this
        sanitizer; and `excess_over_choice`: for how many more people the worst miner comes nearer under each other
        acceptable sanitizer than under the one chosen most often, the mean over seeds with a 95% interval, paired by
        seed. No rows where no sanitizer is acceptable.
    """
    attacked = measured(attacked[attacked.measure == "anti_utility"])
    attacked = attacked.assign(feared=attacked.scenario + np.where(attacked.variant == "distinct", "_distinct", ""))
    there = set(attacked.feared[(attacked[list(CRITERION)] == list(WORST)).all(axis=1)])
    if not there:
        raise UsageError(
            "attacked has no anti-utility of a worst miner. Give the results of `users_and_adversaries.adversaries`."
        )
    asked = check(scenarios, min_good, there=there)
    decline = kept[(kept.measure == "utility_decline") & (kept.miner == "worst") & (kept.miner_set == "")]
    decline = decline.groupby(SETTING).value.mean(skipna=False)
    enough = decline[decline <= 1 - min_good + EXACT].sort_values(kind="stable")
    stated = [*SETTING, "dataset", "parameter", "bound", "randomized"]
    releases = kept.drop_duplicates(SETTING).set_index(SETTING, drop=False)[stated]
    rows = []
    for feared in asked:
        of_it = attacked[attacked.feared == feared]
        scenario, distinct = of_it.scenario.iloc[0], of_it.variant.iloc[0] == "distinct"
        case: dict[str, Any] = {"scenario": scenario, "variant": "distinct" if distinct else "", "seed": np.nan}
        for criterion, (values, shown) in _criteria(of_it, enough.index).items():
            made: Any = partial(row, **case | dict(zip(CRITERION, criterion, strict=True)))
            picked = values.idxmin(axis=1).value_counts(normalize=True)
            rows += [made("chosen", share, **releases.loc[setting]) for setting, share in picked.items()]
            if criterion != WORST:
                continue
            more = shown.sub(shown[picked.index[0]], axis=0).drop(columns=[picked.index[0]])
            for setting in more:
                known = more[setting].notna().all()
                # No more differ than there are people, or than they weigh: Student's t does not know that.
                most = np.nan_to_num(of_it.of.max(), nan=np.inf)
                bounds = np.clip(t_interval(more[setting]), -most, most) if known else (np.nan, np.nan)
                mean = more[setting].mean(skipna=False)
                rows.append(made("excess_over_choice", mean, interval=bounds, **releases.loc[setting]))
    return tidy(rows)


@validated
def check(scenarios: str, min_good: Any, *, weights: str = "", there: Set[str] | None = None) -> list[str]:
    """The names of the scenarios asked for, in their order. Before an hour of mining, for what comes after it.

    Parameters
    ----------
    scenarios, min_good
        As of `chosen`.
    weights : str
        Interest weights, as `mining.interest_of` reads them; empty: no scenario W.
    there : set of str, optional
        Those to choose from; None: those that the adversary has with these weights.

    Returns
    -------
    list of str

    Raises
    ------
    ValueError
        For another name, for a `min_good` that is no share, and for weights that `mining.interest_of` cannot read.
    """
    if weights:
        interest_of(weights)
    if not (expect.is_number(min_good) and 0 <= min_good <= 1):
        raise UsageError(f"MIN_GOOD is the share of good utility to keep, 0..1, got {expect.found(min_good)}.")
    there = SCENARIOS | ({"W"} if weights else set()) if there is None else there
    asked = list(dict.fromkeys(part.strip() for part in scenarios.split(",") if part.strip()))
    if not asked or not there >= {*asked}:
        raise UsageError(f"SCENARIO names some of {', '.join(sorted(there))}, got {scenarios!r}.")
    return asked


def _criteria(rows: pd.DataFrame, settings: Iterable[Release]) -> dict[Criterion, tuple[pd.DataFrame, pd.DataFrame]]:
    """`{criterion: (anti-utilities to compare, those that are shown)}`, frames with one row per seed and one
    column per setting; a criterion is (set of miners, miner, control).

    `settings`: the acceptable ones, cheapest first; those that were attacked are compared. A criterion is left out
    where one of their numbers is withheld without a bound.
    """
    rows = rows[(rows.miner.isin(SUMMARIES) & (rows.control == "")) | (rows.control == PERMUTED)]
    # Scenario W's bound of a withheld number is no more than that it is one.
    filled = rows.value if (rows.scenario == "W").any() else rows.value.fillna(rows.high)
    rows = rows.assign(compared=filled, guess=rows.baseline.fillna(0))
    parts = {key: part for key, part in rows.groupby([*CRITERION], sort=False)}
    wide = {
        key: (_wide(part, "compared", settings), _wide(part, "value", settings))
        for key, part in parts.items()
        if key[2] == ""
    }
    controls = {GUESS: _wide(parts[WORST], "guess", settings)}
    if ("", "", PERMUTED) in parts:  # one of Weka's miners has none
        controls[PERMUTED] = _wide(parts["", "", PERMUTED], "compared", settings)
    for control, numbers in controls.items():
        beyond = (wide[WORST][0] - numbers).dropna(how="all").clip(lower=0)
        wide["", "worst", control] = beyond, beyond
    return {key: both for key, both in wide.items() if both[0].size and both[0].notna().all(axis=None)}


def _wide(rows: pd.DataFrame, column: str, settings: Iterable[Release]) -> pd.DataFrame:
    wide = rows.set_index(["seed", *SETTING])[column].unstack(SETTING)
    return wide[[setting for setting in settings if setting in wide]]
