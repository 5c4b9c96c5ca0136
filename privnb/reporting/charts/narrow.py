"""A chart for the width of a telephone: panels below one another, narrower, with the same words as large as before."""

import textwrap
from collections.abc import Mapping
from typing import Any

ACROSS, LABEL = 176, 228  # pixels of a panel, and of a label
LETTERS, TITLE = 34, 50  # of a line of an axis's title, and of a panel's
FITS = 354  # pixels of the narrowest drawing that fills a telephone's page
LEAST = 90  # pixels of a panel, so that it can be read
WHOLE = {"whole": True}  # as a chart's `usermeta`
WIDE = 400  # pixels from which on a chart is too wide to be scaled down and read


def narrow(spec: dict[str, Any], across: int = ACROSS) -> dict[str, Any]:
    """The specification of a chart, as a dict, for a narrow page, its panels `across` pixels wide; the same one where
    it has controls, words in cells, which would not hold them, or is a plane that is to stay `whole`, since words stand
    beside its marks.
    """
    whole = WHOLE.items() <= spec.get("usermeta", {}).items()
    if whole or "params" in spec or any(_mark(layer) == "rect" for layer in spec.get("layer", [])):
        return spec
    config = spec.get("config", {})
    axis = config.get("axis", {}) | {"labelLimit": LABEL}
    # It ends where the panels do: beginning there, it would make the drawing wider, and all words smaller.
    layout = {"bottom": {"anchor": "end"}}
    legend = config.get("legend", {}) | {"labelLimit": FITS - 24, "columns": 1, "layout": layout}
    return _narrowed(spec, across, stacked=False) | {"config": config | {"axis": axis, "legend": legend}}


def fitting(width: float) -> int:
    """How wide panels are to be where a drawing with panels of `ACROSS` is `width`, so that it fills a narrow page."""
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
            # Beside one another only the first panel has labels; below one another each needs them.
            found[name] = {key: each for key, each in value.items() if not (stacked and key == "labels" and not each)}
            found[name] = _narrowed(found[name], across, stacked=stacked) | {"labelLimit": LABEL}
        else:
            found["vconcat" if name == "hconcat" else name] = _narrowed(value, across, stacked=stacked)
    return found
