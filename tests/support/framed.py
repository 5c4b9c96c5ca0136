"""A table for engines: its names, gaps and columns of many values are those that one or another takes otherwise."""

import json

import narwhals as nw
import numpy as np
import pyarrow as pa
from pyarrow import parquet

from privnb.publishing import from_files

SCHEMA = """
[dataset]
name = "wide"
title = "wide"
description = ""
source = ""
licence = ""
citation = ""
[[files]]
path = "wide.csv"
[format]
missing = "?"
[renamed]
"marital/status" = "marital.status"
[columns."marital.status"]
role = "quasi-identifier"
domain = ["single", "married", "?"]
[columns.age]
role = "quasi-identifier"
domain = { low = 0, high = 99, missing = "?" }
[columns.kg]
role = "quasi-identifier"
domain = { low = 40, high = 100, step = 20, missing = "?" }
[columns.ill]
role = "sensitive"
domain = ["flu", "a cold"]
[columns.name]
role = "identifier"
[columns.score]
role = "neutral"
domain = { low = 0, high = 1000000, step = 10, missing = "?" }
[columns."a `word`"]
role = "neutral"
domain = WORDS
[columns.nothing]
role = "neutral"
domain = { low = 0, high = 1000, missing = "?" }
"""


def wide(rows=300, seed=0):
    """People, of whom some values are missing, as Arrow's."""
    rng = np.random.default_rng(seed)

    def gaps(values, every):
        return pa.array([None if number % every == 0 else value for number, value in enumerate(values.tolist())])

    return pa.table(
        {
            "name": [f"Person Number{number}" for number in range(rows)],
            "marital/status": gaps(rng.choice(["single", "married"], rows), 20),
            "age": gaps(rng.integers(18, 91, rows), 30),
            "kg": gaps(rng.choice([41.5, 47.0, 48.25], rows), 100),
            "ill": rng.choice(["flu", "a cold"], rows, p=[0.3, 0.7]),
            "score": gaps(rng.integers(0, 10**6, rows) / 1.0, 7),
            "a `word`": [f"word {number % 150}" for number in range(rows)],
            "nothing": pa.nulls(rows, pa.int64()),
        }
    )


def described(folder, more=""):
    """The path of the description of `wide`. `more`: what else stands under [format]."""
    words = json.dumps([f"word {number}" for number in range(150)])
    path = folder / "wide.toml"
    path.write_text(SCHEMA.replace("WORDS", words).replace("[format]", f"[format]\n{more}"))
    return path


def from_file(folder, table, model, path, **options):
    """What `from_files` makes of a table, and its rows in order."""
    parquet.write_table(table, folder / "wide.parquet")
    out = folder / "out.parquet"
    made = from_files.sanitize(folder / "wide.parquet", model, out, dataset=path, allow="a test", **options)
    return made, rows(parquet.read_table(out))


def rows(table):
    """The names of an Arrow table and its rows as texts, sorted."""
    return table.column_names, sorted(map(str, zip(*(column.to_pylist() for column in table.columns), strict=True)))


def read(frame):
    """The rows of a lazy frame as Arrow's."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()  # of which Narwhals would take names apart
    return nw.from_native(frame).collect(backend="pyarrow").to_native()


def in_order(frame):
    """The rows of a lazy frame in the order that it has."""
    return [*zip(*(column.to_pylist() for column in read(frame).columns), strict=True)]
