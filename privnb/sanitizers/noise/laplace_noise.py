"""Laplace noise on every number of every record."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

from privnb.microdata.schema import Attribute
from privnb.microdata.treatment import Law
from privnb.runtime.arrays import Array
from privnb.runtime.lazy import pd
from privnb.runtime.validation import Positive
from privnb.sanitizers.noise.laws import Laplace
from privnb.sanitizers.noise.local_noise import NumericNoise, Sensitivity, choose_source
from privnb.sanitizers.noise.mechanisms import add_laplace_noise


@dataclass(frozen=True)
class LaplaceNoise(NumericNoise):
    """Add independent Laplace noise to each numeric quasi-identifier of each record.

    The scale of the noise is sensitivity / epsilon. Values are neither rounded nor clipped. Epsilon is promised only
    with `rng=None` and a sensitivity of at least the width of the domain, see `LocalNoise`. `NumericNoise` describes
    how columns with missing numbers are treated.

    Parameters
    ----------
    epsilon : float
        The epsilon that is spent on each attribute, above 0; a smaller epsilon means more noise.
    sensitivity : dict of str to float, optional
        The largest change of one value, by attribute and in the unit of the attribute. The default is the sensitivity
        that the schema states, or otherwise the width of the public domain.

    Source: Sramka et al. 2010, section 4.2. Erratum: the paper prints sensitivity 16 for education in 1-16, whose width
    is 15; the sensitivity 82 for ages 17-99 is correct.

    Examples
    --------
    >>> from privnb.datasets.dataset import load
    >>> LaplaceNoise(1.0).sanitize(load("adult", records=10), rng=1).treated("noisy")
    ('age', 'education-num')
    """

    epsilon: Positive
    sensitivity: Sensitivity = field(default=None, hash=False)
    title = "Laplace noise"

    def _draw(self, values: pd.Series, attribute: Attribute, rng: Generator) -> Array:
        return add_laplace_noise(np.asarray(values), self.scale(attribute), rng=choose_source(rng))

    def _law(self, attribute: Attribute) -> Law:
        return Laplace(self.scale(attribute), attribute.numbers.step)
