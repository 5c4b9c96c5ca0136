"""Reference sets: which miners an owner reckons with, by name."""

import re
from dataclasses import replace
from functools import cache
from typing import Any

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
from privnb.miners.own import guard_miner, make_miner, name_apart
from privnb.runtime import entry_points
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.names import meant

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


def reference_set(miners: Any) -> tuple[Any, ...]:
    """Return the miners of sets, of names or of estimators.

    "fusion: vote" and "fusion: stacked" combine the other miners that are named. Commas inside brackets part nothing.

    Parameters
    ----------
    miners : str, estimator, Miner, or a list of those
        A text names sets and miners, commas between them. An estimator is a classifier or a regressor of scikit-learn's
        kind, or a pipeline that ends in one; it is cloned, and gets a seed where it has none.

    Returns
    -------
    tuple of Miner

    Raises
    ------
    ValueError
        For an unknown name, with the list of those known, for a fusion of nothing, and for two miners of one name.
    TypeError
        For what cannot predict.

    Examples
    --------
    >>> [miner.name for miner in reference_set("majority, three")]
    ['majority', 'naive Bayes', 'decision tree', 'random forest']
    >>> reference_set("three, fusion: vote")[-1].members == reference_set("three")
    True
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> [miner.name for miner in reference_set(["majority", HistGradientBoostingClassifier()])]
    ['majority', 'HistGradientBoostingClassifier']
    """
    items = miners if isinstance(miners, list | tuple) else [miners]
    if not items:
        raise UsageError(f"`miners` must be one miner or more; got none. Name a set, {', '.join(SETS)}.")
    chosen: list[Any] = []  # names of fusions, and miners
    for item in items:
        chosen += _named(item) if isinstance(item, str) else [item if hasattr(item, "predicts") else make_miner(item)]
    chosen = [*{each if isinstance(each, str) else id(each): each for each in chosen}.values()]
    own = {*map(id, _miners().values())}
    members = name_apart(
        [each if id(each) in own else guard_miner(each) for each in chosen if not isinstance(each, str)]
    )
    fusions = [each for each in chosen if isinstance(each, str)]
    if not members:
        raise UsageError(f"{fusions} combine the other miners that are named, and none is. Name some beside them.")
    rest = iter(members)
    return tuple(Vote(each, members, FUSIONS[each]) if isinstance(each, str) else next(rest) for each in chosen)


def _named(names: str) -> list[Any]:
    """Return what a text names: miners, and the names of fusions."""
    known = _miners()
    parts = [part.strip() for part in re.split(r",(?![^(]*\))", names)]
    if unknown := [part for part in parts if part not in SETS and part not in known and part not in FUSIONS]:
        raise UsageError(
            f"there is no miner {unknown}.{meant(unknown, [*SETS, *known, *FUSIONS])} "
            f"Name a set, {', '.join(SETS)}, or miners: {', '.join([*known, *FUSIONS])}."
        )
    return [known.get(name, name) for part in parts for name in SETS.get(part, (part,))]


def labellers() -> tuple[str, ...]:
    """Names of the miners of all sets that guess labels, however many there are, one at a time: a tuple."""
    named = dict.fromkeys(name for names in SETS.values() for name in names)
    own = tuple(name for name in named if name not in NOT_FOR_LABELS and name not in FUSIONS)
    return own + tuple(name for name, miner in installed_miners().items() if miner.classifier is not None)


@cache
def installed_miners() -> dict[str, Miner]:
    """Return the miners of other packages by the names of their entry points, each of which names a `Miner`, an
    estimator, or a function without arguments that gives one.
    """

    def check(point: Any, found: Any) -> Miner:
        if point.name in {*SETS, *FUSIONS} or "," in point.name or point.name in _own():
            raise UsageError("its name must have no comma, and be no name of privnb's own miners and sets")
        made = (
            found() if isinstance(found, type) or not (hasattr(found, "fit") or hasattr(found, "predicts")) else found
        )
        miner = made if isinstance(made, Miner) else make_miner(made, argument="it")
        return guard_miner(replace(miner, name=point.name))

    return entry_points.load_methods("privnb.miners", check)


def _miners() -> dict[str, Miner]:
    """Return all miners by name: the package's, and those of installed packages."""
    return _own() | installed_miners()


def _bumps(distances: FloatArray) -> FloatArray:
    return np.exp(-(distances**2) / 2)


@cache
def _own() -> dict[str, Miner]:
    """All miners of the package by name. Settings are stated here and tuned to no result."""
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
