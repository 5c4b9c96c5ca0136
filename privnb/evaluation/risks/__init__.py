"""The risks of a release, which a policy caps and a release card reports; a lower risk is better.

| measure | an adversary | without the release |
|---|---|---|
| `identity_risk` | knows a person's quasi-identifiers and takes the released row that fits | takes a row at random |
| `attribute_risk` | knows quasi-identifiers and guesses the sensitive value | guesses from other people's records |
| `linkability_risk` | holds two parts of records and joins parts that lead to one row | joins parts of two people |
| `membership_risk` | takes a record for a member's if the release covers it more than other people do | guesses |
| `anti_utility_risk` | predicts a value that is nearer to the truth than the release | guesses without the release |

Each sensitive attribute has a separate attribute risk; the column `target` has the name of the attribute.
`made_certain` and `nearly_certain` report the share of people whose value the release discloses, and
`guessed_without_them` reports the share of people whose value is guessed correctly from the other people's records.

For an adversary who knows the algorithm, `informed_attribute_risk`, `informed_certain` and `informed_nearly_certain`
report the same numbers; see `informed`.

With sampling weights, `individual_risk` and `population_unique` report the identity risk in the population.

Each risk is one file with a `Question`. The method `scores` of the question returns two arrays over people: one with
the release, and one without it. The module `scores` derives the mean, the worst-off person, the interval and the groups
from these arrays.

| column | content |
|---|---|
| `variant` | "": the mean over people; "largest": the worst-off person |
| `group` | "": everybody; "race: Black"; "rare combinations": people whose combination is unique; "other groups" |
| `scenario` | "singling out": people whom synthetic rows single out, since no row belongs to a person |
| `miner` | the miner that guesses with the release, if there are several |
"""

from typing import Any

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import choose_sensitive, choose_target
from privnb.evaluation.risks.anti_utility import AntiUtilityRisk
from privnb.evaluation.risks.attribute import AttributeRisk
from privnb.evaluation.risks.certainty import Certainty
from privnb.evaluation.risks.identity import ReidentificationRisk
from privnb.evaluation.risks.informed import InformedAdversary
from privnb.evaluation.risks.linkability import LinkabilityRisk
from privnb.evaluation.risks.membership import MembershipRisk
from privnb.measures.disclosure.certainty import NEAR
from privnb.runtime.validation import AttributeName, validated


@validated
def build_questions(dataset: Dataset, *, sensitive: AttributeName | None = None, near: float = NEAR) -> list[Any]:
    """Return the risks as questions about each release of a dataset, for `evaluate` and `ask`.

    Parameters
    ----------
    dataset : Dataset
    sensitive : str, optional
        The attribute whose value is guessed; if None, each sensitive attribute.
    near : float
        See `Certainty`.

    Returns
    -------
    list of Question
    """
    names = _choose_names(dataset, sensitive)
    return [
        ReidentificationRisk(),
        *map(AttributeRisk, names),
        *(Certainty(name, near) for name in names),
        LinkabilityRisk(),
        MembershipRisk(),
        AntiUtilityRisk(choose_target(dataset) if dataset.schema.quasi_identifiers else ""),
    ]


@validated
def build_informed_questions(dataset: Dataset, *, near: float = NEAR) -> list[Any]:
    """Return the questions about an adversary who knows the algorithm, one for each sensitive attribute."""
    return [InformedAdversary(name, near) for name in _choose_names(dataset, None) if name]


def _choose_names(dataset: Dataset, sensitive: str | None) -> list[str]:
    """Return the attributes to guess; the only name is empty if no attribute is sensitive."""
    varied = [name for name in dataset.schema.sensitive if dataset.cells[name].nunique(dropna=False) > 1]
    # A constant attribute is not worth guessing.
    guessed = [sensitive] if sensitive else varied or dataset.schema.sensitive[:1]
    return [choose_sensitive(dataset, name) for name in guessed] or [""]
