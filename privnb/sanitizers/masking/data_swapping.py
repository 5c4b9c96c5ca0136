"""Values exchanged between records that are alike in stated attributes, so that low-order margins stay exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import plain
from privnb.microdata.counts import combinations
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Role, Schema
from privnb.runtime.lazy import pd
from privnb.runtime.names import name_list, names_in
from privnb.runtime.validation import Share, instead
from privnb.sanitizers.base import Sanitized
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.base import Masking


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
