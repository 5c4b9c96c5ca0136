"""Grades of a table with a key of people, counted again by plain pandas."""

import pytest
from support import person_key

from privnb import cli
from privnb.datasets.draft import draft
from privnb.microdata.schema import SchemaError
from privnb.privacy_models.grading import grade

KNOWN = ["sex", "town"]


def test_grades_count_people():
    table = person_key.table(60)
    graded = grade(table, KNOWN, "ill", "patient").set_index("measure")
    found, who = graded["value"], table["patient"]
    classes = table[KNOWN].agg("|".join, axis=1)
    people = who.groupby(classes).nunique()
    having = who.groupby([classes, table["ill"]]).nunique()
    assert found["k achieved"] == found["smallest class"] == people.min()
    assert found["largest class"] == people.max()
    assert found["records"] == len(table)
    assert found["people"] == 60
    assert found["l, frequency"] == pytest.approx((people / having.groupby(level=0).max()).min())
    assert found["l, distinct"] == table["ill"].groupby(classes).nunique().min()
    small = classes.map(people) < 5
    assert found["in classes below 5"] == pytest.approx(who[small].nunique() / 60)
    alone = classes.map(table["ill"].groupby(classes).nunique()) == 1
    assert found["one value a class"] == pytest.approx(who[alone].nunique() / 60)
    rows = grade(table, KNOWN, "ill").set_index("measure")["value"]
    assert rows["k achieved"] > found["k achieved"]
    assert "people" not in rows


def test_each_record_another_person_is_no_key():
    table = person_key.table(60)
    each = table.assign(patient=range(len(table)))
    ours = grade(each, KNOWN, "ill", "patient").set_index("measure")["value"]
    plain = grade(each.drop(columns="patient"), KNOWN, "ill").set_index("measure")["value"]
    assert ours[plain.index].to_dict() == pytest.approx(plain.to_dict())


def test_a_key_that_is_no_key_is_refused():
    table = person_key.table(5)
    for wrong, said in (("sex", "names the people and cannot"), ("ill", "names the people"), ("nobody", "no column")):
        with pytest.raises(SchemaError, match=said):
            grade(table, KNOWN, "ill", wrong)
    table.loc[0, "patient"] = None
    with pytest.raises(
        SchemaError, match="'patient' must name the person of each record, but the column has 1 missing"
    ):
        grade(table, KNOWN, "ill", "patient")


@pytest.mark.slow
def test_the_command_counts_people(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = person_key.table(60).rename(columns={"patient": "patient_id"})
    table.to_csv("visits.csv", index=False)
    path = draft("visits.csv")
    path.write_text(path.read_text().replace("\ndraft = true\n", "\n"))
    people = grade(table, ["age", *KNOWN, "ill", "ward"], None, "patient_id").set_index("measure")["value"]
    assert cli.main(["check", str(path)]) == 0
    by_description = capsys.readouterr().out
    assert f"k achieved {people['k achieved']:>19g}" in by_description
    assert "\npeople                      60" in by_description
    assert cli.main(["check", "visits.csv", "--person", "patient_id"]) == 0
    assert capsys.readouterr().out == by_description
    table.drop(columns="patient_id").to_csv("release.csv", index=False)
    assert cli.main(["check", "release.csv", "--description", "visits"]) == 1
    said = capsys.readouterr().out
    assert "These are counts of records, and a person may have several records" in said
    assert "The gate refuses" in said
    assert cli.main(["check", "release.csv", "--description", "visits", "--model", "k=2"]) == 4
    assert "people cannot be counted" in capsys.readouterr().err
