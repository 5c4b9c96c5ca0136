"""Derived columns of a description: stated, proposed, added, removed, loaded, and refused where they cannot be had."""

import json
import tomllib
from datetime import date
from pathlib import Path

import pandas as pd
import pytest
from support.stays import AGE, DATES, DERIVE, REGION, STAY, write_stays

from privnb.cli import main
from privnb.datasets.dataset import load, load_schema
from privnb.datasets.description import read_description
from privnb.datasets.description_editor import DescriptionEditor, describe_again
from privnb.microdata.schema import Role, SchemaError
from privnb.tables.derivation import Derivation

PERIODS = ("year", "quarter", "month")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_stays()
    return tmp_path / "data" / "stay" / "stay.toml"


@pytest.fixture
def draft(place, capsys):
    main(["describe", "stay.csv", "--sensitive", "ill"])
    return DescriptionEditor.open(str(place))


@pytest.fixture
def confirmed(place, capsys):
    options = ["--sensitive", "ill", "--derive", DERIVE]
    main(["describe", "stay.csv", "--confirm", *options])
    return DescriptionEditor.open(str(place))


def test_a_loaded_table_has_the_derived_columns_and_not_their_sources(confirmed):
    data = load("stay")
    assert data.schema.derived == {"age": AGE.words, "stay": STAY.words, "region": REGION.words}
    assert data.schema.names() == ["patient", "ill", "age", "stay", "region"]
    row = data.table.iloc[3]
    assert (row["age"], row["stay"], row["region"]) == (82, 3, "25")
    assert data.table["stay"].tolist() == [i % 9 for i in range(120)]


def test_a_draft_drops_the_sources_and_says_so(draft):
    table, said = draft.derive({"age": AGE})
    assert table.roles.names(Role.UNUSED) == ["birth", "admission"]
    assert table.roles.chosen["age"] is Role.QUASI_IDENTIFIER
    assert said[0] == "'age' is computed: years from birth to admission."
    assert "birth and admission now have the role unused, because other columns are computed from them." in said[1]
    stated = tomllib.loads(table.path.read_text())["columns"]
    assert stated["age"]["derived"] == {"years_from": "birth", "to": "admission"}
    assert stated["birth"]["days"] == stated["admission"]["days"] == "%d.%m.%Y"
    assert table.path.read_text().count("[columns.") == 7


def test_a_choice_of_the_owner_for_a_source_stays(draft):
    roles = draft.roles.having({"birth": Role.SENSITIVE})
    table, said = draft.derive({"age": AGE}, roles)
    assert table.roles.chosen["birth"] is Role.QUASI_IDENTIFIER, "an unsaved choice is not saved"
    assert table.roles.changed_as(roles, draft.roles).chosen["birth"] is Role.SENSITIVE
    assert "birth keeps the role sensitive, so a release contains it, too." in said


def test_a_confirmed_role_of_a_source_stays(confirmed, capsys):
    main(["describe", "stay", "--roles", "zip: quasi-identifier"])
    table, _ = DescriptionEditor.open(str(confirmed.path)).derive({"area": Derivation("prefix", "zip", characters=3)})
    assert table.roles.chosen["zip"] is Role.QUASI_IDENTIFIER


def test_a_fixed_day_has_no_quotation_marks(draft, capsys):
    main(["describe", "stay", "--derive", "age: years from birth to 2024-12-31"])
    assert read_description(draft.path)["columns"]["age"]["derived"]["to"] == date(2024, 12, 31)
    text = draft.path.read_text().replace("to = 2024-12-31", 'to = "2024-12-31"')
    draft.path.write_text(text)
    with pytest.raises(SchemaError, match="A fixed day has no quotation marks"):
        read_description(draft.path)


def test_a_removed_column_is_gone_with_its_hierarchy(confirmed):
    tree = confirmed.path.parent / "hierarchies/default/region.csv"
    assert tree.is_file()
    before = {name for name in read_description(confirmed.path)["columns"]}
    table, said = confirmed.remove_derived("region")
    assert {*read_description(confirmed.path)["columns"]} == before - {"region"} == {*table.cells}
    assert not tree.exists()
    assert said == ["'region' is removed. zip has the role unused, as before."]
    assert "region" not in load("stay").schema.names()


def test_the_command_line_removes_and_refuses(confirmed, capsys):
    assert main(["describe", "stay", "--derive", "region: none, quarter: quarter of admission"]) == 0
    assert {*load_schema("stay").derived} == {"age", "stay", "quarter"}
    before = confirmed.path.read_text()
    for option, (status, said) in {
        "ill: none": (2, "'ill' is not a derived column"),
        "age: year of birth": (2, "the table has a column 'age' already"),
        "AGE: year of birth": (2, "the table has a column 'AGE' already"),
        "a/b: year of birth": (2, "cannot be the name of a column"),
        "x: year of ill": (4, "which has no dates"),
        "x: year of age": (2, "there is no column 'age'"),
        "x: year of brith": (2, "Did you mean 'birth'"),
        "x: years of birth": (2, "states no rule"),
    }.items():
        capsys.readouterr()
        assert main(["describe", "stay", "--derive", option]) == status
        assert said in capsys.readouterr().err
        assert confirmed.path.read_text() == before


def test_wrong_roles_write_nothing(draft, capsys):
    before = draft.path.read_text()
    assert main(["describe", "stay", "--derive", f"age: {AGE.words}", "--roles", "agee: unused"]) == 2
    assert "no column 'agee'" in capsys.readouterr().err
    assert draft.path.read_text() == before


def test_roles_of_new_columns_can_be_stated_at_once(draft, capsys):
    main(["describe", "stay", "--derive", f"age: {AGE.words}", "--roles", "age: neutral, birth: identifier"])
    chosen = DescriptionEditor.open(str(draft.path)).roles.chosen
    assert (chosen["age"], chosen["birth"], chosen["admission"]) == (Role.NEUTRAL, Role.IDENTIFIER, Role.UNUSED)


def test_a_description_that_changed_elsewhere_is_not_overwritten(draft, confirmed):
    changed = confirmed.path.read_text() + "# mine\n"
    confirmed.path.write_text(changed)
    for act in (
        lambda: confirmed.derive({"year": Derivation("year", "birth")}),
        lambda: confirmed.remove_derived("age"),
    ):
        with pytest.raises(SchemaError, match="was changed elsewhere"):
            act()
    assert confirmed.path.read_text() == changed


def test_what_fits_is_proposed(draft):
    found = draft.derivations(draft.roles)
    words = {each.name: each.rule.words for own in found.values() for each in own}
    assert words == {
        "age_at_admission": "years from birth to admission",
        "age_at_discharge": "years from birth to discharge",
        "length_of_stay": "days from admission to discharge",
        "birth_year": "year of birth",
        **{f"{name}_{kind}": f"{kind} of {name}" for name in ("admission", "discharge") for kind in PERIODS},
        "zip_2": "first 2 characters of zip",
        "zip_3": "first 3 characters of zip",
    }
    assert {*found} == {"birth", "admission", "discharge", "zip"}
    table, _ = draft.derive({"stay": STAY})
    assert STAY not in [each.rule for own in table.derivations(table.roles).values() for each in own]
    assert "stay" not in table.derivations(table.roles)


@pytest.mark.parametrize(("wrong", "offered"), [({5}, True), ({*range(0, 120, 10)}, False)])
def test_a_length_of_time_is_proposed_if_hardly_any_is_negative(wrong, offered, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_stays(wrong=wrong)
    main(["describe", "stay.csv"])
    table = DescriptionEditor.open("stay")
    assert (STAY in [each.rule for each in table.derivations(table.roles)["admission"]]) is offered


def test_a_negative_length_is_kept_and_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_stays(wrong={5, 6})
    main(["describe", "stay.csv", "--sensitive", "ill", "--derive", f"stay: {STAY.words}", "--confirm"])
    said = capsys.readouterr()
    assert "stay: 2 records have a negative value, because 'discharge' is before 'admission'." in said.out + said.err
    assert "far from all other values" not in said.out + said.err, "--missing reads the file, which lacks the column"
    assert (load("stay").table["stay"] == -2).sum() == 2


def test_an_ambiguous_format_is_asked_first(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    days = [f"{1 + i % 12:02}/{1 + i % 11:02}/{2018 + i % 3}" for i in range(120)]
    Path("seen.csv").write_text("seen,ill\n" + "".join(f"{day},{'abc'[i % 3]}\n" for i, day in enumerate(days)))
    main(["describe", "seen.csv"])
    table = DescriptionEditor.open("seen")
    assert table.derivations(table.roles) == {}
    with pytest.raises(SchemaError, match="which can be dd/mm/yyyy or mm/dd/yyyy"):
        table.derive({"month": Derivation("month", "seen")})
    assert main(["describe", "seen", "--derive", "month: month of seen", "--days", "seen: mm/dd/yyyy"]) == 0
    months = DescriptionEditor.open("seen").cells["month"].tolist()
    assert months == [f"{day[6:]}-{day[:2]}" for day in days]
    main(["describe", "seen", "--days", "seen: dd/mm/yyyy"])
    assert DescriptionEditor.open("seen").cells["month"].tolist() == [f"{day[6:]}-{day[3:5]}" for day in days]


def test_a_corrected_file_keeps_its_derived_columns(confirmed):
    write_stays(number=130)
    table, said = describe_again("stay.csv")
    assert {*table.derived} == {"age", "stay", "region"}
    assert not table.is_draft, said
    assert table.roles.chosen == confirmed.roles.chosen
    assert len(load("stay")) == 130


def test_a_file_of_dates_gives_the_same(confirmed, tmp_path, capsys):
    frame = pd.read_csv("stay.csv", dtype=str)
    for name in DATES:
        frame[name] = pd.to_datetime(frame[name], format="%d.%m.%Y").dt.date
    frame.to_parquet("typed.parquet")
    options = ["--sensitive", "ill", "--derive", DERIVE]
    assert main(["describe", "typed.parquet", "--confirm", *options]) == 0
    pd.testing.assert_frame_equal(load("typed").table, load("stay").table)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("derived = { years_from", "derived = { year_from"), "must be a rule"),
        (('years_from = "birth"', 'years_from = "brith"'), r"Did you mean 'birth'"),
        (('years_from = "birth"', 'years_from = "stay"'), "'stay' is a derived column"),
        (('days = "%d.%m.%Y"\n', ""), r"State the format in columns.birth.days"),
        (('days = "%d.%m.%Y"\n', 'days = "%m/%Y"\n'), r"needs days in 'birth', whose dates are written as"),
    ],
)
def test_a_wrong_rule_is_refused(change, said, confirmed):
    confirmed.path.write_text(confirmed.path.read_text().replace(*change, 1))
    with pytest.raises(SchemaError, match=said):
        load("stay")


def test_a_column_of_the_file_is_not_computed_over(confirmed):
    confirmed.path.write_text(confirmed.path.read_text().replace("[columns.age]", "[columns.zap]"))
    lines = (confirmed.path.parent / "stay.csv").read_text().splitlines()
    text = "\n".join([f"{lines[0]},zap", *(f"{line},1" for line in lines[1:])])
    (confirmed.path.parent / "stay.csv").write_text(text)
    described = confirmed.path.read_text()
    sha256 = tomllib.loads(described)["files"][0]["sha256"]
    confirmed.path.write_text(described.replace(f'sha256 = "{sha256}"\n', ""))
    with pytest.raises(SchemaError, match=r"stay.csv has a column 'zap', and the description computes a column"):
        load("stay")


def test_the_answer_for_programs_has_the_rules(confirmed, capsys):
    capsys.readouterr()
    assert main(["describe", "stay", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)["values"]
    rules = {each["name"]: each["derived"] for each in answer["columns"]}
    assert (rules["age"], rules["birth"]) == (AGE.words, "")
    assert {"name": "birth_year", "derived": "year of birth"} in answer["possible"]["birth"]
