"""Rows of known records found by distances alone."""

import numpy as np
import pytest
from scipy.stats import ortho_group

from privnb.attacks import DistanceInference
from privnb.attacks.inference import distance_inference
from privnb.attacks.inference.distance_inference import find_images

RECORDS = np.random.default_rng(1).normal(size=(400, 3))
TURN = ortho_group.rvs(3, random_state=2)
MIXED = np.random.default_rng(3).permutation(400)


@pytest.mark.parametrize("shift", [0.0, 0.7])
@pytest.mark.parametrize("people", [4, 6])
def test_rotated_and_shifted_rows_are_found_by_their_distances(shift, people):
    seen = (RECORDS @ TURN + shift)[MIXED]
    assert MIXED[find_images(RECORDS[:people], seen, 1e-7)].tolist() == list(range(people))


def test_noise_hides_them_unless_distances_may_differ():
    seen = (RECORDS @ TURN + np.random.default_rng(4).normal(0, 0.01, RECORDS.shape))[MIXED]
    assert find_images(RECORDS[:5], seen, 1e-6) is None
    found = MIXED[find_images(RECORDS[:5], seen, 0.04)]
    off = np.linalg.norm(RECORDS[found][:, None] - RECORDS[found], axis=2)
    true = np.linalg.norm(RECORDS[:5][:, None] - RECORDS[:5], axis=2)
    assert np.abs(off - true).max() < 0.1, "perhaps others, which lie apart alike"


def test_records_that_are_not_in_it_are_not_found():
    others = np.random.default_rng(5).normal(size=(4, 3))
    assert find_images(others, RECORDS @ TURN, 1e-7) is None


def test_records_that_are_alike_have_one_image():
    known = RECORDS[[0, 1, 1, 2, 3]]
    found = MIXED[find_images(known, (RECORDS @ TURN)[MIXED], 1e-7)]
    assert found.tolist() == [0, 1, 1, 2, 3]


def test_a_search_ends(monkeypatch):
    """On a lattice each pair lies apart as many others do."""
    monkeypatch.setattr(distance_inference, "NODES", 50)
    lattice = np.stack(np.meshgrid(*[np.arange(8.0)] * 3), axis=-1).reshape(-1, 3)
    known = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0.5]])
    assert find_images(known, lattice + 0.25, 1e-9) is None


@pytest.mark.parametrize(
    ("given", "found"), [({"people": 1}, "people must be a whole"), ({"within": 0}, "within must")]
)
def test_one_record_has_no_distance(given, found):
    with pytest.raises(ValueError, match=found):
        DistanceInference(**given)
