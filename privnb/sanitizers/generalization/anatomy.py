"""Bucketization into the maximum number of l-diverse buckets, without generalization."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Annotated

import numpy as np
from numpy.random import Generator

from privnb.microdata.counts import encode_values
from privnb.microdata.rows import Microdata
from privnb.microdata.withholding import is_few, reveals_few
from privnb.privacy_models import FrequencyDiversity
from privnb.runtime import expect
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.validation import at_least
from privnb.sanitizers.base import Sanitized, Sanitizer
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.generalization.bucketize import publish_in_buckets

SensitiveName = Annotated[str, lambda name, value: expect.text(name, value, "a sensitive attribute")]


@dataclass(frozen=True)
class Anatomy(Sanitizer):
    """Publish exact quasi-identifiers, and list sensitive values in buckets of at least `l` different values.

    A bucket has l to 2 l - 1 records, which all have different values of the attribute `sensitive`. The release
    therefore claims `FrequencyDiversity(l)`, which implies distinct and entropy l-diversity. Quasi-identifiers do not
    affect the choice of buckets; a release discloses them, as a release of `Bucketize` does. Other sensitive attributes
    are listed in the same buckets without a promise: all records of a bucket may have the same value.

    Each bucket gets a random record of each of the l values that have the most records left; among values with equal
    counts, the first values in sorted order are taken. At most one record per value is left over; each of these records
    joins a random bucket that does not contain its value.

    Parameters
    ----------
    l : int
        The minimum number of different values in a bucket, at least 2; with a larger l, an adversary has to guess among
        more values.
    sensitive : str
        The sensitive attribute to diversify.

    Raises
    ------
    SanitizationError
        If more than one in l records has the same value, or if `Bucketize` refuses the table.

    Source: Xiao and Tao, "Anatomy: Simple and Effective Privacy Preservation", VLDB 2006, algorithm Anatomize.
    """

    l: Annotated[int, at_least(2, "1 hides nothing")]  # noqa: E741
    sensitive: SensitiveName
    title = "Anatomy"
    treatment = "bucketized"
    letters = requires = ("l",)
    needs_sensitive = "any"
    randomized = True
    coded = True
    in_parts = True

    @classmethod
    def accepts_value(cls, letter: str, value: float) -> bool:
        """Return whether the class accepts this value of the bound with this letter."""
        return float(value).is_integer() and value >= 2

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        others = [name for name in dataset.schema.sensitive if name != self.sensitive]
        if self.sensitive not in dataset.schema.sensitive:
            raise SanitizationError(
                f"{self!r}: '{self.sensitive}' is not a sensitive attribute of '{dataset.name}', which has "
                f"{', '.join(others) or 'no such attribute'}. Name a sensitive attribute, or give the column the role "
                "'sensitive'."
            )
        codes, values = encode_values(table[self.sensitive])
        self._check(codes, values)
        rows, facts = publish_in_buckets(dataset, table, _groups(codes, self.l, rng), rng)
        if others:
            facts["note"] += f" The release promises nothing about {' and '.join(others)}."
        return rows, facts | {"claims": (FrequencyDiversity(self.l, self.sensitive),)}

    def _check(self, codes: IntArray, values: Array) -> None:
        """Raise SanitizationError if more than one in l records has the same value."""
        counts, n = np.bincount(codes), len(codes)
        commonest = counts.argmax()
        if (having := counts[commonest]) * self.l > n:
            most = n // having
            advice = f"Lower l to {most}" if most > 1 else "A smaller l does not help: choose another sanitizer"
            # # Reports repeat this sentence, so it must not reveal that only a few people have, or lack, a value.
            value = "one value" if is_few(having) else repr(str(values[commonest]))
            level = "" if reveals_few(having, n) else f", {having / n:.1%} of all"
            raise SanitizationError(
                f"{self!r} cannot be reached: more than one in {self.l} records have {value}{level}. {advice}."
            )


def _groups(codes: IntArray, l: int, rng: Generator) -> IntArray:  # noqa: E741
    """Return the bucket of each record, as an integer array (n,) from 0; `codes`: the value of each record, from 0."""
    drawn, left = _drawn(np.bincount(codes), l)
    homes = [rng.choice(np.flatnonzero((drawn != value).all(axis=1))) for value in left]
    places = np.concatenate([np.repeat(np.arange(len(drawn)), l), homes]).astype(np.int64)
    # The places of a value go to its records in random order.
    by_value = np.argsort(np.concatenate([drawn.ravel(), left]), kind="stable")
    groups = np.empty(len(codes), dtype=np.int64)
    groups[np.lexsort((rng.random(len(codes)), codes))] = places[by_value]
    return groups


def _drawn(counts: IntArray, l: int) -> tuple[IntArray, list[int]]:  # noqa: E741
    """Return the values of each bucket as an integer array (buckets, l), and the values that have one record left over.

    `counts`: the number of records with each value, at most one in l. The values do not depend on the drawn records.
    """
    # # One number holds a count and its value: the heap orders such numbers like pairs, in a third of the time.
    size = len(counts)
    heap = [value - count * size for value, count in enumerate(counts.tolist())]
    heapify(heap)
    drawn: list[int] = []
    while len(heap) >= l:
        largest = [heappop(heap) for _ in range(l)]
        drawn += largest
        for each in largest:
            if each // size < -1:
                heappush(heap, each + size)
    return np.array(drawn, dtype=np.int64).reshape(-1, l) % size, [each % size for each in heap]
