"""Downcoding of clustered people: a worked example, the closed form, and the probabilities of the guesses."""

from math import sqrt

import numpy as np
import pandas as pd
import pytest

from privnb.attacks.inference.downcoding import ClusteredPeople, downcode_rows
from privnb.datasets.dataset import Dataset, load
from privnb.sanitizers import Identity, Mondrian

THREE = ClusteredPeople(2, 3, 3, 1 / 3)


def written(*records):
    """Two clusters of three people: "u" for a usual value and "r" for a rare one."""
    words = {"u": "usual", "r": "rare"}
    cells = [[f"cluster {1 + place // 3} {words[letter]}" for letter in record] for place, record in enumerate(records)]
    drawn = THREE.draw(1)
    return Dataset("clusters", pd.DataFrame(cells, columns=THREE.names), drawn.schema, drawn.hierarchies)


def recovered(dataset, sanitizer, minimal=True, people=THREE):
    published, key = sanitizer.sanitize(dataset, rng=1).publish()
    guess = downcode_rows(published, people, minimal=minimal)
    original, index = dataset.cells[people.names].iloc[key].astype(str), np.asarray(key) // people.size
    return [
        sorted(map(tuple, guess.records[index == cluster].to_numpy()))
        == sorted(map(tuple, original[index == cluster].to_numpy()))
        for cluster in range(people.clusters)
    ], [guess.probability[index == cluster].max() for cluster in range(people.clusters)]


def test_one_person_who_differs_is_recovered_and_two_are_not():
    """The labels of the first class are minimal: the two widened attributes are the rare values of one person. In the
    second class, two people have one rare value each, and the guess is one person with both."""
    dataset = written("uuu", "rur", "uuu", "ruu", "uur", "uuu")
    assert recovered(dataset, Mondrian(k=3))[0] == [True, False]
    assert recovered(dataset, Mondrian(k=3), minimal=False)[0] == [False, False]
    assert recovered(dataset, Identity())[0] == [True, True]


def test_the_probability_of_a_guess_follows_from_bayes():
    """Three people, three attributes, q = 1/3, and two widened attributes: one person has 3 (1/3) (2/3)^2 / 8 = 1/18.
    Two people have 3 (1/3)^2 (2/3) (3/4)^2 / 4 = 1/32, and three have (1/3)^3 (7/8)^2 / 8 = 49/13824."""
    chance = recovered(written("uuu", "rur", "uuu", "uuu", "uuu", "uuu"), Mondrian(k=3))[1]
    assert chance == pytest.approx([(1 / 18) / (1 / 18 + 1 / 32 + 49 / 13824), 1])


def test_guesses_are_right_as_often_as_their_probability_says():
    """600 clusters: three standard errors of a share."""
    people = ClusteredPeople(600, 4, 5, 0.25)
    right, chance = recovered(people.draw(1), Mondrian(k=4), people=people)
    assert np.mean(right) == pytest.approx(np.mean(chance), abs=3 * sqrt(0.25 / 600))


def test_the_closed_form_is_the_union_of_rare_values():
    """The first of ten people differs, by 20,000 draws of the others: three standard errors."""
    people, rng = ClusteredPeople(1, 10, 6, 0.1), np.random.default_rng(1)
    rare = rng.random((20_000, 10, 6)) < 0.5
    rare[:, 1:] &= (rng.random((20_000, 9)) < 0.1)[:, :, None]
    share = (rare.any(axis=1) == rare[:, 0]).all(axis=1).mean()
    assert people.expect_recovery() == pytest.approx(share, abs=3 * sqrt(0.25 / 20_000))
    assert ClusteredPeople(1, 10, 500, 0.1).expect_recovery() == pytest.approx(0.9**9)


def test_other_releases_cannot_be_attacked():
    adult, _ = Identity().sanitize(load("adult", records=20), rng=1).publish()
    with pytest.raises(ValueError, match="must have the attributes of `people`; it lacks 'attribute 1'"):
        downcode_rows(adult, THREE, minimal=True)
    more, _ = Identity().sanitize(ClusteredPeople(3, 3, 3, 0.5).draw(1), rng=1).publish()
    with pytest.raises(ValueError, match="must have labels of `people`; got 'cluster 3"):
        downcode_rows(more, THREE, minimal=True)
