"""A tab of the app: its parts of HTML, the actions of its controls, and its slow steps in the background."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from privnb.app.html import render_template
from privnb.app.state import PROGRESS, AppState
from privnb.explorer.page import page_class
from privnb.runtime.errors import UsageError

FAULT = "This is an error in the app. Nothing was changed; the rest keeps working."


class Tab:
    """One tab; `widget` is the widget to show.

    A subclass states `key`, the `title` on the tab, and `PARTS`, the names of its parts from top to bottom. It draws
    the parts in `draw` and performs the actions of its controls in `act`.
    """

    key: ClassVar[str]
    title: ClassVar[str]
    PARTS: ClassVar[tuple[str, ...]] = ("body",)

    def __init__(self, state: AppState) -> None:
        from ipywidgets import VBox

        self.state, self.fault, self.doing = state, "", ""
        self._again: Callable[[], None] | None = None
        self.parts = {name: page_class()() for name in (*self.PARTS, "status")}
        for part in self.parts.values():
            part.on_msg(self._receive)
        self.widget = VBox([self.parts["status"], *(self.parts[name] for name in self.PARTS)])
        self.widget.add_class("privnb-tab")

    # --- what a subclass states ---

    def draw(self) -> None:
        """Draw all parts."""
        raise NotImplementedError

    def act(self, name: str, value: Any) -> None:
        """Perform the action of a control."""
        raise NotImplementedError

    def changed(self, field: str, *, is_shown: bool) -> None:
        """Follow a change of the shared state; a hidden tab is drawn when it is shown."""
        if field == PROGRESS:
            if self.doing:
                self._draw_status()
        elif is_shown:
            self.refresh()

    # --- what it can use ---

    def put(self, part: str, template: str, **values: object) -> None:
        """Draw a part from a template."""
        self.parts[part].html = str(render_template(template, **values))

    def refresh(self) -> None:
        """Draw everything again; an error is shown in the status line."""
        self._try(self.draw)
        self._draw_status()

    def start(self, what: str, task: Callable[[], Any], done: Callable[[Any], object]) -> None:
        """Run a slow step in the background.

        `what` names the step in the status line; `task` is picklable, such as a `partial`; `done` receives the result.

        Raises
        ------
        UsageError
            If another step still runs.
        """
        if self.state.running:
            raise UsageError(f"{self.state.running} still runs. Wait until it is done, or stop it.")

        def finish(result: Any) -> None:
            self._ended()
            self._again = None
            self._try(done, result)
            self.refresh()

        def fail(text: str) -> None:
            self._ended()
            self.failed()
            self.fault = f"{what}: {text}"
            self.refresh()

        self.fault, self.doing = "", what
        self.state.run(what)
        self._again = lambda: self.start(what, task, done)
        try:
            self.state.work.start(task, done=finish, failed=fail, progress=self.state.report)
        except Exception:
            self._ended()
            raise
        self.refresh()

    def stop(self) -> None:
        """Stop the running step; what it has finished is kept in the store."""
        if self.doing:
            self.state.work.stop()
            self.fault = f"{self.doing} was stopped. Finished parts are kept, so the step continues where it stopped."
            self._ended()
            self.refresh()

    def failed(self) -> None:
        """React to the failure of a slow step, whose error the status line shows."""

    def _ended(self) -> None:
        self.doing = ""
        self.state.run("")

    # --- messages of the page ---

    def _receive(self, page: Any, content: Any, _: Any) -> None:
        if content["name"] == "shown":
            page.send_state("html")  # send the text again that was set before the page listened
            return
        self.fault = ""
        self._try(self._act, content["name"], content.get("value"))
        self._draw_status()

    def _act(self, name: str, value: Any) -> None:
        if name == "cancel":
            self.stop()
        elif name == "tab":
            self.state.show(str(value))
        elif name == "again" and self._again:
            self._again()
        else:
            self.act(name, value)

    def _try(self, call: Callable[..., object], *given: Any) -> None:
        """Call a function; the status line shows its error."""
        try:
            call(*given)
        except (ValueError, OSError) as error:
            self.fault = str(error)
        except Exception as error:  # the sender of a message receives no errors
            self.fault = f"{type(error).__name__}: {error}. {FAULT}"

    def _draw_status(self) -> None:
        doing, fraction = self.state.doing if self.doing else "", self.state.progress[0]
        again = bool(self.fault and self._again and not self.doing)
        self.put("status", "status", doing=doing, fraction=fraction, fault=self.fault, again=again)
