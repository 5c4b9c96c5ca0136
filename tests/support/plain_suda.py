"""Minimal sample uniques and SUDA scores by plain enumeration, which the package finds by pruned search."""

from itertools import combinations
from math import prod


def minimal_uniques(people, max_size=None):
    """`{(position, attributes)}` of rows given as (person, values)."""
    m = len(people[0][1])
    found = set()
    for position, (person, values) in enumerate(people):
        for size in range(1, (max_size or m) + 1):
            for subset in combinations(range(m), size):
                sharing = {other for other, own in people if all(own[c] == values[c] for c in subset)}
                smaller = any({*less} < {*subset} for at, less in found if at == position)
                if sharing == {person} and not smaller:
                    found.add((position, subset))
    return found


def scores(people, max_size=None):
    """Return the score of each row, by the product of Elliot et al."""
    m = len(people[0][1])
    total = [0] * len(people)
    for position, subset in minimal_uniques(people, max_size):
        total[position] += prod(m - i for i in range(len(subset), m))
    return total
