"""How files write numbers: each is read as what it says, in the draft and when it is loaded."""

import random

import pandas as pd
import pytest

from privnb.datasets.dataset import load
from privnb.datasets.draft import draft
from privnb.microdata.schema import Numbers
from privnb.tables.notation import Notation

DRAW = random.Random(6)
PAY = [DRAW.randrange(9_000, 1_500_000) / 100 for _ in range(60)]
WHOLE = [DRAW.randrange(1_000, 99_000) for _ in range(60)]


def english(number, form=",.2f"):
    return f"{number:{form}}"


def german(number, between="."):
    return english(number).replace(",", "_").replace(".", ",").replace("_", between)


@pytest.mark.parametrize(
    ("texts", "separator", "notation", "numbers"),
    [
        (map(german, PAY), ";", Notation(",", "."), PAY),
        (map(english, PAY), ";", Notation(".", ","), PAY),
        ([german(number, " ") for number in PAY], ";", Notation(",", " "), PAY),
        ([german(number, "\u202f") for number in PAY], ";", Notation(",", "\u202f"), PAY),
        ([english(number, ",d").replace(",", "'") for number in WHOLE], ",", Notation(".", "'"), WHOLE),
        ([f"${number:,}" for number in WHOLE], ";", Notation(".", ","), WHOLE),
        ([f"-${number:,}" for number in WHOLE], ";", Notation(".", ","), [-number for number in WHOLE]),
        ([f"€ {number}" for number in WHOLE], ";", Notation(".", ","), WHOLE),
        ([f"€ {german(number, '')}" for number in PAY], ";", Notation(",", "."), PAY),
        ([f"{german(number, '')} €" for number in PAY], ";", Notation(",", "."), PAY),
        ([f"{german(number)}\u00a0EUR" for number in PAY], ";", Notation(",", "."), PAY),
        ([f"{number:.2f}€" for number in PAY], ";", Notation(".", ","), PAY),
        ([f"CHF {english(number, ',.2f').replace(',', chr(39))}" for number in PAY], ";", Notation(".", "'"), PAY),
        ([f"{number % 100} %" for number in WHOLE], ";", Notation(".", ","), [number % 100 for number in WHOLE]),
        ([english(number, ",d") for number in WHOLE], ",", Notation(".", ","), WHOLE),
        ([english(number, ",d") for number in [*WHOLE, 7]], ";", Notation(".", ","), [*WHOLE, 7]),
        ([english(number, ",d") for number in WHOLE], ";", Notation(","), [number / 1000 for number in WHOLE]),
        ([f"{number:.1f}".replace(".", ",") for number in PAY], ";", Notation(","), [round(each, 1) for each in PAY]),
        (map(str, PAY), ";", Notation(), PAY),
    ],
)
def test_the_notation_is_found_and_the_numbers_are_what_they_say(texts, separator, notation, numbers):
    texts = pd.Series([*texts])
    assert Notation.found([texts, pd.Series(["a", "b"])], separator) == notation
    assert notation.plain(texts).astype(float).tolist() == pytest.approx(numbers)


@pytest.mark.parametrize(
    "texts",
    [["007", "1 234"], ["1.2.1990", "3.4.1991"], ["12,34,567"], ["0,123 456"], ["a 1,000"], ["1,000-2,000"], []],
    ids=str,
)
def test_what_is_no_number_has_no_thousands(texts):
    assert Notation.found([pd.Series(texts, dtype=object)], ",").thousands == ""


def test_two_notations_in_one_file_are_not_guessed():
    """Without its point 12.5 would be 125."""
    assert Notation.found([pd.Series(map(german, PAY)), pd.Series(["12.5", "3"])], ";").thousands == ""
    assert Notation.found([pd.Series(map(german, PAY)), pd.Series(["12", "3"])], ";").thousands == "."


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("pay;kind;share", lambda n: f"{german(PAY[n])};{('1.000', '2.000')[n % 2]};{n % 9} %\n"),
        ("pay,kind,share", lambda n: f'"${english(PAY[n])}","{("1,000", "2,000")[n % 2]}",{n % 9}%\n'),
    ],
)
def test_incomes_are_numbers_and_codes_stay_as_they_are(tmp_path, head, row):
    file = tmp_path / "a.csv"
    file.write_text(head + "\n" + "".join(map(row, range(60))), encoding="utf-8")
    path = draft(file, folder=tmp_path / "data")
    path.write_text(path.read_text().replace("draft = true\n", "", 1))
    read = load(path)
    assert read.table["pay"].tolist() == pytest.approx(PAY, abs=0.05), "to the step of its domain"
    assert read.table["share"].tolist() == [n % 9 for n in range(60)]
    assert isinstance(read.schema["pay"].domain, Numbers)
    assert {*read.table["kind"]} == ({"1,000", "2,000"} if "," in head else {"1.000", "2.000"})
