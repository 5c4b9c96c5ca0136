"""The charts of Li and Li's trade-off: which lines and scales are drawn, what the title says, and that they draw."""

import numpy as np
import pytest
from support.chart_texts import drawn, text
from support.results_frame import made

from privnb.evaluation.results import tidy
from privnb.papers import charts

MISSING = float("nan")


def rows(*, forms=("Mondrian", "Bucketize"), revealed=True, errors=False, intervals=False, distance=""):
    found = []

    def add(sanitizer, parameters, measure, value, target, low=MISSING, high=MISSING, baseline=MISSING, **columns):
        row = made("town", sanitizer, parameters, 1, measure, "", target, value, low, high, baseline, "lower")
        found.append(row | columns)

    for place, form in enumerate(forms):
        prefix = "partition=Mondrian " if form == "Bucketize" else ""
        for letter, bounds in {"k": (10, 100), "frequency l": (3, 5), "Jensen-Shannon t": (0.1, 0.3)}.items():
            for i, bound in enumerate(bounds):
                name, lost = f"{prefix}{letter}={bound} job, split_point=left", 0.5 - 0.2 * i - 0.1 * ("t" in letter)
                add(form, name, "privacy_loss", lost, "job", variant=distance)
                add(form, name, "utility_loss", 0.01 * (1 + i) - 0.005 * place, "job", baseline=0.046)
                for sel in (0.05, 0.1) if errors else ():
                    low, high = (0.05, 0.5) if intervals else (MISSING, MISSING)
                    add(form, name, "average_relative_error", 0.1 + sel, f"qd=4, sel={sel}", low, high, sel)
    for value in (0.488, 0.692) if revealed else ():
        add("Identity", "", "revealed_loss", value, "job", group=str(value))
    return tidy(found)


@pytest.mark.slow
@pytest.mark.parametrize("given", [{}, {"forms": ["Bucketize"]}, {"revealed": False}, {"distance": "total variation"}])
def test_titled_explained_and_drawn_without_a_network(given):
    import vl_convert

    chart = charts.trade_off(rows(**given))
    title, below = text(chart)
    assert title.endswith("has the lowest utility loss at privacy loss 0.3")
    assert len(title.split()) <= 12
    assert "the utility loss ranges from 0.0" in below
    assert "without any quasi-identifiers" in below or "all people in one bucket" in below
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    assert "NaN" not in svg
    assert "http" not in svg.replace("http://www.w3.org", "")
    assert svg.count("role-legend-entry") == 1


@pytest.mark.slow
def test_a_line_for_each_model_and_form_where_there_are_two():
    (points,) = drawn(charts.trade_off(rows()), "point")
    assert {each["series"] for each in points} == {
        f"{model}, {form}"
        for model in ("k-anonymity", "l-diversity", "t-closeness")
        for form in ("generalized", "in buckets")
    }
    (points,) = drawn(charts.trade_off(rows(forms=["Bucketize"])), "point")
    assert {each["series"] for each in points} == {"k-anonymity", "l-diversity", "t-closeness"}


@pytest.mark.slow
def test_intervals_end_without_a_mark():
    import vl_convert

    results = rows(forms=["Bucketize"], errors=True, intervals=True)
    chart = charts.trade_off(results, "average_relative_error")
    (points,) = drawn(chart, "point")
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    assert svg.count('aria-roledescription="point"') == len(points), "each mark is a release"


def test_a_line_for_each_kind_of_query():
    results = rows(forms=["Bucketize"], errors=True, intervals=True)
    results = results[~results.parameters.str.contains("k=|l=")]
    chart = charts.trade_off(results, "average_relative_error")
    (points,) = drawn(chart, "point")
    assert {each["series"] for each in points} == {"sel=0.05", "sel=0.1"}
    title, below = text(chart)
    assert title == "sel=0.05 has the lowest average relative error at privacy loss 0.2"
    assert "ranges from 15% (sel=0.05) to 20% (sel=0.1)" in below
    assert "a line joins the releases for one kind of query as the parameter of t-closeness changes" in below
    assert "The selectivity (sel) is the share of all people" in below
    assert "(qd)" not in below
    assert "95% intervals over the queries" in below
    assert "horizontal" not in below, "each kind of query has a trivial release of its own"


@pytest.mark.slow
def test_the_scales_are_drawn_where_they_are_known():
    rules = drawn(charts.trade_off(rows()), "rule")
    assert [[each["privacy"] for each in data] for data in rules if "privacy" in data[0]] == [[0.488, 0.692]]
    assert [[each["baseline"] for each in data] for data in rules if "baseline" in data[0]] == [[0.046]]
    assert "0.488 (the smallest) to 0.692 (the largest shown)" in text(charts.trade_off(rows()))[1]
    assert "Vertical dashed" not in text(charts.trade_off(rows(revealed=False)))[1]


@pytest.mark.slow
def test_the_unit_is_that_of_the_distance():
    spec = str(charts.trade_off(rows(distance="total variation")).to_dict())
    assert "(total variation, share; lower is better)" in spec
    assert "(Jensen-Shannon, nats; lower is better)" in str(charts.trade_off(rows()).to_dict())


def test_names_stand_apart():
    """Of names that would lie on one another only one is written."""
    (names,) = drawn(charts.trade_off(rows(forms=["Mondrian"])), "text")
    places = [(each["privacy"], each["value"]) for each in names]
    assert len(set(places)) == len(places)
    assert len({each["text"] for each in names}) == len(names)


def test_a_withheld_privacy_loss_is_not_drawn():
    results = rows(forms=["Mondrian"])
    gone = results.parameters.str.contains("k=10 ") & (results.measure == "privacy_loss")
    results = results.assign(value=results.value.mask(gone))
    (points,) = drawn(charts.trade_off(results), "point")
    assert len(points) == 5
    everything = results.value.mask(results.measure == "privacy_loss")
    assert charts.trade_off(results.assign(value=everything)).data.startswith("None of these settings")


def test_without_the_measure_it_says_so():
    results = rows()
    said = charts.trade_off(results[results.measure != "utility_loss"])
    assert said.data == "None of these settings has a utility loss."
    assert "average relative error" in charts.trade_off(results, "average_relative_error").data


# Both critiques


def gains(ahead):
    """What both gain in the releases of `rows`: the researcher `ahead` of the adversary, with an interval of 0.01."""
    found = []
    for name in dict.fromkeys(rows(forms=["Mondrian"]).parameters):
        if name:
            values = {
                "accuracy_gain": (0.1, MISSING, MISSING),
                "workload_gain": (0.1 + ahead, 0.09 + ahead, 0.11 + ahead),
            }
            found += [
                made("town", "Mondrian", name, 1, measure, "", "job", *three, 0.0, "lower")
                for measure, three in values.items()
            ]
    return tidy(found)


@pytest.mark.slow
@pytest.mark.parametrize(("ahead", "count"), [(0.0, 0), (0.005, 0), (0.02, 6)])
def test_both_critiques_stand_side_by_side(ahead, count):
    import vl_convert

    from privnb.evaluation.results import join_results

    chart = charts.two_critiques(join_results(rows(), gains(ahead)))
    title, below = text(chart)
    assert title == f"The researcher clearly gains more in {count} of 6 releases"
    assert "The best release avoids 78% of the loss" in below, "of 0.046 are 0.01 and 0.02 lost"
    assert "direct comparison" in below
    above, under = drawn(chart, "point")
    assert {each["series"] for each in above} == {"accuracy gain", "workload gain"}
    lost = {
        each["setting"]: each["value"] for each in under if each["series"] == "privacy loss of the worst-off person"
    }
    assert lost["k=10"] == pytest.approx(0.5 / 0.488)
    assert "NaN" not in vl_convert.vegalite_to_svg(chart.to_dict())


def test_of_several_miners_the_best_is_drawn():
    from privnb.evaluation.results import join_results

    worse = gains(0.005)
    worse = worse[worse.measure == "workload_gain"].assign(miner="forest")
    chart = charts.two_critiques(join_results(rows(), gains(0.02), worse))
    assert "in 6 of 6 releases" in text(chart)[0]
    above, _ = drawn(chart, "point")
    assert {round(each["value"], 3) for each in above if each["series"] == "workload gain"} == {0.12}


def test_releases_that_one_setting_would_name_alike_stay_apart():
    from privnb.evaluation.results import join_results

    both = join_results(rows(forms=["Mondrian"]), gains(0.02))
    other = both[both.parameters.str.contains("l=3")]
    other = other.assign(parameters=other.parameters.str.replace("frequency", "entropy"))
    above, _ = drawn(charts.two_critiques(join_results(both, other)), "point")
    names = {each["setting"] for each in above}
    assert len(names) == 7
    assert "k=10" in names


def test_without_a_researcher_it_says_so():
    results = gains(0)
    assert charts.two_critiques(results[results.measure == "accuracy_gain"]).data.startswith("None of these settings")
    assert np.isfinite(results.value).all()
