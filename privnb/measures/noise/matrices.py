"""Markov matrices of noise, with measures of disclosure and of the error of counts estimated from noisy values.

A matrix has one row for each true value, and each row adds up to 1. The paper on FRAPP uses the transposed matrix.

Source: Agrawal and Haritsa, "A Framework for High-Accuracy Privacy-Preserving Mining", ICDE 2005, section 2; Aggarwal
and Yu 2008, sections 3.3.6 and 10.2.
"""

import numpy as np
from numpy.typing import ArrayLike

from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING

MAX_MATRIX_VALUES = 2_000  # maximum number of values of a domain whose matrix is computed
SINGULAR = 1e12  # condition number from which a matrix cannot be inverted in floats


def markov(name: str, matrix: ArrayLike, size: int | None = None) -> FloatArray:
    """Return `matrix` as a float array (size, size) whose rows are probabilities; errors call the matrix `name`.

    Raises
    ------
    ValueError
        If the matrix has another shape, an entry below 0, or a row that does not add up to 1.

    Examples
    --------
    >>> markov("matrix", [[0.75, 0.25], [0.5, 0.5]]).shape
    (2, 2)
    """
    try:
        found = np.array(matrix, dtype=float)
    except (TypeError, ValueError):
        raise UsageError(
            f"{name} must be rows of numbers with the same length; got {expect.describe_value(matrix)}."
        ) from None
    expect.array(name, found, 2)
    wanted = f"have {size} rows and columns, one for each value of the domain" if size else "be square"
    if found.shape[0] != found.shape[1] or (size and len(found) != size):
        raise UsageError(f"{name} must {wanted}; got {found.shape[0]} x {found.shape[1]}.")
    if (found < 0).any():
        raise UsageError(f"{name} must hold probabilities; got {found.min():g}. Try numbers of at least 0.")
    sums = found.sum(axis=1)
    if (np.abs(sums - 1) > ROUNDING).any():
        row = int(np.abs(sums - 1).argmax())
        raise UsageError(
            f"each row of {name} must add up to 1; row {row} adds up to {sums[row]:.10g}. A row holds the probability "
            "of each published value for one true value. Transpose the matrix if the matrix follows the notation of "
            "FRAPP."
        )
    return found / sums[:, np.newaxis]


def amplification_of(matrix: ArrayLike) -> float:
    """Return gamma of a matrix, the largest ratio between a published value's probabilities for two true values.

    Gamma is at least 1. A value that is never published does not count. If a published value is impossible for some
    true values, gamma is infinite.

    Source: Evfimievski, Gehrke, Srikant, "Limiting privacy breaches in privacy preserving data mining", PODS 2003,
    definition 3; Aggarwal and Yu 2008, section 10.2.4.

    >>> amplification_of([[0.9, 0.1], [0.1, 0.9]])
    9.0
    """
    found = markov("matrix", matrix)
    found = found[:, found.max(axis=0) > 0]
    with np.errstate(divide="ignore"):
        return float((found.max(axis=0) / found.min(axis=0)).max())


def condition_number(matrix: ArrayLike) -> float:
    """Return the maximum factor by which inversion of the matrix magnifies a relative error of counts; lower is better.

    The factor is the ratio of the largest to the smallest singular value of the matrix; for a symmetric matrix, these
    are the largest and the smallest absolute eigenvalue. The factor is at least 1. It is infinite if two true values
    cannot be distinguished by any number of records.

    Source: Agrawal and Haritsa, ICDE 2005, theorem 1; Aggarwal and Yu 2008, section 10.2.3.

    >>> round(condition_number([[0.9, 0.1], [0.1, 0.9]]), 9)
    1.25
    """
    found = markov("matrix", matrix)
    if (found == found.T).all():  # for thousands of values, this takes a tenth of the time
        sizes = np.sort(np.abs(np.linalg.eigvalsh(found)))
        number = sizes[-1] / sizes[0] if sizes[0] > 0 else np.inf
    else:
        number = np.linalg.cond(found)
    return float(number) if number < SINGULAR else np.inf
