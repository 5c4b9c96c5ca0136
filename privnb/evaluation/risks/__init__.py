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

from collections.abc import Sequence
from typing import Any

import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.cases import evaluate
from privnb.evaluation.risks.anti_utility import AntiUtilityRisk
from privnb.evaluation.risks.attribute import AttributeRisk
from privnb.evaluation.risks.certainty import Certainty
from privnb.evaluation.risks.identity import IdentityRisk
from privnb.evaluation.risks.linkability import LinkabilityRisk
from privnb.evaluation.risks.membership import MembershipRisk
from privnb.evaluation.store import Folder
from privnb.measures.disclosure.certainty import NEAR
from privnb.microdata import withholding
from privnb.microdata.withholding import MinCount
from privnb.runtime.validation import AttributeName, Seeds, validated
from privnb.sanitizers.base import Sanitizer

__all__ = ["questions", "risks"]


@validated
def questions(dataset: Dataset, *, sensitive: AttributeName | None = None, near: float = NEAR) -> list[Any]:
    """The risks as questions to each release of a dataset, for `evaluate` and `ask`.

    Parameters
    ----------
    dataset, sensitive
        As of `risks`.
    near : float
        As of `Certainty`.

    Returns
    -------
    list of Question
    """
    varied = [name for name in dataset.schema.sensitive if dataset.cells[name].nunique(dropna=False) > 1]
    secrets: Sequence[str | None] = [sensitive] if sensitive else varied or [None]  # what everybody has is no secret
    return [
        IdentityRisk(),
        *(AttributeRisk.of(dataset, secret) for secret in secrets),
        *(Certainty.of(dataset, secret, near) for secret in secrets),
        LinkabilityRisk(),
        MembershipRisk(),
        AntiUtilityRisk.of(dataset),
    ]


@validated
def risks(
    dataset: Dataset,
    sanitizers: Sequence[Sanitizer],
    *,
    sensitive: AttributeName | None = None,
    seeds: Seeds = 1,
    fewest: MinCount = withholding.LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """The risks of each release.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : list of Sanitizer
    sensitive : str, optional
        Whose value is guessed; None: that of each sensitive attribute.
    seeds : int
        Repeats of what is random.
    fewest : int
        What would tell of fewer people is withheld.
    store : str
        The folder that keeps what is finished; empty: none.

    Returns
    -------
    DataFrame
        Tidy results, see above. A risk that cannot be measured of a release is a row of status "refused" that says why.
    """
    asked = questions(dataset, sensitive=sensitive)
    return evaluate(dataset, sanitizers, measures=asked, seeds=seeds, fewest=fewest, store=store)
