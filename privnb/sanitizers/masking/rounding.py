"""Rounding of numbers to the multiples of a base."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

import numpy as np
from numpy.random import Generator

from privnb.microdata import cuts
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, round_binary
from privnb.runtime import expect
from privnb.runtime.arrays import Array, IntArray
from privnb.sanitizers.eligibility import check_numeric
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.base import Masked, NumberMasking, find_gaps, steps_to_numbers
from privnb.sanitizers.masking.missing_numbers import apply_to_present


def _bases(name: str, value: object) -> None:
    for key, base in value.items() if isinstance(value, Mapping) else [("", value)]:
        if base is not None or key:
            expect.positive(f"{name} of {expect.describe_value(key)}" if key else name, base)


@dataclass(frozen=True)
class Rounding(NumberMasking):
    """Round each numeric quasi-identifier to the nearest multiple of a base within its public domain.

    A value halfway between two multiples is rounded up. The recoding is global, and nothing is drawn at random.

    Parameters
    ----------
    base : float or dict of str to float, optional
        One base for all attributes, or a base for each attribute; a base must be larger than a step of the domain. The
        default for each attribute is the round number that divides the public domain into ten to twenty parts.

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
        return [
            apply_to_present(codes, find_gaps(each, codes), partial(self._rounded, each)) for each, codes in pairs
        ], {}

    def _rounded(self, attribute: Attribute, found: IntArray) -> Array:
        base = self._base(attribute)
        # # Values are rounded twice, so that a value halfway between multiples does not depend on its last digit.
        nearest = np.floor(np.round(steps_to_numbers(attribute, found) / base, 9) + 0.5)
        return round_binary(nearest.clip(*self._ends(attribute, base)) * base)

    def _base(self, attribute: Attribute) -> float:
        base = self.base.get(attribute.name) if isinstance(self.base, Mapping) else self.base
        return cuts.grain(attribute.numbers) if base is None else base

    def _ends(self, attribute: Attribute, base: float) -> tuple[float, float]:
        """Return the first and the last multiple of the base within the domain, both divided by the base."""
        domain = attribute.numbers
        first, last = np.ceil(np.round(domain.low / base, 9)), np.floor(np.round(domain.high / base, 9))
        if base <= domain.step or last <= first:
            raise SanitizationError(
                f"{self!r}: a base of {base:g} leaves '{attribute.name}' ({domain}) "
                f"{'unchanged' if base <= domain.step else 'with fewer than two values'}. Try another base."
            )
        return first, last
