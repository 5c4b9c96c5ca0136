"""Multiplicative noise, which moves large numbers far and small numbers little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute
from privnb.microdata.treatment import Law
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.validation import Positive
from privnb.sanitizers.masking.base import Masked, NumberMasking, round_drawn_numbers
from privnb.sanitizers.noise.laws import Gaussian


@dataclass(frozen=True)
class Lognormal(Law):
    """The distribution of a number times a factor whose logarithm is Gaussian and whose mean is 1.

    Parameters
    ----------
    sigma : float
        The standard deviation of the logarithm, above 0.
    low, step : float
        The lowest value and the step of the public domain, which determine the number at each position.
    """

    sigma: float
    low: float
    step: float

    def __str__(self) -> str:
        return f"times a lognormal factor of mean 1, sigma {self.sigma:g}"

    def vulnerability(self, prior: Array, positions: Array) -> float:
        """Return the posterior vulnerability.

        On a logarithmic scale, the noise is Gaussian. A cell keeps the sign of its number, and 0 stays 0.
        """
        prior, values = np.asarray(prior, dtype=float), self.low + self.step * np.asarray(positions)
        found = prior[values == 0].sum()
        for side in (values > 0, values < 0):
            if prior[side].any():
                order = np.argsort(np.abs(values[side]))
                line = np.log(np.abs(values[side]))[order]
                found += Gaussian(self.sigma, 1).vulnerability(prior[side][order], line)
        return float(found)

    def surprise(self, true: Array, seen: Array) -> Array:
        """Return minus the logarithm of the likelihood, up to a constant that all values share."""
        true, seen = (self.low + self.step * np.asarray(each, dtype=float) for each in (true, seen))
        size = np.maximum(np.abs(seen), self.step / 2000)  # published numbers are rounded
        apart = np.log(size / np.where(true == 0, 1, np.abs(true))) + self.sigma**2 / 2
        found = np.where(true * seen < 0, np.inf, (apart / self.sigma) ** 2 / 2)
        return np.where(true == 0, np.where(seen == 0, 0.0, np.inf), found)  # 0 stays 0


@dataclass(frozen=True)
class LognormalNoise(NumberMasking):
    """Multiply each numeric quasi-identifier of each record by an independent lognormal factor of mean 1.

    Means stay the same in expectation. The error grows with the number: a value keeps its order of magnitude and its
    sign, and 0 stays 0. The distribution of the noise is public, because sigma is stated and not read from the records.
    The noise promises no epsilon. Cells are rounded to a thousandth of a step.

    Parameters
    ----------
    sigma : float
        The standard deviation of the factor's logarithm, above 0; 0.1 moves a number by about a tenth of its value.

    Source: Aggarwal and Yu 2008, sections 2.2.4 and 3.3.1; Kim and Winkler, "Multiplicative Noise for Masking
    Continuous Data", U.S. Bureau of the Census, Statistics 2003-01, section 2.
    """

    sigma: Positive = 0.1
    title = "Lognormal noise"
    treatment = "noisy"
    randomized = True

    def _masked(self, dataset: Microdata, attributes: Sequence[Attribute], found: IntArray, rng: Generator) -> Masked:
        factors = np.exp(self.sigma * rng.standard_normal(found.shape) - self.sigma**2 / 2)
        domains = {attribute.name: attribute.numbers for attribute in attributes}
        above = np.array([domain.low / domain.step for domain in domains.values()])  # the lowest values, in steps
        laws = {name: Lognormal(self.sigma, domain.low, domain.step) for name, domain in domains.items()}
        return round_drawn_numbers(attributes, (found + above) * factors - above), {"noisy": laws, "perturbed": ()}
