"""The twelve made-up people: what is worked by hand is what is computed, and no other table is shown so."""

import itertools

import pytest
from support.naming import naming

from privnb.datasets import dataset
from privnb.papers import charts, twelve

PARTS = (
    "count_unique", "count_classes", "measure_detail", "link_neighbour", "grade_models", "guess_illness", "predict_age",
    "compare_releases",
)  # fmt: skip


@pytest.fixture(scope="module")
def worked():
    return list(itertools.chain.from_iterable(getattr(twelve, part)() for part in PARTS))


def test_a_number_worked_by_hand_is_the_computed_one(worked):
    for each in worked:
        with naming(each.number):
            assert float(each.hand) == pytest.approx(each.computed, abs=1e-12)
            assert each.agrees
            assert each.words
            assert not twelve.Check("", "", each.hand + 1, each.computed).agrees


def test_a_number_that_does_not_agree_is_seen(worked):
    wrong = twelve.Check("people", "counted wrongly", 11, 12)
    assert twelve.show_worked(worked[:1], [wrong]).table.iloc[:, -1].tolist() == ["the same", "NOT THE SAME"]


def test_other_people_are_not_shown_so(tmp_path, monkeypatch):
    """Whoever puts a table of their own in the place of the twelve sees nothing of it."""
    described = dataset.find_description("twelve")
    other = tmp_path / "twelve.toml"
    other.write_text(described.read_text())
    other.with_name("twelve.csv").write_text("person,age,house,illness\nA,21,5,flu\n")
    monkeypatch.setattr(dataset, "find_description", lambda name: other)
    for show in (twelve.load_people, twelve.show_people, charts.cuts):
        with pytest.raises(ValueError, match="is not the file that comes with privnb"):
            show()


def test_each_kind_of_result_is_of_the_same_twelve():
    assert len(twelve.load_people()) == len(twelve.load_people("levels")) == 12
    assert twelve.load_people().table.equals(twelve.load_people("levels").table)
    assert list(twelve.show_release().table["class"].value_counts()) == [3] * 4


def test_only_the_full_domain_release_is_dominated():
    releases = twelve.locate_releases().set_index("sanitizer")["status"]
    assert releases[releases == "dominated"].index.tolist() == ["FullDomain"]
    assert set(releases) == {"efficient", "dominated"}


def test_the_lattice_has_every_choice_of_levels_and_the_one_that_the_search_takes():
    nodes = twelve.list_lattice()
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
    assert all(
        len(" ".join(chart().to_dict()["title"]["text"]).split()) <= 12 for chart in (charts.cuts, charts.lattice)
    )
    assert "“any age, 10 houses” loses least detail: 62%" in "".join(charts.lattice().to_dict()["title"]["text"])


def test_the_answer_counts_all_numbers(worked):
    answer = twelve.state_answer()
    assert answer.given["numbers"] == answer.given["matching"] == len(worked)
    assert answer.given["guessed"] == {"release": 8, "blind": 6}
    first, _ = str(answer).split("\n\n")
    assert "33% of the twelve people in a release with k = 3, and 100% in the table" in first
