"""Categories of a record drawn together, by FRAPP's gamma-diagonal matrix, or as columns of zeros and ones, by MASK."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Annotated, Any, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import having, of_codes
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.provenance import Promise
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Categories, Role, Schema
from privnb.microdata.treatment import Jointly, Law
from privnb.runtime import lazy_pandas as pd
from privnb.runtime.arrays import IntArray
from privnb.runtime.names import name_list, names_in, offered
from privnb.runtime.validation import Positive, Probability, instead
from privnb.sanitizers.base import Facts, Sanitized, Sanitizer
from privnb.sanitizers.eligibility import categorical
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.noise.laws import Diagonal
from privnb.sanitizers.noise.local_noise import exact
from privnb.sanitizers.noise.mechanisms import kept, response
from privnb.tables.reading import MOST as WIDEST

MOST = 2**40  # joint values: with more, the chance of the true one has too few digits as a float

# Attributes with commas between; empty: all that fit.
Attributes = Annotated[str, instead(str, "Name them with commas between, or give ''.")]


class _Together(Sanitizer):
    """One that spends epsilon once a record, on all its categories."""

    treatment = "noisy"
    letters = requires = ("epsilon",)
    spends_per = "record"
    changes = "categories"
    randomized = True
    coded = True
    in_parts = True


@dataclass(frozen=True)
class GammaDiagonal(_Together):
    """Keep all categorical quasi-identifiers of a record together, or replace them by any other combination of their
    public domains.

    Of n combinations the true one is gamma = e^epsilon times as likely as any one other: gamma / (gamma + n - 1). A
    record spends epsilon once, however many attributes it has, where randomized response spends it for each. No other
    symmetric matrix with this gamma lets users reconstruct the combinations with less error. Much is left of the truth
    only where n is small beside gamma. Only `rng=None`, without `spread`, promises epsilon.

    Parameters
    ----------
    epsilon : float
        Above 0; smaller keeps fewer records. A gamma of 19 is ln 19, about 2.94.
    spread : float
        0 to 1. Above 0 it is the randomized matrix RAN-GD: each record has a diagonal of its own, drawn uniformly
        within this share of itself to either side, and only that is public. What an adversary may conclude of one
        record is then a range; on average the matrix is the same.
    attributes : str
        Those that are drawn together, with commas between; empty: all quasi-identifiers of two or more categories.

    Raises
    ------
    SanitizationError
        Where there are no categories, for another name, for more than 2^40 combinations, and for a diagonal that passes
        1 by its spread.

    Source: Agrawal and Haritsa, "A Framework for High-Accuracy Privacy-Preserving Mining", ICDE 2005, sections 3 and 4;
    Aggarwal and Yu 2008, section 10.4.
    """

    epsilon: Positive
    spread: Probability = 0.0
    attributes: Attributes = ""
    title = "FRAPP, gamma-diagonal"

    @classmethod
    def examples(cls, schema: Schema) -> list[Self]:
        names = [name for name in schema.quasi_identifiers if not schema[name].numeric]
        return [cls(1.0), cls(0.5, 0.5, name_list(names[:1]))]

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        attributes = categorical(self, dataset.schema, names_in(self.attributes))
        names, sizes = [each.name for each in attributes], [len(each.categories.values) for each in attributes]
        size = prod(sizes)
        if size > MOST:
            raise SanitizationError(
                f"{self!r}: {', '.join(names)} have {size:,} combinations, and 2^40 can be drawn from. Name fewer in "
                "`attributes`."
            )
        positions: Any = np.ravel_multi_index([each.categories.codes(table[each.name]) for each in attributes], sizes)
        positions = self._drawn(positions, size, rng)
        for each, codes in zip(attributes, np.unravel_index(positions, sizes), strict=True):
            table[each.name] = of_codes(codes, each.categories.values)
        whole = Diagonal(kept(size, self.epsilon), size, "RAN-GD" if self.spread else "gamma-diagonal matrix")
        joint = Jointly(tuple(names), tuple(sizes), whole) if len(names) > 1 else None
        laws = [whole.marginal(each, name=whole.name, together=joint) for each in sizes]
        facts: Facts = {"noisy": dict(zip(names, laws, strict=True))}
        if exact(rng) is None and not self.spread:
            facts["promise"] = Promise.together(self.epsilon, names, [name for name in table if name not in names])
        return table, facts

    def _drawn(self, positions: IntArray, size: int, rng: Generator) -> IntArray:
        if not self.spread:
            return response(positions, size, self.epsilon, rng=exact(rng))
        diagonal = kept(size, self.epsilon)
        if diagonal * (1 + self.spread) > 1:
            raise SanitizationError(
                f"{self!r}: the diagonal is {diagonal:.4g}, and {self.spread:g} of it more is no probability. Lower "
                f"spread to {1 / diagonal - 1:.4g} or less."
            )
        away = rng.integers(1, size, len(positions))
        own = diagonal * (1 + self.spread * rng.uniform(-1, 1, len(positions)))
        return np.where(rng.random(len(positions)) < own, positions, (positions + away) % size)


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
class Mask(_Together):
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
        if (number := sum(len(attribute.categories.values) for attribute in attributes)) > WIDEST:
            raise SanitizationError(
                f"{self!r}: a column for each possible value would be {number:,}, at most {WIDEST:,} are made, and "
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
