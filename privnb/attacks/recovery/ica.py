"""A secret matrix undone because numbers are independent of each other, by what is known of each of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar

from privnb.attacks.algorithms.independent import by_columns, by_distributions, by_sample
from privnb.attacks.algorithms.unmixing import Map
from privnb.attacks.recovery.recovery_knowledge import Distributions, Sample
from privnb.attacks.recovery.unmixing import Places, Unmapping
from privnb.microdata.treatment import Unreadable
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import at_least


@dataclass(frozen=True)
class Ica(Unmapping):
    """Somebody who knows nothing looks for the independent parts that the perturbed columns are sums of.

    It supposes numbers that are independent of each other, at most one of them a bell. Which part is which number, on
    which side and how wide, the columns do not tell: each part is taken for the column that it goes with most. So it
    is weak by itself; `EnhancedIca` and `SampleIca` know more.

    Source: Guo and Wu, "Deriving Private Information from Arbitrarily Projected Data", PAKDD 2007; Chen, Sun, Liu, SDM
    2007; Aggarwal and Yu 2008, sections 7.5.2 and 15.4.3.
    """

    title = "ICA"
    square = True
    find: ClassVar[Callable[..., Map]] = staticmethod(by_columns)  # of the rows, and of what is known

    def _solved(self, seen: FloatArray, people: Places) -> Map:
        try:
            return self.find(seen, *([people.known] if self.knows else []))
        except ValueError as error:
            raise Unreadable(f"{self!r}: {error} Choose another attack on this perturbed release.") from None


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
