"""What a notebook cannot run is refused where it loads its data, before anything is sanitized, mined or measured."""

from pathlib import Path

import nbformat
import pytest
from support.clinic import CLINIC

from privnb.evaluation import profiles

NOTEBOOKS = Path(__file__).parent.parent.parent / "notebooks"


def loaded(notebook, **given):
    """Runs a notebook on the clinic, with these parameters, up to the cell that loads the data."""
    parameters, imports, load, *_ = (c for c in nbformat.read(NOTEBOOKS / notebook, 4).cells if c.cell_type == "code")
    names = {}
    exec(parameters.source, names)
    assert set(given) < set(names)
    names.update(DATASET=str(CLINIC), STORE="", **given)
    exec(imports.source, names)
    exec(load.source, names)


@pytest.fixture(autouse=True)
def nothing_runs(monkeypatch):
    monkeypatch.setattr(profiles, "run_tasks", lambda *given, **options: pytest.fail("an evaluation was run"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"K": "few"}, "K must be one number or several"),
        ({"PROFILE": "slow"}, "PROFILE must be one of quick, full; got 'slow'"),
        ({"SEEDS": -1}, "seeds must be a whole number"),
        ({"WORKLOAD": "wealth"}, "must be a categorical neutral attribute .* got 'wealth'"),
        ({"RESEARCHER": "oracle"}, r"no miner \['oracle'\]"),
        ({"RESEARCHER": "linear regression"}, "RESEARCHER must name a miner that can predict 'diagnosis'"),
        ({"NEUTRAL": "ward, zodiac"}, r"neutral attributes must be among .*; got \['zodiac'\]"),
        ({"KNOWS": "age"}, r"neutral attributes must be among .*; got \['age'\]"),
        ({"MINERS": "standard, oracle"}, r"no miner \['oracle'\]"),
        ({"MINERS": "linear regression"}, "MINERS must name a miner that can predict 'age'"),
        ({"TARGET": "zodiac"}, "no attribute 'zodiac'; it has"),
    ],
)
def test_what_05_cannot_run_is_refused(given, said):
    with pytest.raises(ValueError, match=said):
        loaded("05_brickell_shmatikov.ipynb", **given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"T": "2"}, r"t must be a number above 0 and below 0\.6931 .every class lies within ln 2.; got 2"),
        ({"T": "0.1, 0"}, "t must be a number above 0 and below .*; got 0"),
        ({"L": "0.5"}, "l must be"),
        ({"MEDIAN": "mean"}, "split_point must be one of left"),
        ({"QUERIES": 0}, "QUERIES must be a whole number from 1 to 100,000; got 0"),
        ({"QUERIES": "many"}, "QUERIES must be a whole number .* got 'many'"),
        ({"MINERS": "oracle"}, r"no miner \['oracle'\]"),
        (
            {"MINERS": "linear regression"},
            "MINERS must name a miner that can predict 'diagnosis', a colum",
        ),
        ({"PROFILE": "slow"}, "PROFILE must be one of quick, full; got 'slow'"),
        ({"SEEDS": -1}, "seeds must be a whole number"),
    ],
)
def test_what_06_cannot_run_is_refused(given, said):
    with pytest.raises(ValueError, match=said):
        loaded("06_li_li.ipynb", **given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"K": "1"}, "k must be a whole number of at least 2"),
        (
            {"PRIVACY": "workload_utility"},
            "PRIVACY must be a measure of privacy: one of privacy_loss, .*; got 'workload_util",
        ),
        (
            {"UTILITY": "accuracy_gain"},
            "UTILITY must be a measure of utility: one of utility_loss, .*; got 'accuracy_gain'",
        ),
        ({"PRIVACY_CAP": -0.1}, "PRIVACY_CAP must be the largest privacy loss that you accept.*got -0.1"),
        ({"PRIVACY_CAP": "low"}, "PRIVACY_CAP .* or 0 for no cap; got 'low'"),
        ({"UTILITY_CAP": -1}, "UTILITY_CAP must be the largest utility loss that you accept.*got -1"),
        ({"TUNED": "Mondrian epsilon"}, "TUNED must be a sanitizer and its parameter.*got 'Mondrian epsilon'"),
        ({"TUNED_FROM": "0.1"}, "low must be a finite number; got .0.1."),
        ({"TUNED_FROM": 0.9}, "`low` and `high` must satisfy 0 < low < high"),
        ({"TUNED_TO": 1.5}, "t must be a number above 0 and below 1"),
        ({"TUNED": "KMember k", "TUNED_FROM": 2, "TUNED_TO": 20}, "got 19 from low=2 to high=20"),
    ],
)
def test_what_13_cannot_run_is_refused(given, said):
    with pytest.raises(ValueError, match=said):
        loaded("13_frontier.ipynb", **given)


@pytest.mark.parametrize("notebook", ["05_brickell_shmatikov.ipynb", "06_li_li.ipynb", "13_frontier.ipynb"])
def test_what_a_notebook_asks_itself_is_not(notebook):
    loaded(notebook)


@pytest.mark.parametrize("off", [{"TUNED": ""}, {"PRIVACY_CAP": 0}])
def test_without_a_search_its_bounds_do_not_matter(off):
    loaded("13_frontier.ipynb", TUNED_FROM=9, TUNED_TO=1, **off)
