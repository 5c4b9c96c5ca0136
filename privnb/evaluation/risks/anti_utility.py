"""Anti-utility: the people for whom a miner that learns from the release comes nearer to the truth than the release.

The full question, with its scenarios and controls, is `nearer_predictions`. This module measures scenario A with a few
fast miners, and subtracts the control that does not need a release.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.evaluation.disclosure.nearer_predictions import A, build_scenarios
from privnb.evaluation.evaluation_loop import Case, Question
from privnb.evaluation.predictions import Miners, WithMiners, name_miners, predict_in_sample, resolve_miners
from privnb.evaluation.results import Row
from privnb.evaluation.risks.scores import Scores, find_people
from privnb.measures.base import register_measure
from privnb.microdata.release import Release
from privnb.microdata.treatment import Rows, Unreadable
from privnb.miners import select_able
from privnb.runtime.arrays import FloatArray, IntArray

MINERS = "decision stump, naive Bayes, decision tree"  # all three predict labels, two predict numbers

register_measure(
    "anti_utility_risk",
    kind="privacy",
    bounds=(-1, 1),
    title="Anti-utility risk",
    sentence="This is the share of people for whom a miner that learns from the release comes nearer to the truth than "
    "the released value, minus the share for a guess without the release.",
    source="after Sramka et al. 2010, section 4.4, scenario A",
    unit="share of people",
    baseline="the guess without the release",
    axis=True,
)


@dataclass(frozen=True)
class AntiUtilityRisk(WithMiners, Question):
    """The share of people whose target is predicted nearer to the truth than released, minus a bare guess's share.

    No prediction is nearer than a cell that was released unchanged.

    Parameters
    ----------
    target : str
        The target; if empty, the table has no quasi-identifier, and nothing is measured.
    miners : str, estimator, or list of those
        The miners; the risk is that of the miner which comes nearer to the truth for the most people.
    """

    target: str
    miners: Miners = MINERS
    primary_measure = "anti_utility_risk"

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
        if not self.target:
            raise Unreadable(
                f"'{case.dataset.name}' has no quasi-identifier to predict. Give a column the role quasi-identifier."
            )
        scores, who = self.scores(case)
        return scores.rows(partial(self.row(case), miner=who), case.dataset, case.min_count)

    def scores(self, case: Case) -> tuple[Scores, str]:
        """Return the `Scores` of the people and the name of the miner."""
        dataset, release, target = case.dataset, case.release, self.target
        kind = release.columns[target].kind if target in release.columns else ""
        if kind == "exact" and release.provenance.rows is not Rows.SYNTHETIC:
            people = find_people(dataset, release)
            return _scores(np.zeros(len(people)), np.zeros(len(people)), people), ""
        if target not in release.cells:
            raise Unreadable(
                f"the release has no column '{target}' with which predictions could be compared. Name another column."
            )
        if (
            release.provenance.rows is not Rows.SYNTHETIC
            and not select_able(resolve_miners(self.miners), release.table[target])[0]
        ):
            raise Unreadable(
                f"no miner of {name_miners(self.miners)} predicts '{target}' in the form that the release publishes. "
                "Name another miner."
            )
        people = np.arange(dataset.headcount)
        if release.records is not None:
            dataset, release, people = _without_others(dataset, release)
        found = predict_in_sample(release, target, self.miners, rng=case.stream("publish"))
        if not found.guesses:
            reasons = filter(None, found.reasons.values())
            raise Unreadable(next(reasons, f"no miner of {name_miners(self.miners)} makes a guess."))
        judged = build_scenarios(target, dataset.headcount)[A].score({target: found}, dataset, release)
        who = max(judged.by_miner, key=lambda name: judged.by_miner[name].sum())
        return _scores(judged.by_miner[who], judged.baseline, people), who


def _without_others(dataset: Dataset, release: Release) -> tuple[Dataset, Release, IntArray]:
    """Return the records of a subset as a dataset, their release, and their people, an integer array (people,)."""
    part = release.originals(dataset)
    own = replace(release, records=None, provenance=replace(release.provenance, rows=Rows.RECORDS))
    if part.people is None or dataset.people is None:
        return part, own, np.asarray(release.records)
    people = np.empty(part.headcount, dtype=np.int64)
    people[part.people] = dataset.people[release.records]
    return part, own, people


def _scores(nearer: FloatArray, without: FloatArray, people: IntArray) -> Scores:
    return Scores(nearer.astype(float), without.astype(float), people, gain=True, counted=True, worst=False)
