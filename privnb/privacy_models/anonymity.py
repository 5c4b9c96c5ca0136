"""How many people share a class: k-anonymity and its relatives."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from privnb.microdata.schema import SchemaError
from privnb.privacy_models.base import Graded, PrivacyModel, Sensitive
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray
from privnb.runtime.errors import UsageError
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
        "k achieved", "people", "people", "An adversary links nobody to fewer people than this. Higher protects more.",
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
    of_commonest = True
    of_members = True
    # Recursive (c, 2)-diversity would say no more than this: c = alpha / (1 - alpha).
    graded = (Graded(
        "alpha", "values", "share",
        "The largest share of a class that has one value: 1 / (l, frequency). Lower protects more.",
        {"alpha": 1, "k": 2},
    ),)  # fmt: skip

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


@dataclass(frozen=True)
class OwnAnonymity(PrivacyModel):
    """Every class has at least as many records as each of its members asks for.

    The level is the size of the class by the largest k that a member asks for; from 1 on all have what they ask for,
    and higher protects more. The column of wishes is published with the release, since each claim is checked in what is
    published; leave it out of the file where a wish is a secret.

    Parameters
    ----------
    ks : tuple of int
        All that can be asked for, each from 1, and different.
    sensitive : str
        The column that holds each record's own k.

    Source: Xiao and Tao, "Personalized Privacy Preservation", SIGMOD 2006, and Gedik and Liu, ICDCS 2005, for a k of
    one's own; Aggarwal and Yu 2008, section 2.3.2.
    """

    ks: tuple[int, ...]
    sensitive: Sensitive
    better = "higher"
    of_members = True
    of_sizes = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.ks:
            raise UsageError("ks must be one k or more, got none.")
        for k in self.ks:
            expect.whole("each of ks", k, 1)
        if len({*self.ks}) < len(self.ks):
            raise UsageError(f"ks must be different, got {', '.join(map(str, self.ks))}.")
        check_k(max(self.ks))
        object.__setattr__(self, "ks", tuple(sorted(self.ks)))

    def columns(self, values: Sequence[Any]) -> Sequence[Any]:
        asked = {str(value): value for value in values}
        if unknown := sorted(asked.keys() - {str(k) for k in self.ks}):
            raise SchemaError(
                f"{self!r}: '{self.sensitive}' holds {', '.join(unknown)}, which is none of ks. Name every k asked for."
            )
        return [asked.get(str(k), k) for k in self.ks]

    def level(self, counts: Array, whole: Any = None) -> Array:
        wanted = np.array(self.ks + (1,) * (counts.shape[1] - len(self.ks)))
        return counts.sum(axis=1) / np.where(counts > 0, wanted, 1).max(axis=1)

    def holds(self, counts: Array, whole: Any = None) -> BoolArray:
        return self.level(counts) >= 1

    def __str__(self) -> str:
        return f"own k {self.sensitive}"
