"""What is read of a column of unknown type: its distinct texts and how many records have each."""

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

FIRST = 10  # texts are looked at before all the others
RARELY = 0.05  # of the records: cells that are not of the type of their column
STEPS = 10**8  # whole numbers are rounded so that a domain has at most so many
GRAINS = 10**6  # and decimals
MOST_STEPS = 10**9  # of a domain that outliers stretch: with wider ends it is still one that `Numbers` holds
FENCE = 3  # interquartile ranges beyond the quartiles: what lies farther is an outlier
FINEST = Decimal("1e-9")  # no step of a domain is finer


@dataclass(frozen=True, eq=False)
class Values:
    """What a draft reads of a column: its distinct texts, how many records have each, how many have none, what says
    so, and how many records have each other text that the description names as one that says so; and the texts from
    the lowest to the highest, if the owner of the table states that.
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
        """Of a Categorical of texts. `mark`: a text that says that none is there, as others do that are in `also`;
        `times`: how many records each entry stands for, integer array; `order`: the texts from the lowest to the
        highest.
        """
        texts = pd.Series(column.cat.categories, dtype=object)
        counts = np.bincount(column.cat.codes + 1, times, len(texts) + 1)[1:].astype(np.int64)
        given = (~texts.isin([mark, *also]) & (counts > 0)).to_numpy()
        records = len(column) if times is None else int(times.sum())
        named = pd.Series(counts, texts)[texts.isin(also).to_numpy() & (counts > 0)]
        return cls(texts[given], counts[given], records - int(counts[given].sum()), mark, named, order)

    @property
    def records(self) -> int:
        """How many records have a value."""
        return int(self.counts.sum())

    @property
    def different(self) -> int:
        return len(self.texts)

    def records_of(self) -> dict[str, int]:
        """The records of each text, the mark of a missing value among them."""
        return dict(zip(self.texts, self.counts.tolist(), strict=True)) | dict.fromkeys(self.marks, self.missing)

    def records_with(self, texts: Iterable[str]) -> int:
        """How many records have one of some texts."""
        return int(self.counts[self.texts.isin(texts).to_numpy()].sum())

    @property
    def nearly_unique(self) -> bool:
        """Whether there are more different values than two thirds of the records that have one."""
        return self.different > 2 * self.records / 3

    @property
    def marks(self) -> list[str]:
        """The mark of a missing value, if one is missing: a list of one text or none."""
        return [self.mark] * (self.missing > 0)

    @property
    def gaps(self) -> str:
        """How many are missing, in words."""
        return f" and {self.missing} missing, which count as the value {self.mark!r}" if self.missing else ""

    def without_tails(self, how: Notation) -> Self:
        """The same with whole numbers as `Notation.without_tail` writes them, unless another number of the column has
        decimals. Every type is guessed from these texts, so `1.0` and `1` lead to the same column.
        """
        texts = how.without_tail(self.texts)
        tailed = (texts != self.texts).to_numpy(dtype=bool)
        if not tailed.any() or how.fractions(self.texts).any():
            return self
        counts = pd.Series(self.counts).groupby(texts.to_numpy(), sort=False).sum()
        first = texts[~texts.duplicated()]
        return replace(self, texts=first, counts=counts[first].to_numpy())

    def written(self, how: Notation) -> Self:
        """The same with numbers as Python reads them, if they are numbers in this `Notation`."""
        return replace(self, texts=how.plain(self.texts)) if how.reads(self.texts) else self

    @property
    def words(self) -> pd.Series:
        """How many records have each text that is no number in a column of numbers, with decimal points or commas: at
        least ten different ones, in most records. Empty for a column of another kind, such as codes, of which some
        begin with 0.
        """
        found = pd.Series(self.counts, self.texts)
        if self.texts.str.fullmatch(r"0\d+").any():
            return found[:0]
        numbers = self.texts.str.replace(",", ".").str.fullmatch(NUMBER).to_numpy(dtype=bool)
        few = numbers.sum() < FIRST or 2 * self.counts[numbers].sum() <= self.records
        return found[:0] if few else found[~numbers]

    @property
    def numerals(self) -> pd.Series:
        """The texts, without words that have no digit where few records have these. They show a file's notation."""
        words = ~self.texts.str.contains(r"\d").to_numpy(dtype=bool)
        return self.texts[~words] if self.counts[words].sum() <= RARELY * self.records else self.texts

    def match(self, pattern: str | re.Pattern[str]) -> bool:
        """Whether all texts match a pattern as a whole."""
        return notation.match(self.texts, pattern)

    @cached_property
    def numbers(self) -> Numbers | None:
        """The domain of a column of numbers, see `in_steps`; None if they are no numbers."""
        return self.in_steps() if self.match(NUMBER) else None

    def in_steps(self, finest: Decimal = Decimal(0)) -> Numbers | None:
        """The domain of numbers, its ends rounded outward, its steps no finer than `finest`; None for those that floats
        or the steps of a domain do not tell apart.

        The numbers without `outliers` decide how fine the steps are, so that one outlier or a code does not round all.
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
        # About twenty grains from low to high: coarse enough to hide the smallest and largest record.
        grain = cuts.round_number(max((most - least) / 20, step))
        low = (least / grain).to_integral_value(ROUND_FLOOR) * grain
        high = max((most / grain).to_integral_value(ROUND_CEILING) * grain, low + grain)
        # An end that few records have is theirs. One grain farther would say so as well: it hides in a fifth of all.
        wide = cuts.round_number(max((most - least) / 5, step))
        if high == most and self._few_have(numbers == float(most)):
            high = ((most / wide).to_integral_value(ROUND_FLOOR) + 1) * wide
        if low == least and low != 0 and self._few_have(numbers == float(least)):
            low = ((least / wide).to_integral_value(ROUND_CEILING) - 1) * wide
        return Numbers(cuts.plain(low), cuts.plain(high), cuts.plain(step))

    @cached_property
    def outliers(self) -> BoolArray:
        """Which texts of numbers lie more than three interquartile ranges beyond the quartiles of the different
        numbers: boolean array (texts,). A code such as 999999 is one number, however many records have it.

        Source: Tukey, "Exploratory Data Analysis", 1977: values that are far out.
        """
        numbers = self.texts.astype(float).to_numpy()
        first, third = np.quantile(numbers, [0.25, 0.75])
        far = FENCE * (third - first)
        return (numbers < first - far) | (numbers > third + far)

    def _few_have(self, alike: pd.Series) -> bool:
        """Whether few records have one of some texts. alike: boolean Series of these."""
        return withholding.few(int(self.counts[alike.to_numpy()].sum()))

    @cached_property
    def _places(self) -> int:
        """How many decimals the texts of numbers have at most, also of 2.5e-04."""
        texts, powers = self.texts, 0
        if texts.str.contains("[eE]").any():  # of a million texts without, this costs a tenth of what follows
            parts = texts.str.lower().str.partition("e")
            texts, powers = parts[0], pd.to_numeric(parts[2]).fillna(0)
        elif not texts.str.contains(".", regex=False).any():
            return 0
        decimals = texts.str.partition(".")[2].str.rstrip("0").str.len() - powers
        return max(int(decimals.max()), 0)

    @property
    def whole(self) -> bool:
        """Whether these are whole numbers."""
        return self.numbers is not None and self._places == 0
