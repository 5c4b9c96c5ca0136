"""Schemas: the role, the public domain and the unit of each column of a table.

A domain is public knowledge. The data owner states the domain. A domain is never read from the records, because a bound
that depends on the records would disclose something about the records.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import numpy as np

from privnb.microdata import cuts
from privnb.microdata.columns import decode_column, make_categorical, map_values
from privnb.microdata.counts import encode_values, factorize, factorize_categories, is_coded
from privnb.runtime import expect, names
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray
from privnb.runtime.errors import InputError
from privnb.runtime.lazy import pd
from privnb.runtime.tolerances import ROUNDING, STEP
from privnb.runtime.validation import Positive, Validated, instead


class SchemaError(InputError):
    """A table, its schema and its hierarchies do not match, or one of them is not valid."""


class NotForThisTable(InputError):
    """A question cannot be answered for this table; the message states the reason and what to change.

    If a notebook raises this error, the page of the notebook in the report shows the message; other pages are not
    affected.
    """


def check_name(kind: str, name: str) -> None:
    """Raise SchemaError for a name with a forbidden character; `kind` states which kind of object has the name."""
    if held := names.find_forbidden(name):
        mapped = ", and map the file's own name to it under [renamed]" * kind.endswith("column")
        raise SchemaError(
            f"{kind} {name!r} holds {held}, which is not allowed: a name appears in pages and files, where it must be "
            f"readable. Call it {names.clean_name(name)!r}{mapped}."
        )


def describe_commonest(values: Any, times: pd.Series | None = None) -> str:
    """Return the three most common values and their counts, for errors: "'green' (2), 'pink' (1)".

    `times`, a Series with the index of `values`, is the number of records that each value represents; by default, each
    value represents 1 record.
    """
    values = pd.Series(values)
    if times is None:
        counts = values.value_counts()
    else:
        counts = times.groupby(values, sort=False).sum().sort_values(ascending=False, kind="stable")
    return ", ".join(f"{value!r} ({count})" for value, count in counts.head(3).items())


def _records(rows: Any, times: pd.Series | None) -> int:
    """Return the number of records that the entries of the Series `rows` represent; for `times`, see `Schema.check`."""
    return len(rows) if times is None else int(times.loc[rows.index].sum())


def _is_mark(text: str) -> bool:
    """Return whether a label with this text can only be the mark of a missing number."""
    digits = any(letter.isdigit() for letter in text)
    return text.strip() == text not in ("", "*") and not digits and bool(np.isnan(pd.to_numeric(text, errors="coerce")))


def to_numbers(column: pd.Series) -> pd.Series:
    """Return a column of a numeric attribute as numbers, so that "9", 9 and 9.0 are the same value.

    A missing number becomes NaN. A value that is not a number stays unchanged; the check against the domain later
    raises an error for such a value.
    """
    if is_coded(column.dtype):
        return column if pd.api.types.is_numeric_dtype(column.cat.categories.dtype) else map_values(to_numbers, column)
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column
    index, distinct = factorize(column)
    read = pd.to_numeric(pd.Series(distinct, dtype=object), errors="coerce")
    read = read.reindex(index).set_axis(column.index).rename(column.name)  # the index of a missing value is -1
    other = read.isna() & column.notna()
    return column.astype(object).where(other, read) if other.any() else read


def to_text(value: object) -> str:
    """Return a value as hierarchies write it: a whole number has no decimal point, and no number has an exponent."""
    if not isinstance(value, float | np.floating) or not np.isfinite(value):
        return str(value)
    number = round(float(value), 10)  # as in `Numbers.value`, so that 0.1 + 0.2 is 0.3
    return str(int(number)) if number.is_integer() else np.format_float_positional(number, trim="-")


class _Domain:
    """A public domain: the base class of `Numbers` and `Categories`."""

    missing: str | None = None
    mark: str | None = None  # the value of the domain that marks a missing value
    of_records: bool = False  # whether its values were read from the records
    widened: bool = False  # whether it was widened to include values of the records

    def has(self, values: Any) -> BoolArray:
        """Return, as a boolean array (m,), whether each of `values` is in this domain.

        `values` is an array (m,) without missing values.
        """
        raise NotImplementedError

    def marked(self, column: pd.Series) -> pd.Series:
        """Return the column with the mark of this domain in place of each missing value."""
        if self.missing is None:
            return column
        if is_coded(column.dtype):
            codes, values = factorize_categories(column)  # the code of a missing value is -1, which is the last entry
            if codes.min(initial=0) >= 0:
                return column
            marked = make_categorical(
                codes.astype(np.intp) % (len(values) + 1), np.append(values.astype(object), self.missing)
            )
            return pd.Series(marked, column.index, name=column.name)
        return column.astype(object).where(column.notna(), self.missing)

    def outside(self, column: pd.Series) -> pd.Series:
        """Return the entries of `column` that are not in this domain.

        A missing entry is in the domain only if the domain allows missing values.
        """
        try:
            index, distinct = factorize_categories(column)
        except TypeError:  # a cell may hold a list, whose text is not in the domain
            index, distinct = factorize([cell if isinstance(cell, Hashable) else repr([cell]) for cell in column])
        inside = np.append(
            self.has(distinct), self.missing is not None
        )  # the last entry, at -1, is for a missing value
        return column[:0] if inside[:-1].all() and index.min(initial=0) >= 0 else decode_column(column[~inside[index]])


class Role(StrEnum):
    """The role of an attribute: what it means for the privacy of a person."""

    IDENTIFIER = "identifier"  # names a person; dropped from every release
    PERSON = "person"  # the key of the person or household of a row; dropped, and used to count people
    WEIGHT = "weight"  # the number of people that a record represents; dropped, because it is nearly unique
    QUASI_IDENTIFIER = "quasi-identifier"  # an adversary may know it from other sources
    SENSITIVE = "sensitive"  # no adversary should learn it
    NEUTRAL = "neutral"  # neither; published as it is
    UNUSED = "unused"  # in the file, left out of the dataset


PUBLISHED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.NEUTRAL)


def round_binary(found: Any, places: int = 10) -> FloatArray:
    """Return numbers without the rounding errors of binary fractions.

    Parameters
    ----------
    found : array-like (n,)
    places : int
        The maximum number of decimal places; large numbers have fewer, because a float has 15 digits.

    Returns
    -------
    float array (n,)

    >>> round_binary([0.1 + 0.2]).tolist(), round_binary([533_189_000_000.0]).tolist()
    ([0.3], [533189000000.0])
    """
    found = np.asarray(found, dtype=float)
    digits = len(str(int(np.abs(found[np.isfinite(found)]).max(initial=0))))
    return np.round(found, min(max(15 - digits, 0), places))


@dataclass(frozen=True)
class Numbers(_Domain):
    """The numbers from `low` to `high`, including both, in steps of `step`, and a missing number if there is a mark.

    A missing number is NaN in a column of floats. The code of a missing number is the last code. The distance between a
    missing number and any number is the distance between low and high.

    Parameters
    ----------
    low, high : float
    step : float
        The distance between neighboring numbers; the distance between low and high must be a whole number of steps.
    cuts : float or tuple of float, optional
        The increasing numbers at which public intervals begin, in addition to `low`. A single number is the width of
        all intervals, which begin at the multiples of the width. The default width is a round number that results in
        ten to twenty intervals, or in fewer intervals if the domain is narrow. Published ranges end at cuts rather than
        at values that few people share. Cuts should therefore be public knowledge, such as the age limits of a law.
    missing : str, optional
        The mark: the text of a missing number in files and published labels; None if no number may be missing.
    missing_is_public : bool
        Whether everybody may know which numbers are missing. If so, a promise of epsilon need not cover this
        information.
    widened : bool
        Whether `low` or `high` was read from the records; if so, promises of epsilon do not hold.

    Raises
    ------
    SchemaError
        If `low` is not below `high`, or `step` is not above 0; if the domain has more than 2^31 values; if the cuts do
        not divide the domain; or if the mark is empty, is `*`, or looks like a number or a range.

    >>> Numbers(17, 99).width
    82
    >>> Numbers(17, 99, missing="NA").codes([17, 99, np.nan]).tolist()
    [0, 82, 83]
    >>> Numbers(17, 99, cuts=(18, 65)).cuts, Numbers(17, 99, cuts=20).cuts, Numbers(17, 99).cuts[:3]
    ((18, 65), (20, 40, 60, 80), (20, 25, 30))
    """

    low: float
    high: float
    step: float = 1
    cuts: float | tuple[float, ...] | None = field(default=None, repr=False)
    missing: str | None = None
    missing_is_public: bool = field(default=False, repr=False)
    widened: bool = field(default=False, repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        for end in ("low", "high", "step"):
            expect.number(end, getattr(self, end))
        if not (self.low < self.high and self.step > 0):
            raise SchemaError(f"a domain of numbers must have low < high and step > 0; got {self}.")
        if self.width / self.step < 0.5 or not self._on_a_step(self.width / self.step):
            raise SchemaError(f"the `high` of a domain must be a whole number of steps above its `low`; got {self}.")
        most = 2**31 - (self.missing is not None)
        if self.step < 1e-9 or self.width / self.step >= most or max(abs(self.low), abs(self.high)) >= 2**53:
            counted = f", including {self.missing!r} for a missing number" if self.missing is not None else ""
            raise SchemaError(
                f"a domain of numbers must have at most {2**31:,} values{counted}, steps of at least 1e-9 and numbers "
                f"up to 2^53; got low={self.low!r}, high={self.high!r}, step={self.step!r}. Give a coarser step or "
                "another "
                "unit."
            )
        expect.kind("missing", self.missing, str, type(None))
        expect.kind("missing_is_public", self.missing_is_public, bool)
        expect.kind("widened", self.widened, bool)
        if self.missing is not None and not _is_mark(self.missing):
            raise SchemaError(
                f"the mark of a missing number must be a word, such as NA or ?, and not a number, a range or '*'; "
                f"got {self.missing!r}. Give another mark, here and as 'missing' under [format]."
            )
        try:
            object.__setattr__(self, "cuts", cuts.cut_points(self, self.cuts))
        except ValueError as error:
            raise SchemaError(str(error)) from None

    def __str__(self) -> str:
        said = f"{self.low:g} to {self.high:g}" + ("" if self.step == 1 else f" in steps of {self.step:g}")
        return said if self.missing is None else f"{said}, or {self.missing} (missing)"

    @property
    def width(self) -> float:
        """The highest minus the lowest number, which is the largest possible change of one value."""
        return self.high - self.low

    @cached_property
    def steps(self) -> int:
        """The number of steps from `low` to `high`, which is also the code of `high`."""
        return int(np.rint(self.width / self.step))

    @property
    def size(self) -> int:
        """The number of values in the domain, including the missing number."""
        return self.steps + 1 + (self.missing is not None)

    @property
    def mark(self) -> str | None:  # type: ignore[override]  # the other domains have it as a read-only field
        """The text that marks a missing number; the same as `missing`."""
        return self.missing

    @property
    def middle(self) -> float:
        """The number halfway between low and high, rounded to a step."""
        return self.value(int(self.codes((self.low + self.high) / 2)))

    def codes(self, values: Any) -> IntArray:
        """Return the number of steps from `low` to each value, as an integer array; `steps` + 1 for a missing number.

        A value is a number, the text of a number, NaN or the mark of a missing number.
        """
        if self.missing is not None:
            values = np.asarray(values)
            read = values if values.dtype.kind in "iuf" else pd.to_numeric(values, errors="coerce")
            values = np.where(np.isnan(read), self.low + (self.steps + 1) * self.step, read)
        return np.rint((np.asarray(values, dtype=float) - self.low) / self.step).astype(np.int64)

    def filled(self, values: Any) -> Array:
        """Return `values` as an array of numbers, with `middle` in place of each missing number."""
        values = np.asarray(values)
        return values if self.missing is None else np.where(pd.isna(values), self.middle, values)

    def points(self, values: Any) -> Array:
        """Return numbers as points on a line.

        The distance between the point of a missing number and the point of any number is at least the width of the
        domain.
        """
        values = np.asarray(values)
        return values if self.missing is None else np.where(pd.isna(values), self.high + self.width, values)

    def distances(self, one: Any, other: Any) -> FloatArray:
        """Return the distance between each pair of numbers, as a float array.

        If exactly one number of a pair is missing, the distance is the width of the domain.
        """
        found, (gap, other_gap) = np.abs(np.subtract(one, other)), (pd.isna(np.asarray(each)) for each in (one, other))
        return np.where(gap & other_gap, 0, np.where(gap | other_gap, self.width, found))

    def interval(self, codes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the first and the last code of the public interval that contains each code, as two integer arrays."""
        number = np.searchsorted(self._starts, codes, side="right") - 1
        return self._starts[number], self._starts[number + 1] - 1

    @cached_property
    def _starts(self) -> IntArray:
        """The codes at which public intervals begin, the code of a missing number, and the first unused code."""
        return np.array([0, *self.codes(self.cuts), *range(self.steps + 1, self.size + 1)])

    def value(self, code: int) -> Any:
        """Return the number at a code, as an int if it is whole; for the code of a missing number, return the mark."""
        if code > self.steps and self.missing is not None:
            return self.missing
        number = round(float(self.low + int(code) * self.step), 10)  # with 32 bits, a code times a step could overflow
        return int(number) if number.is_integer() else number

    def has(self, values: Any) -> BoolArray:
        """Return, as a boolean array (m,), whether each of `values`, an array (m,), is in the domain or its mark."""
        values = np.asarray(values)
        numbers = pd.to_numeric(values, errors="coerce")
        if numbers.dtype.kind == "c":  # complex numbers have no order
            return np.zeros(len(numbers), dtype=bool)
        numbers = np.asarray(numbers, dtype=float)  # narrow types could not hold the ends of a domain
        with np.errstate(invalid="ignore", over="ignore"):  # infinities and other huge numbers are not in the domain
            steps = (numbers - self.low) / self.step  # decimals such as 0.01 are not exact, so count steps
            inside = (-STEP <= steps) & (steps <= self.width / self.step + STEP) & self._on_a_step(steps)
        return inside | (values == self.missing) if self.missing is not None else inside

    def written(self, column: Any) -> Array:
        """Return numbers as labels write them, as an object array (n,) with the mark for each missing number."""
        codes, index = np.unique(self.codes(column), return_inverse=True)
        return np.array([to_text(self.value(code)) for code in codes.tolist()], dtype=object)[index]

    def read(self, column: pd.Series) -> pd.Series:
        """Return the result of `to_numbers` for a Series in which the mark of a missing number is replaced by NaN."""
        given = column if self.missing is None else map_values(lambda cells: cells.mask(cells == self.missing), column)
        return to_numbers(given)

    def rounded(self, column: pd.Series) -> pd.Series:
        """Return a Series with each number rounded to the nearest step; the mark of a missing number becomes NaN.

        A number halfway between two steps is rounded to the step with an even code. Values outside the domain, and
        values that are not numbers, stay unchanged.
        """
        if is_coded(column.dtype):
            return map_values(self.rounded, column)
        read = self.read(column)
        if self.has(read).all():
            return read
        values = pd.to_numeric(read, errors="coerce").astype(float)
        inside = (self.low <= values) & (values <= self.high)
        return read.where(~inside, round_binary(self.low + np.rint((values - self.low) / self.step) * self.step))

    @staticmethod
    def _on_a_step(steps: Any) -> Any:
        return abs(steps - np.rint(steps)) < STEP


LISTED = 50  # the maximum number of values in a domain that is shown with examples


@dataclass(frozen=True)
class Categories(_Domain):
    """A fixed list of values, which are texts.

    Parameters
    ----------
    values : tuple of str
    mark : str, optional
        The value that marks a missing value; None if there is no mark.
    of_records : bool
        Whether the values were read from the records. If so, a value could identify a person, and no report shows the
        values.
    widened : bool
        Whether values of the records were added to the values that the owner described.
    """

    values: tuple[str, ...]
    mark: str | None = field(default=None, repr=False, compare=False, kw_only=True)
    of_records: bool = field(default=False, repr=False, compare=False, kw_only=True)
    widened: bool = field(default=False, repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        expect.all_of("values", self.values, str)
        expect.kind("of_records", self.of_records, bool)
        expect.kind("widened", self.widened, bool)
        if len(set(self.values)) != len(self.values) or not self.values:
            raise SchemaError(
                f"a domain of categories must have at least one value, and no value twice; got {list(self.values)}."
            )
        if self.mark is not None:
            expect.one_of("mark", self.mark, self.values)

    def __str__(self) -> str:
        many = f"{len(self.values):,} values"
        if self.of_records:
            return f"{many}, read from the records"
        if len(self.values) > LISTED:  # too many to recognize by examples
            return many
        return f"{many}: {', '.join(self.values[:4])}" + (", ..." if len(self.values) > 4 else "")

    def codes(self, values: Any) -> IntArray:
        """Return the position of each value in `self.values`, as an integer array."""
        return pd.Index(self.values).get_indexer(pd.Index(values))

    def has(self, values: Any) -> BoolArray:
        """Return, as a boolean array (m,), whether each of `values`, an array (m,), is in this domain."""
        known = set(self.values)
        return np.fromiter((value in known for value in values), dtype=bool, count=len(values))


ColumnName = Annotated[str, lambda name, value: expect.text(name, value, "a column")]
AnyRole = Annotated[Role, instead(Role, f"Give one of {', '.join(f'Role.{role.name}' for role in Role)}.")]


@dataclass(frozen=True)
class Attribute(Validated):
    """A column of a table: its name, role, public domain and unit, and further facts that the owner states.

    Parameters
    ----------
    name : str
    role : Role
    domain : Numbers or Categories, optional
        The public domain. Only identifiers, keys of people and unused columns need no domain.
    unit : str
    form_of : str
        The name of another column that has the same content in another form. For example, one column contains education
        as text, and another column contains education as a number from 1 to 16.
    sensitivity : float, optional
        The largest possible change of one value, if a source states a number that differs from the width of the domain.
    cannot_be_known : str
        The owner's reason why no adversary can know the values of a neutral column; empty if an adversary may know the
        values.
    harmless : dict of str to str
        The values of a sensitive attribute whose disclosure harms nobody, with the owner's reason for each value.
    public_distribution : dict of str to float
        The share of each value of a sensitive attribute, from 0 to 1, if these shares are public without the release.
        If the dict is empty, the distribution in the whole table counts as public.
    derived : str
        The rule by which the column is computed from other columns, such as "years from birth to admission"; empty for
        a column of the file.
    """

    HINT: ClassVar[str] = "Take one from a schema: schema[name]."
    name: ColumnName
    role: AnyRole
    domain: Numbers | Categories | None = None
    unit: str = ""
    form_of: str = ""
    sensitivity: Positive | None = None
    cannot_be_known: str = ""
    harmless: Annotated[Mapping[str, str], instead(Mapping, 'Give { "value" = "reason" }.')] = field(
        default_factory=dict, hash=False
    )
    public_distribution: Annotated[Mapping[str, float], instead(Mapping, 'Give { "value" = 0.2 }.')] = field(
        default_factory=dict, hash=False
    )
    derived: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cannot_be_known and self.role is not Role.NEUTRAL:
            raise SchemaError(
                f"column '{self.name}' has the role {self.role}, and only a neutral column can have 'cannot_be_known'. "
                "Remove 'cannot_be_known', or give the column the role 'neutral'."
            )
        for key in ("harmless", "public_distribution"):
            self._check_values(key, getattr(self, key))
        for value, reason in self.harmless.items():
            expect.strings(value=value, reason=reason)
            if not reason.strip():
                raise SchemaError(
                    f"column '{self.name}': the harmless value {value!r} must have a reason. Give a reason."
                )
        for value, share in self.public_distribution.items():
            expect.share_or_none(f"public_distribution of {value!r}", share)
        if (total := sum(self.public_distribution.values())) > 1 + ROUNDING:
            raise SchemaError(
                f"column '{self.name}': the shares of public_distribution must add up to 1 at most; got {total:g}."
            )

    def _check_values(self, key: str, values: Collection[str]) -> None:
        """Raise SchemaError if one of `values` is not in the domain, or if a non-sensitive attribute has `values`.

        `key` is the name of the field that contains the values, for the error.
        """
        if values and self.role is not Role.SENSITIVE:
            raise SchemaError(
                f"column '{self.name}' has the role {self.role}, and only values of a sensitive attribute can have "
                f"'{key}'. Remove '{key}', or give the column the role 'sensitive'."
            )
        for value in values:
            if isinstance(self.domain, Categories) and value not in self.domain.values:
                raise SchemaError(
                    f"column '{self.name}': '{key}' names {value!r}, which is not in its domain ({self.domain}). Write "
                    "the value as the release publishes it."
                )

    @property
    def numeric(self) -> bool:
        """Whether the domain is a `Numbers` domain."""
        return isinstance(self.domain, Numbers)

    @property
    def knowable(self) -> bool:
        """Whether an adversary may know a person's value of this attribute.

        The value is True for a quasi-identifier, and for a neutral column unless the owner states why no adversary can
        know the values of the column.
        """
        return self.role is Role.QUASI_IDENTIFIER or (self.role is Role.NEUTRAL and not self.cannot_be_known)

    @property
    def numbers(self) -> Numbers:
        """The domain of a numeric attribute.

        Raises SchemaError for any other attribute.
        """
        if not isinstance(self.domain, Numbers):
            raise SchemaError(f"'{self.name}' must be a numeric attribute; its domain is {self.domain}.")
        return self.domain

    @property
    def categories(self) -> Categories:
        """The domain of a categorical attribute.

        Raises SchemaError for any other attribute.
        """
        if not isinstance(self.domain, Categories):
            raise SchemaError(f"'{self.name}' must be a categorical attribute; its domain is {self.domain}.")
        return self.domain

    @property
    def public_domain(self) -> Numbers | Categories:
        """The public domain of the attribute.

        Raises SchemaError for an attribute without a domain.
        """
        if self.domain is None:
            raise SchemaError(
                f"'{self.name}' must have a public domain. State the values, or the low and the high of the domain."
            )
        return self.domain

    def coded(self, column: Any) -> tuple[IntArray, Array]:
        """Return the result of `encode_values` for a column of this attribute, with missing numbers as their mark."""
        codes, values = encode_values(column)
        if self.domain is not None and self.domain.missing is not None and pd.isna(values[-1:]).any():
            values = np.append(values[:-1].astype(object), self.domain.missing)
        return codes, values


@dataclass(frozen=True)
class Schema:
    """The attributes of a dataset, in the order of its columns.

    Parameters
    ----------
    dataset : str
        The name of the dataset, which errors contain.
    attributes : tuple of Attribute
    invented : bool
        Whether the owner declares in the description that the records are invented; privnb cannot check this claim.

    Raises
    ------
    SchemaError
        If a name has a forbidden character or is repeated, if two columns in use have the same content in two forms, if
        there are two keys of people or two weights, or if a published column has no domain.
    """

    dataset: str
    attributes: tuple[Attribute, ...]
    invented: bool = False

    def __post_init__(self) -> None:
        expect.text("dataset", self.dataset, "the dataset")
        expect.kind("invented", self.invented, bool)
        expect.all_of("attributes", self.attributes, Attribute)
        check_name("dataset", self.dataset)
        for attribute in self.attributes:
            check_name(f"dataset '{self.dataset}': column", attribute.name)
        named = [attribute.name for attribute in self.attributes]
        used = [attribute.name for attribute in self.attributes if attribute.role is not Role.UNUSED]
        if twice := sorted({name for name in named if named.count(name) > 1}):
            raise SchemaError(
                f"dataset '{self.dataset}': column {twice} has more than one role or description. "
                "Give each column exactly one; a sensitive attribute cannot also be a quasi-identifier."
            )
        for role, what in {Role.PERSON: "keys of people", Role.WEIGHT: "weights"}.items():
            if len(both := self.names(role)) > 1:
                raise SchemaError(
                    f"dataset '{self.dataset}': {both} are both {what}, but a table can have only one such column. "
                    f"Give one of them the role '{role}' and the other 'identifier' or 'unused'. If a person can be "
                    "identified only by both columns together, join the columns into one column of the file."
                )
        for attribute in self.attributes:
            if attribute.name in used and attribute.form_of in used:
                raise SchemaError(
                    f"dataset '{self.dataset}': '{attribute.name}' is another form of '{attribute.form_of}' and "
                    "both are in use. Give one of them the role 'unused', because a miner would count the content "
                    "twice."
                )
            if attribute.domain is None and attribute.role in PUBLISHED:
                raise SchemaError(
                    f"dataset '{self.dataset}': column '{attribute.name}' has no public domain. "
                    "State the values, or the low and the high of the domain."
                )

    def __getitem__(self, name: str) -> Attribute:
        for attribute in self.attributes:
            if isinstance(name, str) and attribute.name == name:
                return attribute
        near = names.suggest([name], self.names()) if isinstance(name, str) else ""
        raise SchemaError(
            f"dataset '{self.dataset}' has no attribute {expect.describe_value(name)}; it has "
            f"{', '.join(self.names())}.{near}"
        )

    def names(self, *roles: Role) -> list[str]:
        """Return, in column order, the names of the attributes with one of the `roles`; by default, all names."""
        return [attribute.name for attribute in self.attributes if not roles or attribute.role in roles]

    @property
    def quasi_identifiers(self) -> list[str]:
        """The names of the quasi-identifiers."""
        return self.names(Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> list[str]:
        """The names of the sensitive attributes."""
        return self.names(Role.SENSITIVE)

    @property
    def knowable(self) -> list[str]:
        """The names of the columns whose values an adversary may know; see `Attribute.knowable`."""
        return [attribute.name for attribute in self.attributes if attribute.knowable]

    @property
    def unknowable(self) -> dict[str, str]:
        """The owner's reason for each neutral column whose values no adversary can know, as `{name: reason}`."""
        return {each.name: each.cannot_be_known for each in self.attributes if each.cannot_be_known}

    def with_known(self, names: Collection[str]) -> Schema:
        """Return the schema in which the neutral columns `names`, which an adversary knows, are quasi-identifiers."""
        known = (
            replace(each, role=Role.QUASI_IDENTIFIER, cannot_be_known="") if each.name in names else each
            for each in self.attributes
        )
        return replace(self, attributes=tuple(known))

    @property
    def person(self) -> str | None:
        """The name of the key of the person or household; None if each row belongs to a different person."""
        return next(iter(self.names(Role.PERSON)), None)

    @property
    def weight(self) -> str | None:
        """The name of the column with the sampling weights; None if each record represents only itself."""
        return next(iter(self.names(Role.WEIGHT)), None)

    @property
    def published(self) -> list[str]:
        """The names of all published attributes, which are the quasi-identifiers, sensitive and neutral attributes."""
        return self.names(*PUBLISHED)

    @property
    def derived(self) -> dict[str, str]:
        """The rule of each derived column, as `{name: rule}`."""
        return {each.name: each.derived for each in self.attributes if each.derived}

    def marked(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return a table in the form that hierarchies accept, with the mark in place of each missing number."""
        found = table.copy(deep=False)  # pandas copies the parts that are changed
        for attribute in self.attributes:
            if attribute.domain is not None and attribute.domain.missing is not None and attribute.name in table:
                found[attribute.name] = attribute.domain.marked(table[attribute.name])
        return found

    def described(self) -> pd.DataFrame:
        """Return a table of the attributes for display: name, role, public domain and unit."""
        rows = [(a.name, str(a.role), str(a.domain or ""), a.unit) for a in self.attributes]
        return pd.DataFrame(rows, columns=["attribute", "role", "public domain", "unit"])

    def with_roles(
        self,
        roles: Mapping[str, str],
        sensitivities: Mapping[str, float] = MappingProxyType({}),
        cannot_be_known: Mapping[str, str] = MappingProxyType({}),
    ) -> Schema:
        """Return the schema of the attributes in `roles`, with these roles and without unused attributes.

        The key of people and the weights stay in the schema, because these roles are facts of the table and not a
        choice of the study. `roles` can give another role to one of these two columns, or its role to another column.

        Parameters
        ----------
        roles : dict of str to Role or str
        sensitivities : dict of str to float
            The sensitivities that differ from the width of the domain, by attribute.
        cannot_be_known : dict of str to str
            The reasons why no adversary can know the values of some neutral columns, by column.

        Returns
        -------
        Schema
        """
        for name in [*roles, *sensitivities, *cannot_be_known]:
            self[name]
        for kept, role in ((self.person, Role.PERSON), (self.weight, Role.WEIGHT)):
            if kept and role not in map(Role, roles.values()):
                roles = {kept: role, **roles}
        stated, reasons = dict(sensitivities), dict(cannot_be_known)
        chosen = (
            replace(
                a,
                role=(role := Role(roles[a.name])),
                sensitivity=stated.get(a.name, a.sensitivity),
                cannot_be_known=reasons.get(a.name, a.cannot_be_known) if role is Role.NEUTRAL else "",
                harmless=a.harmless if role is Role.SENSITIVE else {},
                public_distribution=a.public_distribution if role is Role.SENSITIVE else {},
            )
            for a in self.attributes
            if a.name in roles
        )
        return replace(self, attributes=tuple(a for a in chosen if a.role is not Role.UNUSED))

    def check(self, table: pd.DataFrame, least: int = 2, times: pd.Series | None = None) -> None:
        """Raise SchemaError unless `table` has exactly the schema's columns, with values in the columns' domains.

        Parameters
        ----------
        table : DataFrame
        least : int
            The minimum number of rows.
        times : Series, optional
            The number of records that each row represents, with the index of `table`; by default, each row is 1 record.
        """
        columns = list(table.columns)
        if twice := sorted({str(c) for c in columns if columns.count(c) > 1}):
            raise SchemaError(
                f"dataset '{self.dataset}': the table has more than one column {twice}. Rename one of these columns."
            )
        named = self.names()
        if missing := [name for name in named if name not in columns]:
            raise SchemaError(
                f"dataset '{self.dataset}': the schema names column {missing}, which the table lacks (the table has "
                f"{', '.join(map(str, columns))}). Rename the column or edit the schema."
            )
        if extra := [str(c) for c in columns if c not in named]:
            raise SchemaError(
                f"dataset '{self.dataset}': the table has column {extra}, which the schema does not name. "
                "Describe the column in the schema (the role 'unused' leaves the column out), or drop the column."
            )
        if len(table) < least:
            self.check_records(len(table))
        outside = [self._check_column(attribute, table[attribute.name], times) for attribute in self.attributes]
        if said := [each for each in outside if each]:
            raise SchemaError(
                f"dataset '{self.dataset}': {'; '.join(said)}. Correct the table or the domain in the schema. For a "
                'described dataset, `outside` may be "missing" or "widen" (--outside missing, --outside widen).'
            )

    def check_records(self, number: int) -> None:
        """Raise SchemaError unless `number`, the number of records, is at least 2."""
        if number < 2:
            raise SchemaError(f"dataset '{self.dataset}': a table must have at least 2 records; got {number}.")

    def _check_column(self, attribute: Attribute, column: pd.Series, times: pd.Series | None) -> str:
        """Return the part of an error message that describes values outside the domain; empty without such values."""
        if attribute.role is Role.PERSON and (missing := column.isna()).any():
            first = f", the first in record {missing.argmax() + 1}" if times is None else ""
            raise SchemaError(
                f"dataset '{self.dataset}': column '{attribute.name}', the key of people, has no value in "
                f"{_records(missing[missing], times)} of {_records(column, times)} records{first}, so people cannot be "
                "counted. Fill in the missing values, drop those records, or give the column another role."
            )
        if attribute.role is Role.WEIGHT:
            self._check_weights(attribute.name, column)
        if attribute.domain is None or attribute.role is Role.WEIGHT:
            return ""
        outside = attribute.domain.outside(column)
        if not len(outside):
            return ""
        if missing := _records(outside[outside.isna()], times):
            raise SchemaError(
                f"dataset '{self.dataset}': column '{attribute.name}' has {missing} missing values, "
                "which its domain does not allow. Drop those records, or add a mark of missing values to the domain: "
                'another text in a list, or missing = "NA" next to low and high.'
            )
        return (
            f"column '{attribute.name}' has {_records(outside, times)} values outside its public domain: "
            f"{describe_commonest(outside, times)}"
        )

    def _check_weights(self, name: str, column: pd.Series) -> None:
        read = pd.to_numeric(decode_column(column), errors="coerce").astype(float)
        kinds = {"missing": column.isna(), "not numbers": read.isna() | np.isinf(read), "zero or negative": read <= 0}
        for kind, wrong in kinds.items():
            if wrong.any():
                raise SchemaError(
                    f"dataset '{self.dataset}': column '{name}' has {wrong.sum()} weights that are {kind}, the first "
                    f"in record {wrong.to_numpy().argmax() + 1}. A weight is the number of people in the population "
                    "whom the record represents. Correct the weights, drop those records, or give the column another "
                    "role."
                )
