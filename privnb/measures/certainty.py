"""Certainty: how many people's sensitive value a release makes certain, by counts of values in groups of people.

A value is certain in a group whose members all have it: an adversary who knows that a person is in the group knows the
value. A value that is nearly certain without the release (nearly nobody has a rare illness) is not disclosed by it.
"""

import numpy as np
from numpy.typing import NDArray

NEAR = 0.95  # how likely a value is that is nearly certain, unless a policy states another share


def public_shares(whole: NDArray[np.integer]) -> NDArray[np.floating]:
    """Return how likely each value is without the release, by how many people in the whole table have it.

    >>> public_shares(np.array([3, 1])).tolist()
    [0.75, 0.25]
    """
    whole = np.asarray(whole)
    return whole / max(whole.sum(), 1)


def certain_groups(
    counts: NDArray[np.integer],
    public: NDArray[np.floating],
    harmless: NDArray[np.bool_] | None = None,
    near: float = NEAR,
    sizes: NDArray[np.integer] | None = None,
) -> NDArray[np.bool_]:
    """Return which groups make a value certain: boolean array (groups,).

    Parameters
    ----------
    counts : integer array (groups, values)
        How many people in each group have each value.
    public : float array (values,)
        How likely each value is without the release, shares from 0 to 1.
    harmless : boolean array (values,), optional
        Values that harm nobody who is known to have them: certainty of these is not counted.
    near : float
        From which share on a value is nearly certain without the release, so that the release does not disclose it.
    sizes : integer array (groups,), optional
        How many people are in each group, where a person may have several values; None: each has one.

    Raises
    ------
    ValueError
        For public shares above 1.

    Examples
    --------
    Three people with flu, and two people of whom one has it:

    >>> certain_groups(np.array([[3, 0], [1, 1]]), public_shares(np.array([4, 1]))).tolist()
    [True, False]

    If 96% of all people have flu, the release does not disclose it:

    >>> certain_groups(np.array([[3, 0], [1, 1]]), np.array([0.96, 0.04])).tolist()
    [False, False]
    """
    counts, public = np.asarray(counts), np.asarray(public, dtype=float)
    if (public > 1).any():
        raise ValueError("`public` must be shares from 0 to 1; got counts. Try public_shares(counts).")
    disclosed = public < near
    if harmless is not None:
        disclosed &= ~np.asarray(harmless)
    sizes = counts.sum(axis=1) if sizes is None else np.asarray(sizes)
    return ((counts == sizes[:, None]) & disclosed).any(axis=1) & (sizes > 0)


def certain_people(
    counts: NDArray[np.integer],
    public: NDArray[np.floating],
    harmless: NDArray[np.bool_] | None = None,
    near: float = NEAR,
) -> int:
    """Return how many people are in groups that make a value certain, see `certain_groups`.

    Examples
    --------
    >>> certain_people(np.array([[3, 0], [1, 1]]), public_shares(np.array([4, 1])))
    3
    """
    return int(np.asarray(counts)[certain_groups(counts, public, harmless, near)].sum())
