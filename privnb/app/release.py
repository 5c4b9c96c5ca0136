"""The tab of the release: the file, its format, and the last questions before it is written."""

from __future__ import annotations

import base64
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from privnb.app import tasks
from privnb.app.state import AppState
from privnb.app.tab import Tab
from privnb.app.tasks import Written
from privnb.evaluation.label_widths import WHOLE
from privnb.publishing import chosen_release
from privnb.runtime.errors import UsageError
from privnb.runtime.sentences import Part
from privnb.runtime.wording import ITEM
from privnb.tables.writing import PAGE


class ReleaseTab(Tab):
    """Write the chosen release with its provenance, its codebook and its card."""

    key, title = "release", "Release"

    def __init__(self, state: AppState) -> None:
        self.safe, self.allow = False, ""
        self.refusals = 0  # a new number draws the file name again, with the name that applies
        self.written: Written | None = None
        super().__init__(state)

    def draw(self) -> None:
        """Draw the form, and the files that were written."""
        choice = self.state.choice
        setting = "" if choice is None else choice.found.decision.setting
        self.put(
            "body",
            "release",
            setting=setting,
            has_choice=choice is not None,
            policy="" if choice is None else choice.found.decision.policy.title,
            stale=self.state.stale(),
            out=self.state.out,
            refusals=self.refusals,
            is_safe=self.safe,
            allow=self.allow,
            missing=self.state.signature.missing,
            empty=[] if choice is None else [each.column for each in choice.widths if each.covers_all >= WHOLE],
            columns=0 if choice is None else len(choice.explanation["table"]["quasi_identifiers"]),
            written=self.written,
            printed=[] if self.written is None else _split_lists("\n".join(self.written.sentences)),
            card=self._card(),
        )

    def act(self, name: str, value: Any) -> None:
        """Perform the action of a control."""
        if name == "out":
            name = str(value).strip()
            if not Path(name).name:
                self.refusals += 1
                self.draw()
                raise UsageError(f"the file name must not be empty; {self.state.out} still applies. Type a file name.")
            self.state.set("out", name)
        elif name == "safe":
            self.safe = bool(value)
        elif name == "allow":
            self.allow = str(value)
        elif name == "write":
            self._write()
        self.refresh()

    def _card(self) -> str:
        """Return the page of the written card as the target of a link; empty if there is none."""
        cards = [] if self.written is None else [each for each in self.written.files if each.name.endswith(PAGE)]
        if not cards or not cards[0].is_file():
            return ""
        return f"data:text/html;base64,{base64.b64encode(cards[0].read_bytes()).decode('ascii')}"

    def _write(self) -> None:
        choice, state = self.state.choice, self.state
        if choice is None:
            raise UsageError("there is no choice yet. Search for a release in the tab Choose first.")
        if stale := state.stale():
            raise UsageError(stale)
        out = Path(state.out)
        out.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        chosen_release.check_place(out, spreadsheet_safe=self.safe)
        allow = self.allow.strip() or None
        task = partial(tasks.write, state.path, state.study, choice, state.signature, out.resolve(), self.safe, allow)

        def done(written: Written) -> None:
            self.written = written

        self.start("Writing the release", task, done)


def _split_lists(text: str) -> list[Part]:
    """Return the lines of a printed text as paragraphs, and successive items as lists."""
    parts = list[Part]()
    lines = filter(None, map(str.strip, text.splitlines()))
    for are_items, some in groupby(lines, lambda line: line.startswith(ITEM)):
        own = [*some]
        parts += [[line.removeprefix(ITEM) for line in own]] if are_items else own
    return parts
