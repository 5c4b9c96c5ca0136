"""What every attack keeps, whatever it does; classes are found, not listed."""

import inspect

import numpy as np
import pandas as pd
import pytest

import privnb.attacks as family
from privnb.microdata.dataset import load
from privnb.microdata.family import members
from privnb.microdata.schema import SchemaError
from privnb.microdata.treatment import KINDS, Unreadable
from privnb.sanitizers import Bucketize, Identity, LaplaceNoise, Suppress

SCHEMA = load("adult", records=2).schema
INSTANCES = [each for kind in members(family.Attack) for each in kind.examples(SCHEMA)]
every = pytest.mark.parametrize("attack", INSTANCES, ids=lambda attack: type(attack).__name__)


@pytest.fixture(scope="module")
def adult():
    return load("adult", records=600)


def right(attack, dataset, release, guess):
    """How many of the guesses that `guess(fitted attack, known)` makes are right."""
    published, key = release._published(3)
    known = dataset.table[dataset.schema.quasi_identifiers]
    fitted = attack.fit(published)
    truth = fitted.truth(dataset, key) if "key" in inspect.signature(fitted.truth).parameters else fitted.truth(dataset)
    return int((np.asarray(guess(fitted, known)) == truth).sum())


def test_no_attack_is_left_out():
    ours = {kind for kind in members(family.Attack) if not kind.__module__.startswith("test_")}
    assert {type(attack) for attack in INSTANCES} == ours
    own = {kind.__name__ for kind in members(family.Attack) if kind.__module__.startswith("privnb.")}
    assert own == set(family.__all__) - {"Attack"}


@every
def test_no_argument_carries_the_truth(attack):
    assert set(inspect.signature(attack.fit).parameters) == {"published"}
    for guess in (attack.predict, attack.baseline):
        assert set(inspect.signature(guess).parameters) <= {"known", "rng"}


@every
def test_no_better_than_the_baseline_against_full_suppression(attack, adult):
    release = Suppress().sanitize(adult, rng=0)
    guessed = right(attack, adult, release, lambda fitted, known: fitted.baseline(known))
    # Linkage draws among 600 rows: one right guess in expectation, eight or more once in a hundred thousand times.
    assert right(attack, adult, release, lambda fitted, known: fitted.predict(known)) <= max(guessed, 8)


@every
def test_better_than_the_baseline_where_nothing_is_hidden(attack, adult):
    """Else the test above would hold for an attack that cannot attack."""
    release = Identity().sanitize(adult, rng=0)
    guessed = right(attack, adult, release, lambda fitted, known: fitted.baseline(known))
    assert right(attack, adult, release, lambda fitted, known: fitted.predict(known)) > guessed


@every
@pytest.mark.parametrize("sanitizer", [Suppress(), LaplaceNoise(1.0), Bucketize(Suppress())], ids=repr)
def test_reads_the_treatments_that_it_states_and_refuses_others(attack, adult, sanitizer):
    published, _ = sanitizer.sanitize(adult, rng=0)._published(1)
    assert set(attack.supported_treatments) <= set(KINDS)
    unread = {each.kind for each in published.columns.values()} - set(attack.supported_treatments)
    if unread:
        with pytest.raises(Unreadable, match=rf"reads columns that are .*; this release has .*{unread.pop()}\. Choose"):
            attack.fit(published)
    else:
        attack.fit(published)


@every
def test_a_guess_needs_a_release(attack, adult):
    with pytest.raises(ValueError, match="has not seen a release yet"):
        attack.predict(adult.table)


@every
def test_what_an_attack_writes_into_its_tables_no_other_reads(attack, adult, monkeypatch):
    release = Identity().sanitize(adult, rng=0)
    published, _ = release._published(3)
    before, columns = published.table.copy(), dict(published.columns)

    def spoil(self, published):
        published.table.iloc[:, 0] = published.table.iloc[0, 0]
        published.columns.clear()
        return {}

    monkeypatch.setattr(type(attack), "_learn", spoil)
    attack.fit(published)
    pd.testing.assert_frame_equal(published.table, before)
    assert published.columns == columns == release.columns


@pytest.mark.parametrize("name", ["age", "sex"])
def test_people_of_whom_something_is_missing_are_refused(name, adult):
    published, _ = Identity().sanitize(adult, rng=0)._published(3)
    known = adult.table[adult.schema.quasi_identifiers].astype(object)
    known.loc[5, name] = None
    for attack in INSTANCES:
        with pytest.raises(SchemaError, match=f"missing values.*{name}|'{name}' has missing values"):
            attack.fit(published).predict(known)
