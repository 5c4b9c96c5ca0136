"""Checks of an attack's guesses before they are evaluated.

An attack whose guesses can never be right would look like perfect protection.
"""

from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from privnb.runtime import expect
from privnb.runtime.arrays import Array, FloatArray
from privnb.runtime.errors import UsageError

NUMBER, TEXT = "a number", "text"


def check_array(m: int, what: str, value: str | Array | None) -> Array:
    """Return an attack's output as an array (m,); raise ValueError, which mentions `what`, for another shape."""
    found = np.asarray(value)
    if found.shape != (m,):
        shape = f" of shape {found.shape}" if found.shape else ""
        raise UsageError(
            f"{what} must give an array (m,), one value for each of the {m:,} records that it is asked about; got "
            f"{expect.describe_value(value)}{shape}."
        )
    return found


def check_number_array(shape: tuple[int, int], what: str, value: FloatArray | str | None) -> FloatArray:
    """Return the output of a `Recovery` as an array of this shape; raise ValueError unless it contains only numbers."""
    found = np.asarray(value)
    if found.shape != shape or found.dtype.kind not in "iuf" or not np.isfinite(found).all():
        raise UsageError(
            f"{what} must give an array {shape} of finite numbers, with a row for each known row and a column for each "
            f"target; got {expect.describe_value(value)} of shape {found.shape}, of "
            f"{found.dtype.name}."
        )
    return found


def check_guesses(what: str, guesses: Array, truth: Array, attribute: Any = None, cells: Any = ()) -> None:
    """Raise ValueError if none of the guesses can be right.

    A guess may be None or NaN: the attack then makes no guess for that person, which does not count as right. A guess
    may also have the form of a released cell, such as a label or "*".

    Parameters
    ----------
    what : str
        The name of the attack in errors.
    guesses : array (m,)
    truth : array (n,)
    attribute : Attribute, optional
        The guessed attribute; if None, only the types of the guesses and of the true values are compared.
    cells : array
        The published cells of the attribute.
    """
    known, asked = _find_distinct(truth), _find_distinct(guesses)
    if not len(known):
        raise UsageError(
            f"{what} has no truth to compare with, because all true values are missing. Give at least one true value."
        )
    domain = attribute.domain if attribute is not None and attribute.domain.has(known).all() else None
    types, published = dict.fromkeys(map(_name_type, known)), set(cells)
    if domain is None:
        possible, wanted = [_name_type(each) in types for each in asked], " or ".join(types)
    elif attribute.numeric:  # a guess may also lie between two values
        labels = any(isinstance(each, str) for each in published)  # a guess may be a narrower label
        possible = [
            domain.low <= each <= domain.high if _name_type(each) == NUMBER else each == domain.missing or labels
            for each in asked
        ]
        wanted = f"in {domain}"
    else:
        possible = [has or each in published for has, each in zip(domain.has(asked), asked, strict=True)]
        wanted = f"one of {domain}"
    if not any(possible):
        got = f"values such as {expect.describe_value(asked[0])}" if len(asked) else "None or NaN for everybody"
        raise UsageError(
            f"{what} can never be correct: a guess must be {wanted}, as the truth is; got {got}. If the release "
            "discloses nothing, guess as the baseline does."
        )


def _find_distinct(values: Array) -> Array:
    """Return the distinct values that are not missing, as an object array of plain values."""
    plain = pd.Series(np.asarray(values).tolist(), dtype=object)
    return plain[plain.notna()].unique()


def _name_type(value: str) -> str:
    return NUMBER if isinstance(value, Real) else TEXT if isinstance(value, str) else f"a {type(value).__name__}"
