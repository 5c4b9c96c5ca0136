"""Weka behind the two methods of a miner: its own counts, its limits, and what it says where something is missing.

What needs Java, the jar and jpype1 is skipped without them; where Java is present in CI, a skip would hide the fault.
"""

import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privnb import miners
from privnb.datasets.dataset import load
from privnb.evaluation.digests import digest
from privnb.evaluation.store import Store, run_tasks
from privnb.miners import weka
from privnb.miners.encoding import Encoded, encode
from privnb.miners.weka import (
    BASIC,
    CATEGORICAL,
    NUMERICAL,
    Header,
    Unavailable,
    Unfinished,
    WekaMiner,
    find_miners_by_class,
    find_miners_by_name,
    list_paper_miners,
)


def made_up_jar(folder, version="9-8-7", *schemes):
    """A jar that states a version and names miners, and has no code."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / "weka.jar", "w") as archive:
        archive.writestr("weka/core/version.txt", f"{version}\n")
        for scheme in schemes:
            archive.writestr(f"weka/classifiers/{scheme.replace('.', '/')}.class", "")
    return folder / "weka.jar"


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
    assert set(BASIC) <= set(CATEGORICAL)


def test_names_say_the_version_and_are_read_back(tmp_path, monkeypatch):
    monkeypatch.setenv("WEKA_JAR", str(made_up_jar(tmp_path, "9-8-7", "trees.J48", "lazy.IBk", "meta.Bagging")))
    names = ["Weka 9.8.7 trees.J48", "Weka 9.8.7 lazy.IBk -K '2 5'", "Weka 9.8.7 meta.Bagging", "Weka 9.8.7 misc.OLM"]
    assert [miner.name for miner in find_miners_by_name(", ".join(names))] == names
    read = find_miners_by_name("Weka lazy.IBk -K '2 5',Weka   trees.J48, Weka 9.8.7 trees.J48,Weka lazy.IBk", seconds=3)
    assert [(m.scheme, m.options, m.seconds) for m in read] == [
        ("lazy.IBk", ("-K", "2 5"), 3), ("trees.J48", (), 3), ("lazy.IBk", (), 3)
    ]  # fmt: skip
    assert [m.name for m in find_miners_by_class(["trees.J48"], options=("-U",))] == ["Weka 9.8.7 trees.J48 -U"]


def test_sets_are_whole_whatever_the_jar_lacks(tmp_path, monkeypatch):
    monkeypatch.setenv("WEKA_JAR", str(made_up_jar(tmp_path)))
    for name, schemes in (("basic", BASIC), ("categorical", CATEGORICAL), ("numerical", NUMERICAL)):
        assert tuple(miner.scheme for miner in find_miners_by_name(f"Weka {name}")) == schemes
    assert (
        len(find_miners_by_name("Weka 9.8.7 categorical, Weka numerical, Weka basic")) == 32 + 10 - 6
    )  # six are in both


@pytest.mark.parametrize(
    "text", ["", "majority", "Weka", "Weka trees.Oak", "Weka basic, J48", "Weka 9.8.7", "Weka basic -U", "weka basic"]
)
def test_a_name_of_nothing_is_refused(tmp_path, monkeypatch, text):
    monkeypatch.setenv("WEKA_JAR", str(made_up_jar(tmp_path)))
    with pytest.raises(ValueError, match=r"no miner '.*'\. Name a set, Weka basic, .*miners of Weka 9\.8\.7"):
        find_miners_by_name(text)


def test_another_version_than_the_jars_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("WEKA_JAR", str(made_up_jar(tmp_path)))
    for text in ("Weka 3.6.14 trees.J48", "Weka basic, Weka 3.6.14 basic"):
        with pytest.raises(ValueError, match=r"needs Weka 3\.6\.14, but .*weka\.jar is Weka 9\.8\.7\. Leave"):
            find_miners_by_name(text)


def test_the_key_of_a_miner_has_its_version_and_not_its_place(tmp_path, monkeypatch):
    def key(folder, version, scheme="trees.J48", **options):
        monkeypatch.setenv("WEKA_JAR", str(made_up_jar(tmp_path / folder, version)))
        return digest(WekaMiner(scheme, **options))

    assert key("here", "3-6-14") == key("there", "3-6-14")
    others = [key("new", "3-8-0"), key("here", "3-6-14", "trees.Id3"), key("here", "3-6-14", options=("-U",))]
    assert len({key("here", "3-6-14"), *others, key("here", "3-6-14", seconds=3)}) == 5


@pytest.mark.slow
def test_importing_it_starts_nothing():
    code = "import sys, privnb.miners.weka; assert 'jpype' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_missing_jar_is_named_with_the_way_to_get_one(tmp_path, monkeypatch):
    monkeypatch.setenv("WEKA_JAR", str(tmp_path / "none.jar"))
    with pytest.raises(Unavailable, match=r"none\.jar.*apt-get install weka"):
        weka.find_jar()
    with pytest.raises(Unavailable, match=r"cannot run here: .*none\.jar"):
        WekaMiner("trees.J48", version="3.6.14").fit(ENCODED, GROUP)
    for make in (
        partial(WekaMiner, "trees.J48"),
        partial(find_miners_by_name, "Weka basic"),
    ):  # whose version is not known
        with pytest.raises(Unavailable, match=r"none\.jar.*apt-get install weka"):
            make()
    with pytest.raises(Unavailable, match="cannot run here"):  # that no miner can run is no result
        WekaMiner("trees.J48", version="3.6.14").fit(ENCODED, GROUP)


def test_what_is_no_jar_of_weka_is_told(tmp_path, monkeypatch):
    (tmp_path / "text.jar").write_text("no archive", encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "other.jar", "w") as archive:
        archive.writestr("readme", "")
    for name in ("text.jar", "other.jar"):
        monkeypatch.setenv("WEKA_JAR", str(tmp_path / name))
        assert f"{name} is not a jar of Weka" in weka.list_missing_requirements()


def test_missing_java_and_jpype1_are_named(monkeypatch):
    monkeypatch.setattr(weka.java, "which", lambda name: None)
    monkeypatch.setattr(weka.java, "find_spec", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert "pip install" in weka.list_missing_requirements()
    assert "default-jre-headless" in weka.list_missing_requirements()


def test_known_tells_what_a_jar_lacks(tmp_path):
    jar = made_up_jar(tmp_path, "9-8-7", "trees.REPTree")
    assert weka.version(jar) == "9.8.7"
    table = list_paper_miners(jar)
    assert len(table) == 42
    assert table[table["present"]].to_numpy().tolist() == [
        ["categorical", "trees.REPTree", True], ["numerical", "trees.REPTree", True]
    ]  # fmt: skip


@pytest.mark.parametrize(("names", "target"), [(CATEGORICAL, GROUP), (NUMERICAL, HOURS)], ids=["labels", "numbers"])
def test_every_miner_of_the_jar_guesses_and_the_others_are_named(java, names, target):
    guesses, failed = attempt(find_miners_by_class(names), target)
    table = list_paper_miners()
    assert set(guesses) | set(failed) == {WekaMiner(scheme).name for scheme in names}
    guesses, failed = ({name.split()[-1]: told for name, told in found.items()} for found in (guesses, failed))
    assert set(guesses).isdisjoint(failed)
    # From 3.7 on some miners take further jars.
    absent = {name for name, reason in failed.items() if "there is no miner" in reason}
    assert absent == set(names) - set(table["miner"][table["present"]])
    assert all("is not in" in failed[name] for name in set(failed) - absent)
    if weka.version().startswith("3.6."):
        assert absent == set(failed) == {"misc.MinMaxExtension", "misc.OLM"} & set(names)
    assert all(WekaMiner(name).predicts(target) for name in names)  # of the absent the paper says it
    for name, guess in guesses.items():
        if target is GROUP:
            assert set(guess) <= set(GROUP)
        same = pd.Series(guess).groupby(ENCODED.row).nunique()
        assert (same == 1).all(), name
    if target is GROUP:
        assert (guesses["trees.J48"] == GROUP).mean() > (guesses["rules.ZeroR"] == GROUP).mean() + 0.1


def test_who_can_guess_what(java):
    labels = [name for name in set(CATEGORICAL) - set(NUMERICAL) if WekaMiner(name).predicts(HOURS)]
    assert set(labels) <= {"lazy.IBk", "lazy.KStar", "lazy.LWL", "functions.SMO", "trees.RandomTree"}
    assert not any(WekaMiner(name).predicts(GROUP) for name in set(NUMERICAL) - set(CATEGORICAL))
    assert not WekaMiner("misc.OLM").predicts(HOURS)


def test_missing_numbers_are_wekas_own(java):
    """NaN is Weka's mark of one: it can be told apart, and of whom the target is missing nothing is learned."""
    age = pd.Series(np.where(np.arange(400) % 4, np.arange(400.0), np.nan))
    encoded = Encoded(np.zeros((400, 1), np.float32), pd.DataFrame({"age": age}), np.arange(400))
    lacks = np.where(age.isna(), "yes", "no")
    assert (WekaMiner("rules.OneR").fit(encoded, lacks).predict(encoded) == lacks).all()
    hours = np.where(np.arange(400) % 3, HOURS, np.nan)
    list_paper_miners, tree = ~np.isnan(hours), WekaMiner("trees.REPTree")
    guesses = tree.fit(encoded, hours).predict(encoded)
    assert guesses.tolist() == tree.fit(encoded[list_paper_miners], hours[list_paper_miners]).predict(encoded).tolist()
    assert not np.isnan([guesses, tree.cross_val_predictions(encoded, hours, folds=3)]).any()


def test_zero_r_guesses_the_mean_and_the_commonest(java):
    zero = WekaMiner("rules.ZeroR")
    np.testing.assert_allclose(zero.fit(ENCODED, HOURS).predict(ENCODED), HOURS.mean())
    assert set(zero.fit(ENCODED, GROUP).predict(ENCODED)) == {pd.Series(GROUP).mode()[0]}
    assert zero.model is None


@pytest.mark.parametrize("name", ["bayes.NaiveBayes", "trees.J48", "trees.RandomForest"])
def test_cross_validation_counts_as_weka_does(java, name):
    guesses = WekaMiner(name).cross_val_predictions(ENCODED, GROUP, folds=5, seed=3)
    assert (guesses == GROUP).sum() == evaluated(java, name, GROUP, 5, 3).correct()


def test_all_miners_are_cross_validated_by_one_function(java):
    j48 = WekaMiner("trees.J48")
    own = j48.cross_val_predictions(ENCODED, GROUP, folds=5, seed=3)
    assert miners.cross_val_predictions(j48, ENCODED, GROUP, folds=5, seed=3).tolist() == own.tolist()


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
    if "trees.Id3" not in set(list_paper_miners().query("present")["miner"]):
        pytest.skip(f"Weka {weka.version()} has no Id3")
    table = pd.DataFrame({name: pd.Categorical(list(text)) for name, text in {"p": "aabbc", "q": "xyxyx"}.items()})
    row = np.arange(5)
    encoded = Encoded(np.zeros((5, 1), np.float32), table, row)
    fitted = WekaMiner("trees.Id3").fit(encoded[row < 4], ["1", "1", "2", "2"])
    assert fitted.predict(encoded).tolist() == ["1", "1", "2", "2", None]


def attempt(miners, target):
    """What each miner guesses of ENCODED after it learned `target` from it; and why others have no guess."""
    guesses, failed = {}, {}
    for miner in miners:
        try:
            guesses[miner.name] = miner.fit(ENCODED, target).predict(ENCODED)
        except (Unfinished, Unavailable, ValueError) as error:
            failed[miner.name] = str(error)
    return guesses, failed


def rests():
    """Whether this process comes to rest within a minute: a miner that goes on never does, Java's compiler soon."""
    for _ in range(120):
        before = time.process_time()
        time.sleep(0.5)
        if time.process_time() - before < 0.1:
            return True
    return False


def test_a_miner_beyond_its_limit_is_named_and_stops(java):
    slow = WekaMiner("functions.MultilayerPerceptron", ("-N", "10000000"), seconds=0.3)
    start = time.process_time()
    guesses, failed = attempt([slow, WekaMiner("trees.J48")], GROUP)
    assert list(guesses) == [WekaMiner("trees.J48").name]
    assert list(failed) == [slow.name]
    assert "did not finish within 0.3 CPU seconds" in failed[slow.name]
    if "cannot stop" not in failed[slow.name]:  # Java 20 and later
        assert failed[slow.name].endswith("seconds.")
        assert rests()
    assert time.process_time() - start < 30
    with pytest.raises(Unfinished, match="MultilayerPerceptron"):
        slow.fit(ENCODED, GROUP)


def test_training_and_guessing_have_one_limit(java):
    encoded, group, _ = people(4000)
    encoded = replace(encoded, row=np.arange(4000))  # all are asked for
    trained = WekaMiner("functions.MultilayerPerceptron", ("-N", "1000")).fit(ENCODED, GROUP)
    assert 0.1 < trained.spent < trained.seconds
    lazy = WekaMiner("lazy.IBk", seconds=30).fit(encoded, group)
    first = lazy.predict(encoded)
    # What training took is missing when guessing, and what one call took is not missing in the next.
    assert lazy.predict(encoded).tolist() == first.tolist()
    assert lazy.spent < 1
    with pytest.raises(Unfinished, match=r"'lazy\.IBk' did not finish within 30 CPU seconds"):
        replace(lazy, spent=29.999).predict(encoded)


def test_an_interrupt_stops_the_miner(java):
    slow = WekaMiner("functions.MultilayerPerceptron", ("-N", "10000000"))
    threading.Timer(1, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        slow.fit(ENCODED, GROUP)
    if int(str(java.JClass("java.lang.System").getProperty("java.specification.version"))) < 20:
        assert rests()


def right(miner, log=None):
    """How many a miner guesses right of ten folds; then, with `log`, a mark there and training without an end."""
    correct = int((miners.cross_val_predictions(miner, ENCODED, GROUP) == GROUP).sum())
    if log is not None:
        (Path(log) / str(os.getpid())).touch()
        WekaMiner("functions.MultilayerPerceptron", ("-N", "100000000"), seconds=600).fit(ENCODED, GROUP)
    return correct


def test_untrained_miners_go_to_workers_which_end(java, tmp_path):
    j48, bayes = find_miners_by_name("Weka trees.J48, Weka bayes.NaiveBayes")
    assert pickle.loads(pickle.dumps(j48)).name == j48.name
    assert run_tasks([partial(right, j48), partial(right, bayes)], Store(tmp_path), jobs=2) == [
        right(j48),
        right(bayes),
    ]
    assert multiprocessing.active_children() == []
    assert Store(tmp_path).call(right, WekaMiner("trees.J48")) == right(j48)
    assert len(list(tmp_path.glob("*.result"))) == 2


def until_killed(folder):
    run_tasks(
        [partial(right, WekaMiner(scheme), folder) for scheme in BASIC[:2]], Store(Path(folder) / "store"), jobs=2
    )


def test_a_killed_parent_leaves_no_java_behind(java, tmp_path):
    tests = str(Path(__file__).parent)
    code = f"import sys; sys.path.insert(0, {tests!r}); import test_weka; test_weka.until_killed(sys.argv[1])"
    parent = subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE)
    limit = time.monotonic() + 60
    while len([path for path in tmp_path.iterdir() if path.name.isdigit()]) < 2:
        assert parent.poll() is None
        assert time.monotonic() < limit
        time.sleep(0.05)
    time.sleep(0.5)  # both are within Java now
    parent.kill()
    # The workers, which hold Java, hold the same pipe: that it ends says that none is left.
    assert parent.communicate(timeout=20)[0] == b""


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
    with pytest.raises(ValueError, match="2 to 400, the number of records"):
        WekaMiner("trees.J48").cross_val_predictions(ENCODED, GROUP, folds=1)
    fitted = WekaMiner("trees.J48").fit(ENCODED, GROUP)
    with pytest.raises(ValueError, match="columns must be those of training"):
        fitted.predict(numbers)
    texts = ENCODED.labels.assign(job=HOURS)
    with pytest.raises(ValueError, match="must hold labels, as in training; got numbers"):
        fitted.predict(Encoded(ENCODED.features, texts, np.arange(len(HOURS))))


def test_a_miner_without_memory_is_unfinished(java):
    error = java.JClass("java.lang.RuntimeException")(java.JClass("java.lang.OutOfMemoryError")("heap"))
    with pytest.raises(Unfinished, match="ran out of memory"):
        raise weka.java.translate_error(java, "lazy.IBk", error)


def test_one_jar_a_process(java, tmp_path, monkeypatch):
    monkeypatch.setenv("WEKA_JAR", str(shutil.copy(java.jar, tmp_path / "other.jar")))
    with pytest.raises(Unavailable, match="one Java machine"):
        WekaMiner("trees.J48").fit(ENCODED, GROUP)


def test_a_miner_of_another_version_does_not_run(java):
    with pytest.raises(Unavailable, match=r"the miner needs Weka 0\.1, but .* is Weka"):
        WekaMiner("trees.J48", version="0.1").fit(ENCODED, GROUP)


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
