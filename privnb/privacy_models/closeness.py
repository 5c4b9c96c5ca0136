"""How far the sensitive values of a class lie from the whole table's: what a class tells about its members."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, cast

import numpy as np

from privnb.microdata.hierarchy import Taxonomy
from privnb.privacy_models.base import Graded, PrivacyModel, Sensitive
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray
from privnb.runtime.errors import UsageError
from privnb.runtime.tolerances import EXACT
from privnb.runtime.validation import Positive, between


def shares(counts: Array, whole: Any) -> tuple[Array, Array]:
    """Each class's and the whole table's shares of the values."""
    return counts / counts.sum(axis=1, keepdims=True), whole / whole.sum()


def _distance(name: str, value: object) -> None:
    named = isinstance(value, str) and value in ("equal", "ordered")
    if not (named or isinstance(value, Taxonomy)):
        raise UsageError(f'{name} must be "equal", "ordered" or a Taxonomy, got {expect.found(value)}.')


@dataclass(frozen=True)
class TCloseness(PrivacyModel):
    """Every class's distribution of `sensitive` lies within `t` of the whole table's, by the earth mover's distance.

    The level is the distance, 0 (the class tells nothing) to 1; lower protects more.

    Parameters
    ----------
    t : float
        Above 0 and below 1: every class lies within 1.
    sensitive : str
    distance : str or Taxonomy
        How far apart two values are. "equal": any two are 1 apart; "ordered": ranks apart / (values that occur - 1), in
        the order of the domain; a `Taxonomy`: height of their common ancestor / height of the root.

    Raises
    ------
    ValueError
        For a bound outside its range, and for another distance.

    Source: Li, Li, Venkatasubramanian, "t-Closeness", ICDE 2007: its distances for numerical and for categorical
    attributes.
    """

    t: Annotated[float, between(0, 1 - EXACT, "every class lies within 1")]
    sensitive: Sensitive
    distance: Annotated[str | Taxonomy, _distance] = "equal"
    word = "t"
    better = "lower"
    most = 1
    graded = (
        Graded(
            "t, equal distance", "shares", "share",
            "The largest share of a class that would need another value to match the table. Lower protects more.",
            {"t": 0.5},
        ),
        Graded(
            "t, ordered distance", "order", "share",
            "The same; near values count for less than distant ones. Lower protects more.",
            {"t": 0.5, "distance": "ordered"},
        ),
    )  # fmt: skip

    def __str__(self) -> str:
        how = {"equal": "", "ordered": "ordered "}[self.distance] if isinstance(self.distance, str) else "hierarchical "
        return f"t={self.t} {how}{self.sensitive}"

    def columns(self, values: Sequence[Any]) -> Sequence[Any]:
        if isinstance(self.distance, str):
            return values
        columns = list(self.distance.leaves)
        for value, position in zip(values, self.distance.codes(values), strict=True):
            columns[position] = value
        return columns

    def level(self, counts: Array, whole: Any) -> Array:
        surplus = np.subtract(*shares(counts, whole))
        if self.distance == "equal":
            return np.abs(surplus).sum(axis=1) / 2
        if self.distance == "ordered":
            return np.abs(np.cumsum(surplus, axis=1)[:, :-1]).sum(axis=1) / max(counts.shape[1] - 1, 1)
        return self._moved(surplus)

    def _moved(self, surplus: Array) -> Array:
        """What evens out inside a node at height h of H travels h / H: whatever its children lack or have too much."""
        tree, moved = cast(Taxonomy, self.distance), np.zeros(len(surplus))
        for height in range(1, tree.height + 1):
            below, above = tree.groups[height - 1], tree.groups[height]
            first = np.flatnonzero(np.diff(below, prepend=-1))
            children = np.add.reduceat(surplus, first, axis=1)
            parents = np.flatnonzero(np.diff(above[first], prepend=-1))
            much = np.add.reduceat(np.maximum(children, 0), parents, axis=1)
            little = np.add.reduceat(np.maximum(-children, 0), parents, axis=1)
            moved += np.minimum(much, little).sum(axis=1) * height / tree.height
        return moved


@dataclass(frozen=True)
class JensenShannonCloseness(PrivacyModel):
    """Every class's distribution of `sensitive` lies within `t` of the whole table's, by the Jensen-Shannon divergence.

    The level is the divergence in nats, 0 (the class tells nothing) to ln 2; lower protects more.

    Parameters
    ----------
    t : float
        Above 0 and below ln 2: every class lies within that. In nats.
    sensitive : str

    Source: Li and Li, KDD 2009, section 4.1 (natural logarithm, as their 0.692 shows).
    """

    t: Annotated[float, between(0, math.log(2) - EXACT, "every class lies within ln 2")]
    sensitive: Sensitive
    word = "jensen-shannon-t"
    better = "lower"
    kind = "Jensen-Shannon"
    most = math.log(2)
    graded = (Graded(
        "Jensen-Shannon", "shares", "nats",
        "The largest divergence of a class from the table, 0 to ln 2 = 0.693. Lower protects more.", {"t": 0.5},
    ),)  # fmt: skip

    def level(self, counts: Array, whole: Any) -> Array:
        return jensen_shannon(*shares(counts, whole))


def jensen_shannon(p: Array, q: Array) -> Array:
    """Jensen-Shannon divergence of the rows of p from those of q, in nats.

    Logarithms are of what p has alone: a value that it lacks adds ln 2 of its share in q to their sum.
    """
    q = np.broadcast_to(q, p.shape)
    rows, values = np.nonzero(p > 0)
    own, other = p[rows, values], q[rows, values]
    middle = (own + other) / 2
    terms = own * np.log(own / middle) + other * np.log(np.where(other > 0, other, middle) / middle)
    return (np.bincount(rows, terms, minlength=len(p)) + math.log(2) * q.sum(axis=1, where=p == 0)) / 2


@dataclass(frozen=True)
class DeltaDisclosure(PrivacyModel):
    """In no class is a value of `sensitive` e to the `delta` times as common, or as rare, as in the whole table.

    The level is the largest |ln(share in the class / share in the table)|, from 0; infinite where a value of the table
    is absent from the class; lower protects more. The bound is strict.

    Parameters
    ----------
    delta : float
        Above 0.
    sensitive : str

    Source: Brickell and Shmatikov, KDD 2008, definition 1 (natural logarithm: see their lemma 1 and table 3).
    """

    delta: Positive
    sensitive: Sensitive
    word = "delta"
    better = "lower"
    graded = (Graded(
        "delta", "shares", "nats",
        "The largest ln ratio of a value's share in a class and the table; inf: a class lacks it. Lower protects more.",
        {"delta": 1},
    ),)  # fmt: skip

    def level(self, counts: Array, whole: Any) -> Array:
        occurs = whole > 0
        p, q = shares(counts[:, occurs], whole[occurs])
        return np.where(p > 0, np.abs(np.log(np.where(p > 0, p, 1) / q)), np.inf).max(axis=1)

    def holds(self, counts: Array, whole: Any = None) -> BoolArray:
        return self.level(counts, whole) < self.delta - EXACT


@dataclass(frozen=True)
class BasicBetaLikeness(PrivacyModel):
    """No value of `sensitive` is more than `beta` times more common in a class than in the whole table, relatively.

    The level is the largest (share in the class - share in the table) / share in the table, from 0; lower protects
    more. What becomes rarer is no gain.

    Parameters
    ----------
    beta : float
        Above 0; 1: at most twice as common.
    sensitive : str

    Source: Cao and Karras, "Publishing Microdata with a Robust Privacy Guarantee", VLDB 2012, definition 2.
    """

    beta: Positive
    sensitive: Sensitive
    word = "beta"
    better = "lower"
    graded = (Graded(
        "beta, basic", "shares", "times",
        "The largest gain of a value's share in a class over that in the table; 1: twice. Lower protects more.",
        {"beta": 1},
    ),)  # fmt: skip

    def level(self, counts: Array, whole: Any) -> Array:
        return np.maximum(_gain(counts, whole)[0], 0).max(axis=1)


@dataclass(frozen=True)
class EnhancedBetaLikeness(BasicBetaLikeness):
    """As `BasicBetaLikeness`, but a common value may gain less: at most -ln of its share in the whole table.

    The level is the smallest beta that the class keeps, from 0; infinite where a value gains more than -ln of its
    share, which no beta allows; lower protects more.

    Parameters
    ----------
    beta : float
        Above 0.
    sensitive : str

    Source: Cao and Karras, VLDB 2012, definition 3: relative gain <= min(beta, -ln q).
    """

    word = "enhanced-beta"
    kind = "enhanced"
    graded = (Graded(
        "beta, enhanced", "shares", "times",
        "The same; inf: a value gains more than -ln of its share of the table. Lower protects more.", {"beta": 1},
    ),)  # fmt: skip

    def level(self, counts: Array, whole: Any) -> Array:
        gain, q = _gain(counts, whole)
        return np.where(gain <= -np.log(q) + EXACT, np.maximum(gain, 0), np.inf).max(axis=1)


def _gain(counts: Array, whole: Any) -> tuple[Array, Array]:
    """How much more common each occurring value is in a class than in the table, relatively; and the table's shares."""
    occurs = whole > 0
    p, q = shares(counts[:, occurs], whole[occurs])
    return (p - q) / q, q
