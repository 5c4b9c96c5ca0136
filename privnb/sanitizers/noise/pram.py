"""Categories that become others at random, by any Markov matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Annotated, Any, Self

import numpy as np
from numpy.random import Generator

from privnb.measures.noise.matrices import MOST, markov
from privnb.microdata.columns import of_codes
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Schema
from privnb.microdata.treatment import Jointly, Law
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.names import names_in
from privnb.runtime.validation import Share, optional
from privnb.sanitizers.base import Sanitized, Sanitizer
from privnb.sanitizers.eligibility import categorical
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.noise.laws import Part, Transition

ROOM = 2**40  # a draw is a whole number below


def _matrices(name: str, value: Any) -> None:
    expect.kind(name, value, Mapping, instead='Give a matrix by attribute: {"sex": [[...], ...]}')
    if not value:
        raise UsageError(f"{name} must hold that of an attribute at least, got a dict of none. Leave it out.")
    for names, matrix in value.items():
        markov(f"the matrix of {expect.found(names)}", matrix)


@dataclass(frozen=True)
class Pram(Sanitizer):
    """Post-randomization: each categorical quasi-identifier of each record is drawn anew, by the row of a public Markov
    matrix that its true value has.

    Without matrices of your own a value is kept with probability `kept` and becomes each other one of its public domain
    alike. Numbers are published as they are. The matrix is public, so that users can undo it in the mean, and
    adversaries can weigh each cell.

    Parameters
    ----------
    kept : float
        Above 0, at most 1. What values without a matrix of their own are kept with.
    invariant : bool
        Each matrix P is followed by another, Q, from published values back to true ones as likely as each of them
        stands behind. The shares of all values then stay as they are on average, without undoing: with shares p,
        p P Q = p. The matrix depends on the shares of the table and tells them.
    matrices : dict of str to matrix, optional
        By attribute, or by several with commas between, which are then drawn together over their joint domain, the last
        attribute's values fastest. Row u says how likely each value is published for the true value u, in the order
        of the public domain. So it takes FRAPP's matrix of any kind, transposed. With them no other attribute changes.

    Raises
    ------
    SanitizationError
        For a matrix of another size, of no attribute with categories, and of an attribute that two matrices name.

    Source: Gouweleeuw, Kooiman, Willenborg, de Wolf, "Post Randomisation for Statistical Disclosure Control", Journal
    of Official Statistics 14(4), 1998 (invariant: section 4); Agrawal and Haritsa, ICDE 2005 (joint domains); Aggarwal
    and Yu 2008, sections 3.3.6 and 10.2.
    """

    kept: Share = 0.8
    invariant: bool = False
    matrices: Annotated[Mapping[str, Any] | None, optional(_matrices)] = field(default=None, hash=False)
    title = "PRAM"
    treatment = "noisy"
    changes = "categories"
    randomized = True
    coded = True

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        every = [schema[name] for name in schema.quasi_identifiers if not schema[name].numeric]
        attribute = min(every, key=lambda each: len(each.categories.values) > MOST)  # the first that may have a matrix
        size = len(attribute.categories.values)
        if size > MOST:
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
                matrix = invariant(matrix, np.bincount(positions, minlength=len(matrix)))
            found = np.unravel_index(drawn(positions, matrix, rng), sizes)
            for each, published in zip(attributes, found, strict=True):
                table[each.name] = of_codes(published, each.categories.values)
            law = Transition(tuple(map(tuple, matrix.tolist())), "invariant PRAM" if self.invariant else "PRAM")
            joint = Jointly(tuple(names), tuple(sizes), law)
            laws |= dict.fromkeys(names, Part(joint)) if len(names) > 1 else {names[0]: law}
        tells = "The matrices keep the shares of values on average. They depend on these shares and tell them."
        return table, {"noisy": laws} | ({"note": tells} if self.invariant else {})

    def _groups(self, schema: Schema) -> list[tuple[list[Attribute], FloatArray | None]]:
        """The attributes that are drawn together and their matrix, None for that of `kept`: a list of pairs."""
        if self.matrices is None:
            alone = categorical(self, schema)
            for each in alone:
                self._check_size(each.name, len(each.categories.values))
            return [([each], None) for each in alone]
        groups: list[tuple[list[Attribute], FloatArray | None]] = []
        seen: list[str] = []
        for text, matrix in self.matrices.items():
            names = names_in(text)
            attributes = {each.name: each for each in categorical(self, schema, names or [text])}
            size = prod(len(each.categories.values) for each in attributes.values())
            self._check_size(text, size)
            try:
                found = markov(f"the matrix of '{text}'", matrix, size)
            except ValueError as error:
                raise SanitizationError(f"{self.title}: {error}") from None
            groups.append(([attributes[name] for name in names], found))
            seen += names
        if twice := sorted({name for name in seen if seen.count(name) > 1}):
            raise SanitizationError(f"{', '.join(twice)} has two matrices. Give each attribute one.")
        return groups

    def _check_size(self, names: str, size: int) -> None:
        if size > MOST:
            raise SanitizationError(
                f"'{names}' has {size:,} possible values in all; a matrix has {MOST:,} at most. Give its "
                "public domain coarser values, or name the attributes that change by `matrices`."
            )


def invariant(matrix: Any, counts: Any) -> FloatArray:
    """The matrix followed by the one that leads back from what is published, so that `counts` stay on average.

    Parameters
    ----------
    matrix : float array (size, size)
        As of `markov`.
    counts : array (size,)
        How many records have each value.

    Returns
    -------
    float array (size, size)
        R with counts R = counts. A value that nobody has is published for nobody.

    Source: Gouweleeuw et al. 1998, section 4 (two-stage PRAM).

    >>> found = invariant(np.array([[0.75, 0.25], [0.25, 0.75]]), [30, 10])
    >>> (np.array([30, 10]) @ found).round(9).tolist()
    [30.0, 10.0]
    """
    matrix, counts = markov("matrix", matrix), np.asarray(expect.vector("counts", counts), dtype=float)
    reached = counts @ matrix
    with np.errstate(invalid="ignore", divide="ignore"):
        back = (matrix * counts[:, np.newaxis]).T / reached[:, np.newaxis]
    back = np.where(reached[:, np.newaxis] > 0, back, np.eye(len(matrix)))
    return np.einsum("ij,jk->ik", matrix, back)  # rows that nobody has lead only to what somebody has, or stay


def _kept(size: int, kept: float) -> FloatArray:
    return np.full((size, size), (1 - kept) / (size - 1)) + (kept - (1 - kept) / (size - 1)) * np.eye(size)


def drawn(positions: IntArray, matrix: FloatArray, rng: Generator) -> IntArray:
    """The published position of each record, drawn from its row of a Markov matrix.

    Parameters
    ----------
    positions : integer array (n,)
        Of the true values.
    matrix : float array (size, size)
        As of `markov`.
    rng : Generator

    Returns
    -------
    integer array (n,)
    """
    # In whole numbers: sums of floats may differ in their last digit from one machine to another.
    ends = np.rint(np.cumsum(matrix, axis=1) * ROOM).astype(np.int64)
    ends[:, -1] = ROOM
    starts = np.arange(len(matrix)) * ROOM
    number = rng.integers(0, ROOM, len(positions)) + starts[positions]
    return np.searchsorted((ends + starts[:, np.newaxis]).ravel(), number, side="right") - positions * len(matrix)
