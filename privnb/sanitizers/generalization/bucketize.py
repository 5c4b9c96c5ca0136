"""Bucketization: quasi-identifiers as they are in one table, the sensitive values of each bucket in another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Annotated, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.counts import coded, factorized, people_in
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Schema
from privnb.microdata.treatment import Rows
from privnb.microdata.withholding import few, tells
from privnb.privacy_models import FrequencyDiversity, PrivacyModel
from privnb.runtime import expect, lazy_pandas as pd
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.validation import at_least, instead
from privnb.sanitizers.base import MODELS, Sanitized, Sanitizer
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.generalization.k_member import KMember
from privnb.sanitizers.generalization.mondrian import Mondrian


@dataclass(frozen=True)
class Bucketize(Sanitizer):
    """Publish the quasi-identifiers as they are, and sensitive values only by bucket: the classes of another release.

    `partition`: the sanitizer that makes the classes, such as `Mondrian(TCloseness(0.2, "occupation"))`; any whose
    releases have equivalence classes. It decides what bucketization protects, which is one thing: which of a bucket's
    sensitive values is whose. Models of sensitive values count the same in buckets as in classes, so those that the
    partition keeps are claimed.

    Who is in the table, in which bucket, and with which neutral attributes is disclosed to whoever knows a person's
    quasi-identifiers. So models of k people who look alike are not claimed, not even where k is only part of the model
    (`AlphaKAnonymity`), and neither are models of a neutral attribute. Several sensitive attributes are published by
    bucket each on its own: how they go together is lost. Raises SanitizationError for a partition without equivalence
    classes, a table without a sensitive attribute and one with a column "bucket".

    Source: Li and Li, KDD 2009, sections 2 and 5 (over Mondrian's partition); Xiao and Tao, "Anatomy", VLDB 2006.
    """

    partition: Annotated[Sanitizer, instead(Sanitizer, "Give one that makes classes, such as KMember(10).")]
    title = "Buckets"
    counts_people = True
    treatment = "bucketized"
    letters = tuple(MODELS)
    needs_sensitive = "any"
    coded = True
    draws = True  # the buckets' numbers, which mean nothing

    @classmethod
    def at(cls, bounds: Mapping[str, float], sensitive: str | None = None) -> Self:
        """Over Mondrian's classes."""
        return cls(Mondrian.at(bounds, sensitive))

    @classmethod
    def keeping(cls, models: Sequence[PrivacyModel], sensitive: str | None = None) -> Self:
        return cls(Mondrian(*models))

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        return [cls(KMember(3))]

    @property
    def key(self) -> str:
        return f"Bucketize(partition={self.partition.key})"

    @property
    def by_combinations(self) -> bool:
        return self.partition.by_combinations

    @property
    def order_invariant(self) -> bool:
        return self.partition.order_invariant

    @property
    def randomized(self) -> bool:
        return self.partition.randomized

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        release = self.partition.sanitize(dataset, rng=rng)
        if not release.generalized or release.provenance.rows is not Rows.RECORDS:
            kinds = ", ".join(dict.fromkeys(treatment.kind for treatment in release.columns.values()))
            raise SanitizationError(
                f"{self!r}: the partition's release ({kinds}; its rows are {release.provenance.rows}) has no "
                "equivalence classes to make buckets of. Partition with a sanitizer that generalizes, such as KMember."
            )
        claims = release.provenance.claims
        sensitive = dataset.schema.sensitive
        kept = tuple(model for model in claims if model.sensitive in sensitive and not hasattr(model, "k"))
        for name in sensitive:
            table[name] = release.cells[name].array
        rows, facts = bucketized(dataset, table, release.defined_classes, rng)
        said = [facts["note"]]
        if lost := [repr(model) for model in claims if model not in kept]:
            said.append(f"So {' and '.join(lost)}, which the partition keeps, cannot be claimed.")
        if release.suppressed:
            said.append("The records that the partition suppressed are one bucket, published like the others.")
        if release.provenance.note:
            said.append(f"Of the partition: {release.provenance.note}")
        return rows, facts | {"claims": kept, "note": " ".join(said)}


def bucketized(dataset: Microdata, table: pd.DataFrame, groups: IntArray, rng: Generator) -> Sanitized:
    """The rows and, as facts of a release, the buckets' table and what it means for people.

    `table`: the published columns; `groups`: integer array (n,), the bucket of each record, numbers from 0 without a
    gap. `rng` draws the buckets' numbers, for the order in which buckets were made may tell something of their records.
    """
    sensitive = dataset.schema.sensitive
    if not sensitive:
        raise SanitizationError(
            f"'{dataset.name}' has no sensitive attribute to hide. Give one column or more that role."
        )
    if "bucket" in table:
        raise SanitizationError(f"'{dataset.name}' has a column 'bucket', as the release will have. Rename it.")
    numbers = rng.permutation(groups.max() + 1)[groups]
    if gaps := [name for name in sensitive if dataset.schema[name].numeric and table[name].isna().any()]:
        raise SanitizationError(
            f"'{gaps[0]}' of '{dataset.name}' is a number with missing values, which no bucket counts. Publish it in "
            f"bands, of which a missing one is the last: `dataset.in_bands('{gaps[0]}')`."
        )
    parts = [_counted(table[name], numbers, dataset.times) for name in sensitive]
    if len({part["value"].dtype for part in parts}) > 1:  # whole numbers beside others stay whole
        parts = [part.astype({"value": object}) for part in parts]
    buckets = pd.concat(parts, ignore_index=True)
    note = (
        "Quasi-identifiers are published as they are: who knows a person's can find their row, its other columns and "
        "its bucket. Buckets hide only which of their sensitive values is whose."
    )
    if len(sensitive) > 1:
        note += f" How {' and '.join(sensitive)} go together is lost."
    return table.drop(columns=sensitive).assign(bucket=numbers), {"buckets": buckets, "note": note}


def _counted(column: pd.Series, numbers: IntArray, times: IntArray | None) -> pd.DataFrame:
    """How often each value of a sensitive attribute stands in each bucket: its rows of the buckets' table, sorted."""
    codes, values = factorized(column, sort=True)
    pairs, place = np.unique(numbers * len(values) + codes, return_inverse=True)
    bucket, code = np.divmod(pairs, len(values))
    counts = people_in(place, times=times)
    return pd.DataFrame({"attribute": column.name, "bucket": bucket, "value": values[code], "count": counts})


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
