"""Noise added to every number of every record."""

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
from privnb.sanitizers.noise.local_noise import NumericNoise, Sensitivity, exact
from privnb.sanitizers.noise.mechanisms import laplace


@dataclass(frozen=True)
class LaplaceNoise(NumericNoise):
    """Add independent Laplace noise of scale sensitivity / epsilon to each numeric quasi-identifier of each record.

    Values are neither rounded nor clipped. Only a sensitivity of that width or more, and `rng=None`, promise epsilon:
    see `LocalNoise`, and `NumericNoise` for columns in which numbers may be missing.

    Parameters
    ----------
    epsilon : float
        Above 0, spent on each attribute; smaller means more noise.
    sensitivity : dict of str to float, optional
        How much one value can change, by attribute and in its unit. For others it is what the schema states, by default
        the width of the public domain.

    Source: Sramka et al. 2010, section 4.2. Erratum: the paper prints sensitivity 16 for education in 1-16, whose
    width is 15; 82 for ages 17-99 is right.
    """

    epsilon: Positive
    sensitivity: Sensitivity = field(default=None, hash=False)
    title = "Laplace noise"

    def _draw(self, values: pd.Series, attribute: Attribute, rng: Generator) -> Array:
        return laplace(np.asarray(values), self.scale(attribute), rng=exact(rng))

    def _law(self, attribute: Attribute) -> Law:
        return Laplace(self.scale(attribute), attribute.numbers.step)
