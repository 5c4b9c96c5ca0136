"""The class that discloses most, counted again from the published table, and what can follow from its bars."""

import itertools
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, strategies as st
from support import person_key
from support.clinic import CLINIC

from privnb.datasets.dataset import Dataset, load
from privnb.explorer import panels
from privnb.explorer.readings import count_setting
from privnb.explorer.setting import Setting, apply_roles, check_setting, make_sanitizer
from privnb.explorer.worst_class import MAX_BARS, WorstClass, find_worst_class, merge_rare, merge_values
from privnb.microdata.hierarchy import Ranges
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.privacy_models import BasicBetaLikeness, DeltaDisclosure, KAnonymity, TCloseness
from privnb.sanitizers import Mondrian


@pytest.fixture(scope="module")
def clinic():
    return load(CLINIC)


@pytest.fixture(scope="module")
def adult():
    return load("adult", "li-li", records=6000)


def release_of(dataset, setting):
    setting = check_setting(setting, dataset)
    return make_sanitizer(setting, dataset).sanitize(apply_roles(dataset, setting), rng=setting.seed)


def tabulate(release, sensitive):
    """People by class and value, by pandas, from the published table."""
    table = release.table
    return (
        table.groupby(release.schema.quasi_identifiers, observed=True)[sensitive].value_counts().unstack(fill_value=0)
    )


def text(html):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", str(html))).split())


# --- which class it is, and what is said of it ---


@pytest.mark.parametrize("bounds", [{"k": 10}, {"k": 10, "l": 3}, {"k": 50, "l": 3}, {"k": 200}])
def test_no_class_that_could_be_drawn_discloses_more(adult, bounds):
    release = release_of(adult, Setting(**bounds))
    worst = find_worst_class(release, "occupation")
    counts = tabulate(release, "occupation")
    sizes, largest = counts.sum(axis=1), counts.max(axis=1) / counts.sum(axis=1)
    share = worst.guess.in_class
    assert (sizes == worst.people).any()
    more = largest > share + 1e-9
    assert (worst.worse[0] == sizes[more].sum()) or np.isnan(worst.worse[0])
    for _, row in counts[more].iterrows():
        own, whole = row.to_numpy(), counts.sum().to_numpy()
        told = counts.index.size < 3 or (row.max() < 10) or (0 < row.sum() - row.max() < 10)
        merged = merge_values(own, whole, merge_rare(whole, 10), 10)
        assert told or merged is None or merged.any(), "it could have been drawn in full"


def test_bars_and_levels_are_those_of_a_class_of_the_release(adult):
    release = release_of(adult, Setting(k=1000))
    worst = find_worst_class(release, "occupation")
    counts = tabulate(release, "occupation")
    bars = worst.bars.rows.set_index("value")
    alone = bars[~bars.is_shared]
    (place,) = [
        at for at, row in counts.iterrows() if row.sum() == worst.people and (row[alone.index] == alone.people).all()
    ]
    assert (counts.sum()[alone.index] == alone.whole).all()
    assert bars.people.sum() == worst.people
    assert bars.whole.sum() == worst.headcount == len(adult)
    own, whole = bars.people.to_numpy()[None], bars.whole.to_numpy()
    full, everybody = counts.loc[[place]].to_numpy(), counts.sum().to_numpy()
    for letter, model in {
        "t": TCloseness(0.5, "occupation"), "delta": DeltaDisclosure(1, "occupation"),
        "beta": BasicBetaLikeness(1, "occupation"),
    }.items():  # fmt: skip
        level = worst.levels[letter]
        assert level.value == pytest.approx(model.level(own, whole)[0]), "it follows from the bars"
        assert level.value <= model.level(full, everybody)[0] + 1e-9
        every = model.level(counts.to_numpy(), everybody)
        assert level.is_worst == bool(model.level(full, everybody)[0] >= every.max() - 1e-9)
    assert worst.levels["l"].value == pytest.approx(1 / worst.guess.in_class)
    assert worst.levels["k"].value == worst.people


def test_the_panel_says_what_an_adversary_learns_and_by_which_rule(adult):
    reading = count_setting(adult, Setting(k=10, l=3))
    worst, told = reading.worst, text(panels.render_worst(reading))
    assert f"class of {worst.people} people" in told
    assert f"occupation is {worst.guess.value}, which is right for {worst.guess.texts[0]} of them" in told
    assert "chosen by l: it has the largest share of one value" in told
    assert {"k", "l", "t", "delta", "beta"} == worst.levels.keys()
    for shares, people in worst.shares:
        assert f"{shares.value} {shares.texts[0]} ({people:,}) {shares.texts[1]}" in told
    html = str(panels.render_worst(reading))
    assert html.count("<th scope=row>") == len(worst.shares) + 5
    assert "nan" not in told.split()


def test_a_value_that_all_people_of_a_class_have_is_called_certain(adult):
    reading = count_setting(adult, Setting(k=10, sensitive="sex", quasi_identifiers="age, workclass, marital-status"))
    assert reading.worst.guess.in_class == 1
    assert f"with certainty: all {reading.worst.people} people of the class" in text(panels.render_worst(reading))


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (Setting("LaplaceNoise"), "no classes that an adversary could look up"),
        (Setting(k=500), "There is no release to look at"),
        (Setting(k=5), "No class is drawn"),
    ],
)
def test_without_a_class_the_panel_says_why(clinic, setting, said):
    reading = count_setting(clinic, setting)
    html = str(panels.render_worst(reading))
    assert said in text(html)
    assert "<table" not in html


def test_buckets_are_called_buckets(adult):
    worst = find_worst_class(release_of(adult, Setting("Bucketize", 200)), "occupation")
    assert worst.group == "bucket"


def test_people_with_several_records_count_once():
    visits = person_key.dataset(person_key.table())
    release = Mondrian(KAnonymity(100)).sanitize(visits, rng=1)
    worst = find_worst_class(release, "ill")
    assert isinstance(worst, WorstClass)
    assert worst.headcount == 400
    rows = visits.table.assign(place=release.equivalence_classes)
    people = rows.groupby("place").patient.nunique()
    assert worst.people in set(people)
    having = rows.groupby(["place", "ill"]).patient.nunique().unstack(fill_value=0)
    assert worst.guess.in_class * worst.people == pytest.approx(having.loc[people == worst.people].max(axis=1).iloc[0])
    assert worst.has_several_values == (visits.table.groupby("patient").ill.nunique().sum() > 400)


def test_of_many_values_the_rarest_share_a_bar():
    rng = np.random.default_rng(3)
    values = tuple(f"v{number:02}" for number in range(30))
    schema = Schema(
        "many",
        (
            Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
            Attribute("secret", Role.SENSITIVE, Categories(values)),
        ),
    )
    table = pd.DataFrame({"age": rng.integers(0, 100, 9000), "secret": rng.choice(values, 9000)})
    release = Mondrian(KAnonymity(3000)).sanitize(
        Dataset("many", table, schema, {"age": Ranges(Numbers(0, 99))}), rng=1
    )
    bars = find_worst_class(release, "secret").bars.rows
    assert len(bars) == MAX_BARS
    assert bars.value.iloc[-1] == f"{30 - MAX_BARS + 1} other values"


# --- what can follow ---


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sensitive", ["occupation", "marital-status", "sex"])
def test_the_panel_of_a_release_with_k_2_shows_no_count_below_ten_and_no_share_of_one(adult, sensitive, seed):
    setting = Setting(k=2, sensitive=sensitive, quasi_identifiers="age, education, race", seed=seed)
    sample = adult.sample(800 + 400 * seed, rng=seed)
    reading = count_setting(sample, setting)
    told, worst = text(panels.render_worst(reading)), reading.worst
    numbers = [
        int(each.replace(",", ""))
        for each in re.findall(r"\((\d[\d,]*)\)|([\d,]+) people", told)
        for each in each
        if each
    ]
    assert all(number == 0 or number >= 10 for number in numbers if number != 10)
    if isinstance(worst, str):
        return
    bars = worst.bars.rows
    for people in (bars.people, bars.whole, bars.whole - bars.people):
        assert ((people == 0) | (people >= 10)).all()
    assert worst.people >= 10
    for shares, people in worst.shares:
        assert shares.in_class * worst.people == pytest.approx(people)
    own, whole = bars.people.to_numpy()[None], bars.whole.to_numpy()
    for letter, model in (("t", TCloseness(0.5, "any")), ("beta", BasicBetaLikeness(1, "any"))):
        assert worst.levels[letter].value == pytest.approx(model.level(own, whole)[0]), "it says more than the bars"


COUNTS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=2, max_size=5)


@given(COUNTS)
@example([(8, 8), (1, 8), (2, 8)])  # the two small counts together are small too
@example([(8, 8), (6, 3), (4, 5)])  # only as many as here can be in the class, or few others would not be few
def test_no_count_of_few_people_follows_from_merged_bars(pairs):
    """All tables that a reader cannot exclude are listed; in them, each small count has more than one value."""
    own, rest = np.array(pairs).T
    whole, least = own + rest, 4
    rare = merge_rare(whole, least)
    merged = None if rare is None else merge_values(own, whole, rare, least)
    if merged is None:
        return
    for row in (own, rest, whole):
        shown = np.append(row[~merged], row[merged].sum())
        assert ((shown == 0) | (shown >= least)).all()
    assert not merged[own.argmax()]
    small = [(0 < a < least) or (0 < b < least) for a, b in zip(own, rest, strict=True)]
    assert merged[small].all(), "a small count has no bar of its own"
    places = np.flatnonzero(merged)
    total = own[places].sum(), rest[places].sum()
    pairs = {at: list_possible(own[at], rest[at], rare[at], total, least) for at in places}
    for at in places:
        sums = {(0, 0)}  # of the other values that share the bar
        for each in (each for each in places if each != at):
            sums = {(a + c, b + d) for a, b in sums for c, d in pairs[each] if a + c <= total[0] and b + d <= total[1]}
        left = [(c, d) for c, d in pairs[at] if (total[0] - c, total[1] - d) in sums]
        for row, possible in zip((own, rest), zip(*left, strict=True), strict=True):
            if 0 < row[at] < least:
                assert len(set(possible)) > 1, f"{row[at]} follows"


def list_possible(own, rest, is_rare, total, least):
    """The pairs of counts in the class and outside of it that a reader cannot exclude for a value.

    The reader knows which of the two counts are 0, few or many, and their sum. Of the values that share a bar in every
    class, the reader knows only whether few people of the table have them.
    """

    def of_a_kind(number):
        return [number == 0, 0 < number < least]

    every = itertools.product(*(range(each + 1) for each in total))
    if is_rare:
        return [pair for pair in every if of_a_kind(sum(pair)) == of_a_kind(own + rest)]
    return [
        pair for pair in every
        if [*map(of_a_kind, pair)] == [of_a_kind(own), of_a_kind(rest)] and sum(pair) == own + rest
    ]  # fmt: skip


def test_a_small_class_and_a_small_rest_are_never_drawn(clinic):
    release = release_of(clinic, Setting(k=140))
    sizes = np.bincount(release.equivalence_classes)
    worst = find_worst_class(release, "diagnosis", 145)
    assert isinstance(worst, str) or worst.people >= 145
    assert sizes.min() < 145 or isinstance(worst, str)
