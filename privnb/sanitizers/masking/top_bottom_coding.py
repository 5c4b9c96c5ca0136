"""The highest and the lowest numbers published as one value each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from privnb.runtime import expect
from privnb.runtime.tolerances import ROUNDING
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.base import NumberMasking, gap, numbers
from privnb.sanitizers.masking.missing_numbers import among_present


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

    share: float = 0.05
    bottom: Mapping[str, float] | None = field(default=None, hash=False)
    top: Mapping[str, float] | None = field(default=None, hash=False)
    title = "Top and bottom coding"
    order_invariant = True
    global_recoding = True
    missing_numbers = "kept"

    def __post_init__(self):
        expect.between("share", self.share, 0, 0.5, "both ends need a middle")
        for end in ("bottom", "top"):
            if (stated := getattr(self, end)) is not None:
                expect.kind(end, stated, Mapping, instead='Give thresholds by attribute: {"age": 80}.')
                for name, threshold in stated.items():
                    expect.number(f"{end} of {expect.found(name)}", threshold)

    def _sanitize(self, dataset, table, rng):
        attributes, found = self._numbers(dataset, table)
        names = [attribute.name for attribute in attributes]
        if unknown := sorted({*(self.bottom or ()), *(self.top or ())} - set(names)):
            raise SanitizationError(f"{self!r}: {unknown} is no numeric quasi-identifier; those are {names}.")
        notes = []
        for a, attribute in enumerate(attributes):
            lacking = gap(attribute, found[:, a])
            table[attribute.name] = coded = among_present(found[:, a], lacking, partial(self._coded, attribute))
            notes += self._excess(attribute, np.asarray(coded)[~lacking])
        return table, {"perturbed": names, "note": " ".join(notes)}

    def _excess(self, attribute, coded):
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

    def _coded(self, attribute, found):
        low, high = self._thresholds(attribute, np.sort(found))
        return numbers(attribute, found.clip(low, high))

    def _thresholds(self, attribute, ranked):
        """The lowest and the highest number that are published, in steps of the domain."""
        name, domain = attribute.name, attribute.domain
        rank = int(np.ceil(self.share * len(ranked) - ROUNDING)) - 1
        low = self._stated(attribute, self.bottom, domain.interval(ranked[rank : rank + 1])[1][0])
        high = self._stated(attribute, self.top, domain.interval(ranked[len(ranked) - 1 - rank :][:1])[0][0])
        if low >= high:
            raise SanitizationError(
                f"{self!r}: the thresholds of '{name}' would be {domain.value(low):g} and {domain.value(high):g}, with "
                "nothing between them. State `bottom` and `top` for it, or finer cuts of its domain."
            )
        return low, high

    def _stated(self, attribute, thresholds, usual):
        if attribute.name not in (thresholds or ()):
            return int(usual)
        threshold, domain = thresholds[attribute.name], attribute.domain
        if not domain.low <= threshold <= domain.high:
            raise SanitizationError(f"{self!r}: {threshold:g} lies outside of '{attribute.name}', which is {domain}.")
        return int(domain.codes(threshold))
