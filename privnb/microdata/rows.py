"""Rows that obey a schema, and how many records each of them stands for: what counts needs no more.

What works on distinct combinations (`Sanitizer.by_combinations`) takes `Counted`; all else takes a `Dataset`, whose
rows are records, and refuses it by its type.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from privnb.microdata import hierarchy, withholding
from privnb.microdata.bands import Bands
from privnb.microdata.columns import WrittenOut, by_value, having, in_codes, plain
from privnb.microdata.counts import coded, distinct_codes, factorized, people_in
from privnb.microdata.schema import PUBLISHED, Role, Schema, SchemaError, check_name
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.validation import validated


class _Coded:
    """What `Microdata` work out of their rows when they are made."""

    cells: pd.DataFrame
    codes: Mapping[str, IntArray]
    times: IntArray | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Microdata(_Coded):
    """Rows with the columns of a schema, checked against it when made: what `Dataset` and `Counted` have in common.

    Attributes
    ----------
    times : integer array (rows,)
        How many records each row stands for; None: each is one.
    """

    name: str
    if TYPE_CHECKING:
        table: pd.DataFrame
    else:
        table: pd.DataFrame = WrittenOut()  # no default, but how it is kept
    schema: Schema
    hierarchies: Mapping[str, Any]

    def __post_init__(self) -> None:
        expect.text("name", self.name, "the dataset")
        expect.kind("table", self.cells, pd.DataFrame)
        expect.kind("schema", self.schema, Schema)
        expect.kind("hierarchies", self.hierarchies, Mapping, instead="Give one by quasi-identifier.")
        check_name("dataset", self.name)
        cells = self.cells.reset_index(drop=True)
        if cells.columns.is_unique:  # others are refused
            cells = pd.DataFrame({name: in_codes(cells[name]) for name in cells}, index=cells.index)
        self.schema.check(cells, 2 if self.times is None else 1)
        cells = cells[self.schema.names()]
        for name in cells:
            if self.schema[name].numeric:
                # 0.0 for -0.0, which is equal to it and written otherwise, and so would part a class in a file.
                numbers = self.schema[name].numbers.read(cells[name])
                cells[name] = by_value(lambda values: values + 0.0 if values.dtype.kind == "f" else values, numbers)
        object.__setattr__(self, "table", cells)
        codes = {}
        for name in self.schema.quasi_identifiers:
            if name not in self.hierarchies:
                raise SchemaError(
                    f"dataset '{self.name}': quasi-identifier '{name}' has no hierarchy. "
                    "Add one to hierarchies, or use hierarchy.flat(attribute)."
                )
            expect.kind(f"hierarchies['{name}']", self.hierarchies[name], hierarchy.generalization.Generalization)
            codes[name] = self.hierarchies[name].codes(self.marked(name)).astype(np.int32)  # every value has its place
            codes[name].flags.writeable = False
        object.__setattr__(self, "codes", codes)

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def record_count(self) -> int:
        """How many records there are: int."""
        return len(self) if self.times is None else int(self.times.sum())

    def __getstate__(self) -> dict[str, Any]:  # what is made again is not sent to other processes
        return {name: value for name, value in vars(self).items() if name not in ("table", "alike")}

    def marked(self, name: str) -> pd.Series:
        """A column as hierarchies read it: a missing number by its mark."""
        return self.schema[name].public_domain.marked(self.cells[name])

    @cached_property
    def alike(self) -> tuple[IntArray, IntArray]:
        """Which rows have equal quasi-identifiers: the first row of each set, in the order of their codes, and the set
        of each row. Two integer arrays.
        """
        columns = [*self.codes.values()] or [np.zeros(len(self), dtype=np.int64)]
        found = distinct_codes(columns, [int(column.max()) + 1 for column in columns])
        for each in found:
            each.flags.writeable = False
        return found

    def lent(self) -> Self:
        """The same records for code that may be anybody's: what it writes into them reaches no other holder."""
        other = copy.copy(self)
        object.__setattr__(other, "table", self.cells.copy(deep=False))  # pandas copies what is written to
        object.__setattr__(other, "alike", self.alike)
        for name in ("hierarchies", "codes"):
            object.__setattr__(other, name, dict(getattr(self, name)))
        return other

    @cached_property
    def people(self) -> IntArray | None:
        if self.schema.person is None:
            return None
        codes = coded(self.cells[self.schema.person])[0]
        codes.flags.writeable = False
        return codes

    @cached_property
    def weights(self) -> FloatArray | None:
        if self.schema.weight is None:
            return None
        weights = pd.to_numeric(plain(self.cells[self.schema.weight])).to_numpy(dtype=float, copy=True)
        weights.flags.writeable = False
        return weights

    @property
    def headcount(self) -> int:
        """How many people the records are of: int; without a key as many as records."""
        return self.record_count if self.people is None else int(self.people.max()) + 1

    @cached_property
    def shared(self) -> dict[str, IntArray]:
        found = {}
        for name, codes in self.codes.items():
            index, occurring = factorized(codes, sort=True)  # of a domain of a billion values few occur
            found[name] = occurring[people_in(index, self.people, times=self.times) >= withholding.LIMIT]
        return found

    def in_bands(self, *names: str) -> Self:
        """The same records with the numbers `names` as categories, see `bands`. What is no number stays as it is.

        Parameters
        ----------
        names : str, any number of them
            No quasi-identifiers, which generalize as their hierarchies say.

        Returns
        -------
        Microdata
            Of the same kind.

        Raises
        ------
        ValueError
            For a quasi-identifier.
        """
        bands = {name: Bands.of(self.schema[name].numbers) for name in names if self.schema[name].numeric}
        if known := [name for name in bands if name in self.schema.quasi_identifiers]:
            raise UsageError(f"'{known[0]}' is a quasi-identifier: it is generalized, and in no bands. Name another.")
        if not bands:
            return self
        labels = {name: by_value(own.labels, self.marked(name)) for name, own in bands.items()}
        attributes = (
            replace(each, domain=bands[each.name], sensitivity=None) if each.name in bands else each
            for each in self.schema.attributes
        )
        schema = Schema(self.schema.dataset, tuple(attributes))
        return replace(self, table=having(self.cells, labels), schema=schema)


def checked_times(times: Any, rows: int) -> IntArray:
    """How many records each of some rows stands for, integer array (rows,). Raises ValueError for what says no such."""
    times = np.asarray(times)
    if times.shape != (rows,) or times.dtype.kind not in "iu" or (times < 1).any():
        raise UsageError(f"times must be an array ({rows},) of whole numbers from 1, one per row.")
    return times.astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Counted(Microdata):
    """Distinct combinations of published values, and how many records have each: all that work on counts
    reads of a table.

    Parameters
    ----------
    name, table, schema, hierarchies
        As of a `Dataset`; no two rows of `table` need be equal.
    times : integer array (rows,)
        How many records have each combination, from 1.
    """

    times: IntArray

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "times", checked_times(self.times, len(self)))
        self.schema.check_records(self.record_count)

    @classmethod
    @validated
    def of(cls, data: Microdata) -> tuple[Counted, IntArray]:
        """The distinct rows of `Microdata` in what is published, and in whose they are.

        Parameters
        ----------
        data : Microdata

        Returns
        -------
        counted : Counted
            Without identifiers and weights; rows sorted by their columns' codes.
        place : integer array
            Which of them each row of `data` is.
        """
        roles = (*PUBLISHED, Role.PERSON)
        schema = replace(data.schema, attributes=tuple(a for a in data.schema.attributes if a.role in roles))
        columns = [coded(data.cells[name]) for name in schema.names()]
        first, index = distinct_codes([codes for codes, _ in columns], [len(values) for _, values in columns])
        times = np.bincount(index, data.times).astype(np.int64)
        return cls(data.name, data.cells[schema.names()].iloc[first], schema, data.hierarchies, times), index

    def __repr__(self) -> str:  # never the rows: they may be records
        return f"Counted('{self.name}', {len(self)} combinations of {self.record_count} records)"
