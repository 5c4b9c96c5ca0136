"""The nearest released row: how perturbed numbers are linked to people."""

from dataclasses import dataclass

import numpy as np

from privnb.attacks.base import Columns
from privnb.attacks.linkage.record_linkage import Distinct, ScoredLinkage
from privnb.runtime.arrays import Array, FloatArray


@dataclass(frozen=True)
class DistanceLinkage(ScoredLinkage):
    """Somebody knows some columns of a person, and takes the released row that is nearest to them.

    Each number is divided by the standard deviation of its released column, and the squares of the differences are
    added up; another category is one unit away. Of equally near rows one is taken at random.

    Parameters
    ----------
    known : tuple of str, optional
        The columns that the adversary knows; None: all quasi-identifiers.

    Source: Domingo-Ferrer and Torra, "A quantitative comparison of disclosure control methods for microdata", in
    Confidentiality, Disclosure and Data Access, 2001; Aggarwal and Yu 2008, sections 3.6.1 and 8.2.1.
    """

    known: Columns = None
    title = "nearest row"

    def _scores(self, people: FloatArray, drawn: Array) -> FloatArray:
        _, rows, numbers = self.learned
        found, scales = np.zeros((len(people), len(rows.values))), spreads(rows)
        for place, numeric in enumerate(numbers):
            apart = people[:, place, None] - rows.values[:, place]
            found -= (apart / scales[place]) ** 2 if numeric else apart != 0
        return found


def spreads(rows: Distinct) -> FloatArray:
    """Return the standard deviation of each column of `Distinct` rows, float array (columns,), above 0."""
    weights = rows.times / rows.times.sum()
    return np.sqrt(weights @ (rows.values - weights @ rows.values) ** 2)
