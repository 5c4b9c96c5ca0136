"""What a release tells an adversary of a sensitive attribute, in one look: gains, people guessed right, surest guess.

Where a person may have several records, each person counts once. Somebody is guessed right if the commonest value of
any of their classes is a value of theirs, and without the release if the commonest value of all people is. A class's
values are counted by people, once for each that they have there. What is said of a class holds of a person by that of
their classes which tells most: the record that an adversary knows may be any.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from privnb.measures.disclosure import gains
from privnb.measures.disclosure.gains import Gain
from privnb.microdata import withholding
from privnb.microdata.counts import class_value_counts, coded, once_each, people_among, people_in, tabulate
from privnb.microdata.release import Release
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.validation import Randomness, validated


class Disclosed(NamedTuple):
    """What is disclosed of an attribute.

    `gains`, `by_chance`: of each gain asked for its value, and its mean where values are dealt at random. `right`,
    `before`: shares of people guessed right with the release and without it. `surest`, `sure_before`: how likely the
    surest guess is, with it and without it.
    """

    gains: tuple[float, ...]
    by_chance: tuple[float, ...]
    right: float
    before: float
    surest: float
    sure_before: float


@validated
def tells_few(release: Release, sensitive: str, fewest: withholding.MinCount = withholding.LIMIT) -> bool:
    """Return whether a number of the worst-off class could tell how many people have a sensitive value that few
    people have: the table has such a value, and the release a class of fewer than `fewest` people.

    Parameters
    ----------
    release : Release
    sensitive : str
    fewest : int
        Fewer people are few.

    Returns
    -------
    bool
    """
    classes, values, people, times = release.counted(sensitive)
    least = [people_in(groups, people, times=times).min() for groups in (classes, coded(values)[0])]
    return bool(max(least) < fewest)


@validated
def disclosed(
    release: Release,
    sensitive: str,
    *,
    rng: Randomness,
    knows: gains.Known = (),
    of: Sequence[Gain] = (gains.accuracy_gain, gains.knowledge_gain),
) -> Disclosed:
    """What a release tells of an attribute.

    Parameters
    ----------
    release : Release
    sensitive : str
    rng : int, Generator or None
        Deals the values.
    knows : list of str
        As of `gains.known_classes`.
    of : tuple of functions
        Gains of `gains`.

    Returns
    -------
    Disclosed

    Raises
    ------
    Unreadable
        As `gains.known_classes`.
    """
    release.schema[sensitive]  # refuses a name that does not exist
    if release.people is not None:
        return _of_people(release, release.people, sensitive, rng, knows, of)
    counts = gains.class_counts(release, sensitive, knows)
    known = gains.knowledge_before(release, sensitive, knows) if knows else None
    right = gains.posterior_accuracy(counts)
    return Disclosed(
        tuple(gain(counts, known) for gain in of),
        gains.permuted_gains(release, sensitive, rng=rng, knows=knows, of=of),
        right,
        right - gains.accuracy_gain(counts, known),
        gains.largest_posterior(counts),
        (gains.baseline_knowledge(counts) if known is None else known).max(),
    )


def right_by_group(groups: IntArray, values: Array, people: IntArray | None) -> float:
    """Share of people guessed right by the commonest value of each group that they are in.

    Parameters
    ----------
    groups : integer array (n,)
    values : array (n,)
    people : integer array (n,), or None

    Returns
    -------
    float
        0 to 1.
    """
    if people is None:
        return gains.posterior_accuracy(class_value_counts(groups, values))
    codes, _ = coded(values)
    return _right(groups, codes, people, _counts(groups, codes, people)) / len(np.unique(people))


def surest(groups: IntArray, values: Array, people: IntArray | None) -> tuple[float, float]:
    """How likely the commonest value of the group that tells most is, and that of everybody: two floats, 0 to 1.

    Parameters
    ----------
    groups : integer array (n,)
    values : array (n,)
    people : integer array (n,), or None

    Returns
    -------
    tuple of float
        1: everybody in some group has one value.

    Source: as of `gains.largest_posterior`.
    """
    codes, _ = coded(values)
    own, everybody = (_counts(each, codes, people) for each in (groups, np.zeros_like(groups)))
    return float(gains.largest_posterior(own)), float(gains.largest_posterior(everybody))


def _of_people(
    release: Release, people: IntArray, sensitive: str, rng: Randomness, knows: gains.Known, of: Sequence[Gain]
) -> Disclosed:
    classes, groups = gains.known_classes(release, knows), gains.groups(release, knows)
    codes, _ = coded(release.of_people(sensitive)[1])
    found, right, before, counts, known = _disclosed(classes, groups, codes, people, of)
    generator = np.random.default_rng(rng)
    dealt = (codes[gains.permute(groups, generator)] for _ in range(gains.deals(len(codes), 20)))
    chance = np.mean([_disclosed(classes, groups, each, people, of)[0] for each in dealt], axis=0)
    return Disclosed(found, tuple(chance), right, before, gains.largest_posterior(counts), known.max())


def _disclosed(
    classes: IntArray, groups: IntArray, codes: IntArray, people: IntArray, of: Sequence[Gain]
) -> tuple[tuple[float, ...], float, float, IntArray, FloatArray]:
    everybody = len(np.unique(people))
    counts, prior = _counts(classes, codes, people), _counts(groups, codes, people)
    right, before = (
        _right(index, codes, people, each) / everybody for index, each in ((classes, counts), (groups, prior))
    )
    group_of = np.zeros(len(counts), dtype=np.int64)
    group_of[classes] = groups
    known = gains.posterior_knowledge(prior)[group_of]

    def mean(of_classes: FloatArray) -> float:
        """The mean over people of what holds of that of their classes which tells most."""
        most = np.zeros(int(people.max()) + 1)
        np.maximum.at(most, people, of_classes[classes])
        return most.sum() / everybody

    own: dict[Gain, Callable[[], float]] = {
        gains.accuracy_gain: lambda: right - before,
        gains.knowledge_gain: lambda: mean(gains.additive_disclosure(counts, known)),
        gains.information_gain: lambda: mean(gains.information(counts, known)),
    }
    return tuple(own[gain]() if gain in own else gain(counts, known) for gain in of), right, before, counts, known


def _counts(groups: IntArray, codes: IntArray, people: IntArray | None) -> IntArray:
    """People by group and value: integer array (groups, values)."""
    once = once_each(people, groups, codes)
    return tabulate(groups[once], codes[once], (int(groups.max()) + 1, int(codes.max()) + 1))


def _right(groups: IntArray, codes: IntArray, people: IntArray, counts: IntArray) -> int:
    return people_among(codes == counts.argmax(axis=1)[groups], people)
