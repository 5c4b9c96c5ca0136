"""Weka's classifiers by name, the paper's sets of them, and a table as they read it."""

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from privnb.miners.encoding import Encoded
from privnb.miners.equivalents import WEKA
from privnb.miners.weka.java import Jar, Machine, Unavailable, explained, find_jar, limited, machine, read, version
from privnb.runtime.arrays import Array, FloatArray
from privnb.runtime.errors import UsageError

# Sramka et al. 2010, section 4.4, the reference sets of miners for released intervals and for noisy numbers.
CATEGORICAL, NUMERICAL = (
    tuple(f"{about['family']}.{name}" for name, about in WEKA.items() if kind in about["targets"])
    for kind in ("labels", "numbers")
)
# Section 4.3: the set L of Table 1.
THREE = ("bayes.NaiveBayes", "trees.J48", "trees.RandomForest")
SETS = {"three": THREE, "categorical": CATEGORICAL, "numerical": NUMERICAL}

SECONDS = 120.0


class Header:
    """The attributes as Weka reads them.

    `labels`: {name: Index of nominal values, or None for numbers}; `classes`: the sorted labels of the class, None for
    numbers.
    """

    def __init__(self, table: pd.DataFrame, target: Any) -> None:
        """`table`: DataFrame (n, attributes) of numbers and Categoricals; `target`: numbers or labels, array (n,)."""
        target = pd.Series(np.asarray(target))
        self.labels = {name: None if is_numeric_dtype(table[name]) else table[name].cat.categories for name in table}
        self.classes = None if is_numeric_dtype(target) else np.array(sorted(set(target.astype(str))), dtype=object)

    def instances(self, java: Machine, table: pd.DataFrame, target: Any = None) -> Any:
        """Weka's Instances of n records, a DataFrame of numbers and Categoricals; without `target` no class."""
        if list(table) != list(self.labels):
            raise UsageError(f"the miner learned from columns {list(self.labels)}, got {list(table)}. Encode those.")
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

    def guesses(self, found: FloatArray) -> Array:
        """Weka's numbers, float array (n,), as numbers or as labels; None for no class."""
        if self.classes is None:
            return found
        return np.array([*self.classes, None], dtype=object)[np.nan_to_num(found, nan=-1).astype(int)]

    def _column(self, column: pd.Series, values: Any) -> FloatArray:
        if (values is None) != is_numeric_dtype(column):
            kinds = ("numbers", "labels") if values is None else ("labels", "numbers")
            raise UsageError(
                f"column '{column.name}': the miner learned from {kinds[0]} and is asked for {kinds[1]}. "
                "Encode with like= the records that it learned from."
            )
        if values is None:
            return column.to_numpy(dtype=float)
        known = np.append(values.get_indexer(column.cat.categories).astype(float), -1)  # the last serves code -1
        codes = known[column.cat.codes.to_numpy()]
        return np.where(codes < 0, np.nan, codes)


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
    model: Any = field(default=None, repr=False)
    header: Header | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The name that results carry and that `named` reads, as "Weka 3.6.14 trees.J48"."""
        return shlex.join(["Weka", self.version, self.scheme, *self.options])

    def predicts(self, target: Any) -> bool:
        """Whether Weka says that it can guess a column like `target`, numbers or labels.

        Of a miner that the jar lacks the paper says it, and `fit` raises Unavailable.
        """
        numbers = is_numeric_dtype(pd.Series(target))
        java = machine(self.version)
        kind = java.JClass("weka.core.Capabilities$Capability").valueOf("NUMERIC_CLASS" if numbers else "NOMINAL_CLASS")
        try:
            return bool(self._untrained(java).getCapabilities().handles(kind))
        except Unavailable:
            return self.scheme in (NUMERICAL if numbers else CATEGORICAL)

    def fit(self, encoded: Encoded, target: Any) -> Self:
        """A copy that has learned `target`, array (n,) of numbers or labels, from n encoded records.

        Of whom the number is missing nothing is learned. Raises ValueError where Weka refuses the data, as AODE does
        numbers; Unfinished beyond the limits; Unavailable.
        """
        java = machine(self.version)
        header = Header(encoded.labels, target)
        return replace(self._trained(java, header.instances(java, encoded.labels, target)), header=header)

    def predict(self, encoded: Encoded) -> Array:
        """The guesses for n encoded records: array (n,) of numbers or labels. Equal records get equal guesses.

        A label that training did not show is a missing value. Where Weka names no class, as Id3 does for a record
        unlike all it saw, the guess is None, or NaN for numbers. Raises as `fit` does.
        """
        if self.model is None or self.header is None:
            raise UsageError(f"the miner '{self.name}' has learned nothing yet. Predict with what `fit` returns.")
        java = machine(self.version)
        # A release has few distinct records: each is asked for once, which makes the lazy miners affordable.
        _, first, back = np.unique(encoded.row, return_index=True, return_inverse=True)
        data = self.header.instances(java, encoded[first].labels)
        return self.header.guesses(self._asked(java, data))[back]

    def cross_val_predictions(self, encoded: Encoded, target: Any, folds: int = 10, seed: int = 1) -> Array:
        """A guess for each record by a model that did not see it, in Weka's own folds: array (n,) in their order.

        The counts are those of Weka's own evaluation: they depend on `seed` and on the order of records and of labels.
        Each fold has the limit for itself. Raises as `fit` does, and ValueError unless 2 <= folds <= n.
        """
        if not 2 <= folds <= len(encoded):
            raise UsageError(f"cross-validation needs 2 to {len(encoded)} folds (the records), got {folds}.")
        java = machine(self.version)
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

    def _untrained(self, java: Machine) -> Any:
        try:
            model = java.JClass(f"weka.classifiers.{self.scheme}")()
        except TypeError:  # what jpype says of a class that it does not find
            raise Unavailable(
                f"there is no miner '{self.scheme}' in Weka {self.version}. `known()` lists those of the paper and "
                "whether a jar has them; leave it out, and say so beside the result."
            ) from None
        except java.JException as error:
            raise explained(java, self.scheme, error) from None
        try:
            options = java.JArray(java.JString)(list(self.options))
            model.setOptions(options)  # which empties those that it takes
            java.JClass("weka.core.Utils").checkForRemainingOptions(options)
        except java.JException as error:
            raise UsageError(f"the miner '{self.scheme}' has no options {self.options}: {error}.") from None
        return model

    def _trained(self, java: Machine, data: Any) -> Self:
        model = self._untrained(java)
        data.deleteWithMissingClass()
        _, spent = limited(java, self, model, "buildClassifier", data)
        return replace(self, model=model, spent=spent)

    def _asked(self, java: Machine, data: Any) -> FloatArray:
        """What Weka's evaluation hears from the model for each of `data`, whose class it hides: float array (n,)."""
        grading = java.JClass("weka.classifiers.Evaluation")(data)
        prints = java.JArray(java.JClass("java.lang.Object"))(0)  # nothing
        found, _ = limited(java, self, grading, "evaluateModel", self.model, data, prints)
        return np.array(found[:], dtype=float)


def reference_set(schemes: Iterable[str], **options: Any) -> tuple[WekaMiner, ...]:
    """Weka's miners by their place below weka.classifiers, a tuple; `options` go to each, as seconds=."""
    return tuple(WekaMiner(scheme, **options) for scheme in schemes)


def named(text: str, **options: Any) -> tuple[WekaMiner, ...]:
    """Weka's miners by the names that results carry, a tuple; `options` go to each, as seconds=.

    `text`: names separated by commas, as "Weka 3.6.14 trees.J48", or without the version; Weka's own options may
    follow. "Weka three" is the paper's set L of Table 1, "Weka categorical" and "Weka numerical" are those of Table 2,
    whole: where the jar lacks an entry, its `fit` raises Unavailable. Raises ValueError for another version than the
    jar's, and for a name that neither the jar nor the paper has; Unavailable without a jar.
    """
    jar = find_jar()
    stated, schemes = read(jar)
    chosen: dict[tuple[str, str], WekaMiner] = {}
    for part in text.split(","):
        name = re.fullmatch(r"Weka(?:\s+(\d\S*))?\s+([a-zA-Z]\S*)(.*)", part.strip())
        asked, scheme, rest = name.groups() if name else (None, "", "")
        entries = (scheme,) if rest else SETS.get(scheme, (scheme,))
        if not schemes.union(CATEGORICAL, NUMERICAL).issuperset(entries):
            raise UsageError(
                f"there is no miner '{part.strip()}'. Name a set, {', '.join(f'Weka {each}' for each in SETS)}, or "
                f"miners of Weka {stated} such as 'Weka trees.J48': `privnb.miners.weka.known()` lists the paper's."
            )
        if asked not in (None, stated):
            raise UsageError(
                f"'{part.strip()}' asks for Weka {asked}, and {jar} is Weka {stated}. Leave the version out, or name "
                "that version's jar in the environment variable WEKA_JAR."
            )
        for entry in entries:
            chosen.setdefault((entry, rest), WekaMiner(entry, tuple(shlex.split(rest)), **options))
    return tuple(chosen.values())


def is_weka(name: str) -> bool:
    """Whether a miner, or a set of them, is Weka's, by its name: with or without a version.

    >>> is_weka("Weka 3.6.14 trees.J48"), is_weka("Weka"), is_weka("naive Bayes")
    (True, True, False)
    """
    return name.startswith("Weka")


def bare(name: str) -> str:
    """A miner's name without the word that marks it as Weka's.

    >>> bare("Weka trees.J48"), bare("naive Bayes")
    ('trees.J48', 'naive Bayes')
    """
    return name.removeprefix("Weka ")


def unversioned(name: str) -> tuple[str, str]:
    """(version, name without it) of one of Weka's miners or of a set of them; ("", the name) of any other.

    >>> unversioned("Weka 3.6.14 trees.J48"), unversioned("Weka 3.6.14"), unversioned("naive Bayes")
    (('3.6.14', 'Weka trees.J48'), ('3.6.14', 'Weka'), ('', 'naive Bayes'))
    """
    found = re.fullmatch(r"Weka (\d\S*)(.*)", name)
    return (found[1], f"Weka{found[2]}") if found else ("", name)


def known(jar: Jar = None) -> pd.DataFrame:
    """The 42 entries of the paper's two sets: DataFrame of target ("categorical", "numerical"), miner, present in jar.

    OLM and MinMaxExtension, which 3.6.0 had, are not in 3.6.14.
    """
    present = read(find_jar(jar))[1]
    rows = [(kind, each, each in present) for kind in ("categorical", "numerical") for each in SETS[kind]]
    return pd.DataFrame(rows, columns=["target", "miner", "present"])
