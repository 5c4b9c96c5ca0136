"""Values that change hands: among records that are alike in stated attributes, or of nearby ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import plain
from privnb.microdata.counts import combinations
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Role, Schema
from privnb.runtime import expect, lazy_pandas as pd
from privnb.runtime.names import name_list, names_in
from privnb.runtime.tolerances import ROUNDING
from privnb.runtime.validation import Share, instead
from privnb.sanitizers.base import Sanitized
from privnb.sanitizers.eligibility import quasi_identifiers
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.base import Masking, gap, steps


@dataclass(frozen=True)
class DataSwapping(Masking):
    """Draw some records for each quasi-identifier by itself, and exchange its values among those of them that are alike
    in the attributes `within`.

    Every value stays as frequent as it was, and so does every combination of one quasi-identifier's value with those of
    `within`: these tables of counts can be read from the release exactly. Tables of two quasi-identifiers change. A
    record may be given its own value back. A missing number stays where it is.

    Parameters
    ----------
    share : float
        Above 0, at most 1: how likely a record is drawn.
    within : str
        The attributes in which records must be alike, with commas between, none of them a quasi-identifier;
        "sensitive": all that are; empty: any records exchange values.

    Raises
    ------
    SanitizationError
        For another name, and where nothing was exchanged.

    Source: Dalenius and Reiss, "Data-swapping: A technique for disclosure control", Journal of Statistical Planning and
    Inference 6, 1982; Aggarwal and Yu 2008, section 3.3.3.
    """

    share: Share = 0.2
    within: Annotated[str, instead(str, "Name attributes with commas between, or give ''.")] = "sensitive"
    title = "Data swapping"
    randomized = True

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        return [cls(), cls(0.5, ""), cls(1.0, name_list([schema.names(Role.NEUTRAL)[0]]))]

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        schema = dataset.schema
        within = schema.sensitive if self.within == "sensitive" else names_in(self.within)
        able = [name for name in schema.published if name not in schema.quasi_identifiers]
        if unknown := [name for name in within if name not in able]:
            raise SanitizationError(
                f"{self!r}: records are alike in published attributes that nobody exchanges, {', '.join(able)}, and "
                f"{', '.join(map(repr, unknown))} is none of them."
            )
        group, moved = combinations(table[within]).index, []
        for name in schema.quasi_identifiers:
            chosen = rng.random(len(table)) < self.share
            rows = np.flatnonzero(chosen & plain(table[name]).notna().to_numpy())
            # Both orders have the groups one after the other: the first in the table's order, the second in any.
            here = rows[np.argsort(group[rows], kind="stable")]
            there = rows[np.lexsort([rng.random(len(rows)), group[rows]])]
            given = np.arange(len(table))
            given[here] = there
            before, table[name] = table[name], table[name].array[given]
            if not table[name].equals(before):
                moved.append(name)
        if not moved:
            raise SanitizationError(
                f"{self!r}: no two records that were drawn are alike in {name_list(within) or 'anything'} and "
                "differ in a quasi-identifier, so that nothing was exchanged. Raise share, or name fewer attributes in "
                "`within`."
            )
        return table, {"perturbed": tuple(moved)}


def _per_cent(name: str, value: Any) -> None:
    if not (expect.is_number(value) and 0 < value <= 100):
        raise ValueError(f"{name} must be per cent, a number above 0 and at most 100, got {expect.found(value)}.")


@dataclass(frozen=True)
class RankSwapping(Masking):
    """Swap each value of each quasi-identifier with one whose rank differs by at most p per cent of the records.

    Each attribute is swapped by itself: its values are ranked, equal ones in the order of the records, and from the
    lowest on each that was not swapped changes places with another one within the window, drawn at random. So every
    column has the values that it had, each as often, on the steps of its domain; what goes is who has them together. A
    category ranks where its hierarchy's line has it.

    Parameters
    ----------
    p : float
        Per cent of the number of records, above 0 and at most 100; larger moves values farther. Of fewer than two
        records within the window nobody could swap. Missing numbers stay where they are, and do not count.

    Source: Moore, "Controlled Data-Swapping Techniques for Masking Public Use Microdata Sets", U.S. Bureau of the
    Census 1996; Aggarwal and Yu 2008, section 3.3.3, where p of about 15 does well (3.6.1).
    """

    p: Annotated[float, _per_cent] = 15
    title = "Rank swapping"
    randomized = True

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        from privnb.sanitizers.algorithms.swapping import partners  # numba is slow to import

        names = quasi_identifiers(self, dataset.schema, "swap")
        for name in names:
            attribute, taken = dataset.schema[name], np.arange(len(dataset))
            ranked = steps(attribute, table[name]) if attribute.numeric else dataset.codes[name]
            rows = np.flatnonzero(~gap(attribute, ranked)) if attribute.numeric else taken
            order = rows[np.argsort(ranked[rows], kind="stable")]
            if len(rows):
                taken[order] = order[partners(self._window(len(rows)), rng.random(len(rows)))]
            cells = plain(table[name]).to_numpy() if attribute.numeric else table[name].array
            table[name] = cells[taken]
        return table, {"perturbed": names}

    def _window(self, n: int) -> int:
        if window := int(self.p * n / 100 + ROUNDING):
            return window
        raise SanitizationError(
            f"{self!r}: {self.p:g} % of {n} records are less than one rank. Raise p to {100 / n:.3g} or more."
        )
