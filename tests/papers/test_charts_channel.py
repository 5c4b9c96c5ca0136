"""The charts of leakage: which sets and sanitizers are drawn, what the title says, and that they draw."""

from itertools import combinations

import pytest
from support.chart_texts import drawn, text
from support.results_frame import made

from privnb.evaluation.results import tidy
from privnb.papers import charts

MISSING = float("nan")
NAMES = ("age", "sex", "town")


def row(sanitizer, parameters, measure, value, target, baseline, low=MISSING, high=MISSING):
    return made("place", sanitizer, parameters, 1, measure, "", target, value, low, high, baseline, "lower")


def sets(names=NAMES, value=lambda subset: 0.001 * 8 ** len(subset) + 0.0001 * ("age" in subset)):
    rows = []
    for size in range(1, len(names) + 1):
        for subset in combinations(names, size):
            for sanitizer, share in (("Identity", 1), ("Mondrian", 0.5)):
                of, known = value(subset) * share, ", ".join(subset)
                parameters = "k=10" if sanitizer == "Mondrian" else ""
                rows.append(row(sanitizer, parameters, "identity_vulnerability", of, f"identity from {known}", 0.0005))
                rows.append(row(sanitizer, parameters, "sensitive_vulnerability", of, f"job from {known}", 0.0005))
    return tidy(rows)


def family():
    kinds = {
        "Identity": ("", 0.5, ""), "Mondrian": ("k=10", 0.02, ""), "Bucketize": ("partition=Mondrian k=10", 0.5, ""),
        "LaplaceNoise": ("epsilon=1", 0.04, "_at_most"), "Suppress": ("attributes=quasi-identifiers", 0.001, ""),
    }  # fmt: skip
    rows = []
    for sanitizer, (parameters, share, suffix) in kinds.items():
        interval = (share * 0.9, share * 1.1) if suffix else (MISSING, MISSING)
        rows.append(row(sanitizer, parameters, "identity_vulnerability", share, "identity", 0.001, *interval))
        rows.append(row(sanitizer, parameters, f"sensitive_vulnerability{suffix}", 0.8, "job", 0.4))
        rows.append(row(sanitizer, parameters, "attribute_vulnerability", share, "age", 0.01))
        rows.append(row(sanitizer, parameters, "attribute_vulnerability", share, "sex", 0.01))
    return tidy(rows)


CHARTS = {
    "identity": lambda: charts.known_attributes(sets()),
    "sensitive": lambda: charts.known_attributes(sets(), "sensitive"),
    "family": lambda: charts.leaks(family(), "age"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHARTS)
def test_drawn_without_a_network(name):
    import vl_convert

    svg = vl_convert.vegalite_to_svg(CHARTS[name]().to_dict())
    assert "NaN" not in svg
    assert "http" not in svg.replace("http://www.w3.org", "")


@pytest.mark.slow
@pytest.mark.parametrize("name", CHARTS)
def test_each_title_has_at_most_twelve_words(name):
    assert len(text(CHARTS[name]())[0].split()) <= 12


@pytest.mark.slow
def test_a_tick_a_set_and_the_worst_is_named():
    original, mondrian = drawn(charts.known_attributes(sets()), "point")
    assert [point["names"] for point in original] == ["age", "age, sex", "age, sex, town"]
    assert [point["known"] for point in mondrian] == ["1: age", "2: age, sex", "all 3"]
    ticks, _ = drawn(charts.known_attributes(sets()), "tick")
    # Of one attribute and of two, those with age tell more; sets that tell the same are one tick.
    assert len(ticks) == 5


@pytest.mark.slow
def test_the_title_names_the_worst_pair_of_the_original():
    most = sets(
        value=lambda subset: 0.001 * 8 ** len(subset) + 0.0001 * ("age" in subset) + 0.00001 * ("sex" in subset)
    )
    title, below = text(charts.known_attributes(most))
    assert title == "Age and sex lead to the row of 6.4% of people"
    assert "without the release, 0.05%" in below
    assert "Age and sex reveal job most often" in text(charts.known_attributes(sets(), "sensitive"))[0]


def test_one_attribute_makes_no_pair():
    title, _ = text(charts.known_attributes(sets(names=("age",))))
    assert title.startswith("Age leads to the row of")


@pytest.mark.slow
def test_withheld_shares_are_not_drawn():
    results = sets()
    results.loc[results.knows == "age, sex", "value"] = MISSING
    points = drawn(charts.known_attributes(results), "point")[0]
    assert points[1]["names"] == "age, town"
    nothing = results.assign(value=MISSING)
    assert charts.known_attributes(nothing).data == "None of these settings has an identity vulnerability."


@pytest.mark.slow
def test_a_share_that_misses_few_stands_at_its_bound():
    """It tells most, though how much may not be said; neither may which of two such sets does."""
    results = sets()
    few = results.knows.isin(["age, sex", "age, town"])
    results.loc[few, ["value", "low", "high"]] = MISSING, 0.978, 0.998
    title, below = text(charts.known_attributes(results))
    assert title.endswith("lead to the most rows")
    assert "marks a bound" in below
    assert "marks a bound" not in text(charts.known_attributes(sets()))[1]
    point = drawn(charts.known_attributes(results), "point")[0][1]
    assert (point["names"], point["value"], point["said"]) == ("age, sex", 0.978, "at least 97%")


@pytest.mark.slow
def test_bounds_are_no_intervals_and_are_among_the_ends():
    results = family()
    buckets = (results.sanitizer == "Bucketize") & (results.measure == "identity_vulnerability")
    results.loc[buckets, ["value", "low", "high"]] = MISSING, 0.978, 0.998
    noisy = results.variant == "at most"
    results.loc[noisy, ["value", "low", "high"]] = MISSING, 0.978, 0.998
    chart = charts.leaks(results, "age")
    title, below = text(chart)
    assert title == "The worst release re-identifies at least 97% of people"
    assert "to at least 97% (Buckets" in below
    who, what, _ = drawn(chart, "point")
    assert [point["said"] for point in who][2] == "at least 97%, 9.93 bits"
    assert who[2]["low"] is None
    assert (what[3]["value"], what[3]["said"]) == (0.998, "at most 99.8%, 1.32 bits")


@pytest.mark.slow
def test_many_sets_are_thinned_but_the_worst_stays():
    names = [f"a{i}" for i in range(10)]
    results = sets(names, lambda subset: 0.9 - 0.5 ** len(subset) + 0.00001 * hash_of(subset))
    ticks = drawn(charts.known_attributes(results), "tick")
    assert all(len(data) <= 500 for data in ticks)
    points, _ = drawn(charts.known_attributes(results), "point")
    most = results[(results.measure == "identity_vulnerability") & (results.sanitizer == "Identity")].value.max()
    assert max(point["value"] for point in points) == most


def hash_of(subset):
    return sum(int(name[1:]) * 7**i for i, name in enumerate(subset)) % 997


@pytest.mark.slow
def test_three_questions_share_one_axis():
    chart = charts.leaks(family(), "sex")
    who, what, own = drawn(chart, "point")
    assert [point["kind"] for point in who] == ["the ends", "generalization", "buckets", "noise", "the ends"]
    assert [point["said"] for point in who][1] == "2%, 4.32 bits"
    assert what[3]["said"] == "at most 80%, 1.00 bits"
    assert {point["setting"] for point in own} == {point["setting"] for point in who}
    assert chart.to_dict()["resolve"]["scale"]["x"] == "shared"
    title, below = text(chart)
    assert title == "The worst release re-identifies 50% of people"
    assert "traces a released row to its person for 2% (Mondrian, k = 10) to 50% (Buckets" in below
    assert "without a release, the share is 0.1%" in below
    assert "95% intervals" in below
    assert "own sex" in str(chart.to_dict())
    assert "own age" in str(charts.leaks(family()).to_dict()), "the first, if none is named"


@pytest.mark.slow
def test_a_number_is_drawn_rather_than_its_bound():
    both = family()
    bound = both[(both.sanitizer == "Mondrian") & (both.measure == "sensitive_vulnerability")]
    extra = bound.assign(variant="at most", value=0.95)
    from privnb.evaluation.results import join_results

    _, what, _ = drawn(charts.leaks(join_results(extra, both), "age"), "point")
    (mondrian,) = (point for point in what if point["setting"] == "Mondrian, k = 10")
    assert mondrian["value"] == 0.8


def test_without_vulnerability_it_says_so():
    assert charts.leaks(family().iloc[:0]).data == "None of these settings has a vulnerability."
