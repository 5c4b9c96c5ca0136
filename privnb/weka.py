"""Weka's own miners behind the two methods of `miners.Miner`: an extra that nothing imports unless asked.

It takes Java (`apt-get install default-jre-headless`), Weka's jar (Debian's package `weka` installs 3.6.14, the line
of Sramka et al. 2010) and the Python package jpype1. Weka itself is under the GPL. All miners share one Java machine,
which starts with the first of them, has 2 GB as in the paper, and ends with Python; it does not survive a fork.

The papers' reading of a release: numbers are numeric, every published text is a nominal value, the class stands last.
The order of the records, and of nominal values (the encoding's, sorted), decides ties, so it is part of the result.
"""

import os
import re
import shlex
import threading
import time
import zipfile
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

# Sramka et al. 2010, section 4.4, the reference sets of miners for released intervals and for noisy numbers.
CATEGORICAL = (
    "bayes.AODE", "bayes.AODEsr", "bayes.BayesNet", "bayes.HNB", "bayes.NaiveBayes", "bayes.NaiveBayesSimple",
    "bayes.NaiveBayesUpdateable", "bayes.WAODE", "functions.RBFNetwork", "functions.SMO", "lazy.IB1", "lazy.IBk",
    "lazy.KStar", "lazy.LWL", "rules.ConjunctiveRule", "rules.DTNB", "rules.DecisionTable", "rules.OneR",
    "rules.Ridor", "rules.ZeroR", "trees.DecisionStump", "trees.Id3", "trees.J48", "trees.J48graft", "trees.REPTree",
    "trees.RandomForest", "trees.RandomTree", "trees.SimpleCart", "misc.HyperPipes", "misc.MinMaxExtension",
    "misc.OLM", "misc.VFI",
)  # fmt: skip
NUMERICAL = (
    "functions.RBFNetwork", "rules.ConjunctiveRule", "rules.DecisionTable", "rules.M5Rules", "rules.ZeroR",
    "trees.DecisionStump", "trees.M5P", "trees.REPTree", "functions.LeastMedSq", "functions.LinearRegression",
)  # fmt: skip
# Section 4.3: the set L of Table 1.
THREE = ("bayes.NaiveBayes", "trees.J48", "trees.RandomForest")
SETS = {"three": THREE, "categorical": CATEGORICAL, "numerical": NUMERICAL}

DEBIAN = Path("/usr/share/java/weka.jar")  # where the package `weka` puts it
SECONDS = 120.0
_starting = threading.Lock()
_running = {}


class Unavailable(RuntimeError):
    """Java, Weka's jar, jpype1 or one of Weka's miners is not there; the message says which, and how to get it."""


class Refused(ValueError):
    """A miner that does not take such data, in Weka's own words."""


class Unfinished(RuntimeError):
    """A miner that ran out of its processor time or of memory: it has no guesses, and belongs to no average."""


def find_jar(jar=None):
    """Path of Weka's jar: `jar`, else the environment variable WEKA_JAR, else Debian's. Raises Unavailable."""
    asked = jar or os.environ.get("WEKA_JAR") or DEBIAN
    if not Path(asked).is_file():
        raise Unavailable(
            f"there is no Weka jar at {asked}. `apt-get install weka` puts one at {DEBIAN}; any other is named by the "
            "environment variable WEKA_JAR."
        )
    return Path(asked).resolve()


def version(jar=None):
    """The version that the jar states, as "3.6.14"."""
    return _read(find_jar(jar))[0]


@dataclass(frozen=True, eq=False)
class WekaMiner:
    """One of Weka's classifiers: `scheme` below weka.classifiers ("trees.J48"), `options` as on its command line.

    `seconds`: processor time, of its own thread, for training and guessing together. Each call of `predict` has what
    training left, whatever earlier calls took. `version`: Weka's, which results depend on; the jar's unless given, and
    no other jar will do. Where the jar lies counts for nothing. `fit` leaves the miner as it was.
    """

    scheme: str
    options: tuple[str, ...] = ()
    seconds: float = field(default=SECONDS, repr=False)
    version: str = field(default_factory=version)
    spent: float = field(default=0.0, repr=False)
    model: object = field(default=None, repr=False)
    header: object = field(default=None, repr=False)

    @property
    def name(self):
        """The name that results carry and that `named` reads, as "Weka 3.6.14 trees.J48"."""
        return shlex.join(["Weka", self.version, self.scheme, *self.options])

    def predicts(self, target):
        """Whether Weka says that it can guess a column like `target`, numbers or labels.

        Of a miner that the jar lacks the paper says it, and `fit` raises Unavailable.
        """
        numbers = is_numeric_dtype(pd.Series(target))
        java = _java(self.version)
        kind = java.JClass("weka.core.Capabilities$Capability").valueOf("NUMERIC_CLASS" if numbers else "NOMINAL_CLASS")
        try:
            return bool(self._untrained(java).getCapabilities().handles(kind))
        except Unavailable:
            return self.scheme in (NUMERICAL if numbers else CATEGORICAL)

    def fit(self, encoded, target):
        """A copy that has learned `target`, array (n,) of numbers or labels, from n encoded records.

        Raises ValueError where Weka refuses the data, as AODE does numbers; Unfinished beyond the limits; Unavailable.
        """
        java = _java(self.version)
        header = Header(encoded.labels, target)
        return replace(self._trained(java, header.instances(java, encoded.labels, target)), header=header)

    def predict(self, encoded):
        """The guesses for n encoded records: array (n,) of numbers or labels. Equal records get equal guesses.

        A label that training did not show is a missing value. Where Weka names no class, as Id3 does for a record
        unlike all it saw, the guess is None, or NaN for numbers. Raises as `fit` does.
        """
        if self.model is None:
            raise ValueError(f"the miner '{self.name}' has learned nothing yet. Predict with what `fit` returns.")
        java = _java(self.version)
        # A release has few distinct records: each is asked for once, which makes the lazy miners affordable.
        _, first, back = np.unique(encoded.row, return_index=True, return_inverse=True)
        data = self.header.instances(java, encoded[first].labels)
        return self.header.guesses(self._asked(java, data))[back]

    def cross_val_predictions(self, encoded, target, folds=10, seed=1):
        """A guess for each record by a model that did not see it, in Weka's own folds: array (n,) in their order.

        The counts are those of Weka's own evaluation: they depend on `seed` and on the order of records and of labels.
        Each fold has the limit for itself. Raises as `fit` does, and ValueError unless 2 <= folds <= n.
        """
        if not 2 <= folds <= len(encoded):
            raise ValueError(f"cross-validation needs 2 to {len(encoded)} folds (the records), got {folds}.")
        java = _java(self.version)
        header = Header(encoded.labels, target)
        data = header.instances(java, encoded.labels, target)
        # The numbers of the records, shuffled alike, tell whose guess is whose.
        numbers = pd.DataFrame({"number": np.arange(len(encoded), dtype=float)})
        numbers = Header(numbers, target).instances(java, numbers, target)
        chance = java.JClass("java.util.Random")(seed)
        data.randomize(chance)
        numbers.randomize(java.JClass("java.util.Random")(seed))
        if header.classes is not None:
            data.stratify(folds)
            numbers.stratify(folds)
        found = np.empty(len(encoded))
        for fold in range(folds):
            trained = self._trained(java, data.trainCV(folds, fold, chance))
            held = np.array(numbers.testCV(folds, fold).attributeToDoubleArray(0)[:]).astype(int)
            found[held] = trained._asked(java, data.testCV(folds, fold))
        return header.guesses(found)

    def _untrained(self, java):
        try:
            model = java.JClass(f"weka.classifiers.{self.scheme}")()
        except TypeError:  # what jpype says of a class that it does not find
            raise Unavailable(
                f"there is no miner '{self.scheme}' in Weka {self.version}. `known()` lists those of the paper and "
                "whether a jar has them; leave it out, and say so beside the result."
            ) from None
        except java.JException as error:
            raise _told(java, self.scheme, error) from None
        try:
            options = java.JArray(java.JString)(list(self.options))
            model.setOptions(options)  # which empties those that it takes
            java.JClass("weka.core.Utils").checkForRemainingOptions(options)
        except java.JException as error:
            raise ValueError(f"the miner '{self.scheme}' has no options {self.options}: {error}.") from None
        return model

    def _trained(self, java, data):
        model = self._untrained(java)
        _, spent = self._limited(java, model, "buildClassifier", data)
        return replace(self, model=model, spent=spent)

    def _asked(self, java, data):
        """What Weka's evaluation hears from the model for each of `data`, whose class it hides: float array (n,)."""
        grading = java.JClass("weka.classifiers.Evaluation")(data)
        prints = java.JArray(java.JClass("java.lang.Object"))(0)  # nothing
        found, _ = self._limited(java, grading, "evaluateModel", self.model, data, prints)
        return np.array(found[:], dtype=float)

    def _limited(self, java, *call):
        """The value of a call (object, name of its method, arguments), and the processor time it took, to 0.1 s.

        It is stopped once it has used what the miner has left. The thread is Java's alone, from first to last: a
        thread that Python takes part in does not survive its end.
        """
        call = java.JClass("java.beans.Expression")(call[0], call[1], list(call[2:]))
        run = java.JClass("java.beans.EventHandler").create(java.JClass("java.lang.Runnable"), call, "execute")
        task = java.JClass("java.util.concurrent.FutureTask")(run, None)
        thread = java.JClass("java.lang.Thread")(task)
        thread.setDaemon(True)
        clock = java.JClass("java.lang.management.ManagementFactory").getThreadMXBean()
        thread.start()
        number, pause, spent = thread.getId(), 0.001, 0.0
        try:
            while self.spent + spent <= self.seconds and not task.isDone():
                time.sleep(pause)  # in Python, where an interrupt is heard
                pause = min(1.1 * pause, 0.1)
                spent = max(spent, clock.getThreadCpuTime(number) / 1e9)  # -1 once it has ended
        except BaseException:
            _stop(java, thread)  # or it would go on unseen
            raise
        if self.spent + spent > self.seconds:
            raise Unfinished(
                f"the miner '{self.scheme}' did not finish within {self.seconds:g} CPU seconds{_stop(java, thread)}"
            )
        try:
            task.get()
        except java.JException as error:
            raise _told(java, self.scheme, error) from None
        return call.getValue(), spent


class Header:
    """The attributes as Weka is told of them.

    `labels`: {name: Index of nominal values, or None for numbers}; `classes`: the sorted labels of the class, None for
    numbers.
    """

    def __init__(self, table, target):
        """`table`: DataFrame (n, attributes) of numbers and Categoricals; `target`: numbers or labels, array (n,)."""
        target = pd.Series(np.asarray(target))
        self.labels = {name: None if is_numeric_dtype(table[name]) else table[name].cat.categories for name in table}
        self.classes = None if is_numeric_dtype(target) else np.array(sorted(set(target.astype(str))), dtype=object)

    def instances(self, java, table, target=None):
        """Weka's Instances of n records, a DataFrame of numbers and Categoricals; without `target` no class."""
        if list(table) != list(self.labels):
            raise ValueError(f"the miner learned from columns {list(self.labels)}, got {list(table)}. Encode those.")
        columns = [self._column(table[name], values) for name, values in self.labels.items()]
        if target is None:
            columns.append(np.full(len(table), np.nan))
        elif self.classes is None:
            columns.append(np.asarray(target, dtype=float))
        else:
            columns.append(np.searchsorted(self.classes, pd.Series(np.asarray(target)).astype(str).to_numpy(object)))
        vector = java.JClass("weka.core.FastVector")
        attributes = vector()
        for name, values in [*self.labels.items(), ("the class", self.classes)]:
            attribute = java.JClass("weka.core.Attribute")
            if values is None:
                attributes.addElement(attribute(str(name)))
                continue
            nominal = vector()
            for value in values:
                nominal.addElement(java.JString(str(value)))
            attributes.addElement(attribute(str(name), nominal))
        data = java.JClass("weka.core.Instances")("records", attributes, len(table))
        data.setClassIndex(len(columns) - 1)
        # Since 3.7 Instance is an interface.
        record = java.JClass("weka.core.Instance")
        record = java.JClass("weka.core.DenseInstance") if record.class_.isInterface() else record
        for row in java.JArray(java.JDouble, 2)(np.column_stack(columns).astype(float)):
            data.add(record(1.0, row))  # NaN is Weka's own missing value
        return data

    def guesses(self, found):
        """Weka's numbers, float array (n,), as numbers or as labels; None for no class."""
        if self.classes is None:
            return found
        return np.append(self.classes, None)[np.nan_to_num(found, nan=-1).astype(int)]

    def _column(self, column, values):
        if (values is None) != is_numeric_dtype(column):
            kinds = ("numbers", "labels") if values is None else ("labels", "numbers")
            raise ValueError(
                f"column '{column.name}': the miner learned from {kinds[0]} and is asked for {kinds[1]}. "
                "Encode with like= the records that it learned from."
            )
        if values is None:
            return column.to_numpy(dtype=float)
        known = np.append(values.get_indexer(column.cat.categories).astype(float), -1)  # the last serves code -1
        codes = known[column.cat.codes.to_numpy()]
        return np.where(codes < 0, np.nan, codes)


def reference_set(schemes, **options):
    """Weka's miners by their place below weka.classifiers, a tuple; `options` go to each, as seconds=."""
    return tuple(WekaMiner(scheme, **options) for scheme in schemes)


def named(text, **options):
    """Weka's miners by the names that results carry, a tuple; `options` go to each, as seconds=.

    `text`: names separated by commas, as "Weka 3.6.14 trees.J48", or without the version; Weka's own options may
    follow. "Weka three" is the paper's set L of Table 1, "Weka categorical" and "Weka numerical" are those of Table 2,
    whole: where the jar lacks an entry, its `fit` raises Unavailable. Raises ValueError for another version than the
    jar's, and for a name that neither the jar nor the paper has; Unavailable without a jar.
    """
    jar = find_jar()
    stated, schemes = _read(jar)
    chosen = {}
    for part in text.split(","):
        name = re.fullmatch(r"Weka(?:\s+(\d\S*))?\s+([a-zA-Z]\S*)(.*)", part.strip())
        asked, scheme, rest = name.groups() if name else (None, "", "")
        entries = (scheme,) if rest else SETS.get(scheme, (scheme,))
        if not schemes.union(CATEGORICAL, NUMERICAL).issuperset(entries):
            raise ValueError(
                f"there is no miner '{part.strip()}'. Name a set, {', '.join(f'Weka {each}' for each in SETS)}, or "
                f"miners of Weka {stated} such as 'Weka trees.J48': `privnb.weka.known()` lists the paper's."
            )
        if asked not in (None, stated):
            raise ValueError(
                f"'{part.strip()}' asks for Weka {asked}, and {jar} is Weka {stated}. Leave the version out, or name "
                "that version's jar in the environment variable WEKA_JAR."
            )
        for entry in entries:
            chosen.setdefault((entry, rest), WekaMiner(entry, tuple(shlex.split(rest)), **options))
    return tuple(chosen.values())


def attempt(miners, encoded, target, asked):
    """What each miner that learned `target` from `encoded` guesses for `asked`, and which miners have no guess.

    Returns ({name: array (len(asked),)}, {name: the reason, in words}). An average is over the first; name the second
    beside it. Which miners finish depends on the machine's speed.
    """
    guesses, failed = {}, {}
    for miner in miners:
        try:
            guesses[miner.name] = miner.fit(encoded, target).predict(asked)
        except (Unfinished, ValueError) as error:
            failed[miner.name] = str(error)
        except Unavailable as error:
            if missing():  # then no miner can run, which is no result
                raise
            failed[miner.name] = str(error)
    return guesses, failed


def known(jar=None):
    """The 42 entries of the paper's two sets: DataFrame of target ("categorical", "numerical"), miner, present in jar.

    OLM and MinMaxExtension, which 3.6.0 had, are not in 3.6.14.
    """
    present = _read(find_jar(jar))[1]
    rows = [(kind, each, each in present) for kind in ("categorical", "numerical") for each in SETS[kind]]
    return pd.DataFrame(rows, columns=["target", "miner", "present"])


def missing(jar=None):
    """What Weka's miners lack here and how to get it, in words; "" if nothing."""
    lacks = []
    if find_spec("jpype") is None:
        lacks.append('there is no jpype1: pip install "privnb[weka]".')
    if which("java") is None and "JAVA_HOME" not in os.environ:
        lacks.append("there is no Java: apt-get install default-jre-headless, or set JAVA_HOME.")
    try:
        version(jar)
    except Unavailable as error:
        lacks.append(str(error))
    return " ".join(lacks)


class _Java:
    """The running Java machine: jpype's names, and the jar that it was started with."""

    def __init__(self, jar):
        import jpype

        self.jar, self.JClass, self.JArray = jar, jpype.JClass, jpype.JArray
        self.JString, self.JDouble, self.JException = jpype.JString, jpype.JDouble, jpype.JException
        if not jpype.isJVMStarted():
            flags = "-Xmx2g", "-Djava.awt.headless=true"
            jpype.startJVM(*flags, classpath=[str(jar)], convertStrings=False, interrupt=False)
            # Some miners print what they do.
            quiet = self.JClass("java.io.PrintStream")(self.JClass("java.io.OutputStream").nullOutputStream())
            self.JClass("java.lang.System").setOut(quiet)
            self.JClass("java.lang.System").setErr(quiet)
        else:
            jpype.addClassPath(str(jar))


def _java(wanted):
    """The one Java machine of this process, started on the first call, with Weka `wanted`. Raises Unavailable."""
    with _starting:
        lacks = missing()
        if lacks:
            raise Unavailable(f"Weka's miners cannot run here: {lacks}")
        jar = find_jar()
        java = _running.setdefault("java", None) or _Java(jar)
        _running["java"] = java
    if java.jar != jar:
        raise Unavailable(
            f"this process runs Weka with {java.jar}, and {jar} was asked for. A process has one Java machine: "
            "use one jar, or another process."
        )
    if version(jar) != wanted:
        raise Unavailable(
            f"the miner is of Weka {wanted}, and {jar} is Weka {version(jar)}. Make the miner anew, or name that "
            "version's jar in the environment variable WEKA_JAR."
        )
    return java


@cache
def _read(jar):
    """The version that a jar states, and what it has below weka.classifiers. Raises Unavailable for another file."""
    try:
        with zipfile.ZipFile(jar) as archive:
            stated = archive.read("weka/core/version.txt").decode().strip().replace("-", ".")
            classes = "\n".join(archive.namelist())
    except (zipfile.BadZipFile, KeyError) as error:
        raise Unavailable(f"{jar} is no jar of Weka: {error}. Name another in WEKA_JAR.") from None
    found = re.findall(r"^weka/classifiers/(.+)\.class$", classes, re.MULTILINE)
    return stated, frozenset(each.replace("/", ".") for each in found)


def _stop(java, thread):
    """End a Java thread; the end of the sentence that reports it."""
    for _ in range(20):  # some code swallows the first
        try:
            thread.stop()
        except java.JException:  # Java 20 took this away
            return ". This Java cannot stop it, and it runs on until Python ends: use Java 17."
        thread.join(500)
        if not thread.isAlive():
            return "."
    return ", nor stop when told to: it runs on until Python ends."


def _told(java, name, error):
    """A Java error, inside those of the calls around it, as the Python one to raise."""
    while error.getCause() is not None:
        error = error.getCause()
    kind = str(error.getClass().getSimpleName())
    if kind in ("OutOfMemoryError", "StackOverflowError"):
        return Unfinished(f"the miner '{name}' ran out of memory ({kind}).")
    if kind in ("ClassNotFoundException", "NoClassDefFoundError"):
        return Unavailable(f"the miner '{name}' needs {error.getMessage()}, which is not in {java.jar}. Leave it out.")
    return Refused(f"the miner '{name}' refuses these data: {error}. Leave it out, and name it beside the result.")
