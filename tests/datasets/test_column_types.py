"""Each type knows its own columns, says so in words, and gives their order and their tree."""

from random import Random

import numpy as np
import pandas as pd
import pytest

from privnb.datasets.column_types import TYPES, recognize
from privnb.datasets.column_values import Values
from privnb.microdata.schema import Categories, Numbers, Role, SchemaError

MANY = range(60)
KNOWN, LEFT = Role.QUASI_IDENTIFIER, Role.UNUSED


def column(name, texts, mark="?"):
    return recognize(name, Values.of(pd.Series([*map(str, texts)]).astype("category"), mark))


def row_of(column, text):
    return next(row for row in column.tree.rows if row[0] == text)


@pytest.mark.slow
def test_what_is_recognized_and_what_is_said():
    random = Random(4)
    six = random.sample(range(100_000, 400_000), 60)
    days = [(1 + n % 28, 1 + n % 12, 1960 + n % 40) for n in MANY]
    for name, texts, role, said in [
        ("contact", [f"a.b{n}@example.org" for n in MANY], Role.IDENTIFIER, "looks like mail addresses"),
        ("phone", [f"0{n}1 234 {n:03}" for n in MANY], Role.IDENTIFIER, "looks like phone numbers"),
        ("reach", [f"+49 30 {n:05}" for n in MANY], Role.IDENTIFIER, "looks like phone numbers"),
        ("term", ["2001-2002", "2002-2003"] * 30, KNOWN, "in order: 2 spans of years"),
        ("first_name", [f"{a}nn{b}" for a in "AEIO" for b in "aeiouy"] * 5, Role.IDENTIFIER, "names of people"),
        ("lastName", [f"{a}nn{b}" for a in "AEIO" for b in "aeiouy"] * 5, Role.IDENTIFIER, "names of people"),
        ("school name", ["north", "south"] * 30, KNOWN, "2 values"),
        ("remark", [f"patient {n} was seen twice and sent home again" for n in MANY], LEFT, "free text, 9 words"),
        ("remark", ["Zoe came two days late.", "She was sent home again."] * 30, LEFT, "sentences, 5 words"),
        ("born", [f"{y}-{m:02}-{d:02}" for d, m, y in days], KNOWN, "dates, written like 2024-02-29"),
        ("born", [f"{d:02}.{m:02}.{y}" for d, m, y in days], KNOWN, "dates, written like 29.02.2024"),
        ("born", [f"{m:02}/{d:02}/{y}" for d, m, y in days], KNOWN, "dates, written like 02/29/2024"),
        ("born", [f"{d}/{m}/{y}" for d, m, y in days], KNOWN, "dates, written like 29/02/2024"),
        ("born", [f"{y}/{m:02}/{d:02}" for d, m, y in days], KNOWN, "dates, written like 2024/02/29"),
        ("born", [f"{y}{m:02}{d:02}" for d, m, y in days], KNOWN, "dates, written like 20240229"),
        ("born", [f"{d % 12 + 1}/{m}/{y}" for d, m, y in days], KNOWN, "or 02/29/2024; the form is ambiguous"),
        ("born", [f"{d:02}.{m:02}.{y % 100}" for d, m, y in days], KNOWN, "29.02.24; 69 to 99 mean 1969 to 1999"),
        ("seen", [f"{y}-{m:02}-{d:02}T13:{d:02}" for d, m, y in days], KNOWN, "13:45; labels above the"),
        ("seen", [f"{y}-{m:02}-{d:02} 13:{d:02}:00" for d, m, y in days], KNOWN, "13:45; labels above the"),
        ("ended", [f"{y}-{m:02}-{d:02}{'T13:25' * (d % 2)}" for d, m, y in days], KNOWN, "13:45; labels above the"),
        ("SUBJID", six[:60], Role.IDENTIFIER, "60 values in 60 records"),
        ("case", [f"{y}{m:02}{30 + d:02}" for d, m, y in days], Role.IDENTIFIER, "60 values in 60 records"),
        ("at", [f"{n % 24}:{n:02}" for n in MANY], KNOWN, "60 times of the day"),
        ("smokes", ["Yes", "no"] * 30, KNOWN, "yes or no; 2 values"),
        ("status", ["0", "1"] * 30, KNOWN, "0 or 1; 2 values"),
        ("lat", [f"{48 + n / 700:.6f}" for n in MANY], KNOWN, "a coordinate; 0.1 is about 10 km"),
        ("year", [1950 + n for n in MANY], KNOWN, "years, 60 different"),
        ("zip", [f"{n * 1709 % 9999:05}" for n in MANY], KNOWN, "60 codes"),
        ("zip", [f"{n * 1709 % 9999:05}" + "-1234" * (n % 2) for n in MANY], KNOWN, "60 codes of several lengths"),
        ("main", [f"{'EIK'[n % 3]}{n % 9}{n % 4}.{n % 10}" for n in MANY], KNOWN, "60 ICD codes"),
        ("dx_1", [f"{'EIK'[n % 3]}{n:02}" for n in MANY], KNOWN, "60 ICD codes"),
        ("cow", [f"{'EIK'[n % 3]}{n:02}" for n in MANY] * 3, KNOWN, "60 values"),
        ("home", [f"{'ABC'[n % 3]}{n} {n % 10}AB" for n in MANY], KNOWN, "60 post codes"),
        ("salary", six, KNOWN, "a number, 60 different"),
        ("account", six, Role.IDENTIFIER, "60 values in 60 records"),
        ("account", [f"{n}.0" for n in random.sample(range(1000, 9000), 60)], KNOWN, "a number, 60 different"),
        ("survival time", random.sample(range(70), 60), KNOWN, "a number, 60 different"),
        ("months", [f"{n * 7919 % 1000 / 100:.2f}" for n in MANY], KNOWN, "a number, 60 different"),
        ("price", [f"{n * 7919 % 100_000}.99" for n in MANY], KNOWN, "a number, 60 different"),
        ("age", [18 + n % 42 for n in MANY], KNOWN, "a number, 42 different"),
        ("row", MANY, Role.IDENTIFIER, "60 values in 60 records"),
        ("share", [f"{n}.5e-04" for n in MANY], KNOWN, "a number, 60 different"),
        ("balance", [f"{n * 791_900_000_123}.25" for n in MANY], KNOWN, "to the step of the domain, 1e+06"),
        ("people", [n**6 for n in MANY], KNOWN, "to the step of the domain, 1000"),
        ("code", ["12E3", "13E4"] * 30, KNOWN, "2 values"),
        ("number_of_visits", [n % 40 for n in MANY], KNOWN, "a number, 40 different"),
        ("rownames", [3 * n * n for n in MANY], Role.IDENTIFIER, "60 values in 60 records"),
        ("CASENUM", [3 * n * n for n in MANY], Role.IDENTIFIER, "60 values in 60 records"),
        ("childid", [3 * (n % 20) for n in MANY], Role.IDENTIFIER, "a key of people by its name: 20 different"),
        ("student", [3 * (n % 20) for n in MANY], Role.IDENTIFIER, "a key of people by its name: 20 different"),
        ("students", [3 * (n % 20) for n in MANY], Role.QUASI_IDENTIFIER, "a number, 20 different"),
        ("plot_id", [3 * (n % 20) for n in MANY], KNOWN, "by its name: 20 numbers of groups or kinds"),
        ("n_child", [n % 6 for n in MANY], KNOWN, "a number, 6 different"),
        ("district", [3 * (n % 20) for n in MANY], KNOWN, "by its name: 20 numbers of groups or kinds"),
        ("seen", [f"{1 + n % 12:02}/{1990 + n % 9}" for n in MANY], KNOWN, "dates, written like 02/2024; 36 months"),
        ("seen", [f"{1990 + n % 9}-{1 + n % 12:02}" for n in MANY], KNOWN, "dates, written like 2024-02; 36 months"),
        ("seen", [f"{1990 + n % 9}{1 + n % 12:02}" for n in MANY], KNOWN, "dates, written like 202402; 36 months"),
        ("seen", [f"{1990 + n % 9}m{1 + n % 12}" for n in MANY], KNOWN, "dates, written like 2024M02; 36 months"),
        ("seen", [f"{1990 + n % 9}q{1 + n % 4}" for n in MANY], KNOWN, "dates, written like 2024Q1; 36 quarters"),
        ("seen", [f"Q{1 + n % 4} {1990 + n % 9}" for n in MANY], KNOWN, "dates, written like Q1 2024; 36 quarters"),
        ("seen", [f"May {1 + n % 28}, {1990 + n % 9}" for n in MANY], KNOWN, "dates, written like Feb 29, 2024"),
        ("seen", [f"{1 + n % 28} March {1990 + n % 9}" for n in MANY], KNOWN, "dates, written like 29 February 2024"),
        ("seen", [f"{1 + n % 28:02}MAR{1990 + n % 9}" for n in MANY], KNOWN, "dates, written like 29Feb2024"),
        ("seen", [f"{1 + n % 28}-Mar-{90 + n % 9}" for n in MANY], KNOWN, "dates, written like 29-Feb-24; 69 to 99"),
        ("season", [f"{2001 + n % 11}-{2 + n % 11:02}" for n in MANY], KNOWN, "in order: 11 spans of years"),
        ("seen", [f"{2001 + n % 4}" + f"-{1 + n % 6:02}" * (n % 2) for n in MANY], KNOWN, "a month or a year; 8 dates"),
        ("years", [f"{1900 + n} - {1901 + 2 * n}" for n in MANY], KNOWN, "in order: 60 spans of years"),
        ("years", [f"{1900 + n} & {1901 + 2 * n}" if n else "-1900" for n in MANY], KNOWN, "60 values, of which"),
        ("weight", [1000 + 7 * n if n else 999 for n in MANY], KNOWN, "a number, 60 different"),
        ("at", [f"{1 + n % 12}:{n:02} PM" for n in MANY], KNOWN, "60 times of the day"),
        ("took", [f"{n}:{n:02}:07" for n in MANY], KNOWN, "60 hours and minutes"),
        ("municipality", [3 * (n % 20) for n in MANY], KNOWN, "by its name: 20 numbers of groups or kinds"),
        ("area", [1 + n % 10 for n in MANY], KNOWN, "by its name: 10 numbers of groups or kinds"),
        ("sex", [(1, 2, 9)[n % 3] for n in MANY], KNOWN, "by its name: 3 numbers of groups or kinds"),
        ("years of employment", [n % 30 for n in MANY], KNOWN, "a number, 30 different"),
        ("area", [45 + n % 10 for n in MANY], KNOWN, "a number, 10 different"),
        ("open", [f"I live at {n} Mill Lane and have two children" for n in MANY] + ["nothing at all"] * 60,
         Role.UNUSED, "free text"),
        ("shirt", ["S", "M", "L", "XL"] * 15, KNOWN, "in order: 4 values"),
        ("band", ["<18", "18-24", "25-64", "65+"] * 15, KNOWN, "in order: 4 values"),
        ("town", ["Ulm", "Bonn", "Trier"] * 20, KNOWN, "3 values"),
    ]:  # fmt: skip
        found = column(name, texts)
        assert (found.role, said in found.reason) == (role, True), (name, found.reason)
        if role is KNOWN:
            assert (
                found.domain.has(np.array(sorted({*map(str, texts)}), dtype=object)).all() or "rounds" in found.reason
            )


def test_days_in_two_orders_are_refused():
    with pytest.raises(
        SchemaError, match=r"'seen' has days in two orders: '27/3/1999' begins .* '3/28/1999' with the mo"
    ):
        column("seen", ["1/2/1999", "27/3/1999", "3/28/1999"])
    assert column("seen", ["1/2/1999", "27/3/1999", "31/31/1999"]).role is Role.IDENTIFIER, "no days"


def test_the_trees_of_days():
    days = ["29.02.2024", "01.03.2024", "31.12.1999"]
    assert row_of(column("d", days), "29.02.2024") == ("29.02.2024", "2024-02", "2024-Q1", "2024", "2020-2029", "*")
    assert column("d", days).domain.values == ("31.12.1999", "29.02.2024", "01.03.2024")
    assert row_of(column("d", ["02/29/2024", "12/31/1999"]), "02/29/2024")[1] == "2024-02"
    assert row_of(column("d", ["2024-02-29 13:45", "2024-02-29 09:00"]), "2024-02-29 09:00")[:3] == (
        "2024-02-29 09:00", "2024-02-29", "2024-02",
    )  # fmt: skip
    mixed = column("d", ["2024-02-29", "2024-02-29T09:00", "2024-03-01T10:00"])  # a day is no label of others, too
    assert row_of(mixed, "2024-02-29T09:00")[:2] == ("2024-02-29T09:00", "2024-02")
    both = column("d", ["03/04/2024", "05/06/1999"])
    assert row_of(both, "03/04/2024") == ("03/04/2024", "2024", "2020-2029", "*")
    assert row_of(column("d", ["2024-02-29", "?", "?"]), "?") == ("?",) * 5 + ("*",)


def test_words_and_ranges_stand_in_their_order():
    for order in [
        ["XS", "S", "M", "L", "XL"], ["<18", "18-24", "25-64", "65+"], ["9", "10"], ["I", "II", "III", "IV"],
        ["January", "February", "March"], ["Strongly disagree", "neutral", "agree"],
        ["Unknown", "high", "low", "medium"],  # one that is in no order: as letters stand
    ]:  # fmt: skip
        found = column("x", [*reversed(order)] * 9 + ["?"])
        assert found.domain.values == (*order, "?")


def test_a_missing_value_is_one_of_every_type():
    for name, texts in [
        ("born", ["2024-02-29", "2023-01-01"]), ("at", ["12:30", "13:45"]), ("on", ["yes", "no"]),
        ("lat", ["1.234567", "2.5"]), ("year", ["1999", "2001"]), ("zip", ["01234", "12345", "12346"]),
        ("shirt", ["S", "M", "L"]), ("town", ["a", "b"]),
    ]:  # fmt: skip
        found = column(name, [*texts * 8, "?", "?"])
        assert "and 2 missing, which count as the value '?'" in found.reason
        if isinstance(found.domain, Categories):
            assert found.domain.values[-1] == "?"
            assert row_of(found, "?")[-1] == "*"
        else:
            assert found.domain.missing == "?"


def test_coordinates_are_rounded_to_a_tenth():
    found = column("longitude", [f"{16 + n / 7000:.6f}" for n in MANY])
    assert found.domain == Numbers(15.9, 16.1, 0.1)  # an end that one has is not theirs
    assert "loading rounds numbers to the step of the domain, 0.1" in found.reason
    assert column("longitude", ["16.5", "17.0", "18.5"]).domain.step == 0.1


def test_every_type_says_what_it_is():
    assert all(kind.__doc__ for kind in TYPES)
