"""Certainty: of how many people the release lets an outsider conclude a sensitive value, who knows no private record.

The attribute risk is what a person's participation adds to the records of all others. Certainty is what the release as
a whole discloses, compared with what its owner declares public: by default how common each value is in the whole table.
A value that is nearly certain without the release (nearly nobody has a rare illness) is not disclosed by it, and a
value that the owner calls harmless is not counted.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from privnb.attacks import Linkage
from privnb.evaluation.attributes import sensitive_name
from privnb.evaluation.cases import Case, Question
from privnb.evaluation.disclosures import is_withheld
from privnb.evaluation.predictions import stream
from privnb.evaluation.releases import tells_few
from privnb.evaluation.results import SURE
from privnb.evaluation.risks.anti_utility import people_of
from privnb.evaluation.risks.linkability import linkage_to_any_row
from privnb.evaluation.risks.scores import classes_of
from privnb.evaluation.shares import share_in_classes
from privnb.measures.base import state
from privnb.measures.certainty import NEAR, certain_groups
from privnb.microdata import expect, withholding
from privnb.microdata.bands import Bands
from privnb.microdata.counts import distinct_codes, once_each, people_in, tabulate
from privnb.microdata.dataset import Dataset
from privnb.microdata.release import Release
from privnb.microdata.schema import NotForThisTable
from privnb.microdata.treatment import TRUE, Rows, Unreadable

NARROW = 0.05  # of a number's domain: how wide an interval may be at most that nearly discloses it
SAMPLE = 2000  # people asked about where rows are nobody's, at most
BY_LUCK = 0.01  # the chance at most that guesses by the public distribution would all be right

state(
    "made_certain",
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    title="Made certain",
    sentence="Share of people whose sensitive value the release discloses with certainty to an outsider who knows no "
    "private record.",
    source="this package",
    unit="share of people",
    format="{:%} of people",
    baseline="from how common each value is",
    axis=False,
)

state(
    "nearly_certain",
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    title="Nearly certain",
    sentence="Share of people whose sensitive value the release makes at least as likely as the stated share, or of "
    "whose number a narrow interval, where the public distribution does not.",
    source="this package",
    unit="share of people",
    format="{:%} of people",
    baseline="from how common each value is",
    axis=False,
)


class Conclusions(NamedTuple):
    """What an outsider concludes of m people: whether a value is certain, and whether it is nearly certain, boolean
    arrays (m,); how many people are guessed right; and the class of each person, integer array (m,), or None.
    """

    certain: np.ndarray
    near: np.ndarray
    right: float
    classes: np.ndarray | None = None


@dataclass(frozen=True)
class Certainty(Question):
    """Of how many people a sensitive value is certain, and of how many it is nearly certain.

    Parameters
    ----------
    sensitive : str
        Empty: the table has no sensitive attribute, and nothing is measured.
    near : float
        The least share that is nearly certain, between 0.5 and 1.
    fewest : int
        Counts below are withheld.
    """

    sensitive: str
    near: float = NEAR
    fewest: int = withholding.LIMIT
    main = "made_certain"

    def __post_init__(self):
        super().__post_init__()
        expect.between("near", self.near, 0.5, 1, "1 is certain")

    @classmethod
    def of(
        cls, dataset: Dataset, sensitive: str | None = None, near: float = NEAR, fewest: int = withholding.LIMIT
    ) -> "Certainty":
        """Return the question for this dataset; it is refused for a table without a sensitive attribute."""
        try:
            return cls(sensitive_name(dataset, sensitive), near, fewest)
        except NotForThisTable:
            return cls("", near, fewest)

    def rows(self, case: Case) -> list[dict]:
        if not self.sensitive:
            raise Unreadable(f"'{case.dataset.name}' has no sensitive attribute. Give a column that role.")
        found = self.conclusions(case)
        return [
            self._row(case, "made_certain", found.certain, found),
            self._row(case, "nearly_certain", found.near, found),
        ]

    def _row(self, case: Case, measure: str, whom: np.ndarray, found: Conclusions) -> dict:
        """A row of how many people it is. That it is nobody tells of nobody; few are withheld, and so is a number that
        would tell, compared with the mean of the attribute risk or with the surest guess, of few people.
        """
        n, people = len(whom), int(whom.sum())
        share, *bounds = share_in_classes(whom, found.classes, self.fewest)
        if people and (withholding.few(round(found.right) - people, self.fewest) or self._tells(case)):
            share, bounds = np.nan, (1 / n, 1.0)
        return case.row(measure, share, target=self.sensitive, interval=bounds, baseline=0.0)

    def _tells(self, case: Case) -> bool:
        release = case.release
        return release.groups is not None and tells_few(release, self.sensitive, self.fewest)

    def conclusions(self, case: Case) -> Conclusions:
        """Return what an outsider concludes of each person of the release."""
        case = case.known
        dataset, release = case.dataset, case.release
        prior = public_shares(dataset, self.sensitive)
        if is_withheld(release, self.sensitive):
            nobody = np.zeros(len(people_of(dataset, release)), dtype=bool)
            return Conclusions(nobody, nobody, 0.0)
        if release.groups is not None:
            return _by_group(dataset, release, self.sensitive, prior, self.near, release.groups)
        if self.sensitive not in release.cells:
            raise Unreadable(
                f"'{self.sensitive}' is in a table of its own, and nobody's class can be looked up. Attack it by its "
                "law."
            )
        found = [_by_nearest_rows(case, self.sensitive, prior, self.near)]
        true = release.treated(*TRUE)
        if release.provenance.rows is not Rows.NOBODY and self.sensitive in true:
            names = [name for name in dataset.schema.quasi_identifiers if name in true and name in release.cells]
            groups = _alike(release, names)
            found.append(_by_group(dataset, release, self.sensitive, prior, self.near, groups))
        return max(found, key=lambda each: (each.certain.sum(), each.near.sum()))


def public_shares(dataset: Dataset, name: str) -> pd.Series:
    """Return how likely each value of a sensitive attribute is without the release: the distribution that its owner
    declares public, by default the share of people in the whole table who have it; a Series by value.
    """
    codes, values = dataset.schema[name].coded(dataset.cells[name])
    shares = people_in(codes, dataset.people, number=len(values)) / dataset.headcount
    found = pd.Series(shares, index=pd.Index(values))
    declared = dataset.schema[name].public_distribution
    return pd.Series({value: declared.get(str(value), 0.0) for value in found.index}) if declared else found


def _alike(release: Release, names: list[str]) -> np.ndarray:
    """Return the rows that are alike in some columns: a number of group from 0, integer array (rows,)."""
    columns = [release.coded(name) for name in names]
    if not columns:
        return np.zeros(len(release), dtype=np.int64)
    return distinct_codes([codes for codes, _ in columns], [len(values) for _, values in columns])[1]


def _by_group(
    dataset: Dataset, release: Release, name: str, prior: pd.Series, near: float, groups: np.ndarray
) -> Conclusions:
    """Return what is concluded where everybody's group can be looked up: integer array `groups` (rows,)."""
    if release.groups is not None:
        held, published, people = release.of_people(name)
    else:
        held, published, people = groups, release.cells[name].array, release.people
    codes, values = release.schema[name].coded(pd.Series(published))
    once = once_each(people, held, codes)
    counts = tabulate(held[once], codes[once], (int(groups.max()) + 1, len(values)))
    sizes = people_in(groups, release.people, number=len(counts))
    shares, attribute = prior.reindex(pd.Index(values)).fillna(0.0).to_numpy(), dataset.schema[name]
    harmless = np.isin(np.asarray(values, dtype=object).astype(str), [*attribute.harmless])
    certain = certain_groups(counts, shares, harmless, sizes=sizes)
    likely = certain.copy()
    for window in _windows(attribute.domain, values):
        if shares[window].sum() < near and not harmless[window].all():
            likely |= counts[:, window].sum(axis=1) >= near * sizes * SURE
    records = np.arange(len(dataset)) if release.records is None else release.records
    whose = _whose(dataset, records)
    right, classes = float(counts.max(axis=1).sum()), classes_of(dataset, release, groups)
    return Conclusions(whose(certain[groups]), whose(likely[groups]), right, classes)


def _windows(domain: object, values: np.ndarray) -> Iterator[np.ndarray]:
    """Yield which of the values an outsider takes together: each by itself, and of a number's bands those that lie next
    to one another in an interval of at most `NARROW` of its domain; integer arrays.
    """
    if not isinstance(domain, Bands):
        yield from (np.array([place]) for place in range(len(values)))
        return
    place = {value: number for number, value in enumerate(values)}
    starts = [*domain.starts, domain.numbers.size]
    most = max(1, round(NARROW * domain.numbers.size))
    for first in range(len(domain.values)):
        end = first + 1
        while end < len(domain.values) and starts[end + 1] - starts[first] <= most:
            end += 1
        found = [place[each] for each in domain.values[first:end] if each in place]
        if found:
            yield np.array(found)


def _whose(dataset: Dataset, records: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from boolean arrays (records,) to who has a record that is true, boolean arrays (people,)."""
    owner = records if dataset.people is None else dataset.people[records]
    _, person = np.unique(owner, return_inverse=True)
    return lambda rows: np.bincount(person, rows) > 0


def _by_nearest_rows(case: Case, name: str, prior: pd.Series, near: float) -> Conclusions:
    """Return what is concluded where nobody's group can be looked up: an outsider takes the published rows that are
    nearest to a person, and is surer the more of them agree.

    Where all of these rows have one value, it is certain if everybody who has the same rows nearest is guessed right,
    or if everybody is of whom as many or more rows name this value. Where nearly all of the rows have it, it is
    nearly certain if the stated share of these people is guessed right. By how common the value is, that must not be
    luck.
    """
    dataset, published = case.dataset, case.published[0]
    records = _asked(case)
    codes, values = published.schema[name].coded(published.table[name])
    own = pd.Index(values).get_indexer(np.asarray(dataset.cells[name].iloc[records]))
    attack = linkage_to_any_row() if case.release.provenance.rows is Rows.NOBODY else Linkage()
    agree, named, outcome = (np.full(len(records), start) for start in (0, -1, 0))
    pure, outcomes = np.zeros(len(records)), 0
    for people, group, counts in attack.fit(published).counted(dataset.table.iloc[records], codes, len(values)):
        most, total = counts.max(axis=1), counts.sum(axis=1)
        agree[people], named[people] = most[group], counts.argmax(axis=1)[group]
        pure[people], outcome[people] = (most / np.maximum(total, 1))[group], group + outcomes
        outcomes += len(counts)
    right = (own == named) & (named >= 0)
    shares = prior.reindex(pd.Index(values)).fillna(0.0).to_numpy()
    harmless = np.isin(np.asarray(values, dtype=object).astype(str), [*dataset.schema[name].harmless])
    disclosed = (agree > 0) & ~harmless[named]
    whose, found = _whose(dataset, records), []
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


def _asked(case: Case) -> np.ndarray:
    """Return the records that are asked about, ascending: integer array. Where rows are nobody's, a sample of them."""
    dataset, release = case.dataset, case.release
    if release.provenance.rows is not Rows.NOBODY:
        return np.sort(case.published[1])
    if len(dataset) <= SAMPLE:
        return np.arange(len(dataset))
    rng = np.random.default_rng(stream(case.seed, None, "people asked about certainty"))
    return np.sort(rng.choice(len(dataset), SAMPLE, replace=False))
