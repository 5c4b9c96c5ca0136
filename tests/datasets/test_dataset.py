import hashlib

import numpy as np
import pandas as pd
import pytest
from support.clinic import CLINIC, IDENTIFIER, RARE, RECORDS, clinic

from privnb.datasets.dataset import PROJECT, Dataset, find_description, load, load_schema, load_studies
from privnb.microdata.hierarchy import Intervals, Ordered, Ranges, Sets, Taxonomy, flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema, SchemaError

# Adult


@pytest.fixture(scope="module")
def sramka():
    return load("adult", "sramka")


def test_adult_is_the_complete_records_of_both_files_in_file_order():
    """UCI's adult.names: 45,222 records without missing values, 30,162 for training and 15,060 for testing."""
    dataset = load("adult", "sramka-taxonomy")
    files = []
    for name in ("adult.data", "adult.test"):
        lines = (PROJECT / "data" / "adult" / name).read_text().splitlines()
        records = [line.rstrip(".").split(", ") for line in lines]
        files.append([r for r in records if len(r) == 15 and "?" not in r])
    assert [len(records) for records in files] == [30162, 15060]
    plain = pd.DataFrame(files[0] + files[1])
    place = {"age": 0, "workclass": 1, "education": 3, "occupation": 6, "sex": 9, "native-country": 13, "salary": 14}
    for name, column in place.items():
        assert dataset.table[name].astype(str).tolist() == plain[column].tolist()


def test_adults_domain_sizes(sramka):
    """Sramka et al. 2010, section 4.1: the number of values of the nine attributes."""
    sizes = {"age": 74, "workclass": 7, "education-num": 16, "marital-status": 7, "occupation": 14, "race": 5, "sex": 2,
             "native-country": 41, "salary": 2}  # fmt: skip
    assert sramka.table.nunique().to_dict() == sizes


def test_adults_studies(sramka):
    assert sramka.name == "adult/sramka"
    assert sramka.schema.sensitive == ["salary"]
    assert len(sramka.schema.quasi_identifiers) == 8
    assert isinstance(sramka.hierarchies["age"], Intervals)
    assert isinstance(sramka.hierarchies["education-num"], Ranges)
    studies = {dataset.name: dataset for dataset in load_studies("adult", records=50)}
    assert list(studies) == [
        f"adult/{study} (50 records)" for study in ("sramka", "sramka-taxonomy", "occupation", "marital", "li-li")
    ]
    assert studies["adult/occupation (50 records)"].schema.sensitive == ["occupation"]
    assert isinstance(studies["adult/li-li (50 records)"].hierarchies["age"], Taxonomy)


def test_numbers_are_numbers_and_text_is_text(sramka):
    numbers = [name for name in sramka.table if pd.api.types.is_integer_dtype(sramka.table[name])]
    assert numbers == ["age", "education-num"]


# What is not there


def test_a_schema_is_known_without_the_records(sramka, tmp_path):
    assert load_schema("adult", "sramka") == sramka.schema
    (tmp_path / "adult").mkdir()
    description = (PROJECT / "data" / "adult" / "adult.toml").read_text()
    (tmp_path / "adult" / "adult.toml").write_text(description)
    assert load_schema("adult", "li-li", folder=tmp_path) == load("adult", "li-li").schema


def test_an_unknown_dataset_names_those_that_are_known():
    with pytest.raises(FileNotFoundError, match=r"no dataset 'aduult'.*datasets are: .*adult.*privnb describe FILE"):
        load("aduult")
    with pytest.raises(FileNotFoundError, match=r"no dataset 'nowhere/x\.toml'"):
        load("nowhere/x.toml")


def test_an_unknown_study_names_those_that_are_known():
    with pytest.raises(SchemaError, match=r"adult\.toml has no study 'census'; the studies are: sramka, .*li-li"):
        load("adult", "census")


def test_the_nearest_data_folder_is_taken(toy, monkeypatch):
    path = toy()
    below = path.parent.parent / "notebooks" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert find_description("toy", folder=path.parent.parent) == path
    (path.parent.parent / "data").mkdir()
    path.parent.rename(path.parent.parent / "data" / "toy")
    assert len(load("toy")) == 4
    assert find_description("adult") == PROJECT / "data" / "adult" / "adult.toml"


# An owner's own files

ROWS = "30,F,flu\n40,M,cold\n55,F,flu\n61,M,flu\n"
COLUMNS = """
[columns.age]
role = "quasi-identifier"
domain = { low = 0, high = 99 }
[columns.sex]
role = "quasi-identifier"
domain = ["F", "M", "?"]
[columns.disease]
role = "sensitive"
domain = ["flu", "cold"]
"""


@pytest.fixture
def toy(tmp_path):
    """Write a small dataset; returns the path of its description."""

    def write(rows=ROWS, *, header="age,sex,disease\n", layout="", more="", columns=COLUMNS, first="", file=""):
        folder = tmp_path / "toy"
        folder.mkdir(exist_ok=True)
        content = header + rows
        (folder / "toy.csv").write_bytes(content.encode() if isinstance(content, str) else content)
        path = folder / "toy.toml"
        files = f'[[files]]\npath = "toy.csv"\n{file}'
        path.write_text("\n".join([first, '[dataset]\nname = "toy"', files, "[format]", layout, more, columns]))
        return path

    return write


def test_a_table_with_a_header_in_any_order(toy):
    table = load(toy("F,30,flu\nM,40,cold\n", header="sex,age,disease\n")).table
    assert table.to_dict("list") == {"age": [30, 40], "sex": ["F", "M"], "disease": ["flu", "cold"]}


@pytest.mark.parametrize("separator", [",", ";", "\\t", "|"])
def test_separators(toy, separator):
    mark = separator.replace("\\t", "\t")
    path = toy(
        ROWS.replace(",", mark), header="age,sex,disease\n".replace(",", mark), layout=f'separator = "{separator}"'
    )
    assert load(path).table.equals(load(toy()).table)


def test_quoted_cells_and_blank_lines(toy):
    columns = COLUMNS.replace('"cold"', '"cold, \\"bad\\""')
    table = load(toy('30,"F","cold, ""bad"""\n\n40, M, flu\n  \n', columns=columns)).table
    assert table.values.tolist() == [[30, "F", 'cold, "bad"'], [40, "M", "flu"]]


def test_several_files_with_lines_to_skip_and_line_ends(toy):
    path = toy(
        "|note\n30,F,flu.\n40,M,cold.\n", header="", layout="header = false", file='skip_lines = 1\nline_end = "."'
    )
    (path.parent / "more.csv").write_text("50,F,flu\n")
    path.write_text(path.read_text().replace("[format]", '[[files]]\npath = "more.csv"\n[format]'))
    assert load(path).table.values.tolist() == [[30, "F", "flu"], [40, "M", "cold"], [50, "F", "flu"]]


def test_a_wrong_checksum(toy):
    right = hashlib.sha256(("age,sex,disease\n" + ROWS).encode()).hexdigest()
    assert len(load(toy(file=f'sha256 = "{right}"'))) == 4
    with pytest.raises(SchemaError, match=rf"toy\.csv is not the described file.*{right}, not 0000"):
        load(toy(file='sha256 = "0000"'))


@pytest.mark.parametrize(
    ("rows", "layout", "records"),
    [
        ("30,F,flu\n40,?,cold\n50,M,flu\n", 'missing = "?"', [[30, "F"], [40, "?"], [50, "M"]]),
        ("30,F,flu\n40,,cold\n50,M,flu\n", 'missing = "?"', [[30, "F"], [40, "?"], [50, "M"]]),
        ("30,F,flu\n40,?,cold\n50,M,flu\n", 'missing = "?"\nrecords_with_missing = "drop"', [[30, "F"], [50, "M"]]),
        ("30,F,flu\n,F,cold\n50,M,flu\n", 'records_with_missing = "drop"', [[30, "F"], [50, "M"]]),
        (
            "30,F,flu\n,F,cold\n50,M,flu\n?,M,flu\n",
            'missing = "?"\nrecords_with_missing = "drop"',
            [[30, "F"], [50, "M"]],
        ),
    ],
)
def test_missing_values(toy, rows, layout, records):
    """An empty cell is missing as the mark is: a category of its own where the domain lists it, or dropped."""
    assert load(toy(rows, layout=layout)).table[["age", "sex"]].values.tolist() == records


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rows": "30,,flu\n40,M,flu\n"}, "column 'sex' has 1 missing values, which its domain does not allow"),
        (
            {"rows": "?,F,flu\n40,M,flu\n", "layout": 'missing = "?"'},
            "column 'age' has 1 missing values, which its domain does not allow",
        ),
        ({"rows": "30,F,plague\n40,M,flu\n"}, r"column 'disease' has 1 values outside .*'plague' \(1\)"),
        ({"rows": ""}, "at least 2 records; got 0"),
        ({"rows": "", "header": ""}, r"toy\.csv is empty"),
        ({"rows": "30,F,flu\n"}, "at least 2 records; got 1"),
        (
            {"header": "age,sex,illness\n"},
            r"names column \['disease'\], which the table lacks \(the table has age, sex, illness\)",
        ),
        (
            {"header": "age,sex,disease,zip\n", "rows": "30,F,flu,1\n40,M,flu,2\n"},
            r"the table has column \['zip'\], which the schema does not name",
        ),
        (
            {"columns": COLUMNS.replace('"sensitive"', '"secret"')},
            "columns.disease.role must be one of identifier, .*; got 'secret'",
        ),
        (
            {"columns": COLUMNS.replace('role = "sensitive"', "")},
            "columns.disease lacks role. Add role: one of identifier, ",
        ),
        ({"more": '[studies.x]\nquasi-identifier = ["age", "zip"]'}, "no attribute 'zip'; it has age, sex, disease"),
        (
            {"more": '[studies.x]\nquasi-identifier = ["age", "sex"]\nsensitive = ["sex"]'},
            r"\['sex'\] has two roles\. A sensitive attribute cannot also be a quasi-identifier",
        ),
    ],
)
def test_a_dataset_that_does_not_fit_is_refused(toy, given, message):
    path = toy(**given)
    with pytest.raises(SchemaError, match=message):
        load(path, "x" if "more" in given else None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"header": "age,sex,sex,disease\n", "rows": "30,F,F,flu\n"}, r"column \['sex \(2\)'\], which the schema"),
        ({"rows": "30,F,flu,extra\n40,M,flu,extra\n"}, "line 2 has more than 3 cells"),
        ({"rows": "30,F,flu\n40,M,flu,extra\n"}, "line 3 has more than 3 cells"),
        (
            {"header": "", "layout": "header = false", "rows": "30,F\n40,M\n"},
            "line 1 has fewer than 3 cells",
        ),
        (
            {"header": b"age,sex,disease\n", "rows": b"30,\xe9,flu\n"},
            r"toy\.csv is not text in utf-8: .* in line 2",
        ),
        ({"columns": "", "more": "[other]"}, r"toy\.toml lacks \[columns\]"),
        ({"first": "draft = "}, r"toy\.toml is not valid TOML: .*line 1"),
        (
            {"first": "draft = true"},
            r"toy\.toml is a draft: .*delete the line 'draft = true'",
        ),
    ],
)
def test_faults_of_files_and_descriptions_are_named(toy, given, message):
    with pytest.raises(SchemaError, match=message):
        load(toy(**given))


def test_a_short_record_is_no_record_with_missing_values(toy):
    """The cells of a record that lost one stand in the wrong columns."""
    columns = COLUMNS + '[columns.name]\nrole = "identifier"\n'
    with pytest.raises(SchemaError, match="line 3 has fewer than 4 cells"):
        load(toy("30,F,flu,a\n40,M,flu\n", header="age,sex,disease,name\n", columns=columns))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"columns": COLUMNS.replace("high", "hihg")}, "columns.age.domain must be a list of .* or numbers { low = 0"),
        ({"more": '[studies.x]\nquasi-identifier = ["age"]\nhierarchies = "census"'}, "'census', which have no folder"),
        ({"more": '[studies.x]\nquasi-identifier = ["sex"]\nrecoding = { sex = "range" }'}, "only numbers have ranges"),
        ({"more": '[studies.x]\nquasi-identifier = ["age"]\nrecoding = { age = "ranges" }'}, 'Give "range" or a list'),
        ({"more": '[studies.x]\nquasi-identifier = ["age"]\nrecoding = { age = "set" }'}, "as 'set'. Give \"range\""),
        ({"more": '[studies.x]\nquasi-identifier = ["sex"]\nrecoding = { sex = [5] }'}, 'Give "ordered" or "set"'),
        (
            {
                "columns": COLUMNS.replace('"?"', '"?", "F|M"'),
                "more": '[studies.x]\nquasi-identifier = ["sex"]\nrecoding = { sex = "set" }',
            },
            r"'sex': the value 'F\|M' cannot be used",
        ),
    ],
)
def test_slips_of_the_pen_are_named(toy, given, message):
    path = toy(**given)
    with pytest.raises(SchemaError, match=message):
        load(path, "x" if "more" in given else None)


def test_only_line_ends_end_a_record(toy):
    columns = COLUMNS + '[columns.note]\nrole = "identifier"\n'
    path = toy("30,F,flu,a\u2028b\n40,M,flu,c\x0cd\n", header="age,sex,disease,note\n", columns=columns)
    assert load(path).table["note"].tolist() == ["a\u2028b", "c\x0cd"]


def test_a_file_with_a_byte_order_mark(toy):
    assert len(load(toy(header="\ufeffage,sex,disease\n"))) == 4


def test_hierarchies_of_a_set(toy):
    path = toy(
        more='[studies.x]\nquasi-identifier = ["age", "sex"]\nhierarchies = "mine"\nrecoding = { age = [10, 100] }'
    )
    folder = path.parent / "hierarchies" / "mine"
    folder.mkdir(parents=True)
    (folder / "sex.csv").write_text("F;known;*\nM;known;*\n?;?;*\n")
    dataset = load(path, "x")
    assert dataset.hierarchies["sex"].label(0, 1) == "known"
    assert dataset.hierarchies["age"] == Intervals(Numbers(0, 99), (10, 100))
    (folder / "sex.csv").write_text("F;known;*\nM;known;*\n")
    with pytest.raises(SchemaError, match=r"sex\.csv: the leaves \['\?'\] are missing \(1 in all\)"):
        load(path, "x")


@pytest.mark.parametrize(("ends", "exact"), [("", False), ('ends = "public"', False), ('ends = "exact"', True)])
def test_only_a_study_that_asks_for_them_has_exact_ends(toy, ends, exact):
    study = '[studies.x]\nquasi-identifier = ["age", "sex"]\nsensitive = ["disease"]\nrecoding = { sex = "ordered" }\n'
    path = toy(more=study + ends)
    assert [each.exact for each in load(path, "x").hierarchies.values()] == [exact, exact]
    path.write_text(path.read_text() + '[studies.y]\nquasi-identifier = ["age"]\nsensitive = ["disease"]\n')
    assert not load(path, "y").hierarchies["age"].exact
    assert not load(toy()).hierarchies["age"].exact


@pytest.mark.parametrize("ends", ['"exactly"', "true", "10"])
def test_other_ends_are_refused(toy, ends):
    path = toy(more=f'[studies.x]\nquasi-identifier = ["age"]\nsensitive = ["disease"]\nends = {ends}')
    with pytest.raises(SchemaError, match=r"toy\.toml: studies\.x\.ends must be one of public, exact; got "):
        load(path, "x")


@pytest.mark.parametrize(("how", "kind"), [("ordered", Ordered), ("set", Sets)])
def test_categories_without_a_tree(toy, how, kind):
    """The study says so, whatever file there is for others."""
    path = toy(more=f'[studies.x]\nquasi-identifier = ["age", "sex"]\nrecoding = {{ sex = "{how}" }}')
    folder = path.parent / "hierarchies" / "default"
    folder.mkdir(parents=True)
    (folder / "sex.csv").write_text("F;known;*\nM;known;*\n?;?;*\n")
    dataset = load(path, "x")
    assert dataset.hierarchies["sex"] == kind("sex", dataset.schema["sex"].domain.values)


def test_a_file_that_is_not_there(toy):
    path = toy()
    (path.parent / "toy.csv").unlink()
    with pytest.raises(FileNotFoundError, match=r"toy\.csv is described but does not exist"):
        load(path)


# Datasets made in memory

SCHEMA = Schema(
    "people",
    (
        Attribute("name", Role.IDENTIFIER),
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
        Attribute("sex", Role.QUASI_IDENTIFIER, Categories(("F", "M"))),
    ),
)
HIERARCHIES = {name: flat(SCHEMA[name]) for name in SCHEMA.quasi_identifiers}
TABLE = pd.DataFrame({"name": list("abcdef"), "age": range(20, 26), "sex": list("FMFMFM")})


@pytest.mark.parametrize("index", [[3] * 6, [5, 4, 3, 2, 1, 0], list("zyxwvu")])
def test_an_index_carries_no_meaning(index):
    dataset = Dataset("people", TABLE.set_axis(index), SCHEMA, HIERARCHIES)
    pd.testing.assert_frame_equal(dataset.table, TABLE)
    plain = Dataset("people", TABLE, SCHEMA, HIERARCHIES)
    pd.testing.assert_frame_equal(dataset.sample(3, rng=1).table, plain.sample(3, rng=1).table)


def test_columns_are_in_the_schemas_order_and_the_owners_table_is_left_alone():
    table = TABLE[["sex", "age", "name"]].copy()
    assert list(Dataset("people", table, SCHEMA, HIERARCHIES).table) == ["name", "age", "sex"]
    assert list(table) == ["sex", "age", "name"]


def test_a_quasi_identifier_needs_a_hierarchy():
    with pytest.raises(
        SchemaError, match=r"quasi-identifier 'sex' has no hierarchy\. Add a hierarchy to `hierarchies`, or"
    ):
        Dataset("people", TABLE, SCHEMA, {"age": HIERARCHIES["age"]})


def test_a_value_outside_its_hierarchy_is_named_with_its_count():
    tree = Taxonomy("sex", (("F", "*"), ("X", "*")))
    with pytest.raises(SchemaError, match=r"hierarchy 'sex' lacks 1 values: 'M' \(3\)"):
        Dataset("people", TABLE, SCHEMA, HIERARCHIES | {"sex": tree})
    with pytest.raises(SchemaError, match=r"outside 0 to 24.*: 25 \(1\)"):
        Dataset("people", TABLE, SCHEMA, HIERARCHIES | {"age": Ranges(Numbers(0, 24))})


def test_samples(sramka):
    dataset = load("adult", "sramka", records=100, rng=3)
    assert dataset.name == "adult/sramka (100 records)"
    pd.testing.assert_frame_equal(dataset.table, sramka.sample(100, rng=3).table)
    assert not dataset.table.equals(sramka.sample(100, rng=4).table)
    assert sramka.sample(45222, rng=0) is sramka
    people = Dataset("people", TABLE, SCHEMA, HIERARCHIES)
    for seed in range(20):
        names = people.sample(4, rng=seed).table["name"].tolist()
        assert names == sorted(set(names))  # in file order, nobody twice
    for records in (-1, 1, 7):
        with pytest.raises(ValueError, match=rf".records. must be from 2 to 6 .*got {records}"):
            people.sample(records, rng=0)


def test_splits(sramka):
    whole = sramka.sample(1000, rng=0)
    first, second = whole.split(0.3, rng=1)
    assert (len(first), len(second)) == (300, 700)
    both = pd.concat([first.table, second.table])
    assert sorted(map(tuple, both.values)) == sorted(map(tuple, whole.table.values))
    assert first.table.equals(whole.split(0.3, rng=1)[0].table)
    assert not first.table.equals(whole.split(0.3, rng=np.random.default_rng(2))[0].table)


# The made-up table


def test_the_clinic_is_what_its_generator_makes():
    assert CLINIC.with_suffix(".csv").read_text(encoding="utf-8") == clinic()


def test_the_clinic_loads():
    dataset = load(CLINIC)
    assert (len(dataset), dataset.name) == (RECORDS, "clinic/clinic")
    assert dataset.table["patient"].str.startswith(IDENTIFIER).all()
    assert dataset.table["patient"].is_unique
    assert (dataset.table["region"] == "?").sum() >= 10
    assert dataset.table["diagnosis"].value_counts().min() >= 10  # no rare diagnosis: people are rare, not secrets
    assert dataset.hierarchies["postcode"].label(0, 3) == "010**"
    for rare in RARE:
        same = (dataset.table[list(rare)].astype(str) == pd.Series(rare)).sum(axis=1)
        assert sorted(same)[-1] == 4
        assert sorted(same)[-2] <= 2  # nobody else has even three of the four values


def test_one_number_has_one_form():
    """Or else 9 and "9.0" would count as two sensitive values."""
    attributes = (
        Attribute("x", Role.QUASI_IDENTIFIER, Numbers(0, 9)),
        Attribute("d", Role.SENSITIVE, Numbers(0, 9)),
    )
    schema = Schema("forms", attributes)
    table = pd.DataFrame({"x": ["1", "01", "2.0", "2"], "d": pd.Series(["9", "9.0", 9, "1"], dtype=object)})
    data = Dataset("forms", table, schema, {"x": flat(schema["x"])})
    assert data.table.d.tolist() == [9, 9, 9, 1]
    assert data.codes["x"].tolist() == [1, 1, 2, 2]
    assert table.d.tolist() == ["9", "9.0", 9, "1"]


def test_equal_cells_are_one_object():
    """Columns of text are counted again and again; 45,222 copies of a word take several times as long as one."""
    column = load("adult").table["occupation"].to_numpy()
    assert len(set(map(id, column))) == len(set(column))
