"""The corruption attack, by an adversary who knows the sensitive values of some people in the release."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import pandas as pd

from privnb.attacks.inference.value_attack import Target, ValueAttack, ValueGroups
from privnb.microdata.release import Published
from privnb.microdata.schema import SchemaError
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.names import abbreviate_names
from privnb.runtime.validation import validated


class Remaining(NamedTuple):
    """The groups of a release, and how often each value is left in each group: integers (groups, values)."""

    groups: ValueGroups
    counts: IntArray


@dataclass(frozen=True)
class Corruption(ValueAttack[Remaining]):
    """Subtract the known values of corrupted people from the groups of a release, and look up what is left.

    A corrupted person is a person whose record the adversary knows, for example because the person told it. If all
    rows that fit a corrupted person belong to one group, the person's value is subtracted from the counts of the group.
    A corrupted person who fits several groups does not help the adversary. Call `given` with the records of the
    corrupted people; without corrupted people, the attack is that of `Homogeneity`.

    Parameters
    ----------
    target : str
        The sensitive attribute.

    Source: Tao, Xiao, Li, Zhang, "On Anti-Corruption Privacy Preserving Publication", ICDE 2008; the subtraction is
    ours.
    """

    target: Target
    title = "corruption"

    @validated
    def given(self, corrupted: pd.DataFrame) -> Self:
        """Return a copy of this attack whose adversary knows the records of some people in the release.

        Parameters
        ----------
        corrupted : DataFrame
            A table with the quasi-identifiers and the sensitive attribute of the corrupted people. Do not ask the
            attack about these people.
        """
        if self.target not in corrupted:
            raise SchemaError(
                f"`corrupted` must have the column '{self.target}'; got {abbreviate_names(corrupted)}. Add the "
                "sensitive values of the corrupted people."
            )
        return self._knowing(corrupted)

    def _learn(self, published: Published) -> Remaining:
        groups = ValueGroups.read(published, self.target)
        corrupted = self._knowledge
        counts = groups.counts.copy()
        if corrupted is None or not len(corrupted):
            return Remaining(groups, counts)
        if len(corrupted) > len(published.table):
            raise UsageError(
                f"`corrupted` must be people in the release, which has {len(published.table):,} rows; got "
                f"{len(corrupted):,} people. Give fewer people."
            )
        weights = groups.weigh(corrupted)
        sole = np.flatnonzero(np.diff(weights.indptr) == 1)
        value = pd.Index(groups.values).get_indexer(corrupted[self.target].astype(str))
        group = weights.indices[weights.indptr[sole]]
        sole, group = sole[value[sole] >= 0], group[value[sole] >= 0]
        np.subtract.at(counts, (group, value[sole]), 1)
        if (counts < 0).any():
            raise UsageError(
                "`corrupted` contradicts the release: a group of the release lists a value less often than the "
                "corrupted people in the group have it. Give only records of people in the release, each once."
            )
        return Remaining(groups, counts)

    @property
    def groups(self) -> ValueGroups:
        """The groups of the release that the attack was fitted to."""
        return self.learned.groups

    def posterior(self, known: pd.DataFrame) -> FloatArray:
        """Return the share of each value among the remaining people who fit, as a float array (m, values)."""
        return self.groups.share(known, self.learned.counts)
