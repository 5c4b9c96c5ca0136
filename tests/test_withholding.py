"""Counts of few people stay withheld: the limit cannot be switched off, and nothing that is shown tells them."""

import importlib
import inspect
from itertools import combinations
from pathlib import Path

import auditor
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from privnb import adversary, charts, evaluation, experiments, leakage, losses, report, results, verdict, withholding
from privnb.charts.base import merge_small
from privnb.dataset import load
from privnb.runs import ReportError, choose, notebooks_folder
from privnb.sanitizers import Identity, KMember, Suppress
from privnb.scenario import AntiUtility, GoodUtility
from privnb.withholding import Margin, suppress

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


# --- what follows from what is shown ---


@st.composite
def declared(draw):
    """(cells, margins): people of a small table by two columns, and by sets of people that contain one another, as
    counts with all that is known of how they belong together; which are important is drawn.
    """
    n = draw(st.integers(4, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    groups = {name: rng.integers(draw(st.integers(1, 4)), size=n) for name in ("ward", "sex")}
    chain = np.cumsum(rng.random((draw(st.integers(0, 3)), n)) < draw(st.sampled_from([0.03, 0.2, 0.5, 0.9])), axis=0)
    sets = {f"set {i}": each > 0 for i, each in enumerate(chain)}
    cells, margins = {name: int(each.sum()) for name, each in sets.items()}, []
    margins += [Margin(b, [a]) for a, b in combinations(sets, 2)] + [Margin(n, [name]) for name in sets]
    for name, of in groups.items():
        within = {f"{name} {value}": of == value for value in np.unique(of)}
        if draw(st.booleans()):
            cells |= {label: int(each.sum()) for label, each in within.items()}
            margins.append(Margin(n, tuple(within), rest=False))
        for chosen in draw(st.lists(st.sampled_from([*sets, "none"]), max_size=2, unique=True)):
            if chosen in sets:
                parts = {f"{chosen}, {label}": int((sets[chosen] & each).sum()) for label, each in within.items()}
                cells |= parts
                margins.append(Margin(chosen, tuple(parts), rest=False))
                known = [label if label in cells else int(each.sum()) for label, each in within.items()]
                margins += [Margin(whole, [part]) for whole, part in zip(known, parts, strict=True)]
    order = draw(st.permutations(list(cells)))
    return {name: cells[name] for name in order}, margins


@settings(deadline=None, max_examples=60)
@given(declared(), st.integers(3, 12))
def test_no_count_of_few_people_follows_from_the_cells_that_are_shown(table, limit):
    cells, margins = table
    assume(not auditor.follows(cells, margins, {*cells}, limit))  # all but nobody few of each: the limit itself tells
    withheld = suppress(cells, margins, limit)
    assert auditor.follows(cells, margins, withheld, limit) == []
    assert all(cells[name] == 0 or cells[name] >= limit for name in cells.keys() - withheld)


@settings(deadline=None, max_examples=20)
@given(declared(), st.integers(3, 12))
def test_no_more_is_withheld_than_must_be(table, limit):
    """Each withheld count is of few people, or would let the count of few people follow if it were shown too."""
    cells, margins = table
    withheld = suppress(cells, margins, limit)
    for name in withheld:
        assert 0 < cells[name] < limit or auditor.follows(cells, margins, withheld - {name}, limit)


def test_the_auditor_finds_what_follows():
    total = Margin("all", ["a", "b", "c"], rest=False)
    cells = {"all": 60, "a": 40, "b": 17, "c": 3}
    assert auditor.follows(cells, [total], {"c"}, 10) == ["c"]
    assert auditor.follows(cells, [total], {"b", "c"}, 10) == []
    assert auditor.follows({"all": 18, "a": 9, "b": 9}, [total._replace(parts=["a", "b"])], {"a", "b"}, 10) == [
        "a",
        "b",
    ]
    alone = {"sex": 392, "age, sex": 396}
    assert auditor.follows({"age": 396}, [Margin(400, ["age"])], set(), 10) == ["400 less age"]
    assert auditor.follows(alone, [Margin("age, sex", ["sex"])], set(), 10) == ["age, sex less sex"]
