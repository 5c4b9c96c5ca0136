"""Conclusions about each person, for releases without groups of people, by an outsider without private records."""

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

    `certain` and `near`, boolean arrays (m,), state whether a value is certain or nearly certain. `right` is the number
    of people whose value is guessed correctly. `classes` is the class of each person, integer array (m,), or None.
    """

    certain: BoolArray
    near: BoolArray
    right: float
    classes: IntArray | None = None


def public_shares_of(dataset: Dataset, name: str, values: Array) -> FloatArray:
    """Return the probability of each of some sensitive values without a release: float array (values,)."""
    attribute = dataset.schema[name]
    codes, own = attribute.coded(dataset.cells[name])
    shares = public_shares(attribute, codes, own, dataset.people)
    return pd.Series(shares, index=pd.Index(own)).reindex(pd.Index(values)).fillna(0.0).to_numpy()


def any_by_person(dataset: Dataset, records: IntArray) -> Callable[[Array], BoolArray]:
    """Return a function that tests whether each person has a record that is true in a boolean array (records,)."""
    owner = records if dataset.people is None else dataset.people[records]
    _, person = np.unique(owner, return_inverse=True)
    return lambda rows: np.bincount(person, rows) > 0


def conclude_from_nearest_rows(
    attack: Linkage, dataset: Dataset, published: Published, records: IntArray, name: str, near: float = NEAR
) -> Conclusions:
    """Return the conclusions of an outsider from the published rows that are nearest to each person.

    The more of these rows agree, the more certain the outsider is. A value that all of these rows have is certain if
    the value of everybody with the same nearest rows is guessed correctly, or if the value of everybody for whom at
    least the same number of rows agree on this value is guessed correctly. A value that nearly all of the rows have is
    nearly certain if the value is guessed correctly for the stated share of these people. In addition, correct guesses
    by chance must be unlikely, given how common the value is.

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
        The minimum share for a nearly certain value.
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
    """Return whether, beyond chance, the share `least` of people with each outcome is guessed correctly: (m,).

    `outcome` is an integer array (m,); `right` and `prior` are as in `_enough`.
    """
    number = int(outcome.max(initial=-1)) + 1
    share = np.bincount(outcome, right, number) / np.maximum(np.bincount(outcome, minlength=number), 1)
    chance = np.bincount(outcome, np.log(np.maximum(prior, 1e-12)), number)
    tried = max(len(np.unique(outcome)), 1)  # among many outcomes, some are right by chance
    return ((share >= least) & (chance <= np.log(BY_CHANCE / tried)))[outcome]


def _enough(agree: np.ndarray, right: np.ndarray, prior: np.ndarray, least: float) -> float:
    """Return the number of agreeing rows from which the share `least` is guessed correctly, beyond chance.

    The result is infinite if no number is enough.

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
