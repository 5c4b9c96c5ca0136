"""Domains of billions of values, products of many widths, numbers in several forms: nothing is as large as a domain,
nothing wraps around, and one number is one value.
"""

import contextlib
import tracemalloc
from functools import cache

import numpy as np
import pandas as pd
import pytest

from privnb.attacks.linkage.linkage import Linkage
from privnb.datasets.dataset import Dataset
from privnb.evaluation.risks.density import Coverage
from privnb.measures.utility.information_loss import certainty_penalty
from privnb.measures.utility.mining import nearer
from privnb.microdata.counts import group_codes
from privnb.microdata.hierarchy import Intervals, Ordered, Ranges, Sets, Taxonomy, flat, keep_exact_ends
from privnb.microdata.hierarchy.taxonomies import widths
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema, SchemaError
from privnb.miners.encoding import encode
from privnb.privacy_models import DeltaPresence, KAnonymity, KMap, grade_release
from privnb.sanitizers import (
    IPSO,
    PRAM,
    Anatomy,
    Bucketize,
    Identity,
    LocalRecoding,
    Mondrian,
    RareCategories,
    SanitizationError,
)
from privnb.sanitizers.algorithms.recoding import local_recoding
from privnb.sanitizers.catalogue import kinds

WIDEST = Numbers(0, 2**31 - 2)
INCOMES = Schema(
    "incomes",
    (
        Attribute("income", Role.QUASI_IDENTIFIER, WIDEST),
        Attribute("illness", Role.SENSITIVE, Categories(("flu", "gout"))),
    ),
)


def incomes(n=200):
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"income": rng.integers(0, 2**31 - 1, n), "illness": rng.choice(["flu", "gout"], n)})
    return Dataset("incomes", table, INCOMES, {"income": Ranges(WIDEST, exact=True)})


def test_the_mark_of_a_missing_number_counts_as_a_value():
    with pytest.raises(SchemaError, match=r"2,147,483,648 values, including 'NA' for a missing number, .* coarser"):
        Numbers(0, 2**31 - 1, missing="NA")
    with pytest.raises(SchemaError, match=r"2,147,483,648 values, steps of"):
        Numbers(0, 2**31)


@pytest.mark.parametrize("name", sorted(name for name, kind in kinds().items() if not kind.reads_file))
def test_numbers_of_the_largest_domain_may_be_missing(name):
    """The mark of a missing one is the last code that has room in 32 bits; the next one has none."""
    amount = Attribute("amount", Role.QUASI_IDENTIFIER, Numbers(0, 2**31 - 2, missing="?"))
    kinds_of = ("illness", Role.SENSITIVE), ("ward", Role.NEUTRAL), ("town", Role.QUASI_IDENTIFIER)
    others = [Attribute(each, role, Categories(("a", "b"))) for each, role in kinds_of]
    schema = Schema("amounts", (amount, *others))
    table = pd.DataFrame({"amount": [1.0, 1, np.nan, np.nan, 5, 2**31 - 2, 2**31 - 2, 0] * 25})
    table = table.assign(illness=[*"abaabbab"] * 25, ward=[*"abababaa"] * 25, town=[*"ababbbaa"] * 25)
    data = Dataset("amounts", table, schema, {each.name: flat(each) for each in (amount, others[2])})
    with contextlib.suppress(SanitizationError):  # those that have no model of missing numbers, or need two of numbers
        assert kinds()[name].contract_examples(schema)[0].sanitize(data, rng=1).record_count > 0


def peak(work):
    """The most memory that `work()` holds at a time, in bytes, and what it returns."""
    tracemalloc.start()
    try:
        found = work()
        return tracemalloc.get_traced_memory()[1], found
    finally:
        tracemalloc.stop()


def test_a_release_is_made_without_listing_a_domain():
    for sanitizer in (Identity(), Mondrian(KAnonymity(5))):
        sanitizer.sanitize(incomes(), rng=1)  # kernels are compiled outside of what is measured
        used, release = peak(lambda made=sanitizer: made.sanitize(incomes(), rng=1))
        assert len(release) == 200
        assert used < 2**26


def test_people_of_a_population_are_counted_without_listing_a_domain():
    """Two labels that span half of the domain each, and one that spans all: by a list of positions 16 GB."""
    data, half = incomes(), 2**30
    release = Identity().sanitize(data, rng=1)
    low = data.table["income"] < half
    labels = np.where(low, f"0-{half - 1}", f"{half}-{2**31 - 2}")
    object.__setattr__(release, "table", release.table.assign(income=labels))
    used, found = peak(lambda: KMap(2, population=data.table[["income"]]).counted(release))
    assert sorted(map(tuple, found)) == sorted([(low.sum(), low.sum()), ((~low).sum(), (~low).sum())])
    assert used < 2**26


def test_delta_presence_is_enforced_without_listing_a_domain():
    data = incomes()
    register = pd.concat([data.table[["income"]]] * 3, ignore_index=True)
    sanitizer = Mondrian(DeltaPresence(0, 0.5, population=register), KAnonymity(5))
    sanitizer.sanitize(data, rng=1)  # kernels are compiled outside of what is measured
    used, release = peak(lambda: sanitizer.sanitize(data, rng=1))
    assert grade_release(sanitizer.models[0], release) == pytest.approx(1 / 3)
    assert used < 2**26


def test_rows_are_linked_without_listing_a_domain():
    release = Mondrian(KAnonymity(100)).sanitize(incomes(), rng=1)
    attack = Linkage().fit(release.publish()[0])
    used, found = peak(lambda: attack.candidates(incomes().table[["income"]]))
    assert set(found) == set(np.bincount(release.equivalence_classes))
    assert used < 2**26


@pytest.mark.parametrize(
    "kind",
    [
        Ranges(Numbers(0, 3)), Intervals(Numbers(0, 3), (1, 2, 4)), Ordered("n", ("0", "1", "2", "3")),
        Sets("n", ("0", "1", "2", "3")), Taxonomy("n", tuple((c, "ab"[c > "1"], "*") for c in "0123")),
    ],
    ids=lambda kind: type(kind).__name__,
)  # fmt: skip
def test_runs_are_what_is_covered(kind):
    codes = np.array([0, 1, 1, 3, 0, 3, 1, 2, 0, 2, 3])
    classes = np.array([0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5])
    for label in [*kind.labels(codes, classes), "*"]:
        covered = kind.covered(label).tolist()
        assert [p for first, last in kind.runs(label) for p in range(first, last + 1)] == covered
        assert np.flatnonzero(kind.covers(label, np.arange(4))).tolist() == covered


def test_intervals_are_not_numbered_beyond_their_numbers():
    """2^32 / 1 would be interval 0."""
    with pytest.raises(SchemaError, match="intervals of 1 would need numbers above 2"):
        Intervals(Numbers(2**32, 2**32 + 9), (1, 2**40))
    assert Intervals(Numbers(2**32, 2**32 + 9), (10, 2**40)).label(0, 1) == "4294967290-4294967299"


ATTRIBUTES = tuple(Attribute(f"q{a}", Role.QUASI_IDENTIFIER, Numbers(0, 15)) for a in range(20))
MANY = Schema("many", (*ATTRIBUTES, Attribute("s", Role.SENSITIVE, Categories(("a", "b")))))


def test_row_builder_many_columns_are_distinguished_whatever_integers_the_widths_are():
    """20 columns of 16 values: 16^20 is 2^80, which wraps around to 0 in 64 bits."""
    columns = np.random.default_rng(3).integers(0, 16, (20, 134))
    expected = len(np.unique(columns, axis=1).T)
    first, index = group_codes(columns, columns.max(axis=1) + 1)
    assert (len(first), index.max() + 1) == (expected, expected)
    np.testing.assert_array_equal(columns[:, first[index]], columns)


def test_local_recoding_sees_every_row_of_many_columns():
    """Pairs of equal people need no generalization at all."""
    codes = np.repeat(np.random.default_rng(3).integers(0, 16, (67, 20)), 2, axis=0)
    table = pd.DataFrame(codes, columns=[f"q{a}" for a in range(20)]).assign(s="a")
    data = Dataset("many", table, MANY, {a.name: keep_exact_ends(flat(a)) for a in ATTRIBUTES})
    release = LocalRecoding(KAnonymity(2)).sanitize(data, rng=1)
    assert certainty_penalty(release) == 0


def test_costs_that_would_wrap_around_are_refused():
    with pytest.raises(ValueError, match="are too many for exact costs"):
        local_recoding(np.array([[0], [1]]), np.array([2**41, 2**41]), [2], 2)


ACIDS = Schema(
    "acids",
    (
        Attribute("ph", Role.QUASI_IDENTIFIER, Numbers(0, 5, 0.5)),
        Attribute("visits", Role.SENSITIVE, Numbers(0, 9)),
        Attribute("dose", Role.SENSITIVE, Numbers(0, 9, 0.5)),
    ),
)


def acids(n=40):
    rng = np.random.default_rng(5)
    table = {"ph": rng.integers(0, 11, n) / 2, "visits": rng.integers(0, 10, n), "dose": rng.integers(0, 19, n) / 2}
    return Dataset("acids", pd.DataFrame(table), ACIDS, {"ph": widths(ACIDS["ph"], (1, 2))})


@pytest.mark.parametrize("sanitizer", [Identity(), Anatomy(2, "visits"), Bucketize(Mondrian(KAnonymity(5)))], ids=repr)
def test_exact_decimals_stand_in_a_tree(sanitizer):
    """3.0 is the leaf 3."""
    data = acids()
    release = sanitizer.sanitize(data, rng=1)
    sizes = data.table["ph"].value_counts()
    assert grade_release(KMap(2, population=data.table[["ph"]]), release) == sizes.min()
    assert grade_release(DeltaPresence(0, 0.5, population=data.table[["ph"]]), release) == 1


@pytest.mark.parametrize("form", [str, lambda value: f"{value:.1f}", float, lambda value: f"{value:g}"])
def test_a_population_may_write_its_numbers_in_any_form(form):
    """As the table itself may: 62, 62.0, "62" and "62.0" are one value."""
    data = acids()
    population = pd.DataFrame({"ph": pd.Series([form(value) for value in data.table["ph"]], dtype=object)})
    release = Identity().sanitize(data, rng=1)
    np.testing.assert_array_equal(
        KMap(2, population=population).counted(release), KMap(2, population=data.table[["ph"]]).counted(release)
    )
    assert Mondrian(KMap(2, population=population)).sanitize(data, rng=1)


def test_a_population_with_what_is_no_number_is_refused_by_its_name():
    population = acids().table[["ph"]].astype(object)
    population.iloc[0] = "acid"
    with pytest.raises(SchemaError, match=r"'acid' \(1\)"):
        KMap(2, population=population).counted(Identity().sanitize(acids(), rng=1))


def test_whole_numbers_stay_whole_beside_decimals_in_buckets():
    buckets = Anatomy(2, "visits").sanitize(acids(), rng=1).buckets
    assert all(type(value) is int for value in buckets.value[buckets.attribute == "visits"])
    assert "visits,0,3.0" not in buckets.to_csv()
    assert {type(value) for value in buckets.value[buckets.attribute == "dose"]} == {float}


CODES = tuple(f"{code:05}" for code in range(10_000))
PLACES = Schema(
    "places",
    (
        Attribute("zip", Role.QUASI_IDENTIFIER, Categories(CODES)),
        Attribute("sex", Role.QUASI_IDENTIFIER, Categories(("F", "M"))),
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
        Attribute("weight", Role.QUASI_IDENTIFIER, Numbers(0, 199)),
        Attribute("illness", Role.SENSITIVE, Categories(("flu", "gout"))),
        Attribute("ward", Role.NEUTRAL, Categories(("A", "B"))),
    ),
)
BY_MATRIX = {
    "MASK": "10,002 possible values, one column each",
    "PRAM": "'zip' has 10,000 possible values",
    "MultipleImputation": "would regress on 10,004 columns",
}


@cache
def places(n=150):
    """People of 10,000 post codes, of whom few share one."""
    rng = np.random.default_rng(3)
    columns = {
        each.name: rng.integers(each.domain.low, each.domain.high + 1, n)
        if each.numeric
        else rng.choice(each.domain.values, n)
        for each in PLACES.attributes
    }
    columns["illness"] = np.resize(["flu", "gout"], n)
    tree = Taxonomy("zip", tuple((code, code[:3] + "**", code[:2] + "***", "*") for code in CODES))
    hierarchies = {name: flat(PLACES[name]) for name in PLACES.quasi_identifiers} | {"zip": tree}
    return Dataset("places", pd.DataFrame(columns), PLACES, hierarchies)


@pytest.mark.parametrize("name", [*BY_MATRIX])
def test_what_writes_out_a_large_domain_is_refused(name):
    with pytest.raises(SanitizationError, match=BY_MATRIX[name]):
        kinds()[name].contract_examples(PLACES)[0].sanitize(places(), rng=1)


@pytest.mark.parametrize("name", sorted({name for name, kind in kinds().items() if not kind.reads_file} - {*BY_MATRIX}))
def test_categories_of_a_large_domain_make_no_matrix(name):
    """A row and a column for each value would be 800 MB: what people are encoded as, and how densely a release covers
    them, is of what occurs.
    """
    made = kinds()[name].contract_examples(PLACES)[0]
    used, release = peak(lambda: made.sanitize(places(), rng=1))
    assert used < 2**26
    if {"zip", "sex"} <= {*release.table}:
        used, _ = peak(lambda: encode(release.table, ["zip", "sex"], release.schema, release.hierarchies))
        assert used < 2**26
    if {"zip", "sex"} <= {*release.columns}:
        used, _ = peak(lambda: Coverage.of(release, ["zip", "sex"]))
        assert used < 2**26


@pytest.mark.slow
def test_guesses_of_a_large_domain_are_measured_without_a_matrix():
    zips = places().hierarchies["zip"]
    true = np.array(CODES)
    guessed, released = (
        np.where(np.arange(len(CODES)) % 2, true, true[::-1]),
        np.array([code[:3] + "**" for code in CODES]),
    )
    used, right = peak(lambda: nearer(guessed, released, true, 0, zips))
    assert used < 2**24
    assert np.array_equal(right, guessed == true)


def test_a_regression_on_a_large_domain_is_refused():
    with pytest.raises(SanitizationError, match=r"would regress on 9,999 columns.*10,000 values of 'zip'"):
        IPSO(given=("zip",)).sanitize(places(), rng=1)


def test_rare_codes_of_a_large_domain_climb_until_enough_people_share_them():
    release = RareCategories(40).sanitize(places(), rng=1)
    assert release.table["zip"].value_counts().min() >= 40


def test_pram_shows_itself_by_an_attribute_that_may_have_a_matrix():
    assert [*PRAM.contract_examples(PLACES)[-1].matrices] == ["sex"]
    assert PRAM.contract_examples(Schema("places", (PLACES["zip"], PLACES["illness"]))) == []
