"""Guarding nodes: the breach of one's own wish, and values generalized until nobody's is too likely."""

import numpy as np
import pytest
from support.clinic import CLINIC

from privnb.datasets.dataset import load
from privnb.measures.disclosure.personal import breach_probabilities, guarded_share
from privnb.microdata.hierarchy import Taxonomy
from privnb.microdata.schema import SchemaError
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import Mondrian, SanitizationError
from privnb.sanitizers.generalization.sensitive_generalization import generalize_sensitive_values

TREE = Taxonomy(
    "illness",
    tuple(
        (leaf, node, "*")
        for node, leaves in {
            "respiratory": ("flu", "pneumonia", "bronchitis"),
            "digestive": ("ulcer", "dyspepsia", "gastritis"),
        }.items()
        for leaf in leaves
    ),
)
LABELS = ["flu", "respiratory", "ulcer", "*"]


def test_breach_probability():
    """Catalogue 19-02: .625 with four candidates."""
    assert [guarded_share(TREE, label, "respiratory") for label in LABELS] == [1, 1, 0, 0.5]
    assert breach_probabilities(TREE, np.zeros(4, dtype=int), LABELS, ["respiratory"] * 4).tolist() == [0.625] * 4


def test_each_person_of_a_release():
    classes, guards = np.array([0, 0, 0, 0, 1, 1]), ["respiratory", "", "digestive", "flu", "*", "ulcer"]
    found = breach_probabilities(TREE, classes, [*LABELS, "flu", "ulcer"], guards)
    expected = [
        np.mean([guarded_share(TREE, label, guard) for label in LABELS]) if guard else 0 for guard in guards[:4]
    ]
    assert found == pytest.approx([*expected, 1, 0.5])


@pytest.fixture(scope="module")
def clinic():
    dataset = load(CLINIC)
    values = dataset.schema["diagnosis"].domain.values
    tree = Taxonomy("diagnosis", tuple((value, f"kind {i // 2}", "*") for i, value in enumerate(values)))
    return dataset, Mondrian(KAnonymity(4)).sanitize(dataset, rng=1), tree


@pytest.mark.parametrize("most", [0.2, 0.34, 0.5])
def test_nobody_is_breached_more_than_that(clinic, most):
    """Computed again by definition, from the labels of each class alone."""
    dataset, release, tree = clinic
    guards = np.where(np.arange(len(dataset)) % 3 == 0, dataset.table["diagnosis"], "")
    made = generalize_sensitive_values(release, tree, guards, most=most)
    for i in np.flatnonzero(guards != ""):
        labels = made.table["diagnosis"][release.classes == release.classes[i]].tolist()
        probability = sum(guarded_share(tree, label, guards[i]) for label in labels) / len(labels)
        assert probability <= most + 1e-9
        assert made.breaches[i] == pytest.approx(probability)
    for label, value in zip(made.table["diagnosis"], dataset.table["diagnosis"], strict=True):
        assert set(tree.covered(value)) <= set(tree.covered(label))
    free = generalize_sensitive_values(release, tree, np.full(len(dataset), ""), most=most)
    assert free.loss == 0
    assert (free.table == release.table).all(axis=None)
    assert (0 if most == 0.5 else 0.001) <= made.loss < 1


@pytest.mark.parametrize(
    ("do", "says"),
    [
        (
            lambda d, r, t: guarded_share(TREE, "flu", "heart"),
            "no guarding node 'heart'.*respiratory, .*digestive|digestive",
        ),
        (lambda d, r, t: guarded_share(TREE, "cough", "flu"), "no published label 'cough'"),
        (lambda d, r, t: generalize_sensitive_values(r, t, np.full(len(d), "*"), most=0.5), "cannot limit the breach"),
        (lambda d, r, t: generalize_sensitive_values(r, t, np.full(len(d), "heart"), most=0.5), "no guarding node"),
        (
            lambda d, r, t: generalize_sensitive_values(r, TREE, np.full(len(d), ""), most=0.5),
            "not a sensitive attribute",
        ),
        (lambda d, r, t: generalize_sensitive_values(r, t, [""], most=0.5), "guards must be"),
    ],
)
def test_what_cannot_be(clinic, do, says):
    with pytest.raises((SchemaError, SanitizationError, ValueError), match=says):
        do(*clinic)
