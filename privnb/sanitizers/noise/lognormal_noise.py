"""Numbers times a random factor, so that large ones move far and small ones little."""

from dataclasses import dataclass

import numpy as np

from privnb.microdata.treatment import Law
from privnb.runtime import expect
from privnb.sanitizers.masking.base import NumberMasking, drawn
from privnb.sanitizers.noise.additive_laws import Gaussian


@dataclass(frozen=True)
class Lognormal(Law):
    """A number times a factor whose logarithm is Gaussian and whose mean is 1.

    Parameters
    ----------
    sigma : float
        The standard deviation of the logarithm, above 0.
    low, step : float
        Of the public domain: which number each position is.
    """

    sigma: float
    low: float
    step: float

    def __str__(self):
        return f"times a lognormal factor of mean 1, sigma {self.sigma:g}"

    def vulnerability(self, prior, positions):
        """On a logarithmic line the noise is Gaussian. A cell keeps the sign of its number, and 0 stays 0."""
        prior, values = np.asarray(prior, dtype=float), self.low + self.step * np.asarray(positions)
        found = prior[values == 0].sum()
        for side in (values > 0, values < 0):
            if prior[side].any():
                order = np.argsort(np.abs(values[side]))
                line = np.log(np.abs(values[side]))[order]
                found += Gaussian(self.sigma, 1).vulnerability(prior[side][order], line)
        return float(found)

    def surprise(self, true, seen):
        true, seen = (self.low + self.step * np.asarray(each, dtype=float) for each in (true, seen))
        size = np.maximum(np.abs(seen), self.step / 2000)  # published numbers are rounded
        apart = np.log(size / np.where(true == 0, 1, np.abs(true))) + self.sigma**2 / 2
        found = np.where(true * seen < 0, np.inf, (apart / self.sigma) ** 2 / 2)
        return np.where(true == 0, np.where(seen == 0, 0.0, np.inf), found)  # 0 stays 0


@dataclass(frozen=True)
class LognormalNoise(NumberMasking):
    """Multiply each numeric quasi-identifier of each record by a lognormal factor of mean 1, drawn by itself.

    Means stay in expectation. The error grows with the number: a value keeps its order of magnitude and its sign, and 0
    stays 0. The law is public, for sigma is stated and not read from the records; it promises no epsilon. Cells are
    rounded to a thousandth of a step.

    Parameters
    ----------
    sigma : float
        Standard deviation of the factor's logarithm, above 0; 0.1 moves a number by about a tenth.

    Source: Aggarwal and Yu 2008, sections 2.2.4 and 3.3.1; Kim and Winkler, "Multiplicative Noise for Masking
    Continuous Data", U.S. Bureau of the Census, Statistics 2003-01, section 2.
    """

    sigma: float = 0.1
    title = "Lognormal noise"
    treatment = "noisy"
    randomized = True

    def __post_init__(self):
        expect.positive("sigma", self.sigma)

    def _sanitize(self, dataset, table, rng):
        attributes, found = self._numbers(dataset, table)
        normal = np.random.default_rng(rng).standard_normal(found.shape)
        factors, laws = np.exp(self.sigma * normal - self.sigma**2 / 2), {}
        for a, attribute in enumerate(attributes):
            domain = attribute.domain
            above = domain.low / domain.step  # the lowest value, in steps
            table[attribute.name] = drawn(attribute, (found[:, a] + above) * factors[:, a] - above)
            laws[attribute.name] = Lognormal(self.sigma, domain.low, domain.step)
        return table, {"noisy": laws}
