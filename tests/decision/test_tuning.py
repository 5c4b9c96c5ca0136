"""The search on grids that wiggle, on the curves of a published figure, and on real releases; and where it fails."""

from itertools import pairwise

import numpy as np
import pytest

from privnb import decision
from privnb.datasets.dataset import load
from privnb.decision import Loss, grid, search_positions, tune
from privnb.evaluation.release_measures import measure_information_loss
from privnb.evaluation.results import join_results, make_row_builder, tidy
from privnb.measures.utility.information_loss import certainty_penalty
from privnb.privacy_models import JensenShannonCloseness, KAnonymity, TCloseness, grade_release
from privnb.sanitizers import KMember, LaplaceNoise, Mondrian, SanitizationError

# Li and Li's Figure 2, traced on Adult: parameter, privacy loss (largest Jensen-Shannon divergence), utility loss.
FIGURE_2 = {
    "k": [
        (10, 0.5306, 0.0002), (50, 0.4201, 0.0011), (100, 0.3212, 0.0017), (200, 0.2596, 0.0030),
        (500, 0.2370, 0.0085), (1000, 0.2202, 0.0098), (2000, 0.1320, 0.0185), (5000, 0.0549, 0.0313),
    ],
    "l": [
        (3, 0.5176, 0.0039), (3.5, 0.4430, 0.0105), (4, 0.4021, 0.0200), (4.5, 0.2936, 0.0295),
        (5, 0.1855, 0.0356), (5.5, 0.0435, 0.0385),
    ],
    "t": [
        (0.4, 0.3999, 0.0001), (0.35, 0.3499, 0.0002), (0.3, 0.2999, 0.0004), (0.25, 0.2496, 0.0007),
        (0.2, 0.2000, 0.0020), (0.15, 0.1500, 0.0033), (0.1, 0.0999, 0.0094), (0.075, 0.0749, 0.0156),
    ],
}  # fmt: skip


def curve(rows, size):
    """The traced curve at `size` values between its ends, straight in logarithms."""
    values, privacy, utility = (np.log(column) for column in zip(*rows, strict=True))
    at = np.linspace(values[0], values[-1], size)
    order = np.argsort(values)
    return (np.exp(np.interp(at, values[order], losses[order])) for losses in (privacy, utility))


def smooth(random, size):
    """A curve of another shape: exponential or a power."""
    at = np.linspace(0, 1, size)
    privacy = 0.5 * np.exp(-random.uniform(0.5, 3.5) * at ** random.uniform(0.5, 2))
    growing = at ** random.uniform(0.5, 2)
    return privacy, np.exp(random.uniform(1, 7) * growing) if random.integers(2) else 0.02 + growing


def wiggles(random, size, sd, kind):
    """Standard normal factors in logarithms: independent, alike among neighbours, or constant on stretches."""
    noise = random.standard_normal(size)
    if kind == "alike":
        for i in range(1, size):
            noise[i] = 0.7 * noise[i - 1] + np.sqrt(0.51) * noise[i]
    elif kind == "stretches":
        noise = noise[np.cumsum(random.random(size) < 0.3)]
    return np.exp(sd * noise)


def missed(privacy, utility, cap):
    """Whether the search misses the grid's best under the cap by more than 5 %; asserts what it always keeps."""
    tried = search_positions(lambda i: (privacy[i], utility[i]), len(privacy), cap)
    assert len(tried) <= len(privacy) / 4
    kept = [u for p, u in tried.values() if p <= cap]
    return min(kept, default=np.inf) > 1.05 * utility[privacy <= cap].min() + 1e-12


def failures(sd, *, size, repeats=60):
    """The share of random grids on which the search misses."""
    count = 0
    for kind in ("independent", "alike", "stretches"):
        for repeat in range(repeats):
            random = np.random.default_rng([size, int(1000 * sd), repeat, len(kind)])
            shapes = [*FIGURE_2.values(), None]
            rows = shapes[random.integers(4)]
            privacy, utility = smooth(random, size) if rows is None else curve(rows, size)
            privacy, utility = (losses * wiggles(random, size, sd, kind) for losses in (privacy, utility))
            cap = np.exp(random.uniform(np.log(privacy.min() * 1.02), np.log(privacy.max() * 0.98)))
            count += missed(privacy, utility, cap)
    return count / (3 * repeats)


# The search


@pytest.mark.parametrize("size", [32, 40, 100, 200])
def test_on_curves_without_wiggles_nothing_is_missed(size):
    assert failures(0, size=size) == 0


@pytest.mark.parametrize(("sd", "most"), [(0.02, 0.01), (0.05, 0.04)])
@pytest.mark.parametrize("size", [32, 64, 100])
def test_wiggles_of_a_few_per_cent_are_seldom_a_miss(sd, most, size):
    assert failures(sd, size=size) <= most


def test_large_wiggles_are_missed_as_often_as_the_docstring_says():
    """No guarantee: with wiggles of 10 % some are missed, but at most 17 in 100."""
    assert 0 < failures(0.1, size=100) <= 0.17


@pytest.mark.parametrize("size", [32, 64, 100])
@pytest.mark.parametrize("name", FIGURE_2)
def test_on_the_traced_figure(name, size):
    """Caps between all neighbours of the published grid, and either order of strictness."""
    privacy, utility = curve(FIGURE_2[name], size)
    steps = sorted(p for _, p, _ in FIGURE_2[name])
    for low, high in pairwise(steps):
        cap = (low + high) / 2
        assert not missed(privacy, utility, cap)
        assert not missed(privacy[::-1], utility[::-1], cap)


@pytest.mark.parametrize("crossing", [21, 37, 44, 53])
def test_what_is_left_is_spent_on_the_looser_side(crossing):
    """A value seven beyond the crossing keeps the cap by a wiggle and costs far less, whichever end is the looser."""
    at = np.arange(64)
    privacy, utility = np.where(at >= crossing, 0.4, 0.6), 1.1**at
    privacy[crossing - 7] = 0.5
    assert not missed(privacy, utility, 0.5)
    assert not missed(privacy[::-1], utility[::-1], 0.5)


def test_an_adversarial_grid_is_missed():
    """One value among others that break the cap keeps it, and no neighbour betrays it: seen as often as it is tried."""
    size, found = 64, 0
    for secret in range(size):
        privacy = np.where(np.arange(size) == secret, 0.1, 0.9)
        tried = search_positions(lambda i, privacy=privacy: (privacy[i], 0.5), size, 0.5)
        found += any(p <= 0.5 for p, _ in tried.values())
    assert 1 <= found <= size / 4 + 1


def test_a_cap_that_the_ends_break_is_looked_for_between_them():
    """Too loose on one side, out of reach on the other."""
    privacy = np.r_[np.linspace(0.9, 0.2, 60), np.full(40, np.inf)]
    utility = np.r_[np.linspace(0.1, 0.9, 60), np.full(40, np.inf)]
    for cap in (0.25, 0.4, 0.8):
        assert not missed(privacy, utility, cap)


# Real releases


@pytest.fixture(scope="module")
def people():
    return load("adult", study="li-li", records=1500)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "values"),
    [
        (KAnonymity, grid(2, 500, 60)),
        (lambda t: TCloseness(t, "occupation"), grid(0.05, 0.5, 48)),
    ],
    ids=["k", "t"],
)
@pytest.mark.parametrize("distance", [TCloseness, JensenShannonCloseness], ids=["total variation", "Jensen-Shannon"])
def test_on_real_releases(people, model, values, distance):
    """The full grid of Mondrian's releases beside the search, at the caps that one, two, ... tenths of the grid keep.

    One miss in nine is let pass, as in one of the four grids.
    """
    releases = [Mondrian(model(value)).sanitize(people, rng=1) for value in values]
    privacy = np.array([grade_release(distance(0.5, "occupation"), release) for release in releases])
    utility = np.array([certainty_penalty(release) for release in releases])
    caps = np.quantile(privacy, np.linspace(0.1, 0.9, 9))
    assert sum(missed(privacy, utility, cap) for cap in caps) <= 1
    assert len(np.unique(privacy)) > 8


def measured(dataset, sanitizer, privacy, utility, seeds=(1,)):
    """Tidy results of one release: `risk` and `cost`, one number a seed."""
    rows = []
    for seed in seeds:
        row = make_row_builder(dataset, sanitizer, seed)
        rows += [row("risk", privacy(seed), better="lower"), row("cost", utility(seed), better="lower")]
    return tidy(rows)


@pytest.mark.slow
def test_tune_finds_what_the_full_grid_finds(people):
    values, calls = grid(2, 500, 60), []

    def evaluate(k):
        calls.append(k)
        release = Mondrian(KAnonymity(k)).sanitize(people, rng=1)
        level = grade_release(TCloseness(0.5, "occupation"), release)
        row = make_row_builder(people, Mondrian(KAnonymity(k)), 1)
        return tidy([row("level", level, better="lower"), row("penalty", certainty_penalty(release), better="lower")])

    whole = [evaluate(k) for k in values]
    losses = {k: tuple(rows.value) for k, rows in zip(values, whole, strict=True)}
    cap = sorted(level for level, _ in losses.values())[len(values) // 3]
    calls.clear()
    found = tune(evaluate, values, cap, privacy="level", utility="penalty", min_class_size=None)
    assert len(calls) == found.evaluations <= len(values) / 4
    assert len(set(calls)) == len(calls)
    kept = {k: penalty for k, (level, penalty) in losses.items() if level <= cap + 1e-9}
    assert kept[found.value] <= 1.05 * min(kept.values())
    assert found.size == len(values)
    assert found.releases.value.tolist() == sorted(calls)
    assert found.releases.setting[0] == f"Mondrian, k = {min(calls)}"
    with_cap = decision.choose_by_losses(found.releases.assign(refused=""), privacy_cap=cap).iloc[0]
    assert with_cap.setting == f"Mondrian, k = {found.value}"


@pytest.mark.slow
def test_of_random_releases_the_upper_bound_keeps_the_cap(people):
    """epsilon from strict to loose; the interval's half width is large enough to matter."""
    values = grid(0.05, 5.0, 48)

    def evaluate(epsilon):
        noise = np.random.default_rng(round(1000 * epsilon))
        return measured(
            people,
            LaplaceNoise(epsilon),
            lambda seed: epsilon / 5 + noise.normal(0, 0.05),
            lambda seed: 1 / epsilon * (1 + noise.normal(0, 0.01)),
            range(1, 11),
        )

    found = tune(evaluate, values, 0.5, privacy="risk", utility="cost", min_class_size=None)
    chosen = found.releases[found.releases.value == found.value].iloc[0]
    whole = decision.compute_points(join_results(*map(evaluate, values)), privacy="risk", utility="cost")
    best = whole[whole.privacy_high <= 0.5].utility.min()
    assert chosen.privacy < chosen.privacy_high <= 0.5
    assert chosen.utility <= 1.05 * best


@pytest.mark.slow
def test_what_cannot_be_sanitized_keeps_no_cap(people):
    def evaluate(k):
        if k > 40:
            raise SanitizationError("too few records")
        return measured(people, KMember(k), lambda seed: 1 / k, lambda seed: float(k))

    found = tune(evaluate, range(2, 66), 1 / 20, privacy="risk", utility="cost", min_class_size=None)
    assert found.value == 20
    assert 65 in found.unreachable
    with pytest.raises(SanitizationError, match="cannot be sanitized with any of"):
        tune(lambda k: evaluate(k + 40), range(2, 66), 0.5, privacy="risk", utility="cost", min_class_size=None)


@pytest.mark.slow
def test_a_cap_that_no_value_keeps(people):
    found = tune(
        lambda k: measured(people, KMember(k), lambda seed: 1.0, lambda seed: float(k)), range(2, 66), 0.5,
        privacy="risk", utility="cost", min_class_size=None,
    )  # fmt: skip
    assert found.value is None
    assert found.evaluations == 16


# What is refused


def test_a_search_needs_an_ordered_grid_of_some_size(people):
    for values in (range(2, 20), [*range(2, 40), 5], [2] * 40):
        with pytest.raises(ValueError, match="at least 32 values in increasing or decreasing order"):
            tune(print, values, 0.5, privacy="risk", utility="cost", min_class_size=None)
    with pytest.raises(ValueError, match="finite number"):
        tune(print, range(2, 66), float("nan"), privacy="risk", utility="cost", min_class_size=None)


@pytest.mark.slow
def test_one_release_of_enough_seeds_at_a_time(people):
    def once(rows):
        return tune(lambda value: rows, range(2, 66), 0.5, privacy="risk", utility="cost", min_class_size=None)

    both = join_results(*(measured(people, KMember(k), lambda seed: 0.1, lambda seed: 0.1) for k in (2, 3)))
    with pytest.raises(ValueError, match="results of one release; got 2"):
        once(both)
    with pytest.raises(ValueError, match="got k-member clustering, k = 2 for several values"):
        once(both[both.parameters == "k=2"])
    with pytest.raises(ValueError, match="with 2 seeds, fewer than the 10"):
        once(measured(people, LaplaceNoise(1.0), lambda seed: 0.1 * seed, lambda seed: 0.1 * seed, (1, 2)))


@pytest.mark.slow
def test_a_measure_that_should_be_high_needs_its_best(people):
    """Of one release the best is itself, and nothing would be lost."""
    rows = measure_information_loss(people, [KMember(50)])
    with pytest.raises(ValueError, match=r"higher is better for .* State the best value with `Loss"):
        tune(
            lambda value: rows, range(2, 66), 9, privacy="k_achieved", utility="certainty_penalty", min_class_size=None
        )
    found = tune(
        lambda k: measure_information_loss(people, [KMember(k)]), range(50, 82), len(people) - 60,
        privacy=Loss("k_achieved", best=len(people)), utility="certainty_penalty", min_class_size=None,
    )  # fmt: skip
    assert found.value >= 60


def test_grids():
    assert grid(2, 1000, 100)[:4] == [2, 3, 4, 5]
    assert len(grid(2, 1000, 100)) < 100  # whole numbers: the first ones would be the same
    assert grid(0.5, 8, 5) == pytest.approx([0.5, 1, 2, 4, 8])
    with pytest.raises(ValueError, match="got 19 from low=2 to high=20"):
        grid(2, 20, 40)
    for low, high in ((2, 1), (0, 1)):
        with pytest.raises(ValueError, match="`low` and `high` must satisfy 0 < low < high"):
            grid(low, high, 5)
