"""CPU seconds of the attacks by informed adversaries on all of Adult, as ratios to other work in the same process.

    python tests/benchmarks/informed.py

The units are one release of Mondrian with k = 10 of a table whose cells are not coded yet, and one run of the command
`privnb check` on the file of this release. Each piece of work runs once before it is measured, so that compilation does
not count.
"""

import contextlib
import io
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from privnb import cli
from privnb.attacks import Composition, DeFinetti, Homogeneity, Minimality
from privnb.datasets.dataset import load
from privnb.evaluation.experiments.aggregate_attacks import attack_noisy_counts
from privnb.privacy_models import FrequencyDiversity
from privnb.sanitizers import Anatomy, Mondrian

JOB = "occupation"
AIMS = {"deFinetti": (10, "release"), "composition": (5, "check"), "reconstruction of 400 bits": (20, "release")}


def measure(work):
    """Return the CPU seconds of a function, which runs once before."""
    work()
    start = time.process_time()
    work()
    return time.process_time() - start


def check(file, quasi):
    """Run the command `privnb check` without its output."""
    with contextlib.redirect_stdout(io.StringIO()):
        cli.main(["check", file, "--quasi", ",".join(quasi), "--sensitive", JOB])


def main():
    """Print the seconds of each attack and its ratios."""
    dataset = load("adult", "li-li")
    quasi = dataset.schema.quasi_identifiers
    known = dataset.table[quasi]
    release = Mondrian(10).sanitize(dataset, rng=1)
    published = release.publish()[0]
    buckets = Anatomy(3, JOB).sanitize(dataset, rng=1).publish()[0]
    halves = [Mondrian(2).sanitize(each, rng=1).publish()[0] for each in dataset.split(0.5, rng=1)]
    diverse = Mondrian(FrequencyDiversity(2, JOB))
    minimal = diverse.sanitize(dataset, rng=1).publish()[0]
    file = Path(tempfile.mkdtemp()) / "release.csv"
    release.table.to_csv(file, index=False)
    units = {
        "release": measure(lambda: Mondrian(10).sanitize(replace(dataset), rng=1)),
        "check": measure(lambda: check(str(file), quasi)),
    }
    seconds = {
        "homogeneity": measure(lambda: Homogeneity(JOB).fit(published).predict(known)),
        "deFinetti": measure(lambda: DeFinetti(JOB).fit(buckets).assign(buckets)),
        "composition": measure(lambda: Composition(JOB).given(halves[1]).fit(halves[0]).predict(known)),
        "minimality": measure(lambda: Minimality(JOB).given(diverse, known).fit(minimal).predict(known)),
        "reconstruction of 400 bits": measure(lambda: attack_noisy_counts(400, [0.25])),
    }
    for name, spent in {**units, **seconds}.items():
        ratios = "  ".join(f"{spent / unit:8.1f} x {of}" for of, unit in units.items())
        aim = f"  (aim: {AIMS[name][0]} x {AIMS[name][1]})" if name in AIMS else ""
        print(f"{name:28} {spent:8.3f} s  {ratios}{aim}")


if __name__ == "__main__":
    main()
