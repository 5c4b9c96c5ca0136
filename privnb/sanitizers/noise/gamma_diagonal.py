"""FRAPP's gamma-diagonal matrix: a record's categories kept together, or replaced together."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Annotated, Any, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import of_codes
from privnb.microdata.provenance import Promise
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Schema
from privnb.microdata.treatment import Jointly
from privnb.runtime.arrays import IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.names import name_list, names_in
from privnb.runtime.validation import Positive, Probability, instead
from privnb.sanitizers.base import Facts, Sanitized, Sanitizer
from privnb.sanitizers.eligibility import categorical
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.noise.laws import Diagonal
from privnb.sanitizers.noise.local_noise import exact
from privnb.sanitizers.noise.mechanisms import kept, response

MOST = 2**40  # joint values: with more, the chance of the true one has too few digits as a float

# Attributes with commas between; empty: all that fit.
Attributes = Annotated[str, instead(str, "Name them with commas between, or give ''.")]


class Together(Sanitizer):
    """One that spends epsilon once a record, on all its categories."""

    treatment = "noisy"
    letters = requires = ("epsilon",)
    spends_per = "record"
    changes = "categories"
    randomized = True
    coded = True
    in_parts = True


@dataclass(frozen=True)
class GammaDiagonal(Together):
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
