"""Local recoding: each class gets the smallest labels that cover it; classes are chosen to keep the labels small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.counts import group_codes
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Schema
from privnb.privacy_models import KAnonymity, TCloseness
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.lazy import pd
from privnb.sanitizers.base import Sanitized
from privnb.sanitizers.generalization.model_based import (
    ModelBasedSanitizer,
    bind_models,
    describe_lines,
    recode_classes,
)


@dataclass(frozen=True, init=False, repr=False)
class LocalRecoding(ModelBasedSanitizer):
    """Group similar records until every class satisfies all models, and publish each class with its smallest labels.

    The search minimizes the certainty penalty of the release, without a guarantee of the optimum. Equal values may be
    published differently in different classes (as "Bachelors" and as "Higher education"); this loses less information
    than one recoding for the whole table. Nothing is suppressed. Records with equal quasi-identifiers stay together.
    The search first makes classes large enough; a class that then violates another model joins the class whose labels
    widen least, until every class satisfies all models.

    Source: Xu, Wang, Pei, Wang, Shi, Fu, "Utility-Based Anonymization Using Local Recoding", KDD 2006, for the penalty
    and the idea. The search is not from this paper, see `recoding`.
    """

    title = "Local recoding"
    counts_people = True

    @classmethod
    def contract_examples(cls, schema: Schema) -> list[Self]:
        """Return sanitizers for the contract tests."""
        return [cls(KAnonymity(2)), cls(KAnonymity(3), TCloseness(0.4, schema.sensitive[0]))]

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        from privnb.sanitizers.algorithms.recoding import local_recoding  # numba takes most of a second to import

        requirement = bind_models(self, dataset)
        generalizations = [dataset.hierarchies[name] for name in dataset.schema.quasi_identifiers]
        columns = requirement.codes.T.astype(np.int64)
        first, row = group_codes(list(columns), columns.max(axis=1) + 1)
        rows = requirement.codes[first]
        people = np.bincount(row, requirement.people).astype(np.int64)
        # People who are only in the population of a model weigh next to nothing, so no class consists of them alone.
        only = people == 0
        unit = int(only.sum()) + 1
        people, least = people * unit + only, requirement.least * unit

        def holds(classes: IntArray) -> BoolArray:
            return requirement.holds(classes[row], int(classes.max()) + 1)

        check = holds if requirement.beyond_size else None
        classes = local_recoding(rows, people, describe_lines(generalizations), least, check)
        return recode_classes(dataset, table, requirement, classes[row]), {"claims": self.models}
