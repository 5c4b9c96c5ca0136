"""Generalization of categories by a tree (`Taxonomy`), in order (`Ordered`), or as sets (`Sets`)."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from privnb.microdata.hierarchy.generalization import (
    SUPPRESSED,
    Extent,
    Generalization,
    OfItsValues,
    OfLeaves,
    OnALine,
    check_classes,
)
from privnb.microdata.hierarchy.intervals import Ranges
from privnb.microdata.schema import Attribute, Categories, Numbers, SchemaError, to_text
from privnb.runtime import expect, validation
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.validation import validated

HEADER = re.compile(r"\s*(level|generali[sz]ation|hierarchy)[\W_]*\d*\s*", re.IGNORECASE)  # names of levels, not labels


class _WorkedOut(OfLeaves, OnALine):
    """The fields that a `Taxonomy` computes from its rows when it is created."""

    _as_given: tuple[tuple[str, ...], ...]  # the rows in the order in which they were given
    _spans: dict[str, tuple[int, int]]  # the first and last position of each label


@dataclass(frozen=True)
class Taxonomy(_WorkedOut):
    """A generalization hierarchy: each leaf's labels from the leaf up to the root `*`.

    Parameters
    ----------
    name : str
        The name of the attribute.
    rows : tuple of tuple of str
        One row per leaf, (leaf, level 1, ..., "*"), as in ARX's CSV files. Each level must be a coarsening of the level
        below it.

    Raises
    ------
    SchemaError
        If a level is not a coarsening of the level below it, if a leaf is repeated, if rows differ in length, or if a
        label is used for two different sets of leaves.

    >>> tree = Taxonomy("sex", (("Male", "*"), ("Female", "*")))
    >>> tree.height, tree.label(0, 1), tree.covered("*").tolist()
    (1, '*', [0, 1])
    """

    name: str
    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        expect.text("name", self.name, "an attribute")
        expect.all_of("rows", self.rows, tuple, list)
        if {*map(type, chain.from_iterable(self.rows))} - {str}:
            for row in self.rows:
                expect.all_of("row", row, str)
        if not self.rows:
            raise SchemaError(f"hierarchy '{self.name}' has no rows. Give one line per leaf: leaf;level 1;...;*")
        lengths = {len(row) for row in self.rows}
        if len(lengths) > 1 or min(lengths) < 2:
            short = min(self.rows, key=len)
            if max(lengths) < 2:
                raise SchemaError(
                    f"hierarchy '{self.name}' has no level above its leaves. Write 'leaf;*' in each line."
                )
            raise SchemaError(
                f"hierarchy '{self.name}' is ragged: leaf '{short[0]}' has {len(short)} levels, and other leaves have "
                f"{max(lengths)}. Repeat a label to fill a level; each line needs at least leaf;*"
            )
        columns = [*zip(*self.rows, strict=True)]
        levels = [
            pd.factorize(np.array(column, dtype=object)) for column in columns
        ]  # nodes are numbered in the order of their first appearance
        if len(levels[0][1]) < len(self.rows):
            twice = sorted(leaf for leaf, count in Counter(columns[0]).items() if count > 1)
            raise SchemaError(
                f"hierarchy '{self.name}' holds the leaf {twice} more than once. Keep one line for each leaf."
            )
        if other := next((row for row in self.rows if row[-1] != SUPPRESSED), None):
            raise SchemaError(
                f"hierarchy '{self.name}': leaf '{other[0]}' ends in '{other[-1]}', not in '*'. Write '*' as the last "
                "level."
            )
        for level, ((child, children), (parent, parents)) in enumerate(pairwise(levels), 1):
            known = np.empty(len(children), dtype=np.intp)
            known[child[::-1]] = parent[::-1]  # the first parent of each child
            if (lost := known[child] != parent).any():
                row = lost.argmax()
                own, one, two = children[child[row]], parents[known[child[row]]], parents[parent[row]]
                raise SchemaError(
                    f"hierarchy '{self.name}': level {level} does not coarsen level {level - 1}, because '{own}' is a "
                    "child "
                    f"of both '{one}' and '{two}'. Give the label one parent."
                )
        object.__setattr__(self, "_as_given", self.rows)
        # Depth-first order makes every inner node a run of neighboring leaves.
        order = np.lexsort([codes for codes, _ in levels])
        object.__setattr__(self, "rows", tuple(self.rows[place] for place in order.tolist()))
        object.__setattr__(self, "_spans", self._found([(codes[order], labels) for codes, labels in levels]))

    @classmethod
    @validated
    def read(cls, path: validation.Path, domain: Numbers | Categories) -> Taxonomy:
        """Read a file in ARX's layout (`leaf;level 1;...;*`, no header), and check it against the attribute's domain.

        A top level with a single label other than `*`, such as `Any`, is read as `*`. If the top level has several
        labels, `*` is added above it.

        Parameters
        ----------
        path : path-like
        domain : Numbers or Categories
            The domain of the attribute. Each value of the domain needs a leaf; leaves that are not values of the domain
            are dropped.

        Returns
        -------
        Taxonomy
            The tree, whose `name` is the name of the file.

        Raises
        ------
        SchemaError
            For a path that is not a file, a missing leaf, or rows that do not form a tree.
        """
        rows, leaves = read_rows(path), list_values(domain)
        _refuse_header(path, rows, leaves)
        tree = cls(Path(path).stem, _rooted(rows))
        if absent := [leaf for leaf in leaves if leaf not in tree._index]:
            raise SchemaError(
                f"hierarchy {path}: the leaves {absent[:3]} are missing ({len(absent)} in all). Add a line for each "
                "missing leaf."
            )
        # ARX's files may hold leaves that are not in the domain; they can never occur.
        known = set(leaves)
        return tree if len(tree.leaves) == len(known) else cls(tree.name, tuple(r for r in tree.rows if r[0] in known))

    def write(self, path: Any) -> None:
        """Write the tree to a file in ARX's layout; see `file_text`."""
        Path(path).write_bytes(self.file_text().encode())

    def file_text(self) -> str:
        """Return the content of a file in ARX's layout.

        The leaves are in the order of the rows from which the tree was made.
        """
        # The csv module quotes a line break only if it also writes such line breaks.
        quoting: Literal[0, 1] = (
            csv.QUOTE_ALL if any("\r" in cell for row in self._as_given for cell in row) else csv.QUOTE_MINIMAL
        )
        file = io.StringIO(newline="")
        csv.writer(file, delimiter=";", lineterminator="\n", quoting=quoting).writerows(self._as_given)
        return file.getvalue()

    @property
    def height(self) -> int:
        """The number of levels above the leaves."""
        return len(self.rows[0]) - 1

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The labels of the leaves in depth-first order."""
        return tuple(row[0] for row in self.rows)

    @cached_property
    def groups(self) -> IntArray:
        """The number of the node that contains each leaf at each level, as an integer array (height + 1, leaves)."""
        return np.array([pd.factorize(column, sort=True)[0] for column in self._columns], dtype=np.int32)

    @cached_property
    def _columns(self) -> Array:
        """The label of each leaf at each level, as an object array (height + 1, leaves)."""
        return np.array(self.rows, dtype=object).T

    def _found(self, levels: Sequence[tuple[IntArray, Array]]) -> dict[str, tuple[int, int]]:
        """Return the first and the last position that each label covers.

        `levels` holds, for each level, the code of each leaf's label and the labels.
        """
        spans: dict[str, tuple[int, int]] = {}
        place = np.arange(len(self.rows))
        for codes, labels in levels:
            ends = np.empty((len(labels), 2), dtype=np.intp)
            ends[codes[::-1], 0], ends[codes, 1] = place[::-1], place
            for label, (first, last) in zip(labels, ends.tolist(), strict=True):
                if spans.setdefault(label, (first, last)) != (first, last):
                    raise SchemaError(
                        f"hierarchy '{self.name}': the label '{label}' is used for two different sets of leaves. "
                        "Rename one of the labels, because a reader of the release could not distinguish them."
                    )
        return spans

    def with_leaves(self, leaves: Iterable[str]) -> Taxonomy:
        """Return the tree with additional leaves; the label of an additional leaf is the same at all levels below `*`.

        >>> Taxonomy("sex", (("Male", "*"), ("Female", "*"))).with_leaves(["X"]).rows[-1]
        ('X', '*')
        """
        more = ((leaf, *[leaf] * (self.height - 1), SUPPRESSED) for leaf in leaves)
        return Taxonomy(self.name, (*self._as_given, *more))

    def generalize(self, values: Any, level: int) -> list[str]:
        """Return the labels of `values` at a `level` from 0 (the leaf) to `height` (`*`), for full-domain recoding."""
        return self._columns[level, self.codes(values)].tolist()

    def levels(self) -> pd.DataFrame:
        """Return a table of the levels: the number of groups, the size of the largest group, and examples.

        >>> Taxonomy("sex", (("Male", "*"), ("Female", "*"))).levels()
           level  groups  largest      examples
        0      0       2        1  Male, Female
        1      1       1        2             *
        """
        rows = []
        for level, labels in enumerate(self._columns):
            groups = Counter(labels.tolist())
            examples = ", ".join(list(groups)[:3]) + (", ..." if len(groups) > 3 else "")
            rows.append((level, len(groups), max(groups.values()), examples))
        return pd.DataFrame(rows, columns=["level", "groups", "largest", "examples"])

    def widest(self) -> int:
        """Return the largest number of children that any node of the tree has."""
        return max(int(np.bincount(np.unique(pair, axis=1)[1]).max()) for pair in pairwise(self.groups))

    def level(self, low: int, high: int) -> int:
        """Return the level of the lowest common ancestor of the leaves at two positions."""
        return int(np.argmax(self.groups[:, low] == self.groups[:, high]))

    def _names(self, low: IntArray, high: IntArray) -> Array:
        return self._columns[np.argmax(self.groups[:, low] == self.groups[:, high], axis=0), low]

    def ends(self, label: str) -> tuple[int, int]:
        """Return the first and the last position that a label covers."""
        if to_text(label) not in self._spans:
            raise self._unknown(label)
        return self._spans[to_text(label)]

    def extent(self) -> Extent:
        """Return an extent that measures the width of a generalization by the levels of the tree."""
        return Extent(self.height, self.groups)


@dataclass(frozen=True)
class _Listed(OfLeaves):
    """Categories whose labels list values, separated by "|".

    A single value is its own label, and the label `*` covers all values.
    """

    name: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        expect.text("name", self.name, "an attribute")
        Categories(self.values)  # refuses repeated values
        for value in self.values:
            if "|" in value or value == SUPPRESSED:
                raise SchemaError(
                    f"'{self.name}': the value '{value}' cannot be used in labels, which join values by '|' and write "
                    "'*' for all. Rename the value in the domain and in the data, or give the attribute a hierarchy "
                    "file."
                )

    @property
    def leaves(self) -> tuple[str, ...]:
        """The values of the attribute, in the order of the public domain."""
        return self.values

    def _joined(self, positions: Sequence[int] | Array) -> str:
        if len(positions) == len(self.values) > 1:
            return SUPPRESSED
        return "|".join([self.values[position] for position in positions])

    def _listed(self, label: str) -> IntArray:
        """Return the positions of the values that a label lists; the label must list the values in ascending order."""
        if label == SUPPRESSED:
            return np.arange(len(self.values))
        positions = np.array([self._index.get(part, -1) for part in to_text(label).split("|")])
        if positions[0] < 0 or (np.diff(positions) <= 0).any():
            raise self._unknown(label)
        return positions


@dataclass(frozen=True)
class Ordered(OfItsValues, _Listed):
    """Categories with an order, which is the order of the public domain.

    A label lists all values from the lowest to the highest value of the class. The distance between two values is the
    distance between their positions. Unless `exact` is true, a release replaces the lowest or the highest value of a
    label if few people share it: the label then ends at the next value outwards that many people share or, if there is
    no such value, at the end of the order.

    Parameters
    ----------
    name : str
        The name of the attribute.
    values : tuple of str
        The values of the domain, in order.
    exact : bool
        See `Ranges`.

    Raises
    ------
    SchemaError
        For a value that is `*`, that contains "|", or that is repeated.

    >>> grades = Ordered("education", ("9th", "10th", "11th", "12th"))
    >>> grades.label(0, 2), grades.covered("10th|11th").tolist(), grades.width("10th|11th")
    ('9th|10th|11th', [1, 2], 0.3333333333333333)
    """

    exact: bool = False

    def _outwards(self, low: IntArray, high: IntArray, shared: IntArray) -> tuple[IntArray, IntArray]:
        shared = np.asarray(shared, dtype=np.int64)
        below = np.append(0, shared)[np.searchsorted(shared, low, side="right")]
        return below, np.append(shared, self.size - 1)[np.searchsorted(shared, high)]

    def _names(self, low: IntArray, high: IntArray) -> Array:
        runs = zip(low.tolist(), high.tolist(), strict=True)
        return np.array([self._joined(range(first, last + 1)) for first, last in runs], dtype=object)

    def ends(self, label: str) -> tuple[int, int]:
        """Return the first and the last position that a label covers."""
        positions = self._listed(label)
        if (np.diff(positions) > 1).any():
            raise self._unknown(label)
        return int(positions[0]), int(positions[-1])

    def extent(self) -> Extent:
        """Return an extent that measures the width of a generalization by the distance between positions."""
        return Extent(len(self.values) - 1, None)


@dataclass(frozen=True)
class Sets(_Listed):
    """Categories without an order: a label lists exactly the values in the class, in the order of the domain.

    Two values are either equal or different; no pair of values is closer than another pair. A label discloses, for each
    value that it lists, that somebody in the class has this value, even if the value belongs to a single person. A
    label cannot be widened, because a value has no neighbors. Use a `Taxonomy` if a value may identify a person.

    Parameters
    ----------
    name : str
        The name of the attribute.
    values : tuple of str
        The values of the domain.

    Raises
    ------
    SchemaError
        For a value that is `*`, that contains "|", or that is repeated.

    >>> race = Sets("race", ("White", "Black", "Other"))
    >>> race.labels([2, 0, 1, 1], [0, 0, 1, 1]).tolist(), race.covered("White|Other").tolist()
    (['White|Other', 'Black'], [0, 2])
    """

    def labels(self, codes: IntArray, classes: IntArray) -> Array:
        """Return the label of each class, as an object array (classes,); for the arguments, see `OnALine.labels`."""
        codes, classes, number = check_classes(codes, classes)
        key, sets = np.zeros(number, dtype=np.int64), []
        for begin in range(0, len(self.values), 64):  # a set is a row of bits, which is built 64 values at a time
            here = (begin <= codes) & (codes < begin + 64)
            sets.append(np.zeros(number, dtype=np.uint64))
            np.bitwise_or.at(sets[-1], classes[here], np.uint64(1) << (codes[here] - begin).astype(np.uint64))
            index, words = pd.factorize(sets[-1])
            key = pd.factorize(key * len(words) + index)[0]
        _, first = np.unique(key, return_index=True)
        rows = np.stack(sets, axis=1)[first].astype("<u8").view(np.uint8)
        names = [self._joined(np.flatnonzero(np.unpackbits(row, bitorder="little"))) for row in rows]
        return np.array(names, dtype=object)[key]

    def covered(self, label: str) -> IntArray:
        """Return the positions of the values that a label lists, as an ascending integer array."""
        return self._listed(label)

    def width(self, label: str) -> float:
        """Return the number of values that a label lists, minus 1, divided by the number of all values, minus 1."""
        return (len(self._listed(label)) - 1) / max(len(self.values) - 1, 1)

    def extent(self) -> Extent:
        """Return an extent in which the width is 0 for two equal values, and 1 for two different values."""
        return Extent(1, np.stack([np.arange(len(self.values)), np.zeros(len(self.values))]).astype(np.int32))


def read_rows(path: Any) -> tuple[tuple[str, ...], ...]:
    """Return the rows of a hierarchy file in ARX's layout; each row begins with its leaf.

    Raises SchemaError for any other file.
    """
    if not Path(path).is_file():
        raise SchemaError(f"the path of a hierarchy must be a file; got {path}. Put a file in the format of ARX there.")
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = tuple(map(tuple, filter(None, csv.reader(file, delimiter=";"))))
    except (UnicodeDecodeError, csv.Error) as error:
        raise SchemaError(
            f"{path} cannot be read as a hierarchy: {error}. Save the file as CSV with semicolons in UTF-8."
        ) from None
    if rows and all(len(row) == 1 and re.search(r"[,\t|]", row[0]) for row in rows):
        raise SchemaError(
            f"{path} must have semicolons between the levels of a hierarchy, as in 'leaf;level 1;*'; got another "
            "separator. Save the file with semicolons."
        )
    if len(rows) > 1 and len(rows[0]) > 1 and all(map(HEADER.fullmatch, rows[0][1:])):
        raise _header(path, rows[0])
    return rows


def _header(path: Any, row: Sequence[str]) -> SchemaError:
    return SchemaError(
        f"{path} must have no header, since each line of a hierarchy begins with a leaf; got {';'.join(row)!r} as the "
        "first line. Delete that line."
    )


def _refuse_header(path: Any, rows: Sequence[Sequence[str]], leaves: Sequence[str]) -> None:
    """Raise SchemaError if the first row seems to be a header.

    A row seems to be a header if it does not begin with a leaf and if its last label differs from the last label of all
    other rows, which have the same last label.
    """
    if len(rows) > 2 and rows[0][0] not in leaves and {row[-1] for row in rows[1:]} == {rows[1][-1]} != {rows[0][-1]}:
        raise _header(path, rows[0])


def _rooted(rows: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """Return the rows of a hierarchy file with `*` as the top level, even if the file has another top level."""
    tops = {row[-1] for row in rows}
    if SUPPRESSED in tops or max(map(len, rows), default=0) < 2:
        return rows
    return tuple((*row[: len(row) - (len(tops) == 1)], SUPPRESSED) for row in rows)


def list_values(domain: Numbers | Categories) -> tuple[str, ...]:
    """Return all values of a domain as a tuple of str."""
    if isinstance(domain, Categories):
        return domain.values
    return tuple(to_text(domain.value(code)) for code in range(domain.size))


@validated
def keep_exact_ends(hierarchy: Generalization) -> Generalization:
    """Return a copy of a hierarchy whose labels, in releases, may end at a value that only one person has.

    The function serves the reproduction of published studies of public tables, because the results of these studies
    depend on such labels. A hierarchy whose labels never depend on the records is returned unchanged.
    """
    if not isinstance(hierarchy, OfItsValues):
        return hierarchy
    return replace(hierarchy, exact=True)  # type: ignore[type-var]  # every hierarchy is a dataclass


@validated
def flat(attribute: Attribute) -> Generalization:
    """Return the default hierarchy of an attribute: ranges for numbers, one level below `*` for categories.

    The ranges end at public cuts; see `Ranges`.
    """
    if attribute.numeric:
        return Ranges(attribute.numbers)
    return Taxonomy(attribute.name, tuple((value, SUPPRESSED) for value in attribute.categories.values))
