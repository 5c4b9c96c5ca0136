"""What noise leaves to be guessed: the channel of a noisy cell in closed form, and whose a noisy row is.

The mechanisms are those of `mechanisms`. Numbers are in steps of their public domain from 0; `scale` is sensitivity /
epsilon, in such steps. A closed form says what the mechanism leaks for given shares of the true values, not what one
draw of it happened to show.

Source: Alvim, Chatzikokolakis, McIver, Morgan, Palamidessi, Smith, "The Science of Quantitative Information Flow",
Springer 2020, chapters 5 and 7 (vulnerability, capacity).
"""

from itertools import accumulate

import numpy as np
import pandas as pd

from privnb.measures.channel_matrix import Channel
from privnb.microdata import expect
from privnb.microdata.counts import combinations, distinct_codes
from privnb.sanitizers import GeometricNoise, LaplaceNoise, RandomizedResponse
from privnb.sanitizers.mechanisms import check_epsilon, kept

LARGEST = 5_000  # values of a channel that is written out
PAIRS = 2**18  # of released rows and persons who are compared at a time


def response_channel(size, epsilon, prior=None):
    """k-ary randomized response over `size` categories, as `mechanisms.randomized_response` draws it."""
    check_epsilon(epsilon)
    _check_size(size)
    true = kept(size, epsilon)
    return Channel.of(np.where(np.eye(size), true, (1 - true) / max(size - 1, 1)), prior)


def geometric_channel(size, scale, prior=None):
    """Two-sided geometric noise on 0..size-1, as `mechanisms.geometric` draws it, with what lies outside moved to the
    nearest end.

    Nothing is lost by that: beyond an end each further step makes all true values less likely by the same factor.
    Source: Ghosh, Roughgarden, Sundararajan, STOC 2009, the truncated geometric mechanism.
    """
    _check_size(size)
    expect.positive("scale", scale)
    steps, decay = np.arange(size), np.exp(-1 / scale)
    matrix = decay ** np.abs(steps[:, None] - steps) * np.tanh(1 / (2 * scale))
    matrix[:, [0, -1]] = decay ** np.stack([steps, steps[::-1]], axis=1) / (1 + decay)
    return Channel.of(matrix, prior)


def _check_size(size):
    if not (expect.is_whole(size) and 2 <= size <= LARGEST):
        raise ValueError(f"size must be a whole number of values, 2 to {LARGEST}, got {expect.found(size)}.")


def response_vulnerability(prior, epsilon):
    """How likely the true category is guessed from a randomized response: the posterior vulnerability, in closed form.

    `prior`: probabilities of all the categories, array (k,). Its largest entry to 1; lower protects more. A response
    is worth believing where it is likelier than the commonest category changed into it.

    >>> round(response_vulnerability(np.full(14, 1 / 14), 1), 9)
    0.172937593
    """
    check_epsilon(epsilon)
    prior = np.asarray(expect.vector("prior", prior), dtype=float)
    true = kept(len(prior), epsilon)
    other = (1 - true) / max(len(prior) - 1, 1)
    return float(np.maximum(prior * true, prior.max() * other).sum())


def geometric_vulnerability(prior, scale, steps=None):
    """How likely the true number is guessed from one with geometric noise: the posterior vulnerability, in closed form.

    `prior`: probabilities, array (m,), of the numbers `steps`, rising whole numbers (m,), by default 0..m-1: of a wide
    domain only those that occur are needed. Its largest entry to 1; lower protects more. Truncation changes nothing.

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
    """
    expect.positive("scale", scale)
    prior, left, right, gaps, turn = _envelopes(prior, scale, steps)
    before = np.clip(turn, 0, gaps)
    inside = left[:-1] * _geometric(before, scale) + right[1:] * _geometric(gaps - before, scale)
    return float((inside.sum() + right[0] + left[-1]) / 2)


# The cells and rows of a sanitizer.

NUMBERS = {GeometricNoise: geometric_vulnerability, LaplaceNoise: laplace_vulnerability}


def cell_vulnerability(sanitizer, attribute, column):
    """How likely a person's own value of an attribute is guessed from its noisy cell alone, by who knows the shares.

    `column`: the values of n people, whose shares are the prior. Exact, for the mechanism and not for one draw of it.
    """
    expect.these(sanitizer=sanitizer, attribute=attribute)
    if not len(expect.kind("column", column, pd.Series, np.ndarray, list)):
        raise ValueError("column must have a value at least, and it has none.")
    codes = attribute.domain.codes(column)
    if isinstance(sanitizer, RandomizedResponse):
        return response_vulnerability(np.bincount(codes, minlength=_size(attribute)) / len(codes), sanitizer.epsilon)
    steps, people = np.unique(codes, return_counts=True)
    return NUMBERS[type(sanitizer)](people / len(codes), _scale(sanitizer, attribute), steps)


def cell_capacity(sanitizer, attribute):
    """How many times more any adversary can gain from a noisy cell, whatever they knew and wanted: 1 and more.

    Multiplicative capacity, a factor: log2 of it is in bits. The capacities of independent cells multiply. Source:
    Alvim et al., "Measuring information leakage using generalized gain functions", CSF 2012, theorem 5.1.
    """
    expect.these(sanitizer=sanitizer, attribute=attribute)
    size = _size(attribute)
    if isinstance(sanitizer, RandomizedResponse):
        return size * kept(size, sanitizer.epsilon)
    half = 1 / (2 * _scale(sanitizer, attribute))
    return float(1 + (size - 1) * (-np.expm1(-half) if isinstance(sanitizer, LaplaceNoise) else np.tanh(half)))


def identification(dataset, release, sanitizer, *, rng, rows=2000):
    """How likely one noisy row is traced to its person by who has a register of everybody's true quasi-identifiers:
    (share, low, high).

    They guess the person from whose values the row is likeliest to come; 1 / n to 1, lower protects more. Exact where
    one attribute has noise, and then without bounds; else the mean over at most `rows` released rows, drawn with `rng`,
    with a 95 % interval. Whoever matches all rows together may do better.
    """
    expect.these(dataset=dataset, release=release, sanitizer=sanitizer, rng=rng)
    expect.whole("rows", rows, 1)
    names, noisy = dataset.schema.quasi_identifiers, release.provenance.noisy
    group = combinations(dataset.table[[name for name in names if name not in noisy]]).index
    if len(noisy) == 1:
        return _found(sanitizer, dataset, noisy[0], group) / len(dataset), np.nan, np.nan
    true = {name: dataset.schema[name].domain.codes(dataset.table[name]) for name in noisy}
    seen = {name: _seen(dataset.schema[name], release.table[name]) for name in noisy}
    drawn = np.random.default_rng(rng).permutation(len(dataset))[:rows]
    members, people = np.argsort(group, kind="stable"), np.bincount(group)
    sizes, starts = people[group[drawn]], (np.cumsum(people) - people)[group[drawn]]
    shares = []
    for some in np.split(np.arange(len(drawn)), _cuts(sizes)):
        row, size = np.repeat(drawn[some], sizes[some]), sizes[some]
        begins = np.cumsum(size) - size
        person = members[np.arange(len(row)) + np.repeat(starts[some] - begins, size)]
        distance = np.zeros(len(row))
        for name in noisy:
            apart = true[name][person] - seen[name][row]
            far = np.abs(apart) if dataset.schema[name].numeric else apart != 0
            distance += _rate(sanitizer, dataset.schema[name]) * far
        # Each person's likelihood of a row falls by e for each unit of distance; the nearest one is guessed.
        nearest = np.repeat(np.minimum.reduceat(distance, begins), size)
        shares.append(1 / np.add.reduceat(np.exp(nearest - distance), begins))
    shares = np.concatenate(shares)
    share, half = np.mean(shares), 1.96 * np.std(shares) / np.sqrt(len(shares))
    return share, max(share - half, 1 / len(dataset)), min(share + half, 1)


def _cuts(sizes):
    """Where to cut a list so that the parts, but for their first member, have sizes of less than `PAIRS` together."""
    total = np.cumsum(sizes) // PAIRS
    return np.flatnonzero(np.diff(total)) + 1


def _found(sanitizer, dataset, name, group):
    """How many people are found from a noisy value of one attribute, on average, who differ inside their group in it
    alone. `group`: integer array (n,).
    """
    attribute = dataset.schema[name]
    codes = attribute.domain.codes(dataset.table[name])
    first, _ = distinct_codes([group, codes], [group.max() + 1, codes.max() + 1])
    group, codes = group[first], codes[first]
    if isinstance(sanitizer, RandomizedResponse):
        size = _size(attribute)
        true = kept(size, sanitizer.epsilon)
        others = (group.max() + 1) * size - len(codes)
        return len(codes) * true + others * (1 - true) / (size - 1)
    # On one line the groups stand so far apart that noise leads from none to another. Whole numbers of any size.
    scale = _scale(sanitizer, attribute)
    steps = group.astype(object) * (int(codes.max()) + int(80 * scale) + 1) + codes
    return NUMBERS[type(sanitizer)](np.ones(len(codes)), scale, steps)


def _seen(attribute, cells):
    """Noisy cells in steps of the domain, or as positions of categories."""
    if attribute.numeric:
        return (np.asarray(cells, dtype=float) - attribute.domain.low) / attribute.domain.step
    return attribute.domain.codes(cells)


def _rate(sanitizer, attribute):
    """By how much the logarithm of a likelihood falls: for each step away, or for another category."""
    return 1 / _scale(sanitizer, attribute) if attribute.numeric else sanitizer.epsilon


def _scale(sanitizer, attribute):
    return sanitizer.scale(attribute) / attribute.domain.step


def _size(attribute):
    domain = attribute.domain
    return round(domain.width / domain.step) + 1 if attribute.numeric else len(domain.values)


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
