"""The two trivial sanitizations of Brickell and Shmatikov: what any other has to be better than."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import of_codes
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Role, Schema
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.names import name_list, names_in
from privnb.sanitizers.base import Sanitized, Sanitizer
from privnb.sanitizers.errors import SanitizationError

WHAT = "an attribute, quasi-identifiers or sensitive"


def _attributes(name: str, value: object) -> None:
    if not names_in(expect.text(name, value, WHAT)):
        raise UsageError(f"{name} must be the name of {WHAT}, got {value!r}.")


@dataclass(frozen=True)
class Suppress(Sanitizer):
    """Publish `*` for every quasi-identifier, for every sensitive attribute, or for attributes named one by one.

    Either of the first two leaves an adversary who knows quasi-identifiers with no more than the table's overall
    distribution of the sensitive attribute. `attributes`: "quasi-identifiers", "sensitive", or names separated by
    commas.
    Source: Brickell and Shmatikov, KDD 2008, sections 1 and 4.1.
    """

    attributes: Annotated[str, _attributes] = "quasi-identifiers"
    order_invariant = True
    title = "Suppression"
    counts_people = True
    treatment = "suppressed"
    reference = True
    coded = True
    by_combinations = True

    @property
    def key(self) -> str:
        return f"Suppress(what={self.attributes!r})"

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        return [cls(), cls("sensitive"), cls(name_list([schema.quasi_identifiers[0], schema.sensitive[0]]))]

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        roles = {"quasi-identifiers": Role.QUASI_IDENTIFIER, "sensitive": Role.SENSITIVE}
        if self.attributes in roles:
            suppressed = dataset.schema.names(roles[self.attributes])
        else:
            suppressed = names_in(self.attributes)
        unknown = [name for name in suppressed if name not in table]
        if unknown:
            raise SanitizationError(
                f"{self!r}: '{dataset.name}' publishes no attribute {', '.join(map(repr, unknown))}. Name some of "
                f"{name_list(table)}, or one of {', '.join(roles)}."
            )
        for name in suppressed:
            table[name] = of_codes(np.zeros(len(table), dtype=np.int8), [SUPPRESSED])
        return table, {}
