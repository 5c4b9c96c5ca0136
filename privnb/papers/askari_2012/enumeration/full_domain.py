"""k-anonymity as an exact channel: every small table, with all possible releases of the table.

The setting is that of Askari, Safavi-Naini, Barker, CODASPY 2012, section 5: full-domain generalization, and a record
is suppressed only if all quasi-identifiers have the highest level. The adversary knows the algorithm and guesses the
whole table.
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

    `hierarchies`: one Taxonomy per quasi-identifier; `sensitive`: `{name: values}` of the other attributes, which stay
    exact. Raises ValueError if k is above `records`, because no release exists in this case.
    """

    hierarchies: tuple[Taxonomy, ...]
    sensitive: Mapping[str, tuple[str, ...]]
    records: int
    k: int

    def __post_init__(self) -> None:
        if not 1 <= self.k <= self.records:
            raise UsageError(f"`k` must be from 1 to the number of records, {self.records}; got {self.k}.")
        if twice := {tree.name for tree in self.hierarchies} & set(self.sensitive):
            raise UsageError(
                f"each attribute must be either a quasi-identifier or sensitive; got both roles for {sorted(twice)}. "
                "Give each attribute one of the two roles."
            )

    @cached_property
    def originals(self) -> Any:
        """The possible originals."""
        return Tables.every({tree.name: tree.leaves for tree in self.hierarchies} | dict(self.sensitive), self.records)

    @property
    def levels(self) -> Any:
        """All generalizations, from the lowest to the highest; each is a tuple of one level per quasi-identifier.

        Generalizations are sorted by the sum of the levels. Among equal sums, a lower level of the first attribute
        comes first.
        """
        every = product(*(range(tree.height + 1) for tree in self.hierarchies))
        return tuple(sorted(every, key=lambda levels: (sum(levels), levels)))

    @property
    def tables(self) -> tuple[Tables, ...]:
        """The possible releases: the distinct k-anonymous tables of each generalization.

        Equal tables at different levels stay distinct, because a release shows its levels.
        """
        return self._links[0]

    @cached_property
    def releases(self) -> list[tuple[Any, ...]]:
        """The possible releases, each as a tuple of rows."""
        return [tables[i] for tables in self.tables for i in range(len(tables))]

    @cached_property
    def generalization(self) -> IntArray:
        """The position in `levels` of each release's generalization, as an integer array (releases,)."""
        return np.repeat(np.arange(len(self.tables)), [len(tables) for tables in self.tables])

    @property
    def number_of_releases(self) -> int:
        """The number of possible releases, computed by a formula because the releases may be too many to list.

        Source: eq. 24 and 25, corrected.
        """
        kinds = prod(map(len, self.sensitive.values()))
        labels = [[len({*groups}) for groups in tree.groups] for tree in self.hierarchies]
        return sum(number_of_anonymous_tables(prod(each), kinds, self.records, self.k) for each in product(*labels))

    @cached_property
    def _links(self) -> Any:
        """The tables of the releases, and the position of the release of each original at each generalization.

        The second value is an integer array (originals, generalizations). A position is -1 if the generalized original
        is not k-anonymous.
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
        """Return the channel that publishes a random k-anonymous generalization of a table.

        `step`: the factor, above 0, by which the probability of a generalization is multiplied for each level that is
        added. With a factor of 1, all k-anonymous generalizations of a table are equally likely: P(T'|T) = 1/x in
        section 5.5. With a factor below 1, releases with less distortion are more likely. The prior is uniform over
        tables as multisets. Probabilities are floats if `step` is a float, and otherwise fractions; the text "1/2" is
        read as a fraction.
        """
        times: Any = step if isinstance(step, float) else Fraction(step)
        if not times > 0:
            raise UsageError(
                f"`step` must be above 0; got {step}. A step below 1 prefers releases with less distortion."
            )
        links = self._links[1]
        weights = np.array([times ** sum(levels) for levels in self.levels])
        # The originals share a few patterns of allowed generalizations, and fractions are slow.
        patterns, which = np.unique(links >= 0, axis=0, return_inverse=True)
        shares = np.array([pattern * weights / weights[pattern].sum() for pattern in patterns])
        row, level = np.nonzero(links >= 0)
        return self._channel(row, links[row, level], shares[which[row], level])

    def deterministic(self, publish: Any = "lowest") -> Any:
        """Return the channel that always publishes the lowest or the highest k-anonymous generalization of a table.

        Among the k-anonymous generalizations of the table, the channel publishes the first or the last one in the order
        of `levels`. The highest generalization suppresses all quasi-identifiers.
        """
        if publish not in ("lowest", "highest"):
            raise UsageError(f'`publish` must be "lowest" or "highest"; got {publish!r}.')
        links = self._links[1] if publish == "lowest" else self._links[1][:, ::-1]
        chosen = (links >= 0).argmax(axis=1)
        row = np.arange(len(links))
        return self._channel(row, links[row, chosen], np.full(len(row), Fraction(1)))

    def distinct_rows(self, i: int) -> Any:
        """Return, for each distinct row of release i, the number of original kinds that it covers, and its count.

        The result is a list of pairs (kinds, count). The product of C(kinds + count - 1, count) over these pairs is the
        number of possible originals of the release, because a table is a multiset. Erratum: section 5.5 uses a sum
        instead of the product.
        """
        at = self.generalization[i]
        one_each = replace(self.originals, counts=np.ones((1, len(self.originals.kinds)), dtype=np.int64))
        covered = one_each.generalized(self.hierarchies, self.levels[at]).counts[0]
        counts = self.tables[at].counts[i - np.searchsorted(self.generalization, at)]
        return [(int(kinds), int(often)) for kinds, often in zip(covered, counts, strict=True) if often]

    def degradation(self, channel: Any, weights: Any = None, users: Any = ()) -> float:
        """Return Utility_G of a channel of this object, the mean loss of `average_utility` in bits; lower is better.

        `weights`: P(A), see `average_utility`. `users`: pairs of a probability P(p) and the prior knowledge of a user.
        Prior knowledge is None, or a `Tables` object that holds one joint distribution over the domains of the
        originals. The probabilities must add up to 1, and the result is the mean over the users with these
        probabilities. Prior knowledge is generalized like the release.

        Source: eq. 16 and 20.
        """
        if not users:
            return expected_degradation(channel, *self.utilities(weights))
        if abs(sum(share for share, _ in users) - 1) > ROUNDING:
            raise UsageError(
                f"the probabilities of users must add up to 1; got {sum(share for share, _ in users)}. Correct "
                "the probabilities."
            )
        return sum(share * expected_degradation(channel, *self.utilities(weights, user)) for share, user in users)

    def utilities(self, weights: Any = None, user: Any = None) -> tuple[FloatArray, FloatArray]:
        """Return the `average_utility` of each original and of each release, in bits, as two float arrays."""
        after = [
            average_utility(tables, weights, None if user is None else user.generalized(self.hierarchies, levels))
            for tables, levels in zip(self.tables, self.levels, strict=True)
        ]
        return average_utility(self.originals, weights, user), np.concatenate(after)

    def _channel(self, row: Any, column: Any, probability: Any) -> Any:
        n = len(self.originals)
        return Channel(self.originals, self.releases, row, column, probability, np.full(n, Fraction(1, n)))
