"""Sanitizers that return a table and state nothing: what they did to each column is inferred, and said to be."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from privnb import testing
from privnb.datasets.dataset import Dataset
from privnb.evaluation import evaluate
from privnb.measures.utility.information_loss import certainty_penalty
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Numbers, Role
from privnb.runtime.errors import UsageTypeError
from privnb.sanitizers import Identity, SanitizationError, Sanitizer
from privnb.testing.sanitizers import HIERARCHIES, SCHEMA, toy


@dataclass(frozen=True)
class _Bare(Sanitizer):
    """Change a table by a function, and return it."""

    change: Callable[..., Any]

    def _sanitize(self, dataset: Any, table: pd.DataFrame, rng: Any) -> Any:
        return self.change(dataset, table, rng)


def bands(dataset, table, rng):
    low = table["age"] // 10 * 10
    return table.assign(age=low.astype(str) + "-" + (low + 9).astype(str))


def starred(dataset, table, rng):
    return table.assign(town=table["town"].where(table["town"] == "a", "*"))


def rounded(dataset, table, rng):
    return table.assign(weight=table["weight"] // 5 * 5)


def swapped(dataset, table, rng):
    return table.assign(disease=rng.permutation(table["disease"]), town=np.roll(table["town"], 1))


INFERRED = [
    (lambda dataset, table, rng: table, {}),
    (bands, {"age": "generalized"}),
    (starred, {"town": "suppressed"}),
    (rounded, {"weight": "perturbed"}),
    (swapped, {"disease": "perturbed", "town": "perturbed"}),
]


@pytest.mark.parametrize(("change", "kinds"), INFERRED)
def test_what_was_done_is_inferred_and_the_provenance_says_so(change, kinds):
    release = _Bare(change).sanitize(toy(), rng=1)
    every = dict.fromkeys(["age", "weight", "town", "disease", "ward"], "exact") | kinds
    assert {name: each.kind for name, each in release.columns.items()} == every
    note = release.provenance.public()["note"]
    assert "privnb inferred it from the table" in note
    assert all(name in note and kind in note for name, kind in every.items())


def test_nothing_is_inferred_of_a_sanitizer_that_states_its_facts():
    assert "inferred" not in Identity().sanitize(toy(), rng=1).provenance.note


def wrong_label(dataset, table, rng):
    return bands(dataset, table, rng).assign(age=lambda made: made["age"].where(made.index > 0, "95-99"))


def unknown_label(dataset, table, rng):
    return table.assign(town="elsewhere")


def shuffled(dataset, table, rng):
    return table.sample(frac=1, random_state=1)


REFUSED = [
    (wrong_label, "'age' is published as '95-99' for .* does not cover their values"),
    (unknown_label, "'town' is published as 'elsewhere' .* not a label of its hierarchy"),
    (shuffled, "the order of the index differs. Return the rows in order"),
    (lambda dataset, table, rng: table.head(3), "the release has 3 rows, and 'toy' has 40 records"),
    (lambda dataset, table, rng: table.drop(columns="ward"), "the release lacks"),
    (lambda dataset, table, rng: table.assign(more=1), "the release has .* in addition to"),
]


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_a_table_that_is_no_release_is_refused(change, message):
    with pytest.raises(SanitizationError, match=message):
        _Bare(change).sanitize(toy(), rng=1)


@pytest.mark.parametrize("made", [None, [1], (1, 2, 3), ("a", "b")])
def test_what_is_no_table_is_refused(made):
    with pytest.raises(UsageTypeError, match=r"_Bare\._sanitize must return a table, or a tuple"):
        _Bare(lambda *given: made).sanitize(toy(), rng=1)


@dataclass(frozen=True)
class _Filled(_Bare):
    """Work on numbers alone, and leave the gaps where they were."""

    missing_numbers = "restored"


def test_gaps_are_restored_and_the_originals_next_to_them_are_not():
    ages = Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99, missing="?"))
    schema = replace(SCHEMA, attributes=tuple(ages if each.name == "age" else each for each in SCHEMA.attributes))
    gapped = toy().table.assign(age=toy().table["age"].astype(float).where(toy().table.index > 4))
    data = Dataset("toy", gapped, schema, HIERARCHIES | {"age": flat(ages)})
    release = _Filled(lambda dataset, table, rng: table.assign(age=table["age"] // 10 * 10)).sanitize(data, rng=1)
    assert release.columns["age"].kind == "perturbed"
    assert release.table["age"].isna().tolist() == gapped["age"].isna().tolist()
    assert (release.table["age"].dropna() % 10 == 0).all()


@dataclass(frozen=True)
class _Tens(Sanitizer):
    """Publish ages in bands of ten.

    Source: nobody yet.
    """

    order_invariant = global_recoding = True

    def _sanitize(self, dataset: Any, table: pd.DataFrame, rng: Any) -> pd.DataFrame:
        return bands(dataset, table, rng)


def test_it_keeps_the_contracts_and_is_evaluated():
    testing.check_sanitizer(_Tens())
    found = evaluate(toy(), [_Tens()], measures=[certainty_penalty])
    assert 0 < found.value[0] < 1
