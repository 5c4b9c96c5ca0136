"""Attribute risk: the additional correct guesses with the release, compared with guesses from the others' records.

With the release, the adversary guesses the most common value of the person's class. If the release has no classes, the
adversary takes the prediction of a decision tree that has learned from the release, or the most common value of the
rows that fit the person best, whichever is right more often. Without the release, the adversary guesses from the other
people's records: `guess_without` chooses the guess that is right most often, once per dataset.
"""

import weakref
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from privnb.attacks import Linkage, MinerInference
from privnb.datasets.dataset import Dataset
from privnb.evaluation.disclosure.disclosures import is_withheld
from privnb.evaluation.evaluation_loop import Case, Question
from privnb.evaluation.results import Row, estimate_share
from privnb.evaluation.risks.identity import require_known
from privnb.evaluation.risks.scores import Scores, find_class_of_people, find_owners
from privnb.measures.base import register_measure
from privnb.measures.disclosure.summary import reveals_small_count
from privnb.microdata.counts import (
    count_people_by_group,
    encode_values,
    group_codes,
    max_per_person,
    select_person_rows,
    tabulate,
)
from privnb.microdata.release import Release
from privnb.microdata.treatment import Unreadable
from privnb.miners import cross_val_predictions, reference_set
from privnb.miners.encoding import encode
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray

MINER = "decision tree"
FOLDS = 10
MIN_NEIGHBOURS = 10  # other people with the same values; with fewer people, fewer attributes are compared
TREE, SIMILAR_PEOPLE, COMMONEST = f"{MINER}, cross-validated", "similar people, without the person", "commonest value"

register_measure(
    "attribute_risk",
    kind="privacy",
    bounds=(-1, 1),
    title="Attribute risk",
    sentence="This is the share of people whose sensitive value is guessed correctly with the release, minus the "
    "share guessed correctly from the records of all other people.",
    source="after Brickell and Shmatikov, KDD 2008, section 4.4",
    unit="share of people",
    baseline="a guess from the table without the person",
    readings={"largest": "probability that the most certain guess about one person is right"},
    axis=True,
)

register_measure(
    "guessed_without_them",
    title="Guessed without them",
    sentence="This is the share of people whose sensitive value is guessed correctly from the records of all other "
    "people; the attribute risk is measured against this share.",
    source="this package",
    unit="share of people",
)


@dataclass(frozen=True)
class AttributeRisk(Question):
    """The additional share of people whose sensitive value is guessed correctly because of the release.

    Parameters
    ----------
    sensitive : str
        The attribute; if empty, the table has no sensitive attribute, and nothing is measured.
    """

    sensitive: str
    primary_measure = "attribute_risk"

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
        if not self.sensitive:
            raise Unreadable(
                f"'{case.dataset.name}' has no sensitive attribute to guess. Give a column the role sensitive, or "
                "choose a policy without a cap on the attribute risk, such as ema-0070."
            )
        scores, who = self.scores(case)
        rows = scores.rows(partial(self.row(case), miner=who), case.dataset, case.min_count)
        right, best = guess_without(case.known.dataset, self.sensitive)
        share = estimate_share(round(right.sum()), len(right))
        return [*rows, case.row("guessed_without_them", share, target=self.sensitive, miner=best)]

    def scores(self, case: Case) -> tuple[Scores, str]:
        """Return the `Scores` of the people and the name of the miner that guesses."""
        case = case.known
        dataset, release, name = case.dataset, case.release, self.sensitive
        before, who = guess_without(dataset, name)[0], ""
        sure: dict[str, Any] = {"worst": False}  # the certainty of a miner is unknown
        if release.groups is not None:
            right, surest, prior, people = score_groups(dataset, release, name)
            sure = {"surest": (surest, prior), "unsafe": reveals_small_count(release, name, case.min_count)}
            sure["classes"] = find_class_of_people(dataset, release, release.groups)
        if release.classes is None:
            right, people, who = score_miners(case, name)
        return Scores(right, before[people], people, gain=True, counted=True, **sure), who


def score_groups(dataset: Dataset, release: Release, name: str) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Return the probability that the most common value of each person's group is right, and the guess's certainty.

    If several values are equally common in a group, the adversary guesses each of these values with the same
    probability. For the certainty without the release, the rarest of these values counts.

    Parameters
    ----------
    dataset : Dataset
    release : Release
        A release with classes or buckets.
    name : str
        The sensitive attribute.

    Returns
    -------
    right : float array (m,)
        The probability that the guess about each person is right.
    surest, prior : float array (m,)
        The certainty of the guess with the release, and without it.
    people : integer array (m,)
        The indices of the people.
    """
    records = np.arange(len(dataset)) if release.records is None else release.records
    classes = release.groups
    if is_withheld(release, name):  # then it is published in a separate table, which discloses no single person's value
        classes = np.zeros(len(records), dtype=np.int64)
        held = classes, dataset.cells[name].iloc[records].array, None
    else:
        held = release.of_people(name)
    assert classes is not None  # `of_people` refuses a release without classes
    groups, values, people = held
    codes, distinct = encode_values(values)
    once = select_person_rows(people, groups, codes)
    counts = tabulate(groups[once], codes[once], (int(classes.max()) + 1, len(distinct)))
    own = pd.Index(distinct).get_indexer(np.asarray(dataset.cells[name].iloc[records]))
    most = counts.max(axis=1)
    share = ((counts == most[:, None]).sum(axis=1), most / count_people_by_group(classes, release.people))
    right = np.where(counts[classes, own] == most[classes], 1 / share[0][classes], 0.0)
    sure = share[1][classes]
    right, surest, people = choose_by_person(dataset, records, right, sure)
    column, known = encode_values(dataset.cells[name])
    of_anybody = (
        count_people_by_group(column, dataset.people)[pd.Index(known).get_indexer(distinct)] / dataset.headcount
    )
    prior, (group, value) = np.ones(len(counts)), np.nonzero(counts == most[:, None])
    np.minimum.at(prior, group, of_anybody[value])
    prior = prior[classes]
    owner = find_owners(dataset, release)
    rarest = np.where(
        sure < surest[np.searchsorted(people, owner)], 1.0, prior
    )  # only a person's most certain record counts
    return right, surest, -choose_by_person(dataset, records, -rarest)[0], people


def score_miners(case: Case, name: str) -> tuple[FloatArray, IntArray, str]:
    """Return how often each person's value is guessed correctly in a release without classes.

    Parameters
    ----------
    case : Case
    name : str
        The sensitive attribute.

    Returns
    -------
    right : float array (m,)
        The probability that the guess about each person is right.
    people : integer array (m,)
        The indices of the people.
    attack : str
        The attack that is right more often than the other.

    Raises
    ------
    Unreadable
        If no attack can read the release.
    """
    dataset, release = case.dataset, case.release
    require_known(dataset, release)
    found = {}
    if MinerInference.can_read(release) and name in release.cells:
        found[MINER] = _score_tree(case, name)
    if Linkage.can_read(release) and name in release.cells:
        found["nearest rows"] = _score_rows(case, name)
    if not found:
        MinerInference.check(release)
        raise Unreadable(
            f"'{name}' is in a separate table, so the class of a person cannot be looked up. Use an attack that reads "
            "the distribution of the noise."
        )
    who = max(found, key=lambda each: found[each][0].mean())
    return *found[who], who


def _score_tree(case: Case, name: str) -> tuple[FloatArray, IntArray]:
    dataset, release, known = case.dataset, case.release, tuple(case.dataset.schema.quasi_identifiers)
    published = case.published[0]
    fitted = MinerInference(reference_set(MINER)[0], name, known).fit(published)
    records = np.arange(len(dataset)) if release.records is None else np.sort(release.records)
    asked = dataset.cells[list(known)].iloc[records]
    guess = np.asarray(fitted.predict(pd.DataFrame({n: np.asarray(asked[n]) for n in known})))
    right = (guess == np.asarray(dataset.cells[name].iloc[records])).astype(float)
    return choose_by_person(dataset, records, right)


def _score_rows(case: Case, name: str) -> tuple[FloatArray, IntArray]:
    """Score the guess of the most common value among the rows that fit best."""
    dataset, published = case.dataset, case.published[0]
    records = np.sort(case.published[1])
    codes, values = encode_values(published.table[name])
    own = pd.Index(values).get_indexer(np.asarray(dataset.cells[name].iloc[records]))
    right = np.zeros(len(records))
    for people, group, counts in Linkage().fit(published).counted(dataset.table.iloc[records], codes, len(values)):
        most = counts.max(axis=1)
        ties = np.maximum((counts == most[:, None]).sum(axis=1), 1)
        hit = (counts[group, own[people]] == most[group]) & (most[group] > 0) & (own[people] >= 0)
        right[people] = hit / ties[group]
    return choose_by_person(dataset, records, right)


def choose_by_person(dataset: Dataset, records: IntArray, *arrays: Any) -> tuple[Any, ...]:
    """Return the maximum of each array (rows,) over the records of each person, and the indices of the people."""
    if dataset.people is None:
        order = np.argsort(records, kind="stable")
        return *(each[order] for each in arrays), records[order]
    who, person = np.unique(dataset.people[records], return_inverse=True)
    return *(max_per_person(each, person) for each in arrays), who


_BEFORE: weakref.WeakKeyDictionary[Dataset, dict[str, Any]] = (
    weakref.WeakKeyDictionary()
)  # by dataset and column, since a guess takes seconds and is the same for every release


def find_cached(dataset: Dataset) -> dict[str, tuple[FloatArray, str]]:
    """Return the cache of `guess_without` for a dataset in this process, `{column: result}`.

    The cache is mutable, so that the results can be given to another process.
    """
    return _BEFORE.setdefault(dataset, {})


def guess_without(dataset: Dataset, name: str) -> tuple[FloatArray, str]:
    """Return how often each person's value is guessed correctly without the release, by the best of three guesses.

    The guesses are:

    - the most common value of the whole table;
    - the most common value among the other people with the same quasi-identifiers. If fewer than `MIN_NEIGHBOURS` other
      people have the same quasi-identifiers, the attribute that is least informative about the value is left out, and
      so on;
    - the prediction of a decision tree in cross-validation: it learns from nine tenths of the people and predicts the
      others.

    Parameters
    ----------
    dataset : Dataset
    name : str
        The sensitive attribute.

    Returns
    -------
    right : float array (people,)
        The probability that the guess about each person is right.
    guess : str
        The name of the guess that is right for most people.
    """
    kept = find_cached(dataset)
    if name not in kept:
        kept[name] = _guess_without(dataset, name)
    return kept[name]


def _guess_without(dataset: Dataset, name: str) -> tuple[FloatArray, str]:
    codes, values = encode_values(dataset.cells[name])
    commonest = count_people_by_group(codes, dataset.people).argmax()
    guesses = {COMMONEST: codes == commonest}
    if dataset.people is None:  # similar people are counted by record
        guesses[SIMILAR_PEOPLE] = _guess_by_similar(dataset, codes, len(values))
    known = dataset.schema.quasi_identifiers
    if known and len(values) > 1 and dataset.headcount > 1:
        encoded = encode(dataset.table, known, dataset.schema, dataset.hierarchies)
        folds = min(FOLDS, dataset.headcount)
        target = np.asarray(dataset.cells[name])
        [miner] = reference_set(MINER)
        said = cross_val_predictions(miner, encoded, target, folds=folds, seed=1, people=dataset.people)
        guesses[TREE] = np.asarray(said) == target
    found = {each: max_per_person(np.asarray(right, dtype=float), dataset.people) for each, right in guesses.items()}
    best = max(found, key=lambda each: found[each].mean())
    return found[best], best


def _guess_by_similar(dataset: Dataset, codes: IntArray, size: int) -> FloatArray:
    """Return, as a float array (n,), the probability that the most common value of similar people is the person's."""
    columns = {name: encode_values(dataset.cells[name]) for name in dataset.schema.quasi_identifiers}
    telling = {name: _count_right(own, codes, (len(values), size)) for name, (own, values) in columns.items()}
    order = sorted(columns, key=lambda name: (-telling[name], name))
    right, open_ = np.zeros(len(codes)), np.ones(len(codes), dtype=bool)
    for number in range(len(order), -1, -1):
        if number:
            used = [columns[name] for name in order[:number]]
            _, index = group_codes([own for own, _ in used], [len(values) for _, values in used])
        else:
            index = np.zeros(len(codes), dtype=np.int64)
        there = np.flatnonzero(open_ & ((np.bincount(index) > MIN_NEIGHBOURS)[index] if number else True))
        if not len(there):
            continue
        among = np.unique(index[there])
        place = np.full(index.max() + 1, -1)
        place[among] = np.arange(len(among))
        rows = place[index] >= 0
        own, rival, ties = _count_others(place[index[rows]], codes[rows], open_[rows], size)
        right[there] = np.where(own > rival, 1.0, np.where(own == rival, 1 / ties, 0.0))
        open_[there] = False
    return right


def _count_others(group: IntArray, codes: IntArray, asked: BoolArray, size: int) -> tuple[IntArray, IntArray, IntArray]:
    """Count the values of the other records in each target record's group.

    Returns
    -------
    own, rival, ties : integer array (asked,)
        The number of others with the value of the target record, the number of others with the most common other value,
        and the number of values that are as common among the others as the target's own value, including this value.
    """
    pairs, pair, times = np.unique(group * size + codes, return_inverse=True, return_counts=True)
    within, pair = pairs // size, pair[asked]
    order = np.lexsort((-times, within))
    first = np.searchsorted(within, np.arange(within[-1] + 1))[within[pair]]  # the most common value of their group
    best = times[order[first]]
    following = order[np.minimum(first + 1, len(order) - 1)]
    second = np.where((first + 1 < len(order)) & (within[following] == within[pair]), times[following], 0)
    own = times[pair] - 1  # without the person, their own value has one record less; no other value changes
    rival = np.where(times[pair] == best, second, best)
    common, alike = np.unique(within * (times.max() + 1) + times, return_counts=True)
    wanted = within[pair] * (times.max() + 1) + own
    at = np.minimum(np.searchsorted(common, wanted), len(common) - 1)
    ties = 1 + np.where(common[at] == wanted, alike[at], 0)
    return own, rival, np.where(own == 0, size, ties)


def _count_right(groups: IntArray, codes: IntArray, shape: tuple[int, int]) -> int:
    return tabulate(groups, codes, shape).max(axis=1).sum()
