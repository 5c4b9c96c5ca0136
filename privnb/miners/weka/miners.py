"""Weka's classifiers by name, the paper's sets of classifiers, and the classifiers' view of a table."""

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
from privnb.miners.miner import rename_set
from privnb.miners.weka.java import (
    Jar,
    Machine,
    Unavailable,
    call_with_limit,
    find_jar,
    read_jar,
    start_machine,
    translate_error,
    version,
)
from privnb.runtime.arrays import Array, FloatArray
from privnb.runtime.errors import UsageError

# The reference sets of miners for released intervals and for noisy numbers: Sramka et al. 2010, section 4.4.
CATEGORICAL, NUMERICAL = (
    tuple(f"{about['family']}.{name}" for name, about in WEKA.items() if kind in about["targets"])
    for kind in ("labels", "numbers")
)
# The set L of Table 1: section 4.3.
BASIC = ("bayes.NaiveBayes", "trees.J48", "trees.RandomForest")
SETS = {"basic": BASIC, "categorical": CATEGORICAL, "numerical": NUMERICAL}

SECONDS = 120.0


class Header:
    """The attributes of a table and the target, as Weka reads them.

    Parameters
    ----------
    table : DataFrame (n, attributes)
        Numbers and Categoricals.
    target : array (n,)
        The numbers or labels to predict.

    Attributes
    ----------
    labels : dict
        The pandas Index of nominal values of each attribute, by name; None for an attribute of numbers.
    classes : array or None
        The sorted labels of the target, or None for a target of numbers.
    """

    def __init__(self, table: pd.DataFrame, target: Any) -> None:
        target = pd.Series(np.asarray(target))
        self.labels = {name: None if is_numeric_dtype(table[name]) else table[name].cat.categories for name in table}
        self.classes = None if is_numeric_dtype(target) else np.array(sorted(set(target.astype(str))), dtype=object)

    def instances(self, java: Machine, table: pd.DataFrame, target: Any = None) -> Any:
        """Return Weka's Instances of n records, a DataFrame of numbers and Categoricals, with the target if given."""
        if list(table) != list(self.labels):
            raise UsageError(f"the columns must be those of training, {list(self.labels)}; got {list(table)}.")
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
        # Instance is an interface since 3.7.
        record = java.JClass("weka.core.Instance")
        record = java.JClass("weka.core.DenseInstance") if record.class_.isInterface() else record
        for row in java.JArray(java.JDouble, 2)(np.column_stack(columns).astype(float)):
            data.add(record(1.0, row))  # NaN is Weka's own missing value
        return data

    def guesses(self, found: FloatArray) -> Array:
        """Return Weka's predictions `found`, floats (n,), as numbers or labels; a label is None for no class."""
        if self.classes is None:
            return found
        return np.array([*self.classes, None], dtype=object)[np.nan_to_num(found, nan=-1).astype(int)]

    def _column(self, column: pd.Series, values: Any) -> FloatArray:
        if (values is None) != is_numeric_dtype(column):
            kinds = ("numbers", "labels") if values is None else ("labels", "numbers")
            raise UsageError(
                f"column '{column.name}' must hold {kinds[0]}, as in training; got {kinds[1]}. Encode the records with "
                "`like` set to the training records."
            )
        if values is None:
            return column.to_numpy(dtype=float)
        known = np.append(values.get_indexer(column.cat.categories).astype(float), -1)  # the last is for code -1
        codes = known[column.cat.codes.to_numpy()]
        return np.where(codes < 0, np.nan, codes)


@dataclass(frozen=True, eq=False)
class WekaMiner:
    """One of Weka's classifiers; `fit` returns a fitted copy and leaves the miner unchanged.

    Parameters
    ----------
    scheme : str
        The name of the Java class below weka.classifiers, such as "trees.J48".
    options : tuple of str
        The options of the classifier, as on Weka's command line.
    seconds : float
        The limit of processor time for training and prediction together, in seconds. Each call of `predict` may use all
        the time that training left, regardless of earlier calls of `predict`.
    version : str
        The version of Weka, on which results depend. By default, this is the version of the jar; the miner refuses a
        jar of another version.
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
        """Return the miner's name in results, such as "Weka 3.6.14 trees.J48"; `find_miners_by_name` parses it."""
        return shlex.join(["Weka", self.version, self.scheme, *self.options])

    def predicts(self, target: Any) -> bool:
        """Return whether the miner can predict a column like `target`, according to Weka.

        If the jar lacks the miner, the result follows the paper's sets of miners, and `fit` raises Unavailable.
        """
        numbers = is_numeric_dtype(pd.Series(target))
        java = start_machine(self.version)
        kind = java.JClass("weka.core.Capabilities$Capability").valueOf("NUMERIC_CLASS" if numbers else "NOMINAL_CLASS")
        try:
            return bool(self._untrained(java).getCapabilities().handles(kind))
        except Unavailable:
            return self.scheme in (NUMERICAL if numbers else CATEGORICAL)

    def fit(self, encoded: Encoded, target: Any) -> Self:
        """Return a copy that has learned `target`, an array (n,) of numbers or labels, from n encoded records.

        Records with a missing number in `target` are left out. Raises DataRefused if Weka refuses the data, as AODE
        refuses numbers; Unfinished if the miner exceeds its processor time or memory; and Unavailable if Weka or the
        miner is absent.
        """
        java = start_machine(self.version)
        header = Header(encoded.labels, target)
        return replace(self._trained(java, header.instances(java, encoded.labels, target)), header=header)

    def predict(self, encoded: Encoded) -> Array:
        """Return a guess, a number or a label, for each of n encoded records; equal records get equal guesses.

        A label that was absent in training is a missing value. Weka may give no class; Id3, for example, gives none for
        a record that differs from all training records. The guess is then None, or NaN for a target of numbers. Raises
        the same errors as `fit`.
        """
        if self.model is None or self.header is None:
            raise UsageError(f"the miner '{self.name}' has learned nothing yet. Predict with the result of `fit`.")
        java = start_machine(self.version)
        # A release has few distinct records: each is predicted once, which makes lazy miners affordable.
        _, first, back = np.unique(encoded.row, return_index=True, return_inverse=True)
        data = self.header.instances(java, encoded[first].labels)
        return self.header.guesses(self._asked(java, data))[back]

    def cross_val_predictions(self, encoded: Encoded, target: Any, folds: int = 10, seed: int = 1) -> Array:
        """Return, as an array (n,), a prediction for each record by a model that was not trained on this record.

        The folds are Weka's, so the counts of correct and wrong predictions are those of Weka's own evaluation. The
        folds depend on `seed`, on the order of the records, and on the order of the labels. The time limit applies to
        each fold separately. Raises the same errors as `fit`, and ValueError unless 2 <= folds <= n.
        """
        if not 2 <= folds <= len(encoded):
            raise UsageError(f"`folds` must be from 2 to {len(encoded)}, the number of records; got {folds}.")
        java = start_machine(self.version)
        header = Header(encoded.labels, target)
        data = header.instances(java, encoded.labels, target)
        # # The row numbers of the records are shuffled in the same way and identify the guesses.
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
        except TypeError:  # jpype raises it for an unknown class
            raise Unavailable(
                f"there is no miner '{self.scheme}' in Weka {self.version}. `list_paper_miners()` lists the miners of "
                "the paper "
                "and whether a jar has them. Leave out the miner, and report next to the result that the miner is "
                "missing."
            ) from None
        except java.JException as error:
            raise translate_error(java, self.scheme, error) from None
        try:
            options = java.JArray(java.JString)(list(self.options))
            model.setOptions(options)  # the call removes the options that it accepts
            java.JClass("weka.core.Utils").checkForRemainingOptions(options)
        except java.JException as error:
            raise UsageError(f"the miner '{self.scheme}' has no options {self.options}: {error}.") from None
        return model

    def _trained(self, java: Machine, data: Any) -> Self:
        model = self._untrained(java)
        data.deleteWithMissingClass()
        _, spent = call_with_limit(java, self, model, "buildClassifier", data)
        return replace(self, model=model, spent=spent)

    def _asked(self, java: Machine, data: Any) -> FloatArray:
        """Return the prediction for each record of `data` by Weka's evaluation, which hides the class."""
        grading = java.JClass("weka.classifiers.Evaluation")(data)
        prints = java.JArray(java.JClass("java.lang.Object"))(0)  # nothing
        found, _ = call_with_limit(java, self, grading, "evaluateModel", self.model, data, prints)
        return np.array(found[:], dtype=float)


def find_miners_by_class(schemes: Iterable[str], **options: Any) -> tuple[WekaMiner, ...]:
    """Return Weka's miners by their classes below weka.classifiers; `options`, such as `seconds`, apply to all."""
    return tuple(WekaMiner(scheme, **options) for scheme in schemes)


def find_miners_by_name(text: str, **options: Any) -> tuple[WekaMiner, ...]:
    """Return Weka's miners by their names in results; `options`, such as `seconds`, apply to each miner.

    `text` lists names, separated by commas, such as "Weka 3.6.14 trees.J48", with or without the version; Weka's own
    options may follow a name. "Weka basic" is the paper's set L of Table 1; "Weka categorical" and "Weka numerical" are
    the complete sets of Table 2. If the jar lacks a miner, the `fit` of the miner raises Unavailable. Raises ValueError
    if a name contains a version other than the jar's, or if neither the jar nor the paper contains a miner with this
    name. Raises Unavailable if there is no jar.
    """
    jar = find_jar()
    stated, schemes = read_jar(jar)
    chosen: dict[tuple[str, str], WekaMiner] = {}
    for part in text.split(","):
        name = re.fullmatch(r"Weka(?:\s+(\d\S*))?\s+([a-zA-Z]\S*)(.*)", part.strip())
        wanted, scheme, rest = name.groups() if name else (None, "", "")
        scheme = rename_set(scheme)
        entries = (scheme,) if rest else SETS.get(scheme, (scheme,))
        if not schemes.union(CATEGORICAL, NUMERICAL).issuperset(entries):
            raise UsageError(
                f"there is no miner '{part.strip()}'. Name a set, {', '.join(f'Weka {each}' for each in SETS)}, or "
                f"miners of Weka {stated} such as 'Weka trees.J48': `privnb.miners.weka.known()` lists the paper's."
            )
        if wanted not in (None, stated):
            raise UsageError(
                f"'{part.strip()}' needs Weka {wanted}, but {jar} is Weka {stated}. Leave out the version, or name a "
                "jar of that version in the environment variable WEKA_JAR."
            )
        for entry in entries:
            chosen.setdefault((entry, rest), WekaMiner(entry, tuple(shlex.split(rest)), **options))
    return tuple(chosen.values())


def is_weka(name: str) -> bool:
    """Return whether a name, with or without a version, belongs to a Weka miner or to a set of Weka miners.

    >>> is_weka("Weka 3.6.14 trees.J48"), is_weka("Weka"), is_weka("naive Bayes")
    (True, True, False)
    """
    return name.startswith("Weka")


def strip_weka(name: str) -> str:
    """Return a miner's name without the word "Weka".

    >>> strip_weka("Weka trees.J48"), strip_weka("naive Bayes")
    ('trees.J48', 'naive Bayes')
    """
    return name.removeprefix("Weka ")


def split_version(name: str) -> tuple[str, str]:
    """Return the version in the name of a Weka miner or set, and the name without the version.

    For a name without a version, return an empty text and the name.

    >>> split_version("Weka 3.6.14 trees.J48"), split_version("Weka 3.6.14"), split_version("naive Bayes")
    (('3.6.14', 'Weka trees.J48'), ('3.6.14', 'Weka'), ('', 'naive Bayes'))
    """
    found = re.fullmatch(r"Weka (\d\S*)(.*)", name)
    return (found[1], f"Weka{found[2]}") if found else ("", name)


def list_paper_miners(jar: Jar = None) -> pd.DataFrame:
    """Return a DataFrame with the target, miner, and presence in the jar of the 42 entries of the paper's two sets.

    Weka 3.6.0 contains OLM and MinMaxExtension, but Weka 3.6.14 does not.
    """
    present = read_jar(find_jar(jar))[1]
    rows = [(kind, each, each in present) for kind in ("categorical", "numerical") for each in SETS[kind]]
    return pd.DataFrame(rows, columns=["target", "miner", "present"])
