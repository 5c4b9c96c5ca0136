"""The highest and the lowest numbers published as one value each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

import numpy as np
from numpy.random import Generator

from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute
from privnb.runtime import expect
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import between
from privnb.sanitizers.eligibility import check_numeric
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.base import Masked, NumberMasking, gap, numbers
from privnb.sanitizers.masking.missing_numbers import among_present
from privnb.sanitizers.noise.local_noise import by_attribute

Thresholds = Annotated[Mapping[str, float] | None, by_attribute('{"age": 80}', expect.number)]


@dataclass(frozen=True)
class TopBottomCoding(NumberMasking):
    """Publish what lies above a threshold as the threshold, and what lies below another as that one.

    All between stays as it is: whoever is outstanding is hidden, and nobody else. A threshold that is not stated is
    public all the same: the end of the public interval that holds the value beyond which `share` of the records lie, so
    that as many or more are published with it. Where the public intervals are wide, far more are: the provenance's note
    says so of more than twice the share. A value is published alike wherever it stands, and nothing is drawn.

    Parameters
    ----------
    share : float
        Of the records at each end, above 0 and below one half.
    bottom, top : dict of str to float, optional
        Thresholds by attribute, within its public domain.

    Source: Aggarwal and Yu 2008, sections 3.4.3 and 8.2.1.
    """

    share: Annotated[float, between(0, 0.5, "both ends need a middle")] = 0.05
    bottom: Thresholds = field(default=None, hash=False)
    top: Thresholds = field(default=None, hash=False)
    title = "Top and bottom coding"
    order_invariant = True
    global_recoding = True
    missing_numbers = "kept"

    def _masked(self, dataset: Microdata, attributes: Sequence[Attribute], found: IntArray, rng: Generator) -> Masked:
        check_numeric(self, [*(self.bottom or ()), *(self.top or ())], attributes)
        columns: list[Array] = []
        notes: list[str] = []
        for attribute, codes in zip(attributes, found.T, strict=True):
            lacking = gap(attribute, codes)
            columns.append(among_present(codes, lacking, partial(self._coded, attribute)))
            notes += self._excess(attribute, np.asarray(columns[-1])[~lacking])
        return columns, {"note": " ".join(notes)}

    def _excess(self, attribute: Attribute, coded: Array) -> Iterator[str]:
        """Yield a warning for each end at which far more numbers are published as the threshold than were asked for."""
        name = attribute.name
        for end, threshold, stated in (("bottom", coded.min, self.bottom), ("top", coded.max, self.top)):
            share = float((coded == threshold()).mean()) if len(coded) else 0.0
            if share > 2 * self.share and name not in (stated or ()):
                yield (
                    f"{share:.0%} of the numbers of '{name}' are published as its {end} threshold, and "
                    f"{self.share:.0%} were asked for, because its public intervals are wide. State `{end}` for it, or "
                    "finer cuts of its domain."
                )

    def _coded(self, attribute: Attribute, found: IntArray) -> Array:
        low, high = self._thresholds(attribute, np.sort(found))
        return numbers(attribute, found.clip(low, high))

    def _thresholds(self, attribute: Attribute, ranked: IntArray) -> tuple[int, int]:
        """The lowest and the highest number that are published, in steps of the domain."""
        name, domain = attribute.name, attribute.numbers
        rank = int(np.ceil(self.share * len(ranked) - ROUNDING)) - 1
        low = self._stated(attribute, self.bottom, domain.interval(ranked[rank : rank + 1])[1][0])
        high = self._stated(attribute, self.top, domain.interval(ranked[len(ranked) - 1 - rank :][:1])[0][0])
        if low >= high:
            raise SanitizationError(
                f"{self!r}: the thresholds of '{name}' would be {domain.value(low):g} and {domain.value(high):g}, with "
                "nothing between them. State `bottom` and `top` for it, or finer cuts of its domain."
            )
        return low, high

    def _stated(self, attribute: Attribute, thresholds: Mapping[str, float] | None, usual: float) -> int:
        if not thresholds or attribute.name not in thresholds:
            return int(usual)
        threshold, domain = thresholds[attribute.name], attribute.numbers
        if not domain.low <= threshold <= domain.high:
            raise SanitizationError(f"{self!r}: {threshold:g} lies outside of '{attribute.name}', which is {domain}.")
        return int(domain.codes(threshold))
