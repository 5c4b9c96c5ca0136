"""Original microdata that obeys a schema: how to load, check, sample and split it.

A dataset lies in `data/<name>/`: its files, `<name>.toml` (columns, roles, public domains, source, licence,
checksums, studies) and `hierarchies/<set>/<attribute>.csv`. A *study* is a named choice of columns, their roles and
their hierarchies, so that one table can serve several papers.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import html
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np

from privnb.datasets import description
from privnb.datasets.outside import Found, Outside, found
from privnb.microdata import hierarchy
from privnb.microdata.columns import by_value, having, of_codes
from privnb.microdata.hierarchy import taxonomies
from privnb.microdata.hierarchy.categories import values_of
from privnb.microdata.hierarchy.generalization import Generalization
from privnb.microdata.rows import Microdata
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema, SchemaError, check_name
from privnb.runtime import expect, progress, validation
from privnb.runtime.arrays import BoolArray, IntArray
from privnb.runtime.errors import MissingFileError, UsageError
from privnb.runtime.lazy import pd
from privnb.runtime.names import meant, shown
from privnb.runtime.notices import Notice
from privnb.runtime.sentences import Sentences, say, table_html
from privnb.runtime.validation import Randomness, at_least, between, instead, optional, validated
from privnb.tables import reading, text_files
from privnb.tables.notation import Notation, with_tails

# What a description states of a column and an attribute keeps under the same name.
STATED = ("unit", "form_of", "cannot_be_known", "harmless", "public_distribution")

Text = Mapping[str, Any]  # what a description, or a part of one, says
Marks = dict[str, tuple[str, ...]]  # what says in each column that a value is missing
Days = tuple[str, list[str]]  # how days are written, and which values are none
Rows = TypeVar("Rows", bound=Microdata)
Made = TypeVar("Made")
Study = Annotated[
    str | None,
    lambda name, value: expect.kind(name, value, str, type(None), instead="Name a study of the description."),
]
Records = Annotated[int | None, optional(at_least(0))]  # None or 0: all
Portion = Annotated[float, between(0, 1, "both parts need records")]
Folder = Annotated[str | os.PathLike[str] | None, optional(expect.path)]
Source = Annotated[
    str | os.PathLike[str],
    lambda name, value: expect.kind(name, value, str, os.PathLike, instead='Name what was loaded, or nothing: "".'),
]
Roles = Annotated[Mapping[str, Role] | None, optional(instead(Mapping, 'Give { "ward": Role.UNUSED }.'))]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Microdata):
    """Original microdata, one row per record, checked against its schema when made.

    Where the schema names the key of the person or household (`Role.PERSON`), several records may be of one person, and
    what counts people counts them once. Without a key each record counts as a person.

    Parameters
    ----------
    name : str
    table : DataFrame
        n records with the schema's columns, put in the schema's order; its index carries no meaning and is replaced by
        0..n-1. A missing number is NaN. It is kept as `cells`; to ask for it writes every cell out, 8 bytes each.
    schema : Schema
    hierarchies : dict of str to Generalization
        How each quasi-identifier generalizes (see `hierarchy`).
    notes : tuple of Notice
        What became of values outside of their domains, sentences, which a release of it repeats.

    Attributes
    ----------
    cells : DataFrame
        The table as coded columns, see `columns`: what counts reads this, and never `table`.
    codes : dict of str to integer array (n,)
        For each quasi-identifier the position of each record's value on its line.
    people : integer array (n,)
        Whose each record is, a number from 0 for each person; None without a key.
    weights : float array (n,)
        For how many people of the population each record stands, above 0; None without sampling weights.
    shared : dict of str to integer array
        For each quasi-identifier the positions that ten or more people share (`withholding.LIMIT`), ascending: those
        at which a published label may end.
    """

    HINT: ClassVar[str] = "Load one: load(name), or take `.dataset` of a table."
    notes: tuple[Notice, ...] = ()

    def __repr__(self) -> str:  # never the records: a notebook keeps what it shows
        return f"Dataset('{self.name}', {len(self)} records, {len(self.schema.attributes)} attributes)"

    def _repr_html_(self) -> str:
        of = "" if self.people is None else f" of {self.headcount:,} people"
        text = f"{self.name}: {len(self):,} records{of}, attributes: {len(self.schema.attributes)}"
        return shown(f"<p>{html.escape(text)}</p>") + table_html(self.schema.described())

    def with_known(self, names: Collection[str]) -> Dataset:
        """The same records, of which an adversary knows the neutral columns `names` as the quasi-identifiers."""
        if not names:
            return self
        flat = {name: hierarchy.flat(self.schema[name]) for name in names}
        return replace(
            self, table=self.cells, schema=self.schema.with_known(names), hierarchies={**self.hierarchies, **flat}
        )

    @validated
    def sample(self, records: int, *, rng: Randomness) -> Dataset:
        """A random sample of `records` records without replacement, in file order; its name says so.

        Of a table with a key of people it is of people, with all records of each: fewer would be another kind of table.

        Parameters
        ----------
        records : int
            2 to n; of whole people as many as have no more records together.
        rng : int, Generator or None

        Returns
        -------
        Dataset
            The same one for all n.
        """
        if not 2 <= records <= len(self):
            raise UsageError(f"a sample needs 2 to {len(self)} records (all of '{self.name}'), got {records}.")
        if records == len(self):
            return self
        generator = np.random.default_rng(rng)
        if self.people is None:
            rows = np.sort(generator.choice(len(self), records, replace=False))
        else:
            order = generator.permutation(self.headcount)
            ends = np.cumsum(np.bincount(self.people)[order])
            rows = np.flatnonzero(np.isin(self.people, order[: max(np.searchsorted(ends, records, side="right"), 1)]))
        return self._part(rows)

    @validated
    def split(self, share: Portion, *, rng: Randomness) -> tuple[Dataset, Dataset]:
        """Two disjoint datasets, the first with `share` of the records, drawn at random; nobody with a key is in both.

        Parameters
        ----------
        share : float
            Above 0 and below 1.
        rng : int, Generator or None

        Returns
        -------
        tuple of two Dataset
        """
        first = np.random.default_rng(rng).permutation(self.headcount) < round(share * self.headcount)
        first = first if self.people is None else first[self.people]
        return self._part(first), self._part(~first)

    def _part(self, rows: IntArray | BoolArray) -> Dataset:
        """The dataset of some records; its name says how many they are."""
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
    """Load `data/<name>/`, or the description file at `name`, in the roles of `study`. Sensitive numbers are in bands,
    see `Dataset.in_bands`.

    Parameters
    ----------
    name : str or path-like
    study : str, optional
        None: the description's `default_study`, or else the roles that stand at its columns.
    records : int, optional
        Load a random sample of so many records; None or 0: all.
    rng : int, Generator or None
        Draws the sample.
    folder : path-like, optional
        Of the datasets; None: the nearest `data/` at or above the current folder, else the project's own.
    roles : dict of str to Role, optional
        Other roles of some columns than those of the study.
    outside : str
        What becomes of values outside of a described domain: "refuse" raises an error; "missing" takes them as missing
        where the domain has a mark of missing values; "widen" widens the domain to what the records hold, after which
        no promise of noise holds. The dataset and its releases say how many records that concerns.

    Returns
    -------
    Dataset

    Raises
    ------
    SchemaError
        For a wrong checksum, a column, value or hierarchy that does not fit, an unknown study, or a draft.
    FileNotFoundError
        For a description or data file that is not there.
    """
    with progress.step("loading the table"):
        if outside != "refuse":
            whole = described_by(find(name, folder), study, roles=roles, outside=outside)
            return whole.sample(records, rng=rng) if records else whole
        return _loaded(find(name, folder), study, records, rng, roles)


@contextlib.contextmanager
def loaded_once(*folders: Path) -> Iterator[None]:
    """Read a table that is loaded twice inside, in the same study and sample, once; keep nothing of it afterwards.

    Parameters
    ----------
    *folders : Path
        Only tables of these folders, such as `data/`; none: all tables.
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
def schema_of(name: validation.Path, study: Study = None, *, folder: Folder = None) -> Schema:
    """The schema of a dataset in the roles of `study`, without its records: nothing but its description is read.

    Parameters
    ----------
    name : str or path-like
    study : str, optional
    folder : path-like, optional
        As of `load`.

    Returns
    -------
    Schema
        That of `load`, but sensitive numbers are in no bands.

    Raises
    ------
    SchemaError
        For an unknown study, or a draft.
    FileNotFoundError
        For a description that is not there.
    """
    return Chosen.of(find(name, folder), study).schema


def _different(table: pd.DataFrame, name: str) -> tuple[pd.Series, IntArray]:
    """The different texts of a column of `cells`, a Categorical of one entry each, and how many records have each."""
    column = table[name].cat.remove_unused_categories()
    times = np.bincount(column.cat.codes[column.notna()], minlength=len(column.cat.categories))
    return pd.Series(pd.Categorical(column.cat.categories, column.cat.categories)), times


class Chosen(NamedTuple):
    """A description in the roles of a study.

    `text`: what it says; `study`: its name, or None; `choice`: what the study says; `schema`: of its columns;
    `columns`: the schema of all that the description has; `widened`: the described domains of columns that have wider
    ones here, see `taking`.
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
        """Raises SchemaError as `load`."""
        text = description.read(path)
        if text.get("draft"):
            raise SchemaError(
                f"{path.name} is a draft: its roles and domains are guesses, and nothing is sensitive yet. Go through "
                f"it as its first lines say, then run `privnb describe NAME --confirm`, or delete "
                "the line 'draft = true'."
            )
        if doubt := text.get("format", {}).get("doubt"):
            raise SchemaError(
                f"{path.name}: the encoding {text['format']['encoding']!r} is a proposal. {doubt}. Nothing is loaded "
                "until one is stated."
            )
        described = Schema(
            path.stem,
            tuple(_about(name, _attribute, path.parent, name, entry) for name, entry in text["columns"].items()),
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
        """The names of the description's columns by those in its files, where these differ."""
        return self.text.get("renamed", {})

    def marks_where(self, records: str) -> Marks | None:
        """The marks of a missing value by column, if those records are to "drop", or to "refuse", that have one."""
        return marks(self.text) if self.text.get("format", {}).get("records_with_missing") == records else None

    @property
    def _recoding(self) -> Mapping[str, Any]:
        """How the study recodes its quasi-identifiers."""
        recoding: Mapping[str, Any] = self.choice.get("recoding", {})
        return recoding

    def _tree(self, name: str) -> Path:
        """Return where the hierarchy of a column is, if it has a file."""
        folder = self.path.parent / "hierarchies" / self.choice.get("hierarchies", "default")
        return description.inside(folder, f"{name}.csv")

    def _days(self, name: str) -> Days | None:
        """How the days of a column are written, and which values are none; None where no days are described."""
        form, domain = self.text["columns"][name].get("days"), self.columns[name].domain
        marks = [self.text.get("format", {}).get("missing", "")]
        return form and (form, [mark for mark in marks if mark in getattr(domain, "values", ())])

    def with_one_mark(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Categoricals of texts, of any columns, in which that mark alone says that a value is missing by which labels
        write it.
        """
        known = {name: marked for name, marked in marks(self.text).items() if name in cells}
        return having(cells, {n: _read(cells[n], marked, marked[0], Notation.of({})) for n, marked in known.items()})

    def taking(
        self, outside: Outside, names: Iterable[str], values: Callable[[str], tuple[pd.Series, IntArray]]
    ) -> tuple[Chosen, list[Found]]:
        """Return the same description, in which values outside of their domains are missing, or inside of wider ones.

        Parameters
        ----------
        outside : str
            "refuse" changes nothing: such values are refused when the table is checked.
        names : iterable of str
            The columns that are looked at.
        values : function
            Returns the different texts of a column, a Categorical of one entry each, and how many records have each.

        Returns
        -------
        chosen : Chosen
        found : list of Found
            What was outside, and what became of it.
        """
        form = self.text.get("format", {})
        kept = {**self.text, "format": {**form, "records_with_missing": "keep"}}
        own, all_found = {name: dict(entry) for name, entry in self.text["columns"].items()}, []
        weights = in_role(self.text, Role.WEIGHT)
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
            mark, has_tree = form.get("missing", ""), self._tree(name).is_file() and name not in self._recoding
            if each := found(attribute, texts, cells, times, mark, outside, has_tree=has_tree):
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
        """Categoricals of texts, as files have them, as the description says: missing values, numbers on their steps.

        Raises SchemaError for values outside their domains. The index remains that of the rows that it keeps.
        `names`: the columns that `table` has to have; None: all of the description, also those that the study leaves
        out. `times`: as of `Schema.check`.
        """
        return self.checked(_cleaned(self.text, table), names, times)

    def checked(
        self, table: pd.DataFrame, names: Collection[str] | None = None, times: pd.Series | None = None
    ) -> pd.DataFrame:
        """The same of what `_read_files` gives."""
        weights = in_role(self.text, Role.WEIGHT)  # of which a domain's steps round nothing
        domains = {each.name: each.domain for each in self.columns.attributes if each.name in table}
        numeric = {name: domain for name, domain in domains.items() if isinstance(domain, Numbers)}
        rounded = {name: own.rounded(table[name]) for name, own in numeric.items() if name not in weights}
        table = having(table, rounded)
        notation = Notation.of(self.text.get("format", {}))
        listed = {name: domain for name, domain in domains.items() if isinstance(domain, Categories)}
        table = having(table, {name: _listed(table[name], own, notation) for name, own in listed.items()})
        # Only the whole table is asked how many records it has, of which this may be a part.
        self._of(self.columns, names).check(table, least=0, times=times)
        return table

    def made(self, kind: type[Rows], table: pd.DataFrame, names: Collection[str] | None = None, **more: Any) -> Rows:
        """The microdata of a table that is `cleaned`. `kind`: `Dataset` or `Counted`; `more`: what else it takes."""
        schema, recoding, before = self._of(self.schema, names), self._recoding, self.widened
        for name in recoding:
            self.schema[name]  # refuses a name that does not exist
        chosen_set = self.choice.get("hierarchies", "default")
        hierarchies = {
            name: _about(
                name, _hierarchy, self.path, schema[name], chosen_set, recoding, self._days(name), before.get(name)
            )
            for name in schema.quasi_identifiers
        }
        if self.choice.get("ends") == "exact":  # as those of published studies do
            hierarchies = {name: hierarchy.with_exact_ends(own) for name, own in hierarchies.items()}
        name = f"{self.path.stem}/{self.study}" if self.study else self.path.stem
        return kind(name, table[schema.names()], schema, hierarchies, **more).in_bands(*schema.sensitive)

    def _of(self, schema: Schema, names: Collection[str] | None) -> Schema:
        """The schema of some columns; None: of all."""
        attributes = (each for each in schema.attributes if names is None or each.name in names)
        return replace(schema, attributes=tuple(attributes))


def _load(path: Path, study: str | None, records: int | None, rng: Randomness, roles: Roles = None) -> Dataset:
    if records:
        return _loaded(path, study, None, 0, roles).sample(records, rng=rng)
    return described_by(path, study, roles=roles)


_loaded: Callable[[Path, str | None, int | None, Randomness, Roles], Dataset] = _load  # see `loaded_once`


def described_by(
    path: Path,
    study: str | None = None,
    table: pd.DataFrame | None = None,
    roles: Mapping[str, Role] | None = None,
    outside: Outside = "refuse",
) -> Dataset:
    """The dataset of a description; `table`: its files' records, if they were read already, see `cells`."""
    chosen, all_found = Chosen.of(path, study, roles), list[Found]()
    if outside != "refuse":
        table = cells(path.parent, chosen.text, table)
        chosen, all_found = chosen.taking(outside, [*table], partial(_different, table))
    made = chosen.made(Dataset, chosen.checked(_read_files(path.parent, chosen.text, table)))
    return replace(made, table=made.cells, notes=tuple(each.notice for each in all_found)) if all_found else made


@validated
def load_studies(
    name: validation.Path, *, records: Records = None, rng: Randomness = 0, folder: Folder = None
) -> list[Dataset]:
    """The dataset once in each of its studies, in the description's order; once in its own roles if it has none.

    Parameters
    ----------
    name : str or path-like
    records : int, optional
    rng : int, Generator or None
    folder : path-like, optional
        As of `load`.

    Returns
    -------
    list of Dataset
    """
    names = description.read(find(name, folder)).get("studies", [None])
    return [load(name, study, records=records, rng=rng, folder=folder) for study in names]


def proposed_domains(name: validation.Path) -> Sentences | None:
    """What `description.unconfirmed` says of the description of a dataset, named as for `load`: Sentences, or None."""
    text = description.unconfirmed(find(name).read_text(encoding="utf-8"))
    return say(text) if text else None


@validated
def find(name: validation.Path, folder: Folder = None) -> Path:
    """Path of the description file of a dataset.

    Parameters
    ----------
    name : str or path-like
        A path to a `.toml` file, or a folder's name under `data/`.
    folder : path-like, optional
        As of `load`.

    Returns
    -------
    Path

    Raises
    ------
    FileNotFoundError
        If there is none; the datasets that are known are named.
    """
    if str(name).endswith(".toml"):
        roots, candidates = [], [Path(name)]
    else:
        roots = [Path(folder)] if folder else _roots()
        candidates = [root / name / f"{name}.toml" for root in roots]
        # Of a folder that was called otherwise before, the one description that it holds.
        held = [[*(root / name).glob("*.toml")] for root in roots if Path(name).name == str(name) != ".."]
        candidates += [path for paths in held if len(paths) == 1 for path in paths]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    known = sorted({path.parent.name for root in roots for path in root.glob("*/*.toml")})
    if Path(name).is_file():
        raise MissingFileError(
            f"'{name}' is a file of records, and a description of one is asked for.{meant([Path(name).stem], known)} "
            f"Known: {', '.join(known) or 'none'}. Draft one with `privnb describe FILE`."
        )
    if Path(name).suffix not in ("", ".toml"):
        raise MissingFileError(
            f"there is no file '{name}', nor a dataset of that name.{meant([Path(name).stem], known)} Known datasets: "
            f"{', '.join(known) or 'none'}."
        )
    raise MissingFileError(
        f"there is no dataset '{name}': looked for {candidates[0].name} in data/ here and above."
        f"{meant([name], known)} Known: {', '.join(known) or 'none'}. Draft one with "
        f"`privnb describe FILE`."
    )


def _roots() -> list[Path]:
    """Return the folders that datasets are looked for in, the nearest first."""
    here = Path.cwd()
    return [here / "data", *(parent / "data" for parent in here.parents), PROJECT / "data"]


def known_datasets() -> list[Path]:
    """Return the description files of the datasets that `find` finds by name, in the order of the alphabet."""
    found: dict[str, Path] = {}
    for path in (path for root in _roots() for path in sorted(root.glob("*/*.toml"))):
        if path.stem == path.parent.name:
            found.setdefault(path.stem, path)
    return [found[name] for name in sorted(found)]


SHIPPED = Path(__file__).resolve().parents[1] / "shipped"  # the notebooks and data that an installed package brings
PROJECT = SHIPPED if SHIPPED.is_dir() else SHIPPED.parents[1]


def cells(folder: Path, text: Text, table: pd.DataFrame | None = None) -> pd.DataFrame:
    """All records of the data files that a description's `text` names, in file order: per column a Categorical of its
    texts, see `reading.read`. `table`: what it gave before; only that the files are the same is checked then. Raises
    SchemaError and OSError as `load`.
    """
    layout, names = text.get("format", {}), list(text["columns"])
    files = data_files(folder, text)
    for entry, file in zip(text["files"], files, strict=True):
        found = description.checksum(file)
        progress.seen(file.resolve(), found)
        check_sum(entry, found)
    if table is not None:
        return table

    def part(entry: Mapping[str, Any], file: Path) -> pd.DataFrame:
        read, renamed = reading.read(file, text_files.Layout.of(layout | entry), names), text.get("renamed", {})
        reading.check_renamed(Path(entry["path"]), [*read], renamed)
        return read.rename(columns=renamed)

    with ThreadPoolExecutor(2) as two:  # the engine leaves half of its work on a file to one processor
        parts = [*two.map(part, text["files"], files)]
    return reading.together(files, parts)


def data_files(folder: Path, text: Text) -> list[Path]:
    """The paths of the data files that a description in a folder names. Raises SchemaError and OSError as `load`."""
    files = []
    for entry in text["files"]:
        files.append(description.inside(folder, entry["path"]))
        if not files[-1].is_file():
            raise MissingFileError(f"{entry['path']} is described and not there. Put it beside its description.")
        check_name("file", entry["path"])
    reading.check_different(files)
    return files


def check_sum(entry: Mapping[str, Any], checksum: str) -> None:
    """Raise SchemaError for a file that is not the one described; of one without a checksum nothing is asked.

    `entry`: what the description says of it; `checksum`: of the file that is there.
    """
    if checksum != entry.get("sha256", checksum):
        raise SchemaError(
            f"{entry['path']} is not the file that is described: its SHA-256 is {checksum}, not {entry['sha256']}. "
            "Fetch the original, or correct the checksum if you changed the file on purpose."
        )


def _read_files(folder: Path, text: Text, table: pd.DataFrame | None = None) -> pd.DataFrame:
    """The `cells` of a description's files, `_cleaned`."""
    return _cleaned(text, cells(folder, text, table))


def _cleaned(text: Text, table: pd.DataFrame) -> pd.DataFrame:
    """The `cells` as a description's `text` says: numbers with points, what is missing; coded."""
    layout, marked = text.get("format", {}), marks(text)
    mark, notation = layout.get("missing", ""), Notation.of(layout)
    numbers = {name for name, entry in text["columns"].items() if isinstance(entry.get("domain"), Mapping)}
    what = layout.get("records_with_missing", "keep")
    if what != "keep":
        lacking = {
            name: (_given(table[name].cat.categories, marked.get(name, [mark])) < 0)[table[name].cat.codes]
            for name in table
        }
        some = np.logical_or.reduce([*lacking.values()])
        if what == "refuse" and some.any():
            where = [name for name, missing in lacking.items() if missing.any()]
            raise SchemaError(
                f"{some.sum()} of {len(table)} records have missing values, in {', '.join(where)}, and "
                'records_with_missing = "refuse". Fill them in, or choose "keep" or "drop".'
            )
        table = table[~some]
    apart = {role: in_role(text, role) for role in (Role.PERSON, Role.WEIGHT)}
    numbers |= apart[Role.WEIGHT]
    gaps = apart[Role.PERSON] | numbers
    # A missing value is a category of its own, by its mark. None is a person or a number: there it is NaN.
    read = {}
    for name in table:
        missing, own = "" if name in gaps else mark, notation if name in numbers else Notation()
        read[name] = _read(table[name], marked.get(name, [mark]), missing, own)
    return pd.DataFrame(read, index=table.index)


def in_role(text: Text, *roles: Role) -> set[str]:
    """The columns that a description or one of its studies gives one of these roles: a set of names.

    Parameters
    ----------
    text : dict
        What the description says.
    *roles : Role
    """
    named = {name for name, entry in text["columns"].items() if entry["role"] in roles}
    return named.union(*(study.get(role, ()) for study in text.get("studies", {}).values() for role in roles))


def marks(text: Text) -> Marks:
    """What says in each column that a value is missing: `{column: texts}`, first that of the whole table, by which
    labels write it. `text`: what the description says.
    """
    mark = text.get("format", {}).get("missing", "")
    return {name: (mark, *with_tails(entry.get("missing", ()))) for name, entry in text["columns"].items()}


def _read(column: pd.Series, marked: Collection[str], missing: str, notation: Notation) -> pd.Series:
    """A Categorical of texts, numbers of the `notation` as Python reads them; what is missing or `marked` is `missing`,
    or is NaN where that is empty.
    """
    texts = column.cat.categories
    values = np.append(notation.plain(texts).to_numpy(object), missing or np.nan)
    each = of_codes(_given(texts, marked) % len(values), values)  # of a category, then of each cell
    read = pd.Categorical.from_codes(each.codes[column.cat.codes], dtype=each.dtype)
    return pd.Series(read, column.index, name=column.name)


def _listed(column: pd.Series, domain: Categories, notation: Notation) -> pd.Series:
    """A Categorical of texts, of which a whole number with decimals, `1067.0`, is the number that the domain lists."""
    texts = pd.Series(column.cat.categories, dtype=object)
    plain = notation.without_tail(texts)
    spelled = (plain != texts) & ~texts.isin(domain.values) & plain.isin(domain.values)
    if not spelled.any():
        return column
    numbers = dict(zip(texts[spelled], plain[spelled], strict=True))
    return by_value(lambda own: own.replace(numbers).to_numpy(dtype=object), column)


def _given(texts: pd.Series, marked: Collection[str]) -> IntArray:
    """The numbers of texts, -1 for those that say that a value is missing; last that of a cell without any."""
    return np.append(np.where(texts.isin(marked), -1, np.arange(len(texts))), -1)


def _about(column: str, make: Callable[..., Made], *given: Any) -> Made:
    """What `make(*given)` gives; its error names the column."""
    try:
        return make(*given)
    except SchemaError as error:
        raise SchemaError(str(error) if f"'{column}'" in str(error) else f"column '{column}': {error}") from None


def _with_domains(schema: Schema, domains: Mapping[str, Numbers | Categories]) -> Schema:
    """The schema with other domains of some attributes."""
    own = (replace(each, domain=domains[each.name]) if each.name in domains else each for each in schema.attributes)
    return replace(schema, attributes=tuple(own))


def _attribute(folder: Path, name: str, entry: Mapping[str, Any]) -> Attribute:
    domain = entry.get("domain")
    if isinstance(domain, str):  # a hierarchy's file: its leaves
        file = description.inside(folder, domain)
        domain = list(dict.fromkeys(row[0] for row in hierarchy.categories.rows_of(file)))
        progress.seen(file.resolve(), description.checksum(file))
    if isinstance(domain, Mapping):
        domain = Numbers(**domain)
    elif domain is not None:
        domain = Categories(tuple(domain), of_records=entry.get("proposed", False))
    stated = {key: entry[key] for key in STATED if key in entry}
    return Attribute(name, Role(entry["role"]), domain, **stated)


def _study(path: Path, text: Text, study: str | None) -> Text:
    studies = text.get("studies", {})
    for name in studies:
        check_name(f"{path.name}: study", name)
    if study and study not in studies:
        raise SchemaError(
            f"{path.name} has no study '{study}'; it has {', '.join(studies) or 'none'}.{meant([study], studies)}"
        )
    return studies[study] if study else {}


def _roles(choice: Text) -> dict[str, Role]:
    """`{column: role}` of a study, which lists its columns by role."""
    pairs = [(name, role) for role in Role for name in choice.get(role, ())]
    twice = sorted({name for name, _ in pairs if [n for n, _ in pairs].count(name) > 1})
    if twice:
        raise SchemaError(
            f"{twice} has two roles. A sensitive attribute cannot also be a quasi-identifier: what an "
            "adversary may know already is not a secret to protect. Choose one."
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
    """How a quasi-identifier generalizes: as the study's recoding says, else by the set's file, else numbers by their
    public intervals, `days` (how they are written, and the mark of a missing one) by the calendar, and categories in
    one step. `before`: the domain that the file is of, where the attribute's was widened.
    """
    how = recoding.get(attribute.name)
    if how is not None:
        return _recoded(path, attribute, how)
    folder = path.parent / "hierarchies" / chosen_set
    if chosen_set != "default" and not folder.is_dir():
        raise SchemaError(
            f"{path.name} names the hierarchies '{chosen_set}', which have no folder. Make {folder.name}/."
        )
    file = description.inside(folder, f"{attribute.name}.csv")
    if days and not file.is_file():
        form, apart = days
        return taxonomies.dates(attribute, apart, form)
    if not file.is_file():
        domain = attribute.domain
        return hierarchy.LeveledRanges(domain) if isinstance(domain, Numbers) else hierarchy.flat(attribute)
    progress.seen(file.resolve(), hashlib.sha256(file.read_bytes()).hexdigest())
    if before is None:
        return hierarchy.Taxonomy.read(file, attribute.public_domain)
    tree = hierarchy.Taxonomy.read(file, before)
    return tree.with_leaves(each for each in values_of(attribute.public_domain) if each not in {*tree.leaves})


def _recoded(path: Path, attribute: Attribute, how: Any) -> Generalization:
    """As a study's recoding says: numbers as a range or by widths, categories as they are ordered or as sets."""
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
    raise SchemaError(f"{path.name}: '{attribute.name}' cannot be recoded as {how!r}: give {allowed}.")
