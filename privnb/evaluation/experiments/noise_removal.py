"""How much of noise comes off again: on made-up records whose answer is known, and on a table's numbers.

Source: Aggarwal and Yu (eds.) 2008, sections 6.5 and 15.3; Huang, Du, Chen, "Deriving Private Information from
Randomized Data", SIGMOD 2005, whose generator this is: a few strong components among many attributes.
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
    PcaRemoval,
    SpectralFiltering,
    SvdFiltering,
)
from privnb.attacks.algorithms.noise_filters import (
    gaussian_filter,
    moments,
    most_noise,
    pca_filter,
    spectral_filter,
    svd_filter,
)
from privnb.attacks.recovery.noise_knowledge import EstimatedNoise, SupposedNoise
from privnb.datasets.dataset import Dataset
from privnb.evaluation.cases import evaluate, possible
from privnb.evaluation.parameters import numbers_within, some
from privnb.evaluation.results import Results, Row, row, tidy
from privnb.evaluation.store import Folder
from privnb.measures.base import state
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import validated
from privnb.sanitizers import AdditiveNoise, GeometricPerturbation, MaskingNoise, Rotation

STRENGTHS = np.repeat([400.0, 1.0], [5, 45])  # variances of the 50 components: five strong ones
NOISE = 25.0  # variance of the noise in each attribute
INDEPENDENT, ALIKE = "independent noise", "correlated noise"
THEORY = "theory"
SEED = 1  # of the made-up records
ALPHA = 0.5  # the variance of masking noise, as a share of that of each column
MOST = 1_000_000  # records made up at once
ATTACKS = PcaRemoval, SpectralFiltering, SvdFiltering, GaussianMap, EmpiricalMap, DistributionAnalysis

state(
    "cell_error",
    kind="privacy",
    better="higher",
    bounds=(0, np.inf),
    title="Error per cell",
    sentence="The mean square of how far a recovered number lies from the true one.",
    source="Huang, Du, Chen, SIGMOD 2005, section 7",
    unit="squared units",
    format="{:g} squared units",
    baseline="taken literally",
)


@validated
def made_up_noise(*, records: int = 20_000) -> pd.DataFrame:
    """Each filter on made-up Gaussian records under independent noise, and under noise that goes together as they do.

    The 50 attributes have five strong components of variance 400 and 45 of variance 1. Both kinds of noise have
    variance 25 on average. Each filter is used by an adversary who knows the covariance of the noise, and by one who
    takes it for independent and estimates its variance, see `most_noise`: of independent noise that is 26 in the limit,
    for what varies least in all columns has the noise's variance and 1 of its own.

    Parameters
    ----------
    records : int
        How many are made up, from 1,000: of fewer the covariance is too uncertain for the theory to hold. At most
        1,000,000, of 400 bytes each in each of several copies.

    Returns
    -------
    DataFrame
        Tidy results: rows `cell_error` of each `miner`, that is filter, what it `knows` and kind of noise; baseline:
        the error of the noisy numbers as they stand. Control "theory": what is expected of it, of PCA and of the
        Gaussian guess.
    """
    enough(records)
    rng, m = np.random.default_rng(SEED), len(STRENGTHS)
    root = np.sqrt(STRENGTHS)[:, None] * np.linalg.qr(rng.normal(size=(m, m)))[0].T
    true, beta = rng.normal(size=(records, m)) @ root, NOISE / STRENGTHS.mean()
    noise = {
        INDEPENDENT: (np.sqrt(NOISE) * rng.normal(size=true.shape), NOISE * np.eye(m)),
        ALIKE: (np.sqrt(beta) * rng.normal(size=true.shape) @ root, beta * root.T @ root),
    }
    projected, own = NOISE * 5 / m + STRENGTHS[5:].sum() / m, EstimatedNoise.title
    theory = {
        (INDEPENDENT, PcaRemoval, ""): projected,
        (INDEPENDENT, PcaRemoval, own): projected,
        (INDEPENDENT, GaussianMap, ""): supposing(NOISE),
        (INDEPENDENT, GaussianMap, own): supposing(NOISE + STRENGTHS.min()),
        (ALIKE, GaussianMap, ""): beta / (1 + beta) * STRENGTHS.mean(),
    }
    rows = []
    for kind, (added, covariance) in noise.items():
        made = partial(row, "cell_error", dataset="50 made-up attributes", sanitizer=kind, seed=SEED)
        released, naive = true + added, np.mean(added**2)
        (mean, varies), centred = moments(released), released - released.mean(axis=0)
        for knows, known in {"": covariance, own: most_noise(varies, records) * np.eye(m)}.items():
            for attack, filter in _filters(varies, known, records).items():
                of = partial(made, miner=attack.title, knows=knows)
                rows.append(of(np.mean((mean + centred @ filter - true) ** 2), baseline=naive))
                if (kind, attack, knows) in theory:
                    rows.append(of(theory[kind, attack, knows], baseline=NOISE, control=THEORY))
    return tidy(rows)


def supposing(variance: float) -> float:
    """The error per cell of the Gaussian guess that is expected of whoever supposes independent noise of this variance:
    the least, 3.218, at 25, which it has.

    A direction of variance s is weighed by w = (s + 25 - variance) / (s + 25), 0 at least, and errs by
    (1 - w)^2 s + 25 w^2.
    """
    weights = np.maximum(STRENGTHS + NOISE - variance, 0) / (STRENGTHS + NOISE)
    return float(np.mean((1 - weights) ** 2 * STRENGTHS + weights**2 * NOISE))


def _filters(covariance: FloatArray, noise: FloatArray, records: int) -> dict[Any, FloatArray]:
    return {
        SpectralFiltering: spectral_filter(covariance, noise, records),
        SvdFiltering: svd_filter(covariance, noise),
        PcaRemoval: pca_filter(covariance, noise, 0.95),
        GaussianMap: gaussian_filter(covariance, noise),
    }


def enough(records: int) -> int:
    """A number of made-up records, checked: an int. Raises ValueError outside of 1,000 to 1,000,000."""
    if expect.whole("records", records, 1000) > MOST:
        raise UsageError(f"records must be at most {MOST:,}, since all are in memory at once, got {records:.4g}.")
    return records


def deviations(text: str) -> list[float]:
    """The standard deviations of noise that a parameter names, as shares of the domain's width: a list of numbers."""
    found = numbers_within("DEVIATION", text, float, lambda each: True, "number")
    for each in found:
        AdditiveNoise(each)  # refuses one that means nothing
    return found


@validated
def noise_removed(
    dataset: Dataset, deviation: Sequence[float], *, fewest: MinCount = LIMIT, store: Folder = ""
) -> pd.DataFrame:
    """How near each attack comes to the numbers of a table under Gaussian noise of each deviation, and under uniform
    noise of the largest.

    Parameters
    ----------
    dataset : Dataset
    deviation : list of float
        Standard deviations of the noise, as shares of the width of the domain.
    fewest : int
        Shares of fewer people are withheld.
    store : str
        The folder that keeps what is finished; empty: none.

    Returns
    -------
    DataFrame
        Rows of `Recovered`.
    """
    some("deviation", deviation)
    made = [*map(AdditiveNoise, deviation), AdditiveNoise(max(deviation), "uniform")]
    return evaluate(dataset, made, attacks=[attack() for attack in ATTACKS], fewest=fewest, store=store)


@validated
def masking_noise_removed(dataset: Dataset, *, fewest: MinCount = LIMIT, store: Folder = "") -> pd.DataFrame:
    """How near attacks come to numbers under noise whose width was not published, drawn apart and as the columns go.

    Parameters
    ----------
    dataset : Dataset
    fewest, store
        As of `noise_removed`.

    Returns
    -------
    DataFrame
        Rows of `Recovered`, of an adversary who estimates the width of the noise, and of one who supposes the right
        one.
    """
    made = [MaskingNoise(ALPHA, form) for form in ("uncorrelated", "correlated")]
    known = EstimatedNoise(), SupposedNoise((ALPHA / (1 + ALPHA)) ** 0.5)
    attacks = [attack(noise=each) for each in known for attack in (PcaRemoval, GaussianMap)]
    return evaluate(dataset, made, attacks=attacks, fewest=fewest, store=store)


def known_people(text: str) -> list[int]:
    """How many people an adversary knows, as a parameter names them: a list of whole numbers from 0."""
    return numbers_within("KNOWN", text, int, lambda each: each >= 0, "whole number from 0")


@validated
def rotation_undone(
    dataset: Dataset, known: Sequence[int], *, fewest: MinCount = LIMIT, store: Folder = ""
) -> pd.DataFrame:
    """How near an adversary comes to rotated numbers who knows record and row of so many people; of none, who takes the
    rotated numbers for the true ones.

    Parameters
    ----------
    dataset : Dataset
    known : list of int
        From 0.
    fewest, store
        As of `noise_removed`.

    Returns
    -------
    DataFrame
        Rows of `Recovered`; none where the dataset has one number alone, which nothing can be rotated with.
    """
    for place, people in enumerate(some("known", known)):
        expect.whole(f"known[{place}]", people, 0)
    attacks = [KnownRotation(people) if people else NaiveEstimate() for people in known]
    made = possible(dataset, [Rotation(), GeometricPerturbation()])
    return evaluate(dataset, made, attacks=attacks, fewest=fewest, store=store) if made else tidy([])


@validated
def hit(results: Results) -> list[Row]:
    """The rows that say what an attack reaches for outliers, and for the others."""
    rows = results[(results.measure == "recovery_error") & (results.target == "")]
    return rows[rows.group != ""]
