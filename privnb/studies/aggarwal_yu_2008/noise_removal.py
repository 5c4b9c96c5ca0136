"""How much of noise comes off again: on made-up records whose answer is known, and on a table's numbers.

Source: Aggarwal and Yu (eds.) 2008, sections 6.5 and 15.3; Huang, Du, Chen, "Deriving Private Information from
Randomized Data", SIGMOD 2005, whose generator this is: a few strong components among many attributes.
"""

from functools import partial

import numpy as np

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
    pca_filter,
    spectral_filter,
    svd_filter,
)
from privnb.evaluation.cases import evaluate, possible
from privnb.evaluation.results import row, tidy
from privnb.measures.base import state
from privnb.microdata import expect
from privnb.microdata.withholding import LIMIT
from privnb.sanitizers import AdditiveNoise, GeometricPerturbation, Rotation
from privnb.studies.parameters import numbers

STRENGTHS = np.repeat([400.0, 1.0], [5, 45])  # variances of the 50 components: five strong ones
NOISE = 25.0  # variance of the noise in each attribute
INDEPENDENT, ALIKE = "independent noise", "correlated noise"
THEORY = "theory"
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
    axis=False,
)


def made_up_noise(*, records=20_000, seed=1):
    """Each filter on made-up Gaussian records under independent noise, and under noise that goes together as they do.

    The 50 attributes have five strong components of variance 400 and 45 of variance 1. Both kinds of noise have
    variance 25 on average.

    Parameters
    ----------
    records : int
        How many are made up, from 1,000: of fewer the covariance is too uncertain for the theory to hold. At most
        1,000,000, of 400 bytes each in each of several copies.
    seed : int

    Returns
    -------
    DataFrame
        Tidy results: rows `cell_error` of each `miner`, that is filter, and kind of noise; baseline: the error of the
        noisy numbers as they stand. Control "theory": what is expected of it, of PCA and of the Gaussian guess.
    """
    enough(records)
    expect.these(seed=seed)
    rng, m = np.random.default_rng(seed), len(STRENGTHS)
    root = np.sqrt(STRENGTHS)[:, None] * np.linalg.qr(rng.normal(size=(m, m)))[0].T
    true, beta = rng.normal(size=(records, m)) @ root, NOISE / STRENGTHS.mean()
    noise = {
        INDEPENDENT: (np.sqrt(NOISE) * rng.normal(size=true.shape), NOISE * np.eye(m)),
        ALIKE: (np.sqrt(beta) * rng.normal(size=true.shape) @ root, beta * root.T @ root),
    }
    known = STRENGTHS * NOISE / (STRENGTHS + NOISE)
    theory = {
        (INDEPENDENT, "PcaRemoval"): NOISE * 5 / m + STRENGTHS[5:].sum() / m,
        (INDEPENDENT, "GaussianMap"): known.mean(),
        (ALIKE, "GaussianMap"): beta / (1 + beta) * STRENGTHS.mean(),
    }
    rows = []
    for kind, (added, covariance) in noise.items():
        made = partial(row, "cell_error", dataset="50 made-up attributes", sanitizer=kind, seed=seed)
        naive = np.mean(added**2)
        for name, filter in _filters(true + added, covariance).items():
            guess = (true + added).mean(axis=0) + (true + added - (true + added).mean(axis=0)) @ filter
            rows.append(made(np.mean((guess - true) ** 2), miner=name, baseline=naive))
            if (kind, name) in theory:
                rows.append(made(theory[kind, name], miner=name, baseline=NOISE, control=THEORY))
    return tidy(rows)


def _filters(released, noise):
    covariance = moments(released)[1]
    return {
        "SpectralFiltering": spectral_filter(covariance, noise, len(released)),
        "SvdFiltering": svd_filter(covariance, noise),
        "PcaRemoval": pca_filter(covariance, noise, 0.95),
        "GaussianMap": gaussian_filter(covariance, noise),
    }


def enough(records):
    """A number of made-up records, checked: an int. Raises ValueError outside of 1,000 to 1,000,000."""
    if expect.whole("records", records, 1000) > MOST:
        raise ValueError(f"records must be at most {MOST:,}, since all are in memory at once, got {records:.4g}.")
    return records


def deviations(text):
    """The standard deviations of noise that a parameter names, as shares of the domain's width: a list of numbers."""
    found = numbers("DEVIATION", text, float)
    if not found:
        raise ValueError(f"DEVIATION must be one number or several separated by commas, got {text!r}.")
    for each in found:
        AdditiveNoise(each)  # refuses one that means nothing
    return found


def noise_removed(dataset, deviation, *, fewest=LIMIT, store=""):
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
    expect.these(dataset=dataset, fewest=fewest, store=store)
    _check_some("deviation", expect.numbers("deviation", deviation))
    made = [*map(AdditiveNoise, deviation), AdditiveNoise(max(deviation), "uniform")]
    return evaluate(dataset, made, attacks=[attack() for attack in ATTACKS], fewest=fewest, store=store)


def known_people(text):
    """How many people an adversary knows, as a parameter names them: a list of whole numbers from 0."""
    found = numbers("KNOWN", text, int)
    if not found or min(found) < 0:
        raise ValueError(f"KNOWN must be one whole number from 0 or several separated by commas, got {text!r}.")
    return found


def rotation_undone(dataset, known, *, fewest=LIMIT, store=""):
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
    expect.these(dataset=dataset, fewest=fewest, store=store)
    for place, people in enumerate(_check_some("known", expect.numbers("known", known))):
        expect.whole(f"known[{place}]", people, 0)
    attacks = [KnownRotation(people) if people else NaiveEstimate() for people in known]
    made = possible(dataset, [Rotation(), GeometricPerturbation()])
    return evaluate(dataset, made, attacks=attacks, fewest=fewest, store=store) if made else tidy([])


def _check_some(name, values):
    if not values:
        raise ValueError(f"{name} must be a list of one number or more, got none.")
    return values


def hit(results):
    """The rows that say what an attack reaches for outliers, and for the others."""
    expect.these(results=results)
    rows = results[(results.measure == "recovery_error") & (results.target == "")]
    return rows[rows.group != ""]
