"""The three characteristics of privacy and utility by Li and Li, each with an invented table (KDD 2009, section 3.2).

Each function returns results of releases of 1,000 invented people, some of whom are ill. The measures are
`knowledge_gain`, the mean over people that Brickell and Shmatikov use to compare privacy and utility directly;
`privacy_loss`, the loss of the worst-off person; and `utility_loss`, the loss about populations of at least 5% of all
people. The first release reveals nothing and is the baseline of the other releases.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.results import build_row, tidy
from privnb.measures.disclosure.gains import class_counts, knowledge_gain
from privnb.measures.disclosure.tradeoff import privacy_loss, utility_loss
from privnb.measures.utility.populations import LargePopulations
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Role, Schema
from privnb.sanitizers import Identity, Suppress
from privnb.sanitizers.base import Sanitizer

CASES = ("specific or aggregate", "individual or accumulated", "false or correct")


def specific_or_aggregate() -> pd.DataFrame:
    """Compare specific knowledge, which costs privacy, with aggregate knowledge, which is useful.

    In one town, half of the people are ill; in one house, one of two people is ill. Overall, one in ten is ill. One
    release publishes the town, and the other publishes the house. Both releases disclose that a person is ill with a
    probability of one half.
    """
    people = build_people(
        (50, "a town", "other houses", "ill"), (50, "a town", "other houses", "well"),
        (1, "elsewhere", "a house", "ill"), (1, "elsewhere", "a house", "well"),
        (49, "elsewhere", "other houses", "ill"), (849, "elsewhere", "other houses", "well"),
        knows=("town", "house"),
    )  # fmt: skip
    either = {"the town is published": Suppress("house"), "the house is published": Suppress("town")}
    return _compare(CASES[0], people, either)


def individual_or_accumulated() -> pd.DataFrame:
    """Compare the loss of privacy, which concerns individuals, with utility, which accumulates over people.

    Everybody in a home is ill, and so are 43.6% of women and 40% of all people. One release publishes the home, and the
    other publishes the sex. The mean loss over people is the same for both releases: in the first release, a small
    number of people lose all privacy; in the second release, everybody loses a little privacy.
    """
    people = build_people(
        (15, "a home", "woman", "ill"), (15, "a home", "man", "ill"),
        (203, "elsewhere", "woman", "ill"), (282, "elsewhere", "woman", "well"),
        (167, "elsewhere", "man", "ill"), (318, "elsewhere", "man", "well"),
        knows=("home", "sex"),
    )  # fmt: skip
    either = {"the home is published": Suppress("sex"), "the sex is published": Suppress("home")}
    return _compare(CASES[1], people, either)


def false_or_correct() -> pd.DataFrame:
    """Compare false beliefs, which may harm people but are not useful, with correct beliefs, which are useful.

    In the north, 30% of people are ill, and in the south, 10% are ill. One release publishes these shares, and the
    other release interchanges the two shares.
    """
    north, south = ((150, "ill"), (350, "well")), ((50, "ill"), (450, "well"))
    people = build_people(*[(n, "north", s) for n, s in north], *[(n, "south", s) for n, s in south], knows=("region",))
    wrong = build_people(*[(n, "south", s) for n, s in north], *[(n, "north", s) for n, s in south], knows=("region",))
    return _compare(CASES[2], people, {"the truth is published": people, "the opposite is published": wrong})


def build_people(*groups: tuple[Any, ...], knows: Sequence[str]) -> Dataset:
    """Return a dataset of invented people; each group is (number of people, values of `knows`, health).

    `knows` are the names of the quasi-identifiers.
    """
    roles = dict.fromkeys(knows, Role.QUASI_IDENTIFIER) | {"health": Role.SENSITIVE}
    table = pd.DataFrame([values for n, *values in groups for _ in range(n)], columns=[*roles])
    domains = {name: Categories(tuple(dict.fromkeys(table[name]))) for name in roles}
    schema = Schema("invented", tuple(Attribute(name, role, domains[name]) for name, role in roles.items()))
    return Dataset("invented", table, schema, {name: flat(schema[name]) for name in knows})


def _compare(case: str, people: Dataset, published: Mapping[str, Sanitizer | Dataset]) -> pd.DataFrame:
    """Return the rows of full suppression and of each release in `published`.

    A release in `published` is the output of a sanitizer, or a dataset that is published unchanged.
    """
    populations, rows = LargePopulations.of(people, "health"), []
    for says, each in {"nothing is published": Suppress(), **published}.items():
        release = Identity().sanitize(each, rng=0) if isinstance(each, Dataset) else each.sanitize(people, rng=0)
        made = partial(build_row, dataset="invented", sanitizer=says, target=case)
        rows += [
            made("knowledge_gain", knowledge_gain(class_counts(release, "health"))),
            made("privacy_loss", privacy_loss(release, "health")),
            made("utility_loss", utility_loss(populations, release)),
        ]
    return tidy(rows)
