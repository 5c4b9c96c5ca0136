"""Each measure against worked tables, by hand, at its ends, and as cells grow coarser."""

import tracemalloc
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from support.plain_losses import classification_metric

from privnb.datasets.dataset import Dataset, load
from privnb.measures.utility import information_loss as loss
from privnb.measures.utility.information_loss import certainty_penalty, mean_absolute_error
from privnb.microdata.hierarchy import Intervals, Ordered, Ranges, Sets, Taxonomy
from privnb.microdata.provenance import Provenance
from privnb.microdata.release import Release
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.microdata.treatment import Law, Treatment
from privnb.sanitizers import Identity, KMember, LaplaceNoise, Suppress

SCHEMA = Schema(
    "toy",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 100)),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(("a", "b", "c", "d", "e"))),
    ),
)
HIERARCHIES = {
    "age": Ranges(Numbers(0, 100)),
    "town": Taxonomy("town", tuple((t, "west" if t in "ab" else "east", "*") for t in "abcde")),
}


def release(table, schema=SCHEMA, hierarchies=HIERARCHIES):
    return Release(pd.DataFrame(table), schema, hierarchies, Provenance(schema.dataset, "by hand", {}))


def test_worked_example():
    """Ages: 10 of 100, then *: 0.1 and 1. Towns: 2 of 5 leaves and 1: 0.25 and 0. Mean of the four cells."""
    released = release({"age": ["20-30", "*"], "town": ["west", "c"]})
    assert certainty_penalty(released) == pytest.approx((0.1 + 1 + 0.25 + 0) / 4)
    # Ranges have no levels, so 20-30 climbs by its width; west stands one level of two up.
    assert loss.precision(released) == pytest.approx(1 - (0.1 + 1 + 1 / 2 + 0) / 4)
    assert loss.normalized_certainty_penalty(released) == pytest.approx((0.1 + 1 + 2 / 5 + 0) / 4)
    assert (loss.suppressed_records(released), loss.suppressed_cells(released)) == (0, 1)


def test_height_counts_from_the_lowest_level_of_a_label():
    marital = Taxonomy("marital", (("single", "never", "*"), ("divorced", "been", "*"), ("married", "been", "*")))
    filled = Taxonomy("filled", (("a", "x", "x", "*"), ("b", "b", "b", "*")))
    ages = Intervals(Numbers(17, 99), (5, 10, 20, 50, 100))
    assert [loss.height(marital, label) for label in ("single", "never", "been", "*")] == [0, 0.5, 0.5, 1]
    assert [loss.height(filled, label) for label in ("a", "x", "b", "*")] == [0, 1 / 3, 0, 1]
    assert [loss.height(ages, label) for label in (37, "35-39", "30-39", "0-99", "*")] == [0, 0.2, 0.4, 1, 1]
    years = Taxonomy("years", (("20", "old", "*"), ("30", "old", "*")))
    assert [loss.height(years, label) for label in (20, 30.0, "old")] == [0, 0, 0.5]


@pytest.mark.parametrize("kind", [Ordered, Sets])
def test_lists_of_values_climb_by_their_width(kind):
    towns = kind("town", tuple("abcde"))
    assert loss.height(towns, "b|c") == towns.width("b|c") == 1 / 4
    assert loss.uncertainty(towns, "b|c") == 2 / 5
    assert loss.uncertainty(towns, "b") == 0
    occurring = loss.OccurringValues.of(np.array([0, 1, 3]), np.array([4, 4, 2]))
    assert loss.ambiguity(towns, "b|c", occurring) == 0  # nobody has c
    assert loss.bits(towns, "a|b", occurring) == pytest.approx(3)


# The 66 tuples of Aggarwal and Yu 2008, fig. 5.1: marital status, sex, hours; people with and without hypertension.
FIGURE = [
    ("divorced", "M", "35", 0, 2),
    ("divorced", "M", "40", 16, 1),
    ("divorced", "F", "35", 0, 2),
    ("married", "M", "35", 8, 2),
    ("married", "F", "50", 2, 7),
    ("single", "M", "40", 6, 20),
]
BEEN = {"divorced": "been married", "married": "been married", "single": "never married"}
HYPERTENSION = Schema(
    "hypertension",
    (
        Attribute("marital", Role.QUASI_IDENTIFIER, Categories(tuple(BEEN))),
        Attribute("sex", Role.QUASI_IDENTIFIER, Categories(("M", "F"))),
        Attribute("hours", Role.QUASI_IDENTIFIER, Categories(("35", "40", "50"))),
        Attribute("hypertension", Role.SENSITIVE, Categories(("Y", "N"))),
    ),
)
TREES = {
    "marital": Taxonomy("marital", tuple((status, been, "*") for status, been in BEEN.items())),
    "sex": Taxonomy("sex", (("M", "*"), ("F", "*"))),
    "hours": Taxonomy("hours", (("35", "[1,40)", "*"), ("40", "[40,100)", "*"), ("50", "[40,100)", "*"))),
}
PEOPLE = [(m, s, h, y) for m, s, h, yes, no in FIGURE for y in "Y" * yes + "N" * no]
PATIENTS = Dataset(
    "hypertension", pd.DataFrame(PEOPLE, columns=[*TREES, "hypertension"]), HYPERTENSION, TREES
)  # fmt: skip


def recoded(cells):
    """The release of the 66 tuples in which `cells(marital, sex, hours)` gives the three labels of a record."""
    rows = [(*cells(*row[:3]), row[3]) for row in PEOPLE]
    return release(pd.DataFrame(rows, columns=PATIENTS.table.columns), HYPERTENSION, TREES)


TABLES = {
    "5.1": (lambda m, s, h: (m, s, h), 6, 1154, 11),
    "5.11(b)": (lambda m, s, h: (BEEN[m], "*", "*"), 2, 2276, 20),
    "5.11(c)": (lambda m, s, h: ("never married" if m == "single" else m, "*", "*"), 3, 1478, 20),
    "5.11(d)": (lambda m, s, h: (m, "*", h), 5, 1162, 11),
    "5.18": (lambda m, s, h: (m, s, "*") if s == "M" else ("*", s, h), 5, 1222, 13),
    "5.20": (lambda m, s, h: (BEEN[m], s, "*"), 3, 1638, 13),
    "5.8(d)": (lambda m, s, h: (m if s == "M" else "been married", s, "*"), 4, 1258, 13),
    "(M0,S1)": (lambda m, s, h: (m, "*", "*"), 3, 1478, 20),
}


@pytest.mark.parametrize(("cells", "classes", "pairs", "errors"), TABLES.values(), ids=TABLES)
def test_tables_of_chapter_5(cells, classes, pairs, errors):
    """Computed from fig. 5.1 and the book's tables; pycanon 1.3.5 agrees on both numbers of 5.11(d)."""
    released = recoded(cells)
    assert loss.discernibility(released) == pairs
    assert classification_metric(PATIENTS, released, "hypertension") == pytest.approx(errors / 66)
    assert loss.average_class_size(released) == pytest.approx(66 / classes)


def test_the_root_of_every_hierarchy_is_suppression():
    """Table 5.11(a): one class of 32 and 34. Nobody can tell its labels from suppressed records, so CM counts them."""
    released = recoded(lambda m, s, h: ("*", "*", "*"))
    assert loss.discernibility(released) == loss.discernibility_of([66]) == 4356
    assert loss.classification_metric_of(np.array([[32, 34]])) == pytest.approx(32 / 66)
    assert classification_metric(PATIENTS, released, "hypertension") == 1
    assert loss.suppressed_records(released) == 66
    assert loss.suppressed_cells(released) == 198
    assert loss.average_class_size(released) == 66


def test_precision_of_chapter_5():
    assert loss.precision(recoded(TABLES["5.11(d)"][0])) == pytest.approx(0.666667, abs=1e-6)
    four = recoded(lambda m, s, h: (m, "*" if (m, h) == ("divorced", "35") else s, h))
    assert loss.suppressed_cells(four) == 4
    assert loss.precision(four) == pytest.approx(0.979798, abs=1e-6)


def test_what_a_suppressed_record_costs():
    """Two of six suppressed: to discernibility as if like all six, to the classification metric an error each."""
    assert loss.discernibility_of([3, 1], suppressed=2) == 9 + 1 + 2 * 6
    assert loss.classification_metric_of(np.array([[2, 1], [0, 1]]), suppressed=2) == pytest.approx((1 + 2) / 6)
    assert loss.average_class_size_of([3, 1], suppressed=2) == 6 / 3
    town = ["*", "*", "a", "a", "a", "b"]
    released = release({"age": ["*", "*", "*", "*", "*", "*"], "town": town})
    assert loss.discernibility(released) == loss.discernibility_of([3, 1], suppressed=2)
    assert loss.average_class_size(released) == 2
    assert (loss.suppressed_records(released), loss.suppressed_cells(released)) == (2, 8)


def test_a_tie_is_an_error_of_half():
    """Five against five: a classifier errs on five. pycanon 1.3.5 leaves out every value as common as the most common,
    and says 0.
    """
    assert loss.classification_metric_of(np.array([[5, 5]])) == 0.5


# Aggarwal and Yu 2008, tables 9.1a, 9.2b, 9.3c.
GRADUATES = Schema(
    "graduates",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(24, 32)),
        Attribute("education", Role.QUASI_IDENTIFIER, Categories(("Bachelor", "Master", "Doctorate"))),
        Attribute("zip", Role.QUASI_IDENTIFIER, Numbers(53711, 53716)),
        Attribute("target", Role.SENSITIVE, Categories(("Y", "N"))),
    ),
)
DEGREES = Taxonomy(
    "education", (("Bachelor", "Bachelor", "*"), ("Master", "GradSchool", "*"), ("Doctorate", "GradSchool", "*"))
)
STUDY = {"age": Ranges(Numbers(24, 32)), "education": DEGREES, "zip": Ranges(Numbers(53711, 53716))}
ORIGINAL = pd.DataFrame(
    {
        "age": [24, 25, 30, 30, 32, 32],
        "education": ["Bachelor", "Bachelor", "Master", "Master", "Master", "Doctorate"],
        "zip": range(53711, 53717),
        "target": list("YYNNNN"),
    }
)
GOOD = {
    "age": ["24-25", "24-25", "30", "30", "32", "32"],
    "education": ["Bachelor", "Bachelor", "Master", "Master", "GradSchool", "GradSchool"],
    "zip": ["53711-53712"] * 2 + ["53713-53714"] * 2 + ["53715-53716"] * 2,
}
POOR = {
    "age": ["24-30", "25-32", "30-32", "24-30", "30-32", "25-32"],
    "education": ["*", "*", "Master", "*", "Master", "*"],
    "zip": [f"{low}-{low + width}" for low, width in ((53711, 3), (53712, 4), (53713, 2), (53711, 3), (53713, 2))]
    + ["53712-53716"],
}


@pytest.mark.parametrize(
    ("cells", "misplaced", "ambiguous", "uncertain"), [(GOOD, 0, 0.159259, 0.154630), (POOR, 1 / 3, 0.607407, 0.630556)]
)
def test_tables_of_chapter_9(cells, misplaced, ambiguous, uncertain):
    data = Dataset("graduates", ORIGINAL, GRADUATES, STUDY)
    released = release({**cells, "target": ORIGINAL.target}, GRADUATES, STUDY)
    assert loss.discernibility(released) == 12
    assert classification_metric(data, released, "target") == pytest.approx(misplaced)
    assert loss.loss_metric(data, released) == pytest.approx(ambiguous, abs=1e-6)
    assert loss.normalized_certainty_penalty(released) == pytest.approx(uncertain, abs=1e-6)


def test_kl_divergence_of_chapter_9():
    """Tables 9.11a and 9.12b (whose third income is misprinted: 50k). Cells are spread over 12, 16 and 24 values."""
    incomes = ("40k", "50k", "80k", "100k")
    schema = Schema(
        "incomes",
        (
            Attribute("age", Role.QUASI_IDENTIFIER, Numbers(27, 30)),
            *GRADUATES.attributes[1:3],
            Attribute("income", Role.SENSITIVE, Categories(incomes)),
        ),
    )
    hierarchies = {**STUDY, "age": Ranges(Numbers(27, 30))}
    original = pd.DataFrame(
        {
            "age": [27, 28, 27, 28, 30, 30],
            "education": ["Bachelor", "Bachelor", "Master", "Doctorate", "Master", "Doctorate"],
            "zip": [53711, 53713, 53715, 53716, 53714, 53712],
            "income": ["40k", "50k", "50k", "80k", "50k", "100k"],
        }
    )
    cells = {
        "age": ["27-30"] * 6,
        "education": ["Bachelor"] * 2 + ["GradSchool"] * 4,
        "zip": ["53711-53713"] * 2 + ["53715-53716"] * 2 + ["53712-53714"] * 2,
        "income": original.income,
    }
    data = Dataset("incomes", original, schema, hierarchies)
    assert loss.kl_divergence(data, release(cells, schema, hierarchies)) == pytest.approx(4.056642, abs=1e-6)
    # Without the incomes a class of two is spread over four times as many values.
    hidden = {**cells, "income": ["*"] * 6}
    blurred = loss.kl_divergence(data, release(hidden, schema, hierarchies))
    assert blurred == pytest.approx(np.mean(np.log2([12, 16, 24])) + 2 - 1)


def test_non_uniform_entropy_by_hand():
    """Three a and one b as west: the three lose log2(4/3) bits, the one 2. Their ages are exact."""
    table = pd.DataFrame({"age": [1, 2, 3, 4], "town": ["a", "a", "a", "b"]})
    data = Dataset("toy", table, SCHEMA, HIERARCHIES)
    expected = (3 * np.log2(4 / 3) + 2) / 4
    west = loss.non_uniform_entropy(data, release(table.assign(town="west")))
    assert west == pytest.approx(expected / 2)
    hidden = loss.non_uniform_entropy(data, release(table.assign(town="*", age="*")))
    assert hidden == pytest.approx((expected + 2) / 2)  # the entropies of the towns and of four different ages


LOWER = {
    "certainty_penalty": lambda d, r: loss.certainty_penalty(r),
    "normalized_certainty_penalty": lambda d, r: loss.normalized_certainty_penalty(r),
    "loss_metric": loss.loss_metric,
    "height": lambda d, r: 1 - loss.precision(r),
    "non_uniform_entropy": loss.non_uniform_entropy,
    "discernibility": lambda d, r: loss.discernibility(r),
    "average_class_size": lambda d, r: loss.average_class_size(r),
    "kl_divergence": loss.kl_divergence,
    "suppressed_records": lambda d, r: loss.suppressed_records(r),
    "suppressed_cells": lambda d, r: loss.suppressed_cells(r),
}
OF_CELLS = list(LOWER)[:5]
SHARES = OF_CELLS[:4]
# Where the cost of full suppression does not depend on the records.
WORST = {**dict.fromkeys(SHARES, 1), "average_class_size": 600, "discernibility": 600**2, "suppressed_records": 600}


@pytest.fixture(scope="module")
def adult():
    return load("adult", "sramka-taxonomy", records=600)


@pytest.fixture(scope="module")
def ladder(adult):
    """Releases that keep less and less."""
    return [sanitizer.sanitize(adult, rng=0) for sanitizer in (Identity(), KMember(2), KMember(20), Suppress())]


@pytest.mark.parametrize("name", LOWER)
def test_best_intact_and_worst_suppressed(name, adult, ladder):
    intact, fine, coarse, suppressed = (LOWER[name](adult, released) for released in ladder)
    if name in ("discernibility", "average_class_size"):
        sizes = adult.table[adult.schema.quasi_identifiers].value_counts().to_numpy()
        assert intact == {"discernibility": sizes @ sizes, "average_class_size": sizes.mean()}[name]
    else:
        assert intact == pytest.approx(0, abs=1e-12)
    assert intact - 1e-9 <= fine <= coarse <= suppressed + 1e-9
    assert intact < suppressed
    assert suppressed == pytest.approx(WORST.get(name, suppressed))


def test_ends_of_certainty_are_exact(ladder):
    assert [certainty_penalty(ladder[0]), certainty_penalty(ladder[-1])] == [0, 1]


SMALL = Schema(
    "small",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 9)),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(tuple("abcde"))),
        Attribute("sex", Role.QUASI_IDENTIFIER, Categories(("F", "M"))),
        Attribute("ill", Role.SENSITIVE, Categories(("no", "yes"))),
    ),
)
WAYS = {
    "age": Ranges(Numbers(0, 9)),
    "town": HIERARCHIES["town"],
    "sex": Taxonomy("sex", (("F", "*"), ("M", "*"))),
}
LEVELS = {
    "age": [str, lambda age: "0-4" if age < 5 else "5-9", lambda age: "*"],
    "town": [str, lambda town: "west" if town in "ab" else "east", lambda town: "*"],
    "sex": [str, lambda sex: "*", lambda sex: "*"],
}
RECORDS = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from("abcde"), st.sampled_from("FM"), st.sampled_from(["no", "yes"])),
    min_size=2,
    max_size=12,
)


def small(records):
    return Dataset("small", pd.DataFrame(records, columns=SMALL.names()), SMALL, WAYS)


def at_levels(data, levels):
    """The release of `data` at `levels`: (levels of age, town and sex) of each record, or one triple for all."""
    levels = np.broadcast_to(levels, (len(data.table), 3))
    table = data.table.copy()
    for column, (name, climb) in enumerate(LEVELS.items()):
        table[name] = [climb[up](value) for value, up in zip(table[name], levels[:, column], strict=True)]
    return release(table, SMALL, WAYS)


TRIPLES = st.tuples(*[st.integers(0, 2)] * 3)


@given(RECORDS, TRIPLES, TRIPLES)
def test_full_domain_recoding_costs_more_the_higher_it_climbs(records, levels, up):
    data = small(records)
    lower, higher = (at_levels(data, each) for each in (levels, np.maximum(levels, up)))
    for name, measure in LOWER.items():
        assert -1e-9 <= measure(data, lower) <= measure(data, higher) + 1e-9, name
        assert name not in SHARES or measure(data, higher) <= 1 + 1e-9, name


@given(RECORDS, st.data())
def test_each_cell_that_climbs_costs_more(records, draw):
    data = small(records)
    levels, up = (draw.draw(st.lists(TRIPLES, min_size=len(records), max_size=len(records))) for _ in range(2))
    lower, higher = (at_levels(data, each) for each in (levels, np.maximum(levels, up)))
    for name in OF_CELLS:
        assert -1e-9 <= LOWER[name](data, lower) <= LOWER[name](data, higher) + 1e-9, name
    n = len(records)
    for each in (lower, higher):
        assert n <= loss.discernibility(each) <= n * n
        assert 1 <= loss.average_class_size(each) <= n
        assert 0 <= classification_metric(data, each, "ill") <= 1
        assert loss.kl_divergence(data, each) >= -1e-9


def rebuilt(data, released):
    """Kullback-Leibler divergence from the rebuilt table itself, value by value over the whole domain."""
    n, domain = len(released), product(range(10), "abcde", "FM", ("no", "yes"))
    rebuilding, original = dict.fromkeys(domain, 0.0), data.table.value_counts(normalize=True)
    for age, town, sex, ill in released.table.itertuples(index=False):
        ages, towns = WAYS["age"].covered(age), [WAYS["town"].leaves[i] for i in WAYS["town"].covered(town)]
        sexes = [WAYS["sex"].leaves[i] for i in WAYS["sex"].covered(sex)]
        for value in product(ages.tolist(), towns, sexes, [ill]):
            rebuilding[value] += 1 / n / len(ages) / len(towns) / len(sexes)
    assert sum(rebuilding.values()) == pytest.approx(1)
    return sum(share * np.log2(share / rebuilding[value]) for value, share in original.items())


@given(RECORDS, TRIPLES)
def test_kl_divergence_is_that_of_the_rebuilt_table(records, levels):
    data = small(records)
    released = at_levels(data, levels)
    assert loss.kl_divergence(data, released) == pytest.approx(rebuilt(data, released), abs=1e-9)


@given(RECORDS, st.data())
def test_kl_divergence_is_not_below_it_where_classes_overlap(records, draw):
    data = small(records)
    released = at_levels(data, draw.draw(st.lists(TRIPLES, min_size=len(records), max_size=len(records))))
    assert loss.kl_divergence(data, released) >= rebuilt(data, released) - 1e-9


@given(RECORDS, st.data())
def test_a_bucketized_release_loses_the_link_alone(records, draw):
    """Its rebuilding: each row of a bucket has each of the bucket's values in proportion."""
    data = small(records)
    drawn = draw.draw(st.lists(st.integers(0, 2), min_size=len(records), max_size=len(records)))
    table = data.table.assign(bucket=pd.factorize(np.array(drawn))[0])
    buckets = table.value_counts(["bucket", "ill"]).rename("count").reset_index()
    buckets = buckets.rename(columns={"ill": "value"}).assign(attribute="ill")
    treatments = dict.fromkeys(LEVELS, Treatment("exact")) | {"ill": Treatment("bucketized")}
    provenance = Provenance("small", "by hand", {}, columns=treatments)
    bucketized = Release(table.drop(columns="ill"), SMALL, WAYS, provenance, buckets)
    for name in [*OF_CELLS, "suppressed_records", "suppressed_cells"]:
        assert LOWER[name](data, bucketized) == pytest.approx(0, abs=1e-12), name
    together = table.groupby([*LEVELS, "bucket"])["ill"].agg(list)
    within = table.groupby("bucket")["ill"].value_counts(normalize=True)
    expected = sum(
        np.log2(ills.count(ill) / len(ills) / within[group[-1], ill])
        for group, ills in together.items()
        for ill in ills
    ) / len(table)
    assert loss.kl_divergence(data, bucketized) == pytest.approx(expected, abs=1e-9)
    commonest = table.groupby("bucket")["ill"].agg(lambda ills: ills.value_counts().max()).sum()
    assert classification_metric(data, bucketized, "ill") == pytest.approx(1 - commonest / len(table))


@pytest.mark.slow
@settings(max_examples=50)
@given(RECORDS, TRIPLES, st.randoms(use_true_random=False))
def test_index_labels_and_record_order_do_not_matter(records, levels, random):
    data = small(records)
    order = list(range(len(records)))
    random.shuffle(order)
    moved = Dataset("small", data.table.iloc[order].set_axis(order[::-1]), SMALL, WAYS)
    released = at_levels(moved, levels)
    relabelled = release(released.table.set_axis(order), SMALL, WAYS)
    for name, measure in LOWER.items():
        assert measure(moved, relabelled) == pytest.approx(measure(data, at_levels(data, levels))), name


KINDS = {
    "age": [WAYS["age"], Intervals(Numbers(0, 9), (2, 3, 12))],
    "town": [WAYS["town"], Ordered("town", tuple("abcde")), Sets("town", tuple("abcde"))],
    "sex": [WAYS["sex"]],
}


@given(RECORDS, st.data())
def test_values_and_records_under_a_label_are_counted_one_by_one(records, draw):
    ways = {name: draw.draw(st.sampled_from(kinds)) for name, kinds in KINDS.items()}
    data = Dataset("small", pd.DataFrame(records, columns=SMALL.names()), SMALL, ways)
    classes = pd.factorize(np.array([draw.draw(st.integers(0, 3)) for _ in records]))[0]
    table, ambiguous, lost = data.table.copy(), [], []
    for name, hierarchy in ways.items():
        counts = np.bincount(data.codes[name], minlength=len(hierarchy.covered("*")))
        table[name] = hierarchy.labels(data.codes[name], classes)[classes]
        under = [counts[hierarchy.covered(label)] for label in table[name]]
        all_values = np.count_nonzero(counts)
        ambiguous += [max(np.count_nonzero(each) - 1, 0) / max(all_values - 1, 1) for each in under]
        lost += [np.log2(each.sum()) for each in under]
        lost += [-np.log2(counts[code]) for code in data.codes[name]]
    released = release(table, SMALL, ways)
    assert loss.loss_metric(data, released) == pytest.approx(np.mean(ambiguous), abs=1e-12)
    assert loss.non_uniform_entropy(data, released) == pytest.approx(sum(lost) / len(ambiguous), abs=1e-12)


def test_a_release_by_other_hierarchies_than_the_datasets():
    """The leaves stand in another order there."""
    table = pd.DataFrame({"age": [1, 2, 3, 4], "town": ["a", "a", "b", "e"]})
    data = Dataset("toy", table, SCHEMA, {**HIERARCHIES, "town": Sets("town", tuple("edcba"))})
    assert loss.loss_metric(data, release(table.assign(town="west"))) == (1 / 2 + 0) / 2
    assert loss.non_uniform_entropy(data, release(table.assign(town=["west"] * 3 + ["e"]))) == pytest.approx(
        (3 * np.log2(3) - 2) / 8
    )


def test_a_fine_domain_costs_no_memory():
    """10^8 numbers: an array of them would take 0.8 GB."""
    amounts = Numbers(0, 1e6, 0.01)
    schema = Schema("fine", (Attribute("amount", Role.QUASI_IDENTIFIER, amounts),))
    table = pd.DataFrame({"amount": [0.01, 0.02, 0.02, 999_999.99]})
    data = Dataset("fine", table, schema, {"amount": Ranges(amounts)})
    released = release({"amount": ["0.01-0.02"] * 2 + ["0.02-999999.99"] * 2}, schema, data.hierarchies)
    tracemalloc.start()
    found = [loss.loss_metric(data, released), loss.non_uniform_entropy(data, released)]
    found.append(loss.kl_divergence(data, released))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1e7
    assert found[:2] == [1 / 2, pytest.approx(np.log2(3) - 2 / 4)]
    assert found[2] == pytest.approx(np.log2([2, 99_999_998]).mean() - 1)


def test_mean_absolute_error_by_hand():
    table = pd.DataFrame({"age": [20, 40], "town": ["a", "b"]})
    data = Dataset("toy", table, SCHEMA, HIERARCHIES)
    noisy = Provenance("toy", "by hand", {}, columns={"age": Treatment("noisy", Law())})
    for index in ([0, 1], [1, 0]):
        moved = Release(table.assign(age=[30.0, 20.0]).set_axis(index), SCHEMA, HIERARCHIES, noisy)
        assert mean_absolute_error(data, moved) == pytest.approx((10 + 20) / 2 / 100)


def test_mean_absolute_error_is_the_scale_of_the_noise():
    """The mean absolute value of Laplace noise is its scale, here domain width / epsilon."""
    adult = load("adult", "occupation", records=20_000)
    released = LaplaceNoise(0.5).sanitize(adult, rng=1)
    assert mean_absolute_error(adult, released) == pytest.approx(1 / 0.5, rel=0.05)


def test_each_refuses_the_others_release(adult):
    noisy = LaplaceNoise(1.0).sanitize(adult, rng=0)
    for measure in LOWER.values():
        with pytest.raises(ValueError, match="generalizes nothing"):
            measure(adult, noisy)
    with pytest.raises(ValueError, match=r"neither adds noise to numbers of .*: age is exact, "):
        mean_absolute_error(adult, Identity().sanitize(adult, rng=0))


@pytest.mark.parametrize(
    ("measure", "more"),
    [("loss_metric", ()), ("non_uniform_entropy", ()), ("kl_divergence", ())],
)
def test_a_release_of_another_table_is_refused(adult, measure, more):
    half = adult.sample(len(adult) // 2, rng=1)
    with pytest.raises(
        ValueError, match=r"Release\(.* does not match Dataset\(.* Give the dataset from which the release was made"
    ):
        getattr(loss, measure)(adult, Suppress().sanitize(half, rng=1), *more)
    with pytest.raises(ValueError, match="does not match Dataset"):
        mean_absolute_error(adult, LaplaceNoise(1.0).sanitize(half, rng=1))


def test_nothing_to_generalize_is_refused():
    schema = Schema("ills", SMALL.attributes[3:])
    with pytest.raises(ValueError, match="no quasi-identifier"):
        certainty_penalty(release({"ill": ["no", "yes"]}, schema, {}))
