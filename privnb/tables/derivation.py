"""Derived columns: ages, lengths of time, periods of dates and beginnings of codes, computed from other columns.

Python reads each distinct text of a source column once. Records in memory and the records of every engine receive
their values from the same table of texts, so derived columns are equal everywhere.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Literal, Self

import numpy as np

from privnb.microdata.columns import assign_columns, make_categorical
from privnb.microdata.hierarchy import taxonomies
from privnb.microdata.schema import SchemaError
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pa, pd
from privnb.runtime.names import suggest, unquote
from privnb.tables import reading
from privnb.tables.corrections import Correction

Kind = Literal["years", "days", "year", "quarter", "month", "prefix"]
Code = int | str | None  # what a source cell contributes to a derived value; None if the cell contributes nothing
# The keys of each kind in a description: the key of the source, and the key of the other argument.
KEYS: Mapping[Kind, tuple[str, str]] = {
    "years": ("years_from", "to"), "days": ("days_from", "to"), "year": ("year_of", ""),
    "quarter": ("quarter_of", ""), "month": ("month_of", ""), "prefix": ("prefix_of", "characters"),
}  # fmt: skip
# The parts that the format of the dates must contain.
NEEDED: Mapping[Kind, str] = {"years": "%d", "days": "%d", "year": "%[Yy]", "quarter": "%[mbBq]", "month": "%[mbB]"}
UNITS: Mapping[Kind, str] = {"years": "days", "days": "days", "year": "years", "quarter": "quarters", "month": "months"}
SHIFT = 10**9  # makes differences positive, because engines round negative quotients in different directions
RULE = re.compile(r"(years from|days from|year of|quarter of|month of|first (?P<n>\d+) characters? of) (?P<rest>.+)")
GRAMMAR = (
    "'years from COLUMN to COLUMN', 'days from COLUMN to COLUMN', 'year of COLUMN', 'quarter of COLUMN', "
    "'month of COLUMN' or 'first 2 characters of COLUMN'; the second COLUMN may also be a day such as 2024-12-31"
)


@dataclass(frozen=True)
class Derivation:
    """The rule of a derived column.

    Parameters
    ----------
    kind : str
        "years" are the whole years from `source` to `to`: a person born on 29 February is a year older on 1 March of a
        year without that day. "days" are the days from `source` to `to`. Both are negative if `to` is before `source`.
        "year", "quarter" and "month" are the period of `source`, such as 2024, 2024-Q1 and 2024-01. "prefix" are the
        first `characters` of `source`.
    source : str
    to : str or date, optional
        A column, or a fixed day.
    characters : int
    """

    kind: Kind
    source: str
    to: str | date | None = None
    characters: int = 0

    @classmethod
    def of(cls, stated: Mapping[str, Any]) -> Self:
        """Return the rule that a description states.

        Raises SchemaError for keys or values that state no rule.
        """
        for kind, (key, other) in KEYS.items():
            if {*stated} == {key, other} - {""} and isinstance(stated[key], str):
                made = cls(kind, stated[key], stated.get("to"), stated.get("characters", 0))
                whole = type(made.characters) is int and made.characters >= (kind == "prefix")
                if whole and isinstance(made.to, str | None) | (type(made.to) is date):
                    return made
        raise SchemaError(f"a derived column must state one rule; got {expect.describe_value(dict(stated))}.")

    @property
    def stated(self) -> dict[str, Any]:
        """The keys and values with which a description states the rule."""
        key, other = KEYS[self.kind]
        return {key: self.source} | ({other: self.to or self.characters} if other else {})

    @property
    def words(self) -> str:
        """The rule in words, from which `parse_derivation` returns the rule again.

        >>> Derivation("years", "birth", date(2024, 12, 31)).words
        'years from birth to 2024-12-31'
        """
        if self.kind == "prefix":
            plural = "s" * (self.characters > 1)
            return f"first {self.characters} character{plural} of {self.source}"
        return f"{self.kind} of {self.source}" if self.to is None else f"{self.kind} from {self.source} to {self.to}"

    @property
    def sources(self) -> list[str]:
        """The columns from which the values are computed."""
        return [self.source, *([self.to] if isinstance(self.to, str) else [])]

    @property
    def is_interval(self) -> bool:
        """Whether the values are lengths of time, which are negative if the two dates are in the wrong order."""
        return self.kind in ("years", "days")

    def fits(self, form: str) -> bool:
        """Return whether dates in a format, such as "%d.%m.%Y", have the parts that the rule needs."""
        return self.kind == "prefix" or re.search(NEEDED[self.kind], form) is not None

    def encode(self, texts: Iterable[str | None], form: str, marks: Collection[str]) -> tuple[list[Code], int]:
        """Return what each text of a source contributes, and the number of texts that are not dates.

        Parameters
        ----------
        texts : iterable of str or None
        form : str
            The format of dates; not used for a prefix.
        marks : collection of str
            The texts that mark a missing value. Such texts, and dates that lack a part that the rule needs, contribute
            None.
        """
        if self.kind == "prefix":
            return [None if each is None or each in marks else each[: self.characters] for each in texts], 0
        wrong = 0

        @functools.cache
        def read(text: str) -> tuple[Code, bool]:
            for each in (form, *taxonomies.coarser_forms(form)):
                if day := taxonomies.read_day(text, each):
                    return (self._code(day) if self.fits(each) else None), True
            return None, False

        found: list[Code] = []
        for each in texts:
            code, is_date = (
                (None, True) if each is None or each in marks else read(taxonomies.CLOCK.sub("", each.strip()))
            )
            found.append(code)
            wrong += not is_date
        return found, wrong

    def _code(self, day: date) -> Code:
        match self.kind:
            case "years":
                return day.year * 10_000 + day.month * 100 + day.day
            case "days":
                return day.toordinal()
            case "year":
                return day.year
            case "quarter":
                return f"{day.year}-Q{(day.month + 2) // 3}"
            case _:
                return f"{day.year}-{day.month:02}"

    def between(self, begin: Any, end: Any) -> Any:
        """Return the lengths of time between the codes of two dates, which are arrays or columns of an engine."""
        return end - begin if self.kind == "days" else (end - begin + SHIFT) // 10_000 - SHIFT // 10_000

    @property
    def fixed(self) -> Code:
        """The code of a fixed day; None if the rule has none."""
        return self._code(self.to) if isinstance(self.to, date) else None


@dataclass(frozen=True)
class DerivedColumns:
    """The derived columns of a table.

    Parameters
    ----------
    rules : dict of str to Derivation
        The rule of each derived column.
    forms : dict of str to str
        The format of the dates of each source column that holds dates.
    marks : dict of str to texts
        The texts that mark a missing value in each source column.
    corrections : dict of str to Correction
        The corrections of the texts of source columns.
    codes : dict of str to list of pyarrow.Table
        For each derived column and each of its sources, the values of the source in an engine, and what they
        contribute; see `looked_up`.
    """

    rules: Mapping[str, Derivation]
    forms: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, Collection[str]] = field(default_factory=dict)
    corrections: Mapping[str, Correction] = field(default_factory=dict)
    codes: Mapping[str, Sequence[pa.Table]] = field(default_factory=dict)

    def check_names(self, names: Iterable[str], where: str) -> None:
        """Raise SchemaError unless a table has all sources and none of the derived columns; `where` is its name."""
        names = [*names]
        if there := [name for name in self.rules if name in names]:
            raise SchemaError(
                f"{where} has a column '{there[0]}', and the description computes a column of that name. Rename the "
                f"entry [columns.{there[0]}] of the description."
            )
        for name, rule in self.rules.items():
            if absent := [each for each in rule.sources if each not in names]:
                raise SchemaError(
                    f"{where} has no column '{absent[0]}', from which '{name}' is computed.{suggest(absent, names)} "
                    "Correct `derived` in the description."
                )

    def with_sources(self, names: Sequence[str]) -> list[str]:
        """Return the columns to read for the columns `names`: derived columns are replaced by their sources."""
        own = (self.rules[name].sources if name in self.rules else [name] for name in names)
        return [*dict.fromkeys(each for sources in own for each in sources)]

    def add(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Return records with the derived columns; `cells` holds Categoricals of texts, and so do the new columns.

        Raises SchemaError for a source with texts that are not dates.
        """
        return assign_columns(cells, {name: self._column(name, rule, cells) for name, rule in self.rules.items()})

    def _column(self, name: str, rule: Derivation, cells: pd.DataFrame) -> pd.Categorical:
        places = [cells[source].cat.codes.to_numpy() for source in rule.sources]
        found = [self._encode(rule, source, cells[source].cat.categories.tolist()) for source in rule.sources]
        if not rule.is_interval:
            texts = [None if each is None else str(each) for each in found[0]]
            return make_categorical(places[0], pd.Index(texts, dtype=object))
        ends = [np.array([*each, None], dtype=float)[place] for each, place in zip(found, places, strict=True)]
        lengths = rule.between(ends[0], ends[1] if ends[1:] else rule.fixed)
        codes, values = pd.factorize(lengths, sort=True)
        return make_categorical(codes, pd.Index([str(int(each)) for each in values], dtype=object))

    def _encode(self, rule: Derivation, source: str, texts: Iterable[str | None]) -> list[Code]:
        form = self.forms.get(source, "")
        if source in self.corrections:
            texts = self.corrections[source].texts(texts)
        codes, wrong = rule.encode(texts, form, self.marks.get(source, ()))
        if wrong:
            raise SchemaError(
                f"column '{source}' has texts that are not dates like {date(2024, 2, 29):{form.replace('%q', '1')}} "
                f"({wrong:,} different), and '{rule.words}' needs dates. Correct these cells, list their texts in "
                "`missing` of the column, or state another format in `days`."
            )
        return codes

    def looked_up(self, count: Callable[[str], pa.Table]) -> Self:
        """Return the columns with the `codes` of the values that a table has in an engine.

        `count` is a function that returns, for a source column, a table whose first column holds its distinct values.
        Raises SchemaError for a source with texts that are not dates.
        """
        values = {source: count(source).select([0]) for source in self.with_sources([*self.rules])}
        codes: dict[str, list[pa.Table]] = {}
        for name, rule in self.rules.items():
            codes[name] = []
            for source in rule.sources:
                own = values[source]
                column = reading.from_arrow(own).iloc[:, 0]
                typed = pa.types.is_temporal(own.schema.types[0])  # texts of such values have one format
                columns = replace(self, forms={**self.forms, source: "%Y-%m-%d"}) if typed else self
                found = columns._encode(rule, source, column.astype(object).where(column.notna(), None).tolist())
                kind = pa.string() if rule.kind in ("quarter", "month", "prefix") else pa.int64()
                codes[name].append(pa.table([own.column(0), pa.array(found, kind)], ["value", "code"]))
        return replace(self, codes=codes)


def parse_derivation(text: str, known: Collection[str]) -> Derivation:
    """Return the rule that a text states in the words of `Derivation.words`.

    Parameters
    ----------
    text : str
        Such as "years from birth to admission". A column whose name is ambiguous can be quoted.
    known : collection of str
        The columns of the table.

    Raises
    ------
    UsageError
        For a text without a rule, and for an unknown column.

    >>> parse_derivation("first 2 characters of zip", ["zip"]).stated
    {'prefix_of': 'zip', 'characters': 2}
    """
    match = RULE.fullmatch(text.strip())
    if match is None or match["n"] == "0":
        raise UsageError(f"'{text}' states no rule of a derived column. Write {GRAMMAR}.")
    begin, rest = match[1].partition(" ")[0], match["rest"].strip()
    if begin == "first":
        return Derivation("prefix", _column_of(rest, known), characters=int(match["n"]))
    kind: Kind = next(each for each in KEYS if each == begin)
    if KEYS[kind][1] != "to":
        return Derivation(kind, _column_of(rest, known))
    parts = [(rest[: each.start()].strip(), rest[each.end() :].strip()) for each in re.finditer(" to ", rest)]
    fitting = [pair for pair in parts if unquote(pair[0]) in known and _day_or_column(pair[1], known) is not None]
    if not parts:
        raise UsageError(f"'{text}' must name a second date. Write '{begin} from COLUMN to COLUMN'.")
    one, other = (fitting or parts)[0]
    to = _day_or_column(other, known)
    return Derivation(kind, _column_of(one, known), _column_of(other, known) if to is None else to)


def _day_or_column(text: str, known: Collection[str]) -> str | date | None:
    """Return the column or the day that a text names; None if it names neither."""
    if unquote(text) in known:
        return unquote(text)
    return taxonomies.read_day(text, "%Y-%m-%d") if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else None


def _column_of(text: str, known: Collection[str]) -> str:
    name = unquote(text)
    if name not in known:
        raise UsageError(f"there is no column '{name}'.{suggest([name], known)} The columns are: {', '.join(known)}.")
    return name
