"""The risks of one setting, as `decide` measures them: fast risks from classes, slow risks in another process."""

import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.decision.policies import RISKS
from privnb.evaluation import risks
from privnb.evaluation.evaluation_loop import Case, Question, answer_case, answer_question
from privnb.evaluation.risks.attribute import find_cached
from privnb.evaluation.samples import sample_large_table
from privnb.evaluation.store import Store
from privnb.explorer.readings import make_case
from privnb.explorer.setting import Setting, apply_roles, check_setting, make_sanitizer
from privnb.microdata import withholding
from privnb.microdata.treatment import Rows
from privnb.microdata.withholding import LIMIT

ORDER = ("linkability", "membership", "anti-utility", "identity", "certainty", "attribute")  # the fast ones first
COUNTED = ("identity", "certainty")  # the attribute risk also needs the predictions of miners without the release


_sampled = lru_cache(maxsize=2)(sample_large_table)


def measure_fast_risks(dataset: Dataset, setting: Setting, min_count: int = LIMIT) -> dict[str, pd.DataFrame]:
    """Return the risks that take a fraction of a second to measure: identity and certainty, if there are classes.

    Parameters
    ----------
    dataset : Dataset
    setting : Setting
        A setting whose release can be made.
    min_count : int
        Numbers about fewer people are withheld.

    Returns
    -------
    dict of str to DataFrame
        The tidy results by risk; empty if all risks take longer.
    """
    withholding.check_min_count(min_count)
    setting = check_setting(setting, dataset)
    data = apply_roles(dataset, setting)
    if setting.kind.slow or _sampled(data) is not data:
        return {}
    made = make_case(dataset, setting, min_count)
    if made.release.classes is None or made.release.provenance.rows is not Rows.RECORDS:
        return {}
    asked = _questions(data, setting)
    return {risk: answer_case(asked[risk], made) for risk in COUNTED}


def measure_slow_risks(
    dataset: Dataset,
    setting: Setting,
    names: Iterable[str],
    store: str | os.PathLike[str] = "",
    min_count: int = LIMIT,
    before: Mapping[Any, Any] | None = None,
) -> tuple[dict[str, pd.DataFrame], dict[Any, Any]]:
    """Measure risks of a setting, which takes seconds; use a sample of a large table, as `sample_large_table` draws it.

    Parameters
    ----------
    dataset : Dataset
    setting : Setting
    names : iterable of str
        Risks of `ORDER`.
    store : str
        A folder for results, or empty.
    min_count : int
        Numbers about fewer people are withheld.
    before : dict, optional
        Predictions without a release from an earlier call with the same roles; to compute them again would take
        seconds.

    Returns
    -------
    results : dict of str to DataFrame
        The tidy results by risk. A risk that cannot be measured has a row with the reason.
    before : dict
        Predictions without a release, as far as the risks required them.
    """
    withholding.check_min_count(min_count)
    setting = check_setting(setting, dataset)
    whole = apply_roles(dataset, setting)
    data, questions = _sampled(whole), _questions(whole, setting)
    if not store and data is whole:
        return answer_risks(make_case(dataset, setting, min_count), setting, names, before)
    guessed = find_cached(data)
    guessed.update(before or {})
    call = Store(store).call if store else lambda function, *given: function(*given)
    made = make_sanitizer(setting, dataset)
    return {
        risk: call(answer_question, data, made, setting.seed, questions[risk], min_count) for risk in names
    }, guessed


def answer_risks(
    case: Case, setting: Setting, names: Iterable[str], before: Mapping[Any, Any] | None = None
) -> tuple[dict[str, pd.DataFrame], dict[Any, Any]]:
    """Return risks of the release of a case, with the roles of a setting; see `measure_slow_risks`."""
    questions, guessed = _questions(case.dataset, setting), find_cached(case.dataset)
    guessed.update(before or {})
    return {risk: answer_case(questions[risk], case) for risk in names}, guessed


def _questions(data: Dataset, setting: Setting) -> dict[str, Question]:
    return dict(zip(RISKS, risks.build_questions(data, sensitive=setting.sensitive), strict=True))
