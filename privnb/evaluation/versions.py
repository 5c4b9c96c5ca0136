"""Versions of a release: the rows of two releases of the same people, compared record by record.

The evaluator knows the record of each row, because the rows of a file are matched with the records of the dataset. The
pair of two versions is read as one release, whose classes are the joint classes of the two: the same questions measure
the risks of a version and of the pair.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from privnb.datasets.dataset import Dataset
from privnb.datasets.foreign_file import ForeignFile, read_foreign
from privnb.measures.disclosure.differencing import ABSENT, join_classes
from privnb.microdata.counts import count_combinations
from privnb.microdata.hierarchy.generalization import SUPPRESSED
from privnb.microdata.provenance import Provenance
from privnb.microdata.release import Release
from privnb.microdata.schema import Role, Schema, to_text
from privnb.microdata.treatment import TRUE, Rows, Treatment, Unreadable
from privnb.runtime.arrays import Array, BoolArray, IntArray
from privnb.runtime.errors import InputError
from privnb.runtime.names import join_names
from privnb.sanitizers.correspondence import match_rows


@dataclass(frozen=True, eq=False)
class Version:
    """The rows of one release of a dataset, for the evaluator alone.

    Parameters
    ----------
    name : str
        The name of the release, such as that of its file.
    size : int
        The number of records of the dataset.
    classes : integer array (rows,)
        The class of each row, from 0: the rows with equal labels in all columns that an adversary may know.
    records : integer array (rows,)
        The record of each row; `ABSENT` for a row that covers no record of the dataset, such as that of a person who
        was dropped since.
    cells : dict of str to array (rows,)
        The published cells of each sensitive attribute whose cells are true of their records.
    """

    HINT: ClassVar[str] = "`evaluation.versions.read_version` returns it."

    name: str
    size: int
    classes: IntArray
    records: IntArray
    cells: Mapping[str, Array]

    @property
    def without_record(self) -> int:
        """The number of rows that cover no record of the dataset."""
        return int((self.records == ABSENT).sum())

    def by_record(self, of_rows: Array, absent: Any) -> Array:
        """Return an entry of each row, array (rows,), by record: array (size,), with `absent` for an absent record."""
        found = np.full(self.size, absent, dtype=np.asarray(of_rows).dtype)
        known = self.records != ABSENT
        found[self.records[known]] = np.asarray(of_rows)[known]
        return found


def read_version(
    path: str | os.PathLike[str],
    dataset: Dataset,
    *,
    treatments: Mapping[str, str] | None = None,
    hierarchies: Mapping[str, str] | None = None,
) -> tuple[Version, ForeignFile]:
    """Read a file of a release, and match its rows with the records of a dataset.

    Parameters
    ----------
    path : str or path-like
    dataset : Dataset
        The records of the release. The release may lack some of these records, and may have rows of other people, who
        were dropped since.
    treatments, hierarchies : dict, optional
        As in `datasets.foreign_file.read_foreign`.

    Returns
    -------
    tuple of Version and ForeignFile

    Raises
    ------
    SchemaError
        For a file that cannot be read as a release of the dataset.
    InputError
        For a file whose rows have no classes, because quasi-identifiers were perturbed, and for a file whose rows
        mostly cover no record.
    """
    file = read_foreign(path, dataset, treatments=treatments, hierarchies=hierarchies)
    moved = [name for name, each in file.columns.items() if each.treated == "perturbed"]
    known = [name for name in dataset.schema.knowable if name in file.columns]
    if untrue := [name for name in known if name in moved and dataset.schema[name].role is Role.QUASI_IDENTIFIER]:
        raise InputError(
            f"the people in the rows of {file.path.name} cannot be found, because {join_names(untrue)} was perturbed. "
            "Compare releases whose quasi-identifiers are unchanged, generalized or suppressed."
        )
    own = {name: each.hierarchy for name, each in file.columns.items() if each.hierarchy is not None}
    table = pd.DataFrame({name: each.cells for name, each in file.columns.items() if name not in moved})
    records = match_rows(dataset, table, {**dataset.hierarchies, **own})
    if (records == ABSENT).sum() > len(records) / 2:
        raise InputError(
            f"most of the {file.rows:,} rows of {file.path.name} cover no record of '{dataset.name}' of their own. "
            "Check that the release was made from this dataset."
        )
    true = [name for name in known if name not in moved]
    classes = count_combinations(table[true]).index if true else np.zeros(file.rows, dtype=np.int64)
    cells = {name: table[name].to_numpy() for name in dataset.schema.sensitive if name in table}
    return Version(file.path.name, len(dataset), classes, records, cells), file


def find_version(dataset: Dataset, release: Release, name: str = "") -> Version:
    """Return the rows of a release whose records are known.

    Parameters
    ----------
    dataset : Dataset
    release : Release
        The release, in which the columns that an adversary knows are quasi-identifiers; see `Case.known`.
    name : str
        The name of the version; by default, that of the sanitizer.

    Raises
    ------
    Unreadable
        For a release in which nobody can look up the class of a person.
    """
    if untrue := {*release.schema.quasi_identifiers} - {*release.treated(*TRUE)}:
        why = "its rows are synthetic" if release.provenance.rows is Rows.SYNTHETIC else "its quasi-identifiers are not"
        why += "" if release.provenance.rows is Rows.SYNTHETIC else f" true: {join_names(sorted(untrue))}"
        raise Unreadable(
            f"the release of {release.provenance.sanitizer} has no classes to compare with those of another release, "
            f"because {why}."
        )
    records = np.arange(len(dataset)) if release.records is None else release.records
    true = release.treated(*TRUE)
    cells = {each: release.table[each].to_numpy() for each in dataset.schema.sensitive if each in true}
    cells = {each: column for each, column in cells.items() if each in release.cells}
    made = name or release.provenance.sanitizer
    return Version(made, len(dataset), release.equivalence_classes, records, cells)


def is_in_both(old: Version, new: Version) -> BoolArray:
    """Return which records are in both versions, as a boolean array (size,)."""
    both = (version.by_record(version.classes, ABSENT) != ABSENT for version in (old, new))
    return np.logical_and(*both)


def join_versions(dataset: Dataset, *versions: Version) -> Release:
    """Return one or two versions as one release, for the evaluator alone.

    The rows of the release are the records of the dataset that any of the versions has. Their classes are the classes
    of the version, or the joint classes of the two, and an absent record counts as a class of its own. The number of
    the class is in every quasi-identifier. A sensitive attribute has the value that any of the versions publishes of
    the record or, if neither does, the cell of the last version.

    Parameters
    ----------
    dataset : Dataset
        The dataset of the versions, in any roles in which it has quasi-identifiers.
    versions : Version
        One or two versions.

    Returns
    -------
    Release

    Raises
    ------
    InputError
        For a version of another number of records, such as that of a whole table for a sample.
    """
    for version in versions:
        if version.size != len(dataset):
            raise InputError(
                f"{version.name} was matched with {version.size:,} records; got a dataset of {len(dataset):,} records. "
                "Give all records."
            )
    classes = [version.by_record(version.classes, ABSENT) for version in versions]
    records = np.flatnonzero(np.any([each != ABSENT for each in classes], axis=0))
    joint = join_classes(classes[0][records], classes[-1][records])
    schema, known = dataset.schema, dataset.schema.quasi_identifiers
    columns: dict[str, Any] = dict.fromkeys(known, joint)
    for name in schema.sensitive:
        if any(name in version.cells for version in versions):
            columns[name] = _best_cells(dataset, name, versions)[records]
    attributes = tuple(schema[name] for name in schema.names() if name in columns)
    treatments = {name: Treatment("generalized") for name in columns}
    made = Provenance(
        dataset.name, " and ".join(version.name for version in versions), {}, columns=treatments, rows=Rows.SUBSET
    )
    people = None if dataset.people is None else dataset.people[records]
    weights = None if dataset.weights is None else dataset.weights[records]
    return Release(
        pd.DataFrame(columns)[[each.name for each in attributes]], Schema(schema.dataset, attributes),
        {name: dataset.hierarchies[name] for name in known if name in dataset.hierarchies}, made,
        records=records, people=people, weights=weights,
    )  # fmt: skip


def _best_cells(dataset: Dataset, name: str, versions: tuple[Version, ...]) -> Array:
    """Return, by record, the value of a sensitive attribute if a version publishes it, and else a cell: (size,)."""
    found = np.full(len(dataset), SUPPRESSED, dtype=object)
    true = dataset.table[name].to_numpy().astype(object)
    for version in versions:
        if name in version.cells:
            cells = version.by_record(version.cells[name].astype(object), None)
            found = np.where(are_values(true, found) | pd.isna(cells), found, cells)
            plain = are_values(true, cells)
            found[plain] = true[plain]
    return found


def are_values(true: Array, cells: Array) -> BoolArray:
    """Return whether each cell is the true value of its record, and not a label, as a boolean array (n,)."""
    both = pd.Series(np.concatenate([true, cells]), dtype=object)
    codes = pd.factorize(both.map(to_text))[0]
    return np.asarray(codes[: len(true)] == codes[len(true) :], dtype=bool)
