"""Numbers rounded to the multiples of a base."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from privnb.microdata import cuts
from privnb.microdata.schema import decimals
from privnb.runtime import expect
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.base import NumberMasking, gap, numbers
from privnb.sanitizers.masking.missing_numbers import among_present


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

    base: float | Mapping[str, float] | None = field(default=None, hash=False)
    title = "Rounding"
    order_invariant = True
    global_recoding = True
    missing_numbers = "kept"

    def __post_init__(self):
        for name, base in self.base.items() if isinstance(self.base, Mapping) else [("", self.base)]:
            if base is not None or name:
                expect.positive(f"base of {expect.found(name)}" if name else "base", base)

    def _sanitize(self, dataset, table, rng):
        attributes, found = self._numbers(dataset, table)
        names = [attribute.name for attribute in attributes]
        if unknown := sorted(set(self.base if isinstance(self.base, Mapping) else ()) - set(names)):
            raise SanitizationError(f"{self!r}: {unknown} is no numeric quasi-identifier; those are {names}.")
        for a, attribute in enumerate(attributes):
            lacking = gap(attribute, found[:, a])
            table[attribute.name] = among_present(found[:, a], lacking, partial(self._rounded, attribute))
        return table, {"perturbed": names}

    def _rounded(self, attribute, found):
        base = self._base(attribute)
        # Rounded twice, so that what lies half way does not depend on a last digit.
        nearest = np.floor(np.round(numbers(attribute, found) / base, 9) + 0.5)
        return decimals(nearest.clip(*self._ends(attribute, base)) * base)

    def _base(self, attribute):
        base = self.base.get(attribute.name) if isinstance(self.base, Mapping) else self.base
        return cuts.grain(attribute.domain) if base is None else base

    def _ends(self, attribute, base):
        """The numbers of the first and the last multiple within the domain."""
        domain = attribute.domain
        first, last = np.ceil(np.round(domain.low / base, 9)), np.floor(np.round(domain.high / base, 9))
        if base <= domain.step or last <= first:
            raise SanitizationError(
                f"{self!r}: a base of {base:g} leaves '{attribute.name}' ({domain}) "
                f"{'as it is' if base <= domain.step else 'fewer than two values'}. Give another one."
            )
        return first, last
