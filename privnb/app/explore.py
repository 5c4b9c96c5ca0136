"""The tab of the explorer: the board of one setting, for the table as its description states it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from privnb.app.state import AppState
from privnb.app.tab import Tab
from privnb.app.tasks import Choice
from privnb.datasets.dataset import load
from privnb.explorer.board import Board, explore
from privnb.explorer.session import is_possible
from privnb.explorer.setting import Setting, check_setting, find_setting


class ExploreTab(Tab):
    """Show the board; it is made when the tab is opened first, and again after the description has changed."""

    key, title = "explore", "Explore"

    def __init__(
        self,
        state: AppState,
        setting: Setting | None = None,
        records: int = 0,
        make_board: Callable[..., Board] = explore,
    ) -> None:
        self.board: Board | None = None
        self.setting, self.records, self.make_board = setting, records, make_board
        self._made_for = ""
        self._choice: Choice | None = None  # the choice whose release the board was told to show
        self._untouched: Setting | None = None  # the setting that the app itself has shown
        super().__init__(state)

    def draw(self) -> None:
        """Draw the board, or the reason why there is none."""
        is_shown = self.state.tab == self.key
        why_not = self.state.why_not_described
        digest = f"{self.state.digest()} {self.state.policy} {self.state.policy_digest}"
        if is_shown and not why_not and (self.board is None or digest != self._made_for):
            self._make(digest)
        if is_shown and not why_not and self.setting is None:
            self._follow_choice()
        self.put("body", "explore", why_not=why_not)

    def act(self, name: str, value: Any) -> None:
        """Perform no action: the board has its own controls."""

    def go(self, setting: Setting) -> None:
        """Show a setting on the board."""
        if self.board is not None:
            self._try(self.board.go, setting)

    def _follow_choice(self) -> None:
        """Show the chosen release, unless the board shows a setting that a person has chosen."""
        board, choice = self.board, self.state.choice
        if board is None or choice is None or choice is self._choice or self.state.stale():
            return
        self._choice = choice
        if board.setting not in (self._untouched, check_setting(Setting(), board.dataset)):
            return
        chosen = choice.found.decision.chosen
        setting = None if chosen is None else find_setting(choice.found.sanitizer_of(chosen), board.dataset)
        if setting is not None:
            self._untouched = setting
            self.go(setting)

    def _make(self, digest: str) -> None:
        dataset = load(str(self.state.path), self.state.study, records=self.records or None)
        setting = None if self.setting is None else check_setting(self.setting, dataset)
        if self.board is not None:
            setting = self.board.setting if is_possible(self.board.setting, dataset) else setting
            self.board.close()
        source, store, policy = str(self.state.path), self.state.store, self.state.policy
        self.board = self.make_board(dataset, setting, source=source, store=store, policy=policy)
        self._made_for = digest
        if self.board.policy != policy:  # the board of an earlier page had another policy
            self.board.choose(policy)
        self.widget.children = (self.parts["status"], self.parts["body"], self.board.widget)
