"""How many people are expected in each of many populations, which are conjunctions of conditions on attributes.

All populations within another ask for the attributes after its last one alone. People whose labels are equal there are
counted together: a table has thousands of combinations of labels, and a dozen of those of its last two attributes.
"""

from typing import Any

import numpy as np
import pandas as pd
from numba import njit

from privnb.runtime.arrays import BoolArray, FloatArray, IntArray


def expected(
    counts: FloatArray,
    labels: list[IntArray],
    chances: Any,
    attribute: IntArray,
    node: IntArray,
    conditions: IntArray,
    innermost: BoolArray,
) -> FloatArray:
    """How many people of each sensitive value are to be expected in each of many populations.

    Source: the uniform-distribution assumption, Li and Li, KDD 2009, section 4.2.

    Parameters
    ----------
    counts : float array (boxes, values)
        Of the people that are published alike.
    labels : list of integer array (boxes,)
        Their label, by attribute.
    chances : list of float array (labels, nodes)
        How likely a person under a label is in each node, from 0 to 1, by attribute.
    attribute, node, conditions : integer array (populations,)
        The last condition of a population, by its attribute and its node, and how many it has; its conditions stand in
        the order of the attributes. All populations that lie within one follow it at once.
    innermost : boolean array (populations,)
        Whether none lies within it.

    Returns
    -------
    float array (populations, values)
        From 0 to as many people as have the value: in each box all that have it, each by the product of the chances.
    """
    begins = np.cumsum([0, *(table.size for table in chances)])
    widths = np.array([table.shape[1] for table in chances])
    every = np.concatenate([table.ravel() for table in chances])
    return _summed(counts, *_rests(labels), every, begins, widths, attribute, node, conditions, innermost)


def _rests(labels: list[IntArray]) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """The labels of boxes from each attribute on, each such rest once. Four integer arrays: which rest from the first
    attribute on each box has; of each rest its label of its first attribute and which rest follows from the next one
    on; where the rests from an attribute on begin among all.
    """
    rest, many, found = np.zeros(len(labels[0]), dtype=np.int64), 1, []
    for label in reversed(labels):
        rest, distinct = pd.factorize(label.astype(np.int64) * many + rest)
        found.append(divmod(distinct, many))
        many = len(distinct)
    first, following = (np.concatenate(parts) for parts in zip(*reversed(found), strict=True))
    return rest, first, following, np.cumsum([0, *(len(distinct) for distinct, _ in reversed(found)), 1])


@njit(cache=True)
def _summed(
    counts: FloatArray,
    rest: IntArray,
    first: IntArray,
    following: IntArray,
    rests: IntArray,
    chances: Any,
    begins: IntArray,
    widths: IntArray,
    attribute: IntArray,
    node: IntArray,
    conditions: IntArray,
    innermost: BoolArray,
) -> FloatArray:
    """What `expected` gives.

    rest, first, following, rests: of `_rests`. chances: the table of attribute a from begins[a], in rows of widths[a].
    """
    values, deepest = counts.shape[1], conditions.max()
    # Of the last population with so many conditions: the rests that people in it have, how many, from which attribute
    # on, and how many people of each value have each.
    begin, many, start = rests[: deepest + 1], np.zeros(deepest + 1, np.int64), np.zeros(deepest + 1, np.int64)
    held, people = np.arange(rests[deepest + 1]), np.zeros((rests[deepest + 1], values))
    many[0] = rests[1]
    for box in range(len(rest)):
        for value in range(values):
            people[rest[box], value] += counts[box, value]
    where, written, now = np.zeros(rests[1] + 1, np.int64), np.zeros(rests[1] + 1, np.int64), 0
    total = np.zeros((len(node), values))
    for place in range(len(node)):
        outer = conditions[place] - 1
        while start[outer] <= attribute[place]:
            a = start[outer]
            conditioned = a == attribute[place]
            row = begins[a] + node[place]
            last = begin[outer] + many[outer]
            if conditioned:
                for i in range(begin[outer], last):
                    share = chances[row + first[rests[a] + held[i]] * widths[a]]
                    for value in range(values):
                        total[place, value] += share * people[i, value]
                if innermost[place]:
                    break
            inner = outer + 1 if conditioned else outer  # an attribute without a condition is left out
            now, free = now + 1, begin[inner]
            for i in range(begin[outer], last):
                at = rests[a] + held[i]
                share = chances[row + first[at] * widths[a]] if conditioned else 1.0
                if share == 0:
                    continue
                to = following[at]
                if written[to] != now:
                    written[to], where[to], held[free] = now, free, to
                    for value in range(values):
                        people[free, value] = share * people[i, value]
                    free += 1
                else:
                    for value in range(values):
                        people[where[to], value] += share * people[i, value]
            many[inner], start[inner] = free - begin[inner], a + 1
            if conditioned:
                break
    return total
