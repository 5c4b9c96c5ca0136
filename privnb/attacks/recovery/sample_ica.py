"""A secret matrix undone by the independent components of a sample of the population and of the release."""

from dataclasses import dataclass
from typing import Annotated

from privnb.attacks.algorithms.independent import by_sample
from privnb.attacks.recovery.ica import Ica
from privnb.attacks.recovery.recovery_knowledge import Sample
from privnb.runtime.validation import at_least


@dataclass(frozen=True)
class SampleIca(Ica):
    """Somebody who has a sample of the population looks for the same independent components in it and in the release.

    The components need not be the numbers themselves. Those of the release are matched with those of the sample by how
    they are distributed, and mixed as these are. Any matrix that loses nothing is undone, a rotation or not, where the
    sample is large enough to find its components.

    Parameters
    ----------
    people : int
        How many are in the sample, from 2.

    Source: Guo and Wu, "Deriving Private Information from Arbitrarily Projected Data", PAKDD 2007 (AK-ICA); Aggarwal
    and Yu 2008, section 15.4.3.
    """

    people: Annotated[int, at_least(2)] = 100
    title = "ICA with a sample"
    knows = Sample
    find = staticmethod(by_sample)
