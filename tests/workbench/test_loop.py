"""The loop of an analyst: sanitize, measure, compare, choose, write, in memory and in files."""

import re
from dataclasses import replace

import altair as alt
import numpy as np
import pandas as pd
import pytest
from IPython.core.formatters import format_display_data
from sklearn.base import BaseEstimator, ClassifierMixin

import privnb as pn
from privnb.decision.by_policy import LOSS, keeps_cap
from privnb.evaluation.results import COLUMNS
from privnb.workbench import measurements

PEOPLE = pd.DataFrame(
    {
        "age": [*range(20, 60)] * 5, "zip": [80, 80, 81, 81, 82] * 40, "sex": [*"mf"] * 100,
        "ill": [*"abcabdeafb"] * 20,
    }
)  # fmt: skip


@pytest.fixture(scope="module")
def table():
    return pn.read(PEOPLE, sensitive="ill", name="people")


@pytest.fixture(scope="module")
def release(table):
    return table.sanitize("k=5")


@pytest.fixture(scope="module")
def comparison(table):
    return pn.compare(table, [pn.Mondrian(pn.KAnonymity(k)) for k in (5, 10)], policy="groups-of-3", seeds=1)


def test_a_release_says_what_it_is_and_shows_no_row(table, release):
    assert release.sentences[1] == "They form 40 equivalence classes; the smallest one has 5 people."
    assert list(release.columns.column) == ["age", "zip", "sex", "ill"]
    assert repr(release) == "SanitizedTable('people', Mondrian(KAnonymity(k=5)))"
    assert len(release.frame) == len(PEOPLE)
    assert "<table" in release._repr_html_()


def test_without_a_seed_a_release_is_drawn_afresh_and_with_one_it_is_an_experiment(table):
    noise = pn.RandomizedResponse(1.0)
    assert not table.sanitize(noise).release.provenance.simulation
    assert any("must not be published" in each for each in table.sanitize(noise, rng=1).sentences)


def test_risks_are_narrow_for_people_and_whole_on_request(release):
    risks = release.risks("k-5")
    assert list(risks.results) == COLUMNS
    assert list(risks.frame) == measurements.NARROW_COLUMNS
    worst = risks.frame[risks.frame.question == "Identity risk, worst-off person"].iloc[0]
    assert worst.value == "20% of people"
    assert risks.frame.id.is_unique
    assert risks.frame.id.str.fullmatch("[0-9a-f]{8}").all()


def test_caps_are_judged_as_a_decision_judges_them(release):
    """By the upper end, by the worst attribute and group; an unknown risk keeps no cap."""
    risks = release.risks("k-5")
    assert list(risks.caps.verdict) == ["kept"]
    assert risks.sentences[0] == "The release keeps 1 of 1 cap of the policy k = 5."
    lost = risks.results.assign(value=np.nan, low=np.nan, high=np.nan)
    assert list(measurements.Measurements(lost, risks.policy).caps.verdict) == ["unknown"]
    above = risks.results.assign(high=0.9)
    assert list(measurements.Measurements(above, risks.policy).caps.verdict) == ["exceeded"]


@pytest.mark.slow
def test_every_cap_of_a_policy_is_judged_as_in_a_decision(table):
    release = table.sanitize("k=20")
    judged = release.risks("all-five").caps.set_index("risk").verdict.eq("kept")
    vectors = pn.compare(table, release.sanitizer, policy="all-five", seeds=1).choose().found.decision.vectors
    own = vectors[(vectors.sanitizer == "Mondrian") & (vectors.axis != LOSS)]
    assert own.value.notna().any()
    assert judged.to_dict() == {row.axis: bool(keeps_cap(row)) for row in own.itertuples()}


def test_the_id_of_a_number_stays_when_the_number_changes(release):
    results = release.risks().results
    assert [*measurements.shorten_results(results.assign(value=0.5)).id] == [*measurements.shorten_results(results).id]
    other = results.assign(parameters="k=6")
    assert not {*measurements.shorten_results(other).id} & {*measurements.shorten_results(results).id}


def test_utility_is_of_models_and_of_detail(release):
    found = release.utility("decision stump")
    assert {"good_utility", "utility_decline", "certainty_penalty"} <= {*found.results.measure}
    assert not found.frame.value.eq("").any()


def test_a_comparison_chooses_as_the_policy_says(comparison):
    decided = comparison.choose()
    assert {*decided.frame.release} == {"Mondrian, k = 5", "Mondrian, k = 10", "Suppression", "the original"}
    assert decided.sanitizer in [*comparison.sanitizers, pn.Suppress()]
    assert set(comparison.frame.setting) == set(decided.frame.release)
    assert "<table" in comparison._repr_html_()


def test_what_is_chosen_is_written_with_its_card(tmp_path, comparison):
    card = comparison.choose().write(tmp_path / "release.csv")
    assert card.card.content["release"]["file"] == "release.csv"
    assert len(pd.read_csv(tmp_path / "release.csv")) == len(PEOPLE)
    assert {path.suffixes[-1] for path in tmp_path.iterdir()} >= {".csv", ".json", ".html"}
    assert not card.frame.empty


def test_a_release_in_memory_is_written_from_the_records(tmp_path, table, release):
    made = release.write(tmp_path / "release.parquet")
    assert made.smallest == 5
    written = pd.read_parquet(tmp_path / "release.parquet")
    assert sorted(written.age.unique()) == sorted(release.frame.age.unique())
    with pytest.raises(pn.OutputExistsError):
        release.write(tmp_path / "release.parquet")


def test_where_no_release_keeps_the_policy_nothing_is_written(tmp_path, comparison):
    decided = comparison.choose()
    found = decided.found
    while found.chosen is not None:
        found = replace(found, decision=found.decision.without_chosen("It is ruled out here."))
    decided = replace(decided, found=found)
    assert decided.sanitizer is None
    with pytest.raises(pn.PrivacyError):
        decided.release()
    with pytest.raises(pn.PrivacyError):
        decided.write(tmp_path / "release.csv")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("wrong", ["Mondrian", 7, [], ["Mondrian"], [pn.Mondrian]])
def test_what_is_no_sanitizer_is_refused(table, wrong):
    with pytest.raises(pn.UsageError, match=r"sanitizers|must be models"):
        pn.compare(table, wrong)


def test_what_is_no_table_is_refused():
    with pytest.raises(pn.UsageTypeError, match=r"Try privnb\.read"):
        pn.compare(PEOPLE, pn.Identity())


def test_a_sanitizer_without_a_release_stays_in_the_comparison(table):
    found = pn.compare(table, [pn.Mondrian(k=5), "k=1000"], policy="groups-of-3", seeds=1)
    (name,) = found.failed
    row = found.frame[found.frame.setting == name].iloc[0]
    assert not row.kept
    assert "cannot be reached" in row["why not"]
    assert "1 of 2 sanitizers have no release" in found._repr_html_()


class Fails(ClassifierMixin, BaseEstimator):
    def fit(self, records, target):
        raise RuntimeError("no licence")

    def predict(self, records):
        return records


def test_a_model_that_fails_is_a_row_that_says_so(release):
    found = release.utility(Fails(), measures=[])
    assert {*found.results.status[found.results.measure == "good_utility"]} == {"refused"}


def test_models_predict_categories_alone(release):
    with pytest.raises(pn.UsageError, match="'age', which holds numbers"):
        release.utility(target="age")


def test_a_wrong_place_is_refused_before_anything_runs(tmp_path, comparison):
    with pytest.raises(pn.PrivnbError, match="ends in"):
        comparison.choose().write(tmp_path / "release.xlsx")


@pytest.mark.slow
def test_charts_are_drawn(table, release, comparison):
    for each in (table, release, release.risks(), comparison, comparison.choose()):
        assert "vega-lite" in re.sub(r"\s", "", each.plot().to_json())


@pytest.mark.slow
def test_a_chart_of_numbers_is_bounded_titled_and_draws_itself_without_a_network(comparison):
    chart = comparison.measurements.plot()
    bundle = format_display_data(chart)[0]
    assert "image/svg+xml" in bundle
    assert "text/html" not in bundle
    spec = chart.to_dict()
    assert spec["title"]["text"][0].startswith("Largest difference from the value without the release")
    [rows] = spec["datasets"].values()
    assert len({row["question"] for row in rows}) == measurements.MAX_DRAWN


def test_a_renderer_that_the_host_chose_draws_charts(table):
    with alt.renderers.enable("json"):
        assert "application/json" in format_display_data(table.plot())[0]


def test_sentences_are_plain_texts(comparison):
    said = comparison.choose().sentences
    assert all(isinstance(each, str) for each in said)
    assert not any("<strong>" in each for each in said)


def test_what_was_written_shows_itself_with_the_answer_first(tmp_path, release):
    made = release.write(tmp_path / "release.csv")
    assert repr(made) == "PublishedTable('release.csv', 200 records, 40 classes, Mondrian(KAnonymity(k=5)))"
    assert re.match(r".*?<p>[^<]*release\.csv: 200 records in 40 classes, the smallest of 5", made._repr_html_())


def test_a_table_shows_the_id_of_each_number(release):
    risks = release.risks()
    assert risks.frame.id[0] in risks._repr_html_()
