"""Full-domain generalization: one level per attribute for the whole table, chosen from all combinations of levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from numbers import Integral
from typing import Annotated, Any, NamedTuple, Self, cast

import numpy as np
from numpy.random import Generator

from privnb.microdata import withholding
from privnb.microdata.columns import make_categorical
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Role, Schema
from privnb.privacy_models import KAnonymity, PrivacyModel, TCloseness
from privnb.privacy_models.base import Tally
from privnb.privacy_models.refinement import Cells, Refinement, combine, is_finer
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import one_of, validated
from privnb.sanitizers.algorithms.lattice import Classes, Lattice, bind_loss, limit_levels, list_levels
from privnb.sanitizers.algorithms.options import CELL_LOSSES, CLASS_LOSSES
from privnb.sanitizers.base import AnyMicrodata, Sanitized
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.generalization.model_based import ModelBasedSanitizer, bind_models

LOSSES = (*CELL_LOSSES, *CLASS_LOSSES)
DEFAULT_SUPPRESSED_SHARE = 0.05  # the share of records that may be suppressed by default
_DIGITS = 12  # number of digits of a loss that are compared; further digits differ by rounding
Target = Annotated[str, lambda name, value: expect.text(name, value, "the attribute to be predicted")]


def _suppress(name: str, value: Any) -> None:
    number = isinstance(value, Integral | float) and not isinstance(value, bool)
    if not (number and 0 <= value < (1 if isinstance(value, float) else math.inf)):
        raise UsageError(
            f"{name} must be a whole number of records, or a share from 0 to below 1; got "
            f"{expect.describe_value(value)}."
        )


class Solution(NamedTuple):
    """A node that satisfies the models: the level of each attribute, the loss, and the number of suppressed records."""

    levels: tuple[int, ...]
    loss: float
    suppressed: int


@dataclass(frozen=True, init=False, repr=False)
class FullDomain(ModelBasedSanitizer):
    """Generalize each quasi-identifier to one level for the whole table, with the least information loss.

    The search finds the exact optimum over all combinations of levels under which every class satisfies `models`. The
    levels of an attribute depend on the attribute's hierarchy. A `Taxonomy` has its own levels; `Intervals` have the
    widths and then `*`; `LeveledRanges` have the exact number, the public intervals and then `*`. If there are more
    than 65,536 combinations, the search uses fewer public intervals. Any other attribute has two levels, the exact
    value and `*`: give the attribute a taxonomy or intervals if two levels are too coarse. For any number of records,
    the search takes seconds for 65,536 combinations, and half a minute or more for 262,144 combinations, such as six
    numbers with eight levels each. State fewer widths if the search takes too long.

    Records whose class violates a model are suppressed (every quasi-identifier is `*`). Together, the suppressed
    records form one class of the release, **which must also satisfy the models**. As long as this class violates a
    model, the smallest other class joins it (among classes of equal size, the class of the first record, by the order
    of values on the attributes' lines). Levels that require more than `suppress` suppressed records are not a solution.
    If suppressed records were exempt from the models, a single suppressed record would be a class, and claims could not
    be checked from the labels. The methods of Samarati and of ARX exempt suppressed records, so they may suppress fewer
    records.

    Among solutions with equal losses, the search chooses the solution with the smallest number of suppressed records.
    Among solutions that also agree in this number, it chooses the solution with the lowest levels, from the first
    attribute on.

    The highest node, at which every cell is `*`, is a solution unless all records, as one class, violate a model. If
    this node is the optimum, the note of the provenance explains why.

    Parameters
    ----------
    models : PrivacyModel, one or more
        The models that every class must satisfy.
    suppress : int or float
        The maximum number of suppressed records: a whole number of records, or a share of all records, which is below 1
        and is rounded down to a whole number of records. With 0, one record that resembles no other record decides all
        levels, and often every quasi-identifier of every record becomes `*`; the note of the provenance then reports
        this result. Policies try 0.05.
    loss : str
        The measure of `information_loss` to minimize, by name: "certainty penalty", "normalized certainty penalty",
        "loss metric", "non-uniform entropy", "height" (1 - precision), "discernibility", "average class size", or
        "classification metric".
    target : str, optional
        The attribute to be predicted; required with loss="classification metric", and not allowed with any other loss.

    Raises
    ------
    SanitizationError
        If all records, as one class, violate a model, or if the lattice has more than 4 million nodes.

    Source: Samarati, IEEE TKDE 13(6), 2001 (full domain with a suppression limit); LeFevre, DeWitt, Ramakrishnan,
    "Incognito", SIGMOD 2005 (a model that fails at a node fails at all lower nodes). Deviations: solutions are ranked
    by their loss, not by their height, and suppressed records form a class.
    """

    suppress: Annotated[float, _suppress] = 0
    loss: Annotated[str, one_of(LOSSES)] = "certainty penalty"
    target: Target | None = None
    title = "Full-domain recoding"
    counts_people = True
    global_recoding = True
    slow = True

    @classmethod
    def from_models(cls, models: Sequence[PrivacyModel], sensitive: str | None = None) -> Self:
        """Return a sanitizer that enforces these models and may suppress 5% of the records.

        Without suppression, one record that resembles no other record would decide all levels.
        """
        return cls(*models, suppress=DEFAULT_SUPPRESSED_SHARE)

    @classmethod
    def contract_examples(cls, schema: Schema) -> list[Self]:
        """Return sanitizers for the contract tests."""
        whole: dict[str, Any]
        whole, other = {"suppress": 20, "loss": "classification metric"}, schema.names(Role.NEUTRAL)[0]
        return [cls(KAnonymity(2), suppress=0.5), cls(TCloseness(0.3, schema.sensitive[0]), **whole, target=other)]

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.target is not None) != (self.loss == "classification metric"):
            raise UsageError(
                f"`target` must be given with loss='classification metric', and with no other loss; got "
                f"target={expect.describe_value(self.target)} with loss={self.loss!r}."
            )

    def list_refinements(self, cells: Cells) -> list[Refinement]:
        """Return the nodes one level below the published node in one attribute, which this sanitizer rejected.

        Raises UsageError if records may be suppressed.
        """
        if self.suppress:
            raise UsageError(
                f"it is not known which levels {self!r} rejects, because it may suppress records. Choose suppress=0."
            )
        found = [np.unique(column, return_inverse=True) for column in cells.positions.T]
        levels = [list_levels(each, occurring) for each, (occurring, _) in zip(cells.hierarchies, found, strict=True)]
        columns = [
            np.array([pd.factorize(row)[0][index] for row in each])
            for each, (_, index) in zip(limit_levels(cells.hierarchies, levels), found, strict=True)
        ]
        # The published level is the lowest at which no class has two labels.
        now = [next(i for i, row in enumerate(each) if is_finer(cells.classes, row)) for each in columns]
        every, refinements = np.arange(len(cells.people)), []
        for a, level in enumerate(now):
            if level and is_finer(columns[a][level - 1], columns[a][level]):
                node = [each[now[place] - (place == a)] for place, each in enumerate(columns)]
                refinements.append(Refinement(every, combine(node)))
        return refinements

    @validated
    def search(self, dataset: AnyMicrodata) -> Solution:
        """Return the optimum: the levels, their loss, and the number of suppressed records."""
        return self._found(dataset)[1]

    def _found(self, dataset: Microdata) -> tuple[Lattice, Solution]:
        if self.target is not None:
            dataset.schema[self.target]  # refuses a name that does not exist
        requirement = bind_models(self, dataset, () if self.target is None else (self.target,))
        try:
            lattice = Lattice([dataset.hierarchies[name] for name in dataset.schema.quasi_identifiers], requirement)
        except ValueError as error:
            raise SanitizationError(f"{self!r} cannot search '{dataset.name}': {error}") from None
        return lattice, _search(lattice, bind_loss(lattice, self.loss, self.target), self._limit(dataset.record_count))

    def _limit(self, records: int) -> int:
        # # 0.3 of 10 is 3, although the product of the floats is smaller.
        return math.floor(self.suppress * (1 if isinstance(self.suppress, Integral) else records) + ROUNDING)

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        lattice, found = self._found(dataset)
        names, node = dataset.schema.quasi_identifiers, int(np.ravel_multi_index(found.levels, lattice.shape))
        classes, suppressed = _suppressed(lattice, node, dataset.record_count)
        starred = suppressed[lattice.class_of_rows(classes)]
        for a, name in enumerate(names):
            of_rows = np.where(starred, SUPPRESSED, lattice.labels[a][found.levels[a]][lattice.codes[:, a]])
            table[name] = make_categorical(lattice.requirement.index, of_rows)
        note = self._why_all(lattice, found, names, dataset.record_count) if lattice.is_top(node) else ""
        return table, {"claims": self.models, "note": note}

    def _why_all(self, lattice: Lattice, found: Solution, names: Sequence[str], records: int) -> str:
        """Return why every cell is `*`: a model that fails one level below, and the suppression that it would need."""
        limit = self._limit(records)
        note = f"Every quasi-identifier is *: no other levels keep the models and lose less with {limit:,} suppressed."
        ways = []
        for a, labels in enumerate(lattice.labels):
            finer = np.flatnonzero((labels != SUPPRESSED).any(axis=1))
            if len(finer):
                levels = (*found.levels[:a], finer[-1], *found.levels[a + 1 :])
                classes, suppressed = _suppressed(lattice, int(np.ravel_multi_index(levels, lattice.shape)), records)
                ways.append((int(classes.sizes[suppressed].sum()), a, int(finer[-1]), classes))
        needed, a, level, classes = min(ways, key=lambda way: way[:3])
        # # The note is published, so it must not disclose small numbers of people: it states neither the number of
        # classes that # break the model nor the exact number of records to suppress.
        broken = next(each.model for each in lattice.requirement.tallies if lattice.fails(classes, [each]).any())
        needed = max(needed, withholding.LIMIT)
        note += f" With '{names[a]}' at level {level} and all others *, {broken!r} does not hold."
        return note + (f" suppress={needed} allows it." if limit < needed < records else " Relax that model.")


def _suppressed(lattice: Lattice, node: int, records: int) -> tuple[Classes, BoolArray]:
    """Return the classes of a node and the classes to suppress if the number of suppressed records has no limit."""
    classes = lattice.roll_up(node)
    broken = lattice.fails(classes, lattice.requirement.tallies)
    return classes, cast(BoolArray, lattice.suppressed(classes, broken, records))


def _search(lattice: Lattice, loss: Any, limit: int) -> Solution:
    """Return the node of least `loss` that satisfies the models with at most `limit` suppressed records.

    Among nodes whose losses agree in 12 digits, the result is the node with the smallest number of suppressed records.
    Among nodes that also agree in this number, the result is the node with the lowest levels, from the first attribute
    on.

    Four facts rule out nodes. (1) The loss of a node is at least its loss without suppression, which is at least the
    loss without suppression of any lower node. (2) If a model `grows`, a class that violates the model consists of
    classes that violate it at the lower nodes. The lower nodes therefore suppress at least as many records, and
    suppression adds at least as much to their loss. (3) Without suppression, every node below a failing node also
    fails, because the union of two classes that satisfy a model satisfies the model. (4) If a class violates a model by
    a wide margin, some part of the class violates the model at any lower node, see `PrivacyModel.breaking`. Nothing
    else follows from a failure: if models do not grow, or if classes join the suppressed records, a lower node may
    suppress fewer records.
    """
    requirement = lattice.requirement
    grows: list[Tally] = []
    others: list[Tally] = []
    for tally in requirement.beyond_size:
        # People who are only in the population form no class, but they join classes above: presence may fall too low
        # there. A person with records in two classes counts once when these join, so others' shares grow.
        exact = limit or hasattr(tally.model, "population") or requirement.persons is not None
        tells = tally.model.grows or not exact
        (grows if tells else others).append(tally)
    # # The middle of the open nodes: a check there rules out about the same number of nodes above and below.
    heights = [np.arange(levels) / max(levels - 1, 1) for levels in lattice.shape]
    guide = loss.least if np.ptp(loss.least) else reduce(np.add.outer, heights).ravel()
    left = np.argsort(np.round(guide, _DIGITS), kind="stable")  # the open nodes, fewer after each check
    least, added = loss.least.copy(), np.zeros(lattice.nodes)
    found: list[Solution] = []
    bar = np.inf
    while len(left := left[least[left] + added[left] <= bar]):
        middle = len(left) // 2
        node, left = left[middle], np.delete(left, middle)
        below = lattice.below(node)
        classes = lattice.classes(node, below)
        broken = (classes.sizes > 0) & (classes.sizes < requirement.least) | lattice.fails(classes, grows)
        if classes.sizes[broken].sum() > limit:
            left = left[~below[left]]
            continue
        without = loss.without(node, classes)
        if without > least[node]:
            least = np.where(lattice.above(node), np.maximum(least, without), least)
        if loss.falls:
            more = loss.added(node, classes, broken)
            added[node] = max(added[node], more)
            lower = left[below[left]]
            added[lower] = np.maximum(added[lower], more)
        if least[node] + added[node] > bar:
            continue
        suppressed = lattice.suppressed(classes, broken | lattice.fails(classes, others), limit)
        if suppressed is None:
            # With a person key, counts of classes are not additive, so the bound does not apply.
            if others and requirement.persons is None and lattice.breaking(classes, others) > limit + 1e-6:
                left = left[~below[left]]
            continue
        everybody = suppressed | lattice.is_top(node)  # records whose cells are all `*` are lost, for any reason
        total = without + loss.added(node, classes, everybody)
        found.append(Solution(lattice.levels_of(node), float(total), int(classes.sizes[suppressed].sum())))
        best = min(found, key=lambda each: (round(each.loss, _DIGITS), each.suppressed, each.levels))
        bar = best.loss + 10.0**-_DIGITS * max(1.0, best.loss)
    return best
