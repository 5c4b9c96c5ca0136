"""Leakage through noise: guesses of the true value behind a noisy cell, and of the person behind a noisy row.

A noisy sanitizer states the `Law` of each column, and the functions depend only on these laws.

Source: Alvim, Chatzikokolakis, McIver, Morgan, Palamidessi, Smith, "The Science of Quantitative Information Flow",
Springer 2020, chapters 5 and 7 (vulnerability, capacity).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from privnb.measures.intervals import mean_interval
from privnb.microdata.counts import count_combinations, group_codes
from privnb.microdata.release import Release
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute
from privnb.microdata.treatment import Law, Unreadable
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Count, Randomness, validated
from privnb.sanitizers.noise.local_noise import count_values

MAX_PAIRS = 2**18  # number of pairs of a released row and a person that are compared at a time


@validated
def cell_vulnerability(law: Law, attribute: Attribute, column: pd.Series | Array | list[Any]) -> float:
    """Return the probability that an adversary who knows the shares of the values guesses a value from its noisy cell.

    The probability is exact for the mechanism, and not the result of a single draw.

    Parameters
    ----------
    law : Law
        The distribution of the column's noise, see `Release.columns`.
    attribute : Attribute
    column : array (n,)
        The original values of n people, whose shares are the prior. A missing number stays missing under noise, so
        everybody sees that it is missing.

    Returns
    -------
    float
        The probability, from the largest share to 1; a lower probability means more protection.

    Raises
    ------
    Unreadable
        If the law has no such closed form.
    """
    if not len(column):
        raise UsageError("`column` must have at least one value; got an empty column.")
    gap = pd.isna(pd.Series(column)).to_numpy()
    domain: Any = attribute.domain
    codes: IntArray = domain.codes(np.asarray(column)[~gap])
    positions, people = np.unique(codes, return_counts=True)
    vulnerability = law.vulnerability(people / len(gap), positions) if len(positions) else 0.0
    return vulnerability + gap.mean() if gap.any() else vulnerability


@validated
def cell_capacity(law: Law, attribute: Attribute) -> float:
    """Return the largest factor by which a noisy cell improves the guess of any adversary, for any prior and any gain.

    The factor is the multiplicative capacity; its base-2 logarithm is the capacity in bits. The capacities of
    independent cells are multiplied.

    Parameters
    ----------
    law : Law
    attribute : Attribute

    Returns
    -------
    float
        A factor of at least 1; a lower factor means more protection.

    Source: Alvim et al., "Measuring information leakage using generalized gain functions", CSF 2012, theorem 5.1.
    """
    return law.capacity(count_values(attribute))


@validated
def identification(
    dataset: Microdata, release: Release, *, rng: Randomness, rows: Count = 2000
) -> tuple[float, float, float]:
    """Return the probability that an adversary with a register traces one noisy row to its person.

    The register has the true quasi-identifiers of everybody. The adversary guesses the person whose values most likely
    lead to the row. An adversary who matches all rows together may do better.

    Parameters
    ----------
    dataset : Dataset
    release : Release
    rng : int, Generator or None
    rows : int
        The maximum number of released rows to trace if several attributes have noise; these rows are drawn with `rng`.

    Returns
    -------
    share, low, high : float
        The share and its bounds, from 1 / n to 1; a lower share means more protection. If one attribute has noise, the
        share is exact and the bounds are NaN; otherwise, the share is the mean over the traced rows, and the bounds are
        those of a 95% interval.

    Raises
    ------
    Unreadable
        If a law lacks the required closed form, or if a quasi-identifier without noise is not exact.
    """
    dataset, names = release.originals(dataset), dataset.schema.quasi_identifiers
    laws = {name: release.columns[name].noise_law for name in names if name in release.treated("noisy")}
    noisy, exact = list(laws), release.treated("exact")
    if other := [name for name in names if name not in (*noisy, *exact)]:
        raise Unreadable(
            f"noisy rows can be traced only if each quasi-identifier is noisy or exact; got others: {', '.join(other)}."
        )
    group, entries, true, people = _register(dataset, tuple(noisy))
    if len(noisy) == 1:
        found = laws[noisy[0]].found(np.split(true[noisy[0]], np.cumsum(entries)[:-1]))
        return found / len(dataset), np.nan, np.nan
    seen = {name: _seen(dataset.schema[name], release.table[name]) for name in noisy}
    drawn = np.random.default_rng(rng).permutation(len(dataset))[:rows]
    sizes, starts = entries[group[drawn]], (np.cumsum(entries) - entries)[group[drawn]]
    shares = []
    for some in np.split(np.arange(len(drawn)), _cuts(sizes)):
        row, size = np.repeat(drawn[some], sizes[some]), sizes[some]
        begins = np.cumsum(size) - size
        entry = np.arange(len(row)) + np.repeat(starts[some] - begins, size)
        distance = np.zeros(len(row))
        for law, known, cells in _drawn_apart(laws, true, seen):
            distance += law.surprise(known[entry], cells[row])
        # A person's likelihood falls by the factor e for each unit of distance; the adversary guesses the nearest one.
        nearest = np.repeat(np.minimum.reduceat(distance, begins), size)
        shares.append(1 / np.add.reduceat(people[entry] * np.exp(nearest - distance), begins))
    every = np.concatenate(shares)
    low, high = mean_interval(every)
    return every.mean(), max(low, 1 / len(dataset)), min(high, 1)


def _drawn_apart(
    laws: Mapping[str, Law], true: Mapping[str, Array], seen: Mapping[str, Array]
) -> list[tuple[Law, Array, Array]]:
    """Return tuples (law, true positions, published positions), one for each set of columns drawn together."""
    drawn = [(law, true[name], seen[name]) for name, law in laws.items() if law.together is None]
    for joint in dict.fromkeys(law.together for law in laws.values() if law.together is not None):
        own, other = (joint.positions([positions[name] for name in joint.names]) for positions in (true, seen))
        drawn.append((joint.law, own, other))
    return drawn


@lru_cache(maxsize=8)
def _register(dataset: Microdata, noisy: tuple[str, ...]) -> tuple[IntArray, IntArray, dict[str, IntArray], IntArray]:
    """Return the entries of a register of true quasi-identifiers, which do not depend on the noise.

    The result has four parts. The first part is the group of each record, as an integer array (n,): records are in the
    same group if they agree in all quasi-identifiers without noise and have numbers in the same noisy columns. The
    second part is the number of entries of each group; people who agree in all quasi-identifiers share one entry. The
    other two parts are, for the entries in the order of their groups, the codes of the noisy attributes and the number
    of people.
    """
    names = dataset.schema.quasi_identifiers
    known = dataset.cells[[name for name in names if name not in noisy]]
    gaps = {name: gap for name in noisy if (gap := dataset.table[name].isna().to_numpy()).any()}
    group = count_combinations(known).index
    if gaps:
        sizes = [group.max() + 1, *[2] * len(gaps)]
        group = group_codes([group, *(gap.astype(np.int64) for gap in gaps.values())], sizes)[1]
    true = {name: dataset.schema[name].public_domain.codes(dataset.table[name]) for name in noisy}
    for name, gap in gaps.items():
        true[name][gap] = 0  # the same in the whole group, as in `_seen`
    columns = [group, *true.values()]
    first, index = group_codes(columns, [column.max() + 1 for column in columns])
    return group, np.bincount(group[first]), {n: codes[first] for n, codes in true.items()}, np.bincount(index)


def _cuts(sizes: IntArray) -> IntArray:
    """Return the positions that cut a list into parts with fewer than `MAX_PAIRS` pairs after their first member."""
    total = np.cumsum(sizes) // MAX_PAIRS
    return np.flatnonzero(np.diff(total)) + 1


def _seen(attribute: Any, cells: pd.Series) -> Array:
    """Return noisy cells in steps of the domain, with 0 for a missing number, or as positions of categories."""
    if attribute.numeric:
        return np.nan_to_num((np.asarray(cells, dtype=float) - attribute.domain.low) / attribute.domain.step)
    return attribute.domain.codes(cells)
