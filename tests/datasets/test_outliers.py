"""A few outliers among numbers do not decide how all other numbers are rounded, and the owner is told where they do."""

import pandas as pd
import pytest

from privnb import cli
from privnb.datasets.column_values import Values
from privnb.datasets.dataset import load

INCOMES = [12_001 + 7919 * n % 60_000 for n in range(300)]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def values(numbers):
    return Values.of(pd.Series([*map(str, numbers)]).astype("category"), "?")


def described(here, capsys, incomes):
    """What `new` says about the incomes of a table, and the incomes as they are loaded."""
    rows = [f"{n % 5},{income},{'abc'[n % 3]}" for n, income in enumerate(incomes)]
    (here / "people.csv").write_text("\n".join(["children,income,ill", *rows, ""]))
    assert cli.main(["describe", "people.csv", "--sensitive", "ill", "--confirm"]) == 0
    said = capsys.readouterr()
    return said.out + said.err, load("people").table["income"].tolist()


@pytest.mark.parametrize(
    "others",
    [[250_000_000], [999_999_999], [999_999_999] * 60, [499_999_999, -399_999_998], [-700_000_000]],
)
def test_a_few_outliers_round_no_other_number(here, capsys, others):
    incomes = [*INCOMES, *others]
    domain = values(incomes).numbers
    assert domain.step == 1
    assert domain.has([*map(str, incomes)]).all()
    said, loaded = described(here, capsys, incomes)
    assert loaded == incomes
    assert "rounded" not in said


def test_an_outlier_keeps_the_decimals_of_other_numbers():
    plain, stretched = values([n + 0.25 for n in range(300)]), values([*(n + 0.25 for n in range(300)), 99_999])
    assert plain.numbers.step == stretched.numbers.step == 0.01


def test_rounding_due_to_an_outlier_is_told_and_keeps_two_digits(here, capsys):
    incomes = [*INCOMES, 10**12]
    said, loaded = described(here, capsys, incomes)
    assert loaded != incomes
    assert loaded[-1] == 10**12
    assert max(abs(new - old) for new, old in zip(loaded, incomes, strict=True)) <= 500
    changed = sum(new != old for new, old in zip(loaded, incomes, strict=True))
    assert (
        f"income: Numbers are rounded to multiples of 1,000, which changes {changed} of 301 records: 1 record" in said
    )
    assert str(10**12) not in said
    assert f"{10**12:,}" not in said


def test_no_outlier_is_told_where_numbers_stay_as_they_are(here, capsys):
    said, loaded = described(here, capsys, INCOMES)
    assert loaded == INCOMES
    assert "outlier" not in said


@pytest.mark.parametrize("ends", [(0, 10**15), (-(10**15), 10**15), (-(10**12) - 7, 3), (5, 2**31 - 1), (1, 2**40)])
def test_each_domain_of_outliers_holds_every_number(ends):
    domain = values([*INCOMES, *ends]).numbers
    assert domain.low <= min(ends)
    assert max(ends) <= domain.high
