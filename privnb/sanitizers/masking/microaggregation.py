"""Microaggregation: k-anonymity by averages of groups of similar records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import make_categorical
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
from privnb.sanitizers.masking.base import Masking, steps_to_numbers, to_steps
from privnb.sanitizers.masking.missing_numbers import fill_small_groups, note_filled

AnyK = Annotated[int | OwnAnonymity, lambda _, value: isinstance(value, OwnAnonymity) or check_k(value)]


def _blocks(name: str, value: Any) -> None:
    expect.all_of(name, value, list, tuple, instead='Give blocks of names: (("age", "hours"), ("sex",)).')
    for place, block in enumerate(value):
        expect.texts(f"{name}[{place}]", block, "quasi-identifiers")
    named = [each for block in value for each in block]
    if doubled := sorted({each for each in named if named.count(each) > 1}):
        raise UsageError(f"{name} must name each quasi-identifier once; got {', '.join(doubled)} in several blocks.")
    if not all(value):
        raise UsageError(f"{name} must each name at least one quasi-identifier; got an empty block.")


@dataclass(frozen=True)
class Microaggregation(Masking):
    """Group at least k similar records, and replace their values with the center of the group.

    The center consists of the mean of each number, and of the category that is nearest to all categories of the group.
    Groups are formed by MDAV. Among the remaining records, the record farthest from their average forms a group with
    the k - 1 records nearest to it, and so does the record farthest from the first record. A group has k records, and
    the last group has up to 2k - 1 records. `nearest_groups.mdav` describes ties and the average of categories. The
    distance is Euclidean. Numbers are measured in standard deviations of their column. The distance of two categories
    is the level at which they meet in their hierarchy, divided by the number of levels; for ordered categories, it is
    the distance of their positions in the order. A column with a single value has no effect. The sums and means of
    whole columns stay unchanged, so numbers are not rounded to a step. The published quasi-identifiers of a group are
    equal, so the release satisfies k-anonymity, which is checked. If records have individual values of k, each group is
    at least as large as its records require, see `group_by_own_k`. Records with missing numbers in the same columns are
    grouped among themselves, so that a missing number stays missing. If there are fewer than k such records, their
    missing numbers are replaced by numbers drawn from the columns, and the provenance states how many numbers were
    replaced.

    Parameters
    ----------
    k : int or OwnAnonymity
        The minimum size of a group, from 2 to the number of records; a larger k hides each person among more people and
        loses more detail. An `OwnAnonymity` contains the name of the column with the individual k of each record.
    blocks : tuple of tuples of str
        Blocks of quasi-identifiers. The records are grouped separately for each block; quasi-identifiers that are not
        in a block are published unchanged. With several blocks, less information is lost, but no k is promised. By
        default, all quasi-identifiers form one block.

    Source: Domingo-Ferrer and Torra, "Ordinal, Continuous and Heterogeneous k-Anonymity through Microaggregation", Data
    Mining and Knowledge Discovery 2005, section 4; Domingo-Ferrer and Mateo-Sanz, TKDE 2002, for the numbers.
    """

    k: AnyK = 3
    blocks: Annotated[tuple[tuple[str, ...], ...], _blocks] = ()
    title = "Microaggregation"
    letters = requires = ("k",)

    @classmethod
    def contract_examples(cls, schema: Schema) -> list[Self]:
        """Return sanitizers for the contract tests."""
        return [cls(2), cls(3, (tuple(schema.quasi_identifiers[:2]),))]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "blocks", tuple(map(tuple, self.blocks)))

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        known = eligibility.require_quasi_identifiers(self, dataset.schema, "average")
        blocks = self.blocks or (tuple(known),)
        if unknown := [name for block in blocks for name in block if name not in known]:
            raise SanitizationError(
                f"{self!r}: `blocks` must name quasi-identifiers of '{dataset.name}', which are "
                f"{', '.join(known)}; got {unknown}."
            )
        ks = self._requested_ks(dataset)
        eligibility.check_records_for_k(self, int(np.max(ks)), len(dataset))
        table, facts = average_groups(dataset, table, blocks, ks, rng)
        if len(blocks) == 1 and len(blocks[0]) == len(known):
            return table, facts | {"claims": (self.k if isinstance(self.k, OwnAnonymity) else KAnonymity(self.k),)}
        note = "Each block of quasi-identifiers has its own groups, so no k is promised for all of them together."
        return table, facts | {"note": " ".join(filter(None, [note, facts["note"]]))}

    def _requested_ks(self, dataset: Microdata) -> int | IntArray:
        """Return the k that all records share, or the k of each record as an integer array (n,)."""
        if not isinstance(self.k, OwnAnonymity):
            return int(self.k)
        attribute = dataset.schema[self.k.sensitive]
        return np.array(self.k.ks)[tally(self.k, dataset.cells[attribute.name], attribute)[0]]


def average_groups(
    dataset: Microdata,
    table: pd.DataFrame,
    blocks: Sequence[Sequence[str]],
    ks: int | IntArray,
    rng: Generator,
    *,
    optimal: bool = False,
) -> Sanitized:
    """Return the table with the centers of groups in the columns of each block, and the facts about this table.

    `optimal`: whether to use the groups with the least loss; each block must then consist of one number.
    """
    filled: dict[str, int] = {}
    for block in blocks:
        columns, own = _centres(dataset, table, block, ks, rng, optimal)
        filled |= own
        for name, column in columns.items():
            table[name] = column
    return table, {"perturbed": [name for block in blocks for name in block], "note": note_filled(filled)}


def _centres(
    dataset: Microdata, table: pd.DataFrame, names: Sequence[str], ks: int | IntArray, rng: Generator, optimal: bool
) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the columns of a block with the center of each record's group, and the number of filled missing numbers.

    Both results are by column: `{name: coded column}` and `{name: number}`.
    """
    attributes = [dataset.schema[name] for name in names]
    places = [to_steps(each, table[each.name]) if each.numeric else dataset.codes[each.name] for each in attributes]
    codes, numeric = np.column_stack(places), [each.numeric for each in attributes]
    last = [each.numbers.steps if each.numeric else 0 for each in attributes]
    lacking = (codes > last) & numeric
    codes, left, pattern = fill_small_groups(codes, lacking, ks, rng)
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
    columns = {
        name: make_categorical(groups, np.concatenate(found)) for name, found in zip(names, centres, strict=True)
    }
    return columns, {name: int(many) for name, many in zip(names, filled, strict=True)}


def _grouped(
    dataset: Microdata, attributes: Sequence[Any], codes: IntArray, ks: Any, optimal: bool
) -> tuple[IntArray, list[Array]]:
    """Return the group of each record as an integer array (n,), and for each attribute the centers of the groups.

    `codes` is an integer array (n, attributes); if there are no attributes, all records form one group.
    """
    from privnb.sanitizers.algorithms.nearest_groups import (  # numba is slow to import
        find_centres,
        group_by_own_k,
        locate_records,
        mdav,
    )
    from privnb.sanitizers.algorithms.optimal_groups import find_optimal_groups

    if not attributes:
        return np.zeros(len(codes), dtype=np.int64), []
    columns = list(codes.T)
    extents = [None if each.numeric else dataset.hierarchies[each.name].extent() for each in attributes]
    occurring = {}
    for a, extent in enumerate(extents):
        if (
            extent is not None and extent.groups is not None
        ):  # a value that does not occur is not the nearest one to a group
            occurring[a], columns[a] = np.unique(columns[a], return_inverse=True)
            extents[a] = extent._replace(groups=extent.groups[:, occurring[a]])
    space, points, order = locate_records(np.column_stack(columns), extents)
    if optimal:
        groups = find_optimal_groups(codes[:, 0], ks)
    else:
        groups = mdav(space, points, ks) if isinstance(ks, int) else group_by_own_k(space, points, ks)
    sizes, found = np.bincount(groups), []
    for a, attribute in enumerate(attributes):
        means = np.bincount(groups, columns[a]) / sizes
        if attribute.numeric:
            centres = steps_to_numbers(attribute, means)
        elif a not in occurring:
            centres = _leaves(dataset, attribute, np.rint(means).astype(np.int64))
        else:
            rows, first = points[:, order.index(a)], space.begin[order.index(a)]
            centres = _leaves(dataset, attribute, occurring[a][find_centres(space, rows, groups) - first])
        found.append(centres)
    return groups, found


def _leaves(dataset: Microdata, attribute: Attribute, positions: IntArray) -> Array:
    return np.array(dataset.hierarchies[attribute.name].leaves, dtype=object)[positions]
