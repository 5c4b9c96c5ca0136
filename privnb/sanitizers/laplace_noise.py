"""Noise added to every number of every record."""

from collections.abc import Mapping
from dataclasses import dataclass

from privnb.sanitizers.local_noise import NumericNoise
from privnb.sanitizers.mechanisms import laplace
from privnb.sanitizers.noise_channel import Laplace


@dataclass(frozen=True)
class LaplaceNoise(NumericNoise):
    """Add independent Laplace noise of scale sensitivity / epsilon to each numeric quasi-identifier of each record.

    Smaller `epsilon` (positive) means more noise. Values are neither rounded nor clipped. `sensitivity`: how much one
    value can change, by attribute; None takes what the schema states, by default the width of each public domain. Only
    a sensitivity of that width or more, and `rng=None`, promise epsilon: see `LocalNoise`.

    Source: Sramka et al. 2010, section 4.2. Erratum: the paper prints sensitivity 16 for education in 1-16, whose
    width is 15; 82 for ages 17-99 is right.
    """

    epsilon: float
    sensitivity: Mapping[str, float] | None = None

    def _draw(self, values, attribute, rng):
        return laplace(values, self.scale(attribute), rng=rng)

    def _law(self, attribute):
        return Laplace(self.scale(attribute), attribute.domain.step)
