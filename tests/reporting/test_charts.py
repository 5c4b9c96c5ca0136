"""Charts hold aggregates, are titled and described, and draw."""

import json
import re

import numpy as np
import pandas as pd
import pytest
import vl_convert
from hypothesis import given, strategies as st
from support import questions
from support.chart_texts import faults
from support.results_frame import frame

from privnb import evaluation
from privnb.datasets.dataset import load
from privnb.decision import owner_choice
from privnb.evaluation import parameters
from privnb.evaluation.results import build_row, join_results, summarize_miners, tidy
from privnb.measures import measure_facts
from privnb.reporting import charts
from privnb.reporting.charts import tips
from privnb.reporting.charts.base import render_chart
from privnb.sanitizers import Suppress

pytestmark = pytest.mark.slow

MINERS = "naive Bayes, decision tree"


@pytest.fixture(scope="module")
def results():
    adult = load("adult", records=600)
    settings = parameters.build_sramka_sanitizers(k="2, 50", epsilon="0.5, 0.1")
    kept = join_results(
        *(
            evaluation.measure_good_utility(
                adult, [*settings, Suppress("age, education-num")], miners=MINERS, seed=seed, folds=2
            )
            for seed in (1, 2)
        )
    )
    mined = join_results(
        *(
            questions.anti_utility(adult, sanitizer, miners="majority, decision stump", seed=seed)
            for seed in (1, 2)
            for sanitizer in settings
        )
    )
    single = mined[mined.miner.isin(["majority", "decision stump"])]
    used = {
        "facts": evaluation.describe(adult),
        "unique": evaluation.measure_uniqueness(adult),
        "costs": evaluation.measure_information_loss(adult, [*evaluation.reference_sanitizers(), *settings]),
        "utility": join_results(kept, summarize_miners(kept[kept.measure == "utility_decline"], averages=False)),
        "mined": join_results(mined, summarize_miners(single)),
        "links": evaluation.measure_linkage(adult, [*evaluation.reference_sanitizers(), *settings]),
        "gains": join_results(
            *(questions.gains_with_predictions(adult, settings[0], miners="majority", seed=seed) for seed in (1, 2))
        ),
        "ages": evaluation.count_people(adult, "age"),
    }
    return used | {"chosen": owner_choice.choose_by_criteria(used["utility"], used["mined"], min_good=0.5)}


def one_seed(results):
    return {name: rows[rows.seed == 1] if name in SEEDED else rows for name, rows in results.items()}


SEEDED = ("utility", "mined", "gains")


def draw(results):
    return {
        "people": charts.people(results["ages"]),
        "uniqueness": charts.uniqueness(results["unique"]),
        "costs": charts.bars(results["costs"], "certainty_penalty"),
        "links": charts.bars(results["links"], "reidentification_rate"),
        "dots": charts.dots(results["utility"], "good_utility"),
        "declines": charts.declines(results["utility"]),
        "spans": charts.spans(results["mined"], "A", "A title", "share of people"),
        "spans B": charts.spans(results["mined"], "B", "A title", "people"),
        "hit": charts.hit(results["mined"]),
        "choices": charts.choices(results["chosen"]),
        "gains": charts.gains(results["gains"], "accuracy_gain"),
    }


@pytest.fixture(scope="module", params=["many seeds", "one seed"])
def drawn(results, request):
    made = draw(results if request.param == "many seeds" else one_seed(results))
    return {name: chart.to_dict() for name, chart in made.items()}


@pytest.fixture(scope="module")
def svgs(drawn):
    import vl_convert

    return {name: vl_convert.vegalite_to_svg(spec) for name, spec in drawn.items()}


NAMES = [
    "people", "uniqueness", "costs", "links", "dots", "declines", "spans", "spans B", "hit", "choices", "gains",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_titled_described_and_small(drawn, name):
    spec = drawn[name]
    assert spec["title"]
    assert len(spec["description"]) > 40
    assert faults(spec) == []
    assert all(len(rows) <= 90 for rows in spec["datasets"].values())


@pytest.mark.parametrize("name", NAMES)
def test_each_listed_mark_has_a_tooltip_of_its_own(drawn, name):
    spec = tips.describe_marks({key: value for key, value in drawn[name].items() if key != "title"})
    listed = tips.list_marks(spec, vl_convert.vegalite_to_svg(spec))
    assert listed["data"]
    assert [""] not in listed["columns"]


@pytest.mark.parametrize("name", NAMES)
def test_draws_without_a_network(svgs, name):
    svg = svgs[name]
    assert svg.startswith("<svg")
    # An empty plot has axes but no marks.
    assert svg.count("<path") > 10
    assert "NaN" not in svg
    assert "http" not in svg.replace("http://www.w3.org", "")


@pytest.mark.parametrize("name", ["dots", "declines", "spans", "gains"])
def test_one_legend_for_colour_and_shape(svgs, name):
    assert svgs[name].count("role-legend-entry") == 1


def test_no_chart_counts_fewer_than_ten_people(drawn):
    for rows in drawn["people"]["datasets"].values():
        assert min(row["people"] for row in rows) >= 10


def test_the_renderer_serves_lab_and_pages(drawn):
    bundle, _ = render_chart(drawn["people"])
    assert set(bundle) == {charts.V5, "image/svg+xml", "text/plain"}
    assert json.dumps(bundle[charts.V5])
    assert bundle[charts.V5]["$schema"].endswith("v5.json")


def test_aggregate_refuses_a_person():
    rows = pd.DataFrame({"age": [86, 40], "people": [1, 1200]})
    with pytest.raises(ValueError, match="at least 10 people"):
        charts.Aggregate(rows, {"age": "age", "people": "people"})


def test_aggregate_refuses_a_table_of_records():
    rows = pd.DataFrame({"age": range(501)})
    with pytest.raises(ValueError, match="`rows` must have at most 500"):
        charts.Aggregate(rows, {"age": "age"})


def test_aggregate_drops_what_is_not_declared():
    rows = pd.DataFrame({"age": ["30-39"], "people": [12], "name": ["somebody"]})
    assert "name" not in charts.Aggregate(rows, {"age": "age", "people": "people"}).rows
    with pytest.raises(ValueError, match="`titles` must name columns"):
        charts.Aggregate(rows, {"height": "cm"})


@given(st.lists(st.integers(0, 40), min_size=1, max_size=30))
def test_merging_keeps_everybody_and_shows_nobody(counts):
    series = pd.Series(counts, index=[f"g{i}" for i in range(len(counts))])
    merged = charts.merge_small(series)
    assert merged.sum() == series.sum()
    if series.sum() >= 10:
        assert not merged.between(1, 9).any()


def rows(*rows, seeds=(1,)):
    """Results of (sanitizer, parameters, measure, miner, target, value, low, high, baseline), once for each seed."""
    return join_results(*(frame(rows, seed=seed) for seed in seeds))


NONE = np.nan


def title(chart):
    text = chart.to_dict()["title"]["text"]
    return text if isinstance(text, str) else " ".join(text)


def subtitle(chart):
    return " ".join(chart.to_dict()["title"]["subtitle"])


def attacked(*miners, k="k=2"):
    """Rows of scenario A for (miner, value), of 100 people."""
    made = (("KMember", k, "anti_utility_A", miner, "age", value, NONE, NONE, 20) for miner, value in miners)
    return rows(*made).assign(of=100)


def test_table_says_what_it_withholds(results):
    few = results["mined"][(results["mined"].measure == "anti_utility") & results["mined"].value.isna()]
    shown = charts.table(few[few.seed == 1], rows=["measure", "scenario", "variant", "setting"]).table
    assert shown.isin(["fewer than 10"]).any(axis=None)


def test_table_calls_no_share_a_count():
    share = rows(("KMember", "k=2", "nearer_share", "worst", "sex Female", NONE, 0.01, 0.09, NONE))
    assert charts.table(share).table.loc["k-member clustering, k = 2", "worst"] == "withheld"


def test_table_says_a_baseline_once():
    numbers = attacked(("worst", 30), ("average", 25))
    two = pd.concat([numbers, numbers.assign(parameters="k=9", bound=9, baseline=7)])
    assert charts.table(two).table["baseline"].to_dict() == {
        "k-member clustering, k = 2": "20",
        "k-member clustering, k = 9": "7",
    }
    turned = charts.table(two, rows="miner", columns="setting").table
    assert turned.loc["baseline"].to_dict() == {"k-member clustering, k = 2": "20", "k-member clustering, k = 9": "7"}
    assert turned.loc["worst", "k-member clustering, k = 2"] == "30"


def test_table_keeps_every_number(results):
    shown = charts.table(results["costs"], rows="setting", columns="measure").table
    assert shown.loc["k-member clustering, k = 2", measure_facts("k_achieved").label] == "2"
    assert shown.loc["Suppression", "certainty penalty (share of the domain)"] == "100%"
    assert not (shown == "").all().any(), "a column of nothing is left out"


def test_several_seeds_are_drawn_as_their_mean_and_its_interval(results):
    links = results["links"].assign(seed=1)
    twice = pd.concat([links, links.assign(seed=2, value=links.value + 0.1)])
    chart = charts.bars(twice, "reidentification_rate")
    (shown,) = chart.to_dict()["datasets"].values()
    assert len(shown) == len(links)
    assert shown[0]["value"] == pytest.approx(links.value.iloc[0] + 0.05)
    # Student's t of two repeats that lie 0.1 apart: 12.706 * 0.05.
    assert shown[0]["high"] - shown[0]["value"] == pytest.approx(0.6353, abs=1e-3)
    assert "mean over 2 seeds, if the seeds differ." in subtitle(chart)
    mixed = charts.bars(twice.iloc[:-1], "reidentification_rate")
    assert "if the seeds differ, or over people for results with one seed" in subtitle(mixed)
    alone = charts.bars(links, "reidentification_rate")
    assert "over people (one seed)" in subtitle(alone)


def test_a_withheld_number_has_neither_bar_nor_interval(results):
    """Else its number would be written as 0 at its upper bound."""
    links = results["links"]
    chart = charts.bars(links.assign(value=links.value.mask(links.sanitizer == "Identity")), "reidentification_rate")
    (shown,) = chart.to_dict()["datasets"].values()
    without = {row["setting"] for row in shown if row["high"] is None}
    assert without == {row["setting"] for row in shown if row["value"] is None} == {"the original"}
    assert "A number without a bar is withheld. Lines show 95% intervals" in subtitle(chart)


def unique(shares):
    """Rows of who is unique, from `{what is known: share, or its bounds}`."""
    rows = []
    for knows, share in shares.items():
        value, interval = (np.nan, share) if isinstance(share, tuple) else (share, (np.nan, np.nan))
        rows.append(build_row("unique", value, interval=interval, dataset="any", sanitizer="Identity", knows=knows))
    return tidy(rows)


def test_uniqueness_is_titled_as_far_as_it_is_known():
    nan = float("nan")
    neither = charts.uniqueness(unique({"a": nan, "b": nan, "a, b": 0.875}))
    assert title(neither) == "All 2 quasi-identifiers together identify 88% of people"
    assert "identifies a withheld share of people on average over the quasi-identifiers" in subtitle(neither)
    bounds = charts.uniqueness(unique({"a": (0.01, 0.1), "b": 0.3, "a, b": (0.9, 0.99)}))
    assert title(bounds) == "All 2 quasi-identifiers together identify at most 99% of people"
    assert "the chart shows its known upper bound" in subtitle(bounds)
    rare = charts.uniqueness(unique({"a": (1e-5, 1e-4), "b": 0, "a, b": 0.5}))
    assert "at most 1 in 20,000 people on average" in subtitle(rare), "a bound, however small"
    (drawn,) = charts.uniqueness(unique({"a": 0.2, "b": nan, "a, b": 0.5})).to_dict()["datasets"].values()
    assert [each["mean"] for each in drawn] == [None, 0.5], "a mean of some values is not the mean"
    names = [f"q{i}" for i in range(12)]
    found = charts.uniqueness(unique({", ".join(names[:size]): 0.2 for size in (1, 2, 3, 12)}))
    assert title(found).startswith("All 12 "), "the number of attributes, not that of the bars"


@pytest.mark.parametrize("name", ["people", "uniqueness", "costs", "links", "declines", "spans", "hit", "choices"])
def test_titles_have_at_most_12_words(drawn, name):
    text = drawn[name]["title"]["text"]
    assert len((text if isinstance(text, str) else " ".join(text)).split()) <= 12


def test_an_empty_chart_is_a_sentence(results):
    for chart, said in (
        (charts.bars(results["links"], "change_rate"), "has a change rate"),
        (charts.declines(results["links"]), "has a utility decline"),
        (charts.spans(results["links"], "A", "A title", "people"), "has an anti-utility"),
        (charts.hit(results["links"]), "has a share of people hit"),
        (charts.choices(results["chosen"].iloc[:0]), "has a sanitizer that keeps enough good utility"),
        (charts.gains(results["links"], "accuracy_gain"), "has an accuracy gain"),
    ):
        assert f"None of these settings {said}" in chart.data


def test_titles_are_computed(results):
    text = title(charts.bars(results["links"], "reidentification_rate"))
    most = results["links"].value.max()
    assert text == f"Re-identification rate: at most {most:.0%} of people"


def decline(sanitizer, parameters, miner, value, good=(900, 700)):
    """Rows of a miner's good utility and decline."""
    return [
        (sanitizer, parameters, "good_utility", miner, "s", good[0] * (1 - value), NONE, NONE, good[1]),
        (sanitizer, parameters, "utility_decline", miner, "s", value, max(0, value - 0.01), value + 0.01, NONE),
    ]


def test_declines_show_both_references():
    chart = charts.declines(
        rows(
            *decline("Identity", "", "a", 0),
            *decline("KMember", "k=2", "a", 0.02),
            *decline("LaplaceNoise", "epsilon=0.5", "a", 0.03),
            *decline("Suppress", "attributes=age, education", "a", 0.031),
            *decline("KMember", "k=2", "worst", 0.02)[1:],
            *decline("LaplaceNoise", "epsilon=0.5", "worst", 0.03)[1:],
        )
    )
    assert title(chart) == "Utility decline of the worst model: at most 3%"
    assert "2% with k-member clustering, k = 2; 3% with Laplace noise, epsilon 0.5" in subtitle(chart)
    assert "The dashed line shows Suppression, attributes = age, education, " in subtitle(chart)
    spec = chart.to_dict()
    levels = {round(row["value"], 6) for part in spec["datasets"].values() for row in part if "bound" not in row}
    assert levels == {round(1 - 700 / 900, 6), 0.031}
    (panels,) = [row["hconcat"] for row in spec["vconcat"]]
    dashes = [[m["mark"]["strokeDash"] for m in p["layer"] if "strokeDash" in m["mark"]] for p in json_layers(panels)]
    assert [len(dash) for dash in dashes] == [1, 2], "what noise destroys stands beside noise alone"


def json_layers(panels):
    """Panels with their nested layers laid flat."""

    def flat(layers):
        for layer in layers:
            yield from flat(layer["layer"]) if "layer" in layer else [layer]

    return [panel | {"layer": list(flat(panel["layer"]))} for panel in panels]


def test_declines_have_a_row_of_panels_for_each_set():
    table = rows(
        *decline("Identity", "", "a", 0),
        *decline("KMember", "k=2", "a", 0.02),
        *decline("KMember", "k=2", "worst", 0.02)[1:],
        *decline("KMember", "k=2", "b", 0.04),
        *decline("KMember", "k=2", "Weka 3.6.14 worst", 0.04)[1:],
    )
    table.loc[table.miner == "b", "miner_set"] = "Weka 3.6.14"
    chart = charts.declines(table).to_dict()
    assert [row["hconcat"][0]["title"]["text"] for row in chart["vconcat"]] == [
        "k-member clustering, main set", "k-member clustering, Weka 3.6.14",
    ]  # fmt: skip
    assert "at most 2%" in " ".join(chart["title"]["text"])


def points(chart):
    """The drawn marks of `spans`: {(line, name): value}."""
    return {
        (row["row"], row["name"]): row["shown"]
        for part in chart.to_dict()["datasets"].values()
        for row in part
        if "name" in row
    }


def test_spans_draw_every_set_and_the_main_sets_controls():
    chart = charts.spans(
        attacked(
            ("stump", 60), ("worst", 60), ("average", 40), ("fusion: vote", 55), ("worst by person", 80),
            ("control: ZeroR", 30), ("control: permuted", 50), ("control: held-out", 58),
            ("modern worst", 70), ("modern average", 65), ("modern control: ZeroR", 31),
        ),
        "A", "Scenario A", "share of people",
    )  # fmt: skip
    assert points(chart) == {
        ("k-member clustering, k = 2", "worst miner"): 0.6,
        ("k-member clustering, k = 2", "average miner"): 0.4,
        ("k-member clustering, k = 2", "guess without the release"): 0.2,
        ("k-member clustering, k = 2", "best control without an attack"): 0.5,
        ("k-member clustering, k = 2|modern", "worst miner"): 0.7,
        ("k-member clustering, k = 2|modern", "average miner"): 0.65,
    }
    # Of guess, ZeroR and chance the last is the strongest; a miner that saw others only does need an attack.
    assert title(chart) == "Scenario A beyond chance for at most 10%"
    assert "Ticks show two controls that need no attack" in subtitle(chart)
    assert "of the main set alone." in subtitle(chart)


def test_spans_say_where_chance_gives_as_much():
    chart = charts.spans(attacked(("worst", 60), ("control: ZeroR", 60)), "A", "A", "people")
    assert title(chart) == "A beyond chance for at most 0%"
    assert "of the main set alone" not in subtitle(chart)


def test_spans_draw_a_withheld_count_at_its_bound():
    few = rows(("KMember", "k=2", "anti_utility_A", "worst", "age", NONE, 1, 9, NONE)).assign(of=100)
    chart = charts.spans(few, "A", "A", "people")
    assert points(chart) == {("k-member clustering, k = 2", "worst miner"): 0.09}
    assert "fewer than 10 people" in json.dumps(chart.to_dict()["datasets"])
    assert "The attackers guess age." in subtitle(chart)
    assert "upper bound" in subtitle(chart)
    assert title(chart) == "A", "the title gives no number that is withheld"
    other = attacked(("worst", 60), ("control: ZeroR", 20))
    both = charts.spans(pd.concat([other, few.assign(parameters="k=50", bound=50)]), "A", "A", "people")
    assert title(both) == "A"
    assert "does not count in the title" in subtitle(both)


def test_no_baseline_goes_through_the_number_of_a_bar():
    at = {"k=2": 0.1, "k=5": 0.68, "k=9": 0.9}
    near = rows(
        *(("KMember", k, "reidentification_rate", "", "", value, NONE, NONE, 0.7) for k, value in at.items()),
    )
    spec = charts.bars(near, "reidentification_rate").to_dict()
    places = {row["setting"]: row["at"] for row in next(iter(spec["datasets"].values()))}
    assert list(places.values()) == [0.1, 0.7, 0.9], "beside its bar, where the tick is far away or within it"


def test_lines_of_three_bounds_fit_one_screen():
    losses = rows(
        *(("Mondrian", f"{bound}={each}", "certainty_penalty", "", "", 0.5, NONE, NONE, NONE)
          for bound in ("k", "l", "t") for each in (2, 3))
    )  # fmt: skip
    spec = {name: part for name, part in charts.lines(losses, "certainty_penalty").to_dict().items() if name != "title"}
    height = float(re.search(r'<svg[^>]*? height="([\d.]+)"', vl_convert.vegalite_to_svg(spec))[1])
    assert height <= 44 * 16, "what the page's style leaves an answer's chart: 44rem"


def test_dots_name_the_release_that_is_best_for_most_miners():
    def good(sanitizer, parameters, miner, people):
        return sanitizer, parameters, "good_utility", miner, "salary", people, NONE, NONE, 50

    one = good("Identity", "", "a", 82), good("KMember", "k=2", "a", 80)
    others = good("Identity", "", "b", 83), good("KMember", "k=2", "b", 84), good("Identity", "", "c", 70)
    assert title(charts.dots(rows(*one), "good_utility")) == "Good utility is largest with the original"
    of_three = charts.dots(rows(*one, *others), "good_utility")
    assert title(of_three) == "Good utility is largest with the original for 2 of 3 miners"


def test_hit_says_what_its_axes_are():
    shares = rows(
        ("KMember", "k=2", "nearer_share", "worst", "sex Female", 0.2, 0.18, 0.22, 0.05),
        ("KMember", "k=9", "nearer_share", "worst", "sex Female", NONE, 0.01, 0.09, NONE),
    )
    svg = vl_convert.vegalite_to_svg(charts.hit(shares).to_dict())
    assert ">share of the group<" in svg


def test_hit_names_the_groups_that_differ_for_sure():
    shares = rows(
        ("KMember", "k=2", "nearer_share", "worst", "sex Female", 0.2, 0.18, 0.22, 0.05),
        ("KMember", "k=2", "nearer_share", "worst", "sex Male", 0.1, 0.08, 0.12, 0.05),
        ("KMember", "k=2", "nearer_share", "worst", "race Other", 0.3, 0.05, 0.7, 0.05),  # perhaps by chance
        ("KMember", "k=9", "nearer_share", "worst", "sex Female", NONE, 0.01, 0.09, NONE),
        ("KMember", "k=5", "nearer_share", "worst", "sex Female", 0.9, 0.89, 0.91, 0.05),
    )
    chart = charts.hit(shares)
    assert title(chart) == "k-member clustering, k = 2: the attack reaches 20% of sex Female"
    assert "20% of sex Female, and 10% of sex Male" in subtitle(chart)
    assert [panel["title"]["text"] for panel in chart.to_dict()["hconcat"]] == [
        "k-member clustering, k = 2",
        "k-member clustering, k = 9",
    ]
    assert "withheld" in json.dumps(chart.to_dict()["datasets"])
    assert "would reveal few people is withheld" in subtitle(chart), "how few is the reader's own parameter"


def test_hit_does_not_make_much_of_chance():
    shares = rows(
        ("KMember", "k=2", "nearer_share", "worst", "sex Female", 0.2, 0.1, 0.3, 0.05),
        ("KMember", "k=2", "nearer_share", "worst", "sex Male", 0.1, 0.02, 0.2, 0.05),
    )
    assert "No group is hit clearly more than another" in title(charts.hit(shares))


def picked(scenario, criterion, parameters, share):
    return ("KMember", parameters, f"chosen_{scenario}", criterion, "", share, NONE, NONE, NONE)


def test_whoever_has_several_records_is_in_several_groups():
    """Each of 50 men has a row of either year: all of them have 1980, and not half of them."""
    counts = pd.Series([50, 40], pd.Index(["1980", "1981"], name="year"), name="people")
    assert "(100%)" in title(charts.people(counts, 50))
    assert "(56%)" in title(charts.people(counts))
    for wrong in (49, 91):
        with pytest.raises(ValueError, match="`everybody` must be at least the size of the largest group"):
            charts.people(counts, wrong)


def test_choices_show_the_commonest_choice_and_its_share():
    chart = charts.choices(
        rows(
            picked("A", "worst", "k=2", 0.75), picked("A", "worst", "k=9", 0.25), picked("A", "average", "k=9", 1),
            picked("B", "worst", "k=2", 1), picked("B", "average", "k=2", 1),
        )
    )  # fmt: skip
    cells = next(iter(chart.to_dict()["datasets"].values()))
    assert {(c["scenario"], c["criterion"]): (c["setting"], c["seeds"]) for c in cells} == {
        ("A", "worst miner"): ("k-member clustering, k = 2", "75% of the seeds"),
        ("A", "average miner"): ("k-member clustering, k = 9", "all seeds"),
        ("B", "worst miner"): ("k-member clustering, k = 2", "all seeds"),
        ("B", "average miner"): ("k-member clustering, k = 2", "all seeds"),
    }
    assert title(chart) == "The paper's rule chooses k-member clustering, k = 2"
    assert "1 of 2 cells of other criteria agree" in subtitle(chart)


def test_a_choice_by_one_seed_is_not_called_every_seeds():
    more = ("KMember", "k=9", "excess_over_choice_A", "worst", "", 30, NONE, NONE, NONE)
    (cells,) = charts.choices(rows(picked("A", "worst", "k=2", 1), more)).to_dict()["datasets"].values()
    assert [cell["seeds"] for cell in cells] == ["one seed"]


def test_a_withheld_margin_does_not_make_one_seed():
    few = ("KMember", "k=9", "excess_over_choice_A", "worst", "", NONE, NONE, NONE, NONE)
    more = ("KMember", "k=5", "excess_over_choice_A", "worst", "", 30, 20, 40, NONE)
    (cells,) = charts.choices(rows(picked("A", "worst", "k=2", 1), few, more)).to_dict()["datasets"].values()
    assert [cell["seeds"] for cell in cells] == ["all seeds"]
    (cells,) = charts.choices(rows(picked("A", "worst", "k=2", 1), few)).to_dict()["datasets"].values()
    assert [cell["seeds"] for cell in cells] == ["all seeds"]


def test_choices_without_the_worst_miners_number():
    chart = charts.choices(rows(picked("W", "average", "k=2", 1)))
    assert title(chart) == "Too few people are hit to choose by the worst miner"
    both = charts.choices(rows(picked("A", "worst", "k=2", 1), picked("W", "average", "k=2", 1)))
    assert title(both) == "The paper's rule chooses k-member clustering, k = 2"


def test_gains_are_compared_within_a_seed():
    def gain(seed, before, mined, random):
        return rows(
            ("KMember", "k=2", "accuracy_gain", "", "s", before, NONE, NONE, 0.01),
            ("KMember", "k=2", "accuracy_gain_with_predictions", "", "s", mined, NONE, NONE, 0.01),
            ("KMember", "k=2", "accuracy_gain_with_predictions, random labels", "", "s", random, random, random, 0.01),
            seeds=[seed],
        )

    two = pd.concat([gain(1, 0.1, 0.13, 0.12), gain(2, 0.2, 0.23001, 0.22001)])
    chart = charts.gains(two, "accuracy_gain")
    assert "predictions change it by +0.0300 to +0.0300" in title(chart)
    assert "(random labels: +0.0200 to +0.0200)" in subtitle(chart)
    changes = [row for part in chart.to_dict()["datasets"].values() for row in part if "kind" in row]
    # Both seeds change nearly alike, so the interval of the change is narrow though the gains themselves differ.
    assert [row["high"] - row["low"] for row in changes] == pytest.approx([2 * 12.7062 * 5e-6] * 2, rel=1e-3)


def test_a_table_of_nothing_says_so(results):
    assert charts.table(results["links"].iloc[:0]).data == "None of these settings has a row in this table."


def test_panels_that_are_compared_have_one_scale():
    two = pd.concat([attacked(("worst", 60)), attacked(("worst", 9)).assign(sanitizer="LaplaceNoise")])
    of_spans = charts.spans(two, "A", "A", "share of people").to_dict()["vconcat"]
    shares = rows(
        ("KMember", "k=2", "nearer_share", "worst", "sex Female", 0.2, 0.18, 0.22, 0.05),
        ("KMember", "k=9", "nearer_share", "worst", "sex Female", 0.9, 0.89, 0.91, 0.05),
    )
    of_hit = charts.hit(shares).to_dict()["hconcat"]
    for panels in (of_spans, of_hit):
        scales = re.findall(r'"domain": (\[0, [0-9.]+\])', json.dumps(panels))
        assert len(scales) >= len(panels) == 2
        assert len(set(scales)) == 1


def test_bars_of_very_unlike_numbers_stand_on_a_logarithmic_axis():
    sizes = rows(*(("Mondrian", f"k={k}", "median_class_size", "", "", k, NONE, NONE, NONE) for k in (2, 4000)))
    assert '"type": "log"' in json.dumps(charts.bars(sizes, "median_class_size").to_dict())
    near = sizes.assign(value=[20, 40])
    assert '"type": "log"' not in json.dumps(charts.bars(near, "median_class_size").to_dict())
