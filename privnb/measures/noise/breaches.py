"""(rho1, rho2) privacy breaches by the noisy cells of a release, worst and on average, and what bounds them.

By Bayes' rule a published cell makes a value of its record likelier or less likely. It is an upward breach where a
value at most rho1 likely becomes at least rho2 likely, and a downward one where it falls from rho2 to rho1. Whatever is
believed before, noise that is at most gamma-amplifying multiplies no odds by more than gamma = e^epsilon.

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
from privnb.microdata.treatment import Unreadable, of_column
from privnb.runtime import expect
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.names import name_list
from privnb.runtime.validation import validated

RHO1, RHO2 = 0.05, 0.5  # of the book's figures: a gamma of 19
CELLS = 2**22  # of a table of true values by published ones at a time


@measure(kind="privacy", better="lower", bounds=(1, math.inf), unit="times", format="{:g} times")
def amplification(release: Release) -> float:
    """How many times likelier a noisy row is for one record than for another, at most.

    Gamma. Columns that are drawn by themselves multiply theirs, those that are drawn together count once. Its logarithm
    is the epsilon of local differential privacy. 1 tells nothing; infinite where some values exclude a cell.

    Unreadable where nothing is noisy, and for a law without this closed form.

    Source: Evfimievski, Gehrke, Srikant, PODS 2003, definition 3; Aggarwal and Yu 2008, section 10.2.4.
    """
    found, joint = [], {}
    for name in noisy_columns(release, release.columns):
        law = release.columns[name].noise_law
        if law.together is None:
            attribute = release.schema[name]
            size = attribute.numbers.steps + 1 if attribute.numeric else len(attribute.categories.values)
            with of_column(name):
                found.append(law.amplification(size))
        else:
            joint[law.together] = name
    for together, name in joint.items():
        with of_column(name):
            found.append(together.law.amplification(math.prod(together.sizes)))
    return math.prod(found)


@measure(kind="privacy", better="lower", bounds=(0, 1), unit="probability", title="Upward posterior, worst cell")
def upward_posterior(dataset: Dataset, release: Release, rho1: float = RHO1) -> float:
    """How sure an adversary becomes of a rare value by one noisy cell, in the worst case.

    Of all values that at most `rho1` of the records have, and of all noisy cells as published. A breach (rho1, rho2)
    where it reaches rho2. It is of a single value. The
    adversary knows the shares of the values and the law.

    Unreadable where no value of a noisy column is so rare, and for a law that does not say how likely a cell is.

    Parameters
    ----------
    dataset : Dataset
    release : Release
    rho1 : float
        Above 0, below 1.

    Returns
    -------
    float

    Source: Evfimievski, Gehrke, Srikant, PODS 2003, definition 2.
    """
    return float(max(np.max(each) for each, _ in _of_cells(dataset, release, rho1, rare=True)))


@measure(kind="privacy", better="lower", bounds=(0, 1), unit="probability", title="Upward posterior, mean")
def mean_upward_posterior(dataset: Dataset, release: Release, rho1: float = RHO1) -> float:
    """How sure an adversary becomes of a rare value by one noisy cell, on average.

    Of each noisy cell the likeliest of the values that at most `rho1` of the records have; the mean over all cells of
    noisy columns with such values. See `upward_posterior`.

    Parameters
    ----------
    dataset : Dataset
    release : Release
    rho1 : float
        Above 0, below 1.

    Returns
    -------
    float

    Source: Evfimievski, Gehrke, Srikant, PODS 2003, definition 2, as a mean.
    """
    found = _of_cells(dataset, release, rho1, rare=True)
    return float(np.mean([np.average(each, weights=times) for each, times in found]))


@measure(kind="privacy", better="higher", bounds=(0, 1), unit="probability", title="Downward posterior, worst cell")
def downward_posterior(dataset: Dataset, release: Release, rho2: float = RHO2) -> float:
    """How unlikely a common value becomes by one noisy cell, in the worst case.

    Of all values that at least `rho2` of the records have. A breach (rho1, rho2) where it falls to rho1: to learn that
    somebody is not as most are is to learn something. See `upward_posterior`.

    Parameters
    ----------
    dataset : Dataset
    release : Release
    rho2 : float
        Above 0, below 1.

    Returns
    -------
    float

    Source: Evfimievski, Gehrke, Srikant, PODS 2003, definition 2.
    """
    return float(min(np.min(each) for each, _ in _of_cells(dataset, release, rho2, rare=False)))


@measure(kind="privacy", better="higher", bounds=(0, 1), unit="probability", title="Downward posterior, mean")
def mean_downward_posterior(dataset: Dataset, release: Release, rho2: float = RHO2) -> float:
    """How unlikely a common value becomes by one noisy cell, on average.

    Of each noisy cell the least likely of the values that at least `rho2` of the records have; the mean over all cells
    of noisy columns with such values. See `downward_posterior`.

    Parameters
    ----------
    dataset : Dataset
    release : Release
    rho2 : float
        Above 0, below 1.

    Returns
    -------
    float

    Source: Evfimievski, Gehrke, Srikant, PODS 2003, definition 2, as a mean.
    """
    found = _of_cells(dataset, release, rho2, rare=False)
    return float(np.mean([np.average(each, weights=times) for each, times in found]))


@validated
def _of_cells(dataset: Dataset, release: Release, rho: float, *, rare: bool) -> list[tuple[FloatArray, IntArray]]:
    """Of each noisy column with such values a pair: of each distinct cell the posterior of the likeliest rare value, or
    of the least likely common one, and how many records have that cell.
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
            with of_column(name):
                surprise = law.surprise(true[:, np.newaxis], cells[np.newaxis, begin : begin + step])
            joint = prior[:, np.newaxis] * np.exp(surprise.min(axis=0) - surprise)  # the likeliest as 1: no underflow
            after = joint[asked] / joint.sum(axis=0)
            if of_missing:  # a number is not missing
                after = np.vstack([after, np.zeros(after.shape[1])])
            parts.append(after.max(axis=0) if rare else after.min(axis=0))
        if lost.any():  # and what is missing is no number
            parts.append([float(of_missing) if rare else float(not asked.any())])
            times = np.append(times, lost.sum())
        found.append((np.concatenate(parts), times))
    if not found:
        which = f"{'at most' if rare else 'at least'} {rho:g} of the records have"
        raise Unreadable(f"{name_list(names)}, which have noise, hold no value that {which}. Give another bound.")
    return found


def noisy_columns(release: Release, names: Collection[str], what: str = "column") -> list[str]:
    """The noisy columns among `names`. Raises Unreadable where there is none; `what` they would be."""
    if found := [name for name in release.treated("noisy") if name in names]:
        return found
    ways = ", ".join(f"{name} is {treatment.kind}" for name, treatment in release.columns.items())
    raise Unreadable(
        f"{release.provenance.sanitizer} has no {what} with noise of a public law: {ways}. What perturbed cells give "
        "away, attacks find."
    )


def _seen(attribute: Any, cells: Any) -> Array:
    if attribute.numeric:
        return (np.asarray(cells, dtype=float) - attribute.domain.low) / attribute.domain.step
    return attribute.domain.codes(cells)
