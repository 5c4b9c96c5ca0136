"""Aggarwal and Yu 2008, chapter 5: the worked example whose tables are all made of the same 66 tuples."""

import numpy as np

from privnb.evaluation.results import row_builder, tidy
from privnb.measures.base import state
from privnb.microdata.dataset import load
from privnb.privacy_models import KAnonymity, achieved
from privnb.sanitizers import Identity, Suppress, TopDownSpecialization

SUBGROUPS = (
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


state("tuples", format="{:,}", axis=False)
state("lattice_height", format="{:,}", axis=False)
state("k_before_step", better="higher", format="{:,}", axis=False)
state("anonymity_loss", better="lower", format="{:,}", axis=False)


def hypertension():
    """What chapter 5 prints of its 66 tuples, measured: tidy results of the dataset `hypertension`.

    `tuples`: how many have the values, or the labels, in `group`; of `Identity` in the table, of top-down
    specialization in its release. `k_achieved`. `k_before_step`: the smallest class before that step of top-down
    specialization; `anonymity_loss`: by how much a specialization makes it smaller. `lattice_height`: levels above
    the lowest, added up. The tuples are nobody's, so small counts stay. Source: figures 5.1, 5.2, 5.9 and 5.11,
    sections 5.2 to 5.7.1.
    """
    table = load("hypertension")
    row, rows = row_builder(table, Identity(), ""), []
    rows += [row("tuples", _tuples(table, labels), group=_written(labels)) for labels in SUBGROUPS]
    heights = [len(table.hierarchies[name].groups) - 1 for name in ("marital-status", "sex")]
    rows.append(row("lattice_height", sum(heights), target="marital-status, sex"))
    for sanitizer in (Identity(), Suppress("sex")):
        release = sanitizer.sanitize(table, rng=1)
        rows.append(row_builder(table, sanitizer, "")("k_achieved", achieved(KAnonymity(2), release)))
    for k in (26, 19, 4):  # figures 5.11 (b), (c) and (d): each table is the last one that its own k allows
        sanitizer = TopDownSpecialization(KAnonymity(k), workload="hypertension")
        rows += _released(table, sanitizer)
    return tidy(rows + _steps(table, sanitizer))


def _tuples(table, labels):
    """How many tuples have all the `{attribute: label}`."""
    fits = np.ones(len(table), dtype=bool)
    for name, label in labels.items():
        if name in table.hierarchies:
            fits &= np.isin(table.codes[name], table.hierarchies[name].covered(label))
        else:
            fits &= (table.table[name] == label).to_numpy()
    return int(fits.sum())


def _released(table, sanitizer):
    row, names = row_builder(table, sanitizer, ""), table.schema.quasi_identifiers
    classes = sanitizer.sanitize(table, rng=1).table.groupby(names).size()
    return [
        row("tuples", people, group=_written({n: cell for n, cell in zip(names, cells, strict=True) if cell != "*"}))
        for cells, people in classes.items()
    ]


def _steps(table, sanitizer):
    row, rows = row_builder(table, sanitizer, ""), []
    for step in sanitizer.steps(table).query("chosen").itertuples():
        rows.append(row("k_before_step", step.k, group=str(step.step)))
        rows.append(row("anonymity_loss", step.loss, group=f"{step.attribute}: {step.value}"))
    return rows


def _written(labels):
    return ", ".join(f"{name}={label}" for name, label in labels.items())
