from collections import Counter
from dataclasses import replace
from math import inf, log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from support import own_tables
from support.clinic import CLINIC
from support.plain_models import level

from privnb import cli
from privnb.datasets.dataset import load
from privnb.measures.disclosure import tradeoff
from privnb.microdata.schema import SchemaError
from privnb.privacy_models import JensenShannonCloseness, KAnonymity, grade_release
from privnb.privacy_models.grading import grade, list_graded_models
from privnb.sanitizers import Identity, Suppress
from privnb.tables.reading import read_undescribed

TABLE = pd.DataFrame(
    {
        "age": ["20-29"] * 5 + ["30-39"] * 3 + ["*"] * 2 + ["40-49"],
        "sex": ["F"] * 5 + ["M"] * 3 + ["*"] * 2 + ["M"],
        "disease": ["flu", "cold"] * 5 + ["flu"],
    }
)


def value(grades, measure):
    return grades.set_index("measure").value[measure]


def test_a_table_graded_by_hand():
    """The worst class is that of one person with flu, which 6 of 11 have; it has no cold."""
    grades = grade(TABLE, ["age", "sex"], "disease")
    divergence = (log(22 / 17) + 6 / 11 * log(12 / 17) + 5 / 11 * log(2)) / 2
    assert grades.set_index("measure").value.to_dict() == pytest.approx({
        "records": 11, "quasi-identifiers": 2, "classes": 4, "smallest class": 1, "median class": 2.5,
        "largest class": 5, "suppressed": 2, "in classes below 2": 1 / 11, "in classes below 5": 6 / 11,
        "in classes below 10": 1, "k achieved": 1, "sensitive values": 2, "l, distinct": 1, "l, entropy": 1,
        "l, frequency": 1, "alpha": 1, "t, equal distance": 5 / 11, "Jensen-Shannon": divergence, "delta": inf,
        "beta, basic": 5 / 6, "beta, enhanced": inf, "one value a class": 1 / 11,
    })  # fmt: skip
    assert grades["meaning"].str.endswith(".").all()
    assert set(grades["unit"]) == {"people", "columns", "classes", "share", "values", "nats", "times"}


def test_every_column_but_the_sensitive_one_may_be_known():
    pd.testing.assert_frame_equal(grade(TABLE, None, "disease"), grade(TABLE, ["age", "sex"], "disease"))
    assert value(grade(TABLE), "quasi-identifiers") == 3
    assert "one value a class" not in set(grade(TABLE)["measure"])


rows = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 2), st.sampled_from("xy")), min_size=1, max_size=30
)


@given(rows, st.sampled_from([["q"], ["q", "r"]]))
def test_any_table_as_plain_counting_grades_it(rows, names):
    table = pd.DataFrame(rows, columns=["q", "r", "s"])
    known = [row[: len(names)] for row in rows]
    sizes = Counter(known)
    diseases = {key: {row[2] for row, k in zip(rows, known, strict=True) if k == key} for key in sizes}
    grades = grade(table, names, "s")
    assert value(grades, "k achieved") == value(grades, "smallest class") == min(sizes.values())
    assert value(grades, "median class") == np.median(list(sizes.values()))
    assert value(grades, "in classes below 5") == pytest.approx(sum(n for n in sizes.values() if n < 5) / len(rows))
    given_away = sum(sizes[key] for key, found in diseases.items() if len(found) == 1)
    assert value(grades, "one value a class") == pytest.approx(given_away / len(rows))


def test_grades_agree_with_those_of_a_release():
    dataset = load("adult", "occupation", records=500)
    for sanitizer in (Identity(), Suppress()):
        release = sanitizer.sanitize(dataset, rng=0)
        grades = grade(release.table, dataset.schema.quasi_identifiers, "occupation")
        assert value(grades, "k achieved") == grade_release(KAnonymity(2), release)
        assert value(grades, "suppressed") == release.suppressed
    assert value(grades, "suppressed") == 500


@given(rows)
def test_every_level_is_that_of_its_definition(rows):
    table = pd.DataFrame(rows, columns=["q", "r", "s"])
    grades = grade(table, ["q", "r"], "s")
    for each, model in list_graded_models():
        if each.reads in ("people", "values", "shares"):
            model = replace(model, sensitive="s") if model.sensitive is not None else model
            assert value(grades, each.name) == pytest.approx(float(level(model, table, ["q", "r"])), abs=1e-12)


def counted(table):
    """The distinct rows of a table, in an order of no meaning, and how many records have each."""
    found = table.groupby([*table], dropna=False, sort=False).size()
    return found.index.to_frame(index=False), found.to_numpy()


def alike(table, *asked):
    """Whether a table is graded alike by its records and by its combinations, to the last bit."""
    cells, times = counted(table)
    pd.testing.assert_frame_equal(grade(cells, *asked, times=times), grade(table, *asked), check_exact=True)
    return True


paid = st.sampled_from(["3", "20", None])
keyed = st.lists(
    st.tuples(st.sampled_from(["a", "*", None]), st.integers(0, 2), paid, st.integers(0, 9)), min_size=1, max_size=30
)


@given(keyed)
def test_any_table_is_graded_alike_by_records_and_combinations(rows):
    table = pd.DataFrame(rows, columns=["q", "r", "s", "who"])
    assert alike(table[["q", "r", "s"]], None, "s")
    assert alike(table, ["q", "r"], "s", "who")
    assert alike(table, ["q"], None, "who")
    assert alike(table[["q", "r"]])


def test_groups_of_many_numbers_are_the_same_by_records_and_combinations():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"q": rng.integers(0, 9, 5000), "pay": (rng.normal(50, 20, 5000) ** 2 // 9).astype(int)})
    assert alike(table, ["q"], "pay")
    assert alike(table.assign(who=rng.integers(0, 2000, 5000)), ["q"], "pay", "who")


@pytest.mark.slow
def test_adult_is_graded_alike_by_records_and_combinations():
    dataset = load("adult")
    table = dataset.table[[*dataset.schema.quasi_identifiers, *dataset.schema.sensitive]]
    for sensitive in (*dataset.schema.sensitive, "age"):
        assert alike(table, None, sensitive)


@pytest.mark.parametrize("times", [[1, 2], [0] * 11, [1.0] * 11, "many", [[1] * 11]])
def test_times_are_whole_numbers_from_1_of_each_row(times):
    with pytest.raises(
        ValueError, match=r"`times` must be an array \(11,\) of whole numbers of at least 1, one for each row"
    ):
        grade(TABLE, times=times)


def test_index_labels_carry_no_meaning():
    """Rows looked up by label as if it were a position would fall into other classes."""
    for index in ([3] * 11, range(11)[::-1], np.random.default_rng(0).permutation(11)):
        again = TABLE.set_axis(list(index))
        pd.testing.assert_frame_equal(grade(again, ["age", "sex"], "disease"), grade(TABLE, ["age", "sex"], "disease"))


# Two classes of people and what they earn; the third column is the same as text.
PAID = pd.DataFrame({"sex": list("FFFMMM"), "pay": [3, 4, 5, 6, 8, 11]})
PAID = PAID.assign(text=PAID["pay"].astype(str), code=[f"0{pay}" for pay in PAID["pay"]])


@pytest.mark.parametrize("column", ["pay", "text"])
def test_numbers_stand_on_a_line(column):
    """By size, though as text 11 would stand before 3: half of a class moves by 3 ranks of 5."""
    grades = grade(PAID, ["sex"], column)
    assert value(grades, "t, ordered distance") == pytest.approx(0.3)
    assert value(grades, "t, equal distance") == pytest.approx(0.5)


def test_codes_and_unknown_numbers_are_words():
    """A leading zero is a code's, such as a postcode's; what is not known stands nowhere on a line."""
    unknown = PAID.assign(pay=[3, 4, 5, 6, 8, None])
    for table, column in ((PAID, "code"), (unknown, "pay")):
        grades = grade(table, ["sex"], column)
        assert "t, ordered distance" not in set(grades["measure"])
        assert value(grades, "sensitive values") == 6


def test_many_numbers_are_graded_in_groups():
    """A thousand salaries, all different: the half that earn less are told apart from the rest, each of them alike."""
    table = pd.DataFrame({"half": np.repeat([0, 1], 500), "salary": np.arange(1000) * 7.5})
    grades = grade(table, ["half"], "salary")
    meaning = grades.set_index("measure")["meaning"]["sensitive values"]
    assert (
        meaning
        == "'salary' has this number of different values, graded in 100 groups of neighbors of about equal size."
    )
    assert value(grades, "sensitive values") == 1000
    assert value(grades, "l, distinct") == value(grades, "l, frequency") == 50
    assert value(grades, "t, ordered distance") == pytest.approx(25 / 99)
    assert value(grades, "beta, basic") == pytest.approx(1)
    assert value(grade(table, ["salary"], "half"), "one value a class") == 1


def test_one_value_a_class_means_the_value_not_its_group():
    table = pd.DataFrame({"pair": np.repeat(range(500), 2), "salary": range(1000)})
    grades = grade(table, ["pair"], "salary")
    assert value(grades, "l, distinct") == 1, "both of a pair earn about the same"
    assert value(grades, "one value a class") == 0, "but not the same"


def test_of_many_words_only_the_classes_are_graded():
    table = pd.DataFrame({"half": np.repeat([0, 1], 500), "word": [f"w{i % 700}" for i in range(1000)]})
    grades = grade(table, ["half"], "word")
    assert "too many to compare a class with the table" in grades.set_index("measure")["meaning"]["sensitive values"]
    assert value(grades, "l, distinct") == value(grades, "l, frequency") == 500
    assert not set(grades["measure"]) & {
        each.name for each, _ in list_graded_models() if each.reads in ("shares", "order")
    }


def test_large_tables_are_graded_in_parts(monkeypatch):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"class": rng.integers(0, 300, 3000), "s": rng.choice(list("abcde"), 3000)})
    whole = grade(table, ["class"], "s")
    monkeypatch.setattr("privnb.microdata.counts.CELLS", 35)
    pd.testing.assert_frame_equal(grade(table, ["class"], "s"), whole)


def test_a_column_of_names_needs_no_more_memory_than_one_of_two_values():
    """Counting every name in every class at a time would take 20,000 x 20,000 cells."""
    table = pd.DataFrame({"name": np.arange(20_000), "sex": np.arange(20_000) % 2})
    assert value(grade(table), "classes") == 20_000


@pytest.mark.parametrize(("each", "model"), list_graded_models(), ids=lambda each: getattr(each, "name", ""))
def test_every_model_says_what_its_level_means(each, model):
    assert len(each.name) < 20, "the command prints it in so many characters"
    assert each.unit
    assert each.meaning.endswith(f". {model.better.capitalize()} protects more.")
    assert model.level(np.array([[1, 2]]), np.array([1, 2])).shape == (1,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["age", "zip"],), r"no column \['zip'\]; it has age, sex, disease"),
        ((["age"], "illness"), r"no column \['illness'\]"),
        ((["age", "disease"], "disease"), "'disease' cannot be both sensitive and a quasi-identifier"),
        (([],), "must name at least one column; got 0"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(SchemaError, match=message):
        grade(TABLE, *arguments)
    with pytest.raises(SchemaError, match="must have at least one record; got 0 records"):
        grade(TABLE.iloc[:0], ["age"])


# The command


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "release.csv"
    TABLE.to_csv(path, index=False, sep=";")
    return str(path)


def test_check_a_csv_file(file, capsys):
    assert cli.main(["check", file, "--quasi", "age,sex", "--sensitive", "disease"]) == 0
    out = capsys.readouterr().out
    lines = {line[:20].strip(): line[20:].strip() for line in out.splitlines()}
    assert lines["quasi-identifiers"] == "2  An adversary may know: age, sex."
    assert lines["median class"].startswith("2.5  ")
    assert lines["in classes below 5"] == "54.5%  This share of people is in classes of fewer than 5."
    assert (
        lines["one value a class"]
        == "9.1%  For this share of people, the class discloses their 'disease' with certainty."
    )
    assert lines["t, equal distance"].startswith("45.5%  ")
    assert lines["delta"].startswith("inf  ")
    assert "may concern fewer than 10 people" in out


def test_check_for_a_script(file, capsys):
    known = ["check", file, "--quasi", "sex"]
    assert cli.main([*known, "--model", "k=2"]) == 0
    assert cli.main([*known, "--model", "k=3"]) == 1
    assert "KAnonymity(k=3) is not kept: the worst class reaches 2." in capsys.readouterr().err
    assert cli.main([*known, "--model", "k=1"]) == 2
    assert "k must be a whole number of at least 2" in capsys.readouterr().err


def test_check_a_dataset(capsys):
    assert cli.main(["check", str(CLINIC)]) == 0
    out = capsys.readouterr().out
    assert "An adversary may know: age, weight, postcode, region." in out
    assert "'diagnosis' with certainty" in out
    assert "CANARY" not in out


def test_check_a_release_by_its_datasets_description(tmp_path, capsys):
    table = Suppress().sanitize(load(CLINIC), rng=0).table.drop(columns="region")
    table.to_csv(tmp_path / "release.csv", index=False)
    assert cli.main(["check", str(tmp_path / "release.csv"), "--description", str(CLINIC), "--model", "k=300"]) == 0
    out = capsys.readouterr().out
    assert "An adversary may know: age, weight, postcode." in out
    assert "'diagnosis' with certainty" in out


def test_check_reads_what_is_missing_as_the_description_says(tmp_path, capsys):
    """Three marks of one column are one value; of a column that has no mark of its own, the text stays one."""
    pd.DataFrame({"age": ["-8", "-9", "NA", ""] + ["1"] * 4, "pay": ["-8"] * 4 + ["2"] * 4}).to_csv(
        tmp_path / "asked.csv", index=False
    )
    (tmp_path / "asked.toml").write_text(
        """
[dataset]
title = "Asked"
source = "made up"
license = "CC0"
[format]
missing = "NA"
[[files]]
path = "asked.csv"
[columns.age]
role = "quasi-identifier"
missing = ["-8", "-9"]
domain = { low = 0, high = 9, step = 1, missing = "NA" }
[columns.pay]
role = "sensitive"
domain = ["-8", "2"]
""",
        encoding="utf-8",
    )
    known = ["check", str(tmp_path / "asked.csv")]
    assert cli.main([*known, "--quasi", "age", "--model", "k=2"]) == 1
    capsys.readouterr()
    assert cli.main([*known, "--description", str(tmp_path / "asked.toml"), "--model", "k=4"]) == 1
    captured = capsys.readouterr()
    assert "The gate refuses this file." in captured.out, "each mark is in it once, and parts people"
    assert "KAnonymity(k=4) is kept" in captured.out
    lines = {line[:20].strip(): line[20:].split()[0] for line in captured.out.splitlines()}
    assert lines["classes"] == "2"
    assert lines["sensitive values"] == "2"


@pytest.mark.slow
def test_check_counts_as_it_reads(tmp_path, capsys):
    """A CSV file, a Parquet file and a folder of parts are counted; a workbook is read. All say the same."""
    table = pd.concat([TABLE.assign(age=TABLE["age"].replace("*", "")), TABLE])
    table.to_csv(tmp_path / "a.csv", index=False)
    table.to_parquet(tmp_path / "b.parquet", index=False)
    table.to_excel(tmp_path / "c.xlsx", index=False)
    (tmp_path / "d").mkdir()
    table[:9].to_csv(tmp_path / "d" / "1.csv", index=False)
    table[9:].to_csv(tmp_path / "d" / "2.csv", index=False)
    said = set()
    for name in ("a.csv", "b.parquet", "c.xlsx", "d"):
        assert cli.main(["check", str(tmp_path / name), "--sensitive", "disease"]) == 0
        said.add(capsys.readouterr().out)
    (out,) = said
    grades = grade(read_undescribed(tmp_path / "a.csv")[0], None, "disease").set_index("measure")
    assert f"classes {grades.value['classes']:>22g}" in out
    assert all(meaning in out for meaning in grades["meaning"])


def test_check_says_what_does_not_fit(file, capsys, monkeypatch):
    monkeypatch.setattr("privnb.tables.long_tables.COMBINATION", 100)
    assert cli.main(["check", file, "--memory", "500MB"]) == 5
    assert "more than 1 different combinations of 3 columns do not fit into 500MB" in capsys.readouterr().err
    assert cli.main(["check", file, "--memory", "600MB", "--quasi", "sex"]) == 5
    assert cli.main(["check", file, "--memory", "800MB", "--quasi", "sex"]) == 0


def test_check_says_what_it_did_not_find(file, capsys):
    assert cli.main(["check", file, "--quasi", "age,zip"]) == 2
    assert "--quasi: there is no column 'zip'" in capsys.readouterr().err
    assert cli.main(["check", "none.csv"]) == 4
    assert "there is no file or dataset 'none.csv'." in capsys.readouterr().err


def test_a_model_that_is_made_of_another_is_not_graded_twice():
    """As the relative entropy, which measures a loss and is no model to ask for."""
    assert issubclass(tradeoff._KullbackLeibler, JensenShannonCloseness)
    assert [each.name for each, _ in list_graded_models()].count("Jensen-Shannon") == 1


@pytest.mark.slow
def test_check_grades_each_sensitive_attribute(tmp_path, capsys):
    path = own_tables.write(tmp_path / "data", "many-columns")
    secrets = load(path).schema.sensitive
    assert cli.main(["check", str(path)]) == 0
    said = capsys.readouterr().out
    for name in secrets:
        assert said.count(f"'{name}' has this number of different values") == 1
        assert said.count(f"discloses their '{name}' with certainty") == 1
    assert said.count("k achieved") == 1
    assert cli.main(["check", str(path), "--sensitive", secrets[1]]) == 0
    assert f"'{secrets[0]}' has this number of different values" not in capsys.readouterr().out
