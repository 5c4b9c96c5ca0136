"""Refinement of recoding in runs: guesses improve, other people are excluded, and small numbers are withheld."""

import numpy as np
import pandas as pd
import pytest
from support import person_key

from privnb.datasets.dataset import Dataset
from privnb.evaluation.experiments.recoding_attack import attack_recoding_runs
from privnb.evaluation.results import KEY_COLUMNS
from privnb.microdata.hierarchy import Ranges, Taxonomy
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema

LEAVES = "abcdefgh"


def people(n=800, numbers=False):
    """Three attributes of eight values, of which a few are common; the tree halves the values twice."""
    rng = np.random.default_rng(1)
    tree = [(leaf, LEAVES[place // 2 * 2 : place // 2 * 2 + 2], "*") for place, leaf in enumerate(LEAVES)]
    names = ["x", "y", "z"]
    attributes = [Attribute(name, Role.QUASI_IDENTIFIER, Categories(tuple(LEAVES))) for name in names]
    trees = {name: Taxonomy(name, tuple(tree)) for name in names}
    shares = 2.0 ** -np.arange(8) / sum(2.0 ** -np.arange(8))
    table = pd.DataFrame({name: rng.choice(list(LEAVES), n, p=shares) for name in names})
    if numbers:
        attributes.append(Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 9)))
        table["age"], trees["age"] = rng.integers(0, 10, n), Ranges(Numbers(0, 9))
    return Dataset("people", table, Schema("people", tuple(attributes)), trees)


@pytest.fixture(scope="module")
def results():
    return pd.concat([attack_recoding_runs(people(), 5, runs=runs, min_count=2) for runs in (1, 3)])


def test_coarse_rows_are_narrowed_and_most_other_people_are_excluded(results):
    guess = results[results.measure == "combination_guess"]
    assert len(guess) == 2
    assert (guess.value > 1.1 * guess.baseline).all()
    excluded = results[results.measure == "population_excluded"].value
    assert (excluded > 0.3).all()
    assert excluded.iloc[0] > 0.7, "suppressed people are in no published class, and most people are"


def test_rows_have_intervals_and_different_keys(results):
    assert not results.duplicated(KEY_COLUMNS).any()
    shown = results[results.status == ""]
    assert ((shown.low <= shown.value) & (shown.value <= shown.high)).all()
    assert set(results.measure) == {"combination_guess", "population_excluded", "combinations_certain"}


def test_few_coarse_rows_are_withheld():
    found = attack_recoding_runs(people(), 5, min_count=400)
    assert found.status.tolist() == ["withheld"]


def test_what_cannot_be_attacked_states_the_reason():
    found = attack_recoding_runs(people(numbers=True), 5)
    assert found.status.tolist() == ["refused"]
    assert "'age' has no public levels" in found.reason.iloc[0]
    with pytest.raises(ValueError, match="must have one record per person"):
        attack_recoding_runs(person_key.dataset(person_key.table(20)))
