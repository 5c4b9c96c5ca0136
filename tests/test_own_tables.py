"""Every kind of table that an owner may have gets its report, each page with what it can say of it."""

import re

import pytest
from support import clinic, one_process, own_tables, person_key

from privnb.reporting import report
from privnb.sanitizers.catalogue import kinds

# Little of everything: what is tried here is the table.
FEW = {
    "K": "2", "EPSILON": "0.5", "L": "2", "T": "0.4", "DELTA": "2", "MINERS": "majority, decision stump", "SEEDS": 1,
    "SUPPORT": "0.1", "K_TREE": "5", "EPSILON_RULES": "3", "MODELS": "majority, decision stump", "HIDE": 2,
    "DEVIATION": "0.05", "KNOWN": "2", "SYNTHETIC_RECORDS": 1000, "WISHING": "0.2",
}  # fmt: skip
PAGES = [
    "01_load",
    "02_sanitize",
    "04_attack",
    "08_decision",
    "09_explore",
    "10_every_setting",
    "11_perturbation",
    "12_undo_noise",
    "14_informed_adversary",
    "15_release_card",
    "16_results_and_tables",
    "17_my_own_k",
]
ABOUT_SENSITIVE = PAGES[4:6]
PEOPLE = 120
# The first that is sensitive of many columns must be a number, and of the table with gaps a number alone is.
KINDS = [kind for kind in own_tables.KINDS if kind != "numeric-sensitive"]
SILENT = {
    "no-sensitive": [*ABOUT_SENSITIVE, "14_informed_adversary", "16_results_and_tables", "17_my_own_k"],
    "no-quasi-identifier": PAGES[1:],
    "one-category": ["12_undo_noise"],
}
REASONS = {"no-sensitive": "sensitive attribute", "one-category": "number among its quasi-identifiers"}


@pytest.fixture(scope="module")
def reports(tmp_path_factory, kernel):
    """The folder of the reports of all kinds, made in one process: each by its kind."""
    folder = tmp_path_factory.mktemp("own")
    described = {kind: own_tables.write(folder / "data", kind) for kind in KINDS}
    described["gaps"] = own_tables.drafted(folder / "data", ["visits"])  # no category is sensitive
    described["visits"] = person_key.drafted(folder / "drafted", PEOPLE)
    one_process.build_all(
        {folder / kind: {"parameters": FEW | {"DATASET": str(path)}} for kind, path in described.items()}, "few"
    )
    return folder


@pytest.mark.parametrize("kind", [*KINDS, "gaps"])
def test_a_report_of_every_kind_of_table(reports, kind):
    """Nothing failed, for the report would say so and its making would end in an error."""
    out, silent = reports / kind, SILENT.get(kind, [])
    assert sorted(path.stem for path in (out / "notebooks").iterdir()) == PAGES
    for name in PAGES:
        html = (out / f"{name}.html").read_text(encoding="utf-8")
        assert ("This page has nothing to report about this table" in html) is (name in silent), name
        assert not re.search(r"\d %", html), name
        if name in silent:
            reason = REASONS.get(kind, "quasi-identifier")
            assert re.search(f"has no {reason}.*column", re.sub("<[^>]*>", "", html)), name
    results = report.read_results(out / "results.csv")
    assert set(results.dataset) == {kind}
    assert ("certainty_penalty" in set(results.measure)) is (kind != "no-quasi-identifier")
    assert not (out / "ledger.csv").exists()


def test_numbers_that_are_sensitive_are_said_to_be_in_bands_on_each_page(reports):
    for name in PAGES:
        html = (reports / "many-columns" / f"{name}.html").read_text(encoding="utf-8")
        assert "in bands of 0 to 40: 0-1, 2-3, 4-5, 6-7, ..." in html, name
        html = (reports / "one-category" / f"{name}.html").read_text(encoding="utf-8")
        assert "in bands of" not in html, name


def test_a_missing_number_is_shown_by_its_mark(reports):
    """As a group of people, as a published label, and as the last band of a number that is sensitive."""
    shown = {}
    for name in PAGES:
        html = (reports / "gaps" / f"{name}.html").read_text(encoding="utf-8")
        shown[name] = re.sub("<[^>]*>", " ", re.sub(r"(?s)<(script|style).*?</\1>", "", html))
        assert not re.search(r"\bnan\b", shown[name], re.IGNORECASE), name
    assert re.search(r"score quasi-identifier\s+80 to 160, or NA \(missing\)", re.sub(r"\s+", " ", shown["01_load"]))
    assert "or NA (missing): 0-1, " in shown["01_load"]


def test_that_domains_were_read_from_the_records_is_said_until_they_are_confirmed(reports):
    for kind in KINDS:
        for name in ("index", "01_load"):
            html = (reports / kind / f"{name}.html").read_text(encoding="utf-8")
            said = "1 of 2 domains were read from the records and not replaced" in html
            assert said is (kind == "no-sensitive"), (kind, name)


def test_without_a_sensitive_attribute_a_neighbour_still_finds_people(reports):
    results = report.read_results(reports / "no-sensitive" / "results.csv")
    assert {"reidentification_rate", "anti_utility", "unique"} <= set(results.measure)
    recommended = results[results.measure == "recommended"]
    assert recommended.sanitizer.tolist() == ["none"], "the policy caps what is guessed, and nothing is"
    assert "such as ema-0070" in recommended.reason.iloc[0]


def test_a_table_of_people_with_several_records_is_reported_in_people(reports):
    out = reports / "visits"
    results, text = report.read_results(out / "results.csv"), {}
    for page in out.glob("*.html"):
        html = page.read_text(encoding="utf-8")
        assert clinic.IDENTIFIER not in html, "no page holds a key"
        text[page.stem] = re.sub(r"\s+", " ", re.sub("<[^>]*>", "", html))
    assert clinic.IDENTIFIER not in (out / "results.csv").read_text(encoding="utf-8")
    records = int(results[results.measure == "records"].value.iloc[0])
    assert records > 2 * PEOPLE
    assert f"{records:,} records of {PEOPLE} people" in text["01_load"]
    assert f"of {PEOPLE} people" in text["index"]
    # Nothing that is counted in people counts more than there are.
    counted = results[results.measure.isin(["k_achieved", "median_class_size", "anti_utility", "suppressed_records"])]
    assert counted.value.max() <= PEOPLE < records
    assert "Mondrian, whose k counts people, instead of k-member clustering" in text["02_sanitize"]
    assert {*results.sanitizer} - {"none"} <= {name for name, kind in kinds().items() if kind.counts_people}
    assert results[results.measure == "reidentification_rate"].baseline.min() > 1 / PEOPLE
