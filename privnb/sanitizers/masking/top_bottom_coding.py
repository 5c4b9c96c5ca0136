"""Top and bottom coding: the highest numbers are published as one value, and the lowest numbers as another value."""

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
from privnb.sanitizers.masking.base import Masked, NumberMasking, find_gaps, steps_to_numbers
from privnb.sanitizers.masking.missing_numbers import apply_to_present
from privnb.sanitizers.noise.local_noise import check_by_attribute

Thresholds = Annotated[Mapping[str, float] | None, check_by_attribute('{"age": 80}', expect.number)]


@dataclass(frozen=True)
class TopBottomCoding(NumberMasking):
    """Replace numbers above an upper threshold, or below a lower threshold, with the threshold.

    All numbers between the thresholds stay unchanged: the method hides only people with extreme numbers. A default
    threshold is public, too: it is an end of the public interval that contains the value beyond which the share `share`
    of the records lies. At least this share of the records is therefore published as the threshold. If public intervals
    are wide, many more records are published as the threshold; the note of the provenance reports every share that is
    more than twice the requested share. The recoding is global, and nothing is drawn at random.

    Parameters
    ----------
    share : float
        The share of records to replace at each end, above 0 and below one half.
    bottom, top : dict of str to float, optional
        The thresholds by attribute; each threshold must be in the public domain of its attribute.

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
            lacking = find_gaps(attribute, codes)
            columns.append(apply_to_present(codes, lacking, partial(self._coded, attribute)))
            notes += self._excess(attribute, np.asarray(columns[-1])[~lacking])
        return columns, {"note": " ".join(notes)}

    def _excess(self, attribute: Attribute, coded: Array) -> Iterator[str]:
        """Yield a warning for each end at which far more numbers become the threshold than were requested."""
        name = attribute.name
        for end, threshold, stated in (("bottom", coded.min, self.bottom), ("top", coded.max, self.top)):
            share = float((coded == threshold()).mean()) if len(coded) else 0.0
            if share > 2 * self.share and name not in (stated or ()):
                yield (
                    f"{share:.0%} of the numbers of '{name}' are published as its {end} threshold; "
                    f"{self.share:.0%} were requested. Its public intervals are wide: state `{end}` for it, or finer "
                    "cuts of its domain."
                )

    def _coded(self, attribute: Attribute, found: IntArray) -> Array:
        low, high = self._thresholds(attribute, np.sort(found))
        return steps_to_numbers(attribute, found.clip(low, high))

    def _thresholds(self, attribute: Attribute, ranked: IntArray) -> tuple[int, int]:
        """Return the lowest and the highest number that are published, in steps of the domain."""
        name, domain = attribute.name, attribute.numbers
        rank = int(np.ceil(self.share * len(ranked) - ROUNDING)) - 1
        low = self._stated(attribute, self.bottom, domain.interval(ranked[rank : rank + 1])[1][0])
        high = self._stated(attribute, self.top, domain.interval(ranked[len(ranked) - 1 - rank :][:1])[0][0])
        if low >= high:
            raise SanitizationError(
                f"{self!r}: the thresholds of '{name}' would be {domain.value(low):g} and {domain.value(high):g}, with "
                "no value between them. State `bottom` and `top` for this column, or finer cuts of its domain."
            )
        return low, high

    def _stated(self, attribute: Attribute, thresholds: Mapping[str, float] | None, usual: float) -> int:
        if not thresholds or attribute.name not in thresholds:
            return int(usual)
        threshold, domain = thresholds[attribute.name], attribute.numbers
        if not domain.low <= threshold <= domain.high:
            raise SanitizationError(
                f"{self!r}: {threshold:g} is outside the domain of '{attribute.name}', which is {domain}."
            )
        return int(domain.codes(threshold))
