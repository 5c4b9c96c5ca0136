"""The deFinetti attack: a made-up table, the figures on Adult, and the control of people outside of the release."""

import numpy as np
import pandas as pd
import pytest

from privnb.attacks import DeFinetti
from privnb.attacks.inference import de_finetti
from privnb.datasets.dataset import Dataset, load
from privnb.evaluation.experiments.bucket_attack import IN_RELEASE, OTHERS, attack_buckets
from privnb.microdata.schema import Attribute, Categories, Role, Schema
from privnb.microdata.treatment import Unreadable
from privnb.sanitizers import Anatomy, Bucketize, KMember, Mondrian, Suppress

ILL, JOBS = ("cold", "flu", "gout", "mumps"), ("baker", "diver", "farmer", "nurse")


def workers(n, share, rng=1):
    """People whose illness is that of their job with probability `share`, and otherwise any."""
    rng = np.random.default_rng(rng)
    job = rng.integers(0, 4, n)
    ill = np.where(rng.random(n) < share, job, rng.integers(0, 4, n))
    schema = Schema(
        "workers",
        (
            Attribute("job", Role.QUASI_IDENTIFIER, Categories(JOBS)),
            Attribute("shift", Role.QUASI_IDENTIFIER, Categories(("day", "night"))),
            Attribute("ill", Role.SENSITIVE, Categories(ILL)),
        ),
    )
    shift = np.array(["day", "night"])[rng.integers(0, 2, n)]
    table = pd.DataFrame({"job": np.array(JOBS)[job], "shift": shift, "ill": np.array(ILL)[ill]})
    from privnb.microdata.hierarchy import flat

    return Dataset("workers", table, schema, {name: flat(schema[name]) for name in ("job", "shift")})


def share_right(dataset, sanitizer):
    release = sanitizer.sanitize(dataset, rng=1)
    published, key = release.publish()
    attack = DeFinetti("ill").fit(published)
    return (attack.assign(published) == attack.truth(dataset)[key]).mean()


def test_values_that_a_job_determines_are_all_assigned_right():
    """All buckets together show the rule, although each bucket alone shows nothing."""
    assert share_right(workers(400, 1), Anatomy(2, "ill")) == 1
    assert share_right(workers(400, 1), Anatomy(3, "ill")) == 1


def test_values_that_nothing_determines_are_assigned_by_chance():
    found = [share_right(workers(3000, 0, seed), Anatomy(2, "ill")) for seed in range(5)]
    assert abs(np.mean(found) - 0.5) < 0.03


def test_each_value_is_given_as_often_as_the_bucket_lists_it():
    dataset = workers(300, 0.5)
    published, _ = Bucketize(KMember(6)).sanitize(dataset, rng=1).publish()
    guess = DeFinetti("ill").fit(published).assign(published)
    given = pd.crosstab(published.table["bucket"], guess).stack()
    held = published.buckets.set_index(["bucket", "value"])["count"]
    assert given[given > 0].sort_index().to_dict() == held.sort_index().to_dict()


def test_the_assignment_is_the_likeliest_of_all():
    """Against all assignments of small buckets, by brute force."""
    from itertools import permutations

    dataset = workers(60, 0.6)
    published, _ = Bucketize(KMember(4)).sanitize(dataset, rng=1).publish()
    model = DeFinetti("ill").fit(published).learned.model
    buckets = de_finetti.read_buckets(published, "ill", model)
    scores, guess = model.score(buckets.codes), de_finetti.assign_values(buckets, model)
    for number in range(len(buckets.counts)):
        rows = np.flatnonzero(buckets.bucket == number)
        slots = np.repeat(np.arange(len(model.values)), buckets.counts[number])
        best = max(sum(scores[row, slot] for row, slot in zip(rows, each, strict=True)) for each in permutations(slots))
        assert scores[rows, guess[rows]].sum() == pytest.approx(best)


def test_weights_fit_the_rows_and_the_counts_of_each_bucket():
    dataset = workers(300, 0.5)
    published, _ = Bucketize(KMember(6)).sanitize(dataset, rng=1).publish()
    attack = DeFinetti("ill").fit(published)
    buckets = de_finetti.read_buckets(published, "ill", attack.learned.model)
    weights = de_finetti.scale_weights(buckets, attack.learned.model)
    assert weights.sum(axis=1) == pytest.approx(1)
    for number, counts in enumerate(buckets.counts):
        assert weights[buckets.bucket == number].sum(axis=0) == pytest.approx(counts, abs=0.1)


def test_a_person_is_found_by_the_quasi_identifiers():
    dataset = workers(400, 1)
    attack = DeFinetti("ill").fit(Anatomy(2, "ill").sanitize(dataset, rng=1).publish()[0])
    known = pd.DataFrame({"job": ["nurse", "baker", "nurse"], "shift": ["day", "night", "dawn"]})
    assert attack.predict(known).tolist() == ["mumps", "cold", None]


@pytest.mark.parametrize("sanitizer", [Mondrian(k=5), Suppress()])
def test_a_release_without_buckets_cannot_be_attacked(sanitizer):
    published, _ = sanitizer.sanitize(workers(60, 1), rng=1).publish()
    with pytest.raises(Unreadable, match="DeFinetti reads columns that are exact, bucketized"):
        DeFinetti("ill").fit(published)


def test_other_people_are_guessed_as_well_as_the_people_in_the_release():
    """The model describes the population, so it guesses the values of people outside of the release as well."""
    found = attack_buckets(workers(4000, 0.6), "ill", [2, 3], seeds=2).set_index(["bound", "variant"]).value
    for l in (2, 3):  # noqa: E741
        own, others = found[l, IN_RELEASE].mean(), found[l, OTHERS].mean()
        assert own > 1 / l + 0.1
        assert abs(own - others) < 0.05


def test_an_l_that_cannot_be_reached_has_no_rows():
    assert attack_buckets(workers(40, 0.6), "ill", [9]).empty


@pytest.mark.slow
@pytest.mark.parametrize(("l", "value", "others"), [(2, 0.830, 0.817), (3, 0.636, 0.636), (5, 0.441, 0.437)])
def test_the_figures_on_adult(l, value, others):  # noqa: E741
    """Figures of an independent implementation on all of Adult, with the occupation as the sensitive attribute."""
    roles = {"occupation": Role.SENSITIVE, "salary": Role.QUASI_IDENTIFIER}
    dataset = load("adult", "sramka", roles=roles)
    published, key = Anatomy(l, "occupation").sanitize(dataset, rng=1).publish()
    attack = DeFinetti("occupation").fit(published)
    assert (attack.assign(published) == attack.truth(dataset)[key]).mean() == pytest.approx(value, abs=0.012)
    found = attack_buckets(dataset, "occupation", [l]).set_index("variant")
    assert found.value[OTHERS] == pytest.approx(others, abs=0.015)
    assert found.baseline[IN_RELEASE] == pytest.approx(1 / l, abs=0.01)
