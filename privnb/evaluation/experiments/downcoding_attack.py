"""Downcoding of clustered people: releases with minimal labels, and releases with wider labels as the control."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Annotated

import pandas as pd

from privnb.attacks.inference.downcoding import RARE, ClusteredPeople, downcode_rows
from privnb.evaluation.results import build_row, make_row_builder, tidy
from privnb.measures.base import register_measure
from privnb.measures.intervals import wilson
from privnb.privacy_models import check_k
from privnb.runtime.validation import Count, Seeds, optional, several, validated
from privnb.sanitizers import FullDomain, Mondrian
from privnb.sanitizers.base import Sanitizer

MINIMAL, PRIOR, CLOSED_FORM = "labels are minimal", "distribution only", "closed form"
UNLIKE = "people who differ from their cluster"
Record = tuple[str, ...]

register_measure(
    "records_downcoded",
    kind="privacy",
    title="Records recovered from their labels",
    sentence="This is the share of original records that an adversary recovers completely from minimal labels.",
    source="Cohen, USENIX Security 2022; the clustered people are ours",
    unit="share of people",
    format="{:%}",
    baseline="a guess by the distribution of the people",
)


@validated
def attack_minimal_labels(
    k: int = 10,
    sanitizers: Annotated[Sequence[Sanitizer] | None, optional(several(Sanitizer))] = None,
    *,
    clusters: Count = 200,
    attributes: Count = 8,
    seeds: Seeds = 1,
) -> pd.DataFrame:
    """Recover the records of invented people in clusters of k from their generalized release.

    A person has a large variance with the probability 1 / k; see `attacks.inference.downcoding`.

    Parameters
    ----------
    k : int
        The number of people in a cluster, and the minimum class size of the default sanitizers.
    sanitizers : list of Sanitizer, optional
        By default, `Mondrian`, whose labels are minimal for these people, and `FullDomain` without suppression, which
        widens an attribute for all people if it does so for one cluster.
    clusters : int
    attributes : int
        The number of attributes. `FullDomain` searches 3^attributes combinations of levels.
    seeds : int
        The number of tables that are drawn.

    Returns
    -------
    DataFrame
        The rows `records_downcoded` for each sanitizer and seed, about all people and about the `group` of people who
        differ from their cluster. The column `knows` states whether the adversary uses that labels are minimal. A row
        with the `variant` "closed form" has `ClusteredPeople.expect_recovery`. The baseline is the share of people who
        have the most likely record of their cluster; for the group, it is the probability 1 / 2^attributes that tossed
        coins are right.
    """
    check_k(k)
    people = ClusteredPeople(clusters, k, attributes, 1 / k)
    rows = []
    for seed in range(1, seeds + 1):
        dataset = people.draw(seed)
        original = _list_records(dataset.cells)
        unlike = [record for record in original if any(value.endswith(RARE) for value in record)]
        usual = 1 - len(unlike) / len(original)
        asked = [("", original, usual), (UNLIKE, unlike, 0.5**attributes)]
        for sanitizer in sanitizers or (Mondrian(k=k), FullDomain(k=k, suppress=0)):
            published, _ = sanitizer.sanitize(dataset, rng=seed).publish()
            row = partial(make_row_builder(dataset, sanitizer, seed), "records_downcoded")
            for knows in (MINIMAL, PRIOR):
                guesses = _list_records(downcode_rows(published, people, minimal=knows == MINIMAL).records)
                for group, records, baseline in asked:
                    if records:
                        right, n = (Counter(guesses) & Counter(records)).total(), len(records)
                        of = dict(of=n, group=group, knows=knows)
                        rows.append(row(right / n, interval=wilson(right, n), baseline=baseline, **of))
        rows.append(
            build_row(
                "records_downcoded", people.expect_recovery(), dataset=dataset.name, sanitizer="minimal labels",
                parameters=f"k={k}", parameter="k", bound=k, seed=seed, baseline=0.5**attributes, group=UNLIKE,
                knows=MINIMAL, variant=CLOSED_FORM,
            )
        )  # fmt: skip
    return tidy(rows)


def _list_records(table: pd.DataFrame) -> list[Record]:
    found: Iterable[tuple[object, ...]] = table.itertuples(index=False, name=None)
    return [tuple(map(str, record)) for record in found]
