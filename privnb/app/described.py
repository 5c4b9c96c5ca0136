"""The tab of the columns: the page of the roles, which is made when the tab is opened first."""

from __future__ import annotations

from typing import Any

from privnb.app.columns import YourTable
from privnb.app.state import UNSAVED_COLUMNS, AppState
from privnb.app.tab import Tab
from privnb.datasets.description_editor import DescriptionEditor


class ColumnsTab(Tab):
    """Show the page of the roles; a large table is read for it only if somebody opens the tab."""

    key, title = "columns", "Columns"

    def __init__(self, state: AppState) -> None:
        self.page: YourTable | None = None
        super().__init__(state)

    def draw(self) -> None:
        """Make the page if the tab is shown first."""
        if self.page is None and self.state.tab == self.key:
            self.page = YourTable(DescriptionEditor.open(str(self.state.path)))
            self.page.on_saved, self.page.on_drawn = self._saved, self._drawn
            self.widget.children = (self.parts["status"], self.page.widget, self.parts["body"])
            self._drawn()
        is_saved = not self.state.has_unsaved_columns
        self.put("body", "described", is_described=self.state.is_described, is_saved=is_saved)

    def act(self, name: str, value: Any) -> None:
        """Perform no action: the page of the roles has its own controls."""

    def _drawn(self) -> None:
        """Tell the tabs whether the page holds changes that are not saved, which they do not use."""
        has_unsaved = self.page is not None and self.page.has_unsaved
        if has_unsaved != self.state.has_unsaved_columns:
            self.state.set(UNSAVED_COLUMNS, has_unsaved)

    def _saved(self) -> None:
        """Tell the tabs that the description was saved: the choice, the board and the card are about earlier roles."""
        self.state.set("path", self.state.path)
