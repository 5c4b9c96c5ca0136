"""The tab of the card: the statements of the person who signs, and the card as the release will carry it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from privnb.app import tasks
from privnb.app.state import AppState
from privnb.app.tab import Tab
from privnb.app.tasks import Choice
from privnb.decision.card import Card, digest_card
from privnb.runtime.errors import UsageError

FIELDS = {
    "purpose": "Purpose of the release",
    "legal_basis": "Legal basis",
    "retention_until": "Recipients may keep it until (a day such as 2027-12-31)",
    "name": "Name of the person who signs",
    "date": "Date of the signature",
}


class CardTab(Tab):
    """Fill in the statements, and read the card before the release is written."""

    key, title = "card", "Card"
    PARTS: ClassVar[tuple[str, ...]] = ("body", "page")

    def __init__(self, state: AppState) -> None:
        self.card: Card | None = None
        self._of: Choice | None = None
        self.refusals = Counter[str]()  # by field; a new number draws the field again, with the text that applies
        super().__init__(state)

    def draw(self) -> None:
        """Draw the form, and the card if it has been made."""
        choice = self.state.choice
        if self._of is not choice:
            self.card, self._of = None, choice
        signature = self.state.signature
        self.put(
            "body",
            "card",
            fields=[(name, label, getattr(signature, name)) for name, label in FIELDS.items()],
            refusals=self.refusals,
            missing=[FIELDS[name] for name in signature.missing],
            has_choice=choice is not None,
            is_made=self.card is not None,
            stale=self.state.stale(),
        )
        self.put("page", "card_page", page="" if self.card is None else self._page(self.card))

    def act(self, name: str, value: Any) -> None:
        """Perform the action of a control."""
        if name in FIELDS:
            try:
                self.state.set("signature", replace(self.state.signature, **{name: str(value)}))
            except UsageError:
                self.refusals[name] += 1
                self.draw()
                raise
        elif name == "preview":
            self._preview()
        self.refresh()

    def _preview(self) -> None:
        choice, state = self.state.choice, self.state
        if choice is None:
            raise UsageError("there is no choice yet. Search for a release in the tab Choose first.")
        if stale := state.stale():
            raise UsageError(stale)
        task = partial(tasks.preview, state.path, state.study, choice, state.signature)

        def made(card: Card) -> None:
            self.card = card

        self.start("Making the card", task, made)

    def _page(self, card: Card) -> str:
        """Return the page of the card with the statements as they are now."""
        from privnb.reporting import release_card

        content = {name: value for name, value in card.content.items() if name != "sha256"}
        content["signed"] = self.state.signature.facts()
        content["release"] = {**content["release"], "file": Path(self.state.out).name}
        return release_card.page(Card(content | {"sha256": digest_card(content)}))
