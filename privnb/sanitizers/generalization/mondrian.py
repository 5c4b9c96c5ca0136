"""Multidimensional generalization: the table is cut into boxes until the privacy models allow no further cut."""

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
from privnb.privacy_models.refinement import Cells, Refinement, list_cuts, split_by
from privnb.privacy_models.requirement import Requirement
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.validation import one_of
from privnb.sanitizers.algorithms.options import SPLIT_ATTRIBUTES, SPLIT_POINTS
from privnb.sanitizers.base import Facts, Sanitized
from privnb.sanitizers.generalization.model_based import ModelBasedSanitizer, bind_models, recode_classes


@dataclass(frozen=True, init=False, repr=False)
class Mondrian(ModelBasedSanitizer):
    """Split the records by one quasi-identifier at a time while all parts satisfy the models, and generalize each part.

    The partition is strict: equal records stay together. Nothing is suppressed. The hierarchy of an attribute decides
    how the attribute is cut: numbers and `Ordered` categories are cut between two values, `Sets` are cut into two
    halves with about the same number of people, and a `Taxonomy` is cut into the children of the smallest node that
    covers the part. Every resulting part must satisfy the models.

    Parameters
    ----------
    models : PrivacyModel, one or more
        The models that every part must satisfy.
    split_attribute : str
        The rule for the attribute to cut first; if the models do not allow a cut of this attribute, the next attribute
        is tried. "range": the attribute with the widest normalized range (LeFevre et al.). "penalty": the attribute
        whose cut leaves the least certainty penalty; this rule is slower and loses less information. "gain": the
        attribute whose cut has the largest information gain about `workload`.
    split_point : str
        The rule for the place where numbers are cut. "nearest": the threshold that divides people most evenly, and then
        the threshold that is next in evenness, until the models allow a cut. "left": the threshold above the median
        value, so that the median stays in the left part (LeFevre et al.). "below": the largest threshold below the
        median. "either": the threshold of "left", and then that of "below". "middle": the middle of the range. "best":
        the threshold with the largest information gain, and then the threshold with the next largest gain, until the
        models allow a cut (only with split_attribute="gain"). Papers write "median" for any of these rules, and the
        numbers in these papers depend on the choice.
    workload : str
        The attribute about which the information gain is computed; required with split_attribute="gain", and not
        allowed with any other rule.

    Source: LeFevre, DeWitt, Ramakrishnan, ICDE 2006 ("Mondrian") and KDD 2006 ("Workload-Aware Anonymization").

    Examples
    --------
    >>> from privnb.datasets.dataset import load
    >>> Mondrian(k=5).sanitize(load("adult", records=100), rng=1).provenance.claims
    (KAnonymity(k=5),)
    """

    split_attribute: Annotated[str, one_of(SPLIT_ATTRIBUTES)] = "range"
    split_point: Annotated[str, one_of(SPLIT_POINTS)] = "nearest"
    workload: str = ""
    title = "Mondrian"
    counts_people = True

    @property
    def key(self) -> str:
        """The text from which draws are derived."""
        return repr(self).replace("split_attribute=", "choose=").replace("split_point=", "median=")

    @classmethod
    def contract_examples(cls, schema: Schema) -> list[Self]:
        """Return sanitizers for the contract tests."""
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
                '`workload` must be given with split_attribute="gain", and with no other value of split_attribute.'
            )
        if self.split_point == "best" and self.split_attribute != "gain":
            raise UsageError(
                'split_point="best" needs split_attribute="gain", because the best point is that of the largest gain.'
            )

    def list_refinements(self, cells: Cells) -> list[Refinement]:
        """Return the cuts of each class that this sanitizer rejected, without the cuts of categories without an order.

        Raises UsageError unless `split_point` is "nearest" or "best", which try every threshold.
        """
        if self.split_point not in ("nearest", "best"):
            raise UsageError(
                f"it is not known which cuts {self!r} rejects, because it does not try every threshold. Choose "
                'split_point="nearest" or "best".'
            )
        return [
            cut
            for own in split_by(cells.classes)
            for a, generalization in enumerate(cells.hierarchies)
            for cut in list_cuts(own, cells.positions[own, a], generalization)
        ]

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        from privnb.sanitizers.algorithms.partitioning import partition  # numba takes most of a second to import

        if self.workload:
            dataset.schema[self.workload]  # raises an error for an unknown name
        requirement = bind_models(self, dataset, [self.workload] if self.workload else [])
        codes, shape = _shape(requirement, [dataset.hierarchies[name] for name in dataset.schema.quasi_identifiers])
        target = requirement.values[self.workload].astype(np.int64) if self.workload else None
        classes = partition(requirement, codes, shape, self.split_attribute, self.split_point, target)
        facts: Facts = {"claims": self.models}
        if classes.max() == 0 and len(requirement.people) > 1:
            kept = " or ".join(map(repr, self.models))
            facts["note"] = f"No cut is allowed: each would leave a part that breaks {kept}."
        return recode_classes(dataset, table, requirement, classes), facts


def _shape(requirement: Requirement, generalizations: Sequence[Any]) -> Any:
    from privnb.sanitizers.algorithms.partitioning import LINE, SET, TREE, build_geometry

    kinds = [
        TREE if isinstance(g, hierarchy.Taxonomy) else SET if isinstance(g, hierarchy.Sets) else LINE
        for g in generalizations
    ]
    steps = [g.steps for g in generalizations]
    trees = {a: g.groups for a, g in enumerate(generalizations) if kinds[a] == TREE}
    return build_geometry(requirement.codes, kinds, steps, trees)
