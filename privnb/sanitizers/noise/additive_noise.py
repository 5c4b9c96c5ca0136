"""Additive noise: uniform or Gaussian noise on every number of every record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.schema import Attribute, Schema, round_binary
from privnb.runtime.arrays import Array
from privnb.runtime.lazy import pd
from privnb.runtime.validation import Positive
from privnb.sanitizers.eligibility import check_numeric, require_numeric
from privnb.sanitizers.noise.laws import Gaussian, Uniform
from privnb.sanitizers.noise.local_noise import CellNoise, check_by_attribute

Deviations = Annotated[Mapping[str, float] | None, check_by_attribute('{"age": 8}')]
FINE = 1000  # a published number is a multiple of the step divided by this


@dataclass(frozen=True)
class AdditiveNoise(CellNoise):
    """Add independent Gaussian or uniform noise to each numeric quasi-identifier of each record.

    The noise has mean 0, and its distribution is public, so users can reconstruct the distribution of the numbers. The
    noise has no epsilon: uniform noise rules out some true numbers, and Gaussian noise nearly does. Values are not
    clipped. The published numbers are rounded to a thousandth of a step of the public domain, because the last digits
    of a sum would reveal the true number. A missing number stays missing.

    Parameters
    ----------
    deviation : float
        The standard deviation of the noise as a share of the width of the public domain; above 0. Uniform noise ranges
        from -a to a, where a is the standard deviation times the square root of 3; the interval privacy at 100% is 2 a.
    kind : str
        "gaussian" or "uniform".
    deviations : dict of str to float, optional
        The standard deviation by attribute, in the unit of the attribute; all other attributes use `deviation`.

    Source: Agrawal and Srikant, "Privacy-Preserving Data Mining", SIGMOD 2000, section 2; Aggarwal and Yu 2008, section
    2.2.
    """

    deviation: Positive = 0.1
    kind: Literal["gaussian", "uniform"] = "gaussian"
    deviations: Deviations = field(default=None, hash=False)
    title = "Additive noise"
    changes = "numbers"
    missing_numbers = "restored"

    @classmethod
    def contract_examples(cls, schema: Schema) -> list[Self]:
        """Return sanitizers for the contract tests."""
        number: Any = next(schema[name] for name in schema.quasi_identifiers if schema[name].numeric)
        return [cls(), cls(0.2, "uniform", {number.name: number.numbers.width / 4})]

    def _noisy(self, schema: Schema) -> list[Attribute]:
        noisy = require_numeric(self, schema)
        check_numeric(self, [*(self.deviations or ())], noisy)
        return noisy

    def _draw(self, values: pd.Series, attribute: Attribute, rng: Generator) -> Array:
        law, fine = self._law(attribute), attribute.numbers.step / FINE
        if isinstance(law, Uniform):
            noise = rng.uniform(-1, 1, len(values)) * law.half
        else:
            noise = rng.normal(size=len(values)) * law.deviation
        return round_binary(np.rint((np.asarray(values, dtype=float) + noise) / fine) * fine)

    def _law(self, attribute: Attribute) -> Gaussian | Uniform:
        deviation = (self.deviations or {}).get(attribute.name, self.deviation * attribute.numbers.width)
        return (Uniform if self.kind == "uniform" else Gaussian)(deviation, attribute.numbers.step)
