"""Privacy models about presence in the table, for an adversary with a register of a larger population."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from privnb.microdata.release import Release
from privnb.microdata.schema import Schema, to_text
from privnb.privacy_models.anonymity import People
from privnb.privacy_models.base import PrivacyModel
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.tolerances import EXACT


def _people(name: str, value: object) -> None:
    if not isinstance(value, pd.DataFrame) or value.empty:
        raise UsageError(
            f"`{name}` must be a DataFrame with all quasi-identifiers and one row for each person; got "
            f"{expect.describe_value(value)}."
        )


@dataclass(frozen=True, eq=False)
class _Against(PrivacyModel):
    """A model whose counts have two columns: the people of the population in a class, and the released people.

    `population` is a DataFrame with a column for each quasi-identifier and one row for each person, including everybody
    in the table. The values must be in the attributes' domains.
    """

    population: Annotated[Any, _people] = field(repr=False, kw_only=True)
    sensitive = None

    def parts(self, release: Release) -> tuple[list[IntArray], IntArray]:
        """Return the counts; a person of the population counts in every class whose labels cover the person."""
        names, hierarchies = release.schema.quasi_identifiers, dict[str, Any](release.hierarchies)
        codes = self.codes(release.schema, release.hierarchies)
        distinct, people = np.unique(codes, axis=0, return_counts=True)
        sizes = release.people_per_class
        counts = np.column_stack([np.zeros_like(sizes), sizes])
        covers: list[tuple[Any, ...]] = []
        for a, name in enumerate(names):
            number, labels = release.labels_alike[name]
            occurring, place = np.unique(distinct[:, a], return_inverse=True)
            covered = [hierarchies[name].covers(to_text(label), occurring) for label in labels]
            covers.append((number, np.array(covered), place))
        step = max(1, 2**25 // len(distinct))  # classes at a time: the comparison has classes x people cells
        for begin in range(0, len(sizes), step):
            fits = np.ones((min(step, len(sizes) - begin), len(distinct)), dtype=bool)
            for number, cover, place in covers:
                fits &= cover[number[begin : begin + step]][:, place]
            counts[begin : begin + step, 0] = fits @ people
        return [counts], counts.sum(axis=0)

    def codes(self, schema: Schema, hierarchies: Mapping[str, Any]) -> IntArray:
        """Return, as an array (people, attributes), the positions of the people's values on the attributes' lines."""
        names = schema.quasi_identifiers
        if absent := [name for name in names if name not in self.population]:
            raise UsageError(f"{self!r}: `population` must have every quasi-identifier; got a table without {absent}.")
        columns = []
        for name in names:
            column = self.population[name]
            if schema[name].numeric:
                domain = schema[name].numbers
                column = domain.marked(domain.read(column))
            columns.append(hierarchies[name].codes(column))
        return np.column_stack(columns)


@dataclass(frozen=True, eq=False)
class KMap(_Against):
    """Every released record could belong to at least `k` people of the population.

    The level is the number of people of `population` whom the class's labels cover, from 0; a higher level protects
    better. The model is weaker than k-anonymity: it assumes that an adversary does not know who is in the table. If
    classes overlap, an adversary who knows the sanitizer may exclude people of the population who fit another class
    better; the level ignores this knowledge.

    Parameters
    ----------
    k : int
        The minimum number of people of the population, at least 2.
    population : DataFrame
        One row for each person, including everybody in the table, and a column for each quasi-identifier. The values
        must be in the quasi-identifiers' domains.

    Raises
    ------
    ValueError
        If the bound is outside its range, or if the population is empty or not a table.

    Source: Sweeney, "Computational Disclosure Control", PhD thesis, MIT, 2001.
    """

    k: People
    word = "k-map"
    better = "higher"
    grows = True

    def __str__(self) -> str:
        return f"k-map k={self.k}"

    def level(self, counts: Array, whole: Any = None) -> Array:
        """Return the number of people of the population whom each class's labels cover."""
        return counts[:, 0]

    def holds(self, counts: Array, whole: Any = None) -> BoolArray:
        """Return whether each class covers at least `k` people of the population."""
        return self.level(counts) >= self.k


@dataclass(frozen=True, eq=False)
class DeltaPresence(_Against):
    """For each class, the table contains a share from `low` to `high` of the population's people who fit the class.

    The level of a class is the number of its released people, divided by the number of people of `population` whom its
    labels cover. To an adversary, the level is the probability, from 0 to 1, that a person whom the labels cover is in
    the table. A lower level protects better against learning that a person is present; the model bounds the level from
    both sides. A person who fits no class is certainly not in the table, whatever `low` is. If classes overlap, a
    person who fits several classes may be in the table with a higher probability than the level of any of these
    classes.

    Parameters
    ----------
    low, high : float
        0 <= low < high <= 1. The pair 0 and 1 is refused, because it has no effect.
    population : DataFrame
        One row for each person, as for `KMap`.

    Raises
    ------
    ValueError
        If the bounds are outside their range, or if the population is empty or not a table.

    Source: Nergiz, Atzori, Clifton, "Hiding the Presence of Individuals from Shared Databases", SIGMOD 2007.
    """

    low: float
    high: float
    word = "presence-high"
    better = "lower"

    def __post_init__(self) -> None:
        super().__post_init__()
        numbers = expect.is_number(self.low) and expect.is_number(self.high)
        if not (numbers and 0 <= self.low < self.high <= 1) or self.high - self.low >= 1 - EXACT:
            raise UsageError(
                "`low` and `high` must satisfy 0 <= low < high <= 1 and not be 0 and 1, which every class satisfies; "
                f"got low={expect.describe_value(self.low)} and high={expect.describe_value(self.high)}."
            )

    def __str__(self) -> str:
        return f"presence={self.low}..{self.high}"

    def level(self, counts: Array, whole: Any = None) -> Array:
        """Return the share of the people whom each class's labels cover that is in the release."""
        # Released people whom the population does not cover are certainly in the table.
        return counts[:, 1] / np.maximum(counts.max(axis=1), 1)

    def holds(self, counts: Array, whole: Any = None) -> BoolArray:
        """Return whether the level of each class is between `low` and `high`."""
        level = self.level(counts)
        return (level <= self.high + EXACT) & (level >= self.low - EXACT)
