"""k-anonymity as a channel, exactly: every small table, and everything that may be published for it.

As in Askari, Safavi-Naini, Barker, CODASPY 2012, section 5: full-domain generalization, no suppression but by the last
level of all quasi-identifiers. The adversary knows the algorithm and guesses the whole table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np

from privnb.measures.disclosure.channel import expected_degradation
from privnb.measures.disclosure.channel_matrix import Channel
from privnb.measures.utility.attribute_utility import average_utility
from privnb.microdata.hierarchy import Taxonomy
from privnb.papers.askari_2012.enumeration.tables import Tables, number_of_anonymous_tables
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING


@dataclass(frozen=True, eq=False)
class SmallDomains:
    """k-anonymity by full-domain generalization of all tables of `records` rows over small public domains.

    `hierarchies`: one Taxonomy a quasi-identifier; `sensitive`: `{name: values}` of the others, which stay as they are.
    Raises ValueError if k is above `records`, since then nothing may be published.
    """

    hierarchies: tuple[Taxonomy, ...]
    sensitive: Mapping[str, tuple[str, ...]]
    records: int
    k: int

    def __post_init__(self) -> None:
        if not 1 <= self.k <= self.records:
            raise UsageError(f"k must be from 1 to the number of records, {self.records}; got {self.k}.")
        if twice := {tree.name for tree in self.hierarchies} & set(self.sensitive):
            raise UsageError(f"{sorted(twice)} stand among the quasi-identifiers and among the others. Keep one.")

    @cached_property
    def originals(self) -> Any:
        """Every table that may go in."""
        return Tables.every({tree.name: tree.leaves for tree in self.hierarchies} | dict(self.sensitive), self.records)

    @property
    def levels(self) -> Any:
        """Every generalization, from the least to the most: a tuple of the level of each quasi-identifier.

        By the sum of the levels; of equal sums first the one that generalizes the first attribute less.
        """
        every = product(*(range(tree.height + 1) for tree in self.hierarchies))
        return tuple(sorted(every, key=lambda levels: (sum(levels), levels)))

    @property
    def tables(self) -> tuple[Tables, ...]:
        """What may be published: the distinct k-anonymous tables of each generalization.

        Tables that look alike at different levels stay two: whoever sees one sees the levels.
        """
        return self._links[0]

    @cached_property
    def releases(self) -> list[tuple[Any, ...]]:
        """Every table that may come out, as a tuple of rows."""
        return [tables[i] for tables in self.tables for i in range(len(tables))]

    @cached_property
    def generalization(self) -> IntArray:
        """Which generalization each release is of, integer array (releases,)."""
        return np.repeat(np.arange(len(self.tables)), [len(tables) for tables in self.tables])

    @property
    def number_of_releases(self) -> int:
        """How many tables may come out, by formula: for more than can be listed. Eq. 24 and 25, corrected."""
        kinds = prod(map(len, self.sensitive.values()))
        labels = [[len({*groups}) for groups in tree.groups] for tree in self.hierarchies]
        return sum(number_of_anonymous_tables(prod(each), kinds, self.records, self.k) for each in product(*labels))

    @cached_property
    def _links(self) -> Any:
        """The tables of the releases, and for each original what it is at each generalization: an integer array
        (originals, generalizations), -1 where that is not k-anonymous.
        """
        names, found, links, start = [tree.name for tree in self.hierarchies], [], [], 0
        for levels in self.levels:
            tables = self.originals.generalized(self.hierarchies, levels)
            allowed = np.flatnonzero(tables.anonymous(names, self.k))
            tables, which = replace(tables, counts=tables.counts[allowed]).distinct()
            link = np.full(len(self.originals), -1)
            link[allowed] = which + start
            start += len(tables)
            found.append(tables)
            links.append(link)
        return tuple(found), np.column_stack(links)

    def randomized(self, step: float | str = 1) -> Any:
        """The channel that publishes one of the k-anonymous generalizations of a table at random.

        `step`: how many times likelier a release becomes with each level more, above 0; 1: all alike, P(T'|T) = 1/x of
        section 5.5; below 1: rather those that distort less. The prior is uniform over tables as multisets. In
        fractions unless `step` is a float; "1/2" is a fraction, too.
        """
        times: Any = step if isinstance(step, float) else Fraction(step)
        if not times > 0:
            raise UsageError(f"step must be above 0, got {step}. Below 1 prefers what distorts less.")
        links = self._links[1]
        weights = np.array([times ** sum(levels) for levels in self.levels])
        # The originals share few patterns of what is allowed, and fractions are slow.
        patterns, which = np.unique(links >= 0, axis=0, return_inverse=True)
        shares = np.array([pattern * weights / weights[pattern].sum() for pattern in patterns])
        row, level = np.nonzero(links >= 0)
        return self._channel(row, links[row, level], shares[which[row], level])

    def deterministic(self, publish: Any = "lowest") -> Any:
        """The channel that always publishes one generalization of a table: the "lowest" or "highest" k-anonymous one.

        The first or last in the order of `levels`. The highest suppresses all quasi-identifiers, whatever the table.
        """
        if publish not in ("lowest", "highest"):
            raise UsageError(f'publish must be "lowest" or "highest", got {publish!r}.')
        links = self._links[1] if publish == "lowest" else self._links[1][:, ::-1]
        chosen = (links >= 0).argmax(axis=1)
        row = np.arange(len(links))
        return self._channel(row, links[row, chosen], np.full(len(row), Fraction(1)))

    def distinct_rows(self, i: int) -> Any:
        """The distinct rows of release i, as pairs (how many kinds of original rows it covers, how often it stands).

        The product of C(kinds + often - 1, often) over them is the number of originals that the release may stand for,
        since a table is a multiset. Erratum: section 5.5 adds up.
        """
        at = self.generalization[i]
        one_each = replace(self.originals, counts=np.ones((1, len(self.originals.kinds)), dtype=np.int64))
        covered = one_each.generalized(self.hierarchies, self.levels[at]).counts[0]
        counts = self.tables[at].counts[i - np.searchsorted(self.generalization, at)]
        return [(int(kinds), int(often)) for kinds, often in zip(covered, counts, strict=True) if often]

    def degradation(self, channel: Any, weights: Any = None, users: Any = ()) -> float:
        """Utility_G of a channel of this object: bits of `average_utility` lost on average; lower is better.

        `weights`: P(A), see `average_utility`. `users`: pairs (P(p), what they know, Tables of one joint distribution
        over the originals' domains, or None for nothing), adding up to 1: the mean over a population. Their knowledge
        is generalized as the release is. Source: eq. 16 and 20.
        """
        if not users:
            return expected_degradation(channel, *self.utilities(weights))
        if abs(sum(share for share, _ in users) - 1) > ROUNDING:
            raise UsageError(f"the users' probabilities add up to {sum(share for share, _ in users)}, not to 1.")
        return sum(share * expected_degradation(channel, *self.utilities(weights, user)) for share, user in users)

    def utilities(self, weights: Any = None, user: Any = None) -> tuple[FloatArray, FloatArray]:
        """`average_utility` of all originals and of all releases: two float arrays, in bits."""
        after = [
            average_utility(tables, weights, None if user is None else user.generalized(self.hierarchies, levels))
            for tables, levels in zip(self.tables, self.levels, strict=True)
        ]
        return average_utility(self.originals, weights, user), np.concatenate(after)

    def _channel(self, row: Any, column: Any, probability: Any) -> Any:
        n = len(self.originals)
        return Channel(self.originals, self.releases, row, column, probability, np.full(n, Fraction(1, n)))
