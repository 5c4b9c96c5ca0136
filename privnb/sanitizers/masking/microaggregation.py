"""k-anonymity by averages: records that are alike are published as the centre of their group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import of_codes
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Schema
from privnb.privacy_models import KAnonymity, check_k, tally
from privnb.privacy_models.anonymity import OwnAnonymity
from privnb.runtime import expect
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.sanitizers import eligibility
from privnb.sanitizers.base import Sanitized
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.base import Masking, numbers, steps
from privnb.sanitizers.masking.missing_numbers import counted, without_small_gaps

AnyK = Annotated[int | OwnAnonymity, lambda _, value: isinstance(value, OwnAnonymity) or check_k(value)]


def _blocks(name: str, value: Any) -> None:
    expect.all_of(name, value, list, tuple, instead='Give blocks of names: (("age", "hours"), ("sex",)).')
    for place, block in enumerate(value):
        expect.texts(f"{name}[{place}]", block, "quasi-identifiers")
    named = [each for block in value for each in block]
    if doubled := sorted({each for each in named if named.count(each) > 1}):
        raise UsageError(f"{name} must have each quasi-identifier once, got {', '.join(doubled)} in several.")
    if not all(value):
        raise UsageError(f"{name} must name one quasi-identifier or more each, got one without any.")


@dataclass(frozen=True)
class Microaggregation(Masking):
    """Put every record into a group of at least k similar ones, and publish the centre of its group in its place: means
    of numbers, and of categories the value that lies nearest to all.

    Groups are those of MDAV: of the records that are left, the one farthest from their average and the one farthest
    from that take the k - 1 nearest each. A group has k records, the last up to 2k - 1. Ties, and what the average of
    categories is: see `nearest_groups.mdav`. The distance is Euclid's; a number counts in its standard deviations, a
    category by its hierarchy: the level at which two values meet, divided by all levels, or how far apart they stand in
    an order. Columns of one value count nothing. Sums, and so the means of whole columns, stay as they were, so numbers
    are not rounded to a step. All quasi-identifiers of a group are equal as published: that is k-anonymity, and it is
    checked. Where each record has a k of its own, its group has as many at least, see `own_groups`. Records with
    missing numbers in the same columns are grouped among themselves, so that a missing number stays missing. Of fewer
    than k such records the missing numbers are drawn from their columns, and the provenance counts them.

    Parameters
    ----------
    k : int or OwnAnonymity
        From 2 to the number of records; larger hides each person among more others and costs more detail. A model
        names the column that holds each record's own.
    blocks : tuple of tuples of str
        Quasi-identifiers that are grouped together, each block by itself; those that no block names are published as
        they are. Several blocks lose less, and promise no k. None named: all quasi-identifiers are one block.

    Source: Domingo-Ferrer and Torra, "Ordinal, Continuous and Heterogeneous k-Anonymity through Microaggregation",
    Data Mining and Knowledge Discovery 2005, section 4; Domingo-Ferrer and Mateo-Sanz, TKDE 2002, for the numbers.
    """

    k: AnyK = 3
    blocks: Annotated[tuple[tuple[str, ...], ...], _blocks] = ()
    title = "Microaggregation"
    letters = requires = ("k",)

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        return [cls(2), cls(3, (tuple(schema.quasi_identifiers[:2]),))]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "blocks", tuple(map(tuple, self.blocks)))

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        known = eligibility.quasi_identifiers(self, dataset.schema, "average")
        blocks = self.blocks or (tuple(known),)
        if unknown := [name for block in blocks for name in block if name not in known]:
            raise SanitizationError(
                f"{self!r}: {unknown} is no quasi-identifier of '{dataset.name}'; those are {', '.join(known)}."
            )
        ks = self._asked(dataset)
        eligibility.check_k(self, int(np.max(ks)), len(dataset))
        table, facts = averaged(dataset, table, blocks, ks, rng)
        if len(blocks) == 1 and len(blocks[0]) == len(known):
            return table, facts | {"claims": (self.k if isinstance(self.k, OwnAnonymity) else KAnonymity(self.k),)}
        note = "Groups are of some quasi-identifiers each, so no k is promised of all of them."
        return table, facts | {"note": " ".join(filter(None, [note, facts["note"]]))}

    def _asked(self, dataset: Microdata) -> int | IntArray:
        """The k of all, or of each record: integer array (n,)."""
        if not isinstance(self.k, OwnAnonymity):
            return int(self.k)
        attribute = dataset.schema[self.k.sensitive]
        return np.array(self.k.ks)[tally(self.k, dataset.cells[attribute.name], attribute)[0]]


def averaged(
    dataset: Microdata,
    table: pd.DataFrame,
    blocks: Sequence[Sequence[str]],
    ks: int | IntArray,
    rng: Generator,
    *,
    optimal: bool = False,
) -> Sanitized:
    """The table with the centre of its group for each record in the columns of each block, and what is said of them.

    `optimal`: each block is one number, and has the groups that lose least.
    """
    filled: dict[str, int] = {}
    for block in blocks:
        columns, own = _centres(dataset, table, block, ks, rng, optimal)
        filled |= own
        for name, column in columns.items():
            table[name] = column
    return table, {"perturbed": [name for block in blocks for name in block], "note": counted(filled)}


def _centres(
    dataset: Microdata, table: pd.DataFrame, names: Sequence[str], ks: int | IntArray, rng: Generator, optimal: bool
) -> tuple[dict[str, Any], dict[str, int]]:
    """The columns of a block with the centre of its group for each record, `{name: coded column}`; and how many missing
    numbers were filled, by column.
    """
    attributes = [dataset.schema[name] for name in names]
    places = [steps(each, table[each.name]) if each.numeric else dataset.codes[each.name] for each in attributes]
    codes, numeric = np.column_stack(places), [each.numeric for each in attributes]
    last = [each.numbers.steps if each.numeric else 0 for each in attributes]
    lacking = (codes > last) & numeric
    codes, left, pattern = without_small_gaps(codes, lacking, ks, rng)
    groups = np.empty(len(codes), dtype=np.int64)
    centres: list[list[Array]] = [[] for _ in attributes]
    for number in range(pattern.max() + 1):
        rows, begin = np.flatnonzero(pattern == number), sum(map(len, centres[0]))
        there = np.flatnonzero(~left[rows[0]])
        own = ks if isinstance(ks, int) else ks[rows]
        within, found = _grouped(dataset, [attributes[a] for a in there], codes[np.ix_(rows, there)], own, optimal)
        groups[rows] = within + begin
        for a, centre in zip(there, found, strict=True):
            centres[a].append(centre)
        for a in np.flatnonzero(left[rows[0]]):
            centres[a].append(np.full(within.max() + 1, np.nan))
    filled = (lacking & ~left).sum(axis=0)
    columns = {name: of_codes(groups, np.concatenate(found)) for name, found in zip(names, centres, strict=True)}
    return columns, {name: int(many) for name, many in zip(names, filled, strict=True)}


def _grouped(
    dataset: Microdata, attributes: Sequence[Any], codes: IntArray, ks: Any, optimal: bool
) -> tuple[IntArray, list[Array]]:
    """The group of each record, integer array (n,), and of each attribute the centres of the groups, a list of arrays.

    `codes`: integer array (n, attributes); without any attribute all are one group.
    """
    from privnb.sanitizers.algorithms.nearest_groups import (  # numba is slow to import
        central,
        located,
        mdav,
        own_groups,
    )
    from privnb.sanitizers.algorithms.optimal_groups import optimal_groups

    if not attributes:
        return np.zeros(len(codes), dtype=np.int64), []
    columns = list(codes.T)
    extents = [None if each.numeric else dataset.hierarchies[each.name].extent() for each in attributes]
    occurring = {}
    for a, extent in enumerate(extents):
        if extent is not None and extent.groups is not None:  # no value that nobody has is nearest to any group
            occurring[a], columns[a] = np.unique(columns[a], return_inverse=True)
            extents[a] = extent._replace(groups=extent.groups[:, occurring[a]])
    space, points, order = located(np.column_stack(columns), extents)
    if optimal:
        groups = optimal_groups(codes[:, 0], ks)
    else:
        groups = mdav(space, points, ks) if isinstance(ks, int) else own_groups(space, points, ks)
    sizes, found = np.bincount(groups), []
    for a, attribute in enumerate(attributes):
        means = np.bincount(groups, columns[a]) / sizes
        if attribute.numeric:
            centres = numbers(attribute, means)
        elif a not in occurring:
            centres = _leaves(dataset, attribute, np.rint(means).astype(np.int64))
        else:
            rows, first = points[:, order.index(a)], space.begin[order.index(a)]
            centres = _leaves(dataset, attribute, occurring[a][central(space, rows, groups) - first])
        found.append(centres)
    return groups, found


def _leaves(dataset: Microdata, attribute: Attribute, positions: IntArray) -> Array:
    return np.array(dataset.hierarchies[attribute.name].leaves, dtype=object)[positions]
