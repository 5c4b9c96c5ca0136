"""Every evaluation, on releases of a subset of the records, of nobody, or with columns of their own: a number, or a
sentence that says why there is none.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from support.clinic import CLINIC
from support.questions import anti_utility, leakage

from privnb.attacks import Linkage
from privnb.datasets.dataset import load
from privnb.evaluation import evaluate, measure_good_utility, sanitizer_family
from privnb.evaluation.release_measures import AdversaryGains, InformationLoss
from privnb.evaluation.sanitizer_family import MEASURES
from privnb.microdata.schema import Attribute, Numbers, Role
from privnb.microdata.treatment import Rows
from privnb.reporting import gallery
from privnb.sanitizers import Identity, Sanitizer, Suppress


def _turned(table, rng, schema):
    names = [name for name in schema.quasi_identifiers if schema[name].numeric]
    new = tuple(Attribute(f"axis of {name}", Role.QUASI_IDENTIFIER, Numbers(-1e4, 1e4, 0.01)) for name in names)
    axes = {each.name: 1 - table[name] / 2 for each, name in zip(new, names, strict=True)}
    return table.assign(**dict.fromkeys(names, "*"), **axes), {"new": new}


def _some(table, rng, schema):
    rows = rng.permutation(len(table))[: len(table) // 2]
    return table.iloc[rows], {"rows": rows}


def _nobodys(table, rng, schema):
    return pd.DataFrame({n: rng.permutation(each.to_numpy()) for n, each in table.items()}), {"rows": Rows.SYNTHETIC}


MADE = {"new columns": (_turned, "perturbed"), "a subset": (_some, "exact"), "nobody's": (_nobodys, "synthetic")}


@dataclass(frozen=True)
class _Made(Sanitizer):
    """Not in any list: its name begins with a line."""

    name: str

    def _sanitize(self, dataset, table, rng):
        return MADE[self.name][0](table, np.random.default_rng(rng), dataset.schema)

    @property
    def treatment(self):
        return MADE[self.name][1]


SANITIZERS = [*map(_Made, MADE)]


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


def check(found):
    """Every row has a number, bounds, or a status with its reason."""
    bare = found[found.value.isna() & found.low.isna() & (found.status != "withheld")]
    assert (bare.status != "").all(), bare
    refused = found[found.status == "refused"]
    assert refused.reason.str.contains("synthetic|a subset of the records|no adversary knows|column").all()
    return set(refused.measure)


@pytest.mark.slow
@pytest.mark.parametrize("made", SANITIZERS, ids=lambda each: each.name)
def test_what_users_keep_and_adversaries_gain(clinic, made):
    kept = check(measure_good_utility(clinic, [made], miners="naive Bayes", folds=3))
    assert ("good_utility" in kept) == (made.name != "new columns"), "guesses are compared with the record of a row"
    check(anti_utility(clinic, made, miners="decision tree", target="age"))
    check(evaluate(clinic, [made], measures=[InformationLoss(), AdversaryGains("diagnosis")], attacks=[Linkage()]))
    check(leakage(clinic, [made]))
    assert len(gallery.show_side_by_side(clinic, [made]).table) == 2


@pytest.mark.slow
def test_the_frontier_measures_them_or_says_why_not(clinic):
    asked = [name for kind in MEASURES.values() for given in kind.values() for name in given]
    found = sanitizer_family.evaluate_family(clinic, [Identity(), *SANITIZERS, Suppress()], *asked, seeds=1)
    by_kind = {each.name: found[found.parameters == f"name={each.name}"] for each in SANITIZERS}
    kept = {name: check(each) for name, each in by_kind.items()}
    assert {"accuracy_gain", "reidentification_rate"} <= kept["nobody's"]
    assert "accuracy_gain" in kept["new columns"]
    for each in by_kind.values():
        assert each.set_index("measure").value["utility_loss"] >= 0
