"""Which sanitizer an owner would choose, by what honest users keep and what adversaries gain, and how firmly."""

import numpy as np

from privnb.measures.base import t_interval
from privnb.results import COLUMNS, tidy

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
    if not 0 <= min_good <= 1:
        raise ValueError(f"MIN_GOOD is the share of good utility to keep, 0..1, got {min_good!r}.")
    decline = kept[(kept.measure == "utility_decline") & (kept.miner == "worst")].groupby(SETTING).value.mean()
    enough = decline[decline <= 1 - min_good + 1e-12].sort_values(kind="stable")
    rows = []
    for scenario in _scenarios(scenarios, attacked):
        for criterion, values in _criteria(attacked[_scenario_of(attacked) == scenario]).items():
            values = values[[setting for setting in enough.index if setting in values]]  # cheapest first
            if values.empty:
                continue
            picked = values.idxmin(axis=1).value_counts(normalize=True)
            rows += [_row(kept, setting, f"chosen_{scenario}", criterion, share) for setting, share in picked.items()]
            if criterion == "worst":
                more = values.drop(columns=[picked.index[0]]).sub(values[picked.index[0]], axis=0)
                rows += [
                    _row(
                        kept,
                        setting,
                        f"more_than_chosen_{scenario}",
                        criterion,
                        more[setting].mean(),
                        *t_interval(more[setting]),
                    )
                    for setting in more
                ]
    return tidy(rows)


def _scenarios(text, attacked):
    there = set(_scenario_of(attacked).dropna())
    asked = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    unknown = [name for name in asked if name not in there]
    if unknown or not asked:
        raise ValueError(f"SCENARIO names some of {', '.join(sorted(there))}, got {text!r}.")
    return asked


def _scenario_of(attacked):
    return attacked.measure.str.extract("^(?:weighted_)?anti_utility_(.*)$", expand=False)


def _criteria(rows):
    """`{criterion: frame of anti-utilities, one row a seed and one column a setting}`."""
    rows = rows.assign(value=rows.value.fillna(rows.high), baseline=rows.baseline.fillna(0))
    rows = rows[
        rows.miner.str.endswith(("worst", "average", "worst by person")) | rows.miner.str.contains("fusion: |by chance")
    ]
    wide = {
        miner: part.pivot_table(index="seed", columns=SETTING, values="value", sort=False).dropna()
        for miner, part in rows.groupby("miner", sort=False)
    }
    guess = rows[rows.miner == "worst"].pivot_table(index="seed", columns=SETTING, values="baseline", sort=False)
    less = {"worst less the guess": guess, "worst less chance": wide.get("control: by chance")}
    wide = {name: values for name, values in wide.items() if "control" not in name}
    # A single miner has no controls.
    return wide | {
        name: (wide["worst"] - control).dropna().clip(lower=0) for name, control in less.items() if control is not None
    }


def _row(kept, setting, measure, criterion, value, low=np.nan, high=np.nan):
    dataset, target = kept.dataset.iloc[0], ""
    return dict(
        zip(
            COLUMNS,
            (dataset, *setting, np.nan, measure, criterion, target, value, low, high, np.nan, "lower"),
            strict=True,
        )
    )
