"""Anonymized marginals: small tables of counts, published instead of a generalized table or in addition to one.

A generalized table loses the distribution of its finer values; tables of counts over a few attributes restore much of
this distribution. Each table must satisfy the privacy models, and so must the joint information of all tables.

Source: Kifer and Gehrke, "Injecting Utility into Anonymized Datasets", SIGMOD 2006; Aggarwal and Yu 2008, section 9.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd

from privnb.microdata import counts
from privnb.microdata.hierarchy import flat
from privnb.microdata.hierarchy.generalization import SUPPRESSED
from privnb.microdata.provenance import Provenance
from privnb.microdata.release import Release
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Schema
from privnb.privacy_models import KAnonymity, PrivacyModel, tally
from privnb.runtime import expect
from privnb.runtime.arrays import Array, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.validation import instead, optional, validated
from privnb.sanitizers import SanitizationError
from privnb.sanitizers.algorithms.lattice import list_levels
from privnb.sanitizers.algorithms.maximum_entropy import CountTable, JointCounts, Vertex
from privnb.sanitizers.base import AnyMicrodata, check_one_record_each

CountedRecords = tuple[CountTable, IntArray]  # a table, and the cell of every record
_SCALE = 1e9  # scale of expected shares as counts, so large that models may compare them with whole numbers
_EQUAL = 12  # number of digits in which losses are compared


@dataclass(frozen=True, eq=False, repr=False)
class Marginals:
    """Published tables of counts.

    Attributes
    ----------
    tables : tuple of DataFrame
        The tables of counts. A table has one row per cell, with a column of labels for each of its attributes, and a
        column `count`, the number of records. Each table counts every record once.
    schema : Schema
    hierarchies : dict of str to hierarchy
        The hierarchy of every attribute, which states the values that a label covers.
    provenance : Provenance
    """

    HINT: ClassVar[str] = "anonymize_marginals(dataset, sets, KAnonymity(10)) makes them."

    tables: tuple[pd.DataFrame, ...]
    schema: Schema
    hierarchies: Mapping[str, Any]
    provenance: Provenance

    def __repr__(self) -> str:
        names = " and of ".join(", ".join(table.columns[:-1]) for table in self.tables)
        return f"Marginals({self.provenance.dataset}: counts of {names})"


def _sets(name: str, value: Any) -> None:
    if not expect.kind(name, value, list, tuple, instead="Name attributes, or give tuples of several."):
        raise UsageError(f"{name} must contain at least one set of attributes; got none.")
    for place, names in enumerate(value):
        if not isinstance(names, str):
            expect.texts(f"{name}[{place}]", names, "attributes")


@validated
def anonymize_marginals(
    dataset: AnyMicrodata,
    sets: Annotated[Sequence[str | tuple[str, ...]], _sets],
    *models: PrivacyModel,
    release: Annotated[
        Release | None, optional(instead(Release, "Give a generalized one of the same records."))
    ] = None,
    exact: bool = False,
) -> Marginals:
    """Count the records of `dataset` by each set of attributes, generalized as little as the models allow.

    The quasi-identifiers of a set are counted at the finest allowed levels of their hierarchies (by the mean width of a
    cell); each level is the same for the whole table. All other attributes, and attributes that a model protects, are
    counted exactly. The sets are considered in the given order. If values have several labels in `release` (local
    recoding), only levels above all of these labels are allowed.

    There are three checks. (1) Each table alone satisfies the models; a class consists of the records that agree in the
    table's quasi-identifiers. If a table lacks the sensitive attribute of a model, only the model's k must hold. (2)
    The tables, including `release`, are decomposable; k-anonymity of each table then implies k-anonymity of all tables
    together. (3) For models of a sensitive attribute, every join of tables that contain this attribute satisfies the
    model: such a join is the expectation of an adversary who knows the cells of a person.

    Parameters
    ----------
    dataset : Dataset
    sets : list of str or tuple of str
        The sets; each set is one attribute, or a tuple of attributes.
    models : PrivacyModel, one or more
    release : Release, optional
        A generalized release of the same records that is also published.
    exact : bool
        Whether only the lowest levels are allowed.

    Returns
    -------
    Marginals

    Raises
    ------
    SanitizationError
        If no levels are allowed. The error message states the cell that fails.
    ValueError
        If a set does not consist of published attributes, if a model is about a population, or if `release` is not
        generalized or has other records.

    Source: Kifer and Gehrke, SIGMOD 2006; Aggarwal and Yu 2008, section 9.5.3.
    """
    check_one_record_each("anonymize_marginals", dataset)
    sets = [(names,) if isinstance(names, str) else tuple(names) for names in sets]
    for names in sets:
        if not names or len(set(names)) < len(names) or not set(names) <= set(dataset.schema.published) - {"count"}:
            raise UsageError(
                f"`sets` must name published attributes of '{dataset.name}', each once and without 'count'; got "
                f"{names}."
            )
    expect.all_of("models", models, PrivacyModel, instead=PrivacyModel.HINT)
    wrong = [model for model in models if hasattr(model, "population")]
    if wrong or not models:
        raise UsageError(f"`models` must be about only the records, such as KAnonymity(10); got {wrong or 'none'}.")
    check = _Check(dataset, models, release)
    fixed = set(dataset.schema.published if exact else [model.sensitive for model in models])
    published = []
    for names in sets:
        why = ""
        for columns, labels in _levels(dataset, check.hierarchies, names, fixed):
            counted = CountTable.of_records(names, columns, labels)
            refusal = check.refusal(counted)
            if not refusal:
                break
            why = why or refusal  # the reason at the finest levels, which the owner wants
        else:
            raise SanitizationError(f"counts of {', '.join(names)} cannot be published: {why}")
        check.published.append(counted)
        published.append(_shown(counted[0]))
    provenance = Provenance(
        dataset=dataset.name,
        sanitizer=f"anonymize_marginals({', '.join(map(repr, [sets, *models]))})",
        parameters={"sets": sets, "models": models, "exact": exact},
        claims=models,
        invented=dataset.schema.invented,
        note="" if release is None else f"Checked together with {release.provenance.sanitizer}.",
    )
    return Marginals(tuple(published), dataset.schema, check.hierarchies, provenance)


class _Check:
    """The tables that are published so far, with the cell of every record, and the check of a further table."""

    def __init__(self, dataset: Microdata, models: Sequence[PrivacyModel], release: Release | None) -> None:
        self.models, self.hierarchies = models, _hierarchies(dataset.schema, dataset.hierarchies)
        self._schema, self.published = dataset.schema, []
        self._tallies = {
            model: tally(model, dataset.cells[model.sensitive], dataset.schema[model.sensitive])
            for model in models
            if model.sensitive is not None
        }
        self._values = {
            model.sensitive: dataset.cells[model.sensitive].nunique(dropna=False) for model in self._tallies
        }
        if release is not None:
            counted = _of_release(release, len(dataset))
            if refusal := self.refusal(counted):
                raise SanitizationError(f"{release!r} cannot be published itself: {refusal}")
            self.published.append(counted)

    def refusal(self, counted: CountedRecords) -> str:
        """Return why a table may not be published with the others; the text is empty if the table may be published."""
        for model in self.models:
            if model.sensitive is not None and not self._tells(model.sensitive, counted):
                if not hasattr(model, "k"):
                    continue
                model = KAnonymity(model.k)
            if broken := self._broken(model, [counted]):
                return broken
        try:
            together = JointCounts([table for table, _ in [*self.published, counted]], self.hierarchies)
        except ValueError as error:
            return str(error)
        if together.order is None:
            return (
                "the tables would not be decomposable, so together they may disclose more than each alone. Leave one "
                "out, or count their shared attributes in one table."
            )
        for model in self.models:
            if model.sensitive is None or not self._tells(model.sensitive, counted):
                continue
            others = [each for each in self.published if self._tells(model.sensitive, each)]
            for some in (some for n in range(len(others)) for some in combinations(others, n + 1)):
                if broken := self._broken(model, [*some, counted]):
                    return f"joined with the tables that are already published, {broken}"
        return ""

    def _tells(self, name: str, counted: CountedRecords) -> bool:
        """Return whether a table has exact values of a sensitive attribute; a release may suppress these values."""
        table, _ = counted
        return name in table.names and len(_labels(table, name)) == self._values[name]

    def _broken(self, model: PrivacyModel, published: Sequence[CountedRecords]) -> str:
        """Return which cells violate the model after the tables are joined; the text is empty if no cell does."""
        together = JointCounts([table for table, _ in published], self.hierarchies)
        if together.order is None:
            return f"the tables of '{model.sensitive}' are not decomposable by themselves. Leave one of them out."
        names = [name for table in together.tables for name in table.names]
        # Attributes that two tables share may be known too, because they join the tables.
        known = {name for name in names if name in self._schema.quasi_identifiers or names.count(name) > 1}
        known -= {model.sensitive}
        column, width = self._tallies.get(model, (np.zeros(len(published[0][1]), dtype=np.int64), 1))

        def values(i: int, vertices: Iterable[Vertex]) -> tuple[IntArray, IntArray]:
            """Return the group of each record by the known `vertices`, and the counts of each value in each group."""
            group = together.grouped(i, [vertex for vertex in vertices if vertex[0] in known])[published[i][1]]
            return group, counts.tabulate(group, column, (int(group.max()) + 1, width))

        parts = [values(i, together.vertices[i]) for i, _ in together.order]
        first, _ = counts.group_codes([group for group, _ in parts], [len(table) for _, table in parts])
        found: Any = 1 if len(parts) == 1 else 1.0  # products of counts may exceed the range of integers
        for group, table in parts:
            found = found * table[group[first]]
        for i, shared in together.order[:-1]:
            group, table = values(i, shared)
            found = found / np.maximum(table[group[first]], 1)
        if len(parts) > 1:
            found = found / found.sum(axis=1, keepdims=True) * _SCALE
        whole = np.bincount(column, minlength=width)
        fails = ~model.holds(found, whole)
        if not fails.any():
            return ""
        levels = model.level(found[fails], whole)
        worst = levels.argmin() if model.better == "higher" else levels.argmax()
        record = first[fails][worst]
        cells: dict[str, list[str]] = {name: [] for name in names if name in known}
        for published_table, where in published:
            counted = published_table.names, published_table.labels, published_table.cells[where[record]]
            for name, labels, code in zip(*counted, strict=True):
                if name in known and str(labels[code]) not in (SUPPRESSED, *cells[name]):
                    cells[name].append(str(labels[code]))
        cell_text = (
            ", ".join(f"{name} {' and '.join(labels)}" for name, labels in cells.items() if labels) or "all records"
        )
        return (
            f"{fails.sum()} of {len(first)} cells break {model!r}: the worst, {cell_text}, reaches "
            f"{levels[worst]:.4g}. Generalize or omit an attribute, or relax the model."
        )


@validated
def estimate_probabilities(marginals: Marginals, rows: pd.DataFrame) -> FloatArray:
    """Return, for each row, the probability that a person drawn from the table has the values of the row.

    The probabilities are those of the maximum-entropy distribution that agrees with all counts. This distribution has a
    closed form for decomposable tables, and is fitted for other tables. Values under one label are equally likely.

    Parameters
    ----------
    marginals : Marginals
    rows : DataFrame
        Original values of published attributes, including all attributes in the marginals.

    Returns
    -------
    float array (rows,)
        The probabilities, from 0 to 1; the sum over all combinations of values of the domains is 1.

    Raises
    ------
    ValueError
        If neither computation is possible.
    """
    held = dict.fromkeys(name for table in marginals.tables for name in table if name != "count")
    expect.table("rows", rows, held, "The marginals contain them.")
    together = JointCounts([CountTable.read(table) for table in marginals.tables], marginals.hierarchies)
    return _likely(together, marginals.hierarchies, marginals.schema.marked(rows))


def _check_published(marginals: Any, release: Any) -> None:
    """Raise UsageError unless there are marginals, a release, or both."""
    if marginals is None and release is None:
        raise UsageError("`marginals` or `release` must be given; both are None.")


@validated
def divergence(dataset: AnyMicrodata, marginals: Marginals | None = None, release: Release | None = None) -> float:
    """Return the bits by which the original table differs from the most even table that agrees with the publication.

    This is the Kullback-Leibler divergence of the empirical distribution of all published columns from the
    maximum-entropy distribution that agrees with `marginals` and a generalized `release` of the dataset, or with one of
    them. For a release alone, the divergence equals `information_loss.kl_divergence`.

    Parameters
    ----------
    dataset : Dataset
    marginals : Marginals, optional
    release : Release, optional

    Returns
    -------
    float
        The divergence in bits: 0 for equal distributions, without an upper bound. A lower divergence means that more
        information is preserved.

    Raises
    ------
    ValueError
        In the cases of `estimate_probabilities`, and if the counts are of other records.

    Source: Kifer and Gehrke, SIGMOD 2006, section 3; Aggarwal and Yu 2008, section 9.5.2.
    """
    _check_published(marginals, release)
    hierarchies = _hierarchies(dataset.schema, dataset.hierarchies)
    tables, where = [CountTable.read(table) for table in marginals.tables] if marginals is not None else [], {}
    if release is not None:
        table, where[len(tables)] = _of_release(release, len(dataset))
        tables.append(table)
    rows = dataset.cells[dataset.schema.published]
    likely = _likely(JointCounts(tables, hierarchies), hierarchies, dataset.schema.marked(rows), where)
    if not likely.all():
        raise UsageError(f"some records of '{dataset.name}' are not in any cell. Give counts of the same records.")
    distinct = counts.count_combinations(rows)
    alike = distinct.multiplicities[distinct.index] / len(rows)
    return max(float(np.log2(alike / likely).mean()), 0.0)  # rounding must not lead below 0


@validated
def infer_value(
    known: Annotated[Mapping[str, Any], instead(Mapping, "Give the known values by attribute.")],
    sensitive: str,
    marginals: Marginals | None = None,
    release: Release | None = None,
) -> pd.Series:
    """Return the shares from which an adversary who knows some values of a person infers another value.

    The function joins the tables of `marginals` that contain `sensitive`, and a generalized `release`. A share of 1
    means that the value is certain.

    Parameters
    ----------
    known : dict of str to value
        Original values by attribute.
    sensitive : str
        The attribute to be inferred.
    marginals : Marginals, optional
    release : Release, optional

    Returns
    -------
    Series
        Shares by label of `sensitive`, without labels that are impossible.

    Raises
    ------
    ValueError
        If no published person has these values, if an unknown value decides which cells of two tables belong together,
        or if the tables are not decomposable.

    Source: Aggarwal and Yu 2008, section 9.5, tables 9.12 to 9.14.
    """
    _check_published(marginals, release)
    published: Any = marginals if marginals is not None else release
    hierarchies = _hierarchies(published.schema, published.hierarchies)
    tables = [CountTable.read(table) for table in marginals.tables] if marginals is not None else []
    if release is not None:
        tables.append(_of_release(release, len(release))[0])
    expect.one_of("sensitive", sensitive, hierarchies)
    for name in known:
        expect.one_of("known", name, hierarchies)
    covers = hierarchies[sensitive].covered
    exact = [t for t in tables if sensitive in t.names and all(len(covers(v)) == 1 for v in _labels(t, sensitive))]
    together = JointCounts(exact, hierarchies)
    if together.order is None or not exact:
        raise UsageError(
            f"the tables with exact '{sensitive}' must be decomposable, and at least one table must have exact values."
        )
    position = {name: hierarchies[name].codes([value])[0] for name, value in known.items()}
    found: Any = 1.0
    fits = []
    for table in together.tables:
        share = table.counts.astype(float)
        for name, labels, codes in zip(table.names, table.labels, table.cells.T, strict=True):
            if name in position:
                around = [hierarchies[name].covered(label) for label in labels]
                share *= np.array([np.isin(position[name], cover) / len(cover) for cover in around])[codes]
        fits.append(share > 0)
        found = found * _by_value(table, sensitive, share)
    for i, shared in together.order[:-1]:
        table = together.tables[i]
        group = together.grouped(i, [vertex for vertex in shared if vertex[0] != sensitive])
        if len(set(group[fits[i]])) > 1:
            names = sorted({name for name, _ in shared} - {sensitive, *known})
            raise UsageError(f"`known` must contain one of {names}, which joins the tables.")
        found = found / _by_value(table, sensitive, table.counts * np.isin(group, group[fits[i]])).clip(lower=1)
    if not found.sum() > 0:
        raise UsageError(f"nobody in the counts has {known}.")
    return (found / found.sum())[found > 0].rename("share")


def _by_value(table: CountTable, sensitive: str, shares: Array) -> pd.Series:
    """Return, as a Series, the summed share of the cells with each label of `sensitive`."""
    labels, codes = _labels(table, sensitive), table.cells[:, table.names.index(sensitive)]
    return pd.Series(np.bincount(codes, shares, len(labels)), [str(label) for label in labels])


def _labels(table: CountTable, name: str) -> Array:
    return table.labels[table.names.index(name)]


def _likely(
    together: JointCounts,
    hierarchies: Mapping[str, Any],
    rows: pd.DataFrame,
    where: Mapping[int, IntArray] | None = None,
) -> FloatArray:
    """Return the maximum-entropy probability of rows; `where`: `{table: cell of each row}` if cells are known."""
    positions = {name: hierarchies[name].codes(rows[name]) for name in rows}
    if together.order is None:
        likely = together.fitted(positions)
    else:
        cells = where or {}
        places = range(len(together.tables))
        likely = together.likely([cells[i] if i in cells else together.located(i, positions) for i in places])
    held = {name for table in together.tables for name in table.names}
    # One division by a whole number: several would round differently in each order of the attributes.
    return likely / float(prod(hierarchies[name].size for name in rows if name not in held))


def _hierarchies(schema: Schema, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hierarchy of every published attribute; if none is given, labels cover only themselves."""
    return {name: given[name] if name in given else flat(schema[name]) for name in schema.published}


def _of_release(release: Release, records: int) -> CountedRecords:
    if not release.generalized or len(release) != records:
        raise UsageError(f"`release` must be a generalized release of the {records} records; got {release!r}.")
    return CountTable.of_labels(release.schema.marked(release.table))


def _levels(
    dataset: Microdata, hierarchies: Mapping[str, Any], names: Sequence[str], fixed: set[Any]
) -> Iterator[tuple[list[IntArray], list[Array]]]:
    """Yield each way to count a set, from the finest on: for each name, the records' label numbers and the labels.

    Quasi-identifiers are generalized, unless they are `fixed`.
    """
    ways = []
    for name in names:
        hierarchy = hierarchies[name]
        positions, index, people = np.unique(
            hierarchy.codes(dataset.marked(name)), return_inverse=True, return_counts=True
        )
        every = list_levels(hierarchy, positions)
        if name in fixed or name not in dataset.schema.quasi_identifiers:
            every = every[:1]
        found = []
        for level, row in enumerate(every):
            numbers, labels = pd.factorize(row)
            width = np.array([hierarchy.width(label) for label in labels])[numbers] @ people
            found.append((float(width), level, numbers[index], labels))
        ways.append(found)
    for way in sorted(product(*ways), key=lambda way: (round(sum(w[0] for w in way), _EQUAL), [w[1] for w in way])):
        yield [numbers for *_, numbers, _ in way], [labels for *_, labels in way]


def _shown(table: CountTable) -> pd.DataFrame:
    columns = zip(table.names, table.labels, table.cells.T, strict=True)
    return pd.DataFrame({**{name: labels[codes] for name, labels, codes in columns}, "count": table.counts})
