"""Privacy models: the level that each equivalence class reaches, and the bound that it must keep.

Enforcing and measuring share one function, `level(counts, whole)`, from class-by-value counts: an integer array
(classes, values) and one of shape (values,) for the whole table.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from privnb.counts import class_value_counts


def check_k(k):
    """Raise ValueError unless `k` is a whole number of at least 2."""
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 2:
        raise ValueError(f"k must be a whole number of at least 2 (1 protects nobody), got {k!r}.")


class PrivacyModel(ABC):
    """A property that every equivalence class of a release must have. `better` says which level protects more."""

    better: str
    sensitive: str | None = None

    @abstractmethod
    def level(self, counts, whole):
        """The level that each class reaches: counts (classes, values), whole (values,) -> array (classes,)."""

    @abstractmethod
    def holds(self, counts, whole):
        """Whether each class keeps the bound: boolean array (classes,)."""


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every record shares its quasi-identifiers with at least `k` - 1 others.

    The level is the size of the class, from 1; higher protects more against linking a record to a person, and says
    nothing about what all members of a class have in common. Raises ValueError unless k is a whole number >= 2.
    Source: Samarati and Sweeney, SRI-CSL-98-04, 1998.
    """

    k: int
    better = "higher"

    def __post_init__(self):
        check_k(self.k)

    def level(self, counts, whole=None):
        return counts.sum(axis=1)

    def holds(self, counts, whole=None):
        return self.level(counts, whole) >= self.k


def achieved(model, release):
    """The level of `model` that `release` reaches: that of its worst class, graded from the published labels alone.

    Raises ValueError for a release without equivalence classes (noise makes nearly every record one of its own).
    """
    if release.classes is None:
        raise ValueError(f"{model} cannot be graded: {release.provenance.sanitizer} publishes no equivalence classes.")
    # Of a model without a sensitive attribute the sizes of classes are all that counts.
    values = release.table[model.sensitive] if model.sensitive else np.zeros(len(release))
    counts = class_value_counts(release.classes, values)
    levels = model.level(counts, counts.sum(axis=0))
    # The worst class, not the mean: one small class is enough to expose its members.
    return levels.min() if model.better == "higher" else levels.max()
