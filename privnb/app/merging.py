"""The part of the columns tab in which an owner repairs the spellings of a column and merges values."""

from __future__ import annotations

from markupsafe import Markup

from privnb.app.html import render_template
from privnb.datasets.description_editor import DescriptionEditor
from privnb.datasets.roles import Roles
from privnb.microdata.schema import PUBLISHED


class MergingPart:
    """The repairs of all columns; the page holds the values only of the columns whose repair is open.

    The messages of the controls begin with "merge" and name the position of the column; the message of a menu also
    names the position of the value.
    """

    def __init__(self) -> None:
        self.opened: set[str] = set()
        self.typed: dict[str, dict[str, str]] = {}  # by column: the value as which a value is read

    def act(self, action: str, value: object, table: DescriptionEditor) -> dict[str, dict[str, str]]:
        """Open or close a repair, or keep a choice; return the values to merge after the action "apply", by column."""
        what, place, *position = action.split()
        name = [*table.roles.chosen][int(place)]
        own = self.typed.setdefault(name, {})
        if what == "open":
            self.opened.add(name)
        elif what == "close":
            self.forget(name)
        elif what == "as":
            values = table.list_mergeable(name)
            old, new = values[int(position[0])], values[int(str(value))]
            own[old] = new
        elif what == "apply":
            return {name: {old: new for old, new in own.items() if old != new}}
        return {}

    def forget(self, name: str) -> None:
        """Close the repair of a column, and drop its choices."""
        self.opened.discard(name)
        self.typed.pop(name, None)

    def render(self, table: DescriptionEditor, roles: Roles) -> dict[str, Markup]:
        """Return the part of each published column whose values can be repaired or merged, by column."""
        repairs, found = table.repairs(roles), {}
        for place, (name, role) in enumerate(roles.chosen.items()):
            values = table.list_mergeable(name) if role in PUBLISHED else []
            if not values and name not in repairs:
                continue
            is_open, own = name in self.opened, self.typed.get(name, {})
            found[name] = render_template(
                "merging",
                place=place,
                name=name,
                is_open=is_open,
                changes=repairs[name].changes if name in repairs else [],
                values=dict(enumerate(values)) if is_open else {},
                chosen=[
                    values.index(new) if (new := own.get(old, old)) in values else i for i, old in enumerate(values)
                ],
                is_pending=any(old != new for old, new in own.items()),
            )
        return found
