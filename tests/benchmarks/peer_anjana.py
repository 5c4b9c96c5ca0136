"""anjana's k-anonymity: `python peer_anjana.py K FILE`, hierarchies in HIERARCHIES. A greedy walk, no optimum: other
work. It may suppress 10 % of the records, and leaves them out of its table.
"""

import os
import sys

import pandas as pd
from anjana.anonymity import k_anonymity
from loss import hierarchy, penalty
from measure import report, system, timed

k, file = sys.argv[1:]
table = pd.read_csv(file, dtype=str)
names = list(table.columns.drop("salary"))
folder = os.environ["HIERARCHIES"]
levels = {name: dict(enumerate(map(list, zip(*hierarchy(folder, name), strict=True)))) for name in names}

released, taken = timed(lambda: k_anonymity(table, [], names, int(k), 10, levels))

loss = penalty(released[names], len(table), hierarchies=folder)
row = {"system": system("anjana"), "parameters": f"suppressed={len(table) - len(released)}", "loss": loss}
report(row | taken)
