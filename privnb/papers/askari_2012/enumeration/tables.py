"""Every table that there can be: tables of few rows over small public domains, counted by what the rows hold.

As in Askari, Safavi-Naini, Barker, CODASPY 2012, sections 5.2-5.4. A table is a multiset of rows: the order of its rows
tells nothing, so tables that differ in order alone are one. How many there are comes from formulas, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb, prod
from typing import Any

import numpy as np
import pandas as pd

from privnb.microdata.counts import distinct_codes
from privnb.microdata.hierarchy import Taxonomy
from privnb.runtime.arrays import BoolArray, FloatArray
from privnb.runtime.errors import UsageError

MOST = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Tables:
    """Tables over the same attributes, by how many of their rows are of each kind; made by `every` and `of`.

    `domains[name]`: an attribute's values; `kinds`: integer array (kinds, attributes), the positions in their domains
    of a row's values; `counts`: array (tables, kinds). A sequence of tables: `tables[i]` is a tuple of rows. One table
    of shares instead of counts is a joint distribution, as a user may know it.
    """

    domains: Mapping[str, tuple[str, ...]]
    kinds: np.ndarray
    counts: np.ndarray

    @classmethod
    def every(cls, domains: Mapping[str, Sequence[str]], records: int) -> "Tables":
        """All tables of so many rows over the domains `{name: values}`, each once. Raises ValueError beyond 1,000,000.

        >>> len(Tables.every({"age": ("young", "old"), "disease": ("cold", "flu")}, records=2))
        10
        """
        sizes = [len(values) for values in domains.values()]
        number = number_of_tables(prod(sizes), records)
        if number > MOST:
            raise UsageError(
                f"there are {number:,} tables of {records} rows over {prod(sizes)} kinds of rows; {MOST:,} can be "
                "listed. Take fewer rows or smaller domains, or count them by `number_of_tables`."
            )
        rows = np.array(list(combinations_with_replacement(range(prod(sizes)), records)), dtype=np.int64)
        counts = np.zeros((number, prod(sizes)), dtype=np.int64)
        np.add.at(counts, (np.arange(number)[:, None], rows), 1)
        kinds = np.array(list(product(*map(range, sizes))), dtype=np.int64).reshape(-1, len(sizes))
        return cls({name: tuple(values) for name, values in domains.items()}, kinds, counts)

    @classmethod
    def of(cls, table: pd.DataFrame, domains: Mapping[str, Sequence[str]] | None = None) -> "Tables":
        """One table, a DataFrame. `domains`: `{name: values}`, its columns; None: the values that occur.

        Raises ValueError for a value outside its domain.
        """
        if domains is None:
            domains = {name: sorted(set(map(str, table[name]))) for name in table}
        columns = [pd.Index(values).get_indexer(table[name].astype(str)) for name, values in domains.items()]
        for (name, values), codes in zip(domains.items(), columns, strict=True):
            if (codes < 0).any():
                wrong = str(table[name][codes < 0].iloc[0])
                raise UsageError(f"'{name}' holds {wrong!r}, which is not in its domain {tuple(values)}. Add it there.")
        kinds, counts = np.unique(np.column_stack(columns), axis=0, return_counts=True)
        return cls({name: tuple(values) for name, values in domains.items()}, kinds, counts[None])

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, i: int) -> pd.DataFrame:
        labels = [tuple(d[code] for d, code in zip(self.domains.values(), kind, strict=True)) for kind in self.kinds]
        return tuple(row for row, count in zip(labels, self.counts[i], strict=True) for _ in range(int(count)))

    def __repr__(self) -> str:
        return f"Tables({len(self)} over {', '.join(f'{name}: {len(d)}' for name, d in self.domains.items())})"

    def counted(self, *names: str) -> Any:
        """How often each combination of values of some attributes occurs in each table: array (tables, combinations).

        Combinations that no kind of row has are left out; without names, the number of rows.
        """
        group = self._grouped(names)[1]
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], np.arange(group.max() + 1))
        return np.add.reduceat(self.counts[:, order], starts, axis=1)

    def holding(self, **values: Any) -> Any:
        """In which tables a person with these values stands: boolean array (tables,). What an adversary may know.

        >>> tables = Tables.every({"age": ("young", "old"), "disease": ("cold", "flu")}, records=2)
        >>> int(tables.holding(age="old", disease="flu").sum()), int(tables.holding(age="old").sum())
        (4, 7)
        """
        return self.counts[:, self._fits(values)].sum(axis=1) > 0

    def shares(self, name: str, **values: Any) -> FloatArray:
        """How the values of attribute `name` are shared among people with these values: fractions (its values, tables).

        In the order of its domain; 0 in a table without such people. As a gain for each value guessed: how likely it is
        the one of somebody of them, which is what an adversary wants who looks for a person, not for the table.
        """
        fits = self._fits(values)
        total = self.counts[:, fits].sum(axis=1)
        each = [self.counts[:, fits & self._fits({name: value})].sum(axis=1) for value in self.domains[name]]
        return np.array([[Fraction(int(a), int(b) or 1) for a, b in zip(row, total, strict=True)] for row in each])

    def rows_in_common(self) -> Any:
        """How many rows any two tables share, as multisets: integer array (tables, tables). For small sets of tables.

        As a gain it makes the adversary guess a close table, each row right counts. The paper announces such an
        adversary (section 4.1) and never says what close is: this is our reading. `rows_in_common() >= r - d` is
        another, a guess that is right but for d of r rows.
        """
        if len(self) > 10_000:
            raise UsageError(f"{len(self):,} tables make too many pairs. Compare 10,000 or fewer.")
        return sum(np.minimum.outer(count, count) for count in self.counts.T)

    def _grouped(self, names: Sequence[str]) -> Any:
        """Kinds of rows alike in `names`: the first kind of each group, and the group of each kind."""
        columns = [self.kinds[:, list(self.domains).index(name)] for name in names]
        widths = [len(self.domains[name]) for name in names]
        return distinct_codes([np.zeros(len(self.kinds), dtype=np.int64), *columns], [1, *widths])

    def _fits(self, values: Any) -> BoolArray:
        """Which kinds of rows have these values of attributes."""
        fits = np.ones(len(self.kinds), dtype=bool)
        for name, value in values.items():
            if value not in self.domains.get(name, ()):
                raise UsageError(f"no table has {name}={value!r}. Attributes and values: {dict(self.domains)}.")
            fits &= self.kinds[:, list(self.domains).index(name)] == self.domains[name].index(value)
        return fits

    def generalized(self, hierarchies: Sequence[Taxonomy], levels: Sequence[int]) -> "Tables":
        """The same tables with each attribute of `hierarchies`, Taxonomy objects, at its level of `levels`.

        The domain of such an attribute becomes its labels of that level: what a release may say.
        """
        names, kinds, domains = list(self.domains), self.kinds.copy(), dict(self.domains)
        for tree, level in zip(hierarchies, levels, strict=True):
            labels = {row[0]: row[level] for row in tree.rows}
            domains[tree.name] = tuple(dict.fromkeys(labels[value] for value in self.domains[tree.name]))
            codes = np.array([domains[tree.name].index(labels[value]) for value in self.domains[tree.name]])
            at = names.index(tree.name)
            kinds[:, at] = codes[kinds[:, at]]
        merged = replace(self, domains=domains, kinds=kinds)
        return replace(merged, kinds=kinds[merged._grouped(names)[0]], counts=merged.counted(*names))

    def distinct(self) -> Any:
        """Each table once, and which of these every table is: Tables and an integer array (tables,)."""
        # Minus: in the order of `every`.
        _, first, which = np.unique(-self.counts, axis=0, return_index=True, return_inverse=True)
        return replace(self, counts=self.counts[first]), which.reshape(-1)

    def anonymous(self, names: Sequence[str], k: int) -> Any:
        """Which tables are k-anonymous: nobody shares the values of `names` with fewer than k. Boolean array."""
        groups = self.counted(*names)
        return ((groups == 0) | (groups >= k)).all(axis=1)


def number_of_tables(kinds: int, records: int) -> int:
    """How many tables of so many rows there are, if a row can be of so many kinds: multisets. Source: eq. 21 and 23.

    >>> number_of_tables(4 * 2 * 3, records=5)
    98280
    """
    return comb(kinds + records - 1, records)


def number_of_anonymous_tables(cells: int, values: int, records: int, k: int) -> int:
    """How many tables of so many rows are k-anonymous: `cells` combinations of quasi-identifiers, `values` of the rest.

    The coefficient of x^records in sum over g of C(cells, g) (sum over n >= k of C(n + values - 1, n) x^n)^g: g classes
    are chosen, and each holds n rows of any values. Erratum: eq. 25 counts kinds of whole rows as classes, although
    classes are formed by the quasi-identifiers alone, and only tables of k floor(records/k) rows.

    >>> number_of_anonymous_tables(4 * 2, 3, records=5, k=2)
    3528
    """
    one = [comb(n + values - 1, n) if n >= k else 0 for n in range(records + 1)]
    power, total = [1] + [0] * records, 0
    for classes in range(1, min(cells, records // k) + 1):
        power = [sum(power[i] * one[n - i] for i in range(n + 1)) for n in range(records + 1)]
        total += comb(cells, classes) * power[records]
    return total
