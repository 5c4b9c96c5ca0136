"""The notation of numbers in a file, such as 1234.5, 1.234,50, $1,234 or 12,50 €, and of missing values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from privnb.microdata.counts import count_people_among
from privnb.runtime.arrays import IntArray
from privnb.runtime.lazy import pd

NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]\d{1,3})?")
WHOLE = re.compile(r"-?(0|[1-9]\d*)")
SPACES = " ", "\u00a0", "\u202f"
GAP, SIGN = f"[{''.join(SPACES)}]?", "(?:[$€£¥]|EUR|USD|GBP|CHF)"
# Currency signs before or after a number, and a percent sign after it.
UNITS = rf"(?<![^-]){SIGN}{GAP}|(?<=\d){GAP}(?:%|{SIGN})$"
THOUSANDS = (",", ".", "'", "’", *SPACES)
PAIRS = [(".", ","), (",", "."), *((point, each) for each in THOUSANDS[2:] for point in ".,")]
MANY = 10  # the number of distinct numbers with three digits after a comma that make the comma a separator of thousands

# Texts, other than an empty cell, that mark a missing value; DASHES do so only in columns with numbers.
MISSING = ("?", "NA", "N/A", "n/a", "#N/A", "n.a.", "NaN", "nan", "NULL", "null", "k.A.", "k. A.", "keine Angabe")
DASHES = ("-", "--", ".")


class Notation(NamedTuple):
    """The decimal point and the separator of thousands in the numbers of a file.

    If `thousands` is "", there is no separator of thousands, and numbers have no currency or percent signs.
    """

    decimal: str = "."
    thousands: str = ""

    @classmethod
    def of(cls, layout: Mapping[str, Any]) -> Notation:
        """Return the notation that the `[format]` section of a description states."""
        return cls(layout.get("decimal", "."), layout.get("thousands", ""))

    @classmethod
    def found(cls, columns: Iterable[pd.Series], separator: str | None = None) -> Notation:
        """Return the notation that the texts of a file show.

        Parameters
        ----------
        columns : iterable of Series
            The distinct texts of each column.
        separator : str
            The separator of cells in the file; None for a file without a separator, such as a workbook.
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
        """Return texts, a Series or an Index, with numbers in the form that Python reads.

        Texts that are not numbers may also change.
        """
        if self.thousands:
            texts = texts.str.replace(UNITS, "", regex=True).str.replace(self.thousands, "", regex=False)
        return texts if self.decimal == "." else texts.str.replace(self.decimal, ".", regex=False)

    def without_tail(self, texts: pd.Series) -> pd.Series:
        """Return a Series of texts in which whole numbers have no decimals: `1067.0` becomes `1067`.

        pandas and R write whole numbers as `1067.0` if a cell of the column is empty. The decimals of codes that begin
        with 0, such as `0001.0`, are removed only if every text with a digit is a whole number. For example, 01.0 stays
        unchanged in a column that also contains E11.0.
        """
        ends = texts.str.endswith("0") & texts.str.contains(
            self.decimal, regex=False
        )  # this limits the slower search for a pattern
        if not ends.any():
            return texts
        point = re.escape(self.decimal)
        plain = texts.where(~ends, texts[ends].str.replace(rf"^(-?(?:0|[1-9]\d*)){point}0+$", r"\1", regex=True))
        coded = plain.str.fullmatch(rf"0\d+{point}0")
        if coded.any() and (coded | plain.str.fullmatch(r"-?\d+|\D*")).all():
            return plain.where(~coded, plain.str.partition(self.decimal)[0])
        return plain

    def are_numbers(self, texts: pd.Series) -> pd.Series:
        """Return, as a boolean Series, whether each text of a Series is a number in this notation."""
        return texts.str.fullmatch(self._pattern) & self.plain(texts).str.fullmatch(NUMBER)

    def fractions(self, texts: pd.Series) -> pd.Series:
        """Return, as a boolean Series, whether each text of a Series is a number with decimals that are not all 0."""
        return texts.str.fullmatch(rf"-?\d+{re.escape(self.decimal)}\d*[1-9]\d*")

    def reads(self, texts: pd.Series) -> bool:
        """Return whether all texts are numbers in this notation."""
        return match(texts, self._pattern) and match(self.plain(texts), NUMBER)

    def _fits(self, numbers: Iterable[pd.Series]) -> bool:
        """Return whether every separator of thousands in the numbers is in a correct place.

        For example, the separator of 12.5 is in a wrong place if the notation is that of 1.234,50.
        """
        return all(self.reads(texts) for texts in numbers if texts.str.contains(self.thousands, regex=False).any())

    @property
    def _pattern(self) -> str:
        point, between = re.escape(self.decimal), re.escape(self.thousands)
        if not between:
            return rf"-?\d+(?:{point}\d+)?(?:[eE][+-]\d+)?"
        whole = rf"(?:[1-9]\d{{0,2}}(?:{between}\d{{3}})+|\d+)"
        return rf"-?(?:{SIGN}{GAP})?-?{whole}(?:{point}\d+)?(?:{GAP}(?:%|{SIGN}))?"

    def _surely(self, texts: pd.Series, separator: str | None) -> bool:
        """Return whether the texts are numbers whose separator of thousands is unlikely to be a decimal point."""
        if not self.reads(texts):
            return False
        bare = texts.str.replace(UNITS, "", regex=True)
        grouped = bare.str.contains(self.thousands, regex=False)
        if not grouped.any():
            return False
        twice = bare.str.count(re.escape(self.thousands)).max() > 1
        both = bare.str.contains(self.decimal, regex=False).any()
        looks = self.thousands not in ",." or texts.str.contains(SIGN).any()
        # Some decimals would end in 0, which is not written. With commas between cells, a comma must be quoted.
        three = grouped.sum() >= MANY and (not grouped.all() or separator == ",")
        return bool(twice or both or looks or three)


def match(texts: Iterable[str], pattern: str | re.Pattern[str]) -> bool:
    """Return whether all texts match a pattern completely."""
    return all(map(re.compile(pattern).fullmatch, texts))


def add_decimal_tails(texts: Iterable[str]) -> list[str]:
    """Return texts and, after each whole number, the same number with a decimal, as pandas and R may write it.

    >>> add_decimal_tails(["97", "n/k"])
    ['97', '97.0', '97,0', 'n/k']
    """
    return [each for text in texts for each in ((text, f"{text}.0", f"{text},0") if WHOLE.fullmatch(text) else (text,))]


def find_mark(columns: Iterable[tuple[pd.Series, IntArray | None]]) -> str:
    """Return the most common mark of missing values in a table; "" if no value is missing.

    `columns` holds a pair for each column: the Categorical of texts, and the number of records that each entry
    represents. If this number is None, each entry represents 1 record.
    """
    counts = dict.fromkeys([*MISSING, *DASHES], 0)
    empty = False
    for column, times in columns:
        codes, categories = column.cat.codes.to_numpy(), column.cat.categories
        empty = empty or bool((codes < 0).any())
        for mark in find_marks(column):
            counts[mark] += count_people_among(codes == categories.get_loc(mark), times=times)
    mark = max(counts, key=counts.__getitem__)
    return mark if empty or counts[mark] else ""


def find_marks(column: pd.Series) -> list[str]:
    """Return the marks of missing values that occur in a Categorical of texts, in the order of the list of marks."""
    texts = column.cat.categories
    known = (*MISSING, *DASHES) if len(texts) and texts.str.contains(r"\d").mean() > 0.5 else MISSING
    return [mark for mark in known if mark in texts]
