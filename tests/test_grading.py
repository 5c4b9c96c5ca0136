from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up import CLINIC

from privnb import cli
from privnb.dataset import load
from privnb.grading import MODELS, grade
from privnb.privacy_models import KAnonymity, achieved
from privnb.sanitizers import Identity, Suppress
from privnb.schema import SchemaError

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
    grades = grade(TABLE, ["age", "sex"], "disease")
    assert grades.set_index("measure").value.to_dict() == {
        "records": 11, "quasi-identifiers": 2, "classes": 4, "smallest class": 1, "median class": 2.5,
        "largest class": 5, "suppressed": 2, "in classes below 2": 1 / 11, "in classes below 5": 6 / 11,
        "in classes below 10": 1, "k achieved": 1, "one value a class": 1 / 11,
    }  # fmt: skip
    assert grades["meaning"].str.endswith(".").all()
    assert set(grades["unit"]) == {"people", "columns", "classes", "share"}


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
        assert value(grades, "k achieved") == achieved(KAnonymity(2), release)
        assert value(grades, "suppressed") == release.suppressed
    assert value(grades, "suppressed") == 500


def test_a_column_of_names_needs_no_more_memory_than_one_of_two_values():
    """Counting every name in every class would take 20,000 x 20,000 cells."""
    table = pd.DataFrame({"name": np.arange(20_000), "sex": np.arange(20_000) % 2})
    assert value(grade(table), "classes") == 20_000


def test_every_model_says_what_its_level_means():
    for name, unit, meaning, make in MODELS:
        assert name
        assert unit
        assert meaning.endswith(".")
        assert make("disease").level(np.array([[1, 2]]), np.array([1, 2])).shape == (1,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["age", "zip"],), r"no column \['zip'\]; it has age, sex, disease"),
        ((["age"], "illness"), r"no column \['illness'\]"),
        ((["age", "disease"], "disease"), "'disease' cannot be both sensitive and a quasi-identifier"),
        (([],), "nothing to grade: 11 records, 0 quasi-identifiers"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(SchemaError, match=message):
        grade(TABLE, *arguments)
    with pytest.raises(SchemaError, match="nothing to grade: 0 records"):
        grade(TABLE.iloc[:0], ["age"])


# The command


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "release.csv"
    TABLE.to_csv(path, index=False, sep=";")
    return str(path)


def test_check_a_csv_file(file, capsys):
    assert cli.main(["check", file, "--quasi-identifiers", "age,sex", "--sensitive", "disease"]) == 0
    out = capsys.readouterr().out
    lines = {line[:20].strip(): line[20:].strip() for line in out.splitlines()}
    assert lines["quasi-identifiers"] == "2  What an adversary may know: age, sex."
    assert lines["median class"].startswith("2.5  ")
    assert lines["in classes below 5"] == "54.5%  People who hide among fewer than 5."
    assert lines["one value a class"] == "9.1%  People whose class gives their 'disease' away."
    assert "fewer than 10 people are shown here" in out


def test_check_for_a_script(file, capsys):
    known = ["check", file, "--quasi-identifiers", "sex"]
    assert cli.main([*known, "--at-least-k", "2"]) == 0
    assert cli.main([*known, "--at-least-k", "3"]) == 1
    assert "k is 2, less than the 3 asked for" in capsys.readouterr().err
    assert cli.main([*known, "--at-least-k", "1"]) == 2
    assert "k must be a whole number of at least 2" in capsys.readouterr().err


def test_check_a_dataset(capsys):
    assert cli.main(["check", str(CLINIC)]) == 0
    out = capsys.readouterr().out
    assert "What an adversary may know: age, weight, postcode, region." in out
    assert "'diagnosis' away" in out
    assert "CANARY" not in out


def test_check_a_release_by_its_datasets_description(tmp_path, capsys):
    table = Suppress().sanitize(load(CLINIC), rng=0).table.drop(columns="region")
    table.to_csv(tmp_path / "release.csv", index=False)
    assert cli.main(["check", str(tmp_path / "release.csv"), "--dataset", str(CLINIC), "--at-least-k", "300"]) == 0
    out = capsys.readouterr().out
    assert "What an adversary may know: age, weight, postcode." in out
    assert "'diagnosis' away" in out


def test_check_says_what_it_did_not_find(file, capsys):
    assert cli.main(["check", file, "--quasi-identifiers", "age,zip"]) == 2
    assert "the table has no column ['zip']" in capsys.readouterr().err
    assert cli.main(["check", "none.csv"]) == 2
    assert "there is no file 'none.csv'" in capsys.readouterr().err
