"""The tab of the choice: the release to publish under the policy, the alternatives, and what it would take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

from privnb.app import tasks
from privnb.app.html import chart_spec
from privnb.app.state import AppState
from privnb.app.tab import Tab
from privnb.app.tasks import Choice
from privnb.datasets.dataset import load_schema
from privnb.decision import price
from privnb.evaluation.profiles import PROFILES
from privnb.explorer.page import chart_class
from privnb.explorer.setting import Setting
from privnb.microdata.schema import Role
from privnb.reporting import charts, release_card
from privnb.reporting.charts.base import Drawing
from privnb.runtime.errors import UsageError
from privnb.runtime.names import join_names
from privnb.runtime.numerals import write_percent
from privnb.runtime.sentences import Sentences
from privnb.runtime.wording import Worded, line, write

SHOWN = 8  # alternatives
LITTLE = 0.5  # the part of a domain; a typical label that covers more is not informative
WIDER = 3  # steps of each cap
LONG = 20  # the length of a unit that is not repeated in a table
LOSSES, PEOPLE = "losses", "people"  # the charts


class ChooseTab(Tab):
    """Search for a release, and show the answer, the alternatives and the price of each cap.

    `explore` shows a setting in the tab Explore.
    """

    key, title = "choose", "Choose"
    PARTS: ClassVar[tuple[str, ...]] = ("body", "more")

    def __init__(self, state: AppState, explore: Callable[[Setting], object]) -> None:
        super().__init__(state)
        self.explore, self.profile = explore, "quick"
        self.charts = {name: chart_class()() for name in (LOSSES, PEOPLE)}
        self.without: dict[str, Mapping[str, Any]] = {}  # the decision without a column
        self._drawn: Choice | None = None
        self._continues = state.is_wanted  # whether the page was loaded again during a search
        body, more = self.parts["body"], self.parts["more"]
        self.widget.children = (self.parts["status"], body, *self.charts.values(), more)
        for chart in self.charts.values():
            chart.add_class("privnb-chart")

    def draw(self) -> None:
        """Draw the answer and the alternatives, or the button of the search."""
        choice = self.state.choice
        shown: dict[str, Any] = {"profile": self.profile, "profiles": {each: each for each in PROFILES}}
        shown |= {
            "stale": self.state.stale(),
            "why_not": self.state.why_not_described,
            "policy": self.state.policy_title,
        }
        shown |= {"unsaved": self.state.has_unsaved_policy, "unsaved_columns": self.state.has_unsaved_columns}
        if choice is None:
            self.put(
                "body", "choose", **shown, answer="", how="", changed="", is_met=False, rows=[], widths=[], wider=[]
            )
            self.put("more", "without", columns=[], answers={})
        else:
            answer = Sentences(*write("decision/decision", "headline", choice.explanation))._repr_html_()
            how = Worded("decision/decision", choice.explanation)._repr_html_()
            is_met = choice.found.decision.chosen is not None
            changed = choice.explanation.get("caps_changed")
            shown["changed"] = line("decision/policy_changes", "changed", changed) if changed else ""
            chosen = choice.explanation["chosen"]
            listed = choice.explanation.get("attributes", ())
            shown["attributes"] = release_card.write_attributes(listed, chosen["loss"]) if chosen else ([], [])
            shown |= {
                "rows": self._rows(choice),
                "widths": [*_describe_widths(choice)],
                "wide": _find_wide_columns(choice),
            }
            wider = [*_list_wider_caps(choice)]
            self.put("body", "choose", **shown, answer=answer, how=how, is_met=is_met, wider=wider)
            self.put("more", "without", columns=self._columns(), answers=self._answers())
        if choice is not self._drawn:
            self._drawn = choice
            for name, draw in ((LOSSES, charts.loss_by_cap), (PEOPLE, charts.loss_by_people)):
                drawn = None if choice is None else draw(choice.found.decision)
                self.charts[name].spec = chart_spec(drawn) if isinstance(drawn, Drawing) else {}
        must_wait = self.state.running or self.state.has_unsaved_columns
        if self._continues and choice is None and not must_wait and not shown["why_not"]:
            self._continues = False
            self._search()  # finished parts come from the store

    def act(self, name: str, value: Any) -> None:
        """Perform the action of a control."""
        if name == "profile":
            self.profile = value
        elif name == "search":
            self._search()
        elif name == "open":
            self._open(int(value))
        elif name == "without":
            self._leave_out(value)
        self.refresh()

    def changed(self, field: str, *, is_shown: bool) -> None:
        """Follow a change of the shared state."""
        if field in ("path", "study"):
            self.without = {}
        super().changed(field, is_shown=is_shown)

    def stop(self) -> None:
        """Stop the search; finished parts are kept in the store."""
        self.state.set("is_wanted", False)
        super().stop()

    def failed(self) -> None:
        """Do not continue a failed search when the page is loaded again: it would fail again."""
        self.state.set("is_wanted", False)

    def _search(self) -> None:
        self._check_columns()
        state = self.state
        task = partial(tasks.choose, state.path, state.study, state.policy, state.store, self.profile)
        self.without = {}
        state.set("is_wanted", True)
        self.start("Searching for a release", task, self._found)

    def _check_columns(self) -> None:
        """Raise UsageError if the table is not described, or if its columns have changes that are not saved."""
        if why := self.state.why_not_described:
            raise UsageError(why)
        if self.state.has_unsaved_columns:
            raise UsageError("the columns have unsaved changes. Save the columns first, in the tab Columns.")

    def _found(self, choice: Choice) -> None:
        self.state.set("choice", choice)

    def _rows(self, choice: Choice) -> list[dict[str, Any]]:
        """Return the releases to show: the chosen one, those that comply, and the nearest of those that do not."""
        decision = choice.found.decision
        releases = decision.releases if decision.chosen is not None else decision.nearest_first
        able = releases[releases.status != "refused"]
        alike = able[["loss", "used", "kept"]].round(9).duplicated()  # not an alternative to an earlier release
        shown = able[~alike].head(SHOWN)
        return [
            {
                "place": place,
                "setting": row.setting,
                "loss": write_percent(row.loss),
                "used": write_percent(row.used) if row.used < 100 else "more than 10,000%",
                "verdict": "complies" if row.kept else "; ".join(map(str, row.reasons)),
                "is_chosen": bool(row.kept) and place == shown.index[0],
            }
            for place, row in shown.iterrows()
        ]

    def _open(self, place: int) -> None:
        choice = self.state.choice
        if choice is None:
            raise UsageError("there is no choice yet. Search for a release first.")
        from privnb.datasets.dataset import load
        from privnb.explorer.setting import find_setting

        row = choice.found.decision.releases.loc[place]
        setting = find_setting(choice.found.sanitizer_of(row), load(str(self.state.path), self.state.study))
        if setting is None:
            raise UsageError(
                f"the tab Explore has no controls for '{row.setting}'. Open another release, or set the sliders there."
            )
        self.explore(setting)

    def _columns(self) -> list[str]:
        """Return the columns that a release could do without."""
        schema = load_schema(str(self.state.path), self.state.study)
        names = [*schema.quasi_identifiers, *schema.names(Role.NEUTRAL)]
        return names if len(schema.quasi_identifiers) > 1 else schema.names(Role.NEUTRAL)

    def _leave_out(self, column: str) -> None:
        self._check_columns()
        state = self.state
        task = partial(tasks.leave_out, state.path, state.study, state.policy, state.store, column)

        def found(explanation: dict[str, Any]) -> None:
            self.without[column] = explanation

        self.start(f"Searching without the column {column}", task, found)

    def _answers(self) -> dict[str, str]:
        """Return, by column, the measured decision without the column, in words."""
        found = {}
        for column, explanation in self.without.items():
            parts = Sentences(*write("decision/decision", "headline", explanation))
            found[column] = parts._repr_html_()
        return found


def _describe_widths(choice: Choice) -> Iterator[tuple[str, str, str]]:
    """Yield, for each column with labels, the typical width and the share of rows without information, in words."""
    for each in choice.widths:
        unit = each.unit if each.unit and len(each.unit) <= LONG else "values"
        yield each.column, f"{each.typical:g} of {each.domain:g} {unit}", write_percent(each.covers_all)


def _find_wide_columns(choice: Choice) -> str:
    """Return the columns whose typical label is wide, as one text."""
    return join_names(each.column for each in choice.widths if each.typical > LITTLE * each.domain)


def _list_wider_caps(choice: Choice) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield, for each cap, the next wider caps that would lower the loss: cap, wider cap, loss, release, in words."""
    decision = choice.found.decision
    now = float("inf") if decision.chosen is None else float(decision.chosen.loss)
    for axis, steps in price.loss_by_cap(decision).groupby("axis", sort=False):
        wider = steps[(steps.at_most > steps.cap) & (steps.loss < now)]
        for row in wider.head(WIDER).itertuples():
            yield str(axis), *map(write_percent, (row.cap, row.at_most, row.loss)), row.setting
