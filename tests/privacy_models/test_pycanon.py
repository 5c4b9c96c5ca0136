"""Figures of pycanon 1.3.5 on seeded tables, and where they are not the models'.

Made with pandas 2.3.3 and numpy 2.0.2 (pycanon keeps pandas below 3, so it cannot be a test's dependency), outside the
project, by the functions of `pycanon.anonymity` on `drawn(seed, records, values)` with a plain index:

    k_anonymity(table, ["a", "b"]); alpha_k_anonymity(table, ["a", "b"], [column])[0]; l_diversity(...);
    entropy_l_diversity(...); recursive_c_l_diversity(...); basic_beta_likeness(...); enhanced_beta_likeness(...);
    delta_disclosure(...); t_closeness(...)

What is not the models' in it, each shown below:

- entropy l and recursive c are cut to whole numbers;
- recursive c sorts the counts upwards, so the rarest value stands for the most common, and the tail is the head;
- delta leaves out the values that a class lacks, which make it infinite;
- enhanced beta is min(beta, -ln of the rarest share), which is no bound that every value keeps;
- rows are looked up by the labels of the index as if they were positions: with the index of the second table permuted
  the same records give alpha 0.412 for 0.533 and t 0.227 for 0.2 (`grade` is tested for that in test_grading).
"""

from math import floor, inf, log
from random import Random

import pandas as pd
import pytest

from privnb.privacy_models import (
    AlphaKAnonymity,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EnhancedBetaLikeness,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
)


def drawn(seed, records, values):
    """A table of two quasi-identifiers, one illness as text and one pay as a number; skewed, and not independent."""
    random = Random(seed)  # its random() is the same in every version of Python
    rows = []
    for _ in range(records):
        a, b = int(3 * random.random()), int(2 * random.random())
        illness = int(values * random.random() ** (1 + a / 2))
        rows.append((f"a{a}", f"b{b}", f"s{illness}", 10 + 5 * int(values * random.random() ** (1 + b))))
    return pd.DataFrame(rows, columns=["a", "b", "illness", "pay"])


# (seed, records, values), column: k, alpha, distinct l, basic beta, t, then entropy l, (c, l), enhanced beta, delta
FIGURES = {
    ((1, 60, 3), "illness"): (
        5, 0.6, 2, 1.380952380952381, 0.36666666666666664, 1, (1, 2), 1.380952380952381, 0.9426080401915284,
    ),
    ((1, 60, 3), "pay"): (
        5, 0.75, 2, 1.769230769230769, 0.3500000000000001, 1, (1, 2), 1.529395204760564, 1.2431935174792175,
    ),
    ((2, 90, 4), "illness"): (
        11, 0.5333333333333333, 4, 0.7142857142857143, 0.19999999999999998, 3, (1, 4), 0.7142857142857143,
        1.1349799328389845,
    ),
    ((2, 90, 4), "pay"): (
        11, 0.5714285714285714, 3, 1.2727272727272725, 0.18518518518518517, 2, (1, 3), 1.2727272727272725,
        1.4534336639575192,
    ),
    ((3, 40, 5), "illness"): (
        5, 0.6666666666666666, 3, 2.333333333333333, 0.5638888888888889, 2, (1, 3), 2.0794415416798357,
        1.203972804325936,
    ),
    ((3, 40, 5), "pay"): (
        5, 0.6, 3, 4.0, 0.17499999999999996, 2, (1, 3), 2.995732273553991, 1.6094379124341003,
    ),
    ((4, 200, 5), "illness"): (
        22, 0.4878048780487805, 5, 1.0, 0.22374999999999995, 3, (1, 5), 1.0, 1.6937790608678513,
    ),
    ((4, 200, 5), "pay"): (
        22, 0.5609756097560976, 5, 1.2727272727272725, 0.15693181818181814, 3, (1, 5), 1.2727272727272725,
        1.1118575154181303,
    ),
}  # fmt: skip
each = pytest.mark.parametrize(("drawing", "column"), FIGURES)


def levels(model, drawing, column):
    table = drawn(*drawing)
    counts = pd.crosstab([table["a"], table["b"]], table[column]).to_numpy()
    return model.level(counts, counts.sum(axis=0))


@each
def test_where_pycanon_is_right(drawing, column):
    """Its t is by ordered distance for numbers, by equal distance for text."""
    k, alpha, distinct, beta, t, *_ = FIGURES[drawing, column]
    assert levels(KAnonymity(2), drawing, column).min() == k
    assert levels(AlphaKAnonymity(1, 2, column), drawing, column).max() == pytest.approx(alpha)
    assert levels(DistinctDiversity(2, column), drawing, column).min() == distinct
    assert levels(BasicBetaLikeness(1, column), drawing, column).max() == pytest.approx(beta)
    distance = "ordered" if column == "pay" else "equal"
    assert levels(TCloseness(0.5, column, distance), drawing, column).max() == pytest.approx(t)


@each
def test_entropy_is_cut_to_a_whole_number(drawing, column):
    entropy = FIGURES[drawing, column][5]
    # exp(log(2)) may lie below 2 in its last digit.
    assert floor(levels(EntropyDiversity(2, column), drawing, column).min() + 1e-9) == entropy


@each
def test_recursive_c_is_that_of_the_rarest_value(drawing, column):
    """Every one of its tables is said to keep c = 1, for a rare value is less than the sum of the common ones."""
    c, l = FIGURES[drawing, column][6]  # noqa: E741
    reached = levels(RecursiveDiversity(1, l, column), drawing, column).max()
    assert c == 1
    assert 1 < reached < inf


@each
def test_delta_leaves_out_absent_values(drawing, column):
    delta = FIGURES[drawing, column][8]
    present = levels(DistinctDiversity(2, column), drawing, column) == drawing[2]
    reached = levels(DeltaDisclosure(1, column), drawing, column)
    assert (reached[~present] == inf).all()
    assert reached[present].max(initial=0) <= delta + 1e-12
    if present.all():
        assert reached.max() == pytest.approx(delta)


@each
def test_enhanced_beta_is_that_of_the_rarest_value(drawing, column):
    """It agrees where the least beta is allowed for every value; elsewhere no beta is, whatever it says."""
    basic, enhanced = FIGURES[drawing, column][3], FIGURES[drawing, column][7]
    table = drawn(*drawing)
    assert enhanced == pytest.approx(min(basic, -log(table[column].value_counts(normalize=True).min())))
    reached = levels(EnhancedBetaLikeness(1, column), drawing, column).max()
    assert reached in (pytest.approx(enhanced), inf)


def test_each_case_occurs():
    some = {key: levels(EnhancedBetaLikeness(1, key[1]), *key).max() for key in FIGURES}
    assert {level == inf for level in some.values()} == {True, False}
    absent = {levels(DistinctDiversity(2, key[1]), *key).min() < key[0][2] for key in FIGURES}
    assert absent == {True, False}
