"""Certainty: how many people's sensitive value a release makes certain, by counts of values in groups of people.

A value is certain in a group whose members all have it: an adversary who knows that a person is in the group knows the
value. A value that everybody in the table has is certain without the release, and a release discloses nothing by it.
"""

import numpy as np
from numpy.typing import NDArray


def certain_groups(
    counts: NDArray[np.integer], whole: NDArray[np.integer], harmless: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Return which groups make a value certain: boolean array (groups,).

    Parameters
    ----------
    counts : integer array (groups, values)
        How many people in each group have each value.
    whole : integer array (values,)
        How many people in the whole table have each value.
    harmless : boolean array (values,), optional
        Values that harm nobody who is known to have them: certainty of these is not counted.

    Examples
    --------
    Three people with flu, and two people of whom one has it:

    >>> certain_groups(np.array([[3, 0], [1, 1]]), np.array([4, 1])).tolist()
    [True, False]
    """
    counts, whole = np.asarray(counts), np.asarray(whole)
    if np.count_nonzero(whole) < 2:
        return np.zeros(len(counts), dtype=bool)
    certain = np.count_nonzero(counts, axis=1) == 1
    if harmless is not None:
        certain &= counts[:, ~np.asarray(harmless)].any(axis=1)
    return certain


def certain_people(
    counts: NDArray[np.integer], whole: NDArray[np.integer], harmless: NDArray[np.bool_] | None = None
) -> int:
    """Return how many people are in groups that make a value certain, see `certain_groups`.

    Examples
    --------
    >>> certain_people(np.array([[3, 0], [1, 1]]), np.array([4, 1]))
    3
    """
    return int(np.asarray(counts)[certain_groups(counts, whole, harmless)].sum())
