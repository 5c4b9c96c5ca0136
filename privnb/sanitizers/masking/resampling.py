"""Numbers replaced by the average of what stands at their rank in random samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator

from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.validation import Count
from privnb.sanitizers.masking.base import Masked, NumberMasking, gap, numbers
from privnb.sanitizers.masking.missing_numbers import among_present


@dataclass(frozen=True)
class Resampling(NumberMasking):
    """Publish each numeric quasi-identifier as an average over bootstrap samples of its column: of the value that has
    its rank there.

    Each sample has as many values as the column, drawn from it with replacement, and is sorted. Columns are drawn each
    by itself. Ranks stay as they were, equal values in the order of the records, so numbers move little but where
    values are sparse: that is weak protection, and cheap in loss. Averages are not rounded to a step.

    Parameters
    ----------
    samples : int
        1 or more; more of them draw each value nearer to what it was.

    Source: Heer, "A Bootstrap Procedure to Preserve Statistical Confidentiality in Contingency Tables", 1993; Aggarwal
    and Yu 2008, section 3.3.5.
    """

    samples: Count = 3
    title = "Resampling"
    randomized = True
    missing_numbers = "kept"

    def _masked(self, dataset: Microdata, attributes: Sequence[Attribute], found: IntArray, rng: Generator) -> Masked:
        averages = partial(self._averages, rng)
        pairs = list(zip(attributes, found.T, strict=True))
        return [numbers(each, among_present(codes, gap(each, codes), averages)) for each, codes in pairs], {}

    def _averages(self, source: Generator, found: IntArray) -> FloatArray:
        n, order = len(found), np.argsort(found, kind="stable")
        total = np.zeros(n, dtype=np.int64)
        for _ in range(self.samples):
            total[order] += found[order[np.sort(source.integers(n, size=n))]]
        return total / self.samples
