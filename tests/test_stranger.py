"""Somebody adds a sanitizer, an attack and a measure, each one file of their own, imports them: that is all."""

import importlib
import inspect
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from support.clinic import CLINIC

from privnb import decision
from privnb.attacks import Attack
from privnb.datasets.dataset import load
from privnb.evaluation import evaluate, every_sanitizer
from privnb.evaluation.content import content
from privnb.explorer import sweeps
from privnb.explorer.controls import form
from privnb.explorer.numbers import axes, counted
from privnb.explorer.setting import Setting, choices, idle, sanitizer
from privnb.measures import base, facts, stated
from privnb.microdata.treatment import Unreadable
from privnb.privacy_models import KAnonymity, PrivacyModel
from privnb.reporting import charts, gallery
from privnb.sanitizers import Identity, LaplaceNoise, Sanitizer, catalogue
from privnb.sanitizers.base import FACTS

FILES = {
    "neighbours": '''
"""One sanitizer, one file."""

from dataclasses import dataclass

import numpy as np

from privnb.privacy_models import KAnonymity, PrivacyModel
from privnb.sanitizers import SanitizationError, Sanitizer


@dataclass(frozen=True)
class Neighbours(Sanitizer):
    """Sort the records, and publish the smallest labels of each `k` that stand side by side.

    Source: nobody yet.
    """

    k: int
    letters = requires = ("k",)
    order_invariant = equal_records_alike = False

    def _sanitize(self, dataset, table, rng):
        if self.k > len(dataset):
            raise SanitizationError(f"{self!r} cannot be reached: the table has {len(dataset)} records.")
        names = dataset.schema.quasi_identifiers
        order = np.lexsort([dataset.codes[name] for name in names[::-1]])
        groups = np.empty(len(dataset), dtype=np.int64)
        groups[order] = np.minimum(np.arange(len(dataset)) // self.k, len(dataset) // self.k - 1)
        for name in names:
            table[name] = dataset.hierarchies[name].labels(dataset.codes[name], groups)[groups]
        return table, {"claims": (KAnonymity(self.k),)}
''',
    "first_column": '''
"""One attack, one file."""

from dataclasses import dataclass

import numpy as np

from privnb.attacks import Attack


@dataclass(frozen=True)
class FirstColumn(Attack[dict[str, str]]):
    """Who knows one column of a person guesses the commonest value of another among rows that show the same."""

    target: str
    knows: str
    supported_treatments = ("exact", "generalized", "suppressed")

    @classmethod
    def examples(cls, schema):
        return [cls(schema.sensitive[0], schema.quasi_identifiers[0])]

    def _learn(self, published):
        table = published.table.astype(str)
        return table.groupby(self.knows)[self.target].agg(lambda values: values.mode()[0]).to_dict()

    def predict(self, known):
        commonest = self._commonest()
        return known[self.knows].astype(str).map(self.learned).fillna(commonest).to_numpy(dtype=object)

    def baseline(self, known):
        return np.full(len(known), self._commonest(), dtype=object)

    def _commonest(self):
        return self.published.table[self.target].mode()[0]

    def truth(self, dataset):
        return dataset.table[self.target].to_numpy()
''',
    "lonely": '''
"""One measure, one file."""

import numpy as np

from privnb.measures.base import measure


@measure(
    kind="privacy", better="lower", bounds=(0, 1), title="Lonely rows", unit="share of rows", format="{:.1%} of rows",
    sentence="Share of rows that no other row looks like.", source="nobody yet", live=True,
)
def lonely_share(release):
    """Share of rows that no other row looks like."""
    return float((np.bincount(release.equivalence_classes) == 1).mean())
''',
}


@pytest.fixture(scope="module")
def strangers(tmp_path_factory):
    """The three modules, imported from a folder of their own, and forgotten afterwards."""
    folder = tmp_path_factory.mktemp("strangers")
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    sys.path.insert(0, str(folder))
    yield folder, *(importlib.import_module(name) for name in FILES)
    sys.path.remove(str(folder))
    for name in FILES:
        del sys.modules[name]
    base._stated.pop("lonely_share")
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
    (Sanitizer, {"letters": ("kk",)}, r"`letters` must be a tuple of some of 'k', .*, got \('kk',\)"),
    (Sanitizer, {"letters": "k"}, "`letters` must be a tuple of some of 'k', .*, got 'k'"),
    (Sanitizer, {"letters": ("k",), "requires": ("l",)}, r"`requires` must be a tuple of some of 'k', got \('l',\)"),
    (Sanitizer, {"treatment": "noizy"}, "`treatment` must be one of 'exact', .*, got 'noizy'"),
    (Sanitizer, {"spends_per": "person"}, "`spends_per` must be one of 'attribute', 'record', got 'person'"),
    (Sanitizer, {"changes": "number"}, "`changes` must be one of '', 'numbers', .*, got 'number'"),
    (Sanitizer, {"needs_sensitive": True}, "`needs_sensitive` must be one of '', 'any', 'categories', got True"),
    (Attack, {"supported_treatments": ("exactt",)}, r"`supported_treatments` must .* 'exact', .*, got \('exactt',\)"),
    (Attack, {}, "`supported_treatments` must .*, and the class does not state it"),
    (PrivacyModel, {"better": "loower"}, "`better` must be one of 'lower', 'higher', got 'loower'"),
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
    with pytest.raises(ValueError, match="p must be a finite number, got"):
        _Mine(bound)


def test_lists_of_sanitizers_have_it(strangers, clinic):
    _, neighbours, *_ = strangers
    assert list(catalogue.kinds())[-1] == "Neighbours", "after the package's own"
    assert neighbours.Neighbours(10) in catalogue.family(clinic)
    assert neighbours.Neighbours(5) in catalogue.generalizing(clinic, KAnonymity(5))
    family = every_sanitizer.family(clinic, k="5, 20")
    assert [each.k for each in family if type(each) is neighbours.Neighbours] == [5, 20]
    assert catalogue.group("Neighbours") == "generalization"


@pytest.mark.slow
def test_the_gallery_shows_it(strangers, clinic):
    family = [each for each in catalogue.family(clinic) if type(each).__name__ in ("Mondrian", "Neighbours")]
    described = gallery.described(family).table
    expected = "Sort the records, and publish the smallest labels of each k that stand side by side."
    assert described.loc["Neighbours", "what it does"] == expected
    assert "Neighbours" in gallery.side_by_side(clinic, family).table.index
    assert set(gallery.losses(clinic, k="5").sanitizer) > {"Neighbours"}


def test_the_explorer_offers_it(strangers, clinic):
    setting = Setting("Neighbours", k=5)
    offered = choices(clinic)
    assert offered["sanitizer"][-1] == "Neighbours"
    assert "Sort the records" in str(form(setting, offered, idle(setting, clinic)))
    assert {"l", "t", "delta", "epsilon"} <= set(idle(setting, clinic))
    assert repr(sanitizer(setting, clinic)) == "Neighbours(k=5)"
    found = counted(clinic, setting).results.set_index("measure").value
    assert found["k_achieved"] >= 5
    assert 0 < found["certainty_penalty"] < 1
    assert any(each.sanitizer == "Neighbours" and each.k == 20 for each in sweeps.grid(clinic))
    assert found["lonely_share"] == 0
    assert "lonely_share" in [each.name for each in axes("privacy", [counted(clinic, setting)])]
    assert "Share of rows that no other row looks like." in sweeps.meanings()._repr_html_()


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
    axes = every_sanitizer.axes(clinic, "lonely_share", "discernibility")
    asked = clinic, [neighbours.Neighbours(5), Identity()], *axes.values()
    found = every_sanitizer.appraised(*asked, store=str(tmp_path))
    assert set(found.sanitizer) == {"Neighbours", "Identity"}
    assert {"lonely_share", "discernibility", "privacy_loss"} <= set(found.measure)
    assert len(decision.points(found, **axes, floor=5)) == 2
    kept = set(tmp_path.glob("*.result"))
    pd.testing.assert_frame_equal(every_sanitizer.appraised(*asked, store=str(tmp_path)), found)
    assert set(tmp_path.glob("*.result")) == kept
    assert content(neighbours.Neighbours(5)) != content(neighbours.Neighbours(6))


def test_the_attack_and_the_measure_give_numbers(strangers, clinic):
    _, neighbours, first_column, lonely = strangers
    release = neighbours.Neighbours(5).sanitize(clinic, rng=1)
    assert lonely.lonely_share(release) == 0
    assert lonely.lonely_share(Identity().sanitize(clinic, rng=1)) > 0.5
    assert facts("lonely_share").title == "Lonely rows"
    assert facts("lonely_share").written(0.25) == "25% of rows"
    assert "lonely_share" in {each.name for each in stated("privacy")}
    published, _ = release.publish()
    attack = first_column.FirstColumn("diagnosis", "age").fit(published)
    assert set(attack.predict(clinic.table)) <= set(clinic.table["diagnosis"])
    noisy, _ = LaplaceNoise(1.0).sanitize(clinic, rng=1).publish()
    with pytest.raises(Unreadable, match="FirstColumn reads columns that are exact, generalized, suppressed"):
        attack.fit(noisy)


def test_evaluate_asks_them_in_other_processes_and_a_chart_shows_them(strangers, clinic, tmp_path):
    _, neighbours, first_column, lonely = strangers
    attack, sanitizers = first_column.FirstColumn("diagnosis", "age"), [neighbours.Neighbours(5), LaplaceNoise(1.0)]
    asked = {"attacks": [attack], "measures": [lonely.lonely_share]}
    found = evaluate(clinic, sanitizers, **asked, store=str(tmp_path))
    pd.testing.assert_frame_equal(evaluate(clinic, sanitizers, **asked), found, check_dtype=False)
    numbers = found.set_index(["sanitizer", "measure"])
    assert numbers.value["Neighbours", "lonely_share"] == 0
    assert 0 < numbers.value["Neighbours", "guessed_right"] < 1
    assert numbers.status["LaplaceNoise", "guessed_right"] == "refused", "it reads no noise"
    chart = str(charts.bars(found, "lonely_share").to_dict())
    assert "lonely rows (share of rows)" in chart
    assert "Neighbours, k = 5" in chart
