"""Risk and information loss of perturbed releases: a family of sanitizers, the R-U map and the masking score.

Source: Aggarwal and Yu (eds.) 2008, chapter 3; Duncan, Keller-McNulty, Stokes, "Disclosure risk vs. data utility: the
R-U confidentiality map", 2001.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import pandas as pd

from privnb.attacks import OneToOne, ProbabilisticLinkage
from privnb.datasets.dataset import Dataset, load
from privnb.evaluation.attributes import choose_target
from privnb.evaluation.combination_sizes import MIN_CLASS_SIZE, MinClassSize
from privnb.evaluation.evaluation_loop import Case, LinkageQuestion, Question, evaluate
from privnb.evaluation.results import Row, join_results
from privnb.evaluation.sanitizer_family import evaluate_family, evaluate_release
from privnb.evaluation.store import Folder
from privnb.measures.base import register_measure
from privnb.measures.utility import masking
from privnb.microdata import withholding
from privnb.microdata.schema import NotForThisTable
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.privacy_models import KAnonymity
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import instead, optional, validated
from privnb.sanitizers import Sanitizer, catalogue
from privnb.sanitizers.made_elsewhere import GivenRelease

TREATMENTS = ("noisy", "perturbed", "synthetic", "suppressed", "exact")  # of sanitizers that do not generalize


register_measure(
    "masking_score",
    kind="privacy",
    bounds=(0, float("inf")),
    title="Score of masking",
    sentence="This is the mean of the information loss and the disclosure risk of masked numbers, both in points. An "
    "owner may weight them differently.",
    source="Domingo-Ferrer and Torra, 2001; Aggarwal and Yu 2008, section 3.6.1",
    unit="points",
    baseline="the original",
)


@dataclass(frozen=True)
class MaskingScore(Question):
    """Question about the masking score of Domingo-Ferrer and Torra, and about the parts of the score.

    The parts are `masking_loss`, `nearest_record_rate`, `rank_interval_rate` and the `reidentification_rate` of
    one-to-one linkage by agreements. With these four parts in this order, the score is (loss + (50 nearest + 100 in
    intervals + 50 linked) / 2) / 2. The adversary knows only the original values of the masked numbers. The baseline is
    50, the score of the original table, in which nothing is lost and every record is linked.
    """

    primary_measure = "masking_score"

    def rows(self, case: Case) -> list[Row]:
        """Return the rows of a case."""
        dataset, release = case.dataset, case.release
        loss = masking.masking_loss(dataset, release)
        nearest, near = masking.nearest_record_rate(dataset, release), masking.rank_interval_rate(dataset, release)
        n = release.headcount
        published, masked = dataset.schema.published, release.treated("noisy", "perturbed")
        names = tuple(name for name in masked if name in published and dataset.schema[name].numeric)
        found = LinkageQuestion(OneToOne(ProbabilisticLinkage(names))).rows(case)
        score = (loss + 100 * (0.5 * nearest + 0.5 * found[0]["value"] + near) / 2) / 2
        return [
            case.row("masking_loss", loss),
            case.row("nearest_record_rate", withholding.ReportedCount(nearest * n, n), baseline=1 / n),
            case.row("rank_interval_rate", near),
            *found,
            # The score and its other parts together would reveal the number of records in `nearest_record_rate`.
            case.row("masking_score", withholding.Revealing(score, nearest * n, n), baseline=50.0),
        ]


def build_perturbing_family(dataset: Dataset, *, k: Any = 10, epsilon: Any = 1.0) -> list[Sanitizer]:
    """Return one sanitizer of each kind that perturbs, synthesizes or suppresses values instead of generalizing values.

    Parameters
    ----------
    dataset : Dataset
    k : int
        The k of the sanitizers that form groups.
    epsilon : float
        The privacy budget of the sanitizers with differential privacy.

    Returns
    -------
    list of Sanitizer

    Raises
    ------
    NotForThisTable
        If no such sanitizer fits the table, for example because the table has a person column.
    """
    choose_target(dataset)  # raises if there is no quasi-identifier
    found = catalogue.build_one_per_class(dataset, k=k, epsilon=epsilon, of=TREATMENTS)
    if not found:
        raise NotForThisTable(
            f"no sanitizer that perturbs fits '{dataset.name}': each such sanitizer makes a promise about single "
            "records, or changes quasi-identifiers that the table does not have. Choose another table or study."
        )
    return found


@validated
def check_noise_removable(dataset: Dataset) -> Dataset:
    """Return the dataset if an attack can remove noise from its numbers.

    Raises
    ------
    NotForThisTable
        If no quasi-identifier is numeric, or if people may have several records.
    """
    choose_target(dataset)  # raises if there is no quasi-identifier
    if dataset.schema.person:
        raise NotForThisTable(
            f"the attack removes noise from single records, and people of '{dataset.name}' may have several records. "
            "Choose another table."
        )
    if not any(dataset.schema[name].numeric for name in dataset.schema.quasi_identifiers):
        raise NotForThisTable(
            f"'{dataset.name}' has no number among its quasi-identifiers, so there is no noise to remove. Give a "
            "column of numbers the role quasi-identifier."
        )
    return dataset


@validated
def sample_compared(dataset: Dataset, records: int) -> Dataset:
    """Return the dataset or, for measures that compare each record with every other record, a random sample.

    Parameters
    ----------
    dataset : Dataset
    records : int
        The largest number of records to compare, at least 100.

    Returns
    -------
    Dataset
    """
    expect.whole("SAMPLE", records, 100)
    return dataset if len(dataset) <= records else dataset.sample(records, rng=0)


@validated
def measure_risk_and_loss(
    dataset: Dataset,
    family: Sequence[Sanitizer],
    *measures: str,
    k: int = 10,
    min_class_size: MinClassSize = MIN_CLASS_SIZE,
    min_count: MinCount = LIMIT,
    store: Folder = "",
    release: GivenRelease = None,
    whole: Annotated[Dataset | None, optional(instead(Dataset, Dataset.HINT))] = None,
) -> pd.DataFrame:
    """Measure the linkage risk and the information loss of perturbed and generalized releases.

    The results are the points of the R-U map.

    Parameters
    ----------
    dataset : Dataset
        A dataset of at most a few thousand records, because each record is compared with every other record.
    family : list of Sanitizer
        The sanitizers, such as those of `build_perturbing_family`.
    *measures : str
        The measures of the two axes, as `evaluation.sanitizer_family.choose_axes` returns them.
    k : int
        The k of the sanitizers that generalize.
    min_class_size : int
        The minimum class size, as in `evaluation.measure_combinations`.
    min_count : int
        Counts and shares of fewer people are withheld.
    store : str
        The folder that stores finished results; if empty, results are not stored.
    release : MadeElsewhere, optional
        A release that another tool made from `whole`, whose rows for the people of `dataset` are measured too.
    whole : Dataset, optional
        All records, of which `dataset` may be a sample; required together with `release`.

    Returns
    -------
    DataFrame
        The rows of `evaluation.sanitizer_family.evaluate_family` for one seed.
    """
    expect.all_of("family", family, Sanitizer, instead="perturbing(dataset) gives them.")
    every = [*catalogue.reference_sanitizers(), *catalogue.build_generalizing(dataset, KAnonymity(k)), *family]
    given: dict[str, Any] = {"min_class_size": min_class_size, "min_count": min_count}
    results = evaluate_family(dataset, every, *measures, seeds=1, store=store, **given)
    if release is None:
        return results
    if whole is None:
        raise UsageError("`whole` must be the dataset from which the release was made; got None. Give this dataset.")
    made = release.release_of_sample(whole, dataset)
    return join_results(results, evaluate_release(dataset, release, made, *measures, **given))


def measure_masking_scores(*, min_count: int = LIMIT, store: Folder = "") -> pd.DataFrame:
    """Measure the masking score and its parts for each kind of sanitizer that masks numbers, on the table `census`.

    Parameters
    ----------
    min_count : int
        Shares of fewer people are withheld.
    store : str
        The folder that stores finished results; if empty, results are not stored.

    Returns
    -------
    DataFrame
        The rows of `MaskingScore`, as tidy results.
    """
    census = load("census")
    found = evaluate(
        census, build_perturbing_family(census), measures=[MaskingScore()], min_count=min_count, store=store
    )
    return found[found.status != "refused"]
