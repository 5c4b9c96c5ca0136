"""The editor of the hierarchy of one column: a tree of groups, or the cuts of a domain of numbers."""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, Self, cast

import numpy as np

from privnb.datasets import description
from privnb.datasets.dataset import Dataset, DatasetDescription
from privnb.datasets.description_editor import DescriptionEditor
from privnb.datasets.repairs import COUNTED
from privnb.datasets.roles import Roles
from privnb.microdata import cuts as cut_points
from privnb.microdata.counts import count_people_by_group
from privnb.microdata.hierarchy import Taxonomy
from privnb.microdata.hierarchy.categories import list_values
from privnb.microdata.hierarchy.group_trees import GroupTree
from privnb.microdata.schema import Numbers, Role, SchemaError
from privnb.microdata.withholding import Margin, is_few, suppress
from privnb.runtime.arrays import IntArray
from privnb.runtime.errors import output_error
from privnb.runtime.temporary import atomic_write

MOST_VALUES = 2_000  # the maximum number of values of a tree that an editor shows
BARS = 40  # the maximum number of bars of a histogram

Cuts = float | tuple[float, ...]  # the width of all intervals, or the numbers at which intervals begin


class Bar(NamedTuple):
    """A bar of a histogram: the numbers from `low` to below `high`, and the number of people with such a number."""

    low: float
    high: float
    people: int


@dataclass(frozen=True, eq=False)
class HierarchyEditor:
    """The hierarchy of one column of a description, and the content of its files when they were read.

    Parameters
    ----------
    table : DescriptionEditor
        The description, which must not have studies.
    name : str
        The column.
    tree : GroupTree or None
        The groups; None for numbers without a tree.
    cuts : float or tuple of float, or None
        The cuts of numbers without a tree; None if there is a tree.
    domain : Numbers or Categories
        The domain of the column, with the `cuts`.
    file : bytes or None
        The content of the file of the tree when it was read; None if there was no file.
    bounds : (float, float) or None
        The lowest and the highest number, if the owner has stated them in this editor.
    """

    table: DescriptionEditor
    name: str
    tree: GroupTree | None
    cuts: Cuts | None
    domain: Any
    file: bytes | None
    bounds: tuple[float, float] | None = None

    @classmethod
    def open(cls, table: DescriptionEditor, name: str) -> Self:
        """Open the hierarchy of a column.

        Raises SchemaError for a description with studies, for a column without a domain, for a column with too many
        values, and for a hierarchy that is not valid.
        """
        if table.studies:
            raise SchemaError(
                f"{table.path.name} has studies, which choose the hierarchies of their columns. Edit the files in "
                "hierarchies/ in a text editor."
            )
        text = tomllib.loads(table.text)
        if "domain" not in text["columns"][name]:
            raise SchemaError(f"'{name}' has no domain yet. Save the roles first, which adds a proposed domain.")
        described = DatasetDescription.of_text(table.path, text)
        domain: Any = described.columns[name].domain
        path = described.hierarchy_file(name)
        file = path.read_bytes() if path.is_file() else None
        if isinstance(domain, Numbers) and file is None:
            stated = text["columns"][name]["domain"].get("cuts", cut_points.grain(domain))
            return cls(table, name, None, tuple(stated) if isinstance(stated, list) else stated, domain, None)
        size = domain.size if isinstance(domain, Numbers) else len(domain.values)
        if size > MOST_VALUES:
            raise SchemaError(
                f"'{name}' has {size:,} values, and this page shows at most {MOST_VALUES:,}. Edit the file "
                f"{path.relative_to(table.path.parent)} in a text editor or a spreadsheet."
            )
        tree = GroupTree.of(cast(Taxonomy, described.hierarchy(name)), list_values(domain))
        return cls(table, name, tree, None, domain, file)

    def with_tree(self, tree: GroupTree) -> Self:
        """Return the editor with another tree, which may still have empty groups."""
        return replace(self, tree=tree)

    def with_cuts(self, cuts: Cuts) -> Self:
        """Return the editor with other cuts; raises SchemaError for cuts that do not divide the domain."""
        return replace(self, cuts=cuts, domain=replace(self.domain, cuts=cuts))

    def with_bounds(self, low: float, high: float) -> Self:
        """Return the editor with the lowest and the highest number that anybody can have, as the owner states them.

        Cuts outside of the bounds are dropped.

        Raises
        ------
        SchemaError
            If a record has a number outside of the bounds, if the bounds do not fit the step of the numbers, or if a
            tree groups the numbers.
        """
        if self.tree is not None:
            raise SchemaError(
                f"a tree groups the numbers of '{self.name}', and each number needs a line there. Change the bounds in "
                f"{self.table.path.name} and the tree in hierarchies/ in a text editor."
            )
        values = self.table.numbers(self.name)
        if (values < low).any() or (values > high).any():
            raise SchemaError(f"some records of '{self.name}' lie outside of {low:g} to {high:g}. Give wider bounds.")
        cuts = tuple(each for each in self.cuts if low < each <= high) if isinstance(self.cuts, tuple) else self.cuts
        domain = replace(self.domain, low=low, high=high, cuts=cuts, widened=False)
        return replace(self, cuts=cuts, domain=domain, bounds=(low, high))

    @property
    def is_proposed(self) -> bool:
        """Whether the bounds were read from the records, and the owner has not stated them."""
        return self.bounds is None and self.name in description.find_proposals(self.table.text)

    @property
    def points(self) -> tuple[float, ...]:
        """The numbers at which public intervals begin, without the lowest number of the domain."""
        return cast(tuple[float, ...], self.domain.cuts)

    def has_changed(self, other: HierarchyEditor) -> bool:
        """Return whether the hierarchy differs from that of another editor of the same column."""
        return (self.tree, self.cuts, self.bounds) != (other.tree, other.cuts, other.bounds)

    def load(self, roles: Roles) -> Dataset:
        """Return the dataset with this hierarchy and these `roles`, without writing anything.

        Raises SchemaError for a table that does not fit its description, and for a tree with an empty group.
        """
        text = tomllib.loads(self.table.text)
        if self.cuts is not None:
            text["columns"][self.name]["domain"]["cuts"] = self.cuts
        if self.bounds is not None:
            text["columns"][self.name]["domain"] |= {"low": self.bounds[0], "high": self.bounds[1]}
        made = DatasetDescription.of_text(self.table.path, text, roles=roles.chosen).load(self.table.cells)
        if self.tree is None or self.name not in made.hierarchies:
            return made
        return replace(made, table=made.cells, hierarchies={**made.hierarchies, self.name: self.tree.taxonomy()})

    def people(self, roles: Roles) -> dict[str, int]:
        """Return the number of people with each value of a tree, `{value: people}`.

        A count that concerns fewer than ten people, and a count from which such a count follows, is left out. If the
        column has many values, no counts are returned.
        """
        if self.tree is None or len(self.tree.values) > COUNTED:
            return {}
        described = DatasetDescription.of_text(self.table.path, tomllib.loads(self.table.text))
        column = described.with_one_mark(self.table.cells[[self.name]])[self.name]
        people = self._people(roles)
        groups = column.cat.codes.to_numpy().astype(np.int64) + 1  # 0 is a missing value without a mark
        missing, *counts = count_people_by_group(groups, people, len(column.cat.categories) + 1).tolist()
        found = dict(zip(map(str, column.cat.categories), counts, strict=True))
        if people is None:
            margins = [Margin(len(column), (*found, ""), rest=False)]
        else:  # a person with several rows may have several values
            margins = [Margin(int(people.max()) + 1, (each,)) for each in found]
        hidden = suppress(dict(sorted(found.items(), key=lambda pair: -pair[1])) | {"": missing}, margins)
        return {value: found[value] for value in self.tree.values if value in found and value not in hidden}

    def histogram(self, roles: Roles) -> list[Bar]:
        """Return a histogram of numbers, in which each bar has no people or at least ten people.

        The bars do not depend on the cuts, so that moving a cut does not disclose the number of people between two
        cuts. Neighboring bars with few people are merged. The result is empty for fewer than ten people.
        """
        values, domain = self.table.numbers(self.name), self.domain
        width = float(cut_points.round_number(max(Decimal(str(domain.width)) / BARS, Decimal(str(domain.step)))))
        first = np.floor(domain.low / width)
        edges = np.arange(first, np.floor(domain.high / width) + 2) * width
        place = np.clip(np.floor(values / width) - first, 0, len(edges) - 2)
        known, people = ~np.isnan(values), self._people(roles)
        own = None if people is None else people[known]
        counts = count_people_by_group(place[known].astype(np.int64), own, len(edges) - 1)
        bars: list[Bar] = []
        for low, high, count in zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True):
            if bars and is_few(bars[-1].people):
                bars[-1] = Bar(bars[-1].low, high, bars[-1].people + count)
            else:
                bars.append(Bar(low, high, count))
        while len(bars) > 1 and is_few(bars[-1].people):
            last = bars.pop()
            bars[-1] = Bar(bars[-1].low, last.high, bars[-1].people + last.people)
        return [] if is_few(sum(bar.people for bar in bars)) else bars

    def _people(self, roles: Roles) -> IntArray | None:
        keys = [self.table.cells[key].cat.codes.to_numpy() for key in roles.names(Role.PERSON)]
        return np.unique(keys[0], return_inverse=True)[1] if keys else None

    def save(self) -> DescriptionEditor:
        """Write the tree to its file, or the cuts into the description, and return the saved description.

        A file is written completely or not at all.

        Raises
        ------
        SchemaError
            If the description or the file of the tree was changed since it was read, or if the tree is not valid. No
            file changes then.
        OSError
            If a file cannot be written.
        """
        path = self.table.path
        target = path.parent / "hierarchies" / "default" / f"{self.name}.csv"
        changed = [path] if not path.is_file() or path.read_bytes() != self.table.text.encode() else []
        changed += [target] if (target.read_bytes() if target.is_file() else None) != self.file else []
        if changed:
            raise SchemaError(
                f"{changed[0].name} was changed elsewhere since it was read here. Nothing is written. Close the "
                "hierarchy and open it again."
            )
        if self.tree is None:
            text = description.edit_numbers(self.table.text, self.name, cast(Cuts, self.cuts), self.bounds)
            self._write(path, text)
            return replace(self.table, text=text)
        self._write(target, self.tree.taxonomy().file_text())
        return self.table

    def _write(self, target: Path, content: str) -> None:
        """Write a file with the permissions of the description, completely or not at all."""
        try:
            mode = stat.S_IMODE(self.table.path.stat().st_mode)
            if target.exists() and not os.access(target, os.W_OK):
                raise PermissionError(13, os.strerror(13))
            target.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(target, content, mode)
            target.chmod(mode)
        except OSError as error:
            said = f"{target} cannot be written: {error.strerror or error}. It is unchanged."
            raise output_error(said, error) from error


def parse_cuts(text: str) -> Cuts:
    """Return the cuts that a text states: "every 10" for intervals of one width, or a list such as "18, 65".

    Raises SchemaError, with the place in the list, for a part that is not a number.

    >>> parse_cuts("every 10"), parse_cuts("18, 65"), parse_cuts("")
    (10, (18, 65), ())
    """
    stated = text.strip()
    if stated.lower().startswith("every"):
        return parse_number(stated[5:].strip(), "the width after `every`")
    parts = [each.strip() for each in stated.replace(";", ",").split(",")] if stated else []
    return tuple(parse_number(each, f"cut {place} of {len(parts)}") for place, each in enumerate(parts, 1))


def write_cuts(cuts: Cuts) -> str:
    """Return cuts as the text that `parse_cuts` reads.

    >>> write_cuts(10), write_cuts((18, 65.5))
    ('every 10', '18, 65.5')
    """
    return ", ".join(f"{each:.12g}" for each in cuts) if isinstance(cuts, Sequence) else f"every {cuts:.12g}"


def parse_number(text: str, what: str) -> float:
    """Return a finite number, as an int if it is whole; raises SchemaError, whose text calls the number `what`."""
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise SchemaError(f"{what} must be a number such as 18 or 0.5; got {text!r}. Correct this part.")
    return int(number) if number.is_integer() else number
