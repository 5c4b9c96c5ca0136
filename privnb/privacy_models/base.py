"""What every privacy model is, and how a release is graded from its labels."""

from abc import ABC, abstractmethod
from dataclasses import fields

import numpy as np
import pandas as pd

from privnb.counts import tabulate

# Shares are quotients of whole numbers, rounded; a class exactly at its bound must not fall to the last bit.
ROUNDING = 1e-12


class PrivacyModel(ABC):
    """A property that every equivalence class of a release must have.

    Counts are an integer array (classes, values) with one column for each value of `sensitive` that occurs in the
    table, in the order of its domain (see `columns`); without a sensitive attribute, one column of sizes. `better`
    says which level protects more. `grows`: a class that has the property keeps it whatever records join it; of every
    model, two classes that have it make one that has it.
    """

    better: str
    sensitive: str | None  # the attribute whose values are counted
    grows = False

    @abstractmethod
    def level(self, counts, whole):
        """The level that each class reaches: counts (classes, values), whole (values,) -> array (classes,)."""

    @abstractmethod
    def holds(self, counts, whole):
        """Whether each class keeps the bound: boolean array (classes,)."""

    def columns(self, values):
        """The values that the columns of counts stand for, given those that occur in the order of their domain."""
        return values

    def counted(self, release):
        """What the model counts in each class of a release, from its labels: integer array (classes, values)."""
        if self.sensitive is None:
            return np.bincount(release.classes)[:, None]
        columns, width = tally(self, release.table[self.sensitive], release.schema[self.sensitive])
        return tabulate(release.classes, columns, (release.classes.max() + 1, width))

    def __str__(self):
        """The bound and what it is for, as results name it: `t=0.2 occupation`."""
        words = [f"{field.name}={getattr(self, field.name)!s}" for field in fields(self) if field.name != "sensitive"]
        return " ".join([*words, self.sensitive] if self.sensitive else words)


def check_positive(name, number):
    """Raise ValueError unless `number` is a finite number above 0."""
    if isinstance(number, bool) or not (isinstance(number, int | float) and 0 < number < float("inf")):
        raise ValueError(f"{name} must be a positive number, got {number!r}.")


def check_share(name, number):
    """Raise ValueError unless `number` is a share above 0 and at most 1."""
    if isinstance(number, bool) or not (isinstance(number, int | float) and 0 < number <= 1):
        raise ValueError(f"{name} must be a share above 0 and at most 1, got {number!r}.")


def tally(model, column, attribute=None):
    """The column of counts that each entry of a sensitive column falls into, and how many columns there are.

    `column`: n values; `attribute`: describes them; without one they are in sorted order. Returns (int array (n,),
    int).
    """
    codes, values = pd.factorize(np.asarray(column, dtype=object), use_na_sentinel=False)
    if attribute is None or attribute.domain is None:
        order = np.argsort(pd.factorize(values, sort=True, use_na_sentinel=False)[0])
    elif attribute.numeric:
        order = np.argsort(pd.to_numeric(pd.Series(values), errors="coerce").to_numpy(), kind="stable")
    else:
        order = np.argsort(attribute.domain.codes(values), kind="stable")  # a label outside of it comes first
    occurring = [values[i] for i in order]
    columns = list(model.columns(occurring))
    position = {value: place for place, value in enumerate(columns)}
    places = np.array([position[value] for value in values], dtype=np.int64)
    return places[codes], len(columns)


def achieved(model, release):
    """The level of `model` that `release` reaches: that of its worst class, graded from the published labels alone.

    Raises ValueError for a release without equivalence classes (noise makes nearly every record one of its own).
    """
    if release.classes is None:
        raise ValueError(f"{model!r} cannot be graded: {release.provenance.sanitizer} has no equivalence classes.")
    counts = model.counted(release)
    levels = model.level(counts, counts.sum(axis=0))
    # The worst class, not the mean: one small class is enough to expose its members.
    return levels.min() if model.better == "higher" else levels.max()
