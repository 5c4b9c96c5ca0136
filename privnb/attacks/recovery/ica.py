"""Recovery from a hidden matrix by the independence of attributes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from privnb.attacks.algorithms.independent import match_by_columns
from privnb.attacks.algorithms.unmixing import Map
from privnb.attacks.recovery.unmixing import Places, Unmapping
from privnb.microdata.treatment import Unreadable
from privnb.runtime.arrays import FloatArray


@dataclass(frozen=True)
class ICA(Unmapping):
    """Find the independent components of the perturbed columns, without further knowledge.

    The attack assumes that the attributes are independent and that at most one of them has a Gaussian distribution. The
    released columns do not show which component belongs to which attribute, and do not show the sign and the scale of a
    component. The attack therefore assigns each component to the column with which the component is most correlated.
    The attack is therefore weak; the adversaries of `EnhancedICA` and `SampleICA` know more.

    Source: Guo and Wu, "Deriving Private Information from Arbitrarily Projected Data", PAKDD 2007; Chen, Sun, Liu, SDM
    2007; Aggarwal and Yu 2008, sections 7.5.2 and 15.4.3.
    """

    title = "ICA"
    square = True
    find: ClassVar[Callable[..., Map]] = staticmethod(match_by_columns)  # a function of the rows and the knowledge

    def _solved(self, seen: FloatArray, people: Places) -> Map:
        try:
            return self.find(seen, *([people.known] if self.knows else []))
        except ValueError as error:
            raise Unreadable(f"{self!r}: {error} Choose another attack on this perturbed release.") from None
