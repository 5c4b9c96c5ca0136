"""Successive halving in two steps: all settings on a small sample, the best three sixteenths on the whole table.

"Better" is by hypervolume: the settings that together cover most of what lies between the original and the release
without quasi-identifiers, over all risks and what users lose. Source: Jamieson and Talwalkar, "Non-stochastic Best Arm
Identification and Hyperparameter Optimization", AISTATS 2016; hypervolume: Zitzler and Thiele, IEEE TEC 3(4), 1999.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from privnb.runtime.arrays import BoolArray, FloatArray
from privnb.runtime.validation import Count, validated

Setting = TypeVar("Setting")
# The vectors of settings on a sample of so many records, and the places of those that go on in any case.
Measured = Callable[[Sequence[Any], int], tuple[FloatArray, list[int]]]
POINTS = 2**14  # at which a volume is looked at: its error is below a per cent
LEAST = 1_000  # records of a sample: of fewer the numbers say little
# Share of the records, share of the settings: .0625 + .1875. A step between, on a quarter of the records, leaves fewer
# settings for the last: under three of five policies 90 to 92 % of the volume of Adult's grid, not 96 to 99.9.
RUNGS = ((1 / 16, 1.0), (1.0, 3 / 16))


class Rung(NamedTuple):
    """One step of a search: how many of the settings are measured on how many records."""

    records: int
    settings: int


@validated
def rungs(records: Count, settings: Count) -> list[Rung]:
    """The steps of a search: at most a quarter of the record-evaluations of all settings on all records.

    Parameters
    ----------
    records, settings : int
        Of the table, and that are tried.

    Returns
    -------
    list of Rung
        A table of few records, or few settings, has one step: everything.

    >>> rungs(45222, 96)
    [Rung(records=2826, settings=96), Rung(records=45222, settings=18)]
    >>> rungs(900, 96)
    [Rung(records=900, settings=96)]
    """
    if records * RUNGS[0][0] < LEAST or settings < 1 / RUNGS[-1][1]:
        return [Rung(records, settings)]
    return [Rung(int(records * share), max(int(settings * kept), 1)) for share, kept in RUNGS]


@validated
def search(settings: Sequence[Setting], records: int, measured: Measured) -> list[tuple[Rung, list[Setting]]]:
    """The settings that a search ends with, and what it measured on the way.

    Parameters
    ----------
    settings : list
    records : int
    measured : function
        `measured(settings, records)` gives the vectors of these settings on a sample of so many records, float array
        (settings, axes), each axis scaled so that 0 is the best and 1 the worst of the two ends, NaN: unknown; and the
        places of those that go on whatever their volume, a list, the best first.

    Returns
    -------
    list of (Rung, list of settings)
        The last one is of all records, the settings of most volume first.
    """
    left, steps = list(settings), []
    for rung in rungs(records, len(left)):
        left = left[: rung.settings]
        vectors, first = measured(left, rung.records)
        order = dict.fromkeys([*first[: max(1, rung.settings // 16)], *by_volume(vectors)])
        left = [left[place] for place in order]
        steps.append((rung, left))
    return steps


def by_volume(vectors: FloatArray) -> list[int]:
    """The places of vectors in the order in which each adds most volume to those before it: a list.

    Vectors that add none stand last, the smaller sum first.
    """
    volumes = covered(vectors)
    left, seen, order = set(range(len(volumes))), np.zeros(POINTS, dtype=bool), []
    sums = np.nan_to_num(vectors, nan=1.0).sum(axis=1)
    while left:
        best = min(left, key=lambda place: (-(volumes[place] & ~seen).sum(), sums[place], place))
        order.append(best)
        left.remove(best)
        seen |= volumes[best]
    return order


def covered(vectors: FloatArray) -> BoolArray:
    """Return which of the points of a volume each vector dominates: boolean array (n, POINTS).

    Parameters
    ----------
    vectors : float array (n, axes)
        0 is the best, 1 the worst, which is the reference point. NaN, unknown, counts as the worst.

    >>> covered(np.array([[0.5, 0.5], [np.nan, 0.0]])).mean(axis=1).round(3).tolist()
    [0.25, 0.0]
    """
    vectors = np.nan_to_num(np.asarray(vectors, dtype=float), nan=1.0)
    from scipy.stats import qmc  # takes a third of a second to import

    points = qmc.Sobol(vectors.shape[1], scramble=False).random(POINTS)
    return np.array([(vector < points).all(axis=1) for vector in np.clip(vectors, 0, 1)]).reshape(-1, POINTS)
