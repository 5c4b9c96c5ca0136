"""Numbers in the first line may be names of columns, and numbers in a column may say whose a record is."""

import random

import pytest

from privnb.datasets.description_editor import DescriptionEditor
from privnb.datasets.draft import draft
from privnb.datasets.undescribed_files import UndescribedTable
from privnb.microdata.schema import SchemaError
from privnb.tables.reading import read_undescribed

NUMBERED = "Name,Gender,Age,2,56\nAnn,F,30,5,0\nBo,M,41,4,1\nCy,F,22,0,3\nDi,F,35,2,2\n"


def test_columns_may_be_named_by_numbers(tmp_path):
    path = tmp_path / "numbered.csv"
    path.write_text(NUMBERED)
    table, _, _ = read_undescribed(path)
    assert [*table] == UndescribedTable.of(path).names == ["Name", "Gender", "Age", "2", "56"]
    assert len(table) == 4


@pytest.mark.parametrize(
    "text",
    [
        "39,Private\n50,State\n",
        "NA,30,x\n5,31,y\n6,32,z\n",
        "unknown,30,x\n5,31,y\n6,32,x\n",
        "Ann,F,30\nBo,M,41\nCy,F,22\n",
    ],
)
def test_a_record_in_the_first_line_is_refused(tmp_path, text):
    path = tmp_path / "record.csv"
    path.write_text(text)
    for read_all in (read_undescribed, UndescribedTable.of):
        with pytest.raises(SchemaError, match="seems to start with a record"):
            read_all(path)


@pytest.mark.parametrize("read_all", [read_undescribed, UndescribedTable.of], ids=["table", "engine"])
def test_a_record_of_texts_in_the_first_line_is_refused(tmp_path, read_all):
    path = tmp_path / "record.csv"
    rows = [f"{'asthma,f' if i % 2 else 'flu,m'},Kim {i}" for i in range(40)]
    path.write_text("\n".join(rows) + "\n")
    with pytest.raises(SchemaError, match="2 of the 3 texts in line 1 occur again as values in the same column"):
        read_all(path)


def test_boxes_that_are_ticked_are_named_as_they_are_ticked(tmp_path):
    path = tmp_path / "boxes.csv"
    path.write_text("Car,Bus,Bike\n" + "Car,,Bike\n,Bus,\nCar,Bus,\n" * 5)
    assert [*read_undescribed(path)[0]] == ["Car", "Bus", "Bike"]


def alerts_of(tmp_path, numbers):
    path = tmp_path / "people.csv"
    rng = random.Random(1)
    path.write_text("no,sex\n" + "".join(f"{number},{rng.choice('fm')}\n" for number in numbers))
    table = DescriptionEditor.open(draft(path, folder=tmp_path / "data"))
    [seen] = [each for each in table.seen(table.roles) if each.name == "no"]
    return " ".join(seen.alerts)


@pytest.mark.parametrize("first", [1, 52_001], ids=["from 1", "five digits"])
def test_numbers_that_repeat_are_asked_about(tmp_path, first):
    rng = random.Random(2)
    numbers = [*range(1000), *rng.choices(range(1000), k=948)]
    said = alerts_of(tmp_path, [first + number for number in numbers])
    assert "1,000 different whole numbers in 1,948 records" in said
    assert "role person" in said


def test_numbers_with_gaps_that_repeat_are_asked_about(tmp_path):
    """Of a thousand households 861 answered: the domain of a draft is wider than what was observed."""
    rng = random.Random(5)
    some = rng.sample(range(1, 1001), 861)
    said = alerts_of(tmp_path, [*some, *rng.choices(some, k=1087)])
    assert "861 different whole numbers in 1,948 records" in said


@pytest.mark.parametrize("numbers", ["ages", "amounts"])
def test_ages_and_amounts_are_not_asked_about(tmp_path, numbers):
    rng = random.Random(3)
    drawn = {"ages": lambda: rng.randint(18, 90), "amounts": lambda: 10 * int(rng.lognormvariate(6, 1))}[numbers]
    assert "person or household" not in alerts_of(tmp_path, [drawn() for _ in range(1948)])
