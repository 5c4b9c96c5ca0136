"""Shares of people who are right, certain or alone together with their class."""

import numpy as np

from privnb.evaluation.results import guessed
from privnb.measures.intervals import of_classes
from privnb.microdata import withholding


def share_in_classes(who: np.ndarray, classes: np.ndarray | None) -> withholding.Counted:
    """Return the share of people `who`, boolean array (m,), with the 95% interval of a sample of classes.

    >>> share_in_classes(np.arange(40) < 20, np.arange(40) // 10).shown(10)[0]
    0.5
    """
    found = guessed(int(who.sum()), len(who))
    return found if classes is None else found._replace(interval=of_classes(who, classes))
