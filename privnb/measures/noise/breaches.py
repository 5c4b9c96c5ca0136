"""Privacy breaches (rho1, rho2) by noisy cells of a release, in the worst case and on average, and a bound on breaches.

By Bayes' rule, a published cell makes a value of its record more or less likely. An upward breach occurs if a
probability of at most rho1 becomes at least rho2, and a downward breach occurs if a probability of at least rho2
becomes at most rho1. If noise is at most gamma-amplifying, a published cell multiplies the odds of a value by at most
gamma = e^epsilon, for any prior belief.

Source: Evfimievski, Gehrke, Srikant, "Limiting Privacy Breaches in Privacy Preserving Data Mining", PODS 2003; Aggarwal
and Yu 2008, section 10.2.4.
"""

import math
from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.measures.base import measure
from privnb.microdata.release import Release
from privnb.microdata.treatment import Unreadable, name_column
from privnb.runtime import expect
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.names import join_names
from privnb.runtime.validation import validated

RHO1, RHO2 = 0.05, 0.5  # as in the book's figures: a gamma of 19
CELLS = 2**22  # size of a table of true by published values that is computed at a time


@measure(
    kind="privacy",
    better="lower",
    bounds=(1, math.inf),
    sentence="A noisy row is at most this number of times as likely for one record as for another. Lower protects "
    "more.",
    unit="times",
    format="{:g} times",
)
def amplification(release: Release) -> float:
    """Return the amplification gamma, whose logarithm is the epsilon of local differential privacy.

    Gamma is the product of the factors of all columns with independent noise and of all groups of columns with joint
    noise. If gamma is 1, the release reveals nothing. Gamma is infinite if a cell is impossible for some values. Raises
    Unreadable if no column is noisy, or if the noise has no gamma in closed form.

    Source: Evfimievski, Gehrke, Srikant, PODS 2003, definition 3; Aggarwal and Yu 2008, section 10.2.4.
    """
    found, joint = [], {}
    for name in noisy_columns(release, release.columns):
        law = release.columns[name].noise_law
        if law.together is None:
            attribute = release.schema[name]
            size = attribute.numbers.steps + 1 if attribute.numeric else len(attribute.categories.values)
            with name_column(name):
                found.append(law.amplification(size))
        else:
            joint[law.together] = name
    for together, name in joint.items():
        with name_column(name):
            found.append(together.law.amplification(math.prod(together.sizes)))
    return math.prod(found)


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    title="Upward posterior, worst cell",
    sentence="A noisy cell makes an adversary believe that its record has a given rare value with up to this "
    "probability. Lower protects more.",
    unit="probability",
)
def upward_posterior(dataset: Dataset, release: Release, rho1: float = RHO1) -> float:
    """Return the largest posterior probability of a rare value over all noisy cells.

    A value is rare if at most the share `rho1` of the records have the value. A (rho1, rho2) breach occurs if the
    posterior probability is at least rho2. The adversary knows the shares of the values and the distribution of the
    noise. Raises Unreadable if no value of a noisy column is rare, or if the noise does not determine the probability
    of a cell.

    Parameters
    ----------
    dataset : Dataset
    release : Release
    rho1 : float
        The maximum share of a rare value, above 0 and below 1.

    Source: Evfimievski, Gehrke, Srikant, PODS 2003, definition 2.
    """
    return float(max(np.max(each) for each, _ in _of_cells(dataset, release, rho1, rare=True)))


@measure(
    kind="privacy",
    better="lower",
    bounds=(0, 1),
    title="Upward posterior, mean",
    sentence="A noisy cell makes an adversary believe that its record has a given rare value with this probability, as "
    "a mean over cells. Lower protects more.",
    unit="probability",
)
def mean_upward_posterior(dataset: Dataset, release: Release, rho1: float = RHO1) -> float:
    """Return the mean over noisy cells of the posterior probability of the most likely rare value.

    Only the cells of noisy columns that have rare values count; see `upward_posterior`.

    Parameters
    ----------
    dataset : Dataset
    release : Release
    rho1 : float
        The maximum share of a rare value, above 0 and below 1.

    Source: Evfimievski, Gehrke, Srikant, PODS 2003, definition 2, as a mean.
    """
    found = _of_cells(dataset, release, rho1, rare=True)
    return float(np.mean([np.average(each, weights=times) for each, times in found]))


@measure(
    kind="privacy",
    better="higher",
    bounds=(0, 1),
    title="Downward posterior, worst cell",
    sentence="A noisy cell lowers an adversary's belief that its record has a common value to as little as this "
    "probability. Higher protects more.",
    unit="probability",
)
def downward_posterior(dataset: Dataset, release: Release, rho2: float = RHO2) -> float:
    """Return the smallest posterior probability of a common value over all noisy cells.

    A value is common if at least the share `rho2` of the records have the value. A (rho1, rho2) breach occurs if the
    posterior probability is at most rho1, because the adversary then learns that a person differs from most people. See
    `upward_posterior`.

    Parameters
    ----------
    dataset : Dataset
    release : Release
    rho2 : float
        The minimum share of a common value, above 0 and below 1.

    Source: Evfimievski, Gehrke, Srikant, PODS 2003, definition 2.
    """
    return float(min(np.min(each) for each, _ in _of_cells(dataset, release, rho2, rare=False)))


@measure(
    kind="privacy",
    better="higher",
    bounds=(0, 1),
    title="Downward posterior, mean",
    sentence="A noisy cell lowers an adversary's belief that its record has a common value to this probability, as a "
    "mean over cells. Higher protects more.",
    unit="probability",
)
def mean_downward_posterior(dataset: Dataset, release: Release, rho2: float = RHO2) -> float:
    """Return the mean over noisy cells of the posterior probability of the least likely common value.

    Only the cells of noisy columns that have common values count; see `downward_posterior`.

    Parameters
    ----------
    dataset : Dataset
    release : Release
    rho2 : float
        The minimum share of a common value, above 0 and below 1.

    Source: Evfimievski, Gehrke, Srikant, PODS 2003, definition 2, as a mean.
    """
    found = _of_cells(dataset, release, rho2, rare=False)
    return float(np.mean([np.average(each, weights=times) for each, times in found]))


@validated
def _of_cells(dataset: Dataset, release: Release, rho: float, *, rare: bool) -> list[tuple[FloatArray, IntArray]]:
    """Return a pair of arrays for each noisy column that has rare values, or common values if `rare` is False.

    The first array is, for each distinct cell, the posterior probability of the most likely rare value, or of the least
    likely common value. The second array is the number of records with each distinct cell.
    """
    expect.between("rho1" if rare else "rho2", rho, 0, 1, "it is a probability that may rise or fall")
    names = noisy_columns(release, dataset.schema.published)
    dataset = release.originals(dataset)
    found: list[tuple[FloatArray, IntArray]] = []
    for name in names:
        attribute, law = dataset.schema[name], release.columns[name].noise_law
        gap, lost = (pd.isna(each.table[name]).to_numpy() for each in (dataset, release))
        true, people = np.unique(attribute.public_domain.codes(dataset.table[name][~gap]), return_counts=True)
        prior, missing = people / len(gap), gap.mean()
        asked = prior <= rho if rare else prior >= rho
        of_missing = missing > 0 and (missing <= rho if rare else missing >= rho)
        if not asked.any() and not of_missing:
            continue
        cells, times = np.unique(_seen(attribute, release.table[name][~lost]), return_counts=True)
        step = max(1, CELLS // len(true))
        parts = []
        for begin in range(0, len(cells), step):
            with name_column(name):
                surprise = law.surprise(true[:, np.newaxis], cells[np.newaxis, begin : begin + step])
            joint = prior[:, np.newaxis] * np.exp(surprise.min(axis=0) - surprise)  # the likeliest as 1: no underflow
            after = joint[asked] / joint.sum(axis=0)
            if of_missing:  # a published number excludes a missing one
                after = np.vstack([after, np.zeros(after.shape[1])])
            parts.append(after.max(axis=0) if rare else after.min(axis=0))
        if lost.any():  # and a published missing cell excludes every number
            parts.append([float(of_missing) if rare else float(not asked.any())])
            times = np.append(times, lost.sum())
        found.append((np.concatenate(parts), times))
    if not found:
        which = f"{'at most' if rare else 'at least'} the share {rho:g} of the records"
        raise Unreadable(
            f"the noisy columns, {join_names(names)}, have no value of {which}. Try another "
            f"`{'rho1' if rare else 'rho2'}`."
        )
    return found


def noisy_columns(release: Release, names: Collection[str], what: str = "column") -> list[str]:
    """Return the noisy columns among `names`.

    Raises Unreadable if there are no such columns; `what` describes the columns in the text of the error.
    """
    if found := [name for name in release.treated("noisy") if name in names]:
        return found
    ways = ", ".join(f"{name} is {treatment.kind}" for name, treatment in release.columns.items())
    raise Unreadable(
        f"{release.provenance.sanitizer} has no {what} with noise of a public law: {ways}. For perturbed cells, try an "
        "attack."
    )


def _seen(attribute: Any, cells: Any) -> Array:
    if attribute.numeric:
        return (np.asarray(cells, dtype=float) - attribute.domain.low) / attribute.domain.step
    return attribute.domain.codes(cells)
