"""Experiments that remove noise from synthetic records and from the numbers of a table.

Source: Aggarwal and Yu (eds.) 2008, sections 6.5 and 15.3; Huang, Du, Chen, "Deriving Private Information from
Randomized Data", SIGMOD 2005. The synthetic records are generated as by Huang, Du and Chen: they have many attributes
and a few strong components.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from privnb.attacks import (
    DistributionAnalysis,
    EmpiricalMap,
    GaussianMap,
    KnownRotation,
    NaiveEstimate,
    PCARemoval,
    SpectralFiltering,
    SVDFiltering,
)
from privnb.attacks.algorithms.noise_filters import (
    gaussian_filter,
    largest_noise,
    moments,
    pca_filter,
    spectral_filter,
    svd_filter,
)
from privnb.attacks.recovery.noise_knowledge import EstimatedNoise, SupposedNoise
from privnb.datasets.dataset import Dataset
from privnb.evaluation.evaluation_loop import evaluate, select_possible
from privnb.evaluation.parameters import check_numbers, parse_numbers_within
from privnb.evaluation.results import Results, Row, build_row, tidy
from privnb.evaluation.store import Folder
from privnb.measures.base import register_measure
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import validated
from privnb.sanitizers import AdditiveNoise, GeometricPerturbation, MaskingNoise, Rotation

COMPONENT_VARIANCES = np.repeat([400.0, 1.0], [5, 45])  # variances of the 50 components: five strong ones
NOISE_VARIANCE = 25.0  # variance of the noise in each attribute
INDEPENDENT, CORRELATED = "independent noise", "correlated noise"
THEORY = "theory"
SEED = 1  # of the synthetic records
ALPHA = 0.5  # the variance of masking noise, as a share of the variance of each column
MAX_RECORDS = 1_000_000  # the largest number of synthetic records
ATTACKS = PCARemoval, SpectralFiltering, SVDFiltering, GaussianMap, EmpiricalMap, DistributionAnalysis

register_measure(
    "cell_error",
    kind="privacy",
    better="higher",
    bounds=(0, np.inf),
    title="Error per cell",
    sentence="This is the mean squared error of the recovered numbers.",
    source="Huang, Du, Chen, SIGMOD 2005, section 7",
    unit="squared units",
    format="{:g} squared units",
    baseline="taken literally",
)


@validated
def remove_simulated_noise(*, records: int = 20_000) -> pd.DataFrame:
    """Measure how much noise each filter removes from synthetic Gaussian records.

    The noise is either independent or has the correlations of the records. The 50 attributes have five components of
    variance 400 and 45 components of variance 1. Both kinds of noise have a variance of 25 on average. Each filter is
    used by an adversary who knows the covariance of the noise, and by an adversary who assumes independent noise and
    estimates its variance (see `largest_noise`). For a large number of records, the estimate for independent noise
    approaches 26: in the direction of the smallest variance, the released records have the variance of the noise, 25,
    in addition to the variance of the true records, 1.

    Parameters
    ----------
    records : int
        The number of synthetic records, from 1,000 to 1,000,000. The covariance of fewer records is too uncertain for
        the theory to hold. Several copies of the records are in memory at once; a record takes 400 bytes per copy.

    Returns
    -------
    DataFrame
        Tidy results: a row `cell_error` for each filter (`miner`), each adversary's knowledge of the noise (`knows`)
        and each kind of noise (`sanitizer`). The baseline is the error of the noisy numbers themselves. Rows whose
        `control` is "theory" hold the expected error of PCA and of the Gaussian guess.
    """
    check_synthetic_records(records)
    rng, m = np.random.default_rng(SEED), len(COMPONENT_VARIANCES)
    root = np.sqrt(COMPONENT_VARIANCES)[:, None] * np.linalg.qr(rng.normal(size=(m, m)))[0].T
    true, beta = rng.normal(size=(records, m)) @ root, NOISE_VARIANCE / COMPONENT_VARIANCES.mean()
    noise = {
        INDEPENDENT: (np.sqrt(NOISE_VARIANCE) * rng.normal(size=true.shape), NOISE_VARIANCE * np.eye(m)),
        CORRELATED: (np.sqrt(beta) * rng.normal(size=true.shape) @ root, beta * root.T @ root),
    }
    projected, own = NOISE_VARIANCE * 5 / m + COMPONENT_VARIANCES[5:].sum() / m, EstimatedNoise.title
    theory = {
        (INDEPENDENT, PCARemoval, ""): projected,
        (INDEPENDENT, PCARemoval, own): projected,
        (INDEPENDENT, GaussianMap, ""): compute_expected_error(NOISE_VARIANCE),
        (INDEPENDENT, GaussianMap, own): compute_expected_error(NOISE_VARIANCE + COMPONENT_VARIANCES.min()),
        (CORRELATED, GaussianMap, ""): beta / (1 + beta) * COMPONENT_VARIANCES.mean(),
    }
    rows = []
    for kind, (added, covariance) in noise.items():
        made = partial(build_row, "cell_error", dataset="50 synthetic attributes", sanitizer=kind, seed=SEED)
        released, naive = true + added, np.mean(added**2)
        (mean, varies), centered = moments(released), released - released.mean(axis=0)
        for knows, known in {"": covariance, own: largest_noise(varies, records) * np.eye(m)}.items():
            for attack, filter in _build_filters(varies, known, records).items():
                of = partial(made, miner=attack.title, knows=knows)
                rows.append(of(np.mean((mean + centered @ filter - true) ** 2), baseline=naive))
                if (kind, attack, knows) in theory:
                    rows.append(of(theory[kind, attack, knows], baseline=NOISE_VARIANCE, control=THEORY))
    return tidy(rows)


def compute_expected_error(variance: float) -> float:
    """Return the expected error per cell of the Gaussian guess that assumes independent noise of a given variance.

    A direction of variance s has the weight w = (s + 25 - variance) / (s + 25), or 0 if this number is negative. The
    expected error in this direction is (1 - w)^2 s + 25 w^2. The smallest error, 3.218, is at the true variance of the
    noise, 25.
    """
    weights = np.maximum(COMPONENT_VARIANCES + NOISE_VARIANCE - variance, 0) / (COMPONENT_VARIANCES + NOISE_VARIANCE)
    return float(np.mean((1 - weights) ** 2 * COMPONENT_VARIANCES + weights**2 * NOISE_VARIANCE))


def _build_filters(covariance: FloatArray, noise: FloatArray, records: int) -> dict[Any, FloatArray]:
    return {
        SpectralFiltering: spectral_filter(covariance, noise, records),
        SVDFiltering: svd_filter(covariance, noise),
        PCARemoval: pca_filter(covariance, noise, 0.95),
        GaussianMap: gaussian_filter(covariance, noise),
    }


def check_synthetic_records(records: int) -> int:
    """Return the number of synthetic records unchanged; raise ValueError unless it is from 1,000 to 1,000,000."""
    if expect.whole("records", records, 1000) > MAX_RECORDS:
        raise UsageError(
            f"`records` must be at most {MAX_RECORDS:,}, because all records are in memory at once; got {records:.4g}."
        )
    return records


def parse_deviations(text: str) -> list[float]:
    """Return the standard deviations of noise that a text lists, as shares of the width of the domain."""
    found = parse_numbers_within("DEVIATION", text, float, lambda each: True, "number")
    for each in found:
        AdditiveNoise(each)  # raises for an invalid deviation
    return found


@validated
def remove_noise(
    dataset: Dataset, deviation: Sequence[float], *, min_count: MinCount = LIMIT, store: Folder = ""
) -> pd.DataFrame:
    """Measure how close each attack comes to the true numbers of a table to which noise is added.

    One release per standard deviation has Gaussian noise; another release has uniform noise of the largest standard
    deviation.

    Parameters
    ----------
    dataset : Dataset
    deviation : list of float
        Standard deviations of the noise, as shares of the width of the domain.
    min_count : int
        Shares of fewer people are withheld.
    store : str
        The folder that stores finished results; if empty, results are not stored.

    Returns
    -------
    DataFrame
        The rows of `Recovered`.
    """
    check_numbers("deviation", deviation)
    made = [*map(AdditiveNoise, deviation), AdditiveNoise(max(deviation), "uniform")]
    return evaluate(dataset, made, attacks=[attack() for attack in ATTACKS], min_count=min_count, store=store)


@validated
def remove_masking_noise(dataset: Dataset, *, min_count: MinCount = LIMIT, store: Folder = "") -> pd.DataFrame:
    """Measure how close attacks come to the true numbers if the width of the noise is not published.

    The noise is either uncorrelated or has the correlations of the columns.

    Parameters
    ----------
    dataset : Dataset
    min_count, store
        See `remove_noise`.

    Returns
    -------
    DataFrame
        The rows of `Recovered`, for an adversary who estimates the width of the noise and for an adversary who assumes
        the correct width.
    """
    made = [MaskingNoise(ALPHA, form) for form in ("uncorrelated", "correlated")]
    known = EstimatedNoise(), SupposedNoise((ALPHA / (1 + ALPHA)) ** 0.5)
    attacks = [attack(noise=each) for each in known for attack in (PCARemoval, GaussianMap)]
    return evaluate(dataset, made, attacks=attacks, min_count=min_count, store=store)


def parse_known_people(text: str) -> list[int]:
    """Return the numbers of people whom an adversary knows, as a text lists them: whole numbers of at least 0."""
    return parse_numbers_within("KNOWN", text, int, lambda each: each >= 0, "whole number of at least 0")


@validated
def measure_rotation_removal(
    dataset: Dataset, known: Sequence[int], *, min_count: MinCount = LIMIT, store: Folder = ""
) -> pd.DataFrame:
    """Measure how close an adversary comes to the original numbers of a rotated table.

    The adversary knows the original record and the released row of some people. An adversary who knows nobody takes the
    rotated numbers for the original numbers.

    Parameters
    ----------
    dataset : Dataset
    known : list of int
        The numbers of people that the adversary knows, at least 0.
    min_count, store
        See `remove_noise`.

    Returns
    -------
    DataFrame
        The rows of `Recovered`; the table is empty if the dataset cannot be rotated, for example because it has a
        single numeric column.
    """
    for place, people in enumerate(check_numbers("known", known)):
        expect.whole(f"known[{place}]", people, 0)
    attacks = [KnownRotation(people) if people else NaiveEstimate() for people in known]
    made = select_possible(dataset, [Rotation(), GeometricPerturbation()])
    return evaluate(dataset, made, attacks=attacks, min_count=min_count, store=store) if made else tidy([])


@validated
def select_group_rows(results: Results) -> list[Row]:
    """Return the rows with the recovery error over all columns, for outliers and for the other people."""
    rows = results[(results.measure == "recovery_error") & (results.target == "")]
    return rows[rows.group != ""]
