"""anonypyx's Mondrian: `python peer_anonypyx.py K FILE`. It publishes one row a class and sensitive value, counted."""

import sys

import pandas as pd
from anonypyx import Anonymiser
from loss import penalty
from measure import report, system, timed

k, file = sys.argv[1:]
table = pd.read_csv(file)
names = list(table.columns.drop("salary"))
table = table.astype(dict.fromkeys(table.columns.drop("age"), "category"))  # without this it raises TypeError
asked = {"k": int(k), "feature_columns": names, "sensitive_column": "salary"}

released, taken = timed(lambda: Anonymiser(table, generalisation_strategy="human-readable", **asked).anonymise())

cells = released[names].map(lambda cell: str(cell).replace(",", "|"))
report({"system": system("anonypyx"), "loss": penalty(cells, len(table), released["count"])} | taken)
