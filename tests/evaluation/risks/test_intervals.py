"""Intervals of risks cover, if classes of people are drawn anew; those of independent people did not."""

import numpy as np
import pytest
from benchmarks import coverage

from privnb.datasets.dataset import load
from privnb.evaluation.evaluation_loop import Case
from privnb.evaluation.results import estimate_share, estimate_share_in_classes
from privnb.evaluation.risks.identity import ReidentificationRisk
from privnb.evaluation.risks.membership import MembershipRisk
from privnb.evaluation.risks.scores import GroupDifference, Scores, compute_difference_interval, compute_paired_interval
from privnb.measures.intervals import class_interval, variance_by_class, wilson
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import Identity, LaplaceNoise, Mondrian


def drawn(rng, number, share=0.3):
    """The values and classes of a sample of classes of 5 to 30 people, of which some are certain: small ones rather."""
    sizes = rng.integers(5, 31, number)
    sure = rng.random(number) < share * 2 * (1 - sizes / 31)
    return np.repeat(sure, sizes).astype(float), np.repeat(np.arange(number), sizes)


def test_intervals_cover_shares_of_people_in_classes_that_are_certain():
    rng = np.random.default_rng(1)
    many = drawn(rng, 200_000)[0].mean()
    samples = [drawn(rng, 60) for _ in range(400)]
    now = np.array([class_interval(*each) for each in samples])
    apart = np.array([wilson(values.sum(), len(values)) for values, _ in samples])
    covers = [((ends[:, 0] <= many) & (many <= ends[:, 1])).mean() for ends in (now, apart)]
    assert 0.93 <= covers[0] <= 0.99
    assert covers[1] < 0.65


def test_intervals_cover_what_is_certain_and_who_is_alone_among_other_people():
    """Adult stands for the population: each sample is sanitized, and its people are counted."""
    population = load("adult", "sramka-taxonomy")
    for sanitizer in (Mondrian(KAnonymity(10)), Identity()):
        cases = [Case(coverage.sample(population, 500, seed), sanitizer, 1) for seed in range(60)]
        certain = coverage.covered([coverage.certain(case) for case in cases])
        assert certain["now"] >= 0.9, sanitizer
        assert certain["apart"] < certain["now"], sanitizer
        assert certain["apart"] <= 0.88, sanitizer


def test_intervals_cover_identity_where_equal_records_are_many():
    rng = np.random.default_rng(2)

    def of_identity(number):
        sizes = np.where(rng.random(number) < 0.1, 40, 1)
        return np.repeat(1 / sizes, sizes), np.repeat(np.arange(number), sizes)

    many = of_identity(200_000)[0].mean()
    samples = [Scores(chance, np.zeros_like(chance), np.arange(len(chance)), classes=classes) for chance, classes in
               (of_identity(80) for _ in range(300))]  # fmt: skip
    ends = np.array([each.risk[1:3] for each in samples])
    apart = np.array([wilson(each.chance.sum(), len(each.people)) for each in samples])
    assert ((ends[:, 0] <= many) & (many <= ends[:, 1])).mean() >= 0.93
    assert ((apart[:, 0] <= many) & (many <= apart[:, 1])).mean() < 0.8


def test_intervals_cover_memberships_of_other_people():
    population = load("adult", "li-li")
    cases = [Case(coverage.sample(population, 600, seed), Mondrian(KAnonymity(10)), 1) for seed in range(80)]
    covers = coverage.covered([coverage.MEASURES["membership_risk"](case) for case in cases])
    assert covers["now"] >= 0.94
    assert covers["apart"] <= 0.92


def test_people_who_are_alone_in_their_classes_are_independent():
    values = np.array([1.0] * 700 + [0.0] * 1300)
    assert class_interval(values, np.arange(2000)) == pytest.approx(wilson(700, 2000), abs=1e-4)
    assert variance_by_class(values, np.arange(2000)) == pytest.approx(0.35 * 0.65 / 1999)


def test_one_class_is_the_whole_table():
    values = np.repeat([1.0, 0.0], [3, 17])
    assert class_interval(values, np.zeros(20, dtype=int)) == pytest.approx(wilson(3, 20))
    assert class_interval(np.zeros(20), np.zeros(20, dtype=int)) == wilson(0, 20)


def test_of_nobody_the_smallest_class_is_one_person():
    classes = np.repeat(np.arange(5), [10, 20, 20, 25, 25])
    low, high = class_interval(np.zeros(100), classes)
    assert (low, high) == (0.0, pytest.approx(wilson(0, 10)[1]))
    assert class_interval(np.ones(100), classes) == (pytest.approx(1 - high), 1.0)


def test_an_interval_is_never_narrower_than_that_of_independent_people():
    rng = np.random.default_rng(3)
    for _ in range(50):
        values, classes = rng.random(60), rng.integers(0, 12, 60)
        low, high = wilson(values.sum(), 60)
        assert class_interval(values, classes)[0] <= low + 1e-12
        assert class_interval(values, classes)[1] >= high - 1e-12
        differences = values - rng.random(60)
        ends, apart = compute_paired_interval(differences, classes), compute_paired_interval(differences)
        assert ends[0] <= apart[0]
        assert ends[1] >= apart[1]
    assert (
        compute_paired_interval(np.repeat([0.5, -0.5], 30), np.repeat([0, 1], 30))[1]
        > compute_paired_interval(np.repeat([0.5, -0.5], 30))[1] + 0.1
    )


def test_classes_of_other_people_are_refused():
    with pytest.raises(ValueError, match="`classes` must give the class of each value; got 2 values and 3 classes"):
        class_interval(np.array([0.0, 1.0]), np.array([0, 1, 2]))
    with pytest.raises(ValueError, match="got 0 values and 0 classes"):
        class_interval(np.array([]), np.array([]))


def test_few_people_are_withheld_as_before():
    who = np.arange(100) < 4
    assert str(estimate_share_in_classes(who, np.arange(100) // 10).shown(10)) == str(estimate_share(4, 100).shown(10))
    assert estimate_share_in_classes(who, None) == estimate_share(4, 100)
    share, low, high = estimate_share_in_classes(who, np.arange(100) // 10).shown(2)
    assert (share, low, high) == (0.04, *class_interval(who, np.arange(100) // 10))


def test_what_has_no_classes_keeps_its_interval():
    adult = load("adult", "li-li", records=200)
    assert ReidentificationRisk().scores(Case(adult, LaplaceNoise(1.0), 1)).classes is None
    scores = ReidentificationRisk().scores(Case(adult, Mondrian(KAnonymity(5)), 1))
    kept = scores.of(scores.people % 2 == 0)
    assert kept.classes.tolist() == scores.classes[scores.people % 2 == 0].tolist()


def test_those_who_are_compared_with_a_sample_count_less():
    adult = load("adult", "li-li", records=400)
    scores = MembershipRisk().scores(Case(adult, Mondrian(KAnonymity(5)), 1))
    assert isinstance(scores, GroupDifference)
    assert scores.worth == 0.5, "a hundred people of the control, a hundred who stand for the population"
    rates = scores.chance[scores.member].mean(), scores.chance[~scores.member].mean()
    assert scores.risk[1:3] == compute_difference_interval(*rates, 200, 50)
