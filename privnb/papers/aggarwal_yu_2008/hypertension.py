"""Aggarwal and Yu 2008, chapter 5: the worked example whose tables are all made of the same 66 tuples."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import load
from privnb.evaluation.results import row, row_builder, tidy
from privnb.measures.base import state
from privnb.measures.rules.inference_channels import blocked
from privnb.miners.anonymous_tree import anonymous_tree
from privnb.miners.baskets import Baskets
from privnb.miners.rules import itemsets
from privnb.privacy_models import KAnonymity, achieved
from privnb.sanitizers import Identity, Suppress, TopDownSpecialization
from privnb.sanitizers.base import Sanitizer

SUBGROUPS: tuple[dict[str, str], ...] = (
    {},
    {"marital-status": "divorced"},
    {"marital-status": "divorced", "sex": "M"},
    {"marital-status": "been married"},  # what section 5.6 generalizes instead of every sex
    {"hypertension": "Y"},
    {"hypertension": "N"},
    {"sex": "M", "hypertension": "Y"},
    {"sex": "M", "hypertension": "N"},
    {"sex": "F", "hypertension": "Y"},
    {"sex": "F", "hypertension": "N"},
    {"hours": "[40,100)", "hypertension": "Y"},
    {"hours": "[40,100)", "hypertension": "N"},
    # The itemsets of section 5.7.1, and what each tells of those who lack an item
    {"sex": "M"},
    {"hours": "[40,100)"},
    {"marital-status": "been married", "sex": "M"},
    {"marital-status": "been married", "hours": "[40,100)"},
    {"sex": "M", "hours": "[40,100)"},
    {"marital-status": "been married", "sex": "M", "hours": "[40,100)"},
    {"sex": "F", "hours": "[40,100)"},
    {"sex": "M", "hours": "[1,40)"},
    {"sex": "F", "hours": "[1,40)"},
)


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
    rows += [made("tuples", _tuples(table, labels), group=_written(labels)) for labels in SUBGROUPS]
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
    labels = {"A": SUBGROUPS[3], "B": SUBGROUPS[12], "C": SUBGROUPS[13]}
    baskets = Baskets(tuple(labels), np.column_stack([_fits(table, each) for each in labels.values()]))
    raised = blocked(itemsets(baskets, 40 / len(table)), 10)
    made = partial(row, dataset=table.name, parameters="k=10", parameter="k", bound=10, sanitizer="supports raised")
    found = [made("tuples", raised[frozenset(each)], group=each or "everybody") for each in ("C", "")]
    tree = anonymous_tree(table, "hypertension", 11, attributes=["marital-status", "sex"])
    made = partial(row, dataset=table.name, parameters="k=11", parameter="k", bound=11, sanitizer="k-anonymous tree")
    for cells, counts in tree.described():
        for label, people in zip(tree.classes, counts, strict=True):
            leaf = {name: each for name, each in cells.items() if each != "*"} | {"hypertension": label}
            found.append(made("tuples", people, group=_written(leaf)))
    return tidy(found)


def _tuples(table: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """How many tuples have all the `{attribute: label}`."""
    return int(_fits(table, labels).sum())


def _fits(table: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """Which tuples have all of them: bool array (n,)."""
    fits = np.ones(len(table), dtype=bool)
    for name, label in labels.items():
        if name in table.hierarchies:
            fits &= np.isin(table.codes[name], table.hierarchies[name].covered(label))
        else:
            fits &= (table.table[name] == label).to_numpy()
    return fits


def _released(table: pd.DataFrame, sanitizer: Sanitizer) -> pd.DataFrame:
    made, names = row_builder(table, sanitizer, ""), table.schema.quasi_identifiers
    classes = sanitizer.sanitize(table, rng=1).table.groupby(names).size()
    return [
        made("tuples", people, group=_written({n: cell for n, cell in zip(names, cells, strict=True) if cell != "*"}))
        for cells, people in classes.items()
    ]


def _steps(table: pd.DataFrame, sanitizer: Any) -> pd.DataFrame:
    made, rows = row_builder(table, sanitizer, ""), []
    for step in sanitizer.steps(table).query("chosen").itertuples():
        rows.append(made("k_before_step", step.k, group=str(step.step)))
        rows.append(made("anonymity_loss", step.loss, group=f"{step.attribute}: {step.value}"))
    return rows


def _written(labels: pd.DataFrame) -> pd.DataFrame:
    return ", ".join(f"{name}={label}" for name, label in labels.items())
