"""Certainty: how many people's sensitive value a release makes certain, by counts of values in groups of people.

A value is certain in a group whose members all have it: an adversary who knows that a person is in the group knows the
value. A value that is nearly certain without the release (nearly nobody has a rare illness) is not disclosed by it.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privnb.microdata import withholding
from privnb.microdata.bands import Bands
from privnb.microdata.counts import people_among, people_in
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.schema import Attribute
from privnb.runtime.arrays import Array
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING

NEAR = 0.95  # how likely a value is that is nearly certain, unless a policy states another share
SURE = 1 - ROUNDING  # how likely a guess is that is certain
NARROW = 0.05  # of a number's domain: how wide an interval may be at most that nearly discloses it


def harms_nobody(attribute: Attribute, values: Iterable[Any]) -> NDArray[np.bool_]:
    """Return which published values of a sensitive attribute harm nobody who is known to have them: those that the
    owner names, and `*`, which says nothing; boolean array (values,).
    """
    return np.array([str(value) in attribute.harmless or value == SUPPRESSED for value in values], dtype=bool)


def public_shares(
    attribute: Attribute,
    codes: NDArray[np.integer],
    values: Sequence[Any] | Array,
    people: NDArray[np.integer] | None = None,
    times: NDArray[np.integer] | None = None,
) -> NDArray[np.floating]:
    """Return how likely each value of a sensitive attribute is without the release: float array (values,).

    It is the distribution that the owner declares public, by default the share of people in the whole table who have
    each value.

    Parameters
    ----------
    attribute : Attribute
    codes : integer array (n,)
        Which value each record of the whole table has, from 0.
    values : sequence
        The values that `codes` count.
    people, times : integer array (n,), optional
        As of `counts.people_in`.

    Examples
    --------
    >>> from privnb.microdata.schema import Categories, Role
    >>> ill = Attribute("ill", Role.SENSITIVE, Categories(("cold", "flu")))
    >>> public_shares(ill, np.array([0, 0, 1, 0]), ["cold", "flu"]).tolist()
    [0.75, 0.25]
    """
    if declared := attribute.public_distribution:
        return np.array([declared.get(str(value), 0.0) for value in values])
    everybody = people_among(np.ones(len(codes), dtype=bool), people, times)
    return people_in(codes, people, len(values), times) / max(everybody, 1)


def tells_of_others(people: int, right: int, tells: bool = False, limit: int = withholding.LIMIT) -> bool:
    """Return whether the number of people whose value is certain tells of few others, and is withheld for their sake.

    A number of few people, or of all but few, is withheld anyway: see `withholding.tells`.

    Parameters
    ----------
    people : int
        For how many people a value is certain.
    right : int
        How many people are guessed right: a published mean tells it.
    tells : bool
        Whether a number of the worst-off class tells of few people.
    limit : int
        Fewer people are few.

    Examples
    --------
    Of 25 people who are guessed right, 20 leave five:

    >>> tells_of_others(20, 25), tells_of_others(20, 40), tells_of_others(0, 5)
    (True, False, False)
    """
    return bool(people and (withholding.few(right - people, limit) or tells))


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

    >>> certain_groups(np.array([[3, 0], [1, 1]]), np.array([0.8, 0.2])).tolist()
    [True, False]

    If 96% of all people have flu, the release does not disclose it:

    >>> certain_groups(np.array([[3, 0], [1, 1]]), np.array([0.96, 0.04])).tolist()
    [False, False]
    """
    counts, public = np.asarray(counts), np.asarray(public, dtype=float)
    if (public > 1).any():
        raise UsageError("`public` must be shares from 0 to 1; got counts. Try public_shares.")
    disclosed = public < near
    if harmless is not None:
        disclosed &= ~np.asarray(harmless)
    sizes = counts.sum(axis=1) if sizes is None else np.asarray(sizes)
    return ((counts == sizes[:, None]) & disclosed).any(axis=1) & (sizes > 0)


def nearly_certain_groups(
    counts: NDArray[np.integer],
    public: NDArray[np.floating],
    attribute: Attribute,
    values: Sequence[Any] | Array,
    near: float = NEAR,
    sizes: NDArray[np.integer] | None = None,
) -> NDArray[np.bool_]:
    """Return which groups make a value nearly certain, or a narrow interval of a number: boolean array (groups,).

    Parameters
    ----------
    counts, public, sizes
        As of `certain_groups`.
    attribute : Attribute
    values : sequence
        The values that are counted.
    near : float
        The least share of a group's people that is nearly certain.
    """
    counts, harmless = np.asarray(counts), harms_nobody(attribute, values)
    sizes = counts.sum(axis=1) if sizes is None else np.asarray(sizes)
    likely = np.zeros(len(counts), dtype=bool)
    for window in _windows(attribute.domain, values):
        if public[window].sum() < near and not harmless[window].all():
            likely |= counts[:, window].sum(axis=1) >= near * sizes * SURE
    return likely & (sizes > 0)


def _windows(domain: object, values: Sequence[Any] | Array) -> Iterator[NDArray[np.integer]]:
    """Yield which of the values an outsider takes together: each by itself, and of a number's bands those that lie next
    to one another in an interval of at most `NARROW` of its domain; integer arrays.
    """
    if not isinstance(domain, Bands):
        yield from (np.array([place]) for place in range(len(values)))
        return
    place = {value: number for number, value in enumerate(values)}
    starts = [*domain.starts, domain.numbers.size]
    most = max(1, round(NARROW * domain.numbers.size))
    for first in range(len(domain.values)):
        end = first + 1
        while end < len(domain.values) and starts[end + 1] - starts[first] <= most:
            end += 1
        found = [place[each] for each in domain.values[first:end] if each in place]
        if found:
            yield np.array(found)
