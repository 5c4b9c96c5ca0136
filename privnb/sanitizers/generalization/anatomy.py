"""l-diverse buckets without generalization, as many of them as can be."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Annotated

import numpy as np
from numpy.random import Generator

from privnb.microdata.counts import coded
from privnb.microdata.rows import Microdata
from privnb.microdata.withholding import few, tells
from privnb.privacy_models import FrequencyDiversity
from privnb.runtime import expect
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.validation import at_least
from privnb.sanitizers.base import Sanitized, Sanitizer
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.generalization.bucketize import bucketized

SensitiveName = Annotated[str, lambda name, value: expect.text(name, value, "a sensitive attribute")]


@dataclass(frozen=True)
class Anatomy(Sanitizer):
    """Publish the quasi-identifiers as they are, and sensitive values only by bucket: of `l` records or a few more, who
    all differ in the attribute `sensitive`.

    Every value stands once in its bucket, of l to 2 l - 1 records, so the release is claimed to be
    `FrequencyDiversity(l)`, and has distinct and entropy l-diversity with it. Quasi-identifiers play no part in who
    shares a bucket; they are disclosed as in `Bucketize`. Other sensitive attributes stand in the same buckets without
    a promise: one value may fill a bucket.

    Each bucket takes a random record of each of the l values that have most records left (of equals the first in sorted
    order); those left over, at most one of a value, join a random bucket without that value.

    Parameters
    ----------
    l : int
        From 2; larger leaves an adversary more values to guess among.
    sensitive : str

    Raises
    ------
    SanitizationError
        Where a value belongs to more than one record in l, and what `Bucketize` refuses.

    Source: Xiao and Tao, "Anatomy: Simple and Effective Privacy Preservation", VLDB 2006, algorithm
    Anatomize.
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
    def accepts(cls, letter: str, value: float) -> bool:
        return float(value).is_integer() and value >= 2

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        others = [name for name in dataset.schema.sensitive if name != self.sensitive]
        if self.sensitive not in dataset.schema.sensitive:
            raise SanitizationError(
                f"{self!r}: '{self.sensitive}' is no sensitive attribute of '{dataset.name}'; those are "
                f"{', '.join(others) or 'none'}. Name one, or give it that role."
            )
        codes, values = coded(table[self.sensitive])
        self._check(codes, values)
        rows, facts = bucketized(dataset, table, _groups(codes, self.l, rng), rng)
        if others:
            facts["note"] += f" Nothing is promised for {' and '.join(others)}."
        return rows, facts | {"claims": (FrequencyDiversity(self.l, self.sensitive),)}

    def _check(self, codes: IntArray, values: Array) -> None:
        """Eligibility: at most one record in l may have the same value."""
        counts, n = np.bincount(codes), len(codes)
        commonest = counts.argmax()
        if (having := counts[commonest]) * self.l > n:
            most = n // having
            advice = f"Lower l to {most}" if most > 1 else "A lower one does not help: choose another sanitizer"
            # A report repeats this sentence: neither a value of few people nor how few have another one is in it.
            value = "one value" if few(having) else repr(str(values[commonest]))
            level = "" if tells(having, n) else f", which is {having / n:.1%} of them"
            raise SanitizationError(
                f"{self!r} cannot be reached: more than one in {self.l} records have {value}{level}. {advice}."
            )


def _groups(codes: IntArray, l: int, rng: Generator) -> IntArray:  # noqa: E741
    """The bucket of each record, integer array (n,) from 0. `codes`: the value of each record, from 0."""
    drawn, left = _drawn(np.bincount(codes), l)
    homes = [rng.choice(np.flatnonzero((drawn != value).all(axis=1))) for value in left]
    places = np.concatenate([np.repeat(np.arange(len(drawn)), l), homes]).astype(np.int64)
    # A value's places go to its records in random order.
    by_value = np.argsort(np.concatenate([drawn.ravel(), left]), kind="stable")
    groups = np.empty(len(codes), dtype=np.int64)
    groups[np.lexsort((rng.random(len(codes)), codes))] = places[by_value]
    return groups


def _drawn(counts: IntArray, l: int) -> tuple[IntArray, list[int]]:  # noqa: E741
    """The values of each bucket, integer array (buckets, l), and the list of values that have one record left over.

    `counts`: records of each value, none above one in l. Which record is drawn makes no difference to the values.
    """
    # A count and its value as one number: the heap orders them as it does pairs, in a third of the time.
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
