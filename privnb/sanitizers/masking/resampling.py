"""Resampling: each number is replaced by the average of the numbers with the same rank in random samples."""

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
from privnb.sanitizers.masking.base import Masked, NumberMasking, find_gaps, steps_to_numbers
from privnb.sanitizers.masking.missing_numbers import apply_to_present


@dataclass(frozen=True)
class Resampling(NumberMasking):
    """Replace each number with the average of the values with the same rank in bootstrap samples of its column.

    Each sample has the length of the column, is drawn from the column with replacement, and is sorted. Samples are
    drawn separately for each column. Ranks stay unchanged (equal values are ranked in the order of the records), so
    numbers move little except where values are sparse. Protection is therefore weak, and information loss is small.
    Averages are not rounded to a step.

    Parameters
    ----------
    samples : int
        The number of samples, at least 1; more samples leave each value nearer to the original.

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
        return [
            steps_to_numbers(each, apply_to_present(codes, find_gaps(each, codes), averages)) for each, codes in pairs
        ], {}

    def _averages(self, source: Generator, found: IntArray) -> FloatArray:
        n, order = len(found), np.argsort(found, kind="stable")
        total = np.zeros(n, dtype=np.int64)
        for _ in range(self.samples):
            total[order] += found[order[np.sort(source.integers(n, size=n))]]
        return total / self.samples
