"""Groups of people whose sensitive value a release discloses with certainty, according to counts of values.

A value is certain in a group if all members of the group have the value, because an adversary who knows that a person
is in the group then knows the person's value. A value does not count as disclosed if it is nearly certain without the
release. An example is the absence of a rare illness, because nearly everybody lacks the illness.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privnb.microdata import withholding
from privnb.microdata.bands import Bands
from privnb.microdata.counts import count_people_among, count_people_by_group
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.schema import Attribute
from privnb.runtime.arrays import Array
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING

NEAR = 0.95  # probability from which a value is nearly certain, unless a policy states another one
CERTAINTY = 1 - ROUNDING  # probability from which a guess is certain
NARROW = 0.05  # maximum width, as a share of the domain, of an interval that nearly discloses a number


def are_harmless(attribute: Attribute, values: Iterable[Any]) -> NDArray[np.bool_]:
    """Return, as a boolean array (values,), which published values of a sensitive attribute are harmless to disclose.

    Harmless values are the values that the owner declares harmless, and `*`, which reveals nothing.
    """
    return np.array([str(value) in attribute.harmless or value == SUPPRESSED for value in values], dtype=bool)


def public_shares(
    attribute: Attribute,
    codes: NDArray[np.integer],
    values: Sequence[Any] | Array,
    people: NDArray[np.integer] | None = None,
    times: NDArray[np.integer] | None = None,
) -> NDArray[np.floating]:
    """Return the probability of each value of a sensitive attribute without the release, as a float array (values,).

    The probabilities are those that the owner declares public. By default, the probability of a value is the share of
    people in the whole table who have the value.

    Parameters
    ----------
    attribute : Attribute
    codes : integer array (n,)
        The value of each record of the whole table, as a position in `values`.
    values : sequence
    people, times : integer array (n,), optional
        The person of each record and the number of records, as in `counts.count_people_by_group`.

    Examples
    --------
    >>> from privnb.microdata.schema import Categories, Role
    >>> ill = Attribute("ill", Role.SENSITIVE, Categories(("cold", "flu")))
    >>> public_shares(ill, np.array([0, 0, 1, 0]), ["cold", "flu"]).tolist()
    [0.75, 0.25]
    """
    if declared := attribute.public_distribution:
        return np.array([declared.get(str(value), 0.0) for value in values])
    everybody = count_people_among(np.ones(len(codes), dtype=bool), people, times)
    return count_people_by_group(codes, people, len(values), times) / max(everybody, 1)


def reveals_small_rest(people: int, right: int, small_class: bool = False, limit: int = withholding.LIMIT) -> bool:
    """Return whether to withhold the number of people whose value is certain, in order to protect the remaining people.

    A count of few people, or of all people except a few, is always withheld; see `withholding.reveals_few`.

    Parameters
    ----------
    people : int
        The number of people for whom a value is certain.
    right : int
        The number of people whose value is guessed correctly, which a published mean reveals.
    small_class : bool
        Whether a number about the worst-off class could reveal a small number of people.
    limit : int
        The minimum count of the threshold rule.

    Examples
    --------
    If the values of 25 people are guessed correctly, and 20 of these values are certain, the remaining five people are
    revealed:

    >>> reveals_small_rest(20, 25), reveals_small_rest(20, 40), reveals_small_rest(0, 5)
    (True, False, False)
    """
    return bool(people and (withholding.is_few(right - people, limit) or small_class))


def certain_groups(
    counts: NDArray[np.integer],
    public: NDArray[np.floating],
    harmless: NDArray[np.bool_] | None = None,
    near: float = NEAR,
    sizes: NDArray[np.integer] | None = None,
) -> NDArray[np.bool_]:
    """Return which groups disclose a value with certainty, as a boolean array (groups,).

    Parameters
    ----------
    counts : integer array (groups, values)
        The number of people in each group with each value.
    public : float array (values,)
        The probability of each value without the release, from 0 to 1.
    harmless : boolean array (values,), optional
        The values that are harmless to disclose. Groups in which such a value is certain do not count.
    near : float
        The minimum public probability of a value that is nearly certain without the release. The release does not
        disclose such a value.
    sizes : integer array (groups,), optional
        The number of people in each group, which is needed if a person may have several values. If None, each person
        has one value.

    Raises
    ------
    ValueError
        If a public probability is above 1.

    Examples
    --------
    In the first group, all three people have flu; in the second group, one of two people has flu:

    >>> certain_groups(np.array([[3, 0], [1, 1]]), np.array([0.8, 0.2])).tolist()
    [True, False]

    If 96% of all people have flu, the release does not disclose that a person has flu:

    >>> certain_groups(np.array([[3, 0], [1, 1]]), np.array([0.96, 0.04])).tolist()
    [False, False]
    """
    counts, public = np.asarray(counts), np.asarray(public, dtype=float)
    if (public > 1).any():
        raise UsageError("`public` must hold shares from 0 to 1; got counts. Give the result of `public_shares`.")
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
    """Return, as a boolean array (groups,), which groups make a value or a narrow interval of numbers nearly certain.

    Parameters
    ----------
    counts, public, sizes
        See `certain_groups`.
    attribute : Attribute
    values : sequence
        The values in the columns of `counts`.
    near : float
        The minimum share of a group's people who have a nearly certain value.
    """
    counts, harmless = np.asarray(counts), are_harmless(attribute, values)
    sizes = counts.sum(axis=1) if sizes is None else np.asarray(sizes)
    likely = np.zeros(len(counts), dtype=bool)
    for window in _windows(attribute.domain, values):
        if public[window].sum() < near and not harmless[window].all():
            likely |= counts[:, window].sum(axis=1) >= near * sizes * CERTAINTY
    return likely & (sizes > 0)


def _windows(domain: object, values: Sequence[Any] | Array) -> Iterator[NDArray[np.integer]]:
    """Yield the positions of values that count together, which are single values or neighboring bands of numbers.

    Neighboring bands count together if the interval that they form is at most the share `NARROW` of the domain.
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
