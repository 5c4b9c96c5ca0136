"""The risks of a release, each low or none: what a policy caps and a release card states.

| measure | an adversary | without the release |
|---|---|---|
| `identity_risk` | knows a person's quasi-identifiers and takes the released row that fits | takes a row at random |
| `attribute_risk` | knows them and names the person's sensitive value | names what the other people's records say |
| `linkability_risk` | holds two parts of records and joins two that lead to the same row | joins parts of two people |
| `membership_risk` | takes a record for a member's that the release covers more than other people do | guesses |
| `anti_utility_risk` | lets a miner name a value, to be nearer than what was released | guesses without the release |

Of several sensitive attributes each has its attribute risk, by `target`. `made_certain` and `nearly_certain` report for
how many people the release discloses the value, `guessed_without_them` what others' records say.

With sampling weights, `individual_risk` and `population_unique` say of identity what they are in the population.

Each is one file, a `Question` whose `scores` are an array over people with the release beside one without it. Mean,
worst-off person, interval and groups follow from these in `scores.py`.

| column | what it says |
|---|---|
| `variant` | "": the mean over people; "largest": the worst-off person |
| `group` | "": everybody; "race: Black"; "rare combinations": of people alone in theirs; "other groups" |
| `scenario` | "singling out": of rows that are nobody's whom they single out, since no row is anybody's to find |
| `miner` | who guesses with the release, where there is a choice |
"""

from typing import Any

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import first_number, sensitive_name
from privnb.evaluation.risks.anti_utility import AntiUtilityRisk
from privnb.evaluation.risks.attribute import AttributeRisk
from privnb.evaluation.risks.certainty import Certainty
from privnb.evaluation.risks.identity import IdentityRisk
from privnb.evaluation.risks.linkability import LinkabilityRisk
from privnb.evaluation.risks.membership import MembershipRisk
from privnb.measures.disclosure.certainty import NEAR
from privnb.runtime.validation import AttributeName, validated


@validated
def questions(dataset: Dataset, *, sensitive: AttributeName | None = None, near: float = NEAR) -> list[Any]:
    """The risks as questions to each release of a dataset, for `evaluate` and `ask`.

    Parameters
    ----------
    dataset : Dataset
    sensitive : str, optional
        Whose value is guessed; None: that of each sensitive attribute.
    near : float
        As of `Certainty`.

    Returns
    -------
    list of Question
    """
    varied = [name for name in dataset.schema.sensitive if dataset.cells[name].nunique(dropna=False) > 1]
    secrets = [sensitive] if sensitive else varied or dataset.schema.sensitive[:1]  # what everybody has is no secret
    names = [sensitive_name(dataset, secret) for secret in secrets] or [""]
    return [
        IdentityRisk(),
        *map(AttributeRisk, names),
        *(Certainty(name, near) for name in names),
        LinkabilityRisk(),
        MembershipRisk(),
        AntiUtilityRisk(first_number(dataset) if dataset.schema.quasi_identifiers else ""),
    ]
