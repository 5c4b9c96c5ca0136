"""How many people are in each of the groups that a risk was measured of."""

import numpy as np

from privnb.evaluation.risks.groups import OTHERS, RARE, groups_of
from privnb.microdata import expect, withholding


def sizes(dataset, names):
    """How many people of a table are in each group.

    Parameters
    ----------
    dataset : Dataset
    names : list of str
        All groups of one risk, as `Groups.among` names them.

    Returns
    -------
    dict of str to int
        Whoever is in no named group of an attribute is among its `OTHERS`. A group of fewer people than are shown is
        left out.
    """
    expect.these(dataset=dataset)
    groups = groups_of(dataset)
    found = {RARE: int(groups.rare.sum())}
    for attribute, (number, labels) in groups.by_attribute.items():
        counts = np.bincount(number, minlength=len(labels)).tolist()
        whole = {f"{attribute}: {label}": count for label, count in zip(labels, counts, strict=True)}
        own = {name: count for name, count in whole.items() if name in names}
        found |= {**own, f"{attribute}: {OTHERS}": dataset.headcount - sum(own.values())}
    return {name: found[name] for name in names if found.get(name, 0) >= withholding.LIMIT}
