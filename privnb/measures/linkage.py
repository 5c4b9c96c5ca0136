"""How often a neighbour finds a person's row in a release (see `attacks.Linkage`)."""

import math

import numpy as np

from privnb.attacks import Linkage
from privnb.measures.base import measure, wilson
from privnb.microdata import expect
from privnb.microdata.treatment import Unreadable


@measure(kind="privacy", better="lower", bounds=(0, 1), unit="share of people", format="{:%} of people")
def reidentification_rate(attack, dataset, key):
    """Share of people whose row is found by an adversary who knows all quasi-identifiers.

    Each person of the release counts 1 / candidates if their row is a candidate, else 0: no guess is drawn. The
    baseline is 1 / n, a row at random.

    Parameters
    ----------
    attack : Linkage
        Fitted to the release that `key` belongs to.
    dataset : Dataset
    key : integer array (rows,)
        The record of each published row, from `Release.publish`.

    Returns
    -------
    share, low, high : float
        The 95% interval holds for one guess per person, were these people a random sample of many.

    Source: Domingo-Ferrer and Torra, JCAM 164, 2004, record linkage as a measure of disclosure risk.
    """
    share = float(_chances(attack, dataset, key).mean())
    return share, *wilson(share * len(key), len(key))


@measure(kind="privacy", better="lower", bounds=(0, math.inf), unit="people", format="{:,} people", counts_people=True)
def singled_out(attack, dataset, key):
    """People whose own row is their only candidate, so that they are linked for certain.

    Without the release it is 0 (from two records on): the linking that k-anonymity is made against.

    Parameters
    ----------
    attack : Linkage
    dataset : Dataset
    key : integer array (rows,)
        As of `reidentification_rate`.

    Returns
    -------
    int

    Source: Sweeney, IJUFKS 10(5), 2002.
    """
    return int((_chances(attack, dataset, key) == 1).sum())


def _chances(attack, dataset, key):
    expect.kind("attack", attack, Linkage, instead="Give one fitted to the release: Linkage().fit(published).")
    if key is None:
        raise Unreadable(
            "key is None: the rows of this release are nobody's, so no link is right. Choose another sanitizer."
        )
    expect.vector("key", key)
    return attack.chance(dataset.table.iloc[np.sort(key)], attack.truth(dataset, key))
