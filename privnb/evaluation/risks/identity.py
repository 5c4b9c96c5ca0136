"""Identity risk: the probability that an adversary who knows a person's quasi-identifiers re-identifies the person."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from privnb.attacks import Linkage
from privnb.attacks.algorithms.nearest import sum_weights
from privnb.datasets.dataset import Dataset
from privnb.evaluation.evaluation_loop import Case, Question
from privnb.evaluation.results import Row
from privnb.evaluation.risks.scores import Scores, find_class_of_people, find_owners
from privnb.measures.base import register_measure
from privnb.measures.disclosure.individual_risk import individual_risk
from privnb.measures.disclosure.linkage import class_link_probabilities, link_probabilities
from privnb.microdata.counts import count_people_by_group, group_codes, max_per_person
from privnb.microdata.release import Release
from privnb.microdata.treatment import TRUE, UNTRUE, Rows, Unreadable
from privnb.runtime.names import abbreviate_names, join_names

register_measure(
    "identity_risk",
    kind="privacy",
    title="Identity risk",
    sentence="This is the mean probability, over people, that an adversary who knows a person's quasi-identifiers "
    "links the person to their own row.",
    source="Domingo-Ferrer and Torra, JCAM 164, 2004",
    unit="share of people",
    baseline="a row at random",
    readings={
        "largest": "for the worst-off person",
        "singling out": "synthetic rows: people whose unique combination is published",
    },
    axis=True,
)

register_measure(
    "individual_risk",
    kind="privacy",
    title="Identity risk in the population",
    sentence="This is the mean probability that a person of the release is picked among all indistinguishable people "
    "of the population, whose number the sampling weights estimate.",
    source="Benedetti and Franconi, NTTS 1998",
    unit="share of people",
    baseline="a person of the population at random",
    readings={"largest": "for the worst-off person"},
)
register_measure(
    "population_unique",
    kind="privacy",
    title="Unique in the population",
    sentence="This is the expected share of people whose released quasi-identifiers nobody else in the population has, "
    "by the sampling weights.",
    source="after Benedetti and Franconi, NTTS 1998",
    unit="share of people",
    readings={"largest": "probability for the worst-off person"},
)


@dataclass(frozen=True)
class ReidentificationRisk(Question):
    """The re-identification risk: the probability that each person is linked to one of the person's own rows.

    The probability is exact. If the sanitizer is known to publish equal records in the same way, the adversary knows
    the class of the person and takes a row of the class at random. Otherwise, the adversary takes any row that fits,
    and the probability is that of `attacks.Linkage`. The baseline is a row at random. If the rows are synthetic, the
    results of scenario "singling out" report the people whom the synthetic rows single out, see `score_singled_out`.
    """

    primary_measure = "identity_risk"

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
        scores = self.scores(case)
        nobodys = case.release.provenance.rows is Rows.SYNTHETIC
        row = partial(self.row(case), scenario="singling out" if nobodys else "")
        rows = scores.rows(row, case.dataset, case.min_count)
        if case.dataset.weights is not None:
            rows += self._of_population(case)
        return rows

    def _of_population(self, case: Case) -> list[Row]:
        rows = []
        try:
            of = score_population(case)
        except Unreadable as error:
            refused = {"status": "refused", "reason": str(error)}
            return [case.row(name, np.nan, **refused) for name in ("individual_risk", "population_unique")]
        for name, scores in of.items():
            rows += scores.rows(partial(case.row, name), case.dataset, case.min_count)
        return rows

    def scores(self, case: Case) -> Scores:
        """Return the `Scores` of the people in the release."""
        case = case.known
        dataset, release = case.dataset, case.release
        require_known(dataset, release)
        if release.provenance.rows is Rows.SYNTHETIC:
            return score_singled_out(dataset, release)
        published, key = case.published
        if has_known_classes(release):
            chance, before = class_link_probabilities(release, dataset)
        else:
            chance, before = link_probabilities(Linkage().fit(published), dataset, key)
        people = np.sort(key) if dataset.people is None else np.unique(dataset.people[key])
        return Scores(chance, before, people, classes=find_class_of_people(dataset, release))

    def row(self, case: Case) -> Callable[..., Row]:
        """Return a function that builds a row with the columns of this question."""
        return partial(case.row, self.primary_measure)


def score_singled_out(dataset: Dataset, release: Release) -> Scores:
    """Return the `Scores` of the people whom synthetic rows single out.

    A person is singled out if the person's combination of quasi-identifiers is unique in the table and appears in a
    published row. A suppressed column is not part of the combination. The baseline is the probability that the
    combination appears by chance in at least one row, if the same number of rows is drawn with independent values, with
    each attribute distributed as in the table. The membership risk reports whether the release depends on the person's
    own record.

    Parameters
    ----------
    dataset : Dataset
    release : Release
        A release of synthetic rows.

    Returns
    -------
    Scores

    Raises
    ------
    Unreadable
        If the release lacks a quasi-identifier, or if a quasi-identifier is a number that is unique for most people: no
        synthetic row repeats such a number, and a row with a similar number may also single out a person.
    """
    hidden, release_has = release.treated("suppressed"), release.cells
    names = [name for name in dataset.schema.quasi_identifiers if name not in hidden]
    whole, n, m = {}, len(dataset), len(release)
    if not names:
        return Scores(np.zeros(dataset.headcount), np.zeros(dataset.headcount), np.arange(dataset.headcount))
    for name in names:
        if name not in release_has:
            raise Unreadable(
                f"the rows of the release have no column '{name}', which an adversary would need to re-identify people."
            )
        both = pd.concat([pd.Series(np.asarray(each.cells[name])) for each in (dataset, release)], ignore_index=True)
        codes, values = dataset.schema[name].coded(both)
        whole[name] = codes, len(values)
        if dataset.schema[name].numeric and np.count_nonzero(np.bincount(codes[:n]) == 1) > dataset.headcount / 2:
            raise Unreadable(
                f"no synthetic row repeats '{name}', a number that is unique for most people, and a similar number may "
                "single out a person as well. Use the membership and attribute risks of the release instead."
            )
    _, alike = group_codes([codes for codes, _ in whole.values()], [size for _, size in whole.values()])
    own, published = alike[:n], np.zeros(alike.max() + 1, dtype=bool)
    published[alike[n:]] = True
    alone = count_people_by_group(own, dataset.people, number=len(published))[own] == 1
    drawn = np.prod([(np.bincount(codes[:n]) / n)[codes[:n]] for codes, _ in whole.values()], axis=0)
    by_chance = alone * -np.expm1(m * np.log1p(-np.minimum(drawn, 1 - 1e-12)))
    found = max_per_person((alone & published[own]).astype(float), dataset.people)
    chance = max_per_person(by_chance.astype(float), dataset.people)
    return Scores(found, chance, np.arange(dataset.headcount), counted=True, worst=False)


def score_population(case: Case) -> dict[str, Scores]:
    """Return, as `{measure: Scores}`, the scores of the people in the release, estimated with the sampling weights."""
    case = case.known
    dataset, release = case.dataset, case.release
    weights, names = dataset.weights, dataset.schema.quasi_identifiers
    if untrue := [name for name in names if name in release.treated(*UNTRUE)]:
        raise Unreadable(
            "the matching people of the population cannot be counted, because the sanitizer changed the values of "
            f"{join_names(untrue)}."
        )
    assert weights is not None  # the caller checks that the dataset has weights
    if dataset.people is None and not has_known_classes(release):
        published, key = case.published
        index, fit = Linkage().fit(published).fits(dataset.table.iloc[np.sort(key)])
        alike = sum_weights(fit, np.ones(len(key)))[index]
        people, population = np.sort(key), sum_weights(fit, weights[key])[index]
        whole = weights.sum()
    else:  # a person in several classes counts in the class with the largest risk
        classes = release.equivalence_classes
        owners = find_owners(dataset, release)
        expected = release.population_per_class
        assert expected is not None  # since the dataset has weights
        risk = individual_risk(release.people_per_class, expected)[classes]
        order = np.lexsort([-risk, owners])
        people, first = np.unique(owners[order], return_index=True)
        chosen = classes[order[first]]
        alike, population = release.people_per_class[chosen], expected[chosen]
        whole = max_per_person(weights, dataset.people).sum()
    own = find_class_of_people(dataset, release)
    unique = np.where(alike == 1, 1 / np.maximum(population, 1), 0.0)
    return {
        "individual_risk": Scores(
            individual_risk(alike, population), np.full(len(people), 1 / whole), people, classes=own
        ),
        "population_unique": Scores(unique, np.zeros(len(people)), people, classes=own),
    }


def has_known_classes(release: Release) -> bool:
    """Return whether an adversary who knows the quasi-identifiers and the sanitizer knows a person's class.

    All quasi-identifiers must have true labels, and the sanitizer must publish equal records in the same way. Then all
    people with the same quasi-identifiers are in one class, and rows of other classes are excluded. If the algorithm of
    the sanitizer leaves several classes possible for a person, the risk is an upper bound.
    """
    return release.provenance.equal_records_alike and {*release.schema.quasi_identifiers} <= {*release.treated(*TRUE)}


def require_known(dataset: Dataset, release: Release) -> None:
    """Raise Unreadable if the quasi-identifiers include columns that a sanitizer made, which no adversary knows."""
    made = [name for name in release.schema.quasi_identifiers if name not in dataset.schema.published]
    if made and release.provenance.rows is not Rows.SYNTHETIC:
        raise Unreadable(
            f"an adversary knows the attributes of people, but {abbreviate_names(made)} are columns that "
            f"{release.provenance.sanitizer} made, so no adversary knows these values of people. Use an attack that "
            "undoes the sanitizer."
        )
    if not dataset.schema.quasi_identifiers:
        raise Unreadable(
            f"'{dataset.name}' has no quasi-identifier by which an adversary knows people. Give a column the role "
            "quasi-identifier."
        )
