"""The joint information of several tables of counts: the most even distribution that agrees with all tables.

Each table counts the same records by some attributes. Tables may share attributes, at different levels of the
attributes' hierarchies. Each level of an attribute is a vertex of a hypergraph; a table contains the vertices at its
own levels and above. If the hypergraph is acyclic, the tables are *decomposable*: they can be removed one by one, in
such an order that a single remaining table contains all vertices that the removed table shares with remaining tables.
The distribution is then a product of quotients of counts. Otherwise, iterative proportional fitting finds the
distribution.

Source: Kifer and Gehrke, "Injecting Utility into Anonymized Datasets", SIGMOD 2006; Aggarwal and Yu 2008, section
9.5.3; Lauritzen, "Graphical Models", 1996, section 4.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import combinations
from math import prod
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from privnb.microdata.count_tables import find_separators
from privnb.microdata.counts import group_codes
from privnb.microdata.hierarchy.generalization import SUPPRESSED
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.errors import UsageError

Vertex = tuple[str, int | bytes]  # an attribute, and the level of its labels
_LARGEST = 2**22  # maximum number of cells of the fitted table
_ROUNDS, _CLOSE = 10_000, 1e-12


class CountTable(NamedTuple):
    """A table that counts records by the labels of some attributes.

    `labels`: one array of distinct labels per name. `cells`: the position in `labels` of each label of each cell, as an
    integer array (c, names). `counts`: the number of records in each cell, as an integer array (c,).
    """

    names: tuple[str, ...]
    labels: tuple[np.ndarray, ...]
    cells: Array
    counts: Array

    @classmethod
    def of_records(
        cls, names: Sequence[str], columns: Sequence[IntArray], labels: Sequence[Array]
    ) -> tuple[CountTable, IntArray]:
        """Return the table that counts the given records, and the cell of each record as an integer array (n,).

        `columns`: the position of each record's label in `labels`, as one integer array (n,) per name.
        """
        first, where = group_codes(columns, [len(each) for each in labels])
        cells = np.column_stack([column[first] for column in columns])
        return cls(tuple(names), tuple(labels), cells, np.bincount(where)), where

    @classmethod
    def of_labels(cls, table: pd.DataFrame) -> tuple[CountTable, IntArray]:
        """Return the table that counts a DataFrame of labels with one row per record, and the cell of each record."""
        pairs = [pd.factorize(np.asarray(table[name], dtype=object)) for name in table]
        return cls.of_records(tuple(table), *zip(*pairs, strict=True))

    @classmethod
    def read(cls, table: pd.DataFrame) -> CountTable:
        """Return the table of a published DataFrame with columns of labels, a column "count", and a row per cell."""
        pairs = [pd.factorize(np.asarray(table[name], dtype=object)) for name in table if name != "count"]
        codes, labels = zip(*pairs, strict=True)
        names = tuple(name for name in table if name != "count")
        return cls(names, labels, np.column_stack(codes), table["count"].to_numpy())


class JointCounts:
    """A combination of count tables of the same records.

    `hierarchies`: the hierarchy of each attribute by name. `vertices`: for each table, `{vertex: integer array
    (cells,)}`, the number of each cell's label at each level that the table determines. `order`: the positions of the
    tables in the order in which they can be removed, each with the vertices that it shares with the remaining tables;
    None if the tables are not decomposable. Raises ValueError if the labels of a shared attribute do not nest.
    """

    def __init__(self, tables: Iterable[CountTable], hierarchies: Mapping[str, Any]) -> None:
        self.tables, self._hierarchies = list(tables), hierarchies
        self._covers, self._numbers = [], []
        for table in self.tables:
            pairs = list(zip(table.names, table.labels, strict=True))
            covers = {name: [hierarchies[name].covered(label) for label in labels] for name, labels in pairs}
            self._covers.append(covers)
            self._numbers.append({name: self._numbered(name, covers[name]) for name in table.names})
        self._own = [
            {name: _vertex(name, i, numbers) for name, numbers in held.items()} for i, held in enumerate(self._numbers)
        ]
        self.vertices = [self._held(i) for i in range(len(self.tables))]
        for i, j in combinations(range(len(self.tables)), 2):
            for name in [each for each in self.tables[i].names if each in self.tables[j].names]:
                if self._own[i][name] not in self.vertices[j] and self._own[j][name] not in self.vertices[i]:
                    raise UsageError(
                        f"the labels of '{name}' in the tables of {', '.join(self.tables[i].names)} and of "
                        f"{', '.join(self.tables[j].names)} do not nest. Leave '{name}' out of one table, or choose "
                        "labels that are parts of the labels in the other table."
                    )
        # # A vertex with one group for all records does not join tables.
        self.vertices = [{v: each for v, each in held.items() if np.ptp(each)} for held in self.vertices]
        self.order = find_separators(self.vertices)

    def _numbered(self, name: str, covers: Sequence[IntArray]) -> IntArray | None:
        """Return the number of the label that covers each position, or -1 for no label; None if labels overlap."""
        numbers = np.full(len(self._hierarchies[name].covered(SUPPRESSED)), -1)
        for number, cover in enumerate(covers):
            if (numbers[cover] >= 0).any():
                return None
            numbers[cover] = number
        return numbers

    def _held(self, i: int) -> dict[Vertex, IntArray]:
        table, held = self.tables[i], {}
        for a, name in enumerate(table.names):
            held[self._own[i][name]] = table.cells[:, a]
            for j, others in enumerate(self._numbers):
                numbers = others.get(name)
                if numbers is None:
                    continue
                around = np.array([numbers[cover[0]] for cover in self._covers[i][name]])
                whole = [(numbers[cover] == n).all() for cover, n in zip(self._covers[i][name], around, strict=True)]
                if (around >= 0).all() and all(whole):
                    held[self._own[j][name]] = around[table.cells[:, a]]
        return held

    def grouped(self, i: int, vertices: Iterable[Vertex]) -> IntArray:
        """Return a number from 0 for each cell of a table; cells that agree in all `vertices` have the same number."""
        columns = [self.vertices[i][vertex] for vertex in vertices]
        if not columns:
            return np.zeros(len(self.tables[i].counts), dtype=np.int64)
        return group_codes(columns, [int(column.max()) + 1 for column in columns])[1]

    def located(self, i: int, positions: Mapping[str, IntArray]) -> IntArray:
        """Return, as an integer array (rows,), the cell of a table that contains each row of values, or -1.

        `positions`: `{name: integer array (rows,)}`, the positions of the values on the attributes' lines. Raises
        ValueError if labels overlap, because a value can then belong to several cells.
        """
        table = self.tables[i]
        numbers = self._check_apart(i)
        values = pd.MultiIndex.from_arrays([numbers[name][positions[name]] for name in table.names])
        return pd.MultiIndex.from_arrays(table.cells.T).get_indexer(values)

    def _check_apart(self, i: int) -> dict[str, IntArray]:
        apart = {name: numbers for name, numbers in self._numbers[i].items() if numbers is not None}
        if overlapping := [name for name in self._numbers[i] if name not in apart]:
            raise UsageError(
                f"labels of {overlapping} overlap in one table, so a value can belong to several cells. Choose labels "
                "that do not overlap."
            )
        return apart

    def likely(self, where: Sequence[IntArray]) -> FloatArray:
        """Return the probability of the given rows in closed form, as a float array (rows,).

        `where`: for each table, the cell of each row. The result is the probability of exact values of all attributes
        in the tables; values that no table distinguishes are equally likely. Raises ValueError unless the tables are
        decomposable.
        """
        if self.order is None:
            raise UsageError("the tables are not decomposable, so there is no closed form. Try `fitted`.")
        found = np.ones(len(where[0]))
        leaves: dict[str, Array] = {}
        for i, shared in self.order:
            table, group = self.tables[i], self.grouped(i, shared)
            given = np.bincount(group, table.counts)[group]
            found *= np.where(where[i] >= 0, (table.counts / given)[where[i]], 0)
            for a, name in enumerate(table.names):
                sizes = np.array([len(cover) for cover in self._covers[i][name]])[table.cells[where[i], a]]
                leaves[name] = np.minimum(leaves.get(name, sizes), sizes)  # the finest of nested labels
        return found / reduce(np.multiply, (sizes.astype(float) for sizes in leaves.values()))

    def fitted(self, positions: Mapping[str, IntArray]) -> FloatArray:
        """Return the probability of the given rows by iterative proportional fitting, which works for any tables.

        `positions`: `{name: integer array (rows,)}`, the positions of the values on the attributes' lines. Raises
        ValueError if labels overlap, if the tables distinguish more than 4 million combinations of values, or if the
        fit does not converge, for example because the tables count different records.
        """
        apart = [self._check_apart(i) for i in range(len(self.tables))]
        names = list(dict.fromkeys(name for table in self.tables for name in table.names))
        atoms = []  # values that no table distinguishes, by position
        for name in names:
            levels: Any = np.stack([numbers[name] for numbers in apart if name in numbers])
            atoms.append(np.unique(levels, axis=1, return_inverse=True)[1])
        sizes = [np.bincount(atom).astype(float) for atom in atoms]
        shape = [len(each) for each in sizes]
        if prod(shape) > _LARGEST:
            raise UsageError(
                f"the tables distinguish {prod(shape):,} combinations of values; at most {_LARGEST:,} are supported. "
                "Give fewer tables or coarser labels."
            )
        values = reduce(np.multiply.outer, sizes).ravel()
        every = np.unravel_index(np.arange(len(values)), shape)
        firsts = [np.unique(atom, return_index=True)[1] for atom in atoms]
        standing = {name: first[index] for name, first, index in zip(names, firsts, every, strict=True)}
        found, constraints = values / values.sum(), []
        for i, table in enumerate(self.tables):
            cells = self.located(i, standing)  # the last cell has the values that are in no cell and that nobody has
            constraints.append((cells % (len(table.counts) + 1), np.append(table.counts / table.counts.sum(), 0)))
        for _ in range(_ROUNDS):
            off = 0.0
            for cells, shares in constraints:
                now = np.bincount(cells, found, len(shares))
                off = max(off, float(np.abs(now - shares).max()))
                found *= np.divide(shares, now, out=np.zeros_like(shares), where=now > 0)[cells]
            if off < _CLOSE:
                at = [atom[positions[name]] for name, atom in zip(names, atoms, strict=True)]
                return (found / values)[np.ravel_multi_index(at, shape)]
        raise UsageError(
            f"the fit still differs from the tables by {off:.2g} after {_ROUNDS} rounds. Give tables of the same "
            "records."
        )


def _vertex(name: str, i: int, numbers: IntArray | None) -> Vertex:
    """Return the vertex of an attribute at the level of table i; only table i has a vertex of overlapping labels."""
    # The same labels in another order are the same level.
    return name, i if numbers is None else pd.factorize(np.append(numbers, -1)[::-1])[0].tobytes()
