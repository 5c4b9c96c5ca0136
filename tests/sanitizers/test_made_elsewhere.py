"""Releases that another tool made: read back from a file, they have the numbers of the releases that were written."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support.clinic import CLINIC

import privnb as pn
from privnb.datasets.dataset import Dataset, load
from privnb.datasets.foreign_file import read_foreign
from privnb.evaluation.combination_sizes import Combinations
from privnb.evaluation.digests import digest
from privnb.evaluation.evaluation_loop import ask
from privnb.evaluation.risks.anti_utility import AntiUtilityRisk
from privnb.evaluation.risks.attribute import AttributeRisk
from privnb.evaluation.risks.certainty import Certainty
from privnb.evaluation.risks.identity import ReidentificationRisk
from privnb.evaluation.risks.linkability import LinkabilityRisk
from privnb.evaluation.risks.membership import MembershipRisk
from privnb.evaluation.risks.memorization import Memorization
from privnb.microdata.schema import Role, Schema, SchemaError
from privnb.microdata.treatment import Rows
from privnb.runtime.errors import MissingFileError, ResourceError, UsageError
from privnb.sanitizers import (
    FullDomain,
    Identity,
    LaplaceNoise,
    LocalRecoding,
    LocalSuppression,
    Mondrian,
    Sampling,
    SanitizationError,
    correspondence,
)
from privnb.sanitizers.made_elsewhere import MadeElsewhere, check_release

PUBLISHED = ["age", "workclass", "education", "marital-status", "race", "sex", "occupation"]


@pytest.fixture(scope="module")
def people():
    return load("adult", "li-li", records=1500)


def written(release, path, **how):
    """The published rows in a file, in random order."""
    release.publish()[0].table.to_csv(path, index=False, **how)
    return str(path)


@pytest.mark.parametrize(
    "sanitizer", [Identity(), Mondrian(k=10), LocalRecoding(k=5), LocalSuppression(k=5), FullDomain(k=10)],
    ids=repr,
)  # fmt: skip
def test_a_release_has_the_same_risks_when_it_is_read_from_its_file(people, sanitizer, tmp_path):
    ours = sanitizer.sanitize(people, rng=1)
    theirs = MadeElsewhere(written(ours, tmp_path / "theirs.csv"))
    read = theirs.sanitize(people)
    assert read.provenance.rows is Rows.RECORDS
    assert sorted(read.people_per_class) == sorted(ours.people_per_class)
    questions = [ReidentificationRisk(), AttributeRisk("occupation"), Certainty("occupation", 0.9), LinkabilityRisk()]
    rows = ask(people, [(each, 1, questions) for each in (sanitizer, theirs)])
    rows = rows[rows.group == ""]  # which of several equal rows belongs to a person is not known, nor is the group
    key = ["measure", "variant"]
    one, other = (
        rows[rows.sanitizer == name].set_index(key).value for name in (type(sanitizer).__name__, "MadeElsewhere")
    )
    pd.testing.assert_series_equal(one, other, rtol=1e-9)


def test_the_matched_rows_cover_their_records(people, tmp_path):
    read = MadeElsewhere(written(LocalRecoding(k=5).sanitize(people, rng=1), tmp_path / "x.csv")).sanitize(people)
    assert (
        read.table.occupation.to_numpy() == people.table.occupation.to_numpy()
    ).all()  # others are checked when made


def test_the_order_of_rows_and_columns_has_no_effect(people, tmp_path):
    table = Mondrian(k=10).sanitize(people, rng=1).table
    for seed, path in enumerate(paths := [tmp_path / "a.csv", tmp_path / "b.csv"]):
        mixed = table.sample(frac=1, random_state=seed)
        mixed[mixed.columns[np.random.default_rng(seed).permutation(len(table.columns))]].to_csv(path, index=False)
    first, second = (MadeElsewhere(str(path)).sanitize(people) for path in paths)
    assert [*first.people_per_class] == [*second.people_per_class]


def test_a_sample_is_a_subset_of_the_records(people, tmp_path):
    path = written(Sampling(0.3).sanitize(people, rng=1), tmp_path / "x.csv")
    read = MadeElsewhere(path).sanitize(people)
    assert read.provenance.rows is Rows.SUBSET
    assert len(read) == 450
    assert {each.kind for each in read.columns.values()} == {"exact"}


def test_a_column_that_the_file_lacks_counts_as_suppressed(people, tmp_path):
    table = people.table[PUBLISHED].drop(columns=["age", "race"])
    table.to_csv(tmp_path / "x.csv", index=False)
    read = MadeElsewhere(str(tmp_path / "x.csv")).sanitize(people)
    assert (read.columns["age"].kind, read.columns["race"].kind) == ("suppressed", "suppressed")


def test_the_rows_of_a_noisy_file_are_matched_or_stated(people, tmp_path):
    noisy = LaplaceNoise(1).sanitize(people, rng=1).table
    noisy.to_csv(path := tmp_path / "x.csv", index=False)
    with pytest.raises(SchemaError, match=r"numbers of 'age' must be in its domain, 17 to 99; .*age: perturbed"):
        MadeElsewhere(str(path)).sanitize(people)
    stated = {"age": "perturbed"}
    measured = MadeElsewhere(str(path), treatments=stated).sanitize(people)
    assert "nearest values of age. Usually, this overestimates" in measured.provenance.note
    assert measured.columns["age"].kind == "perturbed"
    in_order = MadeElsewhere(str(path), treatments=stated, rows="in order").sanitize(people)
    assert in_order.columns["age"].kind == "perturbed"
    assert in_order.columns["sex"].kind == "exact"
    assert (
        MadeElsewhere(str(path), treatments=stated, rows="synthetic").sanitize(people).provenance.rows is Rows.SYNTHETIC
    )


def test_rows_in_another_order_are_not_rows_in_order(people, tmp_path):
    """By hand: two records change places, so two rows disagree in each column in which the records differ."""
    table = people.table[PUBLISHED]
    first = next(i for i in range(1, 1500) if table.sex[i] != table.sex[0] and table.race[i] == table.race[0])
    order = [first, *range(1, first), 0, *range(first + 1, 1500)]
    mixed = table.iloc[order].reset_index(drop=True).assign(age=table.age + 0.5)
    mixed.to_csv(path := tmp_path / "x.csv", index=False)
    with pytest.raises(
        SanitizationError, match=r"; 2 of 1,500 rows do not .* sex \(2 rows\).* Leave out --rows"
    ) as error:
        MadeElsewhere(str(path), rows="in order").sanitize(people)
    assert "race (" not in str(error.value)
    assert "age (" not in str(error.value)  # numbers outside the domain show that the column was perturbed
    mixed.iloc[order].assign(age=table.age.to_numpy()).to_csv(path, index=False)
    assert MadeElsewhere(str(path), rows="in order").sanitize(people).treated("perturbed") == ()


def test_a_column_is_perturbed_in_the_domain_only_if_this_is_stated(people, tmp_path):
    table = people.table[PUBLISHED]
    moved = table.assign(age=table.age.clip(18) - 1, race=table.race.to_numpy()[::-1])
    moved.to_csv(path := tmp_path / "x.csv", index=False)
    with pytest.raises(
        SanitizationError, match=r"1,\d+ of 1,500 rows .* columns: age \(1,\d+ rows\), race \(\d+ rows\)"
    ):
        MadeElsewhere(str(path), rows="in order").sanitize(people)
    stated = {"age": "perturbed", "race": "perturbed"}
    read = MadeElsewhere(str(path), rows="in order", treatments=stated).sanitize(people)
    assert {*read.treated("perturbed")} == {"age", "race"}
    assert read.columns["sex"].kind == "exact"


def _ages(people, path, ages, races, rows, treatments):
    """The ages of the records that are matched with the rows, `(age, race)`, of a file."""
    names = ["age", "race", "occupation"]
    table = people.table[names].iloc[: len(ages)].reset_index(drop=True).astype(object)
    table["age"], table["race"], table["occupation"] = ages, races, "Sales"
    schema, hierarchies = _three(people)
    original = Dataset("three", table, schema, hierarchies)
    pd.DataFrame(rows, columns=["age", "race"]).assign(occupation="Sales").to_csv(path, index=False)
    read = MadeElsewhere(str(path), treatments=treatments).sanitize(original)
    records = range(len(ages)) if read.records is None else read.records
    return {(float(age), race): ages[i] for age, race, i in zip(read.table.age, read.table.race, records, strict=True)}


def test_rows_with_noise_are_matched_with_the_nearest_records(people, tmp_path, monkeypatch):
    """By hand: greedily, 41.5 would take 42 and leave 49 for 30; the smallest sum pairs both sides in their order."""
    ages, races = [30, 40, 42, 50, 60], ["White"] * 4 + ["Black"]
    rows = [(41.5, "White"), (33.2, "Black"), (49.0, "White"), (39.1, "White"), (41.6, "White")]
    monkeypatch.setattr(correspondence, "MAX_DISTANCES", 0)  # equally many rows and records need only be sorted
    found = _ages(people, tmp_path / "x.csv", ages, races, rows, {"age": "perturbed"})
    assert found == {
        (39.1, "White"): 30,
        (41.5, "White"): 40,
        (41.6, "White"): 42,
        (49, "White"): 50,
        (33.2, "Black"): 60,
    }


def test_fewer_rows_with_noise_are_matched_with_the_nearest_of_more_records(people, tmp_path, monkeypatch):
    """By hand: 31 is nearest to 30, and 52 to 50; nobody has the row of 40 or 60."""
    given = people, tmp_path / "x.csv", [60, 50, 40, 30], ["White"] * 4, [(31.5, "White"), (52.5, "White")]
    assert _ages(*given, {"age": "perturbed"}) == {(31.5, "White"): 30, (52.5, "White"): 50}
    monkeypatch.setattr(correspondence, "MAX_DISTANCES", 7)
    with pytest.raises(ResourceError, match=r"2 rows of the file fit the same 4 records, .* --rows in-order"):
        _ages(*given, {"age": "perturbed"})


def test_labels_and_noise_are_matched_together(people, tmp_path):
    """By hand: the row of Black people has one record, at 30, so * must take 60 although 30 is as near."""
    rows = [(45.5, "*"), (58.5, "Black")]
    assert _ages(people, tmp_path / "x.csv", [30, 60], ["Black", "White"], rows, {"age": "perturbed"}) == {
        (45.5, "*"): 60, (58.5, "Black"): 30,
    }  # fmt: skip


def test_another_category_is_as_far_as_the_width_of_the_domain(people, tmp_path):
    """By hand: the domain is 82 years wide, so that a year is 1/82 and nearer than another race, which is 1."""
    rows = [(41, "White"), (40, "Black")]
    stated = {"age": "perturbed", "race": "perturbed"}
    assert _ages(people, tmp_path / "x.csv", [40, 41], ["White", "Black"], rows, stated) == {
        (41, "White"): 40, (40, "Black"): 41,
    }  # fmt: skip


def test_the_order_of_noisy_rows_has_no_effect_on_risks(people, tmp_path):
    table = people.table[PUBLISHED]
    noisy = table.assign(age=table.age + np.random.default_rng(1).normal(0, 3, len(table)).round(1))
    found = []
    for name, rows in {"a": noisy, "b": noisy.sample(frac=1, random_state=1)}.items():
        rows.to_csv(path := tmp_path / f"{name}.csv", index=False)
        theirs = MadeElsewhere(str(path), treatments={"age": "perturbed"})
        found.append(ask(people, [(theirs, 1, [ReidentificationRisk()])]).set_index(["group", "variant"]).value)
    in_order = MadeElsewhere(str(tmp_path / "a.csv"), treatments={"age": "perturbed"}, rows="in order")
    true = ask(people, [(in_order, 1, [ReidentificationRisk()])]).set_index(["group", "variant"]).value
    assert found[0].to_list() == pytest.approx(found[1].to_list(), nan_ok=True)
    assert true["", ""] <= found[0]["", ""] <= true["", ""] + 0.05


def test_rows_that_no_record_could_have_are_refused(people, tmp_path):
    table = Mondrian(k=10).sanitize(people, rng=1).table
    changed = table.assign(occupation=table.occupation.sample(frac=1, random_state=1).to_numpy())
    changed.to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(SanitizationError, match=r"rows of x.csv do not cover a record .* have labels"):
        MadeElsewhere(str(tmp_path / "x.csv")).sanitize(people)
    swapped = people.table[PUBLISHED].assign(age=people.table.age.sample(frac=1, random_state=1).to_numpy())
    swapped.to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(
        UsageError,
        match=r"of their own, such as the row in line \d+\. If row 1 is .* --rows in-order .*'age: perturbed'",
    ):
        MadeElsewhere(str(tmp_path / "x.csv")).sanitize(people)
    every = dict.fromkeys(PUBLISHED, "perturbed")
    with pytest.raises(UsageError, match=r"because all columns are perturbed\. If row 1 is .* --rows in-order"):
        MadeElsewhere(str(tmp_path / "x.csv"), treatments=every).sanitize(people)
    changed = people.table[PUBLISHED].assign(sex="Male", age=people.table.age + 0.5)
    changed.to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(UsageError, match=r"of their own in the columns other than age, .*'workclass: perturbed'"):
        MadeElsewhere(str(tmp_path / "x.csv")).sanitize(people)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda t: t.rename(columns={"sex": "Sex"}), r"x.csv must have only columns of 'adult/li-li.*'; got 'Sex'"),
        (lambda t: t.assign(sex="Mal"), r"x.csv, line 2: the cells of 'sex' must be values .* the form 'aaa'"),
        (lambda t: t.assign(age="20 or so"), r"x.csv, line 2: the cells of 'age' .* the form '99 aa aa'"),
        (lambda t: t.assign(age=200), r"the numbers of 'age' must be in its domain, 17 to 99"),
        (lambda t: t[[]].assign(salary=">50K"), r"must have at least one of the columns age|must have only columns"),
    ],
    ids=["column", "category", "label", "number", "none"],
)
def test_what_cannot_be_understood_is_named(people, tmp_path, change, error):
    change(people.table[PUBLISHED]).to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(SchemaError, match=error):
        MadeElsewhere(str(tmp_path / "x.csv")).sanitize(people)


def test_an_empty_file_is_refused(people, tmp_path):
    (tmp_path / "x.csv").write_text(",".join(PUBLISHED) + "\n")
    with pytest.raises(SchemaError, match="record"):
        MadeElsewhere(str(tmp_path / "x.csv")).sanitize(people)


def test_a_stated_treatment_that_the_cells_contradict_is_refused(people, tmp_path):
    path = written(Mondrian(k=10).sanitize(people, rng=1), tmp_path / "x.csv")
    with pytest.raises(SchemaError, match=r"the treatment of 'education' must match its cells, which are generalized"):
        read_foreign(path, people, treatments={"education": "exact"})
    assert (
        read_foreign(path, people, treatments={"education": "generalized"}).columns["education"].treated
        == "generalized"
    )


def test_membership_is_measured_against_a_holdout(people, tmp_path):
    members, others = people.split(0.5, rng=1)
    others.table[PUBLISHED].to_csv(tmp_path / "others.csv", index=False)
    path = written(Identity().sanitize(members, rng=1), tmp_path / "x.csv")
    without = ask(members, [(MadeElsewhere(path), 1, [MembershipRisk()])])
    assert without.reason.str.contains("Give a hold-out").all()
    rows = ask(members, [(MadeElsewhere(path, holdout=str(tmp_path / "others.csv")), 1, [MembershipRisk()])])
    found = rows[(rows.group == "") & (rows.measure == "membership_risk")].iloc[0]
    assert found.low > 0.6  # a copy


def test_no_path_of_the_machine_is_in_a_provenance(people, tmp_path):
    path = written(Mondrian(k=10).sanitize(people, rng=1), tmp_path / "x.csv")
    assert str(tmp_path) not in str(MadeElsewhere(path).sanitize(people).provenance.public())


def test_copies_in_synthetic_rows_are_estimated(people, tmp_path):
    members, others = people.split(0.5, rng=1)
    others.table[PUBLISHED].to_csv(holdout := tmp_path / "others.csv", index=False)
    drawn = (members.table[name].sample(750, replace=True, random_state=i).array for i, name in enumerate(PUBLISHED))
    synthetic = pd.DataFrame(dict(zip(PUBLISHED, drawn, strict=True)))
    synthetic[:150] = members.table[PUBLISHED].sample(150, random_state=9).to_numpy()
    synthetic.to_csv(path := tmp_path / "x.csv", index=False)
    theirs = MadeElsewhere(str(path), rows="synthetic", holdout=str(holdout))
    rows = ask(members, [(theirs, 1, [Memorization()])]).set_index("measure")
    assert rows.low.copied_share <= 0.2 <= rows.high.copied_share
    assert rows.value.equal_share > rows.baseline.equal_share + 0.1
    assert rows.value.nearest_record_share > rows.baseline.nearest_record_share


def test_copies_are_found_if_the_synthetic_file_lacks_a_column(people, tmp_path):
    members, others = people.split(0.5, rng=1)
    others.table[PUBLISHED].to_csv(holdout := tmp_path / "others.csv", index=False)
    names = [name for name in PUBLISHED if name != "race"]
    drawn = (members.table[name].sample(750, replace=True, random_state=i).array for i, name in enumerate(names))
    synthetic = pd.DataFrame(dict(zip(names, drawn, strict=True)))
    synthetic[:150] = members.table[names].sample(150, random_state=9).to_numpy()
    synthetic.to_csv(path := tmp_path / "x.csv", index=False)
    theirs = MadeElsewhere(str(path), rows="synthetic", holdout=str(holdout))
    assert theirs.sanitize(members).columns["race"].kind == "suppressed"
    rows = ask(members, [(theirs, 1, [Memorization(), ReidentificationRisk()])]).drop_duplicates("measure")
    rows = rows.set_index("measure")
    assert rows.low.copied_share <= 0.2 <= rows.high.copied_share
    assert rows.value.identity_risk > 0.15  # each copy of a unique record singles out its person


def test_synthetic_rows_with_labels_are_refused(people, tmp_path):
    table = people.table[PUBLISHED].assign(age="20-29")
    table.to_csv(path := tmp_path / "x.csv", index=False)
    with pytest.raises(SanitizationError, match=r"synthetic rows must have values of the domain; 'age' of x.csv has"):
        MadeElsewhere(str(path), rows="synthetic").sanitize(people)


def test_the_anti_utility_of_a_subset_is_that_of_its_people(people, tmp_path):
    path = written(Mondrian(k=200).sanitize(people, rng=1), tmp_path / "whole.csv")
    half = pd.read_csv(path, dtype=str, keep_default_na=False).sample(750, random_state=1)
    half.to_csv(tmp_path / "half.csv", index=False)
    theirs = MadeElsewhere(str(tmp_path / "half.csv"))
    alone = replace(people, table=people.cells.iloc[theirs.sanitize(people).records])
    rows = [ask(each, [(theirs, 1, [AntiUtilityRisk("age")])]).set_index("group") for each in (people, alone)]
    assert len(alone) == 750
    one, other = (each[each.measure == "anti_utility_risk"].loc[""] for each in rows)
    assert (one.low, one.value, one.high) == pytest.approx((other.low, other.value, other.high), abs=0.01)


def test_a_column_is_read_by_its_name_in_the_original_file(people, tmp_path):
    own = replace(people, table=people.cells, renamed={"years": "age"})
    table = Mondrian(k=10).sanitize(own, rng=1).table.rename(columns={"age": "years"})
    table.to_csv(path := tmp_path / "x.csv", index=False)
    assert "age" in MadeElsewhere(str(path)).read(own).columns
    table.assign(age=table.years).to_csv(path, index=False)
    with pytest.raises(SchemaError, match=r"x.csv must have 'age' once; got 'age' and 'years'"):
        MadeElsewhere(str(path)).read(own)


def test_the_renaming_of_a_description_is_known(tmp_path):
    (tmp_path / "t.csv").write_text("Years!,ill\n" + "".join(f"{20 + i},no\n" for i in range(20)))
    (tmp_path / "t.toml").write_text(
        '[dataset]\nname = "t"\ntitle = "t"\n[[files]]\npath = "t.csv"\n[renamed]\n"Years!" = "years"\n'
        '[columns.years]\nrole = "quasi-identifier"\ndomain = { low = 20, high = 39 }\n'
        '[columns.ill]\nrole = "sensitive"\ndomain = ["yes", "no"]\n'
    )
    table = load(tmp_path / "t.toml")
    assert table.renamed == {"Years!": "years"}
    assert [*MadeElsewhere(str(tmp_path / "t.csv")).read(table).columns] == ["years", "ill"]


def test_a_holdout_that_is_mostly_the_table_is_refused(people, tmp_path):
    members, others = people.split(0.5, rng=1)
    mixed = pd.concat([members.table[PUBLISHED][:600], others.table[PUBLISHED][:150]])
    mixed.to_csv(holdout := tmp_path / "others.csv", index=False)
    path = written(Identity().sanitize(members, rng=1), tmp_path / "x.csv")
    with pytest.raises(
        SanitizationError, match=r"must have records of people who are not in .*; most people of others"
    ):
        MadeElsewhere(path, holdout=str(holdout)).check_holdout(members)


def test_a_file_with_an_identifier_is_refused(tmp_path):
    patients = load(CLINIC)
    exposed = next(each.name for each in patients.schema.attributes if each.role is Role.IDENTIFIER)
    patients.table[[*patients.schema.published, exposed]].to_csv(path := tmp_path / "x.csv", index=False)
    with pytest.raises(SchemaError, match=f"must not publish '{exposed}', whose role is 'identifier'"):
        MadeElsewhere(str(path), rows="synthetic").sanitize(patients)


def test_the_meaning_of_stars_applies_to_classes_and_linkage(people, tmp_path):
    """By hand: the people with a suppressed town could have the row of each other person of the same age."""
    names = ["age", "race"]
    original = Dataset("three", people.table[[*names, "occupation"]].iloc[:6].reset_index(drop=True), *_three(people))
    table = original.table.astype(object)
    table["age"], table["race"] = 30, [*["White"] * 4, "Black", "White"]
    original = Dataset("three", table, original.schema, original.hierarchies)
    table.assign(race=[*["White"] * 3, "*", "*", "White"]).to_csv(path := tmp_path / "x.csv", index=False)
    found = {}
    for star in ("own", "any", "conservative"):
        theirs = MadeElsewhere(str(path), star=star)
        rows = ask(original, [(theirs, 1, [ReidentificationRisk(), Combinations()])], min_count=2)
        rows = rows[(rows.group == "") & (rows.variant == "")].set_index("measure").value
        found[star] = rows.smallest_combination, rows.identity_risk
        assert ("star" in theirs.sanitize(original).provenance.public()["parameters"]) == (star != "own")
    # Candidates of White people are all 6 rows, and those of the Black person are the 2 rows with *.
    assert found["own"] == (2, pytest.approx(2 / 6))
    assert found["any"] == (6, pytest.approx((5 / 6 + 1 / 2) / 6))
    assert found["conservative"] == (4, pytest.approx((5 / 6 + 1 / 2) / 6))


def _three(people):
    schema = Schema("three", tuple(people.schema[name] for name in ("age", "race", "occupation")))
    return schema, {name: people.hierarchies[name] for name in schema.quasi_identifiers}


def test_a_sample_has_the_rows_of_its_people(people, tmp_path):
    ours = Mondrian(k=10).sanitize(people, rng=1)
    sample = people.sample(300, rng=0)
    theirs = MadeElsewhere(written(ours, tmp_path / "theirs.csv"))
    read = theirs.release_of_sample(people, sample)
    assert (len(read), read.provenance.rows, read.provenance.dataset) == (300, Rows.RECORDS, sample.name)
    names = people.schema.quasi_identifiers
    labels = theirs.sanitize(people).table[names].assign(**people.table[names].add_prefix("own "))
    expected = labels.drop_duplicates([f"own {name}" for name in names]).set_index([f"own {name}" for name in names])
    first = sample.table.drop_duplicates(names).index  # people with equal values have equal labels
    found = read.table.loc[first, names]
    assert (found.to_numpy() == expected.loc[[*map(tuple, sample.table.loc[first, names].to_numpy())]].to_numpy()).all()


def test_the_sample_of_a_subset_has_only_the_rows_that_are_there(people, tmp_path):
    half = people.table[people.schema.published].iloc[:700]
    half.to_csv(tmp_path / "half.csv", index=False)
    sample = people.sample(400, rng=0)
    read = MadeElsewhere(str(tmp_path / "half.csv")).release_of_sample(people, sample)
    assert read.provenance.rows is Rows.SUBSET
    kept = sample.table.iloc[read.records].reset_index(drop=True)[people.schema.published]
    assert (read.table == kept).all(axis=None)
    assert 100 < len(read) < 300


def test_rows_in_order_are_sampled_by_their_places(tmp_path):
    table = pd.DataFrame({"age": [30, 40, 30, 50], "ill": ["yes", "no", "no", "yes"]})
    own = pn.read(table, sensitive="ill", name="four").dataset
    pd.DataFrame({"age": [30, 40, 50, 50], "ill": table.ill}).to_csv(tmp_path / "swapped.csv", index=False)
    theirs = MadeElsewhere(str(tmp_path / "swapped.csv"), rows="in order", treatments={"age": "perturbed"})
    sample = own.sample(2, rng=1)
    places = [int(np.flatnonzero((table == row).all(axis=1))[0]) for _, row in sample.table.iterrows()]
    assert theirs.release_of_sample(own, sample).table.age.tolist() == [[30, 40, 50, 50][place] for place in places]


def test_a_sample_of_noisy_rows_has_the_nearest_rows_of_its_people(tmp_path):
    table = pd.DataFrame({"age": [30, 40, 60], "ill": ["yes", "yes", "yes"]})
    own = pn.read(table, sensitive="ill", name="three").dataset
    table.assign(age=[41.5, 58.5, 33.5]).to_csv(tmp_path / "noisy.csv", index=False)
    sample = own.sample(2, rng=1)
    read = MadeElsewhere(str(tmp_path / "noisy.csv")).release_of_sample(own, sample)
    assert read.table.age.tolist() == [{30: 33.5, 40: 41.5, 60: 58.5}[age] for age in sample.table.age]
    assert read.columns["age"].kind == "perturbed"
    assert "nearest values of age" in read.provenance.note


def test_synthetic_rows_are_all_compared_with_a_sample(people, tmp_path):
    people.table[people.schema.published].sample(500, random_state=1).to_csv(tmp_path / "x.csv", index=False)
    theirs = MadeElsewhere(str(tmp_path / "x.csv"), rows="synthetic")
    assert len(theirs.release_of_sample(people, people.sample(300, rng=0))) == 500


def test_a_stored_result_is_of_the_content_of_each_file(people, tmp_path):
    paths = [tmp_path / "theirs.csv", tmp_path / "others.csv"]
    for path in paths:
        path.write_text("age\n30\n")
    before = digest(MadeElsewhere(*map(str, paths[:1]), holdout=str(paths[1])))
    assert digest(MadeElsewhere(str(paths[0]), holdout=str(paths[1]))) == before
    for path in paths:
        path.write_text("age\n31\n")
        after = digest(MadeElsewhere(str(paths[0]), holdout=str(paths[1])))
        assert after != before
        before = after


def test_no_file_is_no_release_and_wrong_files_are_refused(people, tmp_path):
    assert check_release("", people) is None
    for given in ({"holdout": "others.csv"}, {"rows": "synthetic"}, {"treatments": "age: perturbed"}):
        with pytest.raises(UsageError, match="a release must be named if"):
            check_release("", people, **given)
    path = written(Mondrian(k=10).sanitize(people, rng=1), tmp_path / "theirs.csv")
    assert check_release(path, people) == MadeElsewhere(path)
    assert check_release(path, people, treatments="age: generalized").treatments == {"age": "generalized"}
    with pytest.raises(UsageError, match="must not be a sample if a release is given; got 100 records"):
        check_release(path, people, records=100)
    with pytest.raises(MissingFileError, match="there is no file absent"):
        check_release(path, people, holdout="absent.csv")
