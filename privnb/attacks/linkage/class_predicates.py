"""Predicates that single out one record inside an equivalence class, and predicates that are chosen by counts.

A predicate singles out a person if exactly one record of the original table meets it. A predicate that ignores the
release also does so, with the probability n w (1 - w)^(n - 1) if each of n independent records meets it with the
probability w, its weight. This is about 37% for w = 1 / n, and little for a small weight. The labels of a k-anonymous
class lead to predicates with a small weight that single out with a probability of about 37%: only the k records of the
class meet the labels, and a random predicate of weight 1 / k isolates one of them.

Source: Cohen and Nissim, "Towards formalizing the GDPR's notion of singling out", PNAS 117(15), 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from privnb.attacks.linkage.released_cells import ReleasedColumn
from privnb.microdata.counts import group_codes
from privnb.microdata.release import Published
from privnb.microdata.treatment import TRUE, Unreadable
from privnb.runtime.arrays import Array, BoolArray, IntArray
from privnb.runtime.validation import Count, Probability, validated


@dataclass(frozen=True, eq=False)
class ClassPredicates:
    """The equivalence classes of a release, whose labels an adversary uses as predicates.

    Parameters
    ----------
    published : Published
    """

    published: Published

    def __post_init__(self) -> None:
        if not self.names:
            raise Unreadable(
                "the release has no quasi-identifier that is exact, generalized or suppressed, so there are no labels "
                "of classes. Choose a sanitizer that generalizes."
            )

    @cached_property
    def names(self) -> list[str]:
        """The quasi-identifiers whose cells are true of their records."""
        true = self.published.treated(*TRUE)
        return [name for name in self.published.schema.quasi_identifiers if name in true]

    @cached_property
    def _columns(self) -> list[ReleasedColumn]:
        return [ReleasedColumn.of(self.published, name) for name in self.names]

    @cached_property
    def _groups(self) -> tuple[IntArray, IntArray]:
        codes = [column.codes for column in self._columns]
        return group_codes(codes, [len(column.codes_of_cells) for column in self._columns])

    @property
    def sizes(self) -> IntArray:
        """The number of rows in each class, as an integer array (classes,)."""
        return np.bincount(self._groups[1])

    def match(self, table: pd.DataFrame, classes: IntArray) -> BoolArray:
        """Return whether the labels of each of m classes cover each record of a table: boolean array (m, records)."""
        found = np.ones((len(classes), len(table)), dtype=bool)
        rows = self._groups[0][classes]
        for column in self._columns:
            values, codes = np.unique(column.values(table[column.name]), return_inverse=True)
            covers = column.shares_covered(values) > 0  # (values, cells)
            found &= covers.T[column.codes[rows]][:, codes.ravel()]
        return found


@validated
def expect_isolation(size: Count) -> float:
    """Return the probability that a random predicate of weight 1 / `size` is met by one of `size` different records.

    The probability is (1 - 1 / k)^(k - 1), from 1 for one record to 1 / e for many.

    Source: Cohen and Nissim, PNAS 2020.

    >>> [round(expect_isolation(k), 4) for k in (1, 2, 10)]
    [1.0, 0.5, 0.3874]
    """
    return float((1 - 1 / size) ** (size - 1))


@validated
def expect_trivial_isolation(records: Count, weight: Probability) -> float:
    """Return the probability that a predicate that ignores the data is met by exactly one of n independent records.

    The probability is n w (1 - w)^(n - 1) for the `weight` w, the probability that a record meets the predicate.

    Source: Cohen and Nissim, PNAS 2020.

    >>> [round(expect_trivial_isolation(1000, weight), 4) for weight in (0.001, 0.0001)]
    [0.3681, 0.0905]
    """
    return float(records * weight * (1 - weight) ** (records - 1))


def choose_by_answers(answers: Array) -> IntArray:
    """Return the position of the predicate whose answer is nearest to one person, as an integer array (attempts,).

    Parameters
    ----------
    answers : array (attempts, predicates)
        The published number of people who meet each predicate, with or without noise.
    """
    return np.abs(answers - 1).argmin(axis=1)
