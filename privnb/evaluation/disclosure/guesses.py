"""What an attack answers, checked before it is counted: whoever can never be right would pass for perfect safety."""

from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from privnb.runtime import expect
from privnb.runtime.arrays import Array, FloatArray
from privnb.runtime.errors import UsageError

NUMBER, TEXT = "a number", "text"


def array_of(m: int, what: str, value: str | Array | None) -> Array:
    """What an attack gives, as an array (m,). Raises ValueError for any other shape; `what`: who gave it."""
    found = np.asarray(value)
    if found.shape != (m,):
        shape = f" of shape {found.shape}" if found.shape else ""
        raise UsageError(
            f"{what} must give an array (m,), one value for each of the {m:,} records that it is asked of, got "
            f"{expect.found(value)}{shape}."
        )
    return found


def numbers_of(shape: tuple[int, int], what: str, value: FloatArray | str | None) -> FloatArray:
    """What a `Recovery` gives, as an array of this shape. Raises ValueError for another, and for what is no number."""
    found = np.asarray(value)
    if found.shape != shape or found.dtype.kind not in "iuf" or not np.isfinite(found).all():
        raise UsageError(
            f"{what} must give an array {shape} of finite numbers, a row for each row that it is asked of and a column "
            f"for each of its targets, got {expect.found(value)} of shape {found.shape}, of {found.dtype.name}."
        )
    return found


def check_guesses(what: str, guesses: Array, truth: Array, attribute: Any = None, cells: Any = ()) -> None:
    """Raise ValueError where not one of the guesses, array (m,), can be right.

    A guess may be None or NaN: then the attack makes none for that person, who is not guessed right. It may be written
    as the release writes it, as a label or "*".

    Parameters
    ----------
    what : str
        Who guesses.
    truth : array (n,)
    attribute : Attribute, optional
        What is guessed; None: no column, so that guesses are compared with the truth by their type alone.
    cells : array
        What was published of it.
    """
    known, asked = _distinct(truth), _distinct(guesses)
    if not len(known):
        raise UsageError(f"{what} has no truth to compare with: all of it is missing. Give the right answers.")
    domain = attribute.domain if attribute is not None and attribute.domain.has(known).all() else None
    types, published = dict.fromkeys(map(_type, known)), set(cells)
    if domain is None:
        possible, wanted = [_type(each) in types for each in asked], " or ".join(types)
    elif attribute.numeric:  # a guess lies between two values, too
        labels = any(isinstance(each, str) for each in published)  # of which a guess may name a narrower one
        possible = [
            domain.low <= each <= domain.high if _type(each) == NUMBER else each == domain.missing or labels
            for each in asked
        ]
        wanted = f"in {domain}"
    else:
        possible = [has or each in published for has, each in zip(domain.has(asked), asked, strict=True)]
        wanted = f"one of {domain}"
    if not any(possible):
        got = f"values such as {expect.found(asked[0])}" if len(asked) else "None or NaN for everybody"
        raise UsageError(
            f"{what} can never be right: a guess must be {wanted}, as the truth is, got {got}. Where the release tells "
            "nothing, guess what the baseline does."
        )


def _distinct(values: Array) -> Array:
    """The distinct values but for missing ones, as plain ones: object array."""
    plain = pd.Series(np.asarray(values).tolist(), dtype=object)
    return plain[plain.notna()].unique()


def _type(value: str) -> str:
    return NUMBER if isinstance(value, Real) else TEXT if isinstance(value, str) else f"a {type(value).__name__}"
