"""Which names may be used, how a list of them is written, and what an owner sees whose table has others."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, strategies as st
from support import questions

from privnb import evaluation
from privnb.cli import main
from privnb.datasets.dataset import Dataset, load
from privnb.datasets.draft import draft
from privnb.explorer import export
from privnb.explorer.board import explore
from privnb.explorer.setting import Setting, apply_roles, check_setting, exact_quasi_identifiers
from privnb.microdata import hierarchy
from privnb.microdata.schema import Attribute, Categories, Role, Schema, SchemaError
from privnb.papers.charts import known_attributes
from privnb.reporting import charts, findings
from privnb.runtime.names import clean_name, find_forbidden, join_names, parse_names
from privnb.sanitizers import Identity, Suppress

CITY = "City, State"
HOSTILE = ("illness<b>", "age\u202e", "a\u2066ge", "a\u200bge", "a\x1b[31mge", "line\nend", "\ue000", "page>")


@given(st.lists(st.text(min_size=1), max_size=5))
def test_a_list_of_names_is_read_as_it_was_written(names):
    assert parse_names(join_names(names)) == names


def test_a_list_without_commas_in_names_is_written_as_ever():
    assert join_names(["age", "Weekly hours", "a-b"]) == "age, Weekly hours, a-b"
    assert parse_names(" age,sex ,, ") == ["age", "sex"]


@given(st.text())
def test_the_name_offered_may_be_used(name):
    assert find_forbidden(clean_name(name)) == ""
    assert clean_name(clean_name(name)) == clean_name(name)
    assert find_forbidden(name) or clean_name(name) == (" ".join(name.split()) or "unnamed")


def table(names, dataset="any"):
    """A dataset with these two columns, the second one sensitive."""
    domain = Categories(("x", "y"))
    attributes = [Attribute(n, r, domain) for n, r in zip(names, (Role.QUASI_IDENTIFIER, Role.SENSITIVE), strict=True)]
    records = pd.DataFrame({name: ["x", "y", "y"] for name in names})
    return Dataset(dataset, records, Schema("any", tuple(attributes)), {names[0]: hierarchy.flat(attributes[0])})


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_would_be_more_than_text_is_refused(name):
    with pytest.raises(SchemaError, match=r"column .* holds .*, which is not allowed.* Call it "):
        table([name, "b"])
    with pytest.raises(SchemaError, match=r"dataset .* holds"):
        table(["a", "b"], dataset=name)
    with pytest.raises(SchemaError, match=r"dataset .* holds"):
        replace(table(["a", "b"]).schema, dataset=name)


@pytest.mark.parametrize("name", ["Weekly hours (%)", "Größe", "年齢", "a&b", 'it\'s "so"', "*x*", "$y$", CITY])
def test_any_other_name_is_taken(name):
    assert table([name, "b"]).schema.names() == [name, "b"]


DESCRIPTION = """
[dataset]
name = "any"
[[files]]
path = "any.csv"
[columns.a]
role = "sensitive"
domain = ["<=50K", ">50K"]
[studies."x<y"]
sensitive = ["a"]
"""


def test_studies_and_files_are_refused_by_name_and_values_stay_what_they_are(tmp_path):
    (tmp_path / "any.csv").write_text("a\n<=50K\n>50K\n")
    path = tmp_path / "any.toml"
    path.write_text(DESCRIPTION)
    with pytest.raises(SchemaError, match=r"any.toml: study 'x<y' holds '<'"):
        load(path)
    path.write_text(DESCRIPTION.replace("x<y", "x"))
    assert list(load(path, "x").table["a"]) == ["<=50K", ">50K"]
    (tmp_path / "any<b>.csv").write_text("a\n<=50K\n>50K\n")
    path.write_text(DESCRIPTION.replace("x<y", "x").replace("any.csv", "any<b>.csv"))
    with pytest.raises(SchemaError, match=r"file 'any<b>.csv' holds '<'.* Call it 'any b .csv'"):
        load(path, "x")


def test_new_offers_a_name_and_the_file_stays_as_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = "illness<img src=x>,illness img src=x,a\u202eb,<script>/1\n" + "cold,c,x,1\nflu,d,y,0\n" * 4
    Path("pe<b>ople.csv").write_text(text)
    assert main(["describe", "pe<b>ople.csv"]) == 0
    path = Path(capsys.readouterr().out.splitlines()[0])
    described = path.read_text(encoding="utf-8").replace("draft = true\n", "")
    assert all(not find_forbidden(line) for line in described.splitlines() if "<" not in line)
    path.write_text(described, encoding="utf-8")
    dataset = load(path)
    assert dataset.schema.names() == ["illness img src=x 2", "illness img src=x", "a b", "script 1"]
    assert list(dataset.table["illness img src=x 2"]) == ["cold", "flu"] * 4
    assert (path.parent / "pe b ople.csv").read_text() == text


def test_a_name_mapped_that_the_file_lacks_is_refused(tmp_path):
    (tmp_path / "any.csv").write_text("a\n<=50K\n>50K\n")
    path = tmp_path / "any.toml"
    path.write_text(DESCRIPTION.replace("x<y", "x") + '[renamed]\n"b<" = "b"\n')
    with pytest.raises(SchemaError, match=r"\[renamed\] has \['b<'\], which any.csv lacks"):
        load(path, "x")


# --- a comma in a name ---


@pytest.fixture(scope="module")
def cities(tmp_path_factory):
    """Sixty people with a column called `City, State`."""
    folder = tmp_path_factory.mktemp("cities")
    rows = [f"{20 + i % 7},{'Rome' if i % 3 else 'Bonn'},{'ab'[i % 2]},{'xyz'[i % 3]}" for i in range(60)]
    (folder / "people.csv").write_text("\n".join(['age,"City, State",sex,illness', *rows]) + "\n")
    path = draft(folder / "people.csv", "four", folder)
    described = path.read_text().replace("draft = true\n", "")
    before, own, after = described.partition("[columns.illness]")
    path.write_text(before + own + after.replace("quasi-identifier", "sensitive", 1))
    return load(path)


def test_the_explorer_takes_a_name_with_a_comma(cities, tmp_path):
    setting = check_setting(Setting(k=5), cities)
    assert parse_names(setting.quasi_identifiers) == ["age", CITY, "sex"]
    assert check_setting(setting, cities) == setting
    fewer = check_setting(replace(setting, quasi_identifiers=f'age, "{CITY}"'), cities)
    assert apply_roles(cities, fewer).schema.quasi_identifiers == ["age", CITY]
    assert exact_quasi_identifiers(fewer, cities) == ["sex"]
    with pytest.raises(ValueError, match='must be some of age, "City, State", sex'):
        check_setting(replace(setting, quasi_identifiers=CITY), cities)
    assert repr(f'age, "{CITY}"') in export.write_code(cities, fewer)
    assert f'age, "{CITY}"' in export.write_command(cities, fewer)


@pytest.mark.slow
def test_the_board_takes_a_name_with_a_comma(cities, tmp_path):
    board = explore(cities, Setting(k=5), pins=tmp_path / "pins.json", source="four.toml")
    try:
        board.change(quasi_identifiers=join_names(["sex", CITY]))
        assert parse_names(board.setting.quasi_identifiers) == [CITY, "sex"]
        board.change(sensitive="sex")
        assert parse_names(board.setting.quasi_identifiers) == [CITY]
    finally:
        board.close()


def test_results_and_sentences_count_a_name_with_a_comma_as_one(cities):
    unique = evaluation.measure_uniqueness(cities)
    assert set(unique.knows.map(parse_names).map(len)) == {1, 2, 3}
    said = findings.uniqueness(evaluation.join_results(evaluation.describe(cities), unique)).data
    assert "nobody else shares all 3 quasi-identifiers" in said
    assert charts.uniqueness(unique).to_dict()["title"]["text"][0].startswith("All 3 ")
    known = questions.known_subsets(cities, [Identity()])
    assert " ".join(known_attributes(known).to_dict()["title"]["text"]).count(";") == 1


def test_a_column_with_a_comma_can_be_suppressed_and_named_on_a_command_line(cities, tmp_path, capsys):
    release = Suppress(join_names([CITY, "sex"])).sanitize(cities, rng=1)
    assert (release.table[[CITY, "sex"]] == "*").all(axis=None)
    cities.table.to_csv(tmp_path / "people.csv", index=False)
    assert main(["check", str(tmp_path / "people.csv"), "--quasi", f'"{CITY}", sex']) == 0
    assert "k achieved" in capsys.readouterr().out
