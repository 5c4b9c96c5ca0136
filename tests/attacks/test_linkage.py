import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from privnb.attacks.linkage.linkage import Linkage
from privnb.datasets.dataset import Dataset, load
from privnb.measures.disclosure.linkage import reidentification_rate, singled_out
from privnb.microdata.counts import count_combinations
from privnb.microdata.hierarchy import Intervals, Ordered, Ranges, Sets, Taxonomy
from privnb.microdata.provenance import Provenance
from privnb.microdata.release import Release
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema, SchemaError
from privnb.microdata.treatment import Unreadable
from privnb.sanitizers import Identity, KMember, LaplaceNoise, Suppress

REGIONS = (("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*"))
SCHEMA = Schema(
    "people",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(20, 39)),
        Attribute("weight", Role.QUASI_IDENTIFIER, Numbers(40, 120)),
        Attribute("region", Role.QUASI_IDENTIFIER, Categories(("a", "b", "c", "d"))),
        Attribute("ward", Role.NEUTRAL, Categories(("n", "s"))),
    ),
)
HIERARCHIES = {
    "age": Intervals(SCHEMA["age"].domain, (5, 10, 20)),
    "weight": Ranges(SCHEMA["weight"].domain),
    "region": Taxonomy("region", REGIONS),
}


def people(n, rng):
    """A random table of few distinct values, so that records coincide."""
    draw = np.random.default_rng(rng)
    table = pd.DataFrame(
        {
            "age": draw.integers(20, 28, n),
            "weight": draw.integers(60, 64, n),
            "region": draw.choice(list("abc"), n),
            "ward": draw.choice(["n", "s"], n),
        }
    )
    return Dataset("people", table, SCHEMA, HIERARCHIES)


def recoded(dataset, clusters):
    """Local recoding: each cluster published as the smallest labels that hold its members; labels may overlap."""
    table = dataset.table.astype(object)
    for name, generalization in dataset.hierarchies.items():
        codes = generalization.codes(dataset.table[name])
        for cluster in np.unique(clusters):
            members = clusters == cluster
            table.loc[members, name] = generalization.label(codes[members].min(), codes[members].max())
    return Release(table, dataset.schema, dataset.hierarchies, Provenance("people", "recoded", {}))


def attacked(dataset, release, known=None):
    published, key = release._published(7)
    return Linkage(known).fit(published), key


def values(name, label):
    """All values that a published cell may stand for, read from the label by other means than the package's."""
    if name == "region":
        return {row[0] for row in REGIONS if str(label) in row}
    if name == "ward":
        return {label}
    low, _, high = str(label).partition("-")
    return set(range(1000)) if label == "*" else set(range(int(low), int(high or low) + 1))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 40),
    st.integers(0, 10**6),
    st.lists(st.sampled_from(["age", "weight", "region", "ward"]), min_size=1, unique=True),
)
def test_candidates_are_those_of_a_plain_scan(n, seed, known):
    dataset = people(n, seed)
    release = recoded(dataset, np.random.default_rng(seed).integers(0, max(1, n // 3), n))
    attack, key = attacked(dataset, release, known)
    sets = []
    for _, person in dataset.table.iterrows():
        fits = [
            all(person[name] in values(name, row[name]) for name in known)
            for _, row in attack.published.table.iterrows()
        ]
        sets.append(np.flatnonzero(fits))
    truth = attack.truth(dataset, key)
    chances = [(row in rows) / len(rows) for row, rows in zip(truth, sets, strict=True)]

    assert attack.candidates(dataset.table).tolist() == [len(rows) for rows in sets]
    np.testing.assert_allclose(attack.chance(dataset.table, truth), chances)
    assert all(row in rows for row, rows in zip(attack.predict(dataset.table, rng=seed), sets, strict=True))
    share, low, high = reidentification_rate(attack, dataset, key)
    assert share == pytest.approx(np.mean(chances))
    assert low <= share <= high
    assert singled_out(attack, dataset, key) == sum(len(rows) == 1 for rows in sets)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 40), st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 20.0]), st.booleans())
def test_on_a_noisy_release_candidates_are_the_nearest_of_those_that_fit(n, seed, epsilon, rounded):
    dataset = people(n, seed)
    release = LaplaceNoise(epsilon).sanitize(dataset, rng=seed)
    if rounded:  # rounded noise makes ties
        release.table[["age", "weight"]] = release.table[["age", "weight"]].round()
    attack, _ = attacked(dataset, release)
    ages, weights, regions = (attack.published.table[name].to_numpy() for name in ("age", "weight", "region"))
    known = dataset.table
    found = attack.candidates(known), attack.predict(known)
    for age, weight, region, candidates, guess in zip(known.age, known.weight, known.region, *found, strict=True):
        distance = np.where(regions == region, abs(ages - age) / 19 + abs(weights - weight) / 80, np.inf)
        nearest = np.flatnonzero(np.isclose(distance, distance.min(), rtol=0, atol=1e-12))
        assert candidates == len(nearest)
        assert guess in nearest


@pytest.mark.parametrize("level", [0, 1, 2])
def test_classes_that_do_not_overlap_succeed_with_classes_over_records(level):
    dataset = people(200, 1)
    labels = {"region": HIERARCHIES["region"].generalize(dataset.table["region"], level), "age": "*"}
    release = Release(dataset.table.assign(**labels), SCHEMA, HIERARCHIES, Provenance("people", "recoded", {}))
    classes = len(np.unique(release.classes))
    assert reidentification_rate(*_pair(dataset, release))[0] == pytest.approx(classes / 200)


def test_the_original_table_gives_distinct_records_over_records():
    dataset = people(300, 2)
    distinct = count_combinations(dataset.table[SCHEMA.quasi_identifiers]).multiplicities
    pair = _pair(dataset, Identity().sanitize(dataset, rng=0))
    assert reidentification_rate(*pair)[0] == pytest.approx(len(distinct) / 300)
    assert singled_out(*pair) == (distinct == 1).sum() > 0


def test_full_suppression_leaves_the_baseline():
    dataset = people(300, 3)
    attack, dataset, key = _pair(dataset, Suppress().sanitize(dataset, rng=0))
    assert reidentification_rate(attack, dataset, key)[0] == pytest.approx(1 / 300)
    assert singled_out(attack, dataset, key) == 0
    guesses = np.array([attack.baseline(dataset.table, rng=seed) for seed in range(200)])
    hits = (guesses == attack.truth(dataset, key)).sum()
    assert 140 < hits < 260  # 60,000 guesses at 1/300: mean 200, standard deviation 14


def test_noise_beyond_all_values_leaves_a_guess_within_equal_exact_columns():
    dataset = people(300, 4)
    release = LaplaceNoise(1e-9).sanitize(dataset, rng=5)
    # All targets of one region choose the same row, that of least noise: one hit a region.
    assert reidentification_rate(*_pair(dataset, release))[0] == pytest.approx(3 / 300)


def test_noise_that_vanishes_leaves_the_original_table():
    dataset = people(300, 4)
    attack, dataset, key = _pair(dataset, LaplaceNoise(1e9).sanitize(dataset, rng=5))
    # Of equal records the one with least noise is chosen: each distinct record is still one hit.
    distinct = len(count_combinations(dataset.table[SCHEMA.quasi_identifiers]).multiplicities)
    assert reidentification_rate(attack, dataset, key)[0] == pytest.approx(distinct / 300)


def test_predictions_are_uniform_among_candidates():
    dataset = people(12, 6)
    attack, key = attacked(dataset, recoded(dataset, np.arange(12) // 4))
    expected = attack.chance(dataset.table, attack.truth(dataset, key))
    chosen = attack.predict(pd.concat([dataset.table] * 4000), rng=1).reshape(4000, 12)
    hits = (chosen == attack.truth(dataset, key)).mean(axis=0)
    np.testing.assert_allclose(hits, expected, atol=0.04)  # 5 standard deviations


def test_a_person_whom_no_row_fits_is_not_linked():
    dataset = people(20, 7)
    attack, _ = attacked(dataset, Identity().sanitize(dataset, rng=0))
    stranger = pd.DataFrame({"age": [39, 20], "weight": [60, 60], "region": ["d", "d"]})
    assert attack.candidates(stranger).tolist() == [0, 0]
    assert attack.predict(stranger).tolist() == [-1, -1]
    assert attack.chance(stranger, np.array([0, 1])).tolist() == [0, 0]


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 30), st.integers(0, 10**6), st.sampled_from([Ordered, Sets]), st.booleans())
def test_candidates_among_labels_that_list_values(n, seed, kind, exact):
    """A set that leaves out what stands between its values is no candidate for it; nor is a run that ends before it."""
    domain = ("a", "b", "c", "d", "e")
    schema = Schema("people", (Attribute("ward", Role.QUASI_IDENTIFIER, Categories(domain)),))
    hierarchies = {"ward": kind("ward", domain)}
    draw = np.random.default_rng(seed)
    dataset = Dataset("people", pd.DataFrame({"ward": draw.choice(domain, n)}), schema, hierarchies)
    codes = hierarchies["ward"].codes(dataset.table["ward"])

    def cells(clusters):
        clusters = np.unique(clusters, return_inverse=True)[1]
        return pd.DataFrame({"ward": hierarchies["ward"].labels(codes, clusters)[clusters]})

    released = cells(draw.integers(0, max(1, n // 2), n))
    attack, _ = attacked(dataset, Release(released, schema, hierarchies, Provenance("people", "recoded", {})))
    known = dataset.table if exact else cells(draw.integers(0, max(1, n // 2), n))
    meant = lambda label: set(domain) if label == "*" else set(label.split("|"))  # noqa: E731
    expected = [sum(bool(meant(one) & meant(cell)) for cell in released["ward"]) for one in known["ward"]]
    assert attack.candidates(known).tolist() == expected


def test_knowledge_may_be_a_label():
    dataset = people(30, 8)
    attack, _ = attacked(dataset, Identity().sanitize(dataset, rng=0))
    known = pd.DataFrame({"age": ["20-24", "*"], "weight": ["*", "*"], "region": ["ab", "*"]})
    young = dataset.table["age"].lt(25) & dataset.table["region"].isin(["a", "b"])
    assert attack.candidates(known).tolist() == [young.sum(), 30]


def test_index_labels_are_no_record_names():
    dataset = people(30, 9)
    attack, key = attacked(dataset, recoded(dataset, np.arange(30) // 3))
    rows = attack.truth(dataset, key)
    other = dataset.table.set_axis([5] * 30)
    assert attack.candidates(other).tolist() == attack.candidates(dataset.table).tolist()
    assert attack.chance(other, rows).tolist() == attack.chance(dataset.table, rows).tolist()
    assert attack.predict(other, rng=1).tolist() == attack.predict(dataset.table, rng=1).tolist()


def test_one_attack_serves_many_releases():
    dataset, attack = people(30, 10), Linkage(["age"])
    first = attack.fit(Identity().sanitize(dataset, rng=0)._published(1)[0])
    attack.fit(Suppress().sanitize(dataset, rng=0)._published(1)[0])
    assert first.candidates(dataset.table).max() < 30
    assert repr(attack) == "Linkage(known=('age',))"
    with pytest.raises(ValueError, match="has not seen a release"):
        attack.candidates(dataset.table)


@pytest.mark.parametrize(("name", "missing"), [("age", np.nan), ("region", None)])
def test_a_missing_value_of_a_known_person_is_refused(name, missing):
    dataset = people(30, 12)
    known = dataset.table.astype({name: object})
    known.loc[known.index[4], name] = missing
    for sanitizer in (Identity(), Suppress(), LaplaceNoise(1.0)):
        attack, _ = attacked(dataset, sanitizer.sanitize(dataset, rng=0))
        for asked in (attack.predict, attack.candidates):
            with pytest.raises(
                SchemaError, match=rf"`known` must not have missing values; got missing values in \['{name}'\]. Write"
            ):
                asked(known)


def test_refusals():
    dataset = people(30, 11)
    published, key = Identity().sanitize(dataset, rng=0)._published(1)
    with pytest.raises(SchemaError, match=r"must list columns of the release, age, weight.*; got \['zip'\]"):
        Linkage(["age", "zip"]).fit(published)
    with pytest.raises(ValueError, match="must be a list of columns, each as text; got 'age'"):
        Linkage("age")
    with pytest.raises(ValueError, match="got"):
        Linkage(())
    attack = Linkage().fit(published)
    with pytest.raises(
        Unreadable, match="reads region of each person, but the table of known people has only age, weight"
    ):
        attack.predict(dataset.table.drop(columns="region"))
    with pytest.raises(SchemaError, match="'region' has no label 'e'"):
        attack.predict(dataset.table.assign(region="e"))
    with pytest.raises(ValueError, match="for each record of 'people', 30; got 29 rows"):
        reidentification_rate(attack, dataset, key[1:])


@pytest.mark.parametrize("k", [2, 5])
def test_k_anonymity_leaves_at_most_one_chance_in_k(k):
    attack, dataset, key = _pair(people(200, 12), KMember(k).sanitize(people(200, 12), rng=0))
    assert attack.candidates(dataset.table).min() >= k
    assert attack.chance(dataset.table, attack.truth(dataset, key)).min() > 0  # one's own row always fits
    assert reidentification_rate(attack, dataset, key)[0] <= 1 / k + 1e-12
    assert singled_out(attack, dataset, key) == 0


@pytest.mark.slow
def test_all_of_adult():
    dataset = load("adult", "sramka")
    pair = _pair(dataset, Identity().sanitize(dataset, rng=0))
    distinct = count_combinations(dataset.table[dataset.schema.quasi_identifiers]).multiplicities
    assert reidentification_rate(*pair)[0] == pytest.approx(len(distinct) / 45222)
    assert singled_out(*pair) == (distinct == 1).sum()


def _pair(dataset, release):
    attack, key = attacked(dataset, release)
    return attack, dataset, key
