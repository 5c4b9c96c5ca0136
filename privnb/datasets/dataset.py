"""Original microdata that conform to a schema: how they are loaded, checked, sampled and split.

The folder `data/<name>/` contains a dataset: its data files, the description `<name>.toml` (columns, roles, public
domains, source, licence, checksums, studies) and the hierarchies, `hierarchies/<set>/<attribute>.csv`. A *study* is a
named choice of columns with their roles and hierarchies, so that one table can serve several papers.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import html
import os
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np

from privnb.datasets import description
from privnb.datasets.outside import Outside, OutsideValues, find_outside
from privnb.datasets.roles import Roles as OwnerRoles
from privnb.microdata import hierarchy
from privnb.microdata.columns import assign_columns, make_categorical, map_values
from privnb.microdata.hierarchy import taxonomies
from privnb.microdata.hierarchy.categories import list_values
from privnb.microdata.hierarchy.generalization import Generalization
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema, SchemaError, check_name
from privnb.runtime import expect, progress, validation
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.errors import MissingFileError, UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.names import escape_invisible, suggest
from privnb.runtime.notices import Notice
from privnb.runtime.sentences import Sentences, say, table_html
from privnb.runtime.validation import Randomness, at_least, between, instead, optional, validated
from privnb.tables import reading, text_files
from privnb.tables.derivation import Derivation, DerivedColumns
from privnb.tables.notation import Notation, add_decimal_tails

# The keys of a column in a description that are also fields of an attribute.
STATED = ("unit", "form_of", "cannot_be_known", "harmless", "public_distribution")

Text = Mapping[str, Any]  # a description or a part of it
Marks = dict[str, tuple[str, ...]]  # the marks of a missing value, by column
Days = tuple[str, list[str]]  # the form of days, and the values that are not days
Rows = TypeVar("Rows", bound=Microdata)
Made = TypeVar("Made")
Study = Annotated[
    str | None,
    lambda name, value: expect.kind(name, value, str, type(None), instead="Name a study of the description."),
]
Records = Annotated[int | None, optional(at_least(0))]  # None or 0 means all records
Portion = Annotated[float, between(0, 1, "both parts need records")]
Folder = Annotated[str | os.PathLike[str] | None, optional(expect.path)]
Source = Annotated[
    str | os.PathLike[str],
    lambda name, value: expect.kind(
        name, value, str, os.PathLike, instead='Give the name of the loaded dataset, or "".'
    ),
]
Roles = Annotated[Mapping[str, Role] | None, optional(instead(Mapping, 'Give { "ward": Role.UNUSED }.'))]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Microdata):
    """Original microdata with one row per record, which are checked against their schema when the object is created.

    If the schema names the key of the person or household (`Role.PERSON`), several records may belong to one person,
    and counts of people count each person once. Without a key, each record counts as a person.

    Parameters
    ----------
    name : str
    table : DataFrame
        The n records, with the columns of the schema. The columns are put into the order of the schema, and the index
        is replaced by 0 to n - 1. A missing number is NaN. The table is stored as `cells`; reading `table` decodes
        every cell, which takes 8 bytes per cell.
    schema : Schema
    hierarchies : dict of str to Generalization
        The hierarchy of each quasi-identifier; see `hierarchy`.
    notes : tuple of Notice
        The notices about values outside their domains; releases of the dataset repeat these notices.
    renamed : dict of str to str
        The names of columns by their names in the files of the description, if these differ.

    Attributes
    ----------
    cells : DataFrame
        The table as coded columns; see the module `columns`. Functions that count records use `cells` instead of
        `table`.
    codes : dict of str to integer array (n,)
        For each quasi-identifier, the position of the value of each record on the line of the hierarchy.
    people : integer array (n,)
        The number of the person of each record, from 0; None if the schema has no key of people.
    weights : float array (n,)
        The number of people of the population that each record represents, above 0; None if the schema has no sampling
        weights.
    shared : dict of str to integer array
        For each quasi-identifier, the ascending positions of the values that at least `withholding.LIMIT` people share.
        Published labels may end at these values.
    """

    HINT: ClassVar[str] = "Load one: load(name), or use `.dataset` of a table."
    notes: tuple[Notice, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:  # never the records: a notebook keeps what it shows
        return f"Dataset('{self.name}', {len(self)} records, {len(self.schema.attributes)} attributes)"

    def _repr_html_(self) -> str:
        of = "" if self.people is None else f" of {self.headcount:,} people"
        text = f"{self.name}: {len(self):,} records{of}, attributes: {len(self.schema.attributes)}"
        return escape_invisible(f"<p>{html.escape(text)}</p>") + table_html(self.schema.described())

    def with_known(self, names: Collection[str]) -> Dataset:
        """Return the dataset in which the neutral columns `names`, which an adversary knows, are quasi-identifiers."""
        if not names:
            return self
        flat = {name: hierarchy.flat(self.schema[name]) for name in names}
        return replace(
            self, table=self.cells, schema=self.schema.with_known(names), hierarchies={**self.hierarchies, **flat}
        )

    @validated
    def sample(self, records: int, *, rng: Randomness) -> Dataset:
        """Return a random sample of `records` records without replacement, in file order.

        The name of the sample states the number of its records. If the schema has a key of people, the method samples
        people and keeps all records of each sampled person, because a table with only some records of each person would
        be a different kind of table.

        Parameters
        ----------
        records : int
            A number from 2 to n. If the schema has a key of people, the sample has at most this number of records.
        rng : int, Generator or None

        Returns
        -------
        Dataset
            The sample, or the dataset itself if `records` is n.
        """
        if not 2 <= records <= len(self):
            raise UsageError(f"`records` must be from 2 to {len(self)} (all of '{self.name}'); got {records}.")
        if records == len(self):
            return self
        generator = np.random.default_rng(rng)
        if self.people is None:
            rows = np.sort(generator.choice(len(self), records, replace=False))
        else:
            order = generator.permutation(self.headcount)
            ends = np.cumsum(np.bincount(self.people)[order])
            rows = np.flatnonzero(np.isin(self.people, order[: max(np.searchsorted(ends, records, side="right"), 1)]))
        return self.select_records(rows)

    @validated
    def split(self, share: Portion, *, rng: Randomness) -> tuple[Dataset, Dataset]:
        """Return two disjoint random parts of the dataset; no person is in both parts.

        Parameters
        ----------
        share : float
            The share of records in the first part, above 0 and below 1.
        rng : int, Generator or None

        Returns
        -------
        tuple of two Dataset
        """
        first = np.random.default_rng(rng).permutation(self.headcount) < round(share * self.headcount)
        first = first if self.people is None else first[self.people]
        return self.select_records(first), self.select_records(~first)

    def select_records(self, rows: IntArray | BoolArray) -> Dataset:
        """Return the dataset with some of the records; its name states the number of these records."""
        cells = self.cells.iloc[rows]
        return replace(self, name=f"{self.name} ({len(cells)} records)", table=cells)


@validated
def load(
    name: validation.Path,
    study: Study = None,
    *,
    records: Records = None,
    rng: Randomness = 0,
    folder: Folder = None,
    roles: Roles = None,
    outside: Outside = "refuse",
) -> Dataset:
    """Load the dataset in `data/<name>/`, or that of the description file at `name`, with the roles of `study`.

    The numbers of sensitive attributes are replaced by bands; see `Dataset.in_bands`.

    Parameters
    ----------
    name : str or path-like
    study : str, optional
        The name of the study. By default, it is the `default_study` of the description. If the description has no
        default study, the columns have the roles that their own entries state.
    records : int, optional
        The size of a random sample; None or 0 means all records.
    rng : int, Generator or None
        The source of the random sample.
    folder : path-like, optional
        The folder that contains the datasets. By default, it is the nearest folder `data/` in the current folder or a
        parent folder that contains the dataset or, if there is none, the folder `data/` of privnb.
    roles : dict of str to Role, optional
        Roles that replace those of the study for some columns.
    outside : str
        The treatment of values outside a described domain. "refuse" raises an error. "missing" treats such values as
        missing if the domain has a mark of missing values. "widen" widens the domain to include such values; the
        promises of sanitizers that add noise then do not hold. The dataset and its releases report the number of
        records with such values.

    Returns
    -------
    Dataset

    Raises
    ------
    SchemaError
        For a file with a wrong checksum, for an invalid column, value or hierarchy, for an unknown study, and for a
        description that is still a draft.
    FileNotFoundError
        If the description or a data file does not exist.
    """
    with progress.step("loading the table"):
        if outside != "refuse":
            whole = load_described(find_description(name, folder), study, roles=roles, outside=outside)
            return whole.sample(records, rng=rng) if records else whole
        return _loaded(find_description(name, folder), study, records, rng, roles)


@contextlib.contextmanager
def load_once(*folders: Path) -> Iterator[None]:
    """Load each table only once per study and sample inside the `with` statement, and then discard all tables.

    Parameters
    ----------
    *folders : Path
        The folders of the tables that are loaded once, such as `data/`. If no folder is given, all tables are loaded
        once.
    """
    global _loaded
    before = _loaded

    @functools.cache
    def once(path: Path, study: str | None, records: int | None, rng: Randomness) -> Dataset:
        return before(path, study, records, rng, None)

    def lent(path: Path, study: str | None, records: int | None, rng: Randomness, roles: Roles) -> Dataset:
        if roles is not None or not isinstance(rng, int) or (folders and path.parent.parent not in folders):
            return before(path, study, records, rng, roles)
        return once(path, study, records, rng).lent()

    _loaded = lent
    try:
        yield
    finally:
        _loaded = before


@validated
def load_schema(name: validation.Path, study: Study = None, *, folder: Folder = None) -> Schema:
    """Return the schema of a dataset with the roles of `study`, and read only the description.

    Parameters
    ----------
    name : str or path-like
    study : str, optional
    folder : path-like, optional
        See `load`.

    Returns
    -------
    Schema
        The schema that the dataset from `load` has, but without bands for sensitive numbers.

    Raises
    ------
    SchemaError
        For an unknown study, and for a description that is still a draft.
    FileNotFoundError
        If the description does not exist.
    """
    return DatasetDescription.of(find_description(name, folder), study).schema


def _different(table: pd.DataFrame, name: str) -> tuple[pd.Series, IntArray]:
    """Return the distinct texts of a column, as a Categorical, and the number of records with each text."""
    column = table[name].cat.remove_unused_categories()
    times = np.bincount(column.cat.codes[column.notna()], minlength=len(column.cat.categories))
    return pd.Series(pd.Categorical(column.cat.categories, column.cat.categories)), times


class DatasetDescription(NamedTuple):
    """A description of a dataset, with the roles of a study.

    `text` is the content of the description, `study` is the name of the study or None, and `choice` is the content of
    the study. `schema` is the schema of the columns of the study, and `columns` is the schema of all described columns.
    If the domain of a column was widened, `widened` holds the described domain of the column; see `taking`.
    """

    path: Path
    text: Text
    study: str | None
    choice: Text
    schema: Schema
    columns: Schema
    widened: Mapping[str, Numbers | Categories] = MappingProxyType({})

    @classmethod
    def of(cls, path: Path, study: str | None, roles: Mapping[str, Role] | None = None) -> Self:
        """Return a description, read from a file, with the roles of a study.

        The method raises the same errors as `load`.
        """
        text = description.read_description(path)
        if text.get("draft"):
            raise SchemaError(_describe_draft(path, text))
        if doubt := text.get("format", {}).get("doubt"):
            raise SchemaError(
                f"{path.name}: the encoding {text['format']['encoding']!r} is a proposal. {doubt}. State an encoding "
                "to load the table."
            )
        return cls.of_text(path, text, study, roles)

    @classmethod
    def of_text(cls, path: Path, text: Text, study: str | None = None, roles: Mapping[str, Role] | None = None) -> Self:
        """Return the description with the content `text`, which need not be that of the file at `path`.

        The content may be that of a draft. The method raises the same errors as `load`.
        """
        mark = text.get("format", {}).get("missing", "")
        described = Schema(
            path.stem,
            tuple(_about(name, _attribute, path.parent, name, entry, mark) for name, entry in text["columns"].items()),
            text["dataset"].get("invented", False),
        )
        study = study or text["dataset"].get("default_study")
        choice = _study(path, text, study)
        chosen = described.with_roles(
            (_roles(choice) or {a.name: a.role for a in described.attributes}) | dict(roles or {}),
            choice.get("sensitivity", {}),
            choice.get("cannot_be_known", {}),
        )
        return cls(path, text, study, choice, chosen, described)

    @property
    def renamed(self) -> Mapping[str, str]:
        """The new name of each column whose name in the files differs, as `{name in the files: new name}`."""
        return self.text.get("renamed", {})

    @property
    def derived(self) -> DerivedColumns:
        """The derived columns, which are computed from columns of the files."""
        return read_derived(self.text)

    def marks_where(self, records: str) -> Marks | None:
        """Return the marks of missing values by column if `records` is how the description treats missing values.

        `records` is "drop" or "refuse", a value of the key `records_with_missing`. For any other treatment, the result
        is None.
        """
        return missing_marks(self.text) if self.text.get("format", {}).get("records_with_missing") == records else None

    @property
    def _recoding(self) -> Mapping[str, Any]:
        """The recoding that the study states for some quasi-identifiers."""
        recoding: Mapping[str, Any] = self.choice.get("recoding", {})
        return recoding

    def hierarchy_file(self, name: str) -> Path:
        """Return the path of a column's hierarchy file, even if there is no such file."""
        folder = self.path.parent / "hierarchies" / self.choice.get("hierarchies", "default")
        return description.resolve_inside(folder, f"{name}.csv")

    def _days(self, name: str) -> Days | None:
        """Return the format of the days of a column and the column's marks of missing values.

        The result is None if the description states no format.
        """
        form, domain = self.text["columns"][name].get("days"), self.columns[name].domain
        marks = [self.text.get("format", {}).get("missing", "")]
        return form and (form, [mark for mark in marks if mark in getattr(domain, "values", ())])

    def with_one_mark(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Return the columns as Categoricals of texts, in which all marks of missing values are replaced by one mark.

        This mark is the mark that labels contain.
        """
        known = {name: marked for name, marked in missing_marks(self.text).items() if name in cells}
        return assign_columns(
            cells, {n: _read(cells[n], marked, marked[0], Notation.of({})) for n, marked in known.items()}
        )

    def taking(
        self, outside: Outside, names: Iterable[str], values: Callable[[str], tuple[pd.Series, IntArray]]
    ) -> tuple[DatasetDescription, list[OutsideValues]]:
        """Return the description with wider domains, or with values outside the domains listed as missing values.

        Parameters
        ----------
        outside : str
            The treatment; see `load`. With "refuse", nothing changes, because the check of the table raises an error
            for values outside the domains.
        names : iterable of str
            The columns to check.
        values : function
            A function that returns the distinct texts of a column, as a Categorical with one entry for each text, and
            the number of records with each text.

        Returns
        -------
        chosen : DatasetDescription found : list of OutsideValues
            The values outside their domains, and the treatment of these values.
        """
        form = self.text.get("format", {})
        kept = {**self.text, "format": {**form, "records_with_missing": "keep"}}
        own, all_found = {name: dict(entry) for name, entry in self.text["columns"].items()}, []
        weights = columns_in_role(self.text, Role.WEIGHT)
        for name in [] if outside == "refuse" else [each for each in names if each not in weights]:
            attribute = self.columns[name]
            if attribute.domain is None:
                continue
            column, times = values(name)
            texts = column.astype(object).where(column.notna(), "").tolist()
            cells = _cleaned(kept, pd.DataFrame({name: column}))[name]
            if isinstance(attribute.domain, Numbers):
                cells = attribute.domain.rounded(cells)
            else:
                cells = _listed(cells, attribute.domain, Notation.of(form))
            mark, has_tree = form.get("missing", ""), self.hierarchy_file(name).is_file() and name not in self._recoding
            if each := find_outside(attribute, texts, cells, times, mark, outside, has_tree=has_tree):
                all_found.append(each)
                if each.domain is None:
                    own[name]["missing"] = [*own[name].get("missing", ()), *each.texts]
        wider = {each.column: each.domain for each in all_found if each.domain is not None}
        columns, schema = (_with_domains(each, wider) for each in (self.columns, self.schema))
        before = {each.column: each.before for each in all_found if each.domain is not None}
        text = {**self.text, "columns": own}
        return self._replace(text=text, columns=columns, schema=schema, widened=before), all_found

    def cleaned(
        self, table: pd.DataFrame, names: Collection[str] | None = None, times: pd.Series | None = None
    ) -> pd.DataFrame:
        """Return records from files with missing values and numbers in the form that the description states.

        `table` holds the records as Categoricals of texts. Raises SchemaError for values outside their domains. Records
        that are not dropped keep their index. `names` lists the columns that `table` must have. By default, `table`
        must have all described columns, including columns that the study omits. For `times`, see `Schema.check`.
        """
        return self.checked(_cleaned(self.text, table), names, times)

    def checked(
        self, table: pd.DataFrame, names: Collection[str] | None = None, times: pd.Series | None = None
    ) -> pd.DataFrame:
        """Return `table`, a result of `_cleaned`, with rounded numbers.

        Raises SchemaError for values outside their domains.
        """
        weights = columns_in_role(self.text, Role.WEIGHT)  # weights are not rounded to the steps of a domain
        domains = {each.name: each.domain for each in self.columns.attributes if each.name in table}
        numeric = {name: domain for name, domain in domains.items() if isinstance(domain, Numbers)}
        rounded = {name: own.rounded(table[name]) for name, own in numeric.items() if name not in weights}
        table = assign_columns(table, rounded)
        notation = Notation.of(self.text.get("format", {}))
        listed = {name: domain for name, domain in domains.items() if isinstance(domain, Categories)}
        table = assign_columns(table, {name: _listed(table[name], own, notation) for name, own in listed.items()})
        # The number of records is checked for the whole table; these records may be only a part.
        self._of(self.columns, names).check(table, least=0, times=times)
        return table

    def made(self, kind: type[Rows], table: pd.DataFrame, names: Collection[str] | None = None, **more: Any) -> Rows:
        """Return the microdata of a `cleaned` table as an object of the class `kind`.

        `kind` is `Dataset` or `CombinationTable`, and `more` holds further arguments of this class.
        """
        schema, recoding, before = self._of(self.schema, names), self._recoding, self.widened
        for name in recoding:
            self.schema[name]  # raises SchemaError for an unknown name
        chosen_set = self.choice.get("hierarchies", "default")
        hierarchies = {
            name: _about(
                name, _hierarchy, self.path, schema[name], chosen_set, recoding, self._days(name), before.get(name)
            )
            for name in schema.quasi_identifiers
        }
        if self.choice.get("ends") == "exact":  # published studies use exact ends
            hierarchies = {name: hierarchy.keep_exact_ends(own) for name, own in hierarchies.items()}
        name = f"{self.path.stem}/{self.study}" if self.study else self.path.stem
        return kind(name, table[schema.names()], schema, hierarchies, **more).in_bands(*schema.sensitive)

    def load(self, cells: pd.DataFrame) -> Dataset:
        """Return the dataset of this description; `cells` is a result of `read_cells`."""
        return self.made(Dataset, self.checked(_cleaned(self.text, cells)), renamed=self.renamed)

    def hierarchy(self, name: str) -> Generalization:
        """Return the hierarchy of a column with a domain, as `load` would read it."""
        chosen_set, attribute = self.choice.get("hierarchies", "default"), self.columns[name]
        return _about(name, _hierarchy, self.path, attribute, chosen_set, self._recoding, self._days(name))

    def _of(self, schema: Schema, names: Collection[str] | None) -> Schema:
        """Return the schema of the columns `names`, or of all columns if `names` is None."""
        attributes = (each for each in schema.attributes if names is None or each.name in names)
        return replace(schema, attributes=tuple(attributes))


def _load(path: Path, study: str | None, records: int | None, rng: Randomness, roles: Roles = None) -> Dataset:
    if records:
        return _loaded(path, study, None, 0, roles).sample(records, rng=rng)
    return load_described(path, study, roles=roles)


_loaded: Callable[[Path, str | None, int | None, Randomness, Roles], Dataset] = _load  # see `load_once`


def load_described(
    path: Path,
    study: str | None = None,
    table: pd.DataFrame | None = None,
    roles: Mapping[str, Role] | None = None,
    outside: Outside = "refuse",
) -> Dataset:
    """Return the dataset of a description; `table` holds the records of the files if they have already been read."""
    chosen, all_found = DatasetDescription.of(path, study, roles), list[OutsideValues]()
    if outside != "refuse":
        table = read_cells(path.parent, chosen.text, table)
        chosen, all_found = chosen.taking(outside, [*table], partial(_different, table))
    records = chosen.checked(_read_files(path.parent, chosen.text, table))
    made = chosen.made(Dataset, records, renamed=chosen.renamed)
    return replace(made, table=made.cells, notes=tuple(each.notice for each in all_found)) if all_found else made


@validated
def load_studies(
    name: validation.Path, *, records: Records = None, rng: Randomness = 0, folder: Folder = None
) -> list[Dataset]:
    """Load the dataset once for each of its studies, with the roles of the study.

    If the description has no studies, load the dataset once, with the roles of the columns' own entries.

    Parameters
    ----------
    name : str or path-like
    records : int, optional
    rng : int, Generator or None
    folder : path-like, optional
        See `load`.

    Returns
    -------
    list of Dataset
    """
    names = description.read_description(find_description(name, folder)).get("studies", [None])
    return [load(name, study, records=records, rng=rng, folder=folder) for study in names]


def describe_proposed_domains(name: validation.Path) -> Sentences | None:
    """Return the result of `description.describe_unconfirmed` for a dataset; None if the result is empty.

    `name` has the same meaning as in `load`.
    """
    text = description.describe_unconfirmed(find_description(name).read_text(encoding="utf-8"))
    return say(text) if text else None


@validated
def find_description(name: validation.Path, folder: Folder = None) -> Path:
    """Return the path of the description file of a dataset.

    Parameters
    ----------
    name : str or path-like
        A path to a `.toml` file, or the name of a folder in `data/`.
    folder : path-like, optional
        See `load`.

    Returns
    -------
    Path

    Raises
    ------
    FileNotFoundError
        If there is no such file; the error lists the datasets that exist.
    """
    if str(name).endswith(".toml"):
        roots, candidates = [], [Path(name)]
    else:
        roots = [Path(folder)] if folder else _roots()
        candidates = [root / name / f"{name}.toml" for root in roots]
        # A renamed folder may hold a single description that still has the former name.
        held = [[*(root / name).glob("*.toml")] for root in roots if Path(name).name == str(name) != ".."]
        candidates += [path for paths in held if len(paths) == 1 for path in paths]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    known = sorted({path.parent.name for root in roots for path in root.glob("*/*.toml")})
    if Path(name).is_file():
        raise MissingFileError(
            f"'{name}' is a file of records and not a description.{suggest([Path(name).stem], known)} "
            f"The known datasets are: {', '.join(known) or 'none'}. Draft a description with `privnb describe FILE`."
        )
    if Path(name).suffix not in ("", ".toml"):
        raise MissingFileError(
            f"there is no file or dataset '{name}'.{suggest([Path(name).stem], known)} The known datasets are: "
            f"{', '.join(known) or 'none'}."
        )
    raise MissingFileError(
        f"there is no dataset '{name}': {candidates[0].name} was not found in data/ here or above."
        f"{suggest([name], known)} The known datasets are: {', '.join(known) or 'none'}. Draft a description with "
        f"`privnb describe FILE`."
    )


def _describe_draft(path: Path, text: Text) -> str:
    """Return the error message for a draft: the facts that are missing, and the command that confirms the draft."""
    chosen = {name: Role(entry["role"]) for name, entry in text["columns"].items() if entry["role"] in [*Role]}
    roles = OwnerRoles(chosen, chosen)
    facts = "".join(f" {sentence}" for sentence in roles.lacks)
    sensitive = "" if roles.names(Role.SENSITIVE) else " --sensitive COLUMN"
    name = path.stem if path.resolve() in [each.resolve() for each in list_datasets()] else str(path)
    return (
        f"{path.name} is a draft: its roles and domains are not confirmed.{facts} Check the draft as its first lines "
        f"explain, then run `privnb describe {shlex.quote(name)}{sensitive} --confirm`, or delete the line "
        "'draft = true'."
    )


def _roots() -> list[Path]:
    """Return the folders in which datasets are searched, beginning with the nearest folder."""
    here = Path.cwd()
    return [here / "data", *(parent / "data" for parent in here.parents), PROJECT / "data"]


def list_datasets() -> list[Path]:
    """Return the description files that `find_description` finds by name, in alphabetical order."""
    found: dict[str, Path] = {}
    for path in (path for root in _roots() for path in sorted(root.glob("*/*.toml"))):
        if path.stem == path.parent.name:
            found.setdefault(path.stem, path)
    return [found[name] for name in sorted(found)]


SHIPPED = Path(__file__).resolve().parents[1] / "shipped"  # the notebooks and data of an installed package
PROJECT = SHIPPED if SHIPPED.is_dir() else SHIPPED.parents[1]


def read_cells(folder: Path, text: Text, table: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return all records of the data files of a description, in file order, with the derived columns.

    The columns have the form that `reading.read_records` returns.
    If `table`, an earlier result, is given, only the checksums of the files are checked again. The function raises the
    same errors as `load`.
    """
    layout, names = text.get("format", {}), description.list_file_columns(text["columns"])
    files = list_data_files(folder, text)
    for entry, file in zip(text["files"], files, strict=True):
        found = description.checksum(file)
        progress.note_file(file.resolve(), found)
        check_checksum(entry, found)
    if table is not None:
        return table

    def part(entry: Mapping[str, Any], file: Path) -> pd.DataFrame:
        read, renamed = reading.read_records(file, text_files.Layout.of(layout | entry), names), text.get("renamed", {})
        reading.check_renamed(Path(entry["path"]), [*read], renamed)
        return read.rename(columns=renamed)

    with ThreadPoolExecutor(2) as two:  # the engine does half of its work on a file on one core
        parts = [*two.map(part, text["files"], files)]
    derived, cells = read_derived(text), reading.concatenate(files, parts)
    derived.check_names(cells, ", ".join(file.name for file in files))
    return derived.add(_corrected(text, cells))


def _corrected(text: Text, table: pd.DataFrame) -> pd.DataFrame:
    """Return records with the corrections of texts that the description states; a second time changes nothing."""
    corrections = description.read_corrections(text["columns"], missing_marks(text))
    own = {name: each.column(table[name]) for name, each in corrections.items() if name in table}
    return assign_columns(table, own) if own else table


def read_derived(text: Text) -> DerivedColumns:
    """Return the derived columns of a description."""
    return description.read_derived(text["columns"], missing_marks(text))


def list_data_files(folder: Path, text: Text) -> list[Path]:
    """Return the paths of the data files of a description in `folder`.

    The function raises the same errors as `load`.
    """
    files = []
    for entry in text["files"]:
        files.append(description.resolve_inside(folder, entry["path"]))
        if not files[-1].is_file():
            raise MissingFileError(
                f"{entry['path']} is described but does not exist. Put the file next to the description."
            )
        check_name("file", entry["path"])
    reading.check_different(files)
    return files


def check_checksum(entry: Mapping[str, Any], checksum: str) -> None:
    """Raise SchemaError for a file whose checksum differs from the checksum in the description.

    `entry` is the part of the description for the file, and `checksum` is the checksum of the actual file.
    """
    if checksum != entry.get("sha256", checksum):
        raise SchemaError(
            f"{entry['path']} is not the described file: its SHA-256 is {checksum}, not {entry['sha256']}. "
            "Restore the original, or correct the checksum if you changed the file on purpose."
        )


def _read_files(folder: Path, text: Text, table: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the records of the files of a description, read by `read_cells` and cleaned by `_cleaned`."""
    return _cleaned(text, read_cells(folder, text, table))


def _cleaned(text: Text, table: pd.DataFrame) -> pd.DataFrame:
    """Return records in the form that the description states, with coded columns.

    Numbers have decimal points, and missing values are written as marks.
    """
    layout, marked, table = text.get("format", {}), missing_marks(text), _corrected(text, table)
    mark, notation = layout.get("missing", ""), Notation.of(layout)
    numbers = {name for name, entry in text["columns"].items() if isinstance(entry.get("domain"), Mapping)}
    what = layout.get("records_with_missing", "keep")
    if what != "keep":
        lacking = {
            name: (_given(table[name].cat.categories, marked.get(name, [mark])) < 0)[table[name].cat.codes]
            for name in table
            if "derived" not in text["columns"].get(name, {})
        }
        some = np.logical_or.reduce([*lacking.values(), np.zeros(len(table), dtype=bool)])
        if what == "refuse" and some.any():
            where = [name for name, missing in lacking.items() if missing.any()]
            raise SchemaError(
                f"{some.sum()} of {len(table)} records have missing values, in {', '.join(where)}, and "
                'records_with_missing = "refuse". Fill in the missing values, or choose "keep" or "drop".'
            )
        table = table[~some]
    apart = {role: columns_in_role(text, role) for role in (Role.PERSON, Role.WEIGHT)}
    numbers |= apart[Role.WEIGHT]
    gaps = apart[Role.PERSON] | numbers
    # A missing value is a category with its mark. In keys of people and numbers, it is NaN.
    read = {}
    for name in table:
        missing, own = "" if name in gaps else mark, notation if name in numbers else Notation()
        read[name] = _read(table[name], marked.get(name, [mark]), missing, own)
    return pd.DataFrame(read, index=table.index)


def columns_in_role(text: Text, *roles: Role) -> set[str]:
    """Return the columns that have one of these roles in a description or in at least one of its studies.

    Parameters
    ----------
    text : dict
        The content of the description.
    *roles : Role
    """
    named = {name for name, entry in text["columns"].items() if entry["role"] in roles}
    return named.union(*(study.get(role, ()) for study in text.get("studies", {}).values() for role in roles))


def missing_marks(text: Text) -> Marks:
    """Return the texts that mark a missing value in each column, `{column: texts}`.

    The first text is the mark of the whole table, which labels contain.
    """
    mark = text.get("format", {}).get("missing", "")
    return {name: (mark, *add_decimal_tails(entry.get("missing", ()))) for name, entry in text["columns"].items()}


def _read(column: pd.Series, marked: Collection[str], missing: str, notation: Notation) -> pd.Series:
    """Return a Categorical of texts in which numbers in the `notation` are written as Python writes numbers.

    Empty cells and the texts in `marked` become `missing`, or NaN if `missing` is empty.
    """
    texts = column.cat.categories
    values = np.append(notation.plain(texts).to_numpy(object), missing or np.nan)
    each = make_categorical(_given(texts, marked) % len(values), values)  # for categories, then for each cell
    read = pd.Categorical.from_codes(each.codes[column.cat.codes], dtype=each.dtype)
    return pd.Series(read, column.index, name=column.name)


def _listed(column: pd.Series, domain: Categories, notation: Notation) -> pd.Series:
    """Return a Categorical in which texts such as `1067.0` are replaced by texts such as `1067`.

    A text is replaced only if it is not in the domain and the replacement is in the domain.
    """
    texts = pd.Series(column.cat.categories, dtype=object)
    plain = notation.without_tail(texts)
    spelled = (plain != texts) & ~texts.isin(domain.values) & plain.isin(domain.values)
    if not spelled.any():
        return column
    numbers = dict(zip(texts[spelled], plain[spelled], strict=True))
    return map_values(lambda own: own.replace(numbers).to_numpy(dtype=object), column)


def _given(texts: pd.Series, marked: Collection[str]) -> IntArray:
    """Return the position of each text, with -1 for texts that mark a missing value.

    One more entry, -1, at the end serves empty cells, whose code is -1.
    """
    return np.append(np.where(texts.isin(marked), -1, np.arange(len(texts))), -1)


def _about(column: str, make: Callable[..., Made], *given: Any) -> Made:
    """Return `make(*given)`; if this call raises a SchemaError, add the name of the column to the error."""
    try:
        return make(*given)
    except SchemaError as error:
        raise SchemaError(str(error) if f"'{column}'" in str(error) else f"column '{column}': {error}") from None


def _with_domains(schema: Schema, domains: Mapping[str, Numbers | Categories]) -> Schema:
    """Return the schema with the domains of some attributes replaced by `domains`."""
    own = (replace(each, domain=domains[each.name]) if each.name in domains else each for each in schema.attributes)
    return replace(schema, attributes=tuple(own))


def _attribute(folder: Path, name: str, entry: Mapping[str, Any], mark: str) -> Attribute:
    """Return the attribute of a described column; `mark` is the mark of a missing value in the whole table."""
    domain = entry.get("domain")
    if isinstance(domain, str):  # the leaves of a hierarchy's file
        file = description.resolve_inside(folder, domain)
        domain = list(dict.fromkeys(row[0] for row in hierarchy.categories.read_rows(file)))
        progress.note_file(file.resolve(), description.checksum(file))
    if isinstance(domain, Mapping):
        domain = Numbers(**domain)
    elif domain is not None:
        held = mark if mark and mark in domain else None
        domain = Categories(tuple(domain), mark=held, of_records=entry.get("proposed", False))
    stated = {key: entry[key] for key in STATED if key in entry}
    if "derived" in entry:
        stated["derived"] = Derivation.of(entry["derived"]).words
    return Attribute(name, Role(entry["role"]), domain, **stated)


def _study(path: Path, text: Text, study: str | None) -> Text:
    studies = text.get("studies", {})
    for name in studies:
        check_name(f"{path.name}: study", name)
    if study and study not in studies:
        raise SchemaError(
            f"{path.name} has no study '{study}'; the studies are: "
            f"{', '.join(studies) or 'none'}.{suggest([study], studies)}"
        )
    return studies[study] if study else {}


def _roles(choice: Text) -> dict[str, Role]:
    """Return `{column: role}` for a study; the content of a study lists the columns by role."""
    pairs = [(name, role) for role in Role for name in choice.get(role, ())]
    twice = sorted({name for name, _ in pairs if [n for n, _ in pairs].count(name) > 1})
    if twice:
        raise SchemaError(
            f"{twice} has two roles. A sensitive attribute cannot also be a quasi-identifier, because an adversary may "
            "already know a quasi-identifier. Choose one role."
        )
    return dict(pairs)


def _hierarchy(
    path: Path,
    attribute: Attribute,
    chosen_set: str,
    recoding: Mapping[str, Any],
    days: Days | None = None,
    before: Numbers | Categories | None = None,
) -> Generalization:
    """Return the hierarchy of a quasi-identifier.

    The hierarchy is the recoding that the study states or, if there is none, the file in the set of hierarchies. If
    there is no file, the levels of numbers are their public intervals, those of days are the periods of the calendar,
    and categories have one level below `*`. If the domain was widened, `before` is the domain of the file.
    """
    how = recoding.get(attribute.name)
    if how is not None:
        return _recoded(path, attribute, how)
    folder = path.parent / "hierarchies" / chosen_set
    if chosen_set != "default" and not folder.is_dir():
        raise SchemaError(
            f"{path.name} names the hierarchies '{chosen_set}', which have no folder. Create {folder.name}/."
        )
    file = description.resolve_inside(folder, f"{attribute.name}.csv")
    if days and not file.is_file():
        form, apart = days
        return taxonomies.dates(attribute, apart, form)
    if not file.is_file():
        domain = attribute.domain
        return hierarchy.LeveledRanges(domain) if isinstance(domain, Numbers) else hierarchy.flat(attribute)
    progress.note_file(file.resolve(), hashlib.sha256(file.read_bytes()).hexdigest())
    if before is None:
        return hierarchy.Taxonomy.read(file, attribute.public_domain)
    tree = hierarchy.Taxonomy.read(file, before)
    return tree.with_leaves(each for each in list_values(attribute.public_domain) if each not in {*tree.leaves})


def _recoded(path: Path, attribute: Attribute, how: Any) -> Generalization:
    """Return the hierarchy of a recoding.

    Numbers are recoded to ranges or to intervals of given widths; categories are recoded by their order or as sets.
    """
    domain = attribute.domain
    if isinstance(domain, Categories) and how in ("ordered", "set"):
        kind = hierarchy.Ordered if how == "ordered" else hierarchy.Sets
        return kind(attribute.name, domain.values)
    if isinstance(domain, Numbers):
        if how == "range":
            return hierarchy.Ranges(domain)
        if isinstance(how, Mapping):
            return hierarchy.RangedIntervals(domain, tuple(how["widths"]))
        if not isinstance(how, str):
            return hierarchy.Intervals(domain, tuple(how))
    allowed = '"range" or a list of widths' if attribute.numeric else '"ordered" or "set"; only numbers have ranges'
    raise SchemaError(f"{path.name}: '{attribute.name}' cannot be recoded as {how!r}. Give {allowed}.")
