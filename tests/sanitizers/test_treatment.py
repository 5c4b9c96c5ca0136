"""Releases of kinds that no sanitizer of the package makes yet: each number is right or absent with its reason, and
nothing is 0 because a cell or a row was taken for what it is not.
"""

import json
import re
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from support.questions import known_subsets, leakage

from privnb.attacks import Linkage, MinerInference
from privnb.datasets.dataset import Dataset
from privnb.evaluation.predictions import predict_in_sample
from privnb.evaluation.release_measures import measure_information_loss, measure_linkage
from privnb.measures.disclosure import gains, linkage
from privnb.measures.disclosure.tradeoff import privacy_loss
from privnb.measures.utility import information_loss as loss
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.microdata.treatment import Law, Rows, Treatment, Unreadable
from privnb.miners import reference_set
from privnb.privacy_models import FrequencyDiversity, KAnonymity, grade_release
from privnb.sanitizers import Bucketize, Identity, KMember, SanitizationError, Sanitizer, treatments

SCHEMA = Schema(
    "two numbers",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 99)),
        Attribute("height", Role.QUASI_IDENTIFIER, Numbers(100, 220)),
        Attribute("illness", Role.SENSITIVE, Categories(("cough", "flu", "gout"))),
    ),
)
TREE = reference_set("decision tree")[0]


# Private names: what begins with _ is of no family, so that these are in no list of sanitizers.


@dataclass(frozen=True)
class _Means(Sanitizer):
    """Microaggregation by the textbook: the means of groups of k who stand side by side."""

    k: int = 10

    def _sanitize(self, dataset, table, rng):
        place = np.lexsort([table["height"], table["age"]])
        group = np.empty(len(table), dtype=int)
        group[place] = np.minimum(np.arange(len(table)) // self.k, len(table) // self.k - 1)
        for name in ("age", "height"):
            table[name] = table.groupby(group)[name].transform("mean")
        return table, {"perturbed": ("age", "height"), "claims": (KAnonymity(self.k),)}


@dataclass(frozen=True)
class _Half(Sanitizer):
    """Every second record as it is."""

    order_invariant = False

    def _sanitize(self, dataset, table, rng):
        rows = np.arange(1, len(table), 2)
        return table.iloc[rows], {"rows": rows}


@dataclass(frozen=True)
class _NobodysRows(Sanitizer):
    """Rows drawn from the public domains alone, with a column of their own. It forgets to say that it draws."""

    def _sanitize(self, dataset, table, rng):
        source = np.random.default_rng(rng)
        rows = {
            "age": source.integers(0, 100, 50),
            "height": source.integers(100, 221, 50),
            "illness": source.choice(["cough", "flu", "gout"], 50),
            "weight": source.choice(["light", "heavy"], 50),
        }
        new = Attribute("weight", Role.NEUTRAL, Categories(("light", "heavy")))
        return pd.DataFrame(rows), {"rows": Rows.SYNTHETIC, "new": (new,)}


@dataclass(frozen=True)
class _Uniform(Law):
    """Any whole number of steps up to `reach` in either direction, all alike."""

    reach: int

    def __str__(self):
        return f"uniform noise, up to {self.reach}"

    def vulnerability(self, prior, positions):
        outputs = np.arange(positions[0] - self.reach, positions[-1] + self.reach + 1)
        near = np.abs(outputs[:, None] - positions) <= self.reach
        return float((near * prior).max(axis=1).sum() / (2 * self.reach + 1))

    def capacity(self, size):
        return (size + 2 * self.reach) / (2 * self.reach + 1)

    def surprise(self, true, seen):
        return np.where(np.abs(true - seen) <= self.reach, 0, np.inf)


@dataclass(frozen=True)
class _Shaken(Sanitizer):
    """A fourth kind of noise, with a law of its own."""

    law: Law
    columns: tuple = ("age",)
    randomized = True
    order_invariant = False

    def _sanitize(self, dataset, table, rng):
        source = np.random.default_rng(rng)
        for name in self.columns:
            table[name] += source.integers(-3, 4, len(table))
        return table, {"noisy": dict.fromkeys(self.columns, self.law)}


def people(rows=600):
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "height": rng.integers(140, 200, rows),
            "illness": rng.choice(["cough", "flu", "gout"], rows, p=[0.5, 0.3, 0.2]),
        }
    )
    return Dataset("two numbers", table, SCHEMA, {name: flat(SCHEMA[name]) for name in SCHEMA.quasi_identifiers})


@pytest.fixture(scope="module")
def data():
    return people()


def of(results, measure):
    return results[results.measure == measure].set_index("target").value


# What a release says


@pytest.mark.parametrize(
    ("sanitizer", "kinds", "rows"),
    [
        (_Means(), ["perturbed", "perturbed", "exact"], "the records"),
        (_Half(), ["exact"] * 3, "a subset of the records"),
        (_NobodysRows(), ["synthetic"] * 4, "synthetic"),
        (_Shaken(_Uniform(3)), ["noisy: uniform noise, up to 3", "exact", "exact"], "the records"),
        (KMember(10), ["generalized", "generalized", "exact"], "the records"),
        (Bucketize(KMember(10)), ["exact", "exact", "bucketized"], "the records"),
    ],
    ids=repr,
)
def test_what_leaves_says_how_each_column_was_treated(data, sanitizer, kinds, rows):
    public = sanitizer.sanitize(data, rng=1).provenance.public()
    assert list(public["columns"].values()) == kinds
    assert public["rows"] == rows
    assert json.loads(json.dumps(public)) == public


def test_suppressed_cells_and_exact_ones_are_one_treatment_and_labels_another(data):
    def treated(change, name="age"):
        @dataclass(frozen=True)
        class _Once(Sanitizer):
            def _sanitize(self, dataset, table, rng):
                table[name] = change(table[name])
                return table, {}

        return _Once().sanitize(data, rng=1).columns[name].kind

    old = data.table["age"] > 80
    assert treated(lambda ages: ages) == "exact"
    assert treated(lambda ages: "*") == "suppressed"
    assert treated(lambda ills: ills.mask(old, "*"), "illness") == "suppressed"
    # Beside `*` an age that few people have is moved to a public end, as in any label.
    assert treated(lambda ages: ages.astype(object).mask(old, "*")) == "generalized"
    assert treated(lambda ages: ages.astype(object).mask(old, "0-99")) == "generalized"
    assert treated(lambda ages: ages.astype(object).mask(old, "*").mask(~old, "0-99")) == "generalized"


def test_only_noise_has_a_law():
    with pytest.raises(ValueError, match="`law` must be given for a noisy column and for no other column"):
        Treatment("noisy")
    with pytest.raises(ValueError, match="`law` must be given for a noisy column and for no other column"):
        Treatment("perturbed", Law())
    with pytest.raises(ValueError, match="kind must be one of exact, generalized"):
        Treatment("blurred")


def test_nobody_can_claim_classes_of_nobodys_rows(data):
    @dataclass(frozen=True)
    class _Boast(_NobodysRows):
        def _sanitize(self, dataset, table, rng):
            table, facts = super()._sanitize(dataset, table, rng)
            return table.assign(age=1, height=101), facts | {"claims": (KAnonymity(50),)}

    with pytest.raises(SanitizationError, match=r"KAnonymity\(k=50\) is claimed, and its rows are synthetic"):
        _Boast().sanitize(data, rng=1)


def test_a_subset_is_compared_with_its_own_records(data):
    @dataclass(frozen=True)
    class _Mistaken(_Half):
        def _sanitize(self, dataset, table, rng):
            table, facts = super()._sanitize(dataset, table, rng)
            return table, facts | {"rows": facts["rows"] - 1}

    with pytest.raises(SanitizationError, match=r"is published as .* does not cover their values"):
        _Mistaken().sanitize(data, rng=1)


@pytest.mark.parametrize("label", ["20 to 30", "between"])
def test_what_is_no_label_of_a_hierarchy_is_called_so(data, label):
    """That it does not cover the value is no help where it does, as somebody reads it."""

    @dataclass(frozen=True)
    class _Own(_Means):
        def _sanitize(self, dataset, table, rng):
            return table.assign(age=label), {}

    with pytest.raises(SanitizationError, match=f"published as '{label}' for 600 records, which is not a label of its"):
        _Own().sanitize(data, rng=1)


# Group means: perturbed


def test_group_means_have_no_penalty_of_labels_but_an_error(data):
    release = _Means().sanitize(data, rng=1)
    for measure in (loss.certainty_penalty, loss.precision, loss.discernibility):
        with pytest.raises(Unreadable, match=r"_Means\(k=10\) generalizes nothing: age, height are perturbed"):
            measure(release)
    with pytest.raises(Unreadable, match="generalizes nothing: age, height are perturbed"):
        loss.kl_divergence(data, release)
    moved = [(release.table[n] - data.table[n]).abs().mean() / SCHEMA[n].domain.width for n in ("age", "height")]
    assert loss.mean_absolute_error(data, release) == pytest.approx(np.mean(moved))
    assert of(measure_information_loss(data, [_Means()]), "mean_absolute_error").tolist() == pytest.approx(
        [np.mean(moved)]
    )


def test_group_means_are_linked_by_distance_not_by_labels(data):
    """Counted anew: of the nearest rows one is taken at random."""
    release = _Means().sanitize(data, rng=1)
    apart = sum(
        np.abs(release.table[n].to_numpy() - data.table[n].to_numpy()[:, None]) / SCHEMA[n].domain.width
        for n in ("age", "height")
    )
    nearest = np.isclose(apart, apart.min(axis=1, keepdims=True), rtol=0, atol=1e-12)
    expected = (np.diag(nearest) / nearest.sum(axis=1)).mean()
    published, key = release._published(2)
    share, *_ = linkage.reidentification_rate(Linkage().fit(published), data, key)
    assert share == pytest.approx(expected)
    assert share > 10 / len(data), "ten times what a random row reaches"


def refused(results):
    """The one row of what was refused."""
    assert results.status.tolist() == ["refused"]
    assert results.value.isna().all()
    return results.iloc[0]


def test_people_who_look_alike_are_counted_and_classes_are_not(data):
    release = _Means().sanitize(data, rng=1)
    assert release.classes is None
    assert grade_release(KAnonymity(2), release) >= 10
    assert not release.has_unprotected_rows
    reason = "values of age, height were changed by an unknown mechanism"
    groups = release.table.groupby(["age", "height"])["illness"]
    surest = groups.agg(lambda illnesses: illnesses.value_counts().iloc[0] / len(illnesses)).max()
    assert grade_release(FrequencyDiversity(2, "illness"), release) == pytest.approx(1 / surest), "of averages with a k"
    with pytest.raises(Unreadable, match=reason):
        gains.class_counts(release, "illness")
    with pytest.raises(Unreadable, match=reason):
        privacy_loss(release, "illness")
    assert "age, height were changed by an unknown mechanism" in refused(leakage(data, [_Means()])).reason
    assert "is not counted for _Means" in refused(known_subsets(data, [_Means()])).reason
    with pytest.raises(SanitizationError, match="perturbed, exact; its rows are the records"):
        Bucketize(_Means()).sanitize(data, rng=1)


# A subset


def test_a_subset_is_attacked_and_measured_as_the_records_that_it_is_of(data):
    release = _Half().sanitize(data, rng=1)
    kept = Dataset("two numbers", data.table.iloc[1::2], SCHEMA, data.hierarchies)
    alone = Identity().sanitize(kept, rng=1)
    published, key = release._published(2)
    assert sorted(key) == list(range(1, 600, 2))
    pd.testing.assert_frame_equal(published.table, data.table.iloc[key].reset_index(drop=True))
    theirs, own = alone._published(2)
    expected = linkage.reidentification_rate(Linkage().fit(theirs), kept, own)
    assert linkage.reidentification_rate(Linkage().fit(published), data, key) == pytest.approx(expected)
    assert loss.certainty_penalty(release) == 0, "released cells are exact"
    for measure in (loss.loss_metric, loss.non_uniform_entropy, loss.kl_divergence):
        assert measure(data, release) == measure(kept, alone)
    assert gains.accuracy_gain(gains.class_counts(release, "illness")) == pytest.approx(
        gains.accuracy_gain(gains.class_counts(alone, "illness"))
    )
    found = measure_linkage(data, [_Half()])
    assert found.value[0] == pytest.approx(expected[0])
    assert found.baseline[0] == 1 / 300
    assert of(measure_information_loss(data, [_Half()]), "k_achieved").tolist() == [grade_release(KAnonymity(2), alone)]


def test_who_compares_row_by_row_is_told_that_rows_are_a_subset(data):
    assert "its rows are a subset of the records" in refused(leakage(data, [_Half()])).reason
    with pytest.raises(Unreadable, match=r"the rows of _Half.* are a subset of the records"):
        predict_in_sample(_Half().sanitize(data, rng=1), "age", "decision tree", rng=1)


# Nobody's rows


def test_nobodys_rows_teach_miners_and_link_nobody(data):
    release = _NobodysRows().sanitize(data, rng=1)
    assert len(release) == 50
    assert release.schema.names() == ["age", "height", "illness", "weight"]
    assert release.provenance.simulation
    published, key = release.publish()
    assert key is None
    with pytest.raises(
        Unreadable, match=r"Linkage reads columns .* age, height, illness and 1 more, synthetic. .*MinerInf"
    ):
        Linkage().fit(published)
    guesses = MinerInference(TREE, "illness", ("age", "height")).fit(published).predict(data.table)
    assert len(guesses) == len(data)
    with pytest.raises(Unreadable, match="are synthetic"):
        predict_in_sample(release, "age", "decision tree", rng=1)


@pytest.mark.parametrize("evaluated", [measure_information_loss, measure_linkage, leakage, known_subsets])
def test_what_is_of_people_is_absent_of_nobodys_rows(data, evaluated):
    assert re.search("nobody's|synthetic", refused(evaluated(data, [_NobodysRows()])).reason)


def test_nobodys_rows_cost_no_label_and_hide_nobody(data):
    release = _NobodysRows().sanitize(data, rng=1)
    for measure in (loss.certainty_penalty, loss.discernibility):
        with pytest.raises(Unreadable, match="generalizes nothing: age, height are synthetic"):
            measure(release)
    for measure in (loss.mean_absolute_error, loss.kl_divergence, loss.loss_metric):
        with pytest.raises(Unreadable, match="are synthetic"):
            measure(data, release)
    with pytest.raises(Unreadable, match="its rows are synthetic, so nobody has a class"):
        grade_release(KAnonymity(2), release)
    with pytest.raises(ValueError, match="are not shown"):
        release.show()


# A fourth kind of noise


def test_a_law_of_its_own_is_all_that_noise_needs(data):
    """Against counts of 7 outcomes for each person, without the law's methods."""
    found = leakage(data, [_Shaken(_Uniform(3))])
    ages = data.table["age"].to_numpy()
    people = np.bincount(ages, minlength=110)
    right = sum(max(people[max(cell - 3, 0) : cell + 4]) for cell in range(110)) / 7 / len(data)
    assert of(found, "attribute_vulnerability")["age"] == pytest.approx(right)
    assert of(found, "attribute_capacity")["age"] == pytest.approx(np.log2((100 + 6) / 7))
    rows = 0
    for _, group in data.table.groupby("height")["age"]:
        rows += len({cell for age in group for cell in range(age - 3, age + 4)}) / 7
    assert of(found, "identity_vulnerability")["identity"] == pytest.approx(rows / len(data))


def test_several_noisy_columns_are_weighed_by_their_laws(data):
    sanitizer = _Shaken(_Uniform(3), ("age", "height"))
    found = of(leakage(data, [sanitizer]), "identity_vulnerability")["identity"]
    table, true = sanitizer.sanitize(data, rng=9).table, data.table
    near = np.ones((len(data), len(data)), dtype=bool)
    for name in ("age", "height"):
        near &= np.abs(table[name].to_numpy()[:, None] - true[name].to_numpy()) <= 3
    assert found == pytest.approx((1 / near.sum(axis=1)).mean(), rel=0.15), "another draw of the noise"


def test_a_law_without_a_closed_form_says_which_one_it_lacks(data):
    one, two = (refused(leakage(data, [_Shaken(Law(), names)])).reason for names in (("age",), ("age", "height")))
    assert "has no closed form of the probability that a cell is guessed. Give Law one" in one
    assert "has no closed form of the probability that a row belongs to a person" in two
    assert of(measure_information_loss(data, [_Shaken(Law())]), "mean_absolute_error").notna().all()


def test_what_a_seed_drew_is_a_simulation_whatever_the_sanitizer_says_of_itself(data, monkeypatch):
    """Values swapped among the people: no law, no noise, and nothing in the class that says `draws`."""

    def swapped(self, dataset, table, rng):
        order = np.random.default_rng(rng).permutation(len(table))
        return table.assign(illness=table["illness"].to_numpy()[order]), {"perturbed": ["illness"]}

    monkeypatch.setattr(Identity, "_sanitize", swapped)
    assert Identity().sanitize(data, rng=1).provenance.simulation
    assert not Identity().sanitize(data, rng=None).provenance.simulation
    monkeypatch.setattr(Identity, "_sanitize", lambda self, dataset, table, rng: (table, {}))
    assert not Identity().sanitize(data, rng=1).provenance.simulation


@pytest.mark.parametrize("coded", [False, True])
def test_how_a_column_was_treated_does_not_depend_on_where_its_cells_stand(coded):
    """The first hundred cells are looked at before all: what only a later one shows is found as well."""
    before, stars = [f"{i % 7}" for i in range(300)], ["*"] * 300
    late = [*before[:299], "0-6"]
    cases = {
        "exact": [before],
        "generalized": [late, late[::-1], ["*", *late[1:]], [*stars[:299], "0-6"], [*stars[:299], None]],
        "suppressed": [stars, ["*", *before[1:]], [*before[:299], "*"]],
    }
    kept = pd.Series(before, dtype="category" if coded else object)
    for kind, columns in cases.items():
        for cells in columns:
            found = pd.Series(cells, dtype="category" if coded else object)
            assert (
                treatments.infer_treatments(_held(kept), _held(found).cells, Rows.RECORDS, None)["age"].kind == kind
            ), cells


def _held(column):
    """What `treatments` reads of a dataset with this one column."""
    return SimpleNamespace(cells=pd.DataFrame({"age": column}), schema=SimpleNamespace(published=["age"]))
