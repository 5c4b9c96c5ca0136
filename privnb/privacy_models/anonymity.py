"""Privacy models of class sizes: k-anonymity and its relatives."""

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
People = Annotated[int, _people]  # minimum number of indistinguishable people


def check_k(k: object) -> None:
    """Raise ValueError unless `k` is a whole number of at least 2."""
    _people("k", k)


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every record shares its quasi-identifiers with at least `k` - 1 other records.

    The level is the size of the class, from 1. A higher level protects better against linking a record to a person, but
    not against learning a value that all members of a class have. Raises ValueError unless k is a whole number >= 2.

    Source: Samarati and Sweeney, SRI-CSL-98-04, 1998.
    """

    k: People
    sensitive = None
    word = "k"
    better = "higher"
    of_members = True
    grows = True
    graded = (Graded(
        "k achieved", "people", "people",
        "Each person shares their quasi-identifiers with at least this number of people, including themselves. Higher "
        "protects more.",
        {"k": 2},
    ),)  # fmt: skip

    def level(self, counts: Array, whole: Any = None) -> Array:
        """Return the size of each class."""
        return counts.sum(axis=1)


@dataclass(frozen=True)
class AlphaKAnonymity(PrivacyModel):
    """Every class has at least `k` people, and at most a share `alpha` of them has the same sensitive value.

    The level of a class is the share of its most common value, above 0 and at most 1. A lower level protects better
    against a guess of the value. `KAnonymity` grades the sizes of the classes.

    Parameters
    ----------
    alpha : float
        The largest share of a class that may have the same value, above 0 and at most 1; with 1, the model is
        k-anonymity.
    k : int
        The minimum number of people, at least 2.
    sensitive : str

    Source: Wong, Li, Fu, Wang, "(alpha, k)-Anonymity", KDD 2006; the general form, which limits the share of every
    value.
    """

    alpha: Share
    k: People
    sensitive: Sensitive
    word = "alpha"
    better = "lower"
    of_commonest = True
    of_members = True
    # Recursive (c, 2)-diversity is equivalent: c = alpha / (1 - alpha).
    graded = (Graded(
        "alpha", "values", "share",
        "In the worst class, this share of people has the same value; it is 1 / (l, frequency). Lower protects more.",
        {"alpha": 1, "k": 2},
    ),)  # fmt: skip

    def level(self, counts: Array, whole: Any = None) -> Array:
        """Return the share of the most common value in each class."""
        return counts.max(axis=1) / counts.sum(axis=1)

    def holds(self, counts: Array, whole: Any = None) -> BoolArray:
        """Return whether each class satisfies both `alpha` and `k`."""
        return (counts.sum(axis=1) >= self.k) & super().holds(counts)


@dataclass(frozen=True)
class PSensitiveKAnonymity(PrivacyModel):
    """Every class has at least `k` people and at least `p` different sensitive values.

    The level is the number of different values, from 1; a higher level protects better. The different values may have
    very unequal shares. `KAnonymity` grades the sizes of the classes.

    Parameters
    ----------
    p, k : int
        The minimum number of different values and the minimum number of people, each at least 2.
    sensitive : str

    Source: Truta and Vinay, "Privacy Protection: p-Sensitive k-Anonymity Property", ICDE Workshops 2006.
    """

    p: Annotated[int, at_least(2, "every class has 1")]
    k: People
    sensitive: Sensitive
    word = "p"
    better = "higher"
    of_members = True
    grows = True

    def level(self, counts: Array, whole: Any = None) -> Array:
        """Return the number of different values in each class."""
        return (counts > 0).sum(axis=1)

    def holds(self, counts: Array, whole: Any = None) -> BoolArray:
        """Return whether each class satisfies both `p` and `k`."""
        return (counts.sum(axis=1) >= self.k) & super().holds(counts)


@dataclass(frozen=True)
class OwnAnonymity(PrivacyModel):
    """Every class has at least as many people as any of its members requests.

    The level is the size of the class divided by the largest k that a member requests. A level of at least 1 meets all
    requests; a higher level protects better. The column of requests is published with the release, because each claim
    is checked in the published table. Remove this column from the published file if requests are sensitive.

    Parameters
    ----------
    ks : tuple of int
        All values of k that may be requested, in any order. The values must be different and at least 1.
    sensitive : str
        The column with each record's requested k.

    Source: Xiao and Tao, "Personalized Privacy Preservation", SIGMOD 2006, and Gedik and Liu, ICDCS 2005, for an
    individual k; Aggarwal and Yu 2008, section 2.3.2.
    """

    ks: tuple[int, ...]
    sensitive: Sensitive
    better = "higher"
    of_members = True
    of_sizes = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.ks:
            raise UsageError("`ks` must hold at least one k; got an empty tuple.")
        for k in self.ks:
            expect.whole("each of ks", k, 1)
        if len({*self.ks}) < len(self.ks):
            raise UsageError(f"`ks` must be different numbers; got {', '.join(map(str, self.ks))}.")
        check_k(max(self.ks))
        object.__setattr__(self, "ks", tuple(sorted(self.ks)))

    def columns(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return the requested values in ascending order."""
        requested = {str(value): value for value in values}
        if unknown := sorted(requested.keys() - {str(k) for k in self.ks}):
            raise SchemaError(
                f"{self!r}: `ks` must list every value of '{self.sensitive}'; the column also contains "
                f"{', '.join(unknown)}."
            )
        return [requested.get(str(k), k) for k in self.ks]

    def level(self, counts: Array, whole: Any = None) -> Array:
        """Return the size of each class divided by the largest k that a member requests."""
        wanted = np.array(self.ks + (1,) * (counts.shape[1] - len(self.ks)))
        return counts.sum(axis=1) / np.where(counts > 0, wanted, 1).max(axis=1)

    def holds(self, counts: Array, whole: Any = None) -> BoolArray:
        """Return whether each class meets all requests."""
        return self.level(counts) >= 1

    def __str__(self) -> str:
        return f"own k {self.sensitive}"
