"""Measures of re-identification, by the links of an attack to people's rows (see `attacks.Linkage`)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from privnb.attacks.linkage.record_linkage import RecordLinkage, ScoredLinkage
from privnb.datasets.dataset import Dataset
from privnb.measures.base import measure
from privnb.measures.intervals import mean_interval, wilson
from privnb.microdata.counts import count_combinations, group_codes, select_person_rows
from privnb.microdata.release import Release
from privnb.microdata.treatment import TRUE, Unreadable
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.names import abbreviate_names
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import validated


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    title="Re-identification rate",
    sentence="An adversary who knows all quasi-identifiers links this share of people to their own row. Lower protects "
    "more.",
    unit="share of people",
)
def reidentification_rate(attack: RecordLinkage[Any], dataset: Dataset, key: IntArray) -> tuple[float, float, float]:
    """Return the expected share of people whom the attack links to their own row, with its 95% interval.

    The probability of a link to a person's own row is 1 / candidates, or 0 if the person's row is not a candidate. The
    rate is the mean of these probabilities, so no guess is drawn at random. The baseline is `random_linkage_rate`.

    If people have several records, the adversary knows all records of a person, and makes one guess for each distinct
    record. The person is linked if any of these guesses is one of the person's rows. The probability of this event is
    computed for guesses that are drawn independently.

    Parameters
    ----------
    attack : RecordLinkage
        An attack that is fitted to the release to which `key` belongs.
    dataset : Dataset
    key : integer array (rows,)
        The record of each published row, as `Release.publish` returns it.

    Returns
    -------
    share, low, high : float
        The share and its 95% interval. The interval is Wilson's, which assumes one guess about each person, and people
        who are drawn independently at random. People in one class of a release are not independent; see
        `intervals.class_interval`.

    Source: Domingo-Ferrer and Torra, JCAM 164, 2004, record linkage as a measure of disclosure risk.
    """
    chances = link_probabilities(attack, dataset, key)[0]
    share = float(chances.mean())
    return share, *wilson(share * len(chances), len(chances))


@validated
def random_linkage_rate(attack: RecordLinkage[Any], dataset: Dataset, key: IntArray) -> float:
    """Return the expected share of people who are linked to their own row if guesses are random.

    The number of guesses is the same as in `reidentification_rate`. The share is 1 / n if each person has one record.

    Parameters
    ----------
    attack, dataset, key
        The arguments of `reidentification_rate`.

    Returns
    -------
    float
        The share of people, from 0 to 1.
    """
    expect.vector("key", key)
    attack.truth(dataset, key)  # raises an error for the key of another release
    return 1 / len(key) if dataset.people is None else float(link_probabilities(attack, dataset, key)[1].mean())


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, math.inf),
    sentence="An adversary who knows all quasi-identifiers links this number of people to their own row with "
    "certainty. Lower protects more.",
    unit="people",
    counts_people=True,
)
def singled_out(attack: RecordLinkage[Any], dataset: Dataset, key: IntArray) -> int:
    """Return the number of people whose candidate rows are only their own rows.

    Without the release, the count is 0 in a table of two or more people. k-anonymity is designed to prevent such a
    link.

    Parameters
    ----------
    attack : RecordLinkage
    dataset : Dataset
    key : integer array (rows,)
        The record of each published row, as `Release.publish` returns it.

    Returns
    -------
    int

    Source: Sweeney, IJUFKS 10(5), 2002.
    """
    return int((link_probabilities(attack, dataset, key)[0] > 1 - ROUNDING).sum())


@measure(
    kind="privacy",
    better="higher",
    bounds=(1, math.inf),
    title="Rank of the true row",
    sentence="An adversary ranks all rows by how well they fit a person; this is the mean rank of people's own rows, "
    "where 1 is a correct link. Higher protects more.",
    unit="places",
)
def true_row_place(attack: ScoredLinkage, dataset: Dataset, key: IntArray) -> tuple[float, float, float]:
    """Return the mean rank of people's own rows, with the 95% interval of the mean.

    The baseline is the middle rank, (rows + 1) / 2.

    Parameters
    ----------
    attack : ScoredLinkage
        An attack that is fitted to the release to which `key` belongs.
    dataset : Dataset
        A table with one record per person.
    key : integer array (rows,)
        The record of each published row, as `Release.publish` returns it.

    Returns
    -------
    place, low, high : float
        The mean rank and its 95% interval. The interval assumes that these people are a random sample of many people;
        its lower end is at least 1.

    Source: Aggarwal, "On randomization, public information and the curse of dimensionality", ICDE 2007 (the number of
    other records that fit better).
    """
    expect.vector("key", key)
    places = attack.ranks(dataset.table.iloc[np.sort(key)], attack.truth(dataset, key))
    places = np.asarray(expect.vector(f"{attack!r}: ranks", places, len(key)))
    low, high = mean_interval(places)
    return float(places.mean()), max(1.0, float(low)), float(high)


@validated
def link_probabilities(attack: RecordLinkage[Any], dataset: Dataset, key: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the probability that each person in the release is linked by the attack, and by random guesses.

    Parameters
    ----------
    attack, dataset, key
        The arguments of `reidentification_rate`.

    Returns
    -------
    by_attack, at_random : float array (people,)
        The probabilities for the people in the release, in ascending order of the person's number or, if the dataset
        has no person column, of the record.
    """
    expect.vector("key", key)
    records, rows = np.sort(key), attack.truth(dataset, key)
    known = dataset.table.iloc[records]
    if dataset.people is None:
        return _chance(attack, known, rows), np.full(len(records), 1 / len(records))
    person, asked = _distinct_records(dataset, records, attack.known or dataset.schema.quasi_identifiers)
    # Each distinct record of a person is paired with each of the person's rows.
    order, own = np.argsort(person, kind="stable"), np.bincount(person)
    times = own[person[asked]]
    begin = np.cumsum(own)[person[asked]] - times
    theirs = order[np.repeat(begin - np.cumsum(times) + times, times) + np.arange(times.sum())]
    question = np.repeat(np.arange(len(asked)), times)
    found: Any = np.bincount(question, _chance(attack, known.iloc[asked[question]], rows[theirs]))
    return _any(person[asked], found), _any(person[asked], times / len(records))


@validated
def class_link_probabilities(release: Release, dataset: Dataset) -> tuple[FloatArray, FloatArray]:
    """Return the probability that each person is linked by an adversary who knows the class, and by random guesses.

    If the sanitizer publishes equal records in the same way, an adversary who knows the sanitizer can know the class of
    a person. This adversary excludes rows that cover the person's values with other labels. The random guesses are
    those of `link_probabilities`.

    Parameters
    ----------
    release : Release
        A release in which all quasi-identifiers are unchanged, generalized or suppressed.
    dataset : Dataset

    Returns
    -------
    by_attack, at_random : float array (people,)
        The probabilities in the order of `link_probabilities`.
    """
    if missing := set(dataset.schema.quasi_identifiers) - {*release.treated(*TRUE)}:
        raise Unreadable(
            "classes need true labels of all quasi-identifiers, but the release has no true labels of "
            f"{abbreviate_names(sorted(missing))}."
        )
    records = np.arange(len(dataset)) if release.records is None else release.records
    order = np.argsort(records, kind="stable")
    records, classes = records[order], release.equivalence_classes[order]
    sizes = np.bincount(classes)[classes]
    if dataset.people is None:
        return 1 / sizes, np.full(len(records), 1 / len(records))
    person, asked = _distinct_records(dataset, records, dataset.schema.quasi_identifiers)
    _, together = group_codes([person, classes], [person.max() + 1, classes.max() + 1])
    found, own = np.bincount(together)[together] / sizes, np.bincount(person)[person] / len(records)
    return _any(person[asked], found[asked]), _any(person[asked], own[asked])


def _distinct_records(dataset: Dataset, records: IntArray, names: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Return the number of each record's person, (records,), and the positions of each person's distinct records.

    Two records of a person are distinct if they differ in at least one of the columns `names`.
    """
    assert dataset.people is not None
    person = np.unique(dataset.people[records], return_inverse=True)[1]
    return person, select_person_rows(person, count_combinations(dataset.table.iloc[records][list(names)]).index)


def _chance(attack: RecordLinkage[Any], known: pd.DataFrame, rows: IntArray) -> FloatArray:
    """Return the probabilities from `attack.chance` as a float array (m,).

    Raises ValueError if the attack returns anything else.
    """
    return np.asarray(expect.vector(f"{attack!r}: chance", attack.chance(known, rows), len(known)))


def _any(person: IntArray, chance: FloatArray) -> FloatArray:
    """Return, as a float array (people,), the probability that at least one guess about each person is correct."""
    with np.errstate(divide="ignore"):
        return 1 - np.exp(np.bincount(person, np.log1p(-np.minimum(chance, 1))))
