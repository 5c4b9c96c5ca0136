"""Markov matrices: how far they set true values apart, and how far off counts are that are estimated behind them.

A matrix has a row for each true value, which adds up to 1. FRAPP writes it transposed.

Source: Agrawal and Haritsa, "A Framework for High-Accuracy Privacy-Preserving Mining", ICDE 2005, section 2; Aggarwal
and Yu 2008, sections 3.3.6 and 10.2.
"""

import numpy as np
from numpy.typing import ArrayLike

from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import ROUNDING

MOST = 2_000  # values of a domain whose matrix, a row and a column for each, is written out
SINGULAR = 1e12  # condition from which on nothing can be undone in floats


def markov(name: str, matrix: ArrayLike, size: int | None = None) -> FloatArray:
    """`matrix` as a float array (size, size) whose rows are probabilities. `name`: what it is called in errors.

    Raises ValueError for another shape, an entry below 0, and a row that does not add up to 1.

    >>> markov("matrix", [[0.75, 0.25], [0.5, 0.5]]).shape
    (2, 2)
    """
    try:
        found = np.array(matrix, dtype=float)
    except (TypeError, ValueError):
        raise UsageError(f"{name} must be rows of equally many numbers, got {expect.found(matrix)}.") from None
    expect.array(name, found, 2)
    wanted = f"of {size} rows and columns, one of each value of the domain" if size else "square"
    if found.shape[0] != found.shape[1] or (size and len(found) != size):
        raise UsageError(f"{name} must be {wanted}, got {found.shape[0]} x {found.shape[1]}.")
    if (found < 0).any():
        raise UsageError(f"{name} must hold probabilities, got {found.min():g}. Give none below 0.")
    sums = found.sum(axis=1)
    if (np.abs(sums - 1) > ROUNDING).any():
        row = int(np.abs(sums - 1).argmax())
        raise UsageError(
            f"each row of {name} must add up to 1, and row {row} adds up to {sums[row]:.10g}. A row is a true value "
            "and says how likely each value is published for it; FRAPP's columns are rows here."
        )
    return found / sums[:, np.newaxis]


def amplification_of(matrix: ArrayLike) -> float:
    """Gamma of a matrix: how many times likelier any value is published for one true value than for another; from 1.

    A value that is never published does not count. One that some true values exclude makes it infinite.

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
    """How much the matrix magnifies an error of published counts when it is undone: from 1, lower is better.

    The largest singular value by the smallest, of a symmetric matrix its eigenvalues. Infinite where two true values
    cannot be distinguished, even by endlessly many records.

    Source: Agrawal and Haritsa, ICDE 2005, theorem 1; Aggarwal and Yu 2008, section 10.2.3.

    >>> round(condition_number([[0.9, 0.1], [0.1, 0.9]]), 9)
    1.25
    """
    found = markov("matrix", matrix)
    if (found == found.T).all():  # of thousands of values in a tenth of the time
        sizes = np.sort(np.abs(np.linalg.eigvalsh(found)))
        number = sizes[-1] / sizes[0] if sizes[0] > 0 else np.inf
    else:
        number = np.linalg.cond(found)
    return float(number) if number < SINGULAR else np.inf
