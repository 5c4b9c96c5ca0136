"""What each column of a table is: its role, its public domain, its unit.

A domain is public knowledge. It is stated by the data owner and never read from the records: a bound
that depends on the records would tell something about them.

One module: an attribute is its domain, and a schema its attributes.
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
from privnb.microdata.columns import by_value, of_codes, plain
from privnb.microdata.counts import coded, factorized, is_coded, looked_up
from privnb.runtime import expect, names
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray
from privnb.runtime.errors import InputError
from privnb.runtime.lazy import pd
from privnb.runtime.tolerances import ROUNDING, STEP
from privnb.runtime.validation import Positive, Validated, instead


class SchemaError(InputError):
    """A table, a schema or a hierarchy that do not fit each other."""


class NotForThisTable(InputError):
    """What was asked has no answer on this table. The message says why, and what to change.

    A notebook that raises it has nothing to say: its report has that sentence in its place, and the other pages.
    """


def check_name(kind: str, name: str) -> None:
    """Raise SchemaError for a name that holds what no name may, see `names.refused`. `kind`: what is called so."""
    if held := names.refused(name):
        mapped = ", and map the file's own name to it under [renamed]" * kind.endswith("column")
        raise SchemaError(
            f"{kind} {name!r} holds {held}, which a name may not: it stands in pages and files, and must look like "
            f"what it is. Call it {names.offered(name)!r}{mapped}."
        )


def commonest(values: Any, times: pd.Series | None = None) -> str:
    """Return the three commonest values with their counts, for errors: "'green' (2), 'pink' (1)".

    `times`: how many records have each value, a Series with the index of `values`; None: one.
    """
    values = pd.Series(values)
    if times is None:
        counts = values.value_counts()
    else:
        counts = times.groupby(values, sort=False).sum().sort_values(ascending=False, kind="stable")
    return ", ".join(f"{value!r} ({count})" for value, count in counts.head(3).items())


def _records(rows: Any, times: pd.Series | None) -> int:
    """Return how many records the `rows` stand for, a Series. `times`: as of `Schema.check`."""
    return len(rows) if times is None else int(times.loc[rows.index].sum())


def _is_mark(text: str) -> bool:
    """Whether a label that is this text can be read as nothing but a missing number."""
    digits = any(letter.isdigit() for letter in text)
    return text.strip() == text not in ("", "*") and not digits and bool(np.isnan(pd.to_numeric(text, errors="coerce")))


def numbers(column: pd.Series) -> pd.Series:
    """A column of a numeric attribute as numbers: "9", 9 and 9.0 are the same value to everybody who counts.

    A missing one is NaN. What is no number stays as it is, for the domain to refuse it.
    """
    if is_coded(column.dtype):
        return column if pd.api.types.is_numeric_dtype(column.cat.categories.dtype) else by_value(numbers, column)
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column
    index, distinct = factorized(column)
    read = pd.to_numeric(pd.Series(distinct, dtype=object), errors="coerce")
    read = read.reindex(index).set_axis(column.index).rename(column.name)  # the index of a missing value is -1
    other = read.isna() & column.notna()
    return column.astype(object).where(other, read) if other.any() else read


def text(value: object) -> str:
    """A value as hierarchies write it: whole numbers without a decimal point, none with an exponent."""
    if not isinstance(value, float | np.floating) or not np.isfinite(value):
        return str(value)
    number = round(float(value), 10)  # as `Numbers.value` does: 0.1 + 0.2 is 0.3
    return str(int(number)) if number.is_integer() else np.format_float_positional(number, trim="-")


class _Domain:
    """A public domain."""

    missing: str | None = None
    of_records: bool = False  # whether its values were read from the records
    widened: bool = False  # whether it was widened to values that the records hold

    def has(self, values: Any) -> BoolArray:
        """Return which of an array's values are in the domain, none of them missing: boolean array."""
        raise NotImplementedError

    def marked(self, column: pd.Series) -> pd.Series:
        """A Series with the mark in the place of each value that is missing."""
        if self.missing is None:
            return column
        if is_coded(column.dtype):
            codes, values = looked_up(column)  # the code of a missing value is -1: the last
            if codes.min(initial=0) >= 0:
                return column
            marked = of_codes(codes.astype(np.intp) % (len(values) + 1), np.append(values.astype(object), self.missing))
            return pd.Series(marked, column.index, name=column.name)
        return column.astype(object).where(column.notna(), self.missing)

    def outside(self, column: pd.Series) -> pd.Series:
        """The entries of `column` that are not in this domain, missing ones among them."""
        try:
            index, distinct = looked_up(column)
        except TypeError:  # a list in a cell, say: as text it is none of the domain's values
            index, distinct = factorized([cell if isinstance(cell, Hashable) else repr([cell]) for cell in column])
        inside = np.append(self.has(distinct), self.missing is not None)  # the last: of a missing one, at -1
        return column[:0] if inside[:-1].all() and index.min(initial=0) >= 0 else plain(column[~inside[index]])


class Role(StrEnum):
    """What an attribute means for privacy."""

    IDENTIFIER = "identifier"  # names a person; dropped from every release
    PERSON = "person"  # the key of the person or household whose rows these are; dropped, and who is counted by
    WEIGHT = "weight"  # how many people of a population the record stands for; dropped, for it is nearly a name
    QUASI_IDENTIFIER = "quasi-identifier"  # may be known to an adversary from elsewhere
    SENSITIVE = "sensitive"  # what no adversary should learn
    NEUTRAL = "neutral"  # neither; published as it is
    UNUSED = "unused"  # in the file, left out of the dataset


PUBLISHED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.NEUTRAL)


def decimals(found: Any, places: int = 10) -> FloatArray:
    """Numbers without the error of binary fractions.

    Parameters
    ----------
    found : array-like (n,)
    places : int
        Decimal places at most; of large numbers fewer, for a float has 15 digits.

    Returns
    -------
    float array (n,)

    >>> decimals([0.1 + 0.2]).tolist(), decimals([533_189_000_000.0]).tolist()
    ([0.3], [533189000000.0])
    """
    found = np.asarray(found, dtype=float)
    digits = len(str(int(np.abs(found[np.isfinite(found)]).max(initial=0))))
    return np.round(found, min(max(15 - digits, 0), places))


@dataclass(frozen=True)
class Numbers(_Domain):
    """The numbers from `low` to `high`, both included, in steps of `step`; and a missing one, if it has a mark.

    A missing number is NaN in a column of floats. It stands last, after all numbers, and is as far from each of them as
    low and high are from each other.

    Parameters
    ----------
    low, high : float
    step : float
        Of which low and high lie a whole number apart.
    cuts : float or tuple of float, optional
        Where public intervals begin, beside `low`, as rising numbers. They may be given as one number, the width of all
        intervals, counted from 0; without them it is a round number that makes ten to twenty, fewer of a narrow domain.
        Ranges end there rather than at a value that few people share, so they should be public knowledge, such as the
        ages of a law.
    missing : str, optional
        How files and published labels write a missing number; None: no number may be missing.
    missing_is_public : bool
        Whether everybody may know which numbers are missing, so that a promise of epsilon need not cover it.
    widened : bool
        Whether an end was read from the records, so that no promise of epsilon holds.

    Raises
    ------
    SchemaError
        Unless low < high and step > 0, for more than 2^31 values, for cuts that do not cut the domain, and for a mark
        that is empty, `*` or looks like a number or a range.

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
            raise SchemaError(f"a domain of numbers needs low < high and step > 0, got {self}.")
        if self.width / self.step < 0.5 or not self._on_a_step(self.width / self.step):
            raise SchemaError(f"a domain's high must lie a whole number of steps above low, got {self}.")
        most = 2**31 - (self.missing is not None)
        if self.step < 1e-9 or self.width / self.step >= most or max(abs(self.low), abs(self.high)) >= 2**53:
            counted = f", of which {self.missing!r} for a missing one is one" if self.missing is not None else ""
            raise SchemaError(
                f"a domain of numbers has at most {2**31:,} values{counted}, steps of 1e-9 or more and nothing beyond "
                f"2^53, got low={self.low!r}, high={self.high!r}, step={self.step!r}. Give a coarser step or another "
                "unit."
            )
        expect.kind("missing", self.missing, str, type(None))
        expect.kind("missing_is_public", self.missing_is_public, bool)
        expect.kind("widened", self.widened, bool)
        if self.missing is not None and not _is_mark(self.missing):
            raise SchemaError(
                f"the mark of a missing number must be a word that is no number, no range and not '*', as NA or ? are; "
                f"got {self.missing!r}. Give another, here and as 'missing' under [format]."
            )
        try:
            object.__setattr__(self, "cuts", cuts.points(self, self.cuts))
        except ValueError as error:
            raise SchemaError(str(error)) from None

    def __str__(self) -> str:
        said = f"{self.low:g} to {self.high:g}" + ("" if self.step == 1 else f" in steps of {self.step:g}")
        return said if self.missing is None else f"{said}, or {self.missing} (missing)"

    @property
    def width(self) -> float:
        """Largest minus smallest value: the most that one value can change."""
        return self.high - self.low

    @cached_property
    def steps(self) -> int:
        """The code of `high`, which is the highest of a number."""
        return int(np.rint(self.width / self.step))

    @property
    def size(self) -> int:
        """How many values there are, a missing one among them."""
        return self.steps + 1 + (self.missing is not None)

    @property
    def middle(self) -> float:
        """The number half way from low to high, on a step."""
        return self.value(int(self.codes((self.low + self.high) / 2)))

    def codes(self, values: Any) -> IntArray:
        """Number of steps above `low`, integer array of the shape of `values`; of a missing one, one more than `steps`.

        Values are numbers, texts of numbers, NaN or the mark of a missing one.
        """
        if self.missing is not None:
            values = np.asarray(values)
            read = values if values.dtype.kind in "iuf" else pd.to_numeric(values, errors="coerce")
            values = np.where(np.isnan(read), self.low + (self.steps + 1) * self.step, read)
        return np.rint((np.asarray(values, dtype=float) - self.low) / self.step).astype(np.int64)

    def filled(self, values: Any) -> Array:
        """Return an array of numbers with the `middle` for each that is missing."""
        values = np.asarray(values)
        return values if self.missing is None else np.where(pd.isna(values), self.middle, values)

    def points(self, values: Any) -> Array:
        """Return numbers as points on a line, where a missing one is the domain's width or more from each number."""
        values = np.asarray(values)
        return values if self.missing is None else np.where(pd.isna(values), self.high + self.width, values)

    def distances(self, one: Any, other: Any) -> FloatArray:
        """Return how far numbers are apart, pair by pair: the width of the domain where one of the two is missing."""
        found, (gap, other_gap) = np.abs(np.subtract(one, other)), (pd.isna(np.asarray(each)) for each in (one, other))
        return np.where(gap & other_gap, 0, np.where(gap | other_gap, self.width, found))

    def interval(self, codes: IntArray) -> tuple[IntArray, IntArray]:
        """The first and the last code of the public interval that holds each of `codes`, two integer arrays."""
        number = np.searchsorted(self._starts, codes, side="right") - 1
        return self._starts[number], self._starts[number + 1] - 1

    @cached_property
    def _starts(self) -> IntArray:
        """The codes at which public intervals begin, and the first above the domain."""
        return np.array([0, *self.codes(self.cuts), *range(self.steps + 1, self.size + 1)])

    def value(self, code: int) -> Any:
        """The number at a code, as it is printed: whole numbers without a decimal point; of a missing one its mark."""
        if code > self.steps and self.missing is not None:
            return self.missing
        number = round(float(self.low + int(code) * self.step), 10)  # of 32 bits, a code times a step may be too large
        return int(number) if number.is_integer() else number

    def has(self, values: Any) -> BoolArray:
        """Which of `values`, array (m,), are in this domain, its mark among them: boolean array."""
        values = np.asarray(values)
        numbers = pd.to_numeric(values, errors="coerce")
        if numbers.dtype.kind == "c":  # complex ones have no order
            return np.zeros(len(numbers), dtype=bool)
        numbers = np.asarray(numbers, dtype=float)  # the narrow kinds would not hold a domain's ends
        with np.errstate(invalid="ignore", over="ignore"):  # infinities and whatever is near are no values
            steps = (numbers - self.low) / self.step  # decimals such as 0.01 are not exact, so count steps
            inside = (-STEP <= steps) & (steps <= self.width / self.step + STEP) & self._on_a_step(steps)
        return inside | (values == self.missing) if self.missing is not None else inside

    def written(self, column: Any) -> Array:
        """Numbers of the domain as labels write them, a missing one as its mark: object array (n,)."""
        codes, index = np.unique(self.codes(column), return_inverse=True)
        return np.array([text(self.value(code)) for code in codes.tolist()], dtype=object)[index]

    def read(self, column: pd.Series) -> pd.Series:
        """A Series as `numbers` gives it, NaN for the mark."""
        given = column if self.missing is None else by_value(lambda cells: cells.mask(cells == self.missing), column)
        return numbers(given)

    def rounded(self, column: pd.Series) -> pd.Series:
        """The numbers of a Series on the nearest step each, half-way ones on the even step; a mark as NaN. What lies
        outside of the domain, or is no number, stays as it is.
        """
        if is_coded(column.dtype):
            return by_value(self.rounded, column)
        read = self.read(column)
        if self.has(read).all():
            return read
        values = pd.to_numeric(read, errors="coerce").astype(float)
        inside = (self.low <= values) & (values <= self.high)
        return read.where(~inside, decimals(self.low + np.rint((values - self.low) / self.step) * self.step))

    @staticmethod
    def _on_a_step(steps: Any) -> Any:
        return abs(steps - np.rint(steps)) < STEP


LISTED = 50  # values of a domain of which some are named


@dataclass(frozen=True)
class Categories(_Domain):
    """A fixed list of values, written as text.

    Parameters
    ----------
    values : tuple of str
    of_records : bool
        Whether they were read from the records: one may be a single person's, and no report names them.
    widened : bool
        Whether some were added to a described domain, because the records hold them.
    """

    values: tuple[str, ...]
    of_records: bool = field(default=False, repr=False, compare=False, kw_only=True)
    widened: bool = field(default=False, repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        expect.all_of("values", self.values, str)
        expect.kind("of_records", self.of_records, bool)
        expect.kind("widened", self.widened, bool)
        if len(set(self.values)) != len(self.values) or not self.values:
            raise SchemaError(f"a domain of categories needs distinct values, got {list(self.values)}.")

    def __str__(self) -> str:
        many = f"{len(self.values):,} values"
        if self.of_records:
            return f"{many}, read from the records"
        if len(self.values) > LISTED:  # which nobody knows by heart
            return many
        return f"{many}: {', '.join(self.values[:4])}" + (", ..." if len(self.values) > 4 else "")

    def codes(self, values: Any) -> IntArray:
        """Position of each value in `self.values`, integer array."""
        return pd.Index(self.values).get_indexer(pd.Index(values))

    def has(self, values: Any) -> BoolArray:
        """Which of `values`, array (m,), are in this domain: boolean array."""
        known = set(self.values)
        return np.fromiter((value in known for value in values), dtype=bool, count=len(values))


ColumnName = Annotated[str, lambda name, value: expect.text(name, value, "a column")]
AnyRole = Annotated[Role, instead(Role, f"Give one of {', '.join(f'Role.{role.name}' for role in Role)}.")]


@dataclass(frozen=True)
class Attribute(Validated):
    """One column.

    Parameters
    ----------
    name : str
    role : Role
    domain : Numbers or Categories, optional
        Public; only identifiers, keys of people and unused columns need none.
    unit : str
    form_of : str
        Another column with the same content in another form (education as text and as 1-16).
    sensitivity : float, optional
        How much one value can change, where a source states another number than the domain's width.
    cannot_be_known : str
        The owner's reason why no adversary can know the values of a neutral column; empty: an adversary may.
    harmless : dict of str to str
        Values of a sensitive attribute that harm nobody who is known to have them, each with the owner's reason.
    public_distribution : dict of str to float
        How likely each value of a sensitive attribute is, as is public without the release: shares from 0 to 1. Empty:
        its distribution in the whole table counts as public.
    """

    HINT: ClassVar[str] = "A schema has them by name: schema[name]."
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

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cannot_be_known and self.role is not Role.NEUTRAL:
            raise SchemaError(
                f"column '{self.name}' has the role {self.role}, and only a neutral column can be stated as one that "
                "cannot be known. Remove 'cannot_be_known', or give the column the role 'neutral'."
            )
        for key in ("harmless", "public_distribution"):
            self._check_values(key, getattr(self, key))
        for value, reason in self.harmless.items():
            expect.strings(value=value, reason=reason)
            if not reason.strip():
                raise SchemaError(f"column '{self.name}': the harmless value {value!r} has no reason. Give one.")
        for value, share in self.public_distribution.items():
            expect.share_or_none(f"public_distribution of {value!r}", share)
        if (total := sum(self.public_distribution.values())) > 1 + ROUNDING:
            raise SchemaError(
                f"column '{self.name}': the shares of public_distribution must add up to 1 at most; got {total:g}."
            )

    def _check_values(self, key: str, values: Collection[str]) -> None:
        """Raise SchemaError where `key` is stated of a column that is not sensitive, or of a value that it lacks."""
        if values and self.role is not Role.SENSITIVE:
            raise SchemaError(
                f"column '{self.name}' has the role {self.role}, and only values of a sensitive attribute can have "
                f"'{key}'. Remove it, or give the column the role 'sensitive'."
            )
        for value in values:
            if isinstance(self.domain, Categories) and value not in self.domain.values:
                raise SchemaError(
                    f"column '{self.name}': '{key}' names {value!r}, which is not in its domain ({self.domain}). Write "
                    "it as the release publishes it."
                )

    @property
    def numeric(self) -> bool:
        return isinstance(self.domain, Numbers)

    @property
    def knowable(self) -> bool:
        """Whether an adversary may know a person's value: of a quasi-identifier, and of a neutral column unless its
        owner states why nobody can.
        """
        return self.role is Role.QUASI_IDENTIFIER or (self.role is Role.NEUTRAL and not self.cannot_be_known)

    @property
    def numbers(self) -> Numbers:
        """The domain of a numeric attribute."""
        if not isinstance(self.domain, Numbers):
            raise SchemaError(f"'{self.name}' must be a numeric attribute; its domain is {self.domain}.")
        return self.domain

    @property
    def categories(self) -> Categories:
        """The domain of an attribute of categories."""
        if not isinstance(self.domain, Categories):
            raise SchemaError(f"'{self.name}' must be an attribute of categories; its domain is {self.domain}.")
        return self.domain

    @property
    def public_domain(self) -> Numbers | Categories:
        """The domain of an attribute that is published, which has one."""
        if self.domain is None:
            raise SchemaError(f"'{self.name}' must have a public domain. State its values or its low and high.")
        return self.domain

    def coded(self, column: Any) -> tuple[IntArray, Array]:
        """What `counts.coded` gives of a column of it, with the mark for a missing number."""
        codes, values = coded(column)
        if self.domain is not None and self.domain.missing is not None and pd.isna(values[-1:]).any():
            values = np.append(values[:-1].astype(object), self.domain.missing)
        return codes, values


@dataclass(frozen=True)
class Schema:
    """The attributes of a dataset, in the order of its columns.

    Parameters
    ----------
    dataset : str
        What errors call the table.
    attributes : tuple of Attribute

    Raises
    ------
    SchemaError
        For a name that no column may have, or that stands twice; for two forms of one content in use; for two keys of
        people; and for a column that is published, without a domain.
    """

    dataset: str
    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        expect.text("dataset", self.dataset, "the dataset")
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
                    f"dataset '{self.dataset}': {both} are both {what}. Whom a class counts is one thing: give one of "
                    f"them role '{role}', the other 'identifier' or 'unused'. What only both say stands in one column: "
                    "join them in the file."
                )
        for attribute in self.attributes:
            if attribute.name in used and attribute.form_of in used:
                raise SchemaError(
                    f"dataset '{self.dataset}': '{attribute.name}' is another form of '{attribute.form_of}' and "
                    "both are in use. Set one of them to role 'unused': a miner given both counts it twice."
                )
            if attribute.domain is None and attribute.role in PUBLISHED:
                raise SchemaError(
                    f"dataset '{self.dataset}': column '{attribute.name}' has no public domain. "
                    "State its values or its low and high."
                )

    def __getitem__(self, name: str) -> Attribute:
        for attribute in self.attributes:
            if isinstance(name, str) and attribute.name == name:
                return attribute
        near = names.meant([name], self.names()) if isinstance(name, str) else ""
        raise SchemaError(
            f"dataset '{self.dataset}' has no attribute {expect.found(name)}; it has {', '.join(self.names())}.{near}"
        )

    def names(self, *roles: Role) -> list[str]:
        """Names of the attributes with one of `roles` (all, without one), in column order."""
        return [attribute.name for attribute in self.attributes if not roles or attribute.role in roles]

    @property
    def quasi_identifiers(self) -> list[str]:
        return self.names(Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> list[str]:
        return self.names(Role.SENSITIVE)

    @property
    def knowable(self) -> list[str]:
        """Names of the columns whose values an adversary may know of a person, see `Attribute.knowable`."""
        return [attribute.name for attribute in self.attributes if attribute.knowable]

    @property
    def unknowable(self) -> dict[str, str]:
        """Neutral columns that no adversary can know, each with its owner's reason."""
        return {each.name: each.cannot_be_known for each in self.attributes if each.cannot_be_known}

    def with_known(self, names: Collection[str]) -> Schema:
        """The same schema, in which an adversary knows the neutral columns `names` as the quasi-identifiers."""
        known = (
            replace(each, role=Role.QUASI_IDENTIFIER, cannot_be_known="") if each.name in names else each
            for each in self.attributes
        )
        return Schema(self.dataset, tuple(known))

    @property
    def person(self) -> str | None:
        """Name of the key of the person or household whose rows these are; None where each row is a person's."""
        return next(iter(self.names(Role.PERSON)), None)

    @property
    def weight(self) -> str | None:
        """Name of the sampling weights; None where the records stand for themselves."""
        return next(iter(self.names(Role.WEIGHT)), None)

    @property
    def published(self) -> list[str]:
        """Names of all attributes that a release holds: no identifiers, neither the key of people nor weights."""
        return self.names(*PUBLISHED)

    def marked(self, table: pd.DataFrame) -> pd.DataFrame:
        """A table of these attributes as hierarchies read it, with its mark in the place of each missing number."""
        found = table.copy(deep=False)  # which pandas copies where it is written to
        for attribute in self.attributes:
            if attribute.domain is not None and attribute.domain.missing is not None and attribute.name in table:
                found[attribute.name] = attribute.domain.marked(table[attribute.name])
        return found

    def described(self) -> pd.DataFrame:
        """One row an attribute, to look at: name, role, public domain, unit."""
        rows = [(a.name, str(a.role), str(a.domain or ""), a.unit) for a in self.attributes]
        return pd.DataFrame(rows, columns=["attribute", "role", "public domain", "unit"])

    def with_roles(
        self,
        roles: Mapping[str, str],
        sensitivities: Mapping[str, float] = MappingProxyType({}),
        cannot_be_known: Mapping[str, str] = MappingProxyType({}),
    ) -> Schema:
        """The attributes named in `{name: role}`, in those roles; all others, and the unused, are left out.

        The key of people and the weights stay unless `roles` name them, or others: whose the rows are, and for how many
        they stand, is no matter of choice.

        Parameters
        ----------
        roles : dict of str to Role or str
        sensitivities : dict of str to float
            For attributes whose source states another one than their domain's width.
        cannot_be_known : dict of str to str
            For neutral columns the reason why no adversary can know them.

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
        return Schema(self.dataset, tuple(a for a in chosen if a.role is not Role.UNUSED))

    def check(self, table: pd.DataFrame, least: int = 2, times: pd.Series | None = None) -> None:
        """Raise SchemaError unless `table` has exactly these columns and only values of their domains.

        Parameters
        ----------
        table : DataFrame
        least : int
            The smallest number of rows.
        times : Series, optional
            How many records each row stands for, with the index of `table`; None: one.
        """
        columns = list(table.columns)
        if twice := sorted({str(c) for c in columns if columns.count(c) > 1}):
            raise SchemaError(f"dataset '{self.dataset}': the table has more than one column {twice}. Rename one.")
        named = self.names()
        if missing := [name for name in named if name not in columns]:
            raise SchemaError(
                f"dataset '{self.dataset}': the schema names column {missing}, which the table lacks "
                f"(it has {', '.join(map(str, columns))}). Rename the column or edit the schema."
            )
        if extra := [str(c) for c in columns if c not in named]:
            raise SchemaError(
                f"dataset '{self.dataset}': the table has column {extra}, which the schema does not name. "
                "Describe it in the schema (role 'unused' leaves it out) or drop it."
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
        """Raise SchemaError unless there are at least 2 records."""
        if number < 2:
            raise SchemaError(f"dataset '{self.dataset}': a table needs at least 2 records, this one has {number}.")

    def _check_column(self, attribute: Attribute, column: pd.Series, times: pd.Series | None) -> str:
        """Return which values are outside the domain; empty without any."""
        if attribute.role is Role.PERSON and (missing := column.isna()).any():
            first = f", the first in record {missing.argmax() + 1}" if times is None else ""
            raise SchemaError(
                f"dataset '{self.dataset}': column '{attribute.name}', the key of people, has "
                f"{_records(missing[missing], times)} missing values{first}. Nobody could count whose rows these are: "
                "fill them in, drop those records, or give the column another role."
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
                "which its domain does not allow. Drop those records, or list a value for 'missing' in the domain: one "
                'more text in a list, missing = "NA" beside low and high.'
            )
        return (
            f"column '{attribute.name}' has {_records(outside, times)} values outside its public domain: "
            f"{commonest(outside, times)}"
        )

    def _check_weights(self, name: str, column: pd.Series) -> None:
        read = pd.to_numeric(plain(column), errors="coerce").astype(float)
        kinds = {"missing": column.isna(), "no numbers": read.isna() | np.isinf(read), "zero or negative": read <= 0}
        for kind, wrong in kinds.items():
            if wrong.any():
                raise SchemaError(
                    f"dataset '{self.dataset}': column '{name}' has {wrong.sum()} weights that are {kind}, the first "
                    f"in record {wrong.to_numpy().argmax() + 1}. A record stands for some people of the population: "
                    "correct them, drop those records, or give the column another role."
                )
