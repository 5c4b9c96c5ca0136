"""Noise in whole steps added to every number of every record."""

from __future__ import annotations

from dataclasses import dataclass, field

from numpy.random import Generator

from privnb.microdata.schema import Attribute
from privnb.microdata.treatment import Law
from privnb.runtime.arrays import Array
from privnb.runtime.lazy import pd
from privnb.runtime.validation import Positive
from privnb.sanitizers.noise.laws import Geometric
from privnb.sanitizers.noise.local_noise import NumericNoise, Sensitivity, exact, whole_steps
from privnb.sanitizers.noise.mechanisms import geometric


@dataclass(frozen=True)
class GeometricNoise(NumericNoise):
    """Add independent two-sided geometric noise to each numeric quasi-identifier of each record: ages stay whole years.

    Laplace noise in steps of the public domain, with the same promise: see `LaplaceNoise`, also of missing numbers, and
    `LocalNoise`. Values are not clipped to the domain.

    Parameters
    ----------
    epsilon : float
    sensitivity : dict of str to float, optional
        As of `LaplaceNoise`.

    Source: Ghosh, Roughgarden, Sundararajan, STOC 2009; here for each record, not for a count.
    """

    epsilon: Positive
    sensitivity: Sensitivity = field(default=None, hash=False)
    title = "Geometric noise"

    def _draw(self, values: pd.Series, attribute: Attribute, rng: Generator) -> Array:
        domain = attribute.numbers
        scale = self.scale(attribute) / domain.step
        return whole_steps(attribute, geometric(domain.codes(values), scale, rng=exact(rng)))

    def _law(self, attribute: Attribute) -> Law:
        return Geometric(self.scale(attribute), attribute.numbers.step)
