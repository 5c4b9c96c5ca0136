"""A summary of the disclosure of a sensitive attribute, with gains, correct guesses and the most certain guess.

If people may have several records, each person counts once. A guess about a person is correct if the most common value
of any of the person's classes is one of the person's values. Without the release, the guess is correct if the most
common value of all people is one of the person's values. In the counts of a class, each person counts once for each of
the person's values in the class. The result for a person is the result of the class that reveals most about the person,
because an adversary may know any of the person's records.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from privnb.measures.disclosure import gains
from privnb.measures.disclosure.gains import Gain
from privnb.microdata import withholding
from privnb.microdata.counts import (
    class_value_counts,
    count_people_among,
    count_people_by_group,
    encode_values,
    select_person_rows,
    tabulate,
)
from privnb.microdata.release import Release
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.validation import Randomness, validated


class DisclosureSummary(NamedTuple):
    """The disclosure of a sensitive attribute by a release.

    `gains`: each requested gain. `by_chance`: the mean of each gain with randomly permuted values. `right` and
    `before`: the share of people whose value is guessed correctly with the release, and without the release. `surest`
    and `sure_before`: the probability that the most certain guess is correct with the release, and without the release.
    """

    gains: tuple[float, ...]
    by_chance: tuple[float, ...]
    right: float
    before: float
    surest: float
    sure_before: float


@validated
def reveals_small_count(release: Release, sensitive: str, min_count: withholding.MinCount = withholding.LIMIT) -> bool:
    """Return whether a number about the class that reveals most could reveal a count of fewer than `min_count` people.

    The number could reveal such a count if two conditions are true: fewer than `min_count` people have some sensitive
    value of the table, and some class of the release has fewer than `min_count` people.
    """
    classes, values, people, times = release.counted(sensitive)
    least = [count_people_by_group(groups, people, times=times).min() for groups in (classes, encode_values(values)[0])]
    return bool(max(least) < min_count)


@validated
def summarize_disclosure(
    release: Release,
    sensitive: str,
    *,
    rng: Randomness,
    knows: gains.Known = (),
    of: Sequence[Gain] = (gains.accuracy_gain, gains.knowledge_gain),
) -> DisclosureSummary:
    """Return a summary of the disclosure of a sensitive attribute by a release.

    Parameters
    ----------
    release : Release
    sensitive : str
    rng : int, Generator or None
        The source of the random permutations.
    knows : list of str
        Published attributes that the adversary also knows; see `gains.find_known_classes`.
    of : tuple of functions
        The gains to compute, which are functions of the module `gains`.

    Raises
    ------
    Unreadable
        If the release has no classes.
    """
    release.schema[sensitive]  # refuses a name that does not exist
    if release.people is not None:
        return _of_people(release, release.people, sensitive, rng, knows, of)
    counts = gains.class_counts(release, sensitive, knows)
    known = gains.knowledge_before(release, sensitive, knows) if knows else None
    right = gains.posterior_accuracy(counts)
    return DisclosureSummary(
        tuple(gain(counts, known) for gain in of),
        gains.permute_gains(release, sensitive, rng=rng, knows=knows, of=of),
        right,
        right - gains.accuracy_gain(counts, known),
        gains.largest_posterior(counts),
        (gains.baseline_knowledge(counts) if known is None else known).max(),
    )


def accuracy_by_group(groups: IntArray, values: Array, people: IntArray | None) -> float:
    """Return the share of people who have the most common value of at least one of their groups.

    `groups`, `values` and `people` are arrays (n,); if `people` is None, each record belongs to a different person.
    """
    if people is None:
        return gains.posterior_accuracy(class_value_counts(groups, values))
    codes, _ = encode_values(values)
    return _right(groups, codes, people, _counts(groups, codes, people)) / len(np.unique(people))


def surest_guess(groups: IntArray, values: Array, people: IntArray | None) -> tuple[float, float]:
    """Return the probability of the most common value in the group that reveals most, and among all people.

    The first probability is 1 if all people in some group have the same value; see `gains.largest_posterior`. `groups`,
    `values` and `people` are arrays (n,) of records; if `people` is None, each record belongs to a different person.
    """
    codes, _ = encode_values(values)
    own, everybody = (_counts(each, codes, people) for each in (groups, np.zeros_like(groups)))
    return float(gains.largest_posterior(own)), float(gains.largest_posterior(everybody))


def _of_people(
    release: Release, people: IntArray, sensitive: str, rng: Randomness, knows: gains.Known, of: Sequence[Gain]
) -> DisclosureSummary:
    classes, groups = gains.find_known_classes(release, knows), gains.group_by_knowledge(release, knows)
    codes, _ = encode_values(release.of_people(sensitive)[1])
    found, right, before, counts, known = _disclosed(classes, groups, codes, people, of)
    generator = np.random.default_rng(rng)
    dealt = (codes[gains.permute(groups, generator)] for _ in range(gains.permutation_count(len(codes), 20)))
    chance = np.mean([_disclosed(classes, groups, each, people, of)[0] for each in dealt], axis=0)
    return DisclosureSummary(found, tuple(chance), right, before, gains.largest_posterior(counts), known.max())


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
        """Return the mean over people of the largest result among the classes of each person."""
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
    """Return the number of people by group and value, as an integer array (groups, values)."""
    once = select_person_rows(people, groups, codes)
    return tabulate(groups[once], codes[once], (int(groups.max()) + 1, int(codes.max()) + 1))


def _right(groups: IntArray, codes: IntArray, people: IntArray, counts: IntArray) -> int:
    return count_people_among(codes == counts.argmax(axis=1)[groups], people)
