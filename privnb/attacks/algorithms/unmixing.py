"""Linear algebra that undoes a multiplication of the original rows by a hidden matrix and a possible shift.

Rows are records. A map takes a released row y to origin + (y - center) @ matrix.

Source: Aggarwal and Yu 2008, sections 7.5 and 15.4; the docstring of each function cites its paper.
"""

from typing import NamedTuple

import numpy as np

from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError

EXACT = 1e-6  # relative to the known rows; smaller differences are rounding errors
LEAST = 1e-9  # share of the largest singular value; known records do not vary along smaller ones


class Map(NamedTuple):
    """An affine map from released rows to originals."""

    center: FloatArray
    origin: FloatArray
    matrix: FloatArray

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Return the originals, float array (n, d), of released rows, float array (n, k)."""
        return self.origin + (rows - self.center) @ self.matrix


def draw_complement(basis: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw a uniformly random orthonormal basis of the orthogonal complement of `basis`: float array (d, d - r).

    The result depends on the random draws and on the span of `basis`, float array (d, r), but not on its columns.

    Source: Mezzadri, "How to generate random matrices from the classical compact groups", Notices of the AMS 54(5),
    2007, section 5.
    """
    drawn = rng.standard_normal((len(basis), len(basis) - basis.shape[1]))
    turn, upper = np.linalg.qr(drawn - basis @ (basis.T @ drawn))
    return turn * np.sign(np.diag(upper))


def is_shifted(originals: FloatArray, released: FloatArray) -> bool:
    """Return whether rows were shifted, which is true if the distance of some row from the origin has changed."""
    before, after = np.linalg.norm(originals, axis=1), np.linalg.norm(released, axis=1)
    return bool((np.abs(before - after) > EXACT * max(before.max(), after.max())).any())


def span_basis(rows: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the span of `rows`, with one column per vector: float array (d, rank)."""
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    return directions[sizes > LEAST * max(sizes.max(initial=0), 1e-300)].T


def undo_rotation(originals: FloatArray, released: FloatArray, rng: np.random.Generator) -> Map:
    """Return the map of a random orthogonal matrix that maps the known released rows to their originals.

    The matrix is drawn uniformly from all orthogonal matrices with this property.

    The map is unique if there are as many independent exact pairs as columns, and one more pair if rows were shifted.
    For noisy pairs, the matrix minimizes the sum of squared differences (Procrustes). `originals`, `released`: float
    arrays (p, d).

    Source: Liu, Giannella, Kargupta, "An Attacker's View of Distance Preserving Maps for Privacy Preserving Data
    Mining", PKDD 2006, section 3.
    """
    moved = is_shifted(originals, released)
    origin, center = (rows.mean(axis=0) * moved for rows in (originals, released))
    places, rows = originals - origin, released - center
    before = span_basis(places)
    after = np.linalg.lstsq(places @ before, rows, rcond=LEAST)[0].T
    if np.abs(after.T @ after - np.eye(before.shape[1])).max(initial=0) > EXACT:  # noisy pairs have no exact rotation
        left, _, right = np.linalg.svd(places.T @ rows)
        before, after = left[:, : before.shape[1]], right[: before.shape[1]].T
    return Map(center, origin, after @ before.T + draw_complement(after, rng) @ draw_complement(before, rng).T)


def fit_map(originals: FloatArray, released: FloatArray) -> Map:
    """Return the map that fits the known pairs by least squares, with a shift if there are more pairs than columns.

    Parameters
    ----------
    originals : float array (p, d)
        The known records, at least d. The part of another record that is outside the span of the known records is
        recovered as 0.
    released : float array (p, k)

    Raises
    ------
    ValueError
        If there are fewer known pairs than attributes in a record.

    Source: Chen, Sun, Liu, "Towards Attack-Resilient Geometric Data Perturbation", SDM 2007; Aggarwal and Yu 2008,
    section 15.4.1.
    """
    if len(originals) < originals.shape[1]:
        raise UsageError(
            f"a regression on {originals.shape[1]} numbers needs at least {originals.shape[1]} people; got "
            f"{len(originals)}."
        )
    moved = len(originals) > originals.shape[1]
    origin, center = (rows.mean(axis=0) * moved for rows in (originals, released))
    forward = np.linalg.lstsq(originals - origin, released - center, rcond=LEAST)[0]
    return Map(center, origin, np.linalg.pinv(forward, rcond=LEAST))


def undo_projection(
    originals: FloatArray, released: FloatArray, rows: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Return the most likely originals of rows under a Gaussian matrix, given known pairs: float array (n, d).

    The part of a row that is a linear combination of known rows is recovered exactly, as the same combination of the
    originals of the known rows. For the remainder, the likelihood determines only the length, in closed form: the
    length of the residual of the row, divided by the square root of the number of columns and by the standard deviation
    of the entries of the matrix. All directions of the remainder that are orthogonal to the known originals are equally
    likely, so the direction is drawn at random.

    Parameters
    ----------
    originals : float array (p, d)
    released : float array (p, k)
    rows : float array (n, k)
    rng : Generator

    Source: Liu, "Multiplicative Data Perturbation for Privacy Preserving Data Mining", thesis, UMBC 2007; Aggarwal and
    Yu 2008, section 15.4.1, Eq. 15.8, whose maximum is computed here in closed form.
    """
    basis = span_basis(originals)
    rank, width = basis.shape[1], released.shape[1]
    if rank == originals.shape[1]:  # the matrix is known; of several records, the nearest to the known ones is taken
        matrix, mean = np.linalg.lstsq(originals, released, rcond=LEAST)[0], originals.mean(axis=0)
        return mean + (rows - mean @ matrix) @ np.linalg.pinv(matrix, rcond=LEAST)
    inside = originals @ basis  # (p, rank)
    images = np.linalg.lstsq(inside, released, rcond=LEAST)[0]  # images of the basis, (rank, k)
    weights = rows @ np.linalg.pinv(images, rcond=LEAST)
    rest = rows - weights @ images
    deviation = np.sqrt(np.mean(images**2))  # deviation of the matrix's entries, from its images of unit vectors
    length = np.linalg.norm(rest, axis=1) / (np.sqrt(width) * deviation)
    length[length <= EXACT * np.linalg.norm(rows, axis=1)] = 0
    away = rng.standard_normal((len(rows), originals.shape[1]))
    away -= away @ basis @ basis.T
    return weights @ basis.T + length[:, None] * away / np.linalg.norm(away, axis=1, keepdims=True)


def principal_axes(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean, (d,), and the eigenvectors of the covariance as columns, (d, d), by descending eigenvalue."""
    mean = rows.mean(axis=0)
    directions = np.linalg.eigh((rows - mean).T @ (rows - mean))[1]
    return mean, directions[:, ::-1]


GRID = np.linspace(0.005, 0.995, 100)  # the quantiles by which distributions are compared


def quantile_distance(one: FloatArray, other: FloatArray) -> float:
    """Return the mean absolute difference between the quantiles `GRID` of two samples; 0 if the quantiles are equal."""
    return float(np.abs(np.quantile(one, GRID) - np.quantile(other, GRID)).mean())


def match_axes(sample: FloatArray, released: FloatArray) -> Map:
    """Return the map from the principal axes of released rows to those of a sample of the originals' population.

    Each axis has the sign for which the distributions of the sample and of the rows along the axis are more similar. An
    axis with a symmetric distribution cannot be distinguished from its mirror image. `sample`, `released`: float arrays
    (p, d), (n, d).

    Source: Liu, Giannella, Kargupta, PKDD 2006, section 4. The paper tests all 2^d combinations of signs in d
    dimensions; this function tests each axis separately.
    """
    (origin, own), (center, theirs) = principal_axes(sample), principal_axes(released)
    along, seen = (sample - origin) @ own, (released - center) @ theirs
    signs = [
        1 if quantile_distance(one, other) <= quantile_distance(one, -other) else -1
        for one, other in zip(along.T, seen.T, strict=True)
    ]
    return Map(center, origin, theirs * signs @ own.T)
