"""A chart for the width of a telephone: panels below one another, narrower, with the same words as large as before."""

import textwrap

ACROSS, LETTERS, LABEL = 176, 34, 184  # pixels of a panel; letters of a line of a title; pixels of a label
WHOLE = {"whole": True}  # as a chart's `usermeta`
WIDE = 400  # pixels from which on a chart is too wide to be scaled down and read


def narrow(spec):
    """The specification of a chart, as a dict, for a narrow page; the same one where it has controls, words in cells,
    which would not hold them, or is a plane that is to stay `whole`, since words stand beside its marks.
    """
    whole = WHOLE.items() <= spec.get("usermeta", {}).items()
    if whole or "params" in spec or any(_mark(layer) == "rect" for layer in spec.get("layer", [])):
        return spec
    config = spec.get("config", {})
    axis = config.get("axis", {}) | {"labelLimit": LABEL}
    legend = config.get("legend", {}) | {"labelLimit": ACROSS + LABEL, "columns": 1}
    return _narrowed(spec, stacked=False) | {"config": config | {"axis": axis, "legend": legend}}


def _mark(layer):
    mark = layer.get("mark", "")
    return mark if isinstance(mark, str) else mark.get("type")


def _narrowed(part, *, stacked):
    if isinstance(part, list):
        return [_narrowed(each, stacked=stacked) for each in part]
    if not isinstance(part, dict):
        return part
    stacked = stacked or "hconcat" in part
    found = {}
    for name, value in part.items():
        if name in ("data", "datasets", "config"):
            found[name] = value
        elif name == "title" and isinstance(value, str) and ("field" in part or "datum" in part):
            found[name] = textwrap.wrap(value, LETTERS)
        elif name == "width" and isinstance(value, int | float):
            found[name] = ACROSS if stacked else min(value, ACROSS)
        elif name == "columns" and ("symbolSize" in part or "facet" in part):
            found[name] = 1
        elif name == "legend" and isinstance(value, dict):
            found[name] = value | {"columns": 1}
        elif name == "axis" and isinstance(value, dict):
            # Beside one another only the first panel has labels; below one another each needs them.
            found[name] = {key: each for key, each in value.items() if not (stacked and key == "labels" and not each)}
            found[name] = _narrowed(found[name], stacked=stacked) | {"labelLimit": LABEL}
        else:
            found["vconcat" if name == "hconcat" else name] = _narrowed(value, stacked=stacked)
    return found
