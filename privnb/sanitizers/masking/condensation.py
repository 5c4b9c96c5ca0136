"""Made-up numbers with the means and covariances of small groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute
from privnb.privacy_models.anonymity import People
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.sanitizers.eligibility import check_k
from privnb.sanitizers.masking.base import Masked, NumberMasking, drawn


@dataclass(frozen=True)
class Condensation(NumberMasking):
    """Put every record into a group of at least k near ones, and publish in its place numbers drawn from the means and
    covariances of its group.

    Groups form around records drawn at random: one takes the k - 1 nearest to it, and those left over join the nearest
    group; numbers count in their standard deviations. Of a group only its size, its sums and its sums of products are
    used. Along each eigenvector of its covariance matrix (of a population) what is drawn is uniform, independent and
    sqrt(12 eigenvalue) wide, so that in expectation the group keeps its means and covariances. The published numbers
    are nobody's, and yet near those of k people: no k is promised, for rows differ. Other columns stay with their
    records. Cells are rounded to a thousandth of a step.

    Parameters
    ----------
    k : int
        From 2 to the number of records; larger keeps less of where records cluster.

    Source: Aggarwal and Yu, "A Condensation Approach to Privacy Preserving Data Mining", EDBT 2004, section 2. The
    paper draws uniformly for lack of more knowledge, assuming that a group is uniform along its eigenvectors.
    """

    k: People = 10
    title = "Condensation"
    letters = requires = ("k",)
    randomized = True

    promises_k = False

    def _masked(self, dataset: Microdata, attributes: Sequence[Attribute], found: IntArray, rng: Generator) -> Masked:
        from privnb.sanitizers.algorithms.nearest_groups import around, located  # numba is slow to import

        check_k(self, self.k, len(dataset))
        space, points, _ = located(found, [None] * len(attributes))
        groups = around(space, points, self.k, rng.permutation(len(found)))
        means, ranges, vectors = condensed(found, groups)
        along = (rng.random(found.shape) - 0.5) * ranges[groups]
        return drawn(attributes, means[groups] + np.einsum("nij,nj->ni", vectors[groups], along)), {}


def condensed(numbers: Array, groups: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What is kept of each group: how numbers lie in it.

    Parameters
    ----------
    numbers : array (n, attributes)
    groups : integer array (n,)
        From 0, each with a record.

    Returns
    -------
    means : float array (groups, attributes)
    ranges : float array (groups, attributes)
        How wide what is drawn is along each eigenvector, sqrt(12 eigenvalue), rising.
    vectors : float array (groups, attributes, attributes)
        The eigenvectors of the covariance matrix, as columns; the largest entry of each is positive.

    >>> condensed(np.array([(1, 2), (2, 3), (3, 5), (4, 6)]), np.zeros(4, dtype=int))[1].round(6).tolist()
    [[0.448215, 6.693213]]
    """
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    starts = np.append(0, np.cumsum(sizes)[:-1])
    means = np.add.reduceat(np.asarray(numbers, dtype=float)[order], starts) / sizes[:, None]
    apart = numbers[order] - means[groups[order]]
    covariances = np.add.reduceat(apart[:, :, None] * apart[:, None, :], starts) / sizes[:, None, None]
    values, vectors = np.linalg.eigh(covariances)
    largest = np.take_along_axis(vectors, np.abs(vectors).round(9).argmax(axis=1)[:, None, :], axis=1)
    return means, np.sqrt(12 * values.clip(0)), vectors * np.where(largest < 0, -1, 1)
