"""Aggarwal and Yu 2008, chapter 5: the worked example, whose tables all come from the same 66 tuples."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset, load
from privnb.evaluation.results import Row, build_row, make_row_builder, tidy
from privnb.measures.base import register_measure
from privnb.measures.rules.inference_channels import block_channels
from privnb.miners.anonymous_tree import anonymous_tree
from privnb.miners.baskets import Baskets
from privnb.miners.rules import itemsets
from privnb.privacy_models import KAnonymity, grade_release
from privnb.runtime.arrays import BoolArray
from privnb.sanitizers import Identity, Suppress, TopDownSpecialization
from privnb.sanitizers.base import Sanitizer

# The labels of each subgroup, as in the column `group` of results.
SUBGROUPS = (
    "", "marital-status=divorced", "marital-status=divorced, sex=M",
    "marital-status=been married",  # the generalization of section 5.6, instead of that of every sex
    "hypertension=Y", "hypertension=N", "sex=M, hypertension=Y", "sex=M, hypertension=N",
    "sex=F, hypertension=Y", "sex=F, hypertension=N",
    "hours=[40,100), hypertension=Y", "hours=[40,100), hypertension=N",
    # The itemsets of section 5.7.1, and the counts that each reveals of people who lack an item
    "sex=M", "hours=[40,100)", "marital-status=been married, sex=M", "marital-status=been married, hours=[40,100)",
    "sex=M, hours=[40,100)", "marital-status=been married, sex=M, hours=[40,100)",
    "sex=F, hours=[40,100)", "sex=M, hours=[1,40)", "sex=F, hours=[1,40)",
)  # fmt: skip


register_measure("tuples", format="{:,}")
register_measure("lattice_height", format="{:,}")
register_measure("k_before_step", better="higher", format="{:,}")
register_measure("anonymity_loss", better="lower", format="{:,}")


def measure_hypertension() -> pd.DataFrame:
    """Return tidy results of the dataset `hypertension`: the numbers that chapter 5 prints about its 66 tuples.

    The measures are:

    - `tuples`: the number of tuples with the values or labels in `group`. If the sanitizer is `Identity`, these are
      tuples of the table; if the sanitizer is top-down specialization, they are tuples of the release.
    - `k_achieved`: the size of the smallest class.
    - `k_before_step`: the size of the smallest class before a step of top-down specialization.
    - `anonymity_loss`: the decrease of this size in the step.
    - `lattice_height`: the number of levels above the lowest level, added over the two attributes of the lattice.

    The tuples are invented, so small counts are not withheld.

    Source: figures 5.1, 5.2, 5.9 and 5.11, sections 5.2 to 5.7.1.
    """
    table = load("hypertension")
    made, rows = make_row_builder(table, Identity(), ""), []
    rows += [made("tuples", int(_find_tuples(table, group).sum()), group=group) for group in SUBGROUPS]
    heights = [len(table.hierarchies[name].groups) - 1 for name in ("marital-status", "sex")]
    rows.append(made("lattice_height", sum(heights), target="marital-status, sex"))
    for sanitizer in (Identity(), Suppress("sex")):
        release = sanitizer.sanitize(table, rng=1)
        rows.append(make_row_builder(table, sanitizer, "")("k_achieved", grade_release(KAnonymity(2), release)))
    for k in (26, 19, 4):  # figures 5.11 (b), (c) and (d): each table is the last one that its k allows
        sanitizer = TopDownSpecialization(KAnonymity(k), workload="hypertension")
        rows += _count_released(table, sanitizer)
    return tidy(rows + _steps(table, sanitizer))


def measure_hypertension_results() -> pd.DataFrame:
    """Return tidy results of `tuples`: the numbers that chapter 5 prints about published results of its 66 tuples.

    The numbers of section 5.7.1 are the supports of the itemsets that at least 40 tuples contain (A: has been married,
    B: male, C: works 40 hours or more). These supports are raised until no group of fewer than 10 tuples can be derived
    from the supports. The numbers of figure 5.20 are the counts in the leaves of a decision tree by marital status and
    sex; each leaf has at least 11 tuples.
    """
    table = load("hypertension")
    groups = {"A": SUBGROUPS[3], "B": SUBGROUPS[12], "C": SUBGROUPS[13]}
    baskets = Baskets(tuple(groups), np.column_stack([_find_tuples(table, each) for each in groups.values()]))
    raised = block_channels(itemsets(baskets, 40 / len(table)), 10)
    made = partial(
        build_row, dataset=table.name, parameters="k=10", parameter="k", bound=10, sanitizer="supports raised"
    )
    found = [made("tuples", raised[frozenset(each)], group=each or "everybody") for each in ("C", "")]
    tree = anonymous_tree(table, "hypertension", 11, attributes=["marital-status", "sex"])
    made = partial(
        build_row, dataset=table.name, parameters="k=11", parameter="k", bound=11, sanitizer="k-anonymous tree"
    )
    for cells, counts in tree.describe_leaves():
        for label, people in zip(tree.classes, counts, strict=True):
            found.append(made("tuples", people, group=_name_group({**cells, "hypertension": label})))
    return tidy(found)


def _find_tuples(dataset: Dataset, group: str) -> BoolArray:
    """Return, as a boolean array (n,), which tuples have all labels of a group."""
    fits = np.ones(len(dataset), dtype=bool)
    for name, label in (part.split("=") for part in group.split(", ") if part):
        if name in dataset.hierarchies:
            fits &= np.isin(dataset.codes[name], dataset.hierarchies[name].covered(label))
        else:
            fits &= (dataset.table[name] == label).to_numpy()
    return fits


def _count_released(dataset: Dataset, sanitizer: Sanitizer) -> list[Row]:
    made, names = make_row_builder(dataset, sanitizer, ""), dataset.schema.quasi_identifiers
    classes = sanitizer.sanitize(dataset, rng=1).table.groupby(names).size()
    return [made("tuples", n, group=_name_group(dict(zip(names, cells, strict=True)))) for cells, n in classes.items()]


def _steps(dataset: Dataset, sanitizer: TopDownSpecialization) -> list[Row]:
    made, rows = make_row_builder(dataset, sanitizer, ""), []
    for step in sanitizer.steps(dataset).query("chosen").itertuples():
        rows.append(made("k_before_step", step.k, group=str(step.step)))
        rows.append(made("anonymity_loss", step.loss, group=f"{step.attribute}: {step.value}"))
    return rows


def _name_group(labels: Mapping[str, str]) -> str:
    """Return the text in the column `group` for these labels, without the labels "*"."""
    return ", ".join(f"{name}={label}" for name, label in labels.items() if label != "*")
