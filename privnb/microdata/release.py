"""A release: the published table, its equivalence classes and its provenance.

The method `publish()` of a release returns everything that an attacker receives.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

import numpy as np

from privnb.microdata import hierarchy
from privnb.microdata.columns import DecodedTable, decode_column
from privnb.microdata.counts import (
    count_combinations,
    count_people_among,
    count_people_by_group,
    encode_values,
    group_codes,
    max_per_person,
    stable_order,
)
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.provenance import Provenance
from privnb.microdata.schema import Role, Schema, SchemaError
from privnb.microdata.treatment import TRUE, Rows, Treatment, Unreadable, select_columns
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.validation import Randomness, validated


class Published(NamedTuple):
    """Everything that an attacker receives: the released tables, with rows in random order and without identifiers."""

    table: pd.DataFrame
    schema: Schema
    hierarchies: Mapping[str, Any]
    columns: Mapping[str, Treatment]
    buckets: pd.DataFrame | None = None

    def treated(self, *kinds: str) -> tuple[str, ...]:
        """Return the names of the published columns with one of the treatments `kinds`; see `treatment.KINDS`."""
        return select_columns(self.columns, *kinds)

    def __repr__(self) -> str:  # never the rows, see Release
        return f"Published({len(self.table)} rows of {', '.join(self.table)})"


Published.HINT = "Release.publish() gives it."  # type: ignore[attr-defined]  # in the class it would be a field


class _Coded:
    """The table as coded columns; see the module `columns`."""

    cells: pd.DataFrame


@dataclass(frozen=True, eq=False, repr=False)
class Release(_Coded):
    """A sanitized table with all columns except identifiers, and the treatment of each column.

    The rows are the n records of the dataset in the order of the dataset, a subset of these records, or synthetic rows;
    code that compares row i with a record must first call `originals`. The columns are columns of the dataset or new
    columns. A generalized cell is a label of the hierarchy of its attribute; a suppressed cell is `*`, and no cell is
    removed.

    Parameters
    ----------
    table : DataFrame
        The table. The release stores it as `cells`, a DataFrame in which some columns may be coded; reading `table`
        decodes these columns.
    schema : Schema
    hierarchies : dict of str to Generalization
    provenance : Provenance
    buckets : DataFrame, optional
        The second table of a bucketized release, with the columns attribute, bucket, value and count. The second table
        states how often each value of each sensitive attribute occurs in each bucket. In a bucketized release, `table`
        has, instead of the sensitive attributes, the column "bucket", which contains the number of the bucket of each
        record, from 0.
    shared : dict of str to integer array
        `Dataset.shared`, which only the evaluator may use. A position that is not listed counts as shared by few
        people.
    records : integer array (rows,), optional
        If the rows are a subset of the records, the position in the dataset of the record of each row. Only the
        evaluator may use these positions.
    people : integer array (rows,), optional
        The number of the person of each row, if the dataset has a key of people. Only the evaluator may use these
        numbers, to count people; the numbers do not depend on the spelling of the key and are never published.
    weights : float array (rows,), optional
        The sampling weight of each row, if the dataset has weights. Only the evaluator may use the weights.
    apart : DataFrame, optional
        The value, in each row, of each attribute that is published by bucket; it is given only together with `people`.
        Only the evaluator may use these values.
    times : integer array (rows,), optional
        The number of records that each row represents, if the release was made from a `CombinationTable`. Such a
        release can be graded, and can be written to a file in which each row is repeated; no other use is possible.
    """

    HINT: ClassVar[str] = "KMember(10).sanitize(dataset) returns one, and `.release` of a sanitized table is one."
    if TYPE_CHECKING:
        table: pd.DataFrame
    else:
        table: pd.DataFrame = DecodedTable()  # a descriptor, not a default value
    schema: Schema
    hierarchies: Mapping[str, Any]
    provenance: Provenance
    buckets: pd.DataFrame | None = None
    shared: Mapping[str, IntArray] = field(default_factory=dict)
    records: IntArray | None = None
    people: IntArray | None = None
    weights: FloatArray | None = None
    apart: pd.DataFrame | None = None
    times: IntArray | None = None

    def __len__(self) -> int:
        return len(self.cells)

    def __getstate__(self) -> dict[str, Any]:  # other processes decode the table again
        return {name: value for name, value in vars(self).items() if name != "table"}

    def __repr__(self) -> str:  # never the rows: a notebook keeps what it shows; see `show`
        return f"Release({len(self)} rows of {self.provenance.dataset} by {self.provenance.sanitizer})"

    @cached_property
    def columns(self) -> Mapping[str, Treatment]:
        """The treatment of each published column, as `{name: Treatment}`; a column is "generalized" by default."""
        unstated = {name: Treatment("generalized") for name in self.schema.published}
        return unstated | dict(self.provenance.columns)

    def treated(self, *kinds: str) -> tuple[str, ...]:
        """Return the names of the published columns with one of the treatments `kinds`; see `treatment.KINDS`."""
        return select_columns(self.columns, *kinds)

    @property
    def known_neutral(self) -> list[str]:
        """The names of the neutral columns that an adversary may know and that are published with true cells."""
        true = self.treated(*TRUE)
        names = (name for name in self.schema.names(Role.NEUTRAL) if name in true and name in self.cells)
        return [name for name in names if self.schema[name].knowable]

    def with_known(self, names: Collection[str]) -> Release:
        """Return the release with the neutral columns `names` as quasi-identifiers, because an adversary knows them."""
        if not names:
            return self
        flat = {name: hierarchy.flat(self.schema[name]) for name in names}
        return replace(self, schema=self.schema.with_known(names), hierarchies={**flat, **self.hierarchies})

    @property
    def generalized(self) -> Any:
        """Whether each cell is the value of a record, a label that covers this value, or `*`."""
        return len(self.treated(*TRUE)) == len(self.columns)

    def originals(self, dataset: Any) -> Any:
        """Return, as a Dataset, the record of `dataset` from which each row of the release was made.

        Raises Unreadable for synthetic rows, and UsageError for a dataset with another number of records.
        """
        if self.provenance.rows is Rows.SYNTHETIC:
            raise Unreadable(
                f"the rows of {self.provenance.sanitizer} are synthetic, so there are no records to compare with them."
            )
        if self.records is not None:
            return replace(dataset, table=dataset.cells.iloc[self.records])
        if len(dataset) != len(self):
            raise UsageError(
                f"{self!r} does not match {dataset!r} row by row. Give the dataset from which the release was made."
            )
        return dataset

    @property
    def equivalence_classes(self) -> IntArray:
        """The number of the equivalence class to which each record belongs, as an integer array (n,).

        An equivalence class consists of all records with the same published quasi-identifiers; classes are numbered
        from 0. Clusters with the same labels form one class, because nobody can distinguish such clusters.
        """
        return self._alike[0]

    @cached_property
    def people_per_class(self) -> IntArray:
        """The number of people in each of the `equivalence_classes`, as an integer array (classes,).

        A person counts once in each class that contains at least one of the person's rows.
        """
        return count_people_by_group(self.equivalence_classes, self.people, times=self.times)

    @cached_property
    def population_per_class(self) -> Array | None:
        """The expected number of people of the population in each of the `equivalence_classes`: float array (classes,).

        The number is the sum of the sampling weights of the people in the class; a person with several records in the
        class counts with the largest weight of these records. The result is None if the dataset has no weights.
        """
        if self.weights is None:
            return None
        groups, weights = self.equivalence_classes, self.weights
        if self.people is not None:
            first, index = group_codes([groups, self.people], [groups.max() + 1, self.people.max() + 1])
            groups, weights = groups[first], max_per_person(weights, index)
        return np.bincount(groups, weights)

    @property
    def record_count(self) -> int:
        """The number of records from which the rows were made."""
        return len(self) if self.times is None else int(self.times.sum())

    @cached_property
    def headcount(self) -> int:
        """The number of people to whom the records of the release belong."""
        return self.people_among(np.ones(len(self), dtype=bool))

    def people_among(self, rows: Array) -> int:
        """Return the number of people with at least one of the rows that a boolean array (rows,) selects."""
        return count_people_among(rows, self.people, self.times)

    @property
    def labels_alike(self) -> dict[str, tuple[IntArray, Array]]:
        """The labels of each of the `equivalence_classes`, by quasi-identifier.

        For each quasi-identifier, there are two arrays: the number of the label of each class, an integer array
        (classes,), and the labels, an array (labels,).
        """
        return self._alike[1]

    def coded(self, name: str) -> tuple[IntArray, Array]:
        """Return the result of `Attribute.coded` for a published column; the column is read only once."""
        if name not in self._coded:
            read = self.schema[name].coded if name in self.columns else encode_values  # "bucket" is not an attribute
            codes, values = read(self.cells[name])
            codes.flags.writeable = False
            self._coded[name] = codes, values
        return self._coded[name]

    @cached_property
    def _coded(self) -> dict[str, tuple[IntArray, Array]]:
        return {}

    @cached_property
    def _alike(self) -> tuple[IntArray, dict[str, tuple[IntArray, Array]]]:
        columns = {name: self.coded(name) for name in self.schema.quasi_identifiers}
        every = list(columns.values()) or [(np.zeros(len(self), dtype=np.int64), np.array([None]))]
        first, index = group_codes([codes for codes, _ in every], [len(values) for _, values in every])
        index.flags.writeable = False
        return index, {name: (codes[first], values) for name, (codes, values) in columns.items()}

    @cached_property
    def classes(self) -> IntArray | None:
        """The number of the class of each record, as an integer array (n,) from 0; None without classes.

        The classes are the `equivalence_classes` or, in a bucketized release, the buckets. The release does not
        disclose which person in a class has which sensitive value. If there are no classes, `without_classes` states
        the reason.
        """
        if self.without_classes:
            return None
        return self.equivalence_classes if self.buckets is None else self.cells["bucket"].to_numpy()

    @property
    def defined_classes(self) -> IntArray:
        """The `classes` of a release that has classes.

        Raises Unreadable for a release without classes.
        """
        if self.classes is None:
            raise Unreadable(f"classes are not defined for {self.provenance.sanitizer}: {self.without_classes}.")
        return self.classes

    @cached_property
    def groups(self) -> IntArray | None:
        """The number of the group of each record, as an integer array (n,) from 0; None if there are no groups.

        The groups are the `classes` if the release has classes. If the release contains averages that satisfy
        k-anonymity, a group consists of the rows with equal averages. Averages do not show with certainty to which
        group a person belongs, but an adversary who finds the group of a person learns everything that the group
        discloses.
        """
        made = self.provenance
        averaged = made.claims and made.rows is not Rows.SYNTHETIC and not self.treated("noisy", "synthetic")
        return self.equivalence_classes if self.classes is None and averaged else self.classes

    @property
    def without_classes(self) -> str:
        """The reason why nobody can look up the class of a person in the release; empty if the release has classes."""
        if self.provenance.rows is Rows.SYNTHETIC:
            return "its rows are synthetic, so nobody has a class"
        if noisy := self.treated("noisy"):
            return f"noise in {', '.join(noisy)} leaves no equivalence classes"
        if moved := self.treated("perturbed", "synthetic"):
            return (
                f"values of {', '.join(moved)} were changed by an unknown mechanism, so nobody's class can be looked up"
            )
        return ""

    def check_classes(self, what: str) -> None:
        """Raise Unreadable for a release without classes; `what` is the subject of the error, with its verb."""
        if reason := self.without_classes:
            raise Unreadable(
                f"{what} not defined for {self.provenance.sanitizer}: {reason}. Attack the release with a miner "
                "instead."
            )

    def by_class(self, name: str) -> tuple[Any, Any]:
        """Return, as two arrays (n,), the group of each record and the published value of an attribute of each record.

        The groups are those of `groups`. The entries are in the order of the dataset. If the attribute is published by
        bucket, the entries are in the order of the second table, which does not disclose to whom a value belongs.
        Raises SchemaError for an attribute that is not published.
        """
        self.schema[name]
        if name in self.cells:
            return self.groups, self.cells[name].array
        held = self._in_buckets(name)
        return np.repeat(held["bucket"].to_numpy(), held["count"]), np.repeat(held["value"].to_numpy(), held["count"])

    def _in_buckets(self, name: str) -> pd.DataFrame:
        """Return the rows of `buckets` that describe an attribute."""
        if self.buckets is None:
            raise SchemaError(f"{self!r} has no column '{name}'.")
        return self.buckets[self.buckets["attribute"] == name]

    def of_people(self, name: str) -> tuple[Any, Any, Any]:
        """Return the result of `by_class` and the number of the person of each entry, an integer array (n,).

        Only the evaluator may call this method. The third item is None if each row belongs to a different person.
        """
        if self.people is None or name in self.cells:
            return *self.by_class(name), self.people
        return self.classes, cast("pd.DataFrame", self.apart)[name].to_numpy(), self.people

    def counted(self, name: str) -> tuple[Any, Any, Any, Any]:
        """Return the result of `of_people` and the number of records that each entry represents, an integer array.

        If the release holds counts, there are fewer entries than records. The last item is None if each entry
        represents 1 record.
        """
        self.schema[name]
        if name in self.cells or self.people is not None:
            return *self.of_people(name), self.times
        held = self._in_buckets(name)
        return held["bucket"].to_numpy(), held["value"].to_numpy(), None, held["count"].to_numpy()

    @cached_property
    def _hidden(self) -> BoolArray:
        """Whether all quasi-identifiers of each of the `equivalence_classes` are `*`: boolean array (classes,)."""
        names = self.schema.quasi_identifiers
        if not names or set(names) - set(self.treated("generalized", "suppressed")):
            return np.zeros(len(self.people_per_class), dtype=bool)
        hidden = [(labels == SUPPRESSED)[of_sets] for of_sets, labels in self.labels_alike.values()]
        return np.logical_and.reduce(hidden)

    @property
    def suppressed(self) -> int:
        """The number of records whose quasi-identifiers are all `*`."""
        return int(np.bincount(self.equivalence_classes, self.times)[self._hidden].sum())

    @property
    def suppressed_people(self) -> int:
        """The number of people with a record whose quasi-identifiers are all `*`."""
        return int(self.people_per_class[self._hidden].sum())

    @property
    def labelled(self) -> list[str]:
        """The names of the quasi-identifiers whose cells are labels of their hierarchies."""
        if self.buckets is not None:
            return []
        labels = self.treated(*(TRUE if self.provenance.claims else TRUE[1:]))
        return [name for name in self.schema.quasi_identifiers if name in labels]

    def widened(self, names: Iterable[str]) -> Release:
        """Return the release with widened labels in the columns `names`.

        A widened label ends only at values that many people share.

        An end that few people share is moved outwards; see `Ranges` and `Ordered`. Classes may merge, but no class is
        divided. The new labels may overlap.
        """
        given = {name: self.schema[name].public_domain.marked(self.cells[name]).array for name in names}
        found = {name: self.hierarchies[name].widened(given[name], self.shared.get(name, [])) for name in names}
        moved = [name for name in names if found[name] is not given[name]]
        if not moved:
            return self
        table, facts = self.cells.copy(deep=False), self.provenance
        for name in moved:
            table[name] = found[name]
        columns = {**facts.columns, **dict.fromkeys(moved, Treatment("generalized"))}
        return replace(self, table=table, provenance=replace(facts, columns=columns))

    def counted_rows(
        self, names: Sequence[str] | None = None
    ) -> tuple[dict[str, tuple[IntArray, Array]], IntArray, IntArray]:
        """Return the distinct published rows with their multiplicities, sorted by content.

        Parameters
        ----------
        names : list of str, optional
            The columns of `cells` to use; by default, all columns.

        Returns
        -------
        columns : dict of str to (integer array (m,), array)
            For each column, the code of the value of each distinct row, and the values.
        times : integer array (m,)
            The number of times that each distinct row is published.
        place : integer array (rows,)
            The position of the distinct row to which each row of `cells` is equal.
        """
        columns = {name: encode_values(self.cells[name]) for name in (self.cells if names is None else names)}
        first, place = group_codes([codes for codes, _ in columns.values()], [len(v) for _, v in columns.values()])
        rows = {name: (codes[first], values) for name, (codes, values) in columns.items()}
        return rows, count_people_by_group(place, times=self.times), place

    def _check_records(self) -> None:
        if self.times is not None:
            raise Unreadable(
                f"{self!r} holds combinations and their counts, and no rows. Write the release to a file row by row."
            )

    def publish(self) -> tuple[Published, IntArray | None]:
        """Return everything that an attacker receives and, as a second item, the key: the record of each published row.

        Only the evaluator may use the key, which is None for synthetic rows. The order of the rows and the numbers of
        the buckets are drawn by the random number generator of the operating system, so nobody can repeat these draws.
        If a seed were used, two releases of the same people could be joined row by row.
        """
        self._check_records()
        key, buckets = _drawn(len(self)), self.buckets
        table = self.cells.iloc[key]
        if buckets is not None:
            numbers = _drawn(int(buckets["bucket"].max()) + 1)
            table, buckets = (each.assign(bucket=numbers[each["bucket"]]) for each in (table, buckets))
            buckets = sort_by_content(buckets)
        return self._handed_out(table, buckets), self._records(key)

    def _published(self, rng: Any) -> tuple[Published, IntArray | None]:
        """Return the result of `publish` for an evaluation, with rows in an order that a seed can repeat.

        The numbers of the buckets stay unchanged.
        """
        self._check_records()
        key = np.random.default_rng(rng).permutation(len(self))
        return self._handed_out(self.cells.iloc[key], self.buckets), self._records(key)

    def _records(self, key: IntArray) -> IntArray | None:
        if self.provenance.rows is Rows.SYNTHETIC:
            return None
        return key if self.records is None else self.records[key]

    def _handed_out(self, table: pd.DataFrame, buckets: pd.DataFrame | None) -> Published:
        return Published(_cells(table), self.schema, self.hierarchies, self.columns, buckets)

    @property
    def has_unprotected_rows(self) -> bool:
        """Whether rows may be records of single people, with or without noise, because rows are not generalized."""
        hidden = self.schema.quasi_identifiers and self.suppressed == self.record_count
        if self.buckets is not None or not (self.provenance.claims or hidden):
            return True
        return not hidden and self.people_per_class.min() < 2

    @validated
    def show(self, rows: int = 12, *, rng: Randomness = 0, min_count: MinCount = LIMIT) -> pd.DataFrame:
        """Return the published quasi-identifiers of some random rows that at least `min_count` people share.

        Other attributes are left out, because they are published unchanged and could, together with the
        quasi-identifiers, single out people. No label ends at a value that few people share, even if a study keeps such
        ends; see `widened`.

        Parameters
        ----------
        rows : int
            The number of rows, from 0 to 12.
        rng : int, Generator or None
            The source of the random draw. The rows are sorted by content before the draw, so that the seed does not
            disclose to whom the rows belong.
        min_count : int
            The minimum number of people who share a row that is shown. A row that fewer people share could be the row
            of a single person.

        Returns
        -------
        DataFrame
            The rows. The result is empty if no row is shared by enough people.

        Raises
        ------
        ValueError
            For a release whose `has_unprotected_rows` is True, or for more than 12 rows.
        """
        if not 0 <= rows <= 12:
            raise UsageError(
                "`rows` must be from 0 to 12, because a report shows at most 12 released rows; got "
                f"{expect.describe_value(rows)}."
            )
        self._check_records()
        names = self.schema.quasi_identifiers
        if self.has_unprotected_rows:
            raise UsageError(
                f"rows of {self.provenance.sanitizer} are not shown, because nothing generalizes the rows, so each row "
                "is the record of one person. Show counts instead."
            )
        public = self.widened(self.labelled)
        alike = public.equivalence_classes  # numbered in the order of their content
        order = stable_order(alike)
        order = order[public.people_per_class[alike[order]] >= min_count]
        shown = np.random.default_rng(rng).choice(len(order), min(rows, len(order)), replace=False)
        return _cells(public.cells[names].iloc[order[shown]])


def sort_by_content(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a DataFrame sorted by their values, so that the order discloses only the values.

    >>> sort_by_content(pd.DataFrame({"ward": ["b", "a"], "people": [2, 1]}))["people"].tolist()
    [1, 2]
    """
    cells = _cells(table)
    return cells.iloc[stable_order(count_combinations(cells).index)].reset_index(drop=True)


def _cells(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of a table without its index, `attrs`, axis names and categories.

    Categories are removed because their order may be the order of the records, and because a category may be a value
    that no record has.
    """
    return pd.DataFrame({name: decode_column(column).array for name, column in table.items()})


def _drawn(size: int) -> IntArray:
    """Return the numbers from 0 to `size` - 1 in a random order that nobody can repeat.

    The operating system draws the order. If a pseudorandom generator drew the order, an attacker could compute the
    state of the generator from known rows and, from this state, the positions of all other rows.
    """
    return np.argsort(np.frombuffer(os.urandom(8 * size), dtype=np.uint64), kind="stable")
