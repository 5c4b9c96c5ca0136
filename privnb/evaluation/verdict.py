"""The verdict on a sanitizer in an owner's scenario (Sramka et al. 2010, section 2).

`Scenario(GoodUtility("salary"), AntiUtility("age")).judge(dataset, KMember(10))` is the paper's scenario A.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.evaluation_loop import Case
from privnb.evaluation.predictions import resolve_miners
from privnb.evaluation.results import join_results, make_row_builder, summarize_miners, tidy
from privnb.evaluation.utility.good_utility import build_good_utility_rows
from privnb.evaluation.utility.utilities import AntiUtility, GoodUtility, GuessValues, build_anti_utility_rows
from privnb.measures.utility import mining
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime import expect
from privnb.runtime.errors import UsageError
from privnb.runtime.sentences import strip_markup
from privnb.runtime.tolerances import EXACT
from privnb.runtime.validation import OneOrMore, Randomness, as_list, validated
from privnb.runtime.wording import line
from privnb.sanitizers import Identity
from privnb.sanitizers.base import Sanitizer


@dataclass(frozen=True)
class Acceptance:
    """The decision of the owner on a sanitizer; its truth value states whether the sanitizer is acceptable.

    `breaks` holds the miner that violates each threshold, `{"good": name, "bad": name}`; thresholds that hold are left
    out. `numbers` holds, as texts, the value that violates each threshold, and the threshold.
    """

    breaks: Mapping[str, str]
    numbers: Mapping[str, tuple[str, str]]

    @property
    def reason(self) -> str:
        """Return a text with the violated thresholds and the miners that violate these thresholds."""
        return strip_markup(line("evaluation/verdict", "reason", self.breaks, self.numbers))

    def __bool__(self) -> bool:
        return not self.breaks


@dataclass(frozen=True, eq=False, repr=False)
class ScenarioVerdict:
    """The verdict on a sanitizer in a scenario.

    The sanitizer is (1 - `delta`, L)-utility-preserving and (`average`, `worst`, `worst_miner`)-privacy-losing in the
    sense of section 2. `original` and `utility` hold the good utility by miner, on the original and on the release.
    `utility_baseline` is the good utility of the best single answer. `delta` is the largest utility decline, at least
    0, and `declines_most` is the miner with this decline. `anti_utility` holds the anti-utility by miner; `average` and
    `worst` are the mean and the maximum over miners, and `worst_miner` is the miner with the maximum. `worst_by_person`
    is the anti-utility if each person is attacked by the worst miner for this person. `baseline` is the anti-utility of
    the guess without the release. A lower anti-utility means better protection. `left_out` holds, for the sets "good"
    and "bad", the miners that cannot guess the columns of this release and are left out of all numbers.

    `table` holds all numbers as tidy `results`, with numbers of fewer than `min_count` people withheld. The other
    fields are exact and only for the owner.
    """

    sanitizer: object
    original: Mapping[str, float]
    utility: Mapping[str, float]
    utility_baseline: float
    delta: float
    declines_most: str
    anti_utility: Mapping[str, float]
    average: float
    worst: float
    worst_miner: str
    worst_by_person: float
    baseline: float
    left_out: Mapping[str, tuple[str, ...]]
    table: pd.DataFrame = field(repr=False)

    def __repr__(self) -> str:
        return (
            f"Verdict({self.sanitizer!r}: ({1 - self.delta:.4f}, {{{', '.join(self.utility)}}})-utility-preserving; "
            f"anti-utility {self._shown('average')} on average, {self._shown('worst')} at worst)"
        )

    def acceptable(self, min_good: float, max_bad: int) -> Acceptance:
        """Decide whether each miner of L keeps enough utility, and no miner of M gains too much (section 2.1).

        Parameters
        ----------
        min_good : float
            The smallest acceptable share, 1 - delta, of the original's good utility, from 0 to 1.
        max_bad : float
            The largest acceptable anti-utility of any miner, in the unit of the scenario, which is people if each guess
            counts as 0 or 1. If infinite, there is no cap.

        Returns
        -------
        Acceptance
        """
        # An infinite cap means that there is no cap.
        numbers = expect.is_number(min_good) and (
            expect.is_number(max_bad) or (isinstance(max_bad, float) and max_bad == np.inf)
        )
        if not (numbers and 0 <= min_good <= 1 and max_bad >= 0):
            raise UsageError(
                "`min_good` must be a share of the original's good utility from 0 to 1, and `max_bad` must be at "
                f"least 0; got {expect.describe_value(min_good)} and {expect.describe_value(max_bad)}."
            )
        breaks, broken = {}, {}
        if 1 - self.delta < min_good - EXACT:  # 1 - 0.9 is a little less than 0.1
            breaks["good"], broken["good"] = self.declines_most, (f"{1 - self.delta:.2%}", f"{min_good:.2%}")
        if self.worst > max_bad:
            breaks["bad"], broken["bad"] = self.worst_miner, (self._shown("worst"), f"{max_bad:g}")
        return Acceptance(breaks, broken)

    def _shown(self, which: str) -> str:
        """Return an anti-utility as the table shows it."""
        rows = self.table[(self.table.measure == "anti_utility") & (self.table.miner == which)]
        value = rows.value.item()
        return "withheld (few people)" if np.isnan(value) else f"{value:g}"


@dataclass(frozen=True, eq=False)
class Scenario:
    """The good utility that an owner wants of a release, and the anti-utility that the owner fears (section 2).

    Parameters
    ----------
    good : GoodUtility
    bad : AntiUtility
    """

    good: GoodUtility
    bad: AntiUtility

    def __post_init__(self) -> None:
        expect.kind("good", self.good, GoodUtility)
        expect.kind("bad", self.bad, AntiUtility)

    @validated
    def judge(
        self, dataset: Dataset, sanitizer: Sanitizer, *, rng: Randomness = 1, min_count: MinCount = LIMIT
    ) -> ScenarioVerdict:
        """Return the verdict on one sanitizer in this scenario.

        Parameters
        ----------
        dataset : Dataset
        sanitizer : Sanitizer
        rng : int or Generator
            A seed or a random generator; a seed gives the same noise as in `evaluation`.
        min_count : int
            Counts of fewer people are withheld in the table of the verdict.

        Returns
        -------
        Verdict

        Raises
        ------
        UsageError
            If a miner's good utility on the original is not positive, so that its decline is not defined, or if miners
            cannot read the release.
        """
        return self.compare(dataset, [sanitizer], rng=rng, min_count=min_count)[0]

    @validated
    def compare(
        self, dataset: Dataset, sanitizers: OneOrMore[Sanitizer], *, rng: Randomness = 1, min_count: MinCount = LIMIT
    ) -> list[ScenarioVerdict]:
        """Return the verdicts on several sanitizers; the original is mined only once.

        Parameters
        ----------
        dataset : Dataset
        sanitizers : Sanitizer, or list of Sanitizer
        rng, min_count
            See `judge`.

        Returns
        -------
        list of ScenarioVerdict
            The verdicts, in the order of the sanitizers.
        """
        seed = int(rng) if isinstance(rng, int | np.integer) else int(np.random.default_rng(rng).integers(2**32))
        original = self.good.scored(Case(dataset, Identity(), seed))
        cases = (Case(dataset, sanitizer, seed, min_count=min_count) for sanitizer in as_list(sanitizers))
        return [self._verdict(case, original) for case in cases]

    def _verdict(self, case: Case, original: GuessValues) -> ScenarioVerdict:
        good, bad = self.good.scored(case), self.bad.scored(case)
        delta, declines_most = mining.utility_preserving(original.utilities, good.utilities)
        average, worst, worst_miner = mining.average_and_worst(bad.utilities)
        sets = {"good": (self.good.miners, good), "bad": (self.bad.miners, bad)}
        return ScenarioVerdict(
            sanitizer=case.sanitizer,
            original=original.utilities,
            utility=good.utilities,
            utility_baseline=mining.sum_weighted(good.baseline, good.weights),
            delta=delta,
            declines_most=declines_most,
            anti_utility=bad.utilities,
            average=average,
            worst=worst,
            worst_miner=worst_miner,
            worst_by_person=mining.sum_weighted(mining.worst_by_person(bad.by_miner), bad.weights),
            baseline=mining.sum_weighted(bad.baseline, bad.weights),
            left_out={
                side: tuple(m.name for m in resolve_miners(names) if m.name not in scores.by_miner)
                for side, (names, scores) in sets.items()
            },
            table=self._table(case, original, good, bad),
        )

    def _table(self, case: Case, original: GuessValues, good: GuessValues, bad: GuessValues) -> pd.DataFrame:
        as_is, feared = make_row_builder(case.dataset, Identity(), case.seed), partial(case.row, target=self.bad.label)
        kept = tidy(
            each
            for made, scores in ((as_is, original), (case.row, good))
            for each in build_good_utility_rows(made, self.good.label, scores, original, case.min_count)
        )
        lost = build_anti_utility_rows(feared, bad, case.min_count)
        together = bad._replace(by_miner={"worst by person": mining.worst_by_person(bad.by_miner)})
        return join_results(
            kept,
            summarize_miners(kept[kept.measure == "utility_decline"], averages=False),
            lost,
            build_anti_utility_rows(feared, together, case.min_count),
            summarize_miners(lost),
        )
