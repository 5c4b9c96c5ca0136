"""A page with a menu for the role of every column of an owner's table.

The controls are native, like those of the board: each menu has a name and can be used from the keyboard.
"""

import json
import os
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from markupsafe import Markup

from privnb.app.domains import DomainPart
from privnb.app.hierarchies import HierarchyPart, can_edit
from privnb.app.html import render_template
from privnb.app.merging import MergingPart
from privnb.datasets.column_types import spell_form
from privnb.datasets.dataset import find_description
from privnb.datasets.description_editor import DescriptionEditor, find_or_draft
from privnb.datasets.roles import Roles
from privnb.explorer import pins
from privnb.explorer.page import page_class
from privnb.microdata.schema import Role
from privnb.microdata.withholding import LIMIT
from privnb.runtime import numerals
from privnb.runtime.sentences import join_names

NOTHING = Markup("")
NONE, EACH, SEVERAL, CHOOSE = "none", "each", "several", ""  # answers other than the position of a column
MEANINGS = {
    Role.QUASI_IDENTIFIER: "others may know it",
    Role.SENSITIVE: "nobody should learn it",
    Role.NEUTRAL: "neither; it is published exactly",
    Role.IDENTIFIER: "names a person",
    Role.PERSON: "key of the person",
    Role.WEIGHT: "number of people that a row represents",
    Role.UNUSED: "left out",
}
HEADINGS = "Column", "Distinct", "Missing", "Examples", "Role", "Reason and alerts"
MOST_NAMED = 6  # the maximum number of columns that the sentence about proposed domains names
Menu = tuple[str, str, dict[str, str], str]  # name, label, options, chosen option
FAULT = "This is an error in the page. The roles are unchanged; the rest keeps working."
MASKED = (
    "Examples are values that at least ten people share, or else patterns (A for a capital letter, a for a small "
    "letter, 9 for a digit); for numbers they are the bounds of the domain. The counts are for you: a report withholds "
    "counts of few people."
)


class ActionResult(NamedTuple):
    """The result of the last action: a message, an error, and the next commands."""

    message: str = ""
    fault: str = ""
    confirmed: str = ""
    commands: Mapping[str, str] = MappingProxyType({})


def find_description_of(file: str, name: str) -> Path:
    """Return the description of a `file`, which is drafted if there is none, or of a described table of this `name`."""
    here = Path.cwd()
    folder = (here.parent if here.name == "notebooks" else here) / "data"  # a report looks for it there
    return find_or_draft(file, name, folder)


class YourTable:
    """The page with the roles of one table; `widget` is the widget to show."""

    def __init__(self, table: DescriptionEditor) -> None:
        from ipywidgets import VBox

        self.table, self.roles, self.answer = table, table.roles, ActionResult()
        self.hierarchy, self.domains = HierarchyPart(self._draw), DomainPart()
        self.merging = MergingPart()
        self.on_saved: Callable[[], object] = lambda: None  # called after the description was written
        self.on_drawn: Callable[[], object] = lambda: None  # called after each action
        self._state_file = os.environ.get(pins.STATE)  # set by a page, which has no earlier kernel
        held = self._restore()
        self._page = page_class()()
        self._restore_hierarchy(held)
        self._page.on_msg(self._receive)
        self.widget = VBox([self._page])
        self.widget.add_class("privnb-board")
        self._draw()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.widget._repr_mimebundle_(**options)

    def _draw(self) -> None:
        self._page.html = str(
            render_form(
                self.table,
                self.roles,
                self.hierarchy.column,
                self.hierarchy.render(self.roles),
                self.domains.render(self.table, self.roles),
                self.merging.render(self.table, self.roles),
            )
            + render_state(self.table, self.roles, self.answer if any(self.answer) else self._unsaved())
        )
        self.on_drawn()

    @property
    def has_unsaved(self) -> bool:
        """Whether the roles or the open hierarchy have changes that are not saved."""
        return self.roles != self.table.roles or self.hierarchy.has_unsaved

    def _restore(self) -> dict[str, Any]:
        """Restore the choices from before the page was loaded again, if the description is still the same.

        Return the hierarchy that was open then; empty if none was.
        """
        try:
            held = json.loads(Path(self._state_file or "").read_text(encoding="utf-8"))
            hierarchy: dict[str, Any] = held.pop("hierarchy", {})
            if held.pop("text") == self.table.text:
                chosen = {name: Role(held["chosen"][name]) for name in self.roles.chosen}
                self.roles = replace(self.roles, **held | {"chosen": chosen, "missing": (*held["missing"],)})
                return hierarchy
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            pass  # the page starts with the roles of the description
        return {}

    def _restore_hierarchy(self, held: Mapping[str, Any]) -> None:
        try:
            if held:
                self.hierarchy.restore(self.table, held, self.roles)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            self.hierarchy.close()  # the file of the hierarchy has changed

    def _keep(self) -> None:
        fields = ("chosen", "none_sensitive", "one_each", "days", "missing")
        if self._state_file:
            state = {name: getattr(self.roles, name) for name in fields}
            held = {"text": self.table.text, "hierarchy": self.hierarchy.held()}
            pins.write_json(Path(self._state_file), state | held)

    def _unsaved(self) -> ActionResult:
        return ActionResult("Not saved yet." * self.has_unsaved)

    def _receive(self, page: Any, content: Any, _: Any) -> None:
        before = self.roles
        try:
            if content["name"] == "shown":
                page.send_state("html")  # send the text again that was set before the page listened
                return
            self.act(content["name"], content["value"])
            self._draw()
        except (ValueError, OSError) as error:
            self._wrong(str(error), self.roles)
        except Exception as error:  # the sender of a message receives no errors
            self._wrong(f"{type(error).__name__}: {error}. {FAULT}", before)

    def _wrong(self, text: str, roles: Roles) -> None:
        self.roles, self.answer = roles, ActionResult(fault=text)
        self._draw()

    def act(self, name: str, value: Any) -> None:
        """Perform the action of a control."""
        if name == "save":
            self._save()
        elif name.startswith("hierarchy "):
            self._edit_hierarchy(name.removeprefix("hierarchy "), value)
        elif name.startswith("domain "):
            self._state_domain(name.removeprefix("domain "), value)
        elif name.startswith("merge "):
            for column, replaced in self.merging.act(name.removeprefix("merge "), value, self.table).items():
                self._close_hierarchy(column)
                self._change_columns(*self.table.merge_values(column, replaced))
                self.merging.forget(column)
                self.on_saved()
        elif name == "accept":
            proposed = self.table.proposed_sensitive(self.roles)
            self._set_roles(self.roles.having(dict.fromkeys(proposed, Role.SENSITIVE)))
        elif name == "derive":
            self.hierarchy.check_saved()  # the role of the source may change
            possible = (each for own in self.table.derivations(self.roles).values() for each in own)
            rules = {each.name: each.rule for each in possible if each.rule.words == value}
            self._change_columns(*self.table.derive(rules, self.roles))
        elif name == "remove":
            self._change_columns(*self.table.remove_derived(value))
        elif name in ("repair", "undo-repair"):
            self._close_hierarchy(str(value))
            self._change_columns(*(self.table.repair([value]) if name == "repair" else self.table.undo_repair(value)))
            self.merging.forget(str(value))
            self.on_saved()
        elif chosen := apply_answer(self.roles, name, value):
            self._set_roles(chosen)
        self.hierarchy.follow(self.table, self.roles)
        self._keep()

    def _set_roles(self, roles: Roles) -> None:
        column = self.hierarchy.column
        if column and roles.chosen[column] is not Role.QUASI_IDENTIFIER:
            self._close_hierarchy(column)
        self.roles, self.answer = roles, ActionResult()

    def _close_hierarchy(self, column: str) -> None:
        """Close the hierarchy of a column, whose domain or role changes, if it is open.

        Raises SchemaError if the hierarchy has changes that are not saved.
        """
        if column == self.hierarchy.column:
            self.hierarchy.check_saved()
            self.hierarchy.close()

    def _change_columns(self, table: DescriptionEditor, said: Sequence[str]) -> None:
        """Show a description with other columns, and keep the choices that are not saved yet."""
        self.roles = table.roles.changed_as(self.roles, self.table.roles)
        self.table, self.answer = table, ActionResult(" ".join(said))

    def _edit_hierarchy(self, action: str, value: Any) -> None:
        """Open or close the hierarchy of a column, or perform an action of the open one."""
        if action == "open":
            self.hierarchy.check_saved()
            self.hierarchy.open(self.table, str(value), self.roles)
        elif action == "close":
            self.hierarchy.ask_to_close()
        elif action == "drop changes":
            self.hierarchy.close()
        elif table := self.hierarchy.act(action, value, self.roles):
            self.table = table
            self.on_saved()
        if self.hierarchy.has_unsaved or self.answer.fault:
            self.answer = ActionResult()

    def _state_domain(self, action: str, value: Any) -> None:
        """Keep what was typed about a domain, or state the domain, whose hierarchy is then closed."""
        what, _, place = action.partition(" ")
        if what == "state" and [*self.roles.chosen][int(place)] == self.hierarchy.column:
            self.hierarchy.check_saved()
        if table := self.domains.act(action, value, self.table):
            if self.domains.outcome.column == self.hierarchy.column:
                self.hierarchy.close()
            self.table = table
            self.on_saved()

    def _save(self) -> None:
        self.answer = ActionResult("Saving …")
        self._draw()
        if self.hierarchy.has_unsaved:
            self.table = self.hierarchy.save(self.roles)
        self.table, lacks = self.table.save(self.roles)
        self.roles = self.roles if lacks else self.table.roles
        self.answer = describe_saved(self.table, lacks)
        self.on_saved()


def apply_answer(roles: Roles, name: str, value: Any) -> Roles | None:
    """Return the roles after the control `name` is set to `value`; None if the roles do not change."""
    columns = [*roles.chosen]
    if name.startswith("role "):
        return roles.having({columns[int(name.removeprefix("role "))]: Role(value)})
    if value in (CHOOSE, SEVERAL):
        return None
    if name.startswith("days "):
        return replace(roles, days={**roles.days, columns[int(name.removeprefix("days "))]: value})
    if name.startswith("missing "):
        return replace(roles, missing=(*dict.fromkeys([*roles.missing, columns[int(name.removeprefix("missing "))]]),))
    answer = "" if value in (NONE, EACH) else columns[int(value)]
    return roles.sensitive(answer) if name == "sensitive" else roles.person(answer)


def render_form(
    table: DescriptionEditor,
    roles: Roles,
    opened: str = "",
    hierarchy: Markup = NOTHING,
    domains: Mapping[str, Markup] = MappingProxyType({}),
    repairs: Mapping[str, Markup] = MappingProxyType({}),
) -> Markup:
    """Render the columns that single people out, the two questions, and one line with menus for each column.

    The part `hierarchy` follows the line of the column `opened`, whose hierarchy is open. `domains` holds the part in
    which the domain of a column is stated, and `repairs` the part in which its values are repaired, by column.
    """
    seen = table.seen(roles, on_page=True)
    names = [each.name for each in seen]
    sensitive, keys = ([str(names.index(each)) for each in roles.names(role)] for role in (Role.SENSITIVE, Role.PERSON))
    options = {NONE: "None: there is nothing to protect"} | {str(i): name for i, name in enumerate(names)}
    people = {EACH: "Yes, each row is one person"}
    people |= {str(i): f"No, rows of one person share '{name}'" for i, name in enumerate(names)}
    asked = [
        _make_question("sensitive", "Which column is sensitive?", options, NONE * roles.none_sensitive, sensitive),
        _make_question("person", "Is each row one person?", people, EACH * roles.one_each, keys),
    ]
    days, missing, possible = table.day_forms, table.guessed_missing, table.derivations(roles)
    columns = [
        (each, [*_menus(place, each.name, roles, days, missing)], possible.get(each.name, ()))
        for place, each in enumerate(seen)
    ]
    return render_template(
        "columns",
        unique=table.unique_people(roles),
        percent=numerals.write_percent,
        limit=LIMIT,
        proposed=table.proposed_sensitive(roles),
        asked=asked,
        headings=HEADINGS,
        columns=columns,
        masked=MASKED,
        repairs=repairs,
        folder=table.path.parent,
        files=join_names(table.files),
        repaired=table.corrections,
        editable=can_edit(table, roles),
        proposed_domains=table.proposed_domains(roles),
        opened=opened,
        hierarchy=hierarchy,
        domains=domains,
    )


def _make_question(name: str, question: str, answers: dict[str, str], default: str, columns: list[str]) -> Menu:
    """Return the menu of a question; `columns` are the positions of the answers; if empty, `default` is chosen."""
    chosen = columns[0] if columns else default
    if len(columns) > 1:
        chosen, answers = SEVERAL, {SEVERAL: ", ".join(answers[each] for each in columns)} | answers
    if chosen == CHOOSE:
        answers = {CHOOSE: "Choose …"} | answers
    return name, question, answers, chosen


def _menus(
    place: int, name: str, roles: Roles, days: Mapping[str, Sequence[str]], missing: Collection[str]
) -> Iterator[Menu]:
    """Yield the menus of a column: for its role, an ambiguous date format, and a guessed mark of missing values."""
    options = {str(each): f"{each}: {meaning}" for each, meaning in MEANINGS.items()}
    yield f"role {place}", f"Role of {name}", options, str(roles.chosen[name])
    if name in days:
        options = {form: f"dates are {spell_form(form)}" for form in days[name]}
        if name not in roles.days:
            options = {CHOOSE: "How are the dates written? …"} | options
        yield f"days {place}", f"Format of the dates of {name}", options, roles.days.get(name, CHOOSE)
    if name in missing:
        options = {NONE: "they mark a missing value"}
        if name not in roles.missing:
            options = {CHOOSE: "What do the cells of another type mean? …"} | options
        label = f"Meaning of the cells of {name} that are not of its type"
        yield f"missing {place}", label, options, NONE if name in roles.missing else CHOOSE


def render_state(table: DescriptionEditor, roles: Roles, answer: ActionResult) -> Markup:
    """Render the columns of a release, missing answers, domains that are still proposals, and the result of saving."""
    missing, proposed = [*filter(None, [table.copies]), *roles.lacks], table.proposed_domains(roles)
    return render_template(
        "saving", publishes=roles.publishes, missing=missing, proposed=proposed, most=MOST_NAMED, **answer._asdict()
    )


def describe_saved(table: DescriptionEditor, lacks: Sequence[str]) -> ActionResult:
    """Return a message about the saved description, and the next commands."""
    name = table.path.name
    if lacks:
        return ActionResult(f"Saved in {name}, which stays a draft. {' '.join(lacks)}")
    commands = {
        what: f"privnb {command} {shlex.quote(_table_name(table))}"
        for what, command in {"The report": "report", "The explorer": "explore"}.items()
    }
    records = f"its {len(table.cells):,} records load"
    confirmed = f"The roles in {name} are confirmed, and {records}."
    return ActionResult(confirmed=confirmed, commands=commands)


def _table_name(table: DescriptionEditor) -> str:
    """Return the TABLE argument of a command: the table's name if a command can find the table by it, else its path."""
    try:
        known = find_description(table.path.stem).resolve() == table.path
    except FileNotFoundError:
        known = False
    return table.path.stem if known else str(table.path)
