"""What every attack keeps, whatever it does; classes are found, not listed."""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import privnb.attacks as family
from privnb.attacks.recovery.base import Recovery
from privnb.attacks.recovery.recovery_knowledge import Pairs
from privnb.datasets.dataset import load_schema
from privnb.microdata.schema import Attribute, Numbers, Role, SchemaError
from privnb.microdata.treatment import KINDS, Unreadable
from privnb.runtime.registry import find_classes
from privnb.sanitizers import Bucketize, LaplaceNoise, Sanitizer, Suppress
from privnb.testing.attacks import CHECKS, least_hiding, load_people

SCHEMA = load_schema("adult")
INSTANCES = [each for kind in find_classes(family.Attack) for each in kind.examples(SCHEMA)]
RECOVERIES = [each for each in INSTANCES if isinstance(each, Recovery)]
CELLS = [each for each in INSTANCES if not isinstance(each, Recovery)]  # their guesses are right or wrong
NUMBERS = "age", "education-num"


def marked(attacks):
    return pytest.mark.parametrize("attack", attacks, ids=lambda attack: type(attack).__name__)


every, every_cell, every_number = marked(INSTANCES), marked(CELLS), marked(RECOVERIES)


@pytest.fixture(scope="module")
def adult():
    return load_people()


def knowing(attack, dataset, published, key):
    """An attack that recovers numbers, with what its adversary must know of the first rows; any other one as it is."""
    if not isinstance(attack, Recovery) or attack.knows is None:
        return attack
    key = np.arange(len(published.table)) if key is None else key
    originals, rows = dataset.table.iloc[key[: attack.people]], published.table.iloc[: attack.people]
    return attack.given(attack.knows.of(originals, rows, 1))


def test_no_attack_is_left_out():
    ours = {kind for kind in find_classes(family.Attack) if not kind.__module__.startswith("test_")}
    assert {type(attack) for attack in INSTANCES} == ours
    own = {kind.__name__ for kind in find_classes(family.Attack) if kind.__module__.startswith("privnb.")}
    assert own == set(family.__all__) - {"Attack"}


@every
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(attack, check):
    check(attack)


@every
def test_people_have_a_name_for_it_that_is_no_class(attack):
    """Results, charts and findings call it so; the linkage that is a release's own number has none in them."""
    own = {each for each in family.__all__ if not each.isupper()}  # the field calls ICA by its name
    assert bool(attack.called) == (type(attack) is not family.Linkage)
    assert not own & {*re.findall(r"\w+", attack.called)}
    others = [each for each in INSTANCES if type(each) is not type(attack)]
    assert attack.called not in {each.called for each in others}


@every
@pytest.mark.parametrize("sanitizer", [Suppress(), LaplaceNoise(1.0), Bucketize(Suppress())], ids=repr)
def test_reads_the_treatments_that_it_states_and_refuses_others(attack, adult, sanitizer):
    published, _ = sanitizer.sanitize(adult, rng=0)._published(1)
    assert set(attack.supported_treatments) <= set(KINDS)
    unread = {each.kind for each in published.columns.values()} - set(attack.supported_treatments)
    if isinstance(attack, Recovery) and not published.treated(attack.undoes) and not unread:
        with pytest.raises(Unreadable, match=rf"needs {attack.undoes} numbers; in this release, .*Choose"):
            attack.fit(published)
    elif unread:
        with pytest.raises(Unreadable, match=rf"reads columns that are .*; this release has .*{unread.pop()}\. Choose"):
            attack.fit(published)
    else:
        knowing(attack, adult, published, None).fit(published)


@every
def test_what_an_attack_writes_into_its_tables_no_other_reads(attack, adult, monkeypatch):
    release = least_hiding(attack).sanitize(adult, rng=0)
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
    known = adult.table[adult.schema.quasi_identifiers].astype(object)
    known.loc[5, name] = None
    for attack in CELLS:
        published, _ = least_hiding(attack).sanitize(adult, rng=0)._published(3)
        with pytest.raises(SchemaError, match=f"missing values.*{name}|'{name}' has missing values"):
            attack.fit(published).predict(known)


# Attacks that recover numbers.


class _Moved(Sanitizer):
    """Two columns of its own instead of two numbers, which are suppressed."""

    def _sanitize(self, dataset, table, rng):
        domains = [dataset.schema[name].domain for name in NUMBERS]
        places = [(table[name] - (of.low + of.high) / 2) / of.width for name, of in zip(NUMBERS, domains, strict=True)]
        moved = self.moved(np.column_stack(places), np.random.default_rng(rng))
        new = [Attribute(name, Role.QUASI_IDENTIFIER, Numbers(-100, 100, 0.001)) for name in ("one", "two")]
        columns = {attribute.name: column for attribute, column in zip(new, moved.T, strict=True)}
        return table.assign(**dict.fromkeys(NUMBERS, "*"), **columns), {"new": tuple(new)}


@dataclass(frozen=True)
class _Pointless(_Moved):
    """Nothing is left of the numbers."""

    def moved(self, places, rng):
        return rng.normal(size=places.shape)


@dataclass(frozen=True)
class _Slight(_Moved):
    """They are turned by ten degrees."""

    def moved(self, places, rng):
        cosine, sine = np.cos(np.pi / 18), np.sin(np.pi / 18)
        return places @ np.array([[cosine, sine], [-sine, cosine]])


HIDDEN = {"noisy": LaplaceNoise(1e-3), "perturbed": _Pointless()}
OPEN = {"noisy": LaplaceNoise(500.0), "perturbed": _Slight()}


def misses(attack, dataset, sanitizer):
    """Root mean squares, in standard deviations, of the guesses and of the baseline, of all but known people: whoever
    guessed the true mean would have 1.
    """
    release = sanitizer.sanitize(dataset, rng=1)
    published, key = release._published(3)
    fitted = knowing(attack, dataset, published, key).fit(published)
    rows, truth = published.table.iloc[attack.people :], fitted.truth(dataset)[key]
    return [
        np.sqrt(np.mean(((guess - truth[attack.people :]) / truth.std(axis=0)) ** 2))
        for guess in (fitted.predict(rows), fitted.baseline(rows))
    ]


@every_number
def test_numbers_are_recovered_no_better_than_by_the_mean_where_nothing_is_left_of_them(attack, adult):
    guess, mean = misses(attack, adult, HIDDEN[attack.undoes])
    assert guess > 0.99
    assert mean > 0.99


@every_number
def test_numbers_are_recovered_better_than_by_the_mean_where_little_is_hidden(attack, adult):
    guess, mean = misses(attack, adult, OPEN[attack.undoes])
    assert guess < 0.9
    assert mean < 3


@every_number
def test_rows_are_guessed_in_their_order_whatever_their_index(attack, adult):
    published, key = OPEN[attack.undoes].sanitize(adult, rng=1)._published(3)
    fitted = knowing(attack, adult, published, key).fit(published)
    rows = published.table.iloc[:50]
    guesses = fitted.predict(rows)
    assert guesses.shape == fitted.baseline(rows).shape == (50, len(fitted.targets))
    np.testing.assert_allclose(fitted.predict(rows.set_index(pd.Index([3] * 50))), guesses)
    with pytest.raises(SchemaError, match="of released rows; got rows with"):
        fitted.predict(rows[["sex"]])


@every_number
def test_what_an_adversary_must_know_is_asked_for_and_nothing_else_is_taken(attack, adult):
    published, _ = OPEN[attack.undoes].sanitize(adult, rng=1)._published(3)
    if attack.knows is None:
        with pytest.raises(TypeError, match="needs no knowledge in addition to the release"):
            attack.given(Pairs(adult.table[:1], published.table[:1]))
        return
    with pytest.raises(Unreadable, match=r"needs to know .*, but got no knowledge"):
        attack.fit(published)
    with pytest.raises(TypeError, match="knowledge must be a"):
        attack.given(adult.table)
    twice = pd.concat([adult.table] * 2)
    many = attack.knows.of(twice, pd.concat([published.table] * 2), 1)
    with pytest.raises(Unreadable, match=r"must know at most 600 people, the number of rows in the release; got 1,200"):
        attack.given(many).fit(published)


@every_number
def test_what_is_known_is_not_shown(attack, adult):
    """A notebook keeps what it shows."""
    if attack.knows is not None:
        shown = repr(attack.knows.of(adult.table[:5], adult.table[:5], 1))
        assert shown == f"{attack.knows.__name__}(5 people)"


def test_old_names_work_with_a_warning():
    for old, new in family.RENAMED.items():
        with pytest.warns(DeprecationWarning, match=f"'{old}' is now '{new}'"):
            assert getattr(family, old) is getattr(family, new)
