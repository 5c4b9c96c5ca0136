"""Labels of numbers as two columns with the lower and the upper end of each label: `age_low` and `age_high`.

A label covers both of its ends. The two ends of a suppressed cell (`*`) are the ends of the public domain. They are not
empty, because both ends of a missing number are empty. Each label becomes one pair of numbers, from which the label can
be restored. Only `*` and a label that covers the whole domain become the same pair.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pandas as pd

from privnb.microdata.bands import Bands
from privnb.microdata.columns import make_categorical
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.hierarchy.generalization import Generalization
from privnb.microdata.schema import Attribute, Numbers, to_text
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pa

FACTS = "bounds"  # in a provenance
LOW, HIGH = "_low", "_high"
Ends = tuple[float | None, float | None]


@dataclass(frozen=True)
class Bounded:
    """A column of labels of numbers that is written as two columns.

    Parameters
    ----------
    name : str
        The name of the column.
    domain : Numbers
    ends : dict of str to two numbers
        The two ends of each published label; both are None for a missing number.
    """

    name: str
    domain: Numbers
    ends: dict[str, Ends] = field(default_factory=dict)

    @classmethod
    def of(cls, attribute: Attribute, hierarchy: Generalization | None, labels: Iterable[object]) -> Self | None:
        """Return the bounds of a column's published labels; None if the labels are not labels of numbers.

        Raises UsageError for a label that covers both numbers and missing numbers, because two numbers cannot express
        such a label.
        """
        own, banded = [each for each in labels if each is not None and each == each], attribute.domain
        if not own or not all(isinstance(each, str) for each in own):
            return None
        domain = banded.numbers if isinstance(banded, Bands) else banded
        if not isinstance(domain, Numbers) or (hierarchy is None and not isinstance(banded, Bands)):
            return None
        found = cls(attribute.name, domain)
        for label in map(str, own):
            if label == SUPPRESSED:
                found.ends[label] = domain.low, domain.high
            elif label == domain.missing:
                found.ends[label] = None, None
            elif isinstance(banded, Bands):
                found.ends[label] = band_ends(banded, label)
            else:
                assert hierarchy is not None
                if hierarchy.covers_missing(label):
                    raise UsageError(
                        f"`bounds` cannot write '{attribute.name}' as two numbers, because its label '{label}' covers "
                        "both numbers and missing numbers. Give missing numbers their own label in the hierarchy, or "
                        "omit `bounds`."
                    )
                low, high = hierarchy.bounds(label)
                found.ends[label] = low, high
        return found

    @property
    def names(self) -> tuple[str, str]:
        """The names of the columns of lower and upper ends."""
        return self.name + LOW, self.name + HIGH

    @property
    def type(self) -> pa.DataType:
        """The type of both columns: whole numbers if the ends and the domain are whole numbers, otherwise floats."""
        ends = [end for pair in self.ends.values() for end in pair if end is not None]
        whole = all(float(each).is_integer() for each in (self.domain.low, self.domain.step, *ends))
        return pa.int64() if whole else pa.float64()

    def counted(self, codes: IntArray, values: Array) -> dict[str, tuple[IntArray, pa.Array]]:
        """Return the two columns for distinct rows, in the format that `writing.write` accepts.

        Parameters
        ----------
        codes : integer array (rows,)
            The position in `values` of the label of each row.
        values : array
            The labels.
        """
        found: dict[str, tuple[IntArray, pa.Array]] = {}
        for place, name in enumerate(self.names):
            ends = [self.ends[str(value)][place] for value in values]
            different = sorted({end for end in ends if end is not None})
            position = {end: number for number, end in enumerate(different)} | {None: len(different)}
            of_labels = np.array([position[end] for end in ends], dtype=np.int64)
            present = [*different, None] if None in ends else different  # a missing value is last
            found[name] = of_labels[codes], pa.array(present, self.type)
        return found

    def split(self, column: pa.Array) -> list[pa.Array]:
        """Return the two columns that replace an Arrow column of labels."""
        coded = column.cast(pa.string()).dictionary_encode()
        labels = coded.dictionary.to_pylist()
        return [
            pa.array([self.ends[each][place] for each in labels], self.type).take(coded.indices) for place in (0, 1)
        ]

    @property
    def facts(self) -> dict[str, Any]:
        """The facts about the bounds for a provenance, from which `join_bounds` restores the labels."""
        low, high = self.names
        whole = [self.domain.low, self.domain.high]
        plain = {label for label, ends in self.ends.items() if label == _label(ends, whole, self.domain.missing)}
        named = [[label, *ends] for label, ends in self.ends.items() if label not in plain and [*ends] != whole]
        return {
            "low": low,
            "high": high,
            "suppressed": whole,
            "missing": self.domain.missing,
            **({"named": named} if named else {}),
        }


def band_ends(bands: Bands, label: str) -> Ends:
    """Return the lowest and the highest number of a band; both are None for the band of missing numbers."""
    place = bands.values.index(label)
    first = bands.starts[place]
    last = bands.starts[place + 1] - 1 if place + 1 < len(bands.starts) else bands.numbers.size - 1
    if first > bands.numbers.steps:
        return None, None
    return bands.numbers.value(first), bands.numbers.value(min(last, bands.numbers.steps))


def _label(ends: Ends | Iterable[float | None], whole: Iterable[float], missing: str | None) -> str:
    """Return the label with two ends: `20-24`, `20`, `*` for the whole domain, or the mark of a missing number."""
    low, high = ends
    if low is None or high is None:
        return missing or ""
    if [low, high] == [*whole]:
        return SUPPRESSED
    return to_text(float(low)) if low == high else f"{to_text(float(low))}-{to_text(float(high))}"


def join_bounds(facts: Mapping[str, Any], cells: pd.DataFrame) -> pd.Series:
    """Return, as one column, the labels that two columns of a file replace.

    Parameters
    ----------
    facts : dict
        The `Bounded.facts` of the column.
    cells : DataFrame
        A table with the two columns, as Categoricals of texts.
    """
    low, high = (cells[facts[end]] for end in ("low", "high"))
    numbers = [[_number(each) for each in [*column.cat.categories, math.nan]] for column in (low, high)]
    size = len(numbers[1])
    pairs = (low.cat.codes.to_numpy() % len(numbers[0])).astype(np.int64) * size + high.cat.codes.to_numpy() % size
    codes, distinct = pd.factorize(pairs)
    named = {(float(one), float(other)): label for label, one, other in facts.get("named", ())}
    labels = []
    for first, last in zip(*np.divmod(distinct, size), strict=True):
        ends = numbers[0][first], numbers[1][last]
        known = (None, None) if None in ends else ends
        labels.append(named.get(ends) or _label(known, facts["suppressed"], facts["missing"]))
    return pd.Series(make_categorical(codes, np.array(labels, dtype=object)), cells.index)


def _number(cell: object) -> float | None:
    number = pd.to_numeric(str(cell), errors="coerce")
    return None if number != number else float(number)
