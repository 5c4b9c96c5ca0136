"""Bucketization: exact quasi-identifiers in one table, and the sensitive values of each bucket in another table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.counts import count_people_by_group, factorize
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Schema
from privnb.microdata.treatment import Rows
from privnb.privacy_models import PrivacyModel
from privnb.runtime.arrays import IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.validation import instead
from privnb.sanitizers.base import MODEL_BY_LETTER, Sanitized, Sanitizer
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.generalization.k_member import KMember
from privnb.sanitizers.generalization.mondrian import Mondrian


@dataclass(frozen=True)
class Bucketize(Sanitizer):
    """Publish exact quasi-identifiers and, by bucket, sensitive values; the buckets are another sanitizer's classes.

    Bucketization hides which sensitive value of a bucket belongs to which person. Models of sensitive values count
    buckets in the same way as classes, so the release claims the models that the partition satisfies.

    An adversary who knows a person's quasi-identifiers learns that the person is in the table, and learns the person's
    bucket and neutral attributes. The release therefore does not claim any model of k indistinguishable people, even if
    k is only a part of the model (as in `AlphaKAnonymity`), and does not claim any model of a neutral attribute. Each
    sensitive attribute is listed separately by bucket, so the association between several sensitive attributes is lost.

    Parameters
    ----------
    partition : Sanitizer
        The sanitizer that makes the classes, such as `Mondrian(TCloseness(0.2, "occupation"))`. The releases of this
        sanitizer must have equivalence classes.

    Raises
    ------
    SanitizationError
        If the release of the partition has no equivalence classes, if the table has no sensitive attribute, or if the
        table has a column "bucket".

    Source: Li and Li, KDD 2009, sections 2 and 5 (over Mondrian's partition); Xiao and Tao, "Anatomy", VLDB 2006.
    """

    partition: Annotated[Sanitizer, instead(Sanitizer, "Give one that makes classes, such as KMember(10).")]
    title = "Buckets"
    counts_people = True
    treatment = "bucketized"
    letters = tuple(MODEL_BY_LETTER)
    needs_sensitive = "any"
    coded = True
    draws = True  # it draws the numbers of the buckets, which carry no meaning

    @classmethod
    def from_bounds(cls, bounds: Mapping[str, float], sensitive: str | None = None) -> Self:
        """Return a bucketization of the classes of Mondrian with these bounds."""
        return cls(Mondrian.from_bounds(bounds, sensitive))

    @classmethod
    def from_models(cls, models: Sequence[PrivacyModel], sensitive: str | None = None) -> Self:
        """Return a sanitizer whose classes satisfy all `models`."""
        return cls(Mondrian(*models))

    @classmethod
    def contract_examples(cls, schema: Schema) -> list[Self]:
        """Return sanitizers for the contract tests."""
        return [cls(KMember(3))]

    @property
    def key(self) -> str:
        """The text from which draws are derived."""
        return f"Bucketize(partition={self.partition.key})"

    @property
    def by_combinations(self) -> bool:
        """Whether distinct combinations and their counts suffice."""
        return self.partition.by_combinations

    @property
    def order_invariant(self) -> bool:
        """Whether the same records in another order give the same rows."""
        return self.partition.order_invariant

    @property
    def randomized(self) -> bool:
        """Whether the seed changes results."""
        return self.partition.randomized

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        release = self.partition.sanitize(dataset, rng=rng)
        if not release.generalized or release.provenance.rows is not Rows.RECORDS:
            kinds = ", ".join(dict.fromkeys(treatment.kind for treatment in release.columns.values()))
            raise SanitizationError(
                f"{self!r}: the release of the partition ({kinds}; its rows are {release.provenance.rows}) has no "
                "equivalence classes to use as buckets. Choose a sanitizer that generalizes, such as KMember."
            )
        claims = release.provenance.claims
        sensitive = dataset.schema.sensitive
        kept = tuple(model for model in claims if model.sensitive in sensitive and not hasattr(model, "k"))
        for name in sensitive:
            table[name] = release.cells[name].array
        rows, facts = publish_in_buckets(dataset, table, release.defined_classes, rng)
        notes = [facts["note"]]
        if lost := [repr(model) for model in claims if model not in kept]:
            notes.append(f"So the release cannot claim {' and '.join(lost)}, which the partition keeps.")
        if release.suppressed:
            notes.append(
                "The records that the partition suppressed form one bucket, which is published like the others."
            )
        if release.provenance.note:
            notes.append(f"Note of the partition: {release.provenance.note}")
        return rows, facts | {"claims": kept, "note": " ".join(notes)}


def publish_in_buckets(dataset: Microdata, table: pd.DataFrame, groups: IntArray, rng: Generator) -> Sanitized:
    """Return the rows with bucket numbers and, as facts, the buckets' table and a note on what the buckets hide.

    `table`: the published columns; `groups`: the bucket of each record, as an integer array (n,) of numbers from 0
    without a gap. The numbers of the buckets are drawn with `rng`, because the order in which buckets were made may
    disclose information about their records.
    """
    sensitive = dataset.schema.sensitive
    if not sensitive:
        raise SanitizationError(
            f"'{dataset.name}' has no sensitive attribute to hide. Give at least one column the role 'sensitive'."
        )
    if "bucket" in table:
        raise SanitizationError(
            f"'{dataset.name}' has a column 'bucket', which is a name that the release needs for its own column. "
            "Rename the column."
        )
    numbers = rng.permutation(groups.max() + 1)[groups]
    if gaps := [name for name in sensitive if dataset.schema[name].numeric and table[name].isna().any()]:
        raise SanitizationError(
            f"'{gaps[0]}' of '{dataset.name}' is numeric with missing values, which buckets cannot count. Publish the "
            f"column in bands, one of which is for missing values: `dataset.in_bands('{gaps[0]}')`."
        )
    parts = [_counted(table[name], numbers, dataset.times) for name in sensitive]
    if len({part["value"].dtype for part in parts}) > 1:  # whole numbers stay whole next to texts
        parts = [part.astype({"value": object}) for part in parts]
    buckets = pd.concat(parts, ignore_index=True)
    note = (
        "Quasi-identifiers are exact: an adversary who knows those of a person can find the person's row, its other "
        "columns and its bucket. Buckets hide only which of their sensitive values belongs to which person."
    )
    if len(sensitive) > 1:
        note += f" The association between {' and '.join(sensitive)} is lost."
    return table.drop(columns=sensitive).assign(bucket=numbers), {"buckets": buckets, "note": note}


def _counted(column: pd.Series, numbers: IntArray, times: IntArray | None) -> pd.DataFrame:
    """Return the sorted rows of the buckets' table for one sensitive attribute, with the count of each value."""
    codes, values = factorize(column, sort=True)
    pairs, place = np.unique(numbers * len(values) + codes, return_inverse=True)
    bucket, code = np.divmod(pairs, len(values))
    counts = count_people_by_group(place, times=times)
    return pd.DataFrame({"attribute": column.name, "bucket": bucket, "value": values[code], "count": counts})
