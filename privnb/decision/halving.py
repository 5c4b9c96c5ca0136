"""Successive halving in two steps: all settings on a small sample, then the best 3/16 of them on the whole table.

The best settings are those with the largest hypervolume: in the space of all risks and the users' loss, they together
dominate most of the volume between the original and the release without quasi-identifiers. Source: Jamieson and
Talwalkar, "Non-stochastic Best Arm Identification and Hyperparameter Optimization", AISTATS 2016; hypervolume: Zitzler
and Thiele, IEEE TEC 3(4), 1999.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from privnb.runtime.arrays import BoolArray, FloatArray
from privnb.runtime.validation import Count, validated

Setting = TypeVar("Setting")
# A function of settings and a number of records: the vectors of the settings on a sample of that many records, and the
# positions of the settings that always go on to the next step.
Measured = Callable[[Sequence[Any], int], tuple[FloatArray, list[int]]]
POINTS = 2**14  # the points that estimate a volume: the error is below 1%
LEAST = 1_000  # the smallest number of records in a sample: numbers from fewer records vary too much
# Pairs (share of the records, share of the settings): 0.0625 + 0.1875 = a quarter of the evaluations. A step in
# between, on a quarter of the records, would leave fewer settings for the last step: 90% to 92% of the volume of
# Adult's grid under three of five policies, instead of 96% to 99.9%.
RUNGS = ((1 / 16, 1.0), (1.0, 3 / 16))


class Rung(NamedTuple):
    """One step of a search: the number of records, and the number of settings that are measured on these records."""

    records: int
    settings: int


@validated
def plan_rungs(records: Count, settings: Count) -> list[Rung]:
    """Return the steps of a search, which takes at most a quarter of the time of measuring all settings on all records.

    Parameters
    ----------
    records, settings : int
        The number of records in the table, and the number of settings to try.

    Returns
    -------
    list of Rung
        The list has a single step, with all records and settings, if there are few records or few settings.

    >>> plan_rungs(45222, 96)
    [Rung(records=2826, settings=96), Rung(records=45222, settings=18)]
    >>> plan_rungs(900, 96)
    [Rung(records=900, settings=96)]
    """
    if records * RUNGS[0][0] < LEAST or settings < 1 / RUNGS[-1][1]:
        return [Rung(records, settings)]
    return [Rung(int(records * share), max(int(settings * kept), 1)) for share, kept in RUNGS]


@validated
def search_settings(settings: Sequence[Setting], records: int, measured: Measured) -> list[tuple[Rung, list[Setting]]]:
    """Search settings in steps, and return the settings of each step.

    Parameters
    ----------
    settings : list
    records : int
    measured : function
        `measured(settings, records)` returns the vectors of these settings on a sample of `records` records and a list
        of positions. The vectors are a float array (settings, axes). Each axis is scaled so that 0 is the better and 1
        the worse of the two reference releases; NaN means unknown. The positions are those of the settings that go on
        to the next step whatever their volume, the best setting first.

    Returns
    -------
    list of (Rung, list of settings)
        One pair per step; the last step uses all records. The settings that always go on come first, followed by the
        settings that add the most volume.
    """
    left, steps = list(settings), []
    for rung in plan_rungs(records, len(left)):
        left = left[: rung.settings]
        vectors, first = measured(left, rung.records)
        order = dict.fromkeys([*first[: max(1, rung.settings // 16)], *order_by_volume(vectors)])
        left = [left[place] for place in order]
        steps.append((rung, left))
    return steps


def order_by_volume(vectors: FloatArray) -> list[int]:
    """Return the positions of vectors in the order in which each adds the most volume to its predecessors.

    Vectors that add no volume come last, in ascending order of their sums.
    """
    volumes = find_dominated(vectors)
    left, seen, order = set(range(len(volumes))), np.zeros(POINTS, dtype=bool), []
    sums = np.nan_to_num(vectors, nan=1.0).sum(axis=1)
    while left:
        best = min(left, key=lambda place: (-(volumes[place] & ~seen).sum(), sums[place], place))
        order.append(best)
        left.remove(best)
        seen |= volumes[best]
    return order


def find_dominated(vectors: FloatArray) -> BoolArray:
    """Return, for each vector, which points of a volume it dominates, as a boolean array (n, POINTS).

    Parameters
    ----------
    vectors : float array (n, axes)
        0 is the best and 1 the worst number; the reference point has 1 on every axis. NaN means unknown and counts as
        1.

    >>> find_dominated(np.array([[0.5, 0.5], [np.nan, 0.0]])).mean(axis=1).round(3).tolist()
    [0.25, 0.0]
    """
    vectors = np.nan_to_num(np.asarray(vectors, dtype=float), nan=1.0)
    from scipy.stats import qmc  # takes a third of a second to import

    points = qmc.Sobol(vectors.shape[1], scramble=False).random(POINTS)
    return np.array([(vector < points).all(axis=1) for vector in np.clip(vectors, 0, 1)]).reshape(-1, POINTS)
