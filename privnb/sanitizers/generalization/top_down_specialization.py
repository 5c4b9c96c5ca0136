"""Top-down specialization: global recoding that keeps information about one attribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import make_categorical
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Schema
from privnb.privacy_models import KAnonymity, PrivacyModel
from privnb.privacy_models.refinement import (
    Cells,
    Refinement,
    combine,
    join_positions,
    list_children,
    list_cuts,
    split_by,
)
from privnb.privacy_models.requirement import Requirement
from privnb.runtime import expect
from privnb.runtime.lazy import pd
from privnb.runtime.validation import validated
from privnb.sanitizers.algorithms.specialization import Cut, build_tree, keep_nested_widths, label_node
from privnb.sanitizers.base import AnyMicrodata, Facts, Sanitized
from privnb.sanitizers.generalization.model_based import ModelBasedSanitizer, bind_models

Workload = Annotated[
    str, lambda name, value: expect.text(name, value, "the attribute about which labels should be informative")
]


@dataclass(frozen=True, init=False, repr=False)
class TopDownSpecialization(ModelBasedSanitizer):
    """Generalize all values fully, then specialize one value at a time as long as every class satisfies all models.

    The value with the highest score, InfoGain / (AnonyLoss + 1), is specialized first. InfoGain is the number of bits
    about the attribute `workload` that the value's children reveal in the records with the value; AnonyLoss is the
    number of records by which the smallest class of the table shrinks. Models other than k-anonymity also decide which
    values may be specialized, but AnonyLoss always counts records. Among values with equal scores, the values of the
    first attribute are specialized first, in the order of the attribute's line. The algorithm stops when no value may
    be specialized; values whose children reveal nothing about the workload are also specialized, but last.

    The recoding is global: a value has the same label throughout the table. Taxonomies are specialized level by level.
    Values of `Ordered` and `Sets` are either `*` or exact. The algorithm uses only those widths of `Intervals` that
    divide the next wider width in use. `Ranges` are cut in two at the threshold with the largest gain; if the models do
    not allow this cut, they are cut at the threshold with the next largest gain. Nothing is suppressed, but an
    attribute may stay at `*`.

    Parameters
    ----------
    models : PrivacyModel, one or more
        The models that every class must satisfy.
    workload : str
        The attribute about which published labels should be informative.

    Source: Fung, Wang, Yu, ICDE 2005; Aggarwal and Yu 2008, sections 5.6 and 9.4.1.
    """

    workload: Workload
    title = "Top-down specialization"
    needs_sensitive = "categories"
    global_recoding = True

    @classmethod
    def from_models(cls, models: Sequence[PrivacyModel], sensitive: str | None = None) -> Self:
        """Return a sanitizer whose classes satisfy all `models`."""
        return cls(*models, workload=sensitive)

    @classmethod
    def contract_examples(cls, schema: Schema) -> list[Self]:
        """Return sanitizers for the contract tests."""
        return [cls(KAnonymity(2), workload=schema.sensitive[0])]

    def list_refinements(self, cells: Cells) -> list[Refinement]:
        """Return the partition after the specialization of each published value, which this sanitizer rejected."""
        every, refinements = np.arange(len(cells.people)), []
        for a, given in enumerate(cells.hierarchies):
            hierarchy = keep_nested_widths(given)
            positions, tree = cells.positions[:, a], build_tree(hierarchy)
            for own in split_by(join_positions(positions, cells.classes)):
                cuts = (
                    list_cuts(own, positions[own], hierarchy)
                    if tree is None
                    else list_children(own, positions[own], tree)
                )
                for cut in cuts:
                    parts = np.zeros(len(every), dtype=np.int64)
                    parts[own] = cut.parts
                    refinements.append(Refinement(every, combine([cells.classes, parts])))
        return refinements

    @validated
    def steps(self, dataset: AnyMicrodata) -> pd.DataFrame:
        """Return the steps of the algorithm and their reasons: a DataFrame with a row for each candidate of a step.

        The columns are step (from 1), attribute, value (its label), children (their labels), gain (bits), loss
        (records), score, k (records in the smallest class before the step) and chosen. Labels and counts are those of
        the original table, so only the owner of the table should see the result.
        """
        _, cut = self._begin(dataset)
        names, rows, step = dataset.schema.quasi_identifiers, [], 0
        while (best := cut.best()) is not None:
            step += 1
            for c in cut.candidates:
                hierarchy = cut.hierarchies[c.attribute]
                children = ", ".join(str(label_node(hierarchy, *ends, c.level - 1)) for ends in c.children)
                value = str(label_node(hierarchy, c.first, c.last, c.level))
                rows.append(
                    (step, names[c.attribute], value, children, c.gain, cut.loss(c), cut.score(c), cut.k, c is best)
                )
            cut.specialize(best)
        columns = ["step", "attribute", "value", "children", "gain", "loss", "score", "k", "chosen"]
        return pd.DataFrame(rows, columns=columns)

    def _begin(self, dataset: Microdata) -> tuple[Requirement, Cut]:
        dataset.schema[self.workload]  # refuses a name that does not exist
        requirement = bind_models(self, dataset, [self.workload])
        hierarchies = [dataset.hierarchies[name] for name in dataset.schema.quasi_identifiers]
        target = requirement.values[self.workload].astype(np.int64)
        return requirement, Cut(requirement, hierarchies, target)

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        requirement, cut = self._begin(dataset)
        while (best := cut.best()) is not None:
            cut.specialize(best)
        for a, (name, hierarchy) in enumerate(zip(dataset.schema.quasi_identifiers, cut.hierarchies, strict=True)):
            # The smallest label of the values in the node: a step down to an only child splits no class. It must be in
            # the tree, or one label would cover several nodes.
            index = pd.factorize(cut.nodes[a])[0]
            table[name] = make_categorical(index[requirement.index], hierarchy.labels(requirement.codes[:, a], index))
        facts: Facts = {"claims": self.models}
        if cut.k == dataset.record_count and (requirement.codes != requirement.codes[0]).any():
            kept = " or ".join(map(repr, self.models))
            facts["note"] = f"All records are one class: to specialize any value would leave one that breaks {kept}."
        return table, facts
