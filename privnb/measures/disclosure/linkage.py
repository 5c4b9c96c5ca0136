"""How often a neighbour finds a person's row in a release (see `attacks.Linkage`)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from privnb.attacks.linkage.record_linkage import RecordLinkage, ScoredLinkage
from privnb.datasets.dataset import Dataset
from privnb.measures.base import measure
from privnb.measures.intervals import mean_interval, wilson
from privnb.microdata.counts import combinations, distinct_codes, once_each
from privnb.microdata.release import Release
from privnb.microdata.treatment import TRUE, Unreadable
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.names import some_of
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import validated


@measure(kind="privacy", better="lower", bounds=(0, 1), unit="share of people")
def reidentification_rate(attack: RecordLinkage[Any], dataset: Dataset, key: IntArray) -> tuple[float, float, float]:
    """Share of people whose row is found by an adversary who knows all quasi-identifiers.

    Each person of the release counts the share of their candidates that are theirs: 1 / candidates, or 0 if their row
    is none. No guess is drawn. The baseline is `found_at_random`.

    Where people have several records the adversary guesses once for each thing that they know of a person, and a person
    counts as found if any guess gives a row of theirs: the chance of that, as guesses are drawn apart.

    Parameters
    ----------
    attack : RecordLinkage
        Fitted to the release that `key` belongs to.
    dataset : Dataset
    key : integer array (rows,)
        The record of each published row, from `Release.publish`.

    Returns
    -------
    share, low, high : float
        The 95% interval is Wilson's: that of one guess for each person, if people are drawn independently at random.
        People in one class of a release are not independent; see `intervals.of_classes`.

    Source: Domingo-Ferrer and Torra, JCAM 164, 2004, record linkage as a measure of disclosure risk.
    """
    chances = found_by_person(attack, dataset, key)[0]
    share = float(chances.mean())
    return share, *wilson(share * len(chances), len(chances))


@validated
def found_at_random(attack: RecordLinkage[Any], dataset: Dataset, key: IntArray) -> float:
    """Share of people whom as many guesses at a row among all find: 1 / n where each has one record.

    Parameters
    ----------
    attack, dataset, key
        As of `reidentification_rate`.

    Returns
    -------
    float
        0 to 1.
    """
    expect.vector("key", key)
    attack.truth(dataset, key)  # refuses the key of another release
    return 1 / len(key) if dataset.people is None else float(found_by_person(attack, dataset, key)[1].mean())


@measure(kind="privacy", better="lower", bounds=(0, math.inf), unit="people", counts_people=True)
def singled_out(attack: RecordLinkage[Any], dataset: Dataset, key: IntArray) -> int:
    """People whose own rows are the only candidates, so that they are linked for certain.

    Without the release it is 0 (from two people on): the linking that k-anonymity is made against.

    Parameters
    ----------
    attack : RecordLinkage
    dataset : Dataset
    key : integer array (rows,)
        As of `reidentification_rate`.

    Returns
    -------
    int

    Source: Sweeney, IJUFKS 10(5), 2002.
    """
    return int((found_by_person(attack, dataset, key)[0] > 1 - ROUNDING).sum())


@measure(kind="privacy", better="higher", bounds=(1, math.inf), title="Place of the true row", unit="places")
def true_row_place(attack: ScoredLinkage, dataset: Dataset, key: IntArray) -> tuple[float, float, float]:
    """At which place a person's own row stands among all, as an adversary ranks them: 1 is found, mean over people.

    The baseline is the middle place, (rows + 1) / 2.

    Parameters
    ----------
    attack : ScoredLinkage
        Fitted to the release that `key` belongs to.
    dataset : Dataset
        One record per person.
    key : integer array (rows,)
        As of `reidentification_rate`.

    Returns
    -------
    place, low, high : float
        The 95% interval is of the mean, were these people a random sample of many; none below 1.

    Source: Aggarwal, "On randomization, public information and the curse of dimensionality", ICDE 2007 (how many others
    fit better).
    """
    expect.vector("key", key)
    places = attack.ranks(dataset.table.iloc[np.sort(key)], attack.truth(dataset, key))
    places = np.asarray(expect.vector(f"{attack!r}: ranks", places, len(key)))
    low, high = mean_interval(places)
    return float(places.mean()), max(1.0, float(low)), float(high)


@validated
def found_by_person(attack: RecordLinkage[Any], dataset: Dataset, key: IntArray) -> tuple[FloatArray, FloatArray]:
    """How likely each person of the release is found, and by as many guesses at random.

    Parameters
    ----------
    attack, dataset, key
        As of `reidentification_rate`.

    Returns
    -------
    with_it, at_random : float array (people,)
        0 to 1. Of the people of the release, in ascending order of their number, or of their record without a key.
    """
    expect.vector("key", key)
    records, rows = np.sort(key), attack.truth(dataset, key)
    known = dataset.table.iloc[records]
    if dataset.people is None:
        return _chance(attack, known, rows), np.full(len(records), 1 / len(records))
    person, asked = _asked(dataset, records, attack.known or dataset.schema.quasi_identifiers)
    # Each thing that is known of somebody beside each row of theirs.
    order, own = np.argsort(person, kind="stable"), np.bincount(person)
    times = own[person[asked]]
    begin = np.cumsum(own)[person[asked]] - times
    theirs = order[np.repeat(begin - np.cumsum(times) + times, times) + np.arange(times.sum())]
    question = np.repeat(np.arange(len(asked)), times)
    found: Any = np.bincount(question, _chance(attack, known.iloc[asked[question]], rows[theirs]))
    return _any(person[asked], found), _any(person[asked], times / len(records))


@validated
def found_in_own_class(release: Release, dataset: Dataset) -> tuple[FloatArray, FloatArray]:
    """How likely each person of the release is found by an adversary who knows in which class they are, and by as many
    guesses at random.

    An adversary who knows the sanitizer can know the class where equal records are published alike: rows under other
    labels that cover the person's values as well are then excluded. The guesses are those of `found_by_person`.

    Parameters
    ----------
    release : Release
        One whose quasi-identifiers are all published as they are, generalized or suppressed.
    dataset : Dataset

    Returns
    -------
    with_it, at_random : float array (people,)
        As of `found_by_person`.
    """
    if missing := set(dataset.schema.quasi_identifiers) - {*release.treated(*TRUE)}:
        raise Unreadable(f"a class has true labels of all quasi-identifiers, and {some_of(sorted(missing))} has none.")
    records = np.arange(len(dataset)) if release.records is None else release.records
    order = np.argsort(records, kind="stable")
    records, classes = records[order], release.equivalence_classes[order]
    sizes = np.bincount(classes)[classes]
    if dataset.people is None:
        return 1 / sizes, np.full(len(records), 1 / len(records))
    person, asked = _asked(dataset, records, dataset.schema.quasi_identifiers)
    _, together = distinct_codes([person, classes], [person.max() + 1, classes.max() + 1])
    found, own = np.bincount(together)[together] / sizes, np.bincount(person)[person] / len(records)
    return _any(person[asked], found[asked]), _any(person[asked], own[asked])


def _asked(dataset: Dataset, records: IntArray, names: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Whose each of the records is, integer array (records,) from 0, and the positions of those by which somebody is
    looked for: one of each person's that are equal in the columns `names`.
    """
    assert dataset.people is not None
    person = np.unique(dataset.people[records], return_inverse=True)[1]
    return person, once_each(person, combinations(dataset.table.iloc[records][list(names)]).index)


def _chance(attack: RecordLinkage[Any], known: pd.DataFrame, rows: IntArray) -> FloatArray:
    """What the attack says: float array (m,). Raises ValueError for anything else: it would read as found or not."""
    return np.asarray(expect.vector(f"{attack!r}: chance", attack.chance(known, rows), len(known)))


def _any(person: IntArray, chance: FloatArray) -> FloatArray:
    """How likely it is that one of each person's guesses is right: float array (people,)."""
    with np.errstate(divide="ignore"):
        return 1 - np.exp(np.bincount(person, np.log1p(-np.minimum(chance, 1))))
