"""What noise leaves to be guessed: the true value behind a noisy cell, and whose a noisy row is.

A noisy sanitizer states the `Law` of each column, and nothing here asks which sanitizer it was.

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
from privnb.microdata.counts import combinations, distinct_codes
from privnb.microdata.release import Release
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute
from privnb.microdata.treatment import Law, Unreadable
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Count, Randomness, validated
from privnb.sanitizers.noise.local_noise import size_of

PAIRS = 2**18  # of released rows and persons who are compared at a time


@validated
def cell_vulnerability(law: Law, attribute: Attribute, column: pd.Series | Array | list[Any]) -> float:
    """How likely a person's own value of an attribute is guessed from its noisy cell alone, for an adversary who knows
    the shares.

    Exact, for the mechanism and not for one draw of it.

    Parameters
    ----------
    law : Law
        Of the column's noise, see `Release.columns`.
    attribute : Attribute
    column : array (n,)
        The original values of n people, whose shares are the prior. A missing number stays missing under noise, so
        that everybody sees it.

    Returns
    -------
    float
        The largest share to 1; lower protects more.

    Raises
    ------
    Unreadable
        For a law without this closed form.
    """
    if not len(column):
        raise UsageError("column must have a value at least, and it has none.")
    gap = pd.isna(pd.Series(column)).to_numpy()
    domain: Any = attribute.domain
    codes: IntArray = domain.codes(np.asarray(column)[~gap])
    positions, people = np.unique(codes, return_counts=True)
    told = law.vulnerability(people / len(gap), positions) if len(positions) else 0.0
    return told + gap.mean() if gap.any() else told


@validated
def cell_capacity(law: Law, attribute: Attribute) -> float:
    """How many times more any adversary can gain from a noisy cell, whatever they knew and wanted: 1 and more.

    Multiplicative capacity: log2 of it is in bits. The capacities of independent cells multiply.

    Parameters
    ----------
    law : Law
    attribute : Attribute

    Returns
    -------
    float
        A factor; lower protects more.

    Source: Alvim et al., "Measuring information leakage using generalized gain functions", CSF 2012, theorem 5.1.
    """
    return law.capacity(size_of(attribute))


@validated
def identification(
    dataset: Microdata, release: Release, *, rng: Randomness, rows: Count = 2000
) -> tuple[float, float, float]:
    """How likely one noisy row is traced to its person, for an adversary who has a register of everybody's true
    quasi-identifiers.

    They guess the person from whose values the row is likeliest to come. Whoever matches all rows together may do
    better.

    Parameters
    ----------
    dataset : Dataset
    release : Release
    rng : int, Generator or None
    rows : int
        At most so many released rows, drawn with `rng`, are traced where several attributes have noise.

    Returns
    -------
    share, low, high : float
        1 / n to 1; lower protects more. Exact where one attribute has noise, and then the bounds are NaN; else the mean
        over rows with a 95% interval.

    Raises
    ------
    Unreadable
        For a law without the closed form that it takes, and where other quasi-identifiers are not exact.
    """
    dataset, names = release.originals(dataset), dataset.schema.quasi_identifiers
    laws = {name: release.columns[name].noise_law for name in names if name in release.treated("noisy")}
    noisy, exact = list(laws), release.treated("exact")
    if other := [name for name in names if name not in (*noisy, *exact)]:
        raise Unreadable(f"whose a noisy row is cannot be said where {', '.join(other)} are neither noisy nor exact.")
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
        # Each person's likelihood of a row falls by e for each unit of distance; the nearest one is guessed.
        nearest = np.repeat(np.minimum.reduceat(distance, begins), size)
        shares.append(1 / np.add.reduceat(people[entry] * np.exp(nearest - distance), begins))
    every = np.concatenate(shares)
    low, high = mean_interval(every)
    return every.mean(), max(low, 1 / len(dataset)), min(high, 1)


def _drawn_apart(
    laws: Mapping[str, Law], true: Mapping[str, Array], seen: Mapping[str, Array]
) -> list[tuple[Law, Array, Array]]:
    """Of columns that are drawn together one law and one position for all: tuples (law, true ones, those seen)."""
    drawn = [(law, true[name], seen[name]) for name, law in laws.items() if law.together is None]
    for joint in dict.fromkeys(law.together for law in laws.values() if law.together is not None):
        own, other = (joint.positions([positions[name] for name in joint.names]) for positions in (true, seen))
        drawn.append((joint.law, own, other))
    return drawn


@lru_cache(maxsize=8)
def _register(dataset: Microdata, noisy: tuple[str, ...]) -> tuple[IntArray, IntArray, dict[str, IntArray], IntArray]:
    """What a register tells whatever the noise: the group of each record that is alike in all other quasi-identifiers,
    and has numbers in the same noisy columns, integer array (n,); how many entries each group has, people alike in all
    quasi-identifiers being one; and of the entries, by group, the codes of the noisy attributes and the number of
    people.
    """
    names = dataset.schema.quasi_identifiers
    known = dataset.cells[[name for name in names if name not in noisy]]
    gaps = {name: gap for name in noisy if (gap := dataset.table[name].isna().to_numpy()).any()}
    group = combinations(known).index
    if gaps:
        sizes = [group.max() + 1, *[2] * len(gaps)]
        group = distinct_codes([group, *(gap.astype(np.int64) for gap in gaps.values())], sizes)[1]
    true = {name: dataset.schema[name].public_domain.codes(dataset.table[name]) for name in noisy}
    for name, gap in gaps.items():
        true[name][gap] = 0  # all of a group, as of `_seen`
    columns = [group, *true.values()]
    first, index = distinct_codes(columns, [column.max() + 1 for column in columns])
    return group, np.bincount(group[first]), {n: codes[first] for n, codes in true.items()}, np.bincount(index)


def _cuts(sizes: IntArray) -> IntArray:
    """Where to cut a list so that the parts, but for their first member, have sizes of less than `PAIRS` together."""
    total = np.cumsum(sizes) // PAIRS
    return np.flatnonzero(np.diff(total)) + 1


def _seen(attribute: Any, cells: pd.Series) -> Array:
    """Noisy cells in steps of the domain, 0 for a missing one, or as positions of categories."""
    if attribute.numeric:
        return np.nan_to_num((np.asarray(cells, dtype=float) - attribute.domain.low) / attribute.domain.step)
    return attribute.domain.codes(cells)
