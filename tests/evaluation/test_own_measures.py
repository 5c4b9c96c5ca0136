"""Measures of one's own: any callable, also of a notebook's cell; and one method where a list is asked."""

from dataclasses import replace
from functools import partial

import pytest

from privnb.attacks import Linkage
from privnb.decision import policies
from privnb.evaluation import evaluate
from privnb.evaluation.sanitizer_family import evaluate_family, is_marked
from privnb.evaluation.utility.good_utility import measure_good_utility
from privnb.measures import base, list_measures, measure, measure_facts
from privnb.measures.utility.information_loss import certainty_penalty
from privnb.runtime.errors import UsageError, UsageTypeError
from privnb.sanitizers import Identity, Mondrian, Suppress
from privnb.testing.sanitizers import toy

CELL = '''
from privnb import measure

@measure(kind="utility", better="lower", bounds=(0, 1), unit="share of columns")
def changed_columns(dataset, release):
    """Share of the published columns that are not exact.

    Source: a notebook.
    """
    return sum(each.kind != "exact" for each in release.columns.values()) / len(release.columns)
'''


@pytest.fixture
def forgotten():
    """What a test states is forgotten afterwards."""
    before = {**base._registered}, {**base._marked}
    yield
    for now, then in zip((base._registered, base._marked), before, strict=True):
        now.clear()
        now.update(then)


def of_a_cell():
    names = {"__name__": "__main__"}
    exec(CELL, names)
    return names["changed_columns"]


def test_a_function_of_a_cell_is_a_measure_everywhere(forgotten, tmp_path, capsys):
    mine = of_a_cell()
    mine = of_a_cell()  # the cell runs again
    found = evaluate(toy(), Mondrian(10), measures=[mine, certainty_penalty])
    assert found.value.tolist()[0] == 0.6
    assert measure_facts("changed_columns").sentence == "Share of the published columns that are not exact."
    assert "changed_columns" in [each.name for each in list_measures("utility")]
    assert is_marked("changed_columns", "utility")
    kept = evaluate(toy(), Mondrian(10), measures=[mine, certainty_penalty], store=str(tmp_path / "kept"))
    assert kept.value.tolist() == found.value.tolist()
    assert len([*(tmp_path / "kept").glob("*.result")]) == 1, "of the package's measure"
    assert "run in this process, and their results are not kept" in capsys.readouterr().err
    ends = evaluate_family(toy(), [Mondrian(10), Identity(), Suppress()], "changed_columns", min_class_size=2)
    assert ends[ends.measure == "changed_columns"].value.tolist() == [0.6, 0, 0.6]
    need = policies.Need("changed_columns")
    assert replace(policies.read("k-5"), needs=(need,)).needs == (need,)


def share(release, kind):
    """Share of the published columns of a kind."""
    return sum(each.kind == kind for each in release.columns.values()) / len(release.columns)


class LargestShare:
    """The largest share of columns of one kind."""

    def __call__(self, release):
        return max(share(release, kind) for kind in ("exact", "generalized"))


FACTS = {"kind": "privacy", "better": "lower", "bounds": (0, 1)}


def test_any_callable_is_a_measure(forgotten):
    exact = measure(**FACTS, name="exact_share")(partial(share, kind="exact"))
    generalized = measure(**FACTS, name="generalized_share")(partial(share, kind="generalized"))
    largest = measure(**FACTS)(LargestShare())
    found = evaluate(toy(), Mondrian(10), measures=[exact, generalized, largest])
    assert dict(zip(found.measure, found.value, strict=True)) == dict.fromkeys(
        ["exact_share", "generalized_share", "largest_share"], 0.4
    )
    assert measure_facts("exact_share").sentence == "Share of the published columns of a kind."
    assert measure_facts("largest_share").sentence == "The largest share of columns of one kind."
    with pytest.raises(UsageError, match="`name` must be given"):
        measure(**FACTS)(lambda release: 0.5)
    assert measure(**FACTS, name="half")(lambda release: 0.5)(Identity().sanitize(toy(), rng=1)) == 0.5
    with pytest.raises(UsageTypeError, match="@measure must mark a function; got 3"):
        measure(**FACTS)(3)


def test_one_method_is_taken_for_a_list_of_one():
    alone = evaluate(toy(), Mondrian(10), attacks=Linkage(), measures=certainty_penalty)
    assert alone.equals(evaluate(toy(), [Mondrian(10)], attacks=[Linkage()], measures=[certainty_penalty]))
    asked = {"miners": "majority", "folds": 2}
    assert measure_good_utility(toy(), Mondrian(10), **asked).equals(
        measure_good_utility(toy(), [Mondrian(10)], **asked)
    )
    for wrong, message in (
        ("Mondrian", "sanitizers must be a list of Sanitizer"),
        ([3], r"sanitizers\[0\] must"),
    ):
        with pytest.raises(UsageTypeError, match=message):
            evaluate(toy(), wrong, measures=certainty_penalty)
