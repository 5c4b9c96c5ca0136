"""The grid of settings: what it holds, in which order, and that its numbers are those of each setting alone."""

import pytest
from pandas.testing import assert_frame_equal
from support.clinic import CLINIC

from privnb import decision
from privnb.datasets.dataset import load
from privnb.evaluation.results import COLUMNS, join_results
from privnb.explorer import sweeps
from privnb.explorer.readings import count_setting
from privnb.explorer.setting import STEPS, list_choices
from privnb.measures import measure_facts
from privnb.reporting import findings


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


@pytest.fixture(scope="module")
def few(clinic):
    """Settings of which some cannot be reached, and their numbers."""
    settings = sweeps.list_settings(clinic, k="5, 20", l="2, 90", t="0.3", delta="2", epsilon="1")
    return settings, join_results(
        *(count_setting(clinic, s).results for s in settings if not count_setting(clinic, s).refused)
    )


def test_the_whole_grid_has_every_sanitizer_that_the_table_can_have(clinic):
    settings = sweeps.list_settings(clinic, profile="full")
    assert {setting.sanitizer for setting in settings} == set(list_choices(clinic)["sanitizer"])
    assert {s.k for s in settings if s.sanitizer == "KMember" and s.bounds.keys() == {"k"}} == set(STEPS["k"])
    assert len(set(settings)) == len(settings) <= 500


@pytest.mark.slow
def test_the_quick_grid_leaves_out_slow_searches_and_most_steps(clinic):
    quick, full = sweeps.list_settings(clinic), sweeps.list_settings(clinic, profile="full")
    assert {"KMember", "FullDomain"}.isdisjoint(setting.sanitizer for setting in quick)
    assert set(quick) < set(full)
    assert [s.k for s in quick if s.sanitizer == "Mondrian" and not (s.l or s.t or s.delta)] == list(STEPS["k"])


def test_each_series_goes_from_loose_to_strict(clinic):
    settings = sweeps.list_settings(clinic, k="20, 5", l="3, 2", t="0.2, 0.4", delta="1, 2", epsilon="0.1, 1")
    of = {
        letter: [getattr(s, letter) for s in settings if s.sanitizer == kind and getattr(s, letter)]
        for kind, letter in (("Mondrian", "l"), ("Mondrian", "t"), ("Mondrian", "delta"), ("LaplaceNoise", "epsilon"))
    }
    assert of == {"l": [2, 3], "t": [0.4, 0.2], "delta": [2, 1], "epsilon": [1, 0.1]}
    assert [s.k for s in settings if s.sanitizer == "Mondrian"] == [5, 20, *[sweeps.LEAST] * 6]


def test_steps_name_what_a_menu_and_a_slider_offer(clinic):
    steps = sweeps.list_steps(clinic, sweeps.list_settings(clinic, k="5", l="2", t="0.3", delta="2", epsilon="1"))
    names = dict(zip(steps.setting, steps.series, strict=True))
    assert names["Mondrian, k = 5"] == "Mondrian: k"
    assert names["Mondrian, k = 2, t = 0.3"] == "Mondrian: t (k = 2)"
    assert names["Anatomy, l = 2"] == "Anatomy: l"
    assert names["Laplace noise, epsilon 1"] == "Laplace noise: epsilon"
    assert names["Suppression"] == "Suppression"
    assert not steps.duplicated(["sanitizer", "parameters"]).any()


def test_a_chart_starts_where_it_is_asked_to(clinic):
    offered = sweeps.list_steps(clinic, sweeps.list_settings(clinic, k="5, 10"))
    assert sweeps.first_step(offered) == "Mondrian, k = 10"
    assert sweeps.first_step(offered, "Mondrian, k = 5") == "Mondrian, k = 5"
    assert sweeps.first_step(offered[2:3]) == offered.setting[2]
    with pytest.raises(
        ValueError, match=r"START must be a setting .* got 'mondrian, k = 50'. Did you mean 'Mondrian, k = 5"
    ):
        sweeps.first_step(offered, "mondrian, k = 50")


def test_anatomy_is_asked_for_whole_buckets_only(clinic):
    assert [s.l for s in sweeps.list_settings(clinic, l="1.2, 2, 2.5, 4") if s.sanitizer == "Anatomy"] == [2, 4]


@pytest.mark.slow
def test_all_at_once_are_what_each_is_alone(clinic, few):
    settings, alone = few
    refused = [setting for setting in settings if count_setting(clinic, setting).refused]
    assert refused, "l=90 is out of reach"
    together = sweeps.count_every_setting(clinic, settings)
    assert_frame_equal(together, alone.reset_index(drop=True), check_dtype=False)


def test_settings_out_of_reach_alone_give_an_empty_table(clinic):
    settings = [s for s in sweeps.list_settings(clinic, l="90") if s.l and s.sanitizer == "Mondrian"]
    found = sweeps._counted(clinic, settings)
    assert list(found.columns) == COLUMNS
    assert found.empty


def test_every_number_is_explained_and_less_of_it_is_better():
    shown = [measure_facts(measure) for measure in sweeps.list_shown_measures()]
    page = sweeps.explain_measures()._repr_html_()
    assert {each.better for each in shown} == {"lower"}
    assert all(each.label in page and each.sentence[:40] in page for each in shown)


# --- what is said of them ---


@pytest.fixture(scope="module")
def said(clinic, few):
    settings, results = few
    releases = decision.compute_points(results, privacy="accuracy_gain", utility="certainty_penalty")
    return findings.every_setting(sweeps.list_steps(clinic, settings), results, releases)


def test_the_answer_counts_the_settings_that_the_table_allows(said, few):
    settings, results = few
    there = len(results.drop_duplicates(["sanitizer", "parameters"]))
    assert (said.given["allowed"], said.given["settings"]) == (there, len(settings))
    assert "Mondrian, k = 2, l = 90" in said.given["missing"]
    assert f"This table allows {there} of {len(settings)} settings, but not " in said.data


def test_the_answer_compares_the_ends_of_a_series(said, few):
    _, results = few
    rows = results[(results.sanitizer == "Mondrian") & (results.measure == "accuracy_gain")].set_index("parameters")
    privacy, utility = said.given["along"]
    assert (privacy["of"], utility["of"]) == ("accuracy gain", "certainty penalty")
    for end, k in (("first", "k=5"), ("last", "k=20")):
        assert (privacy[end]["value"], privacy[end]["baseline"]) == (rows.value[k], rows.baseline[k])
    assert said.given["source"] == "clinic/clinic, sensitive diagnosis"


def test_the_answer_counts_the_efficient(said, few):
    releases = decision.compute_points(few[1], privacy="accuracy_gain", utility="certainty_penalty")
    assert said.given["releases"] == len(releases)
    assert said.given["status"] == {
        name: (releases.status == name).sum() for name in ("efficient", "dominated", "undecided")
    }
