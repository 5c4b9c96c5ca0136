"""A page on which every column of an owner's table gets its role by menu: what is asked, what is seen, what is missing.

Native controls, as those of the board: a menu has a name, opens by keyboard and is found by its first letters.
"""

import json
import os
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from markupsafe import Markup

from privnb.datasets.column_types import spelled
from privnb.datasets.dataset import find
from privnb.datasets.description import unconfirmed
from privnb.datasets.own_table import OwnTable, Seen, described
from privnb.datasets.roles import Roles
from privnb.explorer import pins
from privnb.explorer.html import render
from privnb.explorer.page import page
from privnb.microdata.schema import Role

NONE, EACH, SEVERAL, CHOOSE = "none", "each", "several", ""  # answers that are no column, of which each has its place
MEANINGS = {
    Role.QUASI_IDENTIFIER: "others may know it",
    Role.SENSITIVE: "nobody should learn it",
    Role.NEUTRAL: "neither, published as it is",
    Role.IDENTIFIER: "names a person",
    Role.PERSON: "whose row it is",
    Role.WEIGHT: "for how many it stands",
    Role.UNUSED: "left out",
}
HEADINGS = "Column", "Different", "Missing", "Examples", "Role", "What was seen"
Menu = tuple[str, str, dict[str, str], str]  # its name, its label, its options and the one that is chosen
EMPTY: Mapping[str, Sequence[str]] = MappingProxyType({})
FAULT = "This is a fault of the page. The roles are as they were before; all else goes on."
MASKED = (
    "Examples are values that ten people or more share, else patterns (A a capital, a a letter, 9 a digit), and of "
    "numbers the ends of their domain. These counts are for you: a report withholds those of few people."
)


class Answer(NamedTuple):
    """What came of the last act: in words, what went wrong, and the commands that come next."""

    said: str = ""
    fault: str = ""
    confirmed: str = ""
    commands: Mapping[str, str] = MappingProxyType({})


def your_table(file: str = "", name: str = "") -> "YourTable":
    """Return the page of a table: one that is described already, by its `name`, else a `file`, described first.

    Parameters
    ----------
    file : str
        A table of any kind that `privnb describe` reads; empty: it is described already.
    name : str
        Its folder's name in data/, or the path of its description; empty: from the file's name.

    Returns
    -------
    YourTable

    Raises
    ------
    ValueError, OSError
        For a file that is no table, and a description that cannot be read.
    """
    here = Path.cwd()
    folder = (here.parent if here.name == "notebooks" else here) / "data"  # where a report finds it
    return YourTable(OwnTable.open(str(described(file, name, folder))))


class YourTable:
    """The roles of one table, live: `widget` is what is shown."""

    def __init__(self, table: OwnTable) -> None:
        from ipywidgets import VBox

        self.table, self.roles, self.said = table, table.roles, Answer()
        self._stand = os.environ.get(pins.STATE)  # which a page sets, for it has no kernel of before
        self._restore()
        self._page = page()()
        self._page.on_msg(self._heard)
        self.widget = VBox([self._page])
        self.widget.add_class("privnb-board")
        self._draw()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.widget._repr_mimebundle_(**options)

    def _draw(self) -> None:
        self._page.html = str(
            form(self.table.seen(self.roles), self.roles, self.table.day_forms, self.table.guessed_missing)
            + state(self.roles, self.said if any(self.said) else self._unsaved(), self.table.copies)
        )

    def _restore(self) -> None:
        """Take what was chosen before the page was loaded again, if the description is still the same."""
        try:
            held = json.loads(Path(self._stand or "").read_text(encoding="utf-8"))
            if held.pop("text") == self.table.text:
                chosen = {name: Role(held["chosen"][name]) for name in self.roles.chosen}
                self.roles = replace(self.roles, **held | {"chosen": chosen, "missing": (*held["missing"],)})
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            pass  # choices that begin anew do no harm

    def _hold(self) -> None:
        said = {name: getattr(self.roles, name) for name in ("chosen", "none_sensitive", "one_each", "days", "missing")}
        if self._stand:
            pins.write(Path(self._stand), said | {"text": self.table.text})

    def _unsaved(self) -> Answer:
        return Answer("Not saved yet." * (self.roles != self.table.roles))

    def _heard(self, page: Any, content: Any, _: Any) -> None:
        before = self.roles
        try:
            if content["name"] == "shown":
                page.send_state("html")  # what was shown before anybody listened
                return
            self.act(content["name"], content["value"])
            self._draw()
        except (ValueError, OSError) as error:
            self._wrong(str(error), self.roles)
        except Exception as error:  # of a message of the page: its sender would hear nothing of it
            self._wrong(f"{type(error).__name__}: {error}. {FAULT}", before)

    def _wrong(self, text: str, roles: Roles) -> None:
        self.roles, self.said = roles, Answer(fault=text)
        self._draw()

    def act(self, name: str, value: Any) -> None:
        """What a control asks for."""
        if name == "save":
            self._save()
        elif chosen := answered(self.roles, name, value):
            self.roles, self.said = chosen, Answer()
        self._hold()

    def _save(self) -> None:
        self.said = Answer("Saving …")
        self._draw()
        self.table, lacks = self.table.save(self.roles)
        self.roles = self.roles if lacks else self.table.roles
        self.said = saved(self.table, lacks)


def answered(roles: Roles, name: str, value: Any) -> Roles | None:
    """The roles once a control called `name` says `value`; None if that changes nothing."""
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


def form(
    seen: Sequence[Seen], roles: Roles, days: Mapping[str, Sequence[str]] = EMPTY, missing: Collection[str] = ()
) -> Markup:
    """Return the two questions, and a line with a menu for each column. `days` and `missing`: `OwnTable.day_forms` and
    `OwnTable.guessed_missing`, which are asked for.
    """
    names = [each.name for each in seen]
    sensitive, keys = ([str(names.index(each)) for each in roles.names(role)] for role in (Role.SENSITIVE, Role.PERSON))
    secrets = {NONE: "None: there is nothing to hide"} | {str(i): name for i, name in enumerate(names)}
    people = {EACH: "Yes, each row is one person"}
    people |= {str(i): f"No, rows of one person share '{name}'" for i, name in enumerate(names)}
    asked = [
        _asked("sensitive", "Which column should nobody learn?", secrets, NONE * roles.none_sensitive, sensitive),
        _asked("person", "Is each row one person?", people, EACH * roles.one_each, keys),
    ]
    columns = [(each, [*_menus(place, each.name, roles, dict(days), missing)]) for place, each in enumerate(seen)]
    return render("roles", asked=asked, headings=HEADINGS, columns=columns, masked=MASKED)


def _asked(name: str, question: str, answers: dict[str, str], said: str, columns: list[str]) -> Menu:
    """A question: what was `said` of no column, or the places of the `columns` that answer it."""
    chosen = columns[0] if columns else said
    if len(columns) > 1:
        chosen, answers = SEVERAL, {SEVERAL: ", ".join(answers[each] for each in columns)} | answers
    if chosen == CHOOSE:
        answers = {CHOOSE: "Choose …"} | answers
    return name, question, answers, chosen


def _menus(
    place: int, name: str, roles: Roles, days: Mapping[str, Sequence[str]], missing: Collection[str]
) -> Iterator[Menu]:
    """The menus of a column: its role; how its days are written, where that cannot be seen; and what its cells say that
    are not of its type, where a draft guessed it.
    """
    options = {str(each): f"{each}: {meaning}" for each, meaning in MEANINGS.items()}
    yield f"role {place}", f"Role of {name}", options, str(roles.chosen[name])
    if name in days:
        options = {form: f"days are {spelled(form)}" for form in days[name]}
        if name not in roles.days:
            options = {CHOOSE: "How are its days written? …"} | options
        yield f"days {place}", f"How the days of {name} are written", options, roles.days.get(name, CHOOSE)
    if name in missing:
        options = {NONE: "they say that no value is there"}
        if name not in roles.missing:
            options = {CHOOSE: "What do its cells of another type say? …"} | options
        label = f"What the cells of {name} say that are not of its type"
        yield f"missing {place}", label, options, NONE if name in roles.missing else CHOOSE


def state(roles: Roles, answer: Answer, copies: str) -> Markup:
    """Return what would be published, what is still missing, and what came of saving."""
    missing = [*filter(None, [copies]), *roles.lacks]
    return render("saving", publishes=roles.publishes, missing=missing, **answer._asdict())


def saved(table: OwnTable, lacks: Sequence[str]) -> Answer:
    """Return what was saved, and what to do next."""
    name = table.path.name
    if lacks:
        return Answer(f"Saved in {name}, which stays a draft. {' '.join(lacks)}")
    commands = {
        what: f"privnb {command} {shlex.quote(_called(table))}"
        for what, command in {"The report": "report", "The explorer": "explore"}.items()
    }
    records = f"its {len(table.cells):,} records load"
    confirmed = f"The roles in {name} are confirmed, and {records}. {unconfirmed(table.text)}"
    return Answer(confirmed=confirmed, commands=commands)


def _called(table: OwnTable) -> str:
    """What TABLE of a command calls it: its name where that leads to it, else its path."""
    try:
        known = find(table.path.stem).resolve() == table.path
    except FileNotFoundError:
        known = False
    return table.path.stem if known else str(table.path)
