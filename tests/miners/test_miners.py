"""Miners: naive Bayes against scikit-learn's, honest cross-validation, and no trace left on a miner."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.miners import (
    SETS,
    WEKA,
    Miner,
    NaiveBayes,
    cross_val_predictions,
    fold_numbers,
    labellers,
    reference_set,
    select_able,
    stacking,
    vote,
)
from privnb.miners.encoding import encode
from privnb.miners.estimators import (
    DecisionTable,
    FeatureVotes,
    ForestOnceEach,
    Neighbours,
    OnceEach,
    TrimmedSquares,
)

SCHEMA = Schema(
    "town",
    (
        Attribute("age", Role.NEUTRAL, Numbers(0, 99)),
        Attribute("hours", Role.NEUTRAL, Numbers(0, 99)),
        Attribute("job", Role.NEUTRAL, Categories(("clerk", "medic", "nurse", "pilot"))),
        Attribute("sex", Role.NEUTRAL, Categories(("Female", "Male"))),
        Attribute("pay", Role.NEUTRAL, Categories(("high", "low", "none"))),
    ),
)


def people(n, seed=0):
    """n people whose pay depends on all four other columns, with some chance."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(0, 100, n),
            "hours": rng.integers(0, 100, n),
            "job": rng.choice(["clerk", "medic", "nurse", "pilot"], n),
            "sex": rng.choice(["Female", "Male"], n),
        }
    )
    score = table["age"] + table["hours"] + 60 * (table["job"] == "pilot") + rng.normal(0, 20, n)
    return table.assign(pay=np.select([score > 130, score > 60], ["high", "low"], "none"))


def encoded(table, names=("age", "hours", "job", "sex")):
    return encode(table, names, SCHEMA, {})


TABLE = people(300)
ENCODED = encoded(TABLE)
ALL = reference_set("standard")


def test_naive_bayes_on_numbers_is_gaussian():
    numbers = encoded(TABLE, ["age", "hours"]).labels
    target = pd.factorize(TABLE["pay"], sort=True)[0]
    reference = GaussianNB().fit(numbers.to_numpy(), target)
    np.testing.assert_allclose(
        NaiveBayes().fit(numbers, target).log_likelihood(numbers), reference.predict_joint_log_proba(numbers.to_numpy())
    )


def test_naive_bayes_on_labels_is_categorical_with_one_added():
    labels = encoded(TABLE, ["job", "sex"]).labels
    target = pd.factorize(TABLE["pay"], sort=True)[0]
    codes = labels.apply(lambda column: column.cat.codes).to_numpy()
    few = slice(0, 40)  # so that the vocabulary is larger than what training shows of one class
    reference = CategoricalNB(alpha=1, min_categories=[4, 2]).fit(codes[few], target[few])
    np.testing.assert_allclose(
        NaiveBayes().fit(labels.iloc[few], target[few]).log_likelihood(labels), reference.predict_joint_log_proba(codes)
    )


def test_naive_bayes_adds_the_two_kinds():
    labels, target = ENCODED.labels, pd.factorize(TABLE["pay"], sort=True)[0]
    both, numbers, texts = (
        NaiveBayes().fit(labels[names], target).log_likelihood(labels[names])
        for names in (["age", "hours", "job", "sex"], ["age", "hours"], ["job", "sex"])
    )
    np.testing.assert_allclose(both, numbers + texts - np.log(np.bincount(target) / len(target)))


def test_naive_bayes_ignores_what_training_did_not_show():
    trained = encoded(TABLE[TABLE["job"] != "pilot"], ["job", "sex"])
    target = pd.factorize(TABLE["pay"][TABLE["job"] != "pilot"], sort=True)[0]
    asked = encode(pd.DataFrame({"job": ["pilot"], "sex": ["Male"]}), ["job", "sex"], SCHEMA, {}, like=trained)
    alone = NaiveBayes().fit(trained.labels[["sex"]], target).log_likelihood(asked.labels[["sex"]])
    np.testing.assert_allclose(NaiveBayes().fit(trained.labels, target).log_likelihood(asked.labels), alone)


def test_naive_bayes_bears_a_constant_number():
    constant = encoded(TABLE.assign(age=40, hours=40), ["age", "hours"])
    target = pd.factorize(TABLE["pay"], sort=True)[0]
    commonest = np.bincount(target).argmax()
    assert (NaiveBayes().fit(constant.labels, target).predict(constant.labels) == commonest).all()


@pytest.mark.parametrize("rows", [30, 300, 1200])
@pytest.mark.parametrize("miner", [m for m in ALL if isinstance(m.classifier, OnceEach)], ids=lambda miner: miner.name)
def test_a_tree_that_reads_equal_records_once_is_the_tree_of_all(miner, rows):
    table = pd.concat([TABLE.assign(age=TABLE["age"] // 25)] * 4)[:rows]
    records = encoded(table, ["age", "job", "sex"])
    for name, own in (("pay", miner.classifier), ("hours", miner.regressor)):
        if isinstance(own, OnceEach):
            target = pd.factorize(table[name], sort=True)[0] if name == "pay" else table[name].to_numpy(dtype=float)
            whole = clone(own.tree).fit(records.features, target)
            once = deepcopy(own).fit(records, target)
            assert len(np.unique(records.row)) < 40
            for part in ("feature", "threshold"):
                assert (getattr(once.tree.tree_, part) == getattr(whole.tree_, part)).all()
            np.testing.assert_array_equal(once.tree.tree_.weighted_n_node_samples, whole.tree_.n_node_samples)
            np.testing.assert_allclose(once.predict(records), whole.predict(records.features), rtol=1e-12)


@pytest.mark.parametrize("rows", [30, 300, 1200])
def test_a_forest_that_reads_equal_records_once_is_the_forest_of_all(rows):
    table = pd.concat([TABLE.assign(age=TABLE["age"] // 25)] * 4)[:rows]
    records, target = encoded(table, ["age", "job", "sex"]), pd.factorize(table["pay"], sort=True)[0]
    whole = RandomForestClassifier(n_estimators=7, random_state=3).fit(records.features, target)
    once = ForestOnceEach(trees=7, seed=3).fit(records, target)
    for tree, other in zip(once.trees, whole.estimators_, strict=True):
        for part in ("feature", "threshold"):
            assert (getattr(tree.tree_, part) == getattr(other.tree_, part)).all()
        np.testing.assert_array_equal(tree.tree_.weighted_n_node_samples, other.tree_.weighted_n_node_samples)
    assert (once.predict(records) == whole.predict(records.features)).all()


@pytest.mark.parametrize(
    ("miner", "target"), [(m, t) for m in ALL for t in ("pay", "hours") if m.predicts(TABLE[t])], ids=str
)
def test_equal_records_are_asked_for_once_and_the_answer_is_the_same(miner, target):
    """Resubstitution through `predict` equals the model's own answer for every record."""
    names = ["age", "job", "sex"]
    table = pd.concat([TABLE.assign(age=TABLE["age"] // 25)] * 2).iloc[::-1]
    records = encoded(table, names)
    assert len(np.unique(records.row)) < 40 < len(records)
    fitted = miner.fit(records, table[target])
    answers = fitted.model.predict(getattr(records, miner.view))
    if fitted.values is None:
        np.testing.assert_allclose(fitted.predict(records), answers, rtol=1e-12)
    else:
        assert fitted.predict(records).tolist() == fitted.values[answers].tolist()


@pytest.mark.parametrize("miner", ALL, ids=lambda miner: miner.name)
def test_every_miner_beats_the_majority_or_equals_it(miner):
    target = "pay" if miner.predicts(TABLE["pay"]) else "hours"
    records = encoded(TABLE, [name for name in TABLE if name not in (target, "pay")])
    guesses = miner.fit(records, TABLE[target]).predict(records)
    base = ALL[0].fit(records, TABLE[target]).predict(records)
    wrong = (lambda a: np.mean(a != TABLE[target])) if target == "pay" else (lambda a: np.var(a - TABLE[target]))
    assert wrong(guesses) <= wrong(base) + 1e-9


def test_majority_is_the_commonest_label_or_the_mean():
    assert ALL[0].name == "majority"
    assert set(ALL[0].fit(ENCODED, TABLE["pay"]).predict(ENCODED)) == {TABLE["pay"].mode()[0]}
    np.testing.assert_allclose(ALL[0].fit(ENCODED, TABLE["age"]).predict(ENCODED), TABLE["age"].mean())


def test_fitting_leaves_the_miner_as_it_was():
    tree = reference_set("decision tree")[0]
    fitted = tree.fit(ENCODED, TABLE["pay"])
    other = tree.fit(ENCODED, TABLE["sex"])
    assert tree.model is None
    assert set(fitted.predict(ENCODED)) == set(TABLE["pay"])
    assert set(other.predict(ENCODED)) == set(TABLE["sex"])
    with pytest.raises(ValueError, match="'decision tree' has learned nothing yet"):
        tree.predict(ENCODED)


@pytest.mark.parametrize("miner", ALL, ids=lambda miner: miner.name)
def test_same_input_same_guesses_whatever_the_index(miner):
    target = "pay" if miner.predicts(TABLE["pay"]) else "age"
    odd = TABLE.set_index(pd.Index(np.arange(300) % 7))
    names = [name for name in ("age", "hours", "job") if name != target]
    first = miner.fit(encoded(TABLE, names), TABLE[target]).predict(encoded(TABLE, names))
    again = miner.fit(encoded(odd, names), odd[target]).predict(encoded(odd, names))
    assert first.tolist() == again.tolist()


def test_trees_for_numbers_do_not_repeat_the_noise_that_they_were_shown():
    """On noise alone small leaves reproduce the released number; these miners stay near the mean."""
    table = people(1000, seed=3)
    noise = np.random.default_rng(4).laplace(scale=100, size=1000)
    records = encoded(table)
    from sklearn.tree import DecisionTreeRegressor

    memory = Miner("small leaves", regressor=DecisionTreeRegressor(min_samples_leaf=2, random_state=0))
    assert np.corrcoef(memory.fit(records, noise).predict(records), noise)[0, 1] > 0.75
    for miner in reference_set("decision tree, random forest"):
        assert np.corrcoef(miner.fit(records, noise).predict(records), noise)[0, 1] < 0.4


def test_miners_that_cannot_guess_a_target_are_named():
    miners, left_out = select_able(ALL, TABLE["age"])
    assert left_out == ["naive Bayes"]
    assert [m.name for m in miners] == [n for n in SETS["standard"] if n != "naive Bayes"]
    assert select_able(ALL, TABLE["pay"])[1] == ["linear regression"]
    with pytest.raises(ValueError, match="'naive Bayes' does not predict numbers"):
        reference_set("naive Bayes")[0].fit(ENCODED, TABLE["age"])


def test_reference_sets_by_name():
    assert tuple(m.name for m in reference_set("basic")) == ("naive Bayes", "decision tree", "random forest")
    assert [m.name for m in reference_set("random forest, majority,majority")] == ["random forest", "majority"]
    with pytest.raises(
        ValueError, match=r"no miner \['J48'\]. Name a set of miners \(basic, standard, .* miners \(majority, decision"
    ):
        reference_set("basic, J48")
    with pytest.warns(DeprecationWarning, match="'five' is now 'standard'"):
        assert reference_set("five") == reference_set("standard")


@pytest.mark.parametrize("n", [10, 23, 40])
def test_folds_spread_each_label_evenly(n):
    target = TABLE["pay"].to_numpy()[:n]
    fold = fold_numbers(target, 10, seed=1)
    assert sorted(set(fold)) == list(range(10))
    for part in (np.ones(n, bool), *(target == value for value in set(target))):
        sizes = np.bincount(fold[part], minlength=10)
        assert sizes.max() - sizes.min() <= 1
    assert fold.tolist() == fold_numbers(target, 10, seed=1).tolist()
    assert fold.tolist() != fold_numbers(target, 10, seed=2).tolist()


class Witness:
    """Guesses whether it saw a record in training, by the record's number in its first feature."""

    def fit(self, features, target):
        self.seen = set(features[:, 0].tolist())

    def predict(self, features):
        return np.array([int(number in self.seen) for number in features[:, 0].tolist()])


def test_cross_validation_guesses_each_record_unseen_and_in_order():
    numbered = encoded(TABLE.iloc[:90].assign(age=np.arange(90)), ["age"])
    target = np.array(["seen", "unseen"] * 45)
    witness = Miner("witness", Witness(), Witness())
    # Code 0 of the sorted labels is "seen": the witness says code 1, "unseen", only for what it saw.
    assert set(witness.fit(numbered, target).predict(numbered)) == {"unseen"}
    assert set(cross_val_predictions(witness, numbered, target)) == {"seen"}
    assert cross_val_predictions(witness, numbered, np.arange(90.0), folds=3).tolist() == [0.0] * 90
    people = np.arange(90) % 30
    by_person = encoded(TABLE.iloc[:90].assign(age=people), ["age"])
    assert "unseen" in set(cross_val_predictions(witness, by_person, target)), (
        "it learns from other records of a person"
    )
    assert set(cross_val_predictions(witness, by_person, target, people=people)) == {"seen"}
    tree = reference_set("decision tree")[0]
    ages = encoded(TABLE, ["age"])
    halves = np.where(TABLE["age"] > 50, "old", "young")
    assert np.mean(cross_val_predictions(tree, ages, halves) == halves) > 0.98  # any other order gives about a half


def test_a_miner_with_its_own_cross_validation_is_asked_by_it():
    class Own(Miner):
        def cross_val_predictions(self, encoded, target, folds=10, seed=1):
            return [len(encoded), list(target), folds, seed]

    assert cross_val_predictions(Own("own"), ENCODED[:3], list("abc"), folds=2) == [3, ["a", "b", "c"], 2, 1]
    assert cross_val_predictions(Own("own"), ENCODED[:3], list("abc"), seed=7) == [3, ["a", "b", "c"], 10, 7]


@pytest.mark.parametrize("name", ["naive Bayes", "fusion: vote", "fusion: stacked"])
def test_every_miner_of_ours_is_cross_validated_alike(name):
    (*_, miner) = reference_set("majority, naive Bayes" if name == "naive Bayes" else f"majority, naive Bayes, {name}")
    pay = TABLE["pay"].to_numpy()
    held = fold_numbers(pay, 3, seed=5) == 1
    guesses = cross_val_predictions(miner, ENCODED, pay, folds=3, seed=5)
    assert guesses[held].tolist() == miner.fit(ENCODED[~held], pay[~held]).predict(ENCODED[held]).tolist()


@pytest.mark.parametrize("folds", [1, 301])
def test_a_number_of_folds_that_cannot_be_is_refused(folds):
    with pytest.raises(ValueError, match=f"must be from 2 to 300, the number of records; got {folds}"):
        cross_val_predictions(ALL[0], ENCODED, TABLE["pay"], folds=folds)


def test_a_label_rarer_than_folds_is_no_obstacle():
    rare = TABLE["pay"].where(np.arange(300) > 0, "once")
    assert "once" not in cross_val_predictions(reference_set("naive Bayes")[0], ENCODED, rare)


FEW = TABLE[:60]  # the fusions fit twenty miners, most of them four times
EVERY = reference_set(", ".join([*SETS, "fusion: vote"]))


def light(miner):
    """The same miner with two trees for twenty, and two steps for a hundred; in a fusion each member."""
    if not isinstance(miner, Miner):
        return replace(miner, members=tuple(map(light, miner.members)))
    return replace(miner, classifier=_lighter(miner.classifier), regressor=_lighter(miner.regressor))


def _lighter(estimator):
    estimator = deepcopy(estimator)
    owner = getattr(estimator, "estimator", estimator)
    for name in {"n_estimators", "max_iter"} & set(getattr(owner, "get_params", dict)()):
        setattr(owner, name, 2)
    return estimator


LIGHT = [light(miner) for miner in EVERY]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("miner", "target"),
    [(m, t) for m in LIGHT for t in ("pay", "hours") if m.predicts(TABLE[t])],
    ids=lambda each: getattr(each, "name", each),
)
def test_every_miner_of_every_set_guesses_what_it_can(miner, target):
    names = ["age", "job", "sex"]
    table = pd.concat([FEW.assign(age=FEW["age"] // 25)] * 2)
    records = encoded(table, names)
    guesses = miner.fit(records, table[target]).predict(records)
    assert guesses.shape == (120,)
    if target == "pay":
        assert set(guesses) <= set(TABLE["pay"])
    else:
        assert guesses.dtype == float
        assert np.isfinite(guesses).all()
    assert (pd.Series(guesses).groupby(records.row).nunique() == 1).all()
    assert guesses.tolist() == miner.fit(records, table[target]).predict(records).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("miner", [m for m in LIGHT if m.predicts(TABLE["pay"])], ids=lambda miner: miner.name)
def test_labels_that_are_rare_or_alone_are_no_obstacle(miner):
    rare, records = FEW["pay"].where(np.arange(60) > 0, "once"), encoded(FEW)
    assert set(miner.fit(records, rare).predict(records)) <= set(rare)
    assert set(miner.fit(records, np.full(60, "*")).predict(records)) == {"*"}


@pytest.mark.slow
def test_miners_for_numbers_do_not_repeat_the_noise():
    """Resubstituted noise is told by its own released value in nearly no miner: at least 50 people have a say."""
    table = people(1000, seed=3)
    noise = np.random.default_rng(4).laplace(scale=100, size=1000)
    records = encoded(table)
    *plain, _, _ = select_able(EVERY, noise)[0]
    assert {type(miner) for miner in plain} == {Miner}
    guesses = {miner.name: miner.fit(records, noise).predict(records) for miner in plain}
    together = {"vote": vote(list(guesses.values())), "stack": stacking(plain, records, noise)(list(guesses.values()))}
    for name, guessed in (guesses | together).items():
        if name != "gradient boosting":
            assert np.std(guessed) == 0 or np.corrcoef(guessed, noise)[0, 1] < 0.5, name


def test_boosting_is_left_out_of_many_labels():
    boosting = reference_set("gradient boosting")
    ages = TABLE["age"].astype(str)
    assert select_able(boosting, ages) == ([], ["gradient boosting"])
    with pytest.raises(ValueError, match="does not predict labels of more than 10 values"):
        boosting[0].fit(ENCODED, ages)


def test_commas_in_a_name_part_nothing():
    names = "k-nearest neighbours (5,000 records), majority,naive Bayes (discretised)"
    assert [m.name for m in reference_set(names)] == [
        "k-nearest neighbours (5,000 records)", "majority", "naive Bayes (discretised)",
    ]  # fmt: skip


def test_vote_by_hand():
    assert vote([["b", "a", "c"], ["b", "b", "b"], ["a", "b", "a"]]).tolist() == ["b", "b", "a"]
    assert vote([["b", "a"], ["a", "c"]]).tolist() == ["a", "a"]  # ties: the first in sorted order
    assert vote([[1.0, 5], [2, 5], [9, 6]]).tolist() == [2, 5]
    assert vote([[1.0], [2.0]]).tolist() == [1.5]


def test_who_has_no_guess_does_not_vote():
    assert vote([[None, "a", None], [None, None, None], ["c", "b", None]]).tolist() == ["c", "a", None]


def test_the_fusion_votes_as_its_able_members_do():
    *members, fusion = reference_set("standard, fusion: vote")
    for target in ("pay", "age"):
        records = encoded(TABLE, ["hours", "job", "sex"])
        guesses = [m.fit(records, TABLE[target]).predict(records) for m in select_able(members, TABLE[target])[0]]
        together = fusion.fit(records, TABLE[target]).predict(records)
        same = pytest.approx if target == "age" else list
        assert together.tolist() == same(vote(guesses).tolist())
    with pytest.raises(ValueError, match="'fusion: vote' has learned nothing yet"):
        fusion.predict(ENCODED)
    with pytest.raises(ValueError, match="combine the other named miners"):
        reference_set("fusion: vote, fusion: stacked")
    (_, labels_only) = reference_set("naive Bayes, fusion: stacked")
    assert select_able([labels_only], TABLE["age"]) == ([], ["fusion: stacked"])
    with pytest.raises(ValueError, match=r"combines \['naive Bayes'\], which cannot predict"):
        labels_only.fit(ENCODED, TABLE["age"])


def test_stacking_learns_whom_to_trust():
    """Where most members are ignorant, the vote follows them and the stack does not."""
    halves = np.where(TABLE["age"] > 50, "old", "young")
    records = encoded(TABLE, ["age"])
    names = "majority, feature votes, hyperpipes, decision tree"
    stacked, voted = (
        np.mean(reference_set(f"{names}, {fusion}")[-1].fit(records, halves).predict(records) == halves)
        for fusion in ("fusion: stacked", "fusion: vote")
    )
    assert stacked > 0.97 > voted
    number = TABLE["age"] * 2.0
    guesses = reference_set("majority, linear regression, fusion: stacked")[-1].fit(records, number).predict(records)
    assert np.corrcoef(guesses, number)[0, 1] > 0.999


def test_neighbours_by_hand():
    features = np.array([[0, 0], [0, 0], [0, 1], [4, 4], [4, 4], [4, 4]], dtype=np.float32)
    target = np.array([0, 1, 1, 2, 2, 0])
    assert Neighbours(1).fit(features, target).predict(features).tolist() == [0, 0, 1, 2, 2, 2]
    # Two people at (0, 0) are too few for three; the next record, one person, makes three.
    assert Neighbours(3).fit(features, target).predict(features).tolist() == [1, 1, 1, 2, 2, 2]
    numbers = Neighbours(3).fit(features, target.astype(float)).predict(features)
    np.testing.assert_allclose(numbers, [2 / 3] * 3 + [4 / 3] * 3)


def test_neighbours_agree_with_scikit_learn_where_no_two_records_tie():
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.preprocessing import MinMaxScaler

    rng = np.random.default_rng(5)
    points, target = rng.normal(size=(200, 3)).astype(np.float32), rng.integers(0, 3, 200)
    scaled = MinMaxScaler().fit_transform(points)
    reference = KNeighborsClassifier(7).fit(scaled, target).predict(scaled)
    assert np.mean(Neighbours(7).fit(points, target).predict(points) == reference) > 0.98


def categories(**columns):
    return pd.DataFrame({name: pd.Categorical(list(cells)) for name, cells in columns.items()})


def test_decision_table_takes_the_attributes_that_help():
    labels = categories(noise="xyxyxyxyxyxy", a="ppppppqqqqqq", b="rrrrssrrrrss")
    target = np.array([0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3])
    table = DecisionTable().fit(labels, target)
    assert [name for name, _, _ in table.steps] == ["a", "b"]
    assert table.predict(labels).tolist() == target.tolist()
    rule = DecisionTable(1).fit(labels, np.repeat([0, 1], 6))
    assert [name for name, _, _ in rule.steps] == ["a"]
    # A number in a cell of too few is guessed as the mean of all.
    few = DecisionTable(1, min_records=5).fit(categories(a="pppppppq"), np.array([1.0] * 7 + [9.0]))
    assert few.predict(categories(a="pppppppq")).tolist() == [1.0] * 7 + [2.0]


def test_feature_votes_by_hand():
    labels, target = categories(a="ppqq", b="rsss"), np.array([0, 0, 0, 1])
    # a=q: 1/3 of class 0, all of class 1; b=s: 2/3 of class 0, all of class 1.
    assert FeatureVotes().fit(labels, target).predict(labels).tolist() == [0, 0, 1, 1]
    assert FeatureVotes(share=False).fit(labels, target).predict(labels).tolist() == [0, 0, 0, 0]


def test_trimmed_squares_see_past_outliers():
    from sklearn.linear_model import Ridge

    x = np.arange(100.0)[:, None]
    y = np.where(x[:, 0] % 10 == 0, 1000.0, 3 * x[:, 0] + 1)
    np.testing.assert_allclose(TrimmedSquares(Ridge(alpha=1e-9)).fit(x, y).predict(x[1:9]), y[1:9], rtol=1e-3)


def test_every_miner_of_the_paper_has_an_equivalent_or_a_reason():
    by_target = {kind: [w for w, row in WEKA.items() if kind in row["targets"]] for kind in ("labels", "numbers")}
    assert {kind: len(names) for kind, names in by_target.items()} == {"labels": 32, "numbers": 10}
    # Sramka et al. 2010, section 4.4
    assert set(by_target["labels"]) == set(
        "AODE AODEsr BayesNet HNB NaiveBayes NaiveBayesSimple NaiveBayesUpdateable WAODE RBFNetwork SMO IB1 IBk KStar "
        "LWL ConjunctiveRule DTNB DecisionTable OneR Ridor ZeroR DecisionStump Id3 J48 J48graft REPTree RandomForest "
        "RandomTree SimpleCart HyperPipes MinMaxExtension OLM VFI".split()
    )
    assert set(by_target["numbers"]) == set(
        "RBFNetwork ConjunctiveRule DecisionTable M5Rules ZeroR DecisionStump M5P REPTree LeastMedSq "
        "LinearRegression".split()
    )
    for name, row in WEKA.items():
        assert set(row) == {"family", "targets", "equivalent", "difference"}
        if row["equivalent"].startswith("none: "):
            continue
        (miner,) = reference_set(row["equivalent"])
        for kind in row["targets"]:
            assert miner.predicts(TABLE["pay" if kind == "labels" else "age"]), name


def test_the_names_of_those_that_guess_labels_are_known_before_they_are_made():
    single = [each for each in reference_set(", ".join(SETS)) if isinstance(each, Miner)]
    assert labellers() == tuple(each.name for each in single if each.classifier is not None and each.most > 1e9)
