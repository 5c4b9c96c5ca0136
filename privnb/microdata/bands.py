"""Numbers in bands: a sensitive number is published and counted as the public interval that holds it.

Privacy models, attacks and measures of a sensitive attribute count values. Of a number with many of them hardly two
people share one, so that every class looks diverse; and a number that is published exactly names its person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from privnb.microdata import cuts
from privnb.microdata.schema import Categories, Numbers, Schema, text
from privnb.runtime import expect
from privnb.runtime.errors import UsageTypeError
from privnb.runtime.sentences import C, Sentences, say
from privnb.runtime.validation import validated

FEW = 10  # values of a domain that are its bands themselves, unless its owner cuts it otherwise


@dataclass(frozen=True)
class Bands(Categories):
    """The bands of a domain of numbers, rising: as its public cuts part it, never as the records lie. Missing ones are
    the last band, of their mark.

    Parameters
    ----------
    values : tuple of str
        Their labels, `low-high`, or the number where a band is of one value.
    numbers : Numbers
    starts : tuple of int
        The positions in the domain at which they begin.

    >>> bands = Bands.of(Numbers(0, 99, cuts=(18, 65)))
    >>> bands.values, bands.labels([3, 18, 99])
    (('0-17', '18-64', '65-99'), ['0-17', '18-64', '65-99'])
    >>> str(Bands.of(Numbers(0, 1)))
    'bands of 0 to 1: 0, 1'
    """

    numbers: Numbers
    starts: tuple[int, ...]

    @staticmethod
    @validated
    def of(numbers: Numbers) -> Bands:
        """The bands of a domain: its public intervals. Where it has few values, and its cuts are the usual ones, or has
        no other cuts: each value.
        """
        usual = cuts.points(numbers, None)
        if numbers.steps < FEW and numbers.cuts in (usual, ()):
            starts = list(range(numbers.size))
        else:
            starts = [0, *numbers.codes(numbers.cuts or usual).tolist(), *range(numbers.steps + 1, numbers.size)]
        ends = [*(start - 1 for start in starts[1:]), numbers.size - 1]
        pairs = [
            (text(numbers.value(start)), text(numbers.value(end))) for start, end in zip(starts, ends, strict=True)
        ]
        return Bands(tuple(a if a == b else f"{a}-{b}" for a, b in pairs), numbers, tuple(starts))

    def __str__(self) -> str:
        return f"bands of {self.numbers}: {', '.join(self.values[:4])}" + (", ..." if len(self.values) > 4 else "")

    def labels(self, column: Any) -> list[str]:
        """The band of each of `column`, numbers of the domain: list of str."""
        places = np.searchsorted(self.starts, self.numbers.codes(column), side="right") - 1
        return [self.values[place] for place in places.tolist()]


class HasSchema(Protocol):
    """A dataset, or anything else of a schema."""

    @property
    def schema(self) -> Schema: ...


def sentence(dataset: HasSchema) -> Sentences | None:
    """On each attribute that a table has as a number and that is published and counted in bands: `Sentences`, or None
    where there is none.
    """
    if not isinstance(getattr(dataset, "schema", None), Schema):
        raise UsageTypeError(f"dataset must be a Dataset, got {expect.found(dataset)}. Load one: load(name).")
    parted = [attribute for attribute in dataset.schema.attributes if isinstance(attribute.domain, Bands)]
    texts = [
        f"'{each.name}' is a number. It is published, attacked and counted in {each.domain}. Its {C}cuts{C} in the "
        "description file choose other bands."
        for each in parted
    ]
    return say(*texts) if texts else None
