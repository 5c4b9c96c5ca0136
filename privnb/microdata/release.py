"""A release: the published table, its equivalence classes and its provenance.

`publish()` returns everything that an attacker receives.
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
        """Return the names of the published columns with one of these treatments; see `treatment.KINDS`."""
        return select_columns(self.columns, *kinds)

    def __repr__(self) -> str:  # never the rows, see Release
        return f"Published({len(self.table)} rows of {', '.join(self.table)})"


Published.HINT = "Release.publish() gives it."  # type: ignore[attr-defined]  # in the class it would be a field


class _Coded:
    """The table as coded columns; see `columns`."""

    cells: pd.DataFrame


@dataclass(frozen=True, eq=False, repr=False)
class Release(_Coded):
    """A sanitized table with all columns except identifiers, and the treatment of each column.

    The rows are the records of the dataset in their order (n rows), a subset of these records, or synthetic rows; code
    that compares row i with a record must first call `originals`. The columns are those of the dataset, or new columns.
    A generalized cell is a label of the hierarchy of its attribute; a suppressed cell is `*` and keeps its place.

    Parameters
    ----------
    table : DataFrame
        The table, which is stored as `cells`, in which some columns may be coded; reading `table` decodes them.
    schema : Schema
    hierarchies : dict of str to Generalization
    provenance : Provenance
    buckets : DataFrame, optional
        The second table of a bucketized release, with the columns attribute, bucket, value and count. This table
        states how often each value of each sensitive attribute occurs in each bucket. Instead of the sensitive
        attributes, `table`
        then has the column "bucket" with the number of each record's bucket, from 0.
    shared : dict of str to integer array
        `Dataset.shared`, for the evaluator alone; positions that are not listed count as shared by few people.
    records : integer array (rows,), optional
        For a subset, the position of each row's record in the dataset; for the evaluator alone.
    people : integer array (rows,), optional
        The person of each row, as a number, if the dataset has a key of people. The evaluator alone counts people by
        these numbers; they are not derived from the key and are never published.
    weights : float array (rows,), optional
        The sampling weight of each row, if the dataset has weights; for the evaluator alone.
    apart : DataFrame, optional
        In addition to `people`, the rows' own values of the attributes that are published by bucket; for the evaluator
        alone.
    times : integer array (rows,), optional
        The number of records of each row, if the release was made from a `CombinationTable`. Such a release can only be
        graded, and written to a file with each row repeated.
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
        """The treatment of each published column, as `{name: Treatment}`; the default is "generalized"."""
        unstated = {name: Treatment("generalized") for name in self.schema.published}
        return unstated | dict(self.provenance.columns)

    def treated(self, *kinds: str) -> tuple[str, ...]:
        """Return the names of the published columns with one of these treatments; see `treatment.KINDS`."""
        return select_columns(self.columns, *kinds)

    @property
    def known_neutral(self) -> list[str]:
        """The names of the neutral columns that an adversary may know and whose published cells are true."""
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
        """Whether each row is from a record, and each cell is the record's value, a label that covers it, or `*`."""
        return len(self.treated(*TRUE)) == len(self.columns)

    def originals(self, dataset: Any) -> Any:
        """Return the record of `dataset` from which each row was made, as a Dataset.

        Raises Unreadable for synthetic rows, and UsageError for a dataset of another length.
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
        """The set of records with equal released quasi-identifiers to which each record belongs: integer array (n,).

        Sets are numbered from 0. Clusters with the same labels are one set, because nobody can distinguish them.
        """
        return self._alike[0]

    @cached_property
    def people_per_class(self) -> IntArray:
        """The number of people in each of `equivalence_classes`, as an integer array (sets,).

        A person counts once in every set that contains one of their rows.
        """
        return count_people_by_group(self.equivalence_classes, self.people, times=self.times)

    @cached_property
    def population_per_class(self) -> Array | None:
        """The expected number of people of the population in each of `equivalence_classes`, as a float array (sets,).

        The number is the sum of the weights of the members; a person with several records counts with the largest of
        their weights. The result is None without weights.
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
        """The labels of each of `equivalence_classes`, by quasi-identifier.

        For each quasi-identifier, there are two arrays: the number of the label of each set, integer array (sets,), and
        the labels, array (labels,).
        """
        return self._alike[1]

    def coded(self, name: str) -> tuple[IntArray, Array]:
        """Return the result of `Attribute.coded` for a published column, which is read only once."""
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
        """The class of each record, integer array (n,) from 0; None if `without_classes` gives a reason.

        The classes are the `equivalence_classes` or, in a bucketized release, the buckets. The release does not
        disclose which person in a class has which sensitive value.
        """
        if self.without_classes:
            return None
        return self.equivalence_classes if self.buckets is None else self.cells["bucket"].to_numpy()

    @property
    def defined_classes(self) -> IntArray:
        """The `classes` of a release that has classes. Raises Unreadable for a release without classes."""
        if self.classes is None:
            raise Unreadable(f"classes are not defined for {self.provenance.sanitizer}: {self.without_classes}.")
        return self.classes

    @cached_property
    def groups(self) -> IntArray | None:
        """The group of each record, integer array (n,) from 0, or None.

        The groups are the `classes`. For averages that satisfy k-anonymity, a group consists of the rows with equal
        averages. Averages do not show with certainty to which group a person belongs, but an adversary who finds the
        group learns what the group discloses.
        """
        made = self.provenance
        averaged = made.claims and made.rows is not Rows.SYNTHETIC and not self.treated("noisy", "synthetic")
        return self.equivalence_classes if self.classes is None and averaged else self.classes

    @property
    def without_classes(self) -> str:
        """The reason why nobody can look up the class of a person in the release; empty if somebody can."""
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
        """Raise Unreadable for a release without classes; the error states that `what` is not defined."""
        if reason := self.without_classes:
            raise Unreadable(
                f"{what} not defined for {self.provenance.sanitizer}: {reason}. Attack the release with a miner "
                "instead."
            )

    def by_class(self, name: str) -> tuple[Any, Any]:
        """Return two arrays (n,): the class (or `groups`) and the published value of an attribute for n records.

        The entries are in the order of the dataset. If a bucketized release has the attribute only by bucket, the
        entries are in the order of the buckets, which does not disclose to whom a value belongs. Raises SchemaError for
        an attribute that is not published.
        """
        self.schema[name]
        if name in self.cells:
            return self.groups, self.cells[name].array
        held = self._in_buckets(name)
        return np.repeat(held["bucket"].to_numpy(), held["count"]), np.repeat(held["value"].to_numpy(), held["count"])

    def _in_buckets(self, name: str) -> pd.DataFrame:
        """Return the rows of `buckets` for an attribute."""
        if self.buckets is None:
            raise SchemaError(f"{self!r} has no column '{name}'.")
        return self.buckets[self.buckets["attribute"] == name]

    def of_people(self, name: str) -> tuple[Any, Any, Any]:
        """Return, only for the evaluator, the result of `by_class` and the person of each entry, integer array (n,).

        The third item is None if each row is a different person.
        """
        if self.people is None or name in self.cells:
            return *self.by_class(name), self.people
        return self.classes, cast("pd.DataFrame", self.apart)[name].to_numpy(), self.people

    def counted(self, name: str) -> tuple[Any, Any, Any, Any]:
        """Return the result of `of_people` and the multiplicity of each entry, integer array, or None if all are 1.

        There are fewer entries if the release holds counts.
        """
        self.schema[name]
        if name in self.cells or self.people is not None:
            return *self.of_people(name), self.times
        held = self._in_buckets(name)
        return held["bucket"].to_numpy(), held["value"].to_numpy(), None, held["count"].to_numpy()

    @cached_property
    def _hidden(self) -> BoolArray:
        """Whether each of `equivalence_classes` has only `*` as quasi-identifiers, as a boolean array (sets,)."""
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
        """Return the release with labels of `names` that end only at values that many people share.

        Other ends are moved outwards; see `Ranges` and `Ordered`. Classes may merge, but no class is divided; labels
        may overlap.
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
            For each name, the code of the value of each row, and the values.
        times : integer array (m,)
            The number of times that each row is published.
        place : integer array (rows,)
            The distinct row to which each row of `cells` is equal.
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
        """Return everything that an attacker receives and, separately, the key: the record of each published row.

        The key is None for synthetic rows, and only the evaluator may use it. The order of the rows and the numbers of
        the buckets are drawn from the operating system, so nobody can repeat them. If a seed were used, two releases of
        the same people could be joined row by row.
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
        """Return the result of `publish` for an evaluation: with the same buckets, in an order that a seed repeats."""
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
        """Whether rows may be records of single people, with or without noise, because nothing generalizes them."""
        hidden = self.schema.quasi_identifiers and self.suppressed == self.record_count
        if self.buckets is not None or not (self.provenance.claims or hidden):
            return True
        return not hidden and self.people_per_class.min() < 2

    @validated
    def show(self, rows: int = 12, *, rng: Randomness = 0, min_count: MinCount = LIMIT) -> pd.DataFrame:
        """Return the quasi-identifiers of some random released rows, each shared by at least `min_count` people.

        Other attributes are left out, because they are published as they are and could single out people together with
        the quasi-identifiers. No label ends at a value that few people share, even if a study keeps such ends; see
        `widened`.

        Parameters
        ----------
        rows : int
            The number of rows, from 0 to 12.
        rng : int, Generator or None
            The source of the random draw. The rows are sorted by content before the draw, so that the seed does not
            disclose to whom they belong.
        min_count : int
            Rows that fewer people share are not shown, because such a row could be that of a single person.

        Returns
        -------
        DataFrame
            The rows. The result is empty if no row is shared by enough people.

        Raises
        ------
        ValueError
            For a release that `has_unprotected_rows`, or for more than 12 rows.
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
    """Return the rows of a DataFrame sorted by their values, so that their order discloses nothing else.

    >>> sort_by_content(pd.DataFrame({"ward": ["b", "a"], "people": [2, 1]}))["people"].tolist()
    [1, 2]
    """
    cells = _cells(table)
    return cells.iloc[stable_order(count_combinations(cells).index)].reset_index(drop=True)


def _cells(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of a table without the index, attributes, names and categories that pandas adds.

    The order of categories may be that of the records, and a category may name a value that no record has.
    """
    return pd.DataFrame({name: decode_column(column).array for name, column in table.items()})


def _drawn(size: int) -> IntArray:
    """Return the numbers from 0 to `size` - 1 in an order that nobody can repeat.

    The operating system draws the order. With a pseudorandom generator, an attacker could compute the state of the
    generator from known rows, and the positions of all other rows from that state.
    """
    return np.argsort(np.frombuffer(os.urandom(8 * size), dtype=np.uint64), kind="stable")
