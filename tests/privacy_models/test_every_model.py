"""What every privacy model keeps; classes are found, not listed. The definitions once more stand in plain_models."""

from fractions import Fraction
from math import inf, log
from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from scipy.optimize import linprog
from support.clinic import CLINIC
from support.plain_models import HOLDS, LEVELS, as_written, keeps, least_work, level, published, seen

import privnb.privacy_models as family
from privnb import privacy_models
from privnb.datasets.dataset import load
from privnb.microdata.hierarchy import Taxonomy
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, SchemaError
from privnb.privacy_models import (  # fmt: skip
    AlphaKAnonymity,
    BasicBetaLikeness,
    ConfidenceBound,
    DeltaDisclosure,
    DeltaPresence,
    DistinctDiversity,
    EnhancedBetaLikeness,
    EntropyDiversity,
    FrequencyDiversity,
    JensenShannonCloseness,
    KAnonymity,
    KMap,
    PrivacyModel,
    PSensitiveKAnonymity,
    RecursiveDiversity,
    TCloseness,
    grade_release,
)
from privnb.runtime.registry import find_classes
from privnb.sanitizers import Bucketize, Identity, KMember, LaplaceNoise, Suppress

VALUES = "abcdef"
TREE = Taxonomy(
    "s", tuple((leaf, f"{pair}{pair}", side, "*") for leaf, pair, side in zip(VALUES, "AABBCC", "LLLLRR", strict=True))
)
PEOPLE = pd.DataFrame({"q": [0]})
# Half and a third: bounds that a class can meet exactly.
shares = st.sampled_from([0.1, 0.2, 0.25, 0.3, 1 / 3, 0.4, 0.5, 0.6, 2 / 3, 0.7, 0.75, 0.8, 0.9])
times = st.sampled_from([0.5, 1, 2, 3, 5])
divergences = st.sampled_from([0.05, 0.1, 0.2, 0.3, 0.5, 0.69])
bounds = st.sampled_from([0.2, 0.5, log(2), 1, 1.25, 1.5, log(5), 2, 3])
several = st.sampled_from([1.1, 1.5, 2, 2.5, 3, 4])
whole_numbers = st.integers(2, 5)
BUILT = {
    "KAnonymity": st.builds(KAnonymity, st.integers(2, 12)),
    "AlphaKAnonymity": st.builds(AlphaKAnonymity, shares | st.just(1), whole_numbers, st.just("s")),
    "PSensitiveKAnonymity": st.builds(PSensitiveKAnonymity, whole_numbers, st.integers(2, 9), st.just("s")),
    "DistinctDiversity": st.builds(DistinctDiversity, whole_numbers, st.just("s")),
    "EntropyDiversity": st.builds(EntropyDiversity, several, st.just("s")),
    "RecursiveDiversity": st.builds(RecursiveDiversity, times, st.integers(2, 4), st.just("s")),
    "FrequencyDiversity": st.builds(FrequencyDiversity, several, st.just("s")),
    "ConfidenceBound": st.builds(ConfidenceBound, shares, st.just("s"), st.sampled_from(VALUES)),
    "TCloseness": st.builds(TCloseness, shares, st.just("s"), st.sampled_from(["equal", "ordered", TREE])),
    "JensenShannonCloseness": st.builds(JensenShannonCloseness, divergences, st.just("s")),
    "DeltaDisclosure": st.builds(DeltaDisclosure, bounds, st.just("s")),
    "BasicBetaLikeness": st.builds(BasicBetaLikeness, bounds, st.just("s")),
    "EnhancedBetaLikeness": st.builds(EnhancedBetaLikeness, bounds, st.just("s")),
    "KMap": st.builds(KMap, st.integers(2, 12), population=st.just(PEOPLE)),
    "DeltaPresence": st.builds(
        DeltaPresence, st.sampled_from([0.05, 0.1, 1 / 3]), st.sampled_from([0.4, 0.5, 2 / 3, 1]),
        population=st.just(PEOPLE),
    ),
}  # fmt: skip
every = pytest.mark.parametrize("name", BUILT)
fewer = settings(max_examples=30, deadline=None)
# Rows are classes, columns the values a, b, ...; a class without a record is never published.
matrices = st.integers(1, 6).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 6), min_size=width, max_size=width).filter(any), min_size=1, max_size=5
    )
)


def test_no_model_is_left_out():
    own = {kind.__name__ for kind in find_classes(PrivacyModel) if kind.__module__.startswith("privnb.")}
    found = own - {"OwnAnonymity"}  # of wishes, which have no counts: its own tests
    assert set(BUILT) == found == {kind.__name__ for kind in LEVELS} == {kind.__name__ for kind in HOLDS}


def counted(model, matrix):
    """The counts that a model takes of a matrix of counts, and the same for plain_models."""
    matrix = np.array(matrix)
    if hasattr(model, "population"):
        fit = matrix.sum(axis=1)
        released = np.maximum(matrix[:, 0], 1)  # people of the population: never more than fit
        plain = [{"fit": f, "released": r} for f, r in zip(fit.tolist(), released.tolist(), strict=True)]
        return np.column_stack([fit, released]), seen(plain)
    if model.sensitive is None:
        return matrix.sum(axis=1, keepdims=True), seen([{"": n} for n in matrix.sum(axis=1).tolist()])
    occurring = [value for value, total in zip(VALUES, matrix.sum(axis=0), strict=False) if total]
    by_value = dict(zip(VALUES, matrix.T, strict=False))
    counts = np.column_stack([by_value.get(value, np.zeros(len(matrix), int)) for value in model.columns(occurring)])
    plain = [{value: int(by_value[value][row]) for value in occurring} for row in range(len(matrix))]
    return counts, seen(plain)


@every
@settings(deadline=None)
@given(data=st.data(), matrix=matrices)
def test_levels_and_bounds_by_definition(name, data, matrix):
    model = data.draw(BUILT[name])
    counts, classes = counted(model, matrix)
    whole = counts.sum(axis=0)
    levels = model.level(counts, whole)
    assert levels.shape == (len(matrix),)
    assert levels == pytest.approx([float(LEVELS[type(model)](model, each)) for each in classes], rel=1e-9, abs=1e-12)
    assert model.holds(counts, whole).tolist() == [HOLDS[type(model)](model, each) for each in classes]


@every
# Two classes seldom keep a strict bound.
@settings(fewer, suppress_health_check=[*fewer.suppress_health_check, HealthCheck.filter_too_much])
@given(data=st.data(), matrix=matrices)
def test_two_classes_that_hold_make_one_that_holds(name, data, matrix):
    model = data.draw(BUILT[name])
    counts, _ = counted(model, matrix)
    whole = counts.sum(axis=0)
    good = counts[model.holds(counts, whole)]
    assume(len(good) > 1)
    assert model.holds(good.sum(axis=0, keepdims=True), whole).all()
    assert model.holds(good[:1] + good[1:2], whole).all()


@pytest.mark.parametrize("name", [name for name in BUILT if getattr(family, name).grows])
@fewer
@given(data=st.data(), matrix=matrices.filter(lambda rows: len(rows) > 1))
def test_whatever_joins_a_class_of_a_model_that_grows(name, data, matrix):
    model = data.draw(BUILT[name])
    counts, _ = counted(model, matrix)
    whole = counts.sum(axis=0)
    if model.holds(counts[:1], whole).all():
        assert model.holds(counts[:1] + counts[1:2], whole).all()


@every
@fewer
@given(data=st.data(), matrix=matrices)
def test_a_class_that_breaks_a_model_by_far_has_parts_that_break_it(name, data, matrix):
    model = data.draw(BUILT[name])
    counts, _ = counted(model, matrix)
    whole, sizes = counts.sum(axis=0), counts.sum(axis=1)
    within = counts[data.draw(st.integers(0, len(counts) - 1))] + 1  # a table unlike this class
    (least,) = model.breaking(whole[None], within)
    assert 0 <= least <= 1
    assert sizes[~model.holds(counts, within)].sum() >= least * sizes.sum() - 1e-9


def test_how_much_of_a_class_breaks_a_model_however_it_is_divided():
    ill = np.array([[9, 1], [5, 5]])  # of whom 9 in 10 and 5 in 10 have the first value
    everybody = np.array([5, 5])
    assert TCloseness(0.2, "s").breaking(ill, everybody) == pytest.approx([0.2 / 0.8, 0])
    assert ConfidenceBound(0.6, "s", "a").breaking(ill, everybody) == pytest.approx([0.3 / 0.4, 0])
    assert FrequencyDiversity(2, "s").breaking(ill) == pytest.approx([0.4 / 0.5, 0])
    assert EntropyDiversity(2, "s").breaking(ill) == pytest.approx([1 - 0.325083 / log(2), 0], abs=1e-6)


# Bounds that ask for much.
STRICT = [
    AlphaKAnonymity(0.5, 2, "s"), EntropyDiversity(2, "s"), RecursiveDiversity(2, 2, "s"), FrequencyDiversity(2, "s"),
    ConfidenceBound(0.5, "s", "a"), TCloseness(0.2, "s"), TCloseness(0.2, "s", "ordered"), TCloseness(0.2, "s", TREE),
    JensenShannonCloseness(0.1, "s"), DeltaDisclosure(1, "s"), BasicBetaLikeness(1, "s"), EnhancedBetaLikeness(1, "s"),
    DeltaPresence(0.2, 0.5, population=PEOPLE),
]  # fmt: skip


def test_each_model_that_does_not_grow_is_searched():
    assert {type(model).__name__ for model in STRICT} == {n for n in BUILT if not getattr(family, n).grows}


@pytest.mark.parametrize("model", STRICT, ids=str)
def test_what_joins_may_break_a_model_that_does_not_grow(model):
    random = Random(7)
    for _ in range(3000):
        matrix = [[int(6 * random.random() ** 3) for _ in VALUES] for _ in range(3)]  # uneven
        if not all(map(any, matrix)):
            continue
        counts, _ = counted(model, matrix)
        whole = counts.sum(axis=0)
        if model.holds(counts[:1], whole).all() and not model.holds(counts[:1] + counts[1:2], whole).all():
            return
    pytest.fail(f"nothing breaks {model}: does it grow?")


# From the docstrings: least and largest level of classes of n records with m values occurring in the table.
RANGES = {
    "KAnonymity": (1, inf), "AlphaKAnonymity": (0, 1), "PSensitiveKAnonymity": (1, "m"), "DistinctDiversity": (1, "m"),
    "EntropyDiversity": (1, "m"), "RecursiveDiversity": (0, inf), "FrequencyDiversity": (1, "m"),
    "ConfidenceBound": (0, 1), "TCloseness": (0, 1), "JensenShannonCloseness": (0, log(2)), "DeltaDisclosure": (0, inf),
    "BasicBetaLikeness": (0, inf), "EnhancedBetaLikeness": (0, inf), "KMap": (0, inf), "DeltaPresence": (0, 1),
}  # fmt: skip


@every
@fewer
@given(data=st.data(), matrix=matrices)
def test_levels_lie_in_the_stated_range(name, data, matrix):
    model = data.draw(BUILT[name])
    counts, _ = counted(model, matrix)
    low, high = RANGES[name]
    high = np.count_nonzero(counts.sum(axis=0)) if high == "m" else high
    levels = model.level(counts, counts.sum(axis=0))
    assert (levels >= low - 1e-12).all()
    assert (levels <= high + 1e-12).all()


@pytest.mark.parametrize("name", [name for name in BUILT if name not in ("ConfidenceBound", "KMap", "DeltaPresence")])
@fewer
@given(data=st.data(), matrix=matrices)
def test_values_without_an_order_may_stand_in_any(name, data, matrix):
    model = data.draw(BUILT[name].filter(lambda model: getattr(model, "distance", "equal") == "equal"))
    counts, _ = counted(model, matrix)
    order = data.draw(st.permutations(range(counts.shape[1])))
    levels = model.level(counts, counts.sum(axis=0))
    assert model.level(counts[:, order], counts[:, order].sum(axis=0)) == pytest.approx(levels, rel=1e-12, abs=1e-12)


@every
@fewer
@given(data=st.data(), matrix=matrices)
def test_a_class_reaches_its_level_in_any_company(name, data, matrix):
    model = data.draw(BUILT[name])
    counts, _ = counted(model, matrix)
    whole = counts.sum(axis=0)
    together = model.level(counts, whole)
    assert [model.level(counts[i : i + 1], whole)[0] for i in range(len(counts))] == pytest.approx(together.tolist())


@given(matrix=matrices)
def test_one_class_of_all_tells_nothing(matrix):
    for model in (
        TCloseness(0.2, "s"), TCloseness(0.2, "s", "ordered"), TCloseness(0.2, "s", TREE),
        JensenShannonCloseness(0.1, "s"), DeltaDisclosure(1, "s"), BasicBetaLikeness(1, "s"),
        EnhancedBetaLikeness(1, "s"),
    ):  # fmt: skip
        counts, _ = counted(model, matrix)
        whole = counts.sum(axis=0)
        assert model.level(whole[None], whole) == pytest.approx([0], abs=1e-12)


def test_results_tell_models_apart():
    some = [
        KAnonymity(2), KMap(2, population=PEOPLE), AlphaKAnonymity(0.5, 2, "s"), PSensitiveKAnonymity(2, 2, "s"),
        DistinctDiversity(2, "s"), EntropyDiversity(2, "s"), FrequencyDiversity(2, "s"), RecursiveDiversity(2, 2, "s"),
        ConfidenceBound(0.5, "s", "a"), ConfidenceBound(0.5, "s", "b"), TCloseness(0.5, "s"), TCloseness(0.5, "z"),
        TCloseness(0.5, "s", "ordered"), TCloseness(0.5, "s", TREE), JensenShannonCloseness(0.5, "s"),
        DeltaDisclosure(0.5, "s"), BasicBetaLikeness(0.5, "s"), EnhancedBetaLikeness(0.5, "s"),
        DeltaPresence(0.1, 0.5, population=PEOPLE),
    ]  # fmt: skip
    assert {type(model).__name__ for model in some} == set(BUILT)
    assert len({str(model) for model in some}) == len(some)
    assert [str(model) for model in some[4:7]] == ["distinct l=2 s", "entropy l=2 s", "frequency l=2 s"]


# The same on releases: `grade_release` reads the labels, and so does plain_models.


def clinic(records):
    return load(CLINIC, records=records)


RELEASES = [Identity(), Suppress(), KMember(3), KMember(10), Bucketize(KMember(5))]


@pytest.mark.slow
@pytest.mark.parametrize("sanitizer", RELEASES, ids=repr)
def test_a_release_is_graded_from_its_labels(sanitizer):
    dataset = clinic(80)
    release = sanitizer.sanitize(dataset, rng=1)
    register = clinic(300).table
    models = [
        KAnonymity(5), AlphaKAnonymity(0.5, 5, "diagnosis"), PSensitiveKAnonymity(2, 5, "diagnosis"),
        DistinctDiversity(2, "diagnosis"), EntropyDiversity(2, "diagnosis"), RecursiveDiversity(2, 2, "diagnosis"),
        FrequencyDiversity(2, "diagnosis"), ConfidenceBound(0.5, "diagnosis", "asthma"),
        TCloseness(0.5, "diagnosis"), TCloseness(0.5, "diagnosis", "ordered"),
        JensenShannonCloseness(0.2, "diagnosis"), DeltaDisclosure(1, "diagnosis"), BasicBetaLikeness(1, "diagnosis"),
        EnhancedBetaLikeness(1, "diagnosis"), KMap(5, population=register),
        DeltaPresence(0, 0.5, population=register),
    ]  # fmt: skip
    assert {type(model).__name__ for model in models} == set(BUILT)
    for model in models:
        here = published(release, model)
        assert grade_release(model, release) == pytest.approx(float(level(model, **here)), rel=1e-9, abs=1e-12)
        counts = model.counted(release)
        assert keeps(model, **here) == model.holds(counts, counts.sum(axis=0)).all()


def test_noise_has_no_classes_to_grade():
    with pytest.raises(ValueError, match=r"LaplaceNoise\(.* has no equivalence classes"):
        grade_release(KAnonymity(2), LaplaceNoise(1.0).sanitize(clinic(20), rng=1))


def test_columns_follow_the_domain():
    """The order of the domain, not of the alphabet; numbers by size, though they may be written as text."""
    ordered = TCloseness(0.5, "s", "ordered")
    grade = Attribute("s", Role.SENSITIVE, Categories(("low", "middle", "high")))
    columns, width = family.tally(ordered, np.array(["middle", "high", "low", "high"]), grade)
    assert (columns.tolist(), width) == ([1, 2, 0, 2], 3)
    assert family.tally(ordered, np.array(["high", "low", "high"]), grade)[0].tolist() == [1, 0, 1]
    pay = Attribute("s", Role.SENSITIVE, Numbers(0, 100))
    assert family.tally(ordered, np.array(["10", "9", "100"]), pay)[0].tolist() == [1, 0, 2]
    assert family.tally(ordered, np.array(["b", "a", "b"]))[0].tolist() == [1, 0, 1]


def test_a_bound_on_a_value_that_nobody_can_have_is_refused():
    """It would hold in every class, and protect nobody."""
    grade = Attribute("s", Role.SENSITIVE, Categories(("low", "high")))
    with pytest.raises(SchemaError, match=r"in the domain of 's', 2 values: low, high; got 'High'\. Name a value"):
        family.tally(ConfidenceBound(0.5, "s", "High"), np.array(["low"]), grade)
    columns, width = family.tally(ConfidenceBound(0.5, "s", "high"), np.array(["low"]), grade)  # nobody here has it
    assert (columns.tolist(), width) == ([1], 2)
    pay = Attribute("s", Role.SENSITIVE, Numbers(0, 9))
    with pytest.raises(SchemaError, match=r"in the domain of 's', 0 to 9; got '3'"):  # which no number is equal to
        family.tally(ConfidenceBound(0.5, "s", "3"), np.array([3.0]), pay)
    assert family.tally(ConfidenceBound(0.5, "s", 3), np.array([3.0]), pay)[0].tolist() == [0]


def test_leaves_in_numbers_are_found_as_written():
    tree = Taxonomy("s", (("1", "*"), ("2", "*"), ("2.5", "*")))
    columns, width = family.tally(TCloseness(0.5, "s", tree), np.array([2.0, 2.5, 2.0]))
    assert (columns.tolist(), width) == ([1, 2, 1], 3)
    with pytest.raises(SchemaError, match=r"lacks 1 values: 7\.0"):
        family.tally(TCloseness(0.5, "s", tree), np.array([7.0]))


S = "s"
REFUSED = [
    (lambda: KAnonymity(1), "k must be a whole number of at least 2"),
    (lambda: AlphaKAnonymity(0, 2, S), "alpha must be a share above 0 and at most 1; got 0"),
    (lambda: AlphaKAnonymity(0.5, 1, S), "k must be"),
    (lambda: PSensitiveKAnonymity(1, 3, S), r"p must be a whole number of at least 2 \(every class has 1\); got 1"),
    (lambda: PSensitiveKAnonymity(2, 1, S), "k must be"),
    (lambda: DistinctDiversity(2.5, S), r"l must be a whole number of at least 2 \(every class keeps 1\); got 2.5"),
    (lambda: EntropyDiversity(0.5, S), r"l must be a number above 1 \(every class keeps 1\); got 0.5"),
    (lambda: EntropyDiversity(inf, S), "l must be a number above 1 .*; got inf"),
    (lambda: FrequencyDiversity(True, S), "l must be a number above 1 .*; got True"),
    (lambda: RecursiveDiversity(0, 2, S), "c must be a positive number; got 0"),
    (lambda: RecursiveDiversity(3, 0, S), "l must be a whole number of at least 2"),
    (
        lambda: RecursiveDiversity(0.5, 1, S),
        r"l must be a whole number of at least 2 \(every class keeps 1 .* FrequencyDiversity",
    ),
    (
        lambda: ConfidenceBound(1.5, S, "a"),
        r"h must be a number above 0 and below 1 \(every share is at most 1\); got 1.5",
    ),
    (lambda: TCloseness(0, S), "t must be a number above 0 and below 1 .*; got 0"),
    (lambda: TCloseness(1.5, S), "t must be a number above 0 and below 1 .*; got 1.5"),
    (lambda: TCloseness(0.2, S, "far"), '`distance` must be "equal", "ordered" or a Taxonomy; got \'far\''),
    (
        lambda: JensenShannonCloseness(float("nan"), S),
        r"t must be a number above 0 and below 0.6931 \(.* within ln 2\); got nan",
    ),
    (lambda: DeltaDisclosure(-1, S), "delta must be a positive number; got -1"),
    (lambda: BasicBetaLikeness("1", S), "beta must be a positive number; got '1'"),
    (lambda: EnhancedBetaLikeness(inf, S), "beta must be a positive number; got inf"),
    (lambda: KMap(1, population=PEOPLE), "k must be"),
    (lambda: KMap(2, population=PEOPLE[:0]), "`population` must be a DataFrame with all quasi-identifiers"),
    (lambda: KMap(2, population=[]), "one row for each person; got a list"),
    (
        lambda: DeltaPresence(0.5, 0.5, population=PEOPLE),
        "must satisfy 0 <= low < high <= 1 .* got low=0.5 and high=0.5",
    ),
]


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_refusals(make, message):
    with pytest.raises(ValueError, match=message):
        make()


OF_VALUES = [
    (AlphaKAnonymity, 0.5, 2), (PSensitiveKAnonymity, 2, 2), (DistinctDiversity, 2), (EntropyDiversity, 2),
    (FrequencyDiversity, 2), (RecursiveDiversity, 2, 2), (TCloseness, 0.1), (JensenShannonCloseness, 0.1),
    (DeltaDisclosure, 1), (BasicBetaLikeness, 1), (EnhancedBetaLikeness, 1), (ConfidenceBound, 0.5),
]  # fmt: skip


@pytest.mark.parametrize("name", [None, "", 3, ["diagnosis"]], ids=repr)
@pytest.mark.parametrize("made", OF_VALUES, ids=lambda made: made[0].__name__)
def test_whoever_counts_values_names_their_attribute(made, name):
    """Five of them were claimed with None, of classes of one person."""
    model, *bounds = made
    with pytest.raises(ValueError, match="sensitive must be the name of the attribute"):
        model(*bounds, name, *["asthma"] * (model is ConfidenceBound))


def test_those_are_all_that_count_values():
    assert {made[0].__name__ for made in OF_VALUES} | {"KAnonymity", "KMap", "DeltaPresence"} == set(BUILT)


NOTHING = [
    lambda: DistinctDiversity(1, S), lambda: EntropyDiversity(1, S), lambda: FrequencyDiversity(1.0, S),
    lambda: RecursiveDiversity(3, 1, S), lambda: TCloseness(1, S), lambda: JensenShannonCloseness(5, S),
    lambda: JensenShannonCloseness(log(2), S), lambda: ConfidenceBound(1, S, "a"),
    lambda: DeltaPresence(0, 1, population=PEOPLE), lambda: KMap(1, population=PEOPLE),
    # Levels are compared after rounding, so that every class keeps these, too.
    lambda: EntropyDiversity(1 + 1e-13, S), lambda: FrequencyDiversity(1 + 1e-13, S), lambda: TCloseness(1 - 1e-13, S),
    lambda: JensenShannonCloseness(log(2) - 1e-13, S), lambda: ConfidenceBound(1 - 1e-13, S, "a"),
    lambda: DeltaPresence(0, 1 - 1e-13, population=PEOPLE),
]  # fmt: skip


@pytest.mark.parametrize("make", NOTHING)
def test_a_bound_that_every_class_keeps_is_refused(make):
    with pytest.raises(ValueError, match=r"every class (keeps|satisfies|lies)|every share|protects nobody"):
        make()


@pytest.mark.parametrize("value", [None, inf, True, ["asthma"]], ids=repr)
def test_a_bound_on_confidence_names_a_value(value):
    with pytest.raises(ValueError, match="`value` must be a value of the domain"):
        ConfidenceBound(0.5, S, value)


def test_numbers_of_numpy_are_numbers():
    assert TCloseness(np.float32(0.5), S).t == 0.5
    assert RecursiveDiversity(np.int64(3), np.int64(2), S).c == 3
    assert EntropyDiversity(np.int64(3), S).l == 3


# The path apart, itself.


@pytest.mark.parametrize(
    ("bound", "meant"),
    [(0.3, Fraction(3, 10)), (1 / 3, Fraction(1, 3)), (2, 2), (0.17, Fraction(17, 100)), (1 - 0.9, Fraction(1, 10))],
)
def test_a_bound_is_meant_as_written(bound, meant):
    assert as_written(bound) == meant


@settings(deadline=None, max_examples=40)
@given(data=st.data(), size=st.integers(2, 6))
def test_the_flow_of_least_cost_is_the_linear_programme(data, size):
    """Any distances, not only metrics: minimise the sum of flow x distance, rows give and columns take."""
    much = data.draw(st.lists(st.integers(0, 5), min_size=size, max_size=size))
    little = data.draw(st.permutations(much))
    price = data.draw(st.lists(st.integers(0, 9), min_size=size**2, max_size=size**2))
    surplus = dict(enumerate(np.subtract(much, little).tolist()))
    give = [max(each, 0) for each in surplus.values()]
    take = [max(-each, 0) for each in surplus.values()]
    sides = [np.kron(np.eye(size), np.ones(size)), np.kron(np.ones(size), np.eye(size))]
    best = linprog(price, A_eq=np.vstack(sides), b_eq=[*give, *take])
    assert float(least_work(surplus, lambda a, b: price[a * size + b])) == pytest.approx(best.fun, abs=1e-9)


def test_the_old_name_of_grade_release_warns():
    with pytest.warns(DeprecationWarning, match="'achieved' is now 'grade_release'"):
        assert privacy_models.achieved is privacy_models.grade_release
