"""Full-domain generalization: one level an attribute for the whole table, the best of all combinations."""

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
from privnb.microdata.columns import of_codes
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Role, Schema
from privnb.privacy_models import KAnonymity, PrivacyModel, TCloseness
from privnb.privacy_models.base import Tally
from privnb.runtime import expect
from privnb.runtime.arrays import BoolArray
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import one_of, validated
from privnb.sanitizers.algorithms.lattice import Classes, Lattice, loss_of
from privnb.sanitizers.algorithms.options import OF_CELLS, OF_CLASSES
from privnb.sanitizers.base import AnyMicrodata, Sanitized
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.generalization.model_based import ModelBasedSanitizer, requirement_of

LOSSES = (*OF_CELLS, *OF_CLASSES)
SUPPRESS = 0.05  # the share of records that may be suppressed where nobody says how many
_DIGITS = 12  # after which losses differ by rounding
Target = Annotated[str, lambda name, value: expect.text(name, value, "the attribute to be predicted")]


def _suppress(name: str, value: Any) -> None:
    number = isinstance(value, Integral | float) and not isinstance(value, bool)
    if not (number and 0 <= value < (1 if isinstance(value, float) else math.inf)):
        raise UsageError(
            f"{name} must be a whole number of records, or a share from 0 to below 1, got {expect.found(value)}."
        )


class Solution(NamedTuple):
    """A node that keeps the models: each attribute's level, its loss, and how many records it suppresses."""

    levels: tuple[int, ...]
    loss: float
    suppressed: int


@dataclass(frozen=True, init=False, repr=False)
class FullDomain(ModelBasedSanitizer):
    """Generalize each quasi-identifier to one level for all records, so that every class keeps `models` and the least
    is lost: the exact optimum of all combinations of levels.

    Levels are those of a `Taxonomy`, or the widths of `Intervals` and then `*`, or the exact number, the public
    intervals of `LeveledRanges` and then `*`: fewer of these where there are more than 65,536 combinations. Any other
    attribute has two, the exact value and `*`: give it a taxonomy or intervals where that is too coarse. The search
    takes seconds for 65,536 combinations, and half a minute or more for 262,144, such as six numbers with eight levels
    each, however few records there are: state fewer widths where that is too long.

    Records whose class breaks a model are suppressed (every quasi-identifier `*`). Together they are a class of the
    release, **which must keep the models too**: until it does, the smallest other class joins (of equals the one with
    the first record, by the values' order on the attributes' lines); levels that need more than `suppress` records are
    no solution. Otherwise one suppressed record, whom no other resembles, would stand alone, and claims could not be
    checked from the labels. Samarati and ARX exempt the suppressed, so they may suppress fewer.

    Of equal losses the one with fewer suppressed records is chosen, then the one with lower levels, from the first
    attribute on.

    The top, `*` throughout, is a solution unless all records as one class break a model. When the top is the optimum,
    the provenance's note says why.

    Parameters
    ----------
    models : PrivacyModel, one or more
    suppress : int or float
        The most records that may be suppressed: a whole number, or a share below 1 of all records, rounded down. With
        0, one record that is like no other decides all levels, and often every quasi-identifier of every record is
        `*`, which the provenance's note then says; 0.05 is what policies try.
    loss : str
        What is least, a measure of `information_loss` by name: "certainty penalty", "normalized certainty penalty",
        "loss metric", "non-uniform entropy", "height" (1 - precision), "discernibility", "average class size", or
        "classification metric".
    target : str, optional
        The attribute to be predicted, with loss="classification metric" alone.

    Raises
    ------
    SanitizationError
        Where all records as one class break a model, and for a lattice of more than 4 million nodes.

    Source: Samarati, IEEE TKDE 13(6), 2001 (full domain with a suppression limit); LeFevre, DeWitt, Ramakrishnan,
    "Incognito", SIGMOD 2005 (what fails above fails below). Deviations: solutions are ranked by their loss, not by
    their height, and the suppressed are a class.
    """

    suppress: Annotated[float, _suppress] = 0
    loss: Annotated[str, one_of(LOSSES)] = "certainty penalty"
    target: Target | None = None
    title = "Full-domain recoding"
    counts_people = True
    global_recoding = True
    slow = True

    @classmethod
    def keeping(cls, models: Sequence[PrivacyModel], sensitive: str | None = None) -> Self:
        """With at most 5 % of the records suppressed: one record whom nobody resembles must not decide all levels."""
        return cls(*models, suppress=SUPPRESS)

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        whole: dict[str, Any]
        whole, other = {"suppress": 20, "loss": "classification metric"}, schema.names(Role.NEUTRAL)[0]
        return [cls(KAnonymity(2), suppress=0.5), cls(TCloseness(0.3, schema.sensitive[0]), **whole, target=other)]

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.target is not None) != (self.loss == "classification metric"):
            raise UsageError(
                f"target names the attribute for loss='classification metric' and nothing else, got "
                f"target={expect.found(self.target)} with loss={self.loss!r}."
            )

    @validated
    def search(self, dataset: AnyMicrodata) -> Solution:
        """Return the optimum: which levels, what they lose, and how many records are suppressed."""
        return self._found(dataset)[1]

    def _found(self, dataset: Microdata) -> tuple[Lattice, Solution]:
        if self.target is not None:
            dataset.schema[self.target]  # refuses a name that does not exist
        requirement = requirement_of(self, dataset, () if self.target is None else (self.target,))
        try:
            lattice = Lattice([dataset.hierarchies[name] for name in dataset.schema.quasi_identifiers], requirement)
        except ValueError as error:
            raise SanitizationError(f"{self!r} cannot search '{dataset.name}': {error}") from None
        return lattice, _search(lattice, loss_of(lattice, self.loss, self.target), self._limit(dataset.record_count))

    def _limit(self, records: int) -> int:
        # 0.3 of 10 is 3, although the float lies below.
        return math.floor(self.suppress * (1 if isinstance(self.suppress, Integral) else records) + ROUNDING)

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        lattice, found = self._found(dataset)
        names, node = dataset.schema.quasi_identifiers, int(np.ravel_multi_index(found.levels, lattice.shape))
        classes, suppressed = _suppressed(lattice, node, dataset.record_count)
        starred = suppressed[lattice.class_of_rows(classes)]
        for a, name in enumerate(names):
            of_rows = np.where(starred, SUPPRESSED, lattice.labels[a][found.levels[a]][lattice.codes[:, a]])
            table[name] = of_codes(lattice.requirement.index, of_rows)
        note = self._why_all(lattice, found, names, dataset.record_count) if lattice.is_top(node) else ""
        return table, {"claims": self.models, "note": note}

    def _why_all(self, lattice: Lattice, found: Solution, names: Sequence[str], records: int) -> str:
        """Why every cell is `*`: what fails just below, and how many suppressed records would allow it."""
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
        # A note is published: it says nothing of few people, so neither how many classes break it nor an exact need.
        broken = next(each.model for each in lattice.requirement.tallies if lattice.fails(classes, [each]).any())
        needed = max(needed, withholding.LIMIT)
        note += f" With '{names[a]}' at level {level} and all others *, {broken!r} does not hold."
        return note + (f" suppress={needed} allows it." if limit < needed < records else " Relax that model.")


def _suppressed(lattice: Lattice, node: int, records: int) -> tuple[Classes, BoolArray]:
    """The classes of a node and which of them have to be suppressed, however many `records` that takes."""
    classes = lattice.roll_up(node)
    broken = lattice.fails(classes, lattice.requirement.tallies)
    return classes, cast(BoolArray, lattice.suppressed(classes, broken, records))


def _search(lattice: Lattice, loss: Any, limit: int) -> Solution:
    """The node of least `loss` that keeps the models with at most `limit` records suppressed.

    Of nodes that lose the same to 12 digits, the one with fewest suppressed, then with the lowest levels, from the
    first attribute on.

    What rules nodes out: (1) A node costs no less than with nobody suppressed, and that no less than a node below it.
    (2) A class that breaks a model which `grows` is made of classes that break it at the nodes below: these suppress
    no fewer records, and suppression adds no less to their loss. (3) With nobody to be suppressed, a node below one
    that fails fails, as two classes that hold make one that holds. (4) Of a class that breaks a model by far some part
    breaks it at any node below, see `PrivacyModel.breaking`. Nothing else follows from a failure: where models do not
    grow, or where classes join the suppressed, a lower node may suppress fewer records.
    """
    requirement = lattice.requirement
    grows: list[Tally] = []
    others: list[Tally] = []
    for tally in requirement.beyond_size:
        # People of a population alone make no class, and yet they join those above: presence may fall too low there.
        # Who has records in two classes is one person where they join: others have larger shares of the members.
        exact = limit or hasattr(tally.model, "population") or requirement.persons is not None
        tells = tally.model.grows or not exact
        (grows if tells else others).append(tally)
    # The middle of the open nodes: a check there tells of as many above as below.
    heights = [np.arange(levels) / max(levels - 1, 1) for levels in lattice.shape]
    guide = loss.least if np.ptp(loss.least) else reduce(np.add.outer, heights).ravel()
    left = np.argsort(np.round(guide, _DIGITS), kind="stable")  # the open nodes, which are ever fewer
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
            # A person has records in several classes, so that their counts are no means.
            if others and requirement.persons is None and lattice.breaking(classes, others) > limit + 1e-6:
                left = left[~below[left]]
            continue
        everybody = suppressed | lattice.is_top(node)  # who is `*` throughout is lost, whatever brought it about
        total = without + loss.added(node, classes, everybody)
        found.append(Solution(lattice.levels_of(node), float(total), int(classes.sizes[suppressed].sum())))
        best = min(found, key=lambda each: (round(each.loss, _DIGITS), each.suppressed, each.levels))
        bar = best.loss + 10.0**-_DIGITS * max(1.0, best.loss)
    return best
