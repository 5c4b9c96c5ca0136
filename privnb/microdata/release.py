"""What was published: the table, its equivalence classes, its provenance; `publish()` is all that an attacker gets.

One module: what a release keeps back and what it hands out are to be read side by side.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

import numpy as np

from privnb.microdata import hierarchy
from privnb.microdata.columns import WrittenOut, plain
from privnb.microdata.counts import (
    coded,
    combinations,
    distinct_codes,
    most_of_people,
    people_among,
    people_in,
    stable_order,
)
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.provenance import Provenance
from privnb.microdata.schema import Role, Schema, SchemaError
from privnb.microdata.treatment import TRUE, Rows, Treatment, Unreadable, treated
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray, FloatArray, IntArray
from privnb.runtime.errors import UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.validation import Randomness, validated


class Published(NamedTuple):
    """All that an attacker gets: the released tables, rows in random order without record names; public knowledge."""

    table: pd.DataFrame
    schema: Schema
    hierarchies: Mapping[str, Any]
    columns: Mapping[str, Treatment]
    buckets: pd.DataFrame | None = None

    def treated(self, *kinds: str) -> tuple[str, ...]:
        """The names of the published columns that were treated in one of these ways: see `treatment.KINDS`."""
        return treated(self.columns, *kinds)

    def __repr__(self) -> str:  # never the rows, see Release
        return f"Published({len(self.table)} rows of {', '.join(self.table)})"


Published.HINT = "Release.publish() gives it."  # type: ignore[attr-defined]  # in the class it would be a field


class _Coded:
    """The table as coded columns, see `columns`."""

    cells: pd.DataFrame


@dataclass(frozen=True, eq=False, repr=False)
class Release(_Coded):
    """A sanitized table with every column but identifiers, and how each column was treated.

    Its rows are the dataset's records in their order (n rows), a subset of them, or nobody's: whoever compares row i
    with a record asks `originals`. Its columns are the dataset's, or new ones. A generalized cell is a label of the
    attribute's hierarchy; a suppressed one is `*` and keeps its place.

    Parameters
    ----------
    table : DataFrame
        Kept as `cells`, of which some may be coded columns; to ask for it writes these out.
    schema : Schema
    hierarchies : dict of str to Generalization
    provenance : Provenance
    buckets : DataFrame, optional
        The second table of a bucketized release, with the columns attribute, bucket, value, count: how often each value
        of each sensitive attribute stands in each bucket. `table` then has the number of each record's bucket in the
        column "bucket", from 0, instead of the sensitive attributes.
    shared : dict of str to integer array
        As the dataset's, for the evaluator alone; what it lacks counts as shared by few.
    records : integer array (rows,), optional
        Of a subset the record of each row, positions in the dataset; for the evaluator alone.
    people : integer array (rows,), optional
        Whose each row is, a number for each person, where the dataset has a key of people: for the evaluator alone, who
        counts people by it. It is drawn from no key and is never published.
    weights : float array (rows,), optional
        The sampling weight of each row, where the dataset has some; for the evaluator alone.
    apart : DataFrame, optional
        Beside `people`, the rows' own values of the attributes that are published by bucket; for the evaluator alone.
    times : integer array (rows,), optional
        How many records each row is of, where it was made of `Counted` ones. Nobody gets such a release: it is graded,
        and written with each row as often.
    """

    HINT: ClassVar[str] = "KMember(10).sanitize(dataset) gives one, and so does `.release` of a sanitized table."
    if TYPE_CHECKING:
        table: pd.DataFrame
    else:
        table: pd.DataFrame = WrittenOut()  # no default, but how it is kept
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

    def __getstate__(self) -> dict[str, Any]:  # what is written out again is not sent to other processes
        return {name: value for name, value in vars(self).items() if name != "table"}

    def __repr__(self) -> str:  # never the rows: a notebook keeps what it shows; see `show`
        return f"Release({len(self)} rows of {self.provenance.dataset} by {self.provenance.sanitizer})"

    @cached_property
    def columns(self) -> Mapping[str, Treatment]:
        """How each published column was treated: `{name: Treatment}`; where nothing is stated, cells are labels."""
        unstated = {name: Treatment("generalized") for name in self.schema.published}
        return unstated | dict(self.provenance.columns)

    def treated(self, *kinds: str) -> tuple[str, ...]:
        """The names of the published columns that were treated in one of these ways: see `treatment.KINDS`."""
        return treated(self.columns, *kinds)

    @property
    def known_neutral(self) -> list[str]:
        """Names of the neutral columns that an adversary may know and whose published cells are true."""
        true = self.treated(*TRUE)
        names = (name for name in self.schema.names(Role.NEUTRAL) if name in true and name in self.cells)
        return [name for name in names if self.schema[name].knowable]

    def with_known(self, names: Collection[str]) -> Release:
        """The same release, in which an adversary knows the neutral columns `names` as the quasi-identifiers."""
        if not names:
            return self
        flat = {name: hierarchy.flat(self.schema[name]) for name in names}
        return replace(self, schema=self.schema.with_known(names), hierarchies={**flat, **self.hierarchies})

    @property
    def generalized(self) -> Any:
        """Whether every row is a record's, and every cell its value, a label that covers it, or `*`."""
        return len(self.treated(*TRUE)) == len(self.columns)

    def originals(self, dataset: Any) -> Any:
        """The records of `dataset` that the rows are of, row by row: a Dataset, the same one if they are all.

        Raises Unreadable for rows that are nobody's, and ValueError for one of another length.
        """
        if self.provenance.rows is Rows.NOBODY:
            raise Unreadable(
                f"the rows of {self.provenance.sanitizer} are nobody's: none has a record to compare with."
            )
        if self.records is not None:
            return replace(dataset, table=dataset.cells.iloc[self.records])
        if len(dataset) != len(self):
            raise UsageError(
                f"{self!r} is not of {dataset!r}, row by row. Give the dataset that the release was made of."
            )
        return dataset

    @property
    def equivalence_classes(self) -> IntArray:
        """Which records have equal quasi-identifiers *as released*: a number from 0 for each set, integer array (n,).

        Clusters that are released alike are one set, for nobody can tell them apart.
        """
        return self._alike[0]

    @cached_property
    def people_alike(self) -> IntArray:
        """How many people are in each of `equivalence_classes`, each once in every one that they have a row in: integer
        array (sets,).
        """
        return people_in(self.equivalence_classes, self.people, times=self.times)

    @cached_property
    def population_alike(self) -> Array | None:
        """How many people of the population are expected in each of `equivalence_classes`: the sum of the weights of
        its members, of each the largest where they have several records: float array (sets,). None without weights.
        """
        if self.weights is None:
            return None
        groups, weights = self.equivalence_classes, self.weights
        if self.people is not None:
            first, index = distinct_codes([groups, self.people], [groups.max() + 1, self.people.max() + 1])
            groups, weights = groups[first], most_of_people(weights, index)
        return np.bincount(groups, weights)

    @property
    def record_count(self) -> int:
        """How many records the rows are of: int."""
        return len(self) if self.times is None else int(self.times.sum())

    @cached_property
    def headcount(self) -> int:
        """How many people the rows are of: int."""
        return self.people_among(np.ones(len(self), dtype=bool))

    def people_among(self, rows: Array) -> int:
        """How many people have one of these rows, boolean array (rows,): int."""
        return people_among(rows, self.people, self.times)

    @property
    def labels_alike(self) -> dict[str, tuple[IntArray, Array]]:
        """How the sets of `equivalence_classes` of records are labelled, by quasi-identifier: which label each set has,
        integer array (sets,), and the labels that these numbers stand for, array (labels,).
        """
        return self._alike[1]

    def coded(self, name: str) -> tuple[IntArray, Array]:
        """What `Attribute.coded` gives of a published column, which is read once."""
        if name not in self._coded:
            read = self.schema[name].coded if name in self.columns else coded  # "bucket" is a number of no attribute
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
        first, index = distinct_codes([codes for codes, _ in every], [len(values) for _, values in every])
        index.flags.writeable = False
        return index, {name: (codes[first], values) for name, (codes, values) in columns.items()}

    @cached_property
    def classes(self) -> IntArray | None:
        """The class of each record, integer array (n,) from 0, or None where a release has none: see `without_classes`.

        Of whom in a class a sensitive value is, the release does not say. The classes are the `equivalence_classes`; of
        a bucketized release they are the buckets.
        """
        if self.without_classes:
            return None
        return self.equivalence_classes if self.buckets is None else self.cells["bucket"].to_numpy()

    @property
    def defined_classes(self) -> IntArray:
        """The `classes` of a release that has some. Raises Unreadable for another one."""
        if self.classes is None:
            raise Unreadable(f"classes are not defined for {self.provenance.sanitizer}: {self.without_classes}.")
        return self.classes

    @cached_property
    def groups(self) -> IntArray | None:
        """The group of each record, integer array (n,) from 0, or None where a release has none: the `classes`, or of
        averages that keep a k the rows that are alike.

        Whose group somebody's is, averages do not say for sure; what it tells, it tells to whoever finds it.
        """
        made = self.provenance
        averaged = made.claims and made.rows is not Rows.NOBODY and not self.treated("noisy", "synthetic")
        return self.equivalence_classes if self.classes is None and averaged else self.classes

    @property
    def without_classes(self) -> str:
        """Why nobody's class can be looked up in the release, in words; empty where it can."""
        if self.provenance.rows is Rows.NOBODY:
            return "its rows are nobody's, so nobody has a class"
        if noisy := self.treated("noisy"):
            return f"noise in {', '.join(noisy)} leaves no equivalence classes"
        if moved := self.treated("perturbed", "synthetic"):
            return f"values of {', '.join(moved)} were changed by no known law, so nobody's class can be looked up"
        return ""

    def check_classes(self, what: str) -> None:
        """Raise Unreadable, saying that `what` is not defined, for a release without classes."""
        if reason := self.without_classes:
            raise Unreadable(
                f"{what} not defined for {self.provenance.sanitizer}: {reason}. Attack the release with a miner "
                "instead."
            )

    def by_class(self, name: str) -> tuple[Any, Any]:
        """What is published of an attribute by class: the class, or of averages the one of `groups`, and the value of n
        records, two arrays (n,).

        In the dataset's order, unless a bucketized release has the attribute by bucket only: then in that of the
        buckets, which does not say whose a value is. Raises SchemaError for an attribute that is not published.
        """
        self.schema[name]
        if name in self.cells:
            return self.groups, self.cells[name].array
        held = self._in_buckets(name)
        return np.repeat(held["bucket"].to_numpy(), held["count"]), np.repeat(held["value"].to_numpy(), held["count"])

    def _in_buckets(self, name: str) -> pd.DataFrame:
        """Return the rows of `buckets` that are of an attribute."""
        if self.buckets is None:
            raise SchemaError(f"{self!r} has no '{name}'.")
        return self.buckets[self.buckets["attribute"] == name]

    def of_people(self, name: str) -> tuple[Any, Any, Any]:
        """As `by_class`, and beside the class and the value whose they are: integer array (n,), or None where each row
        is another person's. For the evaluator alone.
        """
        if self.people is None or name in self.cells:
            return *self.by_class(name), self.people
        return self.classes, cast("pd.DataFrame", self.apart)[name].to_numpy(), self.people

    def counted(self, name: str) -> tuple[Any, Any, Any, Any]:
        """What `of_people` gives, and how often each entry stands, integer array, or None where it is once: fewer
        entries where the release holds counts.
        """
        self.schema[name]
        if name in self.cells or self.people is not None:
            return *self.of_people(name), self.times
        held = self._in_buckets(name)
        return held["bucket"].to_numpy(), held["value"].to_numpy(), None, held["count"].to_numpy()

    @cached_property
    def _hidden(self) -> BoolArray:
        """Which set of `equivalence_classes` has `*` as every quasi-identifier: boolean array (sets,)."""
        names = self.schema.quasi_identifiers
        if not names or set(names) - set(self.treated("generalized", "suppressed")):
            return np.zeros(len(self.people_alike), dtype=bool)
        hidden = [(labels == SUPPRESSED)[of_sets] for of_sets, labels in self.labels_alike.values()]
        return np.logical_and.reduce(hidden)

    @property
    def suppressed(self) -> int:
        """Number of records whose quasi-identifiers are all `*`."""
        return int(np.bincount(self.equivalence_classes, self.times)[self._hidden].sum())

    @property
    def suppressed_people(self) -> int:
        """Number of people who have a record that is suppressed, and whom its number tells of."""
        return int(self.people_alike[self._hidden].sum())

    @property
    def labelled(self) -> list[str]:
        """Names of the quasi-identifiers whose cells are labels of their hierarchies, be it of a single value."""
        if self.buckets is not None:
            return []
        labels = self.treated(*(TRUE if self.provenance.claims else TRUE[1:]))
        return [name for name in self.schema.quasi_identifiers if name in labels]

    def widened(self, names: Iterable[str]) -> Release:
        """The same release, in which no label of the attributes `names` ends at a value that few people share: such
        ends are moved outwards, see `Ranges` and `Ordered`.

        Classes may join, but none is divided; labels may overlap.
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
        """What is published, each row once, sorted by what it holds.

        Parameters
        ----------
        names : list of str, optional
            Of the columns of `cells` that count; None: all.

        Returns
        -------
        columns : dict of str to (integer array (m,), array)
            By name which of the values each row has, and the values.
        times : integer array (m,)
            How often each row is published.
        place : integer array (rows,)
            Which of them each row of `cells` is.
        """
        columns = {name: coded(self.cells[name]) for name in (self.cells if names is None else names)}
        first, place = distinct_codes([codes for codes, _ in columns.values()], [len(v) for _, v in columns.values()])
        rows = {name: (codes[first], values) for name, (codes, values) in columns.items()}
        return rows, people_in(place, times=self.times), place

    def _check_records(self) -> None:
        if self.times is not None:
            raise Unreadable(f"{self!r} is of combinations and their counts, which are written to a file, row by row.")

    def publish(self) -> tuple[Published, IntArray | None]:
        """The attacker's view and, apart from it, the key: for each published row the record that it came from, or None
        where the rows are nobody's.

        The order of the rows and the buckets' numbers are drawn from the operating system, which nobody can repeat:
        with a seed, two releases of the same people could be put side by side. The key is the evaluator's alone.
        """
        self._check_records()
        key, buckets = _drawn(len(self)), self.buckets
        table = self.cells.iloc[key]
        if buckets is not None:
            numbers = _drawn(int(buckets["bucket"].max()) + 1)
            table, buckets = (each.assign(bucket=numbers[each["bucket"]]) for each in (table, buckets))
            buckets = by_content(buckets)
        return self._handed_out(table, buckets), self._records(key)

    def _published(self, rng: Any) -> tuple[Published, IntArray | None]:
        """As `publish`, for evaluations alone: rows in an order that the seed repeats, buckets as they are numbered."""
        self._check_records()
        key = np.random.default_rng(rng).permutation(len(self))
        return self._handed_out(self.cells.iloc[key], self.buckets), self._records(key)

    def _records(self, key: IntArray) -> IntArray | None:
        if self.provenance.rows is Rows.NOBODY:
            return None
        return key if self.records is None else self.records[key]

    def _handed_out(self, table: pd.DataFrame, buckets: pd.DataFrame | None) -> Published:
        return Published(_cells(table), self.schema, self.hierarchies, self.columns, buckets)

    @property
    def has_unprotected_rows(self) -> bool:
        """Whether some row is one person's own record, with or without noise, because nothing generalizes it."""
        hidden = self.schema.quasi_identifiers and self.suppressed == self.record_count
        if self.buckets is not None or not (self.provenance.claims or hidden):
            return True
        return not hidden and self.people_alike.min() < 2

    @validated
    def show(self, rows: int = 12, *, rng: Randomness = 0, fewest: MinCount = LIMIT) -> pd.DataFrame:
        """A random dozen of released rows to look at: quasi-identifiers that `fewest` people share.

        Other attributes are published as they are and would single out people beside them, so they are left out. No
        label ends at a value that few people share, even where a study keeps such ends, see `widened`.

        Parameters
        ----------
        rows : int
            0 to 12.
        rng : int, Generator or None
            Draws among the rows as sorted by what they show: whoever knows the seed does not know whose they are.
        fewest : int
            Rows that fewer people share are not shown: one of them would be a person's own.

        Returns
        -------
        DataFrame
            Empty where no rows are shared by so many.

        Raises
        ------
        ValueError
            For a release that `has_unprotected_rows`, and for more rows.
        """
        if not 0 <= rows <= 12:
            raise UsageError(f"a report shows at most 12 released rows, got rows={expect.found(rows)}.")
        self._check_records()
        names = self.schema.quasi_identifiers
        if self.has_unprotected_rows:
            raise UsageError(
                f"rows of {self.provenance.sanitizer} are not shown: nothing generalizes them, so each is one person's "
                "own record. Show counts instead."
            )
        public = self.widened(self.labelled)
        alike = public.equivalence_classes  # numbered as sorted by what they show
        order = stable_order(alike)
        order = order[public.people_alike[alike[order]] >= fewest]
        shown = np.random.default_rng(rng).choice(len(order), min(rows, len(order)), replace=False)
        return _cells(public.cells[names].iloc[order[shown]])


def by_content(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of a DataFrame sorted by what they hold, from the first column on: their order then tells nothing else.

    >>> by_content(pd.DataFrame({"ward": ["b", "a"], "people": [2, 1]}))["people"].tolist()
    [1, 2]
    """
    cells = _cells(table)
    return cells.iloc[stable_order(combinations(cells).index)].reset_index(drop=True)


def _cells(table: pd.DataFrame) -> pd.DataFrame:
    """A table's cells and nothing else: no index, no attributes or names of pandas' own, no categories, which may stand
    in the order of the records, or name a value that nobody has any more.
    """
    return pd.DataFrame({name: plain(column).array for name, column in table.items()})


def _drawn(size: int) -> IntArray:
    """The numbers from 0 to `size` - 1 in an order that nobody can repeat.

    From the operating system, not from a generator: known rows could give away its state, and so where the others went.
    """
    return np.argsort(np.frombuffer(os.urandom(8 * size), dtype=np.uint64), kind="stable")
