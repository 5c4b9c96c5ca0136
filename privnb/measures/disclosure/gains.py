"""The gains of an adversary who knows quasi-identifiers (Brickell and Shmatikov, KDD 2008, section 4).

Before the release, the adversary knows A_base, the distribution of the sensitive attribute in the whole table. After
the release, the adversary knows A_san, the distribution of the sensitive attribute in the class of a person (see
`find_known_classes`). The functions take `counts`, the number of times that each sensitive value occurs in each class:
integer array (classes, values). If the adversary also knows other attributes of people, `baseline` is the adversary's
knowledge about each class before the release: float array (classes, values), from `knowledge_before`.

The gains are exact for the people in the table, who are not a sample, so the gains have no interval. The gains are not
estimates for a larger population. As such estimates, they would be too large because of small classes; `permute_gains`
shows which part of a gain is due to small classes alone.
"""

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np

from privnb.measures.base import Counts, measure
from privnb.microdata.counts import (
    class_value_counts,
    count_combinations,
    encode_values,
    shrink_codes,
    stable_order,
    tabulate,
)
from privnb.microdata.release import Release
from privnb.runtime import expect
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Randomness, validated

VALUES = 16  # cells of a table of counts that take as long as one person's value in a permutation

Known = Annotated[Sequence[str], lambda name, value: expect.texts(name, value, "attributes")]
Gain = Callable[..., float]  # a function of counts (classes, values) and the knowledge before the release


@validated
def find_known_classes(release: Release, knows: Known = ()) -> IntArray:
    """Return the groups of people whom the adversary cannot distinguish.

    The groups are the equivalence classes or the buckets. If the adversary also knows the published attributes `knows`
    of a person, the groups are parts of equivalence classes. In a bucketized release, the adversary is assumed to know
    a person's bucket, so `knows` does not change the groups. The exact quasi-identifiers of a person determine the
    bucket, unless people with the same quasi-identifiers are in several buckets, as in Anatomy; in that case, the gains
    are an upper bound (`privnb.evaluation.disclosure.leakage` computes both).

    Parameters
    ----------
    release : Release
    knows : list of str
        Published attributes that the adversary knows in addition to the quasi-identifiers.

    Returns
    -------
    integer array (n,)
        The number of each person's group, from 0, in the dataset's order.

    Raises
    ------
    Unreadable
        If the release has no classes, for example because of noise. The gains are defined only for classes.
    """
    for name in knows:
        release.schema[name]  # raises an error for an unknown name
    release.check_classes("the adversary's gains are")
    if not knows or release.buckets is not None:
        return release.defined_classes
    return count_combinations(release.cells[list(dict.fromkeys([*release.schema.quasi_identifiers, *knows]))]).index


@validated
def class_counts(release: Release, sensitive: str, knows: Known = ()) -> IntArray:
    """Return the number of times that each sensitive value occurs in each class or bucket of the published table.

    Parameters
    ----------
    release : Release
    sensitive : str
    knows : list of str
        Published attributes that the adversary also knows; see `find_known_classes`.

    Returns
    -------
    integer array (classes, values)

    Raises
    ------
    Unreadable
        If the release has no classes.
    """
    return class_value_counts(*_by_class(release, sensitive, knows), _times(release))


@validated
def knowledge_before(release: Release, sensitive: str, knows: Known = ()) -> FloatArray:
    """Return an adversary's knowledge about each class from the release without the quasi-identifiers.

    Without `knows`, the knowledge about every class is A_base, which the trivial sanitization also discloses.

    Parameters
    ----------
    release : Release
    sensitive : str
    knows : list of str
        Published attributes that the adversary knows about a person.

    Returns
    -------
    float array (classes, values)
        The shares of the sensitive values for each class of `find_known_classes`.
    """
    classes, values = _by_class(release, sensitive, knows)
    apart = group_by_knowledge(release, knows) if release.buckets is None else np.zeros(len(classes), dtype=np.int64)
    of = np.zeros(classes.max() + 1, dtype=np.int64)
    of[classes] = apart
    return posterior_knowledge(class_value_counts(apart, values, _times(release)))[of]


@validated
def baseline_knowledge(counts: Counts) -> FloatArray:
    """Return A_base of section 4.1, the shares of the sensitive values in the whole table: float array (values,)."""
    return counts.sum(axis=0) / counts.sum()


@validated
def posterior_knowledge(counts: Counts) -> FloatArray:
    """Return A_san of section 4.1, the shares of the sensitive values in each class: float array (classes, values)."""
    return counts / counts.sum(axis=1, keepdims=True)


@validated
def additive_disclosure(counts: Counts, baseline: FloatArray | None = None) -> FloatArray:
    """Return A_diff, the distance between the posterior knowledge about each class and the baseline.

    The distance is the total variation of section 4.1, which is half the sum of the absolute differences between
    shares.

    Parameters
    ----------
    counts : integer array (classes, values)
        The number of times that each sensitive value occurs in each class.
    baseline : float array (classes, values), optional
        The shares that the adversary knows about each class before the release, from `knowledge_before`. If None,
        A_base.

    Returns
    -------
    float array (classes,)
        The distance: 0 for equal distributions, and 1 for disjoint distributions; lower protects better.
    """
    return np.abs(posterior_knowledge(counts) - _before(counts, baseline)).sum(axis=1) / 2


@validated
def multiplicative_disclosure(counts: Counts, baseline: FloatArray | None = None) -> FloatArray:
    """Return A_quot, the logarithm of the largest factor by which a value is more or less common in each class.

    The result is the largest |ln(share in the class / share in the baseline)| over all values, as in section 4.1 and
    definition 1.

    Parameters
    ----------
    counts : integer array (classes, values)
    baseline : float array (classes, values), optional
        The shares that the adversary knows about each class before the release; if None, A_base.

    Returns
    -------
    float array (classes,)
        The logarithm in nats: 0 if the class reveals nothing, and infinite if the class lacks a value that the baseline
        contains. Lower protects more.
    """
    after, before = posterior_knowledge(counts), _before(counts, baseline)
    quotient = np.where(after > 0, after, 1) / np.where(before > 0, before, 1)
    both = (after > 0) & (before > 0)
    return np.where(both, np.abs(np.log(quotient)), np.where(after == before, 0, np.inf)).max(axis=1)


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    sentence="Without the release, the most common sensitive value of the table is the right guess for this share of "
    "people. Lower protects more.",
    unit="share of people",
)
def prior_accuracy(counts: Counts) -> float:
    """Return the share of people whose sensitive value is guessed correctly without the release.

    The guess is the most common value of the table, which is the best guess given A_base. `counts`: integer array
    (classes, values).

    Source: Brickell and Shmatikov, KDD 2008, section 4.1.
    """
    return counts.sum(axis=0).max() / counts.sum()


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    sentence="The most common sensitive value of a person's class is the right guess for this share of people. Lower "
    "protects more.",
    unit="share of people",
)
def posterior_accuracy(counts: Counts) -> float:
    """Return the share of people whose sensitive value is guessed correctly with the release.

    Source: Brickell and Shmatikov, KDD 2008, section 4.4.
    """
    return counts.max(axis=1).sum() / counts.sum()


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    title="Surest guess",
    sentence="In the class that reveals most, the most common sensitive value is the right guess about a person with "
    "this probability. Lower protects more.",
    unit="probability",
    format="{:%}",
)
def largest_posterior(counts: Counts) -> float:
    """Return the probability of the most common value in the class that reveals most.

    The model `FrequencyDiversity` limits this probability to 1 / l. `counts`: integer array (classes, values).

    Source: Machanavajjhala et al., "l-Diversity", TKDD 1(1), 2007, section 2 (homogeneity attack).
    """
    return posterior_knowledge(counts).max()


@measure(
    kind="privacy",
    better="lower",
    bounds=(-1, 1),
    sentence="A guess of the most common sensitive value in a person's class is right for this additional share of "
    "people, compared with a guess of the most common value in the table. Lower protects more.",
    unit="share of people",
    format="{:+%} of people",
    baseline="by chance",
)
def accuracy_gain(counts: Counts, baseline: FloatArray | None = None) -> float:
    """Return the posterior accuracy minus the prior accuracy; 0 if the classes reveal nothing.

    Noisy releases have no classes. The accuracy gain of such a release is measured with the guesses of a miner, which
    give a lower bound.

    Source: Brickell and Shmatikov, KDD 2008, section 4.4, A_acc.
    """
    before = prior_accuracy(counts) if baseline is None else _mean(counts, _before(counts, baseline).max(axis=-1))
    return posterior_accuracy(counts) - before


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    sentence="This is the distance between the sensitive values in a person's class and those in the whole table, as a "
    "mean over people: 0 if they agree, 1 if they share no value. Lower protects more.",
    unit="distance, 0 to 1",
    baseline="by chance",
)
def knowledge_gain(counts: Counts, baseline: FloatArray | None = None) -> float:
    """Return the mean over people of the total variation between the person's class and the table.

    The weight of each class is therefore its size. Erratum: the formula in Sramka et al. 2010, section 3, adds one
    representative of each class and divides by the number of records. The result of their formula is smaller by a
    factor equal to the mean class size, and does not reproduce their Table 3.

    Source: Brickell and Shmatikov, KDD 2008, section 4.4, A_know.
    """
    return _mean(counts, additive_disclosure(counts, baseline))


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, math.inf),
    sentence="An adversary who knows a person's class is less uncertain about their sensitive value by this amount, as "
    "a mean over people. Lower protects more.",
    unit="nats",
    baseline="by chance",
)
def information_gain(counts: Counts, baseline: FloatArray | None = None) -> float:
    """Return the mean reduction of uncertainty about people's sensitive values.

    The gain is at most the entropy of the attribute, and at most `largest_quotient`. By Lemma 1, the gain is below
    delta if the release satisfies delta-disclosure privacy; therefore, the gain uses the natural logarithm, as delta
    does.

    Source: Brickell and Shmatikov, KDD 2008, section 4.3, Gain(S, Q).
    """
    return _mean(counts, information(counts, baseline))


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    sentence="This is the distance between the sensitive values in the class that reveals most and those in the whole "
    "table: 0 if they agree, 1 if they share no value. Lower protects more.",
    unit="distance, 0 to 1",
    baseline="by chance",
)
def largest_disclosure(counts: Counts, baseline: FloatArray | None = None) -> float:
    """Return the largest total variation between a class and the table, which t-closeness bounds.

    Source: Brickell and Shmatikov, KDD 2008, section 4.1, A_diff.
    """
    return additive_disclosure(counts, baseline).max()


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, math.inf),
    sentence="This is the largest factor by which a class makes a sensitive value more or less common than in the "
    "table, as a logarithm; it is unbounded if a class lacks a value. Lower protects more.",
    unit="nats",
    baseline="by chance",
)
def largest_quotient(counts: Counts, baseline: FloatArray | None = None) -> float:
    """Return the A_quot of the class that reveals most, see `multiplicative_disclosure`.

    A release satisfies delta-disclosure privacy for every delta above this number.

    Source: Brickell and Shmatikov, KDD 2008, section 4.2, definition 1.
    """
    return multiplicative_disclosure(counts, baseline).max()


@validated
def information(counts: Counts, baseline: FloatArray | None = None) -> FloatArray:
    """Return the reduction of uncertainty about the sensitive value in each class.

    Parameters
    ----------
    counts : integer array (classes, values)
    baseline : float array (classes, values), optional
        The shares that the adversary knows about each class before the release; if None, A_base.

    Returns
    -------
    float array (classes,)
        The reduction in nats, 0 if the class reveals nothing; lower protects better.
    """
    after, before = posterior_knowledge(counts), _before(counts, baseline)
    quotient = np.where(after > 0, after, 1) / np.where(after > 0, before, 1)
    return (after * np.log(quotient)).sum(axis=1)


@validated
def permute_gains(
    release: Release,
    sensitive: str,
    *,
    rng: Randomness,
    knows: Known = (),
    of: Sequence[Gain] = (accuracy_gain, knowledge_gain),
) -> tuple[float, ...]:
    """Return the mean gains that the same classes have if the sensitive values are permuted at random.

    Small classes differ from the whole table by chance alone. Only the part of a gain that exceeds the gain with
    permuted values is disclosed by the release.

    Parameters
    ----------
    release : Release
    sensitive : str
    rng : int, Generator or None
    knows : list of str
        Published attributes that the adversary also knows. Values are permuted among people with the same values of
        these attributes.
    of : tuple of functions
        The gains, each of which is a function of counts and a baseline.

    Returns
    -------
    tuple of float
        The mean of each gain over the permutations. `permutation_count` returns the number of permutations.
    """
    classes, values = _by_class(release, sensitive, knows)
    codes, distinct = encode_values(values)
    shape, apart = (classes.max() + 1, len(distinct)), group_by_knowledge(release, knows)
    before = knowledge_before(release, sensitive, knows) if knows else None
    generator, found, several = np.random.default_rng(rng), [], apart.any()
    size = max(len(codes), shape[0] * shape[1] // VALUES)  # with thousands of values, counts outnumber people
    for _ in range(permutation_count(size, 20)):
        # # For one group, a permutation of the values themselves gives the same draw in half the time.
        dealt = codes[permute(apart, generator)] if several else generator.permutation(shrink_codes(codes, shape[1]))
        # In memory, the counts of one value are neighbors: gains go over all classes at once.
        counts = tabulate(dealt.astype(np.int64), classes, shape[::-1]).T
        found.append([gain(counts, before) for gain in of])
    return tuple(np.mean(found, axis=0))


def permutation_count(records: int, most: int) -> int:
    """Return the number of random permutations for a baseline, which is from 2 to `most`.

    Within these limits, the number is the smallest one with which half a million values are permuted in total. Large
    tables need fewer permutations, because the results of two permutations differ less.

    >>> permutation_count(45_222, 20), permutation_count(1_000_000, 20)
    (12, 2)
    """
    return min(max(-(-500_000 // records), 2), most)


@validated
def permute(groups: IntArray, rng: np.random.Generator) -> IntArray:
    """Return a random permutation within groups, as the position of each person's new value: integer array (n,).

    `groups`: the group of each person, integer array (n,). If there is only one group, the values are permuted among
    all people.
    """
    order, permuted = rng.permutation(len(groups)), np.empty(len(groups), dtype=np.int64)
    if not groups.any():  # sorting one group would change nothing
        return order
    permuted[stable_order(groups)] = order[stable_order(groups[order])]
    return permuted


def _by_class(release: Release, sensitive: str, knows: Known) -> tuple[IntArray, Array]:
    """Return the class and the sensitive value of each of n records, as two arrays (n,); see `Release.by_class`."""
    published, values = release.by_class(sensitive)
    classes = find_known_classes(release, knows)
    return (published if release.buckets is not None else classes), values


def _times(release: Release) -> IntArray | None:
    """Return the number of records that each entry of `_by_class` represents, or None if each entry is one record.

    For a bucketized release, each entry is one record.
    """
    return release.times if release.buckets is None else None


@validated
def group_by_knowledge(release: Release, knows: Known = ()) -> IntArray:
    """Return the groups of people that the adversary can distinguish without the release.

    Parameters
    ----------
    release : Release
    knows : list of str
        Published attributes that the adversary knows about a person.

    Returns
    -------
    integer array (n,)
        The number of each record's group, from 0. Without `knows`, everybody is in one group.
    """
    if not knows or release.buckets is not None:
        return np.zeros(len(release), dtype=np.int64)
    return count_combinations(release.cells[list(knows)]).index


def _before(counts: Counts, baseline: FloatArray | None) -> FloatArray:
    if baseline is None:
        return baseline_knowledge(counts)
    fits: Any = isinstance(baseline, np.ndarray) and baseline.dtype.kind == "f" and np.isfinite(baseline).all()
    fits = fits and baseline.shape in (counts.shape, counts.shape[1:])
    if not (fits and (baseline >= 0).all() and np.allclose(baseline.sum(axis=-1), 1)):
        raise UsageError(
            f"`baseline` must be shares of the sensitive values, shape {counts.shape}; got "
            f"{expect.describe_value(baseline)}. Give the result of `knowledge_before`."
        )
    return baseline


def _mean(counts: Counts, of_classes: FloatArray) -> float:
    """Return the mean over people of a number that each class has."""
    return of_classes @ counts.sum(axis=1) / counts.sum()
