"""Linear algebra that sanitizers of numbers share: orthogonal matrices, products, standard scores, roots."""

import numpy as np

from privnb.runtime.arrays import Array, FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import EXACT


def orthogonal(size: int, rng: np.random.Generator) -> FloatArray:
    """An orthogonal matrix drawn from Haar measure: none is likelier than another; float array (size, size).

    Source: Mezzadri, "How to generate random matrices from the classical compact groups", Notices of the AMS 54(5),
    2007, section 5: the QR decomposition of a Gaussian matrix, with the signs of R's diagonal.
    """
    q, r = np.linalg.qr(rng.standard_normal((size, size)))
    return q * np.sign(np.diag(r))


def multiplied(matrix: Array, points: Array) -> FloatArray:
    """The points with `matrix` (k, d) applied to each: float array (n, k).

    Column by column, not by a library of matrices: a row is then the same wherever it stands.

    >>> multiplied(np.array([[0, -1], [1, 0]]), np.array([[2.0, 5.0]])).tolist()
    [[-5.0, 2.0]]
    """
    return sum(np.multiply.outer(numbers, weights) for numbers, weights in zip(points.T, matrix.T, strict=True))


def standardized(points: Array) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Standard scores of the columns, each less its mean and in its standard deviations, float array (n, d); the means
    and the deviations, float arrays (d,).

    Raises ValueError for a column without variance.

    >>> standardized(np.array([[1.0], [3.0]]))
    (array([[-1.],
           [ 1.]]), array([2.]), array([1.]))
    """
    means, deviations = points.mean(axis=0), points.std(axis=0)
    if constant := np.flatnonzero(deviations <= EXACT * np.maximum(np.abs(means), 1)).tolist():
        raise UsageError(f"columns {constant} have no variance: each holds one number.")
    return (points - means) / deviations, means, deviations


def root(matrix: Array) -> tuple[FloatArray, FloatArray]:
    """The symmetric matrix whose square is `matrix`, symmetric and without negative eigenvalues but by rounding; and
    the inverse of its part that is not 0: two float arrays (d, d).

    >>> root(np.array([[4.0, 0], [0, 0]]))[0].tolist()
    [[2.0, 0.0], [0.0, 0.0]]
    """
    values, vectors = np.linalg.eigh(matrix)
    lengths = np.sqrt(np.clip(values, 0, None))
    there = lengths > 1e-7 * lengths.max(initial=0)
    inverse = np.divide(1, lengths, out=np.zeros_like(lengths), where=there)
    return (vectors * lengths * there) @ vectors.T, (vectors * inverse) @ vectors.T
