"""Findings on channels: the guess of a small table, the attributes that reveal a person, the leakage of releases."""

from typing import Any

import numpy as np
import pandas as pd

from privnb.evaluation.results import Results, average_seeds, name_setting
from privnb.papers.askari_2012.small_channels import HIGHEST, LOWEST, RANDOM
from privnb.reporting.findings.numbers import make_number, number_of_row, to_json_number
from privnb.reporting.findings.rows import select_known_rows, select_rows, select_sanitized
from privnb.runtime.names import parse_names
from privnb.runtime.validation import validated
from privnb.runtime.wording import Worded
from privnb.sanitizers.catalogue import group

Part = dict[str, Any]  # plain values


@validated
def leakage(results: Results) -> Worded:
    """Return the probability that a small table is guessed, the attributes that reveal a person, and the leakage.

    Parameters
    ----------
    results : DataFrame
        The results of `papers.measure_small_tables`, `papers.measure_known_attributes` and `papers.measure_leakage`.
    """
    rows = select_rows(results, "identity_vulnerability")
    top = _most_known(_known(rows))
    releases = _known(average_seeds(select_sanitized(rows[rows.knows == ""])))
    worst = releases.loc[releases.groupby(releases.sanitizer.map(group), sort=False)["at"].idxmax()]
    data = {
        "guess": _table(results),
        "attributes": None if top is None else number_of_row(top, names=parse_names(top.knows)),
        "worst": [number_of_row(row, family=group(row.sanitizer)) for row in worst.itertuples()],
        "impossible": [
            name_setting(row) for row in select_rows(results, "classes", status="not possible").itertuples()
        ],
    }
    return Worded("papers/findings_leakage", data)


def _table(results: pd.DataFrame) -> Part | None:
    """Return the probability that a small table is guessed correctly, for the largest space of tables with a result."""
    tables = select_known_rows(results, "tables").set_index("dataset").value
    rows = select_known_rows(results, "posterior_vulnerability", sanitizer=RANDOM)
    for row in rows[rows.dataset.isin(tables.index)][-1:].itertuples():
        return make_number(row.value, format="{:.1%}", tables=int(tables[row.dataset]))
    return None


@validated
def random_levels(results: Results) -> Worded:
    """Return whether a random level protects small tables better, and loses more utility, than a fixed level.

    Parameters
    ----------
    results : DataFrame
        The results of `papers.measure_small_tables`.
    """
    named = pd.MultiIndex.from_product([["bayes_risk", "degradation"], [RANDOM, LOWEST, HIGHEST]])
    wide = results.pivot_table(index="dataset", columns=["measure", "sanitizer"], values="value", sort=False)
    wide = wide.reindex(columns=named).dropna()
    risk, lost = wide["bayes_risk"], wide["degradation"]
    lowest, highest = (int((risk[level] < risk[RANDOM]).sum()) for level in (LOWEST, HIGHEST))
    same_order = bool((np.argsort(risk.to_numpy()) == np.argsort(lost.to_numpy())).all())
    data = {"spaces": len(wide), "lowest": lowest, "suppressed": highest, "safer_loses_more": same_order}
    return Worded("papers/findings_random_levels", data)


def most_revealing(rows: pd.DataFrame) -> Part | None:
    """Return the two attributes that reveal most in the original, with numbers for all attributes and for all releases.

    Parameters
    ----------
    rows : DataFrame
        The rows of one measure, one per release and set of known attributes.

    Returns
    -------
    dict or None
        The number for the two attributes, with these keys: `names`, the two attributes; `every`, the number for all
        attributes, or None if there are no further attributes; `releases`, an upper bound for the two attributes in
        each release. The result is None if the original was not measured.
    """
    rows = _known(rows)
    if (top := _most_known(rows)) is None:
        return None
    original = rows[rows.sanitizer == "Identity"]
    every = original.loc[original.knows.map(parse_names).map(len).idxmax()]
    return number_of_row(
        top,
        names=parse_names(top.knows),
        measure=top.measure,
        every=None if every.knows == top.knows else number_of_row(every, names=parse_names(every.knows)),
        # Labels that overlap do not show which cell is a person's, so that a release may disclose less.
        releases=[
            {"setting": name_setting(row), "at_most": to_json_number(row.value if pd.notna(row.value) else row.high)}
            for row in select_sanitized(rows[rows.knows == top.knows]).itertuples()
        ],
    )


def _most_known(rows: pd.DataFrame) -> pd.Series | None:
    """Return the row of the two attributes that reveal most in the original, or of one if there is no pair."""
    rows = rows[(rows.sanitizer == "Identity") & (rows.knows != "")]
    sizes = rows.knows.map(parse_names).map(len)
    rows = rows[sizes == min(2, sizes.max())]
    return None if rows.empty else rows.loc[rows["at"].idxmax()]


def _known(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with `at`, which is the value or, if the value is withheld, its lower bound.

    Rows without either number are omitted.
    """
    return rows.assign(at=rows.value.fillna(rows.low)).dropna(subset=["at", "baseline"])
