"""The works, and what privnb does in each. `python works.py NAME` does one, `python works.py NAME once` from cold.

The parent process imports this module for the table of works alone, so everything large is imported where it is used.
"""

import os
import sys
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import criteria
import files
import masking
from measure import peak, report, system, timed
from results import START

from privnb.evaluation.experiments.hidden_rules import find_sensitive_rules

ADULT, TEN_COPIES = 45_222, 452_220
SIZES = 45_000, 450_000, 1_000_000, 4_500_000, 10_000_000
# What ARX suppressed at its optimum: nobody may suppress more.
ARX_SUPPRESSED = {2: 3129, 10: 3859, 100: 6897}


# Of categories and numbers that change by a public law, or lose cells.
PERTURBED = {
    "pram": ("PRAM", {}),
    "frapp": ("GammaDiagonal", {"epsilon": 3.0}),
    "mask": ("MASK", {"epsilon": 3.0}),
    "additive-noise": ("AdditiveNoise", {}),
    "data-swapping": ("DataSwapping", {}),
    "local-suppression-10": ("LocalSuppression", {"k": 10}),
}


class Work(NamedTuple):
    """One row of the table of works.

    `does`: makes ready, and returns what is to be timed. `peers`: who does it too; `k`: what their scripts are given;
    `slow`: those that take minutes. `needs`: the input of the peers. `hierarchies`: whether it needs ARX's; such a work
    is measured from cold too, beside ARX with its start. `script`: what does it; `asked`: only when asked by its name.
    """

    name: str
    records: int
    parameters: str
    does: Callable
    peers: tuple = ()
    k: tuple = ()
    slow: tuple = ()
    needs: str = "adult"
    hierarchies: bool = False
    script: str = "works.py"
    asked: bool = False


def works():
    """All works in the order of their cost."""
    for k in 100, 10, 2:
        slow = ("anonypy", "anonypyx") if k == 2 else ()
        peers = "anonymity-api", "anonypy", "anonypyx"
        yield Work(f"mondrian-{k}", ADULT, f"k={k}", partial(mondrian, k), peers, (k,), slow)
        yield Work(f"mondrian-penalty-{k}", ADULT, f"k={k}, split_attribute=penalty", partial(mondrian, k, "penalty"))
    for k in 100, 10, 2:
        yield Work(f"local-recoding-{k}", ADULT, f"k={k}", partial(local_recoding, k), hierarchies=True)
    for k in 100, 10, 2:
        does = partial(full_domain, k)
        yield Work(f"full-domain-{k}", ADULT, f"k={k}", does, ("anjana",), (k,), hierarchies=True)
    for name in PERTURBED:
        yield Work(name, ADULT, "", partial(perturbed, name))
    yield Work("em-reconstruction", ADULT, "age, 83 intervals", em_reconstruction)
    yield Work("rules", ADULT, "support=1%, confidence=50%, 4 items at most", mined_rules)
    yield Work("hide-exactly", ADULT, "10 rules, support=1%", hidden_rules)
    yield Work("cell-bounds", ADULT, "8 attributes, 768 cells", bounds_of_cells)
    yield Work("cell-suppression", ADULT, "workclass and race, from 10", suppressed_cells, ("pytauargus",), (10,))
    yield Work("check-release", ADULT, "k, l, t", check_release, ("pycanon",), needs="released")
    yield Work("check-raw", TEN_COPIES, "k, l, t", check_raw, ("pycanon",), needs="ten-copies")
    for records in SIZES:
        for draw in "drawn", "independent":
            yield Work(f"{draw}-{records}", records, "k=10", partial(mondrian_drawn, records, draw))
    for each in masking.works():
        more = {"peers": each.peers, "k": each.k, "needs": "numbers", "script": "masking.py"}
        yield Work(each.name, each.records, each.parameters, None, **more)
    for each in criteria.works():
        more = {"peers": each.peers, "needs": each.needs, "script": "criteria.py"}
        yield Work(each.name, each.records, each.parameters, None, **more)
    for each in files.works():
        yield Work(each.name, each.records, "k=10", None, script="files.py", asked=each.asked)


class Ready(NamedTuple):
    """What a work is once its input is there: `run` is timed; the others belong to the row of results. `labelled`:
    whether it gives a release of labels, whose loss is measured; cells with noise have no such loss.
    """

    run: object
    parameters: str = ""
    hierarchies: str | None = None
    graded: bool = False
    labelled: bool = True


def mondrian(k, attribute="range"):
    import inputs

    from privnb.privacy_models import KAnonymity
    from privnb.sanitizers import Mondrian

    dataset = inputs.unordered(inputs.adult())
    return Ready(lambda: Mondrian(KAnonymity(k), split_attribute=attribute).sanitize(dataset, rng=0))


def mondrian_drawn(records, draw):
    import inputs

    from privnb.privacy_models import KAnonymity
    from privnb.sanitizers import Mondrian

    table = inputs.drawn(records, independent=draw == "independent")
    found = f"quasi-identifiers=7, combinations={inputs.combinations(table)}"
    dataset = inputs.unordered(table)
    return Ready(lambda: Mondrian(KAnonymity(10)).sanitize(dataset, rng=0), found)


def local_recoding(k):
    import inputs

    from privnb.privacy_models import KAnonymity
    from privnb.sanitizers import LocalRecoding

    folder = os.environ["HIERARCHIES"]
    dataset = inputs.within(folder)
    return Ready(lambda: LocalRecoding(KAnonymity(k)).sanitize(dataset, rng=0), hierarchies=folder)


def full_domain(k):
    import inputs

    from privnb.privacy_models import KAnonymity
    from privnb.sanitizers import FullDomain

    folder = os.environ["HIERARCHIES"]
    dataset = inputs.within(folder)
    sanitizer = FullDomain(KAnonymity(k), suppress=ARX_SUPPRESSED[k])
    return Ready(lambda: sanitizer.sanitize(dataset, rng=0), f"suppress<={ARX_SUPPRESSED[k]}", folder)


def perturbed(name):
    import inputs

    from privnb import sanitizers
    from privnb.microdata.treatment import UNTRUE

    kind, parameters = PERTURBED[name]
    dataset, sanitizer = inputs.raw(inputs.adult()), getattr(sanitizers, kind)(**parameters)
    labelled = sanitizer.treatment not in UNTRUE
    return Ready(lambda: sanitizer.sanitize(dataset, rng=0), repr(sanitizer), labelled=labelled)


def em_reconstruction():
    import inputs

    from privnb.measures.noise.noise_reconstruction import reconstruct_distribution
    from privnb.sanitizers import AdditiveNoise

    dataset = inputs.raw(inputs.adult())
    release = AdditiveNoise(0.25).sanitize(dataset, rng=0)
    cells, law = release.table["age"].to_numpy(), release.columns["age"].law
    said = "age, 83 intervals, Gaussian noise"
    return Ready(lambda: reconstruct_distribution(cells, law, dataset.schema["age"]), said, labelled=False)


def mined_rules():
    from privnb.datasets.dataset import load
    from privnb.miners.baskets import Baskets
    from privnb.miners.rules import itemsets, rules

    baskets = Baskets.of_table(load("adult"))
    said = f"{len(baskets.items)} items, support=1%, confidence=50%, 4 items at most"
    return Ready(lambda: rules(itemsets(baskets, 0.01), 0.5), said, labelled=False)


def hidden_rules():
    from privnb.datasets.dataset import load
    from privnb.miners.baskets import Baskets
    from privnb.sanitizers.tables_and_rules.rule_hiding import hide_exactly

    dataset = load("adult")
    baskets, secret = Baskets.of_table(dataset), find_sensitive_rules(dataset, 0.01, number=10)
    hidden = hide_exactly(baskets, secret, support=0.01)
    said = f"{len(secret)} rules, support=1%, {hidden.deleted} deleted, gap={hidden.gap:.2%}"
    return Ready(lambda: hide_exactly(baskets, secret, support=0.01), said, labelled=False)


def bounds_of_cells():
    import numpy as np
    import pandas as pd

    from privnb.datasets.dataset import load
    from privnb.measures.count_tables.cell_bounds import cell_bounds
    from privnb.microdata.count_tables import TableOfCounts

    people = load("adult").table.astype(object)
    work = people["workclass"].astype(str)
    kinds = [work == "Private", work.str.startswith("Self"), work.str.endswith("gov")]
    columns = {
        "A": np.digitize(people["age"].astype(int), [25, 55]), "B": np.select(kinds, [1, 2, 3], 4),
        "C": people["occupation"].isin(["Exec-managerial", "Prof-specialty"]),
        "D": people["marital-status"].str.startswith("Married"), "E": people["native-country"] == "United-States",
        "F": people["sex"], "G": people["race"] == "White", "H": people["salary"],
    }  # fmt: skip
    table = TableOfCounts.of(pd.DataFrame(columns), list("ABCDEFGH"))
    margins = [table.margin(each) for each in ("ACDGH", "ABFG", "ABCG", "ADFG", "BEFG", "DEFG")]
    return Ready(lambda: cell_bounds(margins), f"{table.counts.size} cells, 6 margins", labelled=False)


def suppressed_cells():
    import inputs
    import numpy as np

    from privnb.microdata.count_tables import TableOfCounts
    from privnb.sanitizers.tables_and_rules.cell_suppression import suppress_small_counts

    table = TableOfCounts.of(inputs.adult(), ["workclass", "race"])
    hidden = np.ma.getmaskarray(suppress_small_counts(table, 10).published).sum()
    return Ready(lambda: suppress_small_counts(table, 10), f"{hidden} entries hidden", labelled=False)


def check_release():
    import inputs

    return _check(inputs.released())


def check_raw():
    import inputs

    from privnb.sanitizers import Identity

    return _check(Identity().sanitize(inputs.raw(inputs.ten_copies()), rng=0))


def _check(release):
    from dataclasses import replace

    from privnb.privacy_models import DistinctDiversity, KAnonymity, TCloseness, grade_release

    models = KAnonymity(2), DistinctDiversity(2, "salary"), TCloseness(0.2, "salary")

    def grade():
        fresh = replace(release)  # a release keeps its classes: finding them is part of the work
        return [float(grade_release(model, fresh)) for model in models]

    return Ready(grade, f"classes={release.classes.max() + 1}", graded=True)


def main(name, once=""):
    work = next(work for work in works() if work.name == name)
    ready = work.does()
    if once:
        ready.run()
        report({"system": f"{system('privnb')}{START}", "parameters": ready.parameters, "peak_mb": peak()})
        return
    result, taken = timed(ready.run, warm=True)
    row = {"system": system("privnb"), "parameters": ready.parameters} | taken
    if ready.graded:
        row["levels"] = result
    elif ready.labelled:
        from loss import penalty

        cells = result.table[result.schema.quasi_identifiers]
        row["loss"] = penalty(cells, len(result), hierarchies=ready.hierarchies)
        if result.suppressed:
            row["parameters"] += f", suppressed={result.suppressed}"
    report(row)


if __name__ == "__main__":
    main(*sys.argv[1:])
