"""How near an adversary's estimates of numbers come, column by column.

Arrays of the same people, row by row: what an attack estimates, and the truth that the evaluator alone has. Measured is
the estimate of an attack, not the released column, unless to take that as it is is all that the adversary can do (the
naive estimate).
Source: Aggarwal and Yu (eds.), "Privacy-Preserving Data Mining", Springer 2008, sections 7.3, 7.4 and 8.2.1.
"""

import numpy as np

from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError


def column_privacy(estimated: FloatArray, true: FloatArray) -> FloatArray:
    """Return how far the estimate of each column is from the truth: the variance of the difference, both on standard
    scores, which is 2 (1 - their correlation), 0 to 4; float array (d,).

    An estimate that does not vary tells nothing and has 2.

    Parameters
    ----------
    estimated, true : float array (n, d)
        Of the same people, row by row.

    Source: Aggarwal and Yu 2008, sections 7.3 and 7.4.
    """
    if not np.ptp(true, axis=0).all():
        raise UsageError("a column without variance cannot be normalized. Leave it out: everybody knows it.")
    spread = np.where(np.ptp(estimated, axis=0), estimated.std(axis=0), 1)
    scores = (estimated - estimated.mean(axis=0)) / spread
    related = (scores * (true - true.mean(axis=0)) / true.std(axis=0)).mean(axis=0)
    return 2 * (1 - np.clip(related, -1, 1))


def naive_differences(matrix: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return the variance of difference of each column where points are multiplied by `matrix` (d, d) and each released
    column is taken for the original in its place: float array (d,), from the originals' `covariance` (d, d).

    Of a rotation drawn from Haar measure c_ii + trace(C) / d on average: 2 on standard scores. The book prints c_ii for
    the mean (section 7.5.1), which its approximation of a rotation by independent entries without their common lengths
    gives.

    Source: Aggarwal and Yu 2008, eqs. 7.2 and 7.3: the diagonal of (R - I) C (R - I)'.
    """
    apart = np.asarray(matrix, dtype=float) - np.eye(len(matrix))
    return np.einsum("ij,jk,ik->i", apart, np.asarray(covariance, dtype=float), apart)
