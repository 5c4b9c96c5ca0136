"""Numbers rounded to the multiples of a base."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

import numpy as np
from numpy.random import Generator

from privnb.microdata import cuts
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, decimals
from privnb.runtime import expect
from privnb.runtime.arrays import Array, IntArray
from privnb.sanitizers.eligibility import check_numeric
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.base import Masked, NumberMasking, gap, numbers
from privnb.sanitizers.masking.missing_numbers import among_present


def _bases(name: str, value: object) -> None:
    for key, base in value.items() if isinstance(value, Mapping) else [("", value)]:
        if base is not None or key:
            expect.positive(f"{name} of {expect.found(key)}" if key else name, base)


@dataclass(frozen=True)
class Rounding(NumberMasking):
    """Publish each numeric quasi-identifier as the nearest multiple of a base within its public domain.

    Half way between two it is the upper one. A value is published alike wherever it stands, and nothing is drawn.

    Parameters
    ----------
    base : float or dict of str to float, optional
        Larger than a step; one for all attributes, or by attribute. For others it is the round number that parts the
        public domain into ten to twenty.

    Source: Aggarwal and Yu 2008, section 3.3.4; Willenborg and De Waal, "Elements of Statistical Disclosure Control",
    Springer 2001, section 3.2.
    """

    base: Annotated[float | Mapping[str, float] | None, _bases] = field(default=None, hash=False)
    title = "Rounding"
    order_invariant = True
    global_recoding = True
    missing_numbers = "kept"

    def _masked(self, dataset: Microdata, attributes: Sequence[Attribute], found: IntArray, rng: Generator) -> Masked:
        check_numeric(self, [*self.base] if isinstance(self.base, Mapping) else [], attributes)
        pairs = zip(attributes, found.T, strict=True)
        return [among_present(codes, gap(each, codes), partial(self._rounded, each)) for each, codes in pairs], {}

    def _rounded(self, attribute: Attribute, found: IntArray) -> Array:
        base = self._base(attribute)
        # Rounded twice, so that what lies half way does not depend on a last digit.
        nearest = np.floor(np.round(numbers(attribute, found) / base, 9) + 0.5)
        return decimals(nearest.clip(*self._ends(attribute, base)) * base)

    def _base(self, attribute: Attribute) -> float:
        base = self.base.get(attribute.name) if isinstance(self.base, Mapping) else self.base
        return cuts.grain(attribute.numbers) if base is None else base

    def _ends(self, attribute: Attribute, base: float) -> tuple[float, float]:
        """The numbers of the first and the last multiple within the domain."""
        domain = attribute.numbers
        first, last = np.ceil(np.round(domain.low / base, 9)), np.floor(np.round(domain.high / base, 9))
        if base <= domain.step or last <= first:
            raise SanitizationError(
                f"{self!r}: a base of {base:g} leaves '{attribute.name}' ({domain}) "
                f"{'as it is' if base <= domain.step else 'fewer than two values'}. Give another one."
            )
        return first, last
