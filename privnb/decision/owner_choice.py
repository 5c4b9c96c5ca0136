"""The owner's choice of a sanitizer by the rule of Sramka et al., and how stable that choice is.

The rule compares the good utility of honest users with the anti-utility of adversaries, and counts only nearer
predictions. `decision.choose_by_losses` recommends a release by other measures.
"""

from collections.abc import Iterable, Set
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from privnb.evaluation.results import SETTING_COLUMNS, SUMMARIES, Results, build_row, select_measured, tidy
from privnb.measures.base import register_measure
from privnb.measures.intervals import t_interval
from privnb.measures.utility.mining import parse_interest
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import EXACT
from privnb.runtime.validation import validated

SCENARIOS = {"A", "A_distinct", "B", "C", "C_distinct"}  # those of every adversary
CRITERION = ("miner_set", "miner", "control")  # the miners whose anti-utility is compared, and the control to subtract
Criterion = tuple[str, str, str]
Release = tuple[str, str]
WORST = ("", "worst", "")  # the paper's own criterion
GUESS, PERMUTED = "guess", "permuted"  # the controls that a criterion may subtract


register_measure(
    "chosen",
    better="lower",
    title="Chosen",
    sentence="In this share of the seeds, the sanitizer is the owner's choice.",
    format="{:%} of the seeds",
)
register_measure(
    "excess_over_choice",
    better="lower",
    sentence="The worst miner comes nearer for this number of additional people, compared with the owner's choice.",
    unit="people",
)


@validated
def choose_by_criteria(
    kept: Results, attacked: Results, *, min_good: Any = 0.95, scenarios: str = "A, B, C"
) -> pd.DataFrame:
    """Choose, by several criteria, the sanitizer of least anti-utility among those that keep enough good utility.

    A criterion is a row of `attacked`: the worst miner of a set, the average, a fusion, or the worst miner of each
    person. With a `control`, the criterion is the number of people by which the worst miner exceeds that control, but
    at least 0. The control is the "guess" without the release, or the miner's own guesses assigned at random
    ("permuted"). If several sanitizers are equal, the one with the smallest decline is chosen. A withheld count is
    replaced by its upper bound.

    Parameters
    ----------
    kept : DataFrame
        Rows `utility_decline` of `users_and_adversaries.evaluate_users`.
    attacked : DataFrame
        Rows of `users_and_adversaries.evaluate_adversaries`.
    min_good : float
        The share of good utility to keep, from 0 to 1: the largest decline, averaged over seeds, must be at most 1 -
        `min_good`. A sanitizer whose decline is withheld does not keep enough good utility.
    scenarios : str
        The scenarios to choose by, separated by commas, such as "A, C_distinct".

    Returns
    -------
    DataFrame
        Rows `chosen`, by `scenario`, `miner_set`, `miner` and `control`, hold the share of the seeds in which this
        sanitizer is chosen. Rows `excess_over_choice` hold, for each other acceptable sanitizer, the number of
        additional people for whom the worst miner comes nearer to the truth than under the most frequent choice. This
        number is a mean over seeds with a 95% interval, paired by seed. There are no rows if no sanitizer is
        acceptable.
    """
    attacked = select_measured(attacked[attacked.measure == "anti_utility"])
    attacked = attacked.assign(feared=attacked.scenario + np.where(attacked.variant == "distinct", "_distinct", ""))
    there = set(attacked.feared[(attacked[list(CRITERION)] == list(WORST)).all(axis=1)])
    if not there:
        raise UsageError(
            "`attacked` must have the anti-utility of a worst miner; got results without this number. Give the results "
            "of `users_and_adversaries.evaluate_adversaries`."
        )
    asked = check_scenarios(scenarios, min_good, there=there)
    decline = kept[(kept.measure == "utility_decline") & (kept.miner == "worst") & (kept.miner_set == "")]
    decline = decline.groupby(SETTING_COLUMNS).value.mean(skipna=False)
    enough = decline[decline <= 1 - min_good + EXACT].sort_values(kind="stable")
    stated = [*SETTING_COLUMNS, "dataset", "parameter", "bound", "randomized"]
    releases = kept.drop_duplicates(SETTING_COLUMNS).set_index(SETTING_COLUMNS, drop=False)[stated]
    rows = []
    for feared in asked:
        of_it = attacked[attacked.feared == feared]
        scenario, distinct = of_it.scenario.iloc[0], of_it.variant.iloc[0] == "distinct"
        case: dict[str, Any] = {"scenario": scenario, "variant": "distinct" if distinct else "", "seed": np.nan}
        for criterion, (values, shown) in _criteria(of_it, enough.index).items():
            made: Any = partial(build_row, **case | dict(zip(CRITERION, criterion, strict=True)))
            picked = values.idxmin(axis=1).value_counts(normalize=True)
            rows += [made("chosen", share, **releases.loc[setting]) for setting, share in picked.items()]
            if criterion != WORST:
                continue
            more = shown.sub(shown[picked.index[0]], axis=0).drop(columns=[picked.index[0]])
            for setting in more:
                known = more[setting].notna().all()
                # The difference is at most the number (or the weight) of all people; Student's t may exceed that.
                most = np.nan_to_num(of_it.of.max(), nan=np.inf)
                bounds = np.clip(t_interval(more[setting]), -most, most) if known else (np.nan, np.nan)
                mean = more[setting].mean(skipna=False)
                rows.append(made("excess_over_choice", mean, interval=bounds, **releases.loc[setting]))
    return tidy(rows)


@validated
def check_scenarios(scenarios: str, min_good: Any, *, weights: str = "", there: Set[str] | None = None) -> list[str]:
    """Check the arguments of `choose_by_criteria` before any mining, and return the scenarios in the given order.

    Parameters
    ----------
    scenarios, min_good
        The arguments of `choose_by_criteria`.
    weights : str
        Interest weights, as `mining.parse_interest` reads them; if empty, there is no scenario W.
    there : set of str, optional
        The scenarios to choose from; if None, all scenarios of the adversary with these weights.

    Returns
    -------
    list of str

    Raises
    ------
    ValueError
        If a name is unknown, if `min_good` is not a share, or if `mining.parse_interest` cannot read the weights.
    """
    if weights:
        parse_interest(weights)
    if not (expect.is_number(min_good) and 0 <= min_good <= 1):
        raise UsageError(
            "MIN_GOOD must be the share of good utility to keep, from 0 to 1; "
            f"got {expect.describe_value(min_good)}. Give for example 0.95."
        )
    there = SCENARIOS | ({"W"} if weights else set()) if there is None else there
    asked = list(dict.fromkeys(part.strip() for part in scenarios.split(",") if part.strip()))
    if not asked or not there >= {*asked}:
        raise UsageError(f"SCENARIO must name one or more of {', '.join(sorted(there))}; got {scenarios!r}.")
    return asked


def _criteria(rows: pd.DataFrame, settings: Iterable[Release]) -> dict[Criterion, tuple[pd.DataFrame, pd.DataFrame]]:
    """Return, by criterion (set of miners, miner, control), the anti-utilities to compare and the ones to show.

    The anti-utilities are frames with one row per seed and one column per setting. `settings` are the acceptable
    settings in ascending order of their decline; only attacked settings are compared. A criterion is left out if one of
    its numbers is withheld without a bound.
    """
    rows = rows[(rows.miner.isin(SUMMARIES) & (rows.control == "")) | (rows.control == PERMUTED)]
    # In scenario W, the bound of a withheld number is not informative.
    filled = rows.value if (rows.scenario == "W").any() else rows.value.fillna(rows.high)
    rows = rows.assign(compared=filled, guess=rows.baseline.fillna(0))
    parts = {key: part for key, part in rows.groupby([*CRITERION], sort=False)}
    wide = {
        key: (_wide(part, "compared", settings), _wide(part, "value", settings))
        for key, part in parts.items()
        if key[2] == ""
    }
    controls = {GUESS: _wide(parts[WORST], "guess", settings)}
    if ("", "", PERMUTED) in parts:  # Weka's miners have no such control
        controls[PERMUTED] = _wide(parts["", "", PERMUTED], "compared", settings)
    for control, numbers in controls.items():
        beyond = (wide[WORST][0] - numbers).dropna(how="all").clip(lower=0)
        wide["", "worst", control] = beyond, beyond
    return {key: both for key, both in wide.items() if both[0].size and both[0].notna().all(axis=None)}


def _wide(rows: pd.DataFrame, column: str, settings: Iterable[Release]) -> pd.DataFrame:
    wide = rows.set_index(["seed", *SETTING_COLUMNS])[column].unstack(SETTING_COLUMNS)
    return wide[[setting for setting in settings if setting in wide]]
