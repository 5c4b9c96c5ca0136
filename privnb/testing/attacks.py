"""The contracts of all attacks. `check_attack` runs all of `CHECKS`."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from privnb.attacks.base import Attack
from privnb.attacks.recovery.base import Recovery
from privnb.datasets.dataset import Dataset, load, load_schema
from privnb.microdata.treatment import KINDS, Unreadable
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.generalization.bucketize import Bucketize
from privnb.sanitizers.generalization.k_member import KMember
from privnb.sanitizers.generalization.suppress import Suppress
from privnb.sanitizers.identity import Identity
from privnb.sanitizers.noise.laplace_noise import LaplaceNoise
from privnb.testing.sanitizers import run_checks

RECORDS = 600
LUCK = 8  # right guesses among 600 draws: one is expected, and eight or more have a probability of 1 in 100,000


@cache
def load_people() -> Dataset:
    """Return a dataset with a small number of records of Adult."""
    return load("adult", records=RECORDS)


def check_attack(attack: Attack[Any] | type[Attack[Any]]) -> None:
    """Run all contracts of attacks on one attack, or on each example of a class of attacks.

    Raises
    ------
    AssertionError
        If a contract is broken; the notes of the error name the contract and the attack.
    """
    run_checks(CHECKS, attack.examples(load_schema("adult")) if isinstance(attack, type) else [attack])


def check_arguments(attack: Attack[Any]) -> None:
    """Check that no argument of `fit`, `predict` or `baseline` carries the truth."""
    assert set(inspect.signature(attack.fit).parameters) == {"published"}
    for guess in (attack.predict, attack.baseline):
        assert set(inspect.signature(guess).parameters) <= {"known", "rng"}, f"arguments of {guess.__name__}"


def check_needs_a_release(attack: Attack[Any]) -> None:
    """Check that the attack refuses to predict before `fit`."""
    said = ""
    try:
        attack.predict(load_people().table)
    except ValueError as error:
        said = str(error)
    assert "has not seen a release yet" in said, "`predict` reads the release through `self.published`"


def check_treatments(attack: Attack[Any]) -> None:
    """Check that the attack refuses a release with a treatment that is not one of its `supported_treatments`."""
    assert set(attack.supported_treatments) <= set(KINDS)
    for sanitizer in (Suppress(), LaplaceNoise(1.0), Bucketize(Suppress())):
        published, _ = sanitizer.sanitize(load_people(), rng=0)._published(1)
        if {each.kind for each in published.columns.values()} <= set(attack.supported_treatments):
            continue
        try:
            attack.fit(published)
        except Unreadable:
            continue
        raise AssertionError(f"{sanitizer!r} makes a treatment that the attack does not state, but `fit` accepts it")


def check_suppression(attack: Attack[Any]) -> None:
    """Check that an attack is not better than its baseline under full suppression, unless it recovers numbers."""
    if not isinstance(attack, Recovery):
        hidden = Bucketize(Suppress()) if _needs_buckets(attack) else Suppress()
        assert _right(attack, hidden, "predict") <= max(_right(attack, hidden, "baseline"), LUCK)


def check_success(attack: Attack[Any]) -> None:
    """Check that an attack is better than its baseline if the release hides nothing, unless it recovers numbers.

    An attack on buckets is checked on buckets of two people.
    """
    if not isinstance(attack, Recovery):
        sanitizer = least_hiding(attack)
        assert _right(attack, sanitizer, "predict") > _right(attack, sanitizer, "baseline"), "the attack fails"


def least_hiding(attack: Attack[Any]) -> Sanitizer:
    """Return the sanitizer that hides least among those whose releases the attack reads."""
    return Bucketize(KMember(2)) if _needs_buckets(attack) else Identity()


def _needs_buckets(attack: Attack[Any]) -> bool:
    """Return whether an attack reads only releases that list sensitive values in buckets."""
    return "bucketized" in attack.supported_treatments and "generalized" not in attack.supported_treatments


def _right(attack: Attack[Any], sanitizer: Sanitizer, guess: str) -> int:
    """Return the number of people about whom the attack guesses correctly from the release of a sanitizer."""
    dataset = load_people()
    published, key = sanitizer.sanitize(dataset, rng=0)._published(3)
    fitted: Any = attack.fit(published)
    given = [dataset, key][: 1 + ("key" in inspect.signature(fitted.truth).parameters)]
    known = dataset.table[dataset.schema.quasi_identifiers]
    return int((np.asarray(getattr(fitted, guess)(known)) == fitted.truth(*given)).sum())


CHECKS: tuple[Callable[[Attack[Any]], None], ...] = (
    check_arguments, check_needs_a_release, check_treatments, check_suppression, check_success,
)  # fmt: skip
