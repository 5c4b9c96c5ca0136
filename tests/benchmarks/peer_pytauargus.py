"""pytauargus' optimal suppression: `python peer_pytauargus.py MIN_COUNT FILE`. Each hidden count is uncertain by as
many records as it has; privnb's small ones by MIN_COUNT at least, so that it hides more."""

import contextlib
import sys
import tempfile

import pandas as pd
import pytauargus
from measure import report, system, timed

min_count, file = sys.argv[1:]
table = pd.read_csv(file)
one, two = (["v" + str(code) for code in pd.factorize(table[name])[0]] for name in ("workclass", "race"))
people = {"workclass": one, "race": two, "people": [1] * len(table)}
asked = ["workclass", "race"], "people", f"FREQ({min_count},100)", "OPT(1)"

with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # its solvers write logs where they run
    found, taken = timed(lambda: pytauargus.protect(people, *asked, workdir=folder))
    hidden = sum(row["status"] in "UM" for row in found.tables[0].rows)

report({"system": system("pytauargus"), "parameters": f"{hidden} entries hidden"} | taken)
