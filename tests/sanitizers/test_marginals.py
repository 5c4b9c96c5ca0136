"""Marginals against the book's tables, closed forms against fitting, and each rule by a table that breaks it."""

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from numpy.random import default_rng

from privnb.datasets.dataset import Dataset
from privnb.measures.utility import information_loss
from privnb.microdata.count_tables import find_separators
from privnb.microdata.hierarchy import Ranges, Taxonomy
from privnb.microdata.provenance import Provenance
from privnb.microdata.release import Release
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.privacy_models import (
    AlphaKAnonymity,
    ConfidenceBound,
    DistinctDiversity,
    FrequencyDiversity,
    KAnonymity,
    KMap,
    TCloseness,
)
from privnb.sanitizers import Identity, LaplaceNoise, SanitizationError, Suppress, TopDownSpecialization
from privnb.sanitizers.algorithms.maximum_entropy import CountTable, JointCounts
from privnb.sanitizers.synthetic.marginals import anonymize_marginals, divergence, estimate_probabilities, infer_value

QUASI, SENSITIVE, NEUTRAL = Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.NEUTRAL


def incomes():
    """Aggarwal and Yu 2008, table 9.11a (record 3 has 50k there, 40k in table 9.12b: a slip of the book)."""
    schema = Schema(
        "incomes",
        (
            Attribute("age", QUASI, Numbers(27, 30)),
            Attribute("education", QUASI, Categories(("Bachelor", "Master", "Doctorate"))),
            Attribute("zip", QUASI, Numbers(53711, 53716)),
            Attribute("income", SENSITIVE, Categories(("40k", "50k", "80k", "100k"))),
        ),
    )
    table = pd.DataFrame(
        [
            (27, "Bachelor", 53711, "40k"), (28, "Bachelor", 53713, "50k"), (27, "Master", 53715, "50k"),
            (28, "Doctorate", 53716, "80k"), (30, "Master", 53714, "50k"), (30, "Doctorate", 53712, "100k"),
        ],
        columns=schema.names(),
    )  # fmt: skip
    rows = (("Bachelor", "Bachelor", "*"), ("Master", "GradSchool", "*"), ("Doctorate", "GradSchool", "*"))
    hierarchies = {
        "age": Ranges(schema["age"].domain), "education": Taxonomy("education", rows),
        "zip": Ranges(schema["zip"].domain),
    }  # fmt: skip
    return Dataset("incomes", table, schema, hierarchies)


def anonymized(data):
    """Table 9.12b: three groups of two."""
    table = data.table.assign(
        age="27-30",
        education=["Bachelor"] * 2 + ["GradSchool"] * 4,
        zip=["53711-53713"] * 2 + ["53715-53716"] * 2 + ["53712-53714"] * 2,
    )
    return Release(table, data.schema, data.hierarchies, Provenance(data.name, "table 9.12b", {}))


def counted(table):
    return {tuple(map(str, row[:-1])): row[-1] for row in table.itertuples(index=False, name=None)}


def test_the_age_marginal_is_safe_and_brings_the_release_nearer():
    """Table 9.13a; the divergences are worked from the tables."""
    data = incomes()
    marginals = anonymize_marginals(data, ["age"], KAnonymity(2), release=anonymized(data))
    assert counted(marginals.tables[0]) == {("27",): 2, ("28",): 2, ("30",): 2}
    assert divergence(data, release=anonymized(data)) == pytest.approx(4.056642, abs=5e-7)
    assert divergence(data, marginals, anonymized(data)) == pytest.approx(3.641604, abs=5e-7)


def test_a_release_alone_diverges_as_information_loss_says():
    data = incomes()
    for release in (anonymized(data), Suppress().sanitize(data, rng=0), Suppress("sensitive").sanitize(data, rng=0)):
        assert divergence(data, release=release) == pytest.approx(information_loss.kl_divergence(data, release))


def test_the_books_bad_marginal_gives_an_income_away():
    """Table 9.14b is 2-anonymous, and yet (53715, Doctorate) earns 80k: the join says so."""
    data, release = incomes(), anonymized(incomes())
    bad = anonymize_marginals(data, [("education", "income")], KAnonymity(2), release=release)
    assert counted(bad.tables[0]) == {
        ("Bachelor", "40k"): 1, ("Bachelor", "50k"): 1, ("Master", "50k"): 2, ("Doctorate", "80k"): 1,
        ("Doctorate", "100k"): 1,
    }  # fmt: skip
    known = {"zip": 53715, "education": "Doctorate"}
    assert infer_value(known, "income", bad, release).to_dict() == {"80k": 1}
    assert infer_value(known, "income", release=release).to_dict() == {"50k": 0.5, "80k": 0.5}
    assert infer_value(known, "income", bad).to_dict() == {"80k": 0.5, "100k": 0.5}
    with pytest.raises(ValueError, match=r"`known` must contain one of \['education'\]"):
        infer_value({"zip": 53713}, "income", bad, release)
    with pytest.raises(ValueError, match="nobody in the counts has"):
        infer_value({"zip": 53711, "education": "Master"}, "income", bad, release)


def test_a_model_of_incomes_generalizes_the_bad_marginal_or_refuses_it():
    data, release = incomes(), anonymized(incomes())
    asked = [("education", "income")], DistinctDiversity(2, "income")
    with pytest.raises(SanitizationError, match=r"table 9\.12b\) cannot be published itself: 3 of 3 cells"):
        anonymize_marginals(data, ["age"], KAnonymity(3), release=release)
    with pytest.raises(SanitizationError, match=r"1 of 3 cells break DistinctD.*education Master, reaches 1\."):
        anonymize_marginals(data, *asked, release=release, exact=True)
    kept = anonymize_marginals(data, *asked, release=release)
    assert set(kept.tables[0]["education"]) == {"Bachelor", "GradSchool"}
    assert infer_value({"zip": 53715, "education": "Doctorate"}, "income", kept, release).to_dict() == {
        "50k": pytest.approx(0.5), "80k": pytest.approx(0.5),
    }  # fmt: skip


def shops(rows):
    """A table of (town, trade, ware, debt), all exact or `*`."""
    names = ["town", "trade", "ware", "debt"]
    table = pd.DataFrame(rows, columns=names)
    roles = dict(zip(names, [QUASI, QUASI, NEUTRAL, SENSITIVE], strict=True))
    attributes = tuple(Attribute(n, role, Categories(tuple(sorted(set(table[n]))))) for n, role in roles.items())
    hierarchies = {n: Taxonomy(n, tuple((v, "*") for v in sorted(set(table[n])))) for n in ("town", "trade")}
    return Dataset("shops", table, Schema("shops", attributes), hierarchies)


# Whoever is in town a and trade x owes much: in a nobody owes little, in x nobody owes nothing.
JOINED = shops(
    [("a", "x", "w", "much")] * 2 + [("a", "y", "w", "nothing")] * 2 + [("b", "x", "v", "little")] * 2
    + [("b", "y", "v", "much"), ("b", "y", "v", "little")]
)  # fmt: skip


def test_two_tables_that_are_safe_alone_tell_too_much_together():
    alone, pair = [("town", "debt")], [("town", "debt"), ("trade", "debt")]
    for model in (DistinctDiversity(2, "debt"), FrequencyDiversity(1.2, "debt"), ConfidenceBound(0.8, "debt", "much")):
        assert set(anonymize_marginals(JOINED, alone, model, exact=True).tables[0]["town"]) == {"a", "b"}
        with pytest.raises(SanitizationError, match=r"counts of trade, debt .* joined .* town a, trade x, reaches"):
            anonymize_marginals(JOINED, pair, model, exact=True)
        assert set(anonymize_marginals(JOINED, pair, model).tables[1]["trade"]) == {"*"}
    unsafe = anonymize_marginals(JOINED, pair, KAnonymity(4))
    assert infer_value({"town": "a", "trade": "x"}, "debt", unsafe).to_dict() == {"much": 1}


def test_the_join_is_the_conditional_independence_of_what_is_known():
    """P(debt | b, y) from P(town, debt) P(trade, debt) / P(debt): much 1*1/3, little 3*1/3, nothing 0."""
    marginals = anonymize_marginals(JOINED, [("town", "debt"), ("trade", "debt")], KAnonymity(4))
    assert infer_value({"town": "b", "trade": "y"}, "debt", marginals).to_dict() == pytest.approx(
        {"little": 0.75, "much": 0.25}
    )


def test_tables_without_the_sensitive_attribute_keep_the_k():
    with pytest.raises(SanitizationError, match=r"break KAnonymity\(k=3\)"):
        anonymize_marginals(JOINED, [("town", "trade")], AlphaKAnonymity(1, 3, "debt"), exact=True)
    both = anonymize_marginals(JOINED, [("town", "trade"), "ware", "debt"], AlphaKAnonymity(1, 2, "debt"), exact=True)
    assert both.tables[0]["count"].tolist() == [2, 2, 2, 2]
    assert counted(both.tables[2]) == {("little",): 3, ("much",): 3, ("nothing",): 2}
    # Of a table without debts a model of debts alone asks nothing.
    assert anonymize_marginals(JOINED, [("town", "trade")], DistinctDiversity(2, "debt")).tables[0].shape == (4, 3)


def test_the_least_of_certainty_is_given_up():
    """Five of trade x, one of y: with k = 2 the trade goes, and the towns stay."""
    data = shops([("a", "x", "w", "d")] * 3 + [("b", "x", "w", "d")] * 2 + [("b", "y", "w", "d")])
    table = anonymize_marginals(data, [("town", "trade")], KAnonymity(2)).tables[0]
    assert counted(table) == {("a", "*"): 3, ("b", "*"): 3}


def test_decomposable_sets():
    """The book's example 9.10, and the smallest cycle."""
    assert find_separators(["ABC", "BCD"]) is not None
    assert find_separators(["ABC", "BD", "CD"]) is None
    assert find_separators(["AB", "BC", "CA"]) is None
    assert find_separators(["AB", "BC", "CA", "ABC"]) is not None
    assert find_separators(["A", "B"]) is not None
    assert find_separators(["AB", "AB"]) is not None


def test_a_cycle_is_refused():
    pairs = [("town", "trade"), ("trade", "ware"), ("ware", "town")]
    with pytest.raises(SanitizationError, match=r"counts of ware, town .* not be decomposable"):
        anonymize_marginals(JOINED, pairs, KAnonymity(2), exact=True)
    # With the town at `*` there is no cycle.
    assert set(anonymize_marginals(JOINED, pairs, KAnonymity(2)).tables[2]["town"]) == {"*"}


def test_a_cycle_of_tables_that_tell_of_one_another_is_refused():
    """The release joins all three, but what they tell of debts without it cannot be checked."""
    sets = [("town", "trade", "debt"), ("trade", "ware", "debt"), ("ware", "town", "debt")]
    release = Identity().sanitize(JOINED, rng=0)
    with pytest.raises(SanitizationError, match="tables of 'debt' are not decomposable by themselves"):
        anonymize_marginals(JOINED, sets, TCloseness(0.99, "debt"), release=release, exact=True)


def test_labels_that_do_not_nest_are_refused():
    data = incomes()
    rows = data.table.assign(age=["27-28", "27-28", "27-28", "27-28", "30", "30"], education="*", zip="53711-53716")
    facts = data.schema, data.hierarchies, Provenance(data.name, "by hand", {})
    release = Release(rows, *facts)
    assert divergence(data, anonymize_marginals(data, ["age"], KAnonymity(2), release=release), release) > 0
    crossed = Release(rows.assign(age=["27-28"] * 2 + ["27-30"] * 4), *facts)
    with pytest.raises(SanitizationError, match=r"labels of 'age' .* do not nest"):
        anonymize_marginals(data, ["age"], KAnonymity(2), release=crossed, exact=True)


def test_what_is_refused():
    data = incomes()
    for sets in ([("age", "age")], [()], ["wage"], [("age", "count")]):
        with pytest.raises(ValueError, match=r"must name published attributes of|got age more than once"):
            anonymize_marginals(data, sets, KAnonymity(2))
    with pytest.raises(ValueError, match="got none"):
        anonymize_marginals(data, ["age"])
    with pytest.raises(ValueError, match="must be about only the records"):
        anonymize_marginals(data, ["age"], KMap(2, population=data.table))
    with pytest.raises(ValueError, match=r"must be a generalized release of the 6 records"):
        anonymize_marginals(data, ["age"], KAnonymity(2), release=LaplaceNoise(1).sanitize(data, rng=0))
    with pytest.raises(SanitizationError, match=r"counts of age cannot.*3 of 3 cells break KAnonymity\(k=7\)"):
        anonymize_marginals(data, ["age"], KAnonymity(7))
    other = anonymize_marginals(Dataset("two", data.table[:2], data.schema, data.hierarchies), ["age"], KAnonymity(2))
    assert counted(other.tables[0]) == {("*",): 2}
    others = anonymize_marginals(
        Dataset("bachelors", data.table[:2], data.schema, data.hierarchies), ["education"], KAnonymity(2)
    )
    with pytest.raises(ValueError, match="not in any cell"):
        divergence(data, others)


def test_no_rows_are_shown():
    marginals = anonymize_marginals(incomes(), ["age", ("education", "income")], KAnonymity(2))
    assert repr(marginals) == "Marginals(incomes: counts of age and of education, income)"


SETS = {
    "chain": [("town", "age"), ("age", "sex"), ("sex", "ill")],
    "star": [("town", "age", "ill"), ("age", "sex", "ill"), "town"],
    "apart": [("town",), ("age", "ill")],
    "nested levels": [("town", "age", "sex"), ("town", "ill"), "age"],
}
TREES = {
    "town": (("a", "west", "*"), ("b", "west", "*"), ("c", "east", "*"), ("d", "east", "*")),
    "age": tuple((str(age), "young" if age < 3 else "old", "*") for age in range(5)),
    "sex": (("f", "*"), ("m", "*")),
}


def people(seed, rows):
    rng = default_rng(seed)
    values = {"town": list("abcd"), "age": list(range(5)), "sex": ["f", "m"], "ill": ["x", "y", "z"]}
    table = pd.DataFrame({name: rng.choice(each, rows) for name, each in values.items()})
    attributes = (
        Attribute("town", QUASI, Categories(tuple("abcd"))), Attribute("age", QUASI, Numbers(0, 4)),
        Attribute("sex", QUASI, Categories(("f", "m"))), Attribute("ill", SENSITIVE, Categories(("x", "y", "z"))),
    )  # fmt: skip
    return Dataset("people", table, Schema("people", attributes), {n: Taxonomy(n, rows) for n, rows in TREES.items()})


DOMAIN = pd.MultiIndex.from_product(
    [list("abcd"), range(5), ["f", "m"], ["x", "y", "z"]], names=["town", "age", "sex", "ill"]
).to_frame(index=False)


@pytest.mark.slow
@pytest.mark.parametrize("sets", SETS.values(), ids=SETS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(4, 60), k=st.integers(2, 4))
def test_the_closed_form_is_what_fitting_finds(sets, seed, rows, k):
    data = people(seed, rows)
    marginals = anonymize_marginals(data, sets, KAnonymity(k))
    likely = estimate_probabilities(marginals, DOMAIN)
    assert likely.sum() == pytest.approx(1)
    together = JointCounts([CountTable.read(table) for table in marginals.tables], marginals.hierarchies)
    positions = {name: marginals.hierarchies[name].codes(DOMAIN[name]) for name in DOMAIN}
    fitted = together.fitted(positions)
    free = set(DOMAIN) - {name for table in together.tables for name in table.names}
    for name in free:
        fitted = fitted / DOMAIN[name].nunique()
    assert likely == pytest.approx(fitted, abs=1e-9)
    for table in marginals.tables:  # it agrees with every count
        for *labels, count in table.itertuples(index=False, name=None):
            inside = pd.Series(True, DOMAIN.index)
            for name, label in zip(table, labels, strict=False):
                hierarchy = marginals.hierarchies[name]
                inside &= pd.Series(hierarchy.codes(DOMAIN[name])).isin(hierarchy.covered(label))
            assert likely[inside].sum() * rows == pytest.approx(count)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(6, 60), l=st.sampled_from([1.2, 1.5, 2]))
def test_what_is_expected_of_each_person_keeps_the_model(seed, rows, l):  # noqa: E741
    """The join, by the probabilities of all values that each person may have."""
    data, model = people(seed, rows), FrequencyDiversity(l, "ill")
    try:
        marginals = anonymize_marginals(data, [("town", "ill"), ("age", "sex", "ill")], model)
    except SanitizationError:  # all of them have too much of one illness
        assert data.table["ill"].value_counts().max() * l > rows
        return
    likely = DOMAIN.assign(likely=estimate_probabilities(marginals, DOMAIN)).pivot_table(
        index=["town", "age", "sex"], columns="ill", values="likely", aggfunc="sum"
    )
    of_people = likely.loc[list(data.table[["town", "age", "sex"]].itertuples(index=False, name=None))]
    assert (of_people.max(axis=1) * l <= of_people.sum(axis=1) * (1 + 1e-9)).all()


def test_a_cycle_is_fitted():
    """Published by hand, for it is not checked together: three pairs of three attributes."""
    data = people(1, 50)
    pairs = [("town", "age"), ("age", "ill"), ("ill", "town")]
    tables = [data.table.astype(str).value_counts(list(names)).reset_index() for names in pairs]
    hierarchies = anonymize_marginals(data, ["sex"], KAnonymity(2)).hierarchies
    together = JointCounts([CountTable.read(table) for table in tables], hierarchies)
    assert together.order is None
    with pytest.raises(ValueError, match="not decomposable"):
        together.likely([])
    names = ["town", "age", "ill"]
    rows = DOMAIN[names].drop_duplicates(ignore_index=True)
    likely = together.fitted({name: hierarchies[name].codes(rows[name]) for name in names})
    for names, table in zip(pairs, tables, strict=True):
        found = rows.astype(str).assign(likely=likely).groupby(list(names))["likely"].sum() * 50
        expected = table.set_index(list(names))["count"]
        assert found.reindex(expected.index).to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-6)


def test_the_last_digits_do_not_depend_on_the_order_of_names():
    """21 of 50 people are of one sex: neither 21/50/3/5 nor 21/50/5/3 is 21/50/15."""
    data = people(1, 50)
    marginals = anonymize_marginals(data, ["sex"], KAnonymity(2))
    shares = DOMAIN["sex"].map(data.table["sex"].value_counts()) / 50
    found = estimate_probabilities(marginals, DOMAIN)
    assert found == pytest.approx((shares / 60).to_numpy())
    assert estimate_probabilities(marginals, DOMAIN[list(DOMAIN)[::-1]]).tolist() == found.tolist(), (
        "one division in each"
    )


def test_what_tables_share_comes_in_their_own_order():
    """Sets of text come in another order in each run."""
    data = people(1, 50)
    sets = [("town", "age", "sex"), ("sex", "age", "ill", "town")]
    hierarchies = anonymize_marginals(data, ["sex"], KAnonymity(2)).hierarchies
    together = JointCounts([CountTable.of_labels(data.table[list(names)])[0] for names in sets], hierarchies)
    (i, shared), _ = together.order
    assert shared == list(together.vertices[i])
    assert [name for name, _ in shared] == ["town", "age", "sex"]


def test_a_global_recoding_and_all_single_counts_have_a_closed_form():
    """The book's simple way: a k-anonymous table and a marginal of each attribute."""
    data = people(3, 200)
    release = TopDownSpecialization(KAnonymity(10), workload="ill").sanitize(data, rng=0)
    marginals = anonymize_marginals(data, ["town", "age", "sex"], KAnonymity(10), release=release)
    alone = divergence(data, release=release)
    assert 0 < divergence(data, marginals, release) <= alone
    assert divergence(data, marginals) > alone
