"""No record of a text file is lost or invented, whatever its layout; a reader that miscounts refuses."""

import csv
import io
import json
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given, settings, strategies as st

from privnb.datasets.dataset import load
from privnb.datasets.draft import draft
from privnb.datasets.undescribed_files import UndescribedTable
from privnb.microdata.schema import SchemaError
from privnb.publishing.from_files import sanitize
from privnb.tables import engine, long_tables, reading, text_files
from privnb.tables.long_tables import Memory
from privnb.tables.reading import read_records, read_undescribed
from privnb.tables.text_files import Layout

HEADER = ["age in\nyears", "sex", "home\n\ntown"]
RECORDS = [[str(20 + n % 40), "fm"[n % 2], ["Bern", "Thun", "Chur"][n % 3]] for n in range(60)]
TITLES = [["Patients,\nall of them"], [], ["as of:", "2020-12-31"]]


def written(rows, separator=",", ends="\n", quoting=csv.QUOTE_ALL):
    """The text of rows as the standard library writes them."""
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=separator, lineterminator=ends, quoting=quoting).writerows(rows)
    return file.getvalue()


def rows_of(table):
    return table.astype(object).where(table.notna(), None).to_numpy().tolist()


def one_break(cell):
    """A cell whose line breaks are those of a file with one kind."""
    return re.sub(r"\r+\n", "\n", cell)


@pytest.fixture
def wrapped(tmp_path):
    """A file with titles and a header that both hold line breaks, in Windows's line ends and with a BOM."""
    path = tmp_path / "wrapped.csv"
    path.write_bytes(written([*TITLES, HEADER, *RECORDS], ends="\r\n").encode("utf-8-sig"))
    return path


@pytest.mark.parametrize("titles", [[], TITLES], ids=["header", "titles"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_line_breaks_above_the_records_lose_none(tmp_path, titles, encoding, ends, separator):
    path = tmp_path / "any.csv"
    records = [*RECORDS, ["30", "f", "Zürich"]]
    path.write_bytes(written([*titles, HEADER, *records], separator, ends).encode(encoding))
    table, _, _ = read_undescribed(path)
    assert [*table] == HEADER
    assert rows_of(table) == records
    found, times = UndescribedTable.of(path).counted(HEADER, Memory.of("1GB"))
    assert times.sum() == len(records)
    assert sorted(map(tuple, rows_of(found))) == sorted(set(map(tuple, records)))


cells = st.text(st.sampled_from("ab \"',;|\t\n\r€0.#"), max_size=5)
titles = st.lists(st.lists(cells, min_size=1, max_size=3), max_size=3)


@st.composite
def files(draw):
    """The rows of a file: what stands above the header, the header, records."""
    width = draw(st.integers(1, 4))
    names = draw(st.lists(cells, min_size=width, max_size=width))
    names = [f"n{number}{name}" for number, name in enumerate(names)]
    records = draw(st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=6))
    return draw(titles), names, records


@settings(max_examples=100, deadline=None)
@given(
    files(),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    st.booleans(),
)
def test_every_record_that_a_csv_module_writes_is_read(rows, separator, ends, encoding, quoting, header):
    above, names, records = rows
    top = written(above, separator, ends, quoting)
    lines = len(list(io.StringIO(top, newline="")))
    text = top + written([names] * header + records, separator, ends, quoting)
    again = [cells for cells in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if cells]
    assume(again == [*filter(None, [*above, *[names] * header, *records])])  # a cell with another line end was quoted
    layout = Layout(separator, encoding.removesuffix("-sig"), header, lines)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "any.csv"
        path.write_bytes(text.encode(encoding))
        found = read_records(path, layout, names)
    given = [[one_break(cell.lstrip(" ")) if cell.strip() else None for cell in row] for row in records]
    assert [*found] == names
    assert [[cell and one_break(cell) for cell in row] for row in rows_of(found)] == [row for row in given if any(row)]


def test_commands_keep_every_record_below_a_wrapped_header(tmp_path, wrapped):
    made = sanitize(wrapped, "k=2", tmp_path / "release.csv")
    with (tmp_path / "release.csv").open(newline="") as file:
        assert len(list(csv.reader(file))) == 1 + len(RECORDS)
    facts = json.loads((tmp_path / "release.csv.provenance.json").read_text())
    assert facts["records_read"] == made.records == len(RECORDS)
    assert f"{len(RECORDS)} records, 3 columns" in draft(wrapped, folder=tmp_path / "data").read_text()


def test_provenance_states_the_records_that_were_read_where_some_are_dropped(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("age,sex\n" + "30,f\n40,m\n" * 20 + ",f\n" * 3 + ",\n\n")
    description = draft(path, folder=tmp_path / "data")
    text = description.read_text().replace("draft = true\n", "")
    description.write_text(text.replace('records_with_missing = "keep"', 'records_with_missing = "drop"'))
    made = sanitize(description, "k=2", tmp_path / "release.csv")
    assert (made.provenance["records_read"], made.records) == (43, 40)


def test_a_reader_that_miscounts_refuses(tmp_path, wrapped, monkeypatch):
    wrapped.write_text(written([HEADER, *RECORDS]))
    monkeypatch.setattr(text_files, "_is_miscounted", lambda *_: False)  # the engine skips rows instead of lines
    with pytest.raises(SchemaError, match=r"one reader finds 5[0-9] records, and a second one 60"):
        read_undescribed(wrapped)
    with pytest.raises(SchemaError, match=r"one reader finds 5[0-9] records, and a second one 60"):
        UndescribedTable.of(wrapped).counted(HEADER, Memory.of("1GB"))
    with pytest.raises(SchemaError, match=r"one reader finds 5[0-9] records, and a second one 60"):
        sanitize(wrapped, "k=2", tmp_path / "release.csv")
    assert [each.name for each in tmp_path.iterdir()] == ["wrapped.csv"]


@pytest.mark.parametrize("found", [59, 60, 61])
def test_a_reader_that_finds_fewer_or_more_records_is_refused(found, wrapped):
    layout = text_files.guess_layout(wrapped)
    if found == len(RECORDS):
        text_files.check_record_count([wrapped], [layout], found)
    else:
        with pytest.raises(SchemaError, match=f"one reader finds {found} records, and a second one 60"):
            text_files.check_record_count([wrapped], [layout], found)


@pytest.mark.parametrize("text", ["a,b\n1,x\ry\n2,3\n", "a,b\r1,x\ny\r2,3\r", 'a,b\n1,\t"x\n"\n2,3\n'])
def test_line_breaks_outside_quotation_marks_are_refused(tmp_path, text):
    path = tmp_path / "mixed.csv"
    path.write_bytes(text.encode())
    with pytest.raises(SchemaError, match=r"mixed\.csv"):
        read_records(path, Layout())
    with pytest.raises(SchemaError, match=r"mixed\.csv"):
        UndescribedTable.of(path).counted(["a", "b"], Memory.of("1GB"))


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("header", [["a", "b"], ["a\nx", "b"]], ids=["one line", "two lines"])
def test_a_fault_is_said_to_be_in_its_physical_line(tmp_path, header, ends):
    path = tmp_path / "fault.csv"
    path.write_bytes(written([header, ["1", "2"], ["3"]], ends=ends).encode())
    number = 2 + len(list(io.StringIO(written([header], ends=ends), newline="")))
    with pytest.raises(SchemaError, match=f"line {number} has fewer"):
        read_records(path, Layout())


def test_a_long_cell_is_counted_too(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text(f"a,b\n1,{'x' * 500_000}\n2,y\n")
    before = csv.field_size_limit()
    assert len(read_records(path, Layout())) == 2
    assert csv.field_size_limit() == before


def test_blank_is_the_same_to_both_readers(tmp_path):
    path = tmp_path / "blank.csv"
    path.write_text("a,b\n" + "".join(f'"{each}",\n' for each in engine.BLANK) + "1,2\n", encoding="utf-8")
    assert rows_of(reading.read_records(path, Layout())) == [["1", "2"]]


@pytest.mark.parametrize("name", ["people.csv", "copy.csv"], ids=["path", "content"])
def test_a_file_listed_twice_is_refused(tmp_path, wrapped, name):
    description = draft(wrapped, "people", tmp_path)
    (description.parent / "copy.csv").write_bytes(wrapped.read_bytes())
    text = description.read_text().replace("draft = true\n", "")
    (description.parent / "wrapped.csv").rename(description.parent / "people.csv")
    text = text.replace('path = "wrapped.csv"', 'path = "people.csv"')
    description.write_text(text.replace("[[files]]", f'[[files]]\npath = "{name}"\n\n[[files]]', 1))
    message = "people.csv is listed twice" if name == "people.csv" else "people.csv has the same content as copy.csv"
    with pytest.raises(SchemaError, match=message):
        load(description)
    with pytest.raises(SchemaError, match=message):
        sanitize(description, "k=2", tmp_path / "release.csv")
    assert not (tmp_path / "release.csv").exists()


INTERNAL = ["times of a combination", "place of a combination", "missing: b", "number of a combination", "column 1"]


@pytest.mark.parametrize("name", [*INTERNAL, "row of the release", "power of two"])
def test_no_column_collides_with_one_of_our_own(tmp_path, name):
    path = tmp_path / "own.csv"
    path.write_text(written([[name, "b", "town"], *RECORDS]))
    found, times = UndescribedTable.of(path).counted([name, "b"], Memory.of("1GB"))
    assert [*found] == [name, "b"]
    assert times.sum() == len(RECORDS)
    assert sanitize(path, "k=2", tmp_path / "release.csv").records == len(RECORDS)


def test_an_internal_name_is_refused_as_a_name_of_a_column(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text(written([[long_tables.TIMES, "b", "town"], *RECORDS]))
    for read_all in (
        read_undescribed,
        UndescribedTable.of,
        lambda path: sanitize(path, "k=2", tmp_path / "release.csv"),
    ):
        with pytest.raises(SchemaError, match="must not begin with the invisible character U\\+E000"):
            read_all(path)


def test_renaming_onto_another_column_is_refused(tmp_path):
    path = tmp_path / "renamed.csv"
    path.write_text(written([["a", "b", "town"], *RECORDS]))
    description = draft(path, folder=tmp_path)
    text = description.read_text().replace("draft = true\n", "")
    description.write_text(text.replace("[columns.a]", '[renamed]\na = "b"\n\n[columns.a]'))
    for use in (load, lambda path: sanitize(path, "k=2", tmp_path / "release.csv")):
        with pytest.raises(SchemaError, match=r"\[renamed\] must give each column of renamed.csv a different name"):
            use(description)


@pytest.mark.parametrize(
    ("renamed", "said"),
    [
        ('x = "c"\n', r"\[renamed\] has \['x'\], which renamed.csv lacks"),
        ('a = "b"\nb = "a"\n', r"column 'a' has 90 values outside its public domain: 'x' \(60\), 'y' \(30\)"),
    ],
)
def test_load_and_sanitize_refuse_a_wrong_renaming_in_the_same_words(tmp_path, renamed, said):
    path = tmp_path / "renamed.csv"
    path.write_text(written([["a", "b", "town"], *([str(n % 2), "xxy"[n % 3], "Ulm"] for n in range(90))]))
    description = draft(path, folder=tmp_path)
    text = description.read_text().replace("draft = true\n", "")
    description.write_text(text.replace("[columns.a]", f"[renamed]\n{renamed}\n[columns.a]"))
    for use in (load, lambda path: sanitize(path, "k=2", tmp_path / "release.csv")):
        with pytest.raises(SchemaError, match=said):
            use(description)


def test_missing_keys_of_people_are_counted_by_records(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("key,sex\n" + "".join(f"{n % 20},f\n" for n in range(60)) + ",m\n" * 7)
    description = draft(path, folder=tmp_path)
    text = description.read_text().replace("draft = true\n", "")
    before, own, after = text.partition("[columns.key]")
    description.write_text(before + own + re.sub(r'role = "[^"]*"', 'role = "person"', after, count=1))
    with pytest.raises(SchemaError, match=r"the key of people, has no value in 7 of 67 records"):
        sanitize(description, "k=2", tmp_path / "release.csv")


def test_a_folder_with_a_file_and_its_copy_is_refused(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(written([HEADER, *RECORDS]))
    for read_all in (read_undescribed, UndescribedTable.of, draft):
        with pytest.raises(SchemaError, match=r"b\.csv has the same content as a\.csv"):
            read_all(tmp_path)
