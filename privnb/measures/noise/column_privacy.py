"""The error of an adversary's estimates of numbers, for each column.

One array contains the estimates of an attack, and the other array contains the true numbers, which only the evaluator
knows; both arrays have the same people as rows. The functions measure the estimates and not the released columns. If
the best attack uses the released columns unchanged (the naive estimate), the two are the same.

Source: Aggarwal and Yu (eds.), "Privacy-Preserving Data Mining", Springer 2008, sections 7.3, 7.4 and 8.2.1.
"""

import numpy as np

from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError


def column_privacy(estimated: FloatArray, true: FloatArray) -> FloatArray:
    """Return, for each column, the variance of the difference between estimates and truth, as a float array (d,).

    The estimates and the truth are standardized, so the variance is 2 (1 - correlation), from 0 to 4. If the estimates
    of a column are constant, they reveal nothing, and the variance is 2.

    Parameters
    ----------
    estimated, true : float array (n, d)
        Two arrays whose rows are the same people.

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
    """Return, for each column, the variance of the difference between originals and originals multiplied by a matrix.

    If the matrix is a rotation drawn from the Haar measure, the mean of the variance is c_ii + trace(C) / d, which is 2
    for standardized columns. In section 7.5.1, the book gives c_ii as the mean, because the book approximates a
    rotation by a matrix of independent entries, whose rows need not have length 1.

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
