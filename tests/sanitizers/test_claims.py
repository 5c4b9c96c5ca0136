"""No claim is believed: a release that is not what its sanitizer says is refused before anybody has it."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privnb.datasets.dataset import Dataset
from privnb.microdata.hierarchy import Intervals, Ordered, Ranges, Sets, Taxonomy
from privnb.microdata.provenance import PrivacyGuarantee
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.microdata.treatment import Law
from privnb.privacy_models import (
    AlphaKAnonymity,
    DistinctDiversity,
    FrequencyDiversity,
    KAnonymity,
    KMap,
    TCloseness,
    grade_release,
)
from privnb.privacy_models.anonymity import OwnAnonymity
from privnb.sanitizers import (
    Anatomy,
    Bucketize,
    Identity,
    KMember,
    LocalRecoding,
    Mondrian,
    SanitizationError,
    Suppress,
)

TOWNS = ("Aton", "Bton", "Cton")
SCHEMA = Schema(
    "clinic",
    (
        Attribute("name", Role.IDENTIFIER),
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
        Attribute("weight", Role.QUASI_IDENTIFIER, Numbers(30, 120, 0.5)),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(TOWNS)),
        Attribute("illness", Role.SENSITIVE, Categories(("flu", "gout", "cold"))),
        Attribute("cost", Role.NEUTRAL, Numbers(0, 999)),
    ),
)
TREE = Taxonomy("town", (("Aton", "north", "*"), ("Bton", "north", "*"), ("Cton", "south", "*")))
HIERARCHIES = {"age": Ranges(SCHEMA["age"].domain), "weight": Ranges(SCHEMA["weight"].domain), "town": TREE}


def clinic(rows=60, **hierarchies):
    rng = np.random.default_rng(4)
    table = pd.DataFrame(
        {
            "name": [f"p{i}" for i in range(rows)],
            "age": rng.integers(20, 60, rows),
            "weight": rng.integers(100, 200, rows) / 2,
            "town": rng.choice(TOWNS, rows),
            "illness": rng.choice(["flu", "gout", "cold"], rows),
            "cost": rng.integers(0, 999, rows),
        }
    )
    return Dataset("clinic", table, SCHEMA, HIERARCHIES | hierarchies)


@pytest.fixture
def by_hand(monkeypatch):
    """`by_hand(made)`: Identity, but with the tables and facts that `made(table)` gives. No class of its own, for tests
    find every class of a sanitizer.
    """

    def told(made):
        monkeypatch.setattr(Identity, "_sanitize", lambda self, dataset, table, rng: made(table))
        monkeypatch.setattr(Identity, "coded", False)
        return Identity()

    return told


def grouped(table, k=10):
    """Classes of k records that stand side by side by age."""
    rank = table["age"].rank(method="first").astype(int) - 1
    return np.minimum(rank // k, len(table) // k - 1)


def in_ranges(table, k=10, shift=0):
    """`table` with a true range for each class of `grouped`, moved by `shift`."""
    for name in ("age", "weight"):
        ends = table.groupby(grouped(table, k))[name].agg(["min", "max"]) + shift
        labels = ends.apply(lambda row: "-".join(f"{end:g}" for end in row), axis=1)
        table[name] = labels[grouped(table, k)].to_numpy()
    return table.assign(town="*")


def test_a_table_that_is_untouched_has_no_claim(by_hand):
    """Every record stands alone, whatever the sanitizer says."""
    cheat = by_hand(lambda table: (table, {"claims": (KAnonymity(10),)}))
    expected = (
        r"Identity\(\): KAnonymity\(k=10\) is claimed, but 60 of 60 classes .* reaches 1, the smallest class has 1 "
    )
    with pytest.raises(SanitizationError, match=expected):
        cheat.sanitize(clinic(), rng=1)


def test_what_a_sanitizer_writes_into_the_dataset_stays_its_own(monkeypatch):
    """Else it could make everybody alike in truth, and its release would be true of them."""
    data = clinic()
    before, codes, hierarchies = data.table.copy(), dict(data.codes), dict(data.hierarchies)

    def alike(self, dataset, table, rng):
        for name in dataset.schema.quasi_identifiers:
            with pytest.raises(ValueError, match="read-only"):
                dataset.codes[name][:] = dataset.codes[name][0]
            dataset.codes[name], dataset.hierarchies[name] = np.zeros(len(table), dtype=int), None
            dataset.table[name] = table[name] = table[name].iloc[0]
        return table, {"claims": (KAnonymity(10),)}

    monkeypatch.setattr(Identity, "_sanitize", alike)
    with pytest.raises(SanitizationError, match="does not cover"):
        Identity().sanitize(data, rng=1)
    pd.testing.assert_frame_equal(data.table, before)
    assert (data.codes, data.hierarchies) == (codes, hierarchies)


def test_zero_is_written_in_one_way(by_hand):
    data = clinic()
    table = data.table.assign(weight=[-0.0, *[0.0] * 59])
    schema = replace(SCHEMA, attributes=tuple(
        replace(each, domain=Numbers(0, 120, 0.5)) if each.name == "weight" else each for each in SCHEMA.attributes
    ))  # fmt: skip
    written = Dataset("zeros", table, schema, HIERARCHIES | {"weight": Ranges(Numbers(0, 120, 0.5))}).table["weight"]
    assert set(map(str, written)) == {"0.0"}


def test_a_true_claim_is_taken(by_hand):
    honest = by_hand(lambda table: (in_ranges(table), {"claims": (KAnonymity(10),)}))
    release = honest.sanitize(clinic(), rng=1)
    assert release.provenance.claims == (KAnonymity(10),)
    assert grade_release(KAnonymity(2), release) == 10


@pytest.mark.parametrize("k", [11, 2000])
def test_a_claim_a_little_too_large_is_refused(by_hand, k):
    almost = by_hand(lambda table: (in_ranges(table), {"claims": (KAnonymity(k),)}))
    with pytest.raises(SanitizationError, match=rf"KAnonymity\(k={k}\) is claimed.* the smallest class has 10 records"):
        almost.sanitize(clinic(), rng=1)


def test_every_claim_is_graded_not_only_the_first(by_hand):
    claims = (KAnonymity(10), TCloseness(0.001, "illness"))
    level = grade_release(claims[1], by_hand(lambda table: (in_ranges(table), {})).sanitize(clinic(), rng=1))
    cheat = by_hand(lambda table: (in_ranges(table), {"claims": claims}))
    with pytest.raises(SanitizationError, match=rf"TCloseness\(t=0.001, .* reaches {level:.4g}"):
        cheat.sanitize(clinic(), rng=1)


def test_levels_are_found_however_few_classes_fit_into_memory(by_hand, monkeypatch):
    """Counts of 6 classes by 3 values, one class at a time: the first five hold, the last does not."""
    monkeypatch.setattr("privnb.microdata.counts.CELLS", 3)

    def made(table):
        return in_ranges(table), {"claims": (DistinctDiversity(2, "illness"),)}

    assert by_hand(made).sanitize(clinic(), rng=1)
    data = clinic()
    one = data.table.assign(illness=data.table["illness"].where(grouped(data.table) < 5, "flu"))
    with pytest.raises(SanitizationError, match=r"1 of 6 classes .* reaches 1, the smallest class has 10"):
        by_hand(made).sanitize(Dataset("clinic", one, SCHEMA, HIERARCHIES), rng=1)


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        (TCloseness(0.5, "ilness"), "its classes cannot hide 'ilness'"),
        (TCloseness(0.5, "name"), "its classes cannot hide 'name'"),
        (TCloseness(0.5, "age"), "its classes cannot hide 'age'"),
    ],
)
def test_a_claim_about_nothing_that_is_hidden_is_refused(by_hand, claim, reason):
    with pytest.raises(SanitizationError, match=re.escape(reason)):
        by_hand(lambda table: (in_ranges(table), {"claims": (claim,)})).sanitize(clinic(), rng=1)


def test_noise_has_no_classes_to_claim(by_hand):
    noisy = by_hand(lambda table: (table.assign(age=0.5), {"claims": (KAnonymity(2),), "noisy": {"age": Law()}}))
    with pytest.raises(SanitizationError, match=r"KAnonymity\(k=2\) is claimed, and noise in .* leaves no equiv"):
        noisy.sanitize(clinic(), rng=1)


def test_equal_numbers_that_are_written_in_two_ways_are_refused(by_hand):
    """40 and 40.0 are one class to whoever counts them, and two in a file."""
    data = clinic()
    data = replace(data, table=data.table.assign(age=40))

    def made(ages):
        table = pd.DataFrame({"age": pd.Series(ages * 30, dtype=object), "weight": "*", "town": "*"})
        return by_hand(lambda original: (original.assign(**table), {"claims": (KAnonymity(30),)}))

    with pytest.raises(SanitizationError, match="equal numbers of 'age' are written in several ways"):
        made([40, 40.0]).sanitize(data, rng=1)
    assert made(["40", "40"]).sanitize(data, rng=1)
    assert made([40, "*"]).sanitize(data, rng=1)


def test_means_of_groups_are_no_labels(by_hand):
    """Microaggregation as in textbooks: counted as labels they would cost nothing and link nobody."""

    def made(table):
        for name in ("age", "weight"):
            table[name] = table.groupby(grouped(table))[name].transform("mean").round()
        return table.assign(town="*"), {"claims": (KAnonymity(10),)}

    with pytest.raises(
        SanitizationError, match=r"Identity\(\): 'age' is published as '\d+' for \d+ records, but does not cover"
    ):
        by_hand(made).sanitize(clinic(), rng=1)


@pytest.mark.parametrize("shift", [1, -1, 0.25])
def test_labels_beside_their_records_are_refused(by_hand, shift):
    moved = by_hand(lambda table: (in_ranges(table, shift=shift), {}))
    with pytest.raises(SanitizationError, match=r"'age' is published as '[\d.-]+' for \d+ .* \d+ of 60 records have s"):
        moved.sanitize(clinic(), rng=1)


def test_how_many_records_a_label_does_not_cover_is_told(by_hand):
    def made(table):
        table["town"] = np.where(table["town"] == "Cton", "north", table["town"])
        return table, {}

    lost = (clinic().table["town"] == "Cton").sum()
    expected = rf"'town' is published as 'north' for {lost} records, .*; {lost} of 60 records"
    with pytest.raises(SanitizationError, match=expected):
        by_hand(made).sanitize(clinic(), rng=1)


@pytest.mark.parametrize(
    ("kind", "fine", "wrong"),
    [
        (TREE, ["north", "north", "Cton"], ["north", "north", "Bton"]),
        (Ordered("town", TOWNS), ["Aton|Bton", "Bton", "*"], ["Aton", "Aton", "*"]),
        (Sets("town", TOWNS), ["Aton|Cton", "*", "Aton|Cton"], ["Aton|Cton", "Aton|Cton", "*"]),
        (Sets("town", TOWNS), ["Aton", "Aton|Bton", "Cton"], ["Aton", "Aton|Bton", None]),
        (Sets("town", TOWNS), ["Aton", "Bton", "Aton|Cton"], ["Aton", "Bton", "Dton"]),
    ],
)
def test_labels_of_every_kind_of_hierarchy_are_read(by_hand, kind, fine, wrong):
    data = clinic(town=kind)
    assert by_hand(lambda table: (table.replace({"town": dict(zip(TOWNS, fine, strict=True))}), {})).sanitize(
        data, rng=1
    )
    column = data.table["town"].astype(object).map(dict(zip(TOWNS, wrong, strict=True)))
    with pytest.raises(SanitizationError, match="'town' is published as"):
        by_hand(lambda table: (table.assign(town=column), {})).sanitize(data, rng=1)


def test_aligned_intervals_are_labels(by_hand):
    data = clinic(age=Intervals(SCHEMA["age"].domain, (10, 100)))
    tens = data.table["age"] // 10 * 10
    labels = tens.astype(str) + "-" + (tens + 9).astype(str)
    assert by_hand(lambda table: (table.assign(age=labels), {})).sanitize(data, rng=1)
    with pytest.raises(SanitizationError, match="'age' is published as"):
        by_hand(lambda table: (table.assign(age=labels.iloc[::-1].to_numpy()), {})).sanitize(data, rng=1)


@pytest.mark.parametrize("rows", [slice(1, None), slice(0, -1), [0, *range(60)]])
def test_a_lost_or_doubled_row_is_refused(by_hand, rows):
    with pytest.raises(SanitizationError, match=r"the release has (59|61) rows, and 'clinic' has 60 records"):
        by_hand(lambda table: (table.iloc[rows], {})).sanitize(clinic(), rng=1)


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (lambda table: table.drop(columns="town"), "the release lacks ['town']"),
        (lambda table: table.assign(row=range(60)), "the release has ['row'] in addition to"),
        (lambda table: table.assign(name="p1"), "the release has ['name'] in addition to"),
        (lambda table: pd.concat([table, table[["age"]]], axis=1), "the release has ['age', 'age'] in addition to"),
        (lambda table: table.assign(cost=table["cost"] + 1), "'cost' was changed for 60 of 60 records"),
        (lambda table: table.assign(illness=table["illness"].iloc[::-1].to_numpy()), "'illness' was changed for "),
        (lambda table: table.assign(illness=pd.NA), "'illness' was changed for 60 of 60 records"),
        (lambda table: table.assign(cost=pd.array([pd.NA] * 60, dtype="Int64")), "'cost' was changed for 60 of 60"),
    ],
)
def test_other_columns_are_as_they_were(by_hand, made, reason):
    with pytest.raises(SanitizationError, match=re.escape(reason)):
        by_hand(lambda table: (made(table), {})).sanitize(clinic(), rng=1)


def test_single_values_may_be_suppressed(by_hand):
    def made(table):
        cost = table["cost"].astype(object).where(table["cost"] < 500, "*")
        return table.assign(cost=cost, illness="*", age=table["age"].astype(object).where(table["age"] < 40, "*")), {}

    release = by_hand(made).sanitize(clinic(), rng=1)
    assert set(release.table["illness"]) == {"*"}


@pytest.mark.parametrize(
    ("facts", "error", "reason"),
    [
        ({"claim": ()}, TypeError, r"Identity\._sanitize must return facts named claims, promise, .*; got \['claim'\]"),
        ({"dataset": "other"}, TypeError, r"must return facts named .*; got \['dataset'\]"),
        ({"noisy": {"wait": Law()}}, SanitizationError, r"\['wait'\] should be noisy, but is not a published column"),
        ({"perturbed": ("wait",)}, SanitizationError, r"\['wait'\] should be perturbed, but is not a published column"),
        (
            {"noisy": "age"},
            TypeError,
            "noisy must be a Mapping; got 'age'. Give the law of the noise by column",
        ),
        ({"noisy": {"age": "Laplace"}}, TypeError, "law must be a Law or None; got 'Laplace'. Subclass "),
        ({"perturbed": "age"}, ValueError, "perturbed must be a list of columns, each as text; got 'age'"),
        ({"rows": [0, 1, 1]}, ValueError, "`rows` must be positions of different records from 0 to 59"),
        ({"rows": [60]}, ValueError, "`rows` must be positions of different records from 0 to 59"),
        ({"claims": KAnonymity(2)}, TypeError, "claims must be a list of PrivacyModel; got a KAnonymity"),
        ({"claims": ("10-anonymity",)}, TypeError, r"claims\[0\] must be a PrivacyModel; got '10-anonymity'"),
        ({"claims": (KAnonymity,)}, TypeError, r"claims\[0\] must be a PrivacyModel; got the class"),
        ({"promise": "epsilon 1"}, TypeError, "promise must be a PrivacyGuarantee or None; got 'epsilon 1'"),
        ({"note": None}, TypeError, "note must be a str; got None"),
    ],
)
def test_facts_are_known_ones(by_hand, facts, error, reason):
    with pytest.raises(error, match=reason):
        by_hand(lambda table: (table, facts)).sanitize(clinic(), rng=1)


def test_a_table_is_a_table(by_hand):
    with pytest.raises(TypeError, match=r"the table of Identity\._sanitize must be a DataFrame; got an ndarray"):
        by_hand(lambda table: (table.to_numpy(), {})).sanitize(clinic(), rng=1)


def test_values_that_are_not_told_keep_no_model(by_hand):
    """Of a class with one illness some are told and some are not: `*` is no second one, in the rows or by bucket."""
    model = DistinctDiversity(2, "illness")
    data = clinic()
    ill = replace(data, table=data.table.assign(illness="flu"))

    def in_rows(table):
        return in_ranges(table).assign(illness=["flu", "*"] * 30), {"claims": (model,)}

    def by_bucket(table):
        told = {"attribute": "illness", "bucket": np.repeat(range(6), 2), "value": ["flu", "*"] * 6, "count": 5}
        rows = table.drop(columns="illness").assign(bucket=np.arange(60) % 6)
        return rows, {"buckets": pd.DataFrame(told), "claims": (model,)}

    def one_of_all(table):
        return in_ranges(table).assign(illness=["*", *table["illness"][1:]]), {"claims": (model,)}

    for made, source, many in ((in_rows, ill, 30), (by_bucket, ill, 30), (one_of_all, data, 1)):
        with pytest.raises(
            SanitizationError, match=rf"is claimed, but 'illness' of {many} records is \*, which may stand"
        ):
            by_hand(made).sanitize(source, rng=1)
    # An original may have such a value.
    schema = replace(
        SCHEMA, attributes=(*SCHEMA.attributes[:4], replace(SCHEMA["illness"], domain=Categories(("*", "+"))))
    )
    marked = Dataset("clinic", data.table.drop(columns="cost").assign(illness=["*", "+"] * 30), schema, HIERARCHIES)
    assert by_hand(lambda table: (in_ranges(table), {"claims": (model,)})).sanitize(marked, rng=1)


def test_noise_from_a_seed_is_a_simulation_whatever_the_sanitizer_says_of_itself(by_hand):
    forgetful = by_hand(lambda table: (table.assign(age=table["age"] + 0.5), {"noisy": {"age": Law()}}))
    assert not forgetful.draws
    assert [forgetful.sanitize(clinic(), rng=rng).provenance.simulation for rng in (1, None)] == [True, False]


@pytest.mark.parametrize(
    ("noisy", "rng", "reason"),
    [
        (("weight",), None, r"epsilon is promised for \['age'\], which have no noise"),
        (("age",), 1, "epsilon is promised for noise that a seed can undo"),
    ],
)
def test_a_promise_is_of_noise_that_nobody_can_undo(by_hand, noisy, rng, reason):
    promise = PrivacyGuarantee.local({"age": 1}, ["town"])
    cheat = by_hand(lambda table: (table.assign(**{noisy[0]: 0.5}), {"noisy": {noisy[0]: Law()}, "promise": promise}))
    with pytest.raises(SanitizationError, match=reason):
        cheat.sanitize(clinic(), rng=rng)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"epsilon": float("nan")}, "the promised epsilon must be a positive number; got nan"),
        ({"epsilon": 0}, "the promised epsilon must be a positive number; got 0"),
        ({"columns": ()}, "the promise of epsilon names no columns"),
    ],
)
def test_a_promise_says_how_much_and_of_what(by_hand, changed, reason):
    promise = PrivacyGuarantee.local({"age": 1}, ["town"])._replace(**changed)
    empty = by_hand(lambda table: (table.assign(age=0.5), {"noisy": {"age": Law()}, "promise": promise}))
    with pytest.raises(SanitizationError, match=reason):
        empty.sanitize(clinic(), rng=None)


def test_buckets_from_a_seed_are_a_simulation_whatever_the_sanitizer_says_of_itself(by_hand):
    forgetful = by_hand(lambda table: in_buckets(table, lambda rows, buckets: facts(rows, buckets)))
    assert not forgetful.draws
    assert [forgetful.sanitize(clinic(), rng=rng).provenance.simulation for rng in (1, None)] == [True, False]


def in_buckets(table, change):
    numbers = np.arange(len(table)) % 5
    buckets = pd.DataFrame({"attribute": "illness", "bucket": numbers, "value": table["illness"], "count": 1})
    buckets = buckets.groupby(["attribute", "bucket", "value"], as_index=False).sum()
    rows = table.drop(columns="illness").assign(bucket=numbers)
    return change(rows, buckets)


def facts(rows, buckets, *claims):
    return rows, {"buckets": buckets, "claims": claims}


def with_value(buckets, column, value, row=0):
    return buckets.assign(**{column: [value, *buckets[column][1:]] if row == 0 else value})


def test_true_buckets_are_taken(by_hand):
    made = by_hand(lambda t: in_buckets(t, lambda rows, buckets: facts(rows, buckets, DistinctDiversity(2, "illness"))))
    assert made.sanitize(clinic(), rng=1).buckets is not None
    hidden = by_hand(lambda t: in_buckets(t, lambda rows, b: facts(rows, with_value(b, "value", "*"))))
    assert hidden.sanitize(clinic(), rng=1).buckets is not None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda rows, b: (rows, with_value(b, "count", 1)),
            "the counts of 'illness' .* differ from those of the records in 1 of 5",
        ),
        (
            lambda rows, b: (rows, with_value(b, "value", "gout", None)),
            "the counts of 'illness' .* differ from those of the records in 5 of 5",
        ),
        (
            lambda rows, b: (rows, with_value(b, "value", "pox")),
            "the counts of 'illness' .* differ from those of the records in 1 of 5",
        ),
        (
            lambda rows, b: (rows, b.assign(count=b["count"] + [1, -1, *[0] * (len(b) - 2)])),
            "the counts of 'illness' .* differ from those of the records in 1 of 5",
        ),
        (lambda rows, b: (rows, b.iloc[1:]), "the counts of 'illness' .* differ from those of the records in 1 of 5"),
        (
            lambda rows, b: (rows.assign(bucket=rows["bucket"].iloc[::-1].to_numpy()), b),
            "the counts of 'illness' .* differ",
        ),
        (lambda rows, b: (rows, with_value(b, "bucket", 9, None)), "in buckets that have records"),
        (lambda rows, b: (rows, with_value(b, "count", 1.5)), "must have counts that are whole numbers"),
        (
            lambda rows, b: (rows, pd.concat([b, b.head(1).assign(value="a name", count=0)])),
            "whole numbers of at least 1",
        ),
        (lambda rows, b: (rows.assign(bucket=rows["bucket"] + 1), b), "the buckets must be numbered 0, 1, "),
        (lambda rows, b: (rows.assign(bucket=rows["bucket"] * 0.5), b), "the buckets must be numbered 0, 1, "),
        (lambda rows, b: (rows.drop(columns="bucket"), b), r"the release lacks \['bucket'\]"),
        (lambda rows, b: (rows, b.assign(attribute="cost")), r"differ in \['cost', 'illness'\]"),
        (lambda rows, b: (rows.assign(illness="flu"), b), r"the release has \['illness'\] in addition to"),
        (
            lambda rows, b: (rows, b.assign(who="p1")),
            r"must have the columns attribute, .*; got \['attribute', .*, 'who'\]",
        ),
        (lambda rows, b: (rows, b.drop(columns="value")), "must have the columns attribute, bucket, value, count; got"),
    ],
)
def test_buckets_count_their_own_records(by_hand, change, reason):
    made = by_hand(lambda table: in_buckets(table, lambda rows, buckets: facts(*change(rows, buckets))))
    with pytest.raises(SanitizationError, match=reason):
        made.sanitize(clinic(), rng=1)


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        (KAnonymity(12), "60 of 60 classes of the published labels break it: the worst reaches 1"),
        (OwnAnonymity((2, 3, 4), "illness"), "people of one bucket are distinguishable, so the release has no k"),
        (AlphaKAnonymity(0.9, 12, "illness"), "people of one bucket are distinguishable, so the release has no k"),
        (TCloseness(0.9, "cost"), "its classes cannot hide 'cost'; they hide ['illness']"),
        (FrequencyDiversity(3, "illness"), "break it"),
    ],
)
def test_buckets_hide_only_whose_a_sensitive_value_is(by_hand, claim, reason):
    made = by_hand(lambda table: in_buckets(table, lambda rows, buckets: facts(rows, buckets, claim)))
    with pytest.raises(SanitizationError, match=re.escape(reason)):
        made.sanitize(clinic(), rng=1)


def test_a_partition_that_keeps_a_model_of_a_neutral_attribute_cannot_be_claimed_by_its_buckets():
    """It stands in everybody's row."""
    release = Bucketize(Mondrian(TCloseness(0.9, "cost"), KAnonymity(5))).sanitize(clinic(), rng=1)
    assert release.provenance.claims == ()
    assert (
        "cannot claim TCloseness(t=0.9, sensitive='cost', distance='equal') and KAnonymity(k=5)"
        in release.provenance.note
    )


def test_labels_that_overlap_are_told_with_what_to_do(by_hand):
    """Ranges of several classes may cover a person of the population, and of one class too few."""
    population = clinic().table
    cheat = by_hand(lambda table: (table, {"claims": (KMap(5, population=population),)}))
    with pytest.raises(
        SanitizationError, match=r"KMap\(k=5\) is claimed.* give the attributes taxonomies, whose labels"
    ):
        cheat.sanitize(clinic(), rng=1)


@pytest.mark.parametrize(
    "sanitizer",
    [
        Identity(), Suppress(), Suppress("illness"), KMember(4), Mondrian(KAnonymity(4)), LocalRecoding(KAnonymity(4)),
        Bucketize(KMember(4)), Anatomy(2, "illness"),
    ],
    ids=repr,
)  # fmt: skip
def test_what_each_method_of_the_family_says_is_so(sanitizer):
    release = sanitizer.sanitize(clinic(), rng=1)
    assert len(release) == 60
