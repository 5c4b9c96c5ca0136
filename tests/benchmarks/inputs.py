"""The tables that the works are done on. `python inputs.py NAME FILE` writes one as CSV, for the peers."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
from loss import DOMAINS

from privnb.datasets.dataset import Dataset, DatasetDescription, find_description, load, read_cells
from privnb.microdata import hierarchy
from privnb.microdata.schema import Categories, Numbers, Role, Schema

AGES = Numbers(DOMAINS["age"]["low"], DOMAINS["age"]["high"])
DRAWN = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"]


def adult():
    """The 45,222 complete records of Adult: eight quasi-identifiers and salary."""
    return load("adult", "sramka-taxonomy").table


def numbers():
    """The same records: their age, education as a number, and hours, which no study of Adult has together."""
    return of_numbers().table


def of_numbers():
    """These as a Dataset of three quasi-identifiers in ranges."""
    chosen = DatasetDescription.of(find_description("adult"), None)
    names = ["age", "education-num", "hours-per-week"]
    table = chosen.cleaned(read_cells(chosen.path.parent, chosen.text))[names]
    schema = chosen.columns.with_roles(dict.fromkeys(names, Role.QUASI_IDENTIFIER))
    return Dataset("adult", table, schema, {name: hierarchy.Ranges(schema[name].domain) for name in names})


def ten_copies():
    """Adult ten times over, the age moved by up to 2 years, 2 % of categories redrawn as often as they occur."""
    table, rng = adult(), np.random.default_rng(1)
    copies = pd.concat([table] * 10, ignore_index=True)
    copies["age"] = np.clip(copies["age"] + rng.integers(-2, 3, len(copies)), AGES.low, AGES.high)
    for name in table.columns.drop(["age", "salary"]):
        redrawn = rng.random(len(copies)) < 0.02
        copies.loc[redrawn, name] = rng.choice(table[name].to_numpy(), redrawn.sum())
    return copies


def drawn(records, *, independent):
    """Records drawn with replacement from Adult, all at once or each column by itself; seven quasi-identifiers."""
    table, rng = adult()[[*DRAWN, "salary"]], np.random.default_rng(1)
    table = table.astype(dict.fromkeys(table.columns.drop("age"), "category"))  # a byte a cell, not a text
    whole = rng.integers(len(table), size=records)
    columns = {}
    for name in table:
        rows = rng.integers(len(table), size=records) if independent else whole
        columns[name] = table[name].array[rows]
    return pd.DataFrame(columns)


def combinations(table):
    """Number of distinct combinations of quasi-identifiers."""
    key = np.zeros(len(table), dtype=np.int64)
    for name in table.columns.drop("salary"):
        codes, values = pd.factorize(table[name])
        key = key * len(values) + codes
    return len(pd.unique(key))


def unordered(table):
    """A Dataset of a table above whose categories may be joined in any way, and its ages in ranges."""
    schema = _schema(table)
    names = schema.quasi_identifiers
    sets = {name: hierarchy.Sets(name, schema[name].domain.values) for name in names if name != "age"}
    return Dataset("adult", table, schema, {"age": hierarchy.Ranges(AGES)} | sets)


def within(folder):
    """Adult as a Dataset that generalizes within ARX's own hierarchies, which lie in `folder`."""
    table = adult()
    schema = _schema(table)
    files = {name: f"{folder}/adult_hierarchy_{name}.csv" for name in schema.quasi_identifiers}
    trees = {name: hierarchy.Taxonomy.read(file, schema[name].domain) for name, file in files.items()}
    return Dataset("adult", table, schema, trees)


def raw(table):
    """A Dataset of a table above as it is, to be graded."""
    schema = _schema(table)
    flat = {name: hierarchy.flat(schema[name]) for name in schema.quasi_identifiers}
    return Dataset("adult", table, schema, flat)


def released():
    """A 2-anonymous release of Adult by Mondrian."""
    from privnb.privacy_models import KAnonymity
    from privnb.sanitizers import Mondrian

    return Mondrian(KAnonymity(2)).sanitize(unordered(adult()), rng=0)


def _schema(table):
    described = load("adult", "sramka-taxonomy").schema
    schema = described.with_roles({name: described[name].role for name in table})
    domains = {"age": AGES, "workclass": Categories(tuple(DOMAINS["workclass"]))}
    return Schema(schema.dataset, tuple(replace(a, domain=domains.get(a.name, a.domain)) for a in schema.attributes))


if __name__ == "__main__":
    name, file = sys.argv[1:]
    if name.startswith("criteria-"):
        import criteria

        criteria.tables(int(name.removeprefix("criteria-"))).to_csv(file, index=False)
        sys.exit()
    table = {"adult": adult, "numbers": numbers, "ten-copies": ten_copies, "released": lambda: released().table}[name]()
    table.to_csv(file, index=False)
