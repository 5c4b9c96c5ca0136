"""Randomized response: categories are replaced at random, so that a cell does not prove a person's answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from privnb.microdata.schema import Attribute, Schema
from privnb.microdata.treatment import Law
from privnb.runtime.arrays import Array
from privnb.runtime.lazy import pd
from privnb.runtime.validation import Positive
from privnb.sanitizers.eligibility import require_categorical
from privnb.sanitizers.noise.laws import Response
from privnb.sanitizers.noise.local_noise import LocalNoise, choose_source
from privnb.sanitizers.noise.mechanisms import randomize_response


@dataclass(frozen=True)
class RandomizedResponse(LocalNoise):
    """Replace each categorical quasi-identifier of each record with a random value; the true value is the most likely.

    The value comes from the public domain of k values: the true value has probability e^epsilon / (e^epsilon + k - 1),
    which is e^epsilon times the probability of any single other value. Numbers are published unchanged, and so are
    attributes with a domain of one value, which reveal nothing. Epsilon is promised only with `rng=None`, see
    `LocalNoise`.

    Parameters
    ----------
    epsilon : float
        The epsilon of each attribute, above 0; a smaller epsilon keeps fewer true values.

    Source: Kairouz, Oh, Viswanath, NIPS 2014 (k-ary randomized response); Warner, JASA 1965, for two values.
    """

    epsilon: Positive
    title = "Randomized response"
    changes = "categories"

    def _noisy(self, schema: Schema) -> list[Attribute]:
        return require_categorical(self, schema)

    def _draw(self, values: pd.Series, attribute: Attribute, rng: Generator) -> Array:
        domain = attribute.categories
        codes = randomize_response(domain.codes(values), len(domain.values), self.epsilon, rng=choose_source(rng))
        return np.array(domain.values, dtype=object)[codes]

    def _law(self, attribute: Attribute) -> Law:
        return Response(self.epsilon, len(attribute.categories.values))
