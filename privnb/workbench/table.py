"""The table of an owner, read from any source, with roles that privnb proposes and the owner can change."""

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

from privnb.datasets.dataset import Dataset, DatasetDescription, find_description, load_described
from privnb.datasets.description_editor import DescriptionEditor
from privnb.datasets.draft import check_dataset_name, dataset_name, draft_table
from privnb.datasets.outside import Outside
from privnb.datasets.roles import Roles, check_column
from privnb.microdata.counts import count_people_among, count_people_by_group, encode_values, group_codes
from privnb.microdata.schema import Role, SchemaError
from privnb.privacy_models.base import PrivacyModel
from privnb.runtime import expect, temporary, validation
from privnb.runtime.errors import OutputExistsError, PrivnbError, UsageError, UsageTypeError, output_error
from privnb.runtime.names import suggest
from privnb.runtime.numerals import write_percent
from privnb.runtime.sentences import strong
from privnb.runtime.validation import Randomness, instead, optional, validated
from privnb.runtime.wording import line
from privnb.sanitizers.base import Sanitizer
from privnb.workbench import sources
from privnb.workbench.views import Noun, view

if TYPE_CHECKING:
    from privnb.workbench.assessment import AssessedFile
    from privnb.workbench.comparison import Comparison
    from privnb.workbench.decision import TableDecision
    from privnb.workbench.release import SanitizedTable

Names = str | Sequence[str]
MAX_RECORDS = 12  # invented records in a notebook
RoleNames = Annotated[Mapping[str, Any] | None, optional(instead(Mapping, 'Give {"zip": "quasi-identifier"}.'))]
ASSUMED = {  # assumptions about a table that its owner can change, by a stable code
    "no-sensitive-column": (
        "No column is sensitive: choose what nobody should learn with `table.set_roles(COLUMN='sensitive')`."
    ),
    "each-row-a-person": "Each row counts as one person. If people have several rows, name their column by `person=`.",
}


SHORT_ROLES = {  # words that people write for a role, such as the options of the command line
    "quasi": "quasi-identifier", "qi": "quasi-identifier", "id": "identifier", "key": "person", "keep": "neutral",
    "drop": "unused",
}  # fmt: skip


class Table(Noun):
    """A table with a role for each column, from which all other objects of the workbench are made.

    The function `read` returns a table. A notebook shows the columns, their roles and the share of unique people, but
    no cells of records, unless the description declares the records invented.

    Attributes
    ----------
    path : Path
        The path of the description of the table, which has the same form as `data/<name>/<name>.toml`.
    study : str or None
        The study of the description that states the roles; None if the columns' own entries state the roles.
    outside : str
        The treatment of values outside a described domain: "refuse", "missing" or "widen"; see `load`.

    Examples
    --------
    >>> table = read("twelve")
    >>> table
    Table('twelve', 12 records, 4 columns)
    >>> table.sanitize("k=3")
    SanitizedTable('twelve', Mondrian(KAnonymity(k=3)))
    """

    def __init__(
        self, path: Path, study: str | None = None, *, own: DescriptionEditor | None = None, outside: Outside = "refuse"
    ) -> None:
        self.path, self.study, self.outside = path, study, outside
        self._own, self._roles = own, dict[str, Role]()

    def __repr__(self) -> str:  # never the records, because a notebook keeps its output
        return f"Table('{self.name}', {len(self.dataset)} records, {len(self.dataset.schema.attributes)} columns)"

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return self.path.stem

    @property
    def assumed(self) -> tuple[str, ...]:
        """The assumptions about the table, as keys of `ASSUMED`; the owner can change these assumptions."""
        if self._own is None:
            return ()
        holds = (self._own.roles.none_sensitive, self._own.roles.one_each)
        return tuple(code for code, is_assumed in zip(ASSUMED, holds, strict=True) if is_assumed)

    @property
    def notes(self) -> tuple[str, ...]:
        """The assumptions about the table as sentences."""
        return tuple(ASSUMED[code] for code in self.assumed)

    @cached_property
    def dataset(self) -> Dataset:
        """The records as a `Dataset`, which the other functions of privnb accept."""
        return self.in_roles({})

    def in_roles(self, roles: Mapping[str, Role]) -> Dataset:
        """Return the records, with the roles of some columns replaced by `roles`; the table stays unchanged."""
        table = None if self._own is None else self._own.cells
        return load_described(self.path, self.study, table, {**self._roles, **roles}, self.outside)

    @property
    def roles_changed(self) -> Mapping[str, Role] | None:
        """The roles that differ from the roles in the description, as `{column: Role}`; None if no role differs."""
        return self._roles or None

    @property
    def roles(self) -> dict[str, Role]:
        """The role of each column of the description."""
        if self._own is not None:
            return dict(self._own.roles.chosen)
        chosen = DatasetDescription.of(self.path, self.study, self.roles_changed)
        return {each.name: each.role for each in chosen.columns.attributes} | {
            each.name: each.role for each in chosen.schema.attributes
        }

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row for each column: the role, the type, the numbers of distinct and of missing values, and examples.

        At least ten people share each example. Each row also contains the reason for the proposed role, and alerts.
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
        """The share of people who are unique in this table by their quasi-identifiers, from 0 to 1."""
        data = self.dataset
        columns = [encode_values(data.cells[name]) for name in data.schema.quasi_identifiers]
        if not columns:
            return 0.0
        _, index = group_codes([codes for codes, _ in columns], [len(values) for _, values in columns])
        return count_people_among(count_people_by_group(index, data.people)[index] == 1, data.people) / data.headcount

    def _repr_html_(self) -> str:
        data = self.dataset
        names, people = data.schema.quasi_identifiers, data.headcount
        of = "" if data.people is None else f" of {people:,} people"
        answer = f"{len(data):,} records{of} and {len(self.frame):,} columns."
        alone = round(self.unique * people)
        is_invented = data.schema.invented
        few = not is_invented and (0 < alone < 10 or 0 < people - alone < 10)
        share = "a share of people that is withheld" if few else f"{write_percent(self.unique)} of people"
        known = f"An adversary who knows {', '.join(names)} singles out {share} in the table as it is."
        declared = [line("microdata/declared", "on_screen")] if is_invented else []
        records = {f"{len(data):,} invented records": data.table.head(MAX_RECORDS)} if is_invented else {}
        return view([strong(self.name) + f": {answer}", known, *declared, *self.notes], self.frame, records)

    def plot(self) -> Any:
        """Return a chart of the share of people who are unique, by the number of attributes that an adversary knows."""
        from privnb.evaluation.dataset_summary import measure_uniqueness
        from privnb.reporting import charts

        return charts.uniqueness(measure_uniqueness(self.dataset))

    @validated
    def set_roles(self, roles: RoleNames = None, **more: str | Role) -> Table:
        """Change the roles of some columns, and return the table.

        Parameters
        ----------
        roles : dict of str to str or Role, optional
            The new role of each column: "identifier", "person", "weight", "quasi-identifier", "sensitive", "neutral" or
            "unused".
        **more : str or Role
            The new roles of further columns, as keyword arguments.

        Returns
        -------
        Table
            The same table.

        Raises
        ------
        UsageError
            For an unknown column or role.
        SchemaError
            For roles that cannot be used together, for example if there is no quasi-identifier. The roles then stay
            unchanged.

        Examples
        --------
        >>> read("twelve").set_roles(illness="neutral").roles["illness"]
        <Role.NEUTRAL: 'neutral'>
        """
        known = self.roles
        given = {check_column(name, known): _role(role, name) for name, role in {**(roles or {}), **more}.items()}
        if self._own is None:
            DatasetDescription.of(self.path, self.study, self._roles | given)
            self._roles |= given
        else:
            self._own = _saved(self._own, given)
        for each in ("dataset", "frame", "unique"):
            self.__dict__.pop(each, None)
        if self._own is not None:
            _ = self.frame, self.unique  # computed now, as in `read`
        return self

    @validated
    def save(self, name: str | None = None, *, folder: validation.Path = "data") -> Path:
        """Save the table and its description in `<folder>/<name>/`, where every command finds the table by its name.

        Parameters
        ----------
        name : str, optional
            The name of the folder; by default, the name of the table.
        folder : path-like

        Returns
        -------
        Path
            The path of the description, which can be edited in a text editor.

        Raises
        ------
        OutputExistsError
            If the folder exists.
        UsageError
            For a table that already has a saved description, which the owner can change instead.
        OutputError
            If the folder cannot be written. Nothing is left there.
        ResourceError
            If the disk is full. Nothing is left there.
        """
        if self._own is None:
            raise UsageError(f"'{self.name}' is described by {self.path.name} already. Change that file instead.")
        name = check_dataset_name(name or self.name)
        place = Path(folder) / name
        if place.exists():
            raise OutputExistsError(f"{place} exists already and is left as it is. Try another name.")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with temporary.temporary_folder(place.parent) as whole:
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
        """Sanitize the table, and return a release in memory, which can be measured before a file is written.

        Parameters
        ----------
        model : str or Sanitizer
            Privacy models as text, such as `"k=10, t=0.2:illness"`, or a sanitizer, such as `Mondrian(k=10)`.
        algorithm : str
            The sanitizer that enforces models that are given as text, by the name of its class or by its title, such as
            "local recoding".
        rng : int, optional
            A seed for an experiment that can be repeated; by default, random numbers are fresh. A file for publication
            is always made with fresh random numbers, because a person who knows the seed can undo the noise.

        Returns
        -------
        SanitizedTable

        Raises
        ------
        SanitizationError
            If no release of this table satisfies the models.

        Examples
        --------
        >>> read("twelve").sanitize("k=4", algorithm="local recoding")
        SanitizedTable('twelve', LocalRecoding(KAnonymity(k=4)))
        """
        from privnb.publishing.model_spec import parse_sanitizer
        from privnb.workbench.release import SanitizedTable

        if not isinstance(model, str | Sanitizer):
            models = repr(model) if isinstance(model, PrivacyModel) else "k=10"
            raise UsageTypeError(
                f'`model` must be a sanitizer, or models in words such as "k=10"; got {expect.describe_value(model)}. '
                f"Try Mondrian({models})."
            )
        schema = self.dataset.schema
        made = model if isinstance(model, Sanitizer) else parse_sanitizer(model, algorithm, schema)
        return SanitizedTable(self, made, made.sanitize(self.dataset, rng=rng))

    def described_path(self) -> Path:
        """Return the path of the table's description, for functions that read a table by its name or description.

        Raises
        ------
        UsageError
            If the roles of a described table were changed in this object, because the description still states the old
            roles.
        """
        if self._roles:
            raise UsageError(
                f"the roles of '{self.name}' must be those of {self.path.name}; got others for "
                f"{', '.join(self._roles)}. Change the roles in that file, or in one of its studies."
            )
        return self.path

    def compare(self, sanitizers: Any, **options: Any) -> Comparison:
        """Compare sanitizers on this table; see `compare`."""
        from privnb.workbench.comparison import compare

        return compare(self, sanitizers, **options)

    def assess(self, file: str | os.PathLike[str], **options: Any) -> AssessedFile:
        """Assess a file that another tool made from this table, see `workbench.assessment.assess`."""
        from privnb.workbench.assessment import assess

        return assess(self, file, **options)

    def decide(self, policy: str | os.PathLike[str], **options: Any) -> TableDecision:
        """Search for the best release that complies with a policy; see `workbench.decision.decide`."""
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
    """Read a table from a file, a data frame or a database, and propose the role of each column.

    Parameters
    ----------
    source : str, path-like or data frame
        A file or a folder with the parts of a table; the name of a described dataset, such as "adult"; a pandas
        DataFrame, an Arrow table, a Polars frame or a DuckDB relation; or, if `connection` is given, a query in SQL.
    sensitive : str or list of str
        The columns with values of a person that nobody should learn.
    person : str, optional
        The column that identifies the person of a row, if people have several rows; privnb then counts people instead
        of rows.
    roles : dict of str to str or Role, optional
        The roles of other columns: "identifier", "quasi-identifier", "neutral", "weight" or "unused".
    study : str, optional
        The study that states the roles, for a described dataset.
    outside : str
        The treatment of values outside the domains of a described dataset: "refuse", "missing" or "widen".
    connection : object, optional
        A DBAPI or ADBC connection, or an engine of SQLAlchemy.
    name : str, optional
        The name of the table. By default, it is the name of the file or, for other sources, "table".
    encoding : str, optional
        The encoding of a text file that is not in UTF-8.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        For a table that cannot be read. The subclass SchemaError is raised for a table that cannot be described.
        Nothing is written.
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
    given = {each: _role(role, each) for each, role in (roles or {}).items()} | dict.fromkeys(names, Role.SENSITIVE)
    given |= {person: Role.PERSON} if person else {}
    if connection is None and isinstance(source, str | os.PathLike) and not _is_records(source):
        table = Table(find_description(source).resolve(), study, outside=outside)
        return table.set_roles(given) if given else table
    if study is not None:
        raise UsageError(
            f"`study` must be None for a table that is not described yet; got {study!r}. Leave out `study`."
        )
    if outside != "refuse":
        raise UsageError(
            f'`outside` must be "refuse" for a table that is not described yet; got {outside!r}. Leave out `outside`.'
        )
    stack = ExitStack()
    try:
        folder = stack.enter_context(temporary.temporary_folder())
        file, called, orders = _file(source, connection, name, folder)
        own = DescriptionEditor.open(*draft_table(file, called, folder / "data", encoding=encoding, orders=orders))
        own = _saved(own, {check_column(each, own.roles.chosen): role for each, role in given.items()})
        if file.parent == folder:
            file.unlink()  # the described copy remains
    except BaseException:
        stack.close()
        raise
    table = Table(own.path, own=own)
    weakref.finalize(table, stack.close)
    _ = table.frame, table.unique  # computed now, so that the table appears at once
    return table


def _is_records(source: str | os.PathLike[str]) -> bool:
    """Return whether a text is the path of a file or folder of records, and not the name of a described dataset."""
    path = Path(source)
    return path.suffix != ".toml" and (path.is_file() or path.suffix != "" or (path.is_dir() and not _described(path)))


def _described(folder: Path) -> bool:
    return any(folder.glob("*.toml"))


def _file(
    source: Any, connection: Any, name: str | None, folder: Path
) -> tuple[Path, str, Mapping[str, Sequence[str]]]:
    """Return the file and the name of a table, and the order of the categories of ordered columns.

    The orders are returned separately, because the file cannot contain them.

    A table in memory is first written to the folder.
    """
    if connection is None and isinstance(source, str | os.PathLike):
        return Path(source), name or dataset_name(Path(source)), {}
    made = sources.frame_to_arrow(source) if connection is None else sources.run_query(source, connection)
    path = folder / f"{check_dataset_name(name or 'table')}.parquet"
    try:
        sources.write_parquet(made, path)
    except OSError as error:
        raise _not_written(path.parent, error) from error
    return path, name or "table", sources.find_category_orders(made)


def _not_written(place: Path, error: OSError) -> PrivnbError:
    return output_error(f"{place} cannot be written: {error.strerror or error}. Nothing is left there.", error)


def _role(role: Any, column: str) -> Role:
    """Return the role with this name; `column` is the column in the error.

    Raises UsageError for an unknown role.
    """
    try:
        return Role(role)
    except ValueError:
        raise UsageError(
            f"the role of '{column}' must be one of {', '.join(Role)}; got {role!r}."
            f"{suggest([SHORT_ROLES.get(word := str(role).lower(), word)], [*Role])}"
        ) from None


def _saved(own: DescriptionEditor, given: Mapping[str, Role]) -> DescriptionEditor:
    """Return the table after the roles `given` have been written into its description and confirmed."""
    roles = own.roles.having(given)
    roles = _completed(roles)
    saved, lacks = own.save(roles)
    if lacks:
        raise SchemaError(" ".join(lacks))
    return saved


def _completed(roles: Roles) -> Roles:
    """Return the roles together with the assumptions that `Table.notes` states."""
    from dataclasses import replace

    return replace(
        roles,
        none_sensitive=not roles.names(Role.SENSITIVE),
        one_each=not roles.names(Role.PERSON),
    )
