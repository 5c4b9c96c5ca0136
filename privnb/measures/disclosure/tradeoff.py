"""Privacy loss and utility loss, the two axes of Li and Li's trade-off (KDD 2009, section 4).

Privacy is lost by each person, so the worst-off counts, against what is known without quasi-identifiers. Utility is
lost on what can be said of large populations, so the mean over them counts, against the original. Both are exact for
the people in the table: nobody is sampled, so they have no interval. In nats: natural logarithms, as the paper's 0.692
shows.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.measures.base import measure
from privnb.measures.utility.populations import LargePopulations
from privnb.microdata.counts import once_each, small, tabulate
from privnb.microdata.hierarchy import Taxonomy
from privnb.microdata.release import Release
from privnb.privacy_models import JensenShannonCloseness, TCloseness, tally
from privnb.privacy_models.closeness import jensen_shannon, shares
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Randomness, validated


class _KullbackLeibler(JensenShannonCloseness):
    """As a distance only."""

    def level(self, counts: IntArray, whole: IntArray) -> FloatArray:
        from scipy.special import rel_entr

        return rel_entr(*shares(counts, whole)).sum(axis=1)


# What each distance between the table's values and a class's is: the level of the privacy model that bounds it.
DISTANCES: dict[str, Callable[[float, str], TCloseness | JensenShannonCloseness]] = {
    "Jensen-Shannon": JensenShannonCloseness,
    "Kullback-Leibler": _KullbackLeibler,
    "total variation": TCloseness,
    "earth mover": lambda t, sensitive: TCloseness(t, sensitive, "ordered"),
}


@validated
def privacy_losses(release: Release, sensitive: str, distance: Any = "Jensen-Shannon") -> pd.Series:
    """What each person loses: how far the sensitive values of their class or bucket lie from the whole table's.

    Parameters
    ----------
    release : Release
    sensitive : str
    distance : str or Taxonomy
        One of `DISTANCES`, or a `Taxonomy` of the sensitive values for the earth mover's distance along it.
        "Jensen-Shannon": up to ln 2; "Kullback-Leibler", of the class from the table: up to -ln of the rarest value's
        share; "total variation" and "earth mover" (values in the order of their domain): up to 1.

    Returns
    -------
    float array (n,)
        In the dataset's order: one number per person, so show it only in summary. 0: their class tells no more than the
        table without quasi-identifiers; higher is worse for them.

    Raises
    ------
    Unreadable
        For a release without classes, such as a noisy one.

    Source: section 4.1, P_loss(t).
    """
    release.check_classes("the privacy loss is")
    model = _model(sensitive, distance)
    parts, whole = model.parts(release)
    return np.concatenate([model.level(counts, whole) for counts in parts])[release.classes]


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, math.inf),
    title="Privacy loss of the worst off",
    unit="nats",
    baseline="by chance",
)
def privacy_loss(release: Release, sensitive: str, distance: Any = "Jensen-Shannon") -> float:
    """How far the sensitive values in the worst person's class are from the whole table's. Noise leaves no classes.

    The largest of `privacy_losses`. How to read it: `revealed_losses` says what somebody loses whose value becomes
    known for certain, on Adult's occupation from 0.488 to 0.692 by Jensen-Shannon. Nobody can lose more than the higher
    end. Below the lower end nobody's value is known for certain; above, somebody's may be, or a class may only make a
    rare value likely. The ends belong to the commonest and the rarest value, but by the earth mover's distance, where
    it counts how far a value lies from the others.

    Parameters
    ----------
    release : Release
    sensitive : str
    distance : str or Taxonomy
        As of `privacy_losses`.

    Returns
    -------
    float
        In nats for the first two of `DISTANCES`, a share of 1 for the others.

    Source: Li and Li, KDD 2009, section 4.1, P_loss; its reading: section 5.1.
    """
    return float(privacy_losses(release, sensitive, distance).max())


@validated
def permuted_losses(
    release: Release, sensitive: str, distance: Any = "Jensen-Shannon", *, rng: Randomness
) -> pd.Series:
    """`privacy_losses` of the same classes with the sensitive values permuted at random, again and again.

    Small classes differ from the whole table by chance alone. That is a loss too: people are believed to be what their
    class shows. But it tells nothing true of anybody. See `gains.permuted_gains`.

    Parameters
    ----------
    release : Release
    sensitive : str
    distance : str or Taxonomy
        As of `privacy_losses`.
    rng : int, Generator or None

    Yields
    ------
    float array (n,)
        Without end.
    """
    release.check_classes("the privacy loss is")
    model, (groups, values, people) = _model(sensitive, distance), release.of_people(sensitive)
    codes, width = tally(model, values, release.schema[sensitive])
    generator, codes = np.random.default_rng(rng), small(codes, width)
    while True:
        dealt = generator.permutation(codes)
        once, everybody = once_each(people, groups, dealt), once_each(people, dealt)
        counts = tabulate(groups[once], dealt[once], (groups.max() + 1, width))
        yield model.level(counts, np.bincount(dealt[everybody], minlength=width))[release.classes]


@validated
def revealed_losses(dataset: Dataset, sensitive: str, distance: Any = "Jensen-Shannon") -> pd.Series:
    """What a person would lose if their sensitive value became known for certain.

    The scale for `privacy_loss`: the commoner a value, the less there is to lose.

    Parameters
    ----------
    dataset : Dataset
    sensitive : str
    distance : str or Taxonomy
        As of `privacy_losses`.

    Returns
    -------
    Series
        By value that occurs, rising.

    Source: section 5.1.
    """
    dataset.schema[sensitive]  # refuses a name that does not exist
    model, column = _model(sensitive, distance), dataset.cells[sensitive]
    codes, width = tally(model, column, dataset.schema[sensitive])
    held, first = np.unique(codes, return_index=True)
    losses = model.level(np.eye(width, dtype=np.int64)[held], np.bincount(codes, minlength=width))
    return pd.Series(losses, index=pd.Index(column.iloc[first], name=sensitive), name="privacy loss").sort_values()


@validated
def utility_losses(populations: LargePopulations, release: Release) -> pd.Series:
    """How wrong a release is about each large population: the Jensen-Shannon divergence between its true and its
    estimated distribution of the sensitive attribute.

    The estimate takes every value of a generalized cell as equally likely, every sensitive value of a bucket for each
    of its people, `*` as any value of the public domain, and a noisy number as the nearest of its domain. It does not
    try to undo noise.

    Parameters
    ----------
    populations : LargePopulations
        Of the original.
    release : Release

    Returns
    -------
    Series
        By predicate, in nats. 0: the estimate is right; at most ln 2; lower is better.

    Source: section 4.2, U_loss(y).
    """
    counted = populations.counts, populations.estimated(release)
    losses = jensen_shannon(*(each / each.sum(axis=1, keepdims=True) for each in counted))
    index = pd.Index(populations.predicates, name="population")
    return pd.Series(losses.clip(0), index=index, name="utility loss")  # rounding must not fall below


@measure(kind="utility", better="lower", bounds=(0, math.log(2)), unit="nats", baseline="trivial release")
def utility_loss(populations: LargePopulations, release: Release) -> float:
    """How wrong the release is about large groups of people.

    The mean of `utility_losses`, every population with equal weight; 0 as the original. How to read it: a release
    without quasi-identifiers gives every population the whole table's distribution; on Adult that costs 0.05. Only what
    lies below tells something about groups. It depends on the hierarchies whose nodes are asked about: compare releases
    by the same `populations`.

    Source: Li and Li, KDD 2009, section 4.2, U_loss; its reading: section 5.1.
    """
    return float(utility_losses(populations, release).mean())


def _model(sensitive: str, distance: Any) -> Any:
    """A privacy model whose level is the distance; its bound plays no part."""
    if isinstance(distance, Taxonomy):
        return TCloseness(0.5, sensitive, distance)
    if not (isinstance(distance, str) and distance in DISTANCES):
        known = ", ".join(DISTANCES)
        raise UsageError(f"a distance is a Taxonomy or one of {known}, got {expect.found(distance)}.")
    return DISTANCES[distance](0.5, sensitive)
