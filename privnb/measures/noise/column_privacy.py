"""How near an adversary's estimates of numbers come, column by column, and what a miner loses by a transformation.

Arrays of the same people, row by row: what an attack estimates, and the truth that the evaluator alone has. Measured is
the estimate of an attack, not the released column, unless to take that as it is is all that the adversary can do (the
naive estimate).
Source: Aggarwal and Yu (eds.), "Privacy-Preserving Data Mining", Springer 2008, sections 7.3, 7.4 and 8.2.1.
"""

import math

import numpy as np

from privnb.measures.base import measure
from privnb.measures.utility.mining import exact_match
from privnb.runtime import expect


@measure(kind="privacy", better="higher", bounds=(0, math.inf), title="Variance of difference", unit="squared units")
def variance_of_difference(estimated, true):
    """How far estimates of a number spread about the truth, once their mean error is taken off: 0 where they differ by
    one constant, which whoever knows the column's mean takes off.

    The truth lies within c times the root of it around an estimate, c by the confidence that is wanted. It is in the
    column's own squared unit: columns are normalized before two of them are compared, see `least_column_privacy`.

    Parameters
    ----------
    estimated, true : float array (n,)

    Returns
    -------
    float
        0 and more; higher is better.

    Source: Aggarwal and Yu 2008, section 7.4.2, VoD.
    """
    estimated, true = _alike(estimated, true, 1)
    return float(np.var(estimated - true))


@measure(kind="privacy", better="higher", bounds=(0, math.inf), title="Scale-free security", unit="share of variance")
def scale_free_security(estimated, true):
    """The variance of difference as a share of the column's own variance: 0 where the estimate tells all, 1 where it is
    one constant for everybody.

    Not for comparing columns of which some hardly vary: noise of other columns' size makes their share large, see
    section 7.4.2.

    Parameters
    ----------
    estimated, true : float array (n,)

    Returns
    -------
    float
        0 and more; higher is better.

    Raises
    ------
    ValueError
        For a column without variance.

    Source: Aggarwal and Yu 2008, section 8.2.1, Sec = Var(X - Y) / Var(X).
    """
    estimated, true = _alike(estimated, true, 1)
    if not np.ptp(true):
        raise ValueError("a column without variance has no share of it that an estimate leaves. Leave the column out.")
    return float(np.var(estimated - true) / np.var(true))


@measure(kind="privacy", better="higher", bounds=(0, 4), unit="squared deviations")
def least_column_privacy(estimated, true, weights=None):
    """How badly the column is estimated that is estimated best: the variance of difference of normalized columns, each
    divided by what the column asks for.

    Both the estimates and the truth of each column are standard scores, so that it is 2 (1 - correlation): 0 known up
    to unit and origin, 2 unrelated, 4 turned round. The weakest column is what an adversary uses.

    Parameters
    ----------
    estimated, true : float array (n, d)
    weights : float array (d,), optional
        How much privacy each column asks for, at least 1; None: 1 each.

    Returns
    -------
    float
        0 to 4; higher is better.

    Raises
    ------
    ValueError
        For a true column without variance; an estimate without any is unrelated.

    Source: Aggarwal and Yu 2008, sections 7.4.1 and 7.4.2, the least p_i / w_i.
    """
    return float(column_privacy(estimated, true, weights).min())


@measure(kind="privacy", better="higher", bounds=(0, 4), unit="squared deviations")
def mean_column_privacy(estimated, true, weights=None):
    """The mean over columns of what `least_column_privacy` is the least of. A column that is given away hides in it.

    Parameters
    ----------
    estimated, true, weights
        As of `least_column_privacy`.

    Returns
    -------
    float
        0 to 4; higher is better.

    Source: Aggarwal and Yu 2008, section 7.4.1, the mean p_i / w_i.
    """
    return float(column_privacy(estimated, true, weights).mean())


def column_privacy(estimated, true, weights=None):
    """p_i / w_i of each column, see `least_column_privacy`: float array (d,)."""
    estimated, true = _alike(estimated, true, 2)
    weights = np.ones(true.shape[1]) if weights is None else expect.vector("weights", weights, true.shape[1])
    if not (np.asarray(weights) >= 1).all():
        raise ValueError(f"weights say how much privacy columns ask for, 1 and more, got {list(weights)}.")
    if not np.ptp(true, axis=0).all():
        raise ValueError("a column without variance cannot be normalized. Leave it out: everybody knows it.")
    spread = np.where(np.ptp(estimated, axis=0), estimated.std(axis=0), 1)
    scores = (estimated - estimated.mean(axis=0)) / spread
    related = (scores * (true - true.mean(axis=0)) / true.std(axis=0)).mean(axis=0)
    return 2 * (1 - np.clip(related, -1, 1)) / np.asarray(weights, dtype=float)


def naive_differences(matrix, covariance):
    """The variance of difference of each column where points are multiplied by `matrix` (d, d) and each released column
    is taken for the original in its place: float array (d,), from the originals' `covariance` (d, d).

    Of a rotation drawn from Haar measure c_ii + trace(C) / d on average: 2 on standard scores. The book prints c_ii for
    the mean (section 7.5.1), which its approximation of a rotation by independent entries without their common lengths
    gives.

    Source: Aggarwal and Yu 2008, eqs. 7.2 and 7.3: the diagonal of (R - I) C (R - I)'.
    """
    apart = np.asarray(matrix, dtype=float) - np.eye(len(matrix))
    return np.einsum("ij,jk,ik->i", apart, np.asarray(covariance, dtype=float), apart)


@measure(kind="utility", better="lower", bounds=(0, 1), unit="share of people", format="{:%} of people")
def transformation_gap(before, after, true):
    """By how much the share of wrong guesses differs between a miner of the original and the same miner of what it was
    transformed to: 0 for one that the transformation leaves as it is.

    Each guesses for the same people, as they are and as they are transformed. Equal shares may still be errors about
    different people; where all guesses are equal, the miner is strictly invariant.

    Parameters
    ----------
    before, after : array (n,)
        Guesses from the original and from the transformed records.
    true : array (n,)
        The right labels.

    Returns
    -------
    float
        0 to 1; lower is better.

    Source: Aggarwal and Yu 2008, section 7.3.1, definition 2 and proposition 2.
    """
    return float(abs(exact_match(before, true).mean() - exact_match(after, true).mean()))


def _alike(estimated, true, dimensions):
    estimated, true = (
        expect.array(name, np.asarray(each, dtype=float), dimensions)
        for name, each in (("estimated", estimated), ("true", true))
    )
    if estimated.shape != true.shape:
        raise ValueError(
            f"estimates are compared with the truth of the same people and columns; got shapes {estimated.shape} and "
            f"{true.shape}."
        )
    return estimated, true
