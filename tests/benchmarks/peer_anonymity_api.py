"""anonymity-api's k-anonymity: `python peer_anonymity_api.py K FILE`. It splits on numbers alone: other work."""

import sys

import pandas as pd
from anonymity_api.anonymity import k_anonymity
from loss import DOMAINS, penalty
from measure import report, system, timed

k, file = sys.argv[1:]
table = pd.read_csv(file)
names = list(table.columns.drop("salary"))

released, taken = timed(lambda: k_anonymity(table.copy(), names, int(k)))


def values(label, domain):
    """The values in a label, which joins them by a hyphen although they hold hyphens themselves."""
    return "|".join(value for value in domain if f"-{value}-" in f"-{label}-")


cells = {"age": released["age"].astype(str).str.replace(" - ", "-")}
for name in names[1:]:
    cells[name] = released[name].map({label: values(label, DOMAINS[name]) for label in released[name].unique()})
report({"system": system("anonymity-api"), "loss": penalty(pd.DataFrame(cells), len(table))} | taken)
