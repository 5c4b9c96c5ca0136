"""The colors, sizes and theme of all charts."""

from typing import Any

V5 = "application/vnd.vegalite.v5+json"  # the newest Vega-Lite type that JupyterLab 4.6 and nbformat accept
WIDTH = 520
LONG = 45  # a legend cuts off names of more letters
INK, GREY, PALE = "#222222", "#666666", "#b5b5b5"  # text; axes, intervals and baselines; marks in the background
# Okabe and Ito's colours, which colour-blind readers can distinguish; every series differs in shape as well.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
LOOKS: dict[str, Any] = {
    "view": {"stroke": None},
    "title": {"anchor": "start", "fontSize": 15, "subtitleFontSize": 12, "subtitleColor": INK, "offset": 12},
    # A label that is moved inwards at the end of an axis would touch its neighbor; crowded labels are left out.
    "axis": {"labelFontSize": 12, "titleFontSize": 12, "labelLimit": 220, "labelFlush": False},
    "axisX": {"labelSeparation": 8},
    "legend": {"orient": "bottom", "labelFontSize": 12, "labelLimit": 300},
}
