"""Sanitizers that multiply the numbers of each record by one secret matrix: distances stay, columns do not."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import of_codes, plain
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Numbers, Role, Schema
from privnb.runtime import expect, lazy_pandas as pd
from privnb.runtime.arrays import FloatArray
from privnb.runtime.names import name_list
from privnb.runtime.validation import Count, Positive, optional
from privnb.sanitizers.algorithms.linear import multiplied, orthogonal
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


@dataclass(frozen=True)
class Rotation(Multiplicative):
    """Multiply the numeric quasi-identifiers of each record by one secret orthogonal matrix, drawn from Haar measure.

    Distances and inner products stay, so that nearest neighbours, k-means and support vector machines learn what they
    would from the numbers in widths of their domains; trees, which cut columns, do not. The privacy is that of the
    matrix alone: as many known records as there are numbers give it away, and the middle of the domains stays where it
    was. Numbers of a coarse step give it away, too: rows that differ by one step in one number show a column of the
    matrix.

    Parameters
    ----------
    attributes : tuple of str, optional
        Two numeric quasi-identifiers or more; None: all.

    Source: Aggarwal and Yu 2008, sections 7.2.2 and 15.4; Chen and Liu, ICDM 2005.
    """

    attributes: TwoOrMore = None
    order_invariant = True
    title = "Rotation"
    word = "rotated"

    def _moved(self, points: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, float]:
        size = points.shape[1]
        return multiplied(orthogonal(size, rng), points), sqrt(size) / 2


@dataclass(frozen=True)
class RandomProjection(Multiplicative):
    """Multiply the numeric quasi-identifiers of each record by one secret Gaussian matrix that has fewer rows.

    Inner products and squared distances stay in expectation: of x and y the inner product varies by (|x|^2 |y|^2 +
    (x.y)^2) / dimensions, which is much for so few columns. Whoever knows the matrix still lacks as many numbers as
    there are columns fewer.

    Parameters
    ----------
    dimensions : int, optional
        Of what is released, 1 to the number of attributes; None: half of these, rounded up.
    attributes : tuple of str, optional
        Two numeric quasi-identifiers or more; None: all.

    Source: Aggarwal and Yu 2008, sections 7.2.3 and 15.4; Liu, Kargupta, Ryan, IEEE TKDE 18(1), 2006.
    """

    dimensions: Count | None = None
    attributes: TwoOrMore = None
    order_invariant = True
    title = "Random projection"
    word = "projected"

    def _moved(self, points: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, float]:
        size = points.shape[1]
        kept = (size + 1) // 2 if self.dimensions is None else self.dimensions
        if kept > size:
            raise SanitizationError(f"{self!r} has {size} numbers to project. Lower dimensions to {size} or less.")
        # A row of the matrix is longer than sqrt(size) + 6 once in 10^8: its length is Lipschitz in Gaussian draws.
        reach = sqrt(size) / 2 * (sqrt(size) + 6) / sqrt(kept)
        return multiplied(rng.standard_normal((kept, size)) / sqrt(kept), points), reach


@dataclass(frozen=True)
class GeometricPerturbation(Multiplicative):
    """Turn the numeric quasi-identifiers of all records by one secret rotation, shift them all alike, and add noise.

    The shift, drawn evenly from a width of the domain in each column, hides the centre of the rotation. The noise hides
    distances, by which somebody finds the rows of records that they know. A squared distance of two rows is on average
    2 d sigma^2 more than that of the records, for d numbers. Without noise the distances are exact.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise in each released column, in widths of a domain; 0 is refused, see `Rotation`.
    attributes : tuple of str, optional
        Two numeric quasi-identifiers or more; None: all.

    Source: Aggarwal and Yu 2008, section 7.2.5, definition 1; Chen, Sun, Liu, SDM 2007.
    """

    sigma: Positive = 0.05
    attributes: TwoOrMore = None
    title = "Geometric perturbation"
    word = "perturbed"

    def _moved(self, points: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, float]:
        size = points.shape[1]
        turned = multiplied(orthogonal(size, rng), points) + rng.uniform(-0.5, 0.5, size)
        # Of a billion Gaussian draws the largest is about 6 deviations.
        return turned + rng.normal(0, self.sigma, points.shape), sqrt(size) / 2 + 0.5 + 6 * self.sigma
