"""Reference sets: which miners an owner reckons with, by name."""

import re
from functools import cache
from typing import Annotated, Any

import numpy as np

from privnb.miners.estimators import (
    DecisionTable,
    Discretised,
    FeatureVotes,
    ForestOnceEach,
    NaiveBayes,
    Neighbours,
    OfFeatures,
    OnceEach,
    OneThread,
    Subsampled,
    TrimmedSquares,
)
from privnb.miners.fusion import Vote, stacking, voting
from privnb.miners.miner import Miner
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.names import meant
from privnb.runtime.validation import instead, validated

SETS = {
    # Sramka et al. 2010, section 4.3: the set L of Table 1.
    "three": ("naive Bayes", "decision tree", "random forest"),
    # Five for either kind of target: naive Bayes guesses labels only, linear regression numbers only.
    "five": ("majority", "decision stump", "naive Bayes", "linear regression", "decision tree", "random forest"),
    # Ready-made tools as they come, one of each family of section 4.4 and more: rules, Bayes, functions, lazy, trees,
    # misc.
    "script_kiddie": (
        "majority", "one rule", "decision table",
        "naive Bayes", "naive Bayes (discretised)",
        "linear regression", "robust regression", "logistic regression", "linear classifier", "radial basis functions",
        "nearest neighbour", "k-nearest neighbours (5,000 records)",
        "decision stump", "decision tree", "unpruned tree", "random tree", "random forest",
        "feature votes", "hyperpipes",
    ),
    # What someone of today would try first.
    "modern": (
        "gradient boosting", "tuned forest", "k-nearest neighbours", "naive Bayes", "linear regression",
        "logistic regression", "fusion: stacked",
    ),
}  # fmt: skip
# Those of the sets that guess numbers alone, or no more than a few labels. What miners are made of takes a second to
# import, and a menu needs their names at once.
NOT_FOR_LABELS = ("linear regression", "robust regression", "gradient boosting")
FUSIONS = {"fusion: vote": voting, "fusion: stacked": stacking}


@validated
def reference_set(
    names: Annotated[str, instead(str, 'Name a set of miners, such as "three".')],
) -> tuple[Miner | Vote, ...]:
    """The miners of sets or of a comma-separated list of their names, as a tuple.

    "fusion: vote" and "fusion: stacked" combine the other miners that are named. Commas inside brackets part nothing.
    Raises ValueError for an unknown name, with the list of those known, and for a fusion of nothing.

    >>> [miner.name for miner in reference_set("majority, three")]
    ['majority', 'naive Bayes', 'decision tree', 'random forest']
    >>> reference_set("three, fusion: vote")[-1].members == reference_set("three")
    True
    """
    known = _miners()
    parts = [part.strip() for part in re.split(r",(?![^(]*\))", names)]
    if unknown := [part for part in parts if part not in SETS and part not in known and part not in FUSIONS]:
        raise UsageError(
            f"there is no miner {unknown}.{meant(unknown, [*SETS, *known, *FUSIONS])} "
            f"Name a set, {', '.join(SETS)}, or miners: {', '.join([*known, *FUSIONS])}."
        )
    chosen = list(dict.fromkeys(name for part in parts for name in SETS.get(part, (part,))))
    members = tuple(known[name] for name in chosen if name in known)
    if not members:
        raise UsageError(f"{chosen} combine the other miners that are named, and none is. Name some beside them.")
    return tuple(known[name] if name in known else Vote(name, members, FUSIONS[name]) for name in chosen)


def labellers() -> tuple[str, ...]:
    """Names of the miners of all sets that guess labels, however many there are, one at a time: a tuple."""
    named = dict.fromkeys(name for names in SETS.values() for name in names)
    return tuple(name for name in named if name not in NOT_FOR_LABELS and name not in FUSIONS)


def _bumps(distances: FloatArray) -> FloatArray:
    return np.exp(-(distances**2) / 2)


@cache
def _miners() -> dict[str, Miner]:
    """All miners by name. Settings are stated here and tuned to no result."""
    from sklearn.cluster import KMeans
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.ensemble import (
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
    from sklearn.model_selection import GridSearchCV, KFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    # In double precision, since noise dwarfs shares.
    def scaled(estimator: Any) -> Any:
        return make_pipeline(FunctionTransformer(np.float64), StandardScaler(), estimator)

    # Bumps around 16 centres; Weka's network has two, or two a label.
    def network(estimator: Any) -> OneThread:
        bumps = KMeans(16, n_init=1, random_state=0), FunctionTransformer(_bumps)
        steps = FunctionTransformer(np.float64), MinMaxScaler(), *bumps, StandardScaler(), estimator
        return OneThread(make_pipeline(*steps))

    # A fixed seed: trees draw lots even where they consider all columns.
    def tree(**settings: Any) -> OnceEach:
        return OnceEach(DecisionTreeClassifier(random_state=0, **settings))

    def tree_of_numbers(**settings: Any) -> OnceEach:
        return OnceEach(DecisionTreeRegressor(random_state=0, **settings))

    # The leaf size that guesses best in three folds.
    def tuned(forest: Any, leaves: list[int]) -> Any:
        return GridSearchCV(forest, {"min_samples_leaf": leaves}, cv=KFold(3, shuffle=True, random_state=0))

    # The ridge makes the answer unique, since the shares of an attribute's leaves add up to 1.
    ridge = scaled(Ridge(alpha=1.0))
    # Ten trees are Weka 3.6's default.
    forest = {"n_estimators": 10, "n_jobs": 1, "random_state": 0}
    many = forest | {"n_estimators": 20}
    # Early stopping would hold out records by label, which fails on a label that occurs once.
    steps = {"early_stopping": False, "random_state": 0}
    miners = (
        Miner("majority", DummyClassifier(strategy="most_frequent"), DummyRegressor(strategy="mean")),
        Miner("decision stump", tree(max_depth=1), tree_of_numbers(max_depth=1), "records"),
        Miner("naive Bayes", NaiveBayes(), view="labels"),
        Miner("linear regression", regressor=ridge),
        Miner(
            "decision tree", tree(min_samples_leaf=2, ccp_alpha=5e-5), tree_of_numbers(min_samples_leaf=50), "records"
        ),
        Miner(
            "random forest",
            ForestOnceEach(forest["n_estimators"], forest["random_state"]),
            OfFeatures(RandomForestRegressor(min_samples_leaf=50, **forest)),
            "records",
        ),
        Miner("naive Bayes (discretised)", Discretised(NaiveBayes()), view="labels"),
        Miner("one rule", Discretised(DecisionTable(1)), Discretised(DecisionTable(1, fewest=50)), "labels"),
        Miner("decision table", Discretised(DecisionTable()), Discretised(DecisionTable(fewest=50)), "labels"),
        Miner("robust regression", regressor=TrimmedSquares(ridge)),
        Miner("logistic regression", scaled(LogisticRegression(max_iter=50))),
        # Least squares on -1 and 1: a support vector machine without its margin, linear and quick.
        Miner("linear classifier", scaled(RidgeClassifier(alpha=1.0))),
        Miner("radial basis functions", network(LogisticRegression(max_iter=50)), network(Ridge(alpha=1.0))),
        Miner("nearest neighbour", Neighbours(1)),
        Miner("k-nearest neighbours", Neighbours(10), Neighbours(50)),
        Miner(
            "k-nearest neighbours (5,000 records)", Subsampled(Neighbours(10), 5000), Subsampled(Neighbours(50), 5000)
        ),
        Miner("unpruned tree", tree(criterion="entropy"), view="records"),
        Miner(
            "random tree",
            tree(max_features="log2"),
            tree_of_numbers(max_features="log2", min_samples_leaf=50),
            "records",
        ),
        Miner("feature votes", Discretised(FeatureVotes()), view="labels"),
        Miner("hyperpipes", Discretised(FeatureVotes(share=False)), view="labels"),
        # One tree a label and step: with dozens of labels it took minutes and guessed worse than the majority.
        Miner(
            "gradient boosting",
            OneThread(HistGradientBoostingClassifier(**steps)),
            OneThread(HistGradientBoostingRegressor(min_samples_leaf=50, **steps)),
            most=10,
        ),
        Miner(
            "tuned forest",
            tuned(RandomForestClassifier(**many), [5, 20, 50]),
            tuned(RandomForestRegressor(**many), [50, 100, 200]),
        ),
    )
    return {miner.name: miner for miner in miners}
