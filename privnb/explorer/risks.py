"""The risks of one setting, as `decide` measures them: at once what classes let one count, the others beside the
interface.
"""

import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.decision.policies import RISKS
from privnb.evaluation import risks
from privnb.evaluation.cases import Question, answer, answered
from privnb.evaluation.risks.attribute import remembered
from privnb.evaluation.samples import record_by_record
from privnb.evaluation.store import Store
from privnb.explorer.numbers import case
from privnb.explorer.setting import Setting, checked, of_roles, sanitizer
from privnb.microdata import withholding
from privnb.microdata.treatment import Rows
from privnb.microdata.withholding import LIMIT

ORDER = ("linkability", "membership", "anti-utility", "identity", "certainty", "attribute")  # the quick ones first
COUNTED = ("identity", "certainty")  # the attribute risk is what a release adds to what miners guess without it


_sampled = lru_cache(maxsize=2)(record_by_record)


def at_once(dataset: Dataset, setting: Setting, fewest: int = LIMIT) -> dict[str, pd.DataFrame]:
    """Return the risks that take a fraction of a second: identity and certainty, where the release has classes.

    Parameters
    ----------
    dataset : Dataset
    setting : Setting
        One whose release can be made.
    fewest : int
        What would tell of fewer people is withheld.

    Returns
    -------
    dict of str to DataFrame
        By risk its tidy results; empty where everything takes longer.
    """
    withholding.check(fewest)
    setting = checked(setting, dataset)
    data = of_roles(dataset, setting)
    if setting.kind.slow or _sampled(data) is not data:
        return {}
    made = case(dataset, setting, fewest)
    if made.release.classes is None or made.release.provenance.rows is not Rows.RECORDS:
        return {}
    asked = _questions(data, setting)
    return {risk: answered(asked[risk], made) for risk in COUNTED}


def beside(
    dataset: Dataset,
    setting: Setting,
    asked: Iterable[str],
    store: str | os.PathLike[str] = "",
    fewest: int = LIMIT,
    before: Mapping[Any, Any] | None = None,
) -> tuple[dict[str, pd.DataFrame], dict[Any, Any]]:
    """Measure risks of a setting, which takes seconds; of a large table those of a random sample: `record_by_record`.

    Parameters
    ----------
    dataset : Dataset
    setting : Setting
    asked : iterable of str
        Of `ORDER`.
    store : str
        A folder for results, or empty.
    fewest : int
        What would tell of fewer people is withheld.
    before : dict, optional
        What is guessed without a release, as this gave it for another setting of the same roles: it takes seconds.

    Returns
    -------
    found : dict of str to DataFrame
        By risk its tidy results. One that cannot be measured of such a release has a row that says why.
    before : dict
        What is guessed without a release, as far as it was asked for.
    """
    withholding.check(fewest)
    setting = checked(setting, dataset)
    whole = of_roles(dataset, setting)
    data, questions = _sampled(whole), _questions(whole, setting)
    guessed = remembered(data)
    guessed.update(before or {})
    if not store and data is whole:
        return {risk: answered(questions[risk], case(dataset, setting, fewest)) for risk in asked}, guessed
    call = Store(store).call if store else lambda function, *given: function(*given)
    made = sanitizer(setting, dataset)
    return {risk: call(answer, data, made, setting.seed, questions[risk], fewest) for risk in asked}, guessed


def _questions(data: Dataset, setting: Setting) -> dict[str, Question]:
    return dict(zip(RISKS, risks.questions(data, sensitive=setting.sensitive), strict=True))
