"""What perturbed releases keep and hide: the family, the R-U map, and the score of the literature on masking.

Source: Aggarwal and Yu (eds.) 2008, chapter 3; Duncan, Keller-McNulty, Stokes, "Disclosure risk vs. data utility: the
R-U confidentiality map", 2001.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from privnb.attacks import OneToOne, ProbabilisticLinkage
from privnb.datasets.dataset import Dataset, load
from privnb.evaluation.attributes import first_number
from privnb.evaluation.cases import Case, Linked, Question, evaluate
from privnb.evaluation.combinations import FLOOR, Floor
from privnb.evaluation.every_sanitizer import appraised
from privnb.evaluation.results import Row
from privnb.evaluation.store import Folder
from privnb.measures.base import state
from privnb.measures.utility import masking
from privnb.microdata import withholding
from privnb.microdata.schema import NotForThisTable
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.privacy_models import KAnonymity
from privnb.runtime import expect
from privnb.runtime.validation import validated
from privnb.sanitizers import Sanitizer, catalogue

OF = ("noisy", "perturbed", "synthetic", "suppressed", "exact")  # treatments of what does not generalize


state(
    "masking_score",
    kind="privacy",
    bounds=(0, float("inf")),
    title="Score of masking",
    sentence="Half the loss and half the risk of masked numbers, both in points: the mean of two things that an owner "
    "may weigh otherwise.",
    source="Domingo-Ferrer and Torra, 2001; Aggarwal and Yu 2008, section 3.6.1",
    unit="points",
    baseline="the original",
)


@dataclass(frozen=True)
class MaskingScore(Question):
    """The score of Domingo-Ferrer and Torra, and all that it is made of: rows of `masking_loss`, `nearest_record_rate`,
    `rank_interval_rate`, `reidentification_rate` (by agreements, one to one) and `masking_score`.

    score = (loss + (50 nearest + 50 linked + 100 in intervals) / 2) / 2. The adversary knows the masked numbers alone.
    The baseline of the score is that of the original, which loses nothing and is found always: 50.
    """

    main = "masking_score"

    def rows(self, case: Case) -> list[Row]:
        dataset, release = case.dataset, case.release
        loss = masking.masking_loss(dataset, release)
        nearest, near = masking.nearest_record_rate(dataset, release), masking.rank_interval_rate(dataset, release)
        n = release.headcount
        published, masked = dataset.schema.published, release.treated("noisy", "perturbed")
        names = tuple(name for name in masked if name in published and dataset.schema[name].numeric)
        found = Linked(OneToOne(ProbabilisticLinkage(names))).rows(case)
        score = (loss + 100 * (0.5 * nearest + 0.5 * found[0]["value"] + near) / 2) / 2
        return [
            case.row("masking_loss", loss),
            case.row("nearest_record_rate", withholding.Counted(nearest * n, n), baseline=1 / n),
            case.row("rank_interval_rate", near),
            *found,
            # With all its other parts the score would give back how many records are nearest.
            case.row("masking_score", withholding.Revealing(score, nearest * n, n), baseline=50.0),
        ]


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


def masking_scores(*, fewest: int = LIMIT, store: Folder = "") -> pd.DataFrame:
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
