"""All possible tables of a small number of rows over small public domains, represented by counts of rows.

The setting is that of Askari, Safavi-Naini, Barker, CODASPY 2012, sections 5.2-5.4. A table is a multiset of rows:
tables that differ only in the order of their rows are equal. Two functions compute the number of tables by formulas,
without listing the tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb, prod
from typing import Any

import numpy as np
import pandas as pd

from privnb.microdata.counts import group_codes
from privnb.microdata.hierarchy import Taxonomy
from privnb.runtime.arrays import BoolArray, FloatArray
from privnb.runtime.errors import UsageError

MAX_TABLES = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Tables:
    """Tables over the same attributes, each represented by the number of rows of each kind; see `every` and `of`.

    A kind is a distinct row. `domains[name]`: the values of an attribute; `kinds`: integer array (kinds, attributes)
    with the position of each value of a kind in the domain of its attribute; `counts`: array (tables, kinds). The
    object is a sequence of tables: `tables[i]` is a tuple of rows. An object with one table that holds shares instead
    of counts represents a joint distribution, such as the knowledge of a user.
    """

    domains: Mapping[str, tuple[str, ...]]
    kinds: np.ndarray
    counts: np.ndarray

    @classmethod
    def every(cls, domains: Mapping[str, Sequence[str]], records: int) -> "Tables":
        """Return all tables of `records` rows over the domains `{name: values}`, each once.

        Raises ValueError for more than 1,000,000 tables.

        >>> len(Tables.every({"age": ("young", "old"), "disease": ("cold", "flu")}, records=2))
        10
        """
        sizes = [len(values) for values in domains.values()]
        number = number_of_tables(prod(sizes), records)
        if number > MAX_TABLES:
            raise UsageError(
                f"there are {number:,} tables of {records} rows over {prod(sizes)} kinds of rows; at most "
                f"{MAX_TABLES:,} can be listed. Try fewer rows or smaller domains, or count with `number_of_tables`."
            )
        rows = np.array(list(combinations_with_replacement(range(prod(sizes)), records)), dtype=np.int64)
        counts = np.zeros((number, prod(sizes)), dtype=np.int64)
        np.add.at(counts, (np.arange(number)[:, None], rows), 1)
        kinds = np.array(list(product(*map(range, sizes))), dtype=np.int64).reshape(-1, len(sizes))
        return cls({name: tuple(values) for name, values in domains.items()}, kinds, counts)

    @classmethod
    def of(cls, table: pd.DataFrame, domains: Mapping[str, Sequence[str]] | None = None) -> "Tables":
        """Return a `Tables` object with one table, read from a DataFrame.

        `domains`: `{name: values}` of the columns; if None, each domain consists of the values that occur in the
        column. Raises ValueError for a value outside the domain of its column.
        """
        if domains is None:
            domains = {name: sorted(set(map(str, table[name]))) for name in table}
        columns = [pd.Index(values).get_indexer(table[name].astype(str)) for name, values in domains.items()]
        for (name, values), codes in zip(domains.items(), columns, strict=True):
            if (codes < 0).any():
                wrong = str(table[name][codes < 0].iloc[0])
                raise UsageError(
                    f"'{name}' contains {wrong!r}, which is not in its domain {tuple(values)}. Add the value to the "
                    "domain."
                )
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
        """Return the count of each combination of values of `names` in each table, as an array (tables, combinations).

        Combinations that no kind of row has are left out. Without names, the only column is the number of rows.
        """
        group = self._grouped(names)[1]
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], np.arange(group.max() + 1))
        return np.add.reduceat(self.counts[:, order], starts, axis=1)

    def holding(self, **values: Any) -> Any:
        """Return, as a boolean array (tables,), which tables contain a person with these values.

        >>> tables = Tables.every({"age": ("young", "old"), "disease": ("cold", "flu")}, records=2)
        >>> int(tables.holding(age="old", disease="flu").sum()), int(tables.holding(age="old").sum())
        (4, 7)
        """
        return self.counts[:, self._fits(values)].sum(axis=1) > 0

    def shares(self, name: str, **values: Any) -> FloatArray:
        """Return the share of each value of `name` among people with `values`, as fractions (values of `name`, tables).

        The values are in the order of the domain. The shares are 0 in a table without such people. If the gain of a
        guessed value is its share, the gain is the probability that the guess is correct for a random one of these
        people. Use this gain for an adversary who guesses a value of a person instead of the whole table.
        """
        fits = self._fits(values)
        total = self.counts[:, fits].sum(axis=1)
        each = [self.counts[:, fits & self._fits({name: value})].sum(axis=1) for value in self.domains[name]]
        return np.array([[Fraction(int(a), int(b) or 1) for a, b in zip(row, total, strict=True)] for row in each])

    def rows_in_common(self) -> Any:
        """Return the number of rows that each two tables, as multisets, have in common: integer array (tables, tables).

        If this number is the gain of a guessed table, the adversary gains 1 for each correct row of the guessed table.
        The paper mentions an adversary who guesses a close table (section 4.1), but does not define "close"; the number
        of common rows is our reading. Another reading is `rows_in_common() >= r - d`: at most d of the r rows of the
        guess are wrong.
        """
        if len(self) > 10_000:
            raise UsageError(f"at most 10,000 tables can be compared in pairs; got {len(self):,}. Try fewer rows.")
        return sum(np.minimum.outer(count, count) for count in self.counts.T)

    def _grouped(self, names: Sequence[str]) -> Any:
        """Return the first kind of each group of kinds with equal values of `names`, and the group of each kind."""
        columns = [self.kinds[:, list(self.domains).index(name)] for name in names]
        widths = [len(self.domains[name]) for name in names]
        return group_codes([np.zeros(len(self.kinds), dtype=np.int64), *columns], [1, *widths])

    def _fits(self, values: Any) -> BoolArray:
        """Return, as a boolean array (kinds,), which kinds of rows have these values."""
        fits = np.ones(len(self.kinds), dtype=bool)
        for name, value in values.items():
            if value not in self.domains.get(name, ()):
                raise UsageError(f"no table contains {name}={value!r}. Choose from {dict(self.domains)}.")
            fits &= self.kinds[:, list(self.domains).index(name)] == self.domains[name].index(value)
        return fits

    def generalized(self, hierarchies: Sequence[Taxonomy], levels: Sequence[int]) -> "Tables":
        """Return the tables with the attribute of each Taxonomy in `hierarchies` generalized to its level in `levels`.

        The new domain of a generalized attribute consists of the labels of the level.
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
        """Return the distinct tables, and, as an integer array (tables,), the position of each table among these."""
        # The minus gives the order of `every`.
        _, first, which = np.unique(-self.counts, axis=0, return_index=True, return_inverse=True)
        return replace(self, counts=self.counts[first]), which.reshape(-1)

    def anonymous(self, names: Sequence[str], k: int) -> Any:
        """Return, as a boolean array (tables,), which tables are k-anonymous with the quasi-identifiers `names`.

        A table is k-anonymous if every combination of values of `names` that occurs is the combination of at least k
        people.
        """
        groups = self.counted(*names)
        return ((groups == 0) | (groups >= k)).all(axis=1)


def number_of_tables(kinds: int, records: int) -> int:
    """Return the number of tables, as multisets, with `records` rows of `kinds` possible kinds. Source: eq. 21 and 23.

    >>> number_of_tables(4 * 2 * 3, records=5)
    98280
    """
    return comb(kinds + records - 1, records)


def number_of_anonymous_tables(cells: int, values: int, records: int, k: int) -> int:
    """Return the number of k-anonymous tables of `records` rows.

    There are `cells` combinations of quasi-identifiers and `values` combinations of the other attributes. The number is
    the coefficient of x^records in sum over g of C(cells, g) (sum over n >= k of C(n + values - 1, n) x^n)^g. In this
    formula, g is the number of nonempty classes, and each class contains n >= k rows with any values.

    Errata: eq. 25 of the paper treats kinds of whole rows as classes, although only the quasi-identifiers define
    classes. Moreover, eq. 25 counts only tables of k floor(records/k) rows.

    >>> number_of_anonymous_tables(4 * 2, 3, records=5, k=2)
    3528
    """
    one = [comb(n + values - 1, n) if n >= k else 0 for n in range(records + 1)]
    power, total = [1] + [0] * records, 0
    for classes in range(1, min(cells, records // k) + 1):
        power = [sum(power[i] * one[n - i] for i in range(n + 1)) for n in range(records + 1)]
        total += comb(cells, classes) * power[records]
    return total
