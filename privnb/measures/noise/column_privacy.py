"""The error of an adversary's estimates of numbers, column by column.

The two arrays have a row for each of the same people: the estimates of an attack, and the truth, which only the
evaluator has. The functions measure the estimates and not the released column, unless the adversary can do no better
than to use the column unchanged (the naive estimate).

Source: Aggarwal and Yu (eds.), "Privacy-Preserving Data Mining", Springer 2008, sections 7.3, 7.4 and 8.2.1.
"""

import numpy as np

from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError


def column_privacy(estimated: FloatArray, true: FloatArray) -> FloatArray:
    """Return, for each column, the variance of the difference between estimate and truth, as a float array (d,).

    Estimate and truth are standardized, so the variance is 2 (1 - correlation), from 0 to 4. A constant estimate
    reveals nothing, and its variance is 2.

    Parameters
    ----------
    estimated, true : float array (n, d)
        Two arrays with the same people, row by row.

    Source: Aggarwal and Yu 2008, sections 7.3 and 7.4.
    """
    if not np.ptp(true, axis=0).all():
        raise UsageError(
            "`true` must have a variance in each column. Leave out constant columns, which everybody knows."
        )
    spread = np.where(np.ptp(estimated, axis=0), estimated.std(axis=0), 1)
    scores = (estimated - estimated.mean(axis=0)) / spread
    related = (scores * (true - true.mean(axis=0)) / true.std(axis=0)).mean(axis=0)
    return 2 * (1 - np.clip(related, -1, 1))


def naive_differences(matrix: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return, for each column, the variance of the difference between points multiplied by a matrix and the originals.

    For a rotation drawn from the Haar measure, the mean is c_ii + trace(C) / d, which is 2 for standardized columns.
    The book prints c_ii for the mean (section 7.5.1), because it approximates a rotation by a matrix of independent
    entries, whose rows need not have length 1.

    Parameters
    ----------
    matrix : float array (d, d)
    covariance : float array (d, d)
        The covariance of the originals.

    Returns
    -------
    float array (d,)

    Source: Aggarwal and Yu 2008, eqs. 7.2 and 7.3: the diagonal of (R - I) C (R - I)'.
    """
    apart = np.asarray(matrix, dtype=float) - np.eye(len(matrix))
    return np.einsum("ij,jk,ik->i", apart, np.asarray(covariance, dtype=float), apart)
