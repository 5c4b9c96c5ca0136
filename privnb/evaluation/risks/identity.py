"""Identity: how likely an adversary who knows a person's quasi-identifiers takes the row that is theirs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from privnb.attacks import Linkage
from privnb.attacks.algorithms.nearest import summed
from privnb.datasets.dataset import Dataset
from privnb.evaluation.cases import Case, Question
from privnb.evaluation.results import Row
from privnb.evaluation.risks.scores import Scores, classes_of, owners_of
from privnb.measures.base import state
from privnb.measures.disclosure.individual_risk import individual_risk
from privnb.measures.disclosure.linkage import found_by_person, found_in_own_class
from privnb.microdata.counts import distinct_codes, most_of_people, people_in
from privnb.microdata.release import Release
from privnb.microdata.treatment import TRUE, UNTRUE, Rows, Unreadable
from privnb.runtime.names import name_list, some_of

state(
    "identity_risk",
    kind="privacy",
    title="Identity risk",
    sentence="How likely a person of the release is linked to their own row by whoever knows their quasi-identifiers: "
    "mean over people.",
    source="Domingo-Ferrer and Torra, JCAM 164, 2004",
    unit="share of people",
    baseline="a row at random",
    readings={
        "largest": "for the worst-off person",
        "singling out": "rows of nobody: people whose combination is theirs alone and is published",
    },
    axis=True,
)

state(
    "individual_risk",
    kind="privacy",
    title="Identity risk in the population",
    sentence="How likely a person of the release is picked among all people of the population alike, as sampling "
    "weights estimate their number: mean over people.",
    source="Benedetti and Franconi, NTTS 1998",
    unit="share of people",
    baseline="a person of the population at random",
    readings={"largest": "for the worst-off person"},
)
state(
    "population_unique",
    kind="privacy",
    title="Unique in the population",
    sentence="Share of people whose released quasi-identifiers nobody else in the population has, as sampling weights "
    "let one expect.",
    source="after Benedetti and Franconi, NTTS 1998",
    unit="share of people",
    readings={"largest": "how likely for the worst-off person"},
)


@dataclass(frozen=True)
class IdentityRisk(Question):
    """How likely each person of the release is linked to a row of theirs; of a subset, those who are in it.

    Nothing is drawn. Where the sanitizer is known to publish equal records alike, the adversary is taken to know the
    class of the person and takes a row of it at random; elsewhere any row that fits, and the chance is that of
    `attacks.Linkage`. The baseline is a row at random. Of rows that are nobody's, the rows of scenario "singling out"
    say whom they single out, see `singled_out`.
    """

    main = "identity_risk"

    def rows(self, case: Case) -> list[Row]:
        scores = self.scores(case)
        nobodys = case.release.provenance.rows is Rows.NOBODY
        row = partial(self.row(case), scenario="singling out" if nobodys else "")
        rows = scores.rows(row, case.dataset, case.fewest)
        if case.dataset.weights is not None:
            rows += self._of_population(case)
        return rows

    def _of_population(self, case: Case) -> list[Row]:
        rows = []
        try:
            of = of_population(case)
        except Unreadable as error:
            refused = {"status": "refused", "reason": str(error)}
            return [case.row(name, np.nan, **refused) for name in ("individual_risk", "population_unique")]
        for name, scores in of.items():
            rows += scores.rows(partial(case.row, name), case.dataset, case.fewest)
        return rows

    def scores(self, case: Case) -> Scores:
        """The `Scores` of the people in the release."""
        case = case.known
        dataset, release = case.dataset, case.release
        check_known(dataset, release)
        if release.provenance.rows is Rows.NOBODY:
            return singled_out(dataset, release)
        published, key = case.published
        if has_known_classes(release):
            chance, before = found_in_own_class(release, dataset)
        else:
            chance, before = found_by_person(Linkage().fit(published), dataset, key)
        people = np.sort(key) if dataset.people is None else np.unique(dataset.people[key])
        return Scores(chance, before, people, classes=classes_of(dataset, release))

    def row(self, case: Case) -> Callable[..., Row]:
        return partial(case.row, self.main)


def singled_out(dataset: Dataset, release: Release) -> Scores:
    """Whom rows of nobody single out: the people whose combination of quasi-identifiers is theirs alone in the table
    and stands in a published row, as `Scores`.

    The baseline is how likely it stands in one of as many rows whose values are drawn apart, each attribute as it is
    distributed in the table. Whether the release has it from the very person is what the membership risk says.

    Raises
    ------
    Unreadable
        Where a quasi-identifier is a number that most people have alone: no row repeats it, and one that is near may
        single out as well.
    """
    names, release_has = dataset.schema.quasi_identifiers, release.cells
    whole, n, m = {}, len(dataset), len(release)
    for name in names:
        if name not in release_has:
            raise Unreadable(f"rows of {release.provenance.sanitizer} have no '{name}', by which people are known.")
        both = pd.concat([pd.Series(np.asarray(each.cells[name])) for each in (dataset, release)], ignore_index=True)
        codes, values = dataset.schema[name].coded(both)
        whole[name] = codes, len(values)
        if dataset.schema[name].numeric and np.count_nonzero(np.bincount(codes[:n]) == 1) > dataset.headcount / 2:
            raise Unreadable(
                f"no made-up row repeats '{name}', a number that most people have alone, and one that is near may "
                "single out as well. Its membership and attribute risks say what the release tells of people."
            )
    _, alike = distinct_codes([codes for codes, _ in whole.values()], [size for _, size in whole.values()])
    own, published = alike[:n], np.zeros(alike.max() + 1, dtype=bool)
    published[alike[n:]] = True
    alone = people_in(own, dataset.people, number=len(published))[own] == 1
    drawn = np.prod([(np.bincount(codes[:n]) / n)[codes[:n]] for codes, _ in whole.values()], axis=0)
    by_chance = alone * -np.expm1(m * np.log1p(-np.minimum(drawn, 1 - 1e-12)))
    found = most_of_people((alone & published[own]).astype(float), dataset.people)
    chance = most_of_people(by_chance.astype(float), dataset.people)
    return Scores(found, chance, np.arange(dataset.headcount), counted=True, worst=False)


def of_population(case: Case) -> dict[str, Scores]:
    """What sampling weights say of the people in the release: `{measure: Scores}`."""
    case = case.known
    dataset, release = case.dataset, case.release
    weights, names = dataset.weights, dataset.schema.quasi_identifiers
    if untrue := [name for name in names if name in release.treated(*UNTRUE)]:
        raise Unreadable(
            f"who fits {name_list(untrue)} is not known of moved values, nor how many do in the population."
        )
    assert weights is not None  # it is asked of such datasets alone
    if dataset.people is None and not has_known_classes(release):
        published, key = case.published
        index, fit = Linkage().fit(published).fits(dataset.table.iloc[np.sort(key)])
        alike = summed(fit, np.ones(len(key)))[index]
        people, population = np.sort(key), summed(fit, weights[key])[index]
        whole = weights.sum()
    else:  # a person of several classes is found by that in which they are most alone
        classes = release.equivalence_classes
        owners = owners_of(dataset, release)
        expected = release.population_alike
        assert expected is not None  # as there are weights
        risk = individual_risk(release.people_alike, expected)[classes]
        order = np.lexsort([-risk, owners])
        people, first = np.unique(owners[order], return_index=True)
        chosen = classes[order[first]]
        alike, population = release.people_alike[chosen], expected[chosen]
        whole = most_of_people(weights, dataset.people).sum()
    own = classes_of(dataset, release)
    unique = np.where(alike == 1, 1 / np.maximum(population, 1), 0.0)
    return {
        "individual_risk": Scores(
            individual_risk(alike, population), np.full(len(people), 1 / whole), people, classes=own
        ),
        "population_unique": Scores(unique, np.zeros(len(people)), people, classes=own),
    }


def has_known_classes(release: Release) -> bool:
    """Return whether an adversary is taken to know a person's class who knows the quasi-identifiers and the sanitizer.

    All quasi-identifiers must have true labels, and the sanitizer must publish equal records alike: then all people
    alike are in one class, and rows of other classes are excluded. It is an upper bound where the algorithm leaves
    several classes open.
    """
    return release.provenance.equal_records_alike and {*release.schema.quasi_identifiers} <= {*release.treated(*TRUE)}


def check_known(dataset: Dataset, release: Release) -> None:
    """Raise Unreadable where people are looked for by columns that a sanitizer made, which nobody has."""
    made = [name for name in release.schema.quasi_identifiers if name not in dataset.schema.published]
    if made and release.provenance.rows is not Rows.NOBODY:
        raise Unreadable(
            f"an adversary knows the attributes of people, and {some_of(made)} are columns that "
            f"{release.provenance.sanitizer} made, which nobody has. Attack it by what undoes it."
        )
    if not dataset.schema.quasi_identifiers:
        raise Unreadable(
            f"'{dataset.name}' has no quasi-identifier by which somebody is known. Give a column the role."
        )
