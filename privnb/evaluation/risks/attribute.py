"""Attribute: how many more people's sensitive value is guessed right than the table without them lets one guess.

With the release the adversary names the commonest value of the person's class; where it has no classes, what a decision
tree says that has learned from it, or the commonest value of the rows that fit the person best, whichever is right more
often. Without it they name what the other people's records say: of the guesses of `WITHOUT` the one that is right most
often, which is chosen once per dataset.
"""

import weakref
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from privnb.attacks import Linkage, MinerInference
from privnb.datasets.dataset import Dataset
from privnb.evaluation.cases import Case, Question
from privnb.evaluation.disclosure.disclosures import is_withheld
from privnb.evaluation.results import Row, guessed
from privnb.evaluation.risks.identity import check_known
from privnb.evaluation.risks.scores import Scores, classes_of, owners_of
from privnb.measures.base import state
from privnb.measures.disclosure.disclosed import tells_few
from privnb.microdata.counts import coded, distinct_codes, most_of_people, once_each, people_in, tabulate
from privnb.microdata.release import Release
from privnb.microdata.treatment import Unreadable
from privnb.miners import cross_val_predictions, reference_set
from privnb.miners.encoding import encode
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray

MINER = "decision tree"
FOLDS = 10
ENOUGH = 10  # other people alike, or fewer attributes are compared
TREE, ALIKE, COMMONEST = f"{MINER}, cross-validated", "people alike, without the person", "commonest value"

state(
    "attribute_risk",
    kind="privacy",
    bounds=(-1, 1),
    title="Attribute risk",
    sentence="How many more people's sensitive value is guessed right with the release than from the records of all "
    "other people.",
    source="after Brickell and Shmatikov, KDD 2008, section 4.4",
    unit="share of people",
    baseline="a guess from the table without the person",
    readings={"largest": "how sure the surest guess is, for one person"},
    axis=True,
)

state(
    "guessed_without_them",
    title="Guessed without them",
    sentence="Share of people whose sensitive value is guessed right from the records of all other people: what the "
    "attribute risk is more than.",
    source="this package",
    unit="share of people",
)


@dataclass(frozen=True)
class AttributeRisk(Question):
    """What the release adds to what is guessed of a person's sensitive value.

    Parameters
    ----------
    sensitive : str
        Empty: the table has none, and nothing is measured.
    """

    sensitive: str
    main = "attribute_risk"

    def rows(self, case: Case) -> list[Row]:
        if not self.sensitive:
            raise Unreadable(
                f"'{case.dataset.name}' has no sensitive attribute to guess. Give a column that role, or take a policy "
                "that does not cap what is guessed, such as ema-0070."
            )
        scores, who = self.scores(case)
        rows = scores.rows(partial(self.row(case), miner=who), case.dataset, case.fewest)
        right, best = without(case.known.dataset, self.sensitive)
        share = guessed(round(right.sum()), len(right))
        return [*rows, case.row("guessed_without_them", share, target=self.sensitive, miner=best)]

    def scores(self, case: Case) -> tuple[Scores, str]:
        """The `Scores` of people, and who guesses."""
        case = case.known
        dataset, release, name = case.dataset, case.release, self.sensitive
        before, who = without(dataset, name)[0], ""
        sure: dict[str, Any] = {"worst": False}  # how sure a miner is, nobody knows
        if release.groups is not None:
            right, surest, prior, people = of_groups(dataset, release, name)
            sure = {"surest": (surest, prior), "unsafe": tells_few(release, name, case.fewest)}
            sure["classes"] = classes_of(dataset, release, release.groups)
        if release.classes is None:
            right, people, who = of_miners(case, name)
        return Scores(right, before[people], people, gain=True, counted=True, **sure), who


def of_groups(dataset: Dataset, release: Release, name: str) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """How likely each person's value is guessed by the commonest one of their group, how sure that guess is with the
    release and without it, and who they are: three float arrays (m,), integer array (m,). Of several commonest ones
    each is named as likely, and without the release the rarest of them counts.
    """
    records = np.arange(len(dataset)) if release.records is None else release.records
    classes = release.groups
    if is_withheld(release, name):  # then it stands in a table of its own, and tells nothing of anybody
        classes = np.zeros(len(records), dtype=np.int64)
        held = classes, dataset.cells[name].iloc[records].array, None
    else:
        held = release.of_people(name)
    assert classes is not None  # `held` refuses a release without
    groups, values, people = held
    codes, distinct = coded(values)
    once = once_each(people, groups, codes)
    counts = tabulate(groups[once], codes[once], (int(classes.max()) + 1, len(distinct)))
    own = pd.Index(distinct).get_indexer(np.asarray(dataset.cells[name].iloc[records]))
    most = counts.max(axis=1)
    share = ((counts == most[:, None]).sum(axis=1), most / people_in(classes, release.people))
    right = np.where(counts[classes, own] == most[classes], 1 / share[0][classes], 0.0)
    sure = share[1][classes]
    right, surest, people = _by_person(dataset, records, right, sure)
    column, known = coded(dataset.cells[name])
    of_anybody = people_in(column, dataset.people)[pd.Index(known).get_indexer(distinct)] / dataset.headcount
    prior, (group, value) = np.ones(len(counts)), np.nonzero(counts == most[:, None])
    np.minimum.at(prior, group, of_anybody[value])
    prior = prior[classes]
    owner = owners_of(dataset, release)
    rarest = np.where(sure < surest[np.searchsorted(people, owner)], 1.0, prior)  # of a person's surest record
    return right, surest, -_by_person(dataset, records, -rarest)[0], people


def of_miners(case: Case, name: str) -> tuple[FloatArray, IntArray, str]:
    """How likely each person's value is guessed in a release without classes, who they are, and by which attack: the
    one that is right more often. Float array (m,), integer array (m,), str.
    """
    dataset, release = case.dataset, case.release
    check_known(dataset, release)
    found = {}
    if MinerInference.can_read(release) and name in release.cells:
        found[MINER] = _of_tree(case, name)
    if Linkage.can_read(release) and name in release.cells:
        found["nearest rows"] = _of_rows(case, name)
    if not found:
        MinerInference.check(release)
        raise Unreadable(
            f"'{name}' is in a table of its own, and nobody's class can be looked up. Attack it by its law."
        )
    who = max(found, key=lambda each: found[each][0].mean())
    return *found[who], who


def _of_tree(case: Case, name: str) -> tuple[FloatArray, IntArray]:
    dataset, release, known = case.dataset, case.release, tuple(case.dataset.schema.quasi_identifiers)
    published = case.published[0]
    fitted = MinerInference(reference_set(MINER)[0], name, known).fit(published)
    records = np.arange(len(dataset)) if release.records is None else np.sort(release.records)
    asked = dataset.cells[list(known)].iloc[records]
    guess = np.asarray(fitted.predict(pd.DataFrame({n: np.asarray(asked[n]) for n in known})))
    right = (guess == np.asarray(dataset.cells[name].iloc[records])).astype(float)
    return _by_person(dataset, records, right)


def _of_rows(case: Case, name: str) -> tuple[FloatArray, IntArray]:
    """By the commonest value of the rows that fit best."""
    dataset, published = case.dataset, case.published[0]
    records = np.sort(case.published[1])
    codes, values = coded(published.table[name])
    own = pd.Index(values).get_indexer(np.asarray(dataset.cells[name].iloc[records]))
    right = np.zeros(len(records))
    for people, group, counts in Linkage().fit(published).counted(dataset.table.iloc[records], codes, len(values)):
        most = counts.max(axis=1)
        ties = np.maximum((counts == most[:, None]).sum(axis=1), 1)
        hit = (counts[group, own[people]] == most[group]) & (most[group] > 0) & (own[people] >= 0)
        right[people] = hit / ties[group]
    return _by_person(dataset, records, right)


def _by_person(dataset: Dataset, records: IntArray, *arrays: Any) -> tuple[Any, ...]:
    """Each array (rows,) by person, by the record of theirs that tells most, and who they are."""
    if dataset.people is None:
        order = np.argsort(records, kind="stable")
        return *(each[order] for each in arrays), records[order]
    who, person = np.unique(dataset.people[records], return_inverse=True)
    return *(most_of_people(each, person) for each in arrays), who


_BEFORE: weakref.WeakKeyDictionary[Dataset, dict[str, Any]] = (
    weakref.WeakKeyDictionary()
)  # by dataset and column: it takes seconds, and is the same for every release


def remembered(dataset: Dataset) -> dict[str, tuple[FloatArray, str]]:
    """What `without` has found of a dataset in this process, `{column: what it gave}`; another one may be given it."""
    return _BEFORE.setdefault(dataset, {})


def without(dataset: Dataset, name: str) -> tuple[FloatArray, str]:
    """Who is guessed right without the release, float array (people,), and by which guess: the one that is right of
    most.

    - the commonest value of everybody;
    - the commonest among other people who are alike: of those with the same quasi-identifiers if `ENOUGH` have them,
      else with one attribute less, the one that tells least of the value;
    - what a decision tree says that has learned from nine tenths of the people and guesses the others.
    """
    kept = remembered(dataset)
    if name not in kept:
        kept[name] = _without(dataset, name)
    return kept[name]


def _without(dataset: Dataset, name: str) -> tuple[FloatArray, str]:
    codes, values = coded(dataset.cells[name])
    commonest = people_in(codes, dataset.people).argmax()
    guesses = {COMMONEST: codes == commonest}
    if dataset.people is None:  # people alike are counted by record
        guesses[ALIKE] = _alike(dataset, codes, len(values))
    known = dataset.schema.quasi_identifiers
    if known and len(values) > 1 and dataset.headcount > 1:
        encoded = encode(dataset.table, known, dataset.schema, dataset.hierarchies)
        folds = min(FOLDS, dataset.headcount)
        target = np.asarray(dataset.cells[name])
        [miner] = reference_set(MINER)
        said = cross_val_predictions(miner, encoded, target, folds=folds, seed=1, people=dataset.people)
        guesses[TREE] = np.asarray(said) == target
    found = {each: most_of_people(np.asarray(right, dtype=float), dataset.people) for each, right in guesses.items()}
    best = max(found, key=lambda each: found[each].mean())
    return found[best], best


def _alike(dataset: Dataset, codes: IntArray, size: int) -> FloatArray:
    """How likely the commonest value of others alike is each person's own: float array (n,)."""
    columns = {name: coded(dataset.cells[name]) for name in dataset.schema.quasi_identifiers}
    telling = {name: _right(own, codes, (len(values), size)) for name, (own, values) in columns.items()}
    order = sorted(columns, key=lambda name: (-telling[name], name))
    right, open_ = np.zeros(len(codes)), np.ones(len(codes), dtype=bool)
    for number in range(len(order), -1, -1):
        if number:
            used = [columns[name] for name in order[:number]]
            _, index = distinct_codes([own for own, _ in used], [len(values) for _, values in used])
        else:
            index = np.zeros(len(codes), dtype=np.int64)
        there = np.flatnonzero(open_ & ((np.bincount(index) > ENOUGH)[index] if number else True))
        if not len(there):
            continue
        among = np.unique(index[there])
        place = np.full(index.max() + 1, -1)
        place[among] = np.arange(len(among))
        rows = place[index] >= 0
        own, rival, ties = _others(place[index[rows]], codes[rows], open_[rows], size)
        right[there] = np.where(own > rival, 1.0, np.where(own == rival, 1 / ties, 0.0))
        open_[there] = False
    return right


def _others(group: IntArray, codes: IntArray, asked: BoolArray, size: int) -> tuple[IntArray, IntArray, IntArray]:
    """What the others of a group have: how many the value of the person asked about, how many the commonest other
    value, and how many values are as common as it, with the person's own. Integer arrays (asked,).
    """
    pairs, pair, times = np.unique(group * size + codes, return_inverse=True, return_counts=True)
    within, pair = pairs // size, pair[asked]
    order = np.lexsort((-times, within))
    first = np.searchsorted(within, np.arange(within[-1] + 1))[within[pair]]  # the commonest value of their group
    best = times[order[first]]
    following = order[np.minimum(first + 1, len(order) - 1)]
    second = np.where((first + 1 < len(order)) & (within[following] == within[pair]), times[following], 0)
    own = times[pair] - 1  # without the person their own value has one less, and any other as many as before
    rival = np.where(times[pair] == best, second, best)
    common, alike = np.unique(within * (times.max() + 1) + times, return_counts=True)
    wanted = within[pair] * (times.max() + 1) + own
    at = np.minimum(np.searchsorted(common, wanted), len(common) - 1)
    ties = 1 + np.where(common[at] == wanted, alike[at], 0)
    return own, rival, np.where(own == 0, size, ties)


def _right(groups: IntArray, codes: IntArray, shape: tuple[int, int]) -> int:
    return tabulate(groups, codes, shape).max(axis=1).sum()
