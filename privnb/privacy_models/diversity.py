"""Privacy models of the mix of sensitive values in a class: forms of l-diversity, and bounds on confidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from privnb.privacy_models.base import Graded, PrivacyModel, Sensitive
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import EXACT
from privnb.runtime.validation import Positive, above, at_least, between

NO_EFFECT = "every class keeps 1"
USE_FREQUENCY = f"{NO_EFFECT} if c is above 1; otherwise, use FrequencyDiversity"


def _text_or_number(name: str, value: object) -> None:
    if not (isinstance(value, str) or expect.is_number(value)):
        raise UsageError(
            f"`{name}` must be a value of the domain, text or a number; got {expect.describe_value(value)}."
        )


@dataclass(frozen=True)
class DistinctDiversity(PrivacyModel):
    """Every class has at least `l` different sensitive values.

    The level is the number of different values, from 1; a higher level protects better. This is the weakest form of
    l-diversity: nearly all members of a class may still have the same value.

    Parameters
    ----------
    l : int
        The minimum number of different values, at least 2.
    sensitive : str

    Source: Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam, "l-Diversity", ICDE 2006, section 4.
    """

    l: Annotated[int, at_least(2, NO_EFFECT)]  # noqa: E741
    sensitive: Sensitive
    word = "distinct-l"
    better = "higher"
    kind = "distinct"
    grows = True
    graded = (Graded(
        "l, distinct", "values", "values",
        "People in each class have at least this number of different values. Higher protects more.",
        {"l": 2},
    ),)  # fmt: skip

    def level(self, counts: Array, whole: Any = None) -> Array:
        """Return the number of different values in each class."""
        return (counts > 0).sum(axis=1)


@dataclass(frozen=True)
class EntropyDiversity(PrivacyModel):
    """The sensitive values in every class are at least as uncertain as `l` equally likely values.

    The level is e to the power of the class's entropy, from 1 (one value) to the number of values; a higher level
    protects better. No release reaches a higher level than the whole table.

    Parameters
    ----------
    l : float
        The minimum level, as a number of equally likely values, above 1.
    sensitive : str

    Source: Machanavajjhala et al., ICDE 2006, definition 4.1: entropy >= log l.
    """

    l: Annotated[float, above(1 + 2 * EXACT, NO_EFFECT)]  # noqa: E741
    sensitive: Sensitive
    word = "entropy-l"
    better = "higher"
    of_commonest = True
    kind = "entropy"
    graded = (Graded(
        "l, entropy", "values", "values",
        "Values in each class are at least as uncertain as this number of equally likely values. Higher protects more.",
        {"l": 2},
    ),)  # fmt: skip

    def level(self, counts: Array, whole: Any = None) -> Array:
        """Return e to the power of each class's entropy."""
        shares = counts / counts.sum(axis=1, keepdims=True)
        return np.exp(-(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=1))

    def breaking(self, counts: Array, whole: Any = None) -> Array:
        """Return the minimum share of each class that is in parts violating the model."""
        # The entropy of a class is at least the mean entropy of its parts.
        return np.clip(1 - np.log(self.level(counts)) / np.log(self.l), 0, 1)


@dataclass(frozen=True)
class RecursiveDiversity(PrivacyModel):
    """The most common value of a class occurs less than `c` times as often as the `l`-th and all rarer values together.

    The level is the count of the most common value divided by the total count of the l-th most common value and all
    rarer values; a class satisfies the model for every c above the level of the class. The level is above 0, and
    infinite if fewer than l values occur; a lower level protects better.

    Parameters
    ----------
    c : float
        The bound on the ratio of the two counts, above 0.
    l : int
        The rank from which all rarer values are counted together, at least 2; rank 1 is the most common value.
    sensitive : str

    Source: Machanavajjhala et al., ICDE 2006, definition 4.2: recursive (c, l)-diversity, r1 < c (rl + ... + rm).
    """

    c: Positive
    l: Annotated[int, at_least(2, USE_FREQUENCY)]  # noqa: E741
    sensitive: Sensitive
    word = "recursive-l"
    better = "lower"
    of_commonest = True

    def level(self, counts: Array, whole: Any = None) -> Array:
        """Return the count of each class's most common value, divided by that of the l-th and all rarer values."""
        ordered = np.sort(counts, axis=1)[:, ::-1]
        rest = ordered[:, self.l - 1 :].sum(axis=1)
        return np.where(rest > 0, ordered[:, 0] / np.maximum(rest, 1), np.inf)

    def holds(self, counts: Array, whole: Any = None) -> BoolArray:
        """Return whether the level of each class is below `c`."""
        return self.level(counts) < self.c * (1 - EXACT)


@dataclass(frozen=True)
class FrequencyDiversity(PrivacyModel):
    """At most one in `l` members of a class has the same sensitive value.

    The level is the size of the class divided by the count of its most common value, from 1; a higher level protects
    better against a guess of this value.

    Parameters
    ----------
    l : float
        The reciprocal of the largest share of members that may have the same value, above 1.
    sensitive : str

    Source: Li and Li, KDD 2009, section 2; Xiao and Tao, "Anatomy", VLDB 2006.
    """

    l: Annotated[float, above(1 + 2 * EXACT, NO_EFFECT)]  # noqa: E741
    sensitive: Sensitive
    word = "frequency-l"
    better = "higher"
    of_commonest = True
    of_members = True
    kind = "frequency"
    graded = (Graded(
        "l, frequency", "values", "values",
        "At most one in this number of people in each class has the same value. Higher protects more.", {"l": 2},
    ),)  # fmt: skip

    def level(self, counts: Array, whole: Any = None) -> Array:
        """Return the size of each class divided by the count of its most common value."""
        return counts.sum(axis=1) / counts.max(axis=1)

    def breaking(self, counts: Array, whole: Any = None) -> Array:
        """Return the minimum share of each class that is in parts violating the model."""
        return np.clip((1 / self.level(counts) - 1 / self.l) / (1 - 1 / self.l), 0, 1)


@dataclass(frozen=True)
class ConfidenceBound(PrivacyModel):
    """In every class, at most a share `h` of the members has the sensitive value `value`.

    The model is the privacy template (quasi-identifiers -> value, h). The level of a class is the share of `value`,
    from 0 to 1. A lower level protects better, but protects only this value. A bound for all quasi-identifiers together
    also holds for any subset of them.

    Parameters
    ----------
    h : float
        The largest share of the value, above 0 and below 1.
    sensitive : str
    value : str or number
        A value of the domain of `sensitive`.

    Raises
    ------
    ValueError
        If the bound is outside its range, or if the value is neither text nor a number.
    SchemaError
        If the domain of `sensitive` lacks the value.

    Source: Wang, Fung, Yu, "Handicapping Attacker's Confidence", KAIS 2007; Aggarwal and Yu 2008, section 9.4.2.
    """

    h: Annotated[float, between(0, 1 - EXACT, "every share is at most 1")]
    sensitive: Sensitive
    value: Annotated[object, _text_or_number]
    word = "confidence"
    better = "lower"
    most = 1
    of_members = True

    def columns(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return the values with `value` first."""
        return [self.value, *(value for value in values if value != self.value)]

    def exposed(self, counts: Array) -> IntArray:
        """Return, for each class, the column of `value`."""
        return np.zeros(len(counts), dtype=int)

    def level(self, counts: Array, whole: Any = None) -> Array:
        """Return the share of `value` in each class."""
        return counts[:, 0] / counts.sum(axis=1)
