"""The table of an owner: read from anywhere, its columns' roles guessed, shown, changed and saved."""

from __future__ import annotations

import os
import shutil
import weakref
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd

from privnb.datasets.dataset import Chosen, Dataset, described_by, find
from privnb.datasets.draft import checked_name, drafted, named
from privnb.datasets.outside import Outside
from privnb.datasets.own_table import OwnTable
from privnb.datasets.roles import Roles, checked
from privnb.microdata.counts import coded, distinct_codes, people_among, people_in
from privnb.microdata.schema import Role, SchemaError
from privnb.privacy_models.base import PrivacyModel
from privnb.runtime import expect, unfinished, validation
from privnb.runtime.errors import OutputExistsError, ResourceError, UsageError, UsageTypeError
from privnb.runtime.names import meant
from privnb.runtime.numerals import percent
from privnb.runtime.sentences import B
from privnb.runtime.validation import Randomness, instead, optional, validated
from privnb.sanitizers.base import Sanitizer
from privnb.workbench import sources
from privnb.workbench.views import Noun, view

if TYPE_CHECKING:
    from privnb.workbench.comparison import Comparison
    from privnb.workbench.decision import TableDecision
    from privnb.workbench.release import SanitizedTable

Names = str | Sequence[str]
RoleNames = Annotated[Mapping[str, Any] | None, optional(instead(Mapping, 'Give {"zip": "quasi-identifier"}.'))]
ASSUMED = {  # what is assumed about a table until its owner says otherwise, by a stable code
    "no-sensitive-column": (
        "No column is sensitive: choose what nobody should learn with `table.set_roles(COLUMN='sensitive')`."
    ),
    "each-row-a-person": "Each row counts as one person. If people have several rows, name their key: `person=COLUMN`.",
}


class Table(Noun):
    """A table with the role of each column: what the whole loop starts from.

    `read` makes one. It shows its columns, their roles and who is unique; no cell of a record is shown.

    Attributes
    ----------
    path : Path
        The description of the table, in the same form as `data/<name>/<name>.toml`.
    study : str or None
        The study of the description whose roles the table has.
    outside : str
        What becomes of values outside a described domain: "refuse", "missing" or "widen", see `load`.

    Examples
    --------
    >>> table = read("twelve")
    >>> table
    Table('twelve', 12 records, 4 columns)
    >>> table.sanitize("k=3")
    SanitizedTable('twelve', Mondrian(KAnonymity(k=3)))
    """

    def __init__(
        self, path: Path, study: str | None = None, *, own: OwnTable | None = None, outside: Outside = "refuse"
    ) -> None:
        self.path, self.study, self.outside = path, study, outside
        self._own, self._roles = own, dict[str, Role]()

    def __repr__(self) -> str:  # never the records: a notebook keeps what it shows
        return f"Table('{self.name}', {len(self.dataset)} records, {len(self.dataset.schema.attributes)} columns)"

    @property
    def name(self) -> str:
        """The name of the dataset, a text."""
        return self.path.stem

    @property
    def assumed(self) -> tuple[str, ...]:
        """What is assumed about the table until its owner says otherwise, keys of `ASSUMED`."""
        if self._own is None:
            return ()
        holds = (self._own.roles.none_sensitive, self._own.roles.one_each)
        return tuple(code for code, is_assumed in zip(ASSUMED, holds, strict=True) if is_assumed)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is assumed about the table, sentences."""
        return tuple(ASSUMED[code] for code in self.assumed)

    @cached_property
    def dataset(self) -> Dataset:
        """The records, coded and checked, as the classes of the package take them."""
        return self.in_roles({})

    def in_roles(self, roles: Mapping[str, Role]) -> Dataset:
        """Return the records in other roles of some columns; the table stays as it is."""
        table = None if self._own is None else self._own.cells
        return described_by(self.path, self.study, table, {**self._roles, **roles}, self.outside)

    @property
    def roles_changed(self) -> Mapping[str, Role] | None:
        """The roles that differ from the description's: `{column: Role}`; None if there are none."""
        return self._roles or None

    @property
    def roles(self) -> dict[str, Role]:
        """The role of each column of the description."""
        if self._own is not None:
            return dict(self._own.roles.chosen)
        chosen = Chosen.of(self.path, self.study, self.roles_changed)
        return {each.name: each.role for each in chosen.columns.attributes} | {
            each.name: each.role for each in chosen.schema.attributes
        }

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row for each column: its role, kind, number of different and of missing values, examples that ten people
        share, why the role was proposed, and what to look at.
        """
        if self._own is None:
            return self.dataset.schema.described()
        seen = self._own.seen(self._own.roles)
        rows = [
            {
                "column": each.name, "role": str(self._own.roles.chosen[each.name]), "kind": each.kind,
                "different": each.different, "missing": each.missing, "examples": each.examples,
                "why": each.reason, "look at": " ".join(each.alerts),
            }
            for each in seen
        ]  # fmt: skip
        return pd.DataFrame(rows)

    @cached_property
    def unique(self) -> float:
        """The share of people whom their quasi-identifiers single out in this table, from 0 to 1."""
        data = self.dataset
        columns = [coded(data.cells[name]) for name in data.schema.quasi_identifiers]
        if not columns:
            return 0.0
        _, index = distinct_codes([codes for codes, _ in columns], [len(values) for _, values in columns])
        return people_among(people_in(index, data.people)[index] == 1, data.people) / data.headcount

    def _repr_html_(self) -> str:
        data = self.dataset
        names, people = data.schema.quasi_identifiers, data.headcount
        of = "" if data.people is None else f" of {people:,} people"
        answer = f"{len(data):,} records{of} and {len(self.frame):,} columns."
        alone = round(self.unique * people)
        few = 0 < alone < 10 or 0 < people - alone < 10
        share = "a share of people that is withheld" if few else f"{percent(self.unique)} of people"
        known = f"An adversary who knows {', '.join(names)} singles out {share} in the table as it is."
        return view([f"{B}{self.name}{B}: {answer}", known, *self.notes], self.frame)

    def plot(self) -> Any:
        """Return a chart: the share of people whom an adversary singles out, by how many attributes are known."""
        from privnb.evaluation.people import uniqueness
        from privnb.reporting import charts

        return charts.uniqueness(uniqueness(self.dataset))

    @validated
    def set_roles(self, roles: RoleNames = None, **more: str | Role) -> Table:
        """Give columns other roles, and return the table.

        Parameters
        ----------
        roles : dict of str to str or Role, optional
            By column: "identifier", "person", "weight", "quasi-identifier", "sensitive", "neutral" or "unused".
        **more : str or Role
            The same, for columns whose names are Python names.

        Returns
        -------
        Table
            The same table.

        Raises
        ------
        UsageError
            For an unknown column or role.
        SchemaError
            For roles that do not fit each other, such as no quasi-identifier. The roles stay as they were.

        Examples
        --------
        >>> read("twelve").set_roles(illness="neutral").roles["illness"]
        <Role.NEUTRAL: 'neutral'>
        """
        known = self.roles
        given = {checked(name, known): _role(role) for name, role in {**(roles or {}), **more}.items()}
        if self._own is None:
            Chosen.of(self.path, self.study, self._roles | given)
            self._roles |= given
        else:
            self._own = _saved(self._own, given)
        for each in ("dataset", "frame", "unique"):
            self.__dict__.pop(each, None)
        if self._own is not None:
            _ = self.frame, self.unique  # counted now, as by `read`
        return self

    @validated
    def save(self, name: str | None = None, *, folder: validation.Path = "data") -> Path:
        """Save the table and its description under `<folder>/<name>/`, where every command finds them by name.

        Parameters
        ----------
        name : str, optional
            None: the table's own name.
        folder : path-like

        Returns
        -------
        Path
            The description file, for an editor.

        Raises
        ------
        OutputExistsError
            If the folder exists.
        UsageError
            For a table that is described already: change its description instead.
        ResourceError
            If the disk is full or the folder cannot be written to. Nothing is left there.
        """
        if self._own is None:
            raise UsageError(f"'{self.name}' is described by {self.path.name} already. Change that file instead.")
        name = checked_name(name or self.name)
        place = Path(folder) / name
        if place.exists():
            raise OutputExistsError(f"{place} exists already and is left as it is. Try another name.")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with unfinished.folder(place.parent) as whole:
                copy = Path(shutil.copytree(self.path.parent, whole / name))
                (copy / self.path.name).rename(copy / f"{name}.toml")
                copy.rename(place)
        except OSError as error:
            raise _not_written(place, error) from error
        return place / f"{name}.toml"

    def sanitize(
        self,
        model: str | Sanitizer,
        *,
        algorithm: str = "Mondrian",
        rng: Randomness = None,
    ) -> SanitizedTable:
        """Sanitize the table: a release in memory, to look at and to measure before it is written.

        Parameters
        ----------
        model : str or Sanitizer
            Privacy models in words, `"k=10, t=0.2:illness"`, or a sanitizer such as `Mondrian(k=10)`.
        algorithm : str
            The sanitizer that keeps the models in words, by its class or title: "local recoding".
        rng : int, optional
            A seed, for an experiment that can be repeated. None: fresh randomness. A file that is written for others
            is always made with fresh randomness, because a seed undoes noise.

        Returns
        -------
        SanitizedTable

        Raises
        ------
        SanitizationError
            If no release of this table keeps what was asked.

        Examples
        --------
        >>> read("twelve").sanitize("k=4", algorithm="local recoding")
        SanitizedTable('twelve', LocalRecoding(KAnonymity(k=4)))
        """
        from privnb.publishing.in_words import asked
        from privnb.workbench.release import SanitizedTable

        if not isinstance(model, str | Sanitizer):
            models = repr(model) if isinstance(model, PrivacyModel) else "k=10"
            raise UsageTypeError(
                f'model must be a sanitizer, or models in words such as "k=10"; got {expect.found(model)}. Try '
                f"Mondrian({models})."
            )
        schema = self.dataset.schema
        made = model if isinstance(model, Sanitizer) else asked(model, algorithm, schema)
        return SanitizedTable(self, made, made.sanitize(self.dataset, rng=rng))

    def described_path(self) -> Path:
        """Return the description that says all that the table says, for what reads a table by its name.

        Raises
        ------
        UsageError
            For a described table whose roles were changed here: the file would say other ones.
        """
        if self._roles:
            raise UsageError(
                f"the roles of '{self.name}' must be those of {self.path.name}; got others for "
                f"{', '.join(self._roles)}. Change them in that file, or in a study of it."
            )
        return self.path

    def compare(self, sanitizers: Any, **options: Any) -> Comparison:
        """Compare sanitizers on this table: see `compare`."""
        from privnb.workbench.comparison import compare

        return compare(self, sanitizers, **options)

    def decide(self, policy: str | os.PathLike[str], **options: Any) -> TableDecision:
        """Search for the release that a policy leads to, among all sanitizers: see `workbench.decision.decide`."""
        from privnb.workbench.decision import decide

        return decide(self, policy, **options)


@validated
def read(
    source: Any,
    *,
    sensitive: Names = (),
    person: str | None = None,
    roles: RoleNames = None,
    study: str | None = None,
    outside: Outside = "refuse",
    connection: Any = None,
    name: str | None = None,
    encoding: str | None = None,
) -> Table:
    """Read a table from anywhere, and guess the role of each column.

    Parameters
    ----------
    source : str, path-like or data frame
        A file or a folder of parts; the name of a described dataset, such as "adult"; a pandas DataFrame, an Arrow
        table, a Polars frame or a DuckDB relation; with `connection`, a query in SQL.
    sensitive : str or list of str
        The columns whose values nobody should learn about a person.
    person : str, optional
        The key of the person whose record a row is, if people have several rows; privnb then counts people.
    roles : dict of str to str or Role, optional
        The roles of other columns: "identifier", "quasi-identifier", "neutral", "weight" or "unused".
    study : str, optional
        Of a described dataset: the study whose roles the table has.
    outside : str
        Of a described dataset: what becomes of values outside its domains, "refuse", "missing" or "widen".
    connection : object, optional
        A DBAPI or ADBC connection, or an engine of SQLAlchemy.
    name : str, optional
        What the table is called; None: as its file, or "table".
    encoding : str, optional
        Of a text file that is not UTF-8.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        For a table that cannot be read, and SchemaError for one that cannot be described. Nothing is written.
    UsageError
        For an unknown column, role or study.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [31, 31, 44, 44], "zip": [80, 80, 81, 81], "ill": list("abab")})
    >>> read(frame, sensitive="ill", name="patients").roles["ill"]
    <Role.SENSITIVE: 'sensitive'>
    """
    if isinstance(source, str | os.PathLike):
        expect.path("source", source)
    names = [sensitive] if isinstance(sensitive, str) else expect.texts("sensitive", sensitive, "names of columns")
    given = {each: _role(role) for each, role in (roles or {}).items()} | dict.fromkeys(names, Role.SENSITIVE)
    given |= {person: Role.PERSON} if person else {}
    if connection is None and isinstance(source, str | os.PathLike) and not _is_records(source):
        table = Table(find(source).resolve(), study, outside=outside)
        return table.set_roles(given) if given else table
    if study is not None:
        raise UsageError(f"study must be None for a table that is not described yet; got {study!r}. Leave it out.")
    if outside != "refuse":
        raise UsageError(
            f'outside must be "refuse" for a table that is not described yet; got {outside!r}. Leave it out.'
        )
    stack = ExitStack()
    try:
        folder = stack.enter_context(unfinished.folder())
        file, called, orders = _file(source, connection, name, folder)
        own = OwnTable.open(*drafted(file, called, folder / "data", encoding=encoding, orders=orders))
        own = _saved(own, {checked(each, own.roles.chosen): role for each, role in given.items()})
        if file.parent == folder:
            file.unlink()  # the described copy remains
    except BaseException:
        stack.close()
        raise
    table = Table(own.path, own=own)
    weakref.finalize(table, stack.close)
    _ = table.frame, table.unique  # counted now, so that to show the table is instant
    return table


def _is_records(source: str | os.PathLike[str]) -> bool:
    """Return whether a text names a file or folder of records, and not a described dataset."""
    path = Path(source)
    return path.suffix != ".toml" and (path.is_file() or path.suffix != "" or (path.is_dir() and not _described(path)))


def _described(folder: Path) -> bool:
    return any(folder.glob("*.toml"))


def _file(
    source: Any, connection: Any, name: str | None, folder: Path
) -> tuple[Path, str, Mapping[str, Sequence[str]]]:
    """Return the file of a table, written to a folder if it is none yet, what the table is called, and the orders of
    categories that no file states.
    """
    if connection is None and isinstance(source, str | os.PathLike):
        return Path(source), name or named(Path(source)), {}
    made = sources.arrow_of(source) if connection is None else sources.answer_to(source, connection)
    path = folder / f"{checked_name(name or 'table')}.parquet"
    try:
        sources.write_parquet(made, path)
    except OSError as error:
        raise _not_written(path.parent, error) from error
    return path, name or "table", sources.orders(made)


def _not_written(place: Path, error: OSError) -> ResourceError:
    return ResourceError(f"{place} cannot be written: {error.strerror or error}. Nothing is left of it.")


def _role(role: Any) -> Role:
    """Return a role by its name. Raise UsageError for an unknown one."""
    try:
        return Role(role)
    except ValueError:
        raise UsageError(
            f"a role must be one of {', '.join(Role)}; got {role!r}.{meant([str(role).lower()], [*Role])}"
        ) from None


def _saved(own: OwnTable, given: Mapping[str, Role]) -> OwnTable:
    """Return the table with other roles, written into its description and confirmed."""
    roles = own.roles.having(given)
    roles = _completed(roles)
    saved, lacks = own.save(roles)
    if lacks:
        raise SchemaError(" ".join(lacks))
    return saved


def _completed(roles: Roles) -> Roles:
    """Return the roles with what is assumed until the owner says otherwise; the table's notes state it."""
    from dataclasses import replace

    return replace(
        roles,
        none_sensitive=not roles.names(Role.SENSITIVE),
        one_each=not roles.names(Role.PERSON),
    )
