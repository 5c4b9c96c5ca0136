"""What a chart says and draws, read from its specification."""


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
