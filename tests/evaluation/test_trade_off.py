"""Rows of privacy and utility loss and of COUNT queries: by hand on made-up tables, the paper's numbers on Adult."""

import math

import numpy as np
import pandas as pd
import pytest
from support import questions
from support.results_frame import short

from privnb.datasets.dataset import Dataset, load
from privnb.evaluation import trade_off
from privnb.evaluation.utility import queries
from privnb.measures.disclosure.gains import accuracy_gain, class_counts
from privnb.measures.disclosure.tradeoff import compute_revealed_losses, privacy_losses
from privnb.measures.utility.queries import CountQueries, relative_errors
from privnb.microdata.hierarchy import Ordered, Ranges, Taxonomy, flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.papers.li_li_2009.characteristics import build_people
from privnb.privacy_models import FrequencyDiversity, KAnonymity
from privnb.sanitizers import Bucketize, Identity, Mondrian, RandomizedResponse, Suppress

TOWNS = build_people(
    (30, "north", "ill"), (10, "north", "well"), (10, "south", "ill"), (50, "south", "well"), knows=("town",)
)


def divergence(p, q):
    found = 0
    for a, b in ((p, q), (1 - p, 1 - q)):
        found += sum(x * math.log(2 * x / (a + b)) for x in (a, b) if x) / 2
    return found


def values(results, sanitizer="Identity", column="value"):
    rows = results[(results.sanitizer == sanitizer) & (results.target == "health")]
    return rows.set_index("measure")[column].to_dict()


def test_losses_by_hand():
    found = questions.trade_off(TOWNS, [Identity(), Suppress()])
    told, nothing = values(found), values(found, "Suppress")
    north, south = divergence(0.75, 0.4), divergence(1 / 6, 0.4)
    trivial = (north + south) / 2
    assert told["classes"] == 2
    assert told["privacy_loss"] == pytest.approx(max(north, south))
    assert told["mean_privacy_loss"] == pytest.approx(0.4 * north + 0.6 * south)
    assert (told["utility_loss"], told["worse_than_trivial"], told["certain_disclosure_share"]) == (0, 0, 0)
    assert nothing["utility_loss"] == pytest.approx(trivial)
    assert nothing["privacy_loss"] == pytest.approx(0, abs=1e-12)
    baselines = values(found, column="baseline")
    assert baselines["utility_loss"] == pytest.approx(trivial)
    assert 0 < baselines["mean_privacy_loss"] < baselines["privacy_loss"] < told["privacy_loss"]


def test_buckets_lose_the_same_privacy_and_are_measured_beside():
    split = Mondrian(KAnonymity(20))
    found = questions.trade_off(TOWNS, [split, Bucketize(split)])
    by_form = found.pivot_table(index="measure", columns="sanitizer", values="value")
    assert by_form.loc["privacy_loss", "Mondrian"] == pytest.approx(by_form.loc["privacy_loss", "Bucketize"])
    assert by_form.loc["classes"].tolist() == [2, 2]


def test_a_release_may_tell_what_is_false():
    """A fifth of all people is ill, and of town b. In the west, where a is, it is more: that misleads about b alone."""
    tree = Taxonomy("town", (("a", "west", "*"), ("b", "west", "*"), ("c", "east", "*")))
    people = build_people(
        (10, "a", "ill"), (18, "b", "ill"), (72, "b", "well"), (12, "c", "ill"), (88, "c", "well"), knows=("town",)
    )  # fmt: skip
    people = Dataset("toy", people.table, people.schema, {"town": tree})
    results = questions.trade_off(people, [Mondrian(KAnonymity(20))])
    assert values(results, "Mondrian")["classes"] == 2
    assert (
        values(trade_off.measure_scales(people))["large_populations"] == 4
    )  # a, b, the west, and the east, which is c
    assert values(results, "Mondrian")["worse_than_trivial"] == 1 / 4


def test_what_cannot_be_kept_has_no_classes():
    found = questions.trade_off(TOWNS, [Mondrian(FrequencyDiversity(3, "health"))])
    assert found.measure.tolist() == ["classes"]
    assert found.status.tolist() == ["not possible"]


def test_noise_has_no_classes_and_still_a_utility_loss():
    found = questions.trade_off(TOWNS, [RandomizedResponse(1.0)])
    assert set(found.measure) == {"utility_loss", "worse_than_trivial"}
    again = questions.trade_off(TOWNS, [RandomizedResponse(1.0)])
    pd.testing.assert_frame_equal(found, again)
    other = questions.trade_off(TOWNS, [RandomizedResponse(1.0)], seed=2)
    assert other.value.tolist() != found.value.tolist()


def test_without_large_populations_privacy_is_measured_alone():
    found = questions.trade_off(TOWNS, [Identity()], support=0.7)
    assert "privacy_loss" in set(found.measure)
    assert not found.measure.isin(["utility_loss", "worse_than_trivial"]).any()
    assert values(trade_off.measure_scales(TOWNS, support=0.7))["large_populations"] == 0
    assert values(trade_off.measure_scales(TOWNS))["large_populations"] == 2


def test_few_people_are_not_counted():
    """Nine people in a home are all ill: they reach the scale, and have bounds only."""
    for few, told in ((9, False), (10, True)):
        people = build_people((few, "home", "ill"), (200, "else", "ill"), (300, "else", "well"), knows=("town",))
        row = questions.trade_off(people, [Identity()]).set_index("measure").loc["certain_disclosure_share"]
        n = len(people)
        if told:
            assert row.value == 10 / n
        else:
            assert np.isnan(row.value)
            assert (row.low, row.high) == (1 / n, 9 / n)


def test_the_worst_off_do_not_tell_how_many_have_a_rare_value():
    """Whoever is alone with a rare value loses what is a function of its count: known, so would be the count."""
    for rare, told in ((3, False), (10, True)):
        people = build_people((rare, "home", "rare"), (60, "else", "ill"), (90, "else", "well"), knows=("town",))
        found = pd.concat(
            [
                questions.trade_off(people, [Identity(), Suppress()]),
                questions.disclosure(people, [Identity(), Suppress()]),
            ]
        )
        worst = found.measure.isin(["privacy_loss", "largest_disclosure", "largest_quotient"])
        assert found[worst & (found.sanitizer == "Identity")].value.notna().tolist() == [told] * 3
        assert (found[worst & (found.sanitizer == "Suppress")].value == 0).all(), "of 0 nothing follows"
        assert found[worst & found.value.isna()].baseline.isna().all()


def test_all_but_few_tell_the_few():
    """Eight people are not hit: as few as would be withheld if they were."""
    people = build_people((150, "a", "ill"), (150, "b", "well"), (4, "c", "ill"), (4, "c", "well"), knows=("town",))
    row = questions.trade_off(people, [Identity()]).set_index("measure").loc["certain_disclosure_share"]
    assert np.isnan(row.value)
    assert row.low < 300 / 308 < row.high


def test_rare_values_are_withheld_with_others_that_hide_them():
    people = build_people(
        (4, "a", "rare"), (5, "a", "scarce"), (11, "b", "seldom"), (80, "b", "often"), (90, "a", "well"),
        knows=("town",),
    )  # fmt: skip
    found = short(trade_off.measure_scales(people)).set_index(["measure", "target"]).value
    for measure in ("sensitive_share", "revealed_loss"):
        withheld = found[measure].isna()
        assert set(withheld[withheld].index) == {"health rare", "health scarce", "health seldom"}
    assert trade_off.measure_scales(people, min_count=2).value.notna().all()


@pytest.mark.parametrize("distance", ["Jensen-Shannon", "total variation"])
def test_the_distance_is_told(distance):
    found = questions.trade_off(TOWNS, [Identity()], distance=distance)
    private = found[found.measure == "privacy_loss"].iloc[0]
    assert (private.target, private.variant) == ("health", "" if distance == "Jensen-Shannon" else distance)
    lost = privacy_losses(Identity().sanitize(TOWNS, rng=0), "health", distance)
    assert private.value == pytest.approx(lost.max())


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"sensitive": "town"}, "'town' is a quasi-identifier of 'invented'"),
        ({"support": 0}, "support must be a share above 0"),
        ({"distance": "euclid"}, "`distance` must be a Taxonomy or one of"),
    ],
)
def test_what_is_wrong_is_refused(asked, said):
    with pytest.raises(ValueError, match=said):
        questions.trade_off(TOWNS, [Identity()], **asked)


# COUNT queries


def two_known(seed=0, people=400):
    generator = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": generator.integers(20, 60, people),
            "town": generator.choice(["a", "b", "c", "d"], people),
            "health": generator.choice(["ill", "well", "better"], people),
        }
    )
    schema = Schema(
        "toy",
        (
            Attribute("age", Role.QUASI_IDENTIFIER, Numbers(18, 65)),
            Attribute("town", Role.QUASI_IDENTIFIER, Categories(("a", "b", "c", "d"))),
            Attribute("health", Role.SENSITIVE, Categories(("ill", "well", "better"))),
        ),
    )
    return Dataset("toy", table, schema, {name: flat(schema[name]) for name in ("age", "town")})


def test_errors_are_those_of_the_queries():
    data, split = two_known(), Mondrian(KAnonymity(40))
    found = queries.measure_query_errors(
        data, [Identity(), split, Bucketize(split)], dimension=2, selectivity=0.1, number=50
    )
    rows = found[found.target == "qd=2, sel=0.1"].set_index(["measure", "sanitizer"])
    assert rows.value["queries", "Identity"] == 50
    drawn = CountQueries.of(data, "health", 2, 0.1, rng=[1, 2], number=50)
    for sanitizer, trivial in ((split, Suppress()), (Bucketize(split), Bucketize(Suppress()))):
        errors = relative_errors(drawn, sanitizer.sanitize(data, rng=0))
        base = relative_errors(drawn, trivial.sanitize(data, rng=0))
        average = rows.loc["average_relative_error", type(sanitizer).__name__]
        assert average.value == pytest.approx(errors.mean())
        assert average.baseline == pytest.approx(base.mean())
        assert average.low < average.value < average.high
        median = rows.loc["median_relative_error", type(sanitizer).__name__]
        assert (median.value, median.baseline) == pytest.approx((np.median(errors), np.median(base)))
    assert rows.value["average_relative_error", "Identity"] == pytest.approx(0)


def test_other_seeds_ask_other_queries():
    first, again, other = (
        queries.measure_query_errors(two_known(), [Suppress()], dimension=1, number=40, seed=seed) for seed in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(first, again)
    assert first.value.tolist() != other.value.tolist()


def test_queries_that_cannot_be_asked_say_so():
    found = queries.measure_query_errors(two_known(), [Suppress()], dimension=3)
    assert found[["measure", "value", "target"]].values.tolist() == [["queries", 0, "qd=3, sel=0.05"]]


def test_too_few_queries_that_count_somebody_tell_nothing():
    """Read to the letter each attribute names one value: nearly all queries of four people count nobody."""
    found = queries.measure_query_errors(
        two_known(people=20), [Suppress()], dimension=2, selectivity=0.01, number=12, reading="literal"
    )
    assert found.measure.tolist() == ["queries", "empty_queries"]
    assert found.value[1] > 2
    assert set(short(found).target) == {"qd=2, sel=0.01, literal"}


# The direct comparison


def test_without_neutral_attributes_both_learn_the_same():
    """A miner that learns from two classes says what the adversary says: the most common value of each."""
    found = trade_off.compare_gains(TOWNS, [Identity(), Mondrian(FrequencyDiversity(3, "health"))])
    gain = accuracy_gain(class_counts(Identity().sanitize(TOWNS, rng=0), "health"))
    rows = found[found.sanitizer == "Identity"].set_index("measure").value
    assert rows["accuracy_gain"] == pytest.approx(gain) == pytest.approx(0.2)
    assert rows["workload_gain"] == pytest.approx(gain)
    assert "Mondrian" not in set(found.sanitizer)
    assert set(found.measure) == {"accuracy_gain", "knowledge_gain", "workload_utility", "workload_gain"}


def test_nobody_predicts_a_number():
    data = two_known()
    schema = data.schema.with_roles({"town": Role.QUASI_IDENTIFIER, "health": Role.NEUTRAL, "age": Role.SENSITIVE})
    numeric = Dataset("toy", data.table, schema, {"town": data.hierarchies["town"]})
    assert set(trade_off.compare_gains(numeric, [Identity()]).measure) == {"accuracy_gain", "knowledge_gain"}
    assert "privacy_loss" in set(questions.trade_off(numeric, [Identity()]).measure)


# On Adult


@pytest.fixture(scope="module")
def adult():
    return load("adult", "li-li")


def test_the_scales_of_the_paper(adult):
    found = short(trade_off.measure_scales(adult)).set_index(["measure", "target"]).value
    assert found["large_populations", "occupation"] == 1026
    revealed = found["revealed_loss"]
    assert (revealed.index[0], revealed.index[-1]) == ("occupation Craft-repair", "occupation Armed-Forces")
    assert revealed.iloc[[0, -1]].round(6).tolist() == [0.488122, 0.691742]
    assert revealed.tolist() == pytest.approx(sorted(compute_revealed_losses(adult, "occupation")))
    assert found["sensitive_share"].sum() == pytest.approx(1)
    assert found["sensitive_share"]["occupation Priv-house-serv"] == pytest.approx(232 / 45222)


def test_on_lines_mondrian_cuts_between_any_two_values(adult):
    lines = trade_off.order_values(adult)
    assert lines.name == adult.name
    pd.testing.assert_frame_equal(lines.table, adult.table)
    assert isinstance(lines.hierarchies["age"], Ranges)
    education = lines.hierarchies["education"]
    assert isinstance(education, Ordered)
    assert education.labels(np.arange(16), np.arange(16)).tolist() == list(adult.hierarchies["education"].leaves)


def test_the_ends_of_the_trade_off(adult):
    trees = dict(adult.hierarchies)
    found = questions.trade_off(trade_off.order_values(adult), [Identity(), Suppress()], hierarchies=trees)
    rows = found.set_index(["sanitizer", "measure"]).value
    assert round(rows["Suppress", "utility_loss"], 5) == 0.04623
    assert rows["Suppress", "privacy_loss"] == 0
    assert rows["Identity", "utility_loss"] == 0
    assert round(rows["Identity", "privacy_loss"], 6) == 0.691742
