"""The contracts that a stranger runs: the package's own methods keep them, and a broken method fails."""

import inspect
import pkgutil
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from privnb import measures, testing
from privnb.attacks import MinerInference
from privnb.datasets.dataset import load_schema
from privnb.privacy_models import KAnonymity, TCloseness
from privnb.sanitizers import Identity
from privnb.sanitizers.base import MODEL_BY_LETTER

FOUND = [
    function
    for module in pkgutil.walk_packages(measures.__path__, "privnb.measures.")
    for _, function in inspect.getmembers(import_module(module.name), inspect.isfunction)
    if hasattr(function, "facts")
]
BOUNDS = {"k": {"k": 3}, "l": {"l": 2}, "t": {"t": 0.3}, "delta": {"delta": 1.0}}


@pytest.mark.parametrize("function", FOUND, ids=lambda function: function.__name__)
def test_every_measure_keeps_them(function):
    testing.check_measure(function)


@pytest.mark.parametrize("letter", MODEL_BY_LETTER)
def test_models_keep_them(letter):
    about = {} if letter == "k" else {"sensitive": "disease"}
    testing.check_model(MODEL_BY_LETTER[letter](**BOUNDS[letter], **about))


def broken(kind, changed):
    """A class like `kind`, but for what is changed; no list of methods has it."""
    return type(f"_{kind.__name__}", (kind,), changed)


def by_place(self, dataset, table, rng):
    table["age"] = ["*" if place < len(table) // 2 else age for place, age in enumerate(table["age"])]
    return table, {}


def drawn(self, dataset, table, rng):
    np.random.default_rng(rng).random()
    return table, {}


@pytest.mark.parametrize(
    ("changed", "check"),
    [
        ({"randomized": True, "draws": False}, "check_seed"),
        ({"_sanitize": drawn}, "check_simulation"),
        ({"_sanitize": by_place, "order_invariant": True, "equal_records_alike": False}, "check_record_order"),
        ({"_sanitize": by_place, "order_invariant": False}, "check_equal_records"),
        ({"__repr__": lambda self: "Suppress()"}, "check_parameters"),
    ],
)
def test_a_broken_sanitizer_fails_its_contract(changed, check):
    with pytest.raises(AssertionError) as error:
        testing.check_sanitizer(broken(Identity, changed)())
    assert error.value.__notes__[0].startswith(f"in {check} of ")


@pytest.mark.parametrize(
    ("changed", "check"),
    [
        ({"predict": lambda self, known: np.zeros(len(known))}, "check_needs_a_release"),
        ({"fit": lambda self, published, truth=None: self}, "check_arguments"),
        ({"predict": lambda self, known: self.published and self.baseline(known)}, "check_success"),
        ({"supported_treatments": ("exact",), "check": lambda *_: None}, "check_treatments"),
    ],
)
def test_a_broken_attack_fails_its_contract(changed, check):
    with pytest.raises(AssertionError) as error:
        testing.check_attack(broken(MinerInference, changed).examples(load_schema("adult"))[0])
    assert error.value.__notes__[0].startswith(f"in {check} of ")


@pytest.mark.parametrize(
    ("changed", "check"),
    [
        ({"level": lambda self, counts, whole: counts.sum()}, "check_level"),
        ({"level": lambda self, counts, whole: np.full(len(counts), np.nan)}, "check_level"),
        ({"holds": lambda self, counts, whole: counts[:, 0] > 5}, "check_bound"),
        ({"better": "lower"}, "check_merging"),
    ],
)
def test_a_broken_model_fails_its_contract(changed, check):
    with pytest.raises(AssertionError) as error:
        testing.check_model(broken(KAnonymity, changed)(4))
    assert error.value.__notes__[0].startswith(f"in {check} of ")


@pytest.mark.parametrize("bound", [0.1, 0.3, 0.9])
def test_a_model_that_two_classes_lose_together_fails_at_any_bound(bound):
    """The margin of the most common value: 2, 2, 0 and 2, 0, 2 have none, and both together one of 0.25."""

    def margin(self, counts, whole):
        least, most = np.sort(counts, axis=1)[:, -2:].T
        return (most - least) / counts.sum(axis=1)

    with pytest.raises(AssertionError, match="two classes with the levels"):
        testing.check_model(broken(TCloseness, {"level": margin})(bound, "disease"))


def test_a_class_is_no_model():
    with pytest.raises(TypeError, match=r"Give one such as KAnonymity\(10\)"):
        testing.check_model(KAnonymity)


def test_a_measure_without_a_source_fails(monkeypatch):
    of = FOUND[0]
    monkeypatch.setattr("privnb.testing.measures.measure_facts", lambda name: replace(of.facts, source=""))
    with pytest.raises(AssertionError, match="the fact `source` is missing"):
        testing.check_measure(of)
