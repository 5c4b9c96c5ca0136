"""Linear algebra that undoes a secret matrix: released rows are original rows times it, perhaps shifted.

Rows are records. A map takes a released row y to origin + (y - centre) @ matrix.

Source: Aggarwal and Yu 2008, sections 7.5 and 15.4; the papers stand at each function.
"""

from typing import NamedTuple

import numpy as np

from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError

EXACT = 1e-6  # relative to the known rows: what differs by less is rounding
LEAST = 1e-9  # of the largest singular value: along what is smaller the known records do not vary


class Map(NamedTuple):
    """From released rows to originals."""

    centre: FloatArray
    origin: FloatArray
    matrix: FloatArray

    def __call__(self, rows: FloatArray) -> FloatArray:
        """The originals of released rows, float array (n, k): float array (n, d)."""
        return self.origin + (rows - self.centre) @ self.matrix


def frame(basis: FloatArray, rng: np.random.Generator) -> FloatArray:
    """An orthonormal basis of all that is orthogonal to the columns of another one, none likelier than another.

    It is made of draws and of what `basis`, float array (d, r), spans, not of its columns: float array (d, d - r).
    Source: Mezzadri, "How to generate random matrices from the classical compact groups", Notices of the AMS 54(5),
    2007, section 5.
    """
    drawn = rng.standard_normal((len(basis), len(basis) - basis.shape[1]))
    turn, upper = np.linalg.qr(drawn - basis @ (basis.T @ drawn))
    return turn * np.sign(np.diag(upper))


def shifted(originals: FloatArray, released: FloatArray) -> bool:
    """Whether rows were moved from the origin: some of these pairs are not as far from it as each other."""
    before, after = np.linalg.norm(originals, axis=1), np.linalg.norm(released, axis=1)
    return bool((np.abs(before - after) > EXACT * max(before.max(), after.max())).any())


def spanned(rows: FloatArray) -> FloatArray:
    """An orthonormal basis of what the rows span, as columns: float array (d, rank)."""
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    return directions[sizes > LEAST * max(sizes.max(initial=0), 1e-300)].T


def turned_back(originals: FloatArray, released: FloatArray, rng: np.random.Generator) -> Map:
    """The map of an orthogonal matrix that takes known originals to their rows, drawn evenly among all such.

    As many independent pairs as columns, one more of rows that are shifted, leave one alone, if it is exact; of noisy
    pairs it is that of least squares (Procrustes).

    Parameters
    ----------
    originals, released : float array (p, d)
    rng : Generator

    Returns
    -------
    Map

    Source: Liu, Giannella, Kargupta, "An Attacker's View of Distance Preserving Maps for Privacy Preserving Data
    Mining", PKDD 2006, section 3.
    """
    moved = shifted(originals, released)
    origin, centre = (rows.mean(axis=0) * moved for rows in (originals, released))
    places, rows = originals - origin, released - centre
    before = spanned(places)
    after = np.linalg.lstsq(places @ before, rows, rcond=LEAST)[0].T
    if np.abs(after.T @ after - np.eye(before.shape[1])).max(initial=0) > EXACT:  # noise: no rotation takes them there
        left, _, right = np.linalg.svd(places.T @ rows)
        before, after = left[:, : before.shape[1]], right[: before.shape[1]].T
    return Map(centre, origin, after @ before.T + frame(after, rng) @ frame(before, rng).T)


def regressed(originals: FloatArray, released: FloatArray) -> Map:
    """The map by least squares over known pairs, with a shift where there are more pairs than columns.

    Parameters
    ----------
    originals : float array (p, d)
        At least d. What they do not span comes back as if it were 0.
    released : float array (p, k)

    Returns
    -------
    Map

    Raises
    ------
    ValueError
        For fewer pairs than numbers.

    Source: Chen, Sun, Liu, "Towards Attack-Resilient Geometric Data Perturbation", SDM 2007; Aggarwal and Yu 2008,
    section 15.4.1.
    """
    if len(originals) < originals.shape[1]:
        raise UsageError(
            f"a regression on {originals.shape[1]} numbers needs as many people, and knows {len(originals)}."
        )
    moved = len(originals) > originals.shape[1]
    origin, centre = (rows.mean(axis=0) * moved for rows in (originals, released))
    forward = np.linalg.lstsq(originals - origin, released - centre, rcond=LEAST)[0]
    return Map(centre, origin, np.linalg.pinv(forward, rcond=LEAST))


def likeliest(originals: FloatArray, released: FloatArray, rows: FloatArray, rng: np.random.Generator) -> FloatArray:
    """The likeliest originals of rows that a Gaussian matrix made, of which known pairs tell: float array (n, d).

    The part of a row that is a sum of known rows comes back exactly as the sum of their originals. Of the rest the
    likelihood tells the length alone, in closed form: the residual's, over the root of the columns and the deviation of
    the matrix's entries. All directions off the known originals are alike, and one is drawn.

    Parameters
    ----------
    originals : float array (p, d)
    released : float array (p, k)
    rows : float array (n, k)
    rng : Generator

    Returns
    -------
    float array (n, d)

    Source: Liu, "Multiplicative Data Perturbation for Privacy Preserving Data Mining", thesis, UMBC 2007; Aggarwal and
    Yu 2008, section 15.4.1, Eq. 15.8, whose maximum is solved here instead of searched for.
    """
    basis = spanned(originals)
    rank, width = basis.shape[1], released.shape[1]
    if rank == originals.shape[1]:  # all of the matrix is known; of several records the one next to the known is taken
        matrix, mean = np.linalg.lstsq(originals, released, rcond=LEAST)[0], originals.mean(axis=0)
        return mean + (rows - mean @ matrix) @ np.linalg.pinv(matrix, rcond=LEAST)
    inside = originals @ basis  # (p, rank)
    images = np.linalg.lstsq(inside, released, rcond=LEAST)[0]  # of the basis, (rank, k)
    weights = rows @ np.linalg.pinv(images, rcond=LEAST)
    rest = rows - weights @ images
    deviation = np.sqrt(np.mean(images**2))  # of the matrix's entries, as its images of unit vectors show it
    length = np.linalg.norm(rest, axis=1) / (np.sqrt(width) * deviation)
    length[length <= EXACT * np.linalg.norm(rows, axis=1)] = 0
    away = rng.standard_normal((len(rows), originals.shape[1]))
    away -= away @ basis @ basis.T
    return weights @ basis.T + length[:, None] * away / np.linalg.norm(away, axis=1, keepdims=True)


def principal_axes(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The mean, and the eigenvectors of the covariance as columns, of falling eigenvalues: (d,), (d, d)."""
    mean = rows.mean(axis=0)
    directions = np.linalg.eigh((rows - mean).T @ (rows - mean))[1]
    return mean, directions[:, ::-1]


GRID = np.linspace(0.005, 0.995, 100)  # the quantiles by which distributions are compared


def quantile_distance(one: FloatArray, other: FloatArray) -> float:
    """The mean distance of the quantiles of two samples, as of `GRID`: 0 where they are alike; float."""
    return float(np.abs(np.quantile(one, GRID) - np.quantile(other, GRID)).mean())


def eigen_matched(sample: FloatArray, released: FloatArray) -> Map:
    """The map that takes the principal axes of the released rows to those of a sample of the originals' population.

    The sign of each axis is the one under which the sample and the rows are more alike along it. An axis along which
    records lie evenly on both sides looks like its mirror image.

    Parameters
    ----------
    sample : float array (p, d)
    released : float array (n, d)

    Returns
    -------
    Map

    Source: Liu, Giannella, Kargupta, PKDD 2006, section 4. There all 2^d signs are tried together, by a test in d
    dimensions; here each axis by itself.
    """
    (origin, own), (centre, theirs) = principal_axes(sample), principal_axes(released)
    along, seen = (sample - origin) @ own, (released - centre) @ theirs
    signs = [
        1 if quantile_distance(one, other) <= quantile_distance(one, -other) else -1
        for one, other in zip(along.T, seen.T, strict=True)
    ]
    return Map(centre, origin, theirs * signs @ own.T)
