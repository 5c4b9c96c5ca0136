"""A secret matrix undone because numbers are independent of each other."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from privnb.attacks.algorithms.independent import by_columns
from privnb.attacks.algorithms.unmixing import Map
from privnb.attacks.recovery.unmixing import Places, Unmapping
from privnb.microdata.treatment import Unreadable
from privnb.runtime.arrays import FloatArray


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
