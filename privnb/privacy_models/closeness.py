"""Privacy models of the distance between the sensitive values in a class and those in the whole table."""

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
    """Return the shares of the values in each class and in the whole table."""
    return counts / counts.sum(axis=1, keepdims=True), whole / whole.sum()


def _distance(name: str, value: object) -> None:
    named = isinstance(value, str) and value in ("equal", "ordered")
    if not (named or isinstance(value, Taxonomy)):
        raise UsageError(f'`{name}` must be "equal", "ordered" or a Taxonomy; got {expect.describe_value(value)}.')


@dataclass(frozen=True)
class TCloseness(PrivacyModel):
    """Every class is within `t` of the table's distribution of sensitive values, by the earth mover's distance.

    The level is the distance, from 0 (the class reveals nothing) to 1; a lower level protects better.

    Parameters
    ----------
    t : float
        The largest distance, above 0 and below 1.
    sensitive : str
    distance : str or Taxonomy
        The distance between two values. With "equal", the distance between any two different values is 1. With
        "ordered", the distance is the difference between the ranks of the two values in the order of the domain,
        divided by (number of values that occur - 1). With a `Taxonomy`, the distance is the height of the lowest common
        ancestor of the two values, divided by the height of the root.

    Raises
    ------
    ValueError
        If the bound is outside its range, or if the distance is unknown.

    Source: Li, Li, Venkatasubramanian, "t-Closeness", ICDE 2007, for the model and for the distances between numerical
    and between categorical values.
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
            "In the worst class, this share of people would need another value to match the table. Lower protects "
            "more.",
            {"t": 0.5},
        ),
        Graded(
            "t, ordered distance", "order", "share",
            "This is the same share of people, but a move to a near value counts less. Lower protects more.",
            {"t": 0.5, "distance": "ordered"},
        ),
    )  # fmt: skip

    def __str__(self) -> str:
        how = {"equal": "", "ordered": "ordered "}[self.distance] if isinstance(self.distance, str) else "hierarchical "
        return f"t={self.t} {how}{self.sensitive}"

    def columns(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return the values that occur or, if the distance is a taxonomy, all leaves of the taxonomy."""
        if isinstance(self.distance, str):
            return values
        columns = list(self.distance.leaves)
        for value, position in zip(values, self.distance.codes(values), strict=True):
            columns[position] = value
        return columns

    def level(self, counts: Array, whole: Any) -> Array:
        """Return the distance of each class from the whole table."""
        surplus = np.subtract(*shares(counts, whole))
        if self.distance == "equal":
            return np.abs(surplus).sum(axis=1) / 2
        if self.distance == "ordered":
            return np.abs(np.cumsum(surplus, axis=1)[:, :-1]).sum(axis=1) / max(counts.shape[1] - 1, 1)
        return self._moved(surplus)

    def _moved(self, surplus: Array) -> Array:
        """Return the earth mover's distance along a taxonomy.

        If the surplus of one child of a node cancels the deficit of another child, the share that is moved travels the
        distance h / H, where h is the height of the node and H is the height of the taxonomy.
        """
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
    """Every class is within `t` of the table's distribution of sensitive values, by the Jensen-Shannon divergence.

    The level is the divergence in nats, from 0 (the class reveals nothing) to ln 2; a lower level protects better.

    Parameters
    ----------
    t : float
        The largest divergence in nats, above 0 and below ln 2.
    sensitive : str

    Source: Li and Li, KDD 2009, section 4.1 (natural logarithm, as the value 0.692 in the paper shows).
    """

    t: Annotated[float, between(0, math.log(2) - EXACT, "every class lies within ln 2")]
    sensitive: Sensitive
    word = "jensen-shannon-t"
    better = "lower"
    kind = "Jensen-Shannon"
    most = math.log(2)
    graded = (Graded(
        "Jensen-Shannon", "shares", "nats",
        "This is the largest divergence of a class from the table, from 0 to ln 2 = 0.693. Lower protects more.",
        {"t": 0.5},
    ),)  # fmt: skip

    def level(self, counts: Array, whole: Any) -> Array:
        """Return the Jensen-Shannon divergence of each class from the whole table, in nats."""
        return jensen_shannon(*shares(counts, whole))


def jensen_shannon(p: Array, q: Array) -> Array:
    """Return the Jensen-Shannon divergence, in nats, of each row of p from the corresponding row of q.

    The function computes logarithms only for values that occur in p. A value that p lacks adds ln 2 times the value's
    share in q to the sum.
    """
    q = np.broadcast_to(q, p.shape)
    rows, values = np.nonzero(p > 0)
    own, other = p[rows, values], q[rows, values]
    middle = (own + other) / 2
    terms = own * np.log(own / middle) + other * np.log(np.where(other > 0, other, middle) / middle)
    return (np.bincount(rows, terms, minlength=len(p)) + math.log(2) * q.sum(axis=1, where=p == 0)) / 2


@dataclass(frozen=True)
class DeltaDisclosure(PrivacyModel):
    """The share of each sensitive value in a class differs from its share in the table by a factor below e^`delta`.

    The level is the largest |ln(share in the class / share in the table)|, from 0; it is infinite if a value of the
    table is absent from the class. A lower level protects better. The level of each class must be strictly below the
    bound.

    Parameters
    ----------
    delta : float
        The bound on the absolute logarithm, above 0.
    sensitive : str

    Source: Brickell and Shmatikov, KDD 2008, definition 1 (natural logarithm: see their lemma 1 and table 3).
    """

    delta: Positive
    sensitive: Sensitive
    word = "delta"
    better = "lower"
    graded = (Graded(
        "delta", "shares", "nats",
        "This is the largest |ln(share in a class / share in the table)| of a value; it is inf if a class lacks a "
        "value. Lower protects more.",
        {"delta": 1},
    ),)  # fmt: skip

    def level(self, counts: Array, whole: Any) -> Array:
        """Return the largest |ln(share in the class / share in the table)| of each class."""
        occurs = whole > 0
        p, q = shares(counts[:, occurs], whole[occurs])
        return np.where(p > 0, np.abs(np.log(np.where(p > 0, p, 1) / q)), np.inf).max(axis=1)

    def holds(self, counts: Array, whole: Any = None) -> BoolArray:
        """Return whether the level of each class is below `delta`."""
        return self.level(counts, whole) < self.delta - EXACT


@dataclass(frozen=True)
class BasicBetaLikeness(PrivacyModel):
    """The gain of each sensitive value's share in a class over its share q in the table is at most `beta` times q.

    The level is the largest (share in the class - share in the table) / share in the table, from 0; a lower level
    protects better. Values that are rarer in the class than in the table have no effect.

    Parameters
    ----------
    beta : float
        The largest relative gain, above 0; with 1, a value may be at most twice as common in a class as in the table.
    sensitive : str

    Source: Cao and Karras, "Publishing Microdata with a Robust Privacy Guarantee", VLDB 2012, definition 2.
    """

    beta: Positive
    sensitive: Sensitive
    word = "beta"
    better = "lower"
    graded = (Graded(
        "beta, basic", "shares", "times",
        "This is the largest relative gain of a value's share in a class over the table; 1 is twice as common. Lower "
        "protects more.",
        {"beta": 1},
    ),)  # fmt: skip

    def level(self, counts: Array, whole: Any) -> Array:
        """Return the largest relative gain of a value's share in each class."""
        return np.maximum(_gain(counts, whole)[0], 0).max(axis=1)


@dataclass(frozen=True)
class EnhancedBetaLikeness(BasicBetaLikeness):
    """The relative gain of each value's share is at most `beta`, and at most -ln(the value's share in the whole table).

    The model is stricter than `BasicBetaLikeness` for common values. The level is the smallest beta that the class
    satisfies, from 0; it is infinite if the relative gain of a value is more than -ln(the value's share in the table),
    because no beta allows such a gain. A lower level protects better.

    Parameters
    ----------
    beta : float
        The largest relative gain, above 0.
    sensitive : str

    Source: Cao and Karras, VLDB 2012, definition 3: relative gain <= min(beta, -ln q).
    """

    word = "enhanced-beta"
    kind = "enhanced"
    graded = (Graded(
        "beta, enhanced", "shares", "times",
        "This is the same gain, but inf if it exceeds -ln of the value's share in the table. Lower protects more.",
        {"beta": 1},
    ),)  # fmt: skip

    def level(self, counts: Array, whole: Any) -> Array:
        """Return the smallest beta that each class satisfies, or infinity."""
        gain, q = _gain(counts, whole)
        return np.where(gain <= -np.log(q) + EXACT, np.maximum(gain, 0), np.inf).max(axis=1)


def _gain(counts: Array, whole: Any) -> tuple[Array, Array]:
    """Return the relative gain of each value's share in a class over its share in the table, and the table's shares."""
    occurs = whole > 0
    p, q = shares(counts[:, occurs], whole[occurs])
    return (p - q) / q, q
