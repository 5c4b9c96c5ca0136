"""Information loss by generalization and noise, measured by labels, hierarchies and, in part, the original table.

There are three kinds of loss, which a search over a table of counts can also compute:

- the loss of cells: `height`, `uncertainty`, `ambiguity`, `bits` and the method `width` of a hierarchy return the loss
  of one label of one attribute, and a measure is the mean of this loss over all quasi-identifier cells;
- the loss of classes: the arguments of `discernibility_of`, `average_class_size_of` and `classification_metric_of` are
  the sizes of the classes (or the counts of values in each class) and the number of suppressed records;
- the loss of the whole table: `kl_divergence`.

A record is suppressed if all quasi-identifiers of the record are `*`; a cell whose label is the root of the hierarchy
is also `*`. All measures except `mean_absolute_error` and `change_rate` raise Unreadable for noisy, perturbed or
synthetic quasi-identifiers, because their cells are exact but not true. These measures raise ValueError for a release
without quasi-identifiers. The exact cells of a bucketized release have no loss; `kl_divergence` measures the loss by
buckets. If a release contains a subset of the records, only the records of this subset count. Functions with the
argument `dataset` read the original records, which only the evaluator can do; see `Release.originals`.
"""

import math
from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple, Self

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.measures.base import measure
from privnb.microdata.counts import factorize
from privnb.microdata.hierarchy import SUPPRESSED, Intervals, Ranges, Taxonomy, flat
from privnb.microdata.hierarchy.generalization import OnALine
from privnb.microdata.release import Release
from privnb.microdata.schema import to_text
from privnb.microdata.treatment import TRUE, UNTRUE, Unreadable
from privnb.runtime.arrays import Array, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import validated


def height(hierarchy: Any, label: str) -> float:
    """Return the level of a label as a share of the levels of its hierarchy: 0 for an exact value, and 1 for `*`.

    The level of a label of a taxonomy is the lowest level at which the label appears. The levels of intervals are the
    interval widths, above the level of exact numbers. In hierarchies without levels (ranges, runs and sets of values),
    the result is the `width` of the label.
    """
    if label == SUPPRESSED:
        return 1.0
    if isinstance(hierarchy, Taxonomy):
        return hierarchy.rows[hierarchy.covered(label)[0]].index(to_text(label)) / hierarchy.height
    if isinstance(hierarchy, Intervals):
        low, high = hierarchy.bounds(label)
        levels = [step for step in hierarchy.widths if step > 1]
        return sum(step <= high - low + 1 for step in levels) / len(levels)
    return hierarchy.width(label)


def uncertainty(hierarchy: Any, label: str) -> float:
    """Return the penalty of a cell by Xu et al., from 0 for a single value to 1 for all values.

    For numbers, the penalty is the `width`. For categories, the penalty is the number of covered leaves divided by the
    number of all leaves, or 0 for a single leaf. In a hierarchy with two leaves, a label of one leaf has the penalty 0,
    and a label of both leaves has the penalty 1. A label of two of ten leaves has the penalty 0.2, while its `width` is
    0.11.
    """
    if isinstance(hierarchy, Ranges | Intervals):
        return hierarchy.width(label)
    leaves = len(hierarchy.covered(label))
    return leaves / hierarchy.size if leaves > 1 else 0.0


class OccurringValues(NamedTuple):
    """The values of an attribute that occur, as positions on a line that may also have many other values.

    Attributes
    ----------
    positions : integer array (m,)
        The positions of the values on the line, ascending.
    through : integer array (m + 1,)
        The number of original records with one of the first i values, for i from 0 to m.
    """

    positions: np.ndarray
    through: np.ndarray

    @classmethod
    def of(cls, positions: IntArray, records: IntArray) -> Self:
        """Return the `OccurringValues` at ascending `positions`, with the number of `records` at each position.

        Both arguments are integer arrays (m,).
        """
        return cls(positions, np.append(0, np.cumsum(records)))

    def under(self, hierarchy: Any, label: str) -> tuple[int, int]:
        """Return the number of values and the number of records that a label covers."""
        first, last = hierarchy.ends(label) if issubclass(type(hierarchy), OnALine) else (hierarchy.covered(label),) * 2
        begin, end = np.searchsorted(self.positions, first), np.searchsorted(self.positions, last, side="right")
        return np.sum(end - begin), np.sum(self.through[end] - self.through[begin])


def ambiguity(hierarchy: Any, label: str, occurring: Any) -> float:
    """Return Iyengar's loss of a cell, the share of the other occurring values that the cell's label also covers.

    The result is from 0 to 1. `occurring`: the `OccurringValues` of the attribute.
    """
    return max(occurring.under(hierarchy, label)[0] - 1, 0) / max(len(occurring.positions) - 1, 1)


def bits(hierarchy: Any, label: str, occurring: Any) -> float:
    """Return log2 of the number of original records whose value the label covers.

    If the label replaces the value v, the loss of the cell is the bits of the label minus the bits of v alone.
    `occurring`: the `OccurringValues` of the attribute.
    """
    return float(np.log2(occurring.under(hierarchy, label)[1]))


@measure(
    kind="utility",
    better="higher",
    bounds=(0, 1),
    sentence="Quasi-identifier cells keep this share of the levels in their hierarchies on average: 1 is unchanged, 0 "
    "is suppressed. Higher is better.",
    unit="share",
    by_combinations=True,
)
def precision(release: Release) -> float:
    """Return the precision Prec, which is 1 minus the mean `height` of quasi-identifier cells.

    The cells of a suppressed record have the height 1. The mean height, 1 minus the precision, is the height loss of
    Aggarwal and Yu 2008, eq. 8.6.

    Source: Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression", IJUFKS 10(5),
    2002, Prec.
    """
    return 1 - _mean(release, height)


@measure(
    kind="utility",
    better="lower",
    bounds=(0, 1),
    sentence="A quasi-identifier cell covers this share of its attribute's values on average: 0 is exact, as in "
    "bucketized releases, and 1 is suppressed. Lower is better.",
    unit="share of the domain",
    by_combinations=True,
)
def certainty_penalty(release: Release) -> float:
    """Return the mean width of quasi-identifier cells, as a share of the width of the attribute's domain.

    For numbers, the share is interval width / domain width; for taxonomies, the share is (leaves covered - 1) / (leaves
    - 1). Each cell of a suppressed record counts as 1. The benchmarks of this package compare tools by this number.
    Unlike `normalized_certainty_penalty`, this measure treats categories in the same way as numbers.

    Source: Ghinita et al., VLDB 2007 (for the mean); Iyengar, KDD 2002 (for the loss of a cell).
    """
    return _mean(release, _width)


@validated
def penalty_by_attribute(release: Release) -> dict[str, float]:
    """Return the certainty penalty of each quasi-identifier, by name, from 0 (exact) to 1 (suppressed)."""
    return {name: float(total / release.record_count) for name, total in _sums(release, _width).items()}


@measure(
    kind="utility",
    better="lower",
    bounds=(0, 1),
    sentence="A quasi-identifier cell covers this share of its domain on average, where a category counts as its share "
    "of the taxonomy's leaves: 0 is exact, 1 is suppressed. Lower is better.",
    unit="share of the domain",
    by_combinations=True,
)
def normalized_certainty_penalty(release: Release) -> float:
    """Return the mean `uncertainty` of quasi-identifier cells; all attributes have equal weights.

    The uncertainty of a cell with categories is covered leaves / all leaves, or 0 if the cell is exact. Each cell of a
    suppressed record counts as 1. The measure is a mean over cells, and is therefore the global certainty penalty of
    Ghinita et al. (VLDB 2007).

    Source: Xu et al., "Utility-Based Anonymization Using Local Recoding", KDD 2006, NCP.
    """
    return _mean(release, uncertainty)


@measure(
    kind="utility",
    better="lower",
    bounds=(0, 1),
    sentence="A quasi-identifier cell covers this share of the values that occur in its column, on average: 0 is "
    "exact, 1 is suppressed. Lower is better.",
    unit="share of the values",
    by_combinations=True,
)
def loss_metric(dataset: Dataset, release: Release) -> float:
    """Return the mean `ambiguity` of quasi-identifier cells.

    Unlike in `certainty_penalty`, a value that nobody has does not count. Each cell of a suppressed record counts as 1
    if at least two values of the attribute occur. Aggarwal and Yu 2008, eq. 8.7, define the same measure.

    Source: Iyengar, "Transforming Data to Satisfy Privacy Constraints", KDD 2002, LM.
    """
    return _mean(release, ambiguity, _occurring(dataset, release))


@measure(
    kind="utility",
    better="lower",
    bounds=(0, math.inf),
    title="Non-uniform entropy",
    sentence="A quasi-identifier cell loses this amount of information about its original value on average. Lower is "
    "better.",
    unit="bits",
    by_combinations=True,
)
def non_uniform_entropy(dataset: Dataset, release: Release) -> float:
    """Return the mean over cells of -log2 p, where p is the share of the original value among the covered records.

    The mean is at most log2 of the number of records. If a rare value is merged with a common value, the loss is large
    for the few records with the rare value, and small for the other records. The shares are computed over the records
    of the whole table. The loss of a suppressed cell is -log2 of the share of its original value in the table; if all
    records are suppressed, the measure is the mean entropy of the attributes. The measure is that of de Waal and
    Willenborg, 1999, divided by the number of cells.

    Source: Gionis and Tassa, "k-Anonymization with Minimal Loss of Information", IEEE TKDE 21(2), 2009.
    """
    known = _occurring(dataset, release)
    records = [np.diff(occurring.through) for occurring in known.values()]
    own = np.mean([each @ np.log2(each) for each in records]) / release.record_count
    return max(_mean(release, bits, known) - float(own), 0.0)  # rounding must not go below 0


@measure(
    kind="utility",
    better="lower",
    bounds=(1, math.inf),
    sentence="This number of ordered pairs of records is indistinguishable in the release, including each record "
    "paired with itself. Lower is better.",
    unit="pairs",
    by_combinations=True,
)
def discernibility(release: Release) -> float:
    """Return the number of ordered pairs of indistinguishable records, from n (all records differ) to n squared.

    A suppressed record counts as n pairs, as if it were indistinguishable from every record.

    Source: Bayardo and Agrawal, "Data Privacy through Optimal k-Anonymization", ICDE 2005, DM.
    """
    return discernibility_of(*_sizes(release))


def discernibility_of(sizes: Any, suppressed: int = 0) -> float:
    """Return `discernibility`, given the sizes of the unsuppressed classes and the number of suppressed records."""
    sizes = np.asarray(sizes, dtype=np.int64)
    return int(sizes @ sizes) + int(suppressed) * (int(sizes.sum()) + int(suppressed))


@measure(
    kind="utility",
    better="lower",
    bounds=(1, math.inf),
    sentence="This is the mean number of records in an equivalence class. Lower is better for analysis.",
    unit="records",
    by_combinations=True,
)
def average_class_size(release: Release) -> float:
    """Return the mean size of the equivalence classes.

    The mean size divided by the requested k is the measure C_avg, whose best value is 1. This function does not divide
    the mean size by the achieved k, because an unchanged table with unique records would then have the best value. All
    suppressed records are one class.

    Source: LeFevre et al., ICDE 2006, C_avg.
    """
    return average_class_size_of(*_sizes(release))


def average_class_size_of(sizes: Any, suppressed: int = 0) -> float:
    """Return `average_class_size`, given the sizes of the unsuppressed classes and the number of suppressed records."""
    return float((np.sum(sizes) + suppressed) / (len(sizes) + (suppressed > 0)))


def classification_metric_of(counts: IntArray, suppressed: int = 0) -> float:
    """Return the share of people who are suppressed, or who do not have the most common value of their class."""
    errors = counts.sum() - counts.max(axis=1).sum()
    return float((errors + suppressed) / (counts.sum() + suppressed))


@measure(
    kind="utility",
    better="lower",
    bounds=(0, math.inf),
    title="Kullback-Leibler divergence",
    sentence="This is the divergence of the table from its reconstruction, which spreads each released cell evenly "
    "over the values that it covers. Lower is better.",
    unit="bits",
    by_combinations=True,
)
def kl_divergence(dataset: Dataset, release: Release) -> float:
    """Return the divergence of the original distribution of all published columns from the reconstructed distribution.

    The divergence is that of Kullback and Leibler. In the reconstruction, the records of a class are spread evenly over
    the values of the public domain that the labels of the class cover. Each original record is compared with the
    reconstruction of its own class. If classes do not overlap (global recoding), the result is the divergence between
    the two tables; if classes overlap (local recoding), the result is at least this divergence. A suppressed record is
    spread over all combinations of values. The bucketized values of each sensitive attribute are spread over the
    records of the bucket, separately for each attribute.

    Source: Kifer and Gehrke, SIGMOD 2006; Aggarwal and Yu 2008, section 9.5.2, for a release without additional
    marginals.
    """
    dataset, names, schema = release.originals(dataset), _quasi_identifiers(release), release.schema
    if untrue := release.treated(*UNTRUE):
        raise Unreadable(
            f"{release.provenance.sanitizer} cannot be compared with the original: {_ways(release, untrue)}, so its "
            "cells are not true of their records. Try `noise_losses`."
        )
    others = [name for name in release.cells if name not in names]  # including a bucket's number
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
    return max(float(gained), 0.0)  # rounding must not go below 0


@measure(
    kind="utility",
    better="lower",
    bounds=(0, math.inf),
    sentence="All quasi-identifiers of this number of people are suppressed (*). Lower is better.",
    unit="people",
    counts_people=True,
    by_combinations=True,
)
def suppressed_records(release: Release) -> int:
    """Return the number of people whose quasi-identifiers are all `*`; the rows of these people are still in the table.

    Source: counted from the labels.
    """
    return _sizes(release)[1]


@measure(
    kind="utility",
    better="lower",
    bounds=(0, math.inf),
    sentence="This number of quasi-identifier cells is suppressed (*), including those of suppressed records. Lower is "
    "better.",
    unit="cells",
    by_combinations=True,
)
def suppressed_cells(release: Release) -> int:
    """Return the number of quasi-identifier cells that are `*`, including the cells of suppressed records.

    Source: counted from the labels.
    """
    sizes, stars = _stars(release)
    return int(sizes @ stars)


@measure(
    kind="utility",
    better="lower",
    bounds=(0, math.inf),
    sentence="Noise moves a number by this share of its domain's width on average; noise does not generalize cells, "
    "so it has no certainty penalty. Lower is better.",
    unit="share of the domain",
)
def mean_absolute_error(dataset: Dataset, release: Release) -> float:
    """Return the mean absolute difference between noisy and original numbers, in units of the width of the domain.

    The mean exceeds 1 if the mean difference is larger than the width of the domain. The difference is 0 for a missing
    number that remains missing, and the width of the domain if only one of the two numbers is missing. Raises
    Unreadable if no numbers of the dataset are noisy or perturbed, or if the rows are synthetic.

    Source: this package.
    """

    def error(name: str, noisy: Array, original: Array) -> float:
        domain = dataset.schema[name].numbers
        return domain.distances(noisy, original).mean() / domain.width

    return _of_noise(dataset, release, error, numeric=True)


@measure(
    kind="utility",
    better="lower",
    bounds=(0, 1),
    sentence="Noise changes a category in this share of records; noise does not generalize cells, so it has no "
    "certainty penalty. Lower is better.",
    unit="share of records",
)
def change_rate(dataset: Dataset, release: Release) -> float:
    """Return the share of changed cells, as a mean over noisy and perturbed attributes with categories.

    Raises Unreadable if there are no such attributes, or if the rows are synthetic.

    Source: this package.
    """
    return _of_noise(dataset, release, lambda _, noisy, original: (noisy != original).mean(), numeric=False)


@validated
def noise_losses(dataset: Dataset, release: Release) -> dict[str, float]:
    """Return the distortion by noise, separately for numbers and for categories.

    Parameters
    ----------
    dataset : Dataset
    release : Release

    Returns
    -------
    dict of str to float
        The entry `mean_absolute_error` if numbers are noisy or perturbed, and the entry `change_rate` if categories are
        noisy or perturbed.

    Raises
    ------
    Unreadable
        If no column is noisy or perturbed, or if the rows are synthetic.
    """
    release.originals(dataset)  # raises an error for synthetic rows
    measures = {True: mean_absolute_error, False: change_rate}
    kinds = dict.fromkeys(dataset.schema[name].numeric for name in list_perturbed(dataset, release, "columns"))
    return {measures[numeric].__name__: measures[numeric](dataset, release) for numeric in kinds}


@validated
def _of_noise(dataset: Dataset, release: Release, loss: Callable[..., float], *, numeric: Any) -> float:
    dataset, what = release.originals(dataset), "numbers" if numeric else "categories"
    names = list_perturbed(dataset, release, what, [numeric])
    columns = ((name, np.asarray(release.table[name]), np.asarray(dataset.table[name])) for name in names)
    return float(np.mean([loss(*column) for column in columns]))


@validated
def list_perturbed(
    dataset: Dataset, release: Release, what: str, numeric: Collection[bool] = (True, False)
) -> list[str]:
    """Return the noisy or perturbed columns of a dataset.

    Parameters
    ----------
    dataset : Dataset
    release : Release
    what : str
        The word for the columns in the text of an error: "numbers", "categories" or "columns".
    numeric : collection of bool
        The kinds of columns to return: True for columns of numbers, and False for columns of categories.

    Returns
    -------
    list of str
        The names of the columns.

    Raises
    ------
    Unreadable
        If the release has no such columns.
    """
    names = [name for name in release.treated("noisy", "perturbed") if name in dataset.schema.published]
    if found := [name for name in names if dataset.schema[name].numeric in numeric]:
        return found
    raise Unreadable(
        f"{release.provenance.sanitizer} neither adds noise to {what} of '{dataset.name}' nor perturbs the {what}: "
        f"{_ways(release, release.columns)}. For labels, try `certainty_penalty`."
    )


def _ways(release: Release, names: Iterable[str]) -> str:
    """Return the treatments of columns as part of a sentence."""
    return ", ".join(f"{name} is {release.columns[name].kind}" for name in names)


def _quasi_identifiers(release: Release) -> list[str]:
    """Return the names of the quasi-identifiers; raise an error if their cells are not labels."""
    untrue = [name for name in release.schema.quasi_identifiers if release.columns[name].kind in UNTRUE]
    if untrue:
        kinds = " and ".join(dict.fromkeys(release.columns[name].kind for name in untrue))
        raise Unreadable(
            f"{release.provenance.sanitizer} generalizes nothing: {', '.join(untrue)} are {kinds}, and "
            f"quasi-identifiers must be {', '.join(TRUE)}. Try `noise_losses`."
        )
    if not release.schema.quasi_identifiers:
        raise UsageError("the release has no quasi-identifiers. Give at least one column the role quasi-identifier.")
    return release.schema.quasi_identifiers


def _labels(release: Release) -> Any:
    """Return the number of records in each set with equal quasi-identifiers, (sets,), and `Release.labels_alike`."""
    _quasi_identifiers(release)  # raises an error for cells that are not labels
    return np.bincount(release.equivalence_classes, release.times).astype(np.int64), release.labels_alike


def _mean(release: Release, loss: Callable[..., float], *known: Any) -> float:
    """Return the mean of `loss(hierarchy, label, ...)` over quasi-identifier cells; each label is computed once.

    `known`: further arguments of the loss, each of which is a dict `{name: argument}` by attribute.
    """
    sums = _sums(release, loss, *known)
    return float(sum(sums.values(), 0.0) / release.record_count / len(sums))


def _sums(release: Release, loss: Callable[..., float], *known: Any) -> Any:
    """Return, by name, the sum of `loss` over the cells of each quasi-identifier."""
    (sizes, labels), sums = _labels(release), {}
    for name, (codes, distinct) in labels.items():
        arguments, hierarchy = [each[name] for each in known], release.hierarchies[name]
        sums[name] = np.bincount(codes, weights=sizes) @ [loss(hierarchy, label, *arguments) for label in distinct]
    return sums


def _stars(release: Release) -> tuple[Any, IntArray]:
    """Return the size of each set of `_labels`, and the number of quasi-identifiers that are `*` in the set.

    The results are two integer arrays (sets,).
    """
    sizes, labels = _labels(release)
    return sizes, np.sum([(values.astype(object) == SUPPRESSED)[codes] for codes, values in labels.values()], axis=0)


def _sizes(release: Release) -> tuple[IntArray, int]:
    """Return the sizes of the classes that are not suppressed, and the number of suppressed records."""
    sizes, stars = _stars(release)
    suppressed = stars == len(release.schema.quasi_identifiers)
    return sizes[~suppressed], int(sizes[suppressed].sum())


def _occurring(dataset: Dataset, release: Release) -> Any:
    """Return, by name, the `OccurringValues` of each quasi-identifier in the original."""
    dataset, found = release.originals(dataset), {}
    for name in _quasi_identifiers(release):
        hierarchy = release.hierarchies[name]
        # # The dataset has the codes of its own values, but the release may have other hierarchies.
        same = name in dataset.codes and dataset.hierarchies[name] == hierarchy
        codes = dataset.codes[name] if same else hierarchy.codes(dataset.marked(name))
        positions, place = np.unique(codes, return_inverse=True)
        found[name] = OccurringValues.of(positions, np.bincount(place, dataset.times).astype(np.int64))
    return found


def _width(hierarchy: Any, label: str) -> float:
    return hierarchy.width(label)


def _log_values(hierarchy: Any, label: str) -> float:
    """Return log2 of the number of values that a label covers, computed from runs and not from a list of values."""
    return np.log2(np.sum(np.diff(hierarchy.runs(label)) + 1))


def _log_count(codes: Any, times: Any) -> Any:
    """Return log2 of the number of records with each row's code, (n,); `times` is the number of records of each row."""
    return np.log2(np.bincount(codes, times)[codes])


def _grouped(codes: Any, columns: Any) -> Any:
    """Return the number of each record's group, (n,); the records of a group have equal `codes` and equal `columns`."""
    for column in columns:
        own, distinct = factorize(column)
        codes = factorize(codes * (len(distinct) + 1) + own)[0]  # a missing value has the code -1
    return codes
