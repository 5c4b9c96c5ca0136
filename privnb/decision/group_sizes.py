"""How many people are in each of the groups that a risk was measured of."""

from collections.abc import Sequence

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.evaluation.risks.groups import OTHERS, groups_of
from privnb.microdata import withholding
from privnb.runtime.validation import validated


@validated
def sizes(dataset: Dataset, names: Sequence[str]) -> dict[str, int]:
    """How many people of a table are in each group.

    Parameters
    ----------
    dataset : Dataset
    names : list of str
        All groups of one risk, as `Groups.among` names them.

    Returns
    -------
    dict of str to int
        All are of one partition of the table per attribute, so that no smaller group follows from two of them. A group
        that is none of that partition is left out, and one of few people, or of all but few.
    """
    everybody = np.arange(dataset.headcount)
    found: dict[str, int] = {}
    for partition in groups_of(dataset).among(everybody, withholding.LIMIT):
        counts = {name: int(chosen.sum()) for name, chosen in partition.items()}
        attribute = next(iter(counts)).partition(": ")[0]
        if {name for name in names if name.startswith(f"{attribute}: ")} - {*counts}:
            counts.pop(f"{attribute}: {OTHERS}", None)  # others than those of the risk
        found |= counts
    least, most = withholding.LIMIT, dataset.headcount - withholding.LIMIT
    return {name: found[name] for name in names if least <= found.get(name, 0) <= most}
