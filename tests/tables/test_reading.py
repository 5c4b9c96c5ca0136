"""Every file of records gives the same table, whatever wrote it; one that cannot be read says where and why."""

import base64
import csv
import datetime
import io
import tempfile
import zipfile
import zlib
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from privnb.datasets import description_editor, draft
from privnb.datasets.dataset import load
from privnb.datasets.undescribed_files import UndescribedTable
from privnb.microdata.schema import SchemaError
from privnb.privacy_models import KAnonymity
from privnb.publishing.from_files import sanitize
from privnb.sanitizers import Mondrian
from privnb.tables import reading, text_files
from privnb.tables.long_tables import Memory
from privnb.tables.reading import read_records, read_undescribed
from privnb.tables.text_files import Layout

TABLE = {"name": ["Ana", "Zoë"], "pay": ["1.5", "20"], "note": ["a, b", None]}
TEXT = 'name,pay,note\nAna,1.5,"a, b"\nZoë,20,\n'


@pytest.fixture
def write(tmp_path):
    def write(content, name="people.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def counted(path):
    """What the engine counts of all columns, which has the same errors."""
    table = UndescribedTable.of(path)
    return table.counted(table.names, Memory.of("1GB"))


def cells(table):
    return table.astype(object).where(table.notna(), None).to_dict("list")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(write, encoding, ends):
    table, layout, _ = read_undescribed(write(TEXT.replace("\n", ends).encode(encoding)))
    assert cells(table) == TABLE
    assert layout == Layout(encoding=encoding.removesuffix("-sig"))


def test_two_kinds_of_line_ends(write):
    assert cells(read_records(write("a,b\r\n1,2\n3,4\r\n"), Layout())) == {"a": ["1", "3"], "b": ["2", "4"]}


def test_single_quotation_marks_around_every_name_are_no_part_of_it(tmp_path, write):
    path = write("'name'\t'no te'\n'a\tb'\tO'Neil\n'it''s'\t\n")
    table, layout, _ = read_undescribed(path)
    assert layout == Layout("\t", quote="'")
    assert cells(table) == {"name": ["a\tb", "it's"], "no te": ["O'Neil", None]}
    described = draft.draft(path, folder=tmp_path / "data").read_text()
    assert "[columns.name]" in described
    assert 'quote = "\'"' in described
    assert cells(read_undescribed(write("'name',note\n1,2\n"))[0]) == {"'name'": ["1"], "note": ["2"]}


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators(write, separator):
    table, layout, _ = read_undescribed(
        write(separator.join(["name", "note"]) + "\n" + separator.join(["a", '"x,;|y"']) + "\n")
    )
    assert layout.separator == separator
    assert cells(table) == {"name": ["a"], "note": ["x,;|y"]}


def test_a_cell_with_line_ends_and_one_with_marks(write):
    assert cells(read_records(write('a,b\n"1\n2",x\n"say ""hi""","y"\n'))) == {
        "a": ["1\n2", 'say "hi"'],
        "b": ["x", "y"],
    }


marks = st.text(st.sampled_from("a b\"',;|\t\nä€0.-#\u2028"), max_size=5)


@pytest.mark.slow
@settings(max_examples=25)
@given(
    st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(marks, min_size=n, max_size=n), min_size=1, max_size=6)),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["utf-8", "utf-16"]),
)
def test_what_a_csv_module_wrote_is_read(records, separator, ends, encoding):
    """The same cells as the standard library's reader gives, without spaces before them, and blank ones missing."""
    written = io.StringIO(newline="")
    writer = csv.writer(written, delimiter=separator, lineterminator=ends)
    writer.writerows([[f"n{number}" for number in range(len(records[0]))], *records])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "any.csv"
        path.write_bytes(written.getvalue().encode(encoding))
        found = read_records(path, Layout(separator, encoding))
    given = [[cell.lstrip(" ") if cell.strip() else None for cell in row] for row in records]
    assert [list(row) for row in zip(*cells(found).values(), strict=True)] == [row for row in given if any(row)]


def test_blank_cells_are_missing_and_lines_of_them_are_no_records(write):
    assert cells(read_records(write("a,b\n\n 1, x\n,\n   \n , \n2,\n"))) == {"a": ["1", "2"], "b": ["x", None]}


def test_lines_above_and_at_the_end_of_each(write):
    path = write("|a remark\n1,x.\n2,y.\n", "people.test")
    assert cells(read_records(path, Layout(header=False, skip_lines=1, line_end="."), ["n", "c"])) == {
        "n": ["1", "2"],
        "c": ["x", "y"],
    }


def test_a_file_whose_name_is_a_pattern(write):
    write("a\n1\n", "x1.csv")
    assert cells(read_records(write("a\n2\n", "x[1].csv"))) == {"a": ["2"]}


def test_equal_texts_are_one(write):
    column = read_records(write("a\n" + "x\n y\nx\n"))["a"]
    assert column.cat.categories.tolist() == ["x", "y"]
    assert column.cat.codes.tolist() == [0, 1, 0]


@pytest.mark.parametrize("ending", [".parquet", ".xlsx", ".sav", ".dta"])
def test_files_of_other_kinds(tmp_path, ending):
    path = tmp_path / f"people{ending}"
    table = pd.DataFrame({"name": ["Ana", "Zoë"], "pay": [1.5, 20.0], "visits": [3, 4], "note": ["a, b", ""]})
    if ending == ".parquet":
        table.to_parquet(path)
    elif ending == ".xlsx":
        table.to_excel(path, index=False)
    else:
        pyreadstat = pytest.importorskip("pyreadstat")
        getattr(pyreadstat, {".sav": "write_sav", ".dta": "write_dta"}[ending])(table, path)
    found, layout, _ = read_undescribed(path)
    assert layout is None
    assert cells(found.drop(columns="pay")) == {"name": TABLE["name"], "visits": ["3", "4"], "note": TABLE["note"]}
    assert found["pay"].astype(float).tolist() == [1.5, 20]


# A workbook of Excel 97: a sheet with the columns name and visits, and two records; compressed.
XLS = (
    "eNrtWE1oE0EU/maTND+k6SamQiuUUGq1tRfx4qWuFWtPlupFKYJu2xxC242kQdCDVmuOguBJ8VLoxUurF3/Qg570IFT0IAhCUo89"
    "FVrooc365mUWU82hAQ0q8y3zzdv33sy87LyZzeyH5Xhx/kl7CT/hGHwou2E0VekElbB3Y4LsritFrw5RcTX+KYRDNJFNAbxsfh+U"
    "cyjnuwQDj/1viIEVKhdwGcNZJ51qIE5wDLaQMfQTCzwkTQxtHFWCeZx5D/MSe75iPs6aO8z95FsUo1i2hnuPqiw+b3SyLQbZ7zNu"
    "84U1h9GKdzKLb9wVFd8ABnIZe+rvNHT4o1gAzdtQ2knn7KkikjSBC9hwU8C6t1Jfp7S+sXoB0m/u1Adr6O8ZfmAW7iVO8AKieOuT"
    "Fj9O2nl7C10kwSuOPZ2m1XklM5PJz5DbgGMTj2ZXI3Jb5mVs7ljGzZzeUeIJtLAc5yQ3aaPeerT28fTYiHWRNbO8dVc2+P0yJri4"
    "KVtQ4xhbOCz27WU+xHyLe93HcjtzklKT6u6RViWcmmOf22ztpnGOMD5ZB6rkgyQXVs887yh8s3pIXhwqXUsufrbm0UkvnAlqL685"
    "9Ik+8eC+xAvLq4XaDL4yt/2yMYQMU8XuqrdYC7YRYTHOXLmTT0cof1HDX7C/7PG6EeF44ogpf6OGv8H+PuVfefoJ+WI1EngqjbRN"
    "/UAEGhoaGhoaGhoaGg2AUH/rfeqgEVCHh6D6rrNNpaw/k/y3OIssXXk6mA7CoTqHq3Xlz14EhNeX2GUb73uhxDkaPYdJjHEck3Xn"
    "Lx3+RPXv2XVD8/ctoXrHL9cT5x8e/zuPpMUB"
)
ODS = """<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">
<office:body><office:spreadsheet><table:table table:name="Data">{}</table:table></office:spreadsheet></office:body>
</office:document-content>"""


def ods(rows):
    """Return an OpenDocument spreadsheet of a sheet with these rows."""
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    lines = (f"<table:table-row>{''.join(map(cell.format, row))}</table:table-row>" for row in rows)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        file.writestr("META-INF/manifest.xml", "<manifest/>")
        file.writestr("content.xml", ODS.format("".join(lines)))
    return content.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.ods", ods([["name", "visits"], ["Ana", "3"], ["Zoë", "4"]])),
        ("a.xls", zlib.decompress(base64.b64decode(XLS))),
    ],
)
def test_older_and_open_spreadsheets(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    found, layout, _ = read_undescribed(tmp_path / name)
    assert (cells(found), layout) == ({"name": ["Ana", "Zoë"], "visits": ["3", "4"]}, None)


def test_days_truth_values_and_whole_numbers_as_text(tmp_path):
    day = datetime.datetime(2020, 2, 29)
    table = pd.DataFrame({"day": [day, day.replace(hour=9)], "yes": [True, False], "n": [2.0, None]})
    table.to_excel(tmp_path / "x.xlsx", index=False)
    found = cells(read_records(tmp_path / "x.xlsx"))
    assert found == {"day": ["2020-02-29", "2020-02-29 09:00:00"], "yes": ["true", "false"], "n": ["2", None]}


TITLES = ["Patients, ward 3; 2020", "", "as of:,31.12.2020"]


@pytest.mark.parametrize("above", range(4))
@pytest.mark.parametrize("separator", [",", ";"])
def test_names_stand_below_titles(write, tmp_path, above, separator):
    table = pd.DataFrame({"age": [34, 41], "town": ["Bern", "Chur"], "ill": ["no", None]})
    lines = [each.replace(",", separator, 1) if ":" in each else f'"{each}"' * bool(each) for each in TITLES[:above]]
    path = write("\n".join([*lines, table.to_csv(index=False, sep=separator)]).encode(), "a.csv")
    found, layout, _ = read_undescribed(path)
    assert cells(found) == {"age": ["34", "41"], "town": ["Bern", "Chur"], "ill": ["no", None]}
    assert layout.skip_lines == above
    assert cells(read_records(path, layout)) == cells(found)
    sheet = [[*each.partition(",")[::2], ""] if ":" in each else [each, "", ""] for each in TITLES[:above]]
    sheet += [[*table], *table.to_numpy(object).tolist()]
    pd.DataFrame(sheet).to_excel(tmp_path / "a.xlsx", header=False, index=False)
    assert cells(read_undescribed(tmp_path / "a.xlsx")[0]) == cells(found)


def test_the_largest_sheet_is_the_table(tmp_path):
    table = pd.DataFrame({"age": map(str, range(20, 60)), "ill": ["no", "yes"] * 20})
    legend = pd.DataFrame({"column": ["age", "ill"], "meaning": ["years", "at the visit"]})
    for rows, name in ((table, "a.xlsx"), (pd.concat([legend] * 5), "b.xlsx")):
        with pd.ExcelWriter(tmp_path / name) as book:
            legend.to_excel(book, sheet_name="Read me", index=False)
            rows.to_excel(book, sheet_name="Data", index=False)
            pd.DataFrame().to_excel(book, sheet_name="Empty")
    assert cells(read_records(tmp_path / "a.xlsx")) == cells(table)
    with pytest.raises(SchemaError, match="may be the table, such as 'Data' and 'Read me'"):
        read_records(tmp_path / "b.xlsx")


@pytest.mark.parametrize(
    "text",
    [b"name\nSmith, John, Berlin, 12\n", b"name\nDoe, Jane\n", b"as of:,2020\n1,2,3\n", b"age\na,b,c\nd,e,f,g\n"],
)
def test_what_is_no_title_is_not_skipped(write, text):
    with pytest.raises(SchemaError):
        read_undescribed(write(text, "a.csv"))


def test_a_library_that_is_not_there(tmp_path, monkeypatch):
    pd.DataFrame({"a": [1]}).to_excel(tmp_path / "x.xlsx", index=False)
    monkeypatch.setattr(reading.importlib, "import_module", lambda name: (_ for _ in ()).throw(ImportError(name)))
    with pytest.raises(SchemaError, match=r"needs python-calamine, .* Install privnb\[files\], or save"):
        read_records(tmp_path / "x.xlsx")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"PK\x03\x04", r"a\.csv is a spreadsheet, but its name suggests text\. Rename the file"),
        ("a.parquet", b"a,b\n1,2\n", "is text, but its name suggests a Parquet file"),
        ("a.parquet", b"PAR1 and no more", "cannot be read as a Parquet file: "),
        ("a.xlsx", b"PK\x03\x04 and no more", "cannot be read as a spreadsheet: "),
        ("a.sav", b"$FL2 and no more", "cannot be read as an SPSS file: "),
        ("a.csv", b"a,b\n1,2\n3\n", "line 3 has fewer than 2 cells, separated by ','"),
        ("a.csv", b"Our patients\n\nage,sex\n30,f\n41,m\n", "has one. If it is a title, delete the lines above"),
        ("a.csv", b'a,b\n"1\n2",2\n3\n', "line 4 has fewer than 2 cells"),
        ("a.csv", b'a,b\n1,2\n"3,4\n5,6\n', "line 3 has an unmatched quotation mark"),
        ("a.csv", b'a,b\n1,2\n3,"x"y\n', "line 3 has an unmatched quotation mark"),
        ("a.csv", b"a,b\n1,x\0y\n", "line 2 holds a zero byte"),
        (
            "a.csv",
            "é\nx\n".encode() + b"\xe9\n",
            "seems to mix two encodings: it is UTF-8 except for byte 0xe9 in line 3",
        ),
        ("a.csv", b"a,b\n1,2\n3," + b"x" * 3_000_000 + b"\n", "line 3 is longer than 2,000,000 bytes"),
        ("a.csv", (",".join(f"c{n}" for n in range(1001)) + "\n" + "1," * 1000 + "1\n").encode(), "has 1,001 columns"),
        ("a.csv", b"", "is empty"),
        ("a.csv", b"a,b\n", "has column names but no record"),
        ("a.csv", b"39,Private\n50,State\n", r"seems to start with a record \('39' in line 1\)"),
    ],
)
@pytest.mark.parametrize("reads", [read_undescribed, counted])
def test_what_cannot_be_read_says_where(write, name, content, message, reads):
    with pytest.raises(SchemaError, match=message):
        reads(write(content, name))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_zero_byte_is_found_in_a_file_of_many_pieces(write, monkeypatch, encoding):
    monkeypatch.setattr(text_files, "PIECE", 6)
    with pytest.raises(SchemaError, match="line 5 holds a zero byte"):
        read_undescribed(write("town,age\nLyon,1\nBrno,2\nBrno,3\nTr\0,4\nBrno,5\n".encode(encoding), "a.csv"))


def test_years_may_be_the_names_of_columns(write):
    table = read_undescribed(write(b"country,1999,2000,2001\nPeru,4,5,6\nChad,7,8,9\n", "a.csv"))[0]
    assert [*table] == ["country", "1999", "2000", "2001"]
    assert [*read_undescribed(write(b"sex,1850,1860,1880\nf,4,5,6\nm,7,8,9\n", "a.csv"))[0]][1:] == [
        "1850",
        "1860",
        "1880",
    ]
    for record in (b"ill,3,1,2\nwell,1,2,2\n", b"ill,3,4\nwell,1,2\n", b"ill,3,4,9\nwell,1,2,4\n"):
        for reads in (read_undescribed, counted):
            with pytest.raises(SchemaError, match="seems to start with a record"):
                reads(write(record, "a.csv"))


def test_columns_of_one_name_are_told_apart(tmp_path, write):
    """A file with another program's header is read, and loads under the names that its draft has."""
    table = read_undescribed(write("age,sex,age\n1,f,2\n3,m,4\n", "a.csv"))[0]
    assert cells(table) == {"age": ["1", "3"], "sex": ["f", "m"], "age (2)": ["2", "4"]}
    table.to_excel(tmp_path / "b.xlsx", index=False, header=["age", "sex", "age"])
    assert cells(read_records(tmp_path / "b.xlsx")) == cells(table)
    path = draft.draft(write("age,sex,age\n" + "30,f,41\n45,m,52\n" * 9, "a.csv"), folder=tmp_path / "data")
    path.write_text(path.read_text().replace("draft = true\n", "", 1))
    assert load(path).schema.names() == ["age", "sex", "age (2)"]


def test_two_columns_of_one_name_are_refused_where_nothing_tells_them_apart():
    reading.check_names(Path("a.parquet"), ["age", "sex"])
    with pytest.raises(SchemaError, match=r"a\.parquet has more than one column \['age'\]"):
        reading.check_names(Path("a.parquet"), ["age", "sex", "age"])


@pytest.mark.slow
def test_a_column_without_a_name_has_that_of_its_place(tmp_path, write):
    """As the row numbers have that R and pandas write: nobody must open an editor for them."""
    table = read_undescribed(write(",age, \n1,30,f\n2,41,m\n", "a.csv"))[0]
    assert cells(table) == {"column 1": ["1", "2"], "age": ["30", "41"], "column 3": ["f", "m"]}
    table.to_excel(tmp_path / "b.xlsx", index=False, header=["", "age", " "])
    assert cells(read_records(tmp_path / "b.xlsx")) == cells(table)
    assert [*read_undescribed(write(",column 1\n1,2\n2,3\n", "c.csv"))[0]] == ["column 1 (2)", "column 1"]
    rows = "".join(f"{i},{20 + i % 30},{'fm'[i % 2]}\n" for i in range(90))
    path = draft.draft(write(f",age,sex\n{rows}", "d.csv"), folder=tmp_path / "data")
    path.write_text(path.read_text().replace("draft = true\n", "", 1))
    assert load(path).schema.names() == ["column 1", "age", "sex"]


@pytest.mark.slow
def test_a_folder_of_parts_is_one_table(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "b.csv").write_text("n,town\n" + "3,Ulm\n5,Bonn\n9,Ulm\n" * 3)
    (folder / "a.csv").write_text("town,n\n" + "Bonn,1\nKiel,2\nUlm,7\n" * 3)
    (folder / "notes.pdf").write_text("no table")
    table, _, files = read_undescribed(folder)
    assert [each.name for each in files] == ["a.csv", "b.csv"]
    assert cells(table)["n"][:3] == ["1", "2", "7"]
    assert cells(table)["town"][-3:] == ["Ulm", "Bonn", "Ulm"]
    path = draft.draft(folder, folder=tmp_path / "data")
    path.write_text(path.read_text().replace("draft = true\n", ""))
    assert load(path).table["n"].tolist()[-3:] == [3, 5, 9]
    (folder / "a.csv").write_text("town,m\nBonn,1\n")
    for reads in (read_undescribed, counted):
        with pytest.raises(SchemaError, match=r"b\.csv has the columns n, town, and a\.csv has town, m\. The parts"):
            reads(folder)
    (folder / "a.csv").write_text("town,n,m\nBonn,1,1\n")
    for reads in (read_undescribed, counted):
        with pytest.raises(SchemaError, match=r"b\.csv has the columns n, town, and a\.csv has town, n, m\. The parts"):
            reads(folder)
    (folder / "a.csv").write_text("town;n\nBonn;1\n")
    for reads in (read_undescribed, counted):
        with pytest.raises(SchemaError, match=r"b\.csv .*layout: .*separator=','"):
            reads(folder)
    (tmp_path / "empty").mkdir()
    for reads in (read_undescribed, counted):
        with pytest.raises(SchemaError, match=r"is a folder without tables\. Files of tables end in \.csv"):
            reads(tmp_path / "empty")


@pytest.mark.parametrize(("encoding", "separator"), [("utf-8", ";"), ("cp1252", ";"), ("utf-16", "\t")])
def test_a_draft_says_how_its_file_is_to_be_read(tmp_path, write, encoding, separator):
    """Another machine reads the same records: nothing is guessed twice."""
    text = "pay;town\n" + "1,5;Köln\n20;Ulm\n" * 20
    path = draft.draft(write(text.replace(";", separator).encode(encoding)), folder=tmp_path / "data")
    path.write_text(path.read_text(encoding="utf-8").replace("draft = true\n", ""), encoding="utf-8")
    dataset = load(path)
    assert dataset.table.head(2).to_dict("list") == {"pay": [1.5, 20], "town": ["Köln", "Ulm"]}
    assert dataset.schema["pay"].domain.step == 0.1


def test_a_workbook_is_drafted_and_loaded(tmp_path):
    pd.DataFrame({"age": [30, 41, 52] * 9, "town": ["a", "b", "c"] * 9}).to_excel(tmp_path / "x.xlsx", index=False)
    path = draft.draft(tmp_path / "x.xlsx", folder=tmp_path / "data")
    path.write_text(path.read_text().replace("draft = true\n", ""))
    assert "separator" not in path.read_text()
    assert load(path).table["age"].tolist()[:2] == [30, 41]
    kept = sorted(each.name for each in path.parent.iterdir() if each.is_file())
    assert kept == [".gitignore", "x.parquet", "x.toml"]
    assert description_editor.find_or_draft(tmp_path / "x.xlsx", folder=tmp_path / "data") == path, (
        "it is of that workbook"
    )
    sanitize(path, Mondrian(KAnonymity(5)), tmp_path / "out.csv")
    assert len(pd.read_csv(tmp_path / "out.csv")) == 27, "a release from file to file"
    (tmp_path / "x.xlsx").unlink()
    pd.DataFrame({"age": [30, 41, 53] * 9, "town": ["a", "b", "c"] * 9}).to_excel(tmp_path / "x.xlsx", index=False)
    with pytest.raises(ValueError, match="describes a different table"):
        description_editor.find_or_draft(tmp_path / "x.xlsx", folder=tmp_path / "data")


def test_the_copy_for_other_encodings_is_gone_afterwards(write, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "here"))
    Path(tmp_path / "here").mkdir()
    read_records(write(TEXT.encode("cp1252")), Layout(encoding="cp1252"))
    assert list((tmp_path / "here").iterdir()) == []
