"""Averages of each number by itself, with the least loss that there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import of_codes
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute
from privnb.privacy_models import KAnonymity
from privnb.privacy_models.anonymity import People
from privnb.runtime.arrays import IntArray
from privnb.sanitizers.eligibility import check_k
from privnb.sanitizers.masking.base import Masked, NumberMasking, gap, numbers
from privnb.sanitizers.masking.missing_numbers import counted, without_small_gaps


@dataclass(frozen=True)
class UnivariateMicroaggregation(NumberMasking):
    """Publish each number as the mean of a group of at least k neighbouring ones, each column by itself.

    Groups are the optimum: no others of k or more have a smaller sum of squared errors (see `optimal_groups`). Every
    published number is of k people or more, and yet their combination may be of one: k is promised only where the
    number is the only quasi-identifier. Means of columns stay as they were, so numbers are not rounded to a step. A
    missing number stays missing; where fewer than k of a column are missing, numbers drawn from it take their places.

    Parameters
    ----------
    k : int
        From 2 to the number of records; larger loses more.

    Source: Hansen and Mukherjee, TKDE 2003; Aggarwal and Yu 2008, section 3.3.2.
    """

    k: People = 3
    title = "Univariate microaggregation"
    letters = requires = ("k",)
    missing_numbers = "kept"

    promises_k = False

    def _masked(self, dataset: Microdata, attributes: Sequence[Attribute], found: IntArray, rng: Generator) -> Masked:
        from privnb.sanitizers.algorithms.optimal_groups import optimal_groups  # numba is slow to import

        check_k(self, self.k, len(dataset))
        filled, columns = {}, []
        for a, attribute in enumerate(attributes):
            lacking = gap(attribute, found[:, [a]])
            codes, left, pattern = without_small_gaps(found[:, [a]], lacking, self.k, rng)
            filled[attribute.name] = int((lacking & ~left).sum())
            means, groups = np.empty(0), np.empty(len(codes), dtype=np.int64)
            for number in range(pattern.max() + 1):
                rows = np.flatnonzero(pattern == number)
                if left[rows[0], 0]:
                    groups[rows], means = len(means), np.append(means, np.nan)
                else:
                    own = codes[rows, 0]
                    within = optimal_groups(own, self.k)
                    groups[rows] = within + len(means)
                    means = np.append(means, np.bincount(within, own) / np.bincount(within))
            columns.append(of_codes(groups, numbers(attribute, means)))
        alone = len(dataset.schema.quasi_identifiers) == 1
        return columns, {"note": counted(filled)} | ({"claims": (KAnonymity(self.k),)} if alone else {})
