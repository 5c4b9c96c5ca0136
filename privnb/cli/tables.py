"""TABLE, the first argument of most subcommands: one name for a table in all of them, and its roles for this run."""

from __future__ import annotations

import contextlib
import os
import shutil
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from privnb.cli.arguments import asked_roles, has_roles
from privnb.runtime import unfinished
from privnb.runtime.notices import Notice

if TYPE_CHECKING:
    from privnb.microdata.schema import Role


class Table(NamedTuple):
    """A table as a command line names it.

    Attributes
    ----------
    name : str
        As it was given.
    description : Path or None
        The file that describes it; None for files that nobody has described.
    guessed : workbench.Table or None
        A table that nobody has described, as it was read for this run: its description goes with it.
    """

    name: str
    description: Path | None
    guessed: Any = None

    @property
    def is_described(self) -> bool:
        """Whether a description says what its columns are."""
        return self.description is not None


def table_of(name: str) -> Table:
    """Return the table that a person names: a file, a folder of its parts, a described dataset, or a `.toml` file.

    A file that is the one that a confirmed description in `data/` was drafted from is described. A folder that holds
    the description of its own name is that dataset.

    Raises
    ------
    MissingFileError
        For a name that is neither.
    """
    return Table(name, _drafted_from(Path(name)) if is_file(name) else described(name))


def described(name: str) -> Path:
    """Return the description that a person names, by the name of its dataset or the path of its file."""
    from privnb.datasets.dataset import find

    path = Path(name)
    own = path / f"{path.resolve().name}.toml"
    return own if path.suffix != ".toml" and own.is_file() else find(name)


def is_file(name: str) -> bool:
    """Whether a person names a file or a folder of its parts, and no description."""
    path = Path(name)
    return path.suffix != ".toml" and path.exists() and not (path / f"{path.resolve().name}.toml").is_file()


def _drafted_from(path: Path) -> Path | None:
    """Return the confirmed description in `data/` that was drafted from a file; None if there is none."""
    from privnb.datasets import description
    from privnb.datasets.draft import named
    from privnb.tables import reading

    place = Path("data", named(path), f"{named(path)}.toml")
    if not place.is_file():
        return None
    text = description.read(place)
    sums = {each for entry in text["files"] for each in entry.get("made_of", [entry.get("sha256")])}
    if text.get("draft") or {description.checksum(each) for each in reading.parts(path)} != sums:
        return None
    return place


def described_table(args: Namespace) -> Table:
    """Return the table of a command that needs a description.

    Of files that nobody has described one is drafted, in the roles of the options, for as long as this process runs.

    Parameters
    ----------
    args : Namespace
        With `table`.

    Raises
    ------
    InputError
        For files that cannot be described, such as a table without quasi-identifiers.
    """
    table = table_of(args.table)
    if table.description is not None:
        return table
    from privnb.workbench.table import read

    found = read(table.name)
    if has_roles(args):
        found.set_roles(asked_roles(args, found.roles))
    return Table(table.name, found.path, found)


ASSUMED = {  # how a command line says what `workbench.table.ASSUMED` says
    "no-sensitive-column": "No column is sensitive. Name with --sensitive the columns that nobody should learn.",
    "each-row-a-person": "Each row counts as one person. If people have several rows, name their key with --person.",
}


def assumed(table: Table) -> list[Notice]:
    """Return what was assumed about a table that nobody has described, one warning for each sentence."""
    if table.guessed is None:
        return []
    told = f"The roles of the columns are a guess. Describe the table with `privnb describe {table.name}`."
    return [Notice(told, "roles-guessed"), *(Notice(ASSUMED[code], code) for code in table.guessed.assumed)]


def roles_of(args: Namespace, table: Table) -> Mapping[str, Role]:
    """Return the roles that the options of a command give to columns of a table; none if there are no such options."""
    from privnb.datasets import description
    from privnb.datasets.unknown_files import Unknown
    from privnb.microdata.schema import Role
    from privnb.runtime.names import renamed_in

    if not has_roles(args) or table.guessed is not None:
        return {}
    if table.description is None:
        names = Unknown.of(table.name).names
        renamed = renamed_in(names)
        return asked_roles(args, [renamed.get(name, name) for name in names], renamed)
    text = description.read(table.description)
    found = asked_roles(args, [*text["columns"]], text.get("renamed", {}))
    if Role.PERSON in found.values():  # the key that is described is one no longer
        keys = [name for name, entry in text["columns"].items() if entry["role"] == Role.PERSON]
        found = dict.fromkeys(keys, Role.IDENTIFIER) | found
    return found


@contextlib.contextmanager
def for_notebooks(args: Namespace, notebooks: Path) -> Iterator[str]:
    """Yield what the notebooks of a folder call the table of a command, in the roles of its options.

    Without a table it is empty: the notebooks name one themselves. Other roles than the description's are in a copy of
    that, which goes at the end.

    Parameters
    ----------
    args : Namespace
    notebooks : Path
        Their folder.
    """
    from privnb.datasets.dataset import find, load

    if args.table is None and not has_roles(args):
        yield ""
        return
    if args.table is None:
        args.table = "adult"
    table = described_table(args)
    assert table.description is not None
    roles = roles_of(args, table)
    with contextlib.ExitStack() as stack:
        path = table.description
        if roles:
            path = in_roles(path, roles, stack.enter_context(unfinished.folder()))
        load(path)
        own = notebooks.parent / "data" / path.stem / path.name
        yield path.stem if path.resolve() == own and find(path.stem).resolve() == own else str(path.resolve())


def in_roles(path: Path, roles: Mapping[str, Role], folder: Path) -> Path:
    """Write a copy of a description and its files to a folder, in which some columns have other roles.

    Parameters
    ----------
    path : Path
        Of the description.
    roles : dict of str to Role
    folder : Path

    Returns
    -------
    Path
        Of the description there.
    """
    import tomlkit

    from privnb.datasets import description
    from privnb.datasets.dataset import data_files
    from privnb.microdata.schema import Role

    place = folder / path.stem
    files = data_files(path.parent, description.read(path))
    for file in {*files, *path.parent.rglob("*.csv")}:  # hierarchies among them
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
    """Put a file at another place without copying it, where the disk can."""
    try:
        os.link(file.resolve(), copy)
    except OSError:
        shutil.copyfile(file, copy)
