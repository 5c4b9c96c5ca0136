"""Which sanitizer an owner would choose, by what honest users keep and what adversaries gain, and how firmly."""

import numpy as np

from privnb.evaluation.results import COLUMNS, check_results, tidy
from privnb.measures.base import t_interval
from privnb.measures.mining import interest_of
from privnb.microdata import expect

SCENARIOS = {"A", "A_distinct", "B", "C", "C_distinct"}  # that every adversary has
SETTING = ["sanitizer", "parameters"]


def chosen(kept, attacked, *, min_good=0.95, scenarios="A, B, C"):
    """Of the sanitizers that keep enough good utility, the one that gives adversaries least, by several criteria.

    `kept`: rows `utility_decline` of `experiments.users`; enough is a largest decline, averaged over seeds, of at most
    1 - `min_good` (0..1). `attacked`: rows of `experiments.adversaries`. A criterion is a row of these: the worst
    miner of a set, the average, a fusion, each person's own worst miner; or `worst less the guess` and `worst less
    chance`, the people beyond the guess without the release, and beyond the worst miner's guesses dealt at random,
    0 where there are none. Of equal sanitizers the one with the smaller decline is chosen; a withheld count stands at
    its upper bound.

    Rows `chosen_<scenario>`, miner: the criterion, value: the share of the seeds in which it is this sanitizer; and
    `more_than_chosen_<scenario>`: for how many more people the worst miner comes nearer under each other acceptable
    sanitizer than under the one chosen most often, the mean over seeds with a 95 % interval, paired by seed. No rows
    where no sanitizer is acceptable.
    """
    check_results("kept", kept)
    check_results("attacked", attacked)
    asked = check(scenarios, min_good, there=set(_scenario_of(attacked).dropna()))
    decline = kept[(kept.measure == "utility_decline") & (kept.miner == "worst")].groupby(SETTING).value.mean()
    enough = decline[decline <= 1 - min_good + 1e-12].sort_values(kind="stable")
    rows = []
    for scenario in asked:
        of_it = attacked[_scenario_of(attacked) == scenario]
        for criterion, (values, told) in _criteria(of_it, enough.index).items():
            picked = values.idxmin(axis=1).value_counts(normalize=True)
            rows += [_row(kept, setting, f"chosen_{scenario}", criterion, share) for setting, share in picked.items()]
            if criterion != "worst":
                continue
            more = told.sub(told[picked.index[0]], axis=0).drop(columns=[picked.index[0]])
            for setting in more:
                known = more[setting].notna().all()
                bounds = t_interval(more[setting]) if known else (np.nan, np.nan)
                mean = more[setting].mean(skipna=False)
                rows.append(_row(kept, setting, f"more_than_chosen_{scenario}", criterion, mean, *bounds))
    return tidy(rows)


def check(scenarios, min_good, *, weights="", there=None):
    """The names of the scenarios asked for, in their order. Before an hour of mining, for what comes after it.

    `there`: those to choose from; without them, those that the adversary has with these `weights`. Raises ValueError
    for another name, for a `min_good` that is no share, and for `weights` that `mining.interest_of` cannot read.
    """
    expect.kind("scenarios", scenarios, str)
    expect.kind("weights", weights, str)
    if there is not None:
        expect.kind("there", there, set, frozenset)
    if weights:
        interest_of(weights)
    if not (expect.is_number(min_good) and 0 <= min_good <= 1):
        raise ValueError(f"MIN_GOOD is the share of good utility to keep, 0..1, got {expect.found(min_good)}.")
    there = SCENARIOS | ({"W"} if weights else set()) if there is None else there
    asked = list(dict.fromkeys(part.strip() for part in scenarios.split(",") if part.strip()))
    if not asked or not there.issuperset(asked):
        raise ValueError(f"SCENARIO names some of {', '.join(sorted(there))}, got {scenarios!r}.")
    return asked


def _scenario_of(attacked):
    return attacked.measure.str.extract("^(?:weighted_)?anti_utility_(.*)$", expand=False)


def _criteria(rows, settings):
    """`{criterion: (anti-utilities to compare, those that are told)}`, frames with a row a seed and a column a setting.

    `settings`: the acceptable ones, cheapest first; those that were attacked are compared. A criterion is left out
    where one of their numbers is withheld without a bound.
    """
    rows = rows[
        rows.miner.str.endswith(("worst", "average", "worst by person")) | rows.miner.str.contains("fusion: |by chance")
    ]
    # Scenario W's bound of a withheld number is no more than that it is one.
    filled = rows.value if rows.measure.str.endswith("_W").any() else rows.value.fillna(rows.high)
    rows = rows.assign(compared=filled, guess=rows.baseline.fillna(0))
    wide = {
        miner: (_wide(part, "compared", settings), _wide(part, "value", settings))
        for miner, part in rows.groupby("miner", sort=False)
    }
    controls = {"worst less the guess": _wide(rows[rows.miner == "worst"], "guess", settings)}
    if "control: by chance" in wide:  # one of Weka's miners has none
        controls["worst less chance"] = wide["control: by chance"][0]
    wide = {name: both for name, both in wide.items() if "control" not in name}
    for name, control in controls.items():
        beyond = (wide["worst"][0] - control).dropna(how="all").clip(lower=0)
        wide[name] = beyond, beyond
    return {name: both for name, both in wide.items() if both[0].size and both[0].notna().all(axis=None)}


def _wide(rows, column, settings):
    wide = rows.set_index(["seed", *SETTING])[column].unstack(SETTING)
    return wide[[setting for setting in settings if setting in wide]]


def _row(kept, setting, measure, criterion, value, low=np.nan, high=np.nan):
    dataset, target = kept.dataset.iloc[0], ""
    return dict(
        zip(
            COLUMNS,
            (dataset, *setting, np.nan, measure, criterion, target, value, low, high, np.nan, "lower"),
            strict=True,
        )
    )
