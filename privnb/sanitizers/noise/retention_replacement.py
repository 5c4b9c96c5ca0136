"""Retention replacement: values are kept with a stated probability, or are replaced with any value of their domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from privnb.microdata.schema import Attribute, Schema
from privnb.microdata.treatment import Law
from privnb.runtime.arrays import Array
from privnb.runtime.lazy import pd
from privnb.runtime.validation import between
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.noise.laws import Diagonal
from privnb.sanitizers.noise.local_noise import CellNoise, count_values, from_steps


@dataclass(frozen=True)
class RetentionReplacement(CellNoise):
    """Keep each quasi-identifier of each record with probability `kept`, or replace it with a random value.

    The random value is drawn uniformly from the public domain, and may be the true value; numbers and categories are
    treated in the same way. With a domain of m values, the method is randomized response with e^epsilon = 1 + m kept /
    (1 - kept). For a replacement that is not uniform, give `PRAM` the matrix kept I + (1 - kept) 1 q'. A missing number
    stays missing.

    Parameters
    ----------
    kept : float
        The probability of keeping a value, above 0 and below 1; a smaller probability protects more.

    Source: Agrawal, Srikant, Thomas, "Privacy Preserving OLAP", SIGMOD 2005, section 3; Aggarwal and Yu 2008, section
    6.3.2.
    """

    kept: Annotated[float, between(0, 1, "a value is kept or replaced at random")] = 0.5
    title = "Retention replacement"
    missing_numbers = "restored"

    def _noisy(self, schema: Schema) -> list[Attribute]:
        found: list[Any] = [schema[name] for name in schema.quasi_identifiers]
        found = [each for each in found if each.numeric or len(each.domain.values) > 1]
        if not found:
            raise SanitizationError(
                f"{self!r}: no quasi-identifier of '{schema.dataset}' has two or more values. Choose a study that has "
                "such a column."
            )
        return found

    def _draw(self, values: pd.Series, attribute: Any, rng: Generator) -> Array:
        domain = attribute.domain
        codes = domain.codes(values)
        other = rng.integers(0, count_values(attribute), len(codes))
        codes = np.where(rng.random(len(codes)) < self.kept, codes, other)
        if not attribute.numeric:
            return np.array(domain.values, dtype=object)[codes]
        return from_steps(attribute, codes)

    def _law(self, attribute: Any) -> Law:
        size = count_values(attribute)
        return Diagonal(self.kept + (1 - self.kept) / size, size, "retention replacement")
