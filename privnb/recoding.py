"""Local recoding: classes of at least k records whose smallest labels cost the least certainty.

Three steps, each of which sees only what a class's label costs: a descent cuts the table into classes far smaller than
k, the cheapest classes too small join the class where they cost least, and members whose label gets cheaper elsewhere
move. The sum that they lower is the certainty penalty of Xu et al., "Utility-Based Anonymization Using Local
Recoding", KDD 2006, section 3; the search is our own (theirs joins pairs, or splits at two far records).
"""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numba import njit

_UNIT = 2**20  # penalties are integers, so that sums and ties are exact: 1 is written as this
_NEVER = 2**62
_FINER = 8  # the descent goes on to classes of k / 8 records: joining those beats cutting down to k at once
_ROUNDS = 2  # a third changes the fourth digit of the mean penalty
_DEEP = 128  # more nodes than a search ever keeps open: one a level of the tree


def local_recoding(
    codes: np.ndarray,
    multiplicities: np.ndarray,
    lines: Sequence[np.ndarray | int],
    k: int,
    holds: Callable[[np.ndarray], np.ndarray] | None = None,
) -> np.ndarray:
    """The class of each distinct combination, 0 to classes - 1; every class has k records or more.

    codes: integer array (m, attributes), distinct rows of positions on the attributes' lines. multiplicities: integer
    array (m,), records of each. lines: one an attribute; an integer array (levels, positions) with the node that holds
    each position at each level, as `Taxonomy.groups`, whose label is the lowest common one; or the number of positions,
    for labels that run from the lowest to the highest. holds: which classes are allowed, called with an integer array
    (m,) of classes 0 to c - 1, returns a bool array (c,). Whatever it asks must still hold in a union of classes that
    hold; classes that fail join their cheapest neighbour until none fails.

    Minimizes, without a promise of the optimum, the sum over records and attributes of (positions under the label - 1)
    / (positions - 1). A combination is never split over classes; the result depends on the order of rows in nothing
    but its own order. Raises ValueError when even one class of all records has fewer than k, or is not allowed.
    """
    codes, weights = np.asarray(codes, dtype=np.int64), np.asarray(multiplicities, dtype=np.int64)
    if not 1 <= k <= weights.sum():
        raise ValueError(f"classes of k={k} records cannot be made of {weights.sum()}. Give k from 1 to that.")
    # Short lines first: a step on them costs most, so that a search sees soonest that it is too much.
    sides = sorted(range(len(lines)), key=lambda a: lines[a] if np.isscalar(lines[a]) else np.shape(lines[a])[1])
    codes, lines = codes[:, sides], [lines[a] for a in sides]
    order = np.lexsort(codes.T[::-1])
    points, weights = np.ascontiguousarray(codes[order]), weights[order]
    if not points[1:].shape[0] == (points[1:] != points[:-1]).any(axis=1).sum():
        raise ValueError("the rows of codes must be distinct. Group them and give their multiplicities.")
    costs = _costs(lines)
    # Every step numbers classes along the descent, so that neighbours in number are neighbours in the table.
    classes = _descend(costs, points, weights, np.zeros(len(points), np.int64), 1 + k // _FINER, 1)
    classes = _join(costs, points, weights, classes, _sizes(classes, weights) < k, k)
    changed, levels = np.ones(len(points), dtype=bool), costs.groups.shape[1]
    for _ in range(_ROUNDS):
        classes = _descend(costs, points, weights, classes, k, levels)
        _move(costs, points, weights, classes, k, changed)
        if not changed.any():
            break
    classes = _descend(costs, points, weights, classes, k, levels)
    back = np.argsort(order)
    if holds is not None:
        classes = _join_until(costs, points, weights, classes, k, lambda classes: holds(classes[back]))
    return classes[back]


def joined(
    codes: np.ndarray,
    lines: Sequence[np.ndarray | int],
    classes: np.ndarray,
    k: int,
    holds: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """Classes of n records after those that are too small or not allowed have joined the others, as `local_recoding`
    does it: the cheapest to the one where it costs least, until none is left.

    codes: integer array (n, attributes); classes: integer array (n,) from 0. Returns one of the same kind.
    """
    weights = np.ones(len(codes), dtype=np.int64)
    costs, points = _costs(lines), np.ascontiguousarray(codes, dtype=np.int64)
    short = _sizes(classes, weights) < k
    if short.any():
        classes = _number(_join(costs, points, weights, classes, short, k))
    return _join_until(costs, points, weights, classes, k, holds)


def _join_until(costs, points, weights, classes, k, holds):
    while not (allowed := np.asarray(holds(classes), dtype=bool)).all():
        if len(allowed) == 1:
            raise ValueError("not even one class of all records is allowed. Ask for less.")
        classes = _number(_join(costs, points, weights, classes, ~allowed, k))
    return classes


class _Costs(NamedTuple):
    """What labels cost. groups: integer array (attributes, levels, positions), the node of each position.
    spans: the units that the label of positions low to high costs, attribute a's table from begin[a] in rows of
    width[a]. steps: where labels are runs, which need no table, the line's number of positions less one; else 0.
    """

    groups: np.ndarray
    spans: np.ndarray
    begin: np.ndarray
    width: np.ndarray
    steps: np.ndarray


class _Tree(NamedTuple):
    """A binary tree over the classes: node i has the children 2i and 2i + 1, class c is the leaf `leaves + c`.

    low, high: the highest low end and the lowest high end in the node, so that whoever joins any of its classes covers
    at least what lies between; cost: the highest; weight: the lowest. In a leaf these are the class's own. An empty
    leaf bounds nothing: its weight is `_NEVER`.
    """

    low: np.ndarray
    high: np.ndarray
    cost: np.ndarray
    weight: np.ndarray


def _costs(lines):
    trees = [np.asarray(line) for line in lines if not np.isscalar(line)]
    levels, positions = (max((tree.shape[axis] for tree in trees), default=1) for axis in (0, 1))
    groups = np.zeros((len(lines), levels, positions), np.int64)
    steps, begin, width = np.zeros((3, len(lines)), np.int64)
    spans = [np.empty(0, np.int32)]
    for a, line in enumerate(lines):
        if np.isscalar(line):
            steps[a] = max(int(line) - 1, 1)
            continue
        leaves = width[a] = np.shape(line)[1]
        begin[a] = sum(map(len, spans))
        span = np.full((leaves, leaves), -1, np.int32)
        for level, row in enumerate(np.asarray(line)):
            _, node, under = np.unique(row, return_inverse=True, return_counts=True)
            groups[a, level, :leaves] = node
            costs = (under[node] - 1) * _UNIT // max(leaves - 1, 1)
            span = np.where((span < 0) & (node[:, None] == node), costs[:, None], span)
        spans.append(span.ravel().astype(np.int32))
    return _Costs(groups, np.concatenate(spans), begin, width, steps)


def _number(classes):
    return np.unique(classes, return_inverse=True)[1]


def _sizes(classes, weights):
    return np.bincount(classes, weights).astype(np.int64)


@njit(cache=True)
def _level(costs, a, low, high):
    level = 0
    while costs.groups[a, level, low] != costs.groups[a, level, high]:
        level += 1
    return level


@njit(cache=True)
def _cost(costs, a, low, high):
    """Units that the smallest label of low to high costs a record."""
    if costs.steps[a]:
        return (high - low) * _UNIT // costs.steps[a]
    return np.int64(costs.spans[costs.begin[a] + low * costs.width[a] + high])


@njit(cache=True)
def _box_cost(costs, low, high):
    total = 0
    for a in range(len(low)):
        total += _cost(costs, a, low[a], high[a])
    return total


@njit(cache=True)
def _empty(low, high):
    low[:], high[:] = _NEVER, -1


@njit(cache=True)
def _widen(low, high, point):
    for a in range(len(point)):
        low[a] = min(low[a], point[a])
        high[a] = max(high[a], point[a])


# 1. The descent: specialize one attribute of a class after another.


def _descend(costs, points, weights, classes, k, levels):
    """Cut classes as long as that lowers the total and leaves k records in each part; new numbers, in order.

    One cut specializes an attribute by 1 to `levels` levels.
    """
    order = np.argsort(classes, kind="stable")
    ends = np.append(0, np.cumsum(np.unique(classes, return_counts=True)[1]))
    return _cut_all(costs, points, weights, order, ends, k, levels)


@njit(cache=True)
def _cut_all(costs, points, weights, order, ends, k, levels):
    m, attributes = points.shape
    width = costs.groups.shape[2] + 3
    stack = np.empty((m + 2, 2), np.int64)
    part, best_part, moved, classes = (
        np.empty(m, np.int64),
        np.empty(m, np.int64),
        np.empty(m, np.int64),
        np.empty(m, np.int64),
    )
    sizes, begin = np.empty(width, np.int64), np.empty(width, np.int64)
    low, high = np.empty((width, attributes), np.int64), np.empty((width, attributes), np.int64)
    number = 0
    for c in range(len(ends) - 1):
        stack[0], top = (ends[c], ends[c + 1]), 1
        while top:
            top -= 1
            first, last = stack[top]
            weight = weights[order[first:last]].sum()
            _empty(low[0], high[0])
            for i in range(first, last):
                _widen(low[0], high[0], points[order[i]])
            whole_low, whole_high = low[0].copy(), high[0].copy()
            total = weight * _box_cost(costs, whole_low, whole_high)
            best, parts = 0.0, 0
            for choice in range(attributes * levels if weight >= 2 * k and total else 0):
                a, down = choice // levels, choice % levels + 1
                count = _parts(
                    costs, points, weights, order[first:last], a, down, whole_low, whole_high, k, part, sizes
                )
                if count < 2:
                    continue
                for p in range(count):
                    _empty(low[p], high[p])
                for i in range(last - first):
                    _widen(low[part[i]], high[part[i]], points[order[first + i]])
                gain, information = float(total), weight * np.log(weight)
                for p in range(count):
                    gain -= sizes[p] * _box_cost(costs, low[p], high[p])
                    information -= sizes[p] * np.log(sizes[p])
                # Gain per bit, as cuts are scarce: a table allows about n log(n / k) of them. The margin keeps the
                # last digit of a logarithm, which differs between machines, from deciding ties.
                if gain / information > best * (1 + 1e-9):
                    best, parts = gain / information, count
                    best_part[: last - first] = part[: last - first]
            if not parts:
                classes[order[first:last]] = number
                number += 1
                continue
            begin[: parts + 1] = 0
            for i in range(last - first):
                begin[best_part[i] + 1] += 1
            begin[: parts + 1] = np.cumsum(begin[: parts + 1]) + first
            for p in range(parts - 1, -1, -1):
                stack[top] = begin[p], begin[p + 1]
                top += 1
            for i in range(last - first):
                moved[begin[best_part[i]]] = order[first + i]
                begin[best_part[i]] += 1
            order[first:last] = moved[first:last]
    return classes


@njit(cache=True)
def _parts(costs, points, weights, members, a, down, low, high, k, part, sizes):
    """Each member's part when attribute a is specialized `down` levels, and the parts' sizes; returns their number.

    Children of k records are parts; the others share one that keeps the label, and if they are fewer than k the
    smallest child joins them. A run is cut at the median.
    """
    if low[a] == high[a] or (costs.steps[a] and down > 1):
        return 0
    if costs.steps[a]:
        values = points[members, a]
        order = np.argsort(values, kind="mergesort")
        total = weights[members].sum()
        below, cut = 0, low[a]
        for i in order:
            if values[i] > cut and 2 * below >= total:
                break
            cut = values[i] if values[i] < high[a] else cut
            below += weights[members[i]]
        children, level = 2, 0
        for i in range(len(members)):
            part[i] = values[i] > cut
    else:
        level = _level(costs, a, low[a], high[a]) - down
        if level < 0:
            return 0
        children = costs.groups.shape[2]
        for i in range(len(members)):
            part[i] = costs.groups[a, level, points[members[i], a]]
    records = np.zeros(children, np.int64)
    for i in range(len(members)):
        records[part[i]] += weights[members[i]]
    rest, least = 0, -1
    for child in range(children):
        if records[child] < k:
            rest += records[child]
        elif least < 0 or records[child] < records[least]:
            least = child
    if least < 0:
        return 0
    joins = 0 < rest < k
    number = np.empty(children, np.int64)
    count = 0
    for child in range(children):
        number[child] = -1
        if records[child] >= k and not (joins and child == least):
            number[child], sizes[count] = count, records[child]
            count += 1
    if rest:
        sizes[count] = rest + (records[least] if joins else 0)
        count += 1
    for i in range(len(members)):
        part[i] = number[part[i]] if number[part[i]] >= 0 else count - 1
    return count


# 2. The search for the class that a box joins at the least cost.


@njit(cache=True)
def _plant(costs, points, weights, classes):
    """The tree over the classes of the points."""
    leaves = 1
    while leaves <= classes.max():
        leaves *= 2
    attributes = points.shape[1]
    tree = _Tree(
        np.full((2 * leaves, attributes), _NEVER),
        np.full((2 * leaves, attributes), -1),
        np.full(2 * leaves, -1),
        np.zeros(2 * leaves, np.int64),
    )
    for x in range(len(points)):
        _widen(tree.low[leaves + classes[x]], tree.high[leaves + classes[x]], points[x])
        tree.weight[leaves + classes[x]] += weights[x]
    for leaf in range(leaves, 2 * leaves):
        if tree.weight[leaf]:
            tree.cost[leaf] = _box_cost(costs, tree.low[leaf], tree.high[leaf])
        else:
            _clear(tree, leaf)
    for node in range(leaves - 1, 0, -1):
        _pull(tree, node)
    return tree


@njit(cache=True)
def _clear(tree, leaf):
    tree.low[leaf], tree.high[leaf], tree.cost[leaf], tree.weight[leaf] = -1, _NEVER, -1, _NEVER


@njit(cache=True)
def _pull(tree, node):
    """Draw a node from its children; returns whether that changed it."""
    left, right, changed = 2 * node, 2 * node + 1, False
    for a in range(tree.low.shape[1]):
        low, high = max(tree.low[left, a], tree.low[right, a]), min(tree.high[left, a], tree.high[right, a])
        changed |= low != tree.low[node, a] or high != tree.high[node, a]
        tree.low[node, a], tree.high[node, a] = low, high
    cost, weight = max(tree.cost[left], tree.cost[right]), min(tree.weight[left], tree.weight[right])
    changed |= cost != tree.cost[node] or weight != tree.weight[node]
    tree.cost[node], tree.weight[node] = cost, weight
    return changed


@njit(cache=True)
def _tell(tree, leaf):
    """Bring a leaf's change to all above it."""
    node = leaf // 2
    while node and _pull(tree, node):
        node //= 2


@njit(cache=True)
def _set(costs, tree, leaf, low, high, weight):
    tree.low[leaf], tree.high[leaf], tree.weight[leaf] = low, high, weight
    tree.cost[leaf] = _box_cost(costs, low, high)
    _tell(tree, leaf)


@njit(cache=True, inline="always")
def _rise(costs, tree, node, low, high, weight, limit):
    """The least by which the total can rise when a box of some weight, itself without cost, joins a class in the node:
    exact in a leaf; `_NEVER` once it passes the limit."""
    if tree.weight[node] == _NEVER:
        return _NEVER
    total, rise = 0, 0
    for a in range(len(low)):
        total += _cost(costs, a, min(low[a], tree.low[node, a]), max(high[a], tree.high[node, a]))
        rise = weight * total + tree.weight[node] * max(0, total - tree.cost[node])
        if rise >= limit:
            return _NEVER
    return rise


@njit(cache=True)
def _nearest(costs, tree, low, high, weight, own, limit, stack, bounds):
    """The leaf other than `own` that a box joins at the least rise, and the rise; -1 and the limit if none is below."""
    leaves = len(tree.cost) // 2
    best = -1
    stack[0], bounds[0], top = 1, _rise(costs, tree, 1, low, high, weight, limit), 1
    while top:
        top -= 1
        node = stack[top]
        if bounds[top] >= limit or node == own:
            continue
        if node >= leaves:
            best, limit = node, bounds[top]
            continue
        left = _rise(costs, tree, 2 * node, low, high, weight, limit)
        right = _rise(costs, tree, 2 * node + 1, low, high, weight, limit)
        nearer = 2 * node + (right < left)
        stack[top], bounds[top] = 4 * node + 1 - nearer, max(left, right)
        stack[top + 1], bounds[top + 1] = nearer, min(left, right)
        top += 2
    return best, limit


@njit(cache=True)
def _join(costs, points, weights, classes, short, k):
    """Join each class that is `short` (bool array), cheapest first, to the one where the total rises least.

    A union stays short as long as it has fewer than k records. Returns the classes, with gaps in their numbers.
    """
    tree = _plant(costs, points, weights, classes)
    leaves = len(tree.cost) // 2
    stack, bounds = np.empty(_DEEP, np.int64), np.empty(_DEEP, np.int64)
    parent = np.arange(2 * leaves)
    queue = [(tree.cost[leaves + c], leaves + c) for c in range(len(short)) if short[c]]
    heapify(queue)
    while queue:
        cost, leaf = heappop(queue)
        # A class that has been joined to meanwhile is queued anew if it is still short.
        if parent[leaf] != leaf or cost != tree.cost[leaf] or not short[leaf - leaves]:
            continue
        low, high, weight = tree.low[leaf].copy(), tree.high[leaf].copy(), tree.weight[leaf]
        other, _ = _nearest(costs, tree, low, high, weight, leaf, _NEVER, stack, bounds)
        if other < 0:
            break
        _widen(low, high, tree.low[other])
        _widen(low, high, tree.high[other])
        parent[leaf] = other
        _clear(tree, leaf)
        _tell(tree, leaf)
        _set(costs, tree, other, low, high, tree.weight[other] + weight)
        short[other - leaves] = tree.weight[other] < k
        if short[other - leaves]:
            heappush(queue, (tree.cost[other], other))
    joined = np.empty(len(classes), np.int64)
    for x in range(len(classes)):
        leaf = leaves + classes[x]
        while parent[leaf] != leaf:
            leaf = parent[leaf]
        joined[x] = leaf - leaves
    return joined


# 3. The moves: members leave a class together, each for the class where it costs least.


class _Room(NamedTuple):
    """Memory that trying a move needs. members, part, alone: of the class at hand, its combinations, the set that each
    belongs to, and the least rise when each moves alone. target, old_low, old_high, old_weight: of each member that has
    found a class, its leaf and what that was before, to take the move back. low, high: of those who stay."""

    members: np.ndarray
    part: np.ndarray
    alone: np.ndarray
    target: np.ndarray
    old_low: np.ndarray
    old_high: np.ndarray
    old_weight: np.ndarray
    low: np.ndarray
    high: np.ndarray
    records: np.ndarray
    stack: np.ndarray
    bounds: np.ndarray


@njit(cache=True)
def _move(costs, points, weights, classes, k, changed):
    """Lower the total by moves, in place, beginning with the classes of which a combination has `changed`.

    `changed` (bool array) holds what moved when it returns.
    """
    m, attributes = points.shape
    tree = _plant(costs, points, weights, classes)
    leaves = len(tree.cost) // 2
    head, following = np.full(2 * leaves, -1), np.full(m, -1)
    for x in range(m - 1, -1, -1):
        following[x], head[leaves + classes[x]] = head[leaves + classes[x]], x
    tries = np.zeros(2 * leaves, np.bool_)
    for x in range(m):
        tries[leaves + classes[x]] |= changed[x]
    changed[:] = False
    room = _Room(
        np.empty(m, np.int64),
        np.empty(m, np.int64),
        np.empty(m, np.int64),
        np.empty(m, np.int64),
        np.empty((m, attributes), np.int64),
        np.empty((m, attributes), np.int64),
        np.empty(m, np.int64),
        np.empty(attributes, np.int64),
        np.empty(attributes, np.int64),
        np.empty(costs.groups.shape[2] + 2, np.int64),
        np.empty(_DEEP, np.int64),
        np.empty(_DEEP, np.int64),
    )
    for leaf in range(leaves, 2 * leaves):
        while tries[leaf] and _relieve(costs, points, weights, k, tree, leaf, head, following, classes, changed, room):
            pass


@njit(cache=True)
def _relieve(costs, points, weights, k, tree, leaf, head, following, classes, changed, room):
    """Make the first move out of a class that lowers the total; returns whether there is one.

    Who leaves: everybody; those under one child of the label on one attribute, or all but those (a run's children are
    its halves); a single combination. k records stay, or none.
    """
    if tree.weight[leaf] == _NEVER or not tree.cost[leaf]:
        return False
    size, x = 0, head[leaf]
    while x >= 0:
        room.members[size] = x
        # Who would cost more than twice what it costs now is looked up only when a set that it is in may gain.
        limit = min(tree.weight[leaf], 2 * weights[x]) * tree.cost[leaf]
        found = _nearest(costs, tree, points[x], points[x], weights[x], leaf, limit, room.stack, room.bounds)
        room.alone[size] = found[1]
        size, x = size + 1, following[x]
    everybody = tree.weight[leaf]
    room.part[:size] = 0
    if _leave(costs, points, weights, tree, leaf, size, 0, False, head, following, classes, changed, room):
        return True
    for a in range(points.shape[1]):
        for child in range(_children(costs, points, weights, size, a, tree.low[leaf], tree.high[leaf], room)):
            under = room.records[child]
            if (
                under
                and everybody - under >= k
                and _leave(
                    costs, points, weights, tree, leaf, size, child, False, head, following, classes, changed, room
                )
            ):
                return True
            if under >= k and _leave(
                costs, points, weights, tree, leaf, size, child, True, head, following, classes, changed, room
            ):
                return True
    # How many members stand at the two ends of each attribute: only a sole one narrows the label by leaving.
    lowest, highest = np.zeros(points.shape[1], np.int64), np.zeros(points.shape[1], np.int64)
    for i in range(size):
        for a in range(points.shape[1]):
            lowest[a] += points[room.members[i], a] == tree.low[leaf, a]
            highest[a] += points[room.members[i], a] == tree.high[leaf, a]
    room.part[:size] = np.arange(size)
    for i in range(size):
        x = room.members[i]
        narrows = False
        for a in range(points.shape[1]):
            narrows |= lowest[a] == 1 and points[x, a] == tree.low[leaf, a]
            narrows |= highest[a] == 1 and points[x, a] == tree.high[leaf, a]
        if (
            everybody - weights[x] >= k
            and (narrows or room.alone[i] < weights[x] * tree.cost[leaf])
            and _leave(costs, points, weights, tree, leaf, size, i, False, head, following, classes, changed, room)
        ):
            return True
    return False


@njit(cache=True)
def _leave(costs, points, weights, tree, leaf, size, part, others, head, following, classes, changed, room):
    """Let the members in a part leave, or all others, if that lowers the total; returns whether it did."""
    # What is saved where they leave, and the least that is lost where they go, each alone.
    _empty(room.low, room.high)
    stay, least = 0, 0
    for i in range(size):
        if (room.part[i] == part) == others:
            _widen(room.low, room.high, points[room.members[i]])
            stay += weights[room.members[i]]
        else:
            least += room.alone[i]
    gain = tree.weight[leaf] * tree.cost[leaf]
    if stay:
        gain -= stay * _box_cost(costs, room.low, room.high)
    if least >= gain:
        return False
    # What is lost when they go one after another.
    for i in range(size):
        if (room.part[i] == part) == others:
            room.target[i] = leaf
            continue
        x = room.members[i]
        other, rise = _nearest(costs, tree, points[x], points[x], weights[x], leaf, gain, room.stack, room.bounds)
        if other < 0:
            for j in range(i - 1, -1, -1):
                if room.target[j] != leaf:
                    _set(costs, tree, room.target[j], room.old_low[j], room.old_high[j], room.old_weight[j])
            return False
        gain -= rise
        room.target[i], room.old_weight[i] = other, tree.weight[other]
        room.old_low[i], room.old_high[i] = tree.low[other], tree.high[other]
        _widen(tree.low[other], tree.high[other], points[x])
        _set(costs, tree, other, tree.low[other], tree.high[other], tree.weight[other] + weights[x])
    head[leaf] = -1
    for i in range(size - 1, -1, -1):
        x, to = room.members[i], room.target[i]
        following[x], head[to], classes[x] = head[to], x, to - len(tree.cost) // 2
        changed[x] = True
    if stay:
        _set(costs, tree, leaf, room.low, room.high, stay)
    else:
        _clear(tree, leaf)
        _tell(tree, leaf)
    return True


@njit(cache=True)
def _children(costs, points, weights, size, a, low, high, room):
    """Note the child of the label low to high on attribute a under which each member lies, and the records under each;
    returns how many children there may be."""
    level = 0 if costs.steps[a] else _level(costs, a, low[a], high[a]) - 1
    if low[a] == high[a] or level < 0:
        return 0
    children = 2 if costs.steps[a] else costs.groups.shape[2]
    room.records[:children] = 0
    for i in range(size):
        value = points[room.members[i], a]
        child = np.int64(2 * value > low[a] + high[a]) if costs.steps[a] else costs.groups[a, level, value]
        room.part[i] = child
        room.records[child] += weights[room.members[i]]
    return children
