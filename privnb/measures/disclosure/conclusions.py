"""Conclusions about each person, drawn by an outsider without private records from a release without groups."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from privnb.attacks.linkage.linkage import Linkage
from privnb.datasets.dataset import Dataset
from privnb.measures.disclosure.certainty import CERTAINTY, NEAR, are_harmless, public_shares
from privnb.microdata.release import Published
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray

SAMPLE = 2000  # maximum number of people to draw conclusions about if rows are synthetic
BY_CHANCE = 0.01  # maximum probability that all guesses by the public distribution are right


class Conclusions(NamedTuple):
    """The conclusions of an outsider about m people.

    `certain` and `near`: boolean arrays (m,), whether a value of each person is certain, and whether a value is nearly
    certain. `right`: the number of people whose value is guessed correctly. `classes`: the class of each person,
    integer array (m,), or None.
    """

    certain: BoolArray
    near: BoolArray
    right: float
    classes: IntArray | None = None


def public_shares_of(dataset: Dataset, name: str, values: Array) -> FloatArray:
    """Return the probability of each value in `values` without a release, as a float array (values,)."""
    attribute = dataset.schema[name]
    codes, own = attribute.coded(dataset.cells[name])
    shares = public_shares(attribute, codes, own, dataset.people)
    return pd.Series(shares, index=pd.Index(own)).reindex(pd.Index(values)).fillna(0.0).to_numpy()


def any_by_person(dataset: Dataset, records: IntArray) -> Callable[[Array], BoolArray]:
    """Return a function that takes a boolean array (records,) and returns whether any record of each person is true."""
    owner = records if dataset.people is None else dataset.people[records]
    _, person = np.unique(owner, return_inverse=True)
    return lambda rows: np.bincount(person, rows) > 0


def conclude_from_nearest_rows(
    attack: Linkage, dataset: Dataset, published: Published, records: IntArray, name: str, near: float = NEAR
) -> Conclusions:
    """Return the conclusions of an outsider from the published rows that are nearest to each person.

    For each person, the outsider guesses the most common value among the nearest rows. The more of the nearest rows
    agree on this value, the more certain the outsider is.

    A value on which all nearest rows of a person agree is certain in two cases: if the guess is correct for all people
    with the same nearest rows, or if the guess is correct for all people for whom at least the same number of rows
    agree on the value. A value on which nearly all of the rows agree is nearly certain if the guess is correct for at
    least the share `near` of these people. For certain and for nearly certain values, the guesses must also be unlikely
    to be correct by chance, given the probability of the value without the release.

    Parameters
    ----------
    attack : Linkage
        The attack that finds the nearest rows.
    dataset : Dataset
        The original of the release.
    published : Published
    records : integer array (m,)
        The records of the people about whom the outsider draws conclusions.
    name : str
        A sensitive attribute.
    near : float
        The minimum share of rows that agree, and of correct guesses, for a nearly certain value.
    """
    codes, values = published.schema[name].coded(published.table[name])
    own = pd.Index(values).get_indexer(np.asarray(dataset.cells[name].iloc[records]))
    agree, named, outcome = (np.full(len(records), start) for start in (0, -1, 0))
    pure, outcomes = np.zeros(len(records)), 0
    for people, group, counts in attack.fit(published).counted(dataset.table.iloc[records], codes, len(values)):
        most, total = counts.max(axis=1), counts.sum(axis=1)
        agree[people], named[people] = most[group], counts.argmax(axis=1)[group]
        pure[people], outcome[people] = (most / np.maximum(total, 1))[group], group + outcomes
        outcomes += len(counts)
    right = (own == named) & (named >= 0)
    shares = public_shares_of(dataset, name, values)
    disclosed = (agree > 0) & ~are_harmless(dataset.schema[name], values)[named]
    by_person, found = any_by_person(dataset, records), []
    for least, public in ((CERTAINTY, NEAR), (near, near)):
        able = np.flatnonzero(disclosed & (pure >= least) & (shares[named] < public))
        sure = np.zeros(len(records), dtype=bool)
        sure[able] = _all_right(outcome[able], right[able], shares[named[able]], least)
        for value in np.unique(named[able]):
            these = able[named[able] == value]
            sure[these] |= agree[these] >= _enough(agree[these], right[these], shares[named[these]], least)
        found.append(by_person(sure))
    return Conclusions(found[0], found[0] | found[1], float(right.sum()))


def _all_right(outcome: np.ndarray, right: np.ndarray, prior: np.ndarray, least: float) -> np.ndarray:
    """Return, as a boolean array (m,), whether guesses about the people with each person's outcome are good enough.

    `outcome` is an integer array (m,); `right` and `prior` are as in `_enough`.
    """
    number = int(outcome.max(initial=-1)) + 1
    share = np.bincount(outcome, right, number) / np.maximum(np.bincount(outcome, minlength=number), 1)
    chance = np.bincount(outcome, np.log(np.maximum(prior, 1e-12)), number)
    tried = max(len(np.unique(outcome)), 1)  # among many outcomes, some are right by chance
    return ((share >= least) & (chance <= np.log(BY_CHANCE / tried)))[outcome]


def _enough(agree: np.ndarray, right: np.ndarray, prior: np.ndarray, least: float) -> float:
    """Return the smallest number of agreeing rows for which guesses are good enough.

    Guesses about people with at least this number of agreeing rows are good enough if at least the share `least` of
    them is correct and if this is unlikely by chance.

    The result is infinite if there is no such number.

    Parameters
    ----------
    agree : integer array (m,)
        The number of agreeing rows of each person.
    right : boolean array (m,)
        Whether the value of each person is guessed correctly.
    prior : float array (m,)
        The probability of the guessed value without the release.
    """
    if not len(agree):
        return np.inf
    order = np.argsort(-agree, kind="stable")
    share = right[order].cumsum() / np.arange(1, len(order) + 1)
    chance = np.log(np.maximum(prior[order], 1e-12)).cumsum()
    last = np.append(agree[order][1:] != agree[order][:-1], True)
    enough = last & (share >= least) & (chance <= np.log(BY_CHANCE / last.sum()))  # some of many numbers fit by chance
    return float(agree[order][enough].min()) if enough.any() else np.inf
