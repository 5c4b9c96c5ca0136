"""MASK: each category a column of zeros and ones, of which each is flipped by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import having, of_codes
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.provenance import Promise
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Categories, Role
from privnb.microdata.treatment import Jointly, Law
from privnb.runtime.lazy import pd
from privnb.runtime.names import names_in, offered
from privnb.runtime.validation import Positive
from privnb.sanitizers.base import Facts, Sanitized
from privnb.sanitizers.eligibility import categorical
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.noise.gamma_diagonal import Attributes, Together
from privnb.sanitizers.noise.laws import Diagonal
from privnb.sanitizers.noise.local_noise import exact
from privnb.sanitizers.noise.mechanisms import kept, response
from privnb.tables.reading import MOST

BITS = ("0", "1")


@dataclass(frozen=True)
class OneHot(Law):
    """The columns of one attribute: two records differ in two of them at most.

    Parameters
    ----------
    epsilon : float
        Of the attribute, twice that of a column.
    """

    epsilon: float

    def __str__(self) -> str:
        return f"flips of an attribute's zeros and ones, epsilon {self.epsilon:g}"

    def amplification(self, size: int) -> float:
        return float(np.exp(self.epsilon))


@dataclass(frozen=True)
class Mask(Together):
    """Write each categorical quasi-identifier as one column of zeros and ones for each value of its public domain, and
    keep each of these with the same probability, or flip it.

    Two records of M attributes differ in at most 2 M of these columns, so that gamma = e^epsilon = (p / (1 - p))^(2 M)
    for the probability p: epsilon is spent once per record. A published row may have several ones for an attribute, or
    none. The attributes themselves are published as `*`. Only `rng=None` promises epsilon.

    Parameters
    ----------
    epsilon : float
        Above 0; smaller flips more.
    attributes : str
        Which, with commas between; empty: all quasi-identifiers of two or more categories. They have at most 1,000
        possible values in all.

    Source: Rizvi and Haritsa, "Maintaining Data Privacy in Association Rule Mining", VLDB 2002 (flips); Agrawal and
    Haritsa, ICDE 2005 (p for a gamma); Aggarwal and Yu 2008, eq. 10.10. There p is the probability to keep, and in the
    prose of 10.3 that to flip.
    """

    epsilon: Positive
    attributes: Attributes = ""
    title = "MASK"

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        attributes = categorical(self, dataset.schema, names_in(self.attributes))
        widest = max(attributes, key=lambda attribute: len(attribute.categories.values))
        if (number := sum(len(attribute.categories.values) for attribute in attributes)) > MOST:
            raise SanitizationError(
                f"{self!r}: a column for each possible value would be {number:,}, at most {MOST:,} are made, and "
                f"'{widest.name}' alone has {len(widest.categories.values):,}. Leave it out of `attributes`, or give "
                "its public domain coarser values."
            )
        each, new, laws = self.epsilon / (2 * len(attributes)), [], dict[str, Law]()
        columns = {}
        for attribute in attributes:
            codes, values = attribute.categories.codes(table[attribute.name]), attribute.categories.values
            names = tuple(offered(f"{attribute.name}={value}") for value in values)
            joint = Jointly(names, (2,) * len(names), OneHot(2 * each))
            laws |= dict.fromkeys(names, Diagonal(kept(2, each), 2, "MASK", joint))
            for place, name in enumerate(names):
                bits = response((codes == place).astype(np.int64), 2, each, rng=exact(rng))
                new.append(Attribute(name, Role.QUASI_IDENTIFIER, Categories(BITS)))
                columns[name] = of_codes(bits, BITS)
            table[attribute.name] = of_codes(np.zeros(len(table), dtype=np.int8), [SUPPRESSED])
        if len(columns) < len(new) or {*columns} & {*dataset.schema.names()}:
            raise SanitizationError(
                f"{self!r}: two columns would have one name, each of an attribute and a value of it. Rename a column, "
                "or a value."
            )
        table = having(table, columns)
        facts: Facts = {"new": tuple(new), "noisy": laws}
        if exact(rng) is None:
            rest = [name for name in dataset.schema.published if dataset.schema[name] not in attributes]
            facts["promise"] = Promise.together(self.epsilon, list(columns), rest)
        return table, facts
