"""A sanitizer as a noisy channel: what it may publish for each input, and what an adversary knew of the inputs before.

As in Askari, Safavi-Naini, Barker, "An information theoretic privacy and utility measure for data sanitization
mechanisms", CODASPY 2012, section 3. Inputs and outputs may be whole tables, as in the paper, or one person's value.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from privnb.measures import exact
from privnb.runtime import expect
from privnb.runtime.arrays import Array
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING


@dataclass(frozen=True, eq=False, repr=False)
class Channel:
    """What a sanitizer may publish for each input, P(T'|T), and what the adversary knew of the inputs before, P(T).

    Make one by `Channel.of`. Arrays of fractions (dtype object) are kept exact if both are.

    Parameters
    ----------
    inputs, outputs : sequence of n and of m
        What they are.
    row, column : integer array (entries,)
        Of each entry of the matrix that is not 0: its input and its output.
    probability : array (entries,)
        That the output is published for the input.
    prior : array (n,)

    Raises
    ------
    ValueError
        Unless the prior and each row add up to 1.

    Source: section 3.1.
    """

    HINT: ClassVar[str] = "Channel.of(matrix) makes one."
    inputs: Sequence[Any] | Array
    outputs: Sequence[Any] | Array
    row: np.ndarray
    column: np.ndarray
    probability: np.ndarray
    prior: np.ndarray

    @classmethod
    def of(cls, matrix: Any, prior: Any = None, inputs: Any = None, outputs: Any = None) -> "Channel":
        """The channel of a matrix.

        Parameters
        ----------
        matrix : array (n, m)
            P(T'|T): whole numbers, fractions (also as "5/17") or floats.
        prior : array (n,), optional
            None: all inputs alike, an adversary without background knowledge.
        inputs, outputs : sequence of n and of m, optional
            What they are; None: their numbers from 0.

        Returns
        -------
        Channel
            Exact, in fractions, where no number is a float.

        Raises
        ------
        ValueError
            Unless the prior and each row add up to 1.

        >>> Channel.of([["1/2", "1/2"], [0, 1]], outputs=("a", "b")).matrix.tolist()
        [[Fraction(1, 2), Fraction(1, 2)], [Fraction(0, 1), Fraction(1, 1)]]
        """
        matrix = _numbers("matrix", matrix)
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise UsageError(f"a channel's matrix has a row an input, a column an output; got shape {matrix.shape}.")
        n, m = matrix.shape
        prior = [Fraction(1, n)] * n if prior is None else prior
        row, column = np.nonzero(matrix)
        inputs, outputs = (
            tuple(range(size)) if given is None else expect.kind(name, given, Sequence, np.ndarray, pd.Index)
            for name, size, given in (("inputs", n, inputs), ("outputs", m, outputs))
        )
        return cls(inputs, outputs, row, column, matrix[row, column], _numbers("prior", prior))

    def __post_init__(self) -> None:
        shape = (len(self.inputs), len(self.outputs))
        if len(self.row) and (self.row.max() >= shape[0] or self.column.max() >= shape[1]):
            raise UsageError(f"the matrix is larger than {shape[0]} inputs by {shape[1]} outputs. Name each of them.")
        if self.prior.shape != shape[:1]:
            raise UsageError(f"the prior needs a probability for each of {shape[0]} inputs, got {self.prior.shape}.")
        if any(exact.each(lambda value: value < 0, given).any() for given in (self.probability, self.prior)):
            raise UsageError("a probability of the matrix or the prior is below 0. Give probabilities.")
        kind = object if self.probability.dtype == self.prior.dtype == object else np.float64
        order = np.lexsort((self.row, self.column))
        for name in ("row", "column", "probability"):
            object.__setattr__(self, name, getattr(self, name)[order])
        for name in ("probability", "prior"):
            object.__setattr__(self, name, getattr(self, name).astype(kind))
        sums = exact.added(self.row, self.probability, len(self.inputs))
        for what, total in (("row {} of the channel", sums), ("the prior", np.array([exact.total(self.prior)]))):
            wrong = exact.each(lambda sums: ~(np.abs(sums - 1) <= (0 if self.exact else ROUNDING)), total)
            if wrong.any():
                at = int(wrong.argmax())
                raise UsageError(f"{what.format(at)} adds up to {total[at]}, not to 1. Give probabilities.")

    def __repr__(self) -> str:
        number = "fractions" if self.exact else "floats"
        return f"Channel({len(self.inputs)} inputs, {len(self.outputs)} outputs, {number})"

    @property
    def exact(self) -> bool:
        """Whether it is kept in fractions."""
        return self.prior.dtype == object

    @property
    def matrix(self) -> Array:
        """P(T'|T), array (n, m); for small channels."""
        matrix = np.full((len(self.inputs), len(self.outputs)), Fraction(0) if self.exact else 0.0)
        matrix[self.row, self.column] = self.probability
        return matrix

    def frame(self) -> pd.DataFrame:
        """The matrix to look at: a DataFrame, inputs by outputs, each by its `label`; for small channels."""
        return pd.DataFrame(self.matrix, index=map(label, self.inputs), columns=map(label, self.outputs))

    @cached_property
    def joint(self) -> Array:
        """P(T, T') of each entry, array (entries,)."""
        return exact.each(np.multiply, self.prior[self.row], self.probability)

    @cached_property
    def output_probability(self) -> Array:
        """P(T'), how likely each output is, array (m,)."""
        return self.summed(self.joint)

    def believing(self, prior: Any) -> "Channel":
        """The same sanitizer against an adversary with other background knowledge: any prior over the inputs."""
        return replace(self, prior=_numbers("prior", prior))

    def knowing(self, possible: Any) -> "Channel":
        """The same sanitizer against an adversary who can rule inputs out: boolean array (n,), True where possible.

        Section 3.2: weak adversaries by "changing the probabilities on input datasets to remove the unrelated inputs".
        """
        left = self.prior[np.asarray(possible, dtype=bool)].sum()
        if not left:
            raise UsageError("no input that the prior allows is possible. Leave at least one.")
        return replace(self, prior=np.where(possible, self.prior, 0) / left)

    def summed(self, entries: Array) -> Array:
        """The sum for each output of one number an entry: array (m,), 0 where there is none."""
        return exact.added(self.column, entries, len(self.outputs))

    def largest(self, entries: Array) -> Array:
        """The largest for each output of one number an entry, none negative: array (m,), 0 where there is none."""
        return exact.largest(self.column, entries, len(self.outputs))


def label(what: Any) -> str:
    """An input or output in short: a table by its rows.

    >>> label((("20", "Cold"), ("30", "Flu"))), label("T1")
    ('20 Cold, 30 Flu', 'T1')
    """
    rows = what if isinstance(what, tuple) else ()
    return ", ".join(" ".join(row) for row in rows) if rows else str(what)


def _numbers(name: str, given: Any) -> Array:
    """An array of fractions where all values are whole numbers, fractions or text, else of floats."""
    values = np.asarray(given)
    if values.dtype.kind == "f":
        return values
    if any(isinstance(value, float) for value in values.ravel()):
        return values.astype(np.float64)
    try:
        return np.array([Fraction(str(value)) for value in values.ravel()], dtype=object).reshape(values.shape)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"the {name} must be of numbers or fractions, got {expect.found(given)}.") from None
