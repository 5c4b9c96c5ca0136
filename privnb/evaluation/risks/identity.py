"""Identity: how likely an adversary who knows a person's quasi-identifiers takes the row that is theirs."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from privnb.attacks import Linkage
from privnb.evaluation.cases import Question
from privnb.evaluation.risks.scores import Scores
from privnb.measures.base import state
from privnb.measures.linkage import found_by_person
from privnb.microdata import withholding
from privnb.microdata.names import name_list
from privnb.microdata.treatment import Rows, Unreadable

state(
    "identity_risk",
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    title="Identity",
    sentence="How likely a person of the release is linked to their own row by whoever knows their quasi-identifiers: "
    "mean over people.",
    source="Domingo-Ferrer and Torra, JCAM 164, 2004",
    unit="share of people",
    format="{:%} of people",
    baseline="a row at random",
    readings={"largest": "for the worst-off person"},
)


@dataclass(frozen=True)
class IdentityRisk(Question):
    """How likely each person of the release is linked to a row of theirs; of a subset, those who are in it.

    Nothing is drawn: the chance of `attacks.Linkage` is exact. The baseline is a row at random.
    """

    fewest: int = withholding.LIMIT
    main = "identity_risk"

    def rows(self, case):
        return self.scores(case).rows(self.row(case), case.dataset, self.fewest)

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
