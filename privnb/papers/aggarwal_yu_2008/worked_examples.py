"""Aggarwal and Yu 2008: the worked examples of the chapters on randomization and on attacks.

The code that measures releases computes each number from the values in the book. No example contains real data.
"""

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg import hilbert

from privnb.attacks.recovery.by_distribution import bound_originals
from privnb.evaluation.results import Row, build_row, tidy
from privnb.measures.base import register_measure
from privnb.measures.count_tables.log_linear import degrees_of_freedom
from privnb.measures.noise.column_privacy import naive_differences
from privnb.measures.noise.noise_privacy import (
    differential_entropy,
    interval_width,
    mutual_information,
    privacy_loss_share,
)
from privnb.microdata.treatment import Jointly, Law
from privnb.runtime.arrays import FloatArray
from privnb.runtime.tolerances import EXACT

# Table 3.2: the attributes of ten records, as printed before and after rank swapping with p = 10 %.
SWAPPED: dict[str, tuple[Sequence[Any], Sequence[Any]]] = {
    "attribute 1": (range(1, 11), range(1, 11)),
    "attribute 2": ("KLNMLHHFDC", "HLMNLFKHCD"),
    "attribute 3": ((3.7, 3.8, 3, 4.5, 5, 6, 4.5, 6.7, 8, 10), (3, 4.5, 3.7, 5, 4.5, 6.7, 3.8, 6, 10, 8)),
    "attribute 4": ((4.4, 3.4, 4.8, 5, 6, 7.5, 10, 11, 9.5, 3.2), (4.8, 3.2, 4.4, 6, 5, 9.5, 11, 10, 7.5, 3.4)),
}
ALL = 1 - EXACT  # a confidence of 100 percent, up to rounding

for _name in ("entropy", "information", "entropy_length", "loss_of_entropy", "interval_length", "interval_end"):
    register_measure(f"book_{_name}")
register_measure("book_difference")
for _name in ("book_condition_number", "book_cells", "book_degrees_of_freedom", "book_of_counts", "record_index"):
    register_measure(_name, format="{:,}")
register_measure("book_ranks_moved", format="{:%}", bounds=(-np.inf, np.inf))


class _Uniform(Law):
    """Noise with a uniform distribution from -half to half."""

    def __init__(self, half: float) -> None:
        self.half = half

    def cumulative(self, noise: FloatArray) -> FloatArray:
        return np.clip((np.asarray(noise, dtype=float) / self.half + 1) / 2, 0, 1)


def compute_worked_examples() -> pd.DataFrame:
    """Return tidy results of the worked examples in the book.

    The examples are:

    - section 2.2.1 with example 2.1, which section 6.4 repeats: originals on two intervals of length 1, with noise that
      is uniform on -1 to 1;
    - section 10.2.1: the position of a record in the joint domain, counted from 1;
    - section 10.2.3: the condition number of the Hilbert matrix;
    - section 12.5.2: the number of cells of a table and the degrees of freedom of log-linear models, from the printed
      numbers of levels;
    - section 15.3.6: the interval that contains an original, before and after empty parts of the domain are excluded;
    - table 3.2: the largest number of ranks by which rank swapping moves a value, as a share of all ranks;
    - section 7.5.1: the variance of the difference between rotated and original standard scores.
    """
    rows = [*_example_2_1(), *_indices(), _row("section 10.2.3", "book_condition_number", np.linalg.cond(hilbert(5)))]
    return tidy([*rows, *_tables_of_counts(), *_excluded(), *_ranks_moved(), _rotated()])


def _example_2_1() -> Iterator[Row]:
    shares, edges, noise = np.array([0.5, 0.5]), np.array([[0.0, 4.0], [1.0, 5.0]]), _Uniform(1)
    one = differential_entropy(np.ones(1), np.array([[0.0], [1.0]]))
    own, of_noise = differential_entropy(shares, edges), differential_entropy(np.ones(1), np.array([[-1.0], [1.0]]))
    bits = mutual_information(shares, edges, noise)
    yield _row("section 2.2.1", "book_entropy", one, target="uniform on 0 to 1")
    for confidence in (0.5, 1):
        width = interval_width(noise, min(confidence, ALL))
        yield _row("section 2.2.1", "book_interval_length", width, target=f"confidence {confidence:.0%}")
    yield _row("example 2.1", "book_entropy", own, target="X")
    yield _row("example 2.1", "book_entropy_length", 2**own, target="X")
    yield _row("example 2.1", "book_entropy", of_noise, target="Y")
    yield _row("example 2.1", "book_interval_length", interval_width(noise, ALL), target="Y")
    yield _row("example 2.1", "book_entropy", of_noise + bits, target="Z")
    yield _row("example 2.1", "book_information", bits, target="X; Z")
    yield _row("example 2.1", "book_loss_of_entropy", privacy_loss_share(bits), target="X | Z")
    yield _row("example 2.1", "book_entropy_length", 2 ** (own - bits), target="X | Z")


def _indices() -> Iterator[Row]:
    domain = {"age": ["Child", "Adult", "Senior"], "sex": ["Male", "Female"], "education": ["Elementary", "Graduate"]}
    joint = Jointly(tuple(domain), tuple(map(len, domain.values())), Law())
    named = ("Child-Male-Elementary", "Child-Male-Graduate", "Child-Female-Graduate", "Senior-Male-Elementary")
    for record in named:
        codes = [[values.index(value)] for values, value in zip(domain.values(), record.split("-"), strict=True)]
        yield _row("section 10.2.1", "record_index", int(joint.positions(codes)[0]) + 1, group=record)


def _tables_of_counts() -> Iterator[Row]:
    whole = {"A": 3, "B": 4, "C": 5, "D": 2, "E": 2, "F": 2, "G": 3, "H": 2}
    reduced = whole | {"C": 2, "G": 2}
    yield _row("section 12.5.2", "book_cells", prod(whole.values()), target="Full table")
    yield _row("section 12.5.2", "book_cells", prod(reduced.values()), target="Reduced table")
    models = {
        "Model 1": (reduced, ["ABCFG", "ACDFG", "ACDGH", "ADEFG"]),
        "Model 2": (reduced, ["ACDGH", "ABFG", "ABCG", "ADFG", "BEFG", "DEFG"]),
        "Collapsed table": ({name: n for name, n in reduced.items() if name not in "BH"}, ["ACFG", "ADEFG"]),
    }
    for name, (levels, sets) in models.items():
        yield _row("section 12.5.2", "book_degrees_of_freedom", degrees_of_freedom(levels, sets), target=name)


def _excluded() -> Iterator[Row]:
    """Yield the ends of the interval that must contain an original whose published noisy value is 1.

    The noise is uniform on -1 to 1. Half of the originals are between 0 and 1, and the other half are between 5 and 6.
    """
    edges = np.linspace(-1, 7, 81)
    middle = (edges[1:] + edges[:-1]) / 2
    reach = (np.abs(middle - 1) < 1).astype(float)[None]
    anywhere = np.full(80, 1 / 80)
    there = np.where((middle > 0) & (middle < 1) | (middle > 5) & (middle < 6), 1.0, 0.0)
    for known, shares in (("the noise", anywhere), ("the noise and the distribution", there / there.sum())):
        ends = bound_originals(reach, shares, edges, 0.1 / 80)
        for end, number in zip(("from", "to"), ends, strict=True):
            yield _row("section 15.3.6", "book_interval_end", float(number[0]), target=end, knows=known)


def _ranks_moved() -> Iterator[Row]:
    """Yield, for each attribute, the largest number of ranks by which a value moves, as a share of all ranks.

    Equal values are ranked in the order that makes the moves shortest.
    """
    for name, (before, after) in SWAPPED.items():
        ordered = sorted(before)
        first = {value: ordered.index(value) for value in ordered}
        last = {value: place for place, value in enumerate(ordered)}
        moved = max(max(first[a] - last[b], first[b] - last[a], 0) for a, b in zip(before, after, strict=True))
        yield _row("table 3.2", "book_ranks_moved", moved / len(ordered), target=name)


def _rotated() -> Row:
    """Return the mean variance of the difference between two rotated or reflected scores and the original scores.

    The two scores are uncorrelated, and the mean is over all rotations and reflections. The mean over evenly spaced
    angles is exact, because such angles give the exact means of sines, cosines and their squares.
    """
    every = []
    for angle in np.radians(np.arange(0, 360, 30)):
        turned = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        every += [naive_differences(turned * sign, np.eye(2))[0] for sign in ([1, 1], [1, -1])]
    return _row("section 7.5.1", "book_difference", float(np.mean(every)), target="mean")


def _row(dataset: str, measure: str, value: float, **columns: Any) -> Row:
    return build_row(measure, value, dataset=dataset, sanitizer="worked by hand", **columns)
