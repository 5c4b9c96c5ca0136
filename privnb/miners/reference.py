"""Reference sets of miners that a data owner considers, selected by name."""

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
from privnb.miners.miner import Miner, rename_set
from privnb.miners.own import guard_miner, make_miner, name_apart
from privnb.runtime import entry_points
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError
from privnb.runtime.names import suggest

SETS = {
    # Sramka et al. 2010, section 4.3: the set L of Table 1.
    "basic": ("naive Bayes", "decision tree", "random forest"),
    # # Five for each kind of target: naive Bayes predicts only labels, and linear regression predicts only numbers.
    "standard": ("majority", "decision stump", "naive Bayes", "linear regression", "decision tree", "random forest"),
    # Ready-made tools with default settings, of all families of section 4.4: rules, Bayes, functions, lazy, trees,
    # misc.
    "script_kiddie": (
        "majority", "one rule", "decision table",
        "naive Bayes", "naive Bayes (discretised)",
        "linear regression", "robust regression", "logistic regression", "linear classifier", "radial basis functions",
        "nearest neighbour", "k-nearest neighbours (5,000 records)",
        "decision stump", "decision tree", "unpruned tree", "random tree", "random forest",
        "feature votes", "hyperpipes",
    ),
    # The first choice of an analyst today.
    "modern": (
        "gradient boosting", "tuned forest", "k-nearest neighbours", "naive Bayes", "linear regression",
        "logistic regression", "fusion: stacked",
    ),
}  # fmt: skip
# # Miners of the sets that predict only numbers, or only a few labels. They are listed here because a menu needs the #
# names at once, and estimators take a second to import.
NOT_FOR_LABELS = ("linear regression", "robust regression", "gradient boosting")
FUSIONS = {"fusion: vote": voting, "fusion: stacked": stacking}


def reference_set(miners: Any) -> tuple[Any, ...]:
    """Return the miners that are given as names of sets, names of miners, or estimators.

    The miners "fusion: vote" and "fusion: stacked" combine all other given miners.

    Parameters
    ----------
    miners : str, estimator, Miner, or a list of those
        A text contains names of sets and miners, separated by commas; a comma in brackets belongs to a name. An
        estimator is a classifier or a regressor of scikit-learn, or a pipeline that ends in a classifier or regressor.
        The estimator is cloned, and the clone gets a seed if the estimator has none.

    Returns
    -------
    tuple of Miner

    Raises
    ------
    ValueError
        If a name is unknown (the message lists the available names), if a fusion has no members, or if two miners have
        the same name.
    TypeError
        If an object cannot predict.

    Examples
    --------
    >>> [miner.name for miner in reference_set("majority, basic")]
    ['majority', 'naive Bayes', 'decision tree', 'random forest']
    >>> reference_set("basic, fusion: vote")[-1].members == reference_set("basic")
    True
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> [miner.name for miner in reference_set(["majority", HistGradientBoostingClassifier()])]
    ['majority', 'HistGradientBoostingClassifier']
    """
    items = miners if isinstance(miners, list | tuple) else [miners]
    if not items:
        raise UsageError(
            f"`miners` must name at least one miner; got none. Name a set of miners, such as {', '.join(SETS)}."
        )
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
        raise UsageError(
            f"{fusions} combine the other named miners, but no other miner is named. Name at least one other miner."
        )
    rest = iter(members)
    return tuple(Vote(each, members, FUSIONS[each]) if isinstance(each, str) else next(rest) for each in chosen)


def _named(names: str) -> list[Any]:
    """Return the miners whose names a text contains; each fusion is returned as its name."""
    known = _miners()
    parts = [rename_set(part.strip()) for part in re.split(r",(?![^(]*\))", names)]
    if unknown := [part for part in parts if part not in SETS and part not in known and part not in FUSIONS]:
        raise UsageError(
            f"there is no miner {unknown}.{suggest(unknown, [*SETS, *known, *FUSIONS])} Name a set of miners "
            f"({', '.join(SETS)}) or single miners ({', '.join([*known, *FUSIONS])})."
        )
    return [known.get(name, name) for part in parts for name in SETS.get(part, (part,))]


def labellers() -> tuple[str, ...]:
    """Return the names of all miners, from sets and other packages, that predict any number of different labels."""
    named = dict.fromkeys(name for names in SETS.values() for name in names)
    own = tuple(name for name in named if name not in NOT_FOR_LABELS and name not in FUSIONS)
    return own + tuple(name for name, miner in find_installed_miners().items() if miner.classifier is not None)


@cache
def find_installed_miners() -> dict[str, Miner]:
    """Return the miners of other packages, by the names of their entry points.

    An entry point refers to a `Miner`, to an estimator, or to a function without arguments that returns a `Miner` or an
    estimator.
    """

    def check(point: Any, found: Any) -> Miner:
        if point.name in {*SETS, *FUSIONS} or "," in point.name or point.name in _own():
            raise UsageError(
                "the name of a miner must not contain a comma or be the name of one of privnb's miners or sets"
            )
        made = (
            found() if isinstance(found, type) or not (hasattr(found, "fit") or hasattr(found, "predicts")) else found
        )
        miner = made if isinstance(made, Miner) else make_miner(made, argument="it")
        return guard_miner(replace(miner, name=point.name))

    return entry_points.load_methods("privnb.miners", check)


def _miners() -> dict[str, Miner]:
    """Return all miners by name: those of privnb and those of other installed packages."""
    return _own() | find_installed_miners()


def _bumps(distances: FloatArray) -> FloatArray:
    return np.exp(-(distances**2) / 2)


@cache
def _own() -> dict[str, Miner]:
    """Return all miners of the package by name. Their settings are fixed in this function, not tuned to results."""
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

    # Double precision, because noise is much larger than shares.
    def scaled(estimator: Any) -> Any:
        return make_pipeline(FunctionTransformer(np.float64), StandardScaler(), estimator)

    # Bumps around 16 centers; Weka's network has two, or two for each label.
    def network(estimator: Any) -> OneThread:
        bumps = KMeans(16, n_init=1, random_state=0), FunctionTransformer(_bumps)
        steps = FunctionTransformer(np.float64), MinMaxScaler(), *bumps, StandardScaler(), estimator
        return OneThread(make_pipeline(*steps))

    # A fixed seed, because trees draw random numbers even if they consider all columns.
    def tree(**settings: Any) -> OnceEach:
        return OnceEach(DecisionTreeClassifier(random_state=0, **settings))

    def tree_of_numbers(**settings: Any) -> OnceEach:
        return OnceEach(DecisionTreeRegressor(random_state=0, **settings))

    # The leaf size that predicts best in three folds.
    def tuned(forest: Any, leaves: list[int]) -> Any:
        return GridSearchCV(forest, {"min_samples_leaf": leaves}, cv=KFold(3, shuffle=True, random_state=0))

    # The ridge makes the answer unique, because the shares of an attribute's leaves add up to 1.
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
        Miner("one rule", Discretised(DecisionTable(1)), Discretised(DecisionTable(1, min_records=50)), "labels"),
        Miner("decision table", Discretised(DecisionTable()), Discretised(DecisionTable(min_records=50)), "labels"),
        Miner("robust regression", regressor=TrimmedSquares(ridge)),
        Miner("logistic regression", scaled(LogisticRegression(max_iter=50))),
        # Least squares on -1 and 1: a linear support vector machine without its margin, and fast.
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
        # # It fits a tree for each label and step: with dozens of labels, it took minutes and was worse than the
        # majority.
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
