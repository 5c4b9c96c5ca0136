"""Methods of one's own in the loop: a sanitizer that returns a table, an estimator, and a measure, each alone."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
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
