"""The selection of rows of results for findings, and the names of rows for readers."""

from typing import Annotated, Any

import pandas as pd

from privnb.evaluation.results import SETTING_COLUMNS
from privnb.runtime import expect

ENDS = ("Identity", "Suppress")  # the releases that all others lie between
WORST = "worst miner"
CRITERIA = {
    "worst by person": "each person's worst miner",
    "worst": WORST,
    "average": "average miner",
    "fusion: vote": "vote of all miners",
    "fusion: stacked": "all miners stacked",
}
LESS = {"guess": "worst less the guess", "permuted": "worst less chance"}


def check_steps(name: str, value: object) -> object:
    """Raise TypeError unless `value` is a table, and ValueError unless it has the columns of `sweeps.list_steps`."""
    return expect.table(name, value, ["series", "setting", *SETTING_COLUMNS], "`sweeps.list_steps` gives one.")


Steps = Annotated[pd.DataFrame, check_steps]


def select_rows(results: pd.DataFrame, measure: str, **columns: object) -> pd.DataFrame:
    """Return the rows of a measure that have the values `columns`, `{column: value}`, in other columns."""
    rows = results[results.measure == measure]
    for column, value in columns.items():
        rows = rows[rows[column] == value]
    return rows


def select_known_rows(results: pd.DataFrame, measure: str, **columns: object) -> pd.DataFrame:
    """Return the same rows as `select_rows`, without rows whose value is withheld."""
    return select_rows(results, measure, **columns).dropna(subset="value")


def select_release(rows: pd.DataFrame, row: Any) -> pd.DataFrame:
    """Return those of `rows` that concern the same release as `row`."""
    return rows[(rows.sanitizer == row.sanitizer) & (rows.parameters == row.parameters)]


def select_sanitized(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of all releases except the two reference releases: the original and full suppression."""
    return rows[~rows.sanitizer.isin(ENDS)]


def name_criteria(rows: pd.DataFrame) -> pd.Series:
    """Return, as a Series, the name of the criterion of each row or, for other rows, the name of the miner."""
    named = rows.control.map(LESS).fillna(rows.miner.map(CRITERIA)).fillna(rows.miner)
    return named.where(rows.miner_set == "", rows.miner_set + ": " + named)


def name_choices(choices: pd.DataFrame) -> pd.DataFrame:
    """Return choices with the columns `scenario` ("A_distinct" for distinct records) and `criterion` for readers."""
    distinct = choices.scenario.mask(choices.variant == "distinct", choices.scenario + "_distinct")
    return choices.assign(scenario=distinct, criterion=name_criteria(choices))


def select_most_frequent(choices: pd.DataFrame) -> pd.DataFrame:
    """Return, for each scenario and criterion, the row of `name_choices` with the setting that is chosen most often.

    The rows stay in their order.
    """
    first = choices.sort_values("value", ascending=False, kind="stable").drop_duplicates(["scenario", "criterion"])
    return first.sort_index()
