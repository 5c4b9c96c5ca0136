"""Counts of few people stay withheld: the limit cannot be switched off."""

import importlib
import inspect
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privnb import adversary, charts, evaluation, experiments, leakage, losses, report, results, verdict, withholding
from privnb.charts.base import merge_small
from privnb.dataset import load
from privnb.runs import ReportError, choose, notebooks_folder
from privnb.sanitizers import Identity, KMember, Suppress
from privnb.scenario import AntiUtility, GoodUtility

PACKAGE = Path(withholding.__file__).parent
CLINIC = load(Path(__file__).parent / "data" / "clinic" / "clinic.toml")

# --- the limit ---

COUNTS = pd.Series([20, 30], index=pd.Index(["a", "b"], name="ward"))
OWNER = verdict.Scenario(GoodUtility("diagnosis"), AntiUtility("age"))
ASKED = {  # every function that takes the limit
    "adversaries": lambda limit: experiments.adversaries(CLINIC, [KMember(10)], fewest=limit),
    "Aggregate": lambda limit: charts.Aggregate(pd.DataFrame({"people": [20]}), {"people": "people"}, limit),
    "anti_utility": lambda limit: adversary.anti_utility(CLINIC, KMember(10), fewest=limit),
    "compare": lambda limit: OWNER.compare(CLINIC, [KMember(10)], fewest=limit),
    "costs": lambda limit: evaluation.costs(CLINIC, [KMember(10)], fewest=limit),
    "judge": lambda limit: OWNER.judge(CLINIC, KMember(10), fewest=limit),
    "known_attributes": lambda limit: experiments.known_attributes(CLINIC, fewest=limit),
    "known_subsets": lambda limit: leakage.known_subsets(CLINIC, [Identity()], fewest=limit),
    "leakage": lambda limit: leakage.leakage(CLINIC, [Identity()], fewest=limit),
    "leaked": lambda limit: experiments.leaked(CLINIC, [Identity()], fewest=limit),
    "merge_small": lambda limit: merge_small(COUNTS, fewest=limit),
    "people": lambda limit: charts.people(COUNTS, fewest=limit),
    "priced": lambda limit: leakage.priced(CLINIC, [Identity()], fewest=limit),
    "scales": lambda limit: losses.scales(CLINIC, fewest=limit),
    "tells_few": lambda limit: evaluation.tells_few(Suppress().sanitize(CLINIC, rng=1), "diagnosis", fewest=limit),
    "trade_off": lambda limit: losses.trade_off(CLINIC, [Identity()], fewest=limit),
    "uniqueness": lambda limit: evaluation.uniqueness(CLINIC, fewest=limit),
    "withheld": lambda limit: results.withheld(results.tidy([]), limit),
    "worth": lambda limit: leakage.worth(CLINIC, [Identity()], pd.DataFrame(), fewest=limit),
}  # fmt: skip
NO_LIMITS = [1, 0, -1, float("nan"), float("inf"), 2.5, 10.0, "x", "10", None, True, np.float64(10), [10]]


@pytest.mark.parametrize("limit", NO_LIMITS, ids=repr)
@pytest.mark.parametrize("name", ASKED)
def test_no_function_withholds_less_than_counts_of_one(name, limit, monkeypatch):
    for module in (evaluation, leakage, losses, adversary, experiments.askari, experiments.sramka):
        for ran in ("rows_of", "evaluated", "mine"):
            monkeypatch.setattr(module, ran, None, raising=False)  # nothing ran before it was refused
    with pytest.raises(ValueError, match="fewest must be a whole number from 2, got "):
        ASKED[name](limit)


def test_the_list_above_names_every_function_that_takes_the_limit():
    files = [path.relative_to(PACKAGE).with_suffix("") for path in PACKAGE.rglob("*.py") if path.stem[:2] != "__"]
    takes = set()
    for module in (importlib.import_module(".".join(["privnb", *file.parts])) for file in files):
        for thing in vars(module).values():
            for found in [thing, *(vars(thing).values() if inspect.isclass(thing) else ())]:
                if inspect.isfunction(found) and "fewest" in inspect.signature(found).parameters:
                    takes.add(thing.__name__ if found.__name__ == "__init__" else found.__name__)
    other = {"bad_rows", "told_baseline", "DecisionTable"}  # parts of `anti_utility`; records in a cell of a miner's
    assert {name for name in takes - other if not name.startswith("_")} == set(ASKED)


@pytest.mark.parametrize("limit", [2, 10, np.int64(10), np.uint8(11)], ids=repr)
def test_whole_numbers_of_any_kind_are_limits(limit):
    assert withholding.check(limit) == limit


LIMITED = [notebook.name for notebook in choose(notebooks_folder()) if "FEWEST" in notebook.parameters]


@pytest.mark.parametrize("limit", ["0", "1", "-1", "nan", "inf", "2.5", "x", "", 0, 1.0, True])
@pytest.mark.parametrize("name", LIMITED)
def test_no_notebook_starts_without_a_limit(name, limit, monkeypatch, tmp_path):
    monkeypatch.setattr(report, "run", None)
    with pytest.raises(ReportError, match="FEWEST"):
        report.build(tmp_path / "out", notebooks=[name], parameters={"FEWEST": limit})
    assert list(tmp_path.iterdir()) == []
