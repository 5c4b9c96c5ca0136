"""A geometric perturbation that is attacked before publication, and refused if a column is estimated too well."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Annotated

import numpy as np

from privnb.attacks.algorithms.independent import match_by_distributions
from privnb.attacks.algorithms.unmixing import fit_map
from privnb.measures.noise.column_privacy import column_privacy
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import Count, Positive, between
from privnb.sanitizers.algorithms.linear import draw_orthogonal, multiply_points
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.multiplicative.base import Multiplicative, TwoOrMore

ATTACKED_RECORDS = 5_000  # records, drawn at random, on which attacks are tried
NOISE_STEPS = 8  # number of steps of the noise, from none to the largest


@dataclass(frozen=True)
class ResilientPerturbation(Multiplicative):
    """Find a geometric perturbation that withstands three attacks, or refuse to publish.

    The search tries several rotations, each with its columns in the order that protects best against the naive
    estimate. The search keeps the rotation whose worst-protected column is protected most, both against this estimate
    and against an estimate by independent components that are matched to the distributions of the columns. Noise is
    then added in steps, until every column has the protection `least` against both attacks and against a regression on
    some known records. The protection of a column is its variance of difference, see `column_privacy`: 0 if the
    estimate equals the column, and 2 if the estimate is unrelated to the column. The release promises nothing against
    other kinds of adversaries, or against an adversary who knows more records.

    Parameters
    ----------
    least : float
        The protection that every column must have, above 0 and below 2.
    most : float
        The largest standard deviation of the noise that utility allows, in widths of a domain.
    iterations : int
        The number of rotations to try, at least 1.
    known : int
        The number of records that the adversary who uses the regression knows, together with their released rows; at
        least 1. A number that does not exceed the number of attributes is raised to one more than the number of
        attributes.
    attributes : tuple of str, optional
        At least two numeric quasi-identifiers. By default, all of them are perturbed.

    Raises
    ------
    SanitizationError
        If a column has less protection even with the most noise. In this case, do not publish the release, or allow
        more noise.

    Source: Aggarwal and Yu 2008, section 7.5.5, algorithm 1; Chen, Sun, Liu, SDM 2007. In that source, the amount of
    noise depends only on the regression.
    """

    least: Annotated[float, between(0, 2, "an unrelated estimate leaves 2")] = 0.2
    most: Positive = 0.5
    iterations: Count = 10
    known: Count = 20
    attributes: TwoOrMore = None
    title = "Attack-resilient perturbation"
    word = "perturbed"

    def _moved(self, points: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, float]:
        size = points.shape[1]
        if not np.ptp(points, axis=0).all():
            raise SanitizationError(
                f"{self!r}: an attribute has the same value for all records, so everybody knows this value. Leave this "
                "attribute out of `attributes`."
            )
        if len(points) < size + 2:
            raise SanitizationError(
                f"{self!r} needs {size + 2} records or more for its regression attack; the table has "
                f"{len(points)}. Try a longer table or fewer attributes."
            )
        shift = rng.uniform(-0.5, 0.5, size)
        seen = points[rng.permutation(len(points))[:ATTACKED_RECORDS]]
        tried = [order_columns(draw_orthogonal(size, rng), seen) for _ in range(self.iterations)]
        # The first one among equals: numbers are compared to six digits, so that all machines choose the same.
        matrix = max(tried, key=lambda each: round(self._kept(seen, multiply_points(each, seen) + shift), 6))
        turned, noise = multiply_points(matrix, points) + shift, rng.standard_normal(points.shape)
        chosen = rng.permutation(len(points))[:ATTACKED_RECORDS]
        for sigma in np.linspace(0, self.most, NOISE_STEPS + 1):
            moved = turned + sigma * noise
            kept = self._kept(points[chosen], moved[chosen], max(self.known, size + 1))
            if kept >= self.least:
                return moved, sqrt(size) / 2 + 0.5 + 6 * self.most
        raise SanitizationError(
            f"{self!r}: the protection of a column is {kept:.2f} with the most noise allowed, which is less than "
            f"{self.least}. Raise `most`, or do not publish this release."
        )

    def _kept(self, points: FloatArray, rows: FloatArray, known: int = 0) -> float:
        """Return the protection of the worst-protected column under the worst attack.

        `known`: the number of records, from the first on, whose points and rows the adversary knows.
        """
        estimates = [rows]
        try:
            estimates.append(match_by_distributions(rows, points)(rows))
        except ValueError:  # the rows have no independent components, because their numbers depend on each other
            pass
        if known:
            estimates.append(fit_map(points[:known], rows[:known])(rows))
        return min(float(column_privacy(estimate, points).min()) for estimate in estimates)


def order_columns(matrix: FloatArray, points: FloatArray) -> FloatArray:
    """Return an orthogonal matrix with its rows in the order that best protects the originals.

    In this order, the released columns reveal the least about the originals at their positions: the protection of the
    worst-protected column is as large as possible.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rows = multiply_points(matrix, points)
    size = len(matrix)
    kept = 2 * (1 - np.corrcoef(points.T, rows.T)[:size, size:]).round(9)  # by original, and by the row at its position
    for least in np.unique(kept)[::-1]:
        places = maximum_bipartite_matching(csr_array(kept >= least), perm_type="column")
        if (places >= 0).all():
            break
    return matrix[places]
