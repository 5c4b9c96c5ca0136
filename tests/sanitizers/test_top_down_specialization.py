"""Top-down specialization against the book's tables, and against a search that counts everything anew each step."""

from collections import Counter
from itertools import pairwise
from math import log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from privnb.datasets.dataset import Dataset
from privnb.microdata.hierarchy import Intervals, Ordered, Ranges, Sets, Taxonomy, keep_exact_ends
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema, SchemaError
from privnb.privacy_models import DeltaPresence, DistinctDiversity, FrequencyDiversity, KAnonymity, KMap, grade_release
from privnb.sanitizers import SanitizationError, TopDownSpecialization
from privnb.sanitizers.algorithms.specialization import find_large_splits

QUASI, SENSITIVE = Role.QUASI_IDENTIFIER, Role.SENSITIVE


def hypertension():
    """The 66 tuples of Aggarwal and Yu 2008, figure 5.1, with the hierarchies of figure 5.2."""
    counted = [
        ("divorced", "M", "35", 0, 2), ("divorced", "M", "40", 16, 1), ("divorced", "F", "35", 0, 2),
        ("married", "M", "35", 8, 2), ("married", "F", "50", 2, 7), ("single", "M", "40", 6, 20),
    ]  # fmt: skip
    rows = [(*row[:3], "Y") for row in counted for _ in range(row[3])]
    rows += [(*row[:3], "N") for row in counted for _ in range(row[4])]
    trees = {
        "marital": [("divorced", "been", "*"), ("married", "been", "*"), ("single", "never", "*")],
        "sex": [("M", "*"), ("F", "*")],
        "hours": [("35", "1-39", "*"), ("40", "40-99", "*"), ("50", "40-99", "*")],
    }
    hierarchies = {name: Taxonomy(name, tuple(rows)) for name, rows in trees.items()}
    attributes = [Attribute(name, QUASI, Categories(hierarchies[name].leaves)) for name in trees]
    attributes.append(Attribute("hypertension", SENSITIVE, Categories(("Y", "N"))))
    table = pd.DataFrame(rows, columns=[*trees, "hypertension"])
    return Dataset("hypertension", table, Schema("hypertension", tuple(attributes)), hierarchies)


def test_the_books_tables():
    """Tables 5.11 (a) to (d): the steps that lead from one to the next, and the last one to the count."""
    data, sanitizer = hypertension(), TopDownSpecialization(KAnonymity(4), workload="hypertension")
    chosen = sanitizer.steps(data).query("chosen").set_index("step")
    assert chosen["value"].tolist() == ["*", "been", "*", "40-99", "never", "1-39"]
    assert chosen["attribute"].tolist() == ["marital", "marital", "hours", "hours", "marital", "hours"]
    assert chosen["children"].tolist()[:3] == ["been, never", "divorced, married", "1-39, 40-99"]
    assert chosen["k"].tolist()[:3] == [66, 26, 19]  # of tables (a), (b) and (c)
    assert chosen.loc[2, "loss"] == 7  # AnonyLoss(been married)
    release = sanitizer.sanitize(data, rng=0)
    counted = release.table.groupby(["marital", "sex", "hours"])["hypertension"].value_counts().unstack(fill_value=0)
    assert {key: (row["Y"], row["N"]) for key, row in counted.iterrows()} == {
        ("divorced", "*", "35"): (0, 4), ("divorced", "*", "40"): (16, 1), ("married", "*", "35"): (8, 2),
        ("married", "*", "50"): (2, 7), ("single", "*", "40"): (6, 20),
    }  # fmt: skip
    assert grade_release(KAnonymity(4), release) == 4


def test_the_scores_behind_the_books_tables():
    """Worked from figure 5.1: the book prints no scores, but its choices follow from these."""
    steps = TopDownSpecialization(KAnonymity(4), workload="hypertension").steps(hypertension())
    root = steps.query("step == 1").set_index("attribute")
    assert root["gain"].to_dict() == pytest.approx(
        {"marital": 0.126219, "sex": 0.0569726, "hours": 0.00583718}, rel=1e-5
    )
    assert root["loss"].to_dict() == {"marital": 40, "sex": 55, "hours": 52}
    assert root["score"].to_dict() == pytest.approx(
        {"marital": 0.00307851, "sex": 0.00101737, "hours": 0.000110135}, rel=1e-5
    )
    later = steps.query("chosen and step > 1")["score"].tolist()
    assert later == pytest.approx([0.00554, 0.00036, 0.0369, 0, 0], rel=0.02)
    # From the third step on F alone would leave two divorced women.
    assert "sex" not in set(steps.query("step >= 3")["attribute"])


def test_a_model_of_the_sensitive_value_stops_it_earlier():
    data = hypertension()
    models = KAnonymity(4), DistinctDiversity(2, "hypertension")
    release = TopDownSpecialization(*models, workload="hypertension").sanitize(data, rng=0)
    assert [grade_release(model, release) for model in models] == [19, 2]
    assert set(release.table["hours"]) == {"*"}  # the four who are divorced and work 35 hours are all healthy


def test_nothing_may_be_specialized():
    release = TopDownSpecialization(KAnonymity(50), workload="hypertension").sanitize(hypertension(), rng=0)
    assert release.suppressed == 66
    assert release.provenance.note.startswith("All records are one class")
    assert "KAnonymity(k=50)" in release.provenance.note


def test_what_is_refused():
    with pytest.raises(TypeError, match="needs workload="):
        TopDownSpecialization(KAnonymity(2))
    with pytest.raises(SchemaError, match="income"):
        TopDownSpecialization(KAnonymity(2), workload="income").sanitize(hypertension(), rng=0)
    with pytest.raises(SanitizationError, match="k = 67 needs at least 67 people"):
        TopDownSpecialization(KAnonymity(67), workload="hypertension").sanitize(hypertension(), rng=0)


TREE = Taxonomy(
    "town", (("a", "a", "west", "*"), ("b", "b c", "east", "*"), ("c", "b c", "east", "*"), ("d", "d", "d", "*"))
)


def random_table(seed, rows, town=TREE):
    rng = np.random.default_rng(seed)
    schema = Schema(
        "random",
        (
            Attribute("town", QUASI, Categories(("a", "b", "c", "d"))),
            Attribute("age", QUASI, Numbers(0, 7)),
            Attribute("sex", QUASI, Categories(("f", "m"))),
            Attribute("ill", SENSITIVE, Categories(("x", "y", "z"))),
        ),
    )
    columns = {"town": list("abcd"), "age": range(8), "sex": ["f", "m"], "ill": ["x", "y", "z"]}
    table = pd.DataFrame({name: rng.choice(list(values), rows) for name, values in columns.items()})
    hierarchies = {
        "town": keep_exact_ends(town), "age": Ranges(schema["age"].domain, exact=True),
        "sex": Taxonomy("sex", (("f", "*"), ("m", "*"))),
    }  # fmt: skip
    return Dataset("random", table, schema, hierarchies)


def slowly(data, holds):
    """The chosen (attribute, value, score, k before) of each step: all counted again for every candidate.

    `holds`: from the records of a class, as tuples of which the last entry is the workload, to a bool.
    """
    records = list(data.table.itertuples(index=False, name=None))
    # Where each record stands now: tree nodes by their labels, ranges by their ends.
    now = [["*", (0, 7), "*"] for _ in records]
    chosen = []
    while True:
        k, found = min(Counter(map(tuple, now)).values()), []
        for a in range(3):
            for node in {tuple(row)[a] for row in now}:
                ways = []
                held = [i for i, row in enumerate(now) if row[a] == node]
                for children in below(data, a, node, {records[i][a] for i in held}):
                    after = [list(row) for row in now]
                    for i in held:
                        after[i][a] = children[records[i][a]]
                    classes = {}
                    for row, record in zip(after, records, strict=True):
                        classes.setdefault(tuple(row), []).append(record)
                    parts = {}
                    for i in held:
                        parts.setdefault(after[i][a], []).append(records[i][-1])
                    gain = (entropy([records[i][-1] for i in held]) - sum(map(entropy, parts.values()))) / len(held)
                    if all(map(holds, classes.values())):
                        loss = k - min(map(len, classes.values()))
                        place = min(data.hierarchies[data.table.columns[a]].codes([records[i][a] for i in held]))
                        ways.append((round(gain, 10), loss, -a, -place, node, after))
                if ways:
                    best = max(ways, key=lambda way: way[0])  # the first of the most gain
                    found.append((round(best[0] / (best[1] + 1), 9), *best[2:]))
        if not found:
            return chosen
        score, minus, _, node, now = max(found, key=lambda each: each[:3])
        chosen.append((data.table.columns[-minus], node, score, k))


def below(data, a, node, values):
    """Each way to specialize a node: {value: its child}."""
    if a == 1:
        found = sorted(values)
        for value, following in pairwise(found):
            yield {each: (node[0], value) if each < following else (value + 1, node[1]) for each in found}
        return
    children = {}
    for row in data.hierarchies[data.table.columns[a]].rows:
        path = list(dict.fromkeys(row))
        if row[0] in values and path.index(node) > 0:
            children[row[0]] = path[path.index(node) - 1]
    if children:
        yield children


def entropy(values):
    """Bits of all values together."""
    return -sum(count * log2(count / len(values)) for count in Counter(values).values())


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(4, 60), k=st.integers(2, 5), l=st.sampled_from([1, 1.5, 2]))
def test_each_step_is_that_of_a_search_that_counts_anew(seed, rows, k, l):  # noqa: E741
    data = random_table(seed, rows)
    models = [KAnonymity(k)] if l == 1 else [KAnonymity(k), FrequencyDiversity(l, "ill")]

    def holds(records):
        return len(records) >= k and max(Counter(r[-1] for r in records).values()) * l <= len(records)

    if not holds(list(data.table.itertuples(index=False, name=None))):
        return
    steps = TopDownSpecialization(*models, workload="ill").steps(data).query("chosen")
    expected = slowly(data, holds)
    labels = [f"{v[0]}-{v[1]}" if isinstance(v, tuple) else v for _, v, _, _ in expected]
    assert steps["attribute"].tolist() == [name for name, _, _, _ in expected]
    assert steps["value"].tolist() == labels
    assert steps["score"].tolist() == pytest.approx([score for _, _, score, _ in expected], abs=1e-8)
    assert steps["k"].tolist() == [k for _, _, _, k in expected]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(6, 80))
@pytest.mark.parametrize("town", [TREE, Ordered("town", tuple("abcd")), Sets("town", tuple("abcd"))], ids=str)
def test_a_value_is_published_alike_wherever_it_stands(town, seed, rows):
    data = random_table(seed, rows, town)
    release = TopDownSpecialization(KAnonymity(3), workload="ill").sanitize(data, rng=0)
    assert np.bincount(release.classes).min() >= 3
    for name in release.schema.quasi_identifiers:
        assert (release.table.groupby(data.table[name])[name].nunique() == 1).all()
        covered = [set(data.hierarchies[name].covered(label)) for label in set(release.table[name])]
        assert sum(map(len, covered)) == len(set().union(*covered))
        places = zip(data.hierarchies[name].codes(data.table[name]), release.table[name], strict=True)
        assert all(code in data.hierarchies[name].covered(label) for code, label in places)
    if not isinstance(town, Taxonomy):  # one level below `*`: exact or one label for all
        labels = release.table["town"].unique()
        assert len(labels) == 1 or set(labels) <= set("abcd")


def test_widths_that_do_not_nest_are_left_out():
    """No interval of width 20 ends where one of width 50 does."""
    ages = Numbers(0, 99)
    schema = Schema("ages", (Attribute("age", QUASI, ages), Attribute("ill", SENSITIVE, Categories(("x", "y")))))
    table = pd.DataFrame({"age": np.arange(100).repeat(2), "ill": ["x", "y"] * 100})
    data = Dataset("ages", table, schema, {"age": Intervals(ages, (5, 10, 20, 50, 100))})
    steps = TopDownSpecialization(KAnonymity(10), workload="ill").steps(data).query("chosen")
    assert steps["value"].tolist()[:3] == ["0-99", "0-49", "0-9"]
    assert steps["children"].tolist()[0] == "0-49, 50-99"
    release = TopDownSpecialization(KAnonymity(10), workload="ill").sanitize(data, rng=0)
    assert release.classes.max() == 19


def of_numbers(low, high, widths, values, targets):
    numbers = Numbers(low, high)
    schema = Schema("numbers", (Attribute("x", QUASI, numbers), Attribute("w", SENSITIVE, Categories(("u", "v")))))
    table = pd.DataFrame({"x": values, "w": targets})
    return Dataset("numbers", table, schema, {"x": Intervals(numbers, widths)})


@pytest.mark.parametrize("low", [0, 11])
def test_no_label_of_a_width_that_is_left_out(low):
    """10-19 lies across the cut between 0-14 and 15-29, and within what a domain from 11 leaves of 0-14."""
    data = of_numbers(low, 29, (10, 15, 30), [11, 12, 13, 16, 17, 18], list("uuuvvv"))
    sanitizer = TopDownSpecialization(KAnonymity(3), workload="w")
    first = sanitizer.steps(data).iloc[0]
    assert first[["value", "children", "gain"]].tolist() == ["0-29", "0-14, 15-29", pytest.approx(1)]
    assert sanitizer.sanitize(data, rng=0).table["x"].tolist() == ["0-14"] * 3 + ["15-29"] * 3


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6), rows=st.integers(4, 60), k=st.integers(2, 4), low=st.integers(-20, 20),
    widths=st.sets(st.integers(1, 60), max_size=6),
)  # fmt: skip
def test_intervals_are_released_as_they_were_cut(seed, rows, k, low, widths):
    rng, top = np.random.default_rng(seed), 120
    low, high = (low, low + 50) if low >= 0 else (low - 1, -1)
    values = rng.integers(low, high, rows, endpoint=True)
    data = of_numbers(low, high, (*sorted(widths), top), values, rng.choice(["u", "v"], rows))
    sanitizer = TopDownSpecialization(KAnonymity(k), workload="w")
    labels, chosen = sanitizer.sanitize(data, rng=0).table["x"], sanitizer.steps(data).query("chosen")
    covered = [data.hierarchies["x"].covered(label) for label in set(labels)]
    assert sum(map(len, covered)) == len(set(np.concatenate(covered)))
    # The classes of the last cut, from its steps: each value is held by the children of which it was last a part.
    held = [0] * rows
    for children in chosen["children"]:
        for child in children.split(", "):
            inside = np.isin(data.codes["x"], data.hierarchies["x"].covered(child))
            held = [child if here else before for here, before in zip(inside, held, strict=True)]
    assert pd.factorize(labels)[0].tolist() == pd.factorize(np.array(held, dtype=object))[0].tolist()


@given(seed=st.integers(0, 10**6), rows=st.integers(1, 40), least=st.integers(2, 6))
def test_thresholds_that_leave_enough(seed, rows, least):
    rng = np.random.default_rng(seed)
    classes, people = rng.integers(0, 4, rows), rng.integers(0, 5, rows)
    people[np.bincount(classes, people)[classes] < least] = 0
    places = pd.factorize(rng.integers(0, 8, rows), sort=True)[0]
    sides = [[people[(classes == c) & low] for c in range(4) for low in (places <= t, places > t)] for t in range(8)]
    expected = [all(part.sum() == 0 or part.sum() >= least for part in parts) for parts in sides[: places.max()]]
    assert find_large_splits(places, classes, people, least).tolist() == expected


def test_against_a_population():
    """Everybody of the table is in the population three times, so that two released people are a k-map of 6."""
    data = random_table(3, 12)
    population = pd.concat([data.table[["town", "age", "sex"]]] * 3, ignore_index=True)
    model = KMap(6, population=population)
    release = TopDownSpecialization(model, workload="ill").sanitize(data, rng=0)
    assert grade_release(model, release) >= 6
    assert np.bincount(release.classes).min() < 6
    shares = DeltaPresence(0.2, 0.4, population=population)
    assert grade_release(shares, TopDownSpecialization(shares, workload="ill").sanitize(data, rng=0)) == pytest.approx(
        1 / 3
    )
