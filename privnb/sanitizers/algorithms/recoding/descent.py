"""The descent of local recoding: classes are specialized, one attribute at a time, as long as the cost falls."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from privnb.runtime.arrays import Int, IntArray
from privnb.runtime.tolerances import ROUNDING
from privnb.sanitizers.algorithms.recoding.label_costs import NEVER, PricedRows, box_cost, divide, empty, widen


def descend(table: PricedRows, classes: IntArray, k: int, levels: int) -> IntArray:
    """Return the classes after all cuts that lower the total cost and leave at least k records in each part.

    One cut specializes an attribute by 1 to `levels` levels. `table` has m points, and `classes` is an integer array
    (m,). The result is an integer array (m,) of classes that are numbered from 0 in the order of the cuts, so that
    classes with neighboring numbers are neighbors in the table.
    """
    order = np.argsort(classes, kind="stable")
    ends = np.append(0, np.cumsum(np.unique(classes, return_counts=True)[1]))
    return _cut_all(table, order, ends, k, levels)


@njit(cache=True)
def _cut_all(table: PricedRows, order: IntArray, ends: IntArray, k: Int, levels: int) -> IntArray:
    """Return the classes after all cuts, see `descend`; `order` lists the classes' points, one class after another.

    Class c is at the positions from ends[c] to before ends[c + 1] of the integer array `order` (m,).
    """
    m, attributes = table.points.shape
    stack = np.empty((m + 2, 2), np.int64)
    part, moved, classes = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64)
    low, high = np.empty(attributes, np.int64), np.empty(attributes, np.int64)
    number = 0
    for c in range(len(ends) - 1):
        stack[0, 0], stack[0, 1], top = ends[c], ends[c + 1], 1
        while top:
            top -= 1
            first, last = stack[top]
            members = order[first:last]
            weight = np.int64(0)
            empty(low, high)
            for x in members:
                widen(low, high, table.points[x], table.points[x])
                weight += table.weights[x]
            total = weight * box_cost(table, low, high)
            chosen: Any = np.int64(-1)
            best = 0.0
            for choice in range(attributes * levels if weight >= 2 * k and total else 0):
                a, down = choice // levels, choice % levels + 1
                sizes = _parts(table, members, a, low[a], high[a], down, k, part)
                worth = _worth(table, members, part, sizes, total) if len(sizes) > 1 else 0.0
                # # Without the margin, the last digit of a logarithm, which differs between machines, would decide
                # ties.
                if worth > best * (1 + ROUNDING):
                    best, chosen = worth, choice
            if chosen < 0:
                for x in members:
                    classes[x] = number
                number += 1
                continue
            a, down = chosen // levels, chosen % levels + 1
            parts = len(_parts(table, members, a, low[a], high[a], down, k, part))
            at = first
            for p in range(parts):
                stack[top + parts - 1 - p, 0] = at
                for i in range(last - first):
                    if part[i] == p:
                        moved[at] = members[i]
                        at += 1
                stack[top + parts - 1 - p, 1] = at
            top += parts
            for i in range(first, last):
                order[i] = moved[i]
    return classes


@njit(cache=True)
def _worth(table: PricedRows, members: IntArray, part: IntArray, sizes: IntArray, total: Int) -> float:
    """Return the cost, in units, that a cut saves per bit of information about the records that are cut.

    Savings are compared per bit, because all cuts of a table of n records together give only about n log(n / k) bits.
    `part`: an integer array of at least the length of `members`; `sizes`: the number of records of each part.
    """
    attributes = table.points.shape[1]
    low, high = np.full((len(sizes), attributes), NEVER), np.full((len(sizes), attributes), -1)
    for i in range(len(members)):
        point = table.points[members[i]]
        widen(low[part[i]], high[part[i]], point, point)
    saved, weight, entropy = total, np.int64(0), 0.0
    for p in range(len(sizes)):
        saved -= sizes[p] * box_cost(table, low[p], high[p])
        weight += sizes[p]
        entropy -= sizes[p] * np.log(sizes[p])
    return saved / (entropy + weight * np.log(weight))


@njit(cache=True)
def _parts(
    table: PricedRows, members: IntArray, a: Int, low: Int, high: Int, down: Int, k: Int, part: IntArray
) -> IntArray:
    """Write the part of each member if attribute a, whose label covers low to high, is specialized by `down` levels.

    Each child with at least k records is a part. The records of all other children form one part that keeps the label;
    if this part has fewer than k records, the smallest child with at least k records joins it. Returns the number of
    records of each part; a single part is not a cut.
    """
    records = divide(table, members, a, low, high, down, part)
    if not len(records):
        return records
    rest, least = np.int64(0), -1
    for child in range(len(records)):
        if records[child] < k:
            rest += records[child]
        elif least < 0 or records[child] < records[least]:
            least = child
    if least >= 0 and 0 < rest < k:
        rest += records[least]
        records[least] = 0
    number, sizes, count = np.full(len(records), -1), np.empty(len(records) + 1, np.int64), 0
    for child in range(len(records)):
        if records[child] >= k:
            number[child], sizes[count] = count, records[child]
            count += 1
    sizes[count] = rest
    for i in range(len(members)):
        part[i] = number[part[i]] if number[part[i]] >= 0 else count
    return sizes[: count + (rest > 0)]
