"""k-anonymity by clustering: records that are alike are published alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import of_codes
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Schema
from privnb.privacy_models import DistinctDiversity, KAnonymity, PrivacyModel
from privnb.privacy_models.anonymity import People
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.validation import Seed
from privnb.sanitizers.base import MODELS, Sanitized, Sanitizer
from privnb.sanitizers.eligibility import check_k, quasi_identifiers
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.generalization.model_based import lines, models_of, requirement_of


def _models(name: str, value: Any) -> None:
    for model in value if isinstance(value, list | tuple) else (value,):
        expect.kind(name, model, PrivacyModel, instead="Give models=(DistinctDiversity(2, ...), ...).")


@dataclass(frozen=True, repr=False)
class KMember(Sanitizer):
    """Put every record into a cluster of at least `k` similar ones, and publish the smallest generalization of each
    cluster.

    Nothing is suppressed. The result depends on the order of the records. Ties and leftovers: see
    `clustering.greedy_k_member`.

    Parameters
    ----------
    k : int
        From 2 to the number of records; larger hides each person among more others and costs more detail.
    start : int, optional
        The record that the first cluster starts furthest from; None draws one with `rng`.
    models : tuple of PrivacyModel
        Further ones; a cluster takes one more record until it keeps them all. Records left over by clusters that never
        did join the cluster whose labels suffer least, and so do clusters that this spoils.

    Source: Byun, Kamra, Bertino, Li, "Efficient k-Anonymization Using Clustering Techniques", DASFAA 2007, as used by
    Sramka et al. 2010, section 4.2. Deviation: Byun et al. overwrite the reference record with the last one added;
    here it is the first record of the last cluster.
    """

    k: People
    start: Seed | None = 0
    models: Annotated[tuple[PrivacyModel, ...], _models] = ()
    title = "k-member clustering"
    letters = tuple(MODELS)
    requires = ("k",)
    slow = True
    coded = True
    in_parts = True
    equal_records_alike = False  # a cluster takes the nearest records, and may leave equal ones to another

    @classmethod
    def at(cls, bounds: Mapping[str, float], sensitive: str | None = None) -> Any:
        return cls.keeping(models_of(bounds, sensitive))

    @classmethod
    def keeping(cls, models: Sequence[PrivacyModel], sensitive: str | None = None) -> Self | None:
        k, *others = models
        return cls(k.k, models=tuple(others)) if isinstance(k, KAnonymity) else None

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        model = DistinctDiversity(2, schema.sensitive[0])
        return [cls(2), cls(3, start=1), cls(2, start=None), cls(2, models=(model,))]

    def __post_init__(self) -> None:
        super().__post_init__()
        models = self.models if isinstance(self.models, list | tuple) else (self.models,)
        object.__setattr__(self, "models", tuple(models))
        against = [model for model in self.models if hasattr(model, "population")]
        if against:
            raise UsageError(f"KMember clusters records alone, {against[0]!r} needs a population. Use Mondrian for it.")

    def __repr__(self) -> str:
        more = f", models={self.models!r}" if self.models else ""
        return f"KMember(k={self.k!r}, start={self.start!r}{more})"

    @property
    def randomized(self) -> bool:
        return self.start is None

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        n = len(dataset)
        check_k(self, self.k, n)
        if self.start is not None and not 0 <= self.start < n:
            raise SanitizationError(f"{self!r} starts outside the table of {n} records. Give a start of 0 to {n - 1}.")
        names = quasi_identifiers(self, dataset.schema, "generalize")
        from privnb.sanitizers.algorithms.clustering import greedy_k_member  # numba takes most of a second to import

        start = int(rng.integers(n)) if self.start is None else self.start
        generalizations = [dataset.hierarchies[name] for name in names]
        codes = np.column_stack([dataset.codes[name] for name in names]).astype(np.int64)
        extents = [g.extent() for g in generalizations]
        if self.models:
            clusters = self._grown(dataset, codes, extents, start, lines(generalizations))
        else:
            clusters = greedy_k_member(codes, extents, self.k, start)
        for column, name in enumerate(names):
            table[name] = of_codes(clusters, generalizations[column].labels(codes[:, column], clusters))
        return table, {"claims": (KAnonymity(self.k), *self.models)}

    def _grown(
        self, dataset: Microdata, codes: IntArray, extents: Sequence[Any], start: int, lines: Sequence[IntArray | int]
    ) -> IntArray:
        from privnb.sanitizers.algorithms.clustering import greedy_k_member
        from privnb.sanitizers.algorithms.recoding import joined

        requirement = requirement_of(self, dataset, alone=True)

        def holds(clusters: IntArray) -> BoolArray:
            return requirement.holds(clusters, int(clusters.max()) + 1)

        clusters = greedy_k_member(codes, extents, self.k, start, requirement.growing())
        left = clusters < 0
        clusters[left] = clusters.max() + 1 + np.arange(left.sum())  # each alone, to join where it costs least
        return joined(codes, lines, clusters, self.k, holds)
