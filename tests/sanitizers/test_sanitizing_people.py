"""People, not rows: what sanitizers promise of a table with a key of people, counted again by plain pandas."""

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from support import person_key

from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.schema import Role
from privnb.privacy_models import (
    AlphaKAnonymity,
    ConfidenceBound,
    DistinctDiversity,
    FrequencyDiversity,
    KAnonymity,
    KMap,
    PrivacyModel,
    PSensitiveKAnonymity,
    TCloseness,
    grade_release,
)
from privnb.privacy_models.requirement import Requirement
from privnb.sanitizers import Bucketize, FullDomain, LocalRecoding, Mondrian, SanitizationError, Sanitizer, Suppress
from privnb.sanitizers.catalogue import build_one_per_class, kinds
from privnb.sanitizers.synthetic.marginals import anonymize_marginals

KNOWN = ["age", "sex", "town"]
MODELS = (
    KAnonymity(5),
    AlphaKAnonymity(0.7, 5, "ill"),
    PSensitiveKAnonymity(2, 4, "ill"),
    DistinctDiversity(3, "ill"),
    FrequencyDiversity(1.5, "ill"),
    ConfidenceBound(0.5, "ill", "flu"),
    TCloseness(0.35, "ill"),
)


def plain(model, keys, values, classes):
    """Whether every class keeps a model, from its definition in people: series by pandas."""
    rows = pd.DataFrame({"who": np.asarray(keys), "value": np.asarray(values), "class": np.asarray(classes)})
    people = rows.groupby("class")["who"].nunique()
    having = rows.groupby(["class", "value"])["who"].nunique()
    match model:
        case KAnonymity(k):
            return people.min() >= k
        case AlphaKAnonymity(alpha, k):
            return people.min() >= k and (having / people).max() <= alpha + 1e-9
        case PSensitiveKAnonymity(p, k):
            return people.min() >= k and rows.groupby("class")["value"].nunique().min() >= p
        case DistinctDiversity(l):
            return rows.groupby("class")["value"].nunique().min() >= l
        case FrequencyDiversity(l):
            return (having / people).max() <= 1 / l + 1e-9
        case ConfidenceBound(h, _, value):
            return (having / people).xs(value, level="value").max() <= h + 1e-9
        case TCloseness(t):
            whole = rows.groupby("value")["who"].nunique()
            table = having.unstack(fill_value=0)
            distance = (table.div(table.sum(axis=1), axis=0) - whole / whole.sum()).abs().sum(axis=1) / 2
            return distance.max() <= t + 1e-9
    raise AssertionError(model)


def alike(release, names=KNOWN):
    return joined(release.table, names)


def joined(table, names=KNOWN):
    """The cells of each row in one text."""
    first, *others = (table[name].astype(str) for name in names)
    return first.str.cat(others, sep="|")


@pytest.mark.slow
def test_every_sanitizer_that_promises_k_keeps_it_of_people():
    visits = person_key.visits()
    able = [kind for kind in kinds().values() if kind.counts_people and "k" in kind.letters and kind is not Bucketize]
    assert {Mondrian, LocalRecoding, FullDomain} <= {*able}
    for kind, model in itertools.product(able, MODELS):
        each = kind.from_models([KAnonymity(5), model])
        release = each.sanitize(visits, rng=1)
        people = visits.table["patient"].groupby(alike(release)).nunique()
        assert "patient" not in [*release.table, *release.schema.names(), *release.publish()[0].table]
        for claimed in release.provenance.claims:
            assert plain(claimed, visits.table["patient"], release.table["ill"], alike(release)), (each, claimed)
        assert grade_release(KAnonymity(2), release) == people.min() == release.people_per_class.min() >= 5


@pytest.mark.slow
def test_classes_that_public_ends_join_are_counted_as_they_are_published():
    """Of people with records in both there are fewer than of both together: a value's share of them may be larger."""
    for seed, people in itertools.product(range(4), (30, 100)):
        visits = person_key.visits(people, rng=seed)
        for kind, model in itertools.product((Mondrian, LocalRecoding), (FrequencyDiversity(2, "ill"), MODELS[5])):
            try:
                release = kind(model).sanitize(visits, rng=1)
            except SanitizationError as error:
                assert "cannot be reached" in str(error)  # noqa: PT017
                continue
            assert plain(model, visits.table["patient"], release.table["ill"], alike(release)), (kind, model, seed)


def test_mondrian_keeps_k_of_people_however_it_cuts():
    visits = person_key.visits(150)
    ways = [{"split_attribute": "penalty"}, {"split_attribute": "gain", "workload": "ward", "split_point": "best"}]
    for way in [*ways, *({"split_point": point} for point in ("left", "below", "either", "middle"))]:
        release = Mondrian(KAnonymity(5), **way).sanitize(visits, rng=1)
        assert visits.table["patient"].groupby(alike(release)).nunique().min() >= 5
        assert release.equivalence_classes.max() > 5


def test_records_keep_k_where_people_do_not():
    """One person with many visits is a class of records, and of nobody else."""
    table = pd.DataFrame([("often", 80)] * 6 + [(f"p{i}", 20 + i // 6) for i in range(24)], columns=["patient", "age"])
    table = table.assign(sex="F", town="a", ill="flu", ward="day")
    by_rows = Mondrian(KAnonymity(5)).sanitize(person_key.dataset(table, patient=Role.IDENTIFIER), rng=1)
    assert table["patient"].groupby(alike(by_rows)).nunique().min() == 1, "who counts records shows one person alone"
    assert table["patient"].groupby(alike(by_rows)).size().min() >= 5

    @dataclass(frozen=True)
    class AsBefore(Sanitizer):
        claims: tuple[PrivacyModel, ...] = ()
        counts_people = True

        def _sanitize(self, dataset, table, rng):
            return by_rows.table.copy(), {"claims": self.claims}

    visits = person_key.dataset(table)
    AsBefore().sanitize(visits, rng=1)
    with pytest.raises(
        SanitizationError, match=r"is claimed, but classes of the published labels break it, counted in people"
    ):
        AsBefore((KAnonymity(5),)).sanitize(visits, rng=1)
    release = Mondrian(KAnonymity(5)).sanitize(visits, rng=1)
    assert table["patient"].groupby(alike(release)).nunique().min() >= 5


def test_several_values_of_a_person_hide_nobody():
    """All ten have the flu, and each something else: a guess at flu is right for all, whatever its share of values."""
    ill = [("flu", other) for other in person_key.ILL * 2]
    table = pd.DataFrame([(f"p{i}", value) for i, both in enumerate(ill) for value in both], columns=["patient", "ill"])
    table = table.assign(age=30, sex="F", town="a", ward="day")
    release = Suppress().sanitize(person_key.dataset(table), rng=1)
    assert grade_release(FrequencyDiversity(2, "ill"), release) == 1
    assert grade_release(AlphaKAnonymity(0.5, 2, "ill"), release) == 1
    assert grade_release(KAnonymity(2), release) == 10
    with pytest.raises(SanitizationError, match="all records as one class break"):
        Mondrian(FrequencyDiversity(1.5, "ill")).sanitize(person_key.dataset(table), rng=1)
    by_rows = Suppress().sanitize(person_key.dataset(table, patient=Role.IDENTIFIER), rng=1)
    assert grade_release(FrequencyDiversity(2, "ill"), by_rows) > 1.5


def test_buckets_count_people():
    visits = person_key.visits()
    release = Bucketize(Mondrian(KAnonymity(5), FrequencyDiversity(1.5, "ill"))).sanitize(visits, rng=1)
    assert release.provenance.claims == (FrequencyDiversity(1.5, "ill"),)
    own = visits.table
    assert plain(FrequencyDiversity(1.5, "ill"), own["patient"], own["ill"], release.table["bucket"])
    people = own.groupby(release.table["bucket"])["patient"].nunique()
    having = own.groupby([release.table["bucket"], "ill"])["patient"].nunique()
    assert grade_release(FrequencyDiversity(2, "ill"), release) == pytest.approx(
        (people / having.groupby("bucket").max()).min()
    )


def test_what_enforces_and_what_claims_count_alike():
    visits = person_key.visits(60)
    requirement = Requirement(MODELS, visits)
    rng = np.random.default_rng(5)
    for number in (1, 2, 4, 12):
        classes = rng.integers(0, number, len(requirement.people))
        of_records = classes[requirement.index]
        for tally in requirement.tallies:
            held = requirement.holds(classes, number, tallies=[tally]).all()
            assert held == plain(tally.model, visits.table["patient"], visits.table["ill"], of_records), tally.model


def test_a_class_that_grows_is_judged_as_one_that_stands():
    requirement = Requirement(MODELS, person_key.dataset(person_key.table(60), patient=Role.UNUSED), alone=True)
    generator, grown, rows, answers = np.random.default_rng(7), requirement.growing(), len(requirement.people), []
    for _ in range(5):
        members, known = generator.permutation(rows), 0
        for size in (2, 5, 6, 7, 20, 40, rows):
            answers.append(grown(members[:size], known))
            assert answers[-1] == requirement.holds(np.zeros(size, dtype=np.int64), 1, members[:size])[0]
            known = size
    assert set(answers) == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [4, 6])
def test_full_domain_finds_the_optimum_of_people(seed):
    """In both tables who counts records finds another one, and suppression another one than none."""
    table = person_key.table(40, rng=seed)
    table["age"] = 20 + 10 * (table["age"] > 45)
    visits, keys, ill = person_key.dataset(table), table["patient"], table["ill"]
    mixed = [KAnonymity(3), FrequencyDiversity(1.3, "ill")]
    for models, suppress in (([KAnonymity(7)], 20), (mixed, 0), (mixed, 20)):
        costs, known = [], {}
        for levels in itertools.product((0, 1), repeat=3):
            labels = visits.table[KNOWN].astype(str)
            labels[[name for name, up in zip(KNOWN, levels, strict=True) if up]] = SUPPRESSED
            costs += _joined(labels, keys, ill, models, suppress, known)
        found = FullDomain(*models, suppress=suppress).search(visits)
        assert found.loss == pytest.approx(min(costs)), models


def _joined(labels, keys, ill, models, limit, known):
    """The loss of a node in a list, from the definition; empty where too many would be suppressed. `known`: which
    groups keep the models.
    """
    whole = labels.copy()
    while True:
        classes = joined(whole)
        size = classes.map(classes.value_counts())
        broken = [each for each in classes.unique() if not _kept(models, keys, ill, classes == each, known)]
        stars = classes == "*|*|*"
        if not broken:
            return [_penalty(whole)] if stars.sum() <= limit or (labels == SUPPRESSED).all(axis=None) else []
        if broken == ["*|*|*"]:
            rest = labels[~stars].assign(size=size[~stars], age=pd.to_numeric(labels["age"], errors="coerce"))
            if rest.empty:
                return []
            first = rest.sort_values(["size", *KNOWN], kind="stable").index[0]
            broken = [classes[first]]
        whole[classes.isin(broken)] = SUPPRESSED
        if (whole == SUPPRESSED).all(axis=1).sum() > limit and not (labels == SUPPRESSED).all(axis=None):
            return []


def _kept(models, keys, ill, here, known):
    who = tuple(np.flatnonzero(here))
    if who not in known:
        known[who] = all(plain(model, keys[here], ill[here], np.zeros(len(who))) for model in models)
    return known[who]


def _penalty(labels):
    return float((labels == SUPPRESSED).to_numpy().mean())


def test_the_others_refuse_and_say_what_to_use():
    visits = person_key.visits(60)
    others = [kind for kind in kinds().values() if not kind.counts_people]
    assert {"KMember", "LaplaceNoise", "Anatomy", "TopDownSpecialization"} <= {kind.__name__ for kind in others}
    for kind in others:
        for each in kind.contract_examples(visits.schema):
            with pytest.raises(
                SanitizationError, match=r"counts records.*Bucketize, FullDomain, LocalRecoding, Mondrian"
            ):
                each.sanitize(visits, rng=1)
    with pytest.raises(SanitizationError, match=r"anonymize_marginals counts records"):
        anonymize_marginals(visits, [("age",)], KAnonymity(5))
    shown = {type(each) for each in build_one_per_class(visits)}
    able = {kind for kind in kinds().values() if kind.counts_people and not kind.reference}
    assert shown == able > {Mondrian, LocalRecoding, FullDomain, Bucketize}, "families leave them out"
    population = KMap(5, population=visits.table[KNOWN])
    with pytest.raises(SanitizationError, match=r"people of a population.*KAnonymity, which is stricter"):
        Mondrian(population).sanitize(visits, rng=1)


def test_a_table_without_a_key_is_sanitized_as_before():
    """A key in which each record is another person's changes nothing."""
    table = person_key.table()
    each = table.assign(patient=[f"p{i}" for i in range(len(table))])
    for sanitizer in (
        Mondrian(KAnonymity(5), TCloseness(0.35, "ill")),
        LocalRecoding(KAnonymity(5), FrequencyDiversity(1.5, "ill")),
        FullDomain(AlphaKAnonymity(0.7, 5, "ill"), suppress=0.1),
    ):
        keyed_one, plain_one = (
            sanitizer.sanitize(person_key.dataset(each, patient=role), rng=1) for role in (Role.PERSON, Role.IDENTIFIER)
        )
        pd.testing.assert_frame_equal(keyed_one.table, plain_one.table)
        assert keyed_one.columns == plain_one.columns
