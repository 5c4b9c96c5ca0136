"""Linkability: whether the release allows an adversary to join two separate parts of one person's record.

The adversary looks for rows that fit the first part and for rows that fit the second part, takes a row of each kind at
random, and joins the parts if the two rows are the same row.
"""

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from privnb.attacks.algorithms.nearest import count_common, spread_weights, sum_weights
from privnb.attacks.linkage.linkage import linkage_to_any_row
from privnb.datasets.dataset import Dataset
from privnb.evaluation.evaluation_loop import Case, Question
from privnb.evaluation.predictions import derive_seed
from privnb.evaluation.results import Row
from privnb.evaluation.risks.identity import has_known_classes, require_known
from privnb.evaluation.risks.scores import Scores, find_class_of_people, find_people
from privnb.measures.base import register_measure
from privnb.microdata.counts import encode_values, max_per_person
from privnb.microdata.release import Release
from privnb.microdata.treatment import Unreadable
from privnb.runtime.arrays import IntArray

MAX_PEOPLE = 2000  # maximum number of target people

register_measure(
    "linkability_risk",
    kind="privacy",
    title="Linkability risk",
    sentence="This is the mean probability, over at most 2,000 people, that two separate parts of a person's record "
    "lead to the same released row.",
    source="after Giomi et al., PoPETs 2023 (anonymeter)",
    unit="share of people",
    baseline="parts of two people",
    readings={"largest": "for the worst-off person"},
    axis=True,
)


@dataclass(frozen=True)
class LinkabilityRisk(Question):
    """The probability that two parts of a person's record lead to the same row, compared with parts of two people.

    A part that has all quasi-identifiers leads only to rows of the person's class if the adversary knows the class (see
    `identity.has_known_classes`). An adversary who knows fewer quasi-identifiers cannot exclude any row that fits.

    Both probabilities are exact for the target people, of whom there are at most `MAX_PEOPLE`. The baseline is the mean
    over the second parts of all other target people.

    Parameters
    ----------
    parts : pair of tuples of str, optional
        The attributes of the two parts; if None, the published attributes, assigned to the two parts alternately, in
        descending order of how well they distinguish people.
    """

    parts: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    primary_measure = "linkability_risk"
    stochastic = True

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
        return self.scores(case).rows(partial(case.row, self.primary_measure), case.dataset, case.min_count)

    def scores(self, case: Case) -> Scores:
        """Return the `Scores` of the target people."""
        dataset, release = case.dataset, case.release
        require_known(dataset, release)
        first, second = self.parts or split_attributes(dataset, release)
        people = _sample_people(find_people(dataset, release), case.seed)
        there = np.arange(len(dataset)) if release.records is None else np.sort(release.records)
        asked = people if dataset.people is None else there[np.isin(dataset.people[there], people)]
        known = dataset.cells.iloc[asked]
        sides = []
        for names in (first, second):
            table = known[list(names)]
            attack = linkage_to_any_row(tuple(names)).fit(case.published[0])
            own, fit = attack.fits(table.astype(table.dtypes.map(_plain_type)))
            if {*release.schema.quasi_identifiers} <= {*names} and has_known_classes(release):
                fit = _restrict_to_own_class(case, asked, own, fit)
            sides.append((own, fit))
        (own, of_first), (other, of_second) = sides
        sizes = [np.maximum(sum_weights(fit, np.ones(len(release))), 1) for fit in (of_first, of_second)]
        both = count_common(of_first, of_second, own, other) / (sizes[0][own] * sizes[1][other])
        weight = spread_weights(of_second, np.bincount(other, minlength=len(of_second)) / sizes[1], len(release))
        everybody = (sum_weights(of_first, weight) / sizes[0])[own]
        before = (everybody - both) / max(len(asked) - 1, 1)
        if (classes := find_class_of_people(dataset, release)) is not None:
            classes = classes[np.searchsorted(find_people(dataset, release), people)]
        person = None if dataset.people is None else np.searchsorted(people, dataset.people[asked])
        return Scores(max_per_person(both, person), max_per_person(before, person), people, classes=classes)


def _restrict_to_own_class(case: Case, asked: IntArray, own: IntArray, fit: IntArray) -> IntArray:
    """Return the rows that fit (see `Linkage.fits`), without rows outside the class of each target record."""
    class_of = np.zeros(len(case.dataset), dtype=np.int64)
    records = np.arange(len(case.dataset)) if case.release.records is None else case.release.records
    class_of[records] = case.release.equivalence_classes
    published, fit = class_of[case.published[1]], fit.copy()
    for group, person in enumerate(np.unique(own, return_index=True)[1]):
        there = np.packbits(published == class_of[asked[person]])
        fit[group, : len(there)] &= there
    return fit


def _plain_type(dtype: Any) -> Any:
    return getattr(getattr(dtype, "categories", None), "dtype", dtype)


def split_attributes(dataset: Dataset, release: Release) -> tuple[Any, ...]:
    """Return the attributes of the release's rows, divided into two parts."""
    stated = dataset.schema.unknowable
    names = [name for name in dataset.schema.published if name in release.cells and name not in stated]
    if len(names) < 2:
        raise Unreadable(
            f"the rows of this release hold {len(names)} attributes of '{dataset.name}', but two parts need at least "
            "two attributes."
        )
    order = sorted(names, key=lambda name: (-_measure_information(dataset)[name], name))
    return tuple(order[::2]), tuple(order[1::2])


@lru_cache(maxsize=4)
def _measure_information(dataset: Dataset) -> dict[str, float]:
    """Return the probability that two records differ in each attribute, rounded to nine digits."""
    shares = {
        name: np.bincount(encode_values(dataset.cells[name])[0]) / len(dataset) for name in dataset.schema.published
    }
    return {name: round(1 - float(np.square(share).sum()), 9) for name, share in shares.items()}


def _sample_people(people: IntArray, seed: int) -> IntArray:
    """Return at most `MAX_PEOPLE` of the people, in ascending order; equal seeds give equal samples."""
    if len(people) <= MAX_PEOPLE:
        return people
    rng = np.random.default_rng(derive_seed(seed, None, "people asked about"))
    return np.sort(rng.choice(people, MAX_PEOPLE, replace=False))
