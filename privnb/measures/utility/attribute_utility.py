"""The utility of attributes for any purpose of a user, measured by the entropy of the attributes in bits.

The module follows Askari, Safavi-Naini and Barker, CODASPY 2012, section 4.2. An attribute is useful if its values, or
the combinations of its values with those of other attributes, are unevenly distributed. The functions take a `Tables`
object and return one number for each table, as an array (tables,).

H_max is the logarithm of the number of values that the table *can* hold; for a generalized table, these values are the
labels of the level. The paper does not define H_max. If H_max were computed from the original domain, suppression would
increase the utility of an attribute, because equal values look informative if many values are possible. If H_max is
computed from the labels, the utility of a suppressed attribute is 0. If groups have unequal sizes, a generalized table
can still have a larger utility than its original (see `privnb.papers.askari_2012.enumeration.errata`).
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from privnb.measures.base import measure
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError


def joint_entropy(tables: Any, *names: str) -> FloatArray:
    """Return the joint entropy H(A, B, ...) of the attributes `names`, in bits; 0 without names."""
    from scipy.special import entr

    counts = tables.counted(*names)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return entr(shares).sum(axis=1) / math.log(2)


def conditional_entropy(tables: Any, name: str, *given: str) -> FloatArray:
    """Return H(A | B, ...), the entropy, in bits, of an attribute if the attributes `given` are known."""
    return np.maximum(
        joint_entropy(tables, name, *given) - joint_entropy(tables, *given), 0
    )  # rounding must not go below 0


def utility(tables: Any, name: str, *given: str) -> FloatArray:
    """Return U(A) = H_max(A) - H(A | B, ...), the utility, in bits, of an attribute if attributes `given` are known.

    The utility is 0 if all values are equally likely, and at most log2 of the number of possible values.

    Source: eq. 8, 9 and 11.
    """
    return math.log2(len(tables.domains[name])) - conditional_entropy(tables, name, *given)


def largest_utility(tables: Any, name: str) -> FloatArray:
    """Return U_max(A), the utility, in bits, of one attribute if all other attributes are known. Source: eq. 13."""
    return utility(tables, name, *(other for other in tables.domains if other != name))


@measure(
    kind="utility",
    better="higher",
    bounds=(-math.inf, math.inf),
    sentence="A table gives this amount of information about an attribute, as a mean over attributes. Higher is "
    "better.",
    unit="bits",
)
def average_utility(tables: Any, weights: Mapping[str, float] | None = None, user: Any = None) -> FloatArray:
    """Return Utility_T, the weighted mean of U_max over attributes.

    Erratum: a difference of entropies ignores false beliefs. If a user was certain of a wrong value and becomes equally
    certain of the true value, the difference is 0.

    Parameters
    ----------
    tables : Tables
    weights : dict of str to float, optional
        P(A), the probability that each attribute is of interest; the probabilities add up to 1. If None, all attributes
        are equally likely to be of interest.
    user : Tables, optional
        A joint distribution over the same domains, which the user knows in advance. The user's information about each
        attribute is subtracted (eq. 17-19), so the result can be below 0. If None, all combinations are equally likely
        to the user.

    Returns
    -------
    float array (tables,)

    Source: Askari et al., CODASPY 2012, section 4.2, eq. 14.
    """
    weights = dict.fromkeys(tables.domains, 1 / len(tables.domains)) if weights is None else weights
    if set(weights) - set(tables.domains) or not math.isclose(sum(weights.values()), 1):
        raise UsageError(f"`weights` must add up to 1 over the attributes {list(tables.domains)}; got {weights}.")
    if user is not None and (len(user) != 1 or user.domains != tables.domains):
        raise UsageError(f"`user` must be one joint distribution over {tables}; got {user}.")
    known = 0 if user is None else average_utility(user, weights)
    found: Any = sum(weight * largest_utility(tables, name) for name, weight in weights.items())
    return found - known
