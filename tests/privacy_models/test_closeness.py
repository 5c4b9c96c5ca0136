from math import inf, log

import numpy as np
import pandas as pd
import pytest
from hypertension import TABLES

from privnb.datasets.dataset import load
from privnb.microdata.hierarchy import Taxonomy
from privnb.privacy_models import (
    BasicBetaLikeness,
    DeltaDisclosure,
    EnhancedBetaLikeness,
    JensenShannonCloseness,
    TCloseness,
    tally,
)


def reached(model, counts):
    return model.level(counts, counts.sum(axis=0)).tolist()


def by_class(model, classes):
    """The levels of classes that are lists of values."""
    values = np.array([value for members in classes for value in members])
    columns, width = tally(model, values)
    parts = np.split(columns, np.cumsum([len(members) for members in classes])[:-1])
    return reached(model, np.array([np.bincount(part, minlength=width) for part in parts]))


# t-closeness


@pytest.mark.parametrize(("table", "t"), [("5.1", 0.484848), ("5.20", 0.342738), ("5.11(a)", 0)])
def test_t_of_the_tables_of_chapter_5(table, t):
    """Derived from Aggarwal and Yu 2008, figures 5.1, 5.20 and 5.11(a); equal distance."""
    assert max(reached(TCloseness(0.5, "hypertension"), TABLES[table])) == pytest.approx(t, abs=5e-7)


def test_salaries_of_the_paper():
    """Li, Li, Venkatasubramanian 2007: of 3k, 4k, ..., 11k, {3, 4, 5}k is 0.375 from the table, {6, 8, 11}k 0.167."""
    counts = np.array([[1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0, 1]])
    levels = TCloseness(0.5, "salary", "ordered").level(counts, np.ones(9, dtype=int))
    assert levels == pytest.approx([0.375, 1 / 6], rel=1e-12)
    levels = TCloseness(0.5, "salary").level(counts, np.ones(9, dtype=int))
    assert levels == pytest.approx([2 / 3, 2 / 3]), "as far apart"
    assert TCloseness(0.375, "salary", "ordered").holds(counts[:1], np.ones(9, dtype=int)).all()


DISEASES = Taxonomy(
    "disease",
    tuple(
        (leaf, kind, system, "*")
        for system, kind, leaves in [
            ("respiratory", "infection", ("flu", "pneumonia", "bronchitis")),
            ("respiratory", "vascular lung", ("pulmonary edema", "pulmonary embolism")),
            ("digestive", "stomach", ("gastric ulcer", "stomach cancer", "gastritis")),
            ("digestive", "colon", ("colitis", "colon cancer")),
        ]
        for leaf in leaves
    ),
)


@pytest.mark.parametrize(
    ("other", "far"), [("bronchitis", 1 / 3), ("pulmonary embolism", 2 / 3), ("stomach cancer", 1)]
)
def test_diseases_of_the_paper(other, far):
    """Li, Li, Venkatasubramanian 2007, figure 1: how far flu is from others. Moving all of it moves it as far."""
    model = TCloseness(0.5, "disease", DISEASES)
    columns = model.columns(["flu", other])
    flu, whole = (np.array([value == name for value in columns]).astype(int) for name in ("flu", other))
    assert model.level(flu[None], whole) == pytest.approx([far])


def test_hierarchical_distances_by_hand():
    """Nine patients of Li, Li, Venkatasubramanian 2007. Of the first class 4/9 have to cross to the other system, at
    distance 1; of the second 2/9 move within "stomach" and 2/9 within "infection", a third each, and 1/9 crosses.

    The paper states 0.5 and 0.278 for them, which its own formula does not give.
    """
    nine = ["gastric ulcer", "gastritis", "stomach cancer", "gastritis", "flu", "bronchitis", "bronchitis", "pneumonia"]
    nine.append("stomach cancer")
    model = TCloseness(0.5, "disease", DISEASES)
    columns = model.columns(list(dict.fromkeys(nine)))
    assert set(columns) == set(DISEASES.leaves)
    whole = np.array([nine.count(value) for value in columns])
    first = np.isin(columns, ["gastric ulcer", "gastritis", "stomach cancer"]).astype(int)
    second = np.isin(columns, ["gastric ulcer", "stomach cancer", "pneumonia"]).astype(int)
    assert model.level(np.stack([first, second]), whole) == pytest.approx([4 / 9, 4 / 27 + 1 / 9], rel=1e-12)


def test_agrees_with_petworks():
    """PETWorks-framework (its tests of t-closeness; its arithmetic follows ARX's) measures 0.29629629850387573,
    0.5555555555555556 and 0.26666666666666666 on these; the first in single precision.
    """
    patients = [
        ["gastric ulcer", "pneumonia", "stomach cancer"],
        ["gastritis", "flu", "bronchitis"],
        ["bronchitis", "gastritis", "stomach cancer"],
    ]
    assert max(by_class(TCloseness(0.5, "disease", DISEASES), patients)) == pytest.approx(8 / 27, rel=1e-12)
    assert max(by_class(TCloseness(0.5, "disease"), patients)) == pytest.approx(5 / 9, rel=1e-12)
    merits = [[1, 4, 2], [3], [3, 4, 3, 1], [4, 3]]
    assert max(by_class(TCloseness(0.5, "merit", "ordered"), merits)) == pytest.approx(4 / 15, rel=1e-12)


@pytest.mark.parametrize(("groups", "ordered", "equal"), [("9.2b", 0.277778, 1 / 3), ("9.3c", 0.222222, 2 / 3)])
def test_incomes_of_chapter_9(groups, ordered, equal):
    """Aggarwal and Yu 2008, tables 9.2b and 9.3c. The order of the incomes ranks the leakier table better."""
    incomes = {"9.2b": [[40, 50], [50, 80], [50, 100]], "9.3c": [[40, 80], [50, 100], [50, 50]]}[groups]
    assert max(by_class(TCloseness(0.5, "income", "ordered"), incomes)) == pytest.approx(ordered, abs=5e-7)
    assert max(by_class(TCloseness(0.5, "income"), incomes)) == pytest.approx(equal)


@pytest.mark.parametrize("distance", ["equal", "ordered", Taxonomy("s", (("0", "*"), ("1", "*")))])
def test_t_at_its_bound(distance):
    """Seven of ten where half of the table are: 1/5, which neither 0.7 - 0.5 nor 0.2 is in floats."""
    counts, whole = np.array([[7, 3], [70001, 29999]]), np.array([50, 50])
    assert TCloseness(0.2, "s", distance).holds(counts, whole).tolist() == [True, False]


def test_one_value_is_at_no_distance():
    assert TCloseness(0.1, "s", "ordered").level(np.array([[3], [4]]), np.array([7])).tolist() == [0, 0]


# Jensen-Shannon


@pytest.mark.parametrize(("value", "divergence"), [("Armed-Forces", 0.691742), ("Craft-repair", 0.488122)])
def test_a_revealed_occupation(value, divergence):
    """Li and Li 2009, section 5: 0.692 when the rarest occupation of Adult is revealed, 0.488 for the most common."""
    whole = load("adult", "occupation").table["occupation"].value_counts()
    revealed = (whole.index == value).astype(int)[None]
    level = JensenShannonCloseness(0.5, "occupation").level(revealed, whole.to_numpy())
    assert level == pytest.approx([divergence], abs=5e-7)


def test_what_has_nothing_in_common_diverges_by_ln_2():
    """Only a table without the class's value could: the value's share of the table goes to 0."""
    level = JensenShannonCloseness(0.5, "s").level(np.array([[1, 0]]), np.array([1, 10**15]))
    assert level == pytest.approx([log(2)], rel=1e-12)


# Delta-disclosure


def test_delta_of_figure_5_1():
    """Two classes have nobody with hypertension, which a multiplicative bound cannot allow. Of those that have both
    kinds the worst is 1 of 17 where the table has 34 of 66.
    """
    levels = reached(DeltaDisclosure(1, "hypertension"), TABLES["5.1"])
    assert [level == inf for level in levels] == [True, False, True, False, False, False]
    assert max(level for level in levels if level < inf) == pytest.approx(log(34 / 66 * 17), rel=1e-12)
    assert log(34 / 66 * 17) == pytest.approx(2.169919, abs=5e-7)


def test_delta_is_strict():
    """Brickell and Shmatikov 2008, definition 1: |log(p / q)| < delta. Twice the share is ln 2, not less."""
    counts, whole = np.array([[2, 4], [1, 5], [3, 3]]), np.array([100, 500])
    assert DeltaDisclosure(1, "s").level(counts, whole) == pytest.approx([log(2), 0, log(3)])
    assert DeltaDisclosure(log(2), "s").holds(counts, whole).tolist() == [False, True, False]
    assert DeltaDisclosure(log(2) + 1e-9, "s").holds(counts, whole).tolist() == [True, True, False]
    for times in range(2, 40):  # some of whose logarithms are a little less as a quotient of shares
        more = np.array([[times, 100 - times]])
        assert not DeltaDisclosure(log(times), "s").holds(more, np.array([10, 990])).any()
    assert not DeltaDisclosure(1e9, "s").holds(np.array([[6, 0]]), whole).any(), "an absent value is never allowed"


def test_delta_bounds_the_information_gained():
    """Brickell and Shmatikov 2008, lemma 1: the gain of a class's label about the value is below delta."""
    counts = np.random.default_rng(3).integers(1, 9, (6, 4))
    whole = counts.sum(axis=0)

    def entropy(row):
        shares = row / row.sum()
        return -(shares * np.log(shares)).sum()

    known = sum(row.sum() * entropy(row) for row in counts) / counts.sum()
    assert 0 < entropy(whole) - known < max(reached(DeltaDisclosure(1, "s"), counts))


# Beta-likeness


def test_beta_of_figure_5_1():
    """All of two people where 34 of 66 are: (1 - 34/66) / (34/66) = 32/34. Enhanced likeness allows -ln(34/66) = 0.66
    at most, so no beta does.
    """
    assert max(reached(BasicBetaLikeness(1, "hypertension"), TABLES["5.1"])) == pytest.approx(0.941176, abs=5e-7)
    assert max(reached(EnhancedBetaLikeness(1, "hypertension"), TABLES["5.1"])) == inf


def test_what_becomes_rarer_is_no_gain():
    counts, whole = np.array([[9, 1], [1, 9]]), np.array([50, 50])
    assert BasicBetaLikeness(1, "s").level(counts, whole) == pytest.approx([0.8, 0.8])
    assert BasicBetaLikeness(1, "s").level(np.array([[0, 5, 5]]), np.array([2, 4, 4])) == pytest.approx([0.25])


def test_beta_at_its_bound():
    """Cao and Karras 2012: at most beta. Twice the share is a gain of 1; enhanced allows less of a common value."""
    counts, whole = np.array([[4, 6], [5, 5]]), np.array([20, 80])
    assert BasicBetaLikeness(1, "s").holds(counts, whole).tolist() == [True, False]
    assert EnhancedBetaLikeness(1, "s").holds(counts, whole).tolist() == [True, False]
    # A gain of 1 of a value that half of the table have: -ln(1/2) = 0.69 is less.
    half = np.array([50, 50])
    assert BasicBetaLikeness(1, "s").holds(np.array([[5, 0]]), half).all()
    assert not EnhancedBetaLikeness(1, "s").holds(np.array([[5, 0]]), half).any()
    assert EnhancedBetaLikeness(1, "s").level(np.array([[6, 4]]), half) == pytest.approx([0.2])


def test_beta_bounds_delta_from_above():
    """What gains beta is 1 + beta times as common."""
    counts = np.random.default_rng(4).integers(1, 9, (50, 4))
    beta, delta = (np.array(reached(kind(1, "s"), counts)) for kind in (BasicBetaLikeness, DeltaDisclosure))
    assert (np.log1p(beta) <= delta + 1e-12).all()


def test_counts_of_a_table_do_not_depend_on_its_index():
    table = pd.Series(["b", "a", "b"], index=[2, 2, 0])
    assert tally(TCloseness(0.5, "s"), table)[0].tolist() == [1, 0, 1]
