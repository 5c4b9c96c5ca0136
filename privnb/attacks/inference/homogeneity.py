"""The homogeneity attack, by an adversary who knows the quasi-identifiers of a person and nothing else."""

from dataclasses import dataclass

import pandas as pd

from privnb.attacks.inference.value_attack import Target, ValueAttack, ValueGroups
from privnb.microdata.release import Published
from privnb.runtime.arrays import FloatArray


@dataclass(frozen=True)
class Homogeneity(ValueAttack[ValueGroups]):
    """Look up the sensitive values of the rows that fit a person; a value is certain if all of these rows have it.

    This adversary knows the quasi-identifiers of a person, and nothing else. Adversaries who know more exclude further
    values; see `Corruption`, `Composition` and `Minimality`.

    Parameters
    ----------
    target : str
        The sensitive attribute.

    Source: Machanavajjhala et al., "l-Diversity: Privacy Beyond k-Anonymity", ICDE 2006, section 1.1.
    """

    target: Target
    title = "homogeneity"

    def _learn(self, published: Published) -> ValueGroups:
        return ValueGroups.read(published, self.target)

    @property
    def groups(self) -> ValueGroups:
        """The groups of the release that the attack was fitted to."""
        return self.learned

    def posterior(self, known: pd.DataFrame) -> FloatArray:
        """Return the share of each value among the rows that fit each person, as a float array (m, values)."""
        return self.groups.share(known)
