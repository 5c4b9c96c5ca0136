"""What an outsider who knows no private record concludes of each person, where nobody's group can be looked up."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from privnb.attacks.linkage.linkage import Linkage
from privnb.datasets.dataset import Dataset
from privnb.measures.disclosure.certainty import NEAR, SURE, harms_nobody, public_shares
from privnb.microdata.release import Published
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray

SAMPLE = 2000  # people asked about where rows are nobody's, at most
BY_LUCK = 0.01  # the chance at most that guesses by the public distribution would all be right


class Conclusions(NamedTuple):
    """What an outsider concludes of m people: whether a value is certain, and whether it is nearly certain, boolean
    arrays (m,); how many people are guessed right; and the class of each person, integer array (m,), or None.
    """

    certain: BoolArray
    near: BoolArray
    right: float
    classes: IntArray | None = None


def public_of(dataset: Dataset, name: str, values: Array) -> FloatArray:
    """Return how likely each of some values of a sensitive attribute is without a release: float array (values,)."""
    attribute = dataset.schema[name]
    codes, own = attribute.coded(dataset.cells[name])
    shares = public_shares(attribute, codes, own, dataset.people)
    return pd.Series(shares, index=pd.Index(own)).reindex(pd.Index(values)).fillna(0.0).to_numpy()


def of_people(dataset: Dataset, records: IntArray) -> Callable[[Array], BoolArray]:
    """Return a function from boolean arrays (records,) to who has a record that is true, boolean arrays (people,)."""
    owner = records if dataset.people is None else dataset.people[records]
    _, person = np.unique(owner, return_inverse=True)
    return lambda rows: np.bincount(person, rows) > 0


def by_nearest_rows(
    attack: Linkage, dataset: Dataset, published: Published, records: IntArray, name: str, near: float = NEAR
) -> Conclusions:
    """Return what is concluded by an outsider who takes the published rows that are nearest to a person, and is surer
    the more of them agree.

    Where all of these rows have one value, it is certain if everybody who has the same rows nearest is guessed right,
    or if everybody is of whom as many or more rows name this value. Where nearly all of the rows have it, it is
    nearly certain if the stated share of these people is guessed right. By how common the value is, that must not be
    luck.

    Parameters
    ----------
    attack : Linkage
        It finds the nearest rows.
    dataset : Dataset
        What the release was made of.
    published : Published
    records : integer array (m,)
        The records whose people are asked about.
    name : str
        A sensitive attribute.
    near : float
        The least share that is nearly certain.
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
    shares = public_of(dataset, name, values)
    disclosed = (agree > 0) & ~harms_nobody(dataset.schema[name], values)[named]
    whose, found = of_people(dataset, records), []
    for least, public in ((SURE, NEAR), (near, near)):
        able = np.flatnonzero(disclosed & (pure >= least) & (shares[named] < public))
        sure = np.zeros(len(records), dtype=bool)
        sure[able] = _all_right(outcome[able], right[able], shares[named[able]], least)
        for value in np.unique(named[able]):
            these = able[named[able] == value]
            sure[these] |= agree[these] >= _enough(agree[these], right[these], shares[named[these]], least)
        found.append(whose(sure))
    return Conclusions(found[0], found[0] | found[1], float(right.sum()))


def _all_right(outcome: np.ndarray, right: np.ndarray, prior: np.ndarray, least: float) -> np.ndarray:
    """Return who has an outcome, integer array (m,), by which the share `least` of people is guessed right, and not by
    luck: boolean array (m,). `right`, `prior`: as of `_enough`.
    """
    number = int(outcome.max(initial=-1)) + 1
    share = np.bincount(outcome, right, number) / np.maximum(np.bincount(outcome, minlength=number), 1)
    luck = np.bincount(outcome, np.log(np.maximum(prior, 1e-12)), number)
    tried = max(len(np.unique(outcome)), 1)  # of many outcomes some are right by luck
    return ((share >= least) & (luck <= np.log(BY_LUCK / tried)))[outcome]


def _enough(agree: np.ndarray, right: np.ndarray, prior: np.ndarray, least: float) -> float:
    """Return how many rows must agree, so that the share `least` of people of whom as many or more do is guessed right,
    and not by luck; infinite where no number is enough.

    Parameters
    ----------
    agree : integer array (m,)
    right : boolean array (m,)
    prior : float array (m,)
        How likely the named value is without the release.
    """
    if not len(agree):
        return np.inf
    order = np.argsort(-agree, kind="stable")
    share = right[order].cumsum() / np.arange(1, len(order) + 1)
    luck = np.log(np.maximum(prior[order], 1e-12)).cumsum()
    last = np.append(agree[order][1:] != agree[order][:-1], True)
    enough = last & (share >= least) & (luck <= np.log(BY_LUCK / last.sum()))  # of many numbers some fit by luck
    return float(agree[order][enough].min()) if enough.any() else np.inf
