"""Attacks by people whom the adversary knows, on releases: who is recovered, how likely, and what is refused."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ortho_group

from privnb.attacks import (
    DistanceInference,
    EigenAnalysis,
    KnownProjection,
    KnownRegression,
    KnownRotation,
    NaiveEstimate,
)
from privnb.attacks.recovery.recovery_knowledge import Distributions, Pairs, Records, Sample
from privnb.datasets.dataset import Dataset
from privnb.evaluation import evaluate
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Numbers, Role, Schema, SchemaError
from privnb.microdata.treatment import Unreadable
from privnb.sanitizers import Sanitizer

NAMES = ("age", "height", "pulse", "income")
SCHEMA = Schema(
    "people",
    tuple(
        Attribute(name, Role.QUASI_IDENTIFIER, Numbers(low, high, 0.01))
        for name, (low, high) in zip(NAMES, ((0, 100), (100, 220), (30, 190), (0, 20_000)), strict=True)
    ),
)
WIDTHS = np.array([SCHEMA[name].domain.width for name in NAMES])
MIDDLES = np.array([(SCHEMA[name].domain.low + SCHEMA[name].domain.high) / 2 for name in NAMES])


def people(n):
    draw = np.random.default_rng(3)
    low = draw.gamma([2.0, 3, 4, 1.5], size=(n, 4)) * [0.06, 0.04, 0.02, 0.1]
    table = pd.DataFrame(
        dict(zip(NAMES, (np.minimum(low, 0.99) * WIDTHS + MIDDLES - WIDTHS / 2).round(2).T, strict=True))
    )
    return Dataset("people", table, SCHEMA, {name: flat(SCHEMA[name]) for name in NAMES})


DATA = people(300)


@dataclass(frozen=True)
class _Turn(Sanitizer):
    """A rotation of places, or another matrix; in place or not."""

    columns: int = 4
    shift: float = 0.0
    noise: float = 0.0
    in_place: bool = False
    randomized = True

    def _sanitize(self, dataset, table, rng):
        draw = np.random.default_rng(rng)
        matrix = ortho_group.rvs(4, random_state=draw)[:, : self.columns] * (4 / self.columns) ** 0.5
        places = (table[list(NAMES)].to_numpy(dtype=float) - MIDDLES) / WIDTHS
        moved = places @ matrix + self.shift + draw.normal(0, self.noise or 1e-300, (len(table), self.columns))
        if self.in_place:
            moved = np.clip(moved, -0.5, 0.5) if self.shift else moved
            return pd.DataFrame(moved * WIDTHS + MIDDLES, columns=NAMES), {"perturbed": NAMES}
        new = [
            Attribute(f"turned {place}", Role.QUASI_IDENTIFIER, Numbers(-9, 9, 0.001)) for place in range(self.columns)
        ]
        own = {attribute.name: column for attribute, column in zip(new, moved.T, strict=True)}
        return table.assign(**dict.fromkeys(NAMES, "*"), **own), {"new": tuple(new)}


def released(sanitizer, attack, rng=1):
    """The attack as fitted, its rows and the truth, without those who are known."""
    published, key = sanitizer.sanitize(DATA, rng=rng)._published(2)
    if attack.knows is not None:
        some = DATA.table.iloc[key[: attack.people]], published.table.iloc[: attack.people]
        attack = attack.given(attack.knows.of(*some, 4))
    fitted, rows = attack.fit(published), published.table.iloc[attack.people :]
    return fitted, rows, fitted.truth(DATA)[key[attack.people :]]


def off(sanitizer, attack, rng=1):
    fitted, rows, truth = released(sanitizer, attack, rng)
    return np.sqrt(np.mean(((fitted.predict(rows) - truth) / truth.std(axis=0)) ** 2))


@pytest.mark.slow
@pytest.mark.parametrize("in_place", [False, True])
def test_four_known_people_give_four_turned_numbers_away(in_place):
    turn = _Turn(in_place=in_place)
    assert off(turn, KnownRotation(4)) == pytest.approx(0, abs=1e-6)
    assert off(turn, KnownRegression(4)) == pytest.approx(0, abs=1e-5)
    assert off(turn, KnownProjection(4)) == pytest.approx(0, abs=1e-5)
    fewer = [[off(turn, KnownRotation(p), rng) for rng in range(8)] for p in (1, 2, 3)]
    assert min(fewer[0] + fewer[1]) > 1e-3
    assert min(fewer[2]) < 1e-6 < 1 < max(fewer[2]), "three leave the rotation and a mirror image"


def test_a_shift_costs_the_adversary_one_person_more():
    turn = _Turn(shift=0.7)
    assert off(turn, KnownRotation(5)) == pytest.approx(0, abs=1e-6)
    assert off(turn, KnownRegression(5)) == pytest.approx(0, abs=1e-5)
    assert off(turn, KnownRotation(3)) > 0.1


def test_noise_stays_and_few_people_do_not_tell_a_regression_from_it():
    noisy = _Turn(shift=0.7, noise=0.01)
    assert off(noisy, KnownRotation(100)) < off(noisy, KnownRegression(6))
    assert off(noisy, KnownRegression(100)) < 0.5


def test_of_a_projection_two_known_people_say_little_and_four_all_that_it_holds():
    projected = _Turn(columns=2)
    with pytest.raises(Unreadable, match="undoes a rotation, but this release has the perturbed columns turned 0"):
        released(projected, KnownRotation(4))
    assert off(projected, KnownProjection(4)) < off(projected, KnownProjection(1))
    fitted, rows, truth = released(projected, KnownRegression(10))
    seen = (truth - MIDDLES) / WIDTHS
    guess = (fitted.predict(rows) - MIDDLES) / WIDTHS
    matrix = np.linalg.lstsq(seen, rows[["turned 0", "turned 1"]].to_numpy(dtype=float))[0]
    np.testing.assert_allclose(guess @ matrix, seen @ matrix, atol=1e-6)
    assert fitted.literal(rows) is None


def test_a_sample_gives_the_rotation_away_better_than_nothing_does():
    turn = _Turn()
    assert off(turn, EigenAnalysis(150)) < 0.6
    assert off(turn, NaiveEstimate()) > 1


def test_whoever_knows_records_alone_finds_their_rows_where_distances_stay():
    assert off(_Turn(), DistanceInference(4)) == pytest.approx(0, abs=1e-5)
    assert off(_Turn(shift=0.7), DistanceInference(5)) == pytest.approx(0, abs=1e-5)
    fitted, rows, _ = released(_Turn(noise=0.05), DistanceInference(5))
    np.testing.assert_allclose(fitted.predict(rows), fitted.baseline(rows), atol=1e-6)


def test_the_same_seed_gives_the_same_guess():
    fitted, rows, _ = released(_Turn(), KnownRotation(2))
    np.testing.assert_allclose(fitted.predict(rows, rng=5), fitted.predict(rows, rng=5))
    assert np.abs(fitted.predict(rows, rng=5) - fitted.predict(rows, rng=6)).max() > 1


def test_evaluate_asks_them_and_says_what_the_adversary_knows():
    results = evaluate(
        DATA, [_Turn(), _Turn(columns=2)], attacks=[NaiveEstimate(), KnownRotation(4), KnownRegression(3)]
    )
    found = results[(results.measure == "recovery_error") & (results.target == "") & (results.group == "")]
    by = found.set_index(["parameters", "miner", "control"])
    assert by.value["", "rotation by known pairs", ""] == pytest.approx(0, abs=1e-6)
    assert by.value["", "rotation by known pairs", "permuted"] > 1
    assert by.knows["", "rotation by known pairs", ""] == "records and rows of 4 people"
    assert by.value["", "naive estimate", ""] > by.baseline["", "naive estimate", ""] == pytest.approx(1)
    reasons = by.reason.to_dict()
    assert (
        "a regression on 4 numbers needs at least 4 people; got 3. Raise `people`."
        in (reasons["", "regression on known pairs", ""])
    )
    assert "undoes a rotation" in reasons["columns=2", "rotation by known pairs", ""]


@pytest.mark.parametrize(
    ("kind", "people"), [(KnownRotation, 0), (KnownRegression, 0), (KnownProjection, 1.5), (EigenAnalysis, 1)]
)
def test_a_number_of_people_is_whole_and_large_enough(kind, people):
    with pytest.raises(ValueError, match="people must be a whole number of at least"):
        kind(people)


def test_what_is_known_must_have_the_columns_and_their_numbers():
    published, key = _Turn().sanitize(DATA, rng=1)._published(2)
    originals, rows = DATA.table.iloc[key[:4]], published.table.iloc[:4]
    with pytest.raises(SchemaError, match="reads age of known people; got a table with only height, pulse, income"):
        KnownRotation().given(Pairs(originals.drop(columns="age"), rows)).fit(published)
    with pytest.raises(Unreadable, match="4 of 4 cells of 'age' in the table of known people are not numbers"):
        KnownRotation().given(Pairs(originals.assign(age="*"), rows)).fit(published)
    with pytest.raises(ValueError, match="got 4 records and 3 rows"):
        Pairs(originals, rows[:3])
    with pytest.raises(TypeError, match="originals must be a DataFrame"):
        Sample([1, 2])


def test_what_an_adversary_is_told_holds_no_more_than_its_type_says():
    published, key = _Turn().sanitize(DATA, rng=1)._published(2)
    some = DATA.table.iloc[key[:50]], published.table.iloc[:50]
    for kind in (Records, Sample):
        told = kind.of(*some, 1).originals
        assert sorted(told.age) == sorted(some[0].age)
        assert told.age.tolist() != some[0].age.tolist(), "in another order than the rows"
    apart = Distributions.of(*some, 1).originals
    assert all(apart[name].is_monotonic_increasing for name in NAMES)
    assert not hasattr(Sample.of(*some, 1), "released")
