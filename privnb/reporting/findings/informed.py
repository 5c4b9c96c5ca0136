"""The finding about adversaries who know more than the quasi-identifiers of a person."""

from typing import Any

import pandas as pd

from privnb.evaluation.experiments.bucket_attack import IN_RELEASE
from privnb.evaluation.experiments.informed_adversaries import IN_BOTH, SIMPLE, compare_with_control
from privnb.evaluation.results import SETTING_COLUMNS, Results
from privnb.reporting.findings.numbers import number_of_row, to_json_number
from privnb.reporting.findings.rows import select_sanitized
from privnb.runtime.validation import validated
from privnb.runtime.wording import Worded

RELEASE = ["dataset", *SETTING_COLUMNS]


@validated
def informed_adversaries(results: Results) -> Worded:
    """Return the finding about the adversary who gains most from additional knowledge.

    Parameters
    ----------
    results : DataFrame
        The results of `attack_one_release` and of `attack_two_releases`, joined.
    """
    own = select_sanitized(compare_with_control(results))
    data: dict[str, Any] = {
        "guess": _find_largest_increase(own[own.measure == "value_guess"]),
        "certain": _find_largest_increase(own[own.measure == "value_certain"]),
        "releases": len(own[own.variant == IN_RELEASE][RELEASE].drop_duplicates()),
    }
    return Worded("reporting/findings_informed_adversaries", data)


def _find_largest_increase(rows: pd.DataFrame) -> dict[str, Any]:
    """Return the number of the adversary whose knowledge adds most to the homogeneity attack; {} if none adds.

    Only the excess over the control counts; see `compare_with_control`.
    """
    people = [*RELEASE, "variant"]
    simple = rows[rows.miner == SIMPLE].set_index(people)[["value", "excess"]]
    rows = rows[rows.miner != SIMPLE]
    before = simple.reindex(pd.MultiIndex.from_frame(rows[people]))
    rows = rows.assign(before=before.value.to_numpy(), added=rows.excess - before.excess.to_numpy())
    rows = rows.dropna(subset="added")
    if rows.empty or rows.added.max() <= 0:
        return {}
    top = rows.loc[rows.added.idxmax()]
    more = {"before": to_json_number(top.before), "others": to_json_number(top.others)}
    return number_of_row(top, miner=top.miner, is_joint=top.variant == IN_BOTH, **more)
