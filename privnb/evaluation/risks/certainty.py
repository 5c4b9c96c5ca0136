"""Certainty: of how many people the release lets an outsider conclude a sensitive value, who knows no private record.

The attribute risk is what a person's participation adds to the records of all others. Certainty is what the release as
a whole discloses, compared with what its owner declares public: by default how common each value is in the whole table.
A value that is nearly certain without the release (nearly nobody has a rare illness) is not disclosed by it, and a
value that the owner calls harmless is not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from privnb.attacks import Linkage
from privnb.attacks.linkage.linkage import linkage_to_any_row
from privnb.datasets.dataset import Dataset
from privnb.evaluation.cases import Case, Question
from privnb.evaluation.disclosure.disclosures import is_withheld
from privnb.evaluation.predictions import stream
from privnb.evaluation.results import Row, share_in_classes
from privnb.evaluation.risks.scores import classes_of, people_of
from privnb.measures.base import state
from privnb.measures.disclosure.certainty import (
    NEAR,
    certain_groups,
    harms_nobody,
    nearly_certain_groups,
    tells_of_others,
)
from privnb.measures.disclosure.conclusions import SAMPLE, Conclusions, by_nearest_rows, of_people, public_of
from privnb.measures.disclosure.disclosed import tells_few
from privnb.microdata.counts import distinct_codes, once_each, people_in, tabulate
from privnb.microdata.release import Release
from privnb.microdata.treatment import TRUE, Rows, Unreadable
from privnb.runtime import expect

state(
    "made_certain",
    kind="privacy",
    title="Made certain",
    sentence="Share of people whose sensitive value the release discloses with certainty to an outsider who knows no "
    "private record.",
    source="this package",
    unit="share of people",
    baseline="from how common each value is",
)

state(
    "nearly_certain",
    kind="privacy",
    title="Nearly certain",
    sentence="Share of people whose sensitive value the release makes at least as likely as the stated share, or of "
    "whose number a narrow interval, where the public distribution does not.",
    source="this package",
    unit="share of people",
    baseline="from how common each value is",
)


@dataclass(frozen=True)
class Certainty(Question):
    """Of how many people a sensitive value is certain, and of how many it is nearly certain.

    Parameters
    ----------
    sensitive : str
        Empty: the table has no sensitive attribute, and nothing is measured.
    near : float
        The least share that is nearly certain, between 0.5 and 1.
    """

    sensitive: str
    near: float = NEAR
    main = "made_certain"

    def __post_init__(self) -> None:
        expect.between("near", self.near, 0.5, 1, "1 is certain")

    def rows(self, case: Case) -> list[Row]:
        if not self.sensitive:
            raise Unreadable(f"'{case.dataset.name}' has no sensitive attribute. Give a column that role.")
        found = self.conclusions(case)
        whom = {"made_certain": found.certain, "nearly_certain": found.near}
        return [self._row(case, measure, people, found) for measure, people in whom.items()]

    def _row(self, case: Case, measure: str, whom: np.ndarray, found: Conclusions) -> Row:
        """A row of how many people it is. That it is nobody tells of nobody; few are withheld, and so is a number that
        would tell, compared with the mean of the attribute risk or with the surest guess, of few people.
        """
        n, people = len(whom), int(whom.sum())
        row = partial(case.row, measure, target=self.sensitive, baseline=0.0)
        if tells_of_others(people, round(found.right), self._tells(case), case.fewest):
            return row(np.nan, interval=(1 / n, 1.0))
        return row(share_in_classes(whom, found.classes))

    def _tells(self, case: Case) -> bool:
        release = case.release
        return release.groups is not None and tells_few(release, self.sensitive, case.fewest)

    def conclusions(self, case: Case) -> Conclusions:
        """Return what an outsider concludes of each person of the release."""
        case = case.known
        dataset, release = case.dataset, case.release
        if is_withheld(release, self.sensitive):
            nobody = np.zeros(len(people_of(dataset, release)), dtype=bool)
            return Conclusions(nobody, nobody, 0.0)
        if release.groups is not None:
            return _by_group(dataset, release, self.sensitive, self.near, release.groups)
        if self.sensitive not in release.cells:
            raise Unreadable(
                f"'{self.sensitive}' is in a table of its own, and nobody's class can be looked up. Attack it by its "
                "law."
            )
        found = [_by_nearest_rows(case, self.sensitive, self.near)]
        true = release.treated(*TRUE)
        if release.provenance.rows is not Rows.NOBODY and self.sensitive in true:
            names = [name for name in dataset.schema.quasi_identifiers if name in true and name in release.cells]
            groups = _alike(release, names)
            found.append(_by_group(dataset, release, self.sensitive, self.near, groups))
        return max(found, key=lambda each: (each.certain.sum(), each.near.sum()))


def _alike(release: Release, names: list[str]) -> np.ndarray:
    """Return the rows that are alike in some columns: a number of group from 0, integer array (rows,)."""
    columns = [release.coded(name) for name in names]
    if not columns:
        return np.zeros(len(release), dtype=np.int64)
    return distinct_codes([codes for codes, _ in columns], [len(values) for _, values in columns])[1]


def _by_group(dataset: Dataset, release: Release, name: str, near: float, groups: np.ndarray) -> Conclusions:
    """Return what is concluded where everybody's group can be looked up: integer array `groups` (rows,)."""
    if release.groups is not None:
        held, published, people = release.of_people(name)
    else:
        held, published, people = groups, release.cells[name].array, release.people
    codes, values = release.schema[name].coded(pd.Series(published))
    once = once_each(people, held, codes)
    counts = tabulate(held[once], codes[once], (int(groups.max()) + 1, len(values)))
    sizes = people_in(groups, release.people, number=len(counts))
    shares, attribute = public_of(dataset, name, values), dataset.schema[name]
    certain = certain_groups(counts, shares, harms_nobody(attribute, values), sizes=sizes)
    likely = certain | nearly_certain_groups(counts, shares, attribute, values, near, sizes)
    records = np.arange(len(dataset)) if release.records is None else release.records
    whose = of_people(dataset, records)
    right, classes = float(counts.max(axis=1).sum()), classes_of(dataset, release, groups)
    return Conclusions(whose(certain[groups]), whose(likely[groups]), right, classes)


def _by_nearest_rows(case: Case, name: str, near: float) -> Conclusions:
    attack = linkage_to_any_row() if case.release.provenance.rows is Rows.NOBODY else Linkage()
    return by_nearest_rows(attack, case.dataset, case.published[0], _asked(case), name, near)


def _asked(case: Case) -> np.ndarray:
    """Return the records that are asked about, ascending: integer array. Where rows are nobody's, a sample of them."""
    dataset, release = case.dataset, case.release
    if release.provenance.rows is not Rows.NOBODY:
        return np.sort(case.published[1])
    if len(dataset) <= SAMPLE:
        return np.arange(len(dataset))
    rng = np.random.default_rng(stream(case.seed, None, "people asked about certainty"))
    return np.sort(rng.choice(len(dataset), SAMPLE, replace=False))
