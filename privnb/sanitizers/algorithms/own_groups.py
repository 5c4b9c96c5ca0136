"""Groups of records that lie near each other, each as large as the largest k that one of its members asks for.

Source: Aggarwal and Yu, "On Variable Constraints in Privacy Preserving Data Mining", SDM 2005: the records of each k
are grouped among themselves. Deviation: who is too few for a group there is joined by the nearest who ask for less,
where that paper moves whole groups from one k to another.
"""

from __future__ import annotations

import numpy as np

from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.sanitizers.algorithms.nearest_groups import Space, mdav


def own_groups(space: Space, points: Array, ks: Array) -> IntArray:
    """The group of each record, 0, 1, ...: integer array (n,).

    ks: what each record asks for, integer array (n,). From the largest k to the smallest, the records that ask for it
    and have no group yet are grouped by `mdav`. Where they are too few, those nearest to them all (the least sum of
    squared distances) of the records that ask for less fill them up to k; where these do not suffice either, each of
    the few joins the group of the record nearest to it, which has a larger k. Ties go to the lowest index.

    Raises ValueError for fewer records than the largest k.
    """
    groups = np.full(len(points), -1)
    for k in sorted({*ks.tolist()}, reverse=True):
        free = groups < 0
        asking, others = np.flatnonzero(free & (ks == k)), np.flatnonzero(free & (ks < k))
        if not len(asking):
            continue
        if (lacking := k - len(asking)) > 0 and lacking <= len(others):
            far = sum(_squared(space, points[others], points[record]) for record in asking)
            asking = np.sort(np.append(asking, others[np.argsort(far, kind="stable")[:lacking]]))
        if len(asking) >= k or free.all():
            groups[asking] = groups.max() + 1 + mdav(space, points[asking], k)
            continue
        grouped = np.flatnonzero(~free)
        for record in asking:
            groups[record] = groups[grouped[np.argmin(_squared(space, points[grouped], points[record]))]]
    return groups


def _squared(space: Space, points: Array, point: Array) -> FloatArray:
    """The squared distance of each of several points to one: float array (n,)."""
    numbers = space.numbers
    far = ((points[:, :numbers] - point[:numbers]) ** 2).sum(axis=1)
    for a in range(numbers, points.shape[1]):
        levels = (space.groups[points[:, a].astype(np.int64)] == space.groups[int(point[a])]).argmax(axis=1)
        far += (levels * space.weights[a]) ** 2
    return far
