"""Recovery from a hidden matrix by the independent components of the release and of a sample of the population."""

from dataclasses import dataclass
from typing import Annotated

from privnb.attacks.algorithms.independent import match_by_sample
from privnb.attacks.recovery.ica import ICA
from privnb.attacks.recovery.recovery_knowledge import Sample
from privnb.runtime.validation import at_least


@dataclass(frozen=True)
class SampleICA(ICA):
    """Match the independent components of the release with those of a sample of the population.

    The components need not be the attributes themselves. The attack matches the components of the release with the
    components of the sample by their distributions, and combines the former in the way in which the latter form the
    sample. The attack undoes any invertible matrix if the sample is large enough to find the components of the sample.

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
