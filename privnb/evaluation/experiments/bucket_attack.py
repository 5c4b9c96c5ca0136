"""The deFinetti attack on buckets, with the control that its paper lacks: the same guesses about other people.

An adversary who learns from a release how values depend on quasi-identifiers learns something about the population. The
attack therefore also guesses the values of people who are not in the release, given buckets of the same size for them.
Only a higher success for the people in the release is due to the release of their records.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
import pandas as pd

from privnb.attacks.inference.de_finetti import DeFinetti
from privnb.datasets.dataset import Dataset
from privnb.evaluation.results import make_row_builder, tidy
from privnb.measures.base import register_measure
from privnb.measures.intervals import wilson
from privnb.microdata.release import Release
from privnb.microdata.withholding import LIMIT, MinCount, ReportedCount
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray
from privnb.runtime.validation import AttributeName, Seeds, validated
from privnb.sanitizers import Anatomy, SanitizationError

IN_RELEASE, OTHERS = "people in the release", "other people"

register_measure(
    "bucket_guess",
    kind="privacy",
    title="Values guessed inside buckets",
    sentence="This is the share of rows whose sensitive value the deFinetti attack assigns correctly in the bucket.",
    source="Kifer, SIGMOD 2009; the control of other people is ours",
    unit="share of rows",
    format="{:%}",
    baseline="a random assignment within each bucket",
)


@validated
def attack_buckets(
    dataset: Dataset,
    target: AttributeName,
    ls: Annotated[Sequence[int], lambda name, value: expect.all_of(name, value, int)],
    *,
    seeds: Seeds = 1,
    min_count: MinCount = LIMIT,
) -> pd.DataFrame:
    """Attack the buckets of Anatomy, for half of the people and for the other half as a control.

    Parameters
    ----------
    dataset : Dataset
    target : str
        A sensitive attribute of categories.
    ls : list of int
        The minimum numbers of different values in a bucket.
    seeds : int
        The number of random halves for each l.
    min_count : int
        Shares of fewer rows are withheld.

    Returns
    -------
    DataFrame
        The rows `bucket_guess` for each l and each seed, with the `variant` "people in the release" or "other people".
        The baseline is the expected share of a random assignment. An l that a half cannot satisfy has no rows.
    """
    rows = []
    for l in ls:  # noqa: E741
        for seed in range(1, seeds + 1):
            sanitizer, halves = Anatomy(l, target), dataset.split(0.5, rng=seed)
            try:
                releases = [sanitizer.sanitize(half, rng=seed) for half in halves]
            except SanitizationError:
                continue
            attack = DeFinetti(target).fit(releases[0].publish()[0])
            row = make_row_builder(dataset, sanitizer, seed, min_count)
            for variant, half, release in zip((IN_RELEASE, OTHERS), halves, releases, strict=True):
                right, chance = _compare(attack, release, half)
                people, n = int(right.sum()), len(right)
                value = ReportedCount(people, n, wilson(people, n))
                own = dict(of=n, baseline=chance, target=target, variant=variant, miner=attack.called)
                rows.append(row("bucket_guess", value, **own))
    return tidy(rows)


def _compare(attack: DeFinetti, release: Release, dataset: Dataset) -> tuple[BoolArray, float]:
    """Return whether each row receives its own value, as a boolean array (rows,), and the chance of a random guess."""
    published, key = release.publish()
    true = attack.truth(dataset)[np.asarray(key)]
    held = release.buckets
    assert held is not None
    own = held[held["attribute"] == attack.target]
    sizes = own.groupby("bucket")["count"].transform("sum")
    chance = float((own["count"] ** 2 / sizes).sum() / own["count"].sum())
    return attack.assign(published) == true, chance
