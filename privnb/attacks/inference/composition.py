"""The composition attack, by an adversary who has several releases that contain the same person."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import pandas as pd

from privnb.attacks.inference.value_attack import Target, ValueAttack, ValueGroups, normalize
from privnb.microdata.release import Published
from privnb.microdata.schema import SchemaError
from privnb.runtime.arrays import Array, FloatArray
from privnb.runtime.validation import validated


class SeveralGroups(NamedTuple):
    """The groups of all releases, the first of which is the release that the attack was fitted to."""

    releases: list[ValueGroups]


@dataclass(frozen=True)
class Composition(ValueAttack[SeveralGroups]):
    """Intersect the sensitive values that several releases list for a person who is in all of them.

    Call `given` with the other releases, whose equivalence classes may be different. A value that one release excludes
    is impossible, and a value is certain if only one value is possible in all releases.

    The probability of a value v is proportional to p(v) times the product of s_i(v) / p(v) over the releases, where
    p(v) is the share of v in all releases together and s_i(v) is its share among the rows of release i that fit the
    person. Derivation: if the values of the other people are independent draws from p, the probability that release i
    lists its counts for these rows, given that the person has the value v, is proportional to s_i(v) / p(v).

    Parameters
    ----------
    target : str
        The sensitive attribute.

    Source: Ganta, Kasiviswanathan, Smith, "Composition Attacks and Auxiliary Information in Data Privacy", KDD 2008,
    section 2 (the intersection); the probabilities are ours.
    """

    target: Target
    title = "composition"

    @validated
    def given(self, *others: Published) -> Self:
        """Return a copy of this attack whose adversary also has other releases of overlapping people.

        Parameters
        ----------
        *others : Published
            Releases with the same quasi-identifiers and the same sensitive attribute.
        """
        return self._knowing(others)

    def _learn(self, published: Published) -> SeveralGroups:
        others = self._knowledge or ()
        wanted = set(published.schema.quasi_identifiers)
        for other in others:
            if (found := set(other.schema.quasi_identifiers)) != wanted or self.target not in other.schema.published:
                raise SchemaError(
                    f"{self!r} needs releases with the same quasi-identifiers and the attribute '{self.target}'; they "
                    f"differ in {sorted(found ^ wanted) or [self.target]}. Load both tables with the same roles."
                )
        return SeveralGroups([ValueGroups.read(each, self.target) for each in (published, *others)])

    @property
    def groups(self) -> ValueGroups:
        """The groups of the release that the attack was fitted to."""
        return self.learned.releases[0]

    @property
    def values(self) -> Array:
        """The values of the sensitive attribute in all releases, as texts in sorted order: array (values,)."""
        return np.unique(np.concatenate([each.values for each in self.learned.releases]))

    @property
    def prior(self) -> FloatArray:
        """The share of each value in all releases together, as a float array (values,)."""
        found = np.zeros(len(self.values))
        for each in self.learned.releases:
            found[np.searchsorted(self.values, each.values)] += each.counts.sum(axis=0)
        return found / found.sum()

    def posterior(self, known: pd.DataFrame) -> FloatArray:
        """Return the probability of each value that all releases list for each person, as a float array (m, values).

        The row contains zeros only if the releases have no value in common for a person, who is then not in all of
        them.
        """
        values, prior = self.values, self.prior
        found = np.repeat(prior[None], len(known), axis=0)
        for each in self.learned.releases:
            place = np.searchsorted(values, each.values)
            share = np.zeros_like(found)
            share[:, place] = each.share(known)
            found *= share / prior
        return normalize(found)
