"""The widgets that the board is made of: pieces of HTML with native controls, and how they stand on the page."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from privnb.reporting import vega
from privnb.runtime.names import shown

HERE = Path(__file__).parent


@cache
def page() -> type[Any]:
    """The widget of a piece of HTML: a class, for anywidget takes long to import."""
    import anywidget
    import traitlets

    class Page(anywidget.AnyWidget):
        """HTML with native controls. `html`: what is shown; messages say which control was used, and its value."""

        _esm = (HERE / "board.js").read_text(encoding="utf-8")
        _css = (HERE / "board.css").read_text(encoding="utf-8")
        html = traitlets.Unicode().tag(sync=True)

        @traitlets.validate("html")
        def _shown(self, proposal: dict[str, str]) -> str:
            return shown(proposal["value"])

    return Page


@cache
def drawing() -> type[Any]:
    """The widget of a chart: a class. Not `altair.JupyterChart`, which checks and draws all anew when a row changes."""
    import anywidget
    import traitlets

    class Drawing(anywidget.AnyWidget):
        """A chart with a brush. `spec`: Vega-Lite with named data, `{}` for none; `box`: what the brush holds, two
        numbers a field, `{}` for nothing.
        """

        _esm = vega.bundle((HERE / "drawing.js").read_text(encoding="utf-8"))
        spec = traitlets.Dict().tag(sync=True)
        box = traitlets.Dict().tag(sync=True)

    return Drawing


def laid_out(pages: Mapping[str, Any], chart: Any) -> Any:
    """The controls above the gauges and four panels, two by two where there is room."""
    from ipywidgets import GridBox, VBox

    chart.add_class("privnb-chart")
    place = VBox([pages["place"], chart, pages["listed"]])
    place.add_class("privnb-panel")
    columns = [VBox([pages["published"], pages["kept"]]), VBox([pages["gained"], place])]
    for column in columns:
        column.add_class("privnb-column")
    grid = GridBox(columns)
    grid.add_class("privnb-grid")
    board = VBox([pages["form"], pages["actions"], pages["state"], pages["risks"], grid, pages["take"]])
    board.add_class("privnb-board")
    return board
