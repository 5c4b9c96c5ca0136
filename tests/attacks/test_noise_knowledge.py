"""Noise whose width nobody published: what an adversary supposes or estimates of it, and what that costs them.

The generator of `test_noise_filters`: 20,000 Gaussian records of 50 attributes, of which five components are strong.
"""

import numpy as np
import pandas as pd
import pytest
from test_noise_filters import BETA, STRENGTHS, VARIANCE, M, N, made as records_made

from privnb.attacks import DistributionAnalysis, EmpiricalMap, GaussianMap, PCARemoval, SpectralFiltering, SVDFiltering
from privnb.attacks.algorithms.noise_filters import largest_noise
from privnb.attacks.recovery.noise_knowledge import EstimatedNoise, PublishedLaw, SupposedNoise
from privnb.datasets.dataset import load
from privnb.evaluation import evaluate
from privnb.microdata.release import Published
from privnb.microdata.schema import Attribute, Numbers, Role, Schema
from privnb.microdata.treatment import Treatment, Unreadable
from privnb.sanitizers import AdditiveNoise, Rotation

WIDTH = 400
SCHEMA = Schema(
    "made up", tuple(Attribute(f"c{n}", Role.QUASI_IDENTIFIER, Numbers(-200, 200, 0.001)) for n in range(M))
)
FILTERS = SpectralFiltering, SVDFiltering, PCARemoval, GaussianMap
OWN = EstimatedNoise("domain")  # the noise has the same variance in all columns, whose domains are alike
RIGHT = SupposedNoise(VARIANCE**0.5 / WIDTH, "domain")


def published(rows, kind="perturbed"):
    names = SCHEMA.names()[: rows.shape[1]]
    columns = {name: Treatment(kind) for name in names}
    return Published(pd.DataFrame(rows, columns=names), SCHEMA, {}, columns)


@pytest.fixture(scope="module")
def white():
    rng = np.random.default_rng(1)
    records, _ = records_made(N, STRENGTHS, rng)
    return records, published(records + rng.normal(0, VARIANCE**0.5, records.shape))


@pytest.fixture(scope="module")
def coloured():
    rng = np.random.default_rng(2)
    records, root = records_made(N, STRENGTHS, rng)
    return records, published(records + BETA**0.5 * rng.normal(size=records.shape) @ root)


def error(pair, attack):
    records, release = pair
    return np.mean((attack.fit(release).predict(release.table) - records) ** 2)


def test_whoever_supposes_the_right_variance_errs_as_whoever_knows_it(white):
    assert error(white, PCARemoval(noise=RIGHT)) == pytest.approx(3.4, rel=0.03)
    assert error(white, GaussianMap(noise=RIGHT)) == pytest.approx(3.218, rel=0.03)


def test_the_variance_is_estimated_as_what_the_release_leaves_possible(white):
    """The weak components have variance 1: in their directions the release varies by 26."""
    records, release = white
    laws = OWN.laws(release.table.to_numpy(), release, SCHEMA.names())
    assert [law.variance for law in laws.values()] == pytest.approx([26] * M, rel=0.01)
    strong = 399 / 425
    theory = (5 * ((1 - strong) ** 2 * 400 + strong**2 * 25) + 45) / 50
    assert error(white, PCARemoval(noise=OWN)) == pytest.approx(3.4, rel=0.03)
    assert error(white, GaussianMap(noise=OWN)) == pytest.approx(theory, rel=0.03)
    baseline = GaussianMap(noise=OWN).fit(release).baseline(release.table)
    assert np.mean((baseline - records) ** 2) == pytest.approx(STRENGTHS.mean(), rel=0.03)


def test_a_wrong_variance_costs(white):
    little, much = (SupposedNoise(each**0.5 / WIDTH, "domain") for each in (10, 300))
    for attack, wrong in ((PCARemoval, little), (GaussianMap, little), (GaussianMap, much)):
        assert error(white, attack(noise=wrong)) > 1.5 * error(white, attack(noise=RIGHT))
    # The strong components stand out whatever is supposed, so that too much of it costs a projection nothing.
    assert error(white, PCARemoval(noise=much)) == pytest.approx(3.4, rel=0.03)


@pytest.mark.slow
def test_of_noise_that_goes_together_as_the_columns_do_nothing_comes_off(coloured):
    """The control: 15.52 is what knowledge of its covariance reaches."""
    for noise in (RIGHT, OWN):
        for attack in FILTERS:
            assert error(coloured, attack(noise=noise)) > 0.97 * 15.52


def test_noise_in_proportion_to_each_column(white):
    """Noise of a half of each record column's variance is a third of the released one's."""
    records, _ = white
    draw = np.random.default_rng(3).normal(size=records.shape)
    pair = records, published(records + draw * np.sqrt(0.5 * records.var(axis=0)))
    laws = SupposedNoise((1 / 3) ** 0.5).laws(pair[1].table.to_numpy(), pair[1], SCHEMA.names())
    assert [law.variance for law in laws.values()] == pytest.approx(0.5 * records.var(axis=0), rel=0.05)
    right, own = (error(pair, GaussianMap(noise=each)) for each in (SupposedNoise((1 / 3) ** 0.5), EstimatedNoise()))
    assert right < own < 1.1 * right


def test_a_supposed_law_serves_what_reads_columns_by_themselves(white):
    few = white[0][:2000, :4], published(white[1].table.to_numpy()[:2000, :4])
    literal = np.mean((few[1].table.to_numpy() - few[0]) ** 2)
    for attack in (EmpiricalMap(noise=RIGHT), DistributionAnalysis(noise=RIGHT)):
        assert error(few, attack) < literal


@pytest.mark.parametrize(
    ("rows", "attack", "reason"),
    [
        (
            np.arange(8.0)[:, None],
            OWN,
            "at least 2 noisy columns and more rows than columns; the release has 1 columns and 8",
        ),
        (np.eye(3), OWN, "has 3 columns and 3 rows"),
        (np.arange(8.0)[:, None] * [1, 2], OWN, "one combination is constant"),
        (np.eye(8)[:, :2] * [1, 0], EstimatedNoise(), "all numbers of c1 are equal"),
    ],
)
def test_what_tells_nothing_of_the_noise_is_refused(rows, attack, reason):
    with pytest.raises(Unreadable, match=reason):
        GaussianMap(noise=attack).fit(published(rows))


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ((0,), "deviation must be a share above 0 and at most 1"),
        ((1.5,), "deviation must be a share above 0 and at most 1"),
        ((-1, "domain"), "deviation must be a positive number"),
        ((0.5, "rows"), "unit must be one of"),
    ],
)
def test_what_cannot_be_supposed(given, found):
    with pytest.raises(ValueError, match=found):
        SupposedNoise(*given)
    with pytest.raises(ValueError, match="unit must be one of"):
        EstimatedNoise("rows")
    with pytest.raises(TypeError, match="noise must be a NoiseKnowledge"):
        PCARemoval(noise=0.5)


def test_each_is_about_the_releases_that_it_can_be():
    """A published law needs no supposition, and columns of a rotation are no numbers with noise."""
    dataset = load("adult", records=120)
    attacks = [PCARemoval(), PCARemoval(noise=EstimatedNoise())]
    found = evaluate(dataset, [AdditiveNoise(0.1), Rotation()], attacks=attacks)
    reasons = found[found.status == "refused"].set_index(["sanitizer", "knows"]).reason
    assert set(reasons.index) == {
        ("AdditiveNoise", EstimatedNoise.title), ("Rotation", ""), ("Rotation", EstimatedNoise.title),
    }  # fmt: skip
    assert "needs perturbed numbers; in this release" in reasons["AdditiveNoise", EstimatedNoise.title]
    assert "replace" in reasons["Rotation", EstimatedNoise.title]
    assert PCARemoval().noise == PublishedLaw()


def test_no_more_noise_is_possible_than_there_is_in_the_least_direction():
    """Noise of variance 1 in five columns that have ten times that in all directions: the estimate is not below it."""
    rng = np.random.default_rng(5)
    for records in (50, 500, 5000):
        rows = 10 * rng.normal(size=(records, 5)) + rng.normal(size=(records, 5))
        assert largest_noise(np.cov(rows, rowvar=False), records) > 1
