"""anonypy's Mondrian: `python peer_anonypy.py K FILE`. It publishes one row a class and sensitive value, counted."""

import sys

import pandas as pd
from anonypy import Preserver
from loss import penalty
from measure import report, system, timed

k, file = sys.argv[1:]
table = pd.read_csv(file)
names = list(table.columns.drop("salary"))
table = table.astype(dict.fromkeys(table.columns.drop("age"), "category"))  # without this it raises TypeError

rows, taken = timed(lambda: Preserver(table, names, "salary").anonymize_k_anonymity(int(k)))

released = pd.DataFrame(rows)
cells = released[names].map(lambda cell: cell[0].replace(",", "|"))
report({"system": system("anonypy"), "loss": penalty(cells, len(table), released["count"])} | taken)
