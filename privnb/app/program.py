"""The app in tabs, from the columns of a table to a signed release card."""

from __future__ import annotations

from functools import partial
from typing import Any

from privnb.app.card import CardTab
from privnb.app.choose import ChooseTab
from privnb.app.columns import find_description_of
from privnb.app.described import ColumnsTab
from privnb.app.explore import ExploreTab
from privnb.app.html import render_template
from privnb.app.policy import PolicyTab
from privnb.app.release import ReleaseTab
from privnb.app.state import PROGRESS, UNSAVED_COLUMNS, AppState
from privnb.app.studies import StudiesTab
from privnb.app.tab import Tab
from privnb.datasets import description
from privnb.datasets.dataset import Records
from privnb.evaluation.store import Folder
from privnb.explorer.board import PolicyName, explore
from privnb.explorer.gauges import POLICY
from privnb.explorer.page import page_class
from privnb.explorer.setting import Setting
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.runtime import expect
from privnb.runtime.validation import validated

COLUMNS = ColumnsTab.key
TABS = ColumnsTab, PolicyTab, ChooseTab, ExploreTab, CardTab, ReleaseTab


@validated
def open_table(
    file: str = "",
    name: str = "",
    *,
    study: str = "",
    policy: PolicyName = POLICY,
    store: Folder = "",
    setting: Setting | None = None,
    records: Records = None,
    min_count: MinCount = LIMIT,
    tab: str = "",
) -> Program:
    """Return the app for a table: a `file`, which privnb first describes, or a described table of this `name`.

    Parameters
    ----------
    file : str
        A table of any kind that `privnb describe` reads; empty for a table with a description.
    name : str
        The name of the table's folder in data/, or the path of its description; if empty, the name of the file.
    study : str
        The study of the description that states the roles; empty for the default study.
    policy : str
        The first policy: the name of a ready policy, or the path of the owner's file.
    store : str
        The folder of finished evaluations, or empty.
    setting : Setting
        The first setting of the tab Explore.
    records : int
        The number of records that the tab Explore samples; by default, it shows all records.
    min_count : int
        The tab Explore withholds numbers about fewer people.
    tab : str
        The key of the first tab; by default, the columns of a draft, and otherwise the tab that was open last.

    Raises
    ------
    ValueError, OSError
        For a file that is not a table, and for a description or a policy that cannot be read.
    """
    if tab:
        expect.one_of("tab", tab, [each.key for each in TABS])
    state = AppState(find_description_of(file, name).resolve(), study or None, policy=policy, store=str(store))
    return Program(state, ExploreTab(state, setting, records or 0, partial(explore, min_count=min_count)), tab)


class Program:
    """The tabs of one table; `widget` is the widget to show.

    Parameters
    ----------
    state : AppState
    explorer : ExploreTab
    tab : str
        As in `open_table`.
    """

    def __init__(self, state: AppState, explorer: ExploreTab, tab: str = "") -> None:
        from ipywidgets import VBox

        self.state = state
        self._explorer = explorer
        has_studies = bool(description.read_description(self.state.path).get("studies"))
        made = (
            StudiesTab(self.state) if has_studies else ColumnsTab(self.state),
            PolicyTab(self.state),
            ChooseTab(self.state, self.explore),
            explorer,
            CardTab(self.state),
            ReleaseTab(self.state),
        )
        self.tabs: dict[str, Tab] = {each.key: each for each in made}
        self._bar = page_class()()
        self._bar.on_msg(self._receive)
        self.state.listeners.append(self._changed)
        self.state.show = self.show
        self.widget = VBox([self._bar, *(each.widget for each in made)])
        self.widget.add_class("privnb-app")
        self.show(tab or (COLUMNS if self.state.why_not_described else self.state.tab or "policy"))

    def __repr__(self) -> str:  # never the records
        return f"Program('{self.state.path.stem}', tab '{self.state.tab}')"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.widget._repr_mimebundle_(**options)

    def show(self, key: str) -> None:
        """Show one tab and hide the others."""
        self.state.set("tab", key if key in self.tabs else COLUMNS)
        for name, each in self.tabs.items():
            each.widget.layout.display = None if name == self.state.tab else "none"
        self._draw_bar()
        self.tabs[self.state.tab].refresh()

    def explore(self, setting: Setting) -> None:
        """Show a setting in the tab Explore."""
        self.show(self._explorer.key)
        self._explorer.go(setting)

    def close(self) -> None:
        """End the processes of the app."""
        self.state.work.close()
        if self._explorer.board is not None:
            self._explorer.board.close()

    def _draw_bar(self) -> None:
        name, titles = self.state.path.stem, {key: each.title for key, each in self.tabs.items()}
        own = self.state.tab and self.tabs[self.state.tab].doing  # the shown tab states its own step
        doing, fraction = "" if own else self.state.doing, self.state.progress[0]
        shown = {"titles": titles, "tab": self.state.tab, "name": name, "doing": doing, "fraction": fraction}
        unsaved = self.state.has_unsaved_columns and self.state.tab != COLUMNS
        self._bar.html = str(render_template("program", unsaved=unsaved, **shown))

    def _receive(self, page: Any, content: Any, _: Any) -> None:
        if content["name"] == "shown":
            page.send_state("html")
        elif content["name"] == "tab":
            self.show(str(content["value"]))

    def _changed(self, field: str) -> None:
        for key, each in self.tabs.items():
            if field != "tab":
                each.changed(field, is_shown=key == self.state.tab)
        if field in (PROGRESS, UNSAVED_COLUMNS):
            self._draw_bar()
