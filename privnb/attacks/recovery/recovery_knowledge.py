"""What an adversary who undoes a perturbation knows beside the release, each a type.

The truth of those whom an adversary knows is all that such a type holds, and none of it is of anybody whom the attack
is measured on: the evaluator draws the known people and leaves them out.

Source: Aggarwal and Yu (eds.), "Privacy-Preserving Data Mining", Springer 2008, sections 15.4 and 15.6: known
input-output pairs, known sample; 7.5.2: known distributions of columns; 7.5.3: known records.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from privnb.microdata.treatment import Unreadable
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Randomness, Validated


@dataclass(frozen=True, eq=False, repr=False)
class Knowledge(Validated, ABC):
    """What is known of some people. A subclass is a frozen dataclass of tables.

    Parameters
    ----------
    originals : DataFrame
        p rows, one a person, or p values of each column.
    """

    originals: pd.DataFrame
    title = ""  # as results say it, of `{people}`

    @classmethod
    @abstractmethod
    def of(cls, originals: pd.DataFrame, released: pd.DataFrame, rng: Randomness) -> Self:
        """Return what an adversary has who knows these people: two DataFrames, row by row of the same p people."""

    def __len__(self) -> int:
        """How many people it tells of."""
        return len(self.originals)

    def __repr__(self) -> str:  # never the rows
        return f"{type(self).__name__}({len(self)} people)"


@dataclass(frozen=True, eq=False, repr=False)
class Pairs(Knowledge):
    """People whose records are known, and which released row is theirs.

    Parameters
    ----------
    originals, released : DataFrame
        p rows each, row by row of the same people.
    """

    released: pd.DataFrame
    title = "records and rows of {people} people"

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.originals) != len(self.released):
            raise UsageError(
                f"each known person has a record and a released row, got {len(self.originals)} records and "
                f"{len(self.released)} rows."
            )

    @classmethod
    def of(cls, originals: pd.DataFrame, released: pd.DataFrame, rng: Randomness) -> Self:
        return cls(originals, released)


class Records(Knowledge):
    """People whose records are known and who are in the release, but not which row is theirs."""

    title = "records of {people} people in it"

    @classmethod
    def of(cls, originals: pd.DataFrame, released: pd.DataFrame, rng: Randomness) -> Self:
        return cls(originals.iloc[np.random.default_rng(rng).permutation(len(originals))])


class Sample(Records):
    """Records of people drawn from the same population; whether they are in the release is not known."""

    title = "a sample of {people} people"


class Distributions(Records):
    """How each column is distributed by itself, as a public statistic says it: what stands side by side is nobody's."""

    title = "the distribution of each column, of {people} people"

    @classmethod
    def of(cls, originals: pd.DataFrame, released: pd.DataFrame, rng: Randomness) -> Self:
        return cls(pd.DataFrame({name: np.sort(column.to_numpy()) for name, column in originals.items()}))


def numbers(what: str, table: pd.DataFrame, names: Sequence[str]) -> FloatArray:
    """Return the columns `names` of a table as numbers: float array (rows, columns).

    A missing number, of which there is nothing to recover, is the mean of its column. Raises Unreadable for what is no
    number, such as `*`, and for a column without any; `what` the table is.
    """
    found = np.empty((len(table), len(names)))
    for place, name in enumerate(names):
        column = pd.to_numeric(table[name], errors="coerce")
        found[:, place] = column.where(table[name].notna(), column.mean())
    for name, bad in zip(names, np.isnan(found).sum(axis=0), strict=True):
        if bad:
            raise Unreadable(f"{bad} of {len(table)} cells of '{name}' in {what} are missing or no numbers: no number.")
    return found
