"""What a chart says and draws, read from its specification."""

import json
import re

from privnb.reporting.charts import V5


def text(chart):
    """The words of its title and of its subtitle."""
    spec = chart.to_dict()
    return " ".join(spec["title"]["text"]), " ".join(spec["title"]["subtitle"])


def drawn(chart, mark):
    """The data of each layer of a mark."""
    spec = chart.to_dict()

    def layers(part, data):
        data = part.get("data", data)
        if (part.get("mark") or {}).get("type") == mark:
            yield spec["datasets"][data["name"]]
        for inner in [*part.get("layer", []), *part.get("vconcat", [])]:
            yield from layers(inner, data)

    return list(layers(spec, None))


def check(report):
    """Check all charts of a report: those in its executed notebooks."""
    specs = [
        output["data"][V5]
        for path in sorted((report / "notebooks").glob("*.ipynb"))
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        for output in cell.get("outputs", ())
        if V5 in output.get("data", ())
    ]
    assert len(specs) > 20
    assert [fault for spec in specs for fault in faults(spec)] == []


LIMIT = 12  # words of a title
SHOWING = {"point", "bar", "rect", "circle", "square"}


def faults(spec):
    """Return what the specification of a chart lacks: a short title, and a tooltip with a name on each mark.

    A mark without a tooltip may lie where a mark with one lies, or where a text lies: a ring around a point, say.
    """
    title = spec["title"]["text"]
    title = title if isinstance(title, str) else " ".join(title)
    words = re.findall(r"\S*\w\S*", title)
    found = [] if 0 < len(words) <= LIMIT else [f"{len(words)} words in the title “{title}”"]
    for panel in _panels(spec, spec.get("data")):
        explained = [layer for layer in panel if "tooltip" in layer["encoding"] or layer["mark"]["type"] == "text"]
        seen = {place for layer in explained for place in _places(layer, spec)}
        for layer in panel:
            mark, tips = layer["mark"]["type"], layer["encoding"].get("tooltip")
            tips = [tips] if isinstance(tips, dict) else tips
            if tips and not any(tip["type"] in ("nominal", "ordinal") for tip in tips):
                found.append(f"no name in the tooltip of a {mark} of “{title}”")
            is_shown = mark in SHOWING and layer["mark"].get("opacity") != 0
            if not tips and is_shown and not {*_places(layer, spec)} <= seen:
                found.append(f"no tooltip on a {mark} of “{title}”")
    return found


def _panels(part, data):
    """Yield the layers of each panel, each with its data."""
    data = part.get("data", data)
    if "mark" in part or "layer" in part:
        yield [*_layers(part, data, {})]
    for name in ("hconcat", "vconcat", "concat"):
        for inner in part.get(name, []):
            yield from _panels(inner, data)
    if "spec" in part:
        yield from _panels(part["spec"], data)


def _layers(part, data, encoding):
    data, encoding = part.get("data", data), encoding | part.get("encoding", {})
    if "mark" in part:
        mark = part["mark"] if isinstance(part["mark"], dict) else {"type": part["mark"]}
        yield {"mark": mark, "encoding": encoding, "data": data}
    for inner in part.get("layer", []):
        yield from _layers(inner, data, encoding)


def _places(layer, spec):
    data = layer["data"]
    rows = data["values"] if "values" in data else spec["datasets"][data["name"]]
    fields = [layer["encoding"].get(channel, {}).get("field") for channel in ("x", "y")]
    return [tuple(row.get(field) for field in fields) for row in rows]
