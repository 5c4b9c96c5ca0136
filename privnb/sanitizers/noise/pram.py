"""Post-randomization (PRAM): categories are replaced at random, according to any Markov matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Annotated, Any, Self

import numpy as np
from numpy.random import Generator

from privnb.measures.noise.matrices import MAX_MATRIX_VALUES, markov
from privnb.microdata.columns import make_categorical
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Schema
from privnb.microdata.treatment import Jointly, Law
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.names import parse_names
from privnb.runtime.validation import Share, optional
from privnb.sanitizers.base import Sanitized, Sanitizer
from privnb.sanitizers.eligibility import require_categorical
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.noise.laws import Part, Transition

DRAW_RANGE = 2**40  # draws are whole numbers below this


def _matrices(name: str, value: Any) -> None:
    expect.kind(name, value, Mapping, instead='Give a matrix by attribute: {"sex": [[...], ...]}')
    if not value:
        raise UsageError(
            f"{name} must contain at least one attribute; got an empty dict. Omit the argument to use the default."
        )
    for names, matrix in value.items():
        markov(f"the matrix of {expect.describe_value(names)}", matrix)


@dataclass(frozen=True)
class PRAM(Sanitizer):
    """Replace each categorical quasi-identifier of each record at random, according to a public Markov matrix.

    The true value selects the row of the matrix. By default, a value is kept with probability `kept`, and all other
    values of its public domain are equally likely. Numbers are published unchanged. The matrix is public, so users can
    undo the replacement on average, and adversaries can compute how reliable each cell is.

    Parameters
    ----------
    kept : float
        The probability of keeping a value, for attributes without a matrix; above 0 and at most 1.
    invariant : bool
        Whether each matrix P is followed by a matrix Q that leads from published values back to true values, with the
        posterior probabilities of the true values. The shares of all values then stay the same on average, without a
        correction by users: for the shares p, p P Q = p. The matrix depends on the shares in the table and discloses
        these shares.
    matrices : dict of str to matrix, optional
        The matrix of each attribute, or of several attributes, whose names are separated by commas. Several attributes
        are drawn together over their joint domain, with the values of the last attribute varying fastest. Row u lists
        the probability that each value is published for the true value u, in the order of the public domain, so all
        matrices of FRAPP can be used after transposition. With `matrices`, no other attribute changes.

    Raises
    ------
    SanitizationError
        If a matrix has the wrong size, if an attribute has no categories, or if an attribute has two matrices.

    Source: Gouweleeuw, Kooiman, Willenborg, de Wolf, "Post Randomisation for Statistical Disclosure Control", Journal
    of Official Statistics 14(4), 1998 (invariant: section 4); Agrawal and Haritsa, ICDE 2005 (joint domains); Aggarwal
    and Yu 2008, sections 3.3.6 and 10.2.

    Examples
    --------
    >>> from privnb.datasets.dataset import load
    >>> PRAM(0.9).sanitize(load("adult", records=10), rng=1).treated("noisy")[0]
    'workclass'
    """

    kept: Share = 0.8
    invariant: bool = False
    matrices: Annotated[Mapping[str, Any] | None, optional(_matrices)] = field(default=None, hash=False)
    title = "PRAM"
    treatment = "noisy"
    changes = "categories"
    randomized = True
    coded = True

    @property
    def key(self) -> str:
        """The text from which draws are derived."""
        return repr(self).replace("PRAM(", "Pram(", 1)

    @classmethod
    def contract_examples(cls, schema: Schema) -> list[Self]:
        """Return sanitizers for the contract tests."""
        every = [schema[name] for name in schema.quasi_identifiers if not schema[name].numeric]
        # The first attribute that may have a matrix.
        attribute = min(every, key=lambda each: len(each.categories.values) > MAX_MATRIX_VALUES)
        size = len(attribute.categories.values)
        if size > MAX_MATRIX_VALUES:
            return []
        shifted = tuple(tuple(0.7 * (u == v) + 0.3 * ((u + 1) % size == v) for v in range(size)) for u in range(size))
        return [cls(), cls(invariant=True), cls(matrices={attribute.name: shifted})]

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        laws: dict[str, Law] = {}
        for attributes, given in self._groups(dataset.schema):
            names, sizes = [each.name for each in attributes], [len(each.categories.values) for each in attributes]
            codes = [each.categories.codes(table[each.name]) for each in attributes]
            positions = np.ravel_multi_index(codes, sizes)
            matrix = _kept(sizes[0], self.kept) if given is None else given
            if self.invariant:
                matrix = make_invariant(matrix, np.bincount(positions, minlength=len(matrix)))
            found = np.unravel_index(draw_categories(positions, matrix, rng), sizes)
            for each, published in zip(attributes, found, strict=True):
                table[each.name] = make_categorical(published, each.categories.values)
            law = Transition(tuple(map(tuple, matrix.tolist())), "invariant PRAM" if self.invariant else "PRAM")
            joint = Jointly(tuple(names), tuple(sizes), law)
            laws |= dict.fromkeys(names, Part(joint)) if len(names) > 1 else {names[0]: law}
        note = "The matrices keep the shares of values on average. They depend on these shares and disclose them."
        return table, {"noisy": laws} | ({"note": note} if self.invariant else {})

    def _groups(self, schema: Schema) -> list[tuple[list[Attribute], FloatArray | None]]:
        """Return a list of pairs: attributes that are drawn together, and their matrix or None for the default."""
        if self.matrices is None:
            alone = require_categorical(self, schema)
            for each in alone:
                self._check_size(each.name, len(each.categories.values))
            return [([each], None) for each in alone]
        groups: list[tuple[list[Attribute], FloatArray | None]] = []
        seen: list[str] = []
        for text, matrix in self.matrices.items():
            names = parse_names(text)
            attributes = {each.name: each for each in require_categorical(self, schema, names or [text])}
            size = prod(len(each.categories.values) for each in attributes.values())
            self._check_size(text, size)
            try:
                found = markov(f"the matrix of '{text}'", matrix, size)
            except ValueError as error:
                raise SanitizationError(f"{self.title}: {error}") from None
            groups.append(([attributes[name] for name in names], found))
            seen += names
        if twice := sorted({name for name in seen if seen.count(name) > 1}):
            raise SanitizationError(f"{', '.join(twice)} must have one matrix; got several.")
        return groups

    def _check_size(self, names: str, size: int) -> None:
        if size > MAX_MATRIX_VALUES:
            raise SanitizationError(
                f"'{names}' has {size:,} possible values; at most {MAX_MATRIX_VALUES:,} are allowed. Give its public "
                "domain coarser values, or choose the attributes by `matrices`."
            )


def make_invariant(matrix: Any, counts: Any) -> FloatArray:
    """Return the matrix, followed by a matrix that leads back, so that `counts` stay the same on average.

    Parameters
    ----------
    matrix : float array (size, size)
        A Markov matrix.
    counts : array (size,)
        The number of records with each value.

    Returns
    -------
    float array (size, size)
        The matrix R, with counts R = counts. A value that does not occur is never published.

    Source: Gouweleeuw et al. 1998, section 4 (two-stage PRAM).

    >>> found = make_invariant(np.array([[0.75, 0.25], [0.25, 0.75]]), [30, 10])
    >>> (np.array([30, 10]) @ found).round(9).tolist()
    [30.0, 10.0]
    """
    matrix, counts = markov("matrix", matrix), np.asarray(expect.vector("counts", counts), dtype=float)
    reached = counts @ matrix
    with np.errstate(invalid="ignore", divide="ignore"):
        back = (matrix * counts[:, np.newaxis]).T / reached[:, np.newaxis]
    back = np.where(reached[:, np.newaxis] > 0, back, np.eye(len(matrix)))
    return np.einsum("ij,jk->ik", matrix, back)  # rows of values that do not occur lead to values that do, or stay


def _kept(size: int, kept: float) -> FloatArray:
    return np.full((size, size), (1 - kept) / (size - 1)) + (kept - (1 - kept) / (size - 1)) * np.eye(size)


def draw_categories(positions: IntArray, matrix: FloatArray, rng: Generator) -> IntArray:
    """Return the published position of each record, drawn from the row of the true position in a Markov matrix.

    Parameters
    ----------
    positions : integer array (n,)
        Positions of the true values.
    matrix : float array (size, size)
        A Markov matrix.
    rng : Generator

    Returns
    -------
    integer array (n,)
    """
    # # The draws are whole numbers, because sums of floats may differ in their last digit between machines.
    ends = np.rint(np.cumsum(matrix, axis=1) * DRAW_RANGE).astype(np.int64)
    ends[:, -1] = DRAW_RANGE
    starts = np.arange(len(matrix)) * DRAW_RANGE
    number = rng.integers(0, DRAW_RANGE, len(positions)) + starts[positions]
    return np.searchsorted((ends + starts[:, np.newaxis]).ravel(), number, side="right") - positions * len(matrix)
