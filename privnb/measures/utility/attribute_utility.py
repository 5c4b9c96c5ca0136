"""What tables tell a user about their attributes, in bits, whatever the user wants them for.

As in Askari, Safavi-Naini, Barker, CODASPY 2012, section 4.2. An attribute is useful as far as it, and what goes with
it, is not evenly spread. Functions of `Tables`: each gives one number a table, array (tables,).

H_max is the logarithm of how many values the table *can* hold: of a generalized table, the labels of its level. The
paper leaves it open. With the original domain, suppressing an attribute would raise its utility: all rows alike look
like much knowledge among many values. With the labels, it has none. Where groups are of unequal size a generalized
table can still look more useful than its original (see `privnb.papers.askari_2012.enumeration.errata`).
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from privnb.measures.base import measure
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError


def entropy(tables: Any, *names: str) -> FloatArray:
    """H(A, B, ...): how evenly the rows are spread over combinations of values, in bits; 0 without names."""
    from scipy.special import entr

    counts = tables.counted(*names)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return entr(shares).sum(axis=1) / math.log(2)


def conditional_entropy(tables: Any, name: str, *given: str) -> FloatArray:
    """H(A | B, ...): how uncertain one attribute is for those who know the others of a person, in bits."""
    return np.maximum(entropy(tables, name, *given) - entropy(tables, *given), 0)  # rounding must not fall below


def utility(tables: Any, name: str, *given: str) -> FloatArray:
    """U(A) = H_max(A) - H(A | B, ...): how much the table tells of one attribute, using others, in bits.

    0 (all values alike likely) to log2 of the number of values that it can hold. Source: eq. 8, 9 and 11.
    """
    return math.log2(len(tables.domains[name])) - conditional_entropy(tables, name, *given)


def largest_utility(tables: Any, name: str) -> FloatArray:
    """U_max(A): the utility of one attribute using all others, in bits. Source: eq. 13."""
    return utility(tables, name, *(other for other in tables.domains if other != name))


@measure(kind="utility", better="higher", bounds=(-math.inf, math.inf), unit="bits")
def average_utility(tables: Any, weights: Mapping[str, float] | None = None, user: Any = None) -> FloatArray:
    """How much a table tells of an attribute, mean over attributes.

    Utility_T: the mean of U_max over attributes. `weights`: P(A), `{name: how likely it is to be of interest}`, adding
    up to 1; None: all attributes alike. `user`: what a user knew before, Tables of one joint distribution over the same
    domains; what it discloses of each attribute is taken off (eq. 17-19), so the result can be below 0. None: nothing,
    all combinations alike likely.

    Erratum: a difference of entropies does not see what a user had wrong. Who was as sure of another value gains 0.

    Source: Askari et al., CODASPY 2012, section 4.2, eq. 14.
    """
    weights = dict.fromkeys(tables.domains, 1 / len(tables.domains)) if weights is None else weights
    if set(weights) - set(tables.domains) or not math.isclose(sum(weights.values()), 1):
        raise UsageError(f"weights must add up to 1 over attributes of {list(tables.domains)}, got {weights}.")
    if user is not None and (len(user) != 1 or user.domains != tables.domains):
        raise UsageError(f"a user's knowledge is one joint distribution over {tables}, got {user}.")
    known = 0 if user is None else average_utility(user, weights)
    found: Any = sum(weight * largest_utility(tables, name) for name, weight in weights.items())
    return found - known
