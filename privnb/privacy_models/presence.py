"""Models against a population: who could be in the table at all, as an adversary with a larger register sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from privnb.microdata.release import Release
from privnb.microdata.schema import Schema, text
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
            f"{name} must be a DataFrame with one row a person and all quasi-identifiers, got {expect.found(value)}."
        )


@dataclass(frozen=True, eq=False)
class _Against(PrivacyModel):
    """A model whose counts have two columns: people of the population in the class, and released ones.

    `population`: a DataFrame with a column for each quasi-identifier and one row a person, everybody of the table among
    them. Its values must belong to the attributes' domains.
    """

    population: Annotated[Any, _people] = field(repr=False, kw_only=True)
    sensitive = None

    def parts(self, release: Release) -> tuple[list[IntArray], IntArray]:
        """A person of the population counts in every class whose labels cover their values."""
        names, hierarchies = release.schema.quasi_identifiers, dict[str, Any](release.hierarchies)
        codes = self.codes(release.schema, release.hierarchies)
        distinct, people = np.unique(codes, axis=0, return_counts=True)
        sizes = release.people_alike
        counts = np.column_stack([np.zeros_like(sizes), sizes])
        covers: list[tuple[Any, ...]] = []
        for a, name in enumerate(names):
            number, labels = release.labels_alike[name]
            occurring, place = np.unique(distinct[:, a], return_inverse=True)
            covered = [hierarchies[name].covers(text(label), occurring) for label in labels]
            covers.append((number, np.array(covered), place))
        step = max(1, 2**25 // len(distinct))  # classes at a time: the comparison is classes x people wide
        for begin in range(0, len(sizes), step):
            fits = np.ones((min(step, len(sizes) - begin), len(distinct)), dtype=bool)
            for number, cover, place in covers:
                fits &= cover[number[begin : begin + step]][:, place]
            counts[begin : begin + step, 0] = fits @ people
        return [counts], counts.sum(axis=0)

    def codes(self, schema: Schema, hierarchies: Mapping[str, Any]) -> IntArray:
        """Positions of the population's quasi-identifiers on their lines, integer array (people, attributes)."""
        names = schema.quasi_identifiers
        if absent := [name for name in names if name not in self.population]:
            raise UsageError(f"{self!r}: the population has no column {absent}. It needs every quasi-identifier.")
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

    The level is the number of people of `population` whom the class's labels cover, from 0; higher protects more. It
    asks less than k-anonymity where the adversary cannot know who is in the table. Where classes overlap, whoever knows
    the sanitizer may exclude people of the population who fit another class better: the level is counted on labels.

    Parameters
    ----------
    k : int
        From 2.
    population : DataFrame
        One row per person, everybody of the table among them; a column for each quasi-identifier, with values of its
        domain.

    Raises
    ------
    ValueError
        For a bound outside its range, and where the population is empty or no table.

    Source: Sweeney, "Computational Disclosure Control", PhD thesis, MIT, 2001.
    """

    k: People
    word = "k-map"
    better = "higher"
    grows = True

    def __str__(self) -> str:
        return f"k-map k={self.k}"

    def level(self, counts: Array, whole: Any = None) -> Array:
        return counts[:, 0]

    def holds(self, counts: Array, whole: Any = None) -> BoolArray:
        return self.level(counts) >= self.k


@dataclass(frozen=True, eq=False)
class DeltaPresence(_Against):
    """Of the people of the population who fit a class, a share between `low` and `high` is in the table.

    The level is the share of `population` under the class's labels that was released, 0 to 1: how sure an adversary can
    be that somebody is in the table. Lower protects more against being found in it; the bound is on both sides. Whoever
    fits no class is surely not in it, whatever `low` says; where classes overlap, whoever fits several may be likelier
    in it than any one level says.

    Parameters
    ----------
    low, high : float
        0 <= low < high <= 1, and not 0 with 1, which asks for nothing.
    population : DataFrame
        As of `KMap`.

    Raises
    ------
    ValueError
        For bounds outside their range, and where the population is empty or no table.

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
                "delta-presence needs 0 <= low < high <= 1, and not 0 with 1, which every class keeps; got "
                f"low={expect.found(self.low)} and high={expect.found(self.high)}."
            )

    def __str__(self) -> str:
        return f"presence={self.low}..{self.high}"

    def level(self, counts: Array, whole: Any = None) -> Array:
        # Released people whom no one of the population covers are certainly in the table.
        return counts[:, 1] / np.maximum(counts.max(axis=1), 1)

    def holds(self, counts: Array, whole: Any = None) -> BoolArray:
        level = self.level(counts)
        return (level <= self.high + EXACT) & (level >= self.low - EXACT)
