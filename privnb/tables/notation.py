"""How a file writes numbers, 1234.5, 1234,5, 1.234,50, $1,234 or 12,50 €, and how it marks a missing value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from privnb.microdata.counts import people_among
from privnb.runtime.arrays import IntArray
from privnb.runtime.lazy import pd

NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]\d{1,3})?")
WHOLE = re.compile(r"-?(0|[1-9]\d*)")
SPACES = " ", "\u00a0", "\u202f"
GAP, SIGN = f"[{''.join(SPACES)}]?", "(?:[$€£¥]|EUR|USD|GBP|CHF)"
# Signs of currency before a number or behind it, and per cent behind it.
UNITS = rf"(?<![^-]){SIGN}{GAP}|(?<=\d){GAP}(?:%|{SIGN})$"
THOUSANDS = (",", ".", "'", "’", *SPACES)
PAIRS = [(".", ","), (",", "."), *((point, each) for each in THOUSANDS[2:] for point in ".,")]
MANY = 10  # different numbers that all have three digits behind a comma: it stands between thousands

# Marks of a missing value, beside the empty cell; and some that are values as well where no number stands beside them.
MISSING = ("?", "NA", "N/A", "n/a", "#N/A", "n.a.", "NaN", "nan", "NULL", "null", "k.A.", "k. A.", "keine Angabe")
DASHES = ("-", "--", ".")


class Notation(NamedTuple):
    """What stands before decimals, and what between thousands. Where that is "", nothing does, nor does any number have
    a sign of currency or per cent.
    """

    decimal: str = "."
    thousands: str = ""

    @classmethod
    def of(cls, layout: Mapping[str, Any]) -> Notation:
        """Return the notation that a description's `[format]` states."""
        return cls(layout.get("decimal", "."), layout.get("thousands", ""))

    @classmethod
    def found(cls, columns: Iterable[pd.Series], separator: str | None = None) -> Notation:
        """Return that of a file.

        Parameters
        ----------
        columns : iterable of Series
            The different texts of each column.
        separator : str
            What stands between cells; None: nothing, as in a workbook.
        """
        numbers: list[pd.Series] = []
        others: list[pd.Series] = []
        for texts in columns:
            (numbers if match(texts, NUMBER) else others).append(texts)
        for pair in PAIRS:
            if any(cls(*pair)._surely(texts, separator) for texts in others) and cls(*pair)._fits(numbers):
                return cls(*pair)
        plain = cls("," if any(map(cls(",").reads, others)) else ".")
        unread = [texts for texts in others if not plain.reads(texts)]
        signed = (cls(*pair) for pair in (PAIRS[:2] if plain.decimal == "." else PAIRS[1::-1]))
        return next((each for each in signed if any(map(each.reads, unread)) and each._fits(numbers)), plain)

    def plain(self, texts: pd.Series) -> pd.Series:
        """Return texts of numbers, a Series or Index, as Python reads them; what is no number may become anything."""
        if self.thousands:
            texts = texts.str.replace(UNITS, "", regex=True).str.replace(self.thousands, "", regex=False)
        return texts if self.decimal == "." else texts.str.replace(self.decimal, ".", regex=False)

    def without_tail(self, texts: pd.Series) -> pd.Series:
        """Return texts, a Series, of which whole numbers have no decimals: `1067.0` is `1067`.

        pandas and R write the whole numbers of a column in this way if one of its cells is empty. Codes that begin with
        0, as `0001.0`, lose the tail only where every text with a digit is a whole number: beside E11.0, 01.0 keeps it.
        """
        ends = texts.str.endswith("0") & texts.str.contains(self.decimal, regex=False)  # of few a pattern is looked for
        if not ends.any():
            return texts
        point = re.escape(self.decimal)
        plain = texts.where(~ends, texts[ends].str.replace(rf"^(-?(?:0|[1-9]\d*)){point}0+$", r"\1", regex=True))
        coded = plain.str.fullmatch(rf"0\d+{point}0")
        if coded.any() and (coded | plain.str.fullmatch(r"-?\d+|\D*")).all():
            return plain.where(~coded, plain.str.partition(self.decimal)[0])
        return plain

    def are_numbers(self, texts: pd.Series) -> pd.Series:
        """Return which texts, a Series, are numbers that are written so: a boolean Series."""
        return texts.str.fullmatch(self._pattern) & self.plain(texts).str.fullmatch(NUMBER)

    def fractions(self, texts: pd.Series) -> pd.Series:
        """Return which texts, a Series, are numbers with decimals that are not all 0: a boolean Series."""
        return texts.str.fullmatch(rf"-?\d+{re.escape(self.decimal)}\d*[1-9]\d*")

    def reads(self, texts: pd.Series) -> bool:
        """Return whether all texts are numbers that are written so."""
        return match(texts, self._pattern) and match(self.plain(texts), NUMBER)

    def _fits(self, numbers: Iterable[pd.Series]) -> bool:
        """Whether no column of numbers has a point where thousands do not end, as 12.5 has beside 1.234,50."""
        return all(self.reads(texts) for texts in numbers if texts.str.contains(self.thousands, regex=False).any())

    @property
    def _pattern(self) -> str:
        point, between = re.escape(self.decimal), re.escape(self.thousands)
        if not between:
            return rf"-?\d+(?:{point}\d+)?(?:[eE][+-]\d+)?"
        whole = rf"(?:[1-9]\d{{0,2}}(?:{between}\d{{3}})+|\d+)"
        return rf"-?(?:{SIGN}{GAP})?-?{whole}(?:{point}\d+)?(?:{GAP}(?:%|{SIGN}))?"

    def _surely(self, texts: pd.Series, separator: str | None) -> bool:
        """Whether these are numbers with something between thousands that cannot well be a decimal comma or point."""
        if not self.reads(texts):
            return False
        bare = texts.str.replace(UNITS, "", regex=True)
        grouped = bare.str.contains(self.thousands, regex=False)
        if not grouped.any():
            return False
        twice = bare.str.count(re.escape(self.thousands)).max() > 1
        both = bare.str.contains(self.decimal, regex=False).any()
        looks = self.thousands not in ",." or texts.str.contains(SIGN).any()
        # Decimals would end with a 0 now and then, which nobody writes; among cells between commas one is in quotes.
        three = grouped.sum() >= MANY and (not grouped.all() or separator == ",")
        return bool(twice or both or looks or three)


def match(texts: Iterable[str], pattern: str | re.Pattern[str]) -> bool:
    """Return whether all texts match as a whole."""
    return all(map(re.compile(pattern).fullmatch, texts))


def with_tails(texts: Iterable[str]) -> list[str]:
    """Return texts, and behind each whole number the same number with a decimal, as pandas and R may write it.

    >>> with_tails(["97", "n/k"])
    ['97', '97.0', '97,0', 'n/k']
    """
    return [each for text in texts for each in ((text, f"{text}.0", f"{text},0") if WHOLE.fullmatch(text) else (text,))]


def mark_of(columns: Iterable[tuple[pd.Series, IntArray | None]]) -> str:
    """The commonest mark of missing values in a table; "" if none is missing.

    `columns`: of each its Categorical of texts, and how many records each entry stands for, or None.
    """
    counts = dict.fromkeys([*MISSING, *DASHES], 0)
    empty = False
    for column, times in columns:
        codes, categories = column.cat.codes.to_numpy(), column.cat.categories
        empty = empty or bool((codes < 0).any())
        for mark in marks_in(column):
            counts[mark] += people_among(codes == categories.get_loc(mark), times=times)
    mark = max(counts, key=counts.__getitem__)
    return mark if empty or counts[mark] else ""


def marks_in(column: pd.Series) -> list[str]:
    """The marks of missing values that stand in a Categorical of texts, in the order of their list."""
    texts = column.cat.categories
    known = (*MISSING, *DASHES) if len(texts) and texts.str.contains(r"\d").mean() > 0.5 else MISSING
    return [mark for mark in known if mark in texts]
