"""Li and Li's three characteristics of privacy and utility, each by a made-up table (KDD 2009, section 3.2).

Each function returns results of releases of 1,000 people who do not exist, some of whom are ill: `knowledge_gain`, the
mean over people by which Brickell and Shmatikov compare privacy and utility directly; `privacy_loss`, of the worst-off
person; `utility_loss`, about populations of at least 5 % of all people. The first release tells nothing, the baseline
of the others.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.results import row, tidy
from privnb.measures.disclosure.gains import class_counts, knowledge_gain
from privnb.measures.disclosure.tradeoff import privacy_loss, utility_loss
from privnb.measures.utility.populations import LargePopulations
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Role, Schema
from privnb.sanitizers import Identity, Suppress
from privnb.sanitizers.base import Sanitizer

CASES = ("specific or aggregate", "individual or accumulated", "false or correct")


def specific_or_aggregate() -> pd.DataFrame:
    """Specific knowledge is paid for in privacy, aggregate knowledge is useful.

    Half of a town is ill, and one of the two people in a house, against a tenth of all. One release tells the town, the
    other the house: somebody is half sure to be ill in both.
    """
    people = made_up(
        (50, "a town", "other houses", "ill"), (50, "a town", "other houses", "well"),
        (1, "elsewhere", "a house", "ill"), (1, "elsewhere", "a house", "well"),
        (49, "elsewhere", "other houses", "ill"), (849, "elsewhere", "other houses", "well"),
        knows=("town", "house"),
    )  # fmt: skip
    either = {"the town is published": Suppress("house"), "the house is published": Suppress("town")}
    return _compared(CASES[0], people, either)


def individual_or_accumulated() -> pd.DataFrame:
    """Privacy is each individual's, utility accumulates.

    Everybody in a home is ill, against 40 % of all; of women 43.6 %. One release tells the home, the other the sex: the
    mean over people is the same, for in one a few lose all and in the other each person a little.
    """
    people = made_up(
        (15, "a home", "woman", "ill"), (15, "a home", "man", "ill"),
        (203, "elsewhere", "woman", "ill"), (282, "elsewhere", "woman", "well"),
        (167, "elsewhere", "man", "ill"), (318, "elsewhere", "man", "well"),
        knows=("home", "sex"),
    )  # fmt: skip
    either = {"the home is published": Suppress("sex"), "the sex is published": Suppress("home")}
    return _compared(CASES[1], people, either)


def false_or_correct() -> pd.DataFrame:
    """Whatever is believed of people may harm them, but only what is correct is useful.

    In the north 30 % are ill, in the south 10 %. One release says so, the other the opposite.
    """
    north, south = ((150, "ill"), (350, "well")), ((50, "ill"), (450, "well"))
    people = made_up(*[(n, "north", s) for n, s in north], *[(n, "south", s) for n, s in south], knows=("region",))
    wrong = made_up(*[(n, "south", s) for n, s in north], *[(n, "north", s) for n, s in south], knows=("region",))
    return _compared(CASES[2], people, {"the truth is published": people, "the opposite is published": wrong})


def made_up(*groups: tuple[Any, ...], knows: Sequence[str]) -> Dataset:
    """A dataset of made-up people: each group is (how many, their quasi-identifiers `knows`, their health)."""
    roles = dict.fromkeys(knows, Role.QUASI_IDENTIFIER) | {"health": Role.SENSITIVE}
    table = pd.DataFrame([values for n, *values in groups for _ in range(n)], columns=[*roles])
    domains = {name: Categories(tuple(dict.fromkeys(table[name]))) for name in roles}
    schema = Schema("made up", tuple(Attribute(name, role, domains[name]) for name, role in roles.items()))
    return Dataset("made up", table, schema, {name: flat(schema[name]) for name in knows})


def _compared(case: str, people: Dataset, published: Mapping[str, Sanitizer | Dataset]) -> pd.DataFrame:
    """Rows of each release by what it tells: nothing, what a sanitizer leaves of people, or a dataset as it is."""
    populations, rows = LargePopulations.of(people, "health"), []
    for says, each in {"nothing is published": Suppress(), **published}.items():
        release = Identity().sanitize(each, rng=0) if isinstance(each, Dataset) else each.sanitize(people, rng=0)
        made = partial(row, dataset="made up", sanitizer=says, target=case)
        rows += [
            made("knowledge_gain", knowledge_gain(class_counts(release, "health"))),
            made("privacy_loss", privacy_loss(release, "health")),
            made("utility_loss", utility_loss(populations, release)),
        ]
    return tidy(rows)
