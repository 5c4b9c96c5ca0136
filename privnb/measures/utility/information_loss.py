"""What a generalization costs, from published labels, public hierarchies and, where it says so, the original table.

Three kinds of loss, each in a form that a search over a count table can call too:

- of cells: `height`, `uncertainty`, `ambiguity`, `bits` and a hierarchy's own `width` price one label of one
  attribute; a measure is the mean over all quasi-identifier cells;
- of classes: `discernibility_of`, `average_class_size_of` and `classification_metric_of` take the classes' sizes or
  class-by-value counts and the number of suppressed records;
- of the whole table: `kl_divergence`.

A record is suppressed when every quasi-identifier of it is `*`; a cell at the root of its hierarchy is `*` too. All but
`mean_absolute_error` and `change_rate` raise Unreadable for quasi-identifiers that are noisy, perturbed or synthetic,
whose cells are exact but not true, and ValueError for a release without quasi-identifiers. The exact cells of a
bucketized release cost nothing: what it loses, `kl_divergence` of its buckets tells. Of a
subset of the records, the released ones are counted. Those that take the dataset read its records as the evaluator may,
see `Release.originals`.

One module: a loss is a line or two over one reading of a release's labels, or of its noise.
"""

import math
from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple, Self

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.measures.base import measure
from privnb.microdata.counts import factorized
from privnb.microdata.hierarchy import SUPPRESSED, Intervals, Ranges, Taxonomy, flat
from privnb.microdata.hierarchy.generalization import OnALine
from privnb.microdata.release import Release
from privnb.microdata.schema import text
from privnb.microdata.treatment import TRUE, UNTRUE, Unreadable
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import validated


def height(hierarchy: Any, label: str) -> float:
    """How many of its attribute's levels a label has climbed, as a share of all: 0 as it was, 1 for `*`.

    A taxonomy's label counts from the lowest level at which it stands; interval widths are levels above the exact
    number. Hierarchies without levels (ranges, runs and sets of values) climb by the `width` of the label.
    """
    if label == SUPPRESSED:
        return 1.0
    if isinstance(hierarchy, Taxonomy):
        return hierarchy.rows[hierarchy.covered(label)[0]].index(text(label)) / hierarchy.height
    if isinstance(hierarchy, Intervals):
        low, high = hierarchy.bounds(label)
        levels = [step for step in hierarchy.widths if step > 1]
        return sum(step <= high - low + 1 for step in levels) / len(levels)
    return hierarchy.width(label)


def uncertainty(hierarchy: Any, label: str) -> float:
    """Xu et al.'s penalty of a cell, 0 (one value) to 1 (all): numbers by `width`, categories by leaves / all leaves.

    So one of two leaves costs 0 and both cost 1, and a pair among ten leaves costs 0.2, where `width` says 0.11.
    """
    if isinstance(hierarchy, Ranges | Intervals):
        return hierarchy.width(label)
    leaves = len(hierarchy.covered(label))
    return leaves / hierarchy.size if leaves > 1 else 0.0


class Occurring(NamedTuple):
    """An attribute's values that occur, for its line may be far longer: their `positions` on it, ascending, integer
    array (m,), and the original records `through` each, from 0 before the first, integer array (m + 1,).
    """

    positions: np.ndarray
    through: np.ndarray

    @classmethod
    def of(cls, positions: IntArray, records: IntArray) -> Self:
        """From ascending positions and the number of records at each, integer arrays (m,)."""
        return cls(positions, np.append(0, np.cumsum(records)))

    def under(self, hierarchy: Any, label: str) -> tuple[int, int]:
        """How many of the values, and of the records, a label covers."""
        first, last = hierarchy.ends(label) if issubclass(type(hierarchy), OnALine) else (hierarchy.covered(label),) * 2
        begin, end = np.searchsorted(self.positions, first), np.searchsorted(self.positions, last, side="right")
        return np.sum(end - begin), np.sum(self.through[end] - self.through[begin])


def ambiguity(hierarchy: Any, label: str, occurring: Any) -> float:
    """Iyengar's loss of a cell: of the values that occur, other than one's own, the share that it may stand for.

    `occurring`: the attribute's `Occurring`. 0 to 1 (all of them).
    """
    return max(occurring.under(hierarchy, label)[0] - 1, 0) / max(len(occurring.positions) - 1, 1)


def bits(hierarchy: Any, label: str, occurring: Any) -> float:
    """log2 of the original records whose value the label covers. `occurring`: as for `ambiguity`.

    The information that a cell of value v loses under the label is the label's bits less those of v alone.
    """
    return float(np.log2(occurring.under(hierarchy, label)[1]))


@measure(kind="utility", better="higher", bounds=(0, 1), unit="share", by_combinations=True)
def precision(release: Release) -> float:
    """How little the quasi-identifier cells climbed in their hierarchies: 1 untouched, 0 suppressed.

    One less the mean `height`. A suppressed record costs 1 in each cell. Its complement is the height loss of Aggarwal
    and Yu 2008, eq. 8.6.

    Source: Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression", IJUFKS 10(5),
    2002, Prec.
    """
    return 1 - _mean(release, height)


@measure(kind="utility", better="lower", bounds=(0, 1), unit="share of the domain", by_combinations=True)
def certainty_penalty(release: Release) -> float:
    """Mean share of its attribute's values that a quasi-identifier cell may stand for: 0 exact, 1 suppressed. Exact
    cells of buckets cost nothing.

    Numbers: interval width / domain width; taxonomies: (leaves covered - 1) / (leaves - 1). A suppressed record costs 1
    in each cell. By this number the benchmarks compare tools. Categories grow as numbers do; see
    `normalized_certainty_penalty`.

    Source: Ghinita et al., VLDB 2007 (the mean); Iyengar, KDD 2002 (the cells).
    """
    return _mean(release, _width)


@validated
def penalty_by_attribute(release: Release) -> dict[str, float]:
    """What the certainty penalty is the mean of.

    Parameters
    ----------
    release : Release

    Returns
    -------
    dict of str to float
        Of each quasi-identifier, 0 exact to 1 suppressed.
    """
    return {name: float(total / release.record_count) for name, total in _sums(release, _width).items()}


@measure(kind="utility", better="lower", bounds=(0, 1), unit="share of the domain", by_combinations=True)
def normalized_certainty_penalty(release: Release) -> float:
    """As the certainty penalty, where a cell of categories costs its share of the leaves.

    Mean `uncertainty`: such a cell costs leaves / all leaves unless it is exact. A suppressed record costs 1 in each
    cell. Equal weights; over the number of cells it is Ghinita et al.'s global certainty penalty (VLDB 2007).

    Source: Xu et al., "Utility-Based Anonymization Using Local Recoding", KDD 2006, NCP.
    """
    return _mean(release, uncertainty)


@measure(kind="utility", better="lower", bounds=(0, 1), unit="share of the values", by_combinations=True)
def loss_metric(dataset: Dataset, release: Release) -> float:
    """Mean share of the values that occur which a quasi-identifier cell may stand for: 0 exact, 1 suppressed.

    Mean `ambiguity`. A value that nobody has costs nothing, unlike in `certainty_penalty`. A suppressed record costs 1
    in each cell of an attribute of two values or more. Also Aggarwal and Yu 2008, eq. 8.7.

    Source: Iyengar, "Transforming Data to Satisfy Privacy Constraints", KDD 2002, LM.
    """
    return _mean(release, ambiguity, _occurring(dataset, release))


@measure(
    kind="utility", better="lower", bounds=(0, math.inf), title="Non-uniform entropy", unit="bits", by_combinations=True
)
def non_uniform_entropy(dataset: Dataset, release: Release) -> float:
    """Bits that a quasi-identifier cell lost on average.

    -log2 of the original value's share among the records that the cell covers: at most log2 of the number of records.
    Merging a rare value into a common one costs its few records much and the others little. Shares are the whole
    table's. A suppressed record costs -log2 of its values' shares of the table; all suppressed: the mean entropy of the
    attributes. After de Waal and Willenborg, 1999, divided by the number of cells.

    Source: Gionis and Tassa, "k-Anonymization with Minimal Loss of Information", IEEE TKDE 21(2), 2009.
    """
    known = _occurring(dataset, release)
    records = [np.diff(occurring.through) for occurring in known.values()]
    own = np.mean([each @ np.log2(each) for each in records]) / release.record_count
    return max(_mean(release, bits, known) - float(own), 0.0)  # rounding must not fall below


@measure(kind="utility", better="lower", bounds=(1, math.inf), unit="pairs", by_combinations=True)
def discernibility(release: Release) -> float:
    """Ordered pairs of records that the release cannot tell apart, each record with itself among them.

    From n (all records differ) to n squared. A suppressed record costs n, as if it were like any other.

    Source: Bayardo and Agrawal, "Data Privacy through Optimal k-Anonymization", ICDE 2005, DM.
    """
    return discernibility_of(*_sizes(release))


def discernibility_of(sizes: Any, suppressed: int = 0) -> float:
    """`discernibility` from the sizes of the classes that are not suppressed, integer array, and the suppressed."""
    sizes = np.asarray(sizes, dtype=np.int64)
    return int(sizes @ sizes) + int(suppressed) * (int(sizes.sum()) + int(suppressed))


@measure(kind="utility", better="lower", bounds=(1, math.inf), unit="records", by_combinations=True)
def average_class_size(release: Release) -> float:
    """Records per equivalence class.

    The plain mean. Divided by the k that was asked for it is C_avg, 1 at best. It is not divided by the k found here,
    for then a release that hides nobody would cost the least. Suppressed records are one class together, so they cost
    what a class of their number does.

    Source: LeFevre et al., ICDE 2006, C_avg.
    """
    return average_class_size_of(*_sizes(release))


def average_class_size_of(sizes: Any, suppressed: int = 0) -> float:
    """`average_class_size` from the sizes of the classes that are not suppressed and the number of the suppressed."""
    return float((np.sum(sizes) + suppressed) / (len(sizes) + (suppressed > 0)))


def classification_metric_of(counts: IntArray, suppressed: int = 0) -> float:
    """Return the share of people who are suppressed, or lack the commonest value of their class."""
    errors = counts.sum() - counts.max(axis=1).sum()
    return float((errors + suppressed) / (counts.sum() + suppressed))


@measure(
    kind="utility",
    better="lower",
    bounds=(0, math.inf),
    title="Kullback-Leibler divergence",
    unit="bits",
    by_combinations=True,
)
def kl_divergence(dataset: Dataset, release: Release) -> float:
    """By how many bits the table differs from its rebuilding with each cell spread evenly over what it covers.

    Of the empirical distribution of all published columns from that rebuilding. Each record is compared with its own
    class, spread over the public domain's values that its labels cover: where classes do not overlap (global recoding)
    this is the divergence of the two tables, where they do (local recoding) it is never below. A suppressed record is
    spread over all combinations. Bucketized sensitive values, each attribute's on its own, are spread over their
    bucket's records.

    Source: Kifer and Gehrke, SIGMOD 2006; Aggarwal and Yu 2008, section 9.5.2, without further marginals.
    """
    dataset, names, schema = release.originals(dataset), _quasi_identifiers(release), release.schema
    if untrue := release.treated(*UNTRUE):
        raise Unreadable(
            f"{release.provenance.sanitizer} is not compared with the original: {_ways(release, untrue)}, so that "
            "cells are not true of their records."
        )
    others = [name for name in release.cells if name not in names]  # a bucket's number among them
    changed = [name for name in schema.published if release.columns[name].kind != "exact"]
    seen = _grouped(release.equivalence_classes, [release.cells[name] for name in others])
    whole = _grouped(seen, [dataset.cells[name] for name in changed])
    times = release.times
    gained = np.average(_log_count(whole, times) - _log_count(seen, times), weights=times) + _mean(
        release, _log_values
    ) * len(names)
    for name in (name for name in others if name in changed):  # such as a suppressed sensitive attribute
        hierarchy = release.hierarchies.get(name) or flat(schema[name])
        codes, labels = release.coded(name)
        gained += np.bincount(codes, times) @ [_log_values(hierarchy, label) for label in labels] / release.record_count
    for name in (name for name in changed if name not in release.cells):
        shared = _grouped(release.classes, [dataset.cells[name]])
        gained += np.average(_log_count(release.classes, times) - _log_count(shared, times), weights=times)
    return max(float(gained), 0.0)  # rounding must not fall below


@measure(kind="utility", better="lower", bounds=(0, math.inf), unit="people", counts_people=True, by_combinations=True)
def suppressed_records(release: Release) -> int:
    """People whose quasi-identifiers are all *.

    They are still in the table.

    Source: counted from the labels.
    """
    return _sizes(release)[1]


@measure(kind="utility", better="lower", bounds=(0, math.inf), unit="cells", by_combinations=True)
def suppressed_cells(release: Release) -> int:
    """Quasi-identifier cells that are *, those of suppressed records among them.

    Source: counted from the labels.
    """
    sizes, stars = _stars(release)
    return int(sizes @ stars)


@measure(kind="utility", better="lower", bounds=(0, math.inf), unit="share of the domain")
def mean_absolute_error(dataset: Dataset, release: Release) -> float:
    """How far noise moves a number, as a share of its domain's width. Noise generalizes nothing, so it has no certainty
    penalty.

    Above 1: further on average than the domain is wide. A missing number that stays missing is not moved;
    one that becomes a number, or a number that becomes missing, is moved by the width.

    Unreadable without noisy or perturbed numbers of the dataset, and where rows are nobody's.

    Source: this package.
    """

    def error(name: str, noisy: Array, original: Array) -> float:
        domain = dataset.schema[name].numbers
        return domain.distances(noisy, original).mean() / domain.width

    return _of_noise(dataset, release, error, numeric=True)


@measure(kind="utility", better="lower", bounds=(0, 1), unit="share of records")
def change_rate(dataset: Dataset, release: Release) -> float:
    """How often noise changes a category. Noise generalizes nothing, so it has no certainty penalty.

    Mean over noisy and perturbed attributes.

    Unreadable without such categories, and where rows are nobody's.

    Source: this package.
    """
    return _of_noise(dataset, release, lambda _, noisy, original: (noisy != original).mean(), numeric=False)


@validated
def noise_losses(dataset: Dataset, release: Release) -> dict[str, float]:
    """What noise costs, numbers and categories apart.

    Parameters
    ----------
    dataset : Dataset
    release : Release

    Returns
    -------
    dict of str to float
        `{"mean_absolute_error": ...}`, `{"change_rate": ...}` or both, by what is noisy.

    Raises
    ------
    Unreadable
        Where nothing is noisy or perturbed, and where rows are nobody's.
    """
    release.originals(dataset)  # which refuses rows of nobody
    measures = {True: mean_absolute_error, False: change_rate}
    kinds = dict.fromkeys(dataset.schema[name].numeric for name in moved(dataset, release, "columns"))
    return {measures[numeric].__name__: measures[numeric](dataset, release) for numeric in kinds}


@validated
def _of_noise(dataset: Dataset, release: Release, loss: Callable[..., float], *, numeric: Any) -> float:
    dataset, what = release.originals(dataset), "numbers" if numeric else "categories"
    names = moved(dataset, release, what, [numeric])
    columns = ((name, np.asarray(release.table[name]), np.asarray(dataset.table[name])) for name in names)
    return float(np.mean([loss(*column) for column in columns]))


@validated
def moved(dataset: Dataset, release: Release, what: str, numeric: Collection[bool] = (True, False)) -> list[str]:
    """Return the noisy or perturbed columns of a dataset.

    Parameters
    ----------
    dataset : Dataset
    release : Release
    what : str
        The columns in an error: "numbers", "categories" or "columns".
    numeric : collection of bool
        True for columns of numbers, False for columns of categories.

    Returns
    -------
    list of str
        Their names.

    Raises
    ------
    Unreadable
        For a release in which there are none.
    """
    names = [name for name in release.treated("noisy", "perturbed") if name in dataset.schema.published]
    if found := [name for name in names if dataset.schema[name].numeric in numeric]:
        return found
    raise Unreadable(
        f"{release.provenance.sanitizer} neither adds noise to {what} of '{dataset.name}' nor perturbs them: "
        f"{_ways(release, release.columns)}. What labels lose, `certainty_penalty` says."
    )


def _ways(release: Release, names: Iterable[str]) -> str:
    """How columns were treated, for a sentence."""
    return ", ".join(f"{name} is {release.columns[name].kind}" for name in names)


def _quasi_identifiers(release: Release) -> list[str]:
    """Their names; refuses what has no generalized cells."""
    untrue = [name for name in release.schema.quasi_identifiers if release.columns[name].kind in UNTRUE]
    if untrue:
        kinds = " and ".join(dict.fromkeys(release.columns[name].kind for name in untrue))
        raise Unreadable(
            f"{release.provenance.sanitizer} generalizes nothing: {', '.join(untrue)} are {kinds}, and labels are read "
            f"where quasi-identifiers are {', '.join(TRUE)}. See `noise_losses`."
        )
    if not release.schema.quasi_identifiers:
        raise UsageError("the release has no quasi-identifier to generalize. Give one column or more that role.")
    return release.schema.quasi_identifiers


def _labels(release: Release) -> Any:
    """The size of each set of records with equal quasi-identifiers, integer array (sets,), and their labels as of
    `Release.labels_alike`.
    """
    _quasi_identifiers(release)  # refuses what has no labels
    return np.bincount(release.equivalence_classes, release.times).astype(np.int64), release.labels_alike


def _mean(release: Release, price: Callable[..., float], *known: Any) -> float:
    """Mean over all quasi-identifier cells of `price(hierarchy, label, ...)`; each distinct label is priced once.

    `known`: what the price must know of each attribute besides, `{name: fact}`.
    """
    sums = _sums(release, price, *known)
    return float(sum(sums.values(), 0.0) / release.record_count / len(sums))


def _sums(release: Release, price: Callable[..., float], *known: Any) -> Any:
    """The sum of `_mean` over the cells of each quasi-identifier, by name."""
    (sizes, labels), sums = _labels(release), {}
    for name, (codes, distinct) in labels.items():
        facts, hierarchy = [each[name] for each in known], release.hierarchies[name]
        sums[name] = np.bincount(codes, weights=sizes) @ [price(hierarchy, label, *facts) for label in distinct]
    return sums


def _stars(release: Release) -> tuple[Any, IntArray]:
    """(sizes, number of quasi-identifiers that are `*`) of each set of `_labels`, two integer arrays."""
    sizes, labels = _labels(release)
    return sizes, np.sum([(values.astype(object) == SUPPRESSED)[codes] for codes, values in labels.values()], axis=0)


def _sizes(release: Release) -> tuple[IntArray, int]:
    """(sizes of the classes that are not suppressed, number of suppressed records)."""
    sizes, stars = _stars(release)
    suppressed = stars == len(release.schema.quasi_identifiers)
    return sizes[~suppressed], int(sizes[suppressed].sum())


def _occurring(dataset: Dataset, release: Release) -> Any:
    """{quasi-identifier: its values that occur in the original}."""
    dataset, found = release.originals(dataset), {}
    for name in _quasi_identifiers(release):
        hierarchy = release.hierarchies[name]
        # The dataset knows where its values stand, but the release may be by other hierarchies.
        same = name in dataset.codes and dataset.hierarchies[name] == hierarchy
        codes = dataset.codes[name] if same else hierarchy.codes(dataset.marked(name))
        positions, place = np.unique(codes, return_inverse=True)
        found[name] = Occurring.of(positions, np.bincount(place, dataset.times).astype(np.int64))
    return found


def _width(hierarchy: Any, label: str) -> float:
    return hierarchy.width(label)


def _log_values(hierarchy: Any, label: str) -> float:
    """log2 of the values that a label covers; its runs count them without listing them."""
    return np.log2(np.sum(np.diff(hierarchy.runs(label)) + 1))


def _log_count(codes: Any, times: Any) -> Any:
    """log2 of how many records share each row's number, float array (n,). `times`: how many records each row is."""
    return np.log2(np.bincount(codes, times)[codes])


def _grouped(codes: Any, columns: Any) -> Any:
    """Records alike in `codes` and in all columns share a number from 0: integer array (n,)."""
    for column in columns:
        own, distinct = factorized(column)
        codes = factorized(codes * (len(distinct) + 1) + own)[0]  # the number of a missing value is -1
    return codes
