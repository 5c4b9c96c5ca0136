"""k-anonymity by clustering: similar records are published with the same labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import make_categorical
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Schema
from privnb.privacy_models import DistinctDiversity, KAnonymity, PrivacyModel
from privnb.privacy_models.anonymity import People
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.validation import Seed
from privnb.sanitizers.base import MODEL_BY_LETTER, Sanitized, Sanitizer
from privnb.sanitizers.eligibility import check_records_for_k, require_quasi_identifiers
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.generalization.model_based import bind_models, build_models, describe_lines


def _models(name: str, value: Any) -> None:
    for model in value if isinstance(value, list | tuple) else (value,):
        expect.kind(name, model, PrivacyModel, instead="Give models=(DistinctDiversity(2, ...), ...).")


@dataclass(frozen=True, repr=False)
class KMember(Sanitizer):
    """Form clusters of at least `k` similar records, and publish the smallest generalization of each cluster.

    Nothing is suppressed. The result depends on the order of the records. `clustering.greedy_k_member` describes how
    ties and leftover records are treated.

    Parameters
    ----------
    k : int
        The minimum size of a cluster, from 2 to the number of records; a larger k hides each person among more people
        and loses more detail.
    start : int, optional
        The number of a record. The first cluster starts with the record that is furthest from this record. With None,
        the number is drawn with `rng`.
    models : tuple of PrivacyModel
        Further models; a cluster takes more records until it satisfies all of them. If a cluster never satisfies all
        models, its records join the clusters whose labels widen least. A cluster that violates a model because of such
        a join also joins another cluster.

    Source: Byun, Kamra, Bertino, Li, "Efficient k-Anonymization Using Clustering Techniques", DASFAA 2007, as used by
    Sramka et al. 2010, section 4.2. Deviation: Byun et al. overwrite the reference record with the last record that was
    added; here, the reference record is the first record of the last cluster.

    Examples
    --------
    >>> from privnb.datasets.dataset import load
    >>> KMember(5).sanitize(load("adult", records=100), rng=1).provenance.claims
    (KAnonymity(k=5),)
    """

    k: People
    start: Seed | None = 0
    models: Annotated[tuple[PrivacyModel, ...], _models] = ()
    title = "k-member clustering"
    letters = tuple(MODEL_BY_LETTER)
    requires = ("k",)
    slow = True
    coded = True
    in_parts = True
    equal_records_alike = False  # equal records may fall into different clusters

    @classmethod
    def from_bounds(cls, bounds: Mapping[str, float], sensitive: str | None = None) -> Any:
        """Return a sanitizer with these bounds."""
        return cls.from_models(build_models(bounds, sensitive))

    @classmethod
    def from_models(cls, models: Sequence[PrivacyModel], sensitive: str | None = None) -> Self | None:
        """Return a sanitizer whose classes satisfy all `models`."""
        k, *others = models
        return cls(k.k, models=tuple(others)) if isinstance(k, KAnonymity) else None

    @classmethod
    def contract_examples(cls, schema: Schema) -> list[Self]:
        """Return sanitizers for the contract tests."""
        model = DistinctDiversity(2, schema.sensitive[0])
        return [cls(2), cls(3, start=1), cls(2, start=None), cls(2, models=(model,))]

    def __post_init__(self) -> None:
        super().__post_init__()
        models = self.models if isinstance(self.models, list | tuple) else (self.models,)
        object.__setattr__(self, "models", tuple(models))
        against = [model for model in self.models if hasattr(model, "population")]
        if against:
            raise UsageError(
                f"`models` must be about only the records; got {against[0]!r}, which needs a population. Try Mondrian."
            )

    def __repr__(self) -> str:
        more = f", models={self.models!r}" if self.models else ""
        return f"KMember(k={self.k!r}, start={self.start!r}{more})"

    @property
    def randomized(self) -> bool:
        """Whether the seed changes results."""
        return self.start is None

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        n = len(dataset)
        check_records_for_k(self, self.k, n)
        if self.start is not None and not 0 <= self.start < n:
            raise SanitizationError(f"`start` must be the number of a record, from 0 to {n - 1}; got {self!r}.")
        names = require_quasi_identifiers(self, dataset.schema, "generalize")
        from privnb.sanitizers.algorithms.clustering import greedy_k_member  # numba takes most of a second to import

        start = int(rng.integers(n)) if self.start is None else self.start
        generalizations = [dataset.hierarchies[name] for name in names]
        codes = np.column_stack([dataset.codes[name] for name in names]).astype(np.int64)
        extents = [g.extent() for g in generalizations]
        if self.models:
            clusters = self._grown(dataset, codes, extents, start, describe_lines(generalizations))
        else:
            clusters = greedy_k_member(codes, extents, self.k, start)
        for column, name in enumerate(names):
            table[name] = make_categorical(clusters, generalizations[column].labels(codes[:, column], clusters))
        return table, {"claims": (KAnonymity(self.k), *self.models)}

    def _grown(
        self, dataset: Microdata, codes: IntArray, extents: Sequence[Any], start: int, lines: Sequence[IntArray | int]
    ) -> IntArray:
        from privnb.sanitizers.algorithms.clustering import greedy_k_member
        from privnb.sanitizers.algorithms.recoding import join_classes

        requirement = bind_models(self, dataset, alone=True)

        def holds(clusters: IntArray) -> BoolArray:
            return requirement.holds(clusters, int(clusters.max()) + 1)

        clusters = greedy_k_member(codes, extents, self.k, start, requirement.growing())
        left = clusters < 0
        clusters[left] = (
            clusters.max() + 1 + np.arange(left.sum())
        )  # each record is a cluster that joins the one whose labels widen least
        return join_classes(codes, lines, clusters, self.k, holds)
