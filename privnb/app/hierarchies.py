"""The part of the columns tab in which an owner edits the hierarchy of a column and sees the information loss."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from markupsafe import Markup

from privnb.app.html import render_template
from privnb.datasets.description_editor import DescriptionEditor
from privnb.datasets.hierarchy_editor import Bar, Cuts, HierarchyEditor, parse_cuts, parse_number, write_cuts
from privnb.datasets.roles import Roles
from privnb.explorer.background import BackgroundWorker
from privnb.measures.utility.information_loss import certainty_penalty, penalty_by_attribute
from privnb.microdata.hierarchy.group_trees import ROOT, GroupTree
from privnb.microdata.schema import Numbers, Role, SchemaError
from privnb.privacy_models import KAnonymity
from privnb.runtime import numerals
from privnb.sanitizers import Mondrian

K = 10  # the minimum class size of the release that is measured
MOST_CUTS = 20  # the maximum number of cuts with controls of their own; more cuts are edited as text
TALL, WIDE = 100, 1000  # of the picture of a histogram, in its own units
FIELDS = ("into", "new", "group", "name", "text", "low", "high")  # the controls that only hold what was typed or chosen
PENDING = "The text is not applied yet. Apply the text or discard it first."


class HierarchyCost(NamedTuple):
    """The information loss of a release with a hierarchy: in all columns and in one column, and the number of labels.

    A loss is the certainty penalty, from 0 (exact) to 1 (suppressed).
    """

    loss: float
    own_loss: float
    labels: int


class Node(NamedTuple):
    """A value or group of a tree as the page shows it; `people` is None if it is withheld or not counted."""

    name: str
    is_value: bool
    people: int | None
    values: int
    members: list["Node"]


def measure_hierarchy(editor: HierarchyEditor, roles: Roles) -> HierarchyCost:
    """Return the cost of a hierarchy in a release by Mondrian with k = 10.

    Raises SchemaError and SanitizationError for a table, roles or a hierarchy of which no such release can be made.
    """
    release = Mondrian(KAnonymity(K)).sanitize(editor.load(roles), rng=0)
    name = editor.name
    return HierarchyCost(
        certainty_penalty(release), penalty_by_attribute(release)[name], int(release.table[name].nunique())
    )


def measure_hierarchies(editors: Mapping[str, HierarchyEditor], roles: Roles) -> dict[str, HierarchyCost]:
    """Return the cost of each hierarchy, by the keys of `editors`."""
    return {key: measure_hierarchy(editor, roles) for key, editor in editors.items()}


class HierarchyPart:
    """The editor of one hierarchy at a time; `draw` draws the page again.

    The messages of the controls begin with "hierarchy". A control that cannot do its work leaves the tree as it is, and
    the part shows the error.
    """

    def __init__(self, draw: Callable[[], object]) -> None:
        self._draw = draw
        self._worker: BackgroundWorker | None = None
        self._shared: DescriptionEditor | None = None
        self.saved: HierarchyEditor | None = None
        self.edited: HierarchyEditor | None = None
        self.close()

    @property
    def column(self) -> str:
        """The column whose hierarchy is open; empty if none is."""
        return self.edited.name if self.edited else ""

    @property
    def has_unsaved(self) -> bool:
        """Whether a hierarchy is open that has changes that are not saved."""
        if self.edited is None or self.saved is None:
            return False
        return self.edited.has_changed(self.saved) or self._typed.get("text", self._text) != self._text

    def check_saved(self) -> None:
        """Raise SchemaError if the open hierarchy has changes that are not saved."""
        if self.has_unsaved:
            raise SchemaError(
                f"The hierarchy of '{self.column}' has unsaved changes, which would be lost. Save it first, or close "
                "it without the changes."
            )

    def ask_to_close(self) -> None:
        """Close the hierarchy, or ask first if it has changes that are not saved."""
        if self.has_unsaved:
            self._asks = True
        else:
            self.close()

    def save(self, roles: Roles) -> DescriptionEditor:
        """Save the open hierarchy, and return the saved description.

        Raises SchemaError and OSError, with the name of the column, if it cannot be saved.
        """
        table = self.act("save", "", roles)
        if table is None:
            raise SchemaError(f"The hierarchy of '{self.column}' cannot be saved: {self._fault} No role is saved.")
        return table

    def close(self) -> None:
        """Close the hierarchy without saving it."""
        if self._worker:
            self._worker.stop()
        self.saved = self.edited = None
        self._chosen: list[str] = []
        self._typed: dict[str, str] = {}
        self._message = self._fault = self._cost_fault = ""
        self._costs: dict[str, HierarchyCost] = {}
        self._roles: Roles | None = None
        self._is_measuring = self._asks = False

    def open(self, table: DescriptionEditor, name: str, roles: Roles) -> None:
        """Open the hierarchy of a column; raises SchemaError for a column whose hierarchy cannot be edited here."""
        self.close()
        self.saved = self.edited = HierarchyEditor.open(table, name)
        self.measure(roles)

    def held(self) -> dict[str, Any]:
        """Return the open hierarchy with its unsaved changes as JSON values; empty if none is open."""
        if self.edited is None:
            return {}
        return {"column": self.column, "text": self._text, "bounds": self.edited.bounds, "typed": self._typed}

    def restore(self, table: DescriptionEditor, held: Mapping[str, Any], roles: Roles) -> None:
        """Open a hierarchy with the unsaved changes that `held` returned.

        Raises SchemaError for a hierarchy that does not fit the description.
        """
        self.open(table, held["column"], roles)
        assert self.edited is not None
        edited = self._read(self.edited, held["text"])
        self.edited = edited.with_bounds(*held["bounds"]) if held["bounds"] else edited
        self._typed = dict(held["typed"])
        self.measure(roles)

    def act(self, action: str, value: Any, roles: Roles) -> DescriptionEditor | None:
        """Perform the action of a control; return the saved description after the action "save", otherwise None."""
        if self.edited is None:
            return None
        self._message, self._fault, self._asks = "", "", False
        before, table = self.edited, None
        try:
            if action == "save":
                table = self._save()
            elif action == "chosen":
                self._chosen = [*map(str, value)]
            elif action in FIELDS:
                self._typed[action] = str(value)
            else:
                self.edited = self._edit(action, value)
        except (ValueError, OSError) as error:
            self._fault, self.edited = str(error), before
        if action == "save" or self.edited.has_changed(before):
            self.measure(roles)
        return table

    def follow(self, table: DescriptionEditor, roles: Roles) -> None:
        """Take over a saved description or other roles; close the hierarchy of a column that is not generalized."""
        if self.edited is None or self.saved is None:
            return
        if roles.chosen.get(self.column) is not Role.QUASI_IDENTIFIER:
            self.close()
            return
        is_new = table is not self.edited.table
        self.saved, self.edited = replace(self.saved, table=table), replace(self.edited, table=table)
        if is_new or roles != self._roles:
            self.measure(roles, is_new=is_new)

    def _edit(self, action: str, value: Any) -> HierarchyEditor:
        """Return the hierarchy after an action, and clear what was typed for this action."""
        assert self.edited is not None
        assert self.saved is not None
        if action == "undo":
            self._typed, self._chosen = {}, []
            return self.saved
        if action == "discard":
            self._typed.pop("text", None)
            return self.edited
        if action == "read":
            made = self._read(self.edited, self._typed.get("text", self._text))
            self._typed.pop("text", None)
            self._chosen = []
            return made
        if self._typed.get("text", self._text) != self._text:
            raise SchemaError(PENDING)
        if action == "bounds":
            domain = self.edited.domain
            low, high = (
                parse_number(self._typed.get(end, str(own)), f"the {name} number")
                for end, name, own in (("low", "lowest", domain.low), ("high", "highest", domain.high))
            )
            made = self.edited.with_bounds(low, high)
            self._typed = {}
            return made
        if self.edited.tree is None:
            return self.edited.with_cuts(self._edit_cuts(self.edited, action, value))
        made = self.edited.with_tree(self._edit_tree(self.edited.tree, action, value))
        self._chosen = []
        return made

    def _read(self, edited: HierarchyEditor, text: str) -> HierarchyEditor:
        """Return the hierarchy that a text states."""
        return edited.with_cuts(parse_cuts(text)) if edited.tree is None else edited.with_tree(edited.tree.read(text))

    def _edit_tree(self, tree: GroupTree, action: str, value: Any) -> GroupTree:
        """Return the tree after an action."""
        typed, group = self._typed, self._typed.get("group") or next(iter(tree.groups), "")
        match action:
            case "drop":
                name, into = value
                return tree.move([str(name)], str(into))
            case "move" if self._chosen:
                return tree.move(self._chosen, typed.get("into", ROOT))
            case "move":
                raise SchemaError("nothing is chosen. Mark the values and groups to move first.")
            case "add":
                made = tree.add(typed.get("new", ""), self._chosen)
                typed.pop("new", None)
            case "rename":
                made = tree.rename(group, typed.get("name", ""))
                typed.pop("name", None)
            case "remove":
                made = tree.remove(group)
            case _:
                raise SchemaError(f"the page has no action '{action}'.")
        for field in ("into", "group"):
            if typed.get(field, ROOT) not in (ROOT, *made.groups):
                del typed[field]
        return made

    def _edit_cuts(self, edited: HierarchyEditor, action: str, value: Any) -> Cuts:
        """Return the cuts after an action; `value` is the number that a control holds."""
        points, (what, _, place) = [*edited.points], action.partition(" ")
        match what:
            case "width":
                return parse_cuts(f"every {value}")
            case "list":
                return tuple(points)
            case "point":
                points[int(place)] = parse_number(str(value), f"cut {int(place) + 1}")
                return tuple(points)
            case "delete":
                return tuple(points[: int(place)] + points[int(place) + 1 :])
            case "insert":
                points.append(parse_number(self._typed.get("new", ""), "the new cut"))
                self._typed.pop("new", None)
                return tuple(sorted(points))
        raise SchemaError(f"the page has no action '{action}'.")

    def _save(self) -> DescriptionEditor:
        assert self.edited is not None
        if self._typed.get("text", self._text) != self._text:
            raise SchemaError(PENDING)
        table = self.edited.save()
        where = f"hierarchies/default/{self.column}.csv" if self.edited.tree else table.path.name
        self.saved = self.edited = HierarchyEditor.open(table, self.column)
        self._costs = {"saved": self._costs["edited"]} if "edited" in self._costs else {}
        self._message = f"Saved in {where}. Files that were released before keep their labels."
        return table

    @property
    def _text(self) -> str:
        """The hierarchy as text."""
        assert self.edited is not None
        return write_cuts(self.edited.cuts or ()) if self.edited.tree is None else self.edited.tree.text()

    def measure(self, roles: Roles, *, is_new: bool = False) -> None:
        """Measure the saved and the edited hierarchy in the background.

        `is_new` states that the description has changed, so that earlier results are dropped.
        """
        if self.edited is None or self.saved is None:
            return
        if is_new or self._roles != roles:
            self._costs, self._roles = {}, roles
        self._costs.pop("edited", None)
        self._cost_fault = ""
        editors = {"saved": self.saved} if "saved" not in self._costs else {}
        if self.edited.has_changed(self.saved):
            editors["edited"] = self.edited
        self._is_measuring = bool(editors)
        if not editors:
            if self._worker:
                self._worker.stop()
            return
        if self._worker is None or self._shared is not self.edited.table:
            if self._worker:
                self._worker.close()
            self._worker, self._shared = BackgroundWorker(self.edited.table), self.edited.table
        task = partial(measure_hierarchies, editors, roles)
        self._worker.start(task, done=self._measured, failed=self._failed, progress=lambda *_: None)

    def _measured(self, costs: dict[str, HierarchyCost]) -> None:
        self._costs |= costs
        self._is_measuring = False
        self._draw()

    def _failed(self, text: str) -> None:
        self._cost_fault, self._is_measuring = text, False
        self._draw()

    def render(self, roles: Roles) -> Markup:
        """Render the open hierarchy; empty if none is open."""
        if self.edited is None or self.saved is None:
            return Markup("")
        tree = self.edited.tree
        costs = {"Saved": self._costs.get("saved")}
        if self.edited.has_changed(self.saved):
            costs["As edited here"] = self._costs.get("edited")
        shown: dict[str, Any] = {
            "name": self.column,
            "is_tree": tree is not None,
            "text": self._typed.get("text", self._text),
            "is_pending": self._typed.get("text", self._text) != self._text,
            "has_changed": self.edited.has_changed(self.saved),
            "asks": self._asks,
            "costs": costs,
            "is_measuring": self._is_measuring,
            "cost_fault": self._cost_fault,
            "message": self._message,
            "fault": self._fault,
            "typed": self._typed,
            "percent": numerals.write_percent,
            "k": K,
        }
        if tree is not None:
            shown |= {
                "nodes": _list_nodes(tree, self.saved.people(roles)),
                "chosen": self._chosen,
                "options": {ROOT: "All values"} | _list_options(tree),
                "groups": _list_options(tree),
                "empty": tree.empty_groups,
            }
            return render_template("hierarchy", **shown)
        points = self.edited.points
        shown |= {
            "domain": self.edited.domain,
            "points": points,
            "is_proposed": self.edited.is_proposed,
            "width": None if isinstance(self.edited.cuts, tuple) else self.edited.cuts,
            "has_controls": len(points) <= MOST_CUTS,
            **draw_histogram(self.saved.histogram(roles), points, self.edited.domain),
        }
        return render_template("cuts", **shown)


def can_edit(table: DescriptionEditor, roles: Roles) -> list[str]:
    """Return the columns whose hierarchy can be edited: quasi-identifiers with a domain, in a table without studies."""
    if table.studies:
        return []
    return [name for name in roles.names(Role.QUASI_IDENTIFIER) if table.has_domain(name)]


def _list_nodes(tree: GroupTree, people: Mapping[str, int], group: str = ROOT) -> list[Node]:
    """Return the members of a group as nodes of the page."""
    found = []
    for each in tree.members(group):
        inner = _list_nodes(tree, people, each)
        values = 1 if tree.is_value(each) else sum(node.values for node in inner)
        found.append(Node(each, tree.is_value(each), people.get(each), values, inner))
    return found


def _list_options(tree: GroupTree) -> dict[str, str]:
    """Return the groups as the options of a menu, in which each name has a dash for each level above it."""
    return {each: "– " * depth + each for each, depth in tree.walk() if not tree.is_value(each)}


def draw_histogram(bars: list[Bar], points: tuple[float, ...], domain: Numbers) -> dict[str, Any]:
    """Return the rectangles of a histogram and the places of its cuts, in units of the picture.

    The height of a bar is proportional to people per number, because merged bars are wider than others.
    """

    def place(number: float) -> float:
        return round(WIDE * min(max((number - domain.low) / domain.width, 0), 1), 1)

    dense = [bar.people / (bar.high - bar.low) for bar in bars]
    most = max(dense, default=0) or 1
    rectangles = [
        (place(bar.low), round(place(bar.high) - place(bar.low), 1), round(TALL * each / most, 1))
        for bar, each in zip(bars, dense, strict=True)
    ]
    table = [(f"{bar.low:g}", f"{bar.high:g}", f"{bar.people:,}") for bar in bars]
    lines = [place(each) for each in points]
    return {"table": table, "rectangles": rectangles, "lines": lines, "tall": TALL, "wide": WIDE}
