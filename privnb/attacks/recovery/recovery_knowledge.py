"""The knowledge that an adversary who undoes a perturbation has in addition to the release.

Each type of knowledge contains the truth only about people whom the adversary knows. The evaluator draws these people
at random, and does not count guesses about them.

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
    """Knowledge about some people. Each subclass is a frozen dataclass of tables.

    Parameters
    ----------
    originals : DataFrame
        A table of p rows. The rows are the records of p people, or each column holds p values without their records.
    """

    originals: pd.DataFrame
    title = ""  # the text in results, with `{people}` for the number of people

    @classmethod
    @abstractmethod
    def of(cls, originals: pd.DataFrame, released: pd.DataFrame, rng: Randomness) -> Self:
        """Return the knowledge of an adversary about p people, from two DataFrames with one row for each person."""

    def __len__(self) -> int:
        """Return the number of people."""
        return len(self.originals)

    def __repr__(self) -> str:  # it must not show the rows
        return f"{type(self).__name__}({len(self)} people)"


@dataclass(frozen=True, eq=False, repr=False)
class Pairs(Knowledge):
    """Known records of people, and the known released row of each of these people.

    Parameters
    ----------
    originals, released : DataFrame
        Two tables of p rows; row i of both tables belongs to the same person.
    """

    released: pd.DataFrame
    title = "records and rows of {people} people"

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.originals) != len(self.released):
            raise UsageError(
                f"`originals` and `released` must have a row for each known person; got {len(self.originals)} records "
                f"and {len(self.released)} rows."
            )

    @classmethod
    def of(cls, originals: pd.DataFrame, released: pd.DataFrame, rng: Randomness) -> Self:
        """Return the records with their released rows."""
        return cls(originals, released)


class Records(Knowledge):
    """Known records of people who are in the release, but not the released rows of these people."""

    title = "records of {people} people in it"

    @classmethod
    def of(cls, originals: pd.DataFrame, released: pd.DataFrame, rng: Randomness) -> Self:
        """Return the records in random order."""
        return cls(originals.iloc[np.random.default_rng(rng).permutation(len(originals))])


class Sample(Records):
    """Records of people from the population of the release; these people may or may not be in the release."""

    title = "a sample of {people} people"


class Distributions(Records):
    """The distribution of each column, as in a public statistic. A row of the table is not the record of a person."""

    title = "the distribution of each column, of {people} people"

    @classmethod
    def of(cls, originals: pd.DataFrame, released: pd.DataFrame, rng: Randomness) -> Self:
        """Return the values of each column, sorted separately for each column."""
        return cls(pd.DataFrame({name: np.sort(column.to_numpy()) for name, column in originals.items()}))


def to_number_array(what: str, table: pd.DataFrame, names: Sequence[str]) -> FloatArray:
    """Return the columns `names` of a table as numbers, as a float array (rows, columns).

    A missing number, which cannot be recovered, becomes the mean of its column. Raises Unreadable if a cell is not a
    number, such as `*`, or if a column has no numbers; the text of the error contains `what`.
    """
    found = np.empty((len(table), len(names)))
    for place, name in enumerate(names):
        column = pd.to_numeric(table[name], errors="coerce")
        found[:, place] = column.where(table[name].notna(), column.mean())
    for name, bad in zip(names, np.isnan(found).sum(axis=0), strict=True):
        if bad:
            raise Unreadable(f"{bad} of {len(table)} cells of '{name}' in {what} are not numbers.")
    return found
