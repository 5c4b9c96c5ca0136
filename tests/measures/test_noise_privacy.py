"""Privacy of noise against worked examples of its sources, and closed forms."""

import numpy as np
import pytest
from scipy import stats
from support.clinic import CLINIC

from privnb.datasets.dataset import load
from privnb.measures.noise import noise_privacy
from privnb.microdata.treatment import Unreadable
from privnb.sanitizers import Identity, LaplaceNoise, RandomizedResponse
from privnb.sanitizers.noise.laws import Gaussian, Laplace, Uniform

UNIFORM = Uniform(1 / 3**0.5, 1.0)  # on -1 to 1


def test_the_intervals_of_uniform_and_gaussian_noise():
    """Aggarwal and Yu 2008, section 2.2.1: uniform noise on -a to a has privacy a at 50%, 2 a at 100%."""
    assert noise_privacy.interval_width(UNIFORM, 0.5) == pytest.approx(1)
    assert noise_privacy.interval_width(UNIFORM, 1 - 1e-12) == pytest.approx(2)
    for confidence in (0.5, 0.95):
        wide = noise_privacy.interval_width(Gaussian(3.0, 1.0), confidence)
        assert wide == pytest.approx(2 * 3 * stats.norm.ppf((1 + confidence) / 2))
    assert noise_privacy.interval_width(Laplace(2.0, 1.0), 0.95) == pytest.approx(2 * 2 * np.log(20))


def test_example_2_1():
    """X is half on 0 to 1 and half on 4 to 5, the noise uniform on -1 to 1: h(X) = 1, h(Y) = 1. The book prints I = 5/4
    and P(X|Z) = .5796; its densities give 1 + 1 / (4 ln 2) and 1 - e^(-1/4) / 2.
    """
    shares, edges = np.array([0.5, 0.5]), np.array([[0.0, 4.0], [1.0, 5.0]])
    assert noise_privacy.differential_entropy(shares, edges) == 1
    bits = noise_privacy.mutual_information(shares, edges, UNIFORM)
    assert bits == pytest.approx(1 + 1 / (4 * np.log(2)), abs=2e-4)
    assert abs(bits - 5 / 4) > 0.1
    assert noise_privacy.privacy_loss_share(bits) == pytest.approx(1 - np.exp(-1 / 4) / 2, abs=1e-4)
    assert 2 ** (1 - bits) == pytest.approx(np.exp(-1 / 4), abs=2e-4), "Pi(X|Z)"


@pytest.mark.slow
def test_a_gaussian_channel():
    """A Gaussian number under Gaussian noise: I = log2(1 + S / N) / 2."""
    ends = np.linspace(-60, 60, 301)
    shares = np.diff(stats.norm.cdf(ends, scale=10))
    bits = noise_privacy.mutual_information(shares, np.array([ends[:-1], ends[1:]]), Gaussian(5.0, 1.0))
    assert bits == pytest.approx(np.log2(1 + 100 / 25) / 2, abs=1e-3)


@pytest.mark.slow
def test_of_releases():
    clinic = load(CLINIC)
    less, more = (LaplaceNoise(each).sanitize(clinic, rng=1) for each in (5.0, 0.5))
    assert 0 < noise_privacy.interval_privacy(less, clinic) < noise_privacy.interval_privacy(more, clinic)
    loss = noise_privacy.information_share_of_noise
    assert 1 > loss(less, clinic) > loss(more, clinic) > 0
    none, all_of_it = (RandomizedResponse(each).sanitize(clinic, rng=1) for each in (1e-9, 40.0))
    assert loss(none, clinic) == pytest.approx(0, abs=1e-9)
    known = [name for name in clinic.schema.quasi_identifiers if not clinic.schema[name].numeric]
    bits = [noise_privacy.entropy(clinic.table[name].value_counts(normalize=True).to_numpy()) for name in known]
    assert loss(all_of_it, clinic) == pytest.approx(1 - 2 ** -max(bits), abs=1e-6)


def test_what_has_no_law_and_wrong_confidences_are_refused():
    clinic = load(CLINIC)
    with pytest.raises(Unreadable, match=r"Identity.* has no number with noise of a public law"):
        noise_privacy.interval_privacy(Identity().sanitize(clinic, rng=1), clinic)
    for confidence in (0, 1, -0.5, "half"):
        with pytest.raises(ValueError, match="confidence must be a number above 0 and below 1"):
            noise_privacy.interval_width(UNIFORM, confidence)
