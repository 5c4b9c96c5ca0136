"""Membership: whether a release tells that somebody's record is in the table that it was made of.

The sanitizer is run on a random half of the people, the members. The others are split in two: people who stand for the
population, whom the adversary has, and people whose membership is guessed beside that of the members, the control. A
record that the release covers more densely than the population does is guessed to be a member's. How much more, and
whether by all columns or by those alone whose cells are true, is chosen on one half of the people asked about and used
on the other, and the other way round.
"""

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.evaluation.cases import Case, Question
from privnb.evaluation.predictions import stream
from privnb.evaluation.results import Row
from privnb.evaluation.risks.density import Cover
from privnb.evaluation.risks.identity import check_known
from privnb.evaluation.risks.scores import Apart
from privnb.measures.base import state
from privnb.microdata.counts import coded, distinct_codes, most_of_people
from privnb.microdata.release import Release
from privnb.microdata.treatment import UNTRUE, Unreadable
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.sanitizers import SanitizationError

SAMPLE = 4000  # people asked about of members and of the control each, and people who stand for the population, at most

state(
    "membership_risk",
    kind="privacy",
    bounds=(-1, 1),
    title="Membership risk",
    sentence="How much more often people who are in the table are taken for such than people who are not.",
    source="after van Breugel et al., DOMIAS, AISTATS 2023",
    unit="advantage over guessing",
    format="{:%}",
    baseline="guessing at random",
    axis=True,
)
state(
    "membership_ceiling",
    title="Membership risk at most",
    sentence="The membership risk if the members' records were published: those of several people tell of none.",
    source="this package",
    unit="advantage over guessing",
    format="{:%}",
)


@dataclass(frozen=True)
class MembershipRisk(Question):
    """The advantage of a density-ratio attack on who is in the table, and its ceiling.

    The release is one of half of the people: of the whole table there is nobody left to compare with.
    """

    main = "membership_risk"
    varies = True

    def rows(self, case: Case) -> list[Row]:
        scores = self.scores(case)
        members, others = halves(case.dataset, case.seed)
        ceiling = case.row("membership_ceiling", at_most(case.dataset, members, others), baseline=0)
        return [*scores.rows(partial(case.row, self.main), case.dataset, case.fewest), ceiling]

    def scores(self, case: Case) -> Apart:
        """The `Apart` of the people asked about."""
        dataset = case.dataset
        members, others = halves(dataset, case.seed)
        try:
            release = case.sanitizer.sanitize(_of(dataset, case.seed), rng=case.stream("sanitize members"))
        except SanitizationError as error:
            raise Unreadable(f"membership is measured on a random half of the people: {error}") from None
        return distinguished(dataset, release, members, others, case.seed)


def distinguished(dataset: Dataset, release: Release, members: IntArray, others: IntArray, seed: int) -> Apart:
    """How far a release distinguishes members from others: an `Apart`.

    Parameters
    ----------
    dataset : Dataset
    release : Release
        Of the members, or of anybody.
    members, others : integer arrays
        Numbers of people.
    seed : int
        Of the people asked about, and of their halves.
    """
    check_known(dataset, release)
    stated = dataset.schema.unknowable
    names = [name for name in dataset.schema.published if name in release.columns and name not in stated]
    if len(others) < 4 or len(members) < 4:
        raise Unreadable(f"'{dataset.name}' has too few people to keep some of them out of a release.")
    rng = np.random.default_rng(stream(seed, None, "membership"))
    mixed = rng.permutation(others)
    control, population = mixed[: len(mixed) // 2][:SAMPLE], mixed[len(mixed) // 2 :][:SAMPLE]
    asked = np.concatenate([rng.permutation(members)[:SAMPLE], control])
    is_member = np.arange(len(asked)) < len(asked) - len(control)
    records, whose = _records(dataset, asked)
    beside, _ = _records(dataset, population)
    ratios = []
    for known in _known(release, names):
        table = dataset.table[known]
        found, there = Cover.of(release, known).densities(table.iloc[records], table.iloc[beside])
        found = most_of_people(found / np.maximum(there, 1e-300), whose)
        ratios.append(np.round(found, 9))  # ties are ties on each machine
    fold = np.concatenate([np.arange(each) % 2 for each in (is_member.sum(), (~is_member).sum())]).astype(bool)
    guessed = np.zeros(len(asked))
    for used in (fold, ~fold):
        cuts = [threshold(each[~used], is_member[~used]) for each in ratios]
        best = max(range(len(cuts)), key=lambda place: cuts[place].advantage)
        guessed[used] = ratios[best][used] >= cuts[best].ratio
    worth = len(population) / (len(population) + len(control))
    return Apart(guessed, np.zeros(len(asked)), asked, gain=True, worst=False, member=is_member, worth=worth)


def _known(release: Release, names: list[str]) -> list[list[str]]:
    """By which columns membership is guessed: all, and where some cells are moved those alone that are true."""
    true = [name for name in names if release.columns[name].kind not in UNTRUE]
    return [names, true] if 0 < len(true) < len(names) else [names]


class Threshold(NamedTuple):
    """From which `ratio` on people are taken for members, infinite for nobody, and the `advantage` that it gives."""

    ratio: float
    advantage: float


def threshold(ratio: FloatArray, member: BoolArray) -> Threshold:
    """Where the advantage is largest: a `Threshold`. `ratio`: float array (m,); `member`: boolean array (m,).

    >>> threshold(np.array([1.0, 2.0, 2.0, 3.0]), np.array([False, False, True, True]))
    Threshold(ratio=3.0, advantage=0.5)
    """
    values, place = np.unique(ratio, return_inverse=True)
    each = np.where(member, (~member).sum(), -member.sum())  # in whole numbers, so that ties are ties
    advantage = np.bincount(place, each)[::-1].cumsum()
    best = int(np.argmax(advantage))
    if advantage[best] <= 0:
        return Threshold(np.inf, 0.0)
    return Threshold(float(values[::-1][best]), float(advantage[best] / (member.sum() * (~member).sum())))


@lru_cache(maxsize=4)
def halves(dataset: Dataset, seed: int) -> tuple[IntArray, IntArray]:
    """The people whose table is sanitized, and all others: two integer arrays, the same of each release of a seed."""
    order = np.random.default_rng(stream(seed, None, "members")).permutation(dataset.headcount)
    return np.sort(order[: dataset.headcount // 2]), np.sort(order[dataset.headcount // 2 :])


@lru_cache(maxsize=4)
def _of(dataset: Dataset, seed: int) -> Dataset:
    """The dataset of the members."""
    records, _ = _records(dataset, halves(dataset, seed)[0])
    return replace(dataset, table=dataset.cells.iloc[np.sort(records)])


def _records(dataset: Dataset, people: IntArray) -> tuple[IntArray, IntArray]:
    """The records of some people, and which of the people each is of: two integer arrays."""
    if dataset.people is None:
        return people, np.arange(len(people))
    place = np.full(dataset.headcount, -1)
    place[people] = np.arange(len(people))
    records = np.flatnonzero(place[dataset.people] >= 0)
    return records, place[dataset.people[records]]


def at_most(dataset: Dataset, members: IntArray, others: IntArray) -> float:
    """The total variation between what members publish and what the others do: float, 0 to 1. Who is alike in all that
    is published, in the records of a person together, is distinguished by no attack on a release.
    """
    stated = dataset.schema.unknowable
    columns = [coded(dataset.cells[name]) for name in dataset.schema.published if name not in stated]
    _, alike = distinct_codes([codes for codes, _ in columns], [len(values) for _, values in columns])
    if dataset.people is not None:
        order = np.lexsort([alike, dataset.people])
        parts = np.split(alike[order], np.cumsum(np.bincount(dataset.people))[:-1])
        number: dict[bytes, int] = {}
        alike = np.array([number.setdefault(part.tobytes(), len(number)) for part in parts])
    shares = [np.bincount(alike[people], minlength=alike.max() + 1) / len(people) for people in (members, others)]
    return min(1.0, float(np.abs(shares[0] - shares[1]).sum() / 2))
