"""The loss by masking of numbers, and the re-identification of masked records, by measures from the masking literature.

Each measure compares the masked numbers of each row of a release with the numbers of the row's original record.
"""

import math
from typing import Any

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.measures.base import measure
from privnb.measures.utility.information_loss import list_perturbed
from privnb.microdata.release import Release
from privnb.microdata.treatment import Unreadable
from privnb.runtime.arrays import FloatArray
from privnb.runtime.tolerances import ROUNDING

MAX_RECORDS = 20_000  # maximum number; each record is compared with all others
WINDOWS = np.arange(1, 11) / 100  # intervals of ranks, as shares of the records


@measure(
    kind="utility",
    better="lower",
    bounds=(0, math.inf),
    sentence="This share of the variation of the numbers is lost: 0 means that nothing is lost, and 1 is the loss if "
    "each number is replaced by the mean. Lower is better.",
    unit="share",
    format="{:%} of the variation",
)
def lost_variation(dataset: Dataset, release: Release) -> float:
    """Return SSE / SST, the sum of squared errors of masked numbers divided by the sum of squares around the mean.

    The result is a mean over attributes. For noise, the result can exceed 1.

    Source: Domingo-Ferrer and Mateo-Sanz, "Practical data-oriented microaggregation", IEEE TKDE 14(1), 2002, section 2
    (for standardized attributes).
    """
    original, masked = _numbers(dataset, release)
    return float(np.mean(((original - masked) ** 2).sum(axis=0) / _varying(original)))


@measure(
    kind="utility",
    better="lower",
    bounds=(0, math.inf),
    sentence="This is the difference between the masked and the original numbers, and between their means, "
    "variances, covariances and correlations: equal numbers give 0 points, and differences as large as the "
    "originals give 100 points. Lower is better.",
    unit="points",
)
def masking_loss(dataset: Dataset, release: Release) -> float:
    """Return 20 times the sum of the five `masking_losses`, which is 100 if each of the five losses is 1.

    Source: Domingo-Ferrer and Torra, "A quantitative comparison of disclosure control methods for microdata", in
    Confidentiality, Disclosure and Data Access, 2001; Aggarwal and Yu 2008, section 3.6.1.
    """
    return 20 * sum(masking_losses(dataset, release).values())


def masking_losses(dataset: Dataset, release: Release) -> Any:
    """Return the five parts of `masking_loss`, which are mean differences between original and masked numbers.

    The differences are relative, except for correlations, whose differences are absolute. A number that is 0 in the
    original has no relative difference and is left out.

    Parameters
    ----------
    dataset : Dataset
    release : Release

    Returns
    -------
    dict of str to float
        The losses "cells", "means", "covariances", "variances" and "correlations", each at least 0; lower is better.

    Raises
    ------
    Unreadable
        If no number is masked, or if the rows are synthetic.

    Source: Domingo-Ferrer and Torra, 2001. In the last sum of the source, i <= j is a misprint of i < j, because the
    sum is divided by p (p - 1) / 2 pairs; the terms on the diagonal are 0.
    """
    original, masked = _numbers(dataset, release)
    _varying(original)
    covariances = [np.atleast_2d(np.cov(each, rowvar=False, bias=True)) for each in (original, masked)]
    lower = np.tril_indices(original.shape[1])
    correlations = [_correlations(each)[np.tril_indices(original.shape[1], -1)] for each in covariances]
    apart = np.abs(np.subtract(*correlations))
    return {
        "cells": _relative(original, masked),
        "means": _relative(original.mean(axis=0), masked.mean(axis=0)),
        "covariances": _relative(*(each[lower] for each in covariances)),
        "variances": _relative(*map(np.diag, covariances)),
        "correlations": float(apart.mean()) if apart.size else 0.0,
    }


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    sentence="For this share of masked records, the nearest original record is the true one. Lower protects more.",
    unit="share of records",
)
def nearest_record_rate(dataset: Dataset, release: Release) -> float:
    """Return the share of masked records for which the nearest original record is the record's own original.

    The distance is computed from the standardized masked numbers. If m originals are equally near and one of them is
    the record's own, the record counts as 1 / m. A random guess is correct for one in n records.

    Source: Domingo-Ferrer and Torra 2001, distance-based record linkage; Aggarwal and Yu 2008, section 3.6.1, DLD.
    """
    return _linked(dataset, release, 1)


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    sentence="For this share of masked records, the true original record is among the two nearest ones. Lower "
    "protects more.",
    unit="share of records",
)
def two_nearest_records_rate(dataset: Dataset, release: Release) -> float:
    """Return the share of masked records whose own original is one of the two nearest originals; by chance, 2 / n.

    Source: Aggarwal and Yu 2008, section 8.2.1 ("linked to 2nd nearest").
    """
    return _linked(dataset, release, 2)


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    sentence="This share of original numbers lies in a narrow interval of ranks around the masked number. Lower "
    "protects more.",
    unit="share of numbers",
)
def rank_interval_rate(dataset: Dataset, release: Release) -> float:
    """Return the share of original numbers that are within an interval of ranks around the masked number.

    The masked number has a rank among the original numbers of the attribute. The interval contains the original numbers
    whose rank differs from this rank by at most p percent of the number of records. The result is a mean over p = 1 to
    10 and over attributes; by chance, the result is about 0.1.

    Source: Domingo-Ferrer and Torra 2001, rank-based interval disclosure; Aggarwal and Yu 2008, sections 3.6.1 (ID, for
    which the book does not fix the width of the interval) and 8.2.1.
    """
    original, masked = _points(dataset, release)
    rates, n = [], len(original)
    for own, seen in zip(original.T, masked.T, strict=True):
        ordered = np.sort(own)
        place = (np.searchsorted(ordered, seen) + np.searchsorted(ordered, seen, side="right")) // 2
        for window in WINDOWS:
            reach = int(window * n)
            low, high = ordered[np.clip(place - reach, 0, n - 1)], ordered[np.clip(place + reach, 0, n - 1)]
            rates.append(((low <= own) & (own <= high)).mean())
    return float(np.mean(rates))


def _linked(dataset: Dataset, release: Release, nearest: int) -> float:
    """Return the share of masked records whose own original is one of the `nearest` originals.

    If originals are equally near, a record counts as the probability that its own original is among the nearest ones.
    """
    original, masked = _points(dataset, release)
    if len(original) > MAX_RECORDS:
        raise Unreadable(
            f"{len(original):,} masked records exceed the maximum of {MAX_RECORDS:,} that are compared with all "
            "originals. Try the release of a random sample."
        )
    scale = np.where(np.ptp(original, axis=0) > 0, original.std(axis=0), 1)
    original, masked = original / scale, masked / scale
    found = 0.0
    for start in range(0, len(masked), 256):
        part = masked[start : start + 256]
        far = sum((part[:, place, None] - original[:, place]) ** 2 for place in range(original.shape[1]))
        own = far[np.arange(len(part)), np.arange(start, start + len(part))][:, None]
        nearer, alike = (far < own - ROUNDING).sum(axis=1), (np.abs(far - own) <= ROUNDING).sum(axis=1)
        found += np.clip((nearest - nearer) / alike, 0, 1).sum()
    return found / len(masked)


def _numbers(dataset: Dataset, release: Release) -> Any:
    """Return the original numbers and the masked numbers of the same rows, as two float arrays (rows, attributes).

    Missing numbers are replaced, so that two missing numbers are equal, and a missing number and a number differ by the
    width of the domain. Raises Unreadable if no numbers are masked.
    """
    columns = {name: [each.astype(float) for each in pair] for name, pair in _masked(dataset, release).items()}
    for name, (own, seen) in columns.items():
        domain, gap, lost = dataset.schema[name].numbers, np.isnan(own), np.isnan(seen)
        own[gap] = np.where(lost, domain.middle, seen + domain.width)[gap]
        seen[lost] = np.where(gap, domain.middle, own + domain.width)[lost]
    return tuple(map(np.column_stack, zip(*columns.values(), strict=True)))


def _points(dataset: Dataset, release: Release) -> Any:
    """Return the results of `_numbers`, but with a number far from all others in place of each missing number."""
    columns, schema = _masked(dataset, release), dataset.schema
    points = {
        name: [schema[name].numbers.points(each.astype(float)) for each in pair] for name, pair in columns.items()
    }
    return tuple(map(np.column_stack, zip(*points.values(), strict=True)))


def _masked(dataset: Dataset, release: Release) -> Any:
    """Return, by name, the original and the released column of each attribute with masked numbers.

    Raises Unreadable if no numbers are masked.
    """
    original = release.originals(dataset)
    names = list_perturbed(dataset, release, "numbers", [True])
    return {name: [np.asarray(each.table[name]) for each in (original, release)] for name in names}


def _varying(original: FloatArray) -> Any:
    """Return the sum of each attribute's squared deviations from its mean, as a float array (attributes,).

    Raises Unreadable if a sum is 0.
    """
    squares = ((original - original.mean(axis=0)) ** 2).sum(axis=0)
    if not squares.all():
        raise Unreadable(
            f"{int((squares == 0).sum())} of the masked columns have the same value in all records, so these columns "
            "have no variation to lose. Leave out these columns."
        )
    return squares


def _relative(before: FloatArray, after: FloatArray) -> Any:
    """Return the mean relative difference over entries where `before` is not 0, or 0 if there are no such entries."""
    some = before != 0
    return float(np.mean(np.abs((before - after)[some] / before[some]))) if some.any() else 0.0


def _correlations(covariance: FloatArray) -> FloatArray:
    spread = np.sqrt(np.diag(covariance))
    spread = np.where(spread > 0, spread, 1)
    return covariance / np.outer(spread, spread)
