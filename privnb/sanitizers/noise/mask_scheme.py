"""MASK: each category becomes a column of zeros and ones, and each zero or one may be flipped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from privnb.microdata.columns import assign_columns, make_categorical
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.provenance import PrivacyGuarantee
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Categories, Role
from privnb.microdata.treatment import Jointly, Law
from privnb.runtime.lazy import pd
from privnb.runtime.names import clean_name, parse_names
from privnb.runtime.validation import Positive
from privnb.sanitizers.base import Facts, Sanitized
from privnb.sanitizers.eligibility import require_categorical
from privnb.sanitizers.errors import SanitizationError
from privnb.sanitizers.noise.gamma_diagonal import Attributes, JointNoise
from privnb.sanitizers.noise.laws import Diagonal
from privnb.sanitizers.noise.local_noise import choose_source
from privnb.sanitizers.noise.mechanisms import keep_probability, randomize_response
from privnb.tables.reading import MOST

BITS = ("0", "1")


@dataclass(frozen=True)
class OneHot(Law):
    """The law of the noise in the columns of one attribute; two records differ in at most two of these columns.

    Parameters
    ----------
    epsilon : float
        The epsilon of the attribute, which is twice the epsilon of a column.
    """

    epsilon: float

    def __str__(self) -> str:
        return f"flips of an attribute's zeros and ones, epsilon {self.epsilon:g}"

    def amplification(self, size: int) -> float:
        """Return the largest ratio of the likelihoods of a published value for two true values."""
        return float(np.exp(self.epsilon))


@dataclass(frozen=True)
class MASK(JointNoise):
    """Write each categorical quasi-identifier as columns of zeros and ones, and flip these at random.

    Each value of the public domain has one column, and all columns have the same probability p that a zero or one is
    kept. Two records of M attributes differ in at most 2 M of these columns, so gamma = e^epsilon = (p / (1 - p))^(2
    M): epsilon is spent once per record. A published row may have several ones for an attribute, or only zeros. The
    attributes themselves are published as `*`. Epsilon is promised only with `rng=None`.

    Parameters
    ----------
    epsilon : float
        The epsilon of a record, above 0; a smaller epsilon flips more cells.
    attributes : str
        Names of attributes, separated by commas. By default, these are all quasi-identifiers with two or more
        categories. Together, they may have at most 1,000 possible values.

    Source: Rizvi and Haritsa, "Maintaining Data Privacy in Association Rule Mining", VLDB 2002 (flips); Agrawal and
    Haritsa, ICDE 2005 (p for a gamma); Aggarwal and Yu 2008, eq. 10.10. In that equation, p is the probability of
    keeping a cell, but in the prose of section 10.3, p is the probability of flipping it.
    """

    epsilon: Positive
    attributes: Attributes = ""
    title = "MASK"

    @property
    def key(self) -> str:
        """The text from which draws are derived."""
        return repr(self).replace("MASK(", "Mask(", 1)

    def _sanitize(self, dataset: Microdata, table: pd.DataFrame, rng: Generator) -> Sanitized:
        attributes = require_categorical(self, dataset.schema, parse_names(self.attributes))
        widest = max(attributes, key=lambda attribute: len(attribute.categories.values))
        if (number := sum(len(attribute.categories.values) for attribute in attributes)) > MOST:
            raise SanitizationError(
                f"{self!r}: the attributes have {number:,} possible values, one column each; at most {MOST:,} are "
                f"allowed, and '{widest.name}' alone has {len(widest.categories.values):,}. Leave this column out of "
                "`attributes`, or give its public domain coarser values."
            )
        each, new, laws = self.epsilon / (2 * len(attributes)), [], dict[str, Law]()
        columns = {}
        for attribute in attributes:
            codes, values = attribute.categories.codes(table[attribute.name]), attribute.categories.values
            names = tuple(clean_name(f"{attribute.name}={value}") for value in values)
            joint = Jointly(names, (2,) * len(names), OneHot(2 * each))
            laws |= dict.fromkeys(names, Diagonal(keep_probability(2, each), 2, "MASK", joint))
            for place, name in enumerate(names):
                bits = randomize_response((codes == place).astype(np.int64), 2, each, rng=choose_source(rng))
                new.append(Attribute(name, Role.QUASI_IDENTIFIER, Categories(BITS)))
                columns[name] = make_categorical(bits, BITS)
            table[attribute.name] = make_categorical(np.zeros(len(table), dtype=np.int8), [SUPPRESSED])
        if len(columns) < len(new) or {*columns} & {*dataset.schema.names()}:
            raise SanitizationError(
                f"{self!r}: two columns would have the same name, which consists of attribute and value. Rename a "
                "column or a value."
            )
        table = assign_columns(table, columns)
        facts: Facts = {"new": tuple(new), "noisy": laws}
        if choose_source(rng) is None:
            rest = [name for name in dataset.schema.published if dataset.schema[name] not in attributes]
            facts["promise"] = PrivacyGuarantee.together(self.epsilon, list(columns), rest)
        return table, facts
