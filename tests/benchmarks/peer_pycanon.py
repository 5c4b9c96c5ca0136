"""pycanon's k, distinct l and t of a table's salaries: `python peer_pycanon.py FILE`; a row for all, and one for t."""

import sys

import pandas as pd
from measure import report, system, timed
from pycanon.anonymity import k_anonymity, l_diversity, t_closeness

table = pd.read_csv(sys.argv[1], dtype=str)
names = list(table.columns.drop("salary"))

taken = {
    "k": timed(lambda: k_anonymity(table, names)),
    "l": timed(lambda: l_diversity(table, names, ["salary"])),
    "t": timed(lambda: t_closeness(table, names, ["salary"])),
}
levels = [float(level) for level, _ in taken.values()]
whole = {what: sum(each[what] for _, each in taken.values()) for what in ("seconds", "wall")}
alone = taken["t"][1]
report(
    {"system": system("pycanon"), "peak_mb": alone["peak_mb"], "levels": levels} | whole,
    {"system": f"{system('pycanon')}, t alone", "levels": levels} | alone,
)
