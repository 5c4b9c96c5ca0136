"""What an adversary with ready-made miners gains from a release: nearer predictions, beside what chance alone gives,
and whom they hit (Sramka et al. 2010, section 4.4, Table 2). Counts of few people are withheld.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.evaluation.cases import Case, Question
from privnb.evaluation.people import groups
from privnb.evaluation.predictions import AsksMiners, Miners, fused, mine, miners_of, stream, unseen
from privnb.evaluation.results import SUMMARIES, Row, guessed, join, mark_withheld, tidy, withheld
from privnb.evaluation.utility.utilities import AntiUtility, Scores, bad_rows, failed_rows, shown_baseline, unit
from privnb.measures.base import state
from privnb.measures.utility import mining
from privnb.microdata import withholding
from privnb.microdata.release import Release
from privnb.miners import weka
from privnb.miners.miner import Failed
from privnb.runtime import expect
from privnb.runtime.arrays import Array, FloatArray
from privnb.runtime.validation import Seed, Share, validated

DEALS = 20  # how often the worst miner's guesses are dealt to the people
BLIND_FOLDS = 5  # how often a miner is kept from a part of the people
TOGETHER = "worst by person"
GUESS = "the guess"
A, B, C, W = (("A", ""), ("B", ""), ("C", ""), ("W", ""))  # scenario and variant
# The scenarios whose people are among those of others.
WITHIN = {A: (), ("A", "distinct"): (A,), B: (A,), C: (A,), ("C", "distinct"): (C, A)}


state(
    "nearer_share",
    kind="privacy",
    title="Who is hit",
    sentence="Share of a group for whom the worst miner's prediction is nearer to the truth, whatever the scenario.",
    source="after Sramka et al. 2010, section 4.4",
    unit="share of the group",
)


@dataclass(frozen=True)
class Nearer(AsksMiners, Question):
    """People for whom a prediction of `target` is nearer to the truth than what was released (Table 2).

    Each miner learns from the release and predicts the released records themselves.

    Rows `anti_utility` of each scenario, see `scenarios`, in people, with the guess without the release as baseline: of
    each miner; of two fusions of them; of each person's own worst miner; and of three controls: ZeroR, the worst
    miner's guesses dealt to the people at random ("permuted"), and its guesses of people whom it did not learn from
    ("held-out"). Rows `nearer_share`: whom the worst miner of scenario A hits, by `group`.

    Parameters
    ----------
    target : str
    miners : str, estimator, or list of those
        See `miners.reference_set`. Of Weka's, run one by one, there are only their
        own rows, or one whose `status` says why there is none.
    c, share, weights
        As of `scenarios`.
    """

    target: str
    miners: Miners = "five"
    c: float = 0
    share: float = 0.05
    weights: str = ""

    main = "anti_utility"
    reorders = varies = True

    def rows(self, case: Case) -> pd.DataFrame:
        dataset, release, seed, target, fewest = case.dataset, case.release, case.seed, self.target, case.fewest
        feared = scenarios(target, dataset.headcount, c=self.c, share=self.share, weights=self.weights, seed=seed)
        if dataset.people is not None:  # records that are alike may be several people's
            feared = {named: _of_people(idea, dataset) for named, idea in feared.items() if named[1] != "distinct"}
        order = case.stream("publish")
        members = [miner for miner in miners_of(self.miners) if not miner.name.startswith("fusion")]
        bare = weka.is_weka(members[0].name)
        found = mine(release, target, members, rng=order)
        row = partial(case.row, target=target)
        parts = [tidy(failed_rows(row, "anti_utility", found))]
        if not found.guesses:
            return parts[0]
        if not bare:
            fusions = fused(release, target, members, found.guesses)
            zero = {"ZeroR": mine(release, target, "majority", rng=order).guesses["majority"]}
            by_name = {miner.name: miner for miner in members}
            blind = cache(lambda name: _blind(release, target, by_name[name], seed))
        for named, idea in feared.items():
            scores, (scenario, variant) = idea.score({target: found}, dataset, release), named
            made = partial(row, scenario=scenario, variant=variant)
            parts.append(_without_few_of_a_weight(scenario, bad_rows(made, scores, fewest), scores, fewest))
            if bare:
                continue
            _, _, worst = mining.average_and_worst(scores.utilities)
            for others, column in ((fusions, "miner"), (zero | {"held-out": blind(worst)}, "control")):
                worths = {name: idea.worth({target: guess}, dataset, release) for name, guess in others.items()}
                if column == "miner":
                    worths[TOGETHER] = mining.worst_by_person(scores.by_miner)
                beside = scores._replace(by_miner=worths)
                rows = _without_few_of_a_weight(scenario, bad_rows(made, beside, fewest), beside, fewest)
                parts.append(rows if column == "miner" else rows.assign(control=rows.miner, miner=""))
            rng, guessed = (
                np.random.default_rng(case.stream(f"deal {'_'.join(filter(None, named))}")),
                found.guesses[worst],
            )
            dealt = [idea.worth({target: rng.permutation(guessed)}, dataset, release) for _ in range(DEALS)]
            parts.append(_permuted(made, scores, worst, dealt, fewest, scenario))
            if named == A and dataset.people is None:  # a person of several groups is counted in none
                parts.append(_who_is_hit(row, dataset, scores, worst, fewest))
        return _apart(join(*(part for part in parts if len(part))), fewest)


def _blind(release: Release, target: str, miner: Any, seed: int) -> Array:
    """What a miner guesses of people whom it did not learn from: array (n,). Raises Failed where it cannot."""
    found = unseen(release, target, [miner], folds=BLIND_FOLDS, seed=seed)
    if miner.name in found.failed:
        raise Failed(found.reasons[miner.name])
    return found.guesses[miner.name]


def _apart(results: pd.DataFrame, fewest: int) -> pd.DataFrame:
    """The results without the numbers that, taken from a larger one that is shown, would leave few people: of distinct
    records beside all, of scenarios B and C beside A, of each miner beside each person's own worst miner.
    """
    results = results.copy()
    case, who = ["scenario", "variant"], ["miner", "control"]
    counts = results[(results.measure == "anti_utility") & pd.MultiIndex.from_frame(results[case]).isin(WITHIN)]
    guess = counts.drop_duplicates(case).assign(miner=GUESS, control="", value=lambda rows: rows.baseline)
    cells = pd.concat([counts, guess]).dropna(subset="value")
    shown = {(row[:2], row[2:4]): row[4] for row in cells[[*case, *who, "value"]].itertuples(index=False, name=None)}
    margins, together = [], (TOGETHER, "")
    for cell in shown:
        feared, (miner, control) = cell
        within = [(each, cell[1]) for each in WITHIN[feared]]
        if not control and miner not in (GUESS, *SUMMARIES):
            within += [(each, together) for each in (feared, *WITHIN[feared])]
        margins += [withholding.Margin(each, (cell,)) for each in within if each in shown]
    order = sorted(shown, key=lambda cell: (cell[1] == together, list(WITHIN).index(cell[0])))
    hidden = withholding.suppress({cell: shown[cell] for cell in order}, margins, fewest)
    of = [(row[:2], row[2:]) for row in results[[*case, *who]].itertuples(index=False, name=None)]
    of_it = results.measure == "anti_utility"
    results.loc[of_it & np.array([cell in hidden for cell in of]), ["value", "low", "high"]] = np.nan
    unguessed = of_it & np.array([(feared, (GUESS, "")) in hidden for feared, _ in of])
    return mark_withheld(results.assign(baseline=results.baseline.mask(unguessed)))


@validated
def scenarios(
    target: str, n: int, *, c: float = 0, share: Share = 0.05, weights: str = "", seed: Seed = 1
) -> dict[tuple[str, str], AntiUtility]:
    """What the owner fears, by scenario and variant (section 4.4).

    Parameters
    ----------
    target : str
        The attribute that predictions come nearer to.
    n : int
        People in the table.
    c : float
        How much nearer, in per cent, 0 to 100.
    share : float
        Of the people whom C protects, above 0 to 1.
    weights : str
        Interest weights of W, as `mining.interest_of` reads them; empty: no W.
    seed : int
        Of the lot that chooses C's people, the same for all sanitizers.

    Returns
    -------
    dict of (scenario, variant) to AntiUtility
        A: everybody, any prediction that is `c` %-nearer. B: everybody, exact predictions. C: as A, of a share of the
        people. W: as A, with interest weights. Variant "distinct" of A and C: each distinct released record counted
        once, by the first person of it, as the paper's numbers suggest that it did.
    """
    expect.text("target", target, "the attribute that predictions come nearer to")
    expect.kind("weights", weights, str, instead="Write them as CONDITION: WEIGHT; empty: all alike.")
    mining.check_c(c)
    nearer = {target: partial(mining.nearer, c=c)}
    chosen = mining.selected(n, share, rng=stream(seed, None, "scenario C"))
    feared = {
        A: AntiUtility(nearer),
        ("A", "distinct"): AntiUtility(nearer, weights=partial(_distinct, np.ones(n))),
        B: AntiUtility({target: partial(mining.nearer, c=100)}),
        C: AntiUtility(nearer, weights=chosen),
        ("C", "distinct"): AntiUtility(nearer, weights=partial(_distinct, chosen)),
    }
    return feared | ({W: AntiUtility(nearer, weights=mining.interest_of(weights))} if weights else {})


def _of_people(idea: Any, dataset: Dataset) -> AntiUtility:
    """The idea with the weights of people as those of their records."""
    given = idea.weights
    return idea if given is None or callable(given) else replace(idea, weights=given[dataset.people])


def _distinct(chosen: FloatArray, table: pd.DataFrame, released: pd.DataFrame) -> FloatArray:
    """Interest weights that count each distinct released record among the `chosen` people once."""
    weights = chosen.copy()
    weights[chosen > 0] = mining.first_occurrences(released[chosen > 0])
    return weights


def _without_few_of_a_weight(scenario: str, rows: pd.DataFrame, scores: Scores, fewest: int) -> pd.DataFrame:
    """The rows, in scenario W without the numbers that come from few people of any one weight.

    W says how many people of each weight are hit, once the number of all, which is scenario A's, is taken from it.
    """
    if scenario != "W":
        return rows

    def few(values: FloatArray) -> bool:
        weighed = [values[scores.weights == weight] for weight in np.unique(scores.weights)]
        return any(withholding.tells(np.count_nonzero(each), len(each), fewest) for each in weighed)

    few_hit = rows.value.notna() & rows.miner.isin([name for name, values in scores.by_miner.items() if few(values)])
    bounds = (0, scores.weights.sum()) if scores.counts else (np.nan, np.nan)
    rows.loc[few_hit, ["value", "low", "high"]] = [np.nan, *bounds]
    return rows.assign(baseline=np.nan) if few(scores.baseline) else rows


def _permuted(
    row: Callable[..., Row], scores: Scores, worst: str, dealt: Sequence[FloatArray], fewest: int, scenario: str
) -> pd.DataFrame:
    """The control's row: the mean over deals of what they are worth, and the range that 95% of them keep."""
    counted, _ = unit(scores)
    values = [mining.weighted_sum(worth, scores.weights) for worth in dealt]
    low, high = np.quantile(values, [0.025, 0.975])
    shown, *bounds = [float(np.mean(values)), low, high]
    if not scores.counts and withholding.few(np.mean([np.count_nonzero(w * scores.weights) for w in dealt]), fewest):
        shown, *bounds = [np.nan] * 3
    made = partial(row, "anti_utility", baseline=shown_baseline(scores, fewest), **counted)
    rows = withheld(tidy([made(shown, miner=worst, interval=bounds)]), fewest, scores.of)
    # Equal guesses dealt out are the same guesses: what the worst miner's row must not tell, this must not either.
    return _without_few_of_a_weight(scenario, rows, scores, fewest).assign(control="permuted", miner="")


def _who_is_hit(row: Callable[..., Row], dataset: Dataset, scores: Scores, worst: str, fewest: int) -> pd.DataFrame:
    """Rows `nearer_share`: for which share of each group the worst miner comes nearer; baseline: the guess's share.

    Groups of fewer than `fewest` people are left out. A count of few hits, or of few who are not, is withheld. Since
    the total is shown, so are the smallest others of its attribute, until none of these counts follows.
    """
    rows = []
    for name in grouping(dataset):
        of = groups(dataset, name)
        people = pd.DataFrame({"hit": scores.by_miner[worst], "guess": scores.baseline}).groupby(of.to_numpy()).sum()
        people = people.assign(of=of.value_counts())
        few_hit = {column: _hidden_groups(people[column], people["of"], fewest) for column in ("hit", "guess")}
        for label, hit, guess, number in people[people["of"] >= fewest].itertuples():
            follows = label in few_hit["hit"] and not withholding.tells(hit, int(number), fewest)
            share = np.nan if follows else guessed(hit, int(number))
            baseline = np.nan if label in few_hit["guess"] else guess / number
            rows.append(row("nearer_share", share, miner="worst", group=f"{name} {label}", baseline=baseline))
    return tidy(rows)


def _hidden_groups(hits: pd.Series, of: pd.Series, fewest: int) -> set[Any]:
    """The labels of the groups whose number of `hits` is withheld, since the total is shown; `of`: people of each."""
    rising = hits[hits > 0].sort_values(kind="stable").index
    order = [*hits.index[hits == 0], *rising[::-1]]
    total = ("all", "groups")
    margins = [withholding.Margin(total, tuple(order), rest=False), withholding.Margin(of.sum(), (total,))]
    margins += [withholding.Margin(number, (label,)) for label, number in of.items() if number >= fewest]
    return withholding.suppress({total: hits.sum()} | {label: hits[label] for label in order}, margins, fewest)


@validated
def grouping(dataset: Dataset) -> list[str]:
    """The attributes that say of whom it is asked who is hit: the first number, and the
    quasi-identifiers of at most 5 categories, such as sex and race.
    """
    names = dataset.schema.quasi_identifiers
    few = [n for n in names if not dataset.schema[n].numeric and dataset.cells[n].nunique() <= 5]
    return list(dict.fromkeys([*[n for n in names if dataset.schema[n].numeric][:1], *few]))
