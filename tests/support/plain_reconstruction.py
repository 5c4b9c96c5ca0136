"""What a release says of a group, counted person by person and value by value; and a small table to try it on."""

from collections import Counter

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.microdata.hierarchy import Ordered, Ranges, Sets, Taxonomy
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema

TOWNS = ("a", "b", "c")
GRADES = ("low", "mid", "high")
HELD = ("bucket", "value", "count")
DISEASES = ("cold", "flu", "gout", "scurvy")
SCHEMA = Schema(
    "toy",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 7)),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(TOWNS)),
        Attribute("grade", Role.QUASI_IDENTIFIER, Categories(GRADES)),
        Attribute("disease", Role.SENSITIVE, Categories(DISEASES)),
    ),
)
HIERARCHIES = {
    "age": Ranges(SCHEMA["age"].domain),
    "town": Sets("town", TOWNS),
    "grade": Ordered("grade", GRADES),
}
TREES = {
    "age": Taxonomy("age", tuple((str(v), f"{v // 2 * 2}-{v // 2 * 2 + 1}", f"{v // 4} half", "*") for v in range(8))),
    "town": Taxonomy("town", (("b", "b", "*"), ("c", "coast", "*"), ("a", "coast", "*"))),
    "grade": Taxonomy("grade", tuple((grade, "*") for grade in reversed(GRADES))),
}


def toy(rows, seed, hierarchies=HIERARCHIES):
    """Nobody has scurvy, though the domain allows it."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(0, 8, rows) // rng.integers(1, 4),
            "town": rng.choice(TOWNS, rows, p=(0.6, 0.3, 0.1)),
            "grade": rng.choice(GRADES, rows),
            "disease": rng.choice(DISEASES[:3], rows, p=(0.4, 0.3, 0.3)),
        }
    )
    return Dataset("toy", table, SCHEMA, hierarchies)


def cell(release, name, label):
    """The values, as text, that a published cell may stand for, all equally likely."""
    hierarchy = release.hierarchies[name]
    if name in release.treated("noisy") and name == "age":
        return {str(min(range(8), key=lambda value: (abs(value - label), value)))}
    return {leaves(hierarchy)[position] for position in hierarchy.covered(label)}


def leaves(hierarchy):
    return hierarchy.leaves if hasattr(hierarchy, "leaves") else [str(v) for v in range(8)]


def chances(release, diseases):
    """How likely each person has one of the diseases, from what is published of them or of their bucket."""
    if release.buckets is None:
        share = len(diseases) / len(DISEASES)
        return [share if label == "*" else float(label in diseases) for label in release.table.disease.tolist()]
    held = {}
    for bucket, value, people in zip(*(release.buckets[name].tolist() for name in HELD), strict=True):
        held.setdefault(bucket, Counter())[value] += people
    return [sum(held[b][each] for each in diseases) / held[b].total() for b in release.table.bucket.tolist()]


def count(release, group, diseases):
    """People of a group, `{attribute: values as text}`, with one of the diseases: the number to be expected."""
    inside = chances(release, diseases)
    for name, values in group.items():
        labels = release.table[name].tolist()
        possible = {label: cell(release, name, label) for label in set(labels)}
        inside = [p * len(possible[of] & values) / len(possible[of]) for p, of in zip(inside, labels, strict=True)]
    return sum(inside)
