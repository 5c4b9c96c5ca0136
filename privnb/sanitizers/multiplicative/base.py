"""Base class of the sanitizers that multiply the numbers of each record by one secret matrix."""

from __future__ import annotations

from abc import abstractmethod
from math import ceil
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import decode_column, make_categorical
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Numbers, Role, Schema
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.lazy import pd
from privnb.runtime.names import join_names
from privnb.runtime.validation import optional
from privnb.sanitizers.base import Sanitized, Sanitizer
from privnb.sanitizers.eligibility import check_numeric, require_numeric
from privnb.sanitizers.errors import SanitizationError

STEP = 0.001  # the step of the domains of released columns; numbers are not rounded to it


def _several(name: str, value: Any) -> None:
    expect.texts(name, value, "attributes")
    expect.whole("the number of attributes", len(value), 2, "a single number cannot be mixed")


TwoOrMore = Annotated[tuple[str, ...] | None, optional(_several)]


class Multiplicative(Sanitizer):
    """A mechanism that takes the numeric quasi-identifiers of a record as a point, and maps all points in the same way.

    Each number is measured from the middle of its public domain, in widths of that domain. The result for a record
    therefore does not depend on other records, and everything except the matrix is public. A missing number is replaced
    by a number drawn from its column, and the provenance counts the drawn numbers. The release has new columns, because
    a mixture of an age and of hours is neither an age nor a number of hours, and must not be compared with ages or
    hours. The original numbers are published as `*`. The new columns are quasi-identifiers, because they derive from
    quasi-identifiers. They have the treatment `perturbed`, so that measures of labels, classes or cells refuse these
    columns. A miner reads the new columns like any numbers, but is trained and tested only on released rows, because
    nobody knows the values of other people in these columns.
    """

    treatment = "perturbed"
    changes = "two numbers"
    coded = True
    randomized = True
    missing_numbers = "filled"
    word: ClassVar[str] = ""  # the name of its columns, followed by a number from 1

    attributes: Any  # a parameter of each subclass, `TwoOrMore`

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.attributes is not None:
            object.__setattr__(self, "attributes", tuple(self.attributes))

    def numbers(self, schema: Schema) -> list[str]:
        """Return the names of the attributes to mix. Raises SanitizationError if there are fewer than two."""
        able = require_numeric(self, schema)
        check_numeric(self, self.attributes or (), able)
        chosen = list(self.attributes or [attribute.name for attribute in able])
        if len(chosen) < 2:
            raise SanitizationError(
                f"{self!r} needs at least two numeric quasi-identifiers of '{schema.dataset}'; got "
                f"{chosen[0]}. Give two columns of numbers the role 'quasi-identifier', or choose a sanitizer that "
                "adds noise."
            )
        return chosen

    def _numbers_read(self, schema: Schema) -> list[str]:
        return self.numbers(schema)

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        names = self.numbers(dataset.schema)
        points = np.column_stack([locate_in_domain(dataset.schema[name], table[name]) for name in names])
        moved, reach = self._moved(points, rng)
        new = [f"{self.word} {number}" for number in range(1, moved.shape[1] + 1)]
        if taken := [name for name in new if name in dataset.schema.names()]:
            raise SanitizationError(
                f"{self!r} makes columns with the names {join_names(taken)}. Rename these columns of the table."
            )
        for name in names:
            table[name] = make_categorical(np.zeros(len(table), dtype=np.int8), [SUPPRESSED])
        for number, name in enumerate(new):
            table[name] = moved[:, number]
        reach = ceil(10 * reach) / 10
        domain = Numbers(-reach, reach, STEP)
        return table, {"new": tuple(Attribute(name, Role.QUASI_IDENTIFIER, domain) for name in new)}

    @abstractmethod
    def _moved(self, points: FloatArray, rng: Generator) -> tuple[FloatArray, float]:
        """Return the moved `points` (n, d) as a float array (n, k), and the largest distance of a number from 0.

        This distance depends only on d and on the parameters.
        """


def locate_in_domain(attribute: Any, column: pd.Series) -> FloatArray:
    """Return each number's position in the domain, from -1/2 (low end) to 1/2 (high end), as a float array (n,)."""
    domain = attribute.domain
    read = decode_column(domain.read(column)).to_numpy(dtype=float)
    return (read - (domain.low + domain.high) / 2) / domain.width
