"""Anonymized marginals: small tables of counts that are published instead of a generalized table, or beside one.

A generalized table loses how its finer values are distributed; counts of a few attributes each give much of that back.
Each table has to keep the privacy models, and so has what they tell together.

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
from privnb.sanitizers.algorithms.lattice import levels
from privnb.sanitizers.algorithms.maximum_entropy import CountTable, Together, Vertex
from privnb.sanitizers.base import AnyMicrodata, check_one_record_each

CountedRecords = tuple[CountTable, IntArray]  # a table, and the cell of every record
_SCALE = 1e9  # expected shares as counts, so large that models may compare them with whole numbers
_EQUAL = 12  # digits to which losses are the same


@dataclass(frozen=True, eq=False, repr=False)
class Marginals:
    """Published tables of counts: `tables`, each a DataFrame of one row a cell, with a label of each of some attributes
    and `count`, the number of records.

    Every record is counted once in each table. `hierarchies`: how the labels of every attribute cover its values.
    """

    HINT: ClassVar[str] = "anonymized_marginals(dataset, sets, KAnonymity(10)) makes them."

    tables: tuple[pd.DataFrame, ...]
    schema: Schema
    hierarchies: Mapping[str, Any]
    provenance: Provenance

    def __repr__(self) -> str:
        names = " and of ".join(", ".join(table.columns[:-1]) for table in self.tables)
        return f"Marginals({self.provenance.dataset}: counts of {names})"


def _sets(name: str, value: Any) -> None:
    if not expect.kind(name, value, list, tuple, instead="Name attributes, or give tuples of several."):
        raise UsageError(f"{name} must hold one set of attributes or more, got none.")
    for place, names in enumerate(value):
        if not isinstance(names, str):
            expect.texts(f"{name}[{place}]", names, "attributes")


@validated
def anonymized_marginals(
    dataset: AnyMicrodata,
    sets: Annotated[Sequence[str | tuple[str, ...]], _sets],
    *models: PrivacyModel,
    beside: Annotated[Release | None, optional(instead(Release, "Give a generalized one of the same records."))] = None,
    exact: bool = False,
) -> Marginals:
    """Count the records of `dataset` by each set of attributes, generalized as little as the models allow.

    The quasi-identifiers of a set are counted at those levels of their hierarchies that span least (mean width of a
    cell) among those that are allowed, each the same for the whole table. Other attributes and those that a model
    protects are counted as they are. Sets are served in their order. Beside a release in which values have several
    labels each (local recoding) only levels above all of these are allowed.

    What is checked: (1) each table alone, its classes being the records alike in its quasi-identifiers; of a table
    without its sensitive attribute a model asks no more than its k. (2) The tables are decomposable, `beside` among
    them: then k-anonymity of each is k-anonymity of all. (3) For models of a sensitive attribute, every choice of the
    tables that tell it, joined: what somebody has to expect who knows in which cells a person stands.

    Parameters
    ----------
    dataset : Dataset
    sets : list of str or tuple of str
        An attribute each, or several.
    models : PrivacyModel, one or more
    beside : Release, optional
        A generalized one of the same records that is published, too.
    exact : bool
        Whether only the lowest levels are allowed.

    Returns
    -------
    Marginals

    Raises
    ------
    SanitizationError
        Where no levels will do, with the cell that fails.
    ValueError
        For what is no set of published attributes, models against a population, and a `beside` that is not generalized
        or not of these records.

    Source: Kifer and Gehrke, SIGMOD 2006; Aggarwal and Yu 2008, section 9.5.3.
    """
    check_one_record_each("anonymized_marginals", dataset)
    sets = [(names,) if isinstance(names, str) else tuple(names) for names in sets]
    for names in sets:
        if not names or len(set(names)) < len(names) or not set(names) <= set(dataset.schema.published) - {"count"}:
            raise UsageError(
                f"{names} is no set of attributes to count. Name published ones of '{dataset.name}', each once, and "
                "none 'count'."
            )
    expect.all_of("models", models, PrivacyModel, instead=PrivacyModel.HINT)
    wrong = [model for model in models if hasattr(model, "population")]
    if wrong or not models:
        raise UsageError(f"marginals keep models of their own records, such as KAnonymity(10), got {wrong or 'none'}.")
    check = _Check(dataset, models, beside)
    fixed = set(dataset.schema.published if exact else [model.sensitive for model in models])
    published = []
    for names in sets:
        why = ""
        for columns, labels in _levels(dataset, check.hierarchies, names, fixed):
            counted = CountTable.of_records(names, columns, labels)
            refusal = check.refusal(counted)
            if not refusal:
                break
            why = why or refusal  # of the finest levels, which the owner asked for
        else:
            raise SanitizationError(f"counts of {', '.join(names)} cannot be published: {why}")
        check.published.append(counted)
        published.append(_shown(counted[0]))
    provenance = Provenance(
        dataset=dataset.name,
        sanitizer=f"anonymized_marginals({', '.join(map(repr, [sets, *models]))})",
        parameters={"sets": sets, "models": models, "exact": exact},
        claims=models,
        note="" if beside is None else f"Checked together with {beside.provenance.sanitizer}.",
    )
    return Marginals(tuple(published), dataset.schema, check.hierarchies, provenance)


class _Check:
    """What is published so far, each a CountTable and the cell of every record, and whether one more may join it."""

    def __init__(self, dataset: Microdata, models: Sequence[PrivacyModel], beside: Release | None) -> None:
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
        if beside is not None:
            counted = _of_release(beside, len(dataset))
            if refusal := self.refusal(counted):
                raise SanitizationError(f"{beside!r} cannot be published itself: {refusal}")
            self.published.append(counted)

    def refusal(self, counted: CountedRecords) -> str:
        """Why a table may not be published with the others, in words; empty if it may."""
        for model in self.models:
            if model.sensitive is not None and not self._tells(model.sensitive, counted):
                if not hasattr(model, "k"):
                    continue
                model = KAnonymity(model.k)
            if broken := self._broken(model, [counted]):
                return broken
        try:
            together = Together([table for table, _ in [*self.published, counted]], self.hierarchies)
        except ValueError as error:
            return str(error)
        if together.order is None:
            return (
                "the tables would not be decomposable, so that together they may tell more than each alone. Leave one "
                "out, or count what they share in one table."
            )
        for model in self.models:
            if model.sensitive is None or not self._tells(model.sensitive, counted):
                continue
            others = [each for each in self.published if self._tells(model.sensitive, each)]
            for some in (some for n in range(len(others)) for some in combinations(others, n + 1)):
                if broken := self._broken(model, [*some, counted]):
                    return f"joined with what is published already, {broken}"
        return ""

    def _tells(self, name: str, counted: CountedRecords) -> bool:
        """Whether a table tells exact values of a sensitive attribute; a release may suppress them."""
        table, _ = counted
        return name in table.names and len(_labels(table, name)) == self._values[name]

    def _broken(self, model: PrivacyModel, published: Sequence[CountedRecords]) -> str:
        """Which cells break the model where tables that tell its sensitive attribute are joined; empty if none."""
        together = Together([table for table, _ in published], self.hierarchies)
        if together.order is None:
            return f"the tables of '{model.sensitive}' are not decomposable by themselves. Leave one of them out."
        names = [name for table in together.tables for name in table.names]
        # What two tables share may be known, too: by it they are joined.
        known = {name for name in names if name in self._schema.quasi_identifiers or names.count(name) > 1}
        known -= {model.sensitive}
        column, width = self._tallies.get(model, (np.zeros(len(published[0][1]), dtype=np.int64), 1))

        def values(i: int, vertices: Iterable[Vertex]) -> tuple[IntArray, IntArray]:
            """A number for the records alike in what is known of `vertices`, and how often each has each value."""
            group = together.grouped(i, [vertex for vertex in vertices if vertex[0] in known])[published[i][1]]
            return group, counts.tabulate(group, column, (int(group.max()) + 1, width))

        parts = [values(i, together.vertices[i]) for i, _ in together.order]
        first, _ = counts.distinct_codes([group for group, _ in parts], [len(table) for _, table in parts])
        found: Any = 1 if len(parts) == 1 else 1.0  # products of counts outgrow whole numbers
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
        said = ", ".join(f"{name} {' and '.join(labels)}" for name, labels in cells.items() if labels) or "all records"
        return (
            f"{fails.sum()} of {len(first)} cells break {model!r}: the worst, {said}, reaches {levels[worst]:.4g}. "
            "Generalize or leave out an attribute, or relax the model."
        )


@validated
def probabilities(marginals: Marginals, rows: pd.DataFrame) -> FloatArray:
    """How likely somebody drawn from the table has these values, as far as the marginals tell.

    The distribution of maximum entropy that agrees with all counts: in closed form for decomposable tables, else
    fitted; values of one group are equally likely.

    Parameters
    ----------
    marginals : Marginals
    rows : DataFrame
        Original values of published attributes, those in the marginals among them.

    Returns
    -------
    float array (rows,)
        0 to 1; over all combinations of values of the domains they sum to 1.

    Raises
    ------
    ValueError
        Where neither way leads there.
    """
    held = dict.fromkeys(name for table in marginals.tables for name in table if name != "count")
    expect.table("rows", rows, held, "They are in the marginals.")
    together = Together([CountTable.read(table) for table in marginals.tables], marginals.hierarchies)
    return _likely(together, marginals.hierarchies, marginals.schema.marked(rows))


def _check_published(marginals: Any, release: Any) -> None:
    """Raise unless there are marginals, a release, or both."""
    if marginals is None and release is None:
        raise UsageError("marginals and release are both None: nothing is published. Give one or both.")


@validated
def divergence(dataset: AnyMicrodata, marginals: Marginals | None = None, release: Release | None = None) -> float:
    """Bits by which the original table differs from what was published of it, the rest as even as can be.

    Kullback-Leibler divergence of the empirical distribution of all published columns from the maximum-entropy
    distribution that agrees with `marginals` and a generalized `release` of the dataset, one or both. With a release
    alone it is `information_loss.kl_divergence`.

    Parameters
    ----------
    dataset : Dataset
    marginals : Marginals, optional
    release : Release, optional

    Returns
    -------
    float
        0 equal, no upper bound; lower keeps more.

    Raises
    ------
    ValueError
        Where `probabilities` does, and where the counts are of other records.

    Source: Kifer and Gehrke, SIGMOD 2006, section 3; Aggarwal and Yu 2008, section 9.5.2.
    """
    _check_published(marginals, release)
    hierarchies = _hierarchies(dataset.schema, dataset.hierarchies)
    tables, where = [CountTable.read(table) for table in marginals.tables] if marginals is not None else [], {}
    if release is not None:
        table, where[len(tables)] = _of_release(release, len(dataset))
        tables.append(table)
    rows = dataset.cells[dataset.schema.published]
    likely = _likely(Together(tables, hierarchies), hierarchies, dataset.schema.marked(rows), where)
    if not likely.all():
        raise UsageError(f"some records of '{dataset.name}' are in no cell. Were the counts made of other records?")
    distinct = counts.combinations(rows)
    alike = distinct.multiplicities[distinct.index] / len(rows)
    return max(float(np.log2(alike / likely).mean()), 0.0)  # rounding must not fall below


@validated
def inferred(
    known: Annotated[Mapping[str, Any], instead(Mapping, "Give the known values by attribute.")],
    sensitive: str,
    marginals: Marginals | None = None,
    release: Release | None = None,
) -> pd.Series:
    """What somebody who knows some values of a person infers of another.

    The tables of `marginals` that hold `sensitive` are joined, and with them a generalized `release`. A share of 1 is
    certainty.

    Parameters
    ----------
    known : dict of str to value
        Original values by attribute.
    sensitive : str
    marginals : Marginals, optional
    release : Release, optional

    Returns
    -------
    Series
        Shares by label of `sensitive`; labels that cannot be are left out.

    Raises
    ------
    ValueError
        If nobody who is published has these values, if what is not known decides which cells of two tables belong
        together, and if the tables are not decomposable.

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
    together = Together(exact, hierarchies)
    if together.order is None or not exact:
        raise UsageError(f"the tables with exact '{sensitive}' are not decomposable, or there are none.")
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
            raise UsageError(f"to join the tables one of {names} must be known, too.")
        found = found / _by_value(table, sensitive, table.counts * np.isin(group, group[fits[i]])).clip(lower=1)
    if not found.sum() > 0:
        raise UsageError(f"nobody who was counted has {known}.")
    return (found / found.sum())[found > 0].rename("share")


def _by_value(table: CountTable, sensitive: str, shares: Array) -> pd.Series:
    """The shares of cells added up by the label of `sensitive`, a Series."""
    labels, codes = _labels(table, sensitive), table.cells[:, table.names.index(sensitive)]
    return pd.Series(np.bincount(codes, shares, len(labels)), [str(label) for label in labels])


def _labels(table: CountTable, name: str) -> Array:
    return table.labels[table.names.index(name)]


def _likely(
    together: Together, hierarchies: Mapping[str, Any], rows: pd.DataFrame, where: Mapping[int, IntArray] | None = None
) -> FloatArray:
    """The maximum-entropy probability of rows. `where`: `{table: cell of each row}` where that is known already."""
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
    """How the labels of every published attribute cover its values; exact ones cover their own."""
    return {name: given[name] if name in given else flat(schema[name]) for name in schema.published}


def _of_release(release: Release, records: int) -> CountedRecords:
    if not release.generalized or len(release) != records:
        raise UsageError(f"{release!r} is no generalization. Give a generalized release of the {records} records.")
    return CountTable.of_labels(release.schema.marked(release.table))


def _levels(
    dataset: Microdata, hierarchies: Mapping[str, Any], names: Sequence[str], fixed: set[Any]
) -> Iterator[tuple[list[IntArray], list[Array]]]:
    """Each way to count a set, from the one that spans least: for each name the records' label numbers, the labels.

    Quasi-identifiers are generalized, unless they are `fixed`.
    """
    ways = []
    for name in names:
        hierarchy = hierarchies[name]
        positions, index, people = np.unique(
            hierarchy.codes(dataset.marked(name)), return_inverse=True, return_counts=True
        )
        every = levels(hierarchy, positions)
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
