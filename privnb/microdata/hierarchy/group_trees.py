"""Trees of groups that can be edited, step by step or as indented text, and that become a `Taxonomy`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

from privnb.microdata.hierarchy.categories import Taxonomy
from privnb.microdata.hierarchy.generalization import SUPPRESSED
from privnb.microdata.schema import SchemaError

ROOT = SUPPRESSED  # the group of all values
INDENT = 2  # the number of spaces by which a text indents the members of a group


@dataclass(frozen=True)
class GroupTree:
    """A tree of groups of values; each edit returns another tree.

    A group may hold values and other groups, and branches may have different depths. An edited tree may have empty
    groups, which `taxonomy` refuses.

    Parameters
    ----------
    name : str
        The name of the attribute.
    values : tuple of str
        The values of the domain, which also states the order in which members of a group are shown.
    parents : dict of str to str
        The group that holds each value and each group; `ROOT` is the group of all values.
    levels : dict of str to int
        The lowest level of each group that is known, from 1. A group is at least one level above its members.
    """

    name: str
    values: tuple[str, ...]
    parents: Mapping[str, str]
    levels: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, tree: Taxonomy, values: Sequence[str]) -> Self:
        """Return the groups of a taxonomy; `values` are its leaves, in the order of the domain."""
        parents: dict[str, str] = {}
        levels: dict[str, int] = {}
        for row in tree.rows:
            path = row[: row.index(ROOT)]
            distinct = [*dict.fromkeys(path)]
            for label, parent in zip(distinct, [*distinct[1:], ROOT], strict=True):
                parents[label] = parent
            for level, label in enumerate(path):
                if label != row[0]:
                    levels[label] = min(level, levels.get(label, level))
        return cls(tree.name, tuple(values), parents, levels)

    @cached_property
    def groups(self) -> list[str]:
        """The names of all groups but `ROOT`; each group precedes its members."""
        return [each for each, _ in self.walk() if each not in self._places]

    def members(self, group: str) -> list[str]:
        """Return the values and groups in a group, in the order of their first values; empty groups come last."""
        return self._members.get(group, [])

    def walk(self, group: str = ROOT, depth: int = 0) -> Iterator[tuple[str, int]]:
        """Yield each value and group below a group, and its depth; members follow their group."""
        for each in self.members(group):
            yield each, depth
            yield from self.walk(each, depth + 1)

    def is_value(self, name: str) -> bool:
        """Return whether a name is that of a value and not of a group."""
        return name in self._places

    @cached_property
    def empty_groups(self) -> list[str]:
        """The groups that hold nothing."""
        return [each for each in self.groups if not self.members(each)]

    def move(self, names: Collection[str], into: str) -> Self:
        """Return the tree in which a group holds some values and groups.

        Raises SchemaError for an unknown name, and for a group that would be inside of itself.
        """
        for each in names:
            self._check(each)
        self._check_group(into)
        above = [into, *self._above(into)]
        if inside := [each for each in names if each in above]:
            raise SchemaError(f"the group '{inside[0]}' cannot be moved into itself. Choose another group.")
        return replace(self, parents={**self.parents, **dict.fromkeys(names, into)})

    def add(self, group: str, names: Collection[str] = ()) -> Self:
        """Return the tree with a new group, which holds the values and groups `names`.

        If all `names` are in the same group, the new group is in this group, too, and otherwise in the group of all
        values. Raises SchemaError for a name that the tree already has.
        """
        group = self._check_new(group)
        own = [each for each in names if not {*names}.intersection(self._above(each))]  # the others move with them
        for each in own:
            self._check(each)
        above = {self.parents[each] for each in own}
        into = above.pop() if len(above) == 1 else ROOT
        return replace(self, parents={**self.parents, group: into, **dict.fromkeys(own, group)})

    def rename(self, group: str, name: str) -> Self:
        """Return the tree in which a group has another name.

        Raises SchemaError for a name that the tree already has.
        """
        self._check_group(group, root=False)
        name = self._check_new(name)
        own = {group: name}
        parents = {own.get(each, each): own.get(parent, parent) for each, parent in self.parents.items()}
        return replace(self, parents=parents, levels={own.get(each, each): n for each, n in self.levels.items()})

    def remove(self, group: str) -> Self:
        """Return the tree without a group, whose members move into the group above it."""
        self._check_group(group, root=False)
        above = self.parents[group]
        parents = {each: above if parent == group else parent for each, parent in self.parents.items() if each != group}
        return replace(self, parents=parents, levels={each: n for each, n in self.levels.items() if each != group})

    def text(self) -> str:
        """Return the tree as text, with one value or group per line, indented below its group.

        >>> row = ("9th", "school", "*"), ("10th", "school", "*"), ("Masters", "Masters", "*")
        >>> print(GroupTree.of(Taxonomy("education", row), ("9th", "10th", "Masters")).text())
        school
          9th
          10th
        Masters
        """
        return "\n".join(" " * INDENT * depth + _quote(each) for each, depth in self.walk())

    def read(self, text: str) -> Self:
        """Return the tree of a text in the form that `text` writes.

        Raises SchemaError, with the number of the line, for a repeated value or group, for a value with members, for a
        group without members, and for uneven indentation; also raises SchemaError if values are missing.
        """
        lines = [
            (number, len(line) - len(line.lstrip(" ")), _unquote(line.strip(), number))
            for number, line in enumerate(text.replace("\t", " " * INDENT).splitlines(), 1)
            if line.strip()
        ]
        parents: dict[str, str] = {}
        where: dict[str, int] = {}
        above: list[tuple[int, str]] = []  # the indentation and the name of each group that holds the line
        indented: dict[str, int] = {}  # the indentation of the members of each group
        for place, (number, indent, name) in enumerate(lines):
            while above and above[-1][0] >= indent:
                above.pop()
            parent = above[-1][1] if above else ROOT
            if indent != indented.setdefault(parent, indent):
                raise _wrong(
                    number,
                    f"'{name}' is indented by {indent} spaces, and the line above it in the same group "
                    f"by {indented[parent]}. Indent all members of a group equally",
                )
            if name in where:
                raise _wrong(number, f"'{name}' is repeated, after line {where[name]}. Delete one of these lines")
            if name == ROOT:
                raise _wrong(number, f"'{ROOT}' is the group of all values, which is not written. Delete this line")
            has_members = place + 1 < len(lines) and lines[place + 1][1] > indent
            if has_members and self.is_value(name):
                raise _wrong(
                    number,
                    f"'{name}' is a value of the domain, so it cannot hold other lines. Give the group another name",
                )
            if not has_members and not self.is_value(name):
                raise _wrong(
                    number,
                    f"'{name}' is neither a value of the domain nor a group with members. Indent the "
                    "members below it, or delete this line",
                )
            parents[name], where[name] = parent, number
            above.append((indent, name))
        if absent := [each for each in self.values if each not in where]:
            raise SchemaError(
                f"{len(absent)} {'values are' if absent[1:] else 'value is'} missing in the text: "
                f"{', '.join(absent[:3])}{', ...' * (len(absent) > 3)}. Write one line for each value of the domain."
            )
        return replace(self, parents=parents, levels={each: n for each, n in self.levels.items() if each in parents})

    def taxonomy(self) -> Taxonomy:
        """Return the taxonomy of the tree, with the leaves in the order of `values`.

        A group has the lowest level that is above all of its members and not below its level in `levels`. A value or
        group below a higher level keeps its label up to this level. Raises SchemaError for an empty group.
        """
        if self.empty_groups:
            raise SchemaError(
                f"the group '{self.empty_groups[0]}' is empty. Move a value or a group into it, or remove the group."
            )
        levels: dict[str, int] = {}
        for group in reversed(self.groups):  # members first
            inner = [levels[each] for each in self.members(group) if each in levels]
            levels[group] = max([self.levels.get(group, 1), *(level + 1 for level in inner)])
        used = sorted({*levels.values()})
        rows = []
        for value in self.values:
            row, above = [value], [each for each in self._above(value) if each != ROOT]
            for level in used:
                row.append(next((each for each in reversed(above) if levels[each] <= level), value))
            rows.append((*row, ROOT))
        return Taxonomy(self.name, tuple(rows))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {value: place for place, value in enumerate(self.values)}

    @cached_property
    def _members(self) -> dict[str, list[str]]:
        first: dict[str, int] = {}
        for place, value in enumerate(self.values):
            for each in (value, *self._above(value)):
                first.setdefault(each, place)
        found: dict[str, list[str]] = {}
        for each in sorted(self.parents, key=lambda name: first.get(name, len(self.values))):
            found.setdefault(self.parents[each], []).append(each)
        return found

    def _above(self, name: str) -> list[str]:
        """Return the groups that hold a value or group, from the smallest to `ROOT`."""
        found = []
        while name != ROOT:
            name = self.parents[name]
            found.append(name)
        return found

    def _check(self, name: str) -> None:
        if name not in self.parents:
            raise SchemaError(f"the tree has no value or group '{name}'. Choose one of those that the tree shows.")

    def _check_group(self, name: str, *, root: bool = True) -> None:
        if name not in (ROOT,) * root and (name not in self.parents or self.is_value(name)):
            raise SchemaError(f"'{name}' is not a group of the tree. Choose a group.")

    def _check_new(self, name: str) -> str:
        """Return the name of a new group without spaces at its ends; raises SchemaError for a name that is in use."""
        name = name.strip()
        if not name or name == ROOT:
            raise SchemaError("a group must have a name other than '*', the label of all values. Type a name first.")
        if name in self.parents:
            kind = "a value of the domain" if self.is_value(name) else "another group"
            raise SchemaError(f"'{name}' is the name of {kind}, and labels must differ. Type another name.")
        return name


def _quote(name: str) -> str:
    """Return a name as a line of a text; a name that a line cannot hold is quoted with escapes, as in JSON."""
    plain = name.isprintable() and name.strip() == name and name and not name.startswith('"')
    return name if plain else json.dumps(name)


def _unquote(text: str, number: int) -> str:
    if not text.startswith('"'):
        return text
    try:
        name = json.loads(text)
    except ValueError:
        raise _wrong(number, "a name that begins with a quotation mark must end with one") from None
    return str(name)


def _wrong(number: int, what: str) -> SchemaError:
    return SchemaError(f"line {number}: {what}.")
