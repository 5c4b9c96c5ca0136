"""How many people share a class: k-anonymity and its relatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from privnb.privacy_models.base import Graded, PrivacyModel, Sensitive
from privnb.runtime.arrays import Array, BoolArray, IntArray
from privnb.runtime.validation import Share, at_least

_people = at_least(2, "1 protects nobody")
People = Annotated[int, _people]  # how many look alike at least


def check_k(k: object) -> None:
    """Raise ValueError unless `k` is a whole number of at least 2."""
    _people("k", k)


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every record shares its quasi-identifiers with at least `k` - 1 others.

    The level is the size of the class, from 1; higher protects more against linking a record to a person, and says
    nothing about what all members of a class have in common. Raises ValueError unless k is a whole number >= 2.
    Source: Samarati and Sweeney, SRI-CSL-98-04, 1998.
    """

    k: People
    sensitive = None
    word = "k"
    better = "higher"
    of_members = True
    grows = True
    graded = (Graded(
        "k achieved", "people", "people", "Nobody can be linked to fewer people than this. Higher is safer.",
        {"k": 2},
    ),)  # fmt: skip

    def level(self, counts: Array, whole: Any = None) -> Array:
        return counts.sum(axis=1)


@dataclass(frozen=True)
class AlphaKAnonymity(PrivacyModel):
    """k-anonymity, and no value of `sensitive` belongs to more than a share `alpha` of a class.

    The level is the largest share of one value, above 0 to 1; lower protects more against guessing it. Sizes are graded
    by `KAnonymity`.

    Parameters
    ----------
    alpha : float
        Above 0, at most 1, which is k-anonymity.
    k : int
        From 2.
    sensitive : str

    Source: Wong, Li, Fu, Wang, "(alpha, k)-Anonymity", KDD 2006, general form (every value).
    """

    alpha: Share
    k: People
    sensitive: Sensitive
    word = "alpha"
    better = "lower"
    of_members = True
    # Recursive (c, 2)-diversity would say no more than this: c = alpha / (1 - alpha).
    graded = (Graded(
        "alpha", "values", "share", "So many of a class share one value: 1 / (l, frequency). Lower is safer.",
        {"alpha": 1, "k": 2},
    ),)  # fmt: skip

    def exposed(self, counts: Array) -> IntArray:
        return counts.argmax(axis=1)

    def level(self, counts: Array, whole: Any = None) -> Array:
        return counts.max(axis=1) / counts.sum(axis=1)

    def holds(self, counts: Array, whole: Any = None) -> BoolArray:
        return (counts.sum(axis=1) >= self.k) & super().holds(counts)


@dataclass(frozen=True)
class PSensitiveKAnonymity(PrivacyModel):
    """k-anonymity, and at least `p` different values of `sensitive` in every class.

    The level is the number of different values, from 1; higher protects more. Says nothing about how evenly they stand.
    Sizes are graded by `KAnonymity`.

    Parameters
    ----------
    p, k : int
        From 2.
    sensitive : str

    Source: Truta and Vinay, "Privacy Protection: p-Sensitive k-Anonymity Property", ICDE Workshops 2006.
    """

    p: Annotated[int, at_least(2, "1 asks for nothing")]
    k: People
    sensitive: Sensitive
    word = "p"
    better = "higher"
    of_members = True
    grows = True

    def level(self, counts: Array, whole: Any = None) -> Array:
        return (counts > 0).sum(axis=1)

    def holds(self, counts: Array, whole: Any = None) -> BoolArray:
        return (counts.sum(axis=1) >= self.k) & super().holds(counts)
