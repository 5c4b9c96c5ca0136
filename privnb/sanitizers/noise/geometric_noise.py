"""Noise in whole steps added to every number of every record."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from privnb.microdata.schema import decimals
from privnb.sanitizers.noise.local_noise import NumericNoise
from privnb.sanitizers.noise.mechanisms import geometric
from privnb.sanitizers.noise.noise_channel import Geometric


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

    epsilon: float
    sensitivity: Mapping[str, float] | None = field(default=None, hash=False)
    title = "Geometric noise"

    def _draw(self, values, attribute, rng):
        domain = attribute.domain
        steps = geometric(domain.codes(values), self.scale(attribute) / domain.step, rng=rng)
        if float(domain.low).is_integer() and float(domain.step).is_integer():
            return int(domain.low) + int(domain.step) * steps
        return decimals(domain.low + domain.step * steps)

    def _law(self, attribute):
        return Geometric(self.scale(attribute), attribute.domain.step)
