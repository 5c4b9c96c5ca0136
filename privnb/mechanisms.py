"""Noise with a proven epsilon: seeded for experiments, from a vetted library for publication."""

import numpy as np


def laplace(values, scale, *, rng):
    """`values` plus independent Laplace noise of mean 0 and variance 2 scale^2, float array of the same shape.

    `rng`: a seed or Generator, fast and repeatable, for simulations only: whoever has the seed can subtract the noise,
    and floating-point noise leaks through its low bits (Mironov, CCS 2012). None: OpenDP's float-safe mechanism,
    which cannot be seeded; only such noise may be published.

    Source: Dwork, McSherry, Nissim, Smith, "Calibrating Noise to Sensitivity", TCC 2006.
    """
    values = np.asarray(values, dtype=float)
    if not (np.isfinite(scale) and scale > 0):
        raise ValueError(f"the scale of Laplace noise must be a positive number, got {scale!r}.")
    if rng is not None:
        return values + np.random.default_rng(rng).laplace(scale=scale, size=values.shape)
    import opendp.prelude as dp

    dp.enable_features("contrib")
    exact = dp.m.make_laplace(
        dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float), scale=scale
    )
    return np.array(exact(values.ravel().tolist())).reshape(values.shape)
