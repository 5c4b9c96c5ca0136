"""A secret matrix undone because numbers are independent, and known again by how each is distributed."""

from dataclasses import dataclass
from typing import Annotated

from privnb.attacks.algorithms.independent import by_distributions
from privnb.attacks.recovery.ica import Ica
from privnb.attacks.recovery.recovery_knowledge import Distributions
from privnb.runtime.validation import at_least


@dataclass(frozen=True)
class EnhancedIca(Ica):
    """Somebody who knows how each number is distributed gives each independent part to the number that it looks like.

    As `Ica`, whose parts have no name and no scale: both come from a public statistic of each column by itself.

    Parameters
    ----------
    people : int
        How many people the statistic is of, from 2.

    Source: Chen, Sun, Liu, "Towards Attack-Resilient Geometric Data Perturbation", SDM 2007; Aggarwal and Yu 2008,
    section 7.5.2.
    """

    people: Annotated[int, at_least(2)] = 100
    title = "ICA with known distributions"
    knows = Distributions
    find = staticmethod(by_distributions)
