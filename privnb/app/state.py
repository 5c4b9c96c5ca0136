"""The state that the tabs share: the described table, the policy, the choice under the policy, and the signature."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from privnb.app.tasks import Choice, digest_table
from privnb.datasets import description
from privnb.datasets.dataset import DatasetDescription
from privnb.decision import policies
from privnb.decision.signature import Signature
from privnb.explorer import pins
from privnb.explorer.background import BackgroundWorker
from privnb.runtime.errors import PrivnbError

FILE = "app.json"  # next to the state of the board
PROGRESS = "progress"  # a change that concerns only the texts about the running step
UNSAVED_COLUMNS = "has_unsaved_columns"


@dataclass
class AppState:
    """The table of the app and everything that its owner has decided so far.

    Nothing here is a record. The description of the table and its pins stay files that the command line reads too; the
    other fields are kept in a file of the page, so that a page that is loaded again starts where it stopped.

    Parameters
    ----------
    path : Path
        The description of the table.
    study : str or None
        The study that states the roles.
    policy : str
        The name of a policy, or the path of the owner's file.
    store : str
        The folder of finished evaluations, with which a stopped search continues.
    choice : Choice or None
        The choice under the policy; None before the search.
    signature : Signature
        The statements for the card.
    out : str
        The path of the release to write.
    is_wanted : bool
        Whether the owner has asked for a choice, so that a page that is loaded again continues the search.
    tab : str
        The tab that is shown.
    has_unsaved_policy : bool
        Whether the tab Policy holds changes that are not saved.
    has_unsaved_columns : bool
        Whether the tab Columns holds roles or a hierarchy that are not saved.
    running : str
        The slow step that runs in the background; empty if there is none.
    since : str
        The time of day at which the step began, such as "14:05".
    progress : (float or None, str)
        The finished share of the step, and what it is doing.
    listeners : list of function
        The functions that are called after a change, with the name of the changed field.
    show : function
        The function that shows a tab, given its key.
    """

    path: Path
    study: str | None = None
    policy: str = "ontario-2025"
    store: str = ""
    choice: Choice | None = None
    signature: Signature = field(default_factory=Signature)
    out: str = ""
    is_wanted: bool = False
    running: str = ""
    since: str = ""
    progress: tuple[float | None, str] = (None, "")
    tab: str = ""
    has_unsaved_policy: bool = False
    has_unsaved_columns: bool = False
    listeners: list[Callable[[str], object]] = field(default_factory=list)
    show: Callable[[str], object] = field(default=lambda key: None)

    def __post_init__(self) -> None:
        self.work = BackgroundWorker()
        own = self.path.parent  # a drafted description is in data/NAME/ of the owner's folder
        folder = own.parent.parent if own.parent.name == "data" else own
        self.out = self.out or str(folder / "releases" / f"{self.path.stem}.csv")
        kept = os.environ.get(pins.STATE)  # set by a page, which has no earlier kernel
        self._file = Path(kept).with_name(FILE) if kept else None
        self._restore()

    def set(self, name: str, value: object) -> None:
        """Change a field, keep the state in the file of the page, and tell the tabs."""
        setattr(self, name, value)
        self._keep()
        for listener in self.listeners:
            listener(name)

    def run(self, what: str) -> None:
        """State that a slow step, `what`, begins; an empty text states that it has ended."""
        self.running, self.since, self.progress = what, time.strftime("%H:%M") if what else "", (None, "")
        self.report(None, "")

    def report(self, fraction: float | None, text: str) -> None:
        """State how far the running step is."""
        self.progress = fraction, text
        for listener in self.listeners:
            listener(PROGRESS)

    @property
    def doing(self) -> str:
        """The running step in words, with its beginning and what it is doing; empty if there is none."""
        text = self.progress[1]
        return f"{self.running} (since {self.since}){text and f': {text}'}" if self.running else ""

    @property
    def is_described(self) -> bool:
        """Whether the owner has confirmed the description, so that the table can be loaded."""
        return self.why_not_described == ""

    @property
    def why_not_described(self) -> str:
        """The reason why the table cannot be loaded yet; empty if the description is confirmed and valid."""
        try:
            if description.read_description(self.path).get("draft"):
                return "The description is a draft. Choose the roles of the columns, and save them."
            _ = DatasetDescription.of(self.path, self.study)
        except (PrivnbError, OSError) as error:
            return str(error)
        return ""

    @property
    def policy_title(self) -> str:
        """The title of the policy, or its name if its file cannot be read."""
        try:
            return policies.read(self.policy).title
        except (PrivnbError, OSError):
            return self.policy

    @property
    def policy_digest(self) -> str:
        """The SHA-256 of the policy as it is on disk; empty if its file cannot be read."""
        try:
            return policies.read(self.policy).sha256
        except (PrivnbError, OSError):
            return ""

    def digest(self) -> str:
        """Return the digest of the table and its description; empty if they cannot be read."""
        try:
            return digest_table(self.path)
        except (PrivnbError, OSError):
            return ""

    def stale(self) -> str:
        """Return a sentence if the choice is about an earlier state of the table or of the policy; otherwise, ""."""
        if self.choice is None:
            return ""
        if self.choice.table != self.digest():
            return "The table or its description has changed since this choice was made. Choose again."
        if self.choice.policy != self.policy:
            return "Another policy has been selected since this choice was made. Choose again."
        try:
            is_same = policies.read(self.policy).sha256 == self.choice.policy_digest
        except (PrivnbError, OSError) as error:
            return str(error)
        return "" if is_same else "The policy has been edited since this choice was made. Choose again."

    def _keep(self) -> None:
        if self._file:
            own = {name: getattr(self, name) for name in ("policy", "is_wanted", "out", "has_unsaved_columns")}
            pins.write_json(self._file, own | {"path": str(self.path), "signature": asdict(self.signature)})

    def _restore(self) -> None:
        """Restore the state from before the page was loaded again, if it is about the same table."""
        if self._file is None:
            return
        try:
            held = json.loads(self._file.read_text(encoding="utf-8"))
            if held["path"] == str(self.path):
                names = {each.name for each in fields(Signature)}
                self.signature = Signature(**{name: held["signature"][name] for name in names})
                self.policy, self.is_wanted, self.out = str(held["policy"]), bool(held["is_wanted"]), str(held["out"])
                self.has_unsaved_columns = bool(held["has_unsaved_columns"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            pass  # the page starts without a choice
