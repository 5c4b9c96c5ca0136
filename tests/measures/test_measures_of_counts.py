"""Measures that are functions of counts say of combinations what they say of the records; all others refuse them."""

import inspect

import pytest
from hypothesis import given, settings, strategies as st
from support import person_key
from support.clinic import CLINIC

from privnb.datasets.dataset import load
from privnb.measures import base
from privnb.measures.disclosure import gains
from privnb.measures.utility import information_loss
from privnb.microdata.rows import CombinationTable
from privnb.microdata.treatment import Unreadable
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import Bucketize, FullDomain, Mondrian, SanitizationError, Suppress

LOSSES = [
    each
    for _, each in inspect.getmembers(information_loss, lambda each: hasattr(each, "facts"))
    if each.facts.by_combinations
]
SANITIZERS = [
    Mondrian(KAnonymity(3)),
    FullDomain(KAnonymity(3), suppress=0.1),
    Bucketize(Mondrian(KAnonymity(2))),
    Suppress(),
]


def measured(data, release):
    target = next(iter(data.schema.sensitive))
    given = {"dataset": data, "release": release, "target": target}
    found = {}
    for each in LOSSES:
        takes = {name: given[name] for name in inspect.signature(each).parameters}
        try:
            found[each.facts.name] = each(**takes)
        except Unreadable as refused:
            found[each.facts.name] = str(refused)
    counts = gains.class_counts(release, target)
    found["gains"] = gains.accuracy_gain(counts), gains.knowledge_gain(counts)
    found["knowing"] = sorted(gains.knowledge_before(release, target, data.schema.quasi_identifiers[:1]).max(axis=1))
    return found


def check(data):
    counted = CombinationTable.of(data)[0]
    for sanitizer in SANITIZERS:
        try:
            release = sanitizer.sanitize(data, rng=1)
        except SanitizationError:
            continue
        of_counts, of_records = measured(counted, sanitizer.sanitize(counted, rng=1)), measured(data, release)
        assert {*of_counts.pop("knowing")} == {*of_records.pop("knowing")}
        assert {name: pytest.approx(value) for name, value in of_records.items()} == of_counts


def test_there_are_such_measures():
    assert {"certainty_penalty", "discernibility", "kl_divergence"} <= {each.facts.name for each in LOSSES}


@pytest.mark.slow
@settings(max_examples=25)  # tables, each by four sanitizers and eleven losses
@given(st.integers(20, 60), st.integers(0, 2**20))
def test_of_made_up_tables_with_a_key_of_people(people, seed):
    check(person_key.visits(people, rng=seed))


def test_of_a_table():
    check(load(CLINIC))


@pytest.mark.slow
def test_of_adult():
    check(load("adult", "occupation"))


def test_what_reads_records_refuses_counts():
    counted = CombinationTable.of(load(CLINIC))[0]
    release = Mondrian(KAnonymity(3)).sanitize(counted, rng=1)
    with pytest.raises(Unreadable, match="change rate is measured on records, and this data holds"):
        information_loss.change_rate(counted, release)


def test_facts_of_every_measure_say_which_it_is():
    known = {facts.name: facts for facts in base.list_measures()}
    assert known["precision"].by_combinations
    assert not known["mean_absolute_error"].by_combinations
