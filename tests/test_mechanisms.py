"""Both sources of noise have the distribution that the formula states."""

import numpy as np
import pytest
from scipy import stats

from privnb.mechanisms import laplace

SCALE = 82 / 0.5


@pytest.mark.parametrize("rng", [20261121, None], ids=["seeded", "unseedable"])
def test_distribution(rng):
    noise = laplace(np.full(20_000, 40.0), SCALE, rng=rng) - 40
    # Unseedable noise cannot be repeated: one failure in ten million runs is accepted.
    assert stats.kstest(noise, stats.laplace(scale=SCALE).cdf).pvalue > 1e-7
    assert np.isclose(noise.var(), 2 * SCALE**2, rtol=0.15)


def test_both_sources_agree():
    seeded, fresh = (laplace(np.zeros(20_000), 3.0, rng=rng) for rng in (1, None))
    assert stats.ks_2samp(seeded, fresh).pvalue > 1e-7


def test_seeded_noise_repeats_and_fresh_noise_does_not():
    assert np.array_equal(laplace([1, 2, 3], 1.0, rng=4), laplace([1, 2, 3], 1.0, rng=4))
    assert not np.array_equal(laplace([1, 2, 3], 1.0, rng=None), laplace([1, 2, 3], 1.0, rng=None))


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf")])
def test_scale_must_be_positive(scale):
    with pytest.raises(ValueError, match="scale of Laplace noise must be a positive number"):
        laplace([1.0], scale, rng=0)
