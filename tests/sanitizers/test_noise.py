"""What noise promises of a table: budget, neighbours, steps of the domain, and what it leaves alone."""

import math

import numpy as np
import pandas as pd
import pytest

from privnb.attacks import Linkage, MinerInference
from privnb.datasets.dataset import Dataset
from privnb.measures.disclosure.linkage import reidentification_rate
from privnb.measures.utility.information_loss import change_rate
from privnb.measures.utility.mining import nearer
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.miners import reference_set
from privnb.miners.encoding import encode
from privnb.sanitizers import GeometricNoise, LaplaceNoise, RandomizedResponse, SanitizationError

SCHEMA = Schema(
    "clinic",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(20, 70, 5)),
        Attribute("dose", Role.QUASI_IDENTIFIER, Numbers(0.5, 2.5, 0.25)),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(("a", "b", "c", "d"))),
        Attribute("sex", Role.QUASI_IDENTIFIER, Categories(("f", "m"))),
        Attribute("country", Role.QUASI_IDENTIFIER, Categories(("here",))),
        Attribute("ill", Role.SENSITIVE, Categories(("yes", "no"))),
    ),
)
HIERARCHIES = {name: flat(SCHEMA[name]) for name in SCHEMA.quasi_identifiers}
NUMERIC = pytest.mark.parametrize("noise", [LaplaceNoise, GeometricNoise])
EVERY = pytest.mark.parametrize("noise", [LaplaceNoise, GeometricNoise, RandomizedResponse])


def clinic(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(4, 15, rows) * 5,
            "dose": 0.5 + 0.25 * rng.integers(0, 9, rows),
            "town": rng.choice(["a", "b", "c"], rows),  # d is in the domain, and in nobody's record
            "sex": rng.choice(["f", "m"], rows),
            "country": "here",
            "ill": rng.choice(["yes", "no"], rows),
        }
    )
    return Dataset("clinic", table, SCHEMA, HIERARCHIES)


def only(dataset, *left):
    """`dataset` with only those quasi-identifiers."""
    schema = SCHEMA.with_roles(dict.fromkeys(left, Role.QUASI_IDENTIFIER) | {"ill": Role.SENSITIVE})
    return Dataset("clinic", dataset.table[[*left, "ill"]], schema, {name: HIERARCHIES[name] for name in left})


@NUMERIC
def test_a_seed_draws_other_noise_for_each_column(noise):
    """If two columns had the same noise, their difference would have none."""
    ages = [Attribute(name, Role.QUASI_IDENTIFIER, Numbers(0, 99)) for name in ("age", "age of spouse")]
    schema = Schema("couples", (*ages, Attribute("ill", Role.NEUTRAL, Categories(("no",)))))
    table = pd.DataFrame({"age": 40, "age of spouse": 40, "ill": "no"}, index=range(50))
    data = Dataset("couples", table, schema, {each.name: flat(each) for each in ages})
    for rng in (1, None):
        noisy = noise(0.5).sanitize(data, rng=rng).table
        assert (noisy["age"] == noisy["age of spouse"]).mean() < 0.5


@pytest.mark.parametrize("rng", [1, None], ids=["seeded", "unseedable"])
def test_geometric_noise_keeps_to_the_steps_of_each_domain(rng):
    data = clinic()
    table = GeometricNoise(0.5).sanitize(data, rng=rng).table
    assert table["age"].dtype == np.int64
    assert not ((table["age"] - 20) % 5).any()
    quarters = (table["dose"] - 0.5) / 0.25
    assert np.array_equal(quarters, quarters.round())
    assert (table["age"] > 70).any()  # not clipped: that would gather people at the ends
    assert (table["age"] < 20).any()


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 3.0])
def test_geometric_noise_keeps_its_epsilon_over_the_whole_domain(epsilon, monkeypatch):
    """The likelihood ratio of any output is at most a^-steps, with as many steps as the two ends lie apart."""
    scales = []

    def record(values, scale, rng):
        scales.append((values, scale))
        return values

    monkeypatch.setattr("privnb.sanitizers.noise.geometric_noise.add_geometric_noise", record)
    GeometricNoise(epsilon).sanitize(clinic(), rng=1)
    for (values, scale), steps in zip(scales, [10, 8], strict=True):
        assert values.min() == 0
        assert values.max() == steps
        assert math.exp(steps / scale) == pytest.approx(math.exp(epsilon))


@NUMERIC
def test_mean_absolute_noise_is_that_of_the_sensitivity(noise):
    """Scale of age: 50 years / 0.5 = 100 years = 20 steps; for both kinds close to the mean absolute value."""
    data = clinic(20_000)
    for sensitivity, expected in [(None, 100), ({"age": 25}, 50)]:
        moved = noise(0.5, sensitivity).sanitize(data, rng=3).table["age"] - data.table["age"]
        assert moved.abs().mean() == pytest.approx(expected, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("rng", [1, None], ids=["seeded", "unseedable"])
def test_randomized_response_answers_over_the_whole_public_domain(rng):
    data = clinic(6000)
    table = RandomizedResponse(1.0).sanitize(data, rng=rng).table
    for name, size in [("town", 4), ("sex", 2)]:
        domain = SCHEMA[name].domain
        assert set(table[name]) == set(domain.values)
        assert table[name].dtype == data.table[name].dtype
        share = math.e / (math.e + size - 1)
        # 6.5 standard deviations: less than once in a thousand million runs
        bound = 6.5 * math.sqrt(share * (1 - share) / 6000)
        assert abs((table[name] == data.table[name]).mean() - share) < bound
    pd.testing.assert_frame_equal(table[["age", "dose", "country"]], data.table[["age", "dose", "country"]])


def test_columns_do_not_share_their_noise():
    """Two columns alike in values and domain: equal noise in both would tell that they are equal."""
    schema = Schema("twins", tuple(Attribute(n, Role.QUASI_IDENTIFIER, Categories(("f", "m"))) for n in "ab"))
    twins = Dataset(
        "twins", pd.DataFrame({"a": ["f"] * 200, "b": ["f"] * 200}), schema, {n: flat(schema[n]) for n in "ab"}
    )
    table = RandomizedResponse(0.1).sanitize(twins, rng=1).table
    assert not table["a"].equals(table["b"])


@EVERY
def test_the_budget_is_composed_and_shown(noise):
    release = noise(0.5).sanitize(clinic(20), rng=None)
    provenance = release.provenance
    expected = ("town", "sex") if noise is RandomizedResponse else ("age", "dose")
    promise = provenance.promise
    assert promise.columns == release.treated("noisy") == expected
    assert promise.epsilon == 1.0
    assert f"epsilon 0.5 ({expected[0]}) + 0.5 ({expected[1]}) = 1 a record" in promise.statement
    assert promise.neighbours in promise.statement
    assert promise.neighbours == f"two tables that differ in one record's {', '.join(expected)} and in nothing else"
    rest = [name for name in SCHEMA.names() if name not in expected]
    assert f"Nothing is promised for {', '.join(rest)}, which" in promise.statement
    assert provenance.public()["promise"]["epsilon"] == 1.0


def test_a_promise_without_other_columns_names_none():
    schema = Schema("alone", (Attribute("sex", Role.QUASI_IDENTIFIER, Categories(("f", "m"))),))
    alone = Dataset("alone", pd.DataFrame({"sex": ["f", "m"]}), schema, {"sex": flat(schema["sex"])})
    assert "Nothing is promised" not in RandomizedResponse(2).sanitize(alone, rng=None).provenance.promise.statement


@EVERY
def test_a_seed_makes_a_simulation_without_promise(noise):
    provenance = noise(0.5).sanitize(clinic(20), rng=7).provenance
    assert provenance.promise is None
    assert provenance.public()["use"] == "simulation: not for publication"


@NUMERIC
def test_a_sensitivity_below_the_width_of_a_domain_promises_nothing(noise):
    data = clinic(20)
    assert noise(0.5, {"age": 49}).sanitize(data, rng=None).provenance.promise is None
    assert noise(0.5, {"age": 50}).sanitize(data, rng=None).provenance.promise is not None
    assert noise(0.5, {"age": 60}).sanitize(data, rng=None).provenance.promise is not None


@EVERY
@pytest.mark.parametrize("epsilon", [0, -1.0, float("inf"), float("nan"), True, "1"])
def test_epsilon_must_be_positive_and_finite(noise, epsilon):
    with pytest.raises(ValueError, match="epsilon must be a positive number"):
        noise(epsilon)


@NUMERIC
def test_numeric_noise_needs_numbers(noise):
    data = clinic(20)
    with pytest.raises(SanitizationError, match="'clinic' has no numeric quasi-identifier; it has town, sex"):
        noise(1).sanitize(only(data, "town", "sex"), rng=0)
    with pytest.raises(SanitizationError, match=r"which are \['age', 'dose'\]; got \['town'\]"):
        noise(1, {"town": 1}).sanitize(data, rng=0)


@pytest.mark.parametrize("left", [("age",), ("age", "country")])
def test_randomized_response_needs_categories(left):
    with pytest.raises(SanitizationError, match=f"two or more categories; it has {', '.join(left)}. Choose"):
        RandomizedResponse(1).sanitize(only(clinic(20), *left), rng=0)


@EVERY
def test_releases_with_noise_are_read_by_miners(noise):
    data = clinic(200)
    release = noise(1.0).sanitize(data, rng=1)
    assert release.classes is None
    published, _ = release._published(2)
    learned = encode(published.table, SCHEMA.quasi_identifiers, SCHEMA, HIERARCHIES)
    read = encode(data.table, SCHEMA.quasi_identifiers, SCHEMA, HIERARCHIES, like=learned)
    assert np.isfinite(read.features).all()
    for target in ("town", "ill"):
        for miner in reference_set("basic"):
            guesses = MinerInference(miner, target).fit(published).predict(data.table)
            assert set(guesses) <= set(SCHEMA[target].domain.values)


def test_randomized_response_can_be_undone_in_the_mean():
    """Counts are unbiased again by (share - q) / (p - q): the noise has the shares that its promise states."""
    data = clinic(30_000)
    released = RandomizedResponse(1.0).sanitize(data, rng=1).table["town"]
    p, q = math.e / (math.e + 3), 1 / (math.e + 3)
    for town in "abcd":
        estimate = ((released == town).mean() - q) / (p - q)
        assert estimate == pytest.approx((data.table["town"] == town).mean(), abs=0.03)


def test_a_category_moves_or_does_not():
    """k-ary randomized response of 4 and 2 values changes (k - 1) / (e^epsilon + k - 1) of them."""
    data = clinic(20_000)
    moved = change_rate(data, RandomizedResponse(1.0).sanitize(data, rng=1))
    assert moved == pytest.approx((3 / (math.e + 3) + 1 / (math.e + 1)) / 2, abs=0.01)


def test_a_right_guess_is_nearer_than_a_label_that_noise_made_wrong():
    towns = HIERARCHIES["town"]
    true, released = np.array(["a", "a", "a", "a"]), np.array(["b", "b", "a", "a"])
    guesses = np.array(["a", "c", "a", "b"])
    for c in (0, 50, 100):
        assert nearer(guesses, released, true, c, towns).tolist() == [True, False, False, False]


@EVERY
def test_a_neighbour_links_noisy_records_better_than_by_lot(noise):
    data = clinic()
    published, key = noise(5.0).sanitize(data, rng=1)._published(2)
    share, _, _ = reidentification_rate(Linkage().fit(published), data, key)
    assert share > 2 / len(data)
