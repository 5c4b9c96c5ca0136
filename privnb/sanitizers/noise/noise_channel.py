"""What noise leaves to be guessed: the laws of the mechanisms in closed form, and whose a noisy row is.

A noisy sanitizer states the `Law` of each column, and nothing here asks which sanitizer it was. The mechanisms are
those of `mechanisms`. Numbers are in steps of their public domain from 0; `scale` is sensitivity /
epsilon, in such steps. A closed form says what the mechanism leaks for given shares of the true values, not what one
draw of it happened to show.

Source: Alvim, Chatzikokolakis, McIver, Morgan, Palamidessi, Smith, "The Science of Quantitative Information Flow",
Springer 2020, chapters 5 and 7 (vulnerability, capacity).

One module: a row is guessed by the laws that stand before it.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

import numpy as np
import pandas as pd

from privnb.measures.intervals import mean_interval
from privnb.microdata.counts import combinations, distinct_codes
from privnb.microdata.treatment import Law, Unreadable
from privnb.runtime import expect
from privnb.runtime.tolerances import ROUNDING
from privnb.sanitizers.noise.matrix_laws import Symmetric, symmetric_vulnerability
from privnb.sanitizers.noise.mechanisms import check_epsilon, kept

PAIRS = 2**18  # of released rows and persons who are compared at a time


def response_vulnerability(prior, epsilon):
    """How likely the true category is guessed from a randomized response: the posterior vulnerability, in closed form.

    A response is worth believing where it is likelier than the commonest category changed into it.

    Parameters
    ----------
    prior : array (k,)
        Probabilities of all the categories.
    epsilon : float
        Above 0.

    Returns
    -------
    float
        The largest entry of `prior` to 1; lower protects more.

    >>> round(response_vulnerability(np.full(14, 1 / 14), 1), 9)
    0.172937593
    """
    check_epsilon(epsilon)
    prior = np.asarray(expect.vector("prior", prior), dtype=float)
    true = kept(len(prior), epsilon)
    return symmetric_vulnerability(prior, len(prior), true, (1 - true) / max(len(prior) - 1, 1))


def geometric_vulnerability(prior, scale, steps=None):
    """How likely the true number is guessed from one with geometric noise: the posterior vulnerability, in closed form.

    Truncation changes nothing.

    Parameters
    ----------
    prior : array (m,)
        Probabilities.
    scale : float
        Sensitivity / epsilon, in steps of the public domain; above 0.
    steps : array (m,), optional
        The numbers that they are of, rising whole ones, by default 0..m-1: of a wide domain only those that occur are
        needed.

    Returns
    -------
    float
        The largest entry of `prior` to 1; lower protects more.

    >>> round(geometric_vulnerability(np.full(83, 1 / 83), 10), 9)
    0.06140466
    """
    expect.positive("scale", scale)
    decay, (prior, left, right, gaps, turn) = np.exp(-1 / scale), _envelopes(prior, scale, steps)
    before = np.clip(np.floor(turn), 0, gaps - 1)
    inside = left[:-1] * _geometric(before, scale) + right[1:] * _geometric(gaps - 1 - before, scale)
    on = np.maximum(left, right).sum() * np.tanh(1 / (2 * scale))
    return float(on + inside.sum() * decay / (1 + decay) + (right[0] + left[-1]) * decay / (1 + decay))


def laplace_vulnerability(prior, scale, steps=None):
    """How likely the true number is guessed from one with Laplace noise: as `geometric_vulnerability`, of noise that is
    not in whole steps.

    Never above that of geometric noise of the same scale, whose steps tell all that Laplace noise does.

    Parameters
    ----------
    prior : array (m,)
    scale : float
    steps : array (m,), optional
        As of `geometric_vulnerability`.

    Returns
    -------
    float
        The largest entry of `prior` to 1; lower protects more.
    """
    expect.positive("scale", scale)
    prior, left, right, gaps, turn = _envelopes(prior, scale, steps)
    before = np.clip(turn, 0, gaps)
    inside = left[:-1] * _geometric(before, scale) + right[1:] * _geometric(gaps - before, scale)
    return float((inside.sum() + right[0] + left[-1]) / 2)


# The laws of columns.


@dataclass(frozen=True)
class _OnNumbers(Law):
    """Noise on the numbers of an attribute."""

    scale: float
    step: float

    def __post_init__(self):
        expect.positive("scale", self.scale)
        expect.positive("step", self.step)

    def __str__(self):
        return f"{self.name}, scale {self.scale:g}"

    @property
    def in_steps(self):
        return self.scale / self.step

    def vulnerability(self, prior, positions):
        return self.closed(prior, self.in_steps, positions)

    def surprise(self, true, seen):
        return 1 / self.in_steps * np.abs(true - seen)

    def amplification(self, size):
        # The farthest two values differ by a factor e for each `scale` between them.
        return float(np.exp((size - 1) / self.in_steps))

    def found(self, groups):
        # On one line the groups stand so far apart that noise leads from none to another. Whole numbers of any size.
        apart = max(int(group[-1]) for group in groups) + int(80 * self.in_steps) + 1
        steps = np.concatenate([number * apart + group.astype(object) for number, group in enumerate(groups)])
        return self.closed(np.ones(len(steps)), self.in_steps, steps)


@dataclass(frozen=True)
class Laplace(_OnNumbers):
    """Laplace noise.

    Parameters
    ----------
    scale : float
        Sensitivity / epsilon, in the attribute's unit; above 0.
    step : float
        Of the public domain, in the same unit; above 0.
    """

    name = "Laplace noise"
    closed = staticmethod(laplace_vulnerability)

    def cumulative(self, noise):
        tail = np.exp(-np.abs(noise) / self.scale) / 2
        return np.where(np.asarray(noise) < 0, tail, 1 - tail)

    @property
    def variance(self):
        return 2 * self.scale**2

    def capacity(self, size):
        return float(1 + (size - 1) * -np.expm1(-1 / (2 * self.in_steps)))


@dataclass(frozen=True)
class Geometric(_OnNumbers):
    """Two-sided geometric noise.

    Parameters
    ----------
    scale, step : float
        As of `Laplace`.
    """

    name = "geometric noise in whole steps"
    closed = staticmethod(geometric_vulnerability)

    def cumulative(self, noise):
        steps, decay = np.floor(np.asarray(noise) / self.step + ROUNDING), np.exp(-1 / self.in_steps)
        return np.where(steps < 0, decay ** np.abs(steps), 1 + decay - decay ** (steps + 1)) / (1 + decay)

    @property
    def variance(self):
        decay = np.exp(-1 / self.in_steps)
        return float(2 * decay / (1 - decay) ** 2) * self.step**2

    def capacity(self, size):
        return float(1 + (size - 1) * np.tanh(1 / (2 * self.in_steps)))


@dataclass(frozen=True)
class Response(Symmetric):
    """Randomized response over `size` categories.

    Parameters
    ----------
    epsilon : float
        Above 0.
    size : int
        From 2.
    """

    epsilon: float
    size: int

    def __post_init__(self):
        check_epsilon(self.epsilon)
        expect.whole("size", self.size, 2)

    def __str__(self):
        return f"randomized response, {self.size} values, each true one kept with {self.true:.4g}"

    @property
    def true(self):
        return kept(self.size, self.epsilon)


# Cells and rows.


def cell_vulnerability(law, attribute, column):
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
    expect.these(law=law, attribute=attribute)
    if not len(expect.kind("column", column, pd.Series, np.ndarray, list)):
        raise ValueError("column must have a value at least, and it has none.")
    gap = pd.isna(pd.Series(column)).to_numpy()
    positions, people = np.unique(attribute.domain.codes(np.asarray(column)[~gap]), return_counts=True)
    told = law.vulnerability(people / len(gap), positions) if len(positions) else 0.0
    return told + gap.mean() if gap.any() else told


def cell_capacity(law, attribute):
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
    expect.these(law=law, attribute=attribute)
    return law.capacity(_size(attribute))


def identification(dataset, release, *, rng, rows=2000):
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
    expect.these(dataset=dataset, release=release, rng=rng)
    expect.whole("rows", rows, 1)
    dataset, names = release.originals(dataset), dataset.schema.quasi_identifiers
    laws = {name: release.columns[name].law for name in names if name in release.treated("noisy")}
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
    shares = np.concatenate(shares)
    low, high = mean_interval(shares)
    return np.mean(shares), max(low, 1 / len(dataset)), min(high, 1)


def _drawn_apart(laws, true, seen):
    """Of columns that are drawn together one law and one position for all: tuples (law, true ones, those seen)."""
    drawn = [(law, true[name], seen[name]) for name, law in laws.items() if law.together is None]
    for joint in dict.fromkeys(law.together for law in laws.values() if law.together is not None):
        both = (joint.positions([positions[name] for name in joint.names]) for positions in (true, seen))
        drawn.append((joint.law, *both))
    return drawn


@lru_cache(maxsize=8)
def _register(dataset, noisy):
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
    true = {name: dataset.schema[name].domain.codes(dataset.table[name]) for name in noisy}
    for name, gap in gaps.items():
        true[name][gap] = 0  # all of a group, as of `_seen`
    columns = [group, *true.values()]
    first, index = distinct_codes(columns, [column.max() + 1 for column in columns])
    return group, np.bincount(group[first]), {n: codes[first] for n, codes in true.items()}, np.bincount(index)


def _cuts(sizes):
    """Where to cut a list so that the parts, but for their first member, have sizes of less than `PAIRS` together."""
    total = np.cumsum(sizes) // PAIRS
    return np.flatnonzero(np.diff(total)) + 1


def _seen(attribute, cells):
    """Noisy cells in steps of the domain, 0 for a missing one, or as positions of categories."""
    if attribute.numeric:
        return np.nan_to_num((np.asarray(cells, dtype=float) - attribute.domain.low) / attribute.domain.step)
    return attribute.domain.codes(cells)


def _size(attribute):
    return attribute.domain.steps + 1 if attribute.numeric else len(attribute.domain.values)


def _geometric(steps, scale):
    return -np.expm1(-steps / scale)


def _envelopes(prior, scale, steps):
    """The likeliest explanation of a noisy number from each side.

    Returns the positive probabilities (m,), at each the largest one left of it or right of it after its decay over the
    distance, two arrays (m,), the gaps between neighbours (m - 1,), and how far into a gap the left one is the larger.
    """
    expect.vector("prior", prior)
    if steps is not None:
        expect.vector("steps", steps, len(prior))
    prior = np.asarray(prior, dtype=float)
    steps = np.arange(len(prior)) if steps is None else np.asarray(steps)
    prior, steps = prior[prior > 0], steps[prior > 0]
    gaps = np.diff(steps).astype(float)
    decays = np.exp(-gaps / scale)

    def from_left(values, decays):
        pairs = zip(values[1:].tolist(), decays.tolist(), strict=True)
        return np.array(list(accumulate(pairs, lambda far, near: max(near[0], far * near[1]), initial=values[0])))

    left, right = from_left(prior, decays), from_left(prior[::-1], decays[::-1])[::-1]
    return prior, left, right, gaps, (gaps + scale * np.log(left[:-1] / right[1:])) / 2
