"""The widgets of the board: parts of HTML with native controls, a chart, and their layout on the page."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from privnb.reporting import vega
from privnb.runtime.names import escape_invisible

HERE = Path(__file__).parent


@cache
def page_class() -> type[Any]:
    """Return the widget class for a part of HTML.

    The class is made on first use, because anywidget takes long to import.
    """
    import anywidget
    import traitlets

    class Page(anywidget.AnyWidget):
        """HTML with native controls.

        `html` is the text; each message states the name and the value of a control that was used.
        """

        _esm = (HERE / "page.js").read_text(encoding="utf-8")
        _css = (HERE / "page.css").read_text(encoding="utf-8")
        html = traitlets.Unicode().tag(sync=True)

        @traitlets.validate("html")
        def _shown(self, proposal: dict[str, str]) -> str:
            return escape_invisible(proposal["value"])

    return Page


@cache
def chart_class() -> type[Any]:
    """Return the widget class of a chart.

    The class `altair.JupyterChart` would check and draw the whole chart again whenever a row changes.
    """
    import anywidget
    import traitlets

    class Drawing(anywidget.AnyWidget):
        """A chart with a brush.

        `spec` is a Vega-Lite specification with named data, or `{}` for no chart. `box` is the range of the brush, with
        two numbers per field, or `{}` for no brush.
        """

        _esm = vega.bundle((HERE / "drawing.js").read_text(encoding="utf-8"))
        spec = traitlets.Dict().tag(sync=True)
        box = traitlets.Dict().tag(sync=True)

    return Drawing


def lay_out(pages: Mapping[str, Any], chart: Any) -> Any:
    """Return the board: controls above the gauges and the panels, which are in two columns on a wide page."""
    from ipywidgets import GridBox, VBox

    chart.add_class("privnb-chart")
    place = VBox([pages["place"], chart, pages["listed"]])
    place.add_class("privnb-panel")
    columns = [
        VBox([pages["published"], pages["boxes"], pages["kept"]]),
        VBox([pages["worst"], pages["gained"], place]),
    ]
    for column in columns:
        column.add_class("privnb-column")
    grid = GridBox(columns)
    grid.add_class("privnb-grid")
    above = [pages[name] for name in ("form", "actions", "roles", "state", "risks")]
    below = [pages[name] for name in ("learn", "compare", "take") if name in pages]  # few tables have exercises
    board = VBox([*above, grid, *below])
    board.add_class("privnb-board")
    return board
