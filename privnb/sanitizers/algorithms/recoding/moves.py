"""The moves of local recoding: members leave a class together; each joins the class with the least added cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from privnb.runtime.arrays import BoolArray, Int, IntArray
from privnb.sanitizers.algorithms.recoding.label_costs import NEVER, PricedRows, box_cost, divide, empty, widen
from privnb.sanitizers.algorithms.recoding.nearest_class import Tree, nearest, plant, replace_box


class _Places(NamedTuple):
    """The class of each point, and the points of each class.

    - `classes`: integer array (m,).
    - `first`: the first point of each leaf.
    - `following`: for each point, the next point in the same class, or -1 if there is none.
    - `changed`: whether each point has moved, as a boolean array (m,).
    """

    classes: IntArray
    first: IntArray
    following: IntArray
    changed: BoolArray


@njit(cache=True)
def move(table: PricedRows, classes: IntArray, k: Int, changed: BoolArray) -> None:
    """Lower the total cost by moves out of the classes in which a point has `changed`, and change `classes` in place.

    - `table`: `PricedRows` of m points.
    - `classes`: integer array (m,); gaps in the numbers of the classes remain.
    - `changed`: bool array (m,), which afterwards marks the points that moved.
    """
    tree = plant(table, classes)
    leaves = len(tree.cost) // 2
    places = _Places(classes, np.full(2 * leaves, -1), np.full(len(classes), -1), changed)
    tries = np.zeros(2 * leaves, np.bool_)
    for x in range(len(classes) - 1, -1, -1):
        leaf = leaves + classes[x]
        places.following[x], places.first[leaf] = places.first[leaf], x
        tries[leaf] |= changed[x]
        changed[x] = False
    for leaf in range(leaves, 2 * leaves):
        while tries[leaf]:
            tries[leaf] = _relieve(table, tree, places, leaf, k)


@njit(cache=True)
def _relieve(table: PricedRows, tree: Tree, places: _Places, leaf: Int, k: Int) -> bool:
    """Make the first move out of a class that lowers the total cost; return whether there is such a move.

    The candidates for a move are all members; the members under one child of the label in one attribute; all members
    except these; and single points whose own label becomes cheaper. Either at least k records stay, or all records
    leave.
    """
    everybody = tree.weight[leaf]
    if everybody == NEVER or not tree.cost[leaf]:
        return False
    size, x = 0, places.first[leaf]
    while x >= 0:
        size, x = size + 1, places.following[x]
    members, alone, child = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    x = places.first[leaf]
    for i in range(size):
        members[i] = x
        # # A point whose cost would more than double is looked up only if a set with this point may lower the total.
        limit = min(everybody, 2 * table.weights[x]) * tree.cost[leaf]
        alone[i] = nearest(table, tree, table.points[x], table.points[x], table.weights[x], leaf, limit)[1]
        x = places.following[x]
    if _leave(table, tree, places, leaf, members, np.ones(size, np.bool_), alone):
        return True
    for a in range(table.points.shape[1]):
        records = divide(table, members, a, tree.low[leaf, a], tree.high[leaf, a], np.int64(1), child)
        for c in range(len(records)):
            under = records[c]
            if 0 < under <= everybody - k and _leave(table, tree, places, leaf, members, child == c, alone):
                return True
            if under >= k and _leave(table, tree, places, leaf, members, child != c, alone):
                return True
    for i in range(size):
        weight = table.weights[members[i]]
        cheaper = everybody - weight >= k and alone[i] < weight * tree.cost[leaf]
        if cheaper and _leave(table, tree, places, leaf, members, np.arange(size) == i, alone):
            return True
    return False


@njit(cache=True)
def _leave(
    table: PricedRows, tree: Tree, places: _Places, leaf: Int, members: IntArray, goes: BoolArray, alone: IntArray
) -> bool:
    """Move the members that are marked in `goes` out of a class, if this lowers the total cost.

    - `alone`: for each member, the smallest rise of the total cost, in units, if only this member leaves.

    Returns whether the members left.
    """
    # # The saving in the class that they leave, and a lower bound of the loss in the classes that they join.
    attributes = table.points.shape[1]
    low, high = np.empty(attributes, np.int64), np.empty(attributes, np.int64)
    empty(low, high)
    stay, least = np.int64(0), np.int64(0)
    for i in range(len(members)):
        if goes[i]:
            least += alone[i]
        else:
            widen(low, high, table.points[members[i]], table.points[members[i]])
            stay += table.weights[members[i]]
    gain = tree.weight[leaf] * tree.cost[leaf]
    if stay:
        gain -= stay * box_cost(table, low, high)
    if least >= gain:
        return False
    # # The loss if they move one after another; the former state of the targets is kept to undo the moves.
    going = members[goes]
    target, weight = np.empty(len(going), np.int64), np.empty(len(going), np.int64)
    lows, highs = np.full((len(going), attributes), NEVER), np.full((len(going), attributes), -1)
    for i in range(len(going)):
        point, records = table.points[going[i]], table.weights[going[i]]
        other, rise = nearest(table, tree, point, point, records, leaf, gain)
        if other < 0:
            for j in range(i - 1, -1, -1):
                replace_box(table, tree, target[j], lows[j], highs[j], weight[j])
            return False
        gain -= rise
        target[i], weight[i] = other, tree.weight[other]
        widen(lows[i], highs[i], tree.low[other], tree.high[other])
        widen(tree.low[other], tree.high[other], point, point)
        replace_box(table, tree, other, tree.low[other], tree.high[other], weight[i] + records)
    replace_box(table, tree, leaf, low, high, stay)
    # The members of a class are listed in the order of their arrival, the last first.
    places.first[leaf] = -1
    for i in range(len(members) - 1, -1, -1):
        if not goes[i]:
            places.following[members[i]], places.first[leaf] = places.first[leaf], members[i]
    for i in range(len(going)):
        x = going[i]
        places.following[x], places.first[target[i]] = places.first[target[i]], x
        places.classes[x], places.changed[x] = target[i] - len(tree.cost) // 2, True
    return True
