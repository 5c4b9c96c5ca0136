"""Linkability: whether two parts of one person's record, held apart, can be joined by the release.

The adversary looks for rows that fit the first part, and for rows that fit the second, takes one of each at random, and
joins the parts if it is the same row.
"""

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from privnb.attacks.algorithms.nearest import common, spread, summed
from privnb.attacks.linkage.linkage import linkage_to_any_row
from privnb.datasets.dataset import Dataset
from privnb.evaluation.cases import Case, Question
from privnb.evaluation.predictions import stream
from privnb.evaluation.results import Row
from privnb.evaluation.risks.identity import check_known, has_known_classes
from privnb.evaluation.risks.scores import Scores, classes_of, people_of
from privnb.measures.base import state
from privnb.microdata.counts import coded, most_of_people
from privnb.microdata.release import Release
from privnb.microdata.treatment import Unreadable
from privnb.runtime.arrays import IntArray

SAMPLE = 2000  # people asked about, at most

state(
    "linkability_risk",
    kind="privacy",
    title="Linkability risk",
    sentence="How likely two parts of a person's record, held apart, lead to the same released row: mean over at most "
    "2,000 people.",
    source="after Giomi et al., PoPETs 2023 (anonymeter)",
    unit="share of people",
    baseline="parts of two people",
    readings={"largest": "for the worst-off person"},
    axis=True,
)


@dataclass(frozen=True)
class LinkabilityRisk(Question):
    """How likely two parts of a person's record lead to the same row, against parts of two people.

    A part that holds all quasi-identifiers leads to the person's class alone, where the adversary is taken to know it
    (see `identity.has_known_classes`); whoever knows fewer cannot exclude a row.

    Both are exact for the people asked about, see `SAMPLE`: the baseline is the mean over all others of them whose
    second part could be taken.

    Parameters
    ----------
    parts : pair of tuples of str, optional
        Which attributes the two parts hold; None: those that rows hold, dealt in turn from the one that tells most
        people apart.
    """

    parts: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    main = "linkability_risk"
    varies = True

    def rows(self, case: Case) -> list[Row]:
        return self.scores(case).rows(partial(case.row, self.main), case.dataset, case.fewest)

    def scores(self, case: Case) -> Scores:
        """The `Scores` of the people asked about."""
        dataset, release = case.dataset, case.release
        check_known(dataset, release)
        first, second = self.parts or _dealt(dataset, release)
        people = _sampled(people_of(dataset, release), case.seed)
        there = np.arange(len(dataset)) if release.records is None else np.sort(release.records)
        asked = people if dataset.people is None else there[np.isin(dataset.people[there], people)]
        known = dataset.cells.iloc[asked]
        sides = []
        for names in (first, second):
            table = known[list(names)]
            attack = linkage_to_any_row(tuple(names)).fit(case.published[0])
            own, fit = attack.fits(table.astype(table.dtypes.map(_plain)))
            if {*release.schema.quasi_identifiers} <= {*names} and has_known_classes(release):
                fit = _in_own_class(case, asked, own, fit)
            sides.append((own, fit))
        (own, of_first), (other, of_second) = sides
        sizes = [np.maximum(summed(fit, np.ones(len(release))), 1) for fit in (of_first, of_second)]
        both = common(of_first, of_second, own, other) / (sizes[0][own] * sizes[1][other])
        weight = spread(of_second, np.bincount(other, minlength=len(of_second)) / sizes[1], len(release))
        everybody = (summed(of_first, weight) / sizes[0])[own]
        before = (everybody - both) / max(len(asked) - 1, 1)
        if (classes := classes_of(dataset, release)) is not None:
            classes = classes[np.searchsorted(people_of(dataset, release), people)]
        person = None if dataset.people is None else np.searchsorted(people, dataset.people[asked])
        return Scores(most_of_people(both, person), most_of_people(before, person), people, classes=classes)


def _in_own_class(case: Case, asked: IntArray, own: IntArray, fit: IntArray) -> IntArray:
    """Which of the rows that fit are in the class of the person: what `Linkage.fits` gives, and who is asked about."""
    class_of = np.zeros(len(case.dataset), dtype=np.int64)
    records = np.arange(len(case.dataset)) if case.release.records is None else case.release.records
    class_of[records] = case.release.equivalence_classes
    published, fit = class_of[case.published[1]], fit.copy()
    for group, person in enumerate(np.unique(own, return_index=True)[1]):
        there = np.packbits(published == class_of[asked[person]])
        fit[group, : len(there)] &= there
    return fit


def _plain(dtype: Any) -> Any:
    return getattr(getattr(dtype, "categories", None), "dtype", dtype)


def _dealt(dataset: Dataset, release: Release) -> tuple[Any, ...]:
    """The attributes of the rows in two parts."""
    stated = dataset.schema.unknowable
    names = [name for name in dataset.schema.published if name in release.cells and name not in stated]
    if len(names) < 2:
        raise Unreadable(f"rows of this release hold {len(names)} attributes of '{dataset.name}'; two parts need two.")
    order = sorted(names, key=lambda name: (-_telling(dataset)[name], name))
    return tuple(order[::2]), tuple(order[1::2])


@lru_cache(maxsize=4)
def _telling(dataset: Dataset) -> dict[str, float]:
    """How well each attribute tells people apart: the chance that two records differ in it, to nine digits."""
    shares = {name: np.bincount(coded(dataset.cells[name])[0]) / len(dataset) for name in dataset.schema.published}
    return {name: round(1 - float(np.square(share).sum()), 9) for name, share in shares.items()}


def _sampled(people: IntArray, seed: int) -> IntArray:
    """At most `SAMPLE` of the people, ascending; the same of each release of a seed."""
    if len(people) <= SAMPLE:
        return people
    rng = np.random.default_rng(stream(seed, None, "people asked about"))
    return np.sort(rng.choice(people, SAMPLE, replace=False))
