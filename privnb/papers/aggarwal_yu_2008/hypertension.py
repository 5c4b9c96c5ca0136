"""Aggarwal and Yu 2008, chapter 5: the worked example whose tables are all made of the same 66 tuples."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset, load
from privnb.evaluation.results import Row, row, row_builder, tidy
from privnb.measures.base import state
from privnb.measures.rules.inference_channels import blocked
from privnb.miners.anonymous_tree import anonymous_tree
from privnb.miners.baskets import Baskets
from privnb.miners.rules import itemsets
from privnb.privacy_models import KAnonymity, achieved
from privnb.runtime.arrays import BoolArray
from privnb.sanitizers import Identity, Suppress, TopDownSpecialization
from privnb.sanitizers.base import Sanitizer

# {attribute: label} of each, as results name it in `group`.
SUBGROUPS = (
    "", "marital-status=divorced", "marital-status=divorced, sex=M",
    "marital-status=been married",  # what section 5.6 generalizes instead of every sex
    "hypertension=Y", "hypertension=N", "sex=M, hypertension=Y", "sex=M, hypertension=N",
    "sex=F, hypertension=Y", "sex=F, hypertension=N",
    "hours=[40,100), hypertension=Y", "hours=[40,100), hypertension=N",
    # The itemsets of section 5.7.1, and what each tells of those who lack an item
    "sex=M", "hours=[40,100)", "marital-status=been married, sex=M", "marital-status=been married, hours=[40,100)",
    "sex=M, hours=[40,100)", "marital-status=been married, sex=M, hours=[40,100)",
    "sex=F, hours=[40,100)", "sex=M, hours=[1,40)", "sex=F, hours=[1,40)",
)  # fmt: skip


state("tuples", format="{:,}")
state("lattice_height", format="{:,}")
state("k_before_step", better="higher", format="{:,}")
state("anonymity_loss", better="lower", format="{:,}")


def hypertension() -> pd.DataFrame:
    """What chapter 5 prints of its 66 tuples, measured: tidy results of the dataset `hypertension`.

    `tuples`: how many have the values, or the labels, in `group`; of `Identity` in the table, of top-down
    specialization in its release. `k_achieved`. `k_before_step`: the smallest class before that step of top-down
    specialization; `anonymity_loss`: by how much a specialization makes it smaller. `lattice_height`: levels above
    the lowest, added up. The tuples are nobody's, so small counts stay. Source: figures 5.1, 5.2, 5.9 and 5.11,
    sections 5.2 to 5.7.1.
    """
    table = load("hypertension")
    made, rows = row_builder(table, Identity(), ""), []
    rows += [made("tuples", int(_fits(table, group).sum()), group=group) for group in SUBGROUPS]
    heights = [len(table.hierarchies[name].groups) - 1 for name in ("marital-status", "sex")]
    rows.append(made("lattice_height", sum(heights), target="marital-status, sex"))
    for sanitizer in (Identity(), Suppress("sex")):
        release = sanitizer.sanitize(table, rng=1)
        rows.append(row_builder(table, sanitizer, "")("k_achieved", achieved(KAnonymity(2), release)))
    for k in (26, 19, 4):  # figures 5.11 (b), (c) and (d): each table is the last one that its own k allows
        sanitizer = TopDownSpecialization(KAnonymity(k), workload="hypertension")
        rows += _released(table, sanitizer)
    return tidy(rows + _steps(table, sanitizer))


def hypertension_results() -> pd.DataFrame:
    """What chapter 5 prints of results that are published of the 66 tuples: tidy results of `tuples`.

    Section 5.7.1: itemsets of a support of 40 (A: been married, B: male, C: 40 hours or more), with counts that are
    raised until no group of fewer than 10 follows. Figure 5.20: the leaves of a tree of eleven, by marital status and
    sex.
    """
    table = load("hypertension")
    groups = {"A": SUBGROUPS[3], "B": SUBGROUPS[12], "C": SUBGROUPS[13]}
    baskets = Baskets(tuple(groups), np.column_stack([_fits(table, each) for each in groups.values()]))
    raised = blocked(itemsets(baskets, 40 / len(table)), 10)
    made = partial(row, dataset=table.name, parameters="k=10", parameter="k", bound=10, sanitizer="supports raised")
    found = [made("tuples", raised[frozenset(each)], group=each or "everybody") for each in ("C", "")]
    tree = anonymous_tree(table, "hypertension", 11, attributes=["marital-status", "sex"])
    made = partial(row, dataset=table.name, parameters="k=11", parameter="k", bound=11, sanitizer="k-anonymous tree")
    for cells, counts in tree.described():
        for label, people in zip(tree.classes, counts, strict=True):
            found.append(made("tuples", people, group=_written({**cells, "hypertension": label})))
    return tidy(found)


def _fits(dataset: Dataset, group: str) -> BoolArray:
    """Which tuples have all labels of a group: array (n,)."""
    fits = np.ones(len(dataset), dtype=bool)
    for name, label in (part.split("=") for part in group.split(", ") if part):
        if name in dataset.hierarchies:
            fits &= np.isin(dataset.codes[name], dataset.hierarchies[name].covered(label))
        else:
            fits &= (dataset.table[name] == label).to_numpy()
    return fits


def _released(dataset: Dataset, sanitizer: Sanitizer) -> list[Row]:
    made, names = row_builder(dataset, sanitizer, ""), dataset.schema.quasi_identifiers
    classes = sanitizer.sanitize(dataset, rng=1).table.groupby(names).size()
    return [made("tuples", n, group=_written(dict(zip(names, cells, strict=True)))) for cells, n in classes.items()]


def _steps(dataset: Dataset, sanitizer: TopDownSpecialization) -> list[Row]:
    made, rows = row_builder(dataset, sanitizer, ""), []
    for step in sanitizer.steps(dataset).query("chosen").itertuples():
        rows.append(made("k_before_step", step.k, group=str(step.step)))
        rows.append(made("anonymity_loss", step.loss, group=f"{step.attribute}: {step.value}"))
    return rows


def _written(labels: Mapping[str, str]) -> str:
    """The group of what has these labels, of which "*" is none."""
    return ", ".join(f"{name}={label}" for name, label in labels.items() if label != "*")
