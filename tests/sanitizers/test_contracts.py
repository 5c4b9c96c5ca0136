"""What every sanitizer keeps, whatever it does; classes are found, not listed."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, reject, settings, strategies as st
from support.plain_models import keeps, published

import privnb.sanitizers as family
from privnb.datasets.dataset import Dataset
from privnb.microdata.schema import Role
from privnb.microdata.withholding import LIMIT
from privnb.runtime.registry import find_cited_source, first_sentence
from privnb.sanitizers import Mondrian, catalogue
from privnb.sanitizers.base import DEFAULT_BOUNDS, Sanitizer
from privnb.sanitizers.catalogue import kinds
from privnb.sanitizers.errors import SanitizationError
from privnb.testing.sanitizers import CHECKS, HIERARCHIES, SCHEMA, check_claims, toy

KINDS = [kind for kind in kinds().values() if kind is not family.MadeElsewhere]  # it reads a file of one table
INSTANCES = [each for kind in KINDS for each in kind.contract_examples(SCHEMA)]
every = pytest.mark.parametrize("sanitizer", INSTANCES, ids=repr)


@every
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(sanitizer, check):
    check(sanitizer)


@pytest.mark.slow
@every
@settings(max_examples=25, deadline=None)
@given(rows=st.integers(3, 30), seed=st.integers(0, 10**6), town=st.sampled_from([("a",), ("a", "b"), ("a", "b", "?")]))
def test_claims_hold_in_the_published_labels(sanitizer, rows, seed, town):
    """By the definitions once more, see `plain_models`."""
    try:
        check_claims(sanitizer, toy(rows, seed, town), lambda model, release: keeps(model, **published(release, model)))
    except SanitizationError:  # such as one value too common for l
        reject()


@pytest.fixture(scope="module")
def released():
    """`released(sanitizer)`: its release of the toy with the seed 1, made once for all tests that only read it."""
    known = {}

    def made(sanitizer):
        if repr(sanitizer) not in known:
            known[repr(sanitizer)] = sanitizer.sanitize(toy(), rng=1)
        return known[repr(sanitizer)]

    return made


def test_no_sanitizer_is_left_out():
    """Each class is found by itself, has an example, and is exported if it is the package's."""
    assert {type(s) for s in INSTANCES} == set(KINDS)
    own = {name for name, kind in kinds().items() if kind.__module__.startswith("privnb.")}
    assert own == set(family.__all__) - {"Sanitizer", "SanitizationError", "sanitize"}
    assert len(INSTANCES) >= 23


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_facts_of_a_class_are_so(kind, released):
    """Of every example: what is done to the columns that it changes; and what is said of it in lists."""
    assert len(kind.default_settings("disease")) <= 2
    assert kind.letters or kind.reference or {*kind.default_settings("disease")} & {*kind.contract_examples(SCHEMA)}
    for sanitizer in kind.contract_examples(SCHEMA):
        release = released(sanitizer)
        # The only label that covers a category here is `*`.
        done = ("generalized", "suppressed") if kind.changes == "categories" else ("generalized",)
        done = done if kind.treatment == "generalized" else (kind.treatment,)
        assert release.treated(*done)
        untouched = {"exact", "bucketized"} if kind.treatment == "bucketized" else {"exact", "suppressed"}
        assert {each.kind for each in release.columns.values()} <= {kind.treatment, *untouched}
        if kind.changes:
            changed = [release.schema[name].numeric for name in release.treated(*done)]
            assert set(changed) == {"numbers" in kind.changes}
    assert set(kind.requires) <= set(kind.letters) <= set(DEFAULT_BOUNDS)
    assert first_sentence(kind).endswith(".")
    assert "`" not in first_sentence(kind)
    assert kind.reference or find_cited_source(kind) or kind.__module__.split(".")[0] != "privnb"
    for letter in kind.letters:
        bounds = {each: DEFAULT_BOUNDS[each] for each in kind.requires} | {letter: DEFAULT_BOUNDS[letter]}
        other = bounds | {
            letter: DEFAULT_BOUNDS[letter] / 2
            if isinstance(DEFAULT_BOUNDS[letter], float)
            else DEFAULT_BOUNDS[letter] + 1
        }
        assert kind.accepts_value(letter, DEFAULT_BOUNDS[letter])
        assert type(kind.from_bounds(bounds, "disease")) is kind
        assert kind.from_bounds(bounds, "disease") != kind.from_bounds(other, "disease")


@pytest.mark.parametrize("kind", [each for each in kinds().values() if "epsilon" in each.letters])
def test_a_record_spends_epsilon_once_or_on_each_attribute(kind):
    promise = kind.from_bounds({"epsilon": 0.25}).sanitize(toy(), rng=None).provenance.promise
    once = {"record": 1, "attribute": len(promise.columns)}
    assert promise.epsilon == pytest.approx(0.25 * once[kind.spends_per])


def test_old_names_work_with_a_warning():
    with pytest.warns(DeprecationWarning, match="'Pram' is now 'PRAM'"):
        assert family.Pram is family.PRAM
    with pytest.warns(DeprecationWarning, match="'fewest' is now 'min_records'"):
        assert family.RareCategories(fewest=5) == family.RareCategories(min_records=5)
    with pytest.warns(DeprecationWarning, match=r"'KMember\.at' is now 'from_bounds'"):
        assert family.KMember.at({"k": 3}) == family.KMember(3)


def test_an_override_of_an_old_name_is_called_by_the_new_one():
    with pytest.warns(DeprecationWarning, match=r"'_Old\.settings' is now 'default_settings'"):

        @dataclass(frozen=True)
        class _Old(family.Suppress):
            @classmethod
            def settings(cls, sensitive=None):
                return [*super().settings(sensitive), cls()]

    with pytest.warns(DeprecationWarning, match="settings"):
        assert _Old.default_settings() == [_Old()]


def test_index_labels_reach_no_sanitizer():
    """Twice the same, in another order, or text: what a sanitizer is given has the positions as its index."""
    data = toy()
    for index in ([5] * len(data), range(len(data))[::-1], [f"r{i}" for i in range(len(data))]):
        other = Dataset("toy", data.table.set_axis(list(index)), SCHEMA, HIERARCHIES)
        known = {"name", "cells", "table", "schema", "hierarchies", "codes", "notes", "renamed"}
        assert set(vars(other)) <= known, "else compare more"
        for read in (lambda each: each.cells, lambda each: each.table, lambda each: each.lent().cells):
            pd.testing.assert_frame_equal(read(other), read(data), check_index_type="exact")
        assert all(np.array_equal(other.codes[name], data.codes[name]) for name in SCHEMA.quasi_identifiers)


def test_the_key_leads_back():
    data = toy()
    release = family.Identity().sanitize(data, rng=1)
    published, key = release._published(2)
    assert not published.table.equals(release.table)
    pd.testing.assert_frame_equal(published.table, release.table.iloc[key].reset_index(drop=True))


@pytest.mark.parametrize("k", [1, 0, -3, 2.5, True, "2"])
def test_k_must_be_a_whole_number_from_two(k):
    with pytest.raises(ValueError, match="k must be a whole number of at least 2"):
        family.KMember(k)


def test_k_above_the_number_of_records():
    with pytest.raises(family.SanitizationError, match=r"KMember\(k=41.*40 records.*Lower k to 40"):
        family.KMember(41).sanitize(toy(), rng=0)


@pytest.mark.parametrize("epsilon", [0, -1.0, float("inf"), float("nan"), True])
def test_epsilon_must_be_positive_and_finite(epsilon):
    with pytest.raises(ValueError, match="epsilon must be a positive number"):
        family.LaplaceNoise(epsilon)


def test_noise_names_the_column_that_it_cannot_blur():
    with pytest.raises(family.SanitizationError, match=r"must name numeric quasi-identifiers, .*; got \['town'\]"):
        family.LaplaceNoise(1, {"town": 1}).sanitize(toy(), rng=0)


@pytest.mark.parametrize(
    ("what", "named"),
    [("everything", "'everything'"), ("age, wait", "'wait'"), ("name", "'name'")],
)
def test_unknown_suppression(what, named):
    """Identifiers are not published, so neither can they be suppressed."""
    with pytest.raises(
        family.SanitizationError,
        match=rf"'toy' has no published attribute {named}\. Try age, weight, town, disease, ward, or one of",
    ):
        family.Suppress(what).sanitize(toy(), rng=0)


@pytest.mark.parametrize("what", ["age, ward", " age,ward ", "ward, age, age"])
def test_suppression_by_name(what):
    release = family.Suppress(what).sanitize(toy(), rng=0)
    assert (release.table[["age", "ward"]] == "*").all(axis=None)
    assert release.treated("exact") == ("weight", "town", "disease")
    assert release.suppressed == 0, "nobody has lost all quasi-identifiers"


def test_suppression_by_name_of_a_role_is_that_role():
    every, named = (family.Suppress(what).sanitize(toy(), rng=0) for what in ("quasi-identifiers", "age, weight, town"))
    pd.testing.assert_frame_equal(every.table, named.table)
    assert named.suppressed == 40
    assert family.Suppress("age, town").changed_params() == "attributes=age, town"
    with pytest.raises(ValueError, match=r"attributes must name an attribute, .*; got ','"):
        family.Suppress(",")


def test_suppression_is_counted():
    assert family.Suppress().sanitize(toy(), rng=0).suppressed == 40
    assert family.Suppress("sensitive").sanitize(toy(), rng=0).suppressed == 0


def test_only_unseedable_noise_promises_its_epsilon():
    seeded = family.LaplaceNoise(0.5).sanitize(toy(), rng=1).provenance
    assert seeded.promise is None
    assert seeded.public()["use"] == "simulation: not for publication"
    fresh = family.LaplaceNoise(0.5).sanitize(toy(), rng=None).provenance
    assert fresh.promise.epsilon == 1.0  # two columns of one record
    assert fresh.promise.columns == ("age", "weight")
    assert "town" in fresh.promise.statement
    assert fresh.public()["use"] == "release"
    short = family.LaplaceNoise(0.5, {"age": 10}).sanitize(toy(), rng=None).provenance
    assert short.promise is None, "a sensitivity below the domain's width proves nothing"


UNCHANGED = [family.Identity(), family.LaplaceNoise(1.0), family.Suppress("sensitive")]


@pytest.mark.parametrize("sanitizer", UNCHANGED, ids=repr)
def test_row_builder_people_are_not_shown(sanitizer):
    with pytest.raises(ValueError, match="are not shown"):
        sanitizer.sanitize(toy(), rng=0).show()


def test_a_dozen_generalized_rows_are_shown():
    release = family.KMember(5).sanitize(toy(), rng=0)
    assert len(release.show(min_count=5)) == 12
    with pytest.raises(ValueError, match="at most 12"):
        release.show(13)


def test_only_the_generalized_columns_are_shown():
    """Neutral and sensitive ones are as they were, and single out people beside them."""
    release = family.KMember(5).sanitize(toy(), rng=0)
    assert list(release.show(min_count=2)) == toy().schema.quasi_identifiers


@pytest.mark.parametrize("k", [2, 5, 20])
def test_every_row_that_is_shown_is_that_of_many_people(k):
    """However many sensitive attributes there are, and however few people the release keeps together."""
    roles = {each.name: Role.SENSITIVE if each.role is Role.NEUTRAL else each.role for each in SCHEMA.attributes}
    data = replace(toy(), schema=SCHEMA.with_roles(roles))
    release = family.KMember(k).sanitize(data, rng=0)
    rows = [tuple(row) for row in release.table[data.schema.quasi_identifiers].astype(str).to_numpy()]
    shown = [tuple(row) for seed in range(20) for row in release.show(rng=seed).astype(str).to_numpy()]
    assert all(rows.count(row) >= LIMIT for row in shown)
    assert shown or k < 20
    assert min(map(rows.count, rows)) < LIMIT or k == 20, "others are kept back"


def test_without_quasi_identifiers_nothing_is_hidden_so_nothing_is_shown():
    schema = SCHEMA.with_roles({"disease": Role.SENSITIVE, "ward": Role.NEUTRAL})
    data = Dataset("bare", toy().table[["disease", "ward"]], schema, {})
    for sanitizer in (family.Identity(), family.Suppress()):
        with pytest.raises(ValueError, match="are not shown"):
            sanitizer.sanitize(data, rng=0).show()
    with pytest.raises(family.SanitizationError, match="has no quasi-identifier to generalize"):
        family.KMember(2).sanitize(data, rng=0)


def test_a_sanitizer_of_ones_own_that_has_a_parameter_without_a_default_is_in_no_list(monkeypatch):
    """It stopped every search of the session in which it was defined."""

    @dataclass(frozen=True)
    class _Shifted(Sanitizer):
        """Publish numbers that are moved by a given step."""

        step: int

    monkeypatch.setattr(catalogue, "kinds", lambda: {"Shifted": _Shifted, "Mondrian": Mondrian})
    assert [type(each) for each in catalogue.build_one_per_class(toy())] == [Mondrian]
    assert catalogue.build_without_bounds(toy()) == []
