"""What the sanitizers have in common that multiply the numbers of each record by one secret matrix."""

from __future__ import annotations

from abc import abstractmethod
from math import ceil
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import of_codes, plain
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Numbers, Role, Schema
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.lazy import pd
from privnb.runtime.names import name_list
from privnb.runtime.validation import optional
from privnb.sanitizers.base import Sanitized, Sanitizer
from privnb.sanitizers.eligibility import check_numeric, numeric
from privnb.sanitizers.errors import SanitizationError

STEP = 0.001  # of the domains of released columns, whose numbers are not rounded to it


def _several(name: str, value: Any) -> None:
    expect.texts(name, value, "attributes")
    expect.whole("the number of attributes", len(value), 2, "one number alone is not mixed")


TwoOrMore = Annotated[tuple[str, ...] | None, optional(_several)]


class Multiplicative(Sanitizer):
    """A mechanism that takes the numeric quasi-identifiers of a record for a point and moves all points alike.

    Each number counts from the middle of its public domain, in widths of it, so that no record changes what becomes of
    another, and everything but the matrix is public. A missing number is drawn from its column, and the provenance
    counts these. What is released are new columns, for a sum of an age and of hours
    is neither: taken for an age, it would be compared with ages. The numbers themselves are `*`. The new columns are
    quasi-identifiers, since they are made of such, and `perturbed`, so that a measure of labels, of classes or of cells
    refuses them. A miner reads them like any numbers, and learns and is tested on released rows alone: of nobody else
    is the place in them known.
    """

    treatment = "perturbed"
    changes = "two numbers"
    coded = True
    randomized = True
    missing_numbers = "filled"
    word: ClassVar[str] = ""  # what its columns are called, with a number from 1

    attributes: Any  # a parameter of each, `TwoOrMore`

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.attributes is not None:
            object.__setattr__(self, "attributes", tuple(self.attributes))

    def numbers(self, schema: Schema) -> list[str]:
        """The names of the attributes that it moves. Raises SanitizationError for fewer than two."""
        able = numeric(self, schema)
        check_numeric(self, self.attributes or (), able)
        chosen = list(self.attributes or [attribute.name for attribute in able])
        if len(chosen) < 2:
            raise SanitizationError(
                f"{self!r} mixes two numbers or more, and has {chosen[0]} of the numeric quasi-identifiers of "
                f"'{schema.dataset}'. Give two or more numbers that role, or choose noise."
            )
        return chosen

    def _numbers_read(self, schema: Schema) -> list[str]:
        return self.numbers(schema)

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        names = self.numbers(dataset.schema)
        points = np.column_stack([place(dataset.schema[name], table[name]) for name in names])
        moved, reach = self._moved(points, rng)
        new = [f"{self.word} {number}" for number in range(1, moved.shape[1] + 1)]
        if taken := [name for name in new if name in dataset.schema.names()]:
            raise SanitizationError(f"{self!r} makes columns that are called {name_list(taken)}. Rename the table's.")
        for name in names:
            table[name] = of_codes(np.zeros(len(table), dtype=np.int8), [SUPPRESSED])
        for number, name in enumerate(new):
            table[name] = moved[:, number]
        reach = ceil(10 * reach) / 10
        domain = Numbers(-reach, reach, STEP)
        return table, {"new": tuple(Attribute(name, Role.QUASI_IDENTIFIER, domain) for name in new)}

    @abstractmethod
    def _moved(self, points: FloatArray, rng: Generator) -> tuple[FloatArray, float]:
        """What becomes of points, float array (n, d): float array (n, k); and how far from 0 a released number may be,
        which depends on d and the parameters alone.
        """


def place(attribute: Any, column: pd.Series) -> FloatArray:
    """Return numbers as they lie in their domain, from -1/2 at its low end to 1/2 at the high: float array (n,)."""
    domain = attribute.domain
    read = plain(domain.read(column)).to_numpy(dtype=float)
    return (read - (domain.low + domain.high) / 2) / domain.width
