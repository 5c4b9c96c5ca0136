"""Multidimensional generalization: cut the table into boxes, as many as the privacy models allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata import hierarchy
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Role, Schema
from privnb.privacy_models import EntropyDiversity, KAnonymity, TCloseness
from privnb.privacy_models.requirement import Requirement
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.validation import one_of
from privnb.sanitizers.algorithms.options import CHOICES, MEDIANS
from privnb.sanitizers.base import Facts, Sanitized
from privnb.sanitizers.generalization.model_based import ModelBasedSanitizer, recoded, requirement_of


@dataclass(frozen=True, init=False, repr=False)
class Mondrian(ModelBasedSanitizer):
    """Cut the records in two along one quasi-identifier, again and again while both parts keep all models, and publish
    the smallest generalization of each part.

    Strict: equal records stay together. Nothing is suppressed. How an attribute is cut follows its hierarchy: numbers
    and `Ordered` categories between two values; `Sets` into two halves of about as many people; a `Taxonomy` into the
    children of the smallest node that covers the part (as many parts as children, each of which has to hold).

    Parameters
    ----------
    models : PrivacyModel, one or more
    split_attribute : str
        Which attribute is cut first; when the models do not allow its cut the next one is tried. "range": the one with
        the widest normalised range (LeFevre et al.); "penalty": the one whose cut leaves the least certainty penalty,
        which costs time and keeps more; "gain": the one whose cut tells most about the attribute `workload`.
    split_point : str
        Where numbers are cut. "nearest": the threshold that parts people most evenly, then the next most even one until
        the models allow it; "left": the median value itself stays left (LeFevre et al.); "below": the largest threshold
        below the median; "either": the one, then the other; "middle": the middle of the range; "best": the largest
        information gain, then the next (with split_attribute="gain"). Papers say "median" and mean any of these, and
        their numbers depend on it.
    workload : str
        The attribute that cuts tell about, with split_attribute="gain".

    Source: LeFevre, DeWitt, Ramakrishnan, ICDE 2006 ("Mondrian") and KDD 2006 ("Workload-Aware Anonymization").
    """

    split_attribute: Annotated[str, one_of(CHOICES)] = "range"
    split_point: Annotated[str, one_of(MEDIANS)] = "nearest"
    workload: str = ""
    title = "Mondrian"
    counts_people = True

    @property
    def key(self) -> str:
        return repr(self).replace("split_attribute=", "choose=").replace("split_point=", "median=")

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        secret, other = schema.sensitive[0], schema.names(Role.NEUTRAL)[0]
        return [
            cls(KAnonymity(2)),
            cls(KAnonymity(2), TCloseness(0.3, secret), split_attribute="penalty"),
            cls(EntropyDiversity(2, secret), split_attribute="gain", split_point="best", workload=other),
        ]

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.split_attribute == "gain") != bool(self.workload):
            raise UsageError(
                'split_attribute="gain" and a workload go together: the gain is what a cut tells about it.'
            )
        if self.split_point == "best" and self.split_attribute != "gain":
            raise UsageError(
                'split_point="best" looks for the largest information gain: it needs split_attribute="gain".'
            )

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        from privnb.sanitizers.algorithms.partitioning import partition  # numba takes most of a second to import

        if self.workload:
            dataset.schema[self.workload]  # refuses a name that does not exist
        requirement = requirement_of(self, dataset, [self.workload] if self.workload else [])
        codes, shape = _shape(requirement, [dataset.hierarchies[name] for name in dataset.schema.quasi_identifiers])
        target = requirement.values[self.workload].astype(np.int64) if self.workload else None
        classes = partition(requirement, codes, shape, self.split_attribute, self.split_point, target)
        facts: Facts = {"claims": self.models}
        if classes.max() == 0 and len(requirement.people) > 1:
            asked = " or ".join(map(repr, self.models))
            facts["note"] = f"No cut was allowed: each would leave a part that breaks {asked}."
        return recoded(dataset, table, requirement, classes), facts


def _shape(requirement: Requirement, generalizations: Sequence[Any]) -> Any:
    from privnb.sanitizers.algorithms.partitioning import LINE, SET, TREE, geometry

    kinds = [
        TREE if isinstance(g, hierarchy.Taxonomy) else SET if isinstance(g, hierarchy.Sets) else LINE
        for g in generalizations
    ]
    steps = [g.steps for g in generalizations]
    trees = {a: g.groups for a, g in enumerate(generalizations) if kinds[a] == TREE}
    return geometry(requirement.codes, kinds, steps, trees)
