"""A number with gaps stays a number: "missing" is a value of its domain, from the file to the published label."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support import own_tables
from support.plain_models import keeps, published

from privnb import cli
from privnb.attacks import Linkage
from privnb.datasets.dataset import Dataset, load
from privnb.evaluation.attributes import choose_unknown_sensitive
from privnb.explorer.saving import save_release
from privnb.explorer.setting import Setting
from privnb.measures.utility import information_loss, mining
from privnb.measures.utility.populations import LargePopulations
from privnb.measures.utility.queries import CountQueries
from privnb.microdata.bands import Bands
from privnb.microdata.hierarchy import Intervals, LeveledRanges, RangedIntervals, Ranges, taxonomies
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema, SchemaError
from privnb.microdata.treatment import UNTRUE, Rows
from privnb.miners import cross_val_predictions, reference_set
from privnb.miners.encoding import encode
from privnb.privacy_models import KAnonymity, KMap
from privnb.sanitizers import (
    AdditiveNoise,
    Bucketize,
    GeometricNoise,
    Identity,
    KMember,
    LaplaceNoise,
    SanitizationError,
)
from privnb.sanitizers.catalogue import kinds
from privnb.sanitizers.noise.noise_channel import cell_vulnerability, identification
from privnb.sanitizers.synthetic.marginals import anonymize_marginals, divergence, estimate_probabilities

AGE = Numbers(0, 99, missing="NA")
WEIGHT = Numbers(30, 120, step=0.5, missing="?")
SCHEMA = Schema(
    "gaps",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, AGE),
        Attribute("weight", Role.QUASI_IDENTIFIER, WEIGHT),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(("a", "b"))),
        Attribute("disease", Role.SENSITIVE, Categories(("flu", "cold", "cough", "gout"))),
        Attribute("income", Role.NEUTRAL, Numbers(0, 50, missing="-")),
    ),
)
TOWN = taxonomies.lists(SCHEMA["town"], {"all": ["a", "b"]})
WAYS = {
    "ranges": Ranges(AGE),
    "intervals": Intervals(AGE, (5, 10, 20, 50, 100)),
    "leveled ranges": LeveledRanges(AGE),
    "ranged intervals": RangedIntervals(AGE, (5, 10, 20, 50, 100)),
    "widths": taxonomies.widths(SCHEMA["age"], (5, 10, 20)),
    "cuts": taxonomies.cuts(SCHEMA["age"], (6, 18, 40, 65), (18, 65)),
}


def toy(rows=40, seed=0, way="ranges", gaps=0.3):
    rng = np.random.default_rng(seed)
    number = {
        name: np.where(rng.random(rows) < gaps, np.nan, drawn)
        for name, drawn in (
            ("age", rng.integers(0, 100, rows)),
            ("weight", rng.integers(60, 241, rows) / 2),
            ("income", rng.integers(0, 51, rows)),
        )
    }
    table = pd.DataFrame(
        number | {"town": rng.choice(["a", "b"], rows), "disease": rng.choice(["flu", "cold", "cough", "gout"], rows)}
    )
    return Dataset("gaps", table, SCHEMA, {"age": WAYS[way], "weight": Ranges(WEIGHT), "town": TOWN})


def stands_for(label, value, mark):
    """Whether a published label covers a true number, read as a person reads it: NaN is a missing one."""
    if label == "*":
        return True
    if label == mark or pd.isna(value):
        return label == mark and pd.isna(value)
    low, high = re.fullmatch(r"([\d.]+)(?:-([\d.]+))?", label).groups()
    return float(low) <= value <= float(high or low)


def test_a_missing_number_is_the_last_value_of_its_domain():
    assert AGE.size == 101
    assert AGE.codes(["7", np.nan, "NA", 99.0]).tolist() == [7, 100, 100, 99]
    assert [AGE.value(code) for code in (7, 100)] == [7, "NA"]
    assert AGE.has(np.array([7, 7.5, "NA", "?"], dtype=object)).tolist() == [True, False, True, False]
    assert AGE.interval(np.array([3, 100]))[0].tolist() == [0, 100]
    assert AGE.interval(np.array([99, 100]))[1].tolist() == [99, 100]
    assert str(AGE) == "0 to 99, or NA (missing)"
    assert AGE.outside(pd.Series([7, np.nan, 100])).tolist() == [100]
    assert len(Numbers(0, 99).outside(pd.Series([7, np.nan]))) == 1, "without a mark nothing may be missing"
    assert AGE.rounded(pd.Series(["7.4", "NA", None])).tolist()[0] == 7
    assert AGE.rounded(pd.Series(["7.4", "NA", None])).isna().tolist() == [False, True, True]
    assert Numbers(0, 2**31 - 2, missing="NA").size == 2**31
    with pytest.raises(SchemaError, match="at most 2,147,483,648 values"):
        Numbers(0, 2**31 - 1, missing="NA")


def test_a_mark_that_reads_as_anything_else_is_refused():
    for mark in ("", "*", "7", "-9", "17-30", "inf", " NA", "1e5"):
        with pytest.raises(SchemaError, match="the mark of a missing number must be a word"):
            Numbers(0, 99, missing=mark)
    for mark in ("?", "NA", "N/A", "NaN", "-", ".", "unknown"):
        assert Numbers(0, 99, missing=mark).missing == mark


def test_the_bands_of_a_secret_number_have_one_for_missing():
    bands = Bands.of(Numbers(0, 99, cuts=(18, 65), missing="?"))
    assert bands.values == ("0-17", "18-64", "65-99", "?")
    assert bands.labels([3, np.nan, 99]) == ["0-17", "?", "65-99"]
    assert Bands.of(Numbers(0, 3, missing="?")).values == ("0", "1", "2", "3", "?")


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_label_covers_numbers_or_missing_ones_and_only_the_star_both(way):
    hierarchy = WAYS[way]
    assert hierarchy.size == 101
    rng = np.random.default_rng(1)
    for _ in range(200):
        values = rng.choice([*range(100), np.nan], rng.integers(1, 5), p=[0.006] * 100 + [0.4])
        codes = hierarchy.codes(AGE.marked(pd.Series(values)))
        label = hierarchy.labels(codes, np.zeros(len(codes), dtype=int))[0]
        assert all(stands_for(label, value, "NA") for value in values)
        assert set(codes) <= set(hierarchy.covered(label))
        assert hierarchy.covers(label, codes).all()
        missing = np.isnan(values)
        assert (label == "NA") == missing.all()
        assert label == "*" or missing.all() or not missing.any()
        low, high = hierarchy.bounds(label)
        assert np.isnan([low, high]).all() if missing.all() else low <= min(values[~missing]) <= high
    assert hierarchy.width("NA") == 0
    assert hierarchy.width("*") == 1
    assert hierarchy.ends("NA") == (100, 100)
    assert hierarchy.ends("*") == (0, 100)


def test_a_range_ends_at_a_public_cut_and_a_missing_one_where_it_is():
    ages = Ranges(Numbers(17, 99, cuts=10, missing="?"))
    given = np.array(["41-47", "38", "?", "*"], dtype=object)
    assert ages.widened(given, shared=[]).tolist() == ["40-49", "30-39", "?", "*"]
    assert ages.width("17-99") == 1, "what a number costs does not depend on whether others may be missing"
    assert ages.width("17-58") == Ranges(Numbers(17, 99)).width("17-58")


TOML = """
[dataset]
name = "toy"
[[files]]
path = "toy.csv"
[format]
{layout}
[columns.age]
role = "quasi-identifier"
domain = {{ low = 0, high = 99{mark} }}
[columns.pay]
role = "sensitive"
domain = {{ low = 0, high = 9, missing = "-" }}
"""


@pytest.fixture
def written(tmp_path):
    def write(rows="30,7\nNA,-\n,3\n50,4\n", layout="", mark=', missing = "NA"'):
        (tmp_path / "toy.csv").write_text("age,pay\n" + rows)
        (tmp_path / "toy.toml").write_text(TOML.format(layout=layout, mark=mark))
        return tmp_path / "toy.toml"

    return write


@pytest.mark.slow
def test_a_file_says_missing_by_an_empty_cell_or_a_mark(written):
    loaded = load(written())
    assert loaded.table["age"].fillna(-1).tolist() == [30, -1, -1, 50]
    assert loaded.table["pay"].tolist() == ["7", "-", "3", "4"], "a sensitive number is in bands"
    assert loaded.codes["age"].tolist() == [30, 100, 100, 50]
    of_the_file = load(written("30,7\n-9,3\n", 'missing = "-9"'))
    assert of_the_file.codes["age"].tolist() == [30, 100]
    assert len(load(written(layout='missing = "NA"\nrecords_with_missing = "drop"'))) == 3 - 1
    with pytest.raises(SchemaError, match=r"2 of 4 records have missing values, in age, and records_with_missing = "):
        load(written(layout='missing = "NA"\nrecords_with_missing = "refuse"'))
    assert len(load(written("30,7\n50,4\n", layout='records_with_missing = "refuse"'))) == 2
    with pytest.raises(
        SchemaError, match=r"'age' has 1 missing values, which its domain does not allow\. .*missing = "
    ):
        load(written("30,7\n,4\n", mark=""))
    with pytest.raises(SchemaError, match="column 'age': the mark of a missing number must be a word"):
        load(written(mark=', missing = "9"'))
    with pytest.raises(SchemaError, match=r"missing = .* if numbers may be missing"):
        load(written(mark=", missing = 9"))
    path = written(mark=', missing = "NA", missing_is_public = true')
    assert load(path).schema["age"].domain.missing_is_public
    assert not load(written()).schema["age"].domain.missing_is_public
    with pytest.raises(SchemaError, match="missing_is_public = true if everybody may know"):
        load(written(mark=', missing = "NA", missing_is_public = 1'))


INSTANCES = [each for kind in kinds().values() for each in kind.contract_examples(SCHEMA)]


@pytest.mark.slow
@pytest.mark.parametrize("sanitizer", INSTANCES, ids=repr)
def test_every_sanitizer_keeps_its_claims_on_tables_with_gaps(sanitizer):
    done = refused = 0
    for seed, way in enumerate([*WAYS, "ranges", "ranges"]):
        data = toy(12 + 4 * seed, seed, way, gaps=(0.1, 0.3, 0.6)[seed % 3])
        try:
            release = sanitizer.sanitize(data, rng=1)
        except SanitizationError as error:  # such as one value too common for l
            refused += "missing" in str(error)
            continue
        done += 1
        for model in release.provenance.claims:
            assert keeps(model, **published(release, model))
        before = data.table if release.provenance.rows is Rows.SYNTHETIC else release.originals(data).table
        for name in ("age", "weight"):
            cells, attribute = release.table[name], SCHEMA[name]
            if name in release.treated(*UNTRUE):
                lost, gap = cells.isna(), before[name].isna()
                if release.provenance.rows is Rows.SYNTHETIC:
                    assert np.isfinite(cells).all()
                else:
                    assert not lost[~gap.to_numpy()].any()
                    assert lost.sum() == gap.sum() or f"of '{name}'" in release.provenance.note
            elif name in release.treated("exact"):
                pd.testing.assert_series_equal(cells, before[name])
            else:
                pairs = zip(cells.astype(str), before[name], strict=True)
                assert all(stands_for(*pair, attribute.domain.missing) for pair in pairs)
        if not release.treated(*UNTRUE):
            losses = (information_loss.certainty_penalty(release), information_loss.loss_metric(data, release))
            losses += (information_loss.precision(release), information_loss.normalized_certainty_penalty(release))
            assert all(0 <= loss <= 1 for loss in losses)
            assert information_loss.kl_divergence(data, release) >= 0
            assert information_loss.non_uniform_entropy(data, release) >= 0
    assert done >= 5 or refused >= 5, "it says that a number is missing, and does nothing"


def test_who_is_like_whom_where_numbers_are_missing():
    """A missing number is as far from each number as these are from each other at most, and not at all from another."""
    ages = [90, np.nan, 10, 99, np.nan, 12]
    schema = Schema("gaps", (SCHEMA["age"],))
    for way in ("ranges", "ranged intervals"):
        data = Dataset("gaps", pd.DataFrame({"age": ages}), schema, {"age": WAYS[way]})
        labels = KMember(2).sanitize(data, rng=1).table["age"]
        assert labels[1] == labels[4] == "NA"
        assert not {"NA", "*"} & set(labels[[0, 2, 3, 5]])


def test_a_claim_that_a_label_does_not_keep_is_refused():
    """A missing number under a range, and a number under the mark."""

    class Wrong(Identity):
        def _sanitize(self, dataset, table, rng):
            return table.assign(age=self.cells(dataset.table["age"])), {}

    for cells in (lambda age: ["0-99"] * len(age), lambda age: ["NA"] * len(age)):
        Wrong.cells = staticmethod(cells)
        with pytest.raises(SanitizationError, match="does not cover their values"):
            Wrong().sanitize(toy(), rng=1)
    Wrong.cells = staticmethod(lambda age: age.fillna(7))
    with pytest.raises(SanitizationError, match="is published as '7'"):
        Wrong().sanitize(toy(), rng=1)


def test_people_of_a_population_may_lack_a_number_too():
    data = toy(30)
    population = pd.concat([data.table, data.table])
    for marked in (population, population.assign(age=AGE.marked(population["age"]))):
        assert KMap(2, population=marked).codes(SCHEMA, data.hierarchies)[:30, 0].tolist() == data.codes["age"].tolist()


def test_noise_with_epsilon_leaves_missing_numbers_that_are_public():
    """Epsilon covers the numbers; that a number is missing, everybody may know by the owner's word."""
    rows = 4000
    schema = replace(SCHEMA, attributes=tuple(map(_public, SCHEMA.attributes)))
    table = toy(rows, gaps=0).table.assign(age=np.where(np.arange(rows) % 2, np.nan, AGE.middle))
    data = Dataset("gaps", table, schema, toy().hierarchies)
    for sanitizer in (LaplaceNoise(1.0), GeometricNoise(1.0)):
        with pytest.raises(SanitizationError, match="numbers of age, weight may be missing, and eps"):
            sanitizer.sanitize(toy(), rng=3)
        ages = sanitizer.sanitize(data, rng=3).table["age"]
        assert ages.isna().tolist() == table["age"].isna().tolist()
        spread = ages.dropna() - AGE.middle
        assert abs(spread.mean()) < 5 * 99 * np.sqrt(2 / (rows / 2))
        assert abs(spread.var() / (2 * 99**2) - 1) < 0.25
    release = LaplaceNoise(1.0).sanitize(data, rng=3)
    law = release.columns["age"].law
    assert cell_vulnerability(law, schema["age"], table["age"]) == pytest.approx(1), "missing, or of the middle"
    assert identification(data, release, rng=1, rows=50)[0] < 1
    assert 0 < information_loss.mean_absolute_error(data, release)
    assert LaplaceNoise(1.0).sanitize(data, rng=None).provenance.promise.epsilon == 2.0


def _public(attribute):
    numeric = isinstance(attribute.domain, Numbers)
    return replace(attribute, domain=replace(attribute.domain, missing_is_public=True)) if numeric else attribute


def test_a_secret_number_with_gaps_is_bucketized_in_bands():
    schema = SCHEMA.with_roles({"age": "quasi-identifier", "income": "sensitive"})
    data = Dataset("gaps", toy().table[["age", "income"]], schema, {"age": WAYS["ranges"]})
    with pytest.raises(SanitizationError, match=r"numeric with missing values.*in_bands\('income'\)"):
        Bucketize(KMember(3)).sanitize(data, rng=1)
    release = Bucketize(KMember(3)).sanitize(data.in_bands("income"), rng=1)
    assert release.buckets.loc[release.buckets["value"] == "-", "count"].sum() == data.table["income"].isna().sum()


def test_marginals_count_missing_numbers():
    data = toy(60)
    counts = anonymize_marginals(data, ["age", "town"], KAnonymity(2))
    table = counts.tables[0]
    assert table["count"].sum() == 60
    assert set(table.columns) == {"age", "count"}
    assert (estimate_probabilities(counts, data.table[["age", "town"]]) > 0).all()
    assert divergence(data, counts) >= 0
    assert divergence(data, release=KMember(3).sanitize(data, rng=1)) >= 0


def test_a_neighbour_who_knows_that_a_number_is_missing_finds_its_cells():
    data = toy(60)
    release = KMember(3).sanitize(data, rng=1)
    published, _ = release.publish()
    attack = Linkage(("age",)).fit(published)
    cells, known = release.table["age"], data.table[["age"]]
    fits = [sum(stands_for(cell, value, "NA") for cell in cells) for value in known["age"]]
    assert attack.candidates(known).tolist() == fits
    assert attack.candidates(data.schema.marked(known)).tolist() == fits
    noisy = Linkage(("age",)).fit(AdditiveNoise().sanitize(data, rng=1).publish()[0])
    people = pd.DataFrame({"age": [np.nan]})
    assert noisy.candidates(people).tolist() == [data.table["age"].isna().sum()], "noise leaves it missing"


def test_count_queries_and_populations_name_missing_numbers():
    """Counted from the labels as a person reads them, every value of a cell equally likely."""
    ages = Numbers(0, 7, missing="NA")
    schema = Schema("gaps", (replace(SCHEMA["age"], domain=ages), SCHEMA["town"], SCHEMA["disease"]))
    data = toy(60, gaps=0.4)
    table = data.table[schema.names()].assign(age=data.table["age"] % 8)
    data = Dataset("gaps", table, schema, {"age": Ranges(ages), "town": TOWN})
    every, texts = [*map(float, range(8)), np.nan], ages.marked(table["age"]).tolist()
    values = [*range(8), "NA"]
    for release in (KMember(3).sanitize(data, rng=1), Identity().sanitize(data, rng=1)):
        asked = CountQueries.of(data, "disease", 1, 0.3, rng=5, number=30)
        labels = [
            str(ages.value(ages.codes(cell))) if not isinstance(cell, str) else cell for cell in release.table["age"]
        ]
        for query, answer in enumerate(asked.answers(release)):
            line = asked.lines["age"]
            chosen = {values[position] for position in np.flatnonzero(asked.sets["age"][query][line.part])}
            ill = table["disease"].isin(asked.values[asked.chosen[query][:-1]])
            towns = {"ab"[p] for p in np.flatnonzero(asked.sets["town"][query][asked.lines["town"].part])}
            there = ill & table["town"].isin(towns)
            assert asked.actual[query] == sum(there & np.array([value in chosen for value in texts]))
            shares = []
            for label in labels:
                held = [value for value, number in zip(values, every, strict=True) if stands_for(label, number, "NA")]
                shares.append(sum(value in chosen for value in held) / len(held))
            if (towns == {"a", "b"}) or release.treated("exact")[:2] == ("age", "town"):
                assert answer == pytest.approx(sum(np.array(shares) * there))
    large = LargePopulations.of(data, "disease", 0.2)
    assert "age NA" in large.predicates
    assert large.counts[large.predicates.index("age NA")].sum() == table["age"].isna().sum()
    tree = taxonomies.widths(schema["age"], (2, 4))
    other = LargePopulations.of(data, "disease", 0.2, hierarchies={"age": tree})
    assert other.counts[other.predicates.index("age NA")].sum() == table["age"].isna().sum()
    assert other.counts[other.predicates.index("age 0-3")].sum() == (table["age"] < 4).sum()


def test_a_guess_at_a_missing_number():
    """A label that covers it is nearer than one that covers more; no number is near it."""
    true, ages = np.array([np.nan, np.nan, 7.0]), WAYS["ranges"]
    for guess, better in (("NA", [True, True, False]), ("*", [False, False, False]), ("7-9", [False, False, True])):
        guesses = np.array([guess] * 3, dtype=object)
        assert mining.nearer(guesses, np.array(["*"] * 3, dtype=object), true, 0, ages).tolist() == better
    assert mining.nearer(np.zeros(3), np.array([50.0, 50, 50]), true, 0, ages).tolist() == [False, False, True]
    assert mining.good_utility(np.array([7.0, 7, 7]), true) == 1


def test_a_secret_that_is_a_number_with_gaps_is_asked_in_bands():
    data = toy()
    with pytest.raises(ValueError, match=r"'income' is a number that is missing for some people.*in_bands\('income'\)"):
        choose_unknown_sensitive(data, "income")
    assert choose_unknown_sensitive(data.in_bands("income"), "income") == "income"


@pytest.mark.slow
def test_a_saved_release_is_read_back(tmp_path, capsys):
    """From a file with gaps to a file with their mark, of which `privnb check` finds the k that was asked for."""
    path = own_tables.drafted(tmp_path / "data")
    data = load(path)
    assert {name: data.schema[name].domain.missing for name in ("score", "weight")} == {"score": "NA", "weight": "NA"}
    assert data.schema["visits"].domain.values[-1] == "NA"
    assert data.schema.quasi_identifiers == ["score", "weight", "region"]
    saved, *_ = save_release(data, Setting(k=5, quasi_identifiers="score, weight, region"), tmp_path)
    cells = pd.read_csv(saved, dtype=str, keep_default_na=False)
    assert "NA" in set(cells["score"]) | set(cells["weight"])
    assert not (cells == "").any(axis=None)
    assert cli.main(["check", str(saved), "--description", str(path), "--model", "k=5"]) in (None, 0)
    assert cli.main(["check", str(saved), "--description", str(path), "--model", "k=60"]) == 1
    bucketized = Setting("Bucketize", k=5, quasi_identifiers="score, weight, region")
    saved, *_ = save_release(data, bucketized, tmp_path, allow="a test")
    exact = pd.read_csv(saved, dtype=str, keep_default_na=False)
    assert (exact["score"] == "NA").sum() == data.table["score"].isna().sum()
    assert exact.loc[exact["score"] != "NA", "score"].str.fullmatch(r"1\d\d").all(), "whole numbers stay whole"


def test_what_a_miner_reads_of_a_missing_number():
    data = toy(200)
    names = ["age", "town"]
    known = data.table["age"].dropna()
    encoded = encode(data.table, names, SCHEMA, data.hierarchies)
    missing = data.table["age"].isna().to_numpy()
    assert encoded.features.shape == (200, 5)
    assert (encoded.features[missing, :3] == [known.median(), known.median(), 1]).all()
    assert (encoded.features[~missing, 2] == 0).all()
    assert encoded.labels["age"].isna().tolist() == missing.tolist(), "as Weka's ?"
    asked = pd.DataFrame({"age": [np.nan, 3.0], "town": ["a", "a"]})
    again = encode(asked, names, SCHEMA, data.hierarchies, like=encoded)
    assert again.features[:, :3].tolist() == [[known.median(), known.median(), 1], [3, 3, 0]]
    release = KMember(5).sanitize(data, rng=1)
    labels = release.table["age"]
    assert {"NA", "*"} & set(labels)
    learned = encode(release.table, names, SCHEMA, data.hierarchies)
    assert np.isfinite(learned.features).all()
    assert (learned.features[:, 2] == labels.isin(["NA", "*"])).all()
    read = encode(asked, names, SCHEMA, data.hierarchies, like=learned)
    assert read.labels["age"][0] == ("NA" if "NA" in set(labels) else "*")
    assert stands_for(read.labels["age"][1], 3.0, "NA")
    few = release.table.assign(age=["*", "10-19"] * 100)  # none that says missing
    learned = encode(few, names, SCHEMA, data.hierarchies)
    asked = pd.DataFrame({"age": [np.nan, 12.0, 30.0], "town": ["a"] * 3})
    read = encode(asked, names, SCHEMA, data.hierarchies, like=learned)
    assert read.labels["age"].tolist() == ["*", "10-19", "*"]


QUICK = "decision tree, random forest, linear regression, logistic regression, naive Bayes, one rule, decision table"
QUICK += ", naive Bayes (discretised), feature votes, nearest neighbour, robust regression, fusion: stacked"


@pytest.mark.slow
@pytest.mark.parametrize("target", ["disease", "income"])
def test_every_miner_learns_from_records_with_gaps(target):
    data = toy(60)
    encoded = encode(data.table, ["age", "weight", "town"], SCHEMA, data.hierarchies)
    column = data.table[target].to_numpy()
    for miner in reference_set(QUICK):
        if miner.predicts(column):
            guesses = miner.fit(encoded, column).predict(encoded)
            assert not pd.isna(guesses).any(), miner.name
    known = ~pd.isna(column)
    tree = reference_set("decision tree")[0]
    of_known = tree.fit(encoded[known], column[known]).predict(encoded)
    assert tree.fit(encoded, column).predict(encoded).tolist() == of_known.tolist(), (
        "nothing is learned of a missing one"
    )
    assert not pd.isna(cross_val_predictions(tree, encoded, column, folds=3)).any()


def test_that_a_number_is_missing_can_tell_something():
    """All who lack their age have the flu: each miner that reads labels or features finds that."""
    data = toy(300)
    ill = np.where(data.table["age"].isna(), "flu", "cold")
    encoded = encode(data.table, ["age"], SCHEMA, data.hierarchies)
    for name in ("decision tree", "one rule", "decision table", "feature votes", "nearest neighbour"):
        miner = reference_set(name)[0]
        assert (miner.fit(encoded, ill).predict(encoded) == ill).all(), name


def test_an_interval_that_reaches_past_the_domain_is_of_numbers():
    visits = Attribute("visits", Role.QUASI_IDENTIFIER, Numbers(0, 8, missing="?"))
    tree = taxonomies.widths(visits, (2, 4))
    assert tree.rows[-2:] == (("8", "8-9", "8-11", "*"), ("?", "?", "?", "*"))
