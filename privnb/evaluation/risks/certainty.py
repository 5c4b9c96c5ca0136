"""Certainty: the people whose sensitive value an outsider without private records concludes from the release.

The attribute risk is what a person's participation adds to the records of all other people. Certainty is what the
release as a whole discloses, compared with what the owner declares public: by default, the frequency of each value in
the whole table. A value that is nearly certain without the release (nearly nobody has a rare illness) does not count as
disclosed, and neither does a value that the owner calls harmless.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from privnb.attacks import Linkage
from privnb.attacks.linkage.linkage import linkage_to_any_row
from privnb.datasets.dataset import Dataset
from privnb.evaluation.disclosure.disclosures import is_withheld
from privnb.evaluation.evaluation_loop import Case, Question
from privnb.evaluation.predictions import derive_seed
from privnb.evaluation.results import Row, estimate_share_in_classes
from privnb.evaluation.risks.scores import find_class_of_people, find_people
from privnb.measures.base import register_measure
from privnb.measures.disclosure.certainty import (
    NEAR,
    are_harmless,
    certain_groups,
    nearly_certain_groups,
    reveals_small_rest,
)
from privnb.measures.disclosure.conclusions import (
    SAMPLE,
    Conclusions,
    any_by_person,
    conclude_from_nearest_rows,
    public_shares_of,
)
from privnb.measures.disclosure.summary import reveals_small_count
from privnb.microdata.counts import count_people_by_group, group_codes, select_person_rows, tabulate
from privnb.microdata.release import Release
from privnb.microdata.treatment import TRUE, Rows, Unreadable
from privnb.runtime import expect

register_measure(
    "made_certain",
    kind="privacy",
    title="Made certain",
    sentence="This is the share of people whose sensitive value the release discloses with certainty to an outsider "
    "who knows no private record.",
    source="this package",
    unit="share of people",
    baseline="from how common each value is",
)

register_measure(
    "nearly_certain",
    kind="privacy",
    title="Nearly certain",
    sentence="This is the share of people whose sensitive value, or a narrow interval around a sensitive number, has "
    "at least the stated probability given the release, but not by the public distribution.",
    source="this package",
    unit="share of people",
    baseline="from how common each value is",
)


@dataclass(frozen=True)
class Certainty(Question):
    """The shares of people whose sensitive value is certain, and nearly certain, given the release.

    Parameters
    ----------
    sensitive : str
        The attribute; if empty, the table has no sensitive attribute, and nothing is measured.
    near : float
        The minimum probability of a value that is nearly certain, between 0.5 and 1.
    """

    sensitive: str
    near: float = NEAR
    primary_measure = "made_certain"

    def __post_init__(self) -> None:
        expect.between("near", self.near, 0.5, 1, "1 is certain")

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
        if not self.sensitive:
            raise Unreadable(f"'{case.dataset.name}' has no sensitive attribute. Give a column the role sensitive.")
        found = self.conclusions(case)
        whom = {"made_certain": found.certain, "nearly_certain": found.near}
        return [self._row(case, measure, people, found) for measure, people in whom.items()]

    def _row(self, case: Case, measure: str, whom: np.ndarray, found: Conclusions) -> Row:
        """Return the row of one measure.

        A count of 0 is shown, because it does not disclose any person's value. A small count is withheld. A count is
        also withheld if a small count could be derived from this count together with the mean of the attribute risk, or
        together with the most certain guess.
        """
        n, people = len(whom), int(whom.sum())
        row = partial(case.row, measure, target=self.sensitive, baseline=0.0)
        if reveals_small_rest(people, round(found.right), self._tells(case), case.min_count):
            return row(np.nan, interval=(1 / n, 1.0))
        return row(estimate_share_in_classes(whom, found.classes))

    def _tells(self, case: Case) -> bool:
        release = case.release
        return release.groups is not None and reveals_small_count(release, self.sensitive, case.min_count)

    def conclusions(self, case: Case) -> Conclusions:
        """Return what an outsider concludes about each person of the release."""
        case = case.known
        dataset, release = case.dataset, case.release
        if is_withheld(release, self.sensitive):
            nobody = np.zeros(len(find_people(dataset, release)), dtype=bool)
            return Conclusions(nobody, nobody, 0.0)
        if release.groups is not None:
            return _conclude_by_group(dataset, release, self.sensitive, self.near, release.groups)
        if self.sensitive not in release.cells:
            raise Unreadable(
                f"'{self.sensitive}' is in a separate table, so the class of a person cannot be looked up. Use an "
                "attack that "
                "reads the distribution of the noise."
            )
        found = [_conclude_by_nearest_rows(case, self.sensitive, self.near)]
        true = release.treated(*TRUE)
        if release.provenance.rows is not Rows.SYNTHETIC and self.sensitive in true:
            names = [name for name in dataset.schema.quasi_identifiers if name in true and name in release.cells]
            groups = _group_rows(release, names)
            found.append(_conclude_by_group(dataset, release, self.sensitive, self.near, groups))
        return max(found, key=lambda each: (each.certain.sum(), each.near.sum()))


def _group_rows(release: Release, names: list[str]) -> np.ndarray:
    """Return, as an integer array (rows,), the group of each row by equal values in some columns, numbered from 0."""
    columns = [release.coded(name) for name in names]
    if not columns:
        return np.zeros(len(release), dtype=np.int64)
    return group_codes([codes for codes, _ in columns], [len(values) for _, values in columns])[1]


def _conclude_by_group(dataset: Dataset, release: Release, name: str, near: float, groups: np.ndarray) -> Conclusions:
    """Return the conclusions from the group of each row, an integer array (rows,), which outsiders know."""
    if release.groups is not None:
        held, published, people = release.of_people(name)
    else:
        held, published, people = groups, release.cells[name].array, release.people
    codes, values = release.schema[name].coded(pd.Series(published))
    once = select_person_rows(people, held, codes)
    counts = tabulate(held[once], codes[once], (int(groups.max()) + 1, len(values)))
    sizes = count_people_by_group(groups, release.people, number=len(counts))
    shares, attribute = public_shares_of(dataset, name, values), dataset.schema[name]
    certain = certain_groups(counts, shares, are_harmless(attribute, values), sizes=sizes)
    likely = certain | nearly_certain_groups(counts, shares, attribute, values, near, sizes)
    records = np.arange(len(dataset)) if release.records is None else release.records
    whose = any_by_person(dataset, records)
    right, classes = float(counts.max(axis=1).sum()), find_class_of_people(dataset, release, groups)
    return Conclusions(whose(certain[groups]), whose(likely[groups]), right, classes)


def _conclude_by_nearest_rows(case: Case, name: str, near: float) -> Conclusions:
    attack = linkage_to_any_row() if case.release.provenance.rows is Rows.SYNTHETIC else Linkage()
    return conclude_from_nearest_rows(attack, case.dataset, case.published[0], _choose_records(case), name, near)


def _choose_records(case: Case) -> np.ndarray:
    """Return the target records in ascending order, as an integer array.

    If the rows are synthetic, the target records are a sample of at most `SAMPLE` records.
    """
    dataset, release = case.dataset, case.release
    if release.provenance.rows is not Rows.SYNTHETIC:
        return np.sort(case.published[1])
    if len(dataset) <= SAMPLE:
        return np.arange(len(dataset))
    rng = np.random.default_rng(derive_seed(case.seed, None, "people asked about certainty"))
    return np.sort(rng.choice(len(dataset), SAMPLE, replace=False))
