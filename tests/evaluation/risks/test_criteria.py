"""The three criteria: by hand, on a perfect copy at the ceiling, and on independent releases about 0."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from privnb.attacks.algorithms.nearest_rows import chance_of_common_row
from privnb.attacks.linkage.released_cells import ReleasedColumn
from privnb.attacks.linkage.singling_out import SinglingOut
from privnb.datasets.dataset import Dataset
from privnb.evaluation.evaluation_loop import Case, ask
from privnb.evaluation.risks.criteria import ExcessInference, ExcessLinkability, ExcessSinglingOut, build_criteria
from privnb.evaluation.risks.membership import MembershipGame
from privnb.measures.disclosure.residual_risk import residual_risk, successes_at_size
from privnb.microdata.hierarchy import Ranges, Taxonomy
from privnb.microdata.release import Published
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.microdata.treatment import Treatment
from privnb.runtime.errors import UsageError
from privnb.sanitizers import Identity, Mondrian, Suppress
from privnb.sanitizers.made_elsewhere import MadeElsewhere

ILLS = ("flu", "gout", "mumps", "none")
SCHEMA = Schema(
    "people",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 100)),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(("a", "b", "c", "d"))),
        Attribute("height", Role.QUASI_IDENTIFIER, Numbers(0, 20_000)),
        Attribute("shoe", Role.QUASI_IDENTIFIER, Numbers(20, 60)),
        Attribute("illness", Role.SENSITIVE, Categories(ILLS)),
    ),
)
TOWNS = Taxonomy("town", (("a", "west", "*"), ("b", "west", "*"), ("c", "east", "*"), ("d", "east", "*")))
HIERARCHIES = {name: Ranges(SCHEMA[name].numbers) for name in ("age", "height", "shoe")} | {"town": TOWNS}


def draw(n, rng):
    return pd.DataFrame({
        "age": rng.integers(0, 101, n), "town": rng.choice([*"abcd"], n), "height": rng.integers(0, 20_001, n),
        "shoe": rng.integers(20, 61, n), "illness": rng.choice(ILLS, n),
    })  # fmt: skip


def published(table, kinds):
    columns = {name: Treatment(kinds.get(name, "exact")) for name in table}
    return Published(table, SCHEMA, HIERARCHIES, columns)


def elsewhere(folder, released, others):
    released.to_csv(folder / "theirs.csv", index=False)
    others.to_csv(folder / "others.csv", index=False)
    return MadeElsewhere(str(folder / "theirs.csv"), rows="synthetic", holdout=str(folder / "others.csv"))


def measured(dataset, sanitizer, questions=None):
    rows = ask(dataset, [(sanitizer, 1, questions or build_criteria(dataset))])
    assert not [*rows.reason[rows.reason != ""]]
    return rows.set_index(["measure", "variant", "control"]).sort_index()


def test_the_residual_risk_of_the_paper_by_hand():
    """z^2 = 3.8415: the middles are 31.92 / 103.84 = 0.30740 and 11.92 / 103.84 = 0.11480, and the half widths
    1.95996 / 103.84 * sqrt(21 + 0.96) = 0.08845 and 1.95996 / 103.84 * sqrt(9 + 0.96) = 0.05957.
    """
    found = residual_risk(30, 100, 10, 100)
    half = np.hypot(0.08845 / 0.8852, 0.05957 * 0.6926 / 0.8852**2)
    assert found.value == pytest.approx(0.2 / 0.9)
    assert found[1:] == pytest.approx([0.21758 - half, 0.21758 + half], abs=2e-4)


def test_extreme_rates_have_a_risk():
    assert residual_risk(100, 100, 30, 100)[::2] == (1, 1)
    assert residual_risk(100, 100, 100, 100)[0] == 0
    assert residual_risk(0, 10, 10, 10)[0] == -1
    assert residual_risk(0, 10, 0, 10)[0] == 0
    with pytest.raises(UsageError, match="must be from 0"):
        residual_risk(5, 4, 0, 4)


def test_the_distance_from_a_label_is_the_mean_over_its_values():
    table = draw(3, np.random.default_rng(0)).astype({"age": object})
    table["age"], table["town"] = ["30", "30-39", "*"], ["a", "west", "*"]
    of = published(table, {"age": "generalized", "town": "generalized"})
    age, town = (ReleasedColumn.of(of, name) for name in ("age", "town"))
    found = age.distances(np.array([30.0, 40.0]))[:, age.codes]
    np.testing.assert_allclose(found[:, :2], [[0, 0.045], [0.1, 0.055]])
    np.testing.assert_allclose(found[0, 2], sum(abs(30 - x) for x in range(101)) / 101 / 100)
    far = town.distances(town.values(pd.Series(["a", "c"])))[:, town.codes]
    np.testing.assert_allclose(far, [[0, 0.5, 0.75], [1, 1, 0.75]])
    np.testing.assert_allclose(age.shares_near(np.array([38.0]), 0.05)[:, age.codes], [[0, 3 / 10, 4 / 101]])


def test_the_chance_of_a_common_row_is_that_of_all_draws():
    """The first set has row 0 and draws two of rows 1 to 4; the second one has row 1 and draws two of rows 3 to 6."""
    firsts = [{0, *each} for each in combinations((1, 2, 3, 4), 2)]
    seconds = [{1, *each} for each in combinations((3, 4, 5, 6), 2)]
    share = np.mean([bool(one & other) for one in firsts for other in seconds])
    assert chance_of_common_row((1, 1), (4, 4), 3, 0, 1, 0, 2) == pytest.approx(share)
    assert chance_of_common_row((1, 1), (0, 0), 1, 1, 0, 0, 0) == 1
    assert chance_of_common_row((0, 0), (50, 50), 1, 0, 0, 0, 50) == pytest.approx(1 / 50)


def test_predicates_single_out_one_row_and_count_people_by_hand():
    table = draw(4, np.random.default_rng(0))
    table["age"], table["town"], table["shoe"] = [20, 30, 30, 60], ["a", "a", "a", "c"], [40, 40, 40, 40]
    attack = SinglingOut(published(table, {}), ("age", "town"))
    learned = attack.learn_univariate(100, np.random.default_rng(0))
    assert len(learned.columns) == 5  # age = 20, age = 60, age <= 20, age >= 60, town = c
    people = table.iloc[[0, 0, 1, 3]].assign(age=[10, 20, 30, 60])
    counts = attack.count(learned, people, np.arange(4))
    assert sorted(counts) == [1, 1, 1, 1, 2]  # two people are at most 20 years old
    assert sorted(attack.count(learned, people, np.zeros(4, dtype=int))) == [1] * 5  # all are records of one person
    both = attack.learn_multivariate(100, 2, np.random.default_rng(0))
    assert len(both.columns) == 2  # age <= 20 and town a; age >= 60 and town c


def test_classes_of_labels_are_not_singled_out():
    people = Dataset("people", draw(300, np.random.default_rng(1)), SCHEMA, HIERARCHIES)
    for sanitizer in (Mondrian(k=5), Suppress()):
        table = sanitizer.sanitize(people, rng=1)._published(1)[0]
        attack = SinglingOut(table, tuple(SCHEMA.quasi_identifiers))
        assert not len(attack.learn_multivariate(100, 3, np.random.default_rng(0)).columns)
        rows = ask(people, [(sanitizer, 1, [ExcessSinglingOut()])])
        assert rows[(rows.measure == "excess_singling_out") & (rows.variant == "univariate")].value.tolist() == [0]


def test_the_successes_at_another_size():
    matches = np.array([1] * 30 + [2] * 20 + [0] * 50)
    assert successes_at_size(matches, 1000, 1000) == 30
    drawn, rng = 0, np.random.default_rng(0)
    for _ in range(2000):
        inside = rng.random((50, 2)) < 0.5
        drawn += (inside[:30, 0]).sum() + (inside[30:].sum(axis=1) == 1).sum()
    assert successes_at_size(matches, 1000, 500) == pytest.approx(drawn / 2000, rel=0.02)
    assert 30 < successes_at_size(np.array([1] * 30 + [0] * 70), 1000, 2000) <= 60
    assert successes_at_size(np.zeros(5, dtype=int), 10, 1000) == 0


def test_a_perfect_copy_is_at_the_ceiling(tmp_path):
    rng = np.random.default_rng(3)
    people = Dataset("people", draw(800, rng), SCHEMA, HIERARCHIES)
    theirs = elsewhere(tmp_path, people.table, draw(800, rng))
    parts = (("age", "height", "town"), ("shoe", "height", "age"))
    found = measured(people, theirs, [ExcessSinglingOut(), ExcessLinkability(parts), ExcessInference("illness")])
    for measure in ("excess_singling_out", "excess_linkability", "excess_inference"):
        assert (found.value[measure] > 0.97).all(), measure
    assert found.value["excess_singling_out", "multivariate", ""] == 1
    assert found.value["inference_success", "", "held-out"] < 0.4
    assert found.baseline["inference_success", "", ""] == pytest.approx(0.25, abs=0.02)


def test_a_copy_of_the_holdout_too_does_not_crash(tmp_path):
    people = Dataset("people", draw(50, np.random.default_rng(3)), SCHEMA, HIERARCHIES)
    found = measured(people, elsewhere(tmp_path, people.table, people.table))
    assert found.value["excess_inference", "", ""] == 0
    same = people.table.iloc[[0] * 50]
    alike = Dataset("people", same, SCHEMA, HIERARCHIES)
    assert (measured(alike, elsewhere(tmp_path, same, same)).value.dropna() >= 0).all()


@pytest.mark.slow
def test_the_intervals_of_releases_of_other_people_contain_0():
    """95% of them should; predicates about the same people are not independent, and their intervals are narrower."""
    covered, n = {}, 200
    for seed in range(20):
        rng = np.random.default_rng(seed)
        release = Identity().sanitize(Dataset("release", draw(n, rng), SCHEMA, HIERARCHIES), rng=1)
        people = Dataset("people", draw(2 * n, rng), SCHEMA, HIERARCHIES)
        case = Case(people, Identity(), seed, release)
        game = MembershipGame(people, release, np.arange(n), np.arange(n, 2 * n))
        for question in build_criteria(people):
            for variant, found in question.attack(case, game, case.published[0]):
                _, low, high = residual_risk(*found[:4])
                covered.setdefault((question.primary_measure, variant), []).append(low <= 0 <= high)
    assert len(covered) == 4
    assert sum(covered.pop(("excess_singling_out", "multivariate"))) >= 14
    assert all(sum(each) >= 18 for each in covered.values()), covered


def test_a_copy_of_the_holdout_has_no_excess(tmp_path):
    rng = np.random.default_rng(1)
    people, others = Dataset("people", draw(300, rng), SCHEMA, HIERARCHIES), draw(300, rng)
    found = measured(people, elsewhere(tmp_path, others, others))
    assert (found.value[["excess_singling_out", "excess_inference", "excess_linkability"]] < -0.9).all()


def test_the_right_rates_are_withheld(tmp_path):
    people = Dataset("people", draw(8, np.random.default_rng(0)), SCHEMA, HIERARCHIES)
    rows = ask(people, [(elsewhere(tmp_path, people.table, people.table), 1, [ExcessInference("illness")])])
    assert rows.status.tolist() == ["withheld"]


def test_a_release_of_this_package_is_measured_on_halves():
    people = Dataset("people", draw(600, np.random.default_rng(5)), SCHEMA, HIERARCHIES)
    found = measured(people, Identity())
    assert found.value["excess_inference", "", ""] > 0.9
    assert found.of["excess_inference", "", ""] == 300
    assert Case(people, Identity(), 1).release.record_count == 600
