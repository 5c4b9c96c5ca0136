"""Identity: how likely an adversary who knows a person's quasi-identifiers takes the row that is theirs."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from privnb.attacks import Linkage
from privnb.attacks.algorithms.nearest import summed
from privnb.evaluation.cases import Question
from privnb.evaluation.risks.scores import Scores
from privnb.measures.base import state
from privnb.measures.individual_risk import individual_risk
from privnb.measures.linkage import found_by_person
from privnb.microdata import withholding
from privnb.microdata.counts import most_of_people
from privnb.microdata.names import name_list
from privnb.microdata.treatment import UNTRUE, Rows, Unreadable

state(
    "identity_risk",
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    title="Identity risk",
    sentence="How likely a person of the release is linked to their own row by whoever knows their quasi-identifiers: "
    "mean over people.",
    source="Domingo-Ferrer and Torra, JCAM 164, 2004",
    unit="share of people",
    format="{:%} of people",
    baseline="a row at random",
    readings={"largest": "for the worst-off person"},
)

state(
    "individual_risk",
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    title="Identity risk in the population",
    sentence="How likely a person of the release is told from all people of the population who are alike, as sampling "
    "weights estimate their number: mean over people.",
    source="Benedetti and Franconi, NTTS 1998",
    unit="share of people",
    format="{:%} of people",
    baseline="a person of the population at random",
    readings={"largest": "for the worst-off person"},
    axis=False,
)
state(
    "population_unique",
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    title="Unique in the population",
    sentence="Share of people whose released quasi-identifiers nobody else in the population has, as sampling weights "
    "let one expect.",
    source="after Benedetti and Franconi, NTTS 1998",
    unit="share of people",
    format="{:%} of people",
    readings={"largest": "how likely for the worst-off person"},
    axis=False,
)


@dataclass(frozen=True)
class IdentityRisk(Question):
    """How likely each person of the release is linked to a row of theirs; of a subset, those who are in it.

    Nothing is drawn: the chance of `attacks.Linkage` is exact. The baseline is a row at random.
    """

    fewest: int = withholding.LIMIT
    main = "identity_risk"

    def rows(self, case):
        rows = self.scores(case).rows(self.row(case), case.dataset, self.fewest)
        if case.dataset.weights is not None:
            rows += self._of_population(case)
        return rows

    def _of_population(self, case):
        rows = []
        try:
            of = of_population(case)
        except Unreadable as error:
            refused = {"status": "refused", "reason": str(error)}
            return [case.row(name, np.nan, **refused) for name in ("individual_risk", "population_unique")]
        for name, scores in of.items():
            rows += scores.rows(partial(case.row, name), case.dataset, self.fewest)
        return rows

    def scores(self, case):
        """The `Scores` of the people in the release."""
        dataset, release = case.dataset, case.release
        check_known(dataset, release)
        if release.provenance.rows is Rows.NOBODY:
            raise Unreadable(
                f"the rows of {release.provenance.sanitizer} are nobody's, so no row is anybody's to find. Its "
                "membership and attribute risks say what it tells of people."
            )
        published, key = case.published
        chance, before = found_by_person(Linkage().fit(published), dataset, key)
        people = np.sort(key) if dataset.people is None else np.unique(dataset.people[key])
        return Scores(chance, before, people)

    def row(self, case):
        return partial(case.row, self.main)


def of_population(case):
    """What sampling weights say of the people in the release: `{measure: Scores}`."""
    dataset, release = case.dataset, case.release
    names = dataset.schema.quasi_identifiers
    if untrue := [name for name in names if name in release.treated(*UNTRUE)]:
        raise Unreadable(
            f"who fits {name_list(untrue)} is not known of moved values, nor how many do in the population."
        )
    if dataset.people is None:
        published, key = case.published
        index, fit = Linkage().fit(published).fits(dataset.table.iloc[np.sort(key)])
        alike = summed(fit, np.ones(len(key)))[index]
        people, population = np.sort(key), summed(fit, dataset.weights[key])[index]
        whole = dataset.weights.sum()
    else:  # a person of several classes is found by that in which they are most alone
        classes = release.equivalence_classes
        records = np.arange(len(dataset)) if release.records is None else release.records
        risk = individual_risk(release.people_alike, release.population_alike)[classes]
        order = np.lexsort([-risk, dataset.people[records]])
        people, first = np.unique(dataset.people[records[order]], return_index=True)
        chosen = classes[order[first]]
        alike, population = release.people_alike[chosen], release.population_alike[chosen]
        whole = most_of_people(dataset.weights, dataset.people).sum()
    unique = np.where(alike == 1, 1 / np.maximum(population, 1), 0.0)
    return {
        "individual_risk": Scores(individual_risk(alike, population), np.full(len(people), 1 / whole), people),
        "population_unique": Scores(unique, np.zeros(len(people)), people),
    }


def check_known(dataset, release):
    """Raise Unreadable where people are looked for by columns that a sanitizer made, which nobody has."""
    made = [name for name in release.schema.quasi_identifiers if name not in dataset.schema.published]
    if made and release.provenance.rows is not Rows.NOBODY:
        raise Unreadable(
            f"an adversary knows the attributes of people, and {name_list(made)} are columns that "
            f"{release.provenance.sanitizer} made, which nobody has. Attack it by what undoes it."
        )
    if not dataset.schema.quasi_identifiers:
        raise Unreadable(
            f"'{dataset.name}' has no quasi-identifier by which somebody is known. Give a column the role."
        )
