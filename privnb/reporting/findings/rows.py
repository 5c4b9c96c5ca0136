"""Which rows a finding is of, and what a person calls them."""

from typing import Annotated, Any

import pandas as pd

from privnb.evaluation.results import SETTING, setting_name
from privnb.runtime import expect
from privnb.runtime.sentences import listed

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
    """Raise TypeError unless `value` is a table, and ValueError unless it has the columns of `sweeps.steps`."""
    return expect.table(name, value, ["series", "setting", *SETTING], "`sweeps.steps` gives one.")


Steps = Annotated[pd.DataFrame, check_steps]


def of(results: pd.DataFrame, measure: str, **columns: object) -> pd.DataFrame:
    """The rows of a measure, with these values in other columns."""
    rows = results[results.measure == measure]
    for column, value in columns.items():
        rows = rows[rows[column] == value]
    return rows


def known(results: pd.DataFrame, measure: str, **columns: object) -> pd.DataFrame:
    """The same rows, without what is withheld."""
    return of(results, measure, **columns).dropna(subset="value")


def same_release(rows: pd.DataFrame, row: Any) -> pd.DataFrame:
    """The rows of the release that a row is of."""
    return rows[(rows.sanitizer == row.sanitizer) & (rows.parameters == row.parameters)]


def sanitized(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of releases between the ends."""
    return rows[~rows.sanitizer.isin(ENDS)]


def settings(rows: pd.DataFrame) -> str:
    """The settings of rows as a person lists them; there is one or more."""
    return listed([setting_name(row) for row in rows.itertuples()])


def capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def criterion(rows: pd.DataFrame) -> pd.Series:
    """How a person names a criterion of choice, or other rows that are no single miner's: Series of text."""
    named = rows.control.map(LESS).fillna(rows.miner.map(CRITERIA)).fillna(rows.miner)
    return named.where(rows.miner_set == "", rows.miner_set + ": " + named)


def named(choices: pd.DataFrame) -> pd.DataFrame:
    """Choices with `scenario`, of distinct records "A_distinct", and `criterion` as a person names them."""
    distinct = choices.scenario.mask(choices.variant == "distinct", choices.scenario + "_distinct")
    return choices.assign(scenario=distinct, criterion=criterion(choices))


def most_often(choices: pd.DataFrame) -> pd.DataFrame:
    """What each criterion chooses most often in each scenario: rows of `named`, in their order."""
    first = choices.sort_values("value", ascending=False, kind="stable").drop_duplicates(["scenario", "criterion"])
    return first.sort_index()
