"""anonymeter's singling out, linkability and inference: `python peer_anonymeter.py FILE`, see criteria.py."""

import sys

import pandas as pd
import polars as pl
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
from anonymeter.evaluators.singling_out_evaluator import univariate_singling_out_queries
from criteria import PARTS, SECRET, excess
from measure import report, system, timed
from numpy.random import default_rng

whole = pd.read_csv(sys.argv[1])
people, released, others = (
    whole[whole.part == part].drop(columns="part").reset_index(drop=True) for part in ("people", "release", "others")
)


def singling_out(mode, attacks, rows=released):
    return SinglingOutEvaluator(people, rows, n_attacks=attacks, control=others, seed=1).evaluate(mode=mode).risk()


def linkability(attacks, rows=released):
    asked = LinkabilityEvaluator(people, rows, tuple(map(list, PARTS)), n_attacks=attacks, control=others)
    return asked.evaluate(n_jobs=1).risk()


def inference(attacks, rows=released):
    known = [name for part in PARTS for name in part]
    return InferenceEvaluator(people, rows, known, SECRET, n_attacks=attacks, control=others).evaluate(n_jobs=1).risk()


# Compile what is compiled at the first call, so that only the work is timed.
linkability(5, released[:50])
inference(5, released[:50])
number = len(univariate_singling_out_queries(pl.DataFrame(released).unique(), len(people), default_rng(1)))
works = {
    "singling out": lambda: {
        "univariate": singling_out("univariate", number), "multivariate": singling_out("multivariate", len(people)),
    },
    "linkability": lambda: {"": linkability(len(people))},
    "inference": lambda: {"": inference(len(people))},
}  # fmt: skip
rows = []
for name, work in works.items():
    found, taken = timed(work)
    said = ", ".join(f"{variant} {excess(risk.value, *risk.ci)}" for variant, risk in found.items()).strip()
    rows.append({"system": f"{system('anonymeter')}, {name}", "parameters": said} | taken)
report(*rows)
