"""Bands: the public intervals in which a sensitive number is published and counted.

Privacy models, attacks and measures of a sensitive attribute count the values of the attribute. If a numeric attribute
has many different values, few people share each value, so every class would look diverse. Moreover, an exact number in
a release can identify the person who has this number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from privnb.microdata import cuts
from privnb.microdata.schema import Categories, Numbers, to_text
from privnb.microdata.treatment import IN_BANDS
from privnb.runtime.validation import validated

FEW = 10  # in a domain with fewer values than this and with the usual cuts, each value is a band


@dataclass(frozen=True)
class Bands(Categories):
    """The bands of a domain of numbers, in ascending order.

    The public cuts of the domain define the bands; the records do not influence the bands. Missing numbers form the
    last band, whose label is the mark of a missing number.

    Parameters
    ----------
    values : tuple of str
        The labels of the bands: `low-high` or, for a band with one value, the number.
    numbers : Numbers
    starts : tuple of int
        The positions in the domain at which the bands begin.

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
        """Return the bands of a domain, which are its public intervals.

        In a domain with few values for which the owner states no cuts, each value is a band.
        """
        usual = cuts.cut_points(numbers, None)
        if numbers.steps < FEW and numbers.cuts in (usual, ()):
            starts = list(range(numbers.size))
        else:
            starts = [0, *numbers.codes(numbers.cuts or usual).tolist(), *range(numbers.steps + 1, numbers.size)]
        ends = [*(start - 1 for start in starts[1:]), numbers.size - 1]
        pairs = [
            (to_text(numbers.value(start)), to_text(numbers.value(end)))
            for start, end in zip(starts, ends, strict=True)
        ]
        return Bands(tuple(a if a == b else f"{a}-{b}" for a, b in pairs), numbers, tuple(starts), mark=numbers.missing)

    def __str__(self) -> str:
        return f"bands of {self.numbers}: {', '.join(self.values[:4])}" + (", ..." if len(self.values) > 4 else "")

    def labels(self, column: Any) -> list[str]:
        """Return, as a list of str, the label of the band to which each number of `column` belongs."""
        places = np.searchsorted(self.starts, self.numbers.codes(column), side="right") - 1
        return [self.values[place] for place in places.tolist()]


def name_treatment(treatment: str, domain: object) -> str:
    """Return the name of a treatment for readers, given the domain of the column in the prepared table.

    A sanitizer that does not change a column of bands publishes the bands, and not the recorded numbers.

    >>> name_treatment("exact", Bands.of(Numbers(0, 99, cuts=(18, 65)))), name_treatment("exact", Numbers(0, 99))
    ('in bands', 'exact')
    """
    return IN_BANDS if treatment == "exact" and isinstance(domain, Bands) else treatment
