"""How many people are unique in a neutral column: counted person by person, and withheld where few are concerned."""

import random
from collections import defaultdict

import pandas as pd
import pytest

from privnb.datasets.neutral_columns import find_unique_people
from privnb.microdata.schema import Role

KNOWN, NEUTRAL, PERSON = Role.QUASI_IDENTIFIER, Role.NEUTRAL, Role.PERSON


def unique(rows, roles):
    table = pd.DataFrame(rows, columns=[*roles]).astype("category")
    return find_unique_people(table, roles)


def counted(rows, places, person):
    """The people of whom a combination of values belongs to nobody else."""
    own = defaultdict(set)
    for number, row in enumerate(rows):
        own[tuple(row[place] for place in places)].add(number if person is None else row[person])
    return len({next(iter(people)) for people in own.values() if len(people) == 1})


@pytest.mark.parametrize("person", [None, 3])
def test_people_are_counted_as_one_by_one(person):
    draw = random.Random(4)
    rows = [
        (draw.randrange(20), draw.randrange(3), draw.choice([None, *range(200)]), draw.randrange(250))
        for _ in range(900)
    ]
    roles = {"age": KNOWN, "sex": KNOWN, "bmi": NEUTRAL, "who": PERSON if person else Role.UNUSED}
    (found,) = unique(rows, roles)
    assert (found.name, found.people) == ("bmi", len({row[3] for row in rows}) if person else 900)
    assert found.alone == counted(rows, [2], person)
    together = counted(rows, [0, 1, 2], person)
    others_are_few = 0 < found.people - together < 10
    assert (found.together, found.few_others) == ((None, True) if others_are_few else (together, False))
    assert found.together or person, "without a key, many people are not unique"


def test_what_concerns_few_people_is_withheld():
    def ask(alone, shared):
        rows = [(0, f"u{i}") for i in range(alone)] + [(0, "s")] * shared
        return unique(rows, {"age": KNOWN, "bmi": NEUTRAL})

    assert ask(0, 50) == []
    assert [each[1:] for each in ask(9, 50)] == [(59, None, None, False)]
    assert [each[1:] for each in ask(10, 50)] == [(60, 10, 10, False)]
    assert [each[1:] for each in ask(50, 9)] == [(59, None, None, True)]


def test_a_difference_of_few_people_is_withheld():
    rows = [(0, f"u{i}") for i in range(30)] + [(i, "s") for i in range(4)] + [(9, "s")] * 40
    (found,) = unique(rows, {"age": KNOWN, "bmi": NEUTRAL})
    assert (found.together, found.alone) == (34, None), "30 alone would tell of 4 people"


def test_the_column_that_singles_out_most_people_comes_first():
    rows = [(i % 2, i // 2 if i < 60 else 0, i) for i in range(100)]
    found = unique(rows, {"sex": KNOWN, "bmi": NEUTRAL, "cost": NEUTRAL})
    assert [each.name for each in found] == ["cost", "bmi"]
    assert unique(rows, {"sex": KNOWN, "bmi": Role.SENSITIVE, "cost": Role.UNUSED}) == []
