"""Sramka et al. 2010: utilities worked by hand, and what must hold of nearer guesses whatever the guesses."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from privnb import measures
from privnb.measures.base import Measure, measure
from privnb.measures.disclosure.gains import knowledge_gain
from privnb.measures.intervals import wilson
from privnb.measures.utility import mining
from privnb.microdata.hierarchy import Intervals, Ordered, Ranges, Sets, Taxonomy
from privnb.microdata.schema import Numbers

AGES = Intervals(Numbers(17, 99), (5, 10, 20, 50, 100))
JOBS = Taxonomy("job", (("nurse", "care", "*"), ("medic", "care", "*"), ("clerk", "office", "*"), ("bard", "art", "*")))
PERCENTAGES = st.one_of(st.sampled_from([0, 50, 80, 90, 99, 100]), st.floats(0, 100))


def labels(*texts):
    return np.array(texts, dtype=object)


# Good utility


def test_good_utility_counts_right_guesses_with_their_weights():
    predicted, true = labels("a", "b", "b", "a"), labels("a", "b", "a", "b")
    assert mining.good_utility(predicted, true) == 2
    assert mining.good_utility(predicted, true, weights=[10, 1, 5, 5]) == 11


def test_within_a_tolerance():
    assert mining.within(2)([40.0, 42.0, 42.5, 38.0], [40, 40, 40, 40]).tolist() == [1, 1, 0, 1]
    assert mining.within(0)([40.0, 40.1], [40, 40]).tolist() == [1, 0]
    for wrong in (-1, float("nan")):
        with pytest.raises(ValueError, match="`tolerance` must be a number of at least 0"):
            mining.within(wrong)
    with pytest.raises(ValueError, match="`tolerance` needs guesses of numbers; got labels"):
        mining.within(2)(labels("a"), labels("a"))
    with pytest.raises(ValueError, match="numbers with numbers"):
        mining.within(2)(labels("40-44"), [42])


def test_fields_combine():
    values = [np.array([1, 1, 0, -2]), np.array([1, 0, 0, 1])]
    assert mining.combine(values, "sum").tolist() == [2, 1, 0, -1]
    assert mining.combine(values, "any").tolist() == [1, 1, 0, 1]
    assert mining.combine(values, "all").tolist() == [1, 0, 0, -2]
    with pytest.raises(ValueError, match="how must be one of sum, any, all; got 'mean'"):
        mining.combine(values, "mean")


def test_an_error_may_cost():
    penalty = lambda predicted, true: np.where(predicted == true, 1, -3)  # noqa: E731
    assert mining.good_utility(labels("a", "a"), labels("a", "b"), error=penalty) == -2


def test_decline_is_the_share_lost():
    assert mining.utility_decline(200, 150) == 0.25
    assert mining.utility_decline(200, 210) == 0
    for original in (0, -1.5):
        with pytest.raises(
            ValueError, match=f"of the original must be positive, so that a decline can be computed; got {original}"
        ):
            mining.utility_decline(original, 10)


def test_decline_of_the_printed_table():
    """Table 1, k = 100: 4.68 %, by naive Bayes. The paper's text says 4.86 once."""
    originals = {"NaiveBayes": 36972, "J48": 37609, "RandomForest": 36172}
    at_100 = {"NaiveBayes": 35242, "J48": 36298, "RandomForest": 36321}
    delta, miner = mining.utility_preserving(originals, at_100)
    assert (round(100 * delta, 2), miner) == (4.68, "NaiveBayes")
    with pytest.raises(
        ValueError,
        match=r"`originals` and `sanitized` must have the same miners; got \['J48', 'NaiveBayes', 'RandomForest'\] and",
    ):
        mining.utility_preserving(originals, {"J48": 1})


# Nearer guesses


@pytest.mark.parametrize(
    ("predicted", "expected"),
    [(46.0, [0]), (45.0, [0, 50]), (35.0, [0, 50]), (50.0, []), (30.0, []), (41.0, [0, 50, 90]), (40.4, "all")],
)
def test_nearer_numbers(predicted, expected):
    """True 40, released 50: half as far is 50 %-nearer, equally far is not nearer; 40.4 rounds to 40."""
    expected = [0, 50, 90, 100] if expected == "all" else expected
    found = [c for c in (0, 50, 90, 100) if mining.nearer([predicted], [50.0], [40], c, AGES)[0]]
    assert found == expected


@pytest.mark.parametrize(
    ("predicted", "expected"),
    [
        ("40-59", []),  # as long as what was released
        ("40-49", [0, 50]),
        ("40-44", [0, 50, 75]),  # 5 of 20
        ("45-49", []),  # short, and wrong
        ("*", []),
        ("42", [0, 50, 75, 90, 100]),  # a single value is exact, whatever its share of the released length
        ("43", []),
    ],
)
def test_nearer_intervals(predicted, expected):
    """True 42, released 40-59, which has length 20."""
    found = [c for c in (0, 50, 75, 90, 100) if mining.nearer(labels(predicted), labels("40-59"), [42], c, AGES)[0]]
    assert found == expected


def test_nearer_by_a_tree_of_numbers_and_in_other_steps():
    tree = Taxonomy("age", tuple((str(age), f"{age // 4 * 4}-", "*") for age in range(20, 28)))
    assert mining.nearer(labels("20-", "21", "24-"), labels("*", "20-", "*"), [21, 21, 21], 0, tree).tolist() == [
        True,
        True,
        False,
    ]
    assert mining.nearer([21.3], [25.0], [21], 100, tree).tolist() == [True]
    fives = Ranges(Numbers(0, 100, 5))
    assert mining.nearer([42.0, 43.0], [60.0, 60.0], [40, 40], 100, fives).tolist() == [True, False]
    assert mining.nearer(labels("40", "40-45"), labels("40-55", "40-55"), [40, 40], 100, fives).tolist() == [
        True,
        False,
    ]


def test_nearer_categories_cover_fewer_leaves():
    predicted, released = labels("care", "nurse", "office", "art", "medic"), labels("*", "care", "*", "*", "medic")
    true = labels("nurse", "nurse", "nurse", "bard", "medic")
    assert mining.nearer(predicted, released, true, 0, JOBS).tolist() == [True, True, False, True, False]
    assert mining.nearer(predicted, released, true, 100, JOBS).tolist() == [False, True, False, True, False]


def test_nearer_runs_and_sets_have_as_many_values_as_they_list():
    """True medic: a set of the values on both sides of it is short and wrong, as long as it does not list it."""
    values = ("nurse", "medic", "clerk", "bard")
    true, released = labels(*["medic"] * 5), labels("*", "*", "nurse|medic|clerk", "medic|bard", "*")
    predicted = labels("nurse|clerk", "medic|bard", "nurse|medic", "medic", "nurse|medic|clerk")
    sets = mining.nearer(predicted, released, true, 0, Sets("job", values))
    assert sets.tolist() == [False, True, True, True, True]
    half = mining.nearer(predicted, released, true, 50, Sets("job", values))
    assert half.tolist() == [False, True, False, True, False]
    predicted, released = labels("nurse|medic", "clerk|bard", "medic"), labels("nurse|medic|clerk", "*", "*")
    runs = mining.nearer(predicted, released, true[:3], 0, Ordered("job", values))
    assert runs.tolist() == [True, False, True]


def test_nearer_by_a_tree_of_numbers_in_any_order():
    tree = Taxonomy("n", (("1", "odd", "*"), ("3", "odd", "*"), ("2", "even", "*")))
    assert mining.nearer([2.3], [3.0], [2], 100, tree).tolist() == [True]  # steps of 1, not of 3 - 1


@pytest.mark.parametrize("c", [-1, 100.5, float("nan")])
def test_a_percentage_that_cannot_be_is_refused(c):
    with pytest.raises(ValueError, match="`c` must be a percentage from 0"):
        mining.nearer([1.0], [2.0], [1], c, AGES)


def test_guesses_of_another_kind_or_number_are_refused():
    with pytest.raises(ValueError, match="numbers with numbers or labels with labels"):
        mining.nearer([41.0], labels("40-44"), [41], 0, AGES)
    with pytest.raises(ValueError, match="Give one guess for each person"):
        mining.exact_match(labels("a"), labels("a", "b"))


NUMBERS = arrays(float, 20, elements=st.floats(-500, 500))
EXACT = arrays(int, 20, elements=st.integers(17, 90))


@st.composite
def released_labels(draw):
    """20 true ages, each released as some interval that holds it, and any 20 intervals as guesses."""
    true = draw(EXACT)
    others = draw(arrays(int, (3, 20), elements=st.integers(0, 82)))
    released = [AGES.label(*sorted((age - 17, other))) for age, other in zip(true, others[0], strict=True)]
    guesses = [
        "*" if low % 9 == 0 else str(low + 17) if low % 7 == 0 else AGES.label(*sorted((low, high)))
        for low, high in others[1:].T
    ]
    return labels(*guesses), labels(*released), true


@given(NUMBERS, NUMBERS, EXACT, PERCENTAGES, PERCENTAGES)
def test_nearer_numbers_shrink_with_c(predicted, released, true, first, second):
    low, high = (mining.nearer(predicted, released, true, c, AGES) for c in sorted((first, second)))
    assert not (high & ~low).any()


@given(released_labels(), PERCENTAGES, PERCENTAGES)
def test_nearer_intervals_shrink_with_c(cells, first, second):
    low, high = (mining.nearer(*cells, c, AGES) for c in sorted((first, second)))
    assert not (high & ~low).any()


@given(NUMBERS, released_labels(), PERCENTAGES)
def test_nothing_is_nearer_where_nothing_changed(predicted, cells, c):
    guesses, released, true = cells
    assert not mining.nearer(predicted, true.astype(float), true, c, AGES).any()  # released as it is
    assert not mining.nearer(guesses, true.astype(str).astype(object), true, c, AGES).any()
    assert not mining.nearer(predicted, predicted, true, c, AGES).any()  # guessed what was released
    assert not mining.nearer(released, released, true, c, AGES).any()


# Anti-utility


def test_anti_utility_counts_people_or_weighs_them():
    near = np.array([True, True, False, True])
    assert mining.anti_utility(near) == 3
    assert mining.anti_utility(near, [0, 1, 1, 0]) == 1


def test_average_and_worst_name_the_miner():
    assert mining.average_and_worst({"LWL": 2.0, "OLM": 6.0, "VFI": 6.0, "ZeroR": 0.0}) == (3.5, 6.0, "OLM")
    with pytest.raises(ValueError, match="the result of at least one miner"):
        mining.average_and_worst({})


def test_selected_people_are_as_many_as_the_paper_has_and_drawn_by_lot():
    assert [mining.draw_weights(5, share, rng=1).sum() for share in (0.05, 0.3, 1)] == [1, 2, 5]
    weights = mining.draw_weights(45222, 0.05, rng=1)
    assert (weights.sum(), set(weights)) == (2261, {0.0, 1.0})
    np.testing.assert_array_equal(weights, mining.draw_weights(45222, 0.05, rng=1))
    assert (weights != mining.draw_weights(45222, 0.05, rng=2)).any()
    with pytest.raises(ValueError, match="share must be a share above 0 and at most 1; got 5"):
        mining.draw_weights(10, 5, rng=1)


def test_interest_in_those_whom_a_condition_names():
    table = pd.DataFrame({"sex": ["F", "F", "M"], "age": [56, 55, 60], "marital-status": ["a", "b", "a"]})
    assert mining.interest("sex == 'F' and age > 55", 10)(table).tolist() == [10, 1, 1]
    assert mining.interest("`marital-status` == 'a'", 2, otherwise=0)(table).tolist() == [2, 0, 2]
    for wrong in ("age + 1", "1 < 2"):
        with pytest.raises(ValueError, match="is not true or false for each record"):
            mining.interest(wrong, 10)(table)


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("age > 55: 10", [10, 1]),
        ("age > 55:10,0", [10, 0]),
        ("sex == 'a:b' : 2.5, 0.5", [0.5, 2.5]),
        ("`age` > 55 and sex == 'c, d': 3, 2", [3, 2]),
    ],
)
def test_interest_as_an_owner_writes_it(text, weights):
    table = pd.DataFrame({"age": [60, 20], "sex": ["c, d", "a:b"]})
    assert mining.parse_interest(text)(table).tolist() == weights


@pytest.mark.parametrize("text", ["", "10", "age > 55", ": 10", "age > 55: ten", "age > 55: 1, 2, 3", "age > 55: 1,"])
def test_interest_that_is_not_written_so_is_refused(text):
    with pytest.raises(
        ValueError, match="interest weights must be written as 'CONDITION: WEIGHT, WEIGHT OF OTHERS'; got"
    ):
        mining.parse_interest(text)


@pytest.mark.parametrize(
    ("hierarchy", "labels", "true", "expected"),
    [
        (
            Intervals(Numbers(0, 99), (5, 10, 100)),
            ["0-9", "5-9", "0-9", "*", "7"],
            [3, 3, 30, 3, 7],
            [10, 5, 10, 100, 1],
        ),
        (JOBS, ["care", "*", "medic", "care"], ["medic", "bard", "clerk", "clerk"], [2, 4, 1, 2]),
    ],
)
def test_the_length_of_each_label_is_its_own(hierarchy, labels, true, expected):
    """One by one and together, whatever the order: labels are looked up once each."""

    def read(labels, true):
        labels, true = np.array(labels, dtype=object), np.array(true)
        numeric = true.dtype.kind in "if"
        return mining.label_lengths(labels, hierarchy, numeric=numeric), mining._covers(labels, true, hierarchy)

    alone = [read([a], [b]) for a, b in zip(labels, true, strict=True)]
    for order in (slice(None), slice(None, None, -1)):
        length, covers = read(labels[order], true[order])
        assert length.tolist() == [one[0] for one, _ in alone][order] == expected[order]
        assert covers.tolist() == [one[0] for _, one in alone][order]


@pytest.mark.parametrize("missing", [None, np.nan])
def test_a_missing_label_is_no_label(missing):
    cells = np.array(["0-9", missing], dtype=object)
    with pytest.raises(ValueError, match=r"is not an interval of numbers"):
        mining.nearer(
            cells, np.array(["*", "*"], dtype=object), np.array([3, 3]), 0, Intervals(Numbers(0, 99), (10, 100))
        )


def test_each_persons_own_worst_miner():
    by_miner = {"LWL": [1, 0, 0, -1], "OLM": [0, 1, 0, -2]}
    assert mining.worst_by_person(by_miner).tolist() == [1, 1, 0, -1]
    assert mining.sum_weighted(mining.worst_by_person(by_miner), [1, 2, 3, 4]) == -1
    with pytest.raises(ValueError, match="the result of at least one miner"):
        mining.worst_by_person({})


def test_first_occurrences_count_distinct_records():
    table = pd.DataFrame({"age": ["40-44", "40-44", "*", "40-44"], "pay": ["low", "low", "low", "high"]})
    assert mining.first_occurrences(table).tolist() == [True, False, True, True]
    assert mining.first_occurrences(table.set_index(pd.Index([0, 0, 0, 0]))).tolist() == [True, False, True, True]
    assert mining.anti_utility([1, 1, 1, 0], mining.first_occurrences(table)) == 2


# Section 3: the knowledge gain as an anti-utility

COUNTS = np.array([[3, 0, 0], [1, 2, 1], [0, 1, 2]])  # (classes, sensitive values): 10 people


def people():
    """Each person's class, and what the paper's theoretical miner returns for them: half the sum of differences."""
    classes = np.repeat(np.arange(3), COUNTS.sum(axis=1))
    whole = COUNTS.sum(axis=0) / COUNTS.sum()
    shares = COUNTS / COUNTS.sum(axis=1, keepdims=True)
    return classes, np.abs(shares - whole).sum(axis=1)[classes] / 2


def test_the_knowledge_gain_is_an_anti_utility_when_classes_weigh_by_their_size():
    """By hand: the classes of 3, 4 and 3 lie 0.6, 0.2 and 0.4 from the whole; (1.8 + 0.8 + 1.2) / 10 = 0.38."""
    classes, shift = people()
    sizes = COUNTS.sum(axis=1)
    representative = ~pd.Series(classes).duplicated().to_numpy()
    by_size = mining.anti_utility(shift / len(classes), representative * sizes[classes])
    assert by_size == pytest.approx(0.38)
    assert by_size == pytest.approx(knowledge_gain(COUNTS))
    assert mining.anti_utility(shift / len(classes)) == pytest.approx(knowledge_gain(COUNTS))  # v(x) = 1 for everyone


def test_the_printed_weights_do_not_give_the_knowledge_gain():
    """Section 3 prints v = 1 for one representative a class and a division by |S(DB)|: (0.6 + 0.2 + 0.4) / 10."""
    classes, shift = people()
    representative = ~pd.Series(classes).duplicated().to_numpy()
    printed = mining.anti_utility(shift / len(classes), representative)
    assert printed == pytest.approx(0.12)
    # Nor is |S(DB)| the number of classes.
    assert mining.anti_utility(shift / len(COUNTS), representative) != pytest.approx(knowledge_gain(COUNTS))


# What a measure says about itself


def test_a_measure_is_marked_and_otherwise_as_it_was():
    @measure(kind="privacy", better="lower", bounds=(0, 10), unit="people")
    def exposed(people):
        return people + 1

    facts = Measure("exposed", "privacy", unit="people", format="{:,} people", better="lower", bounds=(0, 10))
    assert exposed.facts == measures.measure_facts("exposed") == facts
    assert (exposed(1), exposed.__name__) == (2, "exposed")
    for wrong in ({"kind": "risk"}, {"better": "less"}, {"bounds": (1, 1)}):
        with pytest.raises(ValueError, match="must have a `kind` of"):
            measure(**{"kind": "privacy", "better": "lower", "bounds": (0, 1)} | wrong)(exposed)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_interval_as_tabulated(successes, n, low, high):
    """Newcombe, Statistics in Medicine 17, 1998, table I, method 3."""
    assert [round(end, 4) for end in wilson(successes, n)] == [low, high]
    assert wilson(n - successes, n) == pytest.approx((1 - wilson(successes, n)[1], 1 - wilson(successes, n)[0]))


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5), (0, 0)])
def test_wilson_refuses_what_cannot_be_seen(successes, n):
    with pytest.raises(ValueError, match="`n` must be at least 1, and `successes` must be from 0 to `n`"):
        wilson(successes, n)


@given(st.integers(1, 10**6), st.floats(0, 1))
def test_wilson_surrounds_the_share(n, part):
    successes = round(part * n)
    low, high = wilson(successes, n)
    assert 0 <= low <= successes / n <= high <= 1
