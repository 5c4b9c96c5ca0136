"""Condensation: synthetic numbers with the means and covariances of small groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute
from privnb.privacy_models.anonymity import People
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.sanitizers.eligibility import check_records_for_k
from privnb.sanitizers.masking.base import Masked, NumberMasking, round_drawn_numbers


@dataclass(frozen=True)
class Condensation(NumberMasking):
    """Replace groups of at least k similar records with random numbers of the same means and covariances.

    Groups form around records that are drawn at random: each of these records forms a group with the k - 1 records
    nearest to it, and each record that is left over joins the nearest group. Distances are measured in standard
    deviations of each number. The method uses only the size, the sums and the sums of products of each group. Along
    each eigenvector of the group's covariance matrix (as of a population), the draws are independent and uniform over a
    range of sqrt(12 eigenvalue), so that the group keeps its means and covariances in expectation. The published
    numbers belong to nobody, although they are near the numbers of k people. The release does not claim a k, because
    the rows of a group differ. All other columns stay unchanged. Cells are rounded to a thousandth of a step.

    Parameters
    ----------
    k : int
        The minimum size of a group, from 2 to the number of records; a larger k preserves less of the clusters in the
        data.

    Source: Aggarwal and Yu, "A Condensation Approach to Privacy Preserving Data Mining", EDBT 2004, section 2. The
    paper uses uniform draws because nothing else is known about a group, and assumes that a group is uniform along its
    eigenvectors.
    """

    k: People = 10
    title = "Condensation"
    letters = requires = ("k",)
    randomized = True

    promises_k = False

    def _masked(self, dataset: Microdata, attributes: Sequence[Attribute], found: IntArray, rng: Generator) -> Masked:
        from privnb.sanitizers.algorithms.nearest_groups import group_around, locate_records  # numba is slow to import

        check_records_for_k(self, self.k, len(dataset))
        space, points, _ = locate_records(found, [None] * len(attributes))
        groups = group_around(space, points, self.k, rng.permutation(len(found)))
        means, ranges, vectors = summarize_groups(found, groups)
        along = (rng.random(found.shape) - 0.5) * ranges[groups]
        return round_drawn_numbers(attributes, means[groups] + np.einsum("nij,nj->ni", vectors[groups], along)), {}


def summarize_groups(numbers: Array, groups: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the means of each group, and the variation of its numbers along the eigenvectors of their covariances.

    Parameters
    ----------
    numbers : array (n, attributes)
    groups : integer array (n,)
        The group of each row, from 0; every group has at least one row.

    Returns
    -------
    means : float array (groups, attributes)
    ranges : float array (groups, attributes)
        The width of the draws along each eigenvector, sqrt(12 eigenvalue), in ascending order.
    vectors : float array (groups, attributes, attributes)
        The eigenvectors of the covariance matrix, as columns; in each eigenvector, the entry that is largest in
        absolute value is positive.

    >>> summarize_groups(np.array([(1, 2), (2, 3), (3, 5), (4, 6)]), np.zeros(4, dtype=int))[1].round(6).tolist()
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
