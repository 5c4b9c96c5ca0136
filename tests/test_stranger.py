"""Somebody adds a method of each kind as the guide shows: one file of their own, which is imported."""

import importlib
import inspect
import os
import pickle
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from support.clinic import CLINIC

from privnb import decision, testing
from privnb.attacks import Attack
from privnb.datasets.dataset import load
from privnb.decision import policies
from privnb.evaluation import evaluate, measure_combinations, sanitizer_family
from privnb.evaluation.digests import digest
from privnb.explorer import sweeps
from privnb.explorer.controls import render_controls
from privnb.explorer.readings import axis_measures, count_setting
from privnb.explorer.setting import Setting, inactive_controls, list_choices, make_sanitizer
from privnb.measures import base, list_measures, measure_facts
from privnb.microdata.treatment import Unreadable
from privnb.privacy_models import KAnonymity, PrivacyModel, grade_release
from privnb.reporting import charts, gallery
from privnb.sanitizers import Identity, LaplaceNoise, Mondrian, Sanitizer, catalogue
from privnb.sanitizers.base import FACTS

TEXT = (Path(__file__).parents[1] / "docs" / "how-to" / "add-a-method.md").read_text(encoding="utf-8")
# The annotated examples, each of which begins with the name of its file.
EXAMPLES = {name: text for name, text in re.findall(r"```\w+\n# (\w+\.\w+)\n(.*?)```", TEXT, re.DOTALL)}
FILES = {name.removesuffix(".py"): text for name, text in EXAMPLES.items() if name.endswith(".py")}


@pytest.fixture(scope="module")
def strangers(tmp_path_factory):
    """The modules, imported from a folder of their own, and forgotten afterwards."""
    folder = tmp_path_factory.mktemp("strangers")
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    sys.path.insert(0, str(folder))
    yield folder, *(importlib.import_module(name) for name in FILES)
    sys.path.remove(str(folder))
    for name in FILES:
        del sys.modules[name]
    base._registered.pop("lonely_share")
    base._marked.pop("lonely_share")


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


@pytest.mark.slow
def test_the_contract_tests_find_them(strangers):
    """In a process of their own, in which nothing but pytest knows of the files."""
    folder, *_ = strangers
    files = ["tests/sanitizers/test_contracts.py", "tests/attacks/test_attack_contracts.py"]
    plugins = [part for name in FILES for part in ("-p", name)]
    chosen = "(Neighbours or FirstColumn or left_out) and not claims_hold"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-n0", *plugins, *files, "-k", chosen],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("Neighbours") >= 9
    assert done.stdout.count("FirstColumn") >= 6


@pytest.mark.parametrize(
    ("base", "written"),
    [
        (Sanitizer, ["_sanitize(self, dataset, table, rng)", "always a numpy Generator", *FACTS]),
        (Attack, ["_learn(self, published)", "predict(known)", "baseline(known)", "truth(dataset)"]),
        (PrivacyModel, ["level(self, counts, whole)", "better", "Annotated", "graded", "kind", "of_sizes", "grows"]),
    ],
)
def test_help_says_which_methods_and_facts_are_written(base, written):
    text = " ".join(inspect.getdoc(base).split())
    assert [each for each in written if each not in text] == []


WRONG_FACTS = [
    (Sanitizer, {"letters": ("kk",)}, r"`letters` must be a tuple of some of 'k', .*; got \('kk',\)"),
    (Sanitizer, {"letters": "k"}, "`letters` must be a tuple of some of 'k', .*; got 'k'"),
    (Sanitizer, {"letters": ("k",), "requires": ("l",)}, r"`requires` must be a tuple of some of 'k'; got \('l',\)"),
    (Sanitizer, {"treatment": "noizy"}, "`treatment` must be one of 'exact', .*; got 'noizy'"),
    (Sanitizer, {"spends_per": "person"}, "`spends_per` must be one of 'attribute', 'record'; got 'person'"),
    (Sanitizer, {"changes": "number"}, "`changes` must be one of '', 'numbers', .*; got 'number'"),
    (Sanitizer, {"needs_sensitive": True}, "`needs_sensitive` must be one of '', 'any', 'categories'; got True"),
    (Attack, {"supported_treatments": ("exactt",)}, r"`supported_treatments` must .* 'exact', .*; got \('exactt',\)"),
    (Attack, {}, "`supported_treatments` must .*, and the class does not state it"),
    (PrivacyModel, {"better": "loower"}, "`better` must be one of 'lower', 'higher'; got 'loower'"),
    (PrivacyModel, {}, "`better` must be one of 'lower', 'higher', and the class does not state it"),
]


@pytest.mark.parametrize(("base", "stated", "message"), WRONG_FACTS)
def test_a_fact_that_is_none_is_refused_where_the_class_is_made(base, stated, message):
    whole = dict.fromkeys(base.__abstractmethods__)
    with pytest.raises(ValueError, match=f"^class Mine: {message}"):
        type("Mine", (base,), whole | stated)


def test_an_abstract_class_need_not_state_what_its_kinds_state():
    for kind in (Attack, PrivacyModel):
        assert issubclass(type("Between", (kind,), {}), kind)


@pytest.mark.parametrize("bound", ["0.5", None, float("nan")])
def test_a_bound_without_limits_of_its_own_is_a_number(bound):
    @dataclass(frozen=True)
    class _Mine(PrivacyModel):
        p: float
        better, sensitive = "lower", None

        def level(self, counts, whole):
            return counts[:, 0]

    assert _Mine(0.5).p == 0.5
    with pytest.raises(ValueError, match="p must be a finite number; got"):
        _Mine(bound)


def test_lists_of_sanitizers_have_it(strangers, clinic):
    _, neighbours, *_ = strangers
    assert list(catalogue.kinds())[-1] == "Neighbours", "after the package's own"
    assert neighbours.Neighbours(10) in catalogue.build_one_per_class(clinic)
    assert neighbours.Neighbours(5) in catalogue.build_generalizing(clinic, KAnonymity(5))
    family = sanitizer_family.build_family(clinic, k="5, 20")
    assert [each.k for each in family if type(each) is neighbours.Neighbours] == [5, 20]
    assert catalogue.group("Neighbours") == "generalization"


@pytest.mark.slow
def test_the_gallery_shows_it(strangers, clinic):
    family = [
        each for each in catalogue.build_one_per_class(clinic) if type(each).__name__ in ("Mondrian", "Neighbours")
    ]
    described = gallery.describe_sanitizers(family).table
    expected = "Sort the records, and publish the smallest labels of each group of k consecutive records."
    assert described.loc["Neighbours", "what it does"] == expected
    assert "Neighbours" in gallery.show_side_by_side(clinic, family).table.index
    assert set(gallery.measure_penalties(clinic, k="5").sanitizer) > {"Neighbours"}


def test_the_explorer_offers_it(strangers, clinic):
    setting = Setting("Neighbours", k=5)
    offered = list_choices(clinic)
    assert offered["sanitizer"][-1] == "Neighbours"
    assert "Sort the records" in str(render_controls(setting, offered, inactive_controls(setting, clinic)))
    assert {"l", "t", "delta", "epsilon"} <= set(inactive_controls(setting, clinic))
    assert repr(make_sanitizer(setting, clinic)) == "Neighbours(k=5)"
    found = count_setting(clinic, setting).results.set_index("measure").value
    assert found["k_achieved"] >= 5
    assert 0 < found["certainty_penalty"] < 1
    assert any(each.sanitizer == "Neighbours" and each.k == 20 for each in sweeps.list_settings(clinic))
    assert found["lonely_share"] == 0
    assert "lonely_share" in [each.name for each in axis_measures("privacy", [count_setting(clinic, setting)])]
    assert "Share of rows that differ from every other row." in sweeps.explain_measures()._repr_html_()


@pytest.mark.slow
def test_another_process_of_the_explorer_imports_it(strangers, clinic):
    """A pinned setting names its class; what is sent to another process brings it along."""
    assert pickle.loads(pickle.dumps(Setting("Neighbours"))) == Setting("Neighbours")
    sent = pickle.dumps(Setting("Neighbours"))
    folder, *_ = strangers
    code = "import pickle, sys; print(pickle.loads(bytes.fromhex(sys.argv[1])).kind.__name__)"
    done = subprocess.run(
        [sys.executable, "-c", code, sent.hex()],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "Neighbours", done.stderr


@pytest.mark.slow
def test_the_command_line_knows_what_was_imported_before(strangers, tmp_path):
    folder, *_ = strangers
    code = "import neighbours; from privnb.cli import main; raise SystemExit(main())"
    out = tmp_path / "released.csv"
    asked = ["sanitize", str(CLINIC), "--model", "k=5", "--algorithm", "Neighbours", "--out", str(out)]
    done = subprocess.run([sys.executable, "-c", code, *asked], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert out.exists()


def test_the_frontier_measures_it_in_other_processes_and_keeps_the_results(strangers, clinic, tmp_path):
    """Workers import the class with the task; the store knows it by its parameters and the text of its file."""
    _, neighbours, *_ = strangers
    # One of the stranger's, and one that no study has.
    axes = sanitizer_family.choose_axes(clinic, "lonely_share", "discernibility")
    asked = clinic, [neighbours.Neighbours(5), Identity()], *axes.values()
    found = sanitizer_family.evaluate_family(*asked, store=str(tmp_path))
    assert set(found.sanitizer) == {"Neighbours", "Identity"}
    assert {"lonely_share", "discernibility", "privacy_loss"} <= set(found.measure)
    assert len(decision.compute_points(found, **axes, min_class_size=5)) == 2
    kept = set(tmp_path.glob("*.result"))
    pd.testing.assert_frame_equal(sanitizer_family.evaluate_family(*asked, store=str(tmp_path)), found)
    assert set(tmp_path.glob("*.result")) == kept
    assert digest(neighbours.Neighbours(5)) != digest(neighbours.Neighbours(6))


def test_the_attack_and_the_measure_give_numbers(strangers, clinic):
    _, neighbours, first_column, lonely, *_ = strangers
    release = neighbours.Neighbours(5).sanitize(clinic, rng=1)
    assert lonely.lonely_share(release) == 0
    assert lonely.lonely_share(Identity().sanitize(clinic, rng=1)) > 0.5
    assert measure_facts("lonely_share").title == "Lonely rows"
    assert measure_facts("lonely_share").written(0.25) == "25% of rows"
    assert "lonely_share" in {each.name for each in list_measures("privacy")}
    published, _ = release.publish()
    attack = first_column.FirstColumn("diagnosis", "age").fit(published)
    assert set(attack.predict(clinic.table)) <= set(clinic.table["diagnosis"])
    noisy, _ = LaplaceNoise(1.0).sanitize(clinic, rng=1).publish()
    with pytest.raises(Unreadable, match="FirstColumn reads columns that are exact, generalized, suppressed"):
        attack.fit(noisy)


@pytest.mark.parametrize("name", ["twelve", "adult"])
def test_the_measure_is_a_share_of_rows_and_not_of_classes(strangers, name):
    """In these tables, each row is one person, so the package's own share of lone people is the same number."""
    *_, lonely, _, _ = strangers
    dataset = load(name, **({"records": 500} if name == "adult" else {}))
    for sanitizer in (Identity(), Mondrian(KAnonymity(2))):
        rows = measure_combinations(dataset, sanitizer, min_count=2).set_index("measure")
        assert lonely.lonely_share(sanitizer.sanitize(dataset, rng=1)) == pytest.approx(rows.value["alone"])


def test_evaluate_asks_them_in_other_processes_and_a_chart_shows_them(strangers, clinic, tmp_path):
    _, neighbours, first_column, lonely, _, lonely_chart = strangers
    attack, sanitizers = first_column.FirstColumn("diagnosis", "age"), [neighbours.Neighbours(5), LaplaceNoise(1.0)]
    asked = {"attacks": [attack], "measures": [lonely.lonely_share]}
    found = evaluate(clinic, sanitizers, **asked, store=str(tmp_path))
    pd.testing.assert_frame_equal(evaluate(clinic, sanitizers, **asked), found, check_dtype=False)
    numbers = found.set_index(["sanitizer", "measure"])
    assert numbers.value["Neighbours", "lonely_share"] == 0
    assert 0 < numbers.value["Neighbours", "guessed_right"] < 1
    assert numbers.status["LaplaceNoise", "guessed_right"] == "refused", "it reads no noise"
    for chart in (charts.bars(found, "lonely_share"), lonely_chart.lonely(found)):
        assert "Neighbours, k = 5" in str(chart.to_dict())
    assert "lonely rows (share of rows)" in str(charts.bars(found, "lonely_share").to_dict())
    assert (
        "Up to 0% of rows" in lonely_chart.lonely(found[found.sanitizer == "Neighbours"]).to_dict()["title"]["text"][0]
    )


def test_there_is_an_example_of_each_kind():
    assert [*EXAMPLES] == [
        "neighbours.py", "first_column.py", "lonely.py", "commonest_share.py", "ours.toml", "lonely_chart.py",
    ]  # fmt: skip


def test_each_keeps_the_contracts(strangers):
    _, neighbours, first_column, lonely, commonest_share, _ = strangers
    testing.check_sanitizer(neighbours.Neighbours(5))
    testing.check_attack(first_column.FirstColumn)
    testing.check_measure(lonely.lonely_share)
    testing.check_model(commonest_share.CommonestShare(0.5, "disease"))


def test_a_sanitizer_enforces_the_model_and_a_release_is_graded_by_it(strangers, clinic):
    model = strangers[4].CommonestShare(0.5, "diagnosis")
    release = Mondrian(KAnonymity(5), model).sanitize(clinic, rng=1)
    assert grade_release(model, release) <= 0.5 < grade_release(model, Identity().sanitize(clinic, rng=1))
    assert model in release.provenance.claims


def test_a_policy_is_read_from_its_file(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text(EXAMPLES["ours.toml"], encoding="utf-8")
    policy = policies.read(path)
    assert (policy.min_class_size, policy.needs[0].measure) == (5, "normalized_certainty_penalty")
