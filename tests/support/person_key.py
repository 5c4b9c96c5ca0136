"""A made-up table of people who have several records each, by a key: 400 people with 1 to 6 visits."""

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.datasets.draft import draft
from privnb.microdata.hierarchy import Ranges, flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from support.clinic import IDENTIFIER

ILL = ("asthma", "cold", "flu", "gout", "measles")


def schema(**roles):
    return Schema(
        "visits",
        (
            Attribute("patient", roles.get("patient", Role.PERSON)),
            Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
            Attribute("sex", Role.QUASI_IDENTIFIER, Categories(("F", "M"))),
            Attribute("town", Role.QUASI_IDENTIFIER, Categories(tuple("abcde"))),
            Attribute("ill", Role.SENSITIVE, Categories(ILL)),
            Attribute("ward", Role.NEUTRAL, Categories(("day", "night")), cannot_be_known="It is written nowhere."),
        ),
    )


def dataset(table, **roles):
    own = schema(**roles)
    lines = {"age": Ranges(own["age"].domain), "sex": flat(own["sex"]), "town": flat(own["town"])}
    return Dataset("visits", table, own, lines)


def table(people=400, *, rng=7):
    """Each person keeps sex and, mostly, town; grows older by visit; is ill of one thing mostly. Visits are mixed."""
    rng = np.random.default_rng(rng)
    visits = rng.integers(1, 7, people)
    person = np.repeat(np.arange(people), visits)
    n = len(person)
    moved = rng.random(n) < 0.1
    made = pd.DataFrame(
        {
            "patient": np.char.add("p", person.astype(str)).astype(object),
            "age": np.minimum(rng.integers(0, 90, people)[person] + rng.integers(0, 5, n), 99),
            "sex": rng.choice(["F", "M"], people)[person],
            "town": np.where(moved, rng.choice(list("abcde"), n), rng.choice(list("abcde"), people)[person]),
            "ill": np.where(rng.random(n) < 0.6, rng.choice(ILL, people)[person], rng.choice(ILL, n)),
            "ward": rng.choice(["day", "night"], n),
        }
    )
    return made.iloc[rng.permutation(n)].reset_index(drop=True)


def drafted(folder, people):
    """The path of what `privnb describe` drafts, its roles confirmed. Keys are unmistakable, see `made_up`."""
    folder.mkdir(parents=True, exist_ok=True)
    made = table(people).rename(columns={"patient": "patient_id"})
    made["patient_id"] = IDENTIFIER + made["patient_id"]
    made.to_csv(folder / "visits.csv", index=False)
    path = draft(folder / "visits.csv", folder=folder / "data")
    text = path.read_text(encoding="utf-8").replace("\ndraft = true\n", "\n")
    for column, role in {"ill": "sensitive", "ward": "neutral"}.items():
        drafted = f'[columns.{column}]\nrole = "quasi-identifier"'
        assert drafted in text
        text = text.replace(drafted, f'[columns.{column}]\nrole = "{role}"')
    path.write_text(text, encoding="utf-8")
    return path


def visits(people=400, *, rng=7, **roles):
    return dataset(table(people, rng=rng), **roles)
