"""Privacy loss and utility loss, which are the two axes of the trade-off of Li and Li (KDD 2009, section 4).

Privacy concerns single people, so the privacy loss is the loss of the worst-off person, compared with the table without
quasi-identifiers. Utility concerns statements about large populations, so the utility loss is a mean over populations,
compared with the original table. Both losses are exact for the people in the table, who are not a sample, so the losses
have no interval. The unit is nats, because the number 0.692 in the paper shows that the authors use natural logarithms.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.measures.base import measure
from privnb.measures.utility.populations import LargePopulations
from privnb.microdata.counts import select_person_rows, shrink_codes, tabulate
from privnb.microdata.hierarchy import Taxonomy
from privnb.microdata.release import Release
from privnb.privacy_models import JensenShannonCloseness, TCloseness, tally
from privnb.privacy_models.closeness import jensen_shannon, shares
from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import Randomness, validated


class _KullbackLeibler(JensenShannonCloseness):
    """The Kullback-Leibler divergence in the form of a privacy model, which sanitizers do not enforce."""

    def level(self, counts: IntArray, whole: IntArray) -> FloatArray:
        """Return the Kullback-Leibler divergence of each class from the table, as a float array (classes,)."""
        from scipy.special import rel_entr

        return rel_entr(*shares(counts, whole)).sum(axis=1)


# Each distance between a class and the table is the level of the privacy model that bounds it.
DISTANCES: dict[str, Callable[[float, str], TCloseness | JensenShannonCloseness]] = {
    "Jensen-Shannon": JensenShannonCloseness,
    "Kullback-Leibler": _KullbackLeibler,
    "total variation": TCloseness,
    "earth mover": lambda t, sensitive: TCloseness(t, sensitive, "ordered"),
}


@validated
def privacy_losses(release: Release, sensitive: str, distance: Any = "Jensen-Shannon") -> pd.Series:
    """Return each person's privacy loss, the distance between the person's class or bucket and the whole table.

    Parameters
    ----------
    release : Release
    sensitive : str
    distance : str or Taxonomy
        One of `DISTANCES`, or a `Taxonomy` of the sensitive values, for the earth mover's distance along this taxonomy.
        "Jensen-Shannon" is at most ln 2. "Kullback-Leibler" is the divergence of the class from the table, and is at
        most -ln of the share of the rarest value. "total variation" and "earth mover", which uses the order of the
        values in their domain, are at most 1.

    Returns
    -------
    float array (n,)
        The losses in the dataset's order. There is one number per person, so publish only summaries of these numbers. A
        loss of 0 means that the class reveals no more than the table without quasi-identifiers; higher is worse for the
        person.

    Raises
    ------
    Unreadable
        If the release has no classes, for example because of noise.

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
    title="Privacy loss of the worst-off person",
    sentence="This is the largest distance between the sensitive values in any person's class and those in the whole "
    "table; noisy releases have no classes, so this loss is not defined for them. Lower protects more.",
    unit="nats",
    baseline="by chance",
)
def privacy_loss(release: Release, sensitive: str, distance: Any = "Jensen-Shannon") -> float:
    """Return the largest of the `privacy_losses` of all people.

    Compare the privacy loss with the results of `compute_revealed_losses`, the losses of a person whose value becomes
    known with certainty. For the attribute occupation of Adult, these losses are from 0.488 to 0.692 nats by
    Jensen-Shannon. No person can have a loss above the larger number. If the privacy loss is below the smaller number,
    no person's value is known with certainty. If the privacy loss is above the smaller number, either some person's
    value is known with certainty, or a class only makes a rare value likely. The smaller number is the loss for the
    most common value, and the larger number is the loss for the rarest value. The exception is the earth mover's
    distance, for which the losses also depend on the distances between values.

    Parameters
    ----------
    release : Release
    sensitive : str
    distance : str or Taxonomy
        See `privacy_losses`.

    Returns
    -------
    float
        The loss: in nats for the first two of `DISTANCES`, and from 0 to 1 for the other distances.

    Source: Li and Li, KDD 2009, section 4.1, P_loss; for the interpretation, section 5.1.
    """
    return float(privacy_losses(release, sensitive, distance).max())


@validated
def permute_losses(release: Release, sensitive: str, distance: Any = "Jensen-Shannon", *, rng: Randomness) -> pd.Series:
    """Yield, without end, the `privacy_losses` of the same classes with randomly permuted sensitive values.

    Small classes differ from the whole table by chance alone. Such a difference also counts as a loss, because people
    are judged by their class, but the difference reveals nothing true about a person. See `gains.permute_gains`.

    Parameters
    ----------
    release : Release
    sensitive : str
    distance : str or Taxonomy
        See `privacy_losses`.
    rng : int, Generator or None

    Yields
    ------
    float array (n,)
    """
    release.check_classes("the privacy loss is")
    model, (groups, values, people) = _model(sensitive, distance), release.of_people(sensitive)
    codes, width = tally(model, values, release.schema[sensitive])
    generator, codes = np.random.default_rng(rng), shrink_codes(codes, width)
    while True:
        dealt = generator.permutation(codes)
        once, everybody = select_person_rows(people, groups, dealt), select_person_rows(people, dealt)
        counts = tabulate(groups[once], dealt[once], (groups.max() + 1, width))
        yield model.level(counts, np.bincount(dealt[everybody], minlength=width))[release.classes]


@validated
def compute_revealed_losses(dataset: Dataset, sensitive: str, distance: Any = "Jensen-Shannon") -> pd.Series:
    """Return the privacy loss of a person whose sensitive value becomes known with certainty, by value.

    These losses are the scale for `privacy_loss`. A more common value has a smaller loss.

    Parameters
    ----------
    dataset : Dataset
    sensitive : str
    distance : str or Taxonomy
        See `privacy_losses`.

    Returns
    -------
    Series
        The loss for each value that occurs, in ascending order.

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
    """Return the error of the estimates from a release about each large population.

    The error is the Jensen-Shannon divergence between the true and the estimated distribution of the sensitive
    attribute. The estimate treats all values of a generalized cell as equally likely, all sensitive values of a bucket
    as equally likely for each person in the bucket, and all values of the public domain as equally likely for `*`. A
    noisy number counts as the nearest value of its domain; the estimate does not undo noise.

    Parameters
    ----------
    populations : LargePopulations
        The populations of the original.
    release : Release

    Returns
    -------
    Series
        The error of each population in nats, by predicate: 0 if the estimate is correct, and at most ln 2. Lower is
        better.

    Source: section 4.2, U_loss(y).
    """
    counted = populations.counts, populations.estimated(release)
    losses = jensen_shannon(*(each / each.sum(axis=1, keepdims=True) for each in counted))
    index = pd.Index(populations.predicates, name="population")
    return pd.Series(losses.clip(0), index=index, name="utility loss")  # rounding must not go below 0


@measure(
    kind="utility",
    better="lower",
    bounds=(0, math.log(2)),
    sentence="This is the mean divergence between the sensitive values of large groups of people as estimated from "
    "the release and the true sensitive values. Lower is better.",
    unit="nats",
    baseline="trivial release",
)
def utility_loss(populations: LargePopulations, release: Release) -> float:
    """Return the mean of `utility_losses`, with equal weight for every population; 0 for the original.

    From a release without quasi-identifiers, the estimate for every population is the distribution in the whole table;
    on Adult, the loss of such a release is 0.05. Only a release with a smaller loss is informative about groups. The
    populations depend on the hierarchies whose nodes define the populations, so compare releases only by the same
    `populations`.

    Source: Li and Li, KDD 2009, section 4.2, U_loss; for the interpretation, section 5.1.
    """
    return float(utility_losses(populations, release).mean())


def _model(sensitive: str, distance: Any) -> Any:
    """Return a privacy model whose level is the given distance; the bound of the model has no effect."""
    if isinstance(distance, Taxonomy):
        return TCloseness(0.5, sensitive, distance)
    if not (isinstance(distance, str) and distance in DISTANCES):
        known = ", ".join(DISTANCES)
        raise UsageError(f"`distance` must be a Taxonomy or one of {known}; got {expect.describe_value(distance)}.")
    return DISTANCES[distance](0.5, sensitive)
