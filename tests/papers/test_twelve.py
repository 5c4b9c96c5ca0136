"""The twelve made-up people: what is worked by hand is what is computed, and no other table is shown so."""

import itertools

import pytest
from support.naming import naming

from privnb.datasets import dataset
from privnb.papers import charts, twelve

PARTS = ("uniqueness", "classes", "detail", "neighbour", "models", "guesses", "miner", "releases")


@pytest.fixture(scope="module")
def worked():
    return list(itertools.chain.from_iterable(getattr(twelve, part)() for part in PARTS))


def test_a_number_worked_by_hand_is_the_computed_one(worked):
    for each in worked:
        with naming(each.number):
            assert float(each.hand) == pytest.approx(each.computed, abs=1e-12)
            assert each.agrees
            assert each.words
            assert not twelve.Worked("", "", each.hand + 1, each.computed).agrees


def test_a_number_that_does_not_agree_is_seen(worked):
    wrong = twelve.Worked("people", "counted wrongly", 11, 12)
    assert twelve.worked(worked[:1], [wrong]).table.iloc[:, -1].tolist() == ["the same", "NOT THE SAME"]


def test_other_people_are_not_shown_so(tmp_path, monkeypatch):
    """Whoever puts a table of their own in the place of the twelve sees nothing of it."""
    described = dataset.find("twelve")
    other = tmp_path / "twelve.toml"
    other.write_text(described.read_text())
    other.with_name("twelve.csv").write_text("person,age,house,illness\nA,21,5,flu\n")
    monkeypatch.setattr(dataset, "find", lambda name: other)
    for show in (twelve.people, twelve.table, charts.cuts):
        with pytest.raises(ValueError, match="is not the file that comes with privnb"):
            show()


def test_each_kind_of_result_is_of_the_same_twelve():
    assert len(twelve.people()) == len(twelve.people("levels")) == 12
    assert twelve.people().table.equals(twelve.people("levels").table)
    assert list(twelve.published().table["class"].value_counts()) == [3] * 4


def test_only_the_full_domain_release_is_dominated():
    releases = twelve.frontier().set_index("sanitizer")["status"]
    assert releases[releases == "dominated"].index.tolist() == ["FullDomain"]
    assert set(releases) == {"efficient", "dominated"}


def test_the_lattice_has_every_choice_of_levels_and_the_one_that_the_search_takes():
    nodes = twelve.lattice()
    assert len(nodes) == 16
    keeps = nodes[nodes["k"] >= 3]
    assert keeps.loc[keeps["penalty"].idxmin(), "chosen"]
    assert nodes["chosen"].sum() == 1
    for node, above in itertools.product(keeps.itertuples(), nodes.itertuples()):
        assert above.k >= 3 or above.age < node.age or above.house < node.house


@pytest.mark.slow
def test_the_pictures_show_the_cuts_and_the_chosen_node():
    drawn = charts.cuts().to_dict()
    boxes = [next(iter(panel["layer"]))["data"]["name"] for panel in drawn["hconcat"]]
    cuts = [panel["layer"][-1]["data"]["name"] for panel in drawn["hconcat"]]
    assert [len(drawn["datasets"][name]) for name in boxes] == [2, 4]
    assert [len(drawn["datasets"][name]) for name in cuts] == [1, 3]
    assert "'any age, 10 houses' loses least, 62%" in "".join(charts.lattice().to_dict()["title"]["text"])


def test_the_answer_counts_all_that_was_worked(worked):
    first, second = str(twelve.answer()).split("\n\n")
    assert f"{len(worked)} of {len(worked)} numbers" in first
    assert "33% of the twelve in a release with k = 3, and 100% in the table" in first
    assert len(first.split()) <= 40
    assert "8 of 12 right, and 6 without" in second
