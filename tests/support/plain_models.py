"""Every privacy model once more, by its definition, from what is published: a path apart from the package's.

Plain Python, exact: shares are fractions, the earth is moved by a flow of least cost, and a logarithm is taken only
where a bound cannot be told without one. Slow; for tables of a few hundred records.

`keeps(model, **published(release, model))` says whether every class of a release keeps the bound.
"""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import exp, inf, log, prod
from typing import NamedTuple

from privnb import privacy_models as family

NEAR = 1e-12  # logarithms are rounded


def level(model, table, quasi_identifiers, **known):
    """The level of the worst class of a published table; arguments as for `keeps`."""
    levels = [LEVELS[type(model)](model, each) for each in _classes(model, table, quasi_identifiers, **known)]
    return min(levels) if model.better == "higher" else max(levels)


def keeps(model, table, quasi_identifiers, **known):
    """Whether every class of a published table keeps the bound of `model`.

    `table`: DataFrame; records with equal labels of all `quasi_identifiers` (names) are a class. `order`: the values of
    the sensitive attribute on their line (sorted, without). `buckets`: the second table of a bucketized release.
    `covers(name, label, value)`: whether a label stands for a value, for models against a population.
    """
    return all(HOLDS[type(model)](model, each) for each in _classes(model, table, quasi_identifiers, **known))


def published(release, model):
    """The arguments of `level` and `keeps` for a release."""
    order = None
    if model.sensitive is not None and not release.schema[model.sensitive].numeric:
        order = release.schema[model.sensitive].domain.values

    @cache
    def positions(name):
        values = model.population[name].unique().tolist()
        return dict(zip(values, release.hierarchies[name].codes(values), strict=True))

    @cache
    def covered(name, label):
        return set(release.hierarchies[name].covered(label))

    def covers(name, label, value):
        return positions(name)[value] in covered(name, label)

    return {
        "table": release.table, "quasi_identifiers": release.schema.quasi_identifiers, "order": order,
        "buckets": release.buckets, "covers": covers,
    }  # fmt: skip


class Seen(NamedTuple):
    """One class: how often each value stands in it and in the whole table, and the values that occur, in order."""

    here: Counter
    whole: Counter
    line: list

    @property
    def size(self):
        return sum(self.here.values())

    @property
    def distinct(self):
        return sum(count > 0 for count in self.here.values())

    @property
    def commonest(self):
        """The largest share of one value."""
        return Fraction(max(self.here.values()), self.size)

    @property
    def shares(self):
        """The share of each value in the class and in the whole table."""
        n, m = self.size, sum(self.whole.values())
        return [(Fraction(self.here[value], n), Fraction(self.whole[value], m)) for value in self.line]


def seen(classes, order=None):
    """What `LEVELS` and `HOLDS` take of each class. `classes`: a dictionary value -> count for each."""
    whole = Counter()
    for here in classes:
        whole.update(here)
    line = [value for value in (sorted(whole) if order is None else order) if whole[value]]
    return [Seen(Counter(here), whole, line) for here in classes]


def _classes(model, table, quasi_identifiers, order=None, buckets=None, covers=None):
    labels = list(zip(*(map(str, table[name].tolist()) for name in quasi_identifiers), strict=True))
    if hasattr(model, "population"):
        people = list(zip(*(model.population[name].tolist() for name in quasi_identifiers), strict=True))
        fit = {cells: sum(all(map(covers, quasi_identifiers, cells, row)) for row in people) for cells in set(labels)}
        return seen([{"fit": fit[cells], "released": count} for cells, count in Counter(labels).items()])
    if model.sensitive is None:
        return seen([{"": count} for count in Counter(labels).values()])
    classes = {}
    if buckets is None:
        for cells, value in zip(labels, table[model.sensitive].tolist(), strict=True):
            classes.setdefault(cells, Counter())[value] += 1
    else:
        rows = zip(*(buckets[name].tolist() for name in ("attribute", "bucket", "value", "count")), strict=True)
        for attribute, bucket, value, count in rows:
            if attribute == model.sensitive:
                classes.setdefault(bucket, Counter())[value] += count
    return seen(list(classes.values()), order)


def as_written(bound):
    """The simple fraction that a number is meant to be: 3/10 for 0.3, 1/3 for 1 / 3, 1/10 for 1 - 0.9: no floats."""
    digits = 1
    while abs((simple := Fraction(bound).limit_denominator(10**digits)) - Fraction(bound)) > NEAR:
        digits += 1
    return simple


def entropy_level(model, each):
    return exp(-sum(share * log(share) for share, _ in each.shares if share))


def entropy_holds(model, each):
    """e to the entropy is the n-th root of the product of (n / count) to the count, so whole numbers decide."""
    n, least = each.size, as_written(model.l)
    product = prod(count**count for count in each.here.values())
    return (n * least.denominator) ** n >= least.numerator**n * product


def tail(model, each):
    """How many records the l-th commonest value has together with all rarer ones."""
    return sum(sorted(each.here.values(), reverse=True)[model.l - 1 :])


def recursive_level(model, each):
    return Fraction(max(each.here.values()), tail(model, each)) if tail(model, each) else inf


def recursive_holds(model, each):
    return max(each.here.values()) < as_written(model.c) * tail(model, each)


def apart(model, line):
    """The ground distance of t-closeness: a function of two values."""
    if model.distance == "equal":
        return lambda one, other: Fraction(one != other)
    if model.distance == "ordered":
        return lambda one, other: Fraction(abs(line.index(one) - line.index(other)), len(line) - 1)
    paths = {row[0]: row for row in model.distance.rows}

    def height(one, other):
        pairs = zip(paths[str(one)], paths[str(other)], strict=True)
        return Fraction(next(h for h, (a, b) in enumerate(pairs) if a == b), len(paths[str(one)]) - 1)

    return height


def least_work(surplus, distance):
    """The least work that evens out `surplus` (value -> amount, in all 0): amount x distance, summed over what is
    carried from where there is too much to where there is too little. A flow of least cost by shortest paths.
    """
    left = dict(surplus)
    much, little = [v for v in left if left[v] > 0], [v for v in left if left[v] < 0]
    far = {(a, b): distance(a, b) for a in much for b in little}
    carried = Counter()
    while any(left.values()):
        cost, before = {a: 0 for a in much if left[a]}, {}
        for _ in left:  # Bellman and Ford: no path has more steps than there are values
            for (a, b), price in far.items():
                # The step back carries less from a to b, which was paid for already.
                for start, end, change in [(a, b, price)] + [(b, a, -price)] * (carried[a, b] > 0):
                    if start in cost and cost[start] + change < cost.get(end, inf):
                        cost[end], before[end] = cost[start] + change, start
        path = [min((b for b in little if left[b]), key=cost.get)]
        while path[0] in before:
            path.insert(0, before[path[0]])
        steps = [(a, b, 1) if a in much else (b, a, -1) for a, b in pairwise(path)]
        amount = min([left[path[0]], -left[path[-1]], *(carried[a, b] for a, b, sign in steps if sign < 0)])
        for a, b, sign in steps:
            carried[a, b] += sign * amount
        left[path[0]] -= amount
        left[path[-1]] += amount
    return sum(amount * far[pair] for pair, amount in carried.items())


def t_level(model, each):
    surplus = {value: p - q for value, (p, q) in zip(each.line, each.shares, strict=True)}
    return least_work(surplus, apart(model, each.line))


def jensen_shannon_level(model, each):
    return sum(x * log(2 * x / (p + q)) for p, q in each.shares for x in (p, q) if x) / 2


def delta_level(model, each):
    return max(abs(log(p / q)) if p else inf for p, q in each.shares)


def beta_level(model, each):
    return max((p - q) / q for p, q in each.shares)


def below_logarithm(each):
    """Whether no value gains more than -ln of its share in the table."""
    return all((p - q) / q <= -log(q) + NEAR for p, q in each.shares)


def presence_level(model, each):
    return Fraction(each.here["released"], max(each.here.values()))


LEVELS = {
    family.KAnonymity: lambda model, each: each.size,
    family.AlphaKAnonymity: lambda model, each: each.commonest,
    family.PSensitiveKAnonymity: lambda model, each: each.distinct,
    family.DistinctDiversity: lambda model, each: each.distinct,
    family.EntropyDiversity: entropy_level,
    family.RecursiveDiversity: recursive_level,
    family.FrequencyDiversity: lambda model, each: 1 / each.commonest,
    family.ConfidenceBound: lambda model, each: Fraction(each.here[model.value], each.size),
    family.TCloseness: t_level,
    family.JensenShannonCloseness: jensen_shannon_level,
    family.DeltaDisclosure: delta_level,
    family.BasicBetaLikeness: beta_level,
    family.EnhancedBetaLikeness: lambda model, each: beta_level(model, each) if below_logarithm(each) else inf,
    family.KMap: lambda model, each: each.here["fit"],
    family.DeltaPresence: presence_level,
}
HOLDS = {
    family.KAnonymity: lambda model, each: each.size >= model.k,
    family.AlphaKAnonymity: lambda model, each: each.size >= model.k and each.commonest <= as_written(model.alpha),
    family.PSensitiveKAnonymity: lambda model, each: each.size >= model.k and each.distinct >= model.p,
    family.DistinctDiversity: lambda model, each: each.distinct >= model.l,
    family.EntropyDiversity: entropy_holds,
    family.RecursiveDiversity: recursive_holds,
    family.FrequencyDiversity: lambda model, each: each.commonest * as_written(model.l) <= 1,
    family.ConfidenceBound: lambda model, each: each.here[model.value] <= as_written(model.h) * each.size,
    family.TCloseness: lambda model, each: t_level(model, each) <= as_written(model.t),
    family.JensenShannonCloseness: lambda model, each: jensen_shannon_level(model, each) <= model.t + NEAR,
    family.DeltaDisclosure: lambda model, each: delta_level(model, each) < model.delta - NEAR,
    family.BasicBetaLikeness: lambda model, each: beta_level(model, each) <= as_written(model.beta),
    family.EnhancedBetaLikeness: lambda model, each: (
        beta_level(model, each) <= as_written(model.beta) and below_logarithm(each)
    ),
    family.KMap: lambda model, each: each.here["fit"] >= model.k,
    family.DeltaPresence: lambda model, each: (
        as_written(model.low) <= presence_level(model, each) <= as_written(model.high)
    ),
}
