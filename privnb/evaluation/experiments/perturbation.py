"""What perturbed releases keep and hide: the family, the R-U map, and the score of the literature on masking.

Source: Aggarwal and Yu (eds.) 2008, chapter 3; Duncan, Keller-McNulty, Stokes, "Disclosure risk vs. data utility: the
R-U confidentiality map", 2001.
"""

import os
from collections.abc import Sequence
from typing import Any

import pandas as pd

from privnb.datasets.dataset import Dataset, load
from privnb.evaluation.attributes import first_number
from privnb.evaluation.cases import evaluate
from privnb.evaluation.combinations import FLOOR, Floor
from privnb.evaluation.every_sanitizer import appraised
from privnb.evaluation.store import Folder
from privnb.evaluation.utility.masking_score import MaskingScore
from privnb.microdata.schema import NotForThisTable
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.privacy_models import KAnonymity
from privnb.runtime import expect
from privnb.runtime.validation import validated
from privnb.sanitizers import Sanitizer, catalogue

OF = ("noisy", "perturbed", "synthetic", "suppressed", "exact")  # treatments of what does not generalize


def perturbing(dataset: Dataset, *, k: Any = 10, epsilon: Any = 1.0) -> list[Sanitizer]:
    """One sanitizer of each kind that changes, draws, blanks or leaves out instead of generalizing: a list.

    Parameters
    ----------
    dataset : Dataset
    k : int
        Of those that form groups.
    epsilon : float
        Of those with differential privacy.

    Returns
    -------
    list of Sanitizer

    Raises
    ------
    NotForThisTable
        Where none fits, as for a table with a key of people.
    """
    first_number(dataset)  # there is nothing to perturb without a quasi-identifier
    found = catalogue.family(dataset, k=k, epsilon=epsilon, of=OF)
    if not found:
        raise NotForThisTable(
            f"no sanitizer that perturbs fits '{dataset.name}': all of them promise something of a record alone, or "
            "change quasi-identifiers that it has not. Choose another table or study."
        )
    return found


@validated
def with_numbers(dataset: Dataset) -> Dataset:
    """The dataset. Raises NotForThisTable where no quasi-identifier is a number, or people have several records."""
    first_number(dataset)  # there is nothing to perturb without a quasi-identifier
    if dataset.schema.person:
        raise NotForThisTable(
            f"noise is taken off numbers of records, and people of '{dataset.name}' may have several. Choose another "
            "table."
        )
    if not any(dataset.schema[name].numeric for name in dataset.schema.quasi_identifiers):
        raise NotForThisTable(
            f"'{dataset.name}' has no number among its quasi-identifiers, so that no noise can be taken off. Give a "
            "column of numbers that role."
        )
    return dataset


@validated
def compared(dataset: Dataset, records: int) -> Dataset:
    """The dataset, or a random sample of it, for what compares each record with each.

    Parameters
    ----------
    dataset : Dataset
    records : int
        The most that are compared, from 100.

    Returns
    -------
    Dataset
    """
    expect.whole("SAMPLE", records, 100)
    return dataset if len(dataset) <= records else dataset.sample(records, rng=0)


@validated
def mapped(
    dataset: Dataset,
    family: Sequence[Sanitizer],
    *measures: str,
    k: int = 10,
    floor: Floor = FLOOR,
    fewest: MinCount = LIMIT,
    store: Folder = "",
) -> pd.DataFrame:
    """How often people are linked, and what is lost, of perturbed releases and of those that generalize: the points of
    the R-U map.

    Parameters
    ----------
    dataset : Dataset
        Of a few thousand records: each is compared with each.
    family : list of Sanitizer
        Of `perturbing`.
    *measures : str
        The two axes, of `evaluation.every_sanitizer.axes`.
    k : int
        Of those that generalize.
    floor : int
        As of `evaluation.combinations`.
    fewest : int
        Counts and shares of fewer people are withheld.
    store : str
        The folder that keeps what is finished; empty: none.

    Returns
    -------
    DataFrame
        Rows of `evaluation.every_sanitizer.appraised`, of one seed.
    """
    expect.all_of("family", family, Sanitizer, instead="perturbing(dataset) gives them.")
    every = [*catalogue.reference_sanitizers(), *catalogue.generalizing(dataset, KAnonymity(k)), *family]
    return appraised(dataset, every, *measures, seeds=1, floor=floor, fewest=fewest, store=store)


def masking_scores(*, fewest: int = LIMIT, store: str | os.PathLike[str] = "") -> pd.DataFrame:
    """The score of masking, and its parts, of each kind that masks numbers, on the table `census`: tidy results.

    Parameters
    ----------
    fewest : int
        Shares of fewer people are withheld.
    store : str
        The folder that keeps what is finished; empty: none.

    Returns
    -------
    DataFrame
        Rows of `MaskingScore`.
    """
    census = load("census")
    found = evaluate(census, perturbing(census), measures=[MaskingScore()], fewest=fewest, store=store)
    return found[found.status != "refused"]
