"""Recovery from a hidden matrix by the independence of attributes and the known distribution of each attribute."""

from dataclasses import dataclass
from typing import Annotated

from privnb.attacks.algorithms.independent import match_by_distributions
from privnb.attacks.recovery.ica import ICA
from privnb.attacks.recovery.recovery_knowledge import Distributions
from privnb.runtime.validation import at_least


@dataclass(frozen=True)
class EnhancedICA(ICA):
    """Match each independent component with the attribute whose distribution in a public statistic is most similar.

    `ICA` knows neither the attribute nor the scale of a component; this attack determines both from the public
    statistic of each column.

    Parameters
    ----------
    people : int
        The number of people in the statistic, at least 2.

    Source: Chen, Sun, Liu, "Towards Attack-Resilient Geometric Data Perturbation", SDM 2007; Aggarwal and Yu 2008,
    section 7.5.2.
    """

    people: Annotated[int, at_least(2)] = 100
    title = "ICA with known distributions"
    knows = Distributions
    find = staticmethod(match_by_distributions)
