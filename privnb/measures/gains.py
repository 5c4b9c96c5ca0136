"""What an adversary who knows quasi-identifiers gains from a release (Brickell and Shmatikov, KDD 2008, section 4).

The gains are exact for the people in the table: nobody is sampled, so they have no interval. They are no estimates for
a larger population, of which small classes would give far too high ones; `gains_by_chance` shows how much of a gain is
due to small classes alone.
"""

import numpy as np

from privnb.counts import class_value_counts
from privnb.measures.base import measure


def class_counts(release, sensitive):
    """Sensitive values by equivalence class or bucket, from what is published alone: integer array (classes, values).

    Raises ValueError for a noisy release: the gains are defined over equivalence classes.
    """
    if release.classes is None:
        raise ValueError(
            f"the adversary's gains are not defined for {release.provenance.sanitizer}: noise leaves no equivalence "
            "classes. Attack the release with a miner instead."
        )
    return class_value_counts(*release.by_class(sensitive))


@measure(kind="privacy", better="lower", bounds=(0, 1))
def prior_accuracy(counts):
    """Share of people whose sensitive value the adversary guesses without the release: always the commonest one.

    `counts`: (classes, values). 0 to 1. Section 4.1, the best guess under A_base.
    """
    return counts.sum(axis=0).max() / counts.sum()


@measure(kind="privacy", better="lower", bounds=(0, 1))
def accuracy_gain(counts):
    """How many more people the adversary guesses right, as a share: the commonest value of each class against the
    prior.

    `counts`: (classes, values). 0 (classes tell nothing) to 1; lower protects more. Section 4.4, A_acc.
    """
    return counts.max(axis=1).sum() / counts.sum() - prior_accuracy(counts)


@measure(kind="privacy", better="lower", bounds=(0, 1))
def knowledge_gain(counts):
    """How far the distribution in a person's class lies from the whole table's, mean over people.

    `counts`: (classes, values). The distance is total variation: 0 equal, 1 disjoint; lower protects more. Classes
    weigh by their size. Section 4.4, A_know. Erratum: Sramka et al. 2010, section 3, print it with one representative
    a class and a division by the number of records, which is smaller by the mean class size and does not give their
    Table 3.
    """
    return _shift(counts) @ counts.sum(axis=1) / counts.sum()


def gains_by_chance(release, sensitive, *, rng, repeats=20):
    """(accuracy gain, knowledge gain) of the same classes when the sensitive values are dealt out at random.

    Small classes differ from the whole by chance alone. What a release shows beyond this is what it tells. Mean of
    `repeats`.
    """
    classes, values = release.by_class(sensitive)
    generator = np.random.default_rng(rng)
    dealt = (class_value_counts(classes, generator.permutation(values)) for _ in range(repeats))
    return tuple(np.mean([(accuracy_gain(counts), knowledge_gain(counts)) for counts in dealt], axis=0))


def _shift(counts):
    """A_diff of each class: half the sum of absolute differences of shares."""
    whole = counts.sum(axis=0) / counts.sum()
    return np.abs(counts / counts.sum(axis=1, keepdims=True) - whole).sum(axis=1) / 2
