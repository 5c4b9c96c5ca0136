"""Weka behind the two methods of a miner: its own counts, its limits, and what it says where something is missing.

What needs Java, the jar and jpype1 is skipped without them; where Java is present in CI, a skip would hide the fault.
"""

import os
import shutil
import subprocess
import sys
import time
import zipfile

import numpy as np
import pandas as pd
import pytest

from privnb import weka
from privnb.dataset import load
from privnb.encoding import Encoded, encode
from privnb.weka import (
    CATEGORICAL,
    NUMERICAL,
    Header,
    Unavailable,
    Unfinished,
    WekaMiner,
    attempt,
    known,
    reference_set,
)


@pytest.fixture(scope="module")
def java():
    lacks = weka.missing()
    if lacks:
        hidden = os.environ.get("CI") == "true" and shutil.which("java")
        pytest.fail(lacks) if hidden else pytest.skip(lacks)
    return weka._java(None)


def people(n=400, seed=0):
    """n records of three nominal columns, encoded, with an age group and a number of hours that depend on them."""
    rng = np.random.default_rng(seed)
    codes = {"job": rng.integers(0, 4, n), "sex": rng.integers(0, 2, n), "pay": rng.integers(0, 3, n)}
    table = pd.DataFrame(
        {name: pd.Categorical.from_codes(c, [f"<={name} '{i}'" for i in range(4)]) for name, c in codes.items()}
    )
    score = codes["job"] + 3 * codes["sex"] + rng.integers(0, 2, n)
    group = np.array(["5-9", "10-14", "?", ">=40", "it's", "a,b", "<x", "é"], dtype=object)[score]
    row = codes["job"] * 6 + codes["sex"] * 3 + codes["pay"]
    return Encoded(np.zeros((n, 1), np.float32), table, row), group, score * 5 + rng.normal(0, 1, n)


ENCODED, GROUP, HOURS = people()


def evaluated(java, name, target, folds, seed):
    """Weka's own Evaluation of a cross-validation."""
    data = Header(ENCODED.labels, target).instances(java, ENCODED.labels, target)
    grading = java.JClass("weka.classifiers.Evaluation")(data)
    prints = java.JArray(java.JClass("java.lang.Object"))(0)
    model = java.JClass(f"weka.classifiers.{name}")()
    grading.crossValidateModel(model, data, folds, java.JClass("java.util.Random")(seed), prints)
    return grading


def test_the_sets_are_the_papers():
    assert len(set(CATEGORICAL)) == 32
    assert len(set(NUMERICAL)) == 10
    assert [miner.seconds for miner in reference_set(NUMERICAL[:2], seconds=3)] == [3, 3]


def test_importing_it_starts_nothing():
    code = "import sys, privnb.weka; assert 'jpype' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_missing_jar_is_named_with_the_way_to_get_one(tmp_path, monkeypatch):
    monkeypatch.setenv("WEKA_JAR", str(tmp_path / "none.jar"))
    with pytest.raises(Unavailable, match=r"none\.jar.*apt-get install weka"):
        weka.find_jar()
    with pytest.raises(Unavailable, match=r"cannot run here: .*none\.jar"):
        WekaMiner("trees.J48").fit(ENCODED, GROUP)
    with pytest.raises(Unavailable, match="cannot run here"):  # that no miner can run is no result
        attempt(reference_set(["trees.J48"]), ENCODED, GROUP, ENCODED)


def test_missing_java_and_jpype1_are_named(monkeypatch):
    monkeypatch.setattr(weka, "which", lambda name: None)
    monkeypatch.setattr(weka, "find_spec", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert "pip install" in weka.missing()
    assert "default-jre-headless" in weka.missing()


def test_known_tells_what_a_jar_lacks(tmp_path):
    jar = tmp_path / "weka.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("weka/core/version.txt", "9-8-7\n")
        archive.writestr("weka/classifiers/trees/REPTree.class", "")
    assert weka.version(jar) == "9.8.7"
    table = known(jar)
    assert len(table) == 42
    assert table[table["present"]].to_numpy().tolist() == [
        ["categorical", "trees.REPTree", True], ["numerical", "trees.REPTree", True]
    ]  # fmt: skip


@pytest.mark.parametrize(("names", "target"), [(CATEGORICAL, GROUP), (NUMERICAL, HOURS)], ids=["labels", "numbers"])
def test_every_miner_of_the_jar_guesses_and_the_others_are_named(java, names, target):
    guesses, failed = attempt(reference_set(names), ENCODED, target, ENCODED)
    table = known()
    assert set(guesses) | set(failed) == set(names)
    assert set(guesses).isdisjoint(failed)
    # From 3.7 on some miners take further jars.
    absent = {name for name, reason in failed.items() if "there is no miner" in reason}
    assert absent == set(names) - set(table["miner"][table["present"]])
    assert all("is not in" in failed[name] for name in set(failed) - absent)
    if weka.version().startswith("3.6."):
        assert absent == set(failed) == {"misc.MinMaxExtension", "misc.OLM"} & set(names)
    for name, guess in guesses.items():
        assert WekaMiner(name).predicts(target)
        if target is GROUP:
            assert set(guess) <= set(GROUP)
        same = pd.Series(guess).groupby(ENCODED.row).nunique()
        assert (same == 1).all(), name
    if target is GROUP:
        assert (guesses["trees.J48"] == GROUP).mean() > (guesses["rules.ZeroR"] == GROUP).mean() + 0.1


def test_zero_r_guesses_the_mean_and_the_commonest(java):
    zero = WekaMiner("rules.ZeroR")
    np.testing.assert_allclose(zero.fit(ENCODED, HOURS).predict(ENCODED), HOURS.mean())
    assert set(zero.fit(ENCODED, GROUP).predict(ENCODED)) == {pd.Series(GROUP).mode()[0]}
    assert zero.model is None


@pytest.mark.parametrize("name", ["bayes.NaiveBayes", "trees.J48", "trees.RandomForest"])
def test_cross_validation_counts_as_weka_does(java, name):
    guesses = WekaMiner(name).cross_val_predictions(ENCODED, GROUP, folds=5, seed=3)
    assert (guesses == GROUP).sum() == evaluated(java, name, GROUP, 5, 3).correct()


def test_cross_validation_of_numbers_errs_as_weka_does(java):
    guesses = WekaMiner("trees.REPTree").cross_val_predictions(ENCODED, HOURS, folds=5, seed=3)
    wanted = evaluated(java, "trees.REPTree", HOURS, 5, 3).meanAbsoluteError()
    assert np.abs(guesses - HOURS).mean() == pytest.approx(wanted)


def test_a_label_that_training_did_not_show_is_missing(java):
    """A one-attribute naive Bayes that misses it has the prior alone."""
    seen = pd.DataFrame({"job": pd.Categorical(["a"] * 6 + ["b"] * 4)})
    asked = pd.DataFrame({"job": pd.Categorical(["b", "new", None], categories=["new", "b"])})
    none = np.zeros((10, 1), np.float32)
    fitted = WekaMiner("bayes.NaiveBayes").fit(Encoded(none, seen, np.arange(10)), ["x"] * 6 + ["y"] * 4)
    assert fitted.predict(Encoded(none[:3], asked, np.arange(3))).tolist() == ["y", "x", "x"]


def test_no_class_is_no_guess(java):
    """Id3 names none for a label that none of its records had."""
    if "trees.Id3" not in set(known().query("present")["miner"]):
        pytest.skip(f"Weka {weka.version()} has no Id3")
    table = pd.DataFrame({name: pd.Categorical(list(text)) for name, text in {"p": "aabbc", "q": "xyxyx"}.items()})
    row = np.arange(5)
    encoded = Encoded(np.zeros((5, 1), np.float32), table, row)
    fitted = WekaMiner("trees.Id3").fit(encoded[row < 4], ["1", "1", "2", "2"])
    assert fitted.predict(encoded).tolist() == ["1", "1", "2", "2", None]


def test_a_miner_beyond_its_limit_is_named_and_stops(java):
    slow = WekaMiner("functions.MultilayerPerceptron", ("-N", "10000000"), seconds=0.3)
    start = time.process_time()
    guesses, failed = attempt([slow, WekaMiner("trees.J48")], ENCODED, GROUP, ENCODED)
    assert list(guesses) == ["trees.J48"]
    assert list(failed) == [slow.name]
    assert "did not finish within 0.3 CPU seconds" in failed[slow.name]
    if "cannot stop" not in failed[slow.name]:  # Java 20 and later
        assert failed[slow.name].endswith("seconds.")
        settled = time.process_time()
        time.sleep(0.5)
        assert time.process_time() - settled < 0.4
    assert time.process_time() - start < 30
    with pytest.raises(Unfinished, match="MultilayerPerceptron"):
        slow.fit(ENCODED, GROUP)


def test_what_weka_refuses_is_told(java):
    numbers = Encoded(ENCODED.features, pd.DataFrame({"hours": HOURS}), np.arange(len(HOURS)))
    with pytest.raises(ValueError, match=r"'trees\.J48' refuses .*numeric class"):
        WekaMiner("trees.J48").fit(ENCODED, HOURS)
    with pytest.raises(ValueError, match="has no options"):
        WekaMiner("trees.J48", ("-no-such", "1")).fit(ENCODED, GROUP)
    with pytest.raises(Unavailable, match=r"no miner 'trees\.Oak'"):
        WekaMiner("trees.Oak").fit(ENCODED, GROUP)
    with pytest.raises(ValueError, match="learned nothing yet"):
        WekaMiner("trees.J48").predict(ENCODED)
    with pytest.raises(ValueError, match="2 to 400 folds"):
        WekaMiner("trees.J48").cross_val_predictions(ENCODED, GROUP, folds=1)
    fitted = WekaMiner("trees.J48").fit(ENCODED, GROUP)
    with pytest.raises(ValueError, match="learned from columns"):
        fitted.predict(numbers)
    texts = ENCODED.labels.assign(job=HOURS)
    with pytest.raises(ValueError, match="learned from labels and is asked for numbers"):
        fitted.predict(Encoded(ENCODED.features, texts, np.arange(len(HOURS))))


def test_a_miner_without_memory_is_unfinished(java):
    error = java.JClass("java.lang.RuntimeException")(java.JClass("java.lang.OutOfMemoryError")("heap"))
    with pytest.raises(Unfinished, match="ran out of memory"):
        raise weka._told(java, "lazy.IBk", error)


def test_one_jar_a_process(java, tmp_path):
    other = shutil.copy(java.jar, tmp_path / "other.jar")
    with pytest.raises(Unavailable, match="one Java machine"):
        WekaMiner("trees.J48", jar=other).fit(ENCODED, GROUP)


@pytest.mark.parametrize(("name", "published"), [("bayes.NaiveBayes", 36_972), ("trees.J48", 37_609)])
def test_table_1_of_sramka_on_the_original_data(java, name, published):
    """Sramka et al. 2010, Table 1: correct of 45,222 in ten folds, education a number; Weka 3.6.0 there."""
    if not weka.version().startswith("3.6."):
        pytest.skip(f"the counts are those of Weka 3.6, and the jar is {weka.version()}")
    adult = load("adult", "sramka")
    encoded = encode(adult.table, adult.schema.quasi_identifiers, adult.schema, adult.hierarchies)
    salary = adult.table["salary"].to_numpy()
    correct = (WekaMiner(name).cross_val_predictions(encoded, salary, folds=10, seed=1) == salary).sum()
    assert correct == pytest.approx(published, rel=0.0005)
