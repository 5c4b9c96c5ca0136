"""What releases lose of privacy and of utility, side by side (Li and Li, KDD 2009, sections 4 and 5.2).

Both losses stand against an end of the scale: privacy against the release without quasi-identifiers, utility against
the original. Populations are found once for all the sanitizers of a call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.attributes import secret_name
from privnb.evaluation.cases import Case, Question, ask, possible
from privnb.evaluation.disclosure import disclosures
from privnb.evaluation.predictions import Miners
from privnb.evaluation.results import Row, row_builder, tidy
from privnb.evaluation.utility import workload
from privnb.measures.base import state
from privnb.measures.disclosure.disclosed import tells_few
from privnb.measures.disclosure.gains import deals
from privnb.measures.disclosure.tradeoff import permuted_losses, privacy_losses, revealed_losses, utility_losses
from privnb.measures.utility.populations import SUPPORT, LargePopulations
from privnb.microdata import withholding
from privnb.microdata.counts import coded, most_of_people, once_each
from privnb.microdata.hierarchy import Ordered, Ranges, Taxonomy, with_exact_ends
from privnb.microdata.release import Release
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime.tolerances import EXACT
from privnb.runtime.validation import AttributeName, Folds, Hierarchies, OneOrMore, Share, as_list, validated
from privnb.sanitizers import Identity, Suppress
from privnb.sanitizers.base import Sanitizer

DEALS = 10  # how often the sensitive values are dealt out for a baseline


state(
    "mean_privacy_loss",
    kind="privacy",
    bounds=(0, np.inf),
    sentence="The privacy loss as a mean over people.",
    source="after Li and Li, KDD 2009, section 4.1",
    unit="nats",
    baseline="by chance",
    axis=True,
)
state(
    "certain_disclosure_share",
    kind="privacy",
    sentence="Share of people who lose as much as somebody whose value, the commonest, is disclosed for certain.",
    source="after Li and Li, KDD 2009, section 5.1",
    unit="share of people",
    axis=True,
)
state(
    "worse_than_trivial",
    kind="utility",
    title="Misled about",
    sentence="Share of large groups about which the release is more wrong than one without quasi-identifiers.",
    source="after Li and Li, KDD 2009, section 4.2",
    unit="share of large populations",
    format="{:%} of groups",
    axis=True,
)


@dataclass(frozen=True, eq=False)
class Losses(Question):
    """What a release loses of privacy and utility: the points of Figure 2.

    Parameters
    ----------
    sensitive : str
    distance : str
        One of `tradeoff.DISTANCES`, named in `variant` unless it is the paper's.
    support : float
        How large large populations are, minSup: a share of the records above 0.
    hierarchies : dict of str to Generalization, optional
        Whose nodes tell them, by attribute, where not the dataset's own.

    Rows:

    - `classes`, how many equivalence classes or buckets there are, withheld where all people but a few are one
      alone: of status "not possible" if even all records together break a privacy model, and then no other row.
    - `privacy_loss`, of the worst-off person (P_loss), and `mean_privacy_loss`; baseline: the same classes with the
      sensitive values dealt out at random, mean of ten deals, fewer of large tables. Noise has neither.
    - `certain_disclosure_share`: share of people who lose at least what somebody loses whose value, the commonest,
      is disclosed for certain.
    - `utility_loss` (U_loss); baseline: the release without quasi-identifiers. `worse_than_trivial`: share of large
      populations that the release is more wrong about than that one. Neither in a table without large populations.
    """

    sensitive: str
    distance: str = "Jensen-Shannon"
    support: float = SUPPORT
    hierarchies: Mapping[str, Any] | None = None
    axes = ("privacy_loss", "mean_privacy_loss", "utility_loss", "worse_than_trivial")

    def rows(self, case: Case) -> list[Row]:
        row = partial(case.row, target=self.sensitive)
        release, rows = case.release, []
        populations, trivial, scale = _ends_of_scales(case.dataset, self)
        if release.classes is not None:
            classes = int(release.classes.max()) + 1
            rows.append(row("classes", withholding.Counted(classes, release.headcount, rule=withholding.known)))
            losses = partial(row, variant="" if self.distance == "Jensen-Shannon" else self.distance)
            rows += _of_people(losses, release, self.sensitive, self.distance, scale, case.fewest, case.stream("deal"))
        if populations is not None:
            lost = utility_losses(populations, release)
            rows.append(row("utility_loss", lost.mean(), baseline=trivial.mean()))
            rows.append(row("worse_than_trivial", (lost > trivial + EXACT).mean()))
        return rows


@lru_cache(maxsize=8)
def _ends_of_scales(dataset: Dataset, asked: Losses) -> tuple[Any, ...]:
    """Large populations, what the trivial release loses about each, and the least loss of a disclosed value."""
    populations = large_populations(dataset, asked.sensitive, asked.support, asked.hierarchies)
    trivial = None if populations is None else utility_losses(populations, Suppress().sanitize(dataset, rng=0))
    return populations, trivial, revealed_losses(dataset, asked.sensitive, asked.distance).min()


state("sensitive_share", unit="share of people", format="{:g}")
state(
    "revealed_loss",
    kind="privacy",
    bounds=(0, np.inf),
    sentence="What somebody loses whose sensitive value is disclosed for certain.",
    source="Li and Li, KDD 2009, section 5.1",
    unit="nats",
    format="{:g}",  # also of distances that are shares
)
state("large_populations", format="{:,}")


@validated
def scales(
    dataset: Dataset, *, distance: str = "Jensen-Shannon", support: Share = SUPPORT, fewest: MinCount = LIMIT
) -> pd.DataFrame:
    """How the losses are to be read: what somebody loses whose sensitive value is disclosed for certain, and how many
    large populations there are.

    Parameters
    ----------
    dataset, distance, support
        As of `Losses`, for the first sensitive attribute.
    fewest : int
        Values of fewer people are withheld, together with as many others as hide them.

    Returns
    -------
    DataFrame
        Rows of the original: `sensitive_share` (Q of section 5.1) and `revealed_loss` of each value, in `group`, rising
        by loss. `large_populations`: 0 where no group is so large, or a sensitive attribute has too many values.
    """
    sensitive = secret_name(dataset, None)
    row, revealed = row_builder(dataset, Identity(), 1), revealed_losses(dataset, sensitive, distance)
    column, n = dataset.cells[sensitive], dataset.headcount
    people = column.iloc[once_each(dataset.people, coded(column)[0])].value_counts().reindex(revealed.index)
    commonest = people.sort_values(kind="stable", ascending=False)
    if dataset.people is None:
        everybody = withholding.Margin(n, tuple(commonest.index), rest=False)
        hidden = withholding.suppress(commonest.to_dict(), [everybody], fewest)
    else:  # who has several values is in several of these counts, so that no one follows from the others
        hidden = commonest.index[withholding.tells(commonest.to_numpy(), n, fewest)]
    rows = []
    for value, loss in revealed.items():
        share, loss = (np.nan, np.nan) if value in hidden else (people[value] / n, loss)
        rows.append(row("sensitive_share", share, target=sensitive, group=str(value)))
        rows.append(row("revealed_loss", loss, target=sensitive, group=str(value), better="lower"))
    populations = large_populations(dataset, sensitive, support)
    rows.append(row("large_populations", 0 if populations is None else len(populations), target=sensitive))
    return tidy(rows)


@validated
def direct(
    dataset: Dataset,
    sanitizers: OneOrMore[Sanitizer],
    *,
    miners: Miners = "decision tree",
    folds: Folds = 10,
    fewest: MinCount = LIMIT,
) -> pd.DataFrame:
    """The direct comparison of Brickell and Shmatikov on the same releases: what the adversary gains beside what the
    researcher gains.

    Parameters
    ----------
    dataset : Dataset
    sanitizers : Sanitizer, or list of Sanitizer
        Those that the table cannot have are left out.
    miners : str, estimator, or list of those
        The researcher's, see `miners.reference_set`.
    folds : int
        Of the cross-validation, from 2.
    fewest : int
        Numbers of fewer people are withheld.

    Returns
    -------
    DataFrame
        Of each generalized release the adversary's `accuracy_gain` and `knowledge_gain`, see `disclosures.disclosure`;
        and, where the sensitive attribute has categories, `workload_utility` and `workload_gain` of a researcher who
        predicts it without neutral attributes, see `workload.Gained`.

    Source: Li and Li, section 3.1.
    """
    sensitive = secret_name(dataset, None)
    adversary, researcher = disclosures.Disclosure(sensitive), list[Question]()
    if not dataset.schema[sensitive].numeric:
        researcher = [workload.Gained(sensitive, miners, "", folds)]
    questions = {each: researcher for each in ([*disclosures.trivial(), Identity()] if researcher else [])}
    questions |= {each: [adversary, *researcher] for each in possible(dataset, as_list(sanitizers))}
    runs = [(sanitizer, 1, asked) for sanitizer, asked in questions.items()]
    found = ask(dataset, runs, fewest=fewest, description="gains")
    kept = ("accuracy_gain", "knowledge_gain", "workload_utility", "workload_gain")
    return found[found.measure.isin(kept)].sort_values(
        "measure", key=lambda names: names.map(kept.index), kind="stable"
    )


@validated
def on_lines(dataset: Dataset) -> Dataset:
    """The same dataset with the values of each quasi-identifier on a line, in the order of its hierarchy, so that
    Mondrian cuts between any two of them: numbers as ranges, a taxonomy's categories in the order of its leaves.

    Which hierarchies the paper's Mondrian had is not known. Labels end at values of their classes, as the paper's do:
    such releases are counted, and neither shown nor handed out.
    """
    lines: dict[str, Any] = {}
    for name, own in dataset.hierarchies.items():
        attribute = dataset.schema[name]
        if attribute.numeric:
            lines[name] = Ranges(attribute.numbers, exact=True)
        else:
            lines[name] = Ordered(name, own.leaves, exact=True) if isinstance(own, Taxonomy) else with_exact_ends(own)
    return Dataset(dataset.name, dataset.cells, dataset.schema, lines)


@validated
def large_populations(
    dataset: Dataset, sensitive: AttributeName | None, support: Share = SUPPORT, hierarchies: Hierarchies = None
) -> LargePopulations | None:
    """The large populations of a dataset.

    Parameters
    ----------
    dataset, support, hierarchies
        As of `Losses`.
    sensitive : str or None
        None: their sizes alone are asked for.

    Returns
    -------
    LargePopulations or None
        None where no group is so large, or where the sensitive attribute has too many values to ask for.
    """
    if sensitive is not None:
        dataset.schema[sensitive]  # refuses a name that does not exist
    try:
        return LargePopulations.of(dataset, sensitive, support, hierarchies)
    except ValueError:
        return None


def _of_people(
    row: Callable[..., Row],
    release: Release,
    sensitive: str,
    distance: str,
    scale: float,
    fewest: int,
    seed: Sequence[int],
) -> list[Row]:
    lost, n = most_of_people(privacy_losses(release, sensitive, distance), release.people), release.headcount
    draws = islice(permuted_losses(release, sensitive, distance, rng=seed), deals(len(release), DEALS))
    dealt = (most_of_people(each, release.people) for each in draws)
    chance = np.mean([[each.max(), each.mean()] for each in dealt], axis=0)
    reached = int((lost >= scale - EXACT).sum())
    worst = [lost.max(), chance[0]]
    if worst[0] > 0 and tells_few(release, sensitive, fewest):
        worst = [np.nan, np.nan]
    return [
        row("privacy_loss", worst[0], baseline=worst[1], better="lower"),
        row("mean_privacy_loss", lost.mean(), baseline=chance[1], better="lower"),
        row("certain_disclosure_share", withholding.Counted(reached, n), baseline=0, better="lower"),
    ]
