"""Stays in a hospital with dates of birth, admission and discharge, from which columns can be computed."""

from datetime import date, timedelta
from pathlib import Path

from privnb.tables.derivation import Derivation

AGE = Derivation("years", "birth", "admission")
STAY = Derivation("days", "admission", "discharge")
REGION = Derivation("prefix", "zip", characters=2)
DERIVE = f"age: {AGE.words}, stay: {STAY.words}, region: {REGION.words}"
DATES = ("birth", "admission", "discharge")


def rows(number=120, wrong=(), lacking=()):
    """Yield the cells of each stay.

    `wrong` holds the numbers of the stays that end before they begin, `lacking` those without a date of birth.
    """
    for i in range(number):
        born = date(2000, 2, 29) if i % 10 == 0 else date(1940, 1, 31) + timedelta(i % 120 * 200)
        begin = date(2024, 1, 1) + timedelta(i * 3)
        end = begin + timedelta(-2 if i in wrong else i % 9)
        days = ["" if i in lacking and day is born else f"{day:%d.%m.%Y}" for day in (born, begin, end)]
        yield [f"P{i:03}x{i * 7919 % 1000}", *days, f"{10_000 + i % 7 * 5_000 + i % 3}", "abc"[i % 3]]


def write_stays(path="stay.csv", **how):
    """Write the stays as a CSV file."""
    lines = ["patient,birth,admission,discharge,zip,ill", *(",".join(row) for row in rows(**how))]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
