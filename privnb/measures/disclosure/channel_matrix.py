"""A sanitizer as a noisy channel, with an adversary's prior knowledge of the inputs.

The module follows Askari, Safavi-Naini and Barker, "An information theoretic privacy and utility measure for data
sanitization mechanisms", CODASPY 2012, section 3. Inputs and outputs may be whole tables, as in the paper, or values of
one person.
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
    """The probability of each output for each input, P(T'|T), and the adversary's prior over the inputs, P(T).

    `Channel.of` makes a channel. The channel is exact if `probability` and `prior` are arrays of fractions (dtype
    object).

    Parameters
    ----------
    inputs, outputs : sequence of n and of m
    row, column : integer array (entries,)
        The position of the input and of the output, for each entry of the matrix that is not 0.
    probability : array (entries,)
        The probability that the output of the entry is published if the input of the entry is the true input.
    prior : array (n,)

    Raises
    ------
    ValueError
        If the prior or a row of the matrix does not add up to 1.

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
        """Return the channel of a matrix; the channel consists of exact fractions if no number is a float.

        Parameters
        ----------
        matrix : array (n, m)
            P(T'|T), as whole numbers, fractions (also texts such as "5/17") or floats.
        prior : array (n,), optional
            The probability of each input to the adversary. If None, all inputs are equally likely, because the
            adversary has no background knowledge.
        inputs, outputs : sequence of n and of m, optional
            The names of the inputs and of the outputs. If None, they are numbered from 0.

        Raises
        ------
        ValueError
            If the prior or a row of the matrix does not add up to 1.

        Examples
        --------
        >>> Channel.of([["1/2", "1/2"], [0, 1]], outputs=("a", "b")).matrix.tolist()
        [[Fraction(1, 2), Fraction(1, 2)], [Fraction(0, 1), Fraction(1, 1)]]
        """
        matrix = _numbers("matrix", matrix)
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise UsageError(
                "`matrix` must have a row for each input and a column for each output; got an array of shape "
                f"{matrix.shape}."
            )
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
            raise UsageError(
                f"the matrix is larger than {shape[0]} inputs by {shape[1]} outputs. Name each input and output."
            )
        if self.prior.shape != shape[:1]:
            raise UsageError(
                f"`prior` must have a probability for each of {shape[0]} inputs; got an array of shape "
                f"{self.prior.shape}."
            )
        if any(exact.apply_distinct(lambda value: value < 0, given).any() for given in (self.probability, self.prior)):
            raise UsageError("the matrix and the prior must hold probabilities; got a number below 0.")
        kind = object if self.probability.dtype == self.prior.dtype == object else np.float64
        order = np.lexsort((self.row, self.column))
        for name in ("row", "column", "probability"):
            object.__setattr__(self, name, getattr(self, name)[order])
        for name in ("probability", "prior"):
            object.__setattr__(self, name, getattr(self, name).astype(kind))
        sums = exact.sum_by_index(self.row, self.probability, len(self.inputs))
        for what, total in (("row {} of the channel", sums), ("the prior", np.array([exact.total(self.prior)]))):
            wrong = exact.apply_distinct(lambda sums: ~(np.abs(sums - 1) <= (0 if self.exact else ROUNDING)), total)
            if wrong.any():
                at = int(wrong.argmax())
                raise UsageError(f"{what.format(at)} must add up to 1; got {total[at]}. Give probabilities.")

    def __repr__(self) -> str:
        number = "fractions" if self.exact else "floats"
        return f"Channel({len(self.inputs)} inputs, {len(self.outputs)} outputs, {number})"

    @property
    def exact(self) -> bool:
        """Return whether the probabilities of the channel are fractions."""
        return self.prior.dtype == object

    @property
    def matrix(self) -> Array:
        """Return the matrix P(T'|T) of a small channel as an array (n, m)."""
        matrix = np.full((len(self.inputs), len(self.outputs)), Fraction(0) if self.exact else 0.0)
        matrix[self.row, self.column] = self.probability
        return matrix

    def to_frame(self) -> pd.DataFrame:
        """Return the matrix of a small channel as a DataFrame, with the `short_label` of each input and output."""
        return pd.DataFrame(self.matrix, index=map(short_label, self.inputs), columns=map(short_label, self.outputs))

    @cached_property
    def joint(self) -> Array:
        """Return the joint probability P(T, T') of each entry of the matrix, as an array (entries,)."""
        return exact.apply_distinct(np.multiply, self.prior[self.row], self.probability)

    @cached_property
    def output_probability(self) -> Array:
        """Return the probability P(T') of each output, as an array (m,)."""
        return self.sum_by_output(self.joint)

    def with_prior(self, prior: Any) -> "Channel":
        """Return the same channel for an adversary with another prior over the inputs."""
        return replace(self, prior=_numbers("prior", prior))

    def restricted_to(self, possible: Any) -> "Channel":
        """Return the same channel for an adversary who can exclude some inputs.

        `possible`: boolean array (n,), False for each excluded input. Section 3.2 describes weak adversaries by
        "changing the probabilities on input datasets to remove the unrelated inputs".
        """
        left = self.prior[np.asarray(possible, dtype=bool)].sum()
        if not left:
            raise UsageError(
                "`possible` must allow an input with a positive prior; got no such input. Allow at least one such "
                "input."
            )
        return replace(self, prior=np.where(possible, self.prior, 0) / left)

    def sum_by_output(self, entries: Array) -> Array:
        """Return, for each output, the sum of its entries, as an array (m,); 0 if an output has no entries."""
        return exact.sum_by_index(self.column, entries, len(self.outputs))

    def max_by_output(self, entries: Array) -> Array:
        """Return, for each output, the maximum of 0 and its entries, as an array (m,)."""
        return exact.max_by_index(self.column, entries, len(self.outputs))


def short_label(what: Any) -> str:
    """Return an input or an output as a short text; the text of a table consists of the rows of the table.

    >>> short_label((("20", "Cold"), ("30", "Flu"))), short_label("T1")
    ('20 Cold, 30 Flu', 'T1')
    """
    rows = what if isinstance(what, tuple) else ()
    return ", ".join(" ".join(row) for row in rows) if rows else str(what)


def _numbers(name: str, given: Any) -> Array:
    """Return an array of fractions if all values are whole numbers, fractions or texts, else an array of floats."""
    values = np.asarray(given)
    if values.dtype.kind == "f":
        return values
    if any(isinstance(value, float) for value in values.ravel()):
        return values.astype(np.float64)
    try:
        return np.array([Fraction(str(value)) for value in values.ravel()], dtype=object).reshape(values.shape)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"`{name}` must hold numbers or fractions; got {expect.describe_value(given)}.") from None
