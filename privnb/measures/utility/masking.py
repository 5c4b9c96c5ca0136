"""What masking costs numbers, and how often masked records are found again: the measures that the literature on masking
compares its methods by. Each compares the masked numbers of a release with the records that its rows are of.
"""

import math
from typing import Any

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.measures.base import measure
from privnb.measures.utility.information_loss import moved
from privnb.microdata.release import Release
from privnb.microdata.treatment import Unreadable
from privnb.runtime.arrays import FloatArray
from privnb.runtime.tolerances import ROUNDING

MOST = 20_000  # records of which all are compared with all
WINDOWS = np.arange(1, 11) / 100  # of ranks: the intervals of 1 to 10 per cent of the records


@measure(kind="utility", better="lower", bounds=(0, math.inf), unit="share", format="{:%} of the variation")
def lost_variation(dataset: Dataset, release: Release) -> float:
    """Which share of the variation of the numbers is lost: SSE / SST, 0 none, 1 as with the mean for all.

    The squared errors of the masked numbers over their squared deviations from the mean, mean over attributes; noise
    may exceed 1.

    Source: Domingo-Ferrer and Mateo-Sanz, "Practical data-oriented microaggregation", IEEE TKDE 14(1), 2002, section 2
    (of standardized attributes).
    """
    original, masked = _numbers(dataset, release)
    return float(np.mean(((original - masked) ** 2).sum(axis=0) / _varying(original)))


@measure(kind="utility", better="lower", bounds=(0, math.inf), unit="points")
def masking_loss(dataset: Dataset, release: Release) -> float:
    """How far masked numbers, their means, variances, covariances and correlations are from the originals, from 0.

    Twenty times the sum of the five `masking_losses`; 100 where each of them is 1.

    Source: Domingo-Ferrer and Torra, "A quantitative comparison of disclosure control methods for microdata", in
    Confidentiality, Disclosure and Data Access, 2001; Aggarwal and Yu 2008, section 3.6.1.
    """
    return 20 * sum(masking_losses(dataset, release).values())


def masking_losses(dataset: Dataset, release: Release) -> Any:
    """The five parts of `masking_loss`, each a mean of relative differences, or of absolute ones for correlations.

    What is 0 in the original has no relative difference and is left out.

    Parameters
    ----------
    dataset : Dataset
    release : Release

    Returns
    -------
    dict of str to float
        "cells", "means", "covariances", "variances" and "correlations"; from 0, lower is better.

    Raises
    ------
    Unreadable
        Where no number is masked, and for rows that are nobody's.

    Source: as of `masking_loss`. Its last sum is printed for i <= j over p (p - 1) / 2 pairs: the diagonal adds
    nothing, and i < j is meant.
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


@measure(kind="privacy", better="lower", bounds=(0, 1), unit="share of records")
def nearest_record_rate(dataset: Dataset, release: Release) -> float:
    """Share of masked records whose nearest original is their own, all masked numbers standardized: 0 to 1.

    Of equally near originals each counts alike. Without the release one in n is guessed.

    Source: Domingo-Ferrer and Torra 2001, distance-based record linkage; Aggarwal and Yu 2008, section 3.6.1, DLD.
    """
    return _linked(dataset, release, 1)


@measure(kind="privacy", better="lower", bounds=(0, 1), unit="share of records")
def two_nearest_records_rate(dataset: Dataset, release: Release) -> float:
    """Share of masked records whose own original is among the two nearest: 0 to 1. Two in n are so by chance.

    Source: Aggarwal and Yu 2008, section 8.2.1 ("linked to 2nd nearest").
    """
    return _linked(dataset, release, 2)


@measure(kind="privacy", better="lower", bounds=(0, 1), unit="share of numbers")
def rank_interval_rate(dataset: Dataset, release: Release) -> float:
    """Share of original numbers within an interval of ranks around their masked one: 0 to 1.

    The interval holds the originals whose rank differs by at most p per cent of the records from where the masked
    number stands among them; mean over p = 1 to 10 and attributes. About a tenth is so by chance.

    Source: Domingo-Ferrer and Torra 2001, rank-based interval disclosure; Aggarwal and Yu 2008, sections 3.6.1 (ID,
    whose width is not fixed there) and 8.2.1.
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
    """Share of masked records whose own original is among so many nearest; of equally near ones a part of each."""
    original, masked = _points(dataset, release)
    if len(original) > MOST:
        raise Unreadable(
            f"{len(original):,} masked records are compared with as many originals, and at most {MOST:,} are. Measure "
            "the release of a random sample."
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
    """The original and the masked numbers, row by row: two float arrays (rows, attributes). Unreadable without any.

    A number that is missing in both is the same in both; one that is missing in either is a width of its domain away.
    """
    columns = {name: [each.astype(float) for each in pair] for name, pair in _masked(dataset, release).items()}
    for name, (own, seen) in columns.items():
        domain, gap, lost = dataset.schema[name].numbers, np.isnan(own), np.isnan(seen)
        own[gap] = np.where(lost, domain.middle, seen + domain.width)[gap]
        seen[lost] = np.where(gap, domain.middle, own + domain.width)[lost]
    return tuple(map(np.column_stack, zip(*columns.values(), strict=True)))


def _points(dataset: Dataset, release: Release) -> Any:
    """As `_numbers`, as an adversary compares them: missing numbers are equal to each other and far from numbers."""
    columns, schema = _masked(dataset, release), dataset.schema
    points = {
        name: [schema[name].numbers.points(each.astype(float)) for each in pair] for name, pair in columns.items()
    }
    return tuple(map(np.column_stack, zip(*points.values(), strict=True)))


def _masked(dataset: Dataset, release: Release) -> Any:
    """The columns of masked numbers, original and released: `{name: two arrays}`. Unreadable without any."""
    original = release.originals(dataset)
    names = moved(dataset, release, "numbers", [True])
    return {name: [np.asarray(each.table[name]) for each in (original, release)] for name in names}


def _varying(original: FloatArray) -> Any:
    """The squared deviations of each attribute from its mean, float array (attributes,), all above 0."""
    squares = ((original - original.mean(axis=0)) ** 2).sum(axis=0)
    if not squares.all():
        raise Unreadable(
            f"{int((squares == 0).sum())} of the masked numbers have one value in all records, so that no share of "
            "their variation is lost. Leave them out."
        )
    return squares


def _relative(before: FloatArray, after: FloatArray) -> Any:
    """The mean of the relative differences where `before` is not 0; 0 where it is everywhere."""
    some = before != 0
    return float(np.mean(np.abs((before - after)[some] / before[some]))) if some.any() else 0.0


def _correlations(covariance: FloatArray) -> FloatArray:
    spread = np.sqrt(np.diag(covariance))
    spread = np.where(spread > 0, spread, 1)
    return covariance / np.outer(spread, spread)
