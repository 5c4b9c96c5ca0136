"""Shares of people who are right, certain or alone together with their class."""

import numpy as np

from privnb.evaluation.results import guessed
from privnb.measures.intervals import of_classes
from privnb.microdata import withholding


def share_in_classes(
    who: np.ndarray, classes: np.ndarray | None, limit: int = withholding.LIMIT
) -> tuple[float, float, float]:
    """Return the share of people `who`, boolean array (m,), with the 95% interval of a sample of classes: value, low,
    high. It is withheld with its bounds alone where it counts few people, as `results.guessed` does.

    >>> share_in_classes(np.arange(40) < 20, np.arange(40) // 10)[0]
    0.5
    """
    if classes is None:
        return guessed(int(who.sum()), len(who), limit)
    share, *bounds = withholding.share(int(who.sum()), len(who), limit)
    return (share, *bounds) if np.isnan(share) else (share, *of_classes(who, classes))
