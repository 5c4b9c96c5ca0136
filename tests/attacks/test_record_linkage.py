"""Linkage by scores: nearest, likeliest, by agreements, one to one; by hand, by brute force, by worked examples."""

from dataclasses import dataclass
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from privnb.attacks import DistanceLinkage, LikelihoodLinkage, Linkage, OneToOne, ProbabilisticLinkage
from privnb.attacks.linkage.one_to_one import MAX_MATCHED
from privnb.attacks.linkage.probabilistic_linkage import em
from privnb.datasets.dataset import Dataset
from privnb.evaluation import evaluate
from privnb.measures.disclosure.linkage import reidentification_rate, true_row_place
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.microdata.treatment import Unreadable
from privnb.sanitizers import Identity, LaplaceNoise, Mondrian, RandomizedResponse, Sanitizer, Suppress
from privnb.sanitizers.noise.laws import Gaussian

SCHEMA = Schema(
    "people",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
        Attribute("height", Role.QUASI_IDENTIFIER, Numbers(100, 220)),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(("a", "b", "c"))),
        Attribute("illness", Role.SENSITIVE, Categories(("flu", "gout"))),
    ),
)


def people(n=60, seed=3):
    rng = np.random.default_rng(seed)
    table = {
        "age": rng.integers(18, 40, n), "height": rng.integers(150, 190, n),
        "town": rng.choice(list("abc"), n), "illness": rng.choice(["flu", "gout"], n),
    }  # fmt: skip
    return Dataset(
        "people", pd.DataFrame(table), SCHEMA, {name: flat(SCHEMA[name]) for name in SCHEMA.quasi_identifiers}
    )


@dataclass(frozen=True)
class _Shifted(Sanitizer):
    """Numbers moved by a few whole steps, so that distances tie."""

    def _sanitize(self, dataset, table, rng):
        drawn = np.random.default_rng(rng).integers(-3, 4, (2, len(table)))
        return table.assign(age=table["age"] + drawn[0], height=table["height"] + drawn[1]), {
            "perturbed": ("age", "height")
        }


def fitted(attack, sanitizer, data=None):
    data = data or people()
    published, key = sanitizer.sanitize(data, rng=1)._published(4)
    return attack.fit(published), data, key, published.table


def by_hand(known, table):
    """Squared distances of each person to each row: float array (m, rows)."""
    found = np.zeros((len(known), len(table)))
    for name in ("age", "height"):
        released = table[name].to_numpy(dtype=float)
        found += ((known[name].to_numpy()[:, None] - released) / released.std()) ** 2
    return found + (known["town"].to_numpy()[:, None] != table["town"].to_numpy())


def test_the_nearest_row_its_chance_and_its_place():
    attack, data, key, table = fitted(DistanceLinkage(), _Shifted())
    far, own = by_hand(data.table, table), np.argsort(key)
    nearest = far <= far.min(axis=1, keepdims=True) + 1e-9
    each = np.arange(len(data))
    np.testing.assert_allclose(attack.chance(data.table, own), nearest[each, own] / nearest.sum(axis=1))
    chosen = np.array([attack.predict(data.table, rng=seed) for seed in range(200)])
    assert nearest[each, chosen].all()
    several = np.flatnonzero(nearest.sum(axis=1) > 1)
    assert len(several), "ties are drawn among"
    assert all(len({*chosen[:, i]}) == nearest[i].sum() for i in several)
    mine = far[each, own][:, None]
    place = (far < mine - 1e-9).sum(axis=1) + ((np.abs(far - mine) <= 1e-9).sum(axis=1) + 1) / 2
    np.testing.assert_allclose(attack.ranks(data.table, own), place)
    assert true_row_place(attack, data, key)[0] == pytest.approx(place.mean())
    assert 1 < place.mean() < 3, "most are found, not all"


def test_a_column_that_is_suppressed_in_part_tells_nothing():
    attack, data, key, _ = fitted(DistanceLinkage(), Suppress("age, town"))
    same = (data.table["height"].to_numpy()[:, None] == data.table["height"].to_numpy()).sum(axis=1)
    np.testing.assert_allclose(attack.chance(data.table, np.argsort(key)), 1 / same)
    attack, data, key, _ = fitted(DistanceLinkage(), Suppress())
    assert reidentification_rate(attack, data, key)[0] == pytest.approx(1 / len(data))
    assert true_row_place(attack, data, key)[0] == pytest.approx((len(data) + 1) / 2)


def test_the_posterior_of_candidates_in_public_records():
    """Standard Gaussian noise, row (.5, -1, 1), candidates (0,0,0), (3,1,2), (1,4,1): Aggarwal and Yu 2008, section 6.5
    (the score; the digest's numbers are recomputed here from the density).
    """
    numbers = Schema("three", tuple(Attribute(n, Role.QUASI_IDENTIFIER, Numbers(-50, 50)) for n in "abc"))
    candidates = pd.DataFrame([(0, 0, 0), (3, 1, 2), (1, 4, 1)], columns=list("abc"))
    data = Dataset("three", candidates, numbers, {n: flat(numbers[n]) for n in "abc"})

    @dataclass(frozen=True)
    class _Noisy(Sanitizer):
        def _sanitize(self, dataset, table, rng):
            noisy = table.astype(float)
            noisy.iloc[:] = [(0.5, -1, 1), (40, 40, 40), (-40, -40, -40)]
            return noisy, {"noisy": {n: Gaussian(1.0, 1.0) for n in "abc"}}

    attack, data, _, table = fitted(LikelihoodLinkage(), _Noisy(), data)
    row = table["a"].tolist().index(0.5)
    posterior = np.exp(attack.scores(data.table)[:, row])
    logs = -((candidates.to_numpy() - [0.5, -1, 1]) ** 2).sum(axis=1) / 2
    np.testing.assert_allclose(logs - 1.5 * np.log(2 * np.pi), [-3.88182, -8.38182, -15.38182], atol=5e-6)
    np.testing.assert_allclose(posterior, np.exp(logs) / np.exp(logs).sum())
    np.testing.assert_allclose(posterior, [0.98900, 0.01099, 0.00001], atol=5e-6)


@pytest.mark.parametrize("sanitizer", [LaplaceNoise(20.0), RandomizedResponse(3.0)], ids=repr)
def test_who_knows_the_law_finds_more_than_at_random_and_keeps_to_exact_columns(sanitizer):
    attack, data, key, table = fitted(LikelihoodLinkage(), sanitizer)
    assert reidentification_rate(attack, data, key)[0] > 5 / len(data)
    exact = ["town"] if sanitizer == LaplaceNoise(20.0) else ["age", "height"]
    found = table[exact].to_numpy()[attack.predict(data.table)]
    assert (found == data.table[exact].to_numpy()).all()


def test_what_has_no_law_is_not_weighed():
    with pytest.raises(Unreadable, match=r"LikelihoodLinkage reads columns that are .*; this release has age, height"):
        fitted(LikelihoodLinkage(), _Shifted())


def test_agreements_weigh_what_em_finds():
    attack, data, key, table = fitted(ProbabilisticLinkage(within=0.5), _Shifted(), people(200))
    scores = attack.scores(data.table)
    own = scores[np.arange(200), np.argsort(key)]
    assert own.mean() > scores.mean() + 1, "true pairs agree more often"
    chance = reidentification_rate(attack, data, key)[0]
    assert chance > 3 / 200
    agree = [
        np.abs(data.table[name].to_numpy()[:, None] - table[name].to_numpy()) <= 0.5 * table[name].std(ddof=0)
        for name in ("age", "height")
    ]
    agree.append(data.table["town"].to_numpy()[:, None] == table["town"].to_numpy())
    patterns = sum(each.astype(int) << place for place, each in enumerate(agree))
    assert all(np.ptp(scores[patterns == pattern]) == 0 for pattern in np.unique(patterns)), "a weight for a pattern"
    assert scores[patterns == 7].max() == scores.max()


def test_labels_agree_with_the_values_that_they_cover():
    attack, data, key, table = fitted(ProbabilisticLinkage(), Mondrian(k=5), people(200))
    exact = Linkage().fit(attack.published)
    rate, *_ = reidentification_rate(attack, data, key)
    assert rate == pytest.approx(reidentification_rate(exact, data, key)[0]), "true rows agree in all columns"
    assert 1 / 200 < rate <= 1 / 5
    chosen = attack.predict(data.table)
    low, high = table["age"].str.split("-", expand=True).astype(int).ffill(axis=1).to_numpy()[chosen].T
    assert ((low <= data.table["age"]) & (data.table["age"] <= high)).all()


def test_the_weights_of_two_columns_by_hand():
    """m = 0.9 and u = 0.2 weigh ln(0.9 / 0.2) = 1.504 and ln(0.1 / 0.8) = -2.079: Fellegi and Sunter, 1969."""
    agree = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    right, wrong = np.array([0.01, 0.09, 0.09, 0.81]), np.array([0.64, 0.16, 0.16, 0.04])
    true, other = em(agree, 1000 * (0.1 * right + 0.9 * wrong), 0.1)
    np.testing.assert_allclose(np.log(true / other), 1.504, atol=1e-3)
    np.testing.assert_allclose(np.log((1 - true) / (1 - other)), -2.079, atol=1e-3)


def test_probabilistic_linkage_finds_everybody_unique_in_a_copy():
    attack, data, key, _ = fitted(ProbabilisticLinkage(within=1e-6), Identity(), people(200))
    alike = data.table.groupby(["age", "height", "town"])["age"].transform("size").to_numpy()
    np.testing.assert_allclose(attack.chance(data.table, np.argsort(key)), 1 / alike)


def test_one_to_one_is_the_best_of_all_assignments():
    attack, data, key, table = fitted(OneToOne(), _Shifted(), people(6))
    far = by_hand(data.table, table)
    best = min(permutations(range(6)), key=lambda rows: far[range(6), rows].sum())
    chosen = attack.predict(data.table)
    assert far[range(6), chosen].sum() == pytest.approx(far[range(6), best].sum())
    assert sorted(chosen) == list(range(6))
    np.testing.assert_array_equal(attack.chance(data.table, np.argsort(key)), chosen == np.argsort(key))


def test_one_to_one_finds_more_people_than_the_nearest_row_alone():
    alone, data, key, _ = fitted(DistanceLinkage(), _Shifted(), people(300))
    together, *_ = fitted(OneToOne(DistanceLinkage()), _Shifted(), people(300))
    assert reidentification_rate(together, data, key)[0] > reidentification_rate(alone, data, key)[0]


def test_too_many_people_are_not_matched_at_once():
    attack, data, *_ = fitted(OneToOne(), Identity())
    many = pd.concat([data.table] * (MAX_MATCHED // len(data) + 1))
    with pytest.raises(Unreadable, match=r"at most 5,000 people; got 5,\d+\. Attack the release of a random"):
        attack.predict(many)
    with pytest.raises(TypeError, match="by must be"):
        OneToOne("nearest")


@pytest.mark.parametrize("within", [0, -1, float("nan"), "near"])
def test_how_near_numbers_agree_is_a_positive_number(within):
    with pytest.raises(ValueError, match="within must be a positive number"):
        ProbabilisticLinkage(within=within)


def test_evaluate_gives_the_share_that_is_found_and_the_place_of_the_true_row():
    attacks = [DistanceLinkage(), OneToOne(ProbabilisticLinkage()), LikelihoodLinkage()]
    found = evaluate(people(), [_Shifted(), LaplaceNoise(5.0)], attacks=attacks)
    of = found.set_index(["sanitizer", "measure", "miner"])
    assert of.baseline["_Shifted", "reidentification_rate", "nearest row"] == pytest.approx(1 / 60)
    assert of.baseline["_Shifted", "true_row_place", "nearest row"] == 30.5
    assert ("_Shifted", "reidentification_rate", "probabilistic linkage, one to one") in of.index
    assert of.status["_Shifted", "reidentification_rate", "likeliest row"] == "refused"
    assert of.value["LaplaceNoise", "true_row_place", "likeliest row"] < 30.5
