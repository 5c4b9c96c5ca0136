"""The roles of a setting, written into the description of the table, so that a release can be saved."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from privnb.datasets.dataset import SHIPPED, Dataset, find_description, load
from privnb.datasets.description_editor import DescriptionEditor
from privnb.explorer.export import parse_source
from privnb.explorer.setting import Setting, apply_roles, check_setting
from privnb.microdata.schema import Role, SchemaError
from privnb.runtime.errors import MissingFileError, UsageError


class RoleChange(NamedTuple):
    """The difference between the roles of a setting and those of the dataset.

    `roles` holds the new role, and `before` the present role, of each column whose role differs. `path` is the
    description, or None if the table has no description. `kind` states why the roles cannot be written there: "study",
    "shipped", "read-only", "undescribed", or "" if they can. `study` is the study of the dataset, and `lists` are its
    columns by role with the new roles.
    """

    roles: Mapping[str, Role]
    before: Mapping[str, Role]
    path: Path | None
    kind: str
    study: str
    lists: Mapping[str, list[str]]

    @property
    def unknown(self) -> list[str]:
        """The columns that an adversary knows by the present roles, and does not know by the new roles."""
        known = Role.QUASI_IDENTIFIER
        return [name for name, role in self.roles.items() if self.before[name] == known != role]


def find_role_change(dataset: Dataset, setting: Setting, source: str | os.PathLike[str] = "") -> RoleChange | None:
    """Return the difference between the roles of a setting and those of the dataset; None if they are equal.

    `source` is the first argument of `load`, if it was the path of a description file.
    """
    schema = apply_roles(dataset, check_setting(setting, dataset)).schema
    roles = {each.name: each.role for each in schema.attributes if each.role != dataset.schema[each.name].role}
    if not roles:
        return None
    name, study, _ = parse_source(dataset, source)
    try:
        path, kind = find_description(name), ""
    except MissingFileError:
        path, kind = None, "undescribed"
    if path is not None and SHIPPED in path.resolve().parents:
        kind = "shipped"
    elif path is not None and not os.access(path, os.W_OK):
        kind = "read-only"
    elif path is not None and study:
        kind = "study"
    before = {each: dataset.schema[each].role for each in roles}
    lists = {str(role): schema.names(role) for role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.NEUTRAL)}
    return RoleChange(roles, before, path, kind, study, lists)


def save_roles(dataset: Dataset, setting: Setting, source: str | os.PathLike[str] = "") -> Dataset:
    """Write the roles of a setting into the description, and return the dataset with these roles, loaded again.

    Raises
    ------
    SchemaError
        If the description was changed since the dataset was loaded, or if it cannot be loaded with the new roles. The
        description then stays unchanged.
    UsageError
        If the roles are those of the dataset, or if they cannot be written.
    """
    change = find_role_change(dataset, setting, source)
    if change is None:
        raise UsageError("The description has these roles already. Choose other roles first.")
    if change.kind or change.path is None:
        raise UsageError("The roles of this table cannot be saved here. Change the description in a text editor.")
    editor = DescriptionEditor.open(change.path, may_have_studies=True)
    own = {each.name: each.role for each in dataset.schema.attributes}
    if any(editor.roles.chosen.get(name) != role for name, role in own.items()):
        raise SchemaError(
            f"{change.path.name} has other roles than this page, because it was changed or because the roles were "
            "given in the call. Nothing is written. Open the table again, and choose the roles again."
        )
    _, lacks = editor.save(editor.roles.having(change.roles))
    if lacks:
        raise SchemaError(f"{change.path.name} is a draft now: {' '.join(lacks)} Complete it with `privnb describe`.")
    records = parse_source(dataset, source)[2]
    return load(change.path, records=records or None)
