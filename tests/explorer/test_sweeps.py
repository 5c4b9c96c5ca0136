"""The grid of settings: what it holds, in which order, and that its numbers are those of each setting alone."""

import pytest
from pandas.testing import assert_frame_equal
from support.clinic import CLINIC
from support.results_frame import finding

from privnb import decision
from privnb.datasets.dataset import load
from privnb.evaluation.results import COLUMNS, join
from privnb.explorer import sweeps
from privnb.explorer.numbers import counted
from privnb.explorer.setting import STEPS, choices
from privnb.measures import facts
from privnb.reporting import findings
from privnb.runtime.numerals import bare


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


@pytest.fixture(scope="module")
def few(clinic):
    """Settings of which some cannot be reached, and their numbers."""
    settings = sweeps.grid(clinic, k="5, 20", l="2, 90", t="0.3", delta="2", epsilon="1")
    return settings, join(*(counted(clinic, s).results for s in settings if not counted(clinic, s).refused))


def test_the_whole_grid_has_every_sanitizer_that_the_table_can_have(clinic):
    settings = sweeps.grid(clinic, profile="full")
    assert {setting.sanitizer for setting in settings} == set(choices(clinic)["sanitizer"])
    assert {s.k for s in settings if s.sanitizer == "KMember" and s.asked.keys() == {"k"}} == set(STEPS["k"])
    assert len(set(settings)) == len(settings) <= 500


@pytest.mark.slow
def test_the_quick_grid_leaves_out_slow_searches_and_most_steps(clinic):
    quick, full = sweeps.grid(clinic), sweeps.grid(clinic, profile="full")
    assert {"KMember", "FullDomain"}.isdisjoint(setting.sanitizer for setting in quick)
    assert set(quick) < set(full)
    assert [s.k for s in quick if s.sanitizer == "Mondrian" and not (s.l or s.t or s.delta)] == list(STEPS["k"])


def test_each_series_goes_from_loose_to_strict(clinic):
    settings = sweeps.grid(clinic, k="20, 5", l="3, 2", t="0.2, 0.4", delta="1, 2", epsilon="0.1, 1")
    of = {
        letter: [getattr(s, letter) for s in settings if s.sanitizer == kind and getattr(s, letter)]
        for kind, letter in (("Mondrian", "l"), ("Mondrian", "t"), ("Mondrian", "delta"), ("LaplaceNoise", "epsilon"))
    }
    assert of == {"l": [2, 3], "t": [0.4, 0.2], "delta": [2, 1], "epsilon": [1, 0.1]}
    assert [s.k for s in settings if s.sanitizer == "Mondrian"] == [5, 20, *[sweeps.LEAST] * 6]


def test_steps_name_what_a_menu_and_a_slider_offer(clinic):
    steps = sweeps.steps(clinic, sweeps.grid(clinic, k="5", l="2", t="0.3", delta="2", epsilon="1"))
    names = dict(zip(steps.setting, steps.series, strict=True))
    assert names["Mondrian, k = 5"] == "Mondrian: k"
    assert names["Mondrian, k = 2, t = 0.3"] == "Mondrian: t (k = 2)"
    assert names["Anatomy, l = 2"] == "Anatomy: l"
    assert names["Laplace noise, epsilon 1"] == "Laplace noise: epsilon"
    assert names["Suppression"] == "Suppression"
    assert not steps.duplicated(["sanitizer", "parameters"]).any()


def test_a_chart_starts_where_it_is_asked_to(clinic):
    offered = sweeps.steps(clinic, sweeps.grid(clinic, k="5, 10"))
    assert sweeps.first(offered) == "Mondrian, k = 10"
    assert sweeps.first(offered, "Mondrian, k = 5") == "Mondrian, k = 5"
    assert sweeps.first(offered[2:3]) == offered.setting[2]
    with pytest.raises(
        ValueError, match=r"START is a setting .* got 'mondrian, k = 50'. Did you mean 'Mondrian, k = 5"
    ):
        sweeps.first(offered, "mondrian, k = 50")


def test_anatomy_is_asked_for_whole_buckets_only(clinic):
    assert [s.l for s in sweeps.grid(clinic, l="1.2, 2, 2.5, 4") if s.sanitizer == "Anatomy"] == [2, 4]


@pytest.mark.slow
def test_all_at_once_are_what_each_is_alone(clinic, few):
    settings, alone = few
    refused = [setting for setting in settings if counted(clinic, setting).refused]
    assert refused, "l=90 is out of reach"
    together = sweeps.all_counted(clinic, settings)
    assert_frame_equal(together, alone.reset_index(drop=True), check_dtype=False)


def test_settings_out_of_reach_alone_give_an_empty_table(clinic):
    settings = [s for s in sweeps.grid(clinic, l="90") if s.l and s.sanitizer == "Mondrian"]
    found = sweeps._counted(clinic, settings)
    assert list(found.columns) == COLUMNS
    assert found.empty


def test_every_number_is_explained_and_less_of_it_is_better():
    shown = [facts(measure) for measure in sweeps.measures()]
    page = sweeps.meanings()._repr_html_()
    assert {each.better for each in shown} == {"lower"}
    assert all(each.label in page and each.sentence[:40] in page for each in shown)


# --- what is said of them ---


@pytest.fixture(scope="module")
def said(clinic, few):
    settings, results = few
    releases = decision.points(results, privacy="accuracy_gain", utility="certainty_penalty")
    return findings.every_setting(sweeps.steps(clinic, settings), results, releases)


def test_the_answer_counts_what_the_table_can_give(said, few):
    settings, results = few
    there = len(results.drop_duplicates(["sanitizer", "parameters"]))
    assert f"This table allows **{there} of {len(settings)} settings**, but not " in said.data
    assert "Mondrian, k = 2, l = 90" in said.data
    assert "not thereby safe" in said.data


def test_the_answer_says_what_a_series_trades_with_its_numbers(said, few):
    _, results = few
    rows = results[(results.sanitizer == "Mondrian") & (results.measure == "accuracy_gain")].set_index("parameters")
    loose, strict = (
        f"**{bare('{:+%}', rows.value[k])} of people** (baseline: {bare('{:+%}', rows.baseline[k])})"
        for k in ("k=5", "k=20")
    )
    answer = said.data.split("\n\n")[0]
    assert f"From Mondrian, k = 5 to Mondrian, k = 20, accuracy gain goes from {loose} to {strict}; " in answer
    assert "; certainty penalty goes from" in answer
    assert answer.endswith(" (clinic/clinic, sensitive diagnosis).")


def test_the_answer_counts_the_efficient(said, few):
    releases = decision.points(few[1], privacy="accuracy_gain", utility="certainty_penalty")
    efficient = finding(said, "Settings that no other one beats in accuracy gain and certainty penalty")
    assert efficient.value == (releases.status == "efficient").sum()
    assert efficient.number.endswith(f" of {len(releases)}")
    assert efficient.beside["beaten"] == str((releases.status == "dominated").sum())
