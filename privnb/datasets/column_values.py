"""The values of a column of unknown type: the distinct texts, and the number of records with each text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cached_property
from typing import Self

import numpy as np

from privnb.microdata import cuts, withholding
from privnb.microdata.schema import Numbers
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.lazy import pd
from privnb.tables import notation
from privnb.tables.notation import NUMBER, Notation

FIRST = 10  # the number of texts that are checked before all others
RARELY = 0.05  # the maximum share of records with cells that are not of the type of their column
STEPS = 10**8  # the maximum number of steps of a domain of whole numbers; otherwise, numbers are rounded
GRAINS = 10**6  # the maximum number of steps of a domain of decimals
MOST_STEPS = 10**9  # the maximum number of steps of a domain with outliers; `Numbers` also allows wider ends
FENCE = 3  # numbers more than 3 interquartile ranges beyond the quartiles are outliers
FINEST = Decimal("1e-9")  # the smallest step of a domain


@dataclass(frozen=True, eq=False)
class Values:
    """The values of a column in a draft.

    `texts` are the distinct texts, and `counts` is the number of records with each text. `missing` is the number of
    records without a value, and `mark` is the text for a missing value. `named` holds the number of records with each
    other text that the description lists as a text for a missing value. `order` lists the texts from the lowest to the
    highest, if the owner states an order.
    """

    texts: pd.Series
    counts: IntArray
    missing: int
    mark: str
    named: pd.Series = field(default_factory=lambda: pd.Series(dtype=np.int64))
    order: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        column: pd.Series,
        mark: str,
        times: IntArray | None = None,
        also: Collection[str] = (),
        order: tuple[str, ...] = (),
    ) -> Self:
        """Return the values of a Categorical of texts.

        `mark` and the texts in `also` mean a missing value. `times`, an integer array, is the number of records that
        each entry of `column` represents. `order` lists the texts from the lowest to the highest.
        """
        texts = pd.Series(column.cat.categories, dtype=object)
        counts = np.bincount(column.cat.codes + 1, times, len(texts) + 1)[1:].astype(np.int64)
        given = (~texts.isin([mark, *also]) & (counts > 0)).to_numpy()
        records = len(column) if times is None else int(times.sum())
        named = pd.Series(counts, texts)[texts.isin(also).to_numpy() & (counts > 0)]
        return cls(texts[given], counts[given], records - int(counts[given].sum()), mark, named, order)

    @property
    def records(self) -> int:
        """The number of records with a value."""
        return int(self.counts.sum())

    @property
    def different(self) -> int:
        """The number of distinct values."""
        return len(self.texts)

    def records_of(self) -> dict[str, int]:
        """Return the number of records with each text, including the mark of a missing value."""
        return dict(zip(self.texts, self.counts.tolist(), strict=True)) | dict.fromkeys(self.marks, self.missing)

    def records_with(self, texts: Iterable[str]) -> int:
        """Return the number of records with one of the given texts."""
        return int(self.counts[self.texts.isin(texts).to_numpy()].sum())

    @property
    def nearly_unique(self) -> bool:
        """Whether the number of distinct values exceeds two thirds of the number of records with a value."""
        return self.different > 2 * self.records / 3

    @property
    def marks(self) -> list[str]:
        """A list that holds the mark of a missing value; the list is empty if no value is missing."""
        return [self.mark] * (self.missing > 0)

    @property
    def gaps(self) -> str:
        """The number of missing values, in words."""
        return f" and {self.missing} missing, which count as the value {self.mark!r}" if self.missing else ""

    def without_tails(self, how: Notation) -> Self:
        """Return the values with whole numbers shortened by `Notation.without_tail`, so that `1.0` becomes `1`.

        The values stay unchanged if a number of the column is not whole. Types are recognized from the returned texts,
        so a column is recognized in the same way if its file contains `1.0` or `1`.
        """
        texts = how.without_tail(self.texts)
        tailed = (texts != self.texts).to_numpy(dtype=bool)
        if not tailed.any() or how.fractions(self.texts).any():
            return self
        counts = pd.Series(self.counts).groupby(texts.to_numpy(), sort=False).sum()
        first = texts[~texts.duplicated()]
        return replace(self, texts=first, counts=counts[first].to_numpy())

    def written(self, how: Notation) -> Self:
        """Return the values with numbers as Python writes them, if all texts are numbers in the notation `how`."""
        return replace(self, texts=how.plain(self.texts)) if how.reads(self.texts) else self

    @property
    def words(self) -> pd.Series:
        """The number of records with each text that is not a number, in a column of numbers.

        A column counts as a column of numbers if most records have a number with a decimal point or comma, and if at
        least ten numbers are distinct. The result is empty for any other column, such as a column of codes, some of
        which begin with 0.
        """
        found = pd.Series(self.counts, self.texts)
        if self.texts.str.fullmatch(r"0\d+").any():
            return found[:0]
        numbers = self.texts.str.replace(",", ".").str.fullmatch(NUMBER).to_numpy(dtype=bool)
        few = numbers.sum() < FIRST or 2 * self.counts[numbers].sum() <= self.records
        return found[:0] if few else found[~numbers]

    @property
    def numerals(self) -> pd.Series:
        """The texts without texts that have no digit, if such texts are rare.

        These texts show the notation of a file.
        """
        words = ~self.texts.str.contains(r"\d").to_numpy(dtype=bool)
        return self.texts[~words] if self.counts[words].sum() <= RARELY * self.records else self.texts

    def match(self, pattern: str | re.Pattern[str]) -> bool:
        """Return whether all texts match a pattern completely."""
        return notation.match(self.texts, pattern)

    @cached_property
    def numbers(self) -> Numbers | None:
        """The domain of a column of numbers, as `in_steps` returns it; None if the values are not numbers."""
        return self.in_steps() if self.match(NUMBER) else None

    def in_steps(self, finest: Decimal = Decimal(0)) -> Numbers | None:
        """Return a domain that contains the numbers, with ends rounded outward and steps of at least `finest`.

        The result is None if some numbers are so close to each other, or so large, that floats or the steps of a domain
        cannot distinguish them. The numbers that are not `outliers` determine the step, so that a single outlier or
        code does not cause the rounding of all other numbers.
        """
        numbers = self.texts.astype(float)
        least, most = Decimal(self.texts[numbers.idxmin()]), Decimal(self.texts[numbers.idxmax()])
        usual = numbers[~self.outliers] if self.outliers.any() else numbers
        spread = Decimal(usual.max() - usual.min())
        step = Decimal(10) ** -self._places
        while (
            step < max(finest, FINEST)
            or spread / step > (GRAINS if step < 1 else STEPS)
            or (most - least) / step > MOST_STEPS
        ):
            step *= 10
        if 0 < most - least < 10 * step == 10 * FINEST or max(abs(least), abs(most)) > 10**15:
            return None
        # About twenty grains from low to high are coarse enough to hide the smallest and largest record.
        grain = cuts.round_number(max((most - least) / 20, step))
        low = (least / grain).to_integral_value(ROUND_FLOOR) * grain
        high = max((most / grain).to_integral_value(ROUND_CEILING) * grain, low + grain)
        # An end must not be the value of few records. One grain farther would disclose it, too, so a fifth is used.
        wide = cuts.round_number(max((most - least) / 5, step))
        if high == most and self._few_have(numbers == float(most)):
            high = ((most / wide).to_integral_value(ROUND_FLOOR) + 1) * wide
        if low == least and low != 0 and self._few_have(numbers == float(least)):
            low = ((least / wide).to_integral_value(ROUND_CEILING) - 1) * wide
        return Numbers(cuts.to_number(low), cuts.to_number(high), cuts.to_number(step))

    @cached_property
    def outliers(self) -> BoolArray:
        """Whether each number is more than three interquartile ranges below the first or above the third quartile.

        The value is a boolean array (texts,). The quartiles are computed from the distinct numbers, so a code such as
        999999 counts only once, even if many records contain this code.

        Source: Tukey, "Exploratory Data Analysis", 1977, who calls such values "far out".
        """
        numbers = self.texts.astype(float).to_numpy()
        first, third = np.quantile(numbers, [0.25, 0.75])
        far = FENCE * (third - first)
        return (numbers < first - far) | (numbers > third + far)

    def _few_have(self, alike: pd.Series) -> bool:
        """Return whether few records have one of the texts that the boolean Series `alike` selects."""
        return withholding.is_few(int(self.counts[alike.to_numpy()].sum()))

    @cached_property
    def _places(self) -> int:
        """The largest number of decimal places of the numbers; texts such as 2.5e-04 are allowed."""
        texts, powers = self.texts, 0
        if texts.str.contains(
            "[eE]"
        ).any():  # for a million texts, this check takes a tenth of the time of the code below
            parts = texts.str.lower().str.partition("e")
            texts, powers = parts[0], pd.to_numeric(parts[2]).fillna(0)
        elif not texts.str.contains(".", regex=False).any():
            return 0
        decimals = texts.str.partition(".")[2].str.rstrip("0").str.len() - powers
        return max(int(decimals.max()), 0)

    @property
    def whole(self) -> bool:
        """Whether the values are whole numbers."""
        return self.numbers is not None and self._places == 0
