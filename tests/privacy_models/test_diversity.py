from math import inf

import numpy as np
import pytest
from hypertension import TABLES

from privnb.privacy_models import (
    ConfidenceBound,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    RecursiveDiversity,
)


@pytest.mark.parametrize(
    ("table", "distinct", "entropy"),
    [
        ("5.1", 1, 1.0000), ("5.11(a)", 2, 1.9991), ("5.11(b)", 2, 1.7164), ("5.11(c)", 2, 1.7164),
        ("5.11(d)", 1, 1.0000), ("5.20", 2, 1.5836), ("5.8(d)", 2, 1.5468),
    ],
)  # fmt: skip
def test_diversity_of_the_tables_of_chapter_5(table, distinct, entropy):
    """Derived from Aggarwal and Yu 2008, figures 5.1 to 5.20, as 2 to the entropy in bits: e to it in nats is the
    same.
    """
    assert DistinctDiversity(2, "hypertension").level(TABLES[table]).min() == distinct
    assert EntropyDiversity(2, "hypertension").level(TABLES[table]).min() == pytest.approx(entropy, abs=5e-5)


def test_entropy_at_its_bound():
    """Machanavajjhala et al. 2006: entropy at least log l, so l equally likely values are just enough."""
    for l in range(2, 30):  # noqa: E741
        assert EntropyDiversity(l, "s").holds(np.full((1, l), 7)).all()
        assert not EntropyDiversity(l + 0.001, "s").holds(np.full((1, l), 7)).any()


def test_entropy_is_less_than_distinct():
    """Shares 1/2, 1/4, 1/4 have an entropy of 1.5 bits: as open as 2 to the 1.5 values."""
    assert EntropyDiversity(2, "s").level(np.array([[2, 1, 1]])) == pytest.approx([2**1.5], rel=1e-12)


def test_recursive_diversity_by_hand():
    """Machanavajjhala et al. 2006, and Brickell and Shmatikov 2008, definition 3: r1 < c (rl + ... + rm)."""
    counts = np.array([[1, 3, 2]])  # sorted: 3, 2, 1
    assert RecursiveDiversity(1, 2, "s").level(counts).tolist() == [1]
    assert RecursiveDiversity(1, 3, "s").level(counts).tolist() == [3]
    assert RecursiveDiversity(1, 4, "s").level(counts).tolist() == [inf], "three values cannot be (c, 4)-diverse"
    assert not RecursiveDiversity(1e9, 4, "s").holds(counts).any()


@pytest.mark.parametrize(("c", "l"), [(1, 2), (3, 3)])
def test_recursive_diversity_is_strict(c, l):  # noqa: E741
    """The most frequent of (3, 2, 1) is exactly c times the rest, which is not less than c times it."""
    counts = np.array([[3, 2, 1]])
    assert not RecursiveDiversity(c, l, "s").holds(counts).any()
    assert RecursiveDiversity(c + 1e-9, l, "s").holds(counts).all()


def test_recursive_with_two_says_what_alpha_says():
    """c = alpha / (1 - alpha), of any class: why `grade` prints one of them."""
    counts = np.random.default_rng(0).integers(1, 50, (200, 5))
    alpha = 1 / FrequencyDiversity(2, "s").level(counts)
    assert RecursiveDiversity(1, 2, "s").level(counts) == pytest.approx(alpha / (1 - alpha))


def test_frequency_at_its_bound():
    """Li and Li 2009, section 2: each value at most 1/l of a class."""
    counts = np.array([[1, 1, 1], [2, 1, 1], [3, 3, 4]])
    assert FrequencyDiversity(3, "s").level(counts).tolist() == [3, 2, 2.5]
    assert FrequencyDiversity(3, "s").holds(counts).tolist() == [True, False, False]
    assert FrequencyDiversity(2.5, "s").holds(counts).tolist() == [True, False, True]


def test_templates_of_table_9_9():
    """Aggarwal and Yu 2008, table 9.9a: the template {Edu, Job} -> >100k, 50 %, before and after table 9.10b."""
    model = ConfidenceBound(0.5, "income", ">100k")
    order = model.columns(["<=50k", "50-100k", ">100k"])
    assert order == [">100k", "<=50k", "50-100k"]
    incomes = {  # of (education, job): <=50k, 50-100k, >100k
        ("Bachelor", "Engineer"): (1, 0, 0), ("Bachelor", "Artist"): (1, 1, 0), ("Bachelor", "Lawyer"): (1, 0, 0),
        ("Master", "Artist"): (0, 1, 0), ("Master", "Engineer"): (0, 1, 0), ("Doctorate", "Lawyer"): (0, 1, 2),
        ("Doctorate", "Engineer"): (0, 1, 0),
    }  # fmt: skip

    def levels(key):
        classes = {}
        for (education, job), (low, middle, high) in incomes.items():
            here = key(education, job)
            classes[here] = classes.get(here, 0) + np.array([high, low, middle])
        return model.level(np.array(list(classes.values())))

    assert levels(lambda education, job: (education, job)).max() == pytest.approx(2 / 3)
    assert levels(lambda education, job: ()).max() == 0.2
    released = levels(lambda education, job: (education if education == "Master" else "*", job))
    assert released.max() == 0.5
    assert (released <= model.h).all()


def test_a_bound_counts_a_value_that_nobody_has():
    model = ConfidenceBound(0.1, "s", "c")
    assert model.columns(["a", "b"]) == ["c", "a", "b"]
    assert model.level(np.array([[0, 2, 2]])).tolist() == [0]
    assert model.holds(np.array([[1, 5, 4], [2, 9, 8]])).tolist() == [True, False]
