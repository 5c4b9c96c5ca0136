"""Values kept with a stated probability, and else replaced by any value of their domain."""

from dataclasses import dataclass

import numpy as np

from privnb.microdata.schema import decimals
from privnb.runtime import expect
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.noise.local_noise import CellNoise
from privnb.sanitizers.noise.matrix_laws import Diagonal


@dataclass(frozen=True)
class RetentionReplacement(CellNoise):
    """Keep each quasi-identifier of each record with probability `kept`, and else replace it by a value drawn uniformly
    from its public domain, which may be the true one.

    Numbers and categories alike. Of a domain of m values it is randomized response with e^epsilon = 1 + m kept / (1 -
    kept). For a replacement that is not uniform give `Pram` the matrix kept I + (1 - kept) 1 q'. A missing number
    stays missing.

    Parameters
    ----------
    kept : float
        Above 0 and below 1; smaller protects more.

    Source: Agrawal, Srikant, Thomas, "Privacy Preserving OLAP", SIGMOD 2005, section 3; Aggarwal and Yu 2008, section
    6.3.2.
    """

    kept: float = 0.5
    title = "Retention replacement"
    missing_numbers = "restored"

    def __post_init__(self):
        expect.between("kept", self.kept, 0, 1, "a value is kept or replaced at random")

    def _noisy(self, schema):
        found = [schema[name] for name in schema.quasi_identifiers]
        found = [each for each in found if each.numeric or len(each.domain.values) > 1]
        if not found:
            raise SanitizationError(
                f"{self!r}: no quasi-identifier of '{schema.dataset}' has two or more values. Choose a study with some."
            )
        return found

    def _draw(self, values, attribute, rng):
        source, domain = np.random.default_rng(rng), attribute.domain
        codes = domain.codes(values)
        other = source.integers(0, _size(attribute), len(codes))
        codes = np.where(source.random(len(codes)) < self.kept, codes, other)
        if not attribute.numeric:
            return np.array(domain.values, dtype=object)[codes]
        if float(domain.low).is_integer() and float(domain.step).is_integer():
            return int(domain.low) + int(domain.step) * codes
        return decimals(domain.low + domain.step * codes)

    def _law(self, attribute):
        size = _size(attribute)
        return Diagonal(self.kept + (1 - self.kept) / size, size, "retention replacement")


def _size(attribute):
    return attribute.domain.steps + 1 if attribute.numeric else len(attribute.domain.values)
