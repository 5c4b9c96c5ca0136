"""Categories replaced at random, so that nobody's answer can be held against them."""

from dataclasses import dataclass

from privnb.sanitizers.noise.local_noise import LocalNoise, categorical
from privnb.sanitizers.noise.mechanisms import randomized_response
from privnb.sanitizers.noise.noise_channel import Response


@dataclass(frozen=True)
class RandomizedResponse(LocalNoise):
    """Replace each categorical quasi-identifier of each record by a random value of its public domain, most often the
    true one.

    Smaller `epsilon` (positive) keeps fewer true values: e^epsilon times as many as it gives any one other value, of k
    values e^epsilon / (e^epsilon + k - 1). Numbers are published as they are, and so is a domain of one value, which
    tells nothing. Only `rng=None` promises epsilon: see `LocalNoise`.

    Source: Kairouz, Oh, Viswanath, NIPS 2014 (k-ary randomized response); Warner, JASA 1965, for two values.
    """

    epsilon: float
    title = "Randomized response"
    changes = "categories"

    def _noisy(self, schema):
        return categorical(self, schema)

    def _draw(self, values, attribute, rng):
        return randomized_response(values, attribute.domain.values, self.epsilon, rng=rng)

    def _law(self, attribute):
        return Response(self.epsilon, len(attribute.domain.values))
