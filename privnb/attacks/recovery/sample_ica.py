"""Recovery from a hidden matrix by the independent components of a sample of the population and of the release."""

from dataclasses import dataclass
from typing import Annotated

from privnb.attacks.algorithms.independent import match_by_sample
from privnb.attacks.recovery.ica import ICA
from privnb.attacks.recovery.recovery_knowledge import Sample
from privnb.runtime.validation import at_least


@dataclass(frozen=True)
class SampleICA(ICA):
    """Match the independent components of the release with those of a sample of the population.

    The components need not be the numbers themselves. The attack matches the components of the release with those of
    the sample by their distributions, and combines them in the same way. The attack undoes any invertible matrix if
    the sample
    is large enough to find its components.

    Parameters
    ----------
    people : int
        The number of people in the sample, at least 2.

    Source: Guo and Wu, "Deriving Private Information from Arbitrarily Projected Data", PAKDD 2007 (AK-ICA); Aggarwal
    and Yu 2008, section 15.4.3.
    """

    people: Annotated[int, at_least(2)] = 100
    title = "ICA with a sample"
    knows = Sample
    find = staticmethod(match_by_sample)
