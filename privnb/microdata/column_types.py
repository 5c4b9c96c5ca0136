"""What a column of an owner's table looks like: a table of types, each of which knows its own columns.

A type is a function of the column's name and its `Values`. It returns the `Column` that a draft proposes, with role,
reason, domain and tree, or None for a column of another type. A new type is one function and its line in `TYPES`.
"""

import contextlib
import re
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from privnb.microdata import cuts, reading
from privnb.microdata.hierarchy import SUPPRESSED, Taxonomy, taxonomies
from privnb.microdata.hierarchy.merging import merged
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, SchemaError

KEY = re.compile(
    r"(^|[\W_])(id|key|nr|no|num|number|index|case|record|person|patient|ssn)([\W_]|$)|(?-i:[a-z]I[Dd]$)", re.IGNORECASE
)
POST = re.compile(r"zip|plz|post.?(al)?.?code|^postal", re.IGNORECASE)
STEPS = 10**8  # a column with more different possible whole numbers is treated as text
GRAINS = 10**6  # decimals are rounded so that a domain has at most so many
WHOLE = r"-?\d{1,9}"
FEW = 20  # whole numbers with gaps are categories if there are no more of them


@dataclass(frozen=True, eq=False)
class Values:
    """What a draft reads of a column: its distinct texts, how many records have each, how many have none, and what says
    so.
    """

    texts: pd.Series
    counts: np.ndarray
    missing: int
    mark: str

    @classmethod
    def of(cls, column, mark):
        """Of a Categorical of texts. `mark`: a text that says that none is there."""
        texts = pd.Series(column.cat.categories, dtype=object)
        counts = np.bincount(column.cat.codes + 1, minlength=len(texts) + 1)[1:]
        given = ((texts != mark) & (counts > 0)).to_numpy()
        return cls(texts[given], counts[given], len(column) - int(counts[given].sum()), mark)

    @property
    def records(self):
        """How many records have a value."""
        return int(self.counts.sum())

    @property
    def different(self):
        return len(self.texts)

    def records_of(self):
        """The records of each text, the mark of a missing value among them."""
        return dict(zip(self.texts, self.counts.tolist(), strict=True)) | dict.fromkeys(self.marks, self.missing)

    @property
    def nearly_unique(self):
        return self.different > self.records / 2

    @property
    def marks(self):
        """The mark of a missing value, if one is missing: a list of one text or none."""
        return [self.mark] * (self.missing > 0)

    @property
    def gaps(self):
        """How many are missing, in words."""
        return f" and {self.missing} missing, which count as the value {self.mark!r}" if self.missing else ""

    def decimal_comma(self):
        """Whether these are numbers, and some have a comma for a point."""
        return self.texts.str.contains(",").any() and self.with_points() is not self

    def with_points(self):
        """The same with points for commas, if they are numbers then."""
        points = self.texts.str.replace(",", ".")
        return replace(self, texts=points) if points.str.fullmatch(reading.NUMBER).all() else self

    def match(self, pattern):
        """Whether all texts match a pattern as a whole."""
        return bool(self.texts.str.fullmatch(pattern).all())

    @cached_property
    def numbers(self):
        """The domain of a column of numbers, its ends rounded outward; None if they are no numbers."""
        if not self.match(reading.NUMBER):
            return None
        numbers = self.texts.astype(float)
        least, most = Decimal(self.texts[numbers.idxmin()]), Decimal(self.texts[numbers.idxmax()])
        step = Decimal(10) ** -int(self.texts.str.partition(".")[2].str.rstrip("0").str.len().max())
        while step < 1 and (most - least) / step > GRAINS:
            step *= 10
        if (most - least) / step > STEPS or max(abs(least), abs(most)) > 10**12:
            return None
        # About twenty grains from low to high: coarse enough to hide the smallest and largest record.
        grain = cuts.round_number(max((most - least) / 20, step))
        low = (least / grain).to_integral_value(ROUND_FLOOR) * grain
        high = max((most / grain).to_integral_value(ROUND_CEILING) * grain, low + grain)
        return Numbers(cuts.plain(low), cuts.plain(high), cuts.plain(step))

    @property
    def whole(self):
        """Whether these are whole numbers."""
        return self.numbers is not None and self.numbers.step == 1


class Column(NamedTuple):
    """What a draft says of a column: its role and why, the domain seen and the tree, None where it has none."""

    name: str
    role: Role
    reason: str
    domain: Numbers | Categories | None = None
    tree: Taxonomy | None = None


def recognized(name, values):
    """The `Column` that the first of `TYPES` that knows it proposes."""
    return next(filter(None, (kind(name, values) for kind in TYPES)))


def published(name, values):
    """The `Column` that the first of `TYPES` proposes which has a domain, as a release needs."""
    return next(column for kind in TYPES if (column := kind(name, values)) and column.domain is not None)


def nothing(name, values):
    """Every cell is empty."""
    if not values.records:
        return Column(name, Role.UNUSED, "every value is missing")


def days(name, values):
    """Dates as ISO writes them."""
    if values.match(r".{10}") and pd.to_datetime(values.texts, format="%Y-%m-%d", errors="coerce").notna().all():
        return _categories(name, values, "days", taxonomies.dates, in_order=True, lowest=4)


def codes(name, values):
    """Codes of one length, such as post codes: by their name, or as digits that may begin with 0."""
    lengths = values.texts.str.len()
    one_length = lengths.min() == lengths.max() in range(3, 9)
    digits = one_length and values.match(r"\d+") and values.texts.str.startswith("0").any()
    if values.different > 2 and (digits or (one_length and POST.search(name))):
        return _categories(name, values, "codes", taxonomies.prefixes, in_order=True)


def keys(name, values):
    """What nearly names a person: texts, or whole numbers that look like it, of which hardly two are alike."""
    if values.nearly_unique and (values.numbers is None or (values.whole and _names_people(name, values.texts))):
        reason = f"{values.different} values in {values.records} records: nearly the name of a person"
        return Column(name, Role.IDENTIFIER, reason)


def numbers(name, values):
    """Numbers, but for 0 and 1, which are as good as two categories, and few with a missing one among them."""
    few = values.whole and 1 < values.different <= (FEW if values.missing else 2)
    if values.numbers is None or few:
        return None
    domain = replace(values.numbers, cuts=None, missing=values.mark if values.missing else None)
    reason = f"a number, {values.different} different{values.gaps}"
    if not domain.has(values.texts).all():
        reason += f"; loading rounds to the domain's step of {domain.step:g}"
    elif values.whole:
        reason += "; if these are codes, list them as text"
    return Column(name, Role.QUASI_IDENTIFIER, reason, domain)


def categories(name, values):
    """Any other values."""
    return _categories(name, values, "values", _flat, in_order=values.match(WHOLE))


TYPES = (nothing, days, codes, keys, numbers, categories)


def _categories(name, values, what, tree, **how):
    """A column of categories. `what` they are, the tree of an attribute whose values `apart` are not so, and how its
    branches are `merged`.
    """
    order = sorted(set(values.texts), key=int if values.match(WHOLE) else str)
    attribute = Attribute(name, Role.QUASI_IDENTIFIER, Categories((*order, *values.marks)))
    whole = tree(attribute, apart=values.marks)
    with contextlib.suppress(SchemaError):  # two values with | between them may be a third one
        whole = merged(whole, values.records_of(), **how)
    return Column(name, attribute.role, f"{values.different} {what}{values.gaps}", attribute.domain, whole)


def _flat(attribute, apart):
    return Taxonomy(attribute.name, tuple((value, SUPPRESSED) for value in attribute.domain.values))


def _names_people(name, values):
    """Whether whole numbers, nearly all different, look like those of people: by the column's name, as a count of the
    records without large gaps, or as codes of one length.
    """
    numbers = values.astype(float)
    lengths = values.str.len()
    dense = numbers.max() - numbers.min() < 1.2 * len(values)
    codes = lengths.min() == lengths.max() >= 6 and (numbers % 10 == 0).mean() < 0.5
    return bool(KEY.search(name) or dense or codes)
