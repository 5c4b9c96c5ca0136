"""Predicates inside equivalence classes: closed forms, and which records the labels cover."""

from math import exp

import numpy as np
import pytest

from privnb.attacks.linkage.class_predicates import (
    ClassPredicates,
    choose_by_answers,
    expect_isolation,
    expect_trivial_isolation,
)
from privnb.datasets.dataset import load
from privnb.microdata.treatment import Treatment, Unreadable
from privnb.sanitizers import Identity, Mondrian, Suppress


def test_one_of_ten_records_is_isolated_with_a_probability_of_39_percent():
    """Cohen and Nissim 2020: (1 - 1/k)^(k - 1), which is 0.9^9 = 0.387420489 for k = 10 and 1/e for large k."""
    assert expect_isolation(10) == pytest.approx(0.387420489, abs=1e-12)
    assert expect_isolation(10**6) == pytest.approx(exp(-1), abs=1e-6)


def test_the_trivial_predicate_is_best_at_the_weight_of_one_person():
    """The derivative of n w (1 - w)^(n - 1) is 0 at w = 1/n, where the value is that of a class of n records."""
    n = 50
    every = [expect_trivial_isolation(n, weight) for weight in np.linspace(0, 1, 1001)]
    assert np.argmax(every) == 20
    assert max(every) == pytest.approx(expect_isolation(n))


def test_labels_cover_the_records_of_their_class_and_may_cover_others():
    """A label of a taxonomy also covers values that no record of the class has."""
    dataset = load("adult", records=200)
    release = Mondrian(k=10).sanitize(dataset, rng=1)
    attack = ClassPredicates(release.publish()[0])
    covered = attack.match(dataset.cells, np.arange(len(attack.sizes)))
    assert (covered.sum(axis=1) >= attack.sizes).all()
    assert (covered.sum(axis=0) >= 1).all()
    assert sorted(attack.sizes) == sorted(np.bincount(release.classes))
    exact = ClassPredicates(Identity().sanitize(dataset, rng=1).publish()[0])
    found = exact.match(dataset.cells, np.arange(len(exact.sizes)))
    assert found.sum(axis=1).tolist() == exact.sizes.tolist()


def test_suppressed_labels_cover_everybody():
    dataset = load("adult", records=60)
    attack = ClassPredicates(Suppress().sanitize(dataset, rng=1).publish()[0])
    assert attack.sizes.tolist() == [60]
    assert attack.match(dataset.cells, np.array([0])).all()


def test_noisy_cells_have_no_classes():
    dataset = load("adult", records=60)
    published, _ = Identity().sanitize(dataset, rng=1).publish()
    published = published._replace(columns=dict.fromkeys(published.columns, Treatment("perturbed")))
    with pytest.raises(Unreadable, match="no labels of classes"):
        ClassPredicates(published)


def test_the_count_nearest_to_one_is_chosen():
    assert choose_by_answers(np.array([[0, 2.2, 1.1], [5, 0, 3]])).tolist() == [2, 1]
