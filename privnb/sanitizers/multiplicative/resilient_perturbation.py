"""A geometric perturbation that was attacked before it is released, and is not released where an attack comes near."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Annotated

import numpy as np

from privnb.attacks.algorithms.independent import by_distributions
from privnb.attacks.algorithms.unmixing import regressed
from privnb.measures.noise.column_privacy import column_privacy
from privnb.runtime.arrays import FloatArray
from privnb.runtime.validation import Count, Positive, between
from privnb.sanitizers.algorithms.linear import multiplied, orthogonal
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.multiplicative.multiplied import Multiplicative, TwoOrMore

ATTACKED = 5_000  # records, drawn at random, that attacks are tried on
STEPS = 8  # of noise, from none to the most


@dataclass(frozen=True)
class ResilientPerturbation(Multiplicative):
    """Search a geometric perturbation that withstands three attacks, and refuse to release where none does.

    Of each of some rotations, each with its columns in the order that is best against the naive estimate, the one is
    kept whose worst-protected column is best off under that estimate and under independent components matched to the
    columns' distributions. Then noise is added in steps, as little as leaves every column `least` under both, and under
    a regression on some known records. What a column keeps is its variance of difference, see `column_privacy`:
    0 known, 2 unrelated. Against an adversary of another kind, or with more records, nothing is promised.

    Parameters
    ----------
    least : float
        What every column must keep, above 0 and below 2.
    most : float
        The largest standard deviation of the noise that utility allows, in widths of a domain.
    iterations : int
        Rotations that are tried, from 1.
    known : int
        Records that the adversary of the regression knows with their rows, from 1; more than there are numbers are
        taken in any case.
    attributes : tuple of str, optional
        Two numeric quasi-identifiers or more; None: all.

    Raises
    ------
    SanitizationError
        Where the most noise leaves a column less: then do not release, or accept more noise.

    Source: Aggarwal and Yu 2008, section 7.5.5, algorithm 1; Chen, Sun, Liu, SDM 2007. There the noise is raised
    against the regression alone.
    """

    least: Annotated[float, between(0, 2, "2 is what an unrelated estimate leaves")] = 0.2
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
                f"{self!r}: an attribute has one value for all records, so that everybody knows it. Leave it out of "
                "`attributes`."
            )
        if len(points) < size + 2:
            raise SanitizationError(
                f"{self!r} tries a regression on {size + 1} known records, and the table has {len(points)}. Give it a "
                "longer table or fewer attributes."
            )
        shift = rng.uniform(-0.5, 0.5, size)
        seen = points[rng.permutation(len(points))[:ATTACKED]]
        tried = [in_best_order(orthogonal(size, rng), seen) for _ in range(self.iterations)]
        # A first one of equal: numbers are compared to six digits, so that all machines keep the same.
        matrix = max(tried, key=lambda each: round(self._kept(seen, multiplied(each, seen) + shift), 6))
        turned, noise = multiplied(matrix, points) + shift, rng.standard_normal(points.shape)
        chosen = rng.permutation(len(points))[:ATTACKED]
        for sigma in np.linspace(0, self.most, STEPS + 1):
            moved = turned + sigma * noise
            kept = self._kept(points[chosen], moved[chosen], max(self.known, size + 1))
            if kept >= self.least:
                return moved, sqrt(size) / 2 + 0.5 + 6 * self.most
        raise SanitizationError(
            f"{self!r}: with all the noise that is allowed an attack leaves a column {kept:.2f}, less than "
            f"{self.least}. Do not release, or raise `most`."
        )

    def _kept(self, points: FloatArray, rows: FloatArray, known: int = 0) -> float:
        """What the worst-protected column keeps under the worst attack; `known`: of the first so many records both are
        known.
        """
        estimates = [rows]
        try:
            estimates.append(by_distributions(rows, points)(rows))
        except ValueError:  # rows without independent components, whose numbers depend on each other
            pass
        if known:
            estimates.append(regressed(points[:known], rows[:known])(rows))
        return min(float(column_privacy(estimate, points).min()) for estimate in estimates)


def in_best_order(matrix: FloatArray, points: FloatArray) -> FloatArray:
    """An orthogonal matrix with its rows in the order in which released columns tell least of the originals in their
    places: the worst-protected one is best off.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rows = multiplied(matrix, points)
    size = len(matrix)
    kept = 2 * (1 - np.corrcoef(points.T, rows.T)[:size, size:]).round(9)  # of each original, by the row in its place
    for least in np.unique(kept)[::-1]:
        places = maximum_bipartite_matching(csr_array(kept >= least), perm_type="column")
        if (places >= 0).all():
            break
    return matrix[places]
