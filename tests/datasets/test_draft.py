import errno
import hashlib
import itertools
import os
import shutil
import stat
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from support.clinic import CLINIC

from privnb import cli
from privnb.datasets import description
from privnb.datasets.column_types import CODES
from privnb.datasets.dataset import load
from privnb.datasets.draft import draft
from privnb.measures.utility.information_loss import certainty_penalty
from privnb.microdata.hierarchy import LeveledRanges, Ordered, Ranges, Taxonomy
from privnb.microdata.schema import Categories, Numbers, Role, SchemaError
from privnb.privacy_models import KAnonymity
from privnb.runtime.names import find_forbidden
from privnb.sanitizers import Mondrian

FILE = "Patients 2020.csv"
ROWS = [
    (
        f"p{i}",
        20 + 3 * (i % 13),
        50 + i % 17 / 2,
        "FM"[i % 2],
        f"0{i % 4}1",
        "north" if i % 9 else "",
        3 * (i % 25) if i > 2 else "",
    )
    for i in range(40)
]
TEXT = "name,age,weight,sex,area,region,visits\n" + "".join(",".join(map(str, row)) + "\n" for row in ROWS)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def drafted(content=TEXT, **given):
    Path(FILE).write_bytes(content if isinstance(content, bytes) else content.encode())
    return draft(FILE, **given)


def confirmed(path):
    """The dataset, once the owner has deleted the line that says draft."""
    text = path.read_text(encoding="utf-8")
    assert text.count("\ndraft = true\n") == 1
    path.write_text(text.replace("\ndraft = true\n", "\n"), encoding="utf-8")
    return load(path)


@pytest.mark.parametrize(("mode", "folder"), [(0o600, 0o700), (0o400, 0o700), (0o640, 0o750), (0o644, 0o755)])
def test_who_cannot_read_the_file_cannot_read_its_copy(here, mode, folder):
    Path(FILE).write_text(TEXT)
    Path(FILE).chmod(mode)
    before = os.umask(0o022)
    try:
        place = draft(FILE).parent
    finally:
        os.umask(before)
    assert stat.S_IMODE((place / FILE).stat().st_mode) == mode
    assert stat.S_IMODE(place.stat().st_mode) == folder
    made = [path for path in place.rglob("*") if path.name != FILE]
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {folder, folder & 0o666}
    assert (place / f"{place.name}.toml").stat().st_mode & 0o200, "the owner goes on in it"


def test_what_is_written(here):
    path = drafted()
    assert path == Path("data/patients-2020/patients-2020.toml")
    written = sorted(str(p.relative_to(path.parent)) for p in path.parent.rglob("*") if p.is_file())
    assert written == sorted(
        [
            ".gitignore",
            "Patients 2020.csv",
            "patients-2020.toml",
            *(f"hierarchies/default/{n}.csv" for n in ("area", "region", "sex")),
        ]
    )
    assert (path.parent / FILE).read_text() == TEXT
    entry = tomllib.loads(path.read_text())["files"][0]
    assert entry == {"path": FILE, "sha256": hashlib.sha256(TEXT.encode()).hexdigest()}
    assert sorted(p.name for p in Path("data").iterdir()) == ["patients-2020"]  # nothing unfinished is left


def test_an_untouched_draft_does_not_load(here):
    """Its domains were read from the records and nothing is sensitive: the owner has to decide first."""
    with pytest.raises(
        SchemaError,
        match=r"patients-2020\.toml is a draft: .*No column is sensitive yet.*delete the line 'draft = true'",
    ):
        load(drafted())


def test_a_draft_states_only_what_it_lacks_and_the_command_that_confirms_it(here, capsys):
    """A column that the owner named as sensitive is not missing."""
    Path(FILE).write_text(TEXT)
    assert cli.main(["describe", FILE, "--name", "mine"]) == 0
    assert "Confirm them with `privnb describe mine --confirm`" in capsys.readouterr().out
    with pytest.raises(SchemaError, match="`privnb describe mine --sensitive COLUMN --confirm`"):
        load("mine")
    assert cli.main(["describe", "mine", "--sensitive", "visits"]) == 0
    with pytest.raises(SchemaError) as refused:
        load("mine")
    said = str(refused.value)
    assert "sensitive" not in said
    assert "Is each row one person?" in said
    assert "`privnb describe mine --confirm`" in said
    assert cli.main(["describe", "mine", "--confirm"]) == 0, "the command works as it is printed"
    assert load("mine").schema.sensitive == ["visits"]


@pytest.mark.slow
def test_roles_are_guessed_with_care_and_a_reason(here):
    path = drafted()
    schema = confirmed(path).schema
    assert {a.name: a.role for a in schema.attributes} == {
        "name": Role.IDENTIFIER, "age": Role.QUASI_IDENTIFIER, "weight": Role.QUASI_IDENTIFIER,
        "sex": Role.QUASI_IDENTIFIER, "area": Role.QUASI_IDENTIFIER, "region": Role.QUASI_IDENTIFIER,
        "visits": Role.QUASI_IDENTIFIER,
    }  # fmt: skip
    assert schema.sensitive == []  # that is for the owner to say
    lines = path.read_text().splitlines()
    reason = {
        lines[i].strip("[]").removeprefix("columns."): lines[i + 1] for i, t in enumerate(lines) if "[columns." in t
    }
    assert reason["name"].endswith("# 40 values in 40 records, so it nearly identifies a person")
    assert reason["age"].endswith("# a number, 13 different; " + CODES)
    assert reason["area"].endswith("# 4 codes")  # 001, 011: numbers do not start with 0
    assert reason["region"].endswith("# one value and 5 missing, which count as the value '?'")
    assert reason["visits"].endswith("25 different and 3 missing, which count as the value '?'; " + CODES)


@pytest.mark.slow
def test_an_end_that_few_have_is_not_theirs(here):
    """A drafted domain stands in a report: that one person has 19 must not."""
    for rows, domain in [
        ("0\n1\n" * 20 + "19\n", Numbers(0, 20)),
        ("20\n30\n" * 20 + "12\n48\n", Numbers(10, 50)),
        ("1\n2\n3\n" * 10, Numbers(1, 3)),
        ("5\n" * 12 + "6\n" * 12 + "4\n" * 9, Numbers(3, 6)),
        ("0\n" + "4\n5\n" * 10, Numbers(0, 5)),
    ]:
        path = drafted("x,y\n" + "".join(f"{x},1\n" for x in rows.split()))
        assert replace(confirmed(path).schema["x"].domain, cuts=None) == domain
        shutil.rmtree(path.parent)


@pytest.mark.slow
def test_domains_are_proposals_with_their_ends_rounded_outward(here):
    path = drafted()
    schema = confirmed(path).schema
    assert schema["age"].domain == Numbers(10, 60)  # the records end at 20 and 56, and few are of that age
    assert schema["weight"].domain == Numbers(48, 60, 0.1)
    for line in path.read_text().splitlines():
        if "domain = " in line:
            assert line.endswith("# PROPOSAL, read from the records: replace it")


@pytest.mark.slow
def test_cuts_are_drafted_as_round_numbers_of_the_domain(here):
    """Counted from 0, and the same for other people with the same proposed domain."""
    text = drafted().read_text()
    assert "{ low = 10, high = 60, cuts = 5 }" in text
    assert "{ low = 48, high = 60, step = 0.1, cuts = 1 }" in text
    assert 'domain = { low = 0, high = 75, cuts = 5, missing = "?" }' in text
    assert "Public intervals begin at cuts: 10 means every 10 from 0" in text
    schema = confirmed(Path("data/patients-2020/patients-2020.toml")).schema
    assert schema["age"].domain.cuts == tuple(range(15, 60, 5)) == Numbers(10, 60).cuts


@pytest.mark.slow
def test_numbers(here):
    """Ends on a round number of about a twentieth of the width; ranges, and levels of public intervals, two in one."""
    for values, domain, levels in [
        (range(18, 80), Numbers(15, 80), ["15", "15-19", "15-19", "15-19", "15-39"]),
        (range(-7, 8), Numbers(-7, 7), ["-7", "-7--5", "-7--5", "-7--1"]),
        ([0, 1, 2], Numbers(0, 2), ["0"]),
        ([7], Numbers(7, 8), ["7"]),
        (
            range(1003, 4021, 30),
            Numbers(1000, 4200),
            ["1000", "1000-1199", "1000-1199", "1000-1599", "1000-1599", "1000-3199"],
        ),
        (
            ["1.5", "2.25"],
            Numbers(1.5, 2.25, 0.01),
            ["1.5", "1.5-1.54", "1.5-1.59", "1.5-1.59", "1.5-1.59", "1.5-1.59"],
        ),
        (["70.0", "71.0", "72.0"], Numbers(70, 72), ["70"]),
    ]:
        path = drafted("x\n" + "".join(f"{value}\n" * 10 for value in values))
        dataset = confirmed(path)
        assert dataset.schema["x"].domain == domain
        own = dataset.hierarchies["x"]
        assert own == LeveledRanges(domain)
        assert [row[0] for row in own.levels(np.array([0]))] == levels
        shutil.rmtree(path.parent)
    assert confirmed(drafted("x\n" + "0\n1\n" * 3)).schema["x"].domain == Categories(("0", "1"))


@pytest.mark.parametrize(
    ("column", "values", "role"),
    [
        ("row", range(60), Role.IDENTIFIER),  # a count of the records
        ("code", range(100_000, 160_000, 997), Role.IDENTIFIER),  # of six digits each
        ("caseId", [n * 7919 % 100_003 for n in range(60)], Role.IDENTIFIER),
        ("weight", [n * 7919 % 100_003 for n in range(60)], Role.QUASI_IDENTIFIER),
        ("salary", range(30_000, 90_000, 1010), Role.QUASI_IDENTIFIER),
        ("income", [f"{n * 1234.5678:.4f}" for n in range(60)], Role.QUASI_IDENTIFIER),
        ("remark", [f"said {n}" for n in range(60)], Role.IDENTIFIER),
    ],
)
def test_what_nearly_names_a_person(here, column, values, role):
    """Whole numbers by their looks and their name, not because few people share them: salaries are numbers."""
    schema = confirmed(
        drafted(f"{column},group\n" + "".join(f"{each},{n % 20}\n" for n, each in enumerate(values)))
    ).schema
    assert schema[column].role is role
    assert schema[column].numeric or role is Role.IDENTIFIER


def test_days_and_codes_have_trees(here):
    """A birth date is no identifier, though nearly everybody has another one, nor is a post code a number."""
    rows = "".join(
        f"{1950 + n % 50}-{n % 12 + 1:02}-{n % 28 + 1:02},{n * 1709 % 9999:05},{10_000 + n * 7},{n % 2}\n"
        for n in range(60)
    )
    path = drafted("born,area,zip,sex\n?,?,?,1\n" + rows)
    schema, trees = (dataset := confirmed(path)).schema, dataset.hierarchies
    assert schema.quasi_identifiers == ["born", "area", "zip", "sex"]
    born = trees["born"].rows
    assert born[0][:5] == ("1950-01-01", "1950-01", "1950-Q1", "1950", "1950-1959")
    assert born[-1][:5] == ("?",) * 5
    assert born[-1][-2].endswith("|?"), "one who is missing forbids no cut of all others"
    assert {"00000", "0000*", "000**", "00***", "0****"} < {*trees["area"].rows[0]}
    assert trees["zip"].rows[0][-2:] == ("1****", "*")
    for tree in trees.values():
        for lower, upper in itertools.pairwise(tree.groups[tree.name == "born" and 4 :]):
            children = np.unique([upper, lower], axis=1)[0]
            assert np.bincount(children).max() <= 4
    assert "60 days and 1 missing, which count as the value '?'" in path.read_text()


@pytest.mark.slow
def test_drafted_hierarchies_lose_little_more_than_ranges(here):
    """Mondrian at the same k, beside ranges of numbers and runs of values: at most twice as much."""
    draw = np.random.default_rng(2)
    rare = lambda n: draw.choice(n, 800, p=(share := 1 / np.arange(1, n + 1) ** 1.3) / share.sum())  # noqa: E731
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(-draw.integers(0, 30_000, 800), unit="D")
    table = pd.DataFrame(
        {
            "born": days.strftime("%d.%m.%Y"), "zip": [f"{z:05}" for z in 1000 * rare(60) + rare(300)],
            "job": [f"job {n}" for n in rare(40)], "visits": draw.geometric(0.2, 800),
            "sex": draw.choice(["F", "M"], 800),
        }
    )  # fmt: skip
    dataset = confirmed(drafted(table.to_csv(index=False)))
    lines = {
        name: Ranges(own.domain) if own.numeric else Ordered(name, own.domain.values, exact=True)
        for name, own in ((name, dataset.schema[name]) for name in dataset.schema.quasi_identifiers)
    }
    assert [*lines] == [*table]
    for k in (5, 10):
        drafted_loss, least = (
            certainty_penalty(Mondrian(KAnonymity(k)).sanitize(data, rng=0))
            for data in (dataset, replace(dataset, hierarchies=lines))
        )
        assert drafted_loss < 2 * least


@pytest.mark.slow
def test_a_long_domain_stands_in_its_hierarchys_file(here, capsys):
    """So the description stays short, and the leaves are listed once."""
    rows = [f"{n % 300:05},{'FM'[n % 2]}\n" for n in range(900)]
    path = drafted("zip,sex\n" + "".join(rows) + ",F\n")
    assert path.stat().st_size < 4000
    assert 'domain = "hierarchies/default/zip.csv" # PROPOSAL, the leaves of that file' in path.read_text()
    assert description.find_proposals(path.read_text()) == ["zip", "sex"]
    dataset = confirmed(path)
    assert dataset.schema["zip"].domain.values == (*(f"{n:05}" for n in range(300)), "?")
    assert set(dataset.hierarchies["zip"].leaves) == set(dataset.schema["zip"].domain.values)
    file = path.parent / "hierarchies" / "default" / "zip.csv"
    whole = file.read_text()
    for content, message in [
        (whole.replace("\n00007;", "\n99999;"), "column 'zip' has 3 values outside its public domain: '00007'"),
        ("", "column 'zip': a domain of categories must have"),
        (
            b"\xff;*\n",
            r"column 'zip': .*zip.csv cannot be read as a hierarchy: .* Save the file as CSV with semicolons in UTF-8",
        ),
        (None, "column 'zip': the path of a hierarchy must be a file; got .*zip.csv"),
    ]:
        if content is None:
            file.unlink()
        else:
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(SchemaError, match=message):
            load(path)
    assert cli.main(["check", str(path)]) == 4
    assert "must be a file; got" in capsys.readouterr().err
    for place in ("../zip.csv", "hierarchies/default/zip"):
        path.write_text(path.read_text().replace('"hierarchies/default/zip.csv"', f'"{place}"'))
        with pytest.raises(SchemaError, match=r"columns\.zip\.domain must be a list of different texts"):
            load(path)
        path.write_text(path.read_text().replace(f'"{place}"', '"hierarchies/default/zip.csv"'))


def test_decimals_of_many_digits_are_rounded_and_the_draft_says_so(here):
    path = drafted("height,n\n" + "".join(f"{50 + n / 7:.12f},{n % 20}\n" for n in range(60)))
    assert "60 different; loading rounds numbers to the step of the domain, 1e-05" in path.read_text()
    dataset = confirmed(path)
    assert dataset.table["height"].tolist()[:3] == [50, 50.14286, 50.28571]
    path.write_text(path.read_text().replace("step = 1e-05", "step = 0.5"))
    assert load(path).table["height"].tolist()[:3] == [50, 50, 50.5], "another step needs no other file"


@pytest.mark.parametrize("mark", ["", "?", "NA", "NULL"])
def test_missing_text_is_a_value_of_its_own(here, mark):
    dataset = confirmed(drafted("sex,town\n" + f"F,a\nM,b\n{mark},a\nF,{mark}\n" * 3))
    assert (dataset.table == (mark or "?")).sum().tolist() == [3, 3]
    assert (mark or "?") in dataset.schema["sex"].domain.values


def test_few_whole_numbers_with_gaps_are_numbers_and_two_are_categories(here):
    rows = "".join(f"{'' if n % 9 == 0 else n % 12},{'' if n % 9 == 0 else n % 2},{n}\n" for n in range(40))
    schema = confirmed(drafted("children,married,n\n" + rows)).schema
    assert (schema["children"].domain, schema["children"].domain.missing) == (Numbers(0, 15, missing="?"), "?")
    assert schema["married"].domain.values == ("0", "1", "?")


@pytest.mark.slow
def test_whoever_has_no_two_records_of_one_time_is_the_key(here):
    """A country per year, but nothing that is so by chance: where all years differ, or of what shares a year."""
    rows = [
        (town, year, ill) for town in ("Ulm", "Bonn", "Kiel", "Trier") for year, ill in enumerate("abcab" * 2, 1990)
    ]
    text = lambda head, rows: head + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)  # noqa: E731
    path = drafted(text("town,year,ill", rows))
    assert "nobody has two with the same 'year', so k counts people" in path.read_text()
    path.write_text(path.read_text().replace("\ndraft = true\n", "\n"))
    assert load(path).people.max() == 3
    for others in ([(town, 1990 + n, ill) for n, (town, _, ill) in enumerate(rows)], [*rows, rows[0]], rows[:12]):
        shutil.rmtree(path.parent)
        assert 'role = "person" #' not in drafted(text("town,year,ill", others)).read_text()


def test_a_number_that_tells_what_stays_is_a_key_and_a_rank_is_none(here):
    """Of men in eight years: number 13 has one school in all of them; the best paid of each year is another one."""
    rows = [
        f"{nr * 37},{year},{nr % 4 + 9},{(nr * 7 + year * 3) % 20}" for nr in range(20) for year in range(1980, 1988)
    ]
    path = drafted("nr,year,school,rank\n" + "".join(row + "\n" for row in rows))
    text = path.read_text()
    assert "[columns.nr]\nrole = \"person\" # 20 people in 160 records: nobody has two with the same 'year'" in text
    shutil.rmtree(path.parent)
    rows = [row.split(",", 1)[1] for row in rows]
    assert 'role = "person" #' not in drafted("year,school,rank\n" + "".join(row + "\n" for row in rows)).read_text()


@pytest.mark.slow
def test_a_number_with_gaps_is_a_number(here):
    """Whole ones and decimals are ranges, in whose levels a missing one is alone below `*`."""
    rows = "".join(
        f"{'NA' if n % 10 == 0 else 100 + n * 7 % 40},{'' if n % 6 == 0 else n * 13 % 89 / 10},{n}\n" for n in range(90)
    )
    path = drafted("score,rate,n\n" + rows)
    dataset = confirmed(path)
    score, rate = (dataset.schema[name].domain for name in ("score", "rate"))
    assert score.missing == rate.missing == "NA"
    assert dataset.table[["score", "rate"]].isna().sum().tolist() == [9, 15]
    own = dataset.hierarchies["score"]
    assert {row[-1] for row in own.levels(np.array([0, score.size - 1]))} == {"NA"}
    assert own.labels(np.array([0, score.size - 1]), np.array([0, 0])).tolist() == ["*"]
    assert "different and 15 missing, which count as the value 'NA'" in path.read_text()
    path.write_text(path.read_text().replace('"keep"', '"drop"'))
    assert len(load(path)) == 90 - 9 - 12
    path.write_text(path.read_text().replace('"drop" #', '"refuse" #'))
    with pytest.raises(SchemaError, match=r"21 of 90 records have missing values, in score, rate"):
        load(path)


def test_a_column_of_nothing(here):
    assert confirmed(drafted("sex,fax\n" + "F,\nM,\n" * 3)).schema.names() == ["sex"]


def test_a_spreadsheets_file(here):
    """A byte order mark, semicolons, line ends of Windows, a blank line at the end."""
    dataset = confirmed(drafted("\ufeffage;sex\r\n" + "30;F\r\n40;M\r\n" * 4 + "\r\n"))
    assert dataset.schema.names() == ["age", "sex"]
    assert len(dataset) == 8


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("name,age\n", "has column names but no record"),
        ("name,age\na,1\n", r"has 1 record\. A table must have at least 2"),
        ("39,Private\n50,State\n", r"seems to start with a record \('39' in line 1\)"),
        ("Asked in 2020, by post\nage,sex,town\n1,f,Bern\n", "If the lines above it are a title and not column names"),
        ("name,age\na,1\nb,2,3\n", "line 3 has more than 2 cells, separated by ','"),
        ("name,age\na,1\nb\n", "line 3 has fewer than 2 cells"),
        (
            "naïve,age\na,1\n".encode() + b"b,\xe9\n",
            "seems to mix two encodings: it is UTF-8 except for byte 0xe9 in line 3",
        ),
        ("name,age\na,1\nb,2\n".encode("utf-16-le"), "is not a text file: line 1 holds a zero byte"),
        ("town,age\n*,1\n*,1\nb,1\nb,1\n", r"'town' has cells with '\*'"),
    ],
)
def test_tables_that_cannot_be_drafted(here, content, message):
    with pytest.raises(SchemaError, match=message):
        drafted(content)
    assert sorted(p.name for p in here.iterdir()) == [FILE]  # nothing is written


def test_a_name_that_can_be_no_files_gets_another_one(here):
    dataset = confirmed(drafted("od280/od315,.hidden,od280 od315\n" + "x,1,a\ny,2,b\n" * 3))
    assert dataset.schema.names() == ["od280 od315 2", "hidden", "od280 od315"]
    assert dataset.table["hidden"].tolist() == ["1", "2"] * 3


def test_a_file_that_is_not_there(here):
    with pytest.raises(FileNotFoundError, match=r"there is no file 'none\.csv'"):
        draft("none.csv")


@pytest.mark.parametrize("name", ["../up", "a/b", ".hidden", "", "a b"])
def test_names_that_are_no_folders(here, name):
    Path("!.csv").write_text(TEXT)
    with pytest.raises(ValueError, match="the name of a dataset must consist of letters"):
        draft("!.csv", name)
    assert not Path("data").exists()


@pytest.mark.slow
def test_nothing_is_overwritten(here):
    path = drafted()
    before = {p: p.read_bytes() for p in path.parent.rglob("*") if p.is_file()}
    with pytest.raises(FileExistsError, match="data/patients-2020 exists already and is left as it is"):
        drafted(TEXT + "p99,30,50,F,001,north,1\n")
    assert before == {p: p.read_bytes() for p in path.parent.rglob("*") if p.is_file()}
    assert drafted(name="second") == Path("data/second/second.toml")


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", [PermissionError(errno.EACCES, "Permission denied"), OSError(errno.ENOSPC, "No space left")]
)
def test_a_folder_that_cannot_be_written(here, monkeypatch, fault):
    def refuse(*args, **kwargs):
        raise fault

    with monkeypatch.context() as patched:
        patched.setattr(Taxonomy, "write", refuse)
        with pytest.raises(OSError, match=rf"data/patients-2020 cannot be written: {fault.strerror}"):
            drafted()
    assert list(Path("data").iterdir()) == []
    drafted()


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]), min_size=1, max_size=6)
cells = st.one_of(
    words, st.integers(-99, 99999).map(str), st.sampled_from(["", "?", "NA", "0.1", "1e5", "007", '"', "a;b", "x,y"])
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(words.filter(lambda w: w.strip(" /\\.")), min_size=1, max_size=4, unique=True), st.data())
def test_every_draft_loads_once_it_is_confirmed(tmp_path_factory, names, data):
    """Whatever the cells are, what the draft proposes fits the records, and no record is lost."""
    folder = tmp_path_factory.mktemp("any")
    names = [f"n{name}".replace("/", "").replace("\\", "") for name in names]
    pool = data.draw(st.lists(cells, min_size=1, max_size=5))
    column = st.lists(st.sampled_from(pool), min_size=6, max_size=6)
    table = pd.DataFrame({name: data.draw(column) for name in names})
    table["all"] = "x"  # no line is empty
    table.to_csv(folder / "any.csv", index=False)
    try:
        path = draft(folder / "any.csv", folder=folder / "data")
    except SchemaError as error:
        assert "*" in pool or "Rename" in str(error)  # noqa: PT017
        return
    dataset = confirmed(path)
    assert len(dataset) == 6
    others = set(dataset.schema.names()) - set(table)
    assert len(others) <= sum(bool(find_forbidden(name)) for name in table), (
        "only those that may not be used are renamed"
    )


@pytest.mark.slow
def test_the_command(here, capsys):
    Path(FILE).write_text(TEXT)
    assert cli.main(["describe", FILE, "--name", "mine"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("data/mine/mine.toml\n")
    assert "\narea: determines 'sex': 100% of records, 50% by guessing.\n" in said
    assert "\nThis is a draft. " in said
    assert cli.main(["describe", FILE, "--name", "mine"]) == 0, "it is shown"
    assert capsys.readouterr().out.splitlines()[-1] == said.splitlines()[-1]
    Path(FILE).write_text(TEXT + TEXT.splitlines()[-1] + "\n")
    assert cli.main(["describe", FILE, "--name", "mine"]) == 2
    assert "describes a different table" in capsys.readouterr().err
    assert cli.main(["describe", "none.csv"]) == 4
    assert "there is no file" in capsys.readouterr().err


@pytest.mark.slow
def test_the_draft_of_the_clinic(here):
    """The made-up table's own description, as a draft would guess it."""
    schema = confirmed(draft(CLINIC.with_suffix(".csv"))).schema
    assert schema.names(Role.IDENTIFIER) == ["patient"]
    assert schema["weight"].domain.step == 0.1
    assert schema["postcode"].domain.values[0] == "01011"
    assert "?" in schema["region"].domain.values


@pytest.mark.slow
def test_a_table_below_a_title_is_drafted_loaded_and_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{n % 9};{'fm'[n % 2]};{'ny'[n % 3 > 1]}" for n in range(90)]
    Path("town.csv").write_text("\n".join(["Our town, 2020", "", "age;sex;ill", *rows]))
    assert cli.main(["describe", "town.csv", "--sensitive", "ill", "--confirm"]) == 0
    assert len(load("town")) == 90
    assert cli.main(["check", "town.csv", "--description", "town"]) == 0
    assert cli.main(["sanitize", "town", "--model", "k=5", "--out", "out.csv"]) == 0
    assert len(Path("out.csv").read_text().splitlines()) == 91


@pytest.mark.slow
@pytest.mark.parametrize(("richest", "cut"), [(1_250_000, True), (90_000, False)])
def test_one_large_number_does_not_put_everybody_into_one_interval(tmp_path, monkeypatch, richest, cut):
    monkeypatch.chdir(tmp_path)
    pays = [*(20_000 + 211 * n for n in range(300)), richest]
    Path("pay.csv").write_text("\n".join(["pay,sex", *(f"{pay},{'fm'[pay % 2]}" for pay in pays)]))
    assert cli.main(["describe", "pay.csv", "--sensitive", "pay", "--confirm"]) == 0
    assert ("its cuts divide people about evenly" in Path("data/pay/pay.toml").read_text()) is cut
    bands = load("pay").table["pay"].value_counts()
    assert bands.max() < len(pays) / 4
    high = load("pay").schema["pay"].domain.numbers.high
    highest = bands[[label for label in bands.index if label.endswith(f"-{high}")]]
    assert highest.sum() > 1 or not cut, "nobody is alone at the end"


def test_bands_of_a_skewed_sensitive_number_let_two_values_share_each_class(here, capsys):
    """The usual cuts put 65% of the people into one band, so that no class had an l of 2 by frequency."""
    random = np.random.default_rng(5)
    incomes = np.exp(random.normal(9.3, 1.1, 400)).round().astype(int)
    rows = (f"{20 + n % 41},{'fm'[n % 2]},{income}\n" for n, income in enumerate(incomes))
    Path("skew.csv").write_text("age,sex,income\n" + "".join(rows))
    assert cli.main(["describe", "skew.csv", "--sensitive", "income", "--confirm"]) == 0
    dataset = load("skew")
    assert Numbers(0, dataset.schema["income"].domain.numbers.high).cuts[0] > np.quantile(incomes, 0.6)
    assert dataset.table["income"].value_counts(normalize=True).max() < 0.2
    assert dataset.table["income"].value_counts().min() >= 10
    options = ["--model", "k=5, frequency-l=2", "--algorithm", "mondrian", "--out", "out.csv"]
    assert cli.main(["sanitize", "skew", *options]) == 0
    out = pd.read_csv("out.csv")
    by_class = out.groupby(["age", "sex"])["income"]
    assert (by_class.agg(lambda own: own.value_counts(normalize=True).max()) <= 0.5).all()
    assert "its cuts divide people about evenly" in Path("data/skew/skew.toml").read_text()


def test_few_different_values_stay_bands_of_their_own(here):
    Path("few.csv").write_text(
        "visits,sex\n" + "".join(f"{n // 2 % 6 * (n % 2)},{'fm'[n % 4 // 2]}\n" for n in range(300))
    )
    assert cli.main(["describe", "few.csv", "--sensitive", "visits", "--confirm"]) == 0
    assert load("few").schema["visits"].domain.values == tuple("012345")
