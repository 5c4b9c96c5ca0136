"""What draws are derived from is frozen: no class or parameter that gets another name moves a published number."""

import re

import pins
import pytest

from privnb import privacy_models as models, sanitizers as family
from privnb.evaluation.predictions import derive_seed

SEEDS = pins.seeds()


@pytest.mark.parametrize("text", SEEDS)
def test_a_seed_stays_what_it_was(text):
    assert derive_seed(1, pins.made(text), "sanitize") == [1, SEEDS[text]]


def test_a_key_is_what_a_sanitizer_was_once_written_as():
    by_gain = family.Mondrian(models.KAnonymity(2), split_attribute="gain", split_point="best", workload="ward")
    once = "Mondrian(KAnonymity(k=2), choose='gain', median='best', workload='ward')"
    assert by_gain.key == once
    assert family.Bucketize(by_gain).key == f"Bucketize(partition={once})"
    assert family.Bucketize(family.Suppress("age")).key == "Bucketize(partition=Suppress(what='age'))"


def test_what_concerns_all_sanitizers_has_a_seed_of_its_own():
    assert derive_seed(1, None, "scenario C") == [1, 3962989760]


def test_every_kind_is_frozen():
    assert {text.partition("(")[0] for text in SEEDS} == pins.own().keys(), "run `make pins`"


def test_every_model_is_frozen():
    named = {name for text in SEEDS for name in re.findall(r"[A-Z]\w+", text)}
    missing = {name for name in models.__all__ if name[0].isupper()} - named
    assert missing == {"PrivacyModel", "KMap", "DeltaPresence"}, "the populations of two have no short text"
