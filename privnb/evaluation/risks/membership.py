"""Membership risk: whether a release discloses that a person's record is in the table from which it was made.

The sanitizer is run on a random half of the people, the members. The other people are split in two: a sample of the
population, whose records the adversary has, and the control, whose membership is guessed like that of the members. For
a release that was made elsewhere, the members are the people of the dataset, and the other people are those of a
hold-out. The adversary guesses that a record belongs to a member if the release covers the record more densely than the
sample of the population does. The threshold of the density ratio, and the use of all columns or only the columns with
true cells, are chosen on one half of the target people and applied to the other half, and vice versa.
"""

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.evaluation_loop import Case, Question
from privnb.evaluation.predictions import derive_seed
from privnb.evaluation.results import Row
from privnb.evaluation.risks.density import Coverage
from privnb.evaluation.risks.identity import require_known
from privnb.evaluation.risks.scores import GroupDifference
from privnb.measures.base import register_measure
from privnb.microdata.counts import encode_values, group_codes, max_per_person
from privnb.microdata.release import Release
from privnb.microdata.treatment import UNTRUE, Unreadable
from privnb.runtime.arrays import BoolArray, FloatArray, IntArray
from privnb.sanitizers import SanitizationError
from privnb.sanitizers.made_elsewhere import MadeElsewhere

MAX_PEOPLE = (
    4000  # people asked about of members and of the control each, and people who stand for the population, at most
)

register_measure(
    "membership_risk",
    kind="privacy",
    bounds=(-1, 1),
    title="Membership risk",
    sentence="This is the share of the people in the table who are taken for members, minus the share of other "
    "people who are taken for members.",
    source="after van Breugel et al., DOMIAS, AISTATS 2023",
    unit="advantage over guessing",
    format="{:%}",
    baseline="guessing at random",
    axis=True,
)
register_measure(
    "membership_ceiling",
    title="Membership risk at most",
    sentence="This is the membership risk if the members' records were published. A record that several people share "
    "does not reveal a member.",
    source="this package",
    unit="advantage over guessing",
    format="{:%}",
)


@dataclass(frozen=True)
class MembershipRisk(Question):
    """The advantage of a density-ratio attack on membership in the table, and its ceiling.

    The release is made from half of the people, because a release of the whole table would leave nobody with whom to
    compare.
    """

    primary_measure = "membership_risk"
    stochastic = True

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
        game = MembershipGame.of(case)
        ceiling = bound_advantage(game.dataset, game.members, game.others)
        rows = self._scores(game, case).rows(partial(case.row, self.primary_measure), game.dataset, case.min_count)
        return [*rows, case.row("membership_ceiling", ceiling, baseline=0)]

    def scores(self, case: Case) -> GroupDifference:
        """Return the `GroupDifference` of the target people."""
        return self._scores(MembershipGame.of(case), case)

    def _scores(self, game: "MembershipGame", case: Case) -> GroupDifference:
        return score_members(game.dataset, game.release, game.members, game.others, case.seed)


class MembershipGame(NamedTuple):
    """Members, whose records are in a release, and other people of the same dataset, whose records are not."""

    dataset: Dataset
    release: Release
    members: IntArray
    others: IntArray

    @classmethod
    def of(cls, case: Case) -> "MembershipGame":
        """Return the game of a case, with a random half or, for a release that was made elsewhere, with a hold-out."""
        dataset, sanitizer = case.dataset, case.sanitizer
        if isinstance(sanitizer, MadeElsewhere):
            return cls._with_holdout(dataset, case.release, sanitizer)
        try:
            release = sanitizer.sanitize(_select_members(dataset, case.seed), rng=case.stream("sanitize members"))
        except SanitizationError as error:
            raise Unreadable(f"membership is measured on a random half of the people: {error}") from None
        return cls(dataset, release, *split_people(dataset, case.seed))

    @classmethod
    def _with_holdout(cls, dataset: Dataset, release: Release, sanitizer: MadeElsewhere) -> "MembershipGame":
        others = sanitizer.read_holdout(dataset)
        if others is None:
            raise Unreadable(
                "membership in a release that was made elsewhere is measured against people who are not in it. Give a "
                "hold-out: a file with records of such people."
            )
        n = len(dataset)
        table = pd.concat([dataset.table[[*others.table]], others.table], ignore_index=True)
        members = np.arange(n) if release.records is None else np.sort(release.records)
        return cls(replace(others, table=table), release, members, np.arange(n, len(table)))


def score_members(
    dataset: Dataset, release: Release, members: IntArray, others: IntArray, seed: int
) -> GroupDifference:
    """Return how well a release distinguishes members from others, as a `GroupDifference`.

    Parameters
    ----------
    dataset : Dataset
    release : Release
        A release of the members, or of any other people.
    members, others : integer arrays
        Indices of people.
    seed : int
        The seed of the choice of target people and of their two halves.

    Returns
    -------
    GroupDifference

    Raises
    ------
    Unreadable
        If the dataset has fewer than 4 members or fewer than 4 other people.
    """
    require_known(dataset, release)
    stated = dataset.schema.unknowable
    names = [name for name in dataset.schema.published if name in release.columns and name not in stated]
    if len(others) < 4 or len(members) < 4:
        raise Unreadable(
            f"'{dataset.name}' has too few people to leave some of the people out of a release. Use a table with more "
            "people."
        )
    rng = np.random.default_rng(derive_seed(seed, None, "membership"))
    mixed = rng.permutation(others)
    control, population = mixed[: len(mixed) // 2][:MAX_PEOPLE], mixed[len(mixed) // 2 :][:MAX_PEOPLE]
    asked = np.concatenate([rng.permutation(members)[:MAX_PEOPLE], control])
    is_member = np.arange(len(asked)) < len(asked) - len(control)
    records, whose = find_records(dataset, asked)
    outsiders, _ = find_records(dataset, population)
    ratios = []
    for known in _list_known(release, names):
        table = dataset.table[known]
        found, there = Coverage.of(release, known).densities(table.iloc[records], table.iloc[outsiders])
        found = max_per_person(found / np.maximum(there, 1e-300), whose)
        ratios.append(np.round(found, 9))  # so that equal ratios are equal on every machine
    fold = np.concatenate([np.arange(each) % 2 for each in (is_member.sum(), (~is_member).sum())]).astype(bool)
    guessed = np.zeros(len(asked))
    for used in (fold, ~fold):
        cuts = [choose_threshold(each[~used], is_member[~used]) for each in ratios]
        best = max(range(len(cuts)), key=lambda place: cuts[place].advantage)
        guessed[used] = ratios[best][used] >= cuts[best].ratio
    worth = len(population) / (len(population) + len(control))
    return GroupDifference(guessed, np.zeros(len(asked)), asked, gain=True, worst=False, member=is_member, worth=worth)


def _list_known(release: Release, names: list[str]) -> list[list[str]]:
    """Return the sets of columns that the adversary uses: all columns and, if cells are moved, the true columns."""
    true = [name for name in names if release.columns[name].kind not in UNTRUE]
    return [names, true] if 0 < len(true) < len(names) else [names]


class Threshold(NamedTuple):
    """The minimum `ratio` of people who are guessed to be members (nobody if infinite), and the `advantage`."""

    ratio: float
    advantage: float


def choose_threshold(ratio: FloatArray, member: BoolArray) -> Threshold:
    """Return the `Threshold` with the largest advantage.

    Parameters
    ----------
    ratio : float array (m,)
        The density ratio of each person.
    member : boolean array (m,)
        Whether each person is a member.

    Returns
    -------
    Threshold

    Examples
    --------
    >>> choose_threshold(np.array([1.0, 2.0, 2.0, 3.0]), np.array([False, False, True, True]))
    Threshold(ratio=3.0, advantage=0.5)
    """
    values, place = np.unique(ratio, return_inverse=True)
    each = np.where(member, (~member).sum(), -member.sum())  # in whole numbers, so that equal advantages are equal
    advantage = np.bincount(place, each)[::-1].cumsum()
    best = int(np.argmax(advantage))
    if advantage[best] <= 0:
        return Threshold(np.inf, 0.0)
    return Threshold(float(values[::-1][best]), float(advantage[best] / (member.sum() * (~member).sum())))


@lru_cache(maxsize=4)
def split_people(dataset: Dataset, seed: int) -> tuple[IntArray, IntArray]:
    """Return the members, whose table is sanitized, and the other people, as two integer arrays.

    The split is the same for all releases of a seed.

    Parameters
    ----------
    dataset : Dataset
    seed : int

    Returns
    -------
    members, others : integer arrays
        Indices of people, in ascending order.
    """
    order = np.random.default_rng(derive_seed(seed, None, "members")).permutation(dataset.headcount)
    return np.sort(order[: dataset.headcount // 2]), np.sort(order[dataset.headcount // 2 :])


@lru_cache(maxsize=4)
def _select_members(dataset: Dataset, seed: int) -> Dataset:
    """Return the dataset of the members."""
    records, _ = find_records(dataset, split_people(dataset, seed)[0])
    return replace(dataset, table=dataset.cells.iloc[np.sort(records)])


def find_records(dataset: Dataset, people: IntArray) -> tuple[IntArray, IntArray]:
    """Return the records of some people, and each record's position in `people`, as two integer arrays."""
    if dataset.people is None:
        return people, np.arange(len(people))
    place = np.full(dataset.headcount, -1)
    place[people] = np.arange(len(people))
    records = np.flatnonzero(place[dataset.people] >= 0)
    return records, place[dataset.people[records]]


def bound_advantage(dataset: Dataset, members: IntArray, others: IntArray) -> float:
    """Return the total variation, from 0 to 1, between the published attributes of members and of other people.

    No attack on a release can distinguish two people whose records have the same published attributes.

    Parameters
    ----------
    dataset : Dataset
    members, others : integer arrays
        Indices of people.

    Returns
    -------
    float
    """
    stated = dataset.schema.unknowable
    columns = [encode_values(dataset.cells[name]) for name in dataset.schema.published if name not in stated]
    _, alike = group_codes([codes for codes, _ in columns], [len(values) for _, values in columns])
    if dataset.people is not None:
        order = np.lexsort([alike, dataset.people])
        parts = np.split(alike[order], np.cumsum(np.bincount(dataset.people))[:-1])
        number: dict[bytes, int] = {}
        alike = np.array([number.setdefault(part.tobytes(), len(number)) for part in parts])
    shares = [np.bincount(alike[people], minlength=alike.max() + 1) / len(people) for people in (members, others)]
    return min(1.0, float(np.abs(shares[0] - shares[1]).sum() / 2))
