"""What tables of counts over some attributes each say together: the distribution that agrees with all and else is even.

Tables of one set of records may share attributes, at different levels of their hierarchies. Each level is a vertex of
a hypergraph, and a table holds the vertices at its own level and above. Where that hypergraph is acyclic the tables are
*decomposable*: what they share lies in one table each time, and the distribution is a product of counts. Elsewhere it
is found by iterative proportional fitting.

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

from privnb.microdata.count_tables import separators
from privnb.microdata.counts import distinct_codes
from privnb.microdata.hierarchy.generalization import SUPPRESSED
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.errors import UsageError

Vertex = tuple[str, int | bytes]  # an attribute, and the level of its labels
_LARGEST = 2**22  # cells of the table that is fitted
_ROUNDS, _CLOSE = 10_000, 1e-12


class CountTable(NamedTuple):
    """Records by the labels of some attributes.

    `labels`: one array of distinct labels a name; `cells`: integer array (c, names), the labels' numbers in each cell;
    `counts`: records of each cell, integer array (c,).
    """

    names: tuple[str, ...]
    labels: tuple[np.ndarray, ...]
    cells: Array
    counts: Array

    @classmethod
    def of_records(
        cls, names: Sequence[str], columns: Sequence[IntArray], labels: Sequence[Array]
    ) -> tuple[CountTable, IntArray]:
        """The table of records, and the cell of each, integer array (n,). `columns`: the label's number of each record,
        one integer array (n,) a name."""
        first, where = distinct_codes(columns, [len(each) for each in labels])
        cells = np.column_stack([column[first] for column in columns])
        return cls(tuple(names), tuple(labels), cells, np.bincount(where)), where

    @classmethod
    def of_labels(cls, table: pd.DataFrame) -> tuple[CountTable, IntArray]:
        """The same of a DataFrame of labels, one row a record."""
        pairs = [pd.factorize(np.asarray(table[name], dtype=object)) for name in table]
        return cls.of_records(tuple(table), *zip(*pairs, strict=True))

    @classmethod
    def read(cls, table: pd.DataFrame) -> CountTable:
        """A published table: a DataFrame of labels with the column "count", one row a cell."""
        pairs = [pd.factorize(np.asarray(table[name], dtype=object)) for name in table if name != "count"]
        codes, labels = zip(*pairs, strict=True)
        names = tuple(name for name in table if name != "count")
        return cls(names, labels, np.column_stack(codes), table["count"].to_numpy())


class Together:
    """Count tables of the same records, seen as one.

    `hierarchies`: `{name: how its labels cover values}`. `vertices`: for each table `{vertex: integer array (cells,)}`,
    the number of each cell at each level that the table tells. `order`: the tables' places from the first that can be
    taken away, with the vertices that it shares with the rest; None where they are not decomposable. Raises ValueError
    where the labels of a shared attribute do not nest.
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
                        f"{', '.join(self.tables[j].names)} do not nest. Leave '{name}' out of one of them, or take "
                        "labels of which those of one table are parts of the other's."
                    )
        # What is the same for all records joins nothing.
        self.vertices = [{v: each for v, each in held.items() if np.ptp(each)} for held in self.vertices]
        self.order = separators(self.vertices)

    def _numbered(self, name: str, covers: Sequence[IntArray]) -> IntArray | None:
        """The number of the label that covers each position, -1 for none; None if labels overlap."""
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
        """Number a table's cells from 0, alike where they are in all `vertices`: integer array (cells,)."""
        columns = [self.vertices[i][vertex] for vertex in vertices]
        if not columns:
            return np.zeros(len(self.tables[i].counts), dtype=np.int64)
        return distinct_codes(columns, [int(column.max()) + 1 for column in columns])[1]

    def located(self, i: int, positions: Mapping[str, IntArray]) -> IntArray:
        """The cell of a table that values fall into, integer array (rows,); -1 for none.

        `positions`: `{name: integer array (rows,)}`, where the values stand on their lines. Raises ValueError for
        labels that overlap: a value has no one place among them.
        """
        table = self.tables[i]
        numbers = self._check_apart(i)
        values = pd.MultiIndex.from_arrays([numbers[name][positions[name]] for name in table.names])
        return pd.MultiIndex.from_arrays(table.cells.T).get_indexer(values)

    def _check_apart(self, i: int) -> dict[str, IntArray]:
        apart = {name: numbers for name, numbers in self._numbers[i].items() if numbers is not None}
        if overlapping := [name for name in self._numbers[i] if name not in apart]:
            raise UsageError(f"labels of {overlapping} overlap in one table, so that a value has no one cell there.")
        return apart

    def likely(self, where: Sequence[IntArray]) -> FloatArray:
        """The closed form: probability of some rows, float array (rows,). `where`: for each table the rows' cells.

        It is that of exact values of all attributes in the tables; values that no table tells apart are equally likely.
        Raises ValueError unless the tables are decomposable.
        """
        if self.order is None:
            raise UsageError("the tables are not decomposable, so that there is no closed form; see `fitted`.")
        found = np.ones(len(where[0]))
        leaves: dict[str, Array] = {}
        for i, shared in self.order:
            table, group = self.tables[i], self.grouped(i, shared)
            given = np.bincount(group, table.counts)[group]
            found *= np.where(where[i] >= 0, (table.counts / given)[where[i]], 0)
            for a, name in enumerate(table.names):
                sizes = np.array([len(cover) for cover in self._covers[i][name]])[table.cells[where[i], a]]
                leaves[name] = np.minimum(leaves.get(name, sizes), sizes)  # of nested labels the finest
        return found / reduce(np.multiply, (sizes.astype(float) for sizes in leaves.values()))

    def fitted(self, positions: Mapping[str, IntArray]) -> FloatArray:
        """`likely` for any tables, by iterative proportional fitting; `positions`: as for `located`.

        Raises ValueError for labels that overlap, for more than 4 million combinations of values that the tables tell
        apart, and where the fit does not settle, as when the tables are of different records.
        """
        apart = [self._check_apart(i) for i in range(len(self.tables))]
        names = list(dict.fromkeys(name for table in self.tables for name in table.names))
        atoms = []  # values that no table tells apart, by position
        for name in names:
            levels: Any = np.stack([numbers[name] for numbers in apart if name in numbers])
            atoms.append(np.unique(levels, axis=1, return_inverse=True)[1])
        sizes = [np.bincount(atom).astype(float) for atom in atoms]
        shape = [len(each) for each in sizes]
        if prod(shape) > _LARGEST:
            raise UsageError(f"{prod(shape):,} combinations are too many to fit. Take fewer tables or coarser labels.")
        values = reduce(np.multiply.outer, sizes).ravel()
        every = np.unravel_index(np.arange(len(values)), shape)
        firsts = [np.unique(atom, return_index=True)[1] for atom in atoms]
        standing = {name: first[index] for name, first, index in zip(names, firsts, every, strict=True)}
        found, constraints = values / values.sum(), []
        for i, table in enumerate(self.tables):
            cells = self.located(i, standing)  # what is in no cell, the last one here, has nobody
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
        raise UsageError(f"after {_ROUNDS} rounds the fit is {off:.2g} off. Are the tables of the same records?")


def _vertex(name: str, i: int, numbers: IntArray | None) -> Vertex:
    """An attribute at the level of table i. Labels that overlap are no level; they are the table's alone."""
    # The same labels in another order are the same level.
    return name, i if numbers is None else pd.factorize(np.append(numbers, -1)[::-1])[0].tobytes()
