"""Top-down specialization: global recoding that keeps what tells about one attribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import of_codes
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Schema
from privnb.privacy_models import KAnonymity, PrivacyModel
from privnb.privacy_models.requirement import Requirement
from privnb.runtime import expect
from privnb.runtime.lazy import pd
from privnb.runtime.validation import validated
from privnb.sanitizers.algorithms.specialization import Cut, named
from privnb.sanitizers.base import AnyMicrodata, Facts, Sanitized
from privnb.sanitizers.generalization.model_based import ModelBasedSanitizer, requirement_of

Workload = Annotated[str, lambda name, value: expect.text(name, value, "the attribute that labels shall tell about")]


@dataclass(frozen=True, init=False, repr=False)
class TopDownSpecialization(ModelBasedSanitizer):
    """Generalize every attribute fully, then specialize one value after another in the whole table, as long as every
    class keeps all models.

    The value of the highest score goes first: InfoGain / (AnonyLoss + 1), where InfoGain is how many bits its children
    tell about the attribute `workload` over the records that hold it, and AnonyLoss by how many records the smallest
    class of the table shrinks. Models other than k-anonymity decide what may be specialized; the loss stays in records.
    In a tie the attribute that stands first goes first, then the value that stands first on its line. It ends when no
    value may be specialized: one that tells nothing about the workload is specialized, too, but last.

    Global recoding: a value is published alike wherever it stands. Trees are followed level by level; `Ordered` and
    `Sets` are `*` or exact; of the widths of `Intervals` those are used that divide the next wider one in use; `Ranges`
    are cut in two where a cut tells most or, if the models do not allow that, next most. Nothing is suppressed, but an
    attribute may stay at `*`.

    Parameters
    ----------
    models : PrivacyModel, one or more
    workload : str
        The attribute that published labels should tell about.

    Source: Fung, Wang, Yu, ICDE 2005; Aggarwal and Yu 2008, sections 5.6 and 9.4.1.
    """

    workload: Workload
    title = "Top-down specialization"
    needs_sensitive = "categories"
    global_recoding = True

    @classmethod
    def keeping(cls, models: Sequence[PrivacyModel], sensitive: str | None = None) -> Self:
        return cls(*models, workload=sensitive)

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        return [cls(KAnonymity(2), workload=schema.sensitive[0])]

    @validated
    def steps(self, dataset: AnyMicrodata) -> pd.DataFrame:
        """What `sanitize` does, and why: a DataFrame with one row for each candidate of each step.

        step (from 1), attribute, value (its label), children (their labels), gain (bits), loss (records), score, k
        (records in the smallest class before the step), chosen. Labels and counts of the original table: for its owner.
        """
        _, cut = self._begin(dataset)
        names, rows, step = dataset.schema.quasi_identifiers, [], 0
        while (best := cut.best()) is not None:
            step += 1
            for c in cut.candidates:
                hierarchy = cut.hierarchies[c.attribute]
                children = ", ".join(str(named(hierarchy, *ends, c.level - 1)) for ends in c.children)
                value = str(named(hierarchy, c.first, c.last, c.level))
                rows.append(
                    (step, names[c.attribute], value, children, c.gain, cut.loss(c), cut.score(c), cut.k, c is best)
                )
            cut.specialize(best)
        columns = ["step", "attribute", "value", "children", "gain", "loss", "score", "k", "chosen"]
        return pd.DataFrame(rows, columns=columns)

    def _begin(self, dataset: Microdata) -> tuple[Requirement, Cut]:
        dataset.schema[self.workload]  # refuses a name that does not exist
        requirement = requirement_of(self, dataset, [self.workload])
        hierarchies = [dataset.hierarchies[name] for name in dataset.schema.quasi_identifiers]
        target = requirement.values[self.workload].astype(np.int64)
        return requirement, Cut(requirement, hierarchies, target)

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        requirement, cut = self._begin(dataset)
        while (best := cut.best()) is not None:
            cut.specialize(best)
        for a, (name, hierarchy) in enumerate(zip(dataset.schema.quasi_identifiers, cut.hierarchies, strict=True)):
            # The smallest label of what the node holds: a step down to an only child splits no class. It must stand in
            # the tree, or one label would hold several nodes.
            index = pd.factorize(cut.nodes[a])[0]
            table[name] = of_codes(index[requirement.index], hierarchy.labels(requirement.codes[:, a], index))
        facts: Facts = {"claims": self.models}
        if cut.k == dataset.record_count and (requirement.codes != requirement.codes[0]).any():
            asked = " or ".join(map(repr, self.models))
            facts["note"] = f"All records are one class: to specialize any value would leave one that breaks {asked}."
        return table, facts
