"""Downcoding: recover original records from generalized ones, because a minimal release widens no label in vain.

A k-anonymous release is minimal if none of its labels can be replaced by a smaller label of the hierarchy. A widened
label of a class then shows that the records of the class differ in this attribute, which the label alone does not show.

The paper proves that all minimal hierarchical k-anonymous releases are vulnerable: for clustered data with different
variances and a tree of labels, an adversary who knows the distribution recovers a constant fraction of the records
completely. The distribution in this module is our construction of such data, and the derivation is ours:

- Each of the clusters has k people and d attributes. In each attribute, a cluster has two values of its own, "usual"
  and "rare". Their label is the name of the cluster, and the next label is `*`.
- A person has a small variance, with all values usual, or, with the probability q, a large variance: each value is then
  rare with the probability 1/2, independently of the others.

A cluster cannot be divided into two classes of k people. A minimal release therefore has one class for each cluster,
and widens an attribute exactly if the k people differ in it. If a single person differs from the cluster, the widened
attributes are those in which this person has rare values. The adversary then knows all k records completely, but not
which of the k people has which record. The k - 1 other people do not differ with the probability (1 - q)^(k - 1), which
is at least 1/e for q = 1 / k. If two or more people differ, the widened attributes are the union of their rare values,
and the guess fails except with a small probability. In a release that widens all labels, even those of equal values,
the widened labels show nothing: the adversary can only toss a coin for each attribute.

Source: Cohen, "Attacks on deidentification's defenses", USENIX Security 2022 (the attack and the theorem; we have read
its abstract only); the construction and the closed form are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import NamedTuple

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.microdata.counts import count_combinations
from privnb.microdata.hierarchy import SUPPRESSED, Taxonomy
from privnb.microdata.release import Published
from privnb.microdata.schema import Attribute, Categories, Role, Schema
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Count, Probability, Randomness, Validated, validated

USUAL, RARE = "usual", "rare"


@dataclass(frozen=True)
class ClusteredPeople(Validated):
    """A distribution of people in clusters, of whom some differ from their cluster; see the module.

    Parameters
    ----------
    clusters : int
    size : int
        The number of people in each cluster.
    attributes : int
        The number of quasi-identifiers.
    unlike : float
        The probability that a person has a large variance.
    """

    clusters: Count
    size: Count
    attributes: Count
    unlike: Probability

    @cached_property
    def names(self) -> list[str]:
        """The quasi-identifiers, as a list of str."""
        return [f"attribute {place}" for place in range(1, self.attributes + 1)]

    @cached_property
    def labels(self) -> list[str]:
        """The label of each cluster, as a list of str."""
        return [f"cluster {number}" for number in range(1, self.clusters + 1)]

    def draw(self, rng: Randomness) -> Dataset:
        """Return a table of random people, with one row per person."""
        generator = np.random.default_rng(rng)
        people = self.clusters * self.size
        is_unlike = generator.random(people) < self.unlike
        rare = is_unlike[:, None] & (generator.random((people, self.attributes)) < 0.5)
        cluster = np.repeat(self.labels, self.size)
        cells = np.where(rare, np.char.add(cluster, f" {RARE}")[:, None], np.char.add(cluster, f" {USUAL}")[:, None])
        rows = tuple((f"{label} {kind}", label, SUPPRESSED) for label in self.labels for kind in (USUAL, RARE))
        domain = Categories(tuple(row[0] for row in rows))
        schema = Schema("clusters", tuple(Attribute(name, Role.QUASI_IDENTIFIER, domain) for name in self.names))
        hierarchies = {name: Taxonomy(name, rows) for name in self.names}
        return Dataset("clusters", pd.DataFrame(cells, columns=self.names), schema, hierarchies)

    def expect_recovery(self) -> float:
        """Return the probability that a minimal release discloses the record of a person with rare values.

        If j - 1 of the k - 1 other people of the cluster have a large variance, the widened attributes are the rare
        values of the person exactly if no attribute is usual for the person and rare for another one. This has the
        probability (1/2 + 1/2^j)^d. The result is the mean over the binomial distribution of j - 1; its first term is
        (1 - q)^(k - 1). People with a large variance and no rare value are neglected, with an error of about 1/2^d.

        Examples
        --------
        >>> round(ClusteredPeople(1, 10, 40, 0.1).expect_recovery(), 4)
        0.3874
        """
        others = self.size - 1
        shares = [comb(others, j) * self.unlike**j * (1 - self.unlike) ** (others - j) for j in range(self.size)]
        return float(sum(share * (0.5 + 0.5 ** (j + 1)) ** self.attributes for j, share in enumerate(shares)))


class DowncodedRows(NamedTuple):
    """The records that an adversary guesses for the rows of a release.

    Attributes
    ----------
    records : DataFrame (rows, attributes)
        A guess of original values for each row. The rows of a class are equal, so only the set of guesses counts.
    probability : float array (rows,)
        The probability, from 0 to 1, that all guesses for the class of the row are right.
    """

    records: pd.DataFrame
    probability: np.ndarray


@validated
def downcode_rows(published: Published, people: ClusteredPeople, *, minimal: bool) -> DowncodedRows:
    """Guess the original records of a generalized release of clustered people.

    Parameters
    ----------
    published : Published
    people : ClusteredPeople
        The distribution of the people, which the adversary knows.
    minimal : bool
        Whether the adversary knows that labels are minimal. If not, the adversary guesses the usual value for each
        widened label.

    Returns
    -------
    DowncodedRows

    Raises
    ------
    ValueError
        If the release lacks an attribute of the people, or has a label that is not in their hierarchies.
    """
    if missing := [name for name in people.names if name not in published.table]:
        raise UsageError(
            f"`published` must have the attributes of `people`; it lacks '{missing[0]}'. Sanitize `people.draw(rng)`."
        )
    cells = published.table[people.names].astype(str)
    found, probability = cells.to_numpy(dtype=object), np.ones(len(cells))
    kinds = {label: (label, "") for label in people.labels} | {SUPPRESSED: ("", "")}
    kinds |= {f"{label} {kind}": (label, kind) for label in people.labels for kind in (USUAL, RARE)}
    hidden = 0
    index = count_combinations(cells).index
    for place in range(int(index.max(initial=-1)) + 1):
        rows = np.flatnonzero(index == place)
        labels = found[rows[0]]
        if unknown := [label for label in labels if label not in kinds]:
            raise UsageError(f"`published` must have labels of `people`; got '{unknown[0]}'. Use the same hierarchies.")
        cluster = next((kinds[label][0] for label in labels if kinds[label][0]), "")
        wide = np.array([not kinds[label][1] for label in labels])
        if not cluster:  # the rows may be of any cluster, and clusters have the same size
            names = [people.labels[(hidden + step) % people.clusters] for step in range(len(rows))]
            hidden += len(rows)
            found[rows] = np.array([f"{name} {USUAL}" for name in names], dtype=object)[:, None]
            probability[rows] = 0
            continue
        guess = np.where(wide, f"{cluster} {USUAL}", labels)
        found[rows] = guess
        if minimal and wide.any():
            found[rows[0]] = np.where(wide, f"{cluster} {RARE}", labels)
            probability[rows] = _weigh_one(people, len(rows), int(wide.sum()))
        else:
            probability[rows] = (1 - people.unlike * (1 - 0.5 ** wide.sum())) ** len(rows)
    return DowncodedRows(pd.DataFrame(found, columns=people.names), probability)


def _weigh_one(people: ClusteredPeople, size: int, wide: int) -> float:
    """Return the probability that one of `size` people has a large variance, if they differ in `wide` attributes."""
    weights = []
    for j in range(1, size + 1):
        share = comb(size, j) * people.unlike**j * (1 - people.unlike) ** (size - j)
        weights.append(share * (1 - 0.5**j) ** wide * 0.5 ** (j * (people.attributes - wide)))
    return weights[0] / sum(weights) if sum(weights) else 0.0
