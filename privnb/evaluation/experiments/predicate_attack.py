"""Predicate singling out: by the labels of equivalence classes, and by exact and noisy counts as controls."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
from numpy.random import Generator

from privnb.attacks.linkage.class_predicates import (
    ClassPredicates,
    choose_by_answers,
    expect_isolation,
    expect_trivial_isolation,
)
from privnb.datasets.dataset import Dataset
from privnb.evaluation.results import Row, build_row, make_row_builder, tidy
from privnb.measures.base import register_measure
from privnb.measures.intervals import wilson
from privnb.microdata.counts import count_combinations
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.validation import Count, Positive, Seeds, validated
from privnb.sanitizers import SanitizationError
from privnb.sanitizers.base import Sanitizer

IN_RELEASE, OTHERS, CLOSED_FORM = "people in the release", "other people", "closed form"
EXACT, NOISY = "exact counts", "noisy counts"
PREDICATES = 10  # the number of predicates whose counts an adversary sees in an attempt

register_measure(
    "predicate_isolation",
    kind="privacy",
    title="Predicates that single out a record",
    sentence="This is the share of an adversary's predicates that exactly one original record meets.",
    source="Cohen and Nissim, PNAS 117(15), 2020",
    unit="share of predicates",
    format="{:%}",
    baseline="a predicate of the same weight that ignores the release",
)


@validated
def attack_classes(
    dataset: Dataset,
    sanitizers: Sequence[Sanitizer],
    *,
    attempts: Count = 1000,
    epsilon: Positive = 1.0,
    seeds: Seeds = 1,
) -> pd.DataFrame:
    """Single out records of half of the people by predicates, and compare with predicates that ignore the release.

    In each attempt, the adversary takes a random class of the release. The predicate is met by a record that the labels
    of the class cover and that a random function of all values selects with the probability 1 / (class size). The
    weight of the predicates is estimated from the other half of the people.

    As controls, an adversary sees the counts of ten random predicates of weight 1 / (10 n), and uses the predicate
    whose count is nearest to one. With exact counts, this succeeds often. With Laplace noise that makes all ten counts
    together epsilon-differentially private, the success differs from the baseline at most by the factor
    exp(epsilon / 10), because one person changes the probability to use a predicate at most by this factor.

    Equal records meet the same predicates, so nobody can single them out. The closed form and the baseline are those of
    different records.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : list of Sanitizer
    attempts : int
        The number of predicates of each adversary.
    epsilon : float
        The privacy parameter of the noisy counts.
    seeds : int
        The number of random halves.

    Returns
    -------
    DataFrame
        The rows `predicate_isolation` for each sanitizer and seed, with Wilson's interval over the attempts. The
        `variant` is "people in the release", "other people" (whether the same predicates single out one of them), or
        "closed form" (the mean of `expect_isolation` over the drawn classes, for classes of different records). Further
        rows have the sanitizers "exact counts" and "noisy counts". The baseline is n w (1 - w)^(n - 1) for the mean
        weight w. A release that cannot be made has no rows.
    """
    rows: list[Row] = []
    for seed in range(1, seeds + 1):
        halves = dataset.split(0.5, rng=seed)
        rng = np.random.default_rng(seed)
        for sanitizer in sanitizers:
            try:
                release = sanitizer.sanitize(halves[0], rng=seed)
            except SanitizationError:
                continue
            attack = ClassPredicates(release.publish()[0])
            chosen, which = np.unique(rng.integers(0, len(attack.sizes), attempts), return_inverse=True)
            sizes = attack.sizes[chosen]
            own, others = (attack.match(half.cells, chosen) for half in halves)
            weight = float((others.mean(axis=1) / sizes)[which].mean())
            row = partial(make_row_builder(dataset, sanitizer, seed), "predicate_isolation", of=attempts)
            for variant, half, covered in ((IN_RELEASE, halves[0], own), (OTHERS, halves[1], others)):
                hits = int(_isolate(half, covered, sizes, which, rng).sum())
                base = expect_trivial_isolation(len(half), weight)
                rows.append(row(hits / attempts, interval=wilson(hits, attempts), baseline=base, variant=variant))
            expected = float(np.mean([expect_isolation(int(size)) for size in sizes[which]]))
            base = expect_trivial_isolation(len(halves[0]), weight)
            rows.append(row(expected, baseline=base, variant=CLOSED_FORM))
        weight = 1 / (PREDICATES * len(halves[0]))
        counts = _count_random_predicates(halves[0], weight, attempts, rng)
        noise = rng.laplace(0, PREDICATES / epsilon, counts.shape)
        for sanitizer_name, parameters, answers in (
            (EXACT, "", counts),
            (NOISY, f"epsilon={epsilon:g}", counts + noise),
        ):
            hits = int((counts[np.arange(attempts), choose_by_answers(answers)] == 1).sum())
            rows.append(
                build_row(
                    "predicate_isolation", hits / attempts, dataset=dataset.name, sanitizer=sanitizer_name, seed=seed,
                    parameters=parameters, interval=wilson(hits, attempts), of=attempts, variant=IN_RELEASE,
                    baseline=expect_trivial_isolation(len(halves[0]), weight),
                )
            )  # fmt: skip
    return tidy(rows)


def _isolate(dataset: Dataset, covered: BoolArray, sizes: IntArray, which: IntArray, rng: Generator) -> BoolArray:
    """Return, for each attempt, whether exactly one covered record is selected: boolean array (attempts,).

    `covered` is a boolean array (classes, records), and `which` holds the class of each attempt. Equal records are
    selected together, because the random function depends on the values only.
    """
    index = count_combinations(dataset.cells[dataset.schema.published]).index
    found = np.zeros(len(which), dtype=bool)
    for place in range(len(sizes)):
        copies = np.unique(index[covered[place]], return_counts=True)[1]
        attempts = np.flatnonzero(which == place)
        selected = rng.random((len(attempts), len(copies))) < 1 / sizes[place]
        found[attempts] = selected @ copies == 1
    return found


def _count_random_predicates(dataset: Dataset, weight: float, attempts: int, rng: Generator) -> IntArray:
    """Return how many records meet each random predicate, as an integer array (attempts, PREDICATES)."""
    copies = count_combinations(dataset.cells[dataset.schema.published]).multiplicities
    selected = rng.binomial(len(copies), weight, (attempts, PREDICATES))
    counts = np.zeros_like(selected)
    for place in np.argwhere(selected):
        some = rng.choice(len(copies), selected[tuple(place)], replace=False)
        counts[tuple(place)] = copies[some].sum()
    return counts
