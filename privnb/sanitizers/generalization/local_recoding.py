"""Local recoding: each class gets the smallest labels that cover it, chosen so that labels are small overall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.counts import distinct_codes
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Schema
from privnb.privacy_models import KAnonymity, TCloseness
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.lazy import pd
from privnb.sanitizers.base import Sanitized
from privnb.sanitizers.generalization.model_based import ModelBasedSanitizer, lines, recoded, requirement_of


@dataclass(frozen=True, init=False, repr=False)
class LocalRecoding(ModelBasedSanitizer):
    """Put records into classes that keep all `models` and whose labels span as little as can be found: the certainty
    penalty of the release is what is minimised, without a promise of the optimum.

    Equal values may be published differently in different classes (one "Bachelors", the other "Higher education"),
    which keeps more than one recoding for the whole table. Nothing is suppressed. Records with equal quasi-identifiers
    stay together. Sizes are dealt with first; classes that then break another model join the class whose labels suffer
    least, until none does.

    Source: Xu, Wang, Pei, Wang, Shi, Fu, "Utility-Based Anonymization Using Local Recoding", KDD 2006: the penalty and
    the idea; the search is our own, see `recoding`.
    """

    title = "Local recoding"
    counts_people = True

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        return [cls(KAnonymity(2)), cls(KAnonymity(3), TCloseness(0.4, schema.sensitive[0]))]

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        from privnb.sanitizers.algorithms.recoding import local_recoding  # numba takes most of a second to import

        requirement = requirement_of(self, dataset)
        generalizations = [dataset.hierarchies[name] for name in dataset.schema.quasi_identifiers]
        columns = requirement.codes.T.astype(np.int64)
        first, row = distinct_codes(list(columns), columns.max(axis=1) + 1)
        rows = requirement.codes[first]
        people = np.bincount(row, requirement.people).astype(np.int64)
        # Who is only in a model's population weighs next to nothing, so that no class is made of them alone.
        only = people == 0
        unit = int(only.sum()) + 1
        people, least = people * unit + only, requirement.least * unit

        def holds(classes: IntArray) -> BoolArray:
            return requirement.holds(classes[row], int(classes.max()) + 1)

        asked = holds if requirement.beyond_size else None
        classes = local_recoding(rows, people, lines(generalizations), least, asked)
        return recoded(dataset, table, requirement, classes[row]), {"claims": self.models}
