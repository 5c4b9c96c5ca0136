"""Missing numbers in a release: a missing number stays missing, or the release says how many were filled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from privnb.microdata.columns import plain
from privnb.microdata.schema import Schema
from privnb.runtime.arrays import Array, BoolArray, IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.names import name_list
from privnb.sanitizers.errors import SanitizationError

# How a sanitizer treats missing numbers in the columns that it reads as numbers.
TREATMENTS = {
    "kept": "a missing number is a value of its own, which the method treats itself",
    "restored": "the method works on numbers drawn from the column, and missing numbers are missing in the release",
    "filled": "the method works on numbers drawn from the column, and the provenance counts them",
}


@dataclass(frozen=True)
class Gaps:
    """The columns of a table that have missing numbers.

    Attributes
    ----------
    columns : dict of str to Series
        As they were.
    missing : dict of str to boolean array (n,)
        Which of their cells are missing.
    """

    columns: Mapping[str, pd.Series]
    missing: Mapping[str, BoolArray]

    @classmethod
    def of(cls, read: Sequence[str], sanitizer: object, schema: Schema, table: pd.DataFrame) -> Self:
        """Find the missing numbers in the columns `read` as numbers.

        Raises SanitizationError, said of `sanitizer`, for a column without any number.
        """
        able = [name for name in read if schema[name].public_domain.missing is not None]
        missing = {name: plain(table[name]).isna().to_numpy() for name in able}
        missing = {name: gap for name, gap in missing.items() if gap.any()}
        if empty := [name for name, gap in missing.items() if gap.all()]:
            raise SanitizationError(
                f"{sanitizer!r}: all numbers of {name_list(empty)} are missing, and the method works on numbers. Give "
                f"{'it' if len(empty) == 1 else 'them'} the role 'unused'."
            )
        return cls({name: table[name] for name in missing}, missing)

    def filled(self, table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Return the table with a number drawn from its column in each gap."""
        for name, gap in self.missing.items():
            table[name] = pd.Series(drawn(plain(table[name]).to_numpy(float), gap, rng), table.index, name=name)
        return table

    def left(
        self, table: pd.DataFrame, facts: Mapping[str, Any], *, restored: bool
    ) -> tuple[pd.DataFrame, dict[str, Any]]:
        """Put the gaps back where they were, or add a note that counts what was filled."""
        facts = dict(facts)
        if not restored:
            note = counted({name: int(gap.sum()) for name, gap in self.missing.items()})
            return table, facts | ({"note": " ".join(filter(None, [facts.get("note"), note]))} if note else {})
        changed = {*facts.get("noisy", ()), *facts.get("perturbed", ())}
        for name, gap in self.missing.items():
            table[name] = plain(table[name]).mask(gap) if name in changed else self.columns[name]
        return table, facts


def drawn(values: Array, gap: BoolArray, source: np.random.Generator) -> Array:
    """Return numbers with one in each gap that is drawn from the others."""
    found = values.copy()
    found[gap] = source.choice(values[~gap], int(gap.sum()))
    return found


def counted(filled: Mapping[str, int]) -> str:
    """State how many missing numbers of each column a release has numbers for; empty if there are none.

    >>> counted({"age": 100, "weight": 1})
    "Missing numbers were replaced by numbers drawn from their columns: 100 of 'age', 1 of 'weight'."
    """
    if not (parts := [f"{many:,} of '{name}'" for name, many in filled.items() if many]):
        return ""
    return f"Missing numbers were replaced by numbers drawn from their columns: {', '.join(parts)}."


def among_present(codes: IntArray, gap: BoolArray, change: Callable[[IntArray], Array]) -> Array:
    """Apply a change to the numbers that are there; a missing number takes no part in it and stays missing.

    Parameters
    ----------
    codes : integer array (n,)
    gap : boolean array (n,)
    change : callable
        Of an array (m,) of the numbers that are there: array (m,).

    Returns
    -------
    array (n,)
        NaN for missing numbers.
    """
    if not gap.any():
        return change(codes)
    found = np.full(len(codes), np.nan)
    if not gap.all():
        found[~gap] = np.asarray(change(codes[~gap]), dtype=float)
    return found


def without_small_gaps(
    codes: IntArray, gaps: BoolArray, ks: int | IntArray, rng: np.random.Generator
) -> tuple[IntArray, BoolArray, IntArray]:
    """Fill the gaps of records that have fewer than k with gaps in the same columns.

    Records with gaps in the same columns make a group of their own, so that missing is a value like any other. Records
    of a group of fewer than k get numbers drawn from the columns, until every group has k.

    Parameters
    ----------
    codes : integer array (n, columns)
        Numbers; at a gap anything.
    gaps : boolean array (n, columns)
    ks : int or integer array (n,)
        The least size of the group of all, or of each record; at most n.
    rng : Generator

    Returns
    -------
    codes : integer array (n, columns)
    gaps : boolean array (n, columns)
        Those that are left.
    pattern : integer array (n,)
        The number of each record's group.
    """
    ks, whole = np.broadcast_to(ks, len(gaps)), gaps.all(axis=0)  # a column without numbers has none to draw from
    left = gaps & ~whole
    while True:
        kinds, pattern, sizes = np.unique(left, axis=0, return_inverse=True, return_counts=True)
        pattern, least = pattern.ravel(), np.zeros(len(kinds), dtype=np.int64)
        np.maximum.at(least, pattern, ks)
        small, some = sizes < least, kinds.any(axis=1)
        if not small.any() or not some.any():
            break
        chosen = small & some
        if not chosen.any():  # the records without a gap are too few: those of the smallest group join them
            chosen = np.arange(len(kinds)) == np.where(some, sizes, len(gaps) + 1).argmin()
        left = left & ~chosen[pattern][:, None]
    if (filled := gaps & ~left & ~whole).any():
        codes = codes.copy()
        for a in np.flatnonzero(filled.any(axis=0)):
            codes[filled[:, a], a] = rng.choice(codes[~gaps[:, a], a], int(filled[:, a].sum()))
    return codes, left | whole, pattern
