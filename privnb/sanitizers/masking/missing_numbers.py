"""Missing numbers in a release: they stay missing, or are filled in, and the release states how many were filled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from privnb.microdata.columns import decode_column
from privnb.microdata.schema import Schema
from privnb.runtime.arrays import Array, BoolArray, IntArray
from privnb.runtime.lazy import pd
from privnb.runtime.names import join_names
from privnb.sanitizers.errors import SanitizationError

# How a sanitizer treats missing numbers in the columns that it reads as numbers.
GAP_TREATMENTS = {
    "kept": "a missing number is a value of its own, which the method treats itself",
    "restored": "the method works on numbers drawn from the column, and missing numbers are missing in the release",
    "filled": "the method works on numbers drawn from the column, and the provenance counts them",
}


@dataclass(frozen=True)
class Gaps:
    """The gaps of a table: its columns that have missing numbers.

    Attributes
    ----------
    columns : dict of str to Series
        The original columns.
    missing : dict of str to boolean array (n,)
        Whether each cell of these columns is missing.
    """

    columns: Mapping[str, pd.Series]
    missing: Mapping[str, BoolArray]

    @classmethod
    def of(cls, read: Sequence[str], sanitizer: object, schema: Schema, table: pd.DataFrame) -> Self:
        """Return the gaps in the columns `read`, which are read as numbers.

        Raises SanitizationError, with the name of `sanitizer`, if a column does not contain any number.
        """
        able = [name for name in read if schema[name].public_domain.missing is not None]
        missing = {name: decode_column(table[name]).isna().to_numpy() for name in able}
        missing = {name: gap for name, gap in missing.items() if gap.any()}
        if empty := [name for name, gap in missing.items() if gap.all()]:
            raise SanitizationError(
                f"{sanitizer!r}: all numbers of {join_names(empty)} are missing, but the method needs numbers. "
                "Give these columns the role 'unused'."
            )
        return cls({name: table[name] for name in missing}, missing)

    def filled(self, table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Return the table with each gap filled by a number that is drawn from its column."""
        for name, gap in self.missing.items():
            table[name] = pd.Series(
                fill_gaps(decode_column(table[name]).to_numpy(float), gap, rng), table.index, name=name
            )
        return table

    def restore(
        self, table: pd.DataFrame, facts: Mapping[str, Any], *, restored: bool
    ) -> tuple[pd.DataFrame, dict[str, Any]]:
        """Return the table with the gaps restored, or with a note that counts the numbers that were filled in."""
        facts = dict(facts)
        if not restored:
            note = note_filled({name: int(gap.sum()) for name, gap in self.missing.items()})
            return table, facts | ({"note": " ".join(filter(None, [facts.get("note"), note]))} if note else {})
        changed = {*facts.get("noisy", ()), *facts.get("perturbed", ())}
        for name, gap in self.missing.items():
            table[name] = decode_column(table[name]).mask(gap) if name in changed else self.columns[name]
        return table, facts


def fill_gaps(values: Array, gap: BoolArray, source: np.random.Generator) -> Array:
    """Return the values with each gap filled by a number that is drawn from the other values."""
    found = values.copy()
    found[gap] = source.choice(values[~gap], int(gap.sum()))
    return found


def note_filled(filled: Mapping[str, int]) -> str:
    """Return a note on the number of missing numbers that were filled in each column, or an empty text.

    >>> note_filled({"age": 100, "weight": 1})
    "Missing numbers were replaced by numbers drawn from their columns: 100 of 'age', 1 of 'weight'."
    """
    if not (parts := [f"{many:,} of '{name}'" for name, many in filled.items() if many]):
        return ""
    return f"Missing numbers were replaced by numbers drawn from their columns: {', '.join(parts)}."


def apply_to_present(codes: IntArray, gap: BoolArray, change: Callable[[IntArray], Array]) -> Array:
    """Apply a change to the numbers that are present; a missing number is left out and stays missing.

    Parameters
    ----------
    codes : integer array (n,)
    gap : boolean array (n,)
    change : callable
        A function of the array (m,) of the numbers that are present, which returns an array (m,).

    Returns
    -------
    array (n,)
        The changed numbers, with NaN for missing numbers.
    """
    if not gap.any():
        return change(codes)
    found = np.full(len(codes), np.nan)
    if not gap.all():
        found[~gap] = np.asarray(change(codes[~gap]), dtype=float)
    return found


def fill_small_groups(
    codes: IntArray, gaps: BoolArray, ks: int | IntArray, rng: np.random.Generator
) -> tuple[IntArray, BoolArray, IntArray]:
    """Fill the gaps of records if fewer than k records have gaps in the same columns.

    Records with gaps in the same columns form a separate group, in which a gap counts as a value. The gaps of a group
    of fewer than k records are filled with numbers drawn from the columns; this is repeated until every group has at
    least k records.

    Parameters
    ----------
    codes : integer array (n, columns)
        The numbers; a cell with a gap may have any value.
    gaps : boolean array (n, columns)
    ks : int or integer array (n,)
        The minimum size of every group, or the minimum size of each record's group; at most n.
    rng : Generator

    Returns
    -------
    codes : integer array (n, columns)
    gaps : boolean array (n, columns)
        The gaps that remain.
    pattern : integer array (n,)
        The number of each record's group.
    """
    ks, whole = np.broadcast_to(ks, len(gaps)), gaps.all(axis=0)  # a column without numbers offers nothing to draw from
    left = gaps & ~whole
    while True:
        kinds, pattern, sizes = np.unique(left, axis=0, return_inverse=True, return_counts=True)
        pattern, least = pattern.ravel(), np.zeros(len(kinds), dtype=np.int64)
        np.maximum.at(least, pattern, ks)
        small, some = sizes < least, kinds.any(axis=1)
        if not small.any() or not some.any():
            break
        chosen = small & some
        if not chosen.any():  # too few records have no gap, so the smallest group joins them
            chosen = np.arange(len(kinds)) == np.where(some, sizes, len(gaps) + 1).argmin()
        left = left & ~chosen[pattern][:, None]
    if (filled := gaps & ~left & ~whole).any():
        codes = codes.copy()
        for a in np.flatnonzero(filled.any(axis=0)):
            codes[filled[:, a], a] = rng.choice(codes[~gaps[:, a], a], int(filled[:, a].sum()))
    return codes, left | whole, pattern
