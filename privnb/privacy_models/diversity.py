"""How well the sensitive values of a class are mixed: l-diversity in its readings, and bounds on confidence."""

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

NOTHING = "every class keeps 1"
OTHERWISE = f"{NOTHING} where c is above 1, and FrequencyDiversity is the model where it is not"


def _text_or_number(name: str, value: object) -> None:
    if not (isinstance(value, str) or expect.is_number(value)):
        raise UsageError(f"{name} must be text or a number, a value of the domain, got {expect.found(value)}.")


@dataclass(frozen=True)
class DistinctDiversity(PrivacyModel):
    """At least `l` different values of `sensitive` in every class.

    The level is the number of different values, from 1; higher protects more. The weakest reading: one value may still
    belong to nearly all of a class.

    Parameters
    ----------
    l : int
        From 2.
    sensitive : str

    Source: Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam, "l-Diversity", ICDE 2006, section 4.
    """

    l: Annotated[int, at_least(2, NOTHING)]  # noqa: E741
    sensitive: Sensitive
    word = "distinct-l"
    better = "higher"
    kind = "distinct"
    grows = True
    graded = (Graded(
        "l, distinct", "values", "values",
        "Every class has at least this number of different values. Higher protects more.",
        {"l": 2},
    ),)  # fmt: skip

    def level(self, counts: Array, whole: Any = None) -> Array:
        return (counts > 0).sum(axis=1)


@dataclass(frozen=True)
class EntropyDiversity(PrivacyModel):
    """The values of `sensitive` in every class are at least as uncertain as `l` equally likely ones.

    The level is e to the entropy of the class, from 1 (one value) to the number of values; higher protects more. Not
    reachable beyond the level of the whole table.

    Parameters
    ----------
    l : float
        Above 1.
    sensitive : str

    Source: Machanavajjhala et al., ICDE 2006, definition 4.1: entropy >= log l.
    """

    l: Annotated[float, above(1 + 2 * EXACT, NOTHING)]  # noqa: E741
    sensitive: Sensitive
    word = "entropy-l"
    better = "higher"
    of_commonest = True
    kind = "entropy"
    graded = (Graded(
        "l, entropy", "values", "values",
        "Every class has at least the entropy of this number of equally likely values. Higher protects more.", {"l": 2},
    ),)  # fmt: skip

    def level(self, counts: Array, whole: Any = None) -> Array:
        shares = counts / counts.sum(axis=1, keepdims=True)
        return np.exp(-(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=1))

    def breaking(self, counts: Array, whole: Any = None) -> Array:
        return np.clip(1 - np.log(self.level(counts)) / np.log(self.l), 0, 1)  # an entropy is at least its parts' mean


@dataclass(frozen=True)
class RecursiveDiversity(PrivacyModel):
    """In every class the commonest value of `sensitive` stands less than `c` times as often as all from the `l`-th on.

    The level is the count of the commonest value divided by those of the l-th commonest and all rarer ones together:
    every c above it is kept. Above 0; infinite where fewer than l values occur; lower protects more.

    Parameters
    ----------
    c : float
        Above 0.
    l : int
        From 2.
    sensitive : str

    Source: Machanavajjhala et al., ICDE 2006, definition 4.2: recursive (c, l)-diversity, r1 < c (rl + ... + rm).
    """

    c: Positive
    l: Annotated[int, at_least(2, OTHERWISE)]  # noqa: E741
    sensitive: Sensitive
    word = "recursive-l"
    better = "lower"
    of_commonest = True

    def level(self, counts: Array, whole: Any = None) -> Array:
        ordered = np.sort(counts, axis=1)[:, ::-1]
        rest = ordered[:, self.l - 1 :].sum(axis=1)
        return np.where(rest > 0, ordered[:, 0] / np.maximum(rest, 1), np.inf)

    def holds(self, counts: Array, whole: Any = None) -> BoolArray:
        return self.level(counts) < self.c * (1 - EXACT)


@dataclass(frozen=True)
class FrequencyDiversity(PrivacyModel):
    """No value of `sensitive` belongs to more than one in `l` members of a class.

    The level is the size of the class divided by the count of its commonest value, from 1; higher protects more against
    guessing it.

    Parameters
    ----------
    l : float
        Above 1.
    sensitive : str

    Source: Li and Li, KDD 2009, section 2; Xiao and Tao, "Anatomy", VLDB 2006.
    """

    l: Annotated[float, above(1 + 2 * EXACT, NOTHING)]  # noqa: E741
    sensitive: Sensitive
    word = "frequency-l"
    better = "higher"
    of_commonest = True
    of_members = True
    kind = "frequency"
    graded = (Graded(
        "l, frequency", "values", "values",
        "No value belongs to more than one in this number of people of a class. Higher protects more.", {"l": 2},
    ),)  # fmt: skip

    def level(self, counts: Array, whole: Any = None) -> Array:
        return counts.sum(axis=1) / counts.max(axis=1)

    def breaking(self, counts: Array, whole: Any = None) -> Array:
        return np.clip((1 / self.level(counts) - 1 / self.l) / (1 - 1 / self.l), 0, 1)


@dataclass(frozen=True)
class ConfidenceBound(PrivacyModel):
    """At most a share `h` of any class has this `value` of `sensitive`: the privacy template (quasi-identifiers ->
    value, h).

    The level is the share, 0 to 1; lower protects more, and only for this value. A bound for all quasi-identifiers
    together is one for any part of them.

    Parameters
    ----------
    h : float
        Above 0 and below 1.
    sensitive : str
    value : str or number
        One of the domain of `sensitive`.

    Raises
    ------
    ValueError
        For a bound outside its range, and a value that is neither text nor a number.
    SchemaError
        When it is bound to a table whose domain lacks the value.

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
        return [self.value, *(value for value in values if value != self.value)]

    def exposed(self, counts: Array) -> IntArray:
        return np.zeros(len(counts), dtype=int)

    def level(self, counts: Array, whole: Any = None) -> Array:
        return counts[:, 0] / counts.sum(axis=1)
