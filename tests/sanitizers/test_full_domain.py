"""The optimum against exhaustive search by labels, in plain Python and without the package's code."""

import math
from collections import Counter, defaultdict
from itertools import product

import numpy as np
import pandas as pd
import pytest
from support.naming import naming
from support.plain_losses import classification_metric

from privnb.datasets.dataset import Dataset
from privnb.measures.utility import information_loss
from privnb.microdata.hierarchy import Intervals, Ordered, Ranges, Sets, Taxonomy, keep_exact_ends
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.privacy_models import (
    AlphaKAnonymity,
    DeltaDisclosure,
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    KMap,
    RecursiveDiversity,
    TCloseness,
    grade_release,
)
from privnb.sanitizers import FullDomain, SanitizationError
from privnb.sanitizers.generalization.full_domain import LOSSES

DISEASES = ("flu", "cold", "gout")
WIDTHS = (2, 3, 4, 12)  # 3 does not nest in 4


def tree(rng, name, leaves, height):
    """A random taxonomy as columns of labels, one a level; each level merges groups of the one below."""
    columns, groups = [[f"{name}{i}" for i in range(leaves)]], list(range(leaves))
    for level in range(1, height):
        parent = rng.integers(0, max(2, leaves >> level), max(groups) + 1)
        groups = [int(parent[group]) for group in groups]
        # A label stands for one set of leaves: a group that did not grow keeps its label.
        sets = [frozenset(i for i in range(leaves) if groups[i] == group) for group in groups]
        names = {
            frozenset(i for i in range(leaves) if below[i] == label): label for below in columns for label in below
        }
        columns.append([names.get(leaf, f"{name}{level}.{group}") for leaf, group in zip(sets, groups, strict=True)])
    return [*columns, ["*"] * leaves]


def case(seed):
    """A random table of 5 to 40 records with 2 to 4 quasi-identifiers, taxonomies and, in a third, intervals.

    Returns the dataset and `{attribute: {value: labels from the lowest level up}}`.
    """
    rng = np.random.default_rng(seed)
    records, number = int(rng.integers(5, 41)), int(rng.integers(2, 5))
    attributes, hierarchies, labels, columns = [], {}, {}, {}
    for a in range(number):
        name = f"q{a}"
        if a == 0 and seed % 3 == 0:
            values = list(range(1, 12))
            attributes.append(Attribute(name, Role.QUASI_IDENTIFIER, Numbers(1, 11)))
            hierarchies[name] = Intervals(Numbers(1, 11), WIDTHS)
            labels[name] = {v: [f"{v // w * w}-{v // w * w + w - 1}" for w in WIDTHS] + ["*"] for v in values}
        else:
            levels = tree(rng, name, int(rng.integers(2, 7)), int(rng.integers(1, 4 if number < 4 else 3)))
            values = levels[0]
            attributes.append(Attribute(name, Role.QUASI_IDENTIFIER, Categories(tuple(values))))
            hierarchies[name] = Taxonomy(name, tuple(zip(*levels, strict=True)))
            labels[name] = dict(zip(values, map(list, zip(*levels, strict=True)), strict=True))
        shares = rng.dirichlet(np.ones(len(values)))
        columns[name] = [values[i] for i in rng.choice(len(values), records, p=shares)]
    attributes.append(Attribute("disease", Role.SENSITIVE, Categories(DISEASES)))
    attributes.append(Attribute("ward", Role.NEUTRAL, Categories(("east", "west"))))
    columns["disease"] = rng.choice(DISEASES, records, p=rng.dirichlet(np.full(3, 4.0))).tolist()
    columns["ward"] = rng.choice(["east", "west"], records).tolist()
    return Dataset("case", pd.DataFrame(columns), Schema("case", tuple(attributes)), hierarchies), labels


def shares_of(values, everybody):
    """(share in the class, share in the table) of each disease that occurs in the table."""
    return [(values.count(v) / len(values), everybody.count(v) / len(everybody)) for v in DISEASES if v in everybody]


def entropy(values):
    return -sum(c / len(values) * math.log(c / len(values)) for c in Counter(values).values())


def recursive(values, c, l):  # noqa: E741
    counts = sorted(Counter(values).values(), reverse=True)
    return counts[0] < c * sum(counts[l - 1 :])


def delta(values, everybody):
    pairs = shares_of(values, everybody)
    return max(abs(math.log(p / q)) if p else math.inf for p, q in pairs)


# (model, whether a class keeps it, given its diseases, those of the whole table, and its people in the population)
MODELS = [
    (KAnonymity(3), lambda own, all_, met: len(own) >= 3),
    (DistinctDiversity(2, "disease"), lambda own, all_, met: len(set(own)) >= 2),
    (EntropyDiversity(1.7, "disease"), lambda own, all_, met: entropy(own) >= math.log(1.7) - 1e-9),
    (RecursiveDiversity(2, 2, "disease"), lambda own, all_, met: recursive(own, 2, 2)),
    (FrequencyDiversity(1.5, "disease"), lambda own, all_, met: 1.5 * max(Counter(own).values()) <= len(own)),
    (
        TCloseness(0.3, "disease"),
        lambda own, all_, met: sum(abs(p - q) for p, q in shares_of(own, all_)) / 2 <= 0.3 + 1e-9,
    ),
    (DeltaDisclosure(0.8, "disease"), lambda own, all_, met: delta(own, all_) < 0.8),
    (
        AlphaKAnonymity(0.7, 2, "disease"),
        lambda own, all_, met: len(own) >= 2 and max(Counter(own).values()) <= 0.7 * len(own) + 1e-9,
    ),
]


def with_population(data, seed):
    """Models against a population, and that population: the table's own people and as many strangers."""
    rng = np.random.default_rng(seed)
    names = data.schema.quasi_identifiers
    strangers = {name: rng.permutation(data.table[name].to_numpy()) for name in names}
    population = pd.concat([data.table[names], pd.DataFrame(strangers)], ignore_index=True)
    return [
        (KMap(5, population=population), lambda own, all_, met: met >= 5),
        (DeltaPresence(0.2, 0.7, population=population), lambda own, all_, met: 0.2 * met <= len(own) <= 0.7 * met),
        (DeltaPresence(0.4, 1, population=population), lambda own, all_, met: 0.4 * met <= len(own)),
    ], population


def cost(loss, domain, label, value, column):
    """What a cell costs under a label. `domain`: `{value: labels}`; `column`: the attribute's original values."""
    covered = [v for v in domain if label in domain[v]]
    numeric = not isinstance(value, str)
    if loss == "height":
        if not numeric:
            return domain[value].index(label) / (len(domain[value]) - 1)
        return 1.0 if label == "*" else (domain[value].index(label) + 1) / len(WIDTHS)
    if loss == "certainty penalty" or (numeric and loss == "normalized certainty penalty"):
        return (len(covered) - 1) / (len(domain) - 1)
    if loss == "normalized certainty penalty":
        return len(covered) / len(domain) if len(covered) > 1 else 0.0
    if loss == "loss metric":
        return (len(set(covered) & set(column)) - 1) / max(len(set(column)) - 1, 1)
    return math.log2(sum(v in covered for v in column) / column.count(value))


class Exhaustive:
    """All solutions of a table's lattice, from the labels of the people alone."""

    def __init__(self, data, labels, population=None):
        columns = data.table.to_dict("list")
        self.labels, self.names, self.n = labels, list(labels), len(data)
        self.columns, self.diseases, self.wards = columns, columns["disease"], columns["ward"]
        self.people = list(zip(*(columns[name] for name in labels), strict=True))
        self.cells = self._cells(columns)  # {attribute: the labels of all people at each level}
        self.met = None if population is None else self._cells(population)
        # A taxonomy's line is in depth-first order, numbers are in their own.
        lines = [getattr(data.hierarchies[name], "leaves", labels[name]) for name in labels]
        place = [{value: at for at, value in enumerate(line)} for line in lines]
        self.places = [tuple(at[value] for at, value in zip(place, person, strict=True)) for person in self.people]
        self.star, self.prices = ("*",) * len(labels), {}

    def _cells(self, columns):
        return {
            name: [
                [domain[value][level] for value in columns[name]] for level in range(len(next(iter(domain.values()))))
            ]
            for name, domain in self.labels.items()
        }

    def rows(self, cells, levels):
        return list(zip(*(cells[name][level] for name, level in zip(self.names, levels, strict=True)), strict=True))

    def lost(self, loss, rows):
        """The loss of a release. `rows`: labels, one a record."""
        classes = defaultdict(list)
        for i, row in enumerate(rows):
            classes[row].append(i)
        kept = [members for row, members in classes.items() if row != self.star]
        if loss == "discernibility":
            return sum(len(members) ** 2 for members in kept) + (self.n - sum(map(len, kept))) * self.n
        if loss == "average class size":
            return self.n / len(classes)
        if loss == "classification metric":
            right = sum(max(Counter(self.wards[i] for i in members).values()) for members in kept)
            return (self.n - right) / self.n
        total = 0
        for name, own, values in zip(self.names, zip(*rows, strict=True), self.columns.values(), strict=False):
            for pair, times in Counter(zip(own, values, strict=True)).items():
                if (name, *pair) not in self.prices:
                    self.prices[name, *pair] = cost(loss, self.labels[name], *pair, values)
                total += times * self.prices[name, *pair]
        return total / self.n / len(self.names)

    def released(self, levels, checks, limit, known):
        """The labels at these levels and how many records are suppressed, or None. `known`: of classes seen before."""
        rows = self.rows(self.cells, levels)
        met = Counter(self.rows(self.met, levels) if self.met else ())
        met[self.star] = met.total()  # everybody
        classes = defaultdict(list)
        for i, row in enumerate(rows):
            classes[row].append(i)

        def keeps(members, row):
            case = tuple(members), met[row]
            if case not in known:
                own = [self.diseases[i] for i in members]
                known[case] = all(check(own, self.diseases, met[row]) for check in checks)
            return known[case]

        holds = {row: keeps(members, row) for row, members in classes.items()}
        suppressed = [i for row, members in classes.items() if not holds[row] for i in members]
        others = [row for row in classes if holds[row]]
        others.sort(key=lambda row: (len(classes[row]), min(self.places[i] for i in classes[row])))
        while suppressed and not keeps(suppressed, self.star):
            if not others:
                return None
            suppressed += classes[others.pop(0)]
        if len(suppressed) > limit:
            return None
        gone = set(suppressed)
        return [self.star if i in gone else row for i, row in enumerate(rows)], len(suppressed)

    def solutions(self, checks, limit, loss):
        """(levels, loss, suppressed, labels) of every node that keeps the models, the best first."""
        found, known = [], {}
        for levels in product(*(range(len(self.cells[name])) for name in self.names)):
            released = self.released(levels, checks, limit, known)
            if released:
                found.append((levels, self.lost(loss, released[0]), released[1], released[0]))
        return sorted(found, key=lambda each: (round(each[1], 9), each[2], each[0]))


MEASURES = {
    "certainty penalty": lambda data, release: information_loss.certainty_penalty(release),
    "normalized certainty penalty": lambda data, release: information_loss.normalized_certainty_penalty(release),
    "loss metric": information_loss.loss_metric,
    "non-uniform entropy": information_loss.non_uniform_entropy,
    "height": lambda data, release: 1 - information_loss.precision(release),
    "discernibility": lambda data, release: information_loss.discernibility(release),
    "average class size": lambda data, release: information_loss.average_class_size(release),
    "classification metric": lambda data, release: classification_metric(data, release, "ward"),
}


def agree(case, chosen, limit, loss, population=None):
    """Search and release are those of exhaustive search. `chosen`: pairs of models and checks."""
    data, labels = case
    models, checks = zip(*chosen, strict=True)
    target = "ward" if loss == "classification metric" else None
    sanitizer = FullDomain(*models, suppress=limit, loss=loss, target=target)
    most = math.floor(limit * len(data)) if isinstance(limit, float) else limit
    expected = Exhaustive(data, labels, population).solutions(checks, most, loss)
    if not expected:
        with pytest.raises(SanitizationError, match="cannot be reached"):
            sanitizer.search(data)
        return
    found, (levels, expected_loss, suppressed, _) = sanitizer.search(data), expected[0]
    assert (found.levels, found.suppressed) == (levels, suppressed)
    assert found.loss == pytest.approx(expected_loss, abs=1e-9)

    release = sanitizer.sanitize(data, rng=0)
    assert list(release.table[list(labels)].itertuples(index=False, name=None)) == expected[0][3]
    assert MEASURES[loss](data, release) == pytest.approx(found.loss, abs=1e-9)
    assert release.provenance.claims == models
    for model in models:
        counts = model.counted(release)
        assert model.holds(counts, counts.sum(axis=0)).all()
    assert bool(release.provenance.note) == (release.suppressed == len(data) > found.suppressed)


def drawn(seed):
    """Arguments of `agree`: a table, models, how much may be suppressed, a loss, who else there is."""
    rng = np.random.default_rng(10_000 + seed)
    data, labels = case(seed)
    against, population = with_population(data, seed)
    chosen = [MODELS[seed % len(MODELS)]]
    if rng.random() < 0.2:
        chosen.append(MODELS[rng.integers(len(MODELS))])
    if rng.random() < 0.2:
        chosen = [against[rng.integers(len(against))], *chosen[: rng.integers(2)]]
    limit = [0, 0, 2, 0.3, len(data)][rng.integers(5)]
    loss = LOSSES[seed // len(MODELS) % len(LOSSES)]
    return (data, labels), chosen, limit, loss, population


@pytest.mark.slow
def test_the_optimum_is_that_of_exhaustive_search(tries):
    each = len(MODELS) * len(LOSSES)  # each model is tried with each loss
    for seed in range(tries(3) * each):
        with naming(seed):
            agree(*drawn(seed))


@pytest.mark.parametrize("seed", [3, 4, 5, 7])
def test_suppression_adds_more_to_the_average_size_where_classes_are_few(seed):
    """Above, fewer small classes stand in for many: what they add there bounds nothing below."""
    agree(case(seed), [MODELS[0]], 0.3, "average class size")
    agree(case(seed), [(KAnonymity(2), lambda own, all_, met: len(own) >= 2)], 0.3, "average class size")


@pytest.mark.parametrize("seed", [0, 3, 9, 10])
def test_a_presence_too_low_above_says_nothing_of_below(seed):
    """Strangers whose values nobody of the table has join the classes above."""
    data, labels = case(seed)
    against, population = with_population(data, seed)
    agree((data, labels), [against[2]], 0, "certainty penalty", population)


def patients():
    """66 people, Aggarwal and Yu 2008, figure 5.1, with the hierarchies of figure 5.2."""
    counted = [
        ("divorced", "M", 35, 0, 2), ("divorced", "M", 40, 16, 1), ("divorced", "F", 35, 0, 2),
        ("married", "M", 35, 8, 2), ("married", "F", 50, 2, 7), ("single", "M", 40, 6, 20),
    ]  # fmt: skip
    rows = [(*who, value) for *who, yes, no in counted for value in ["Y"] * yes + ["N"] * no]
    schema = Schema(
        "patients",
        (
            Attribute("marital", Role.QUASI_IDENTIFIER, Categories(("divorced", "married", "single"))),
            Attribute("sex", Role.QUASI_IDENTIFIER, Categories(("M", "F"))),
            Attribute("hours", Role.NEUTRAL, Numbers(1, 99)),
            Attribute("hypertension", Role.SENSITIVE, Categories(("Y", "N"))),
        ),
    )
    been, never = "been married", "never married"
    tree = (("divorced", been, "*"), ("married", been, "*"), ("single", never, "*"))
    hierarchies = {"marital": Taxonomy("marital", tree), "sex": Taxonomy("sex", (("M", "*"), ("F", "*")))}
    return Dataset("patients", pd.DataFrame(rows, columns=schema.names()), schema, hierarchies)


def test_samarati_both_nodes_of_height_one_are_solutions():
    """Section 5.3, k = 4 and at most 1 suppressed: (M0, S1) with classes 21, 19, 26 and (M1, S0) with 29, 11, 26."""
    found = FullDomain(KAnonymity(4), suppress=1, loss="height").search(patients())
    assert found.levels == (1, 0)  # half of marital's levels, where sex would lose all of its own
    assert (found.loss, found.suppressed) == (pytest.approx(0.25), 0)
    release = FullDomain(KAnonymity(4), suppress=1, loss="height").sanitize(patients(), rng=0)
    assert sorted(release.table.groupby(["marital", "sex"]).size()) == [11, 26, 29]
    assert information_loss.discernibility(release) == 1638


def test_samarati_the_suppressed_are_a_class():
    """The lowest node breaks k = 4 by 2 people. Samarati exempts the suppressed and takes it where 2 may be. Here the 2
    would stand alone as before, so the smallest class, of 9, joins them."""
    data = patients()
    classes = data.table.groupby(["marital", "sex"]).size()
    assert sorted(classes) == [2, 9, 10, 19, 26]
    for limit in (2, 10):
        assert FullDomain(KAnonymity(4), suppress=limit).search(data).levels != (0, 0)
    release = FullDomain(KAnonymity(4), suppress=11, loss="height").sanitize(data, rng=0)
    assert (release.suppressed, grade_release(KAnonymity(4), release)) == (11, 10)


def two(first, second, how=Sets, suppress=0, k=2):
    """A release of two columns, each with a hierarchy of this kind."""
    table = pd.DataFrame({"a": list(first), "b": list(second)})
    schema = Schema("two", tuple(Attribute(n, Role.QUASI_IDENTIFIER, Categories(tuple("uvwx"))) for n in "ab"))
    data = Dataset("two", table, schema, {name: keep_exact_ends(how(name, tuple("uvwx"))) for name in "ab"})
    return FullDomain(KAnonymity(k), suppress=suppress), data


def test_equal_losses_go_to_the_lowest_levels_from_the_first_attribute_on():
    sanitizer, data = two("uvuv", "uuvv")
    found = sanitizer.search(data)
    assert (found.levels, found.loss) == ((0, 1), 0.5)
    assert sanitizer.sanitize(data, rng=0).table["a"].tolist() == list("uvuv")


@pytest.mark.parametrize("suppress", [0, 0.2])
def test_records_in_another_order_get_the_same_rows(suppress, tries):
    for seed in range(tries(20)):
        data, _ = case(seed)
        order = np.random.default_rng(seed).permutation(len(data))
        shuffled = Dataset("case", data.table.iloc[order], data.schema, data.hierarchies)
        sanitizer = FullDomain(KAnonymity(3), suppress=suppress)
        assert sanitizer.search(data) == sanitizer.search(shuffled)
        rows = sanitizer.sanitize(data, rng=0).table.iloc[order].reset_index(drop=True)
        pd.testing.assert_frame_equal(sanitizer.sanitize(shuffled, rng=0).table, rows)


@pytest.mark.parametrize("how", [Sets, Ordered])
def test_values_without_a_tree_are_exact_or_suppressed(how):
    sanitizer, data = two("uvuv", "uuvv", how)
    assert sanitizer.sanitize(data, rng=0).table.to_numpy().tolist() == [[x, "*"] for x in "uvuv"]


def test_ranges_are_exact_or_suppressed():
    schema = Schema("one", (Attribute("age", Role.QUASI_IDENTIFIER, Numbers(1, 9)),))
    data = Dataset("one", pd.DataFrame({"age": [3, 3, 5, 6]}), schema, {"age": Ranges(Numbers(1, 9), exact=True)})
    release = FullDomain(KAnonymity(2), suppress=0.5).sanitize(data, rng=0)
    assert release.table["age"].tolist() == ["3", "3", "*", "*"]


def test_a_share_is_rounded_down():
    sanitizer, data = two("uuuuuuuvwx", "uuuuuuuuuu", suppress=0.3)
    assert sanitizer.sanitize(data, rng=0).suppressed == 3  # although 0.3 of 10 is a float below 3 in places
    sanitizer, data = two("uuuuuuuvwx", "uuuuuuuuuu", suppress=0.29)
    assert sanitizer.sanitize(data, rng=0).suppressed == 0


def test_a_release_that_tells_nothing_says_why():
    sanitizer, data = two("uuuuv", "uuuuv")
    note = sanitizer.sanitize(data, rng=0).provenance.note
    assert note == (
        "Every quasi-identifier is *: no other levels keep the models and lose less with 0 suppressed. With 'a' at "
        "level 0 and all others *, KAnonymity(k=2) does not hold. Relax that model."
    )
    sanitizer, data = two("u" * 20 + "vwx", "u" * 20 + "vwx")
    note = sanitizer.sanitize(data, rng=0).provenance.note
    # Three are enough; a published note says nothing of fewer than ten people.
    assert note.endswith("KAnonymity(k=2) does not hold. suppress=10 allows it.")
    found = FullDomain(KAnonymity(2), suppress=3).search(data)
    assert (found.levels, found.suppressed) == ((0, 0), 3)
    assert FullDomain(KAnonymity(2), suppress=3).sanitize(data, rng=0).provenance.note == ""


def test_what_cannot_be_kept_is_refused():
    sanitizer, data = two("uvuv", "uuvv", k=5)
    with pytest.raises(SanitizationError, match=r"k = 5 needs at least 5 people; the table has fewer\. Lower k\."):
        sanitizer.sanitize(data, rng=0)


def test_too_large_a_lattice_is_refused():
    names = [f"q{i}" for i in range(23)]
    schema = Schema("wide", tuple(Attribute(n, Role.QUASI_IDENTIFIER, Categories(("u", "v"))) for n in names))
    table = pd.DataFrame({name: ["u", "v"] for name in names})
    data = Dataset("wide", table, schema, {name: Sets(name, ("u", "v")) for name in names})
    with pytest.raises(SanitizationError, match=r"8,388,608 nodes; at most 4,194,304 are allowed\. Leave out levels"):
        FullDomain(KAnonymity(2)).search(data)


@pytest.mark.parametrize("suppress", [-1, 1.0, 1.5, -0.1, float("nan"), True, "2"])
def test_suppress_is_a_number_or_a_share(suppress):
    with pytest.raises(ValueError, match="suppress must be a whole number of records, or a share from 0 to below 1"):
        FullDomain(KAnonymity(2), suppress=suppress)


def test_unknown_losses_and_targets_out_of_place_are_refused():
    with pytest.raises(ValueError, match=r"loss must be one of certainty penalty, .*; got 'entropy'"):
        FullDomain(KAnonymity(2), loss="entropy")
    for wrong in ({"target": "ward"}, {"loss": "classification metric"}):
        with pytest.raises(ValueError, match="`target` must be given with loss='classification metric'"):
            FullDomain(KAnonymity(2), **wrong)
    with pytest.raises(ValueError, match="no attribute 'income'"):
        FullDomain(KAnonymity(2), loss="classification metric", target="income").search(case(1)[0])
