"""The chart of the frontier: what is drawn of each status, where names go, and that it draws in every case."""

import numpy as np
import pandas as pd
import pytest
from support.results_frame import made

from privnb import decision
from privnb.evaluation.results import tidy
from privnb.reporting import charts
from privnb.reporting.charts.frontier import LETTER, SHAPES, axis_title, domain, overlap, place_names
from privnb.sanitizers import catalogue

MISSING = float("nan")


def points(losses):
    """`{"KMember k=2": (privacy, utility)}`, each a number or one a seed, or (None, low, high) for a withheld one."""
    rows = []
    for name, pair in losses.items():
        setting = (*name.split(" ", 1), "")[:2]
        for measure, values in zip(("risk", "cost"), pair, strict=True):
            told = (
                [(MISSING, *values[1:])]
                if isinstance(values, tuple)
                else [(v, MISSING, MISSING) for v in np.atleast_1d(values)]
            )
            rows += [
                made("town", *setting, seed, measure, "", "", *each, MISSING, "lower")
                for seed, each in enumerate(told, 1)
            ]
    names = {(*name.split(" ", 1), "")[:2]: name for name in losses}
    return decision.compute_points(tidy(rows), privacy="risk", utility="cost", names=names).assign(refused="")


def noise(mean, seeds=10):
    return mean + 0.05 * np.linspace(-1, 1, seeds)


CASES = {
    "many": {
        "Identity": (1.0, 0.0),
        **{f"KMember k={k}": (1 / k, k / 12) for k in range(2, 11)},
        **{f"Mondrian k={k}, t=0.2 job": (1.2 / k, k / 10) for k in range(2, 10)},
        **{f"LaplaceNoise epsilon={e}": (noise(0.2 * e), noise(0.3 / e)) for e in (0.5, 1.0, 2.0)},
        "GeometricNoise epsilon=1.0": (noise(0.1, 3), noise(0.1, 3)),
        "FullDomain k=5": ((None, 0.1, 0.9), 0.7),
        "Suppress attributes=age, sex": (0.0, 1.0),
    },
    "one": {"KMember k=2": (0.3, 0.2)},
    "all equal": {f"KMember k={k}": (0.3, 0.2) for k in range(5)},
    "none can be compared": {"LaplaceNoise epsilon=1.0": (0.3, 0.2)},
    "people": {f"KMember k={k}": (45000 - k, 1200 * k) for k in (2, 5, 10)},
    "an infinite loss": {"Identity": (np.inf, 0.0), "KMember k=5": (0.1, 0.2), "Suppress": (0.0, 1.0)},
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return points(CASES[request.param])


@pytest.mark.parametrize("caps", [{}, {"privacy_cap": 0.4}, {"privacy_cap": 0.4, "utility_cap": 0.3}], ids=str)
def test_titled_described_small_and_drawn_without_a_network(case, caps, capfd):
    import vl_convert

    spec = charts.frontier(case, **caps).to_dict()
    assert len(" ".join(spec["title"]["text"]).split()) <= 12
    assert "efficient" in " ".join(spec["title"]["subtitle"]) or case.status.ne("efficient").all()
    assert len(spec["description"]) > 40
    assert all(len(rows) <= 500 for rows in spec["datasets"].values())
    svg = vl_convert.vegalite_to_svg(spec, show_warnings=True)
    assert not "".join(capfd.readouterr()), "of Vega-Lite"
    assert svg.count("<path") > 5
    assert "NaN" not in svg
    assert "http" not in svg.replace("http://www.w3.org", "")
    assert svg.count("role-legend-entry") == 1
    assert svg.count('stroke-dasharray="6,4"') == len(caps)


def title(chart):
    return " ".join(chart.to_dict()["title"]["text"])


def subtitle(chart):
    return " ".join(chart.to_dict()["title"]["subtitle"])


@pytest.mark.slow
def test_the_title_is_computed():
    curve = points({"Identity": (1, 0), "KMember k=2": (0.2, 0.2), "KMember k=3": (0.3, 0.3), "Suppress": (0, 1)})
    assert title(charts.frontier(curve)) == "3 of 4 releases are efficient"
    assert "the knee (KMember k=2)" in subtitle(charts.frontier(curve))
    assert title(charts.frontier(curve, privacy_cap=0.1)) == "Suppress loses least within the cap"
    assert title(charts.frontier(curve[curve.setting == "Identity"], privacy_cap=0.1)) == "No release meets the cap"
    assert title(charts.frontier(points(CASES["none can be compared"]))) == "None of 1 release is efficient"


@pytest.mark.slow
def test_only_what_is_drawn_is_explained():
    exact = subtitle(charts.frontier(points(CASES["people"])))
    for word in ("Grey", "Hollow", "Thin lines", "Dashed", "cannot be drawn"):
        assert word not in exact
    much = subtitle(charts.frontier(points(CASES["many"]), privacy_cap=0.5))
    for word in ("Grey marks", "Hollow marks", "Thin lines are 95% intervals", "Dashed", "ring is the knee"):
        assert word in much
    assert "1 release without a known loss cannot be drawn." in subtitle(
        charts.frontier(points(CASES["an infinite loss"]))
    )


@pytest.mark.slow
def test_the_choice_within_the_caps_is_ringed_and_named():
    table = points(CASES["many"])
    chosen = decision.choose_by_losses(table, privacy_cap=0.4).setting[0]
    chart = charts.frontier(table, privacy_cap=0.4).to_dict()
    (ring,) = (layer for layer in chart["layer"] if layer["mark"].get("strokeWidth") == 3)
    (at,) = chart["datasets"][ring["data"]["name"]]
    assert at == table.set_index("setting").loc[chosen, list(decision.AXES)].to_dict()
    assert any(row.get("text") == chosen for rows in chart["datasets"].values() for row in rows)
    assert "The orange ring is the choice within the caps." in subtitle(charts.frontier(table, privacy_cap=0.4))
    assert "orange" not in subtitle(charts.frontier(table))


def test_a_withheld_number_is_drawn_at_its_upper_bound():
    chart = charts.frontier(points(CASES["many"])).to_dict()
    drawn = [row for rows in chart["datasets"].values() for row in rows if row.get("setting") == "FullDomain k=5"]
    assert [row["privacy"] for row in drawn] == [0.9]


@pytest.mark.slow
def test_a_lower_bound_is_drawn_as_far_as_it_is_known():
    table = points({"LaplaceNoise epsilon=1.0": (noise(0.3), noise(0.1)), "KMember k=5": (0.1, 0.2)})
    table["privacy_high"] = table.privacy_high.mask(table.sanitizer == "LaplaceNoise", np.inf)
    chart = charts.frontier(table.assign(status=["undecided", "efficient"]), privacy_cap=0.2)
    rows = [row for rows in chart.to_dict()["datasets"].values() for row in rows if "privacy_high" in row]
    assert [row["privacy_high"] for row in rows] == [pytest.approx(0.3)]
    assert rows[0]["privacy_low"] == pytest.approx(table.privacy_low[0])
    assert "For Laplace noise, only a lower bound of the loss is known." in subtitle(chart)
    assert "lower bound" not in subtitle(charts.frontier(points(CASES["many"])))


def test_without_any_loss_it_says_so():
    table = points({"KMember k=2": ((None, MISSING, MISSING), 0.1)})
    assert "None of these settings" in charts.frontier(table).data


def test_names_cover_no_mark_and_no_other_name():
    table = points(CASES["many"])
    drawn = table.assign(**{axis: table[axis].fillna(table[f"{axis}_high"]) for axis in decision.AXES})
    efficient = drawn[drawn.status == "efficient"].sort_values(["privacy", "utility"])
    domains = {axis: domain(drawn, axis, None) for axis in decision.AXES}
    caps = {"privacy": 0.4, "utility": None}
    names = place_names(drawn, efficient, [decision.find_knee(table).name], caps, domains)
    assert len(names) >= len(efficient) / 2
    assert set(names.text) <= set(efficient.setting), "a name says the sanitizer, too"
    boxes = []
    for row in names.itertuples():
        x, y = (
            (getattr(row, axis) - low) / (high - low) * size
            for (axis, (low, high)), size in zip(domains.items(), (520, 380), strict=True)
        )
        left = x - {"left": 0, "center": 0.5, "right": 1}[row.align] * LETTER * len(row.text)
        boxes.append((left, y - 6, left + LETTER * len(row.text), y + 6))
    for i, box in enumerate(boxes):
        assert box[0] >= 0
        assert box[2] <= 520
        assert not any(overlap(box, other) for other in boxes[:i])
        for each in drawn.itertuples():
            x, y = (
                (getattr(each, axis) - low) / (high - low) * size
                for (axis, (low, high)), size in zip(domains.items(), (520, 380), strict=True)
            )
            assert not overlap(box, (x - 4, y - 4, x + 4, y + 4))


# The tables beside it


def test_the_table_of_choices():
    releases = points(CASES["many"])
    choices = decision.choose_by_losses(releases, privacy_cap=0.4)
    shown = charts.which(choices).rows
    assert shown.setting.tolist() == choices.setting.tolist()
    chosen = choices.iloc[0]
    baseline = f"; baseline {chosen.privacy_baseline:.3g}" if chosen.privacy_baseline > 0 else ""
    assert shown.privacy[0] == f"{chosen.privacy:.3g}{baseline}"
    assert (shown.why[0], shown.costs[0]) == (str(chosen.why), str(chosen.costs))
    nothing = charts.which(
        decision.choose_by_losses(releases[releases.setting == "Identity"], privacy_cap=0.4)
    ).rows.iloc[0]
    assert (nothing.setting, nothing.privacy, nothing.utility) == ("none", "", "")


def test_the_table_of_efficient_releases():
    releases = points(CASES["many"])
    aggregate = charts.efficient(releases)
    efficient = releases[releases.status == "efficient"].sort_values("privacy")
    assert aggregate.rows.setting.tolist() == efficient.setting.tolist()
    random = efficient[efficient.kind == "randomised"].iloc[0]
    said = f"{random.privacy:.3f} ({random.privacy_low:.3f}–{random.privacy_high:.3f})"
    assert said in aggregate.rows.privacy.tolist()
    assert "None of these settings" in charts.efficient(points(CASES["none can be compared"])).data


def test_axes_say_their_unit_once():
    said = {
        "utility_loss": "utility loss, nats (lower is better)",
        "accuracy_gain": "utility loss: accuracy gain, share of people (lower is better)",
        "never_stated": "utility loss: never stated (lower is better)",
    }
    for measure, title in said.items():
        of = pd.DataFrame({"utility_of": [str(decision.Loss(measure))], "utility_measure": [measure]})
        assert axis_title("utility", of) == title


def test_no_two_kinds_share_a_shape():
    """Of more sanitizers than there are shapes a mark says the kind of release, and the legend too."""
    assert len(set(SHAPES)) == len(SHAPES) >= len(catalogue.GROUP_BY_TREATMENT) + 1
    many = [name for name in catalogue.kinds() if name not in ("Identity", "Suppress")]
    assert len(many) > len(SHAPES)
    drawn = str(charts.frontier(points({name: (0.1 * place, 0.5) for place, name in enumerate(many)})).to_dict())
    assert "Color and shape show the kind of release." in drawn
    assert all(catalogue.group(name) in drawn for name in many)


def test_the_map_has_a_line_for_each_release_kind_by_kind():
    drawn = points(CASES["many"]).assign(privacy_measure="reidentification_rate", utility_measure="utility_loss")
    chart = charts.risk_utility(drawn).to_dict()
    privacy, utility = chart["hconcat"]
    assert privacy["encoding"]["color"]["scale"]["domain"] == ["the ends", "generalization", "noise"]
    assert privacy["encoding"]["y"]["sort"] == utility["encoding"]["y"]["sort"]
    kinds = [catalogue.group(drawn.set_index("setting").sanitizer[name]) for name in privacy["encoding"]["y"]["sort"]]
    assert list(dict.fromkeys(kinds)) == ["the ends", "generalization", "noise"], "those of a kind stand together"
    assert "Least risk of the possible choices: Suppress" in str(chart["title"])
    nothing = charts.risk_utility(drawn.assign(privacy=MISSING))
    assert "None of these settings has a release with both numbers" in str(nothing)
