"""The argument TABLE of most subcommands, and the roles of the table's columns for one run."""

from __future__ import annotations

import contextlib
import os
import shutil
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from privnb.cli.arguments import has_roles, parse_role_options
from privnb.runtime import temporary
from privnb.runtime.errors import UsageError
from privnb.runtime.notices import Notice

if TYPE_CHECKING:
    from privnb.microdata.schema import Role


class NamedTable(NamedTuple):
    """A table that is an argument of a command line.

    Attributes
    ----------
    name : str
        The name on the command line.
    description : Path or None
        The file that describes the table; None for files without a description.
    guessed : workbench.Table or None
        The table if it has no description and is read for this run; the inferred description is removed at the end.
    """

    name: str
    description: Path | None
    guessed: Any = None

    @property
    def is_described(self) -> bool:
        """Whether the table has a description."""
        return self.description is not None


def find_table(name: str) -> NamedTable:
    """Return the table that a name means.

    The name is that of a file, of a folder with the parts of a table, of a described dataset, or of a `.toml` file.

    A file counts as described if a confirmed description in `data/` was drafted from the file. A folder that contains a
    description with the name of the folder is a described dataset.

    Raises
    ------
    MissingFileError
        If there is no such table.
    """
    return NamedTable(name, _drafted_from(Path(name)) if is_file(name) else resolve_description(name))


def resolve_description(name: str) -> Path:
    """Return the path of the description of a dataset; `name` is the name of the dataset or a path."""
    from privnb.datasets.dataset import find_description

    path = Path(name)
    own = path / f"{path.resolve().name}.toml"
    return own if path.suffix != ".toml" and own.is_file() else find_description(name)


def drop_own_description(args: Namespace) -> None:
    """Clear `--description` if the option states the table itself, because the table's description applies anyway.

    Raises
    ------
    UsageError
        If the table is a described dataset, but `--description` states another dataset.
    """
    if not args.description or is_file(args.table):
        return
    if resolve_description(args.table).resolve() != resolve_description(args.description).resolve():
        raise UsageError(
            f"--description must name {args.table} or be left out, because {args.table} is a described dataset; got "
            f"{args.description}. Leave out --description, or give a file as the table."
        )
    args.description = None


def is_file(name: str) -> bool:
    """Return whether `name` is the path of a file or of a folder with parts, and not of a description."""
    path = Path(name)
    return path.suffix != ".toml" and path.exists() and not (path / f"{path.resolve().name}.toml").is_file()


def _drafted_from(path: Path) -> Path | None:
    """Return the confirmed description in `data/` that was drafted from a file; None if there is none."""
    from privnb.datasets import description
    from privnb.datasets.draft import dataset_name
    from privnb.tables import reading

    place = Path("data", dataset_name(path), f"{dataset_name(path)}.toml")
    if not place.is_file():
        return None
    text = description.read_description(place)
    sums = {each for entry in text["files"] for each in entry.get("made_of", [entry.get("sha256")])}
    if text.get("draft") or {description.checksum(each) for each in reading.list_parts(path)} != sums:
        return None
    return place


def describe_if_needed(args: Namespace) -> NamedTable:
    """Return the table of a command that needs a description.

    If the files have no description, a description is drafted for this run, with the roles that the options state.

    Parameters
    ----------
    args : Namespace
        The arguments of the command, including `table`.

    Raises
    ------
    InputError
        For files that cannot be described, such as a table without quasi-identifiers.
    """
    table = find_table(args.table)
    if table.description is not None:
        return table
    from privnb.workbench.table import read

    found = read(table.name)
    if has_roles(args):
        found.set_roles(parse_role_options(args, found.roles))
    return NamedTable(table.name, found.path, found)


ASSUMED = {  # the sentences of `workbench.table.ASSUMED`, for the command line
    "no-sensitive-column": "No column is sensitive. Use --sensitive to name the columns that nobody should learn.",
    "each-row-a-person": "Each row counts as one person. If people have several rows, name their column with --person.",
}


def list_assumptions(table: NamedTable) -> list[Notice]:
    """Return the assumptions about a table without a description, as warnings."""
    if table.guessed is None:
        return []
    told = f"The roles of the columns are guessed. Describe the table with `privnb describe {table.name}`."
    return [Notice(told, "roles-guessed"), *(Notice(ASSUMED[code], code) for code in table.guessed.assumed)]


def read_roles(args: Namespace, table: NamedTable) -> Mapping[str, Role]:
    """Return the roles that the options of a command give to the columns of a table."""
    from privnb.datasets import description
    from privnb.datasets.undescribed_files import UndescribedTable
    from privnb.microdata.schema import Role
    from privnb.runtime.names import rename_invalid

    if not has_roles(args) or table.guessed is not None:
        return {}
    if table.description is None:
        names = UndescribedTable.of(table.name).names
        renamed = rename_invalid(names)
        return parse_role_options(args, [renamed.get(name, name) for name in names], renamed)
    text = description.read_description(table.description)
    found = parse_role_options(args, [*text["columns"]], text.get("renamed", {}))
    if Role.PERSON in found.values():  # the described person column no longer applies
        keys = [name for name, entry in text["columns"].items() if entry["role"] == Role.PERSON]
        found = dict.fromkeys(keys, Role.IDENTIFIER) | found
    return found


@contextlib.contextmanager
def name_for_notebooks(args: Namespace, notebooks: Path) -> Iterator[str]:
    """Yield the name by which the notebooks of a folder load the table of a command.

    If the command has no table, the name is empty, because the notebooks have a default table. If the options state
    roles that differ from the roles in the description, the name is the path of a copy of the description with these
    roles; the copy is removed at the end.

    Parameters
    ----------
    args : Namespace
    notebooks : Path
        The folder of the notebooks.
    """
    from privnb.datasets.dataset import find_description, load

    if args.table is None and not has_roles(args):
        yield ""
        return
    if args.table is None:
        args.table = "adult"
    table = describe_if_needed(args)
    assert table.description is not None
    roles = read_roles(args, table)
    with contextlib.ExitStack() as stack:
        path = table.description
        if roles:
            path = copy_in_roles(path, roles, stack.enter_context(temporary.temporary_folder()))
        load(path)
        own = notebooks.parent / "data" / path.stem / path.name
        yield (
            path.stem if path.resolve() == own and find_description(path.stem).resolve() == own else str(path.resolve())
        )


def copy_in_roles(path: Path, roles: Mapping[str, Role], folder: Path) -> Path:
    """Write a copy of a description and of its files to a folder, and replace the roles of some columns.

    Parameters
    ----------
    path : Path
        The path of the description.
    roles : dict of str to Role
    folder : Path

    Returns
    -------
    Path
        The path of the copy of the description.
    """
    import tomlkit

    from privnb.datasets import description
    from privnb.datasets.dataset import list_data_files
    from privnb.microdata.schema import Role

    place = folder / path.stem
    files = list_data_files(path.parent, description.read_description(path))
    for file in {*files, *path.parent.rglob("*.csv")}:  # these include the hierarchies
        copy = place / file.relative_to(path.parent)
        copy.parent.mkdir(parents=True, exist_ok=True)
        _linked(file, copy)
    text: Any = tomlkit.parse(path.read_text(encoding="utf-8"))
    for study in text.get("studies", {}).values():
        for role in Role:
            kept = [name for name in study.get(role, ()) if name not in roles]
            new = kept + [name for name, own in roles.items() if own is role]
            if new or role in study:
                study[str(role)] = new
    if "studies" not in text:
        for name, role in roles.items():
            text["columns"][name]["role"] = str(role)
    made = place / path.name
    made.write_text(tomlkit.dumps(text), encoding="utf-8")
    return made


def _linked(file: Path, copy: Path) -> None:
    """Make a link to a file at the path `copy`; if the disk does not support links, copy the file."""
    try:
        os.link(file.resolve(), copy)
    except OSError:
        shutil.copyfile(file, copy)
