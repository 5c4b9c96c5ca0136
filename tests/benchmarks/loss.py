"""One measure of loss for all systems, computed from the labels that they publish."""

import csv
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd

ADULT = Path(__file__).resolve().parents[2] / "data" / "adult" / "adult.toml"
DOMAINS = {name: column.get("domain") for name, column in tomllib.loads(ADULT.read_text())["columns"].items()}
# What the 45,222 complete records hold: the peers take the table's own values for the domain.
DOMAINS["age"] = {"low": 17, "high": 90}
DOMAINS["workclass"].remove("Never-worked")


def penalty(cells, records, counts=1, hierarchies=None):
    """Mean over records and quasi-identifiers of the share of its domain that a cell leaves open: 0 exact, 1 nothing.

    Numbers: width of the range / width of the domain; categories: (values in the label - 1) / (values - 1). A record
    that was suppressed or lost counts 1. `cells`: DataFrame of quasi-identifiers: "17-25", "Male|Female", a label of
    `hierarchies` (a folder of ARX's files) or "*"; `counts`: for how many of the `records` each row stands.
    """
    counts = np.broadcast_to(counts, len(cells))
    spans = 0
    for name in cells:
        codes, labels = pd.factorize(cells[name])
        below = {} if hierarchies is None else leaves(hierarchies, name)
        spans += np.array([_span(str(label), DOMAINS[name], below) for label in labels])[codes]
    lost = records - counts.sum()
    return float(((spans / len(cells.columns)) @ counts + lost) / records)


def hierarchy(folder, name):
    """The lines of ARX's hierarchy file of an Adult attribute: leaf, level 1, ..., *."""
    with open(Path(folder) / f"adult_hierarchy_{name}.csv", encoding="utf-8-sig", newline="") as file:
        return [row for row in csv.reader(file, delimiter=";") if row]


def leaves(folder, name):
    """How many values of the domain lie below each label of a hierarchy."""
    below = {}
    for leaf, *labels in hierarchy(folder, name):
        if isinstance(DOMAINS[name], list) and leaf in DOMAINS[name]:
            for label in {leaf, *labels}:
                below[label] = below.get(label, 0) + 1
    return below


def _span(label, domain, below):
    if label == "*":
        return 1.0
    if isinstance(domain, dict):
        ends = [min(max(float(end), domain["low"]), domain["high"]) for end in label.split("-")]
        return (ends[-1] - ends[0]) / (domain["high"] - domain["low"])
    return ((below.get(label) or len(label.split("|"))) - 1) / (len(domain) - 1)
