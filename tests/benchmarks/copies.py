"""How often the 95% interval of `copied_share` covers the share of copies that were hidden in synthetic rows.

Half of a sample of Adult is the table, and the other half the hold-out. A synthesizer makes as many rows as there are
records, and copies of random records replace a share of the rows. The synthesizers are draws of each column on its own,
and `MultipleImputation`, which learns the joint distribution.

    python tests/benchmarks/copies.py --people 3000 --seeds 20

Of 20 intervals for columns drawn on their own, 18, 18, 20 and 20 cover the hidden share of 0, 1, 5 and 20%. The rows of
`MultipleImputation` repeat records beyond chance without any hidden copy (an estimated 8.0%, and 26% with 20% of
copies), because imputed values come from records. The estimate therefore counts what the synthesizer itself repeats.
"""

import argparse

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset, load
from privnb.measures.disclosure.memorization import estimate_copied_share
from privnb.microdata.counts import count_combinations
from privnb.sanitizers import MultipleImputation

SHARES = (0, 0.01, 0.05, 0.2)


def draw_columns(members: Dataset, seed: int) -> pd.DataFrame:
    """Return rows whose columns are drawn independently of each other."""
    rng = np.random.default_rng(seed)
    names = members.schema.published
    return pd.DataFrame({name: rng.choice(members.table[name].to_numpy(), len(members)) for name in names})


def impute(members: Dataset, seed: int) -> pd.DataFrame:
    """Return rows of multiple imputation."""
    return MultipleImputation().sanitize(members, rng=seed).table[members.schema.published]


def estimate(members: Dataset, others: Dataset, rows: pd.DataFrame) -> tuple[float, float, float]:
    """Return the estimated share of copies with its interval."""
    names = members.schema.published
    whole = pd.concat([rows, members.table[names], others.table[names]], ignore_index=True)
    parts = np.split(count_combinations(whole).index, np.cumsum([len(rows), len(members)]))
    return estimate_copied_share(*parts)[:3]


def main() -> None:
    """Print, for each synthesizer and share of copies, the mean estimate and the coverage of the interval."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--people", type=int, default=3000)
    options.add_argument("--seeds", type=int, default=20)
    given = options.parse_args()
    found = []
    for seed in range(given.seeds):
        members, others = load("adult", "li-li", records=given.people, rng=seed).split(0.5, rng=seed)
        for make in (draw_columns, impute):
            made = make(members, seed).reset_index(drop=True).astype(object)
            records = members.table[members.schema.published].sample(frac=1, random_state=seed)
            for share in SHARES:
                copies = round(share * len(made))
                rows = pd.concat([records[:copies].astype(object), made[copies:]], ignore_index=True)
                value, low, high = estimate(members, others, rows)
                found.append((make.__name__, share, value, high - low, low <= share <= high))
    table = pd.DataFrame(found, columns=["synthesizer", "copies", "estimate", "width", "covered"])
    print(table.groupby(["synthesizer", "copies"]).agg({"estimate": "mean", "width": "mean", "covered": "sum"}))


if __name__ == "__main__":
    main()
