"""The part of the columns tab in which an owner states the domain of a column: its values, or its bounds."""

from typing import NamedTuple

from markupsafe import Markup

from privnb.app.hierarchies import can_edit
from privnb.app.html import render_template
from privnb.datasets import description
from privnb.datasets.description_editor import DescriptionEditor
from privnb.datasets.hierarchy_editor import MOST_VALUES, HierarchyEditor, parse_number
from privnb.datasets.roles import Roles
from privnb.microdata.schema import PUBLISHED, Categories, Numbers, SchemaError

ENDS = {"low": "the lowest number", "high": "the highest number"}


class Outcome(NamedTuple):
    """The result of the last action: the column, a message, and an error."""

    column: str = ""
    message: str = ""
    fault: str = ""


class DomainPart:
    """The domains of all columns, of which one is open; the page holds the values of no other column.

    The messages of the controls begin with "domain" and end with the position of the column. A domain that cannot be
    stated leaves the description as it is, and the part shows the error.
    """

    def __init__(self) -> None:
        self.opened = ""
        self.typed: dict[str, str] = {}
        self.outcome = Outcome()

    def _open(self, name: str) -> None:
        self.opened, self.typed, self.outcome = name, {}, Outcome()

    def act(self, action: str, value: object, table: DescriptionEditor) -> DescriptionEditor | None:
        """Keep what was typed; return the saved description after the action "state", otherwise None."""
        what, _, place = action.partition(" ")
        name = [*table.roles.chosen][int(place)]
        if what in ("open", "close"):
            self._open(name if what == "open" else "")
            return None
        if what != "state":
            self.typed[what] = str(value)
            return None
        try:
            table, said = self._state(table, name)
        except (ValueError, OSError) as error:
            self.outcome = Outcome(name, fault=str(error))
            return None
        self.outcome, self.typed = Outcome(name, message=said), {}
        return table

    def _state(self, table: DescriptionEditor, name: str) -> tuple[DescriptionEditor, str]:
        domain = table.domains.get(name)
        if isinstance(domain, Numbers):
            low, high = (
                parse_number(self.typed.get(end, str(getattr(domain, end))), what) for end, what in ENDS.items()
            )
            saved = HierarchyEditor.open(table, name).with_bounds(low, high).save()
            return saved, f"The bounds of '{name}' are stated as public in {table.path.name}."
        if domain is None:
            raise SchemaError(f"'{name}' has no domain yet. Save the roles first, which adds a proposed domain.")
        text = self.typed.get("values", "")
        values = [each.strip() for each in text.splitlines() if each.strip()] or list_public(domain)
        table, said = table.state_values(name, values)
        return table, " ".join(said)

    def render(self, table: DescriptionEditor, roles: Roles) -> dict[str, Markup]:
        """Return the part of each published column whose domain can be stated here, by column.

        The bounds of a quasi-identifier are stated next to its cut points.
        """
        try:
            domains = {} if table.studies else table.domains
        except SchemaError:  # saving the roles reports it
            return {}
        proposed, cuts = description.find_proposals(table.text), can_edit(table, roles)
        found = {}
        for place, (name, role) in enumerate(roles.chosen.items()):
            domain = domains.get(name) if role in PUBLISHED else None
            if domain is None or (isinstance(domain, Numbers) and name in cuts):
                continue
            found[name] = render_template(
                "domain",
                place=place,
                name=name,
                domain=domain,
                is_numbers=isinstance(domain, Numbers),
                is_proposed=name in proposed,
                typed=self.typed,
                values=list_shown(domain) if isinstance(domain, Categories) else [],
                is_open=name == self.opened,
                fault=self.outcome.fault,
                message=self.outcome.message,
            )
        return found


def list_public(domain: Categories) -> list[str]:
    """Return the values of a domain without the mark of a missing value."""
    return [each for each in domain.values if each != domain.mark]


def list_shown(domain: Categories) -> list[str]:
    """Return the values for a text box with one value per line; empty if they are too many or hold breaks of lines."""
    values = list_public(domain)
    fits = len(values) <= MOST_VALUES and all(each == each.strip() and len(each.splitlines()) == 1 for each in values)
    return values if fits else []
