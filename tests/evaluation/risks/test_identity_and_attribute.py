"""Identity and attribute risk: recomputed by plain loops, closed forms, groups, keys, refusals."""

import tracemalloc

import numpy as np
import pandas as pd
import plain
import pytest
from support import person_key
from support.questions import risks

from privnb.attacks import Linkage
from privnb.datasets.dataset import Dataset, load
from privnb.evaluation import evaluate
from privnb.evaluation.disclosure.disclosures import Disclosure
from privnb.evaluation.evaluation_loop import Case
from privnb.evaluation.risks.attribute import AttributeRisk, _guess_by_similar, _score_rows, guess_without, score_groups
from privnb.evaluation.risks.groups import find_groups
from privnb.evaluation.risks.identity import ReidentificationRisk, score_population
from privnb.evaluation.risks.linkability import LinkabilityRisk
from privnb.evaluation.risks.scores import Scores, compute_paired_interval
from privnb.measures.disclosure.individual_risk import individual_risk
from privnb.measures.disclosure.linkage import class_link_probabilities, link_probabilities
from privnb.microdata.counts import encode_values
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.microdata.treatment import Unreadable
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import (
    MASK,
    Anatomy,
    Bucketize,
    FullDomain,
    Identity,
    KMember,
    LaplaceNoise,
    LatinHypercube,
    LocalRecoding,
    LocalSuppression,
    Microaggregation,
    Mondrian,
    RandomizedResponse,
    Rounding,
    Sampling,
    Suppress,
)

FORMS = [
    Identity(), KMember(5), LocalSuppression(3), LaplaceNoise(5.0), RandomizedResponse(8.0), Rounding(), Sampling(0.5),
    Bucketize(Mondrian(KAnonymity(5))), Suppress(),
]  # fmt: skip


@pytest.fixture(scope="module")
def adult():
    return load("adult", "li-li", records=60)


def everybody(results, measure, variant=""):
    [row] = results[(results.measure == measure) & (results.variant == variant) & (results.group == "")].itertuples()
    return row


@pytest.mark.parametrize("sanitizer", FORMS, ids=lambda each: type(each).__name__)
def test_identity_is_what_loops_over_the_table_find(adult, sanitizer):
    case = Case(adult, sanitizer, 1)
    scores, found = ReidentificationRisk().scores(case), plain.identity(adult, case.release)
    assert scores.people.tolist() == found.index.tolist()
    assert scores.chance == pytest.approx(found.to_numpy())
    assert scores.before == pytest.approx(1 / len(found))


def letters(pairs, weights=None):
    """A dataset of two quasi-identifiers with one letter each, and an illness."""
    names = {"first": tuple("abcdefghijklmnopqrstuvwxyz"), "second": ("0", "1"), "ill": ("no", "yes")}
    table = pd.DataFrame([[*pair] for pair in pairs], columns=["first", "second"])
    table["ill"] = np.resize(["no", "yes"], len(table))
    roles = {"first": Role.QUASI_IDENTIFIER, "second": Role.QUASI_IDENTIFIER, "ill": Role.SENSITIVE}
    attributes = [Attribute(name, roles[name], Categories(names[name])) for name in names]
    if weights is not None:
        table["w"] = weights
        attributes.append(Attribute("w", Role.WEIGHT, Numbers(0, 1000)))
    schema = Schema("letters", tuple(attributes))
    return Dataset("letters", table, schema, {name: flat(schema[name]) for name in ("first", "second")})


BESIDE_BLANKED = ["p0", "p0", *(letter + "0" for letter in "abcdefghijklmno")]


def test_rows_are_excluded_that_equal_records_cannot_have():
    """Two people (p, 0) stand beside 15 blanked to (*, 0): had one of these been (p, 0), none of the three would be."""
    case = Case(letters(BESIDE_BLANKED), LocalSuppression(2), 1)
    assert sorted(case.release.table["first"].unique()) == ["*", "p"]
    scores = ReidentificationRisk().scores(case)
    assert scores.chance == pytest.approx([1 / 2] * 2 + [1 / 15] * 15)
    assert scores.risk[0] == pytest.approx(2 / 17)
    assert scores.largest[0] == pytest.approx(1 / 2)


def test_people_of_the_population_are_those_of_the_class_where_equal_records_are_alike():
    data = letters(BESIDE_BLANKED, weights=[10] * 17)
    alone = {name: scores.chance for name, scores in score_population(Case(data, LocalSuppression(2), 1)).items()}
    assert alone["individual_risk"][:2] == pytest.approx([individual_risk([2], [20])[0]] * 2)
    assert alone["individual_risk"][2:] == pytest.approx([individual_risk([15], [150])[0]] * 15)


def test_a_part_with_all_quasi_identifiers_leads_to_the_class_alone():
    case = Case(letters(BESIDE_BLANKED), LocalSuppression(2), 1)
    scores = LinkabilityRisk((("first", "second"), ("ill",))).scores(case)
    # Of two people (p, 0) one is ill, as are 8 of all 17: one row of two, and it is one of 8 or 9.
    assert scores.chance[:2] == pytest.approx([1 / 2 / 9, 1 / 2 / 8])
    fewer = LinkabilityRisk((("first",), ("ill",))).scores(case)
    assert fewer.chance[:2] == pytest.approx([1 / 17] * 2), "the first letter alone excludes no row"


def test_where_equal_records_may_part_all_rows_that_fit_count():
    """k-member clustering: nobody can tell in which cluster a person is, so nothing is excluded."""
    adult = load("adult", "li-li", records=300)
    case = Case(adult, KMember(5), 1)
    assert not case.release.provenance.equal_records_alike
    published, key = case.published
    assert ReidentificationRisk().scores(case).chance == pytest.approx(
        link_probabilities(Linkage().fit(published), adult, key)[0]
    )
    assert ReidentificationRisk().scores(case).chance.mean() < class_link_probabilities(case.release, adult)[0].mean()


@pytest.mark.parametrize(
    "sanitizer", [FullDomain(KAnonymity(3), suppress=0.2), LocalRecoding(KAnonymity(3)), Suppress()]
)
def test_the_risk_is_never_below_the_linkage_and_never_above_one_in_k(sanitizer):
    adult = load("adult", "li-li", records=200)
    case = Case(adult, sanitizer, 1)
    published, key = case.published
    chance = ReidentificationRisk().scores(case).chance
    assert (chance >= link_probabilities(Linkage().fit(published), adult, key)[0] - 1e-12).all()
    assert chance.max() <= 1 / 3 + 1e-12
    assert chance == pytest.approx(1 / case.release.people_per_class[case.release.equivalence_classes])


WITH_CLASSES = [each for each in FORMS if type(each).__name__ not in ("LaplaceNoise", "RandomizedResponse", "Rounding")]


@pytest.mark.parametrize("sanitizer", WITH_CLASSES, ids=lambda each: type(each).__name__)
def test_attribute_is_what_loops_over_the_table_find(adult, sanitizer):
    case = Case(adult, sanitizer, 1)
    scores, who = AttributeRisk("occupation").scores(case)
    found = plain.guessed(adult, case.release, "occupation")
    assert who == ""
    assert scores.people.tolist() == found.index.tolist()
    assert scores.chance == pytest.approx(found.to_numpy())


def test_nearest_rows_name_the_sensitive_value_that_is_commonest_among_them(adult):
    case = Case(adult, Rounding(), 1)
    right, people = _score_rows(case, "occupation")
    release, known = case.release, adult.schema.quasi_identifiers
    for record in range(len(adult)):
        times = release.table.occupation.iloc[plain.fitting(release, adult.table.iloc[record], known)].value_counts()
        best = list(times.index[times == times.max()])
        said = (adult.table.occupation.iloc[record] in best) / len(best)
        assert right[people == record] == pytest.approx(said)


def test_the_guess_without_a_person_is_of_others_alone(adult):
    """Each person's value is changed in turn: what is guessed of them without them must not follow."""
    table = load("adult", "li-li", records=400)
    codes, values = encode_values(table.cells["sex"])
    right = _guess_by_similar(table, codes, len(values))
    for person in range(0, 400, 40):
        sums = right[person]
        for other in range(len(values)):
            if other != codes[person]:
                changed = codes.copy()
                changed[person] = other
                sums += _guess_by_similar(table, changed, len(values))[person]
        assert sums == pytest.approx(1), "one value alone, or ties that share it, is named whatever the person's own is"


def test_values_of_others_alike_are_counted_without_a_matrix_of_records_and_values():
    adult = load("adult", "li-li", records=1500)
    codes = np.random.default_rng(1).integers(0, 20_000, 1500)
    tracemalloc.start()
    try:
        right = _guess_by_similar(adult, codes, 20_000)
        assert tracemalloc.get_traced_memory()[1] < 1500 * 20_000  # a byte for each
    finally:
        tracemalloc.stop()
    assert 0 < right.mean() < 0.01


@pytest.mark.slow
def test_of_classes_the_mean_is_classes_by_people_and_the_worst_one_in_the_smallest():
    adult = load("adult", "li-li", records=2000)
    case = Case(adult, Mondrian(KAnonymity(7)), 1)
    sizes = case.release.people_per_class
    found = risks(adult, [case.sanitizer])
    mean, worst = everybody(found, "identity_risk"), everybody(found, "identity_risk", "largest")
    assert mean.value == pytest.approx(len(sizes) / 2000)
    assert worst.value == pytest.approx(1 / sizes.min())
    assert [mean.baseline, worst.baseline] == pytest.approx([1 / 2000] * 2)
    assert mean.low < mean.value < mean.high


@pytest.mark.slow
def test_averages_that_keep_a_k_tell_for_certain_where_all_rows_alike_have_one_value():
    adult = load("adult", "li-li", records=3000)
    release = Microaggregation(5).sanitize(adult, rng=1)
    groups = {}
    for row, occupation in zip(
        release.table[adult.schema.quasi_identifiers].itertuples(index=False), adult.table.occupation, strict=True
    ):
        groups.setdefault(tuple(row), []).append(occupation)
    assert min(map(len, groups.values())) >= 5
    share = max(max(map(each.count, each)) / len(each) for each in groups.values())
    everywhere = adult.table.occupation.value_counts()
    guesses = [(of.count(value) / len(of), everywhere[value] / 3000) for of in groups.values() for value in {*of}]
    surest = min(before for sure, before in guesses if sure == share)
    questions = [AttributeRisk("occupation"), Disclosure.of(adult)]
    found = evaluate(adult, [Microaggregation(5), LaplaceNoise(1.0)], measures=questions)
    found = found[(found.group == "") & (found.sanitizer == "Microaggregation")]
    for measure, variant in (("attribute_risk", "largest"), ("largest_posterior", "")):
        [row] = found[(found.measure == measure) & (found.variant == variant)].itertuples()
        before = surest if variant else everywhere.iloc[0] / 3000
        assert (row.value, row.baseline) == pytest.approx((share, before))
    assert Microaggregation(5, (("age", "sex"), ("race",))).sanitize(adult, rng=1).groups is None, "no k of all"
    assert LaplaceNoise(1.0).sanitize(adult, rng=1).groups is None


@pytest.mark.slow
def test_of_one_in_l_buckets_the_surest_guess_is_at_most_one_in_l():
    adult = load("adult", "li-li", records=2000)
    for l in (2, 4):  # noqa: E741
        found = risks(adult, [Anatomy(l, "occupation")], min_count=2)
        assert everybody(found, "attribute_risk", "largest").value <= 1 / l + 1e-9
        assert everybody(found, "identity_risk").value == everybody(risks(adult, [Identity()]), "identity_risk").value
    scores, _ = AttributeRisk("occupation").scores(Case(adult, Anatomy(4, "occupation"), 1))
    # A bucket of four different values gives each with one chance in four; larger buckets no more.
    assert scores.chance.max() <= 1
    assert scores.chance.mean() <= 1 / 4 + 1e-9


@pytest.mark.slow
def test_nothing_published_of_people_is_worth_nothing():
    adult = load("adult", "li-li", records=2000)
    found = risks(adult, [Suppress()])
    assert everybody(found, "identity_risk").value == pytest.approx(1 / 2000)
    row = everybody(found, "attribute_risk")
    assert row.value <= 0
    right = adult.table.occupation.value_counts().iloc[0] / 2000
    assert row.value == pytest.approx(right - guess_without(adult, "occupation")[0].mean())


@pytest.mark.slow
@pytest.mark.parametrize(
    "sanitizer", [Identity(), KMember(10), LaplaceNoise(1.0)], ids=lambda each: type(each).__name__
)
def test_groups_add_up_to_everybody(sanitizer):
    adult = load("adult", "li-li", records=1500)
    case = Case(adult, sanitizer, 1)
    for scores in (ReidentificationRisk().scores(case), AttributeRisk("occupation").scores(case)[0]):
        for partition in find_groups(adult).among(scores.people, 10):
            if len(partition) == 1:
                continue  # the rare, of whom the others are not a group
            assert np.sum([chosen for chosen in partition.values()], axis=0).tolist() == [1] * len(scores.people)
            parts = [(chosen.sum(), scores.of(chosen).risk[0]) for chosen in partition.values()]
            assert min(size for size, _ in parts) >= 10
            assert sum(size * value for size, value in parts) / len(scores.people) == pytest.approx(scores.risk[0])
    found = risks(adult, [sanitizer])
    assert {"", "sex: Female", "race: White", "rare combinations"} <= {*found.group}
    assert found.baseline[(found.status == "") & (found.measure != "guessed_without_them")].notna().all()


def test_small_groups_are_merged_and_few_people_withheld():
    right = np.r_[np.ones(97), np.zeros(3)]  # all but three are found
    scores = Scores(right, np.full(100, 0.01), np.arange(100))
    assert scores._tells(np.ones(100, dtype=bool), 10)
    assert not scores._tells(np.ones(100, dtype=bool), 2)
    few = Scores(np.r_[np.ones(5), np.zeros(95)], np.zeros(100), np.arange(100), counted=True)
    assert few._tells(np.ones(100, dtype=bool), 10)
    adult = load("adult", "li-li", records=300)
    named = [name for partition in find_groups(adult).among(np.arange(300), 10) for name in partition]
    assert "race: other groups" in named
    assert not {"race: Other", "race: Amer-Indian-Eskimo"} & {*named}
    whole = [name for partition in find_groups(adult).among(np.arange(300), 200) for name in partition]
    assert "race: other groups" not in whole, "what merges everybody tells nobody apart"


def test_a_withheld_group_does_not_follow_from_the_others():
    adult = load("adult", "li-li", records=400)
    women = (adult.table.sex == "Female").to_numpy()
    right = np.where(women, 0.0, 1.0) * (np.arange(400) % 2)
    right[np.flatnonzero(women)[:3]] = 1  # three women
    scores = Scores(right, np.zeros(400), np.arange(400), gain=True, counted=True)
    rows = {row["group"]: row["value"] for row in scores.rows(_row, adult, 10) if row["variant"] == ""}
    assert np.isfinite(rows[""])
    assert np.isnan(rows["sex: Female"])
    assert np.isnan(rows["sex: Male"]), "with everybody's it would tell of three women"


def _row(value, *, variant="", group, interval=None, baseline):
    return {"value": value, "variant": variant, "group": group, "baseline": baseline}


@pytest.mark.parametrize(("rare", "shown"), [(3, False), (12, True)])
def test_neither_the_mean_nor_the_worst_of_a_few_rare_people_is_shown(rare, shown):
    """All of them are found for certain, so that no number of those who are not would tell of few."""
    town = Attribute("town", Role.QUASI_IDENTIFIER, Categories(tuple(map(str, range(20)))))
    schema = Schema("t", (town, Attribute("ill", Role.SENSITIVE, Categories(("a", "b")))))
    table = pd.DataFrame({"town": [*map(str, range(2, 2 + rare)), *"01" * 20]})
    table["ill"] = [*"ab"] * (len(table) // 2) + ["a"] * (len(table) % 2)
    found = risks(Dataset("t", table, schema, {"town": flat(town)}), [Identity()])
    of_them = found[(found.measure == "identity_risk") & (found.group == "rare combinations")].set_index("variant")
    assert {*of_them.index} == {"", "largest"}
    assert of_them.value.tolist() == [1, 1] if shown else of_them.value.isna().all()


@pytest.mark.parametrize(("right", "hidden"), [((3, 4, 30), [True] * 3), ((6, 7, 30), [True, True, False])])
def test_as_many_groups_are_withheld_as_together_tell_of_ten(right, hidden):
    """Of three groups everybody's mean less the third one's is that of the first two together."""
    sizes = (50, 60, 70)
    group = np.repeat([0, 1, 2], sizes)
    chance = np.concatenate([np.arange(size) < some for size, some in zip(sizes, right, strict=True)]).astype(float)
    scores = Scores(chance, np.zeros(180), np.arange(180), counted=True)
    parts = {name: group == name for name in range(3)}
    assert scores._hide_complements(parts, [True, True, False], 10) == hidden


@pytest.mark.slow
def test_a_person_of_several_records_counts_once_and_by_any_of_them():
    visits = person_key.dataset(person_key.table(60))
    case = Case(visits, Identity(), 1)
    scores = ReidentificationRisk().scores(case)
    assert len(scores.people) == visits.headcount
    known, names = visits.table, visits.schema.knowable
    for person in range(visits.headcount):
        told, missed = {tuple(r) for r in known.loc[visits.people == person, names].to_numpy().tolist()}, 1.0
        for what in told:
            fit = (known[names] == list(what)).all(axis=1).to_numpy()
            missed *= 1 - (fit & (visits.people == person)).sum() / fit.sum()
        assert scores.chance[person] == pytest.approx(1 - missed)
    guesses, _ = AttributeRisk("ill").scores(case)
    assert len(guesses.people) == visits.headcount
    coarse = Case(visits, Mondrian(KAnonymity(10)), 1)
    guesses, _ = AttributeRisk("ill").scores(coarse)
    assert 0.1 < guesses.chance.mean() < 0.9
    assert everybody(risks(visits, [coarse.sanitizer]), "attribute_risk").value == pytest.approx(guesses.risk[0])


def test_a_person_with_several_values_does_not_hide_the_value_that_everybody_has():
    """Of two people in a class both are ill of a, and one of b, too: a is certain, and not two thirds."""
    table = pd.DataFrame({"patient": [*"pprst"], "town": [*"aaabb"], "ill": [*"abaab"]})
    key, town = Attribute("patient", Role.PERSON), Attribute("town", Role.QUASI_IDENTIFIER, Categories(("a", "b")))
    schema = Schema("visits", (key, town, Attribute("ill", Role.SENSITIVE, Categories(("a", "b")))))
    data = Dataset("visits", table, schema, {"town": flat(town)})
    sure = score_groups(data, Identity().sanitize(data, rng=1), "ill")[1]
    assert sure.tolist() == [1, 1, 0.5, 0.5]


def test_what_cannot_be_measured_is_refused_and_says_why(adult):
    found = risks(adult, [MASK(1.0), LatinHypercube()])
    refused = found[found.status == "refused"]
    assert set(refused.measure[refused.sanitizer == "MASK"]) >= {"identity_risk", "attribute_risk"}
    assert refused.value.isna().all()
    assert refused.reason.str.endswith(".").all()


def test_rows_of_nobody_single_out_whose_combination_is_theirs_alone_and_is_published():
    adult = load("adult", "li-li", records=300)
    case = Case(adult, LatinHypercube(), 1)
    scores, release = ReidentificationRisk().scores(case), case.release
    names, table = adult.schema.quasi_identifiers, adult.table
    rows = [tuple(row) for row in table[names].to_numpy().tolist()]
    made = {tuple(row) for row in release.table[names].to_numpy().tolist()}
    alone = [rows.count(row) == 1 for row in rows]
    assert scores.chance.tolist() == [float(one and row in made) for one, row in zip(alone, rows, strict=True)]
    assert scores.chance.sum() > 0
    for person in range(0, 300, 17):
        share = np.prod([(table[name] == table[name][person]).mean() for name in names])
        assert scores.before[person] == pytest.approx(alone[person] * (1 - (1 - share) ** len(release)))
    found = risks(adult, [LatinHypercube()], min_count=2)
    assert {*found[found.measure == "identity_risk"].scenario} == {"singling out"}
    assert "largest" not in {*found[found.measure == "identity_risk"].variant}


def test_numbers_that_most_people_have_alone_are_no_combination_to_repeat():
    table = person_key.table(80).drop_duplicates("patient").head(60).assign(age=np.arange(60))
    with pytest.raises(Unreadable, match="no synthetic row repeats 'age'"):
        ReidentificationRisk().scores(Case(person_key.dataset(table, patient=Role.IDENTIFIER), LatinHypercube(), 1))


def test_the_interval_of_paired_differences_is_the_sources():
    """Agresti and Min 2005, section 2: Wald's after one half is added to each cell of the paired table."""
    for cells in ((10, 7, 3, 20), (0, 0, 0, 50), (1, 30, 0, 2)):
        n11, n12, n21, n22 = (cell + 0.5 for cell in cells)
        n = n11 + n12 + n21 + n22
        middle = (n12 - n21) / n
        half = 1.959963984540054 * np.sqrt((n12 + n21) - (n12 - n21) ** 2 / n) / n
        differences = np.r_[np.zeros(cells[0] + cells[3]), np.ones(cells[1]), -np.ones(cells[2])]
        assert compute_paired_interval(differences) == pytest.approx((max(-1, middle - half), min(1, middle + half)))


@pytest.mark.parametrize(("alone", "people"), [("ill", 70), ("well", 170)])
def test_the_surest_guess_stands_beside_how_likely_that_value_is_of_anybody(alone, people):
    """Of 220 people 20 are alone in town B, and all of them are ill, or well: to be well was to be expected."""
    rows = [("A", "well")] * 150 + [("A", "ill")] * 50 + [("B", alone)] * 20
    town = Attribute("town", Role.QUASI_IDENTIFIER, Categories(("A", "B")))
    state = Attribute("state", Role.SENSITIVE, Categories(("ill", "well")))
    table = pd.DataFrame(rows, columns=["town", "state"])
    dataset = Dataset("towns", table, Schema("towns", (town, state)), {"town": flat(town)})
    largest = everybody(risks(dataset, [Mondrian(KAnonymity(20))]), "attribute_risk", "largest")
    assert (largest.value, largest.baseline) == (1.0, pytest.approx(people / 220))


def test_each_sensitive_attribute_is_guessed():
    """What everybody of a class has is certain, be it the second of two secrets: the first one alone looked safe."""
    table = pd.DataFrame({"sex": ["f", "m"] * 20, "ill": [*"aabb"] * 10, "owes": ["yes", "no"] * 20})
    domains = {"sex": ("f", "m"), "ill": ("a", "b"), "owes": ("no", "yes")}
    roles = {"sex": Role.QUASI_IDENTIFIER, "ill": Role.SENSITIVE, "owes": Role.SENSITIVE}
    schema = Schema("two", tuple(Attribute(name, roles[name], Categories(domains[name])) for name in table))
    data = Dataset("two", table, schema, {"sex": flat(schema["sex"])})
    found = risks(data, [Identity()])
    surest = found[(found.measure == "attribute_risk") & (found.variant == "largest") & (found.group == "")]
    assert dict(zip(surest.target, surest.value, strict=True)) == {"ill": 0.5, "owes": 1.0}
    certain = found[found.measure == "made_certain"]
    assert dict(zip(certain.target, certain.value, strict=True)) == {"ill": 0.0, "owes": 1.0}
    alone = risks(data, [Identity()], sensitive="ill")
    assert {*alone.target[alone.measure == "attribute_risk"]} == {"ill"}


@pytest.mark.parametrize(("people", "shown"), [(0, True), (4, False), (30, True), (60, True)])
def test_it_is_counted_whose_value_a_release_makes_certain(people, shown):
    """Of 90 people in three classes so many are all ill: 0, 30 or 60. Four in a class of their own are withheld."""
    ages = np.repeat([1, 2, 3], 30)
    ill = ["yes" if age * 30 <= people else "no yes".split()[place % 2] for place, age in enumerate(ages)]
    if people == 4:
        ages, ill = np.append(ages, [4] * 4), [*ill, *["yes"] * 4]
    age = Attribute("age", Role.QUASI_IDENTIFIER, Categories(("1", "2", "3", "4")))
    schema = Schema("t", (age, Attribute("ill", Role.SENSITIVE, Categories(("no", "yes")))))
    table = pd.DataFrame({"age": ages.astype(str), "ill": ill})
    found = risks(Dataset("t", table, schema, {"age": flat(age)}), [Identity()])
    row = found[found.measure == "made_certain"].iloc[0]
    assert row.baseline == 0
    assert row.value == people / 90 if shown else (row.status == "withheld" and row.high == 9 / 94)


@pytest.mark.parametrize(("ill", "shown"), [("ab" * 4, False), ("abcdabcdabcd", False), ("ab" * 10, True)])
def test_how_many_are_certain_is_withheld_beside_a_mean_that_would_tell_of_few_others(ill, shown):
    """Forty people are certain, and of the others few are guessed right, or ten: the mean, less the forty, counts them.

    In the first table the others are few themselves, in the second they are twelve people.
    """
    age = Attribute("age", Role.QUASI_IDENTIFIER, Categories(("1", "2")))
    schema = Schema("t", (age, Attribute("ill", Role.SENSITIVE, Categories(tuple("abcd")))))
    table = pd.DataFrame({"age": [*"1" * 40, *"2" * len(ill)], "ill": [*"a" * 40, *ill]})
    found = risks(Dataset("t", table, schema, {"age": flat(age)}), [Identity()])
    row = found[found.measure == "made_certain"].iloc[0]
    assert row.value == 40 / 60 if shown else np.isnan(row.value)
    assert shown or (row.low, row.high) == (1 / len(table), 1), "somebody is, and nothing tells how many are"


@pytest.mark.parametrize("few", [False, True])
def test_how_many_are_certain_is_withheld_where_a_class_and_a_value_are_of_few_people(few):
    """Forty people are certain, or forty-five, of whom five alone have their value and are alone in their class."""
    age = Attribute("age", Role.QUASI_IDENTIFIER, Categories(("1", "2", "3")))
    schema = Schema("t", (age, Attribute("ill", Role.SENSITIVE, Categories(("a", "b", "c")))))
    table = pd.DataFrame({"age": [*"1" * 40, *"2" * 40], "ill": [*"a" * 40, *"ab" * 20]})
    if few:
        table = pd.concat([table, pd.DataFrame({"age": ["3"] * 5, "ill": ["c"] * 5})], ignore_index=True)
    found = risks(Dataset("t", table, schema, {"age": flat(age)}), [Identity()])
    row = found[found.measure == "made_certain"].iloc[0]
    assert (np.isnan(row.value) and (row.low, row.high) == (1 / 85, 1)) if few else row.value == 40 / 80


def test_what_everybody_has_is_no_secret():
    """It would break each cap on the worst-off person, whatever is published."""
    names = {"age": ("1", "2"), "ill": ("no", "yes"), "alive": ("yes",)}
    roles = {"age": Role.QUASI_IDENTIFIER, "ill": Role.SENSITIVE, "alive": Role.SENSITIVE}
    schema = Schema("t", tuple(Attribute(name, roles[name], Categories(names[name])) for name in names))
    table = pd.DataFrame({"age": [*"1212"] * 10, "ill": ["no", "yes"] * 20, "alive": ["yes"] * 40})
    found = risks(Dataset("t", table, schema, {"age": flat(schema["age"])}), [Identity()])
    assert {*found.target[found.measure == "attribute_risk"]} == {"ill"}
