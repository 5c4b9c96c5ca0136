"""Methods of one's own in the loop: a sanitizer that returns a table, an estimator, and a measure, each alone."""

import re
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

import privnb as pn
from privnb.measures.utility.information_loss import discernibility
from privnb.testing.sanitizers import toy


@dataclass(frozen=True)
class _Banded(pn.Sanitizer):
    """Publish ages in bands of ten."""

    def _sanitize(self, dataset: Any, table: pd.DataFrame, rng: Any) -> pd.DataFrame:
        low = table["age"] // 10 * 10
        return table.assign(age=low.astype(str) + "-" + (low + 9).astype(str))


def test_each_is_taken_as_it_is():
    table = pn.read(toy(200).table[["age", "town", "disease"]], sensitive="disease", name="ward")
    release = table.sanitize(_Banded())
    assert any("privnb inferred it from the table" in sentence for sentence in release.sentences)
    frame = release.utility(GaussianNB(), measures=discernibility).frame
    assert any("by GaussianNB" in question for question in frame.question)
    assert any(question.startswith("Discernibility") for question in frame.question)


@dataclass(frozen=True)
class _Gives(pn.Sanitizer):
    """Return or raise what a test says."""

    gives: str

    def _sanitize(self, dataset: Any, table: pd.DataFrame, rng: Any) -> Any:
        if self.gives == "an error":
            raise KeyError("somebody aged 31")
        return {"nothing": None, "lists": table.assign(town=[["a"]] * len(table)), "few rows": table.head(3)}[
            self.gives
        ]


FAILS = {
    "an error": r"fails with KeyError in line \d+ of `_sanitize`",
    "nothing": "must return a table",
    "lists": "fails with TypeError in what it returned",
    "few rows": "has 3 rows",
}


def test_one_that_fails_stays_in_the_comparison_with_its_reason() -> None:
    table = pn.read(toy(60).table[["age", "town", "disease"]], sensitive="disease", name="ward")
    found = pn.compare(table, [pn.Mondrian(k=5), *map(_Gives, FAILS)], policy="groups-of-3", seeds=1)
    reasons = [*found.failed.values()]
    assert len(reasons) == len(FAILS)
    for reason, said in zip(reasons, FAILS.values(), strict=True):
        assert re.search(said, reason)
    assert "aged 31" not in "".join(reasons)


def test_alone_its_own_error_is_the_cause() -> None:
    with pytest.raises(pn.SanitizationError) as caught:
        _Gives("an error").sanitize(toy(60))
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_class_that_is_no_frozen_dataclass_is_refused_when_it_is_made() -> None:
    class Plain(pn.Sanitizer):
        def __init__(self, width: int) -> None:
            self.width = width

        def _sanitize(self, dataset: Any, table: pd.DataFrame, rng: Any) -> pd.DataFrame:
            return table

    @dataclass
    class Mutable(pn.Sanitizer):
        width: int = 3

        def _sanitize(self, dataset: Any, table: pd.DataFrame, rng: Any) -> pd.DataFrame:
            return table

    for make in (lambda: Plain(3), Mutable):
        with pytest.raises(pn.UsageTypeError, match=r"Write `@dataclass\(frozen=True\)` above"):
            make()
