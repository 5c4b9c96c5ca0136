"""FRAPP's gamma-diagonal matrix: the categories of a record are kept together, or replaced together."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Annotated, Any, Self

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import make_categorical
from privnb.microdata.provenance import PrivacyGuarantee
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Schema
from privnb.microdata.treatment import Jointly
from privnb.runtime.arrays import IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.names import join_names, parse_names
from privnb.runtime.validation import Positive, Probability, instead
from privnb.sanitizers.base import Facts, Sanitized, Sanitizer
from privnb.sanitizers.eligibility import require_categorical
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.noise.laws import Diagonal
from privnb.sanitizers.noise.local_noise import choose_source
from privnb.sanitizers.noise.mechanisms import keep_probability, randomize_response

MAX_COMBINATIONS = 2**40  # with more combinations, the probability of the true one is too small for a float

# # Names of attributes, separated by commas. If the text is empty, all suitable attributes are meant.
Attributes = Annotated[str, instead(str, "Name them separated by commas, or give ''.")]


class JointNoise(Sanitizer):
    """A mechanism that spends epsilon once per record, on all categories of the record together."""

    treatment = "noisy"
    letters = requires = ("epsilon",)
    spends_per = "record"
    changes = "categories"
    randomized = True
    coded = True
    in_parts = True


@dataclass(frozen=True)
class GammaDiagonal(JointNoise):
    """Keep all categorical quasi-identifiers of a record together, or replace them with another combination.

    Among n combinations of the public domains, the true combination is gamma = e^epsilon times as likely as any single
    other combination: its probability is gamma / (gamma + n - 1). A record spends epsilon once for any number of
    attributes, whereas randomized response spends epsilon once for each attribute. No other symmetric matrix with this
    gamma lets users reconstruct the combinations with less error. The release keeps most true combinations only if n is
    small compared with gamma. Epsilon is promised only with `rng=None` and without `spread`.

    Parameters
    ----------
    epsilon : float
        The epsilon of a record, above 0; a smaller epsilon keeps fewer records. For a gamma of 19, epsilon is ln 19,
        about 2.94.
    spread : float
        A share from 0 to 1. Above 0, the matrix is randomized (RAN-GD): a diagonal is drawn uniformly for each record,
        within plus or minus this share of the stated diagonal, and only this range is public. An adversary can then
        infer only ranges of probabilities about a single record; on average, the matrix is the same.
    attributes : str
        The attributes that are drawn together, separated by commas. By default, these are all quasi-identifiers with
        two or more categories.

    Raises
    ------
    SanitizationError
        If there are no categories, if a name is unknown, if there are more than 2^40 combinations, or if `spread`
        raises the diagonal above 1.

    Source: Agrawal and Haritsa, "A Framework for High-Accuracy Privacy-Preserving Mining", ICDE 2005, sections 3 and 4;
    Aggarwal and Yu 2008, section 10.4.
    """

    epsilon: Positive
    spread: Probability = 0.0
    attributes: Attributes = ""
    title = "FRAPP, gamma-diagonal"

    @classmethod
    def contract_examples(cls, schema: Schema) -> list[Self]:
        """Return sanitizers for the contract tests."""
        names = [name for name in schema.quasi_identifiers if not schema[name].numeric]
        return [cls(1.0), cls(0.5, 0.5, join_names(names[:1]))]

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        attributes = require_categorical(self, dataset.schema, parse_names(self.attributes))
        names, sizes = [each.name for each in attributes], [len(each.categories.values) for each in attributes]
        size = prod(sizes)
        if size > MAX_COMBINATIONS:
            raise SanitizationError(
                f"{self!r}: {', '.join(names)} have {size:,} combinations; at most 2^40 are allowed. Name fewer "
                "columns in `attributes`."
            )
        positions: Any = np.ravel_multi_index([each.categories.codes(table[each.name]) for each in attributes], sizes)
        positions = self._drawn(positions, size, rng)
        for each, codes in zip(attributes, np.unravel_index(positions, sizes), strict=True):
            table[each.name] = make_categorical(codes, each.categories.values)
        whole = Diagonal(
            keep_probability(size, self.epsilon), size, "RAN-GD" if self.spread else "gamma-diagonal matrix"
        )
        joint = Jointly(tuple(names), tuple(sizes), whole) if len(names) > 1 else None
        laws = [whole.marginal(each, name=whole.name, together=joint) for each in sizes]
        facts: Facts = {"noisy": dict(zip(names, laws, strict=True))}
        if choose_source(rng) is None and not self.spread:
            facts["promise"] = PrivacyGuarantee.together(
                self.epsilon, names, [name for name in table if name not in names]
            )
        return table, facts

    def _drawn(self, positions: IntArray, size: int, rng: Generator) -> IntArray:
        if not self.spread:
            return randomize_response(positions, size, self.epsilon, rng=choose_source(rng))
        diagonal = keep_probability(size, self.epsilon)
        if diagonal * (1 + self.spread) > 1:
            raise SanitizationError(
                f"{self!r}: the diagonal is {diagonal:.4g}, which `spread` would raise above 1. Lower `spread` "
                f"to {1 / diagonal - 1:.4g} or less."
            )
        away = rng.integers(1, size, len(positions))
        own = diagonal * (1 + self.spread * rng.uniform(-1, 1, len(positions)))
        return np.where(rng.random(len(positions)) < own, positions, (positions + away) % size)
