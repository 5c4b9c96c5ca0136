"""What an adversary who knows quasi-identifiers gains from a release (Brickell and Shmatikov, KDD 2008, section 4).

What they knew before is A_base, the distribution of the sensitive attribute in the whole table; what they know
afterwards is A_san, its distribution in the class of the person. Functions of `counts`, how often each sensitive value
stands in each class: integer array (classes, values); of a person holds what holds of their class (`known_classes`).
An adversary may know other attributes of people too: then `baseline` is what they knew of each class before, float
array (classes, values), from `knowledge_before`.

The gains are exact for the people in the table: nobody is sampled, so they have no interval. They are no estimates for
a larger population, of which small classes would give far too high ones; `permuted_gains` shows how much of a gain is
due to small classes alone.

One module: each gain is a line or two over the same two distributions.
"""

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np

from privnb.measures.base import Counts, measure
from privnb.microdata.counts import class_value_counts, coded, combinations, small, stable_order, tabulate
from privnb.microdata.release import Release
from privnb.runtime import expect
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Randomness, validated

VALUES = 16  # cells of a table of counts that take as long as to deal one person's value

Known = Annotated[Sequence[str], lambda name, value: expect.texts(name, value, "attributes")]
Gain = Callable[..., float]  # of counts (classes, values) and what is known before


@validated
def known_classes(release: Release, knows: Known = ()) -> IntArray:
    """Whom the adversary cannot tell apart.

    The equivalence classes or buckets; finer where they also know the published attributes `knows` of a person. In a
    bucketized release the adversary is taken to know a person's bucket, so these tell no more: exact quasi-identifiers
    lead there, unless people who share them lie in several buckets, as under Anatomy; then the gains are an upper bound
    (`privnb.evaluation.disclosure.leakage` has both).

    Parameters
    ----------
    release : Release
    knows : list of str
        Published attributes.

    Returns
    -------
    integer array (n,)
        A number from 0 for each person, in the dataset's order.

    Raises
    ------
    Unreadable
        For a release without classes, such as a noisy one: the gains are defined over them.
    """
    for name in knows:
        release.schema[name]  # refuses a name that does not exist
    release.check_classes("the adversary's gains are")
    if not knows or release.buckets is not None:
        return release.defined_classes
    return combinations(release.cells[list(dict.fromkeys([*release.schema.quasi_identifiers, *knows]))]).index


@validated
def class_counts(release: Release, sensitive: str, knows: Known = ()) -> IntArray:
    """Sensitive values by class or bucket, from what is published alone.

    Parameters
    ----------
    release : Release
    sensitive : str
    knows : list of str
        As of `known_classes`.

    Returns
    -------
    integer array (classes, values)

    Raises
    ------
    Unreadable
        As `known_classes`.
    """
    return class_value_counts(*_by_class(release, sensitive, knows), _times(release))


@validated
def knowledge_before(release: Release, sensitive: str, knows: Known = ()) -> FloatArray:
    """What someone who knows the attributes `knows` of a person learns from the release without its quasi-identifiers.

    Without `knows`, A_base for all of them: the trivial sanitization gives that away.

    Parameters
    ----------
    release : Release
    sensitive : str
    knows : list of str
        As of `known_classes`.

    Returns
    -------
    float array (classes, values)
        Shares of the sensitive values for each of `known_classes`.
    """
    classes, values = _by_class(release, sensitive, knows)
    apart = groups(release, knows) if release.buckets is None else np.zeros(len(classes), dtype=np.int64)
    of = np.zeros(classes.max() + 1, dtype=np.int64)
    of[classes] = apart
    return posterior_knowledge(class_value_counts(apart, values, _times(release)))[of]


@validated
def baseline_knowledge(counts: Counts) -> FloatArray:
    """A_base: the shares of the sensitive values in the whole table, float array (values,). Section 4.1."""
    return counts.sum(axis=0) / counts.sum()


@validated
def posterior_knowledge(counts: Counts) -> FloatArray:
    """A_san: the shares of the sensitive values in each class, float array (classes, values). Section 4.1."""
    return counts / counts.sum(axis=1, keepdims=True)


@validated
def additive_disclosure(counts: Counts, baseline: FloatArray | None = None) -> FloatArray:
    """A_diff: how far the posterior knowledge of each class lies from the baseline.

    Half the sum of absolute differences of shares, which is total variation. Section 4.1.

    Parameters
    ----------
    counts : integer array (classes, values)
        How often each sensitive value stands in each class.
    baseline : float array (classes, values), optional
        Shares that the adversary knew of each class, from `knowledge_before`; None: A_base.

    Returns
    -------
    float array (classes,)
        0 equal, 1 disjoint; lower protects more.
    """
    return np.abs(posterior_knowledge(counts) - _before(counts, baseline)).sum(axis=1) / 2


@validated
def multiplicative_disclosure(counts: Counts, baseline: FloatArray | None = None) -> FloatArray:
    """A_quot: by which factor each class makes a value commoner or rarer, at most, as its natural logarithm.

    The largest |ln(share in the class / share before)| over values. Definition 1 asks it of every value. Section 4.1.

    Parameters
    ----------
    counts : integer array (classes, values)
    baseline : float array (classes, values), optional
        As of `additive_disclosure`.

    Returns
    -------
    float array (classes,)
        In nats: 0 (the class tells nothing) and more; infinite where the class lacks a value that there was; lower
        protects more.
    """
    after, before = posterior_knowledge(counts), _before(counts, baseline)
    quotient = np.where(after > 0, after, 1) / np.where(before > 0, before, 1)
    both = (after > 0) & (before > 0)
    return np.where(both, np.abs(np.log(quotient)), np.where(after == before, 0, np.inf)).max(axis=1)


@measure(kind="privacy", better="lower", bounds=(0, 1), unit="share of people")
def prior_accuracy(counts: Counts) -> float:
    """Share of people whose sensitive value is guessed without the release, by always naming the commonest value.

    `counts`: (classes, values). The best guess under A_base.

    Source: Brickell and Shmatikov, KDD 2008, section 4.1.
    """
    return counts.sum(axis=0).max() / counts.sum()


@measure(kind="privacy", better="lower", bounds=(0, 1), unit="share of people")
def posterior_accuracy(counts: Counts) -> float:
    """Share of people whose sensitive value is guessed with the release, by naming the commonest value of their class.

    Source: Brickell and Shmatikov, KDD 2008, section 4.4.
    """
    return counts.max(axis=1).sum() / counts.sum()


@measure(kind="privacy", better="lower", bounds=(0, 1), title="Surest guess", unit="probability", format="{:%}")
def largest_posterior(counts: Counts) -> float:
    """How likely the commonest value of the class that tells most is: the guess about the worst-off person.

    FrequencyDiversity bounds it by 1 / l. `counts`: (classes, values).

    Source: Machanavajjhala et al., "l-Diversity", TKDD 1(1), 2007, section 2 (homogeneity attack).
    """
    return posterior_knowledge(counts).max()


@measure(
    kind="privacy",
    better="lower",
    bounds=(-1, 1),
    unit="share of people",
    format="{:+%} of people",
    baseline="by chance",
)
def accuracy_gain(counts: Counts, baseline: FloatArray | None = None) -> float:
    """How many more people, as a share of all, are guessed right by the commonest value of their class than by that of
    the table. Noise has it of a miner only, as a lower bound.

    0 where classes tell nothing.

    Source: Brickell and Shmatikov, KDD 2008, section 4.4, A_acc.
    """
    before = prior_accuracy(counts) if baseline is None else _mean(counts, _before(counts, baseline).max(axis=-1))
    return posterior_accuracy(counts) - before


@measure(kind="privacy", better="lower", bounds=(0, 1), unit="distance, 0 to 1", baseline="by chance")
def knowledge_gain(counts: Counts, baseline: FloatArray | None = None) -> float:
    """How far the sensitive values in a person's class are from the whole table's, mean over people.

    Total variation: 0 equal, 1 disjoint. Classes weigh by their size. Erratum: Sramka et al. 2010, section 3, print it
    with one representative a class and a division by the number of records, which is smaller by the mean class size and
    does not give their Table 3.

    Source: Brickell and Shmatikov, KDD 2008, section 4.4, A_know.
    """
    return _mean(counts, additive_disclosure(counts, baseline))


@measure(kind="privacy", better="lower", bounds=(0, math.inf), unit="nats", baseline="by chance")
def information_gain(counts: Counts, baseline: FloatArray | None = None) -> float:
    """How much less uncertain a person's sensitive value is once their class is known.

    At most the entropy of the attribute. By Lemma 1 a delta-disclosure-private table keeps it below delta, which
    therefore is of the natural logarithm too; it is never above `largest_quotient`.

    Source: Brickell and Shmatikov, KDD 2008, section 4.3, Gain(S, Q).
    """
    return _mean(counts, information(counts, baseline))


@measure(kind="privacy", better="lower", bounds=(0, 1), unit="distance, 0 to 1", baseline="by chance")
def largest_disclosure(counts: Counts, baseline: FloatArray | None = None) -> float:
    """How far the sensitive values of the class that tells most are from the whole table's.

    t-closeness bounds it.

    Source: Brickell and Shmatikov, KDD 2008, section 4.1, A_diff.
    """
    return additive_disclosure(counts, baseline).max()


@measure(kind="privacy", better="lower", bounds=(0, math.inf), unit="nats", baseline="by chance")
def largest_quotient(counts: Counts, baseline: FloatArray | None = None) -> float:
    """By which factor the class that tells most makes a value commoner or rarer, as a logarithm; infinite where a value
    is absent.

    A_quot of that class. A release is delta-disclosure-private for every delta above it.

    Source: Brickell and Shmatikov, KDD 2008, section 4.2, definition 1.
    """
    return multiplicative_disclosure(counts, baseline).max()


@validated
def information(counts: Counts, baseline: FloatArray | None = None) -> FloatArray:
    """How much less uncertain the sensitive value is in each class.

    Parameters
    ----------
    counts : integer array (classes, values)
    baseline : float array (classes, values), optional
        As of `additive_disclosure`.

    Returns
    -------
    float array (classes,)
        In nats: 0 (the class tells nothing) and more; lower protects more.
    """
    after, before = posterior_knowledge(counts), _before(counts, baseline)
    quotient = np.where(after > 0, after, 1) / np.where(after > 0, before, 1)
    return (after * np.log(quotient)).sum(axis=1)


@validated
def permuted_gains(
    release: Release,
    sensitive: str,
    *,
    rng: Randomness,
    knows: Known = (),
    of: Sequence[Gain] = (accuracy_gain, knowledge_gain),
) -> tuple[float, ...]:
    """The gains of the same classes when the sensitive values are permuted at random.

    Small classes differ from the whole by chance alone. What a release shows beyond this is what it tells.

    Parameters
    ----------
    release : Release
    sensitive : str
    rng : int, Generator or None
    knows : list of str
        As of `known_classes`. Values are permuted among people alike in these, whom the adversary knows apart anyway.
    of : tuple of functions
        The gains, each of counts and a baseline.

    Returns
    -------
    tuple of float
        The mean of each gain over as many permutations as of `deals`. `VALUES` cells of the counts are as many as one
        record.
    """
    classes, values = _by_class(release, sensitive, knows)
    codes, distinct = coded(values)
    shape, apart = (classes.max() + 1, len(distinct)), groups(release, knows)
    before = knowledge_before(release, sensitive, knows) if knows else None
    generator, found, several = np.random.default_rng(rng), [], apart.any()
    size = max(len(codes), shape[0] * shape[1] // VALUES)  # of thousands of values the table is larger than the people
    for _ in range(deals(size, 20)):
        # Of one group the values themselves are permuted, which is the same draw in half the time.
        dealt = codes[permute(apart, generator)] if several else generator.permutation(small(codes, shape[1]))
        # Value by value in memory: what is asked of each class goes over all of them at once.
        counts = tabulate(dealt.astype(np.int64), classes, shape[::-1]).T
        found.append([gain(counts, before) for gain in of])
    return tuple(np.mean(found, axis=0))


def deals(records: int, most: int) -> int:
    """How often values are dealt at random for a baseline: until half a million are dealt, at least twice. The larger a
    table, the less two deals differ.

    Parameters
    ----------
    records : int
        1 or more.
    most : int
        1 or more: never more often than this.

    Returns
    -------
    int

    >>> deals(45_222, 20), deals(1_000_000, 20)
    (12, 2)
    """
    return min(max(-(-500_000 // records), 2), most)


@validated
def permute(groups: IntArray, rng: np.random.Generator) -> IntArray:
    """Whose value each person gets when values are permuted at random inside each group: integer array (n,).

    `groups`: integer array (n,), all equal to permute among everybody. `rng`: a numpy Generator.
    """
    order, permuted = rng.permutation(len(groups)), np.empty(len(groups), dtype=np.int64)
    if not groups.any():  # one group: sorting it would change nothing
        return order
    permuted[stable_order(groups)] = order[stable_order(groups[order])]
    return permuted


def _by_class(release: Release, sensitive: str, knows: Known) -> tuple[IntArray, Array]:
    """The class and the sensitive value of n records, two arrays (n,), see `Release.by_class`."""
    published, values = release.by_class(sensitive)
    classes = known_classes(release, knows)
    return (published if release.buckets is not None else classes), values


def _times(release: Release) -> IntArray | None:
    """How many records each entry of `_by_class` is, or None; buckets are listed record by record."""
    return release.times if release.buckets is None else None


@validated
def groups(release: Release, knows: Known = ()) -> IntArray:
    """Whom the adversary could tell apart before.

    Parameters
    ----------
    release : Release
    knows : list of str
        As of `known_classes`.

    Returns
    -------
    integer array (n,)
        A number from 0 for each record, one for everybody without `knows`.
    """
    if not knows or release.buckets is not None:
        return np.zeros(len(release), dtype=np.int64)
    return combinations(release.cells[list(knows)]).index


def _before(counts: Counts, baseline: FloatArray | None) -> FloatArray:
    if baseline is None:
        return baseline_knowledge(counts)
    fits: Any = isinstance(baseline, np.ndarray) and baseline.dtype.kind == "f" and np.isfinite(baseline).all()
    fits = fits and baseline.shape in (counts.shape, counts.shape[1:])
    if not (fits and (baseline >= 0).all() and np.allclose(baseline.sum(axis=-1), 1)):
        raise UsageError(f"baseline must be shares of the same values, {counts.shape}, got {expect.found(baseline)}.")
    return baseline


def _mean(counts: Counts, of_classes: FloatArray) -> float:
    """The mean over people of what holds of their class."""
    return of_classes @ counts.sum(axis=1) / counts.sum()
