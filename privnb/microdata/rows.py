"""Rows that conform to a schema, with the number of records that each row represents.

A sanitizer that works on distinct combinations (`Sanitizer.by_combinations`) accepts a `CombinationTable`. All other
code accepts only a `Dataset`, whose rows are records, and raises an error for a `CombinationTable`.
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
from privnb.microdata.columns import DecodedTable, assign_columns, decode_column, encode_column, map_values
from privnb.microdata.counts import count_people_by_group, encode_values, factorize, group_codes
from privnb.microdata.schema import PUBLISHED, Role, Schema, SchemaError, check_name
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.validation import validated


class _Coded:
    """The fields that a `Microdata` object computes from its rows when it is created."""

    cells: pd.DataFrame
    codes: Mapping[str, IntArray]
    times: IntArray | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Microdata(_Coded):
    """Rows with the columns of a schema: the base class of `Dataset` and `CombinationTable`.

    The rows are checked against the schema when the object is created.

    Attributes
    ----------
    times : integer array (rows,)
        The number of records that each row represents; if None, each row is 1 record.
    """

    name: str
    if TYPE_CHECKING:
        table: pd.DataFrame
    else:
        table: pd.DataFrame = DecodedTable()  # a descriptor, not a default value
    schema: Schema
    hierarchies: Mapping[str, Any]

    def __post_init__(self) -> None:
        expect.text("name", self.name, "the dataset")
        expect.kind("table", self.cells, pd.DataFrame)
        expect.kind("schema", self.schema, Schema)
        expect.kind("hierarchies", self.hierarchies, Mapping, instead="Give one by quasi-identifier.")
        check_name("dataset", self.name)
        cells = self.cells.reset_index(drop=True)
        if cells.columns.is_unique:  # tables with repeated columns are refused below
            cells = pd.DataFrame({name: encode_column(cells[name]) for name in cells}, index=cells.index)
        self.schema.check(cells, 2 if self.times is None else 1)
        cells = cells[self.schema.names()]
        for name in cells:
            if self.schema[name].numeric:
                # Replace -0.0 by 0.0: the two are equal, but they are written differently, which would divide a class.
                numbers = self.schema[name].numbers.read(cells[name])
                cells[name] = map_values(lambda values: values + 0.0 if values.dtype.kind == "f" else values, numbers)
        object.__setattr__(self, "table", cells)
        codes = {}
        for name in self.schema.quasi_identifiers:
            if name not in self.hierarchies:
                raise SchemaError(
                    f"dataset '{self.name}': quasi-identifier '{name}' has no hierarchy. "
                    "Add a hierarchy to `hierarchies`, or use hierarchy.flat(attribute)."
                )
            expect.kind(f"hierarchies['{name}']", self.hierarchies[name], hierarchy.generalization.Generalization)
            codes[name] = self.hierarchies[name].codes(self.marked(name)).astype(np.int32)  # every value has a position
            codes[name].flags.writeable = False
        object.__setattr__(self, "codes", codes)

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def record_count(self) -> int:
        """The number of records that the rows represent."""
        return len(self) if self.times is None else int(self.times.sum())

    def __getstate__(self) -> dict[str, Any]:  # other processes compute these fields again
        return {name: value for name, value in vars(self).items() if name not in ("table", "alike")}

    def marked(self, name: str) -> pd.Series:
        """Return a column in the form that hierarchies accept, with the mark in place of each missing number."""
        return self.schema[name].public_domain.marked(self.cells[name])

    @cached_property
    def alike(self) -> tuple[IntArray, IntArray]:
        """The sets of rows with equal quasi-identifiers, in the order of the codes of the quasi-identifiers.

        The value is two integer arrays: the position of the first row of each set, and the number of the set of each
        row.
        """
        columns = [*self.codes.values()] or [np.zeros(len(self), dtype=np.int64)]
        found = group_codes(columns, [int(column.max()) + 1 for column in columns])
        for each in found:
            each.flags.writeable = False
        return found

    def lent(self) -> Self:
        """Return a copy for code of other authors.

        If such code changes the copy, this object stays unchanged.
        """
        other = copy.copy(self)
        object.__setattr__(other, "table", self.cells.copy(deep=False))  # pandas copies on write
        object.__setattr__(other, "alike", self.alike)
        for name in ("hierarchies", "codes"):
            object.__setattr__(other, name, dict(getattr(self, name)))
        return other

    @cached_property
    def people(self) -> IntArray | None:
        """The number of the person of each row, from 0; None if the schema has no key of people."""
        if self.schema.person is None:
            return None
        codes = encode_values(self.cells[self.schema.person])[0]
        codes.flags.writeable = False
        return codes

    @cached_property
    def weights(self) -> FloatArray | None:
        """The sampling weight of each row; None if the schema has no weights."""
        if self.schema.weight is None:
            return None
        weights = pd.to_numeric(decode_column(self.cells[self.schema.weight])).to_numpy(dtype=float, copy=True)
        weights.flags.writeable = False
        return weights

    @property
    def headcount(self) -> int:
        """The number of people or, if the schema has no key of people, the number of records."""
        return self.record_count if self.people is None else int(self.people.max()) + 1

    @cached_property
    def shared(self) -> dict[str, IntArray]:
        """The positions of the values of each quasi-identifier that at least `withholding.LIMIT` people share."""
        found = {}
        for name, codes in self.codes.items():
            index, occurring = factorize(codes, sort=True)  # few of a billion values of a domain occur
            found[name] = occurring[count_people_by_group(index, self.people, times=self.times) >= withholding.LIMIT]
        return found

    def in_bands(self, *names: str) -> Self:
        """Return the same records with the numbers of the columns `names` replaced by bands; see the module `bands`.

        Parameters
        ----------
        names : str, any number of them
            The attributes to replace. Attributes that are not numeric stay unchanged. A numeric attribute must not be a
            quasi-identifier, because hierarchies generalize quasi-identifiers.

        Returns
        -------
        Microdata
            An object of the same class.

        Raises
        ------
        ValueError
            If a numeric attribute in `names` is a quasi-identifier.
        """
        bands = {name: Bands.of(self.schema[name].numbers) for name in names if self.schema[name].numeric}
        if known := [name for name in bands if name in self.schema.quasi_identifiers]:
            raise UsageError(
                f"'{known[0]}' is a quasi-identifier, which is generalized and has no bands. Name another attribute."
            )
        if not bands:
            return self
        labels = {name: map_values(own.labels, self.marked(name)) for name, own in bands.items()}
        attributes = (
            replace(each, domain=bands[each.name], sensitivity=None) if each.name in bands else each
            for each in self.schema.attributes
        )
        schema = replace(self.schema, attributes=tuple(attributes))
        return replace(self, table=assign_columns(self.cells, labels), schema=schema)


def check_times(times: Any, rows: int) -> IntArray:
    """Return `times`, the number of records of each row, as an integer array (rows,).

    Raises UsageError if `times` is not an array of whole numbers of at least 1 with one entry per row.
    """
    times = np.asarray(times)
    if times.shape != (rows,) or times.dtype.kind not in "iu" or (times < 1).any():
        raise UsageError(f"`times` must be an array ({rows},) of whole numbers of at least 1, one for each row.")
    return times.astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class CombinationTable(Microdata):
    """Distinct combinations of published values, and the number of records that have each combination.

    Parameters
    ----------
    name, table, schema, hierarchies
        The same as in a `Dataset`, except that the rows of `table` are combinations instead of records.
    times : integer array (rows,)
        The number of records that have each combination, at least 1.
    """

    times: IntArray

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "times", check_times(self.times, len(self)))
        self.schema.check_records(self.record_count)

    @classmethod
    @validated
    def of(cls, data: Microdata) -> tuple[CombinationTable, IntArray]:
        """Return the distinct rows of `data`, compared only in the published columns and the key of people.

        Parameters
        ----------
        data : Microdata

        Returns
        -------
        counted : CombinationTable
            The distinct rows without identifiers and weights, sorted by the codes of their columns.
        place : integer array
            The position of the distinct row to which each row of `data` is equal.
        """
        roles = (*PUBLISHED, Role.PERSON)
        schema = replace(data.schema, attributes=tuple(a for a in data.schema.attributes if a.role in roles))
        columns = [encode_values(data.cells[name]) for name in schema.names()]
        first, index = group_codes([codes for codes, _ in columns], [len(values) for _, values in columns])
        times = np.bincount(index, data.times).astype(np.int64)
        return cls(data.name, data.cells[schema.names()].iloc[first], schema, data.hierarchies, times), index

    def __repr__(self) -> str:  # never the rows: they may be records
        return f"Counted('{self.name}', {len(self)} combinations of {self.record_count} records)"
