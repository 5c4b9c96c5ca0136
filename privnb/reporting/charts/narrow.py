"""Charts for the width of a telephone, with narrower panels below each other and text of the same size."""

import textwrap
from collections.abc import Mapping
from typing import Any

ACROSS, LABEL = 176, 228  # the width of a panel and of a label, in pixels
LETTERS, TITLE = 34, 50  # letters per line of the title of an axis, and of a panel
FITS = 354  # the width of a drawing that fills a telephone's page, in pixels
LEAST = 90  # the smallest width of a readable panel, in pixels
WHOLE = {"whole": True}  # the `usermeta` of a chart that stays as it is
WIDE = 400  # a chart of more pixels cannot be read when it is scaled down


def narrow_chart(spec: dict[str, Any], across: int = ACROSS) -> dict[str, Any]:
    """Return the specification of a chart for a narrow page, with panels of `across` pixels.

    A chart stays the same if it has controls, if its cells contain words, which would not fit, or if it is marked as
    `whole` because there are words next to its marks.
    """
    whole = WHOLE.items() <= spec.get("usermeta", {}).items()
    if whole or "params" in spec or any(_mark(layer) == "rect" for layer in spec.get("layer", [])):
        return spec
    config = spec.get("config", {})
    axis = config.get("axis", {}) | {"labelLimit": LABEL}
    # The legend ends where the panels end. If it began there, the drawing would be wider and all text smaller.
    layout = {"bottom": {"anchor": "end"}}
    legend = config.get("legend", {}) | {"labelLimit": FITS - 24, "columns": 1, "layout": layout}
    return _narrowed(spec, across, stacked=False) | {"config": config | {"axis": axis, "legend": legend}}


def fit_width(width: float) -> int:
    """Return the width at which panels fill a narrow page.

    `width` is the width of the drawing if its panels are `ACROSS` pixels wide.
    """
    return max(LEAST, round(ACROSS + FITS - width))


def _mark(layer: Mapping[str, Any]) -> str | None:
    mark = layer.get("mark", "")
    return mark if isinstance(mark, str) else mark.get("type")


def _narrowed(part: Any, across: int, *, stacked: bool) -> Any:
    if isinstance(part, list):
        return [_narrowed(each, across, stacked=stacked) for each in part]
    if not isinstance(part, dict):
        return part
    stacked = stacked or "hconcat" in part or "concat" in part
    found = {}
    for name, value in part.items():
        if name in ("data", "datasets", "config"):
            found[name] = value
        elif name == "title" and isinstance(value, str) and ("field" in part or "datum" in part):
            found[name] = textwrap.wrap(value, LETTERS)
        elif name == "title" and isinstance(value, dict) and isinstance(value.get("text"), str):
            found[name] = value | {"text": textwrap.wrap(value["text"], TITLE)}
        elif name == "width" and isinstance(value, int | float):
            found[name] = across if stacked else min(value, across)
        elif name == "columns" and ("symbolSize" in part or "facet" in part or "concat" in part):
            found[name] = 1
        elif name == "legend" and isinstance(value, dict):
            found[name] = value | {"columns": 1}
        elif name == "axis" and isinstance(value, dict):
            # Panels next to one another share the labels of the first; panels below one another each need labels.
            found[name] = {key: each for key, each in value.items() if not (stacked and key == "labels" and not each)}
            found[name] = _narrowed(found[name], across, stacked=stacked) | {"labelLimit": LABEL}
        else:
            found["vconcat" if name == "hconcat" else name] = _narrowed(value, across, stacked=stacked)
    return found
