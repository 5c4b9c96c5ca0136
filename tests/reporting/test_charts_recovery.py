"""Charts of what attacks recover: one colour per method on a page, and names that are not cut off."""

import pandas as pd
import pytest
from support.results_frame import frame

from privnb.attacks import GaussianMap, KnownRotation, NaiveEstimate, PCARemoval, SpectralFiltering, SVDFiltering
from privnb.reporting import charts
from privnb.reporting.charts.narrow import narrow_chart
from privnb.reporting.charts.ranges import LITERAL

SUPPOSED = "supposed noise, 0.577 of each column's deviation"


def chart(*miners, knows=""):
    rows = [("AdditiveNoise", "scale=1", "recovery_error", miner, "", 0.5, 0.4, 0.6, 1) for miner in miners]
    return charts.recovery(frame(rows).assign(knows=knows))


def colours(drawn):
    """`{name in the legend: colour}`."""

    def scales(part):
        if isinstance(part, dict):
            if isinstance(part.get("color"), dict):
                yield part["color"]["scale"]
            part = list(part.values())
        if isinstance(part, list):
            for each in part:
                yield from scales(each)

    scale = next(scales({name: part for name, part in drawn.to_dict().items() if name != "datasets"}))
    return dict(zip(scale["domain"], scale["range"], strict=True))


@pytest.mark.slow
def test_a_method_has_one_colour_on_a_page():
    noise = [each.title for each in (PCARemoval, SpectralFiltering, SVDFiltering, GaussianMap)]
    first, second = colours(chart(*noise)), colours(chart(*reversed(noise)))
    assert first == second
    assert len(set(first.values())) == len(noise)
    assert colours(chart(GaussianMap.title, knows=SUPPOSED)) == {
        f"{GaussianMap.title}: {SUPPOSED}": first[GaussianMap.title]
    }
    turned = colours(chart(NaiveEstimate.title, KnownRotation.title))
    assert len(set(turned.values())) == 2


def test_numbers_as_they_stand_have_the_colour_of_no_method():
    rows = frame([("AdditiveNoise", "scale=1", "recovery_error", PCARemoval.title, "", 0.5, 0.4, 0.6, 1)])
    found = colours(charts.recovery(pd.concat([rows, rows.assign(variant=LITERAL)])))
    assert found[LITERAL] != found[PCARemoval.title]


@pytest.mark.parametrize("slim", [False, True])
def test_a_long_name_in_a_legend_is_not_cut(slim):
    import vl_convert

    spec = {name: part for name, part in chart(GaussianMap.title, knows=SUPPOSED).to_dict().items() if name != "title"}
    svg = vl_convert.vegalite_to_svg(narrow_chart(spec) if slim else spec)
    assert f">{SUPPOSED}<" in svg


@pytest.mark.parametrize("left", [0.0, 0.3])
def test_the_title_names_the_attack_that_removes_most_and_not_the_least_error(left):
    attacks = [("AdditiveNoise", f"scale={n}", "recovery_error", PCARemoval.title, "", *3 * [value], 1) for n, value in
               ((1, 0.2), (2, left))]  # fmt: skip
    stands = [(*row[:5], *3 * [value], 1) for row, value in zip(attacks, (0.21, 1.2), strict=True)]
    drawn = charts.recovery(pd.concat([frame(attacks), frame(stands).assign(variant=LITERAL)], ignore_index=True))
    title, subtitle = (" ".join(drawn.to_dict()["title"][each]) for each in ("text", "subtitle"))
    assert "removes most error" in title
    assert len(title.split()) <= 12
    assert "scale = 2" in subtitle
    assert "taken literally: 1.2" in subtitle
