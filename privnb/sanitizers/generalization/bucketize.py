"""Bucketization: quasi-identifiers as they are in one table, the sensitive values of each bucket in another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.counts import factorized, people_in
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Schema
from privnb.microdata.treatment import Rows
from privnb.privacy_models import PrivacyModel
from privnb.runtime.arrays import IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.validation import instead
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
