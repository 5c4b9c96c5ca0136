"""Noise added to every number of every record, by a law that everybody knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.schema import Attribute, Schema, decimals
from privnb.microdata.treatment import Law
from privnb.runtime import lazy_pandas as pd
from privnb.runtime.arrays import Array
from privnb.runtime.validation import Positive
from privnb.sanitizers.eligibility import check_numeric, numeric
from privnb.sanitizers.noise.laws import Gaussian, Geometric, Laplace, Uniform
from privnb.sanitizers.noise.local_noise import CellNoise, NumericNoise, Sensitivity, by_attribute, exact, whole_steps
from privnb.sanitizers.noise.mechanisms import geometric, laplace

Deviations = Annotated[Mapping[str, float] | None, by_attribute('{"age": 8}')]
FINE = 1000  # a published number is a whole number of steps divided by this


@dataclass(frozen=True)
class AdditiveNoise(CellNoise):
    """Add independent noise of mean 0 to each numeric quasi-identifier of each record, Gaussian or uniform.

    Everybody knows how the noise is spread, so that users can reconstruct how the numbers are. It has no epsilon:
    uniform noise excludes numbers, and Gaussian noise does nearly so. Values are not clipped. They are rounded to a
    thousandth of a step of the public domain, since the last digits of a sum tell of its parts. A missing number stays
    missing.

    Parameters
    ----------
    deviation : float
        The standard deviation of the noise as a share of the width of the public domain; above 0. Uniform noise goes
        from -a to a, where a is that times the root of 3: the interval privacy at 100 % is 2 a.
    kind : str
        "gaussian" or "uniform".
    deviations : dict of str to float, optional
        The standard deviation by attribute, in its unit; for others it is as `deviation` says.

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
    def examples(cls, schema: Schema) -> list[Self]:
        number: Any = next(schema[name] for name in schema.quasi_identifiers if schema[name].numeric)
        return [cls(), cls(0.2, "uniform", {number.name: number.numbers.width / 4})]

    def _noisy(self, schema: Schema) -> list[Attribute]:
        noisy = numeric(self, schema)
        check_numeric(self, [*(self.deviations or ())], noisy)
        return noisy

    def _draw(self, values: pd.Series, attribute: Attribute, rng: Generator) -> Array:
        law, fine = self._law(attribute), attribute.numbers.step / FINE
        if isinstance(law, Uniform):
            noise = rng.uniform(-1, 1, len(values)) * law.half
        else:
            noise = rng.normal(size=len(values)) * law.deviation
        return decimals(np.rint((np.asarray(values, dtype=float) + noise) / fine) * fine)

    def _law(self, attribute: Attribute) -> Gaussian | Uniform:
        deviation = (self.deviations or {}).get(attribute.name, self.deviation * attribute.numbers.width)
        return (Uniform if self.kind == "uniform" else Gaussian)(deviation, attribute.numbers.step)


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
