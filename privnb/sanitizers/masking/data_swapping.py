"""Data swapping among records that agree in chosen attributes, so that low-order margins stay exactly the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import decode_column
from privnb.microdata.counts import count_combinations
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Role, Schema
from privnb.runtime.lazy import pd
from privnb.runtime.names import join_names, parse_names
from privnb.runtime.validation import Share, instead
from privnb.sanitizers.base import Sanitized
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.masking.base import Masking


@dataclass(frozen=True)
class DataSwapping(Masking):
    """Swap quasi-identifier values among randomly drawn records that agree in the attributes `within`.

    Records are drawn separately for each quasi-identifier. Every value keeps its frequency, and so does every
    combination of a value of one quasi-identifier with values of the attributes `within`; the release shows these
    tables of counts exactly. Tables of two quasi-identifiers change. A record may get its own value back. A missing
    number stays with its record.

    Parameters
    ----------
    share : float
        The probability that a record is drawn, above 0 and at most 1.
    within : str
        The attributes in which records must agree: names separated by commas, none of which is a quasi-identifier, or
        "sensitive" for all sensitive attributes. If the text is empty, any two records may swap values.

    Raises
    ------
    SanitizationError
        If `within` contains any other name, or if no value was swapped.

    Source: Dalenius and Reiss, "Data-swapping: A technique for disclosure control", Journal of Statistical Planning and
    Inference 6, 1982; Aggarwal and Yu 2008, section 3.3.3.
    """

    share: Share = 0.2
    within: Annotated[str, instead(str, "Name attributes with commas between, or give ''.")] = "sensitive"
    title = "Data swapping"
    randomized = True

    @classmethod
    def contract_examples(cls, schema: Schema) -> list[Self]:
        """Return sanitizers for the contract tests."""
        return [cls(), cls(0.5, ""), cls(1.0, join_names([schema.names(Role.NEUTRAL)[0]]))]

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        schema = dataset.schema
        within = schema.sensitive if self.within == "sensitive" else parse_names(self.within)
        able = [name for name in schema.published if name not in schema.quasi_identifiers]
        if unknown := [name for name in within if name not in able]:
            raise SanitizationError(
                f"{self!r}: `within` must name published attributes that are not swapped, such as {', '.join(able)}; "
                f"got {', '.join(map(repr, unknown))}."
            )
        group, moved = count_combinations(table[within]).index, []
        for name in schema.quasi_identifiers:
            chosen = rng.random(len(table)) < self.share
            rows = np.flatnonzero(chosen & decode_column(table[name]).notna().to_numpy())
            # Both orders list group after group: the first in the order of the table, the second at random.
            here = rows[np.argsort(group[rows], kind="stable")]
            there = rows[np.lexsort([rng.random(len(rows)), group[rows]])]
            given = np.arange(len(table))
            given[here] = there
            before, table[name] = table[name], table[name].array[given]
            if not table[name].equals(before):
                moved.append(name)
        if not moved:
            raise SanitizationError(
                f"{self!r}: nothing was swapped, because no two records that were drawn agree in "
                f"{join_names(within) or 'anything'} and differ in a quasi-identifier. Raise `share`, or name fewer "
                "attributes in `within`."
            )
        return table, {"perturbed": tuple(moved)}
