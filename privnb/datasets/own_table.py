"""An owner's table and its description, opened to choose the role of each column, and saved.

One module: what is shown and what is written are of the same lines, which may have changed in between.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
import pandas as pd

from privnb.datasets import alerts, column_types, description
from privnb.datasets.column_types import Column
from privnb.datasets.column_values import Values
from privnb.datasets.dataset import cells, described_by, find, marks
from privnb.datasets.draft import Missing, domain_line, draft, drafted, missing_line, named
from privnb.datasets.roles import Roles
from privnb.microdata.schema import PUBLISHED, Role, SchemaError
from privnb.runtime import expect, progress, validation
from privnb.runtime.errors import OutputExistsError, ResourceError, UsageError
from privnb.runtime.unfinished import atomic_write
from privnb.runtime.validation import validated
from privnb.tables.notation import Notation
from privnb.tables.reading import parts

# What is described, or "" where only its name is given.
File = Annotated[
    str | os.PathLike[str],
    lambda name, value: None if isinstance(value, str) and not value else expect.path(name, value),
]
SAMPLE = 20_000  # records that are looked at for examples, and for what determines what


class Seen(NamedTuple):
    """A column as its owner sees it: what it is, how many different values and missing ones, examples that are no
    person's, why its role was proposed, and what to know of it.
    """

    name: str
    kind: str
    different: int
    missing: int
    examples: str
    reason: str
    alerts: list[str]


@dataclass(frozen=True, eq=False)
class OwnTable:
    """A description file as it was read, and the records that it describes.

    Parameters
    ----------
    path : Path
    text : str
        Of the description: what it has to be still, when it is written.
    cells : DataFrame
        A Categorical of texts per column.
    """

    path: Path
    text: str
    cells: pd.DataFrame

    @classmethod
    def open(cls, name: validation.Path, table: pd.DataFrame | None = None, *, may_have_studies: bool = False) -> Self:
        """Of a dataset, by its folder's name or the path of its description; `table`: its records, if they were read.

        Raises SchemaError for a description that cannot be read, that has studies, which `may_have_studies` takes to
        look at, or that names other columns than its table has; OSError for a file that cannot be read.
        """
        path = find(name).resolve()
        described = description.read(path)
        text = path.read_bytes().decode("utf-8")
        if described.get("studies") and not may_have_studies:
            raise SchemaError(
                f"{path.name} has studies, whose roles go before those of the columns. Change them there, in an editor."
            )
        table = cells(path.parent, described) if table is None else table
        if strange := set(described["columns"]) ^ set(table):
            raise SchemaError(f"{path.name} and its table differ in columns: {', '.join(sorted(strange))}. Correct it.")
        return cls(path, text, table[[*described["columns"]]])

    def __repr__(self) -> str:  # never the records
        return f"OwnTable('{self.path.stem}', {len(self.cells)} records, {len(self.cells.columns)} columns)"

    @cached_property
    def _described(self) -> dict[str, Any]:
        return tomllib.loads(self.text)

    @property
    def renamed(self) -> dict[str, str]:
        """What columns are called here, by their names in the file, where these differ."""
        return self._described.get("renamed", {})

    @property
    def studies(self) -> list[str]:
        """The studies of the description, whose roles go before those of the columns."""
        return [*self._described.get("studies", {})]

    @property
    def is_draft(self) -> bool:
        return bool(self._described.get("draft"))

    @cached_property
    def roles(self) -> Roles:
        """The `Roles` that stand in the description; of a draft nothing is said that was only assumed."""
        chosen = {name: Role(entry["role"]) for name, entry in self._described["columns"].items()}
        none = {role: not self.is_draft and role not in chosen.values() for role in (Role.SENSITIVE, Role.PERSON)}
        days = {name: entry["days"] for name, entry in self._described["columns"].items() if "days" in entry}
        return Roles(chosen, chosen, none[Role.SENSITIVE], none[Role.PERSON], days)

    @cached_property
    def day_forms(self) -> dict[str, list[str]]:
        """How the days of a column may be written, where that cannot be seen: `{column: forms}`."""
        found = {name: column_types.day_forms(each) for name, each in self._values.items()}
        return {name: forms for name, forms in found.items() if len(forms) > 1}

    @cached_property
    def guessed_missing(self) -> list[str]:
        """The columns of which a draft guessed that cells of another type count as missing: list of str."""
        return description.guessed_missing(self.text)

    @cached_property
    def copies(self) -> str:
        """Return a sentence if each record occurs more than once, see `alerts.doubled`; else an empty text."""
        return alerts.doubled(self.roles.before, self.cells, lambda names: alerts.repetition(self.cells[names]))

    @cached_property
    def _values(self) -> dict[str, Values]:
        layout, columns, marked = self._described.get("format", {}), self._described["columns"], marks(self._described)
        notation = Notation.of(layout)
        found = {
            name: Values.of(self.cells[name], mark, also=also).without_tails(notation)
            for name, (mark, *also) in ((name, marked[name]) for name in self.cells)
        }
        numeric = [name for name in found if isinstance(columns[name].get("domain"), Mapping)]
        return found | {name: found[name].written(notation) for name in numeric}

    @cached_property
    def _determined(self) -> list[tuple[str, str, float, float]]:
        return alerts.determined(self._some)

    @cached_property
    def _ordered_alike(self) -> list[tuple[str, str, float]]:
        domains = {name: entry.get("domain") for name, entry in self._described["columns"].items()}
        notation = Notation.of(self._described.get("format", {}))
        found = {}
        for name in (each for each, domain in domains.items() if isinstance(domain, Mapping)):
            texts = pd.Series(self._some[name].cat.categories, dtype=object)
            numbers = pd.to_numeric(notation.plain(texts), errors="coerce")
            found[name] = np.append(numbers.to_numpy(dtype=float), np.nan)[self._some[name].cat.codes]
        return alerts.ordered_alike(pd.DataFrame(found))

    @cached_property
    def _some(self) -> pd.DataFrame:
        """A random sample of many records: what ten people share in it they share in all."""
        rows = np.random.default_rng(0).permutation(len(self.cells))[:SAMPLE]
        return self.cells.iloc[np.sort(rows)]

    @progress.step("looking at the columns")
    def seen(self, roles: Roles) -> list[Seen]:
        """The columns as their owner sees them under these `roles`: list of `Seen`."""
        entries, why = self._described["columns"], description.reasons(self.text)
        kinds = {name: _kind(entries[name].get("domain")) for name in entries}
        numeric = {
            name: entries[name]["domain"].get("step", 1)
            for name, kind in kinds.items()
            if kind in ("numbers", "decimals")
        }
        guessed = [name for name in self.guessed_missing if name not in roles.missing]
        found = alerts.alerts(self._values, roles.chosen, numeric, self._determined, self._ordered_alike, guessed)
        return [
            Seen(name, kinds[name], each.different, each.missing, self._examples(name, roles), why.get(name, ""), own)
            for (name, each), own in zip(self._values.items(), found.values(), strict=True)
        ]

    def _examples(self, name: str, roles: Roles) -> str:
        """The ends of a domain of numbers; else values or patterns that ten people share."""
        domain = self._described["columns"][name].get("domain")
        if isinstance(domain, Mapping):
            return " to ".join(
                f"{end:,}" if abs(end) >= 10_000 else str(end) for end in (domain["low"], domain["high"])
            )
        hidden = {Role.IDENTIFIER, Role.PERSON} & {roles.chosen[name], roles.before[name]}
        keys = [self._some[key].cat.codes.to_numpy() + 1 for key in roles.names(Role.PERSON)]
        return alerts.examples(self._some[name], self._values[name], hidden=bool(hidden), people=next(iter(keys), None))

    @progress.step("saving the description")
    def save(self, roles: Roles, *, confirm: bool = True) -> tuple[Self, list[str]]:
        """Write the roles into the description: that is confirmed if nothing is missing and it loads, else a draft.

        Only the lines of roles change, the line `draft = true` goes, and a column that had no domain gets a proposed
        one with its hierarchy. Where the owner says how days are written, the hierarchy is made anew.

        Parameters
        ----------
        roles : Roles
        confirm : bool
            False: a draft stays one.

        Returns
        -------
        OwnTable
            As it is now.
        list of str
            Why it is still a draft, sentences; empty once it is confirmed.

        Raises
        ------
        SchemaError
            If the description was changed meanwhile, cannot be changed line by line, or was confirmed before and would
            no longer load; for days that are not written as is said. It is then as it was.
        OSError
            If it cannot be written.
        """
        if not self.path.is_file() or self.path.read_bytes() != self.text.encode():
            raise SchemaError(
                f"{self.path.name} was changed elsewhere since it was read here. Nothing is written. Open it again, "
                "and choose the roles anew."
            )
        entries = self._described["columns"]
        new = [name for name in roles.names(*PUBLISHED) if "domain" not in entries[name]]
        notation = Notation.of(self._described.get("format", {}))
        columns = [column_types.published(name, self._values[name], notation) for name in new]
        if again := [column.name for column in columns if column.odd and "missing" in entries[column.name]]:
            raise SchemaError(
                f"'{again[0]}' has cells that are not of its type. Add their texts to its list `missing` in "
                f"{self.path.name}, or correct the file. Nothing is written."
            )
        lines = {
            column.name: (missing_line(column.odd, column.odd) + "\n") * bool(column.odd) + domain_line(column)
            for column in columns
        }
        said = {name: form for name, form in roles.days.items() if form != self.roles.days.get(name)}
        answered = [column_types.days_in(name, self._values[name], form) for name, form in said.items()]
        days = {column.name: (said[column.name], column.reason) for column in answered}
        columns = [column for column in columns if column.name not in days] + answered
        texts = [
            description.edit(self.text, roles.chosen, lines, confirmed, days, roles.missing)
            for confirmed in (False, True)
        ]
        lacks = roles.lacks
        if lacks and not self.is_draft:
            raise SchemaError(f"Nothing is written. {' '.join(lacks)}")
        self._write(texts[confirm and not lacks], columns, anew=[*days])
        if confirm and not lacks:
            try:
                described_by(self.path, table=self.cells)
            except (ValueError, OSError) as error:
                self._write(texts[False] if self.is_draft else self.text)
                if not self.is_draft:
                    raise SchemaError(f"{error} {self.path.name} is as it was.") from error
                lacks = [str(error)]
        return replace(self, text=self.path.read_bytes().decode("utf-8")), lacks

    def _write(self, text: str, columns: Iterable[Column] = (), anew: Collection[str] = ()) -> None:
        """The description, whole or not at all, and the hierarchies that it lacks or that are made `anew`, for whoever
        may read it.
        """
        path = self.path
        folder = path.parent / "hierarchies" / "default"
        trees = {folder / f"{column.name}.csv": column.tree for column in columns if column.tree}
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
            if not os.access(path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            for place, tree in trees.items():
                if not place.exists() or place.stem in anew:
                    folder.mkdir(parents=True, exist_ok=True)
                    place.touch(mode)
                    tree.write(place)
            atomic_write(path, text, mode)
            path.chmod(mode)
        except OSError as error:
            raise ResourceError(f"{path} cannot be written: {error.strerror or error}. It is as it was.") from error


@validated
def described(file: File, name: str = "", folder: validation.Path = "data") -> Path:
    """The description of a table: the one that is there, else a new draft.

    Parameters
    ----------
    file : path-like
        As of `draft.draft`; empty: the table is described already.
    name : str
        Its folder's name, or the path of its description; empty: from the file's name.
    folder : path-like

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        Without a file and a name, and where the description is of another table than `file`.
    OSError, SchemaError
        As `draft.draft`.
    """
    if isinstance(file, str) and not file:
        if not name:
            raise UsageError("which table? Give a FILE to describe, or the NAME of one that is described.")
        return find(name)
    file = Path(file)
    path = Path(folder) / (name or named(file)) / f"{name or named(file)}.toml"
    if not path.is_file():
        return draft(file, name or None, folder)
    sums = {sum for entry in description.read(path)["files"] for sum in entry.get("made_of", [entry.get("sha256")])}
    if {description.checksum(each) for each in parts(file)} != sums:
        raise UsageError(
            f"{path} describes another table than {file}, or the same before it was corrected. Give it another name, "
            "or take its roles over: `privnb describe FILE --again`."
        )
    return path


@validated
def redescribed(
    file: validation.Path,
    name: str | None = None,
    folder: validation.Path = "data",
    missing: Missing = None,
    encoding: str | None = None,
) -> tuple[OwnTable, list[str]]:
    """A corrected file, drafted anew with the roles, days and marks of missing values of its former description.

    It is confirmed if that was and no column is new. The former folder is `<name>-before` then.

    Parameters
    ----------
    file, name, folder, missing, encoding
        As of `draft.draft`; what means missing by the former description need not be named.

    Returns
    -------
    table : OwnTable
    said : list of str
        What to know of it, sentences.

    Raises
    ------
    OSError, SchemaError, ValueError
        As `draft.draft` and `OwnTable.save`; and if `<name>-before` is there. All is as it was then.
    """
    file = Path(file)
    place = Path(folder) / (name or named(file))
    path, aside = place / f"{place.name}.toml", place.with_name(f"{place.name}-before")
    described = description.read(path)
    former = OwnTable(path, path.read_bytes().decode("utf-8"), pd.DataFrame())
    if aside.exists():
        raise OutputExistsError(
            f"{aside} exists already, and the former description goes there. Delete it, or move it away. Nothing "
            "is changed."
        )
    marked = {column: entry.get("missing", ()) for column, entry in described["columns"].items()}
    place.rename(aside)
    try:
        made = OwnTable.open(*drafted(file, place.name, folder, missing, marked, encoding))
        chosen = {column: role for column, role in former.roles.chosen.items() if column in made.cells}
        days = {column: form for column, form in former.roles.days.items() if column in made.cells}
        new = [column for column in made.cells if column not in chosen]
        roles = replace(made.roles.having(chosen), days={**made.roles.days, **days})
        roles = replace(roles, none_sensitive=former.roles.none_sensitive, one_each=former.roles.one_each)
        made, lacks = made.save(roles, confirm=not (former.is_draft or new))
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        aside.rename(place)
        raise
    more = [f"New: {', '.join(new)}. Say what they are."] if new else []
    return made, [
        *more,
        *lacks,
        f"Domains and hierarchies were read anew. What an editor changed in the former ones, and the former records, "
        f"stand in {aside}. Delete it when you need it no longer.",
    ]


def _kind(domain: object) -> str:
    """What a column is, in a word, as its description says."""
    if isinstance(domain, Mapping):
        return "numbers" if domain.get("step", 1) == 1 else "decimals"
    return "text" if domain is None else "categories"
