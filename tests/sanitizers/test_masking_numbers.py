"""Noise, swapping, rounding, resampling, coding and condensation: what each keeps, and what it refuses."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import norm
from test_masking import HIERARCHIES, SCHEMA, people

from privnb import load
from privnb.datasets.dataset import Dataset
from privnb.microdata.hierarchy import Ranges, flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.privacy_models import KAnonymity, grade_release
from privnb.sanitizers import (
    Condensation,
    LognormalNoise,
    MaskingNoise,
    RankSwapping,
    Resampling,
    Rounding,
    SanitizationError,
    TopBottomCoding,
    UnivariateMicroaggregation,
)
from privnb.sanitizers.algorithms.linear import take_root
from privnb.sanitizers.algorithms.optimal_groups import find_optimal_groups
from privnb.sanitizers.algorithms.swapping import draw_partners
from privnb.sanitizers.masking.condensation import summarize_groups
from privnb.sanitizers.noise.lognormal_noise import Lognormal

NUMBERS = ["age", "height"]
OF_NUMBERS = [
    MaskingNoise(), LognormalNoise(), Resampling(), Rounding(), TopBottomCoding(), Condensation(3),
    UnivariateMicroaggregation(3),
]  # fmt: skip


def lone(values, low=0, high=999, step=1, cuts=None):
    """A table of one number."""
    schema = Schema("lone", (Attribute("x", Role.QUASI_IDENTIFIER, Numbers(low, high, step, cuts)),))
    return Dataset("lone", pd.DataFrame({"x": values}), schema, {"x": Ranges(schema["x"].domain)})


def one(sanitizer, values, **domain):
    return sanitizer.sanitize(lone(values, **domain), rng=0).table["x"].tolist()


@pytest.mark.parametrize("sanitizer", OF_NUMBERS, ids=repr)
def test_numbers_alone_are_changed_and_missing_ones_stay_missing(sanitizer):
    ages = np.where(np.arange(60) % 3 == 0, np.nan, np.arange(60) + 10.0)
    data = people(age=ages)
    release = sanitizer.sanitize(data, rng=3)
    assert release.treated(sanitizer.treatment) == ("age", "height")
    assert release.treated("exact") == ("town", "grade", "illness")
    assert np.isfinite(release.table[NUMBERS]).all().tolist() == [False, True]
    assert release.table["age"].isna().tolist() == np.isnan(ages).tolist()
    assert release.provenance.simulation == sanitizer.randomized


@pytest.mark.parametrize("sanitizer", OF_NUMBERS, ids=repr)
def test_a_table_without_numbers_is_refused(sanitizer):
    schema = SCHEMA.with_roles({"town": Role.QUASI_IDENTIFIER, "illness": Role.SENSITIVE})
    data = Dataset("people", people().table[["town", "illness"]], schema, {"town": HIERARCHIES["town"]})
    with pytest.raises(SanitizationError, match=r"'people' has no numeric quasi-identifier; it has town\. Choose"):
        sanitizer.sanitize(data, rng=0)


# Additive noise.


def covariance(table):
    return table[NUMBERS].cov().to_numpy()


def pairs(rows):
    rng = np.random.default_rng(8)
    ages = rng.integers(20, 80, rows)
    heights = np.round(1.5 + ages / 400 + rng.normal(0, 0.05, rows), 2).clip(1, 2.5)
    return people(rows, age=ages, height=heights)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("uncorrelated", lambda s: s + 0.4 * np.diag(np.diag(s))),
        ("correlated", lambda s: 1.4 * s),  # book, section 3.3.1: Cov(Z) = (1 + alpha) Sigma
        ("transformed", lambda s: s),  # Kim 1986
    ],
)
def test_masked_numbers_have_the_covariance_that_is_said(form, expected):
    """Entry by entry within five standard errors of the sample covariance of Gaussian numbers (Wishart), of 40,000."""
    data = pairs(40_000)
    before, release = covariance(data.table), MaskingNoise(0.4, form).sanitize(data, rng=1)
    after, wanted = covariance(release.table), expected(before)
    spread = np.sqrt((wanted**2 + np.outer(np.diag(wanted), np.diag(wanted))) / len(data))
    assert (np.abs(after - wanted) < 5 * spread).all()
    mean = data.table[NUMBERS].mean()
    assert ((release.table[NUMBERS].mean() - mean).abs() < 5 * np.sqrt(np.diag(wanted) / len(data))).all()


def test_noise_has_alpha_times_the_covariance_in_closed_form():
    """The matrix that independent draws are multiplied with is a root of it, be it singular."""
    sigma = np.array([[4.0, 2, 6], [2, 9, 11], [6, 11, 17]])  # the third is the sum of the others
    assert take_root(0.3 * sigma)[0] @ take_root(0.3 * sigma)[0].T == pytest.approx(0.3 * sigma, abs=1e-9)


@pytest.mark.slow
def test_kims_transformation_is_unbiased_given_the_records():
    """Over many draws of the noise the mean of the sample covariance is that of the records, within five errors."""
    data = pairs(12)
    found = [covariance(MaskingNoise(1.0, "transformed").sanitize(data, rng=seed).table) for seed in range(800)]
    error = np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - covariance(data.table)) < 5 * error).all()


def test_correlated_noise_keeps_sums_that_add_up():
    """A total lies in the space of its parts, and so does the noise: PTOTVAL = PEARNVAL + POTHVAL in Census."""
    table = MaskingNoise(0.5).sanitize(load("census"), rng=2).table
    assert table["PTOTVAL"].to_numpy() == pytest.approx((table["PEARNVAL"] + table["POTHVAL"]).to_numpy(), abs=0.01)
    assert (table["AGI"] != load("census").table["AGI"]).mean() > 0.99


@pytest.mark.parametrize("alpha", [0, -1, np.nan, np.inf, "1"])
def test_alpha_and_sigma_are_positive(alpha):
    with pytest.raises(ValueError, match="alpha must be a positive number"):
        MaskingNoise(alpha)
    with pytest.raises(ValueError, match="sigma must be a positive number"):
        LognormalNoise(alpha)


def test_noise_of_a_constant_column_is_refused():
    with pytest.raises(
        SanitizationError, match=r"all 60 records have the same value of 'height', so its noise would be 0"
    ):
        MaskingNoise().sanitize(people(height=[1.5] * 60), rng=0)
    with pytest.raises(ValueError, match="form must be one of uncorrelated, correlated, transformed; got 'Kim'"):
        MaskingNoise(0.1, "Kim")


# Multiplicative noise.


def test_lognormal_factors():
    """Mean 1 and variance exp(sigma^2) - 1, within five standard errors; 0 stays 0 and the sign stays."""
    values = np.array([0] * 10 + [-400] * 20_000 + [500] * 20_000)
    found = np.array(one(LognormalNoise(0.3), values, low=-999))
    factors = found[10:] / values[10:]
    variance = np.expm1(0.09)
    assert (found[:10] == 0).all()
    assert (factors > 0).all()
    assert factors.mean() == pytest.approx(1, abs=5 * np.sqrt(variance / 40_000))
    assert np.log(factors).std() == pytest.approx(0.3, abs=5 * 0.3 / np.sqrt(80_000))


def test_the_law_of_lognormal_noise_is_that_of_its_cells():
    data = lone([1, 2, 4, 8], low=-10, high=90)
    release = LognormalNoise(0.5).sanitize(data, rng=0)
    law = release.columns["x"].law
    assert law == Lognormal(0.5, -10, 1)
    positions, prior = np.array([3, 10, 12, 14, 18]), np.array([0.2, 0.1, 0.3, 0.15, 0.25])
    values, cells = positions - 10.0, np.exp(np.linspace(-6, 8, 200_001))
    # -7 and 0 are told by their sign; of the others the likeliest by the density of cells, integrated.
    bells = [p * norm.pdf(np.log(cells), np.log(v) - 0.125, 0.5) for p, v in zip(prior[2:], values[2:], strict=True)]
    expected = 0.2 + 0.1 + np.trapezoid(np.max(bells, axis=0), np.log(cells))
    assert law.vulnerability(prior, positions) == pytest.approx(expected, abs=1e-6)
    likeliest = [values[2:][np.argmax(each)] for each in np.transpose(bells)[::5000]]
    flat = [[-law.surprise(v + 10, cell + 10) for v in values[2:]] for cell in cells[::5000]]
    assert [values[2:][np.argmax(np.log(prior[2:]) + each)] for each in flat] == likeliest
    assert law.surprise(np.array([10, 10, 8]), np.array([10, 11, 12])).tolist() == [0, np.inf, np.inf]


# Rank swapping.

# Aggarwal and Yu 2008, table 3.2, p = 10 % of 10 records: attributes 2 to 4, original and masked.
TABLE = {
    "second": ("KLNMLHHFDC", "HLMNLFKHCD"),
    "third": ([3.7, 3.8, 3, 4.5, 5, 6, 4.5, 6.7, 8, 10], [3, 4.5, 3.7, 5, 4.5, 6.7, 3.8, 6, 10, 8]),
    "fourth": ([4.4, 3.4, 4.8, 5, 6, 7.5, 10, 11, 9.5, 3.2], [4.8, 3.2, 4.4, 6, 5, 9.5, 11, 10, 7.5, 3.4]),
}  # fmt: skip


def swapped(values, ties, window=1):
    """Values after swapping within a window; equal ones rank as in `ties`, the order of the records."""
    order = sorted(range(len(values)), key=lambda record: (values[record], ties.index(record)))
    taken = np.empty(len(values), dtype=int)
    taken[order] = np.array(order)[draw_partners(window, np.zeros(len(values)))]
    return [values[record] for record in taken]


@pytest.mark.parametrize("attribute", list(TABLE))
def test_the_books_table_is_what_a_window_of_one_rank_gives(attribute):
    """It leaves no choice: neighbours swap. Of its two records of 4.5 the book ranks the later one first."""
    before, after = (list(column) for column in TABLE[attribute])
    ties = list(range(10)) if attribute != "third" else list(range(10))[::-1]
    assert swapped(before, ties) == after
    assert sorted(before) == sorted(after)


def test_the_books_first_attribute_is_not_swapped():
    """Erratum: the book says that all attributes are swapped at 10 %, and prints 1 to 10 as they were."""
    assert swapped(list(range(1, 11)), list(range(10))) == [2, 1, 4, 3, 6, 5, 8, 7, 10, 9]


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 80), window=st.integers(1, 80), seed=st.integers(0, 10**6))
def test_partners_are_pairs_within_the_window(n, window, seed):
    found = draw_partners(window, np.random.default_rng(seed).random(n))
    assert (found[found] == np.arange(n)).all()
    assert (np.abs(found - np.arange(n)) <= window).all()
    alone = np.flatnonzero(found == np.arange(n))
    assert all(after - before > window for before, after in pairwise(alone)), "two within the window would have swapped"


def test_partners_are_drawn_alike():
    """The lowest of 9 ranks takes each of the next 4 with probability 1/4: within five standard errors."""
    rng = np.random.default_rng(4)
    counts = np.bincount([draw_partners(4, rng.random(9))[0] for _ in range(4000)], minlength=9)
    assert (np.abs(counts[1:5] - 1000) < 5 * np.sqrt(750)).all()
    assert counts[1:5].sum() == 4000


def test_swapping_keeps_each_column_and_moves_within_its_window():
    data = people(200, age=np.random.default_rng(1).permutation(200) % 100)
    release = RankSwapping(5).sanitize(data, rng=3)
    assert release.treated("perturbed") == ("age", "height", "town", "grade")
    for name in release.treated("perturbed"):
        assert sorted(release.table[name].astype(str)) == sorted(data.table[name].astype(str))
        assert (release.table[name] != data.table[name]).any()
    ranks = data.table["age"].rank(method="max"), release.table["age"].rank(method="min")
    assert (ranks[1] - ranks[0] <= 10).all()
    gone = RankSwapping(20).sanitize(people(age=[np.nan] * 30 + [7] * 30), rng=0).table["age"]
    assert gone.isna().tolist() == [True] * 30 + [False] * 30
    assert gone[30:].tolist() == [7] * 30


@pytest.mark.parametrize("p", [0, -5, 101, np.nan, "15", True])
def test_p_is_per_cent(p):
    with pytest.raises(ValueError, match="p must be a percentage above 0 and at most 100"):
        RankSwapping(p)


def test_a_window_of_less_than_a_rank_swaps_nobody():
    with pytest.raises(SanitizationError, match=r"p=1\): 1% of 60 records is less than one rank\. Raise `p` to 1\.67"):
        RankSwapping(1).sanitize(people(), rng=0)


# Averages of one number.


def least(values, k):
    """The smallest sum of squared errors of groups of k or more neighbours, by trying them all."""
    if not values:
        return 0.0
    tried = [
        least(values[:-size], k) + float(np.var(values[-size:]) * size)
        for size in range(k, len(values) + 1)
        if len(values) == size or len(values) - size >= k
    ]
    return min(tried, default=np.inf)


@settings(max_examples=40, deadline=None)
@given(values=st.lists(st.integers(0, 40), min_size=2, max_size=14), k=st.integers(2, 4))
def test_no_groups_of_neighbours_lose_less(values, k):
    if len(values) < k:
        with pytest.raises(ValueError, match=f"must be from 1 to the number of records, {len(values)}"):
            find_optimal_groups(values, k)
        return
    groups, values = find_optimal_groups(values, k), np.array(values)
    lost = sum(np.var(values[groups == group]) * (groups == group).sum() for group in range(groups.max() + 1))
    assert lost == pytest.approx(least(sorted(values.tolist()), k), abs=1e-9)
    assert k <= np.bincount(groups).min() <= np.bincount(groups).max() < 2 * k


def test_one_number_alone_keeps_k_and_its_mean():
    values = [3, 1, 900, 2, 901, 10, 11, 903]
    release = UnivariateMicroaggregation(3).sanitize(lone(values), rng=0)
    assert release.table["x"].tolist() == pytest.approx([5.4, 5.4, 2704 / 3, 5.4, 2704 / 3, 5.4, 5.4, 2704 / 3])
    assert release.provenance.claims == (KAnonymity(3),)
    assert grade_release(KAnonymity(3), release) == 3
    both = UnivariateMicroaggregation(3).sanitize(people(), rng=0)
    assert both.provenance.claims == ()
    assert both.table["age"].value_counts().min() >= 3
    with pytest.raises(SanitizationError, match=r"has 60 records\. Lower k to 60 or less"):
        UnivariateMicroaggregation(61).sanitize(people(), rng=0)


# Rounding, resampling, coding.


def test_rounding_by_a_base():
    assert one(Rounding(10), [4, 5, 14, 15, 96], high=99) == [0, 10, 10, 20, 90], "100 is no number of the domain"
    assert one(Rounding(0.5), [1.0, 1.25, 1.74, 2.5], low=1, high=2.5, step=0.01) == [1, 1.5, 1.5, 2.5]
    assert one(Rounding({"x": 7}), [3, 4, 11], high=99) == [0, 7, 14]
    assert one(Rounding(), [12, 47, 880]) == [0, 50, 900], "0 to 999 has 20 intervals of 50"
    mixed = Rounding({"age": 20}).sanitize(people(), rng=0).table
    assert {*mixed["age"]} <= {0, 20, 40, 60, 80}
    assert mixed["height"].nunique() <= 16


@pytest.mark.parametrize(
    ("sanitizer", "error", "message"),
    [
        (lambda: Rounding(0), ValueError, "base must be a positive number; got 0"),
        (lambda: Rounding({"age": -2}), ValueError, "base of 'age' must be a positive number"),
        (lambda: Rounding({"town": 2}), SanitizationError, r"must name numeric quasi-identifiers, .*; got \['town'\]"),
        (lambda: Rounding({"age": 120}), SanitizationError, "a base of 120 leaves 'age' .* fewer than two values"),
        (lambda: Rounding(1), SanitizationError, "a base of 1 leaves 'age' .* unchanged"),
        (lambda: Resampling(0), ValueError, "samples must be a whole number of at least 1"),
        (lambda: TopBottomCoding(0.5), ValueError, "share must be a number above 0 and below 0.5"),
        (
            lambda: TopBottomCoding(top={"town": 2}),
            SanitizationError,
            r"must name numeric quasi-identifiers, .*; got \['town'\]",
        ),
        (lambda: TopBottomCoding(top={"age": 200}), SanitizationError, "200 is outside the domain of 'age'"),
        (lambda: TopBottomCoding(top=[3]), TypeError, "top must be a Mapping"),
        (lambda: TopBottomCoding(bottom={"age": 60}, top={"age": 50}), SanitizationError, "no value between them"),
        (lambda: Condensation(1), ValueError, "k must be a whole number of at least 2"),
        (lambda: Condensation(61), SanitizationError, "has 60 records"),
    ],
)
def test_what_is_refused(sanitizer, error, message):
    data = people()
    before = data.table.copy()
    with pytest.raises(error, match=message):
        sanitizer().sanitize(data, rng=0)
    pd.testing.assert_frame_equal(data.table, before)


def test_resampling_keeps_ranks_and_comes_nearer_with_more_samples():
    values = np.random.default_rng(3).integers(0, 999, 300)
    few, many = (np.array(one(Resampling(samples), values)) for samples in (1, 200))
    order = np.argsort(values, kind="stable")
    for masked in (few, many):
        assert (np.diff(masked[order]) >= 0).all()
    assert {*few} <= {*values}, "one sample has values of the column alone"
    assert np.abs(many - values).mean() < np.abs(few - values).mean()
    assert one(Resampling(), [7] * 5) == [7] * 5


def test_coded_ends_are_public_and_shared():
    values = [*range(10, 90), 3, 98]
    coded = np.array(one(TopBottomCoding(0.05), values, high=99, cuts=10))
    # 5 % of 82 are 4.1, so the fifth lowest, 13, and the fifth highest, 86: their public intervals end at 19 and 80.
    assert (coded.min(), coded.max()) == (19, 80)
    assert (coded == 19).sum() >= 5 <= (coded == 80).sum()
    between = (np.array(values) >= 19) & (np.array(values) <= 80)
    assert (coded[between] == np.array(values)[between]).all()
    stated = TopBottomCoding(bottom={"x": 30}, top={"x": 60})
    assert one(stated, [3, 45, 98], high=99) == [30, 45, 60]
    with pytest.raises(SanitizationError, match="thresholds of 'x' would be 49 and 40"):
        one(TopBottomCoding(0.05), [41, 42, 43, 44], high=99, cuts=10)


def test_it_is_said_where_far_more_is_coded_than_was_asked_for():
    """Incomes of 12,000 to 15,000 in a domain to a million in steps of 2,000: half of the people have the least one."""
    amount = Attribute("income", Role.QUASI_IDENTIFIER, Numbers(0, 10**6, cuts=2000))
    schema = Schema("incomes", (amount, Attribute("ill", Role.SENSITIVE, Categories(("no", "yes")))))
    incomes = np.r_[np.full(52, 12_500), np.arange(14_001, 14_049) * 1.0]
    table = pd.DataFrame({"income": incomes, "ill": np.resize(["no", "yes"], 100)})
    data = Dataset("incomes", table, schema, {"income": flat(amount)})
    release = TopBottomCoding(0.05, top={"income": 14_040}).sanitize(data, rng=1)
    share = (release.table["income"] == release.table["income"].min()).mean()
    assert share == 0.52
    note = release.provenance.note
    assert "52% of the numbers of 'income' are published as its bottom threshold; 5% were requested" in note
    assert "state `bottom` for it, or finer cuts of its domain." in note
    assert "top threshold" not in note, "which was stated"
    fine = TopBottomCoding(0.3, top={"income": 14_040}).sanitize(data, rng=1)
    assert fine.provenance.note == ""


# Condensation.


def test_the_worked_example_of_condensation():
    """Book, entry 18-02: sums (10, 16), products ((30, 47), (47, 74)); eigenvalues .016741 and 3.733259."""
    records = np.array([(1, 2), (2, 3), (3, 5), (4, 6)])
    means, ranges, vectors = summarize_groups(records, np.zeros(4, dtype=int))
    assert means.tolist() == [[2.5, 4]]
    assert ranges[0] == pytest.approx([0.448215, 6.693213], abs=1e-6)
    assert (ranges[0] ** 2 / 12) == pytest.approx([0.016741, 3.733259], abs=1e-6)
    kept = vectors[0] @ np.diag(ranges[0] ** 2 / 12) @ vectors[0].T
    assert kept == pytest.approx(np.array([[1.25, 1.75], [1.75, 2.5]]))


@pytest.mark.slow
def test_condensed_groups_keep_means_and_covariances():
    """One group of all records: within five standard errors of 300 draws."""
    data = people(40)
    drawn = [Condensation(40).sanitize(data, rng=seed).table[NUMBERS] for seed in range(300)]
    found = {"mean": [each.mean() for each in drawn], "cov": [each.cov(ddof=0) for each in drawn]}
    before = data.table[NUMBERS]
    error = np.std(found["mean"], axis=0) / np.sqrt(300)
    assert (np.abs(np.mean(found["mean"], axis=0) - before.mean()) < 5 * error).all()
    # Drawn around the group's mean, a sample of 40 has 39/40 of the covariance in expectation.
    error = np.std(found["cov"], axis=0) / np.sqrt(300)
    assert (np.abs(np.mean(found["cov"], axis=0) - 39 / 40 * before.cov(ddof=0)) < 5 * error).all(axis=None)


def test_small_groups_stay_near_their_records():
    near, far = (
        (Condensation(k).sanitize(people(400), rng=0).table["age"] - people(400).table["age"]).abs().mean()
        for k in (2, 200)
    )
    assert near < far / 2
