"""The meanings of `*`: by hand, by brute force over all pairs of rows, and in the command `check`."""

import json

import numpy as np
import pandas as pd
import pytest

from privnb import cli
from privnb.microdata.schema import SchemaError
from privnb.privacy_models.grading import grade
from privnb.privacy_models.star import STARS

# Rows, and the number of people in the class of each row. (30, a) has three rows, and the missing town matches all.
TABLE = pd.DataFrame(
    [("30", "a"), ("30", "a"), ("30", "a"), ("30", "b"), ("30", "*"), ("31", None)], columns=["age", "town"]
).assign(illness=["flu", "gout", "flu", "flu", "gout", "flu"])
SIZES = {"own": [3, 3, 3, 1, 1, 1], "any": [4, 4, 4, 2, 5, 1], "conservative": [3, 3, 3, 1, 5, 1]}


def value(table, measure, star, **more):
    found = grade(table, ["age", "town"], star=star, **more)
    return found.set_index("measure").value[measure]


@pytest.mark.parametrize("star", STARS)
def test_the_sizes_of_classes_by_hand(star):
    sizes = np.array(SIZES[star])
    for few in (2, 5):
        assert value(TABLE, f"in classes below {few}", star) == pytest.approx((sizes < few).mean())
    assert value(TABLE, "smallest class", star) == value(TABLE, "k achieved", star) == sizes.min()
    assert value(TABLE, "largest class", star) == sizes.max()


def test_the_disclosed_values_by_hand():
    """Without stars, the last three rows are alone. With `any`, (30, b) is also gout, and only (31, ?) is certain."""
    shares = [value(TABLE, "one value a class", star, sensitive="illness") for star in STARS]
    assert shares == pytest.approx([3 / 6, 1 / 6, 2 / 6])


def matches(one, other):
    return all(a == b or "*" in (a, b) for a, b in zip(one, other, strict=True))


def by_pairs(rows, values, star):
    """The counts of values in the class of each row, by comparing all pairs."""
    found = []
    for place, row in enumerate(rows):
        if star == "own":
            members = [other == row for other in rows]
        elif star == "any":
            members = [matches(row, other) for other in rows]
        else:
            members = [matches(row, other) and "*" not in other for other in rows]
            members[place] = True
        found.append(np.bincount(values[np.array(members)], minlength=3))
    return np.array(found)


@pytest.mark.parametrize("star", STARS)
@pytest.mark.parametrize("seed", range(5))
def test_all_numbers_are_those_of_all_pairs(star, seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.choice([*"abc*"], (80, 3), p=[0.3, 0.3, 0.2, 0.2]), columns=["age", "town", "sex"])
    values = rng.integers(0, 3, 80)
    counts = by_pairs([*table.itertuples(index=False, name=None)], values, star)
    found = grade(table.assign(illness=values.astype(str)), ["age", "town", "sex"], "illness", star=star)
    of = found.set_index("measure").value
    sizes, shares = counts.sum(axis=1), counts / counts.sum(axis=1, keepdims=True)
    assert of["k achieved"] == sizes.min()
    assert of["in classes below 10"] == pytest.approx((sizes < 10).mean())
    assert of["l, distinct"] == (counts > 0).sum(axis=1).min()
    assert of["alpha"] == pytest.approx(shares.max())
    whole = np.bincount(values, minlength=3) / 80
    assert of["t, equal distance"] == pytest.approx((np.abs(shares - whole).sum(axis=1) / 2).max())
    assert of["one value a class"] == pytest.approx(((counts > 0).sum(axis=1) == 1).mean())


def test_without_a_star_the_meanings_agree():
    table = TABLE.iloc[:4]
    one, *others = (grade(table, ["age", "town"], "illness", star=star).value for star in STARS)
    for other in others:
        pd.testing.assert_series_equal(one, other)


def test_people_with_several_records_are_refused():
    with pytest.raises(SchemaError, match="`star` must be 'own' if a column names the people"):
        grade(TABLE.assign(who=1), ["age", "town"], person="who", star="any")


@pytest.mark.parametrize("star", STARS)
def test_check_states_the_meaning_and_counts_models_by_it(star, tmp_path, capsys):
    file = tmp_path / "x.csv"
    TABLE.iloc[[0, 1, 2, 4]].to_csv(file, index=False)
    words = ["check", str(file), "--quasi", "age,town", "--star", star, "--model", "k=4, l=2:illness", "--json", "-q"]
    status = cli.main(words)
    values = json.loads(capsys.readouterr().out)["values"]
    assert values["star"] == star
    assert values["k"] == {"own": 1, "any": 4, "conservative": 3}[star]
    levels = {"own": [1, 1], "any": [4, 2], "conservative": [3, 2]}
    assert [each["level"] for each in values["models"]] == levels[star]
    assert status == (star != "any")


def test_check_refuses_to_count_people_by_matches(tmp_path, capsys):
    TABLE.assign(who=range(6)).to_csv(tmp_path / "x.csv", index=False)
    status = cli.main(["check", str(tmp_path / "x.csv"), "--quasi", "age,town", "--person", "who", "--star", "any"])
    assert status != 0
    assert "Use --star own" in capsys.readouterr().err
