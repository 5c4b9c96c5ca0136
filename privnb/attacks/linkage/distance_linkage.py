"""Linkage of a person to the nearest released row, for releases with perturbed numbers."""

from dataclasses import dataclass

import numpy as np

from privnb.attacks.base import Columns
from privnb.attacks.linkage.record_linkage import Distinct, ScoredLinkage
from privnb.runtime.arrays import Array, FloatArray


@dataclass(frozen=True)
class DistanceLinkage(ScoredLinkage):
    """Link each person to the released row that is nearest in the known columns.

    The distance is the sum of the squared differences between numbers, after division by the standard deviation of the
    released column, and of 1 for each column with a different category. If several rows are equally near, one of them
    is chosen at random.

    Parameters
    ----------
    known : tuple of str, optional
        The columns that the adversary knows. If None, the adversary knows all quasi-identifiers.

    Source: Domingo-Ferrer and Torra, "A quantitative comparison of disclosure control methods for microdata", in
    Confidentiality, Disclosure and Data Access, 2001; Aggarwal and Yu 2008, sections 3.6.1 and 8.2.1.
    """

    known: Columns = None
    title = "nearest row"

    def _scores(self, people: FloatArray, drawn: Array) -> FloatArray:
        rows, numbers = self.learned.rows, self.learned.numeric
        found, scales = np.zeros((len(people), len(rows.values))), column_deviations(rows)
        for place, numeric in enumerate(numbers):
            apart = people[:, place, None] - rows.values[:, place]
            found -= (apart / scales[place]) ** 2 if numeric else apart != 0
        return found


def column_deviations(rows: Distinct) -> FloatArray:
    """Return the standard deviation of each column of `Distinct` rows, as a float array (columns,) above 0."""
    weights = rows.times / rows.times.sum()
    return np.sqrt(weights @ (rows.values - weights @ rows.values) ** 2)
