"""Learners of reconstructed columns: what they reach with and without reconstruction, and what they refuse."""

import numpy as np
import pandas as pd
import pytest

from privnb.datasets.dataset import Dataset
from privnb.measures.noise.reconstructed_mining import LEARNERS, WAYS, predicted
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.microdata.treatment import Unreadable
from privnb.sanitizers import (
    AdditiveNoise,
    Bucketize,
    DataSwapping,
    Identity,
    KMember,
    Mask,
    RetentionReplacement,
    Sampling,
    Suppress,
)

SCHEMA = Schema(
    "people",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(("a", "b", "c"))),
        Attribute("group", Role.SENSITIVE, Categories(("x", "y"))),
        Attribute("income", Role.NEUTRAL, Numbers(0, 99)),
    ),
)


def people(rows=6000, seed=0):
    """Agrawal and Srikant's first function: group x below 40 and from 60 on; town hints at it."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, rows)
    first = (age < 40) | (age >= 60)
    town = np.where(rng.random(rows) < 0.6, np.where(first, "a", "b"), rng.choice(["a", "b", "c"], rows))
    table = {"age": age, "town": town, "group": np.where(first, "x", "y"), "income": rng.integers(0, 100, rows)}
    return Dataset("people", pd.DataFrame(table), SCHEMA, {name: flat(SCHEMA[name]) for name in ("age", "town")})


DATA = people()


@pytest.mark.parametrize("learner", LEARNERS)
def test_without_noise_every_way_is_the_same(learner):
    release = Identity().sanitize(DATA, rng=1)
    found = {predicted(DATA, release, "group", learner=learner, way=way) for way in WAYS}
    assert len(found) == 1
    assert found.pop() > 0.97


@pytest.mark.parametrize("sanitizer", [AdditiveNoise(0.2, "uniform"), RetentionReplacement(0.3)], ids=repr)
def test_reconstruction_by_class_gives_a_tree_back_what_noise_took(sanitizer):
    """Agrawal and Srikant 2000, section 5: by class is near the original where the noisy cells mislead."""
    release = sanitizer.sanitize(DATA, rng=1)
    found = {way: predicted(DATA, release, "group", way=way) for way in WAYS}
    assert found["by class"] > found["as it is"] + 0.01
    assert found["by class"] > found["global"]
    assert found["by class"] > 0.9


def test_naive_bayes_reads_the_reconstructed_distributions():
    release = AdditiveNoise(0.2, "uniform").sanitize(DATA, rng=1)
    found = {way: predicted(DATA, release, "group", learner="naive Bayes", way=way) for way in WAYS}
    assert found["by class"] > found["as it is"] + 0.01
    assert found["by class"] > 0.9


def test_what_tells_nothing_is_left_out_and_the_commonest_class_is_guessed():
    for release in (Suppress().sanitize(DATA, rng=1), Mask(1.0).sanitize(DATA, rng=1)):
        for learner in LEARNERS:
            assert predicted(DATA, release, "group", learner=learner) <= 1
    commonest = DATA.table["group"].value_counts(normalize=True).max()
    assert predicted(DATA, Suppress().sanitize(DATA, rng=1), "group", learner="naive Bayes") == pytest.approx(
        commonest, abs=0.01
    )


def test_a_sample_and_swapped_records_are_learned_from():
    for sanitizer in (Sampling(0.3), DataSwapping(0.3)):
        assert predicted(DATA, sanitizer.sanitize(DATA, rng=1), "group") > 0.9


def test_it_is_the_same_twice():
    release = RetentionReplacement(0.5).sanitize(DATA, rng=1)
    assert len({predicted(DATA, release, "group", seed=2) for _ in range(2)}) == 1


@pytest.mark.parametrize(
    ("sanitizer", "target", "message"),
    [
        (KMember(5), "group", "'age' is generalized"),
        (AdditiveNoise(), "income", "'income' is numeric"),
        (Suppress("group"), "group", "'group' is suppressed"),
        (Bucketize(KMember(5)), "group", "'group' is bucketized"),
    ],
    ids=str,
)
def test_what_it_does_not_read_is_said(sanitizer, target, message):
    data = people(200)
    with pytest.raises(Unreadable, match=message):
        predicted(data, sanitizer.sanitize(data, rng=1), target)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"way": "local"}, "way must be"), ({"learner": "forest"}, "learner must be"), ({"folds": 1}, "folds"),
        ({"folds": 10_000}, "folds must be at most the 200 records"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(more, message):
    data = people(200)
    with pytest.raises(ValueError, match=message):
        predicted(data, Identity().sanitize(data, rng=1), "group", **more)
