"""The two trivial sanitizations of Brickell and Shmatikov, which every other sanitization has to surpass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import make_categorical
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Role, Schema
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.names import join_names, parse_names
from privnb.sanitizers.base import Sanitized, Sanitizer
from privnb.sanitizers.errors import SanitizationError

WHAT = "an attribute, quasi-identifiers or sensitive"


def _attributes(name: str, value: object) -> None:
    if not parse_names(expect.text(name, value, WHAT)):
        raise UsageError(f"{name} must name {WHAT}; got {value!r}.")


@dataclass(frozen=True)
class Suppress(Sanitizer):
    """Suppress (publish as `*`) every quasi-identifier, every sensitive attribute, or the attributes that you name.

    If every quasi-identifier or every sensitive attribute is suppressed, an adversary who knows quasi-identifiers
    learns no more than the overall distribution of the sensitive attribute in the table.

    Parameters
    ----------
    attributes : str
        "quasi-identifiers", "sensitive", or names of attributes, separated by commas.

    Source: Brickell and Shmatikov, KDD 2008, sections 1 and 4.1.

    Examples
    --------
    >>> from privnb.datasets.dataset import load
    >>> Suppress("age, sex").sanitize(load("adult", records=10), rng=1).treated("suppressed")
    ('age', 'sex')
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
        """The text from which draws are derived."""
        return f"Suppress(what={self.attributes!r})"

    @classmethod
    def contract_examples(cls, schema: Schema) -> list[Self]:
        """Return sanitizers for the contract tests."""
        return [cls(), cls("sensitive"), cls(join_names([schema.quasi_identifiers[0], schema.sensitive[0]]))]

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        roles = {"quasi-identifiers": Role.QUASI_IDENTIFIER, "sensitive": Role.SENSITIVE}
        if self.attributes in roles:
            suppressed = dataset.schema.names(roles[self.attributes])
        else:
            suppressed = parse_names(self.attributes)
        unknown = [name for name in suppressed if name not in table]
        if unknown:
            raise SanitizationError(
                f"{self!r}: '{dataset.name}' has no published attribute {', '.join(map(repr, unknown))}. Try "
                f"{join_names(table)}, or one of {', '.join(roles)}."
            )
        for name in suppressed:
            table[name] = make_categorical(np.zeros(len(table), dtype=np.int8), [SUPPRESSED])
        return table, {}
