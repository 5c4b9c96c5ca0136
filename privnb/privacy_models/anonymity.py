"""How many people share a class: k-anonymity and its relatives."""

from dataclasses import dataclass

from privnb.privacy_models.base import PrivacyModel
from privnb.privacy_models.grading import Graded
from privnb.runtime import expect

PEOPLE = (expect.whole, "k", 2, "1 protects nobody")


def check_k(k):
    """Raise ValueError unless `k` is a whole number of at least 2."""
    expect.whole("k", k, *PEOPLE[2:])


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every record shares its quasi-identifiers with at least `k` - 1 others.

    The level is the size of the class, from 1; higher protects more against linking a record to a person, and says
    nothing about what all members of a class have in common. Raises ValueError unless k is a whole number >= 2.
    Source: Samarati and Sweeney, SRI-CSL-98-04, 1998.
    """

    k: int
    sensitive = None
    word = "k"
    better = "higher"
    of_members = True
    limits = (PEOPLE,)
    grows = True
    graded = (Graded(
        "k achieved", "people", "people", "Nobody can be linked to fewer people than this. Higher is safer.",
        {"k": 2},
    ),)  # fmt: skip

    def level(self, counts, whole=None):
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

    alpha: float
    k: int
    sensitive: str
    word = "alpha"
    better = "lower"
    of_members = True
    limits = ((expect.share, "alpha"), PEOPLE)
    # Recursive (c, 2)-diversity would say no more than this: c = alpha / (1 - alpha).
    graded = (Graded(
        "alpha", "values", "share", "So many of a class share one value: 1 / (l, frequency). Lower is safer.",
        {"alpha": 1, "k": 2},
    ),)  # fmt: skip

    def exposed(self, counts):
        return counts.argmax(axis=1)

    def level(self, counts, whole=None):
        return counts.max(axis=1) / counts.sum(axis=1)

    def holds(self, counts, whole=None):
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

    p: int
    k: int
    sensitive: str
    word = "p"
    better = "higher"
    of_members = True
    limits = (PEOPLE, (expect.whole, "p", 2, "1 asks for nothing"))
    grows = True

    def level(self, counts, whole=None):
        return (counts > 0).sum(axis=1)

    def holds(self, counts, whole=None):
        return (counts.sum(axis=1) >= self.k) & super().holds(counts)
