"""Clustering publishes what the attributes' generalizations say, also where labels list values."""

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.microdata.hierarchy import Ordered, Sets
from privnb.microdata.schema import Attribute, Categories, Role, Schema
from privnb.sanitizers import KMember

GRADES, RACES = ("9th", "10th", "11th", "12th"), ("White", "Black", "Asian", "Other")
SCHEMA = Schema(
    "people",
    (
        Attribute("grade", Role.QUASI_IDENTIFIER, Categories(GRADES)),
        Attribute("race", Role.QUASI_IDENTIFIER, Categories(RACES)),
    ),
)


def test_a_run_of_grades_and_exactly_the_races_of_each_class():
    draw = np.random.default_rng(4)
    # Some races are too rare for a class of their own.
    races = draw.choice(RACES, 60, p=[0.8, 0.1, 0.05, 0.05])
    table = pd.DataFrame({"grade": draw.choice(GRADES, 60), "race": races})
    kinds = {"grade": Ordered("grade", GRADES), "race": Sets("race", RACES)}
    release = KMember(5).sanitize(Dataset("people", table, SCHEMA, kinds), rng=0)
    assert release.table.groupby(["grade", "race"]).size().min() >= 5
    listed = {name: 0 for name in table}
    for _, rows in table.groupby(release.classes):
        held = {name: [v for v in kinds[name].values if v in set(rows[name])] for name in table}
        run = GRADES[GRADES.index(held["grade"][0]) : GRADES.index(held["grade"][-1]) + 1]
        published = release.table.loc[rows.index[0]]
        assert published["grade"] == ("*" if len(run) == 4 else "|".join(run))
        assert published["race"] == ("*" if len(held["race"]) == 4 else "|".join(held["race"]))
        listed = {name: listed[name] + ("|" in published[name]) for name in table}
    assert all(listed.values()), "no class shows a list: the test proves nothing"
