"""Linear algebra that sanitizers of numbers share: orthogonal matrices, products, standard scores, roots."""

import numpy as np

from privnb.runtime.arrays import Array, FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import EXACT


def draw_orthogonal(size: int, rng: np.random.Generator) -> FloatArray:
    """Return an orthogonal matrix, a float array (size, size), drawn from Haar measure, the uniform distribution.

    Source: Mezzadri, "How to generate random matrices from the classical compact groups", Notices of the AMS 54(5),
    2007, section 5: the QR decomposition of a Gaussian matrix, with the signs of R's diagonal.
    """
    q, r = np.linalg.qr(rng.standard_normal((size, size)))
    return q * np.sign(np.diag(r))


def multiply_points(matrix: Array, points: Array) -> FloatArray:
    """Return, as a float array (n, k), the product of `matrix`, (k, d), and each of `points`, (n, d).

    The function works column by column, without a library of matrices, so that the result for a point does not depend
    on the position of the point.

    >>> multiply_points(np.array([[0, -1], [1, 0]]), np.array([[2.0, 5.0]])).tolist()
    [[-5.0, 2.0]]
    """
    return sum(np.multiply.outer(numbers, weights) for numbers, weights in zip(points.T, matrix.T, strict=True))


def standardize(points: Array) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the standard scores of the columns, a float array (n, d), and the columns' means and standard deviations.

    Raises ValueError if a column has no variance.

    >>> standardize(np.array([[1.0], [3.0]]))
    (array([[-1.],
           [ 1.]]), array([2.]), array([1.]))
    """
    means, deviations = points.mean(axis=0), points.std(axis=0)
    if constant := np.flatnonzero(deviations <= EXACT * np.maximum(np.abs(means), 1)).tolist():
        raise UsageError(
            f"`points` must have variance in every column; columns {constant} each hold only one number. Leave out "
            "these columns."
        )
    return (points - means) / deviations, means, deviations


def take_root(matrix: Array) -> tuple[FloatArray, FloatArray]:
    """Return the symmetric root, whose square is `matrix`, and the root's pseudo-inverse, both as float arrays (d, d).

    `matrix` must be symmetric and must not have negative eigenvalues, except for rounding errors.

    >>> take_root(np.array([[4.0, 0], [0, 0]]))[0].tolist()
    [[2.0, 0.0], [0.0, 0.0]]
    """
    values, vectors = np.linalg.eigh(matrix)
    lengths = np.sqrt(np.clip(values, 0, None))
    nonzero = lengths > 1e-7 * lengths.max(initial=0)
    inverse = np.divide(1, lengths, out=np.zeros_like(lengths), where=nonzero)
    return (vectors * lengths * nonzero) @ vectors.T, (vectors * inverse) @ vectors.T
