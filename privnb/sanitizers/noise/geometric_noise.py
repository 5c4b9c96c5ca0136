"""Geometric noise: noise in whole steps on every number of every record."""

from __future__ import annotations

from dataclasses import dataclass, field

from numpy.random import Generator

from privnb.microdata.schema import Attribute
from privnb.microdata.treatment import Law
from privnb.runtime.arrays import Array
from privnb.runtime.lazy import pd
from privnb.runtime.validation import Positive
from privnb.sanitizers.noise.laws import Geometric
from privnb.sanitizers.noise.local_noise import NumericNoise, Sensitivity, choose_source, from_steps
from privnb.sanitizers.noise.mechanisms import add_geometric_noise


@dataclass(frozen=True)
class GeometricNoise(NumericNoise):
    """Add independent geometric noise in whole steps to each numeric quasi-identifier of each record.

    The noise has the two-sided geometric distribution, which is Laplace noise in steps of the public domain: ages stay
    whole years. The promise and the treatment of missing numbers are those of `LaplaceNoise`; see also `LocalNoise`.
    Values are not clipped to the domain.

    Parameters
    ----------
    epsilon : float
        The epsilon that is spent on each attribute, above 0; a smaller epsilon means more noise.
    sensitivity : dict of str to float, optional
        The largest change of one value, by attribute and in the unit of the attribute; see `LaplaceNoise`.

    Source: Ghosh, Roughgarden, Sundararajan, STOC 2009, applied here to each record, not to a count.
    """

    epsilon: Positive
    sensitivity: Sensitivity = field(default=None, hash=False)
    title = "Geometric noise"

    def _draw(self, values: pd.Series, attribute: Attribute, rng: Generator) -> Array:
        domain = attribute.numbers
        scale = self.scale(attribute) / domain.step
        return from_steps(attribute, add_geometric_noise(domain.codes(values), scale, rng=choose_source(rng)))

    def _law(self, attribute: Attribute) -> Law:
        return Geometric(self.scale(attribute), attribute.numbers.step)
