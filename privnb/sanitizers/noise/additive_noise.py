"""Uniform or Gaussian noise added to every number of every record."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from privnb.microdata.schema import decimals
from privnb.runtime import expect
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.numbered import numeric
from privnb.sanitizers.noise.additive_laws import Gaussian, Uniform
from privnb.sanitizers.noise.local_noise import CellNoise

LAWS = {"gaussian": Gaussian, "uniform": Uniform}
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

    deviation: float = 0.1
    kind: str = "gaussian"
    deviations: Mapping[str, float] | None = field(default=None, hash=False)
    title = "Additive noise"
    changes = "numbers"
    missing_numbers = "restored"

    @classmethod
    def examples(cls, schema):
        number = next(schema[name] for name in schema.quasi_identifiers if schema[name].numeric)
        return [cls(), cls(0.2, "uniform", {number.name: number.domain.width / 4})]

    def __post_init__(self):
        expect.positive("deviation", self.deviation)
        expect.one_of("kind", self.kind, LAWS)
        if self.deviations is not None:
            expect.kind("deviations", self.deviations, Mapping, instead='Give numbers by attribute: {"age": 8}.')
            for name, number in self.deviations.items():
                expect.positive(f"deviation of {expect.found(name)}", number)

    def _noisy(self, schema):
        noisy = numeric(self, schema)
        names = [attribute.name for attribute in noisy]
        if unknown := sorted(set(self.deviations or ()) - set(names)):
            raise SanitizationError(f"{self!r}: {unknown} is no numeric quasi-identifier; those are {names}.")
        return noisy

    def _draw(self, values, attribute, rng):
        source, law = np.random.default_rng(rng), self._law(attribute)
        values, fine = np.asarray(values, dtype=float), attribute.domain.step / FINE
        uniform = self.kind == "uniform"
        noise = source.uniform(-1, 1, len(values)) * law.half if uniform else source.normal(size=len(values))
        return decimals(np.rint((values + (noise if uniform else noise * law.deviation)) / fine) * fine)

    def _law(self, attribute):
        deviation = (self.deviations or {}).get(attribute.name, self.deviation * attribute.domain.width)
        return LAWS[self.kind](deviation, attribute.domain.step)
