"""Files of other tools: each is read completely, and each of its labels covers what its tool means."""

import csv
from pathlib import Path

import pytest

from privnb.datasets.dataset import load
from privnb.datasets.foreign_file import read_foreign
from privnb.microdata.hierarchy.foreign_labels import LabelForm
from privnb.microdata.schema import SchemaError
from privnb.microdata.treatment import Rows
from privnb.runtime.errors import UsageError
from privnb.sanitizers.made_elsewhere import MadeElsewhere

FOREIGN = Path(__file__).parents[1] / "data" / "foreign"
WORK = {"job": str(FOREIGN / "work.csv")}
JANUARY = {"2021-01-04", "2021-01-11", "2021-01-19", "2021-01-25", "2021-01-30"}
FEBRUARY = {"2021-02-02", "2021-02-08", "2021-02-14", "2021-02-27"}
MARCH = {"2021-03-09", "2021-03-17", "2021-03-28"}
CITY, COUNTY = {"13053", "13068", "13071"}, {"14850", "14853"}
JOBS = {"cook", "nurse", "clerk", "driver"}


def ages(low, high):
    """The ages from low to high, both included, as text."""
    return {str(age) for age in range(low, high + 1)}


TENS = {f"[{low}, {low + 10}[": ages(low, low + 9) for low in (20, 30, 60, 70, 80)}
MEMBERS = {
    "arx.csv": {
        "age": TENS,
        "zip": {"130**": CITY, "148**": COUNTY},
        "born": {
            "[2021-01-01, 2021-02-01[": JANUARY, "[2021-02-01, 2021-03-01[": FEBRUARY,
            "[2021-03-01, 2021-04-01[": MARCH,
        },
        "job": {"*": JOBS},
    },
    "arx_order.csv": {
        "age": {"*": ages(17, 99)},
        "zip": {"***53": {"13053", "14853"}, "***68": {"13068"}, "***71": {"13071"}, "***50": {"14850"}},
        "born": {"2021-01-**": JANUARY, "2021-02-**": FEBRUARY, "2021-03-**": MARCH},
        "job": {"{cook, nurse}": {"cook", "nurse"}, "{clerk, driver}": {"clerk", "driver"}},
    },
    "sdcmicro.csv": {
        "age": {"(20,30]": ages(21, 30), "(30,40]": ages(31, 40), "(40,99]": ages(41, 99)},
        "zip": {"NA": CITY | COUNTY},
    },
    "sdcmicro_groups.csv": {
        "age": {">=60": ages(60, 99), "<30": ages(17, 29), "30-59": ages(30, 59)},
        "job": {"indoors": {"cook", "nurse", "clerk"}, "outdoors": {"driver"}},
    },
    "anjana.csv": {
        "age": {
            "[20, 40[": ages(20, 39), "[60, 80[": ages(60, 79), "[80, 100[": ages(80, 99),
        },
        "zip": {"13***": CITY, "14***": COUNTY},
        "job": {"*": JOBS},
    },
    "mondrian_python.csv": {
        "age": {"21~29": ages(21, 29), "33~39": ages(33, 39), "60~80": ages(60, 80)},
        "job": {"cook~nurse": {"cook", "nurse"}, "clerk~driver": {"clerk", "driver"}, "cook~nurse~clerk~driver": JOBS},
    },
    "anonypy.csv": {
        "age": {"21-29": ages(21, 29), "33-39": ages(33, 39), "60-80": ages(60, 80)},
        "zip": {
            "13053,13068,13071": CITY, "13071,14850,14853": {"13071"} | COUNTY,
            "14853,13053,13068": {"14853", "13053", "13068"},
        },
        "job": {"cook,nurse": {"cook", "nurse"}, "clerk,driver": {"clerk", "driver"}, "driver,cook,nurse,clerk": JOBS},
    },
    "amnesia.csv": {
        "age": {f"{low}-{low + 10}": ages(low, low + 10) for low in (20, 30, 60, 70, 80)},
        "zip": {"1305*": {"13053"}, "1306*": {"13068"}, "1307*": {"13071"}, "1485*": COUNTY},
        "job": {"(null)": JOBS},
    },
    "utd_toolbox.csv": {
        "age": {"[0:50)": ages(17, 49), "[50:100)": ages(50, 99)},
        "zip": {"[13053:13071]": CITY, "[14850:14853]": COUNTY},
    },
    "postgresql_anonymizer.csv": {
        "age": {"[20,30)": ages(20, 29), "[30,40)": ages(30, 39), "[60,)": ages(60, 99)},
        "zip": {"[13000,14000)": CITY, "[14000,15000)": COUNTY},
        "born": {
            "[2021-01-01,2021-02-01)": JANUARY, "[2021-02-01,2021-03-01)": FEBRUARY, "[2021-03-01,2021-04-01)": MARCH,
        },
    },
    "pandas_qcut.csv": {
        "age": {"(20.999, 29.0]": ages(21, 29), "(29.0, 39.0]": ages(30, 39), "(39.0, 80.0]": ages(40, 80)},
        "job": {"['cook', 'nurse']": {"cook", "nurse"}, "['clerk', 'driver']": {"clerk", "driver"}},
    },
    "synthetic.csv": {"age": {f"{age}.0": {str(age)} for age in (21, 24, 28, 29, 33, 36, 38, 39, 60, 64, 71, 80)}},
}  # fmt: skip


@pytest.fixture(scope="module")
def people():
    return load(FOREIGN / "people.toml")


def covered(column, own, cell):
    """The values that a cell covers, as text, by the hierarchy with which it was read."""
    hierarchy = own if column.hierarchy is None else column.hierarchy
    names = hierarchy.labels(range(hierarchy.size), range(hierarchy.size))
    return {str(names[place]) for place in hierarchy.covered(str(cell))}


def test_each_file_has_expected_members():
    assert sorted(MEMBERS) == sorted(path.name for path in (FOREIGN / "files").iterdir())
    readme = (FOREIGN / "README.md").read_text(encoding="utf-8")
    for path in (*(FOREIGN / "files").iterdir(), *(FOREIGN / "refused").iterdir()):
        assert f"`{path.relative_to(FOREIGN).as_posix()}`" in readme


@pytest.mark.parametrize("name", MEMBERS)
def test_each_label_of_a_tool_covers_what_the_tool_means(people, name):
    path = FOREIGN / "files" / name
    file = read_foreign(path, people, hierarchies=WORK if name == "sdcmicro_groups.csv" else {})
    text = path.read_text(encoding="utf-8")
    rows = [*csv.DictReader(text.splitlines(), delimiter=";" if ";" in text else ",")]
    assert file.rows == len(rows) == 12
    for column, read in file.columns.items():
        expected = MEMBERS[name].get(column, {})
        labels = {row[column] for row in rows} - {*JANUARY, *FEBRUARY, *MARCH, *CITY, *COUNTY, *JOBS}
        if column != "illness":
            assert labels == {*expected}  # no label is read that is not expected here, and no value is a label
        else:
            assert {*read.forms} == {LabelForm.VALUE}
        for row, cell in zip(rows, read.cells, strict=True):
            if members := expected.get(row[column]):
                assert covered(read, people.hierarchies[column], cell) == members


@pytest.mark.parametrize("name", MEMBERS)
def test_each_row_of_a_tool_is_matched_with_its_record(people, name):
    hierarchies = WORK if name == "sdcmicro_groups.csv" else {}
    release = MadeElsewhere(str(FOREIGN / "files" / name), hierarchies=hierarchies).sanitize(people)
    assert release.provenance.rows is Rows.RECORDS
    assert (release.table.illness.to_numpy() == people.table.illness.to_numpy()).all()


@pytest.mark.parametrize(
    ("name", "line", "column", "form"),
    [
        ("node_mondrian.csv", 2, "age", "99,99"),
        ("pair.csv", 3, "age", "(99, 99)"),
        ("decimal_comma.csv", 3, "age", "99,9"),
        ("anonymity_api.csv", 2, "job", "aaaa-aaaaa"),
        ("recoded_code.csv", 2, "age", "9"),
    ],
)
def test_a_cell_with_two_meanings_is_an_error_that_names_its_place(people, name, line, column, form):
    with pytest.raises(SchemaError) as error:
        read_foreign(FOREIGN / "refused" / name, people)
    said = str(error.value)
    assert said.startswith(f"{name}, line {line}: ")
    assert f"'{column}'" in said
    assert f"'{form}'" in said
    assert not any(value in said for value in ("21", "39", "cook"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "x.csv is empty"),
        ("age,zip\n", "x.csv has column names but no records"),
        ("age,town\n21,x\n", "x.csv must have only columns of 'people/people'; got 'town'"),
        ("age,job\n21,cook\n24,pilot\n", "x.csv, line 3: the cells of 'job' must be values .* the form 'aaaaa'"),
        ("age,job\n21,cook\n240,cook\n", "x.csv, line 3: the numbers of 'age' .* 17 to 99; .* the form '999'"),
        ("age,age\n21,22\n", r"x.csv must have only columns of 'people/people'; got 'age \(2\)'"),
        ("age,job\n21,cook,3\n", "x.csv: line 2 has more than 2 cells"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_place(people, tmp_path, text, said):
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    with pytest.raises(SchemaError, match=said) as error:
        read_foreign(tmp_path / "x.csv", people)
    assert not any(cell in str(error.value) for cell in ("pilot", "240", "town,"))


def test_more_rows_than_records_are_refused_with_a_line(people, tmp_path):
    (tmp_path / "x.csv").write_text("age,job\n" + "21,cook\n" * 13, encoding="utf-8")
    with pytest.raises(UsageError, match=r"12 of 13 rows of x\.csv do not cover a record .* the row in line \d+"):
        MadeElsewhere(str(tmp_path / "x.csv")).sanitize(people)
