"""Categories replaced at random, so that nobody's answer can be held against them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from privnb.microdata.schema import Attribute, Schema
from privnb.microdata.treatment import Law
from privnb.runtime.arrays import Array
from privnb.runtime.lazy import pd
from privnb.runtime.validation import Positive
from privnb.sanitizers.eligibility import categorical
from privnb.sanitizers.noise.laws import Response
from privnb.sanitizers.noise.local_noise import LocalNoise, exact
from privnb.sanitizers.noise.mechanisms import response


@dataclass(frozen=True)
class RandomizedResponse(LocalNoise):
    """Replace each categorical quasi-identifier of each record by a random value of its public domain, most often the
    true one.

    Smaller `epsilon` (positive) keeps fewer true values: e^epsilon times as many as it gives any one other value, of k
    values e^epsilon / (e^epsilon + k - 1). Numbers are published as they are, and so is a domain of one value, which
    tells nothing. Only `rng=None` promises epsilon: see `LocalNoise`.

    Source: Kairouz, Oh, Viswanath, NIPS 2014 (k-ary randomized response); Warner, JASA 1965, for two values.
    """

    epsilon: Positive
    title = "Randomized response"
    changes = "categories"

    def _noisy(self, schema: Schema) -> list[Attribute]:
        return categorical(self, schema)

    def _draw(self, values: pd.Series, attribute: Attribute, rng: Generator) -> Array:
        domain = attribute.categories
        codes = response(domain.codes(values), len(domain.values), self.epsilon, rng=exact(rng))
        return np.array(domain.values, dtype=object)[codes]

    def _law(self, attribute: Attribute) -> Law:
        return Response(self.epsilon, len(attribute.categories.values))
