"""Models as a person writes them: every one by its name, with its parameters; and what a refusal of one says."""

import json
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from support.clinic import CLINIC

import privnb.privacy_models as family
from privnb import cli
from privnb.datasets.dataset import Dataset, load, load_schema
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.privacy_models import (
    AlphaKAnonymity,
    BasicBetaLikeness,
    ConfidenceBound,
    DeltaDisclosure,
    DeltaPresence,
    DistinctDiversity,
    EnhancedBetaLikeness,
    EntropyDiversity,
    FrequencyDiversity,
    JensenShannonCloseness,
    KAnonymity,
    KMap,
    PrivacyModel,
    PSensitiveKAnonymity,
    RecursiveDiversity,
    TCloseness,
)
from privnb.publishing.from_files import sanitize
from privnb.publishing.model_spec import explain_l, find_models, list_forms, parse_sanitizer, parse_specs
from privnb.sanitizers import Anatomy, Bucketize, FullDomain, KMember, Mondrian, SanitizationError, catalogue
from privnb.sanitizers.base import MODEL_BY_LETTER

SALARY = load_schema("adult")
ILL = Schema(
    "ward",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(1, 90)),
        Attribute("City, State", Role.SENSITIVE, Categories(("a", "b"))),
        Attribute("ill", Role.SENSITIVE, Categories(("no", "yes", "flu, late: 2"))),
        Attribute("days", Role.SENSITIVE, Numbers(0, 9)),
    ),
)
# By the words that ask for it.
WRITTEN = {
    "k=5": KAnonymity(5),
    "alpha=0.5 k=4:ill": AlphaKAnonymity(0.5, 4, "ill"),
    "p=2 k=4:ill": PSensitiveKAnonymity(2, 4, "ill"),
    "distinct-l=2:ill": DistinctDiversity(2, "ill"),
    "entropy-l=1.5:ill": EntropyDiversity(1.5, "ill"),
    "recursive-l=3 c=2.5:ill": RecursiveDiversity(2.5, 3, "ill"),
    "frequency-l=1.5:ill": FrequencyDiversity(1.5, "ill"),
    'confidence=0.5 value="flu, late: 2":ill': ConfidenceBound(0.5, "ill", "flu, late: 2"),
    "t=0.2 distance=ordered:ill": TCloseness(0.2, "ill", "ordered"),
    'jensen-shannon-t=0.2 : "City, State"': JensenShannonCloseness(0.2, "City, State"),
    "delta=1:ill": DeltaDisclosure(1, "ill"),
    "beta=1:ill": BasicBetaLikeness(1, "ill"),
    "enhanced-beta=1:ill": EnhancedBetaLikeness(1, "ill"),
}
REGISTER = ("k-map=4 population={}", "presence-high=0.5 low=0.1 population={}")


@dataclass(frozen=True)
class Rarest(PrivacyModel):
    """The rarest value of `sensitive` that a class holds has at least `people` members there."""

    people: int
    sensitive: str
    better = "higher"

    def level(self, counts, whole=None):
        return np.where(counts > 0, counts, counts.max()).min(axis=1)


@pytest.mark.parametrize("text", WRITTEN)
def test_a_model_is_written_by_its_name_and_parameters(text):
    assert parse_sanitizer(text, "Mondrian", ILL) == Mondrian(WRITTEN[text])


def test_a_population_is_a_file(tmp_path):
    pd.DataFrame({"age": [1, 2, 3]}).to_csv(tmp_path / "everybody, 2020.csv", index=False)
    for text, kind in zip(REGISTER, (KMap, DeltaPresence), strict=True):
        (model,) = parse_sanitizer(text.format(f'"{tmp_path}/everybody, 2020.csv"'), "Mondrian", ILL).models
        assert type(model) is kind
        assert model.population.age.astype(int).tolist() == [1, 2, 3]
        bounds = (model.k,) if kind is KMap else (model.low, model.high)
        assert bounds == ((4,) if kind is KMap else (0.1, 0.5))


def test_every_model_of_the_package_has_a_name_and_is_listed(capsys):
    known = {kind for name in family.__all__ if isinstance(kind := getattr(family, name), type)} - {PrivacyModel}
    written = {type(model) for model in WRITTEN.values()} | {KMap, DeltaPresence}
    assert written == known
    assert known <= {*find_models().values()}
    names = {part.name for text in (*WRITTEN, *(each.format("x") for each in REGISTER)) for part in parse_specs(text)}
    assert names == {kind.word for kind in known}
    assert cli.main(["list", "models"]) == 0
    said = capsys.readouterr().out
    assert all(form in said for form, _ in list_forms())
    assert "recursive-l=L c=C:SENSITIVE" in said


def test_a_model_that_is_imported_can_be_asked_for():
    assert parse_sanitizer("k=5, Rarest=3:ill", "Mondrian", ILL) == Mondrian(KAnonymity(5), Rarest(3, "ill"))


def test_two_models_of_one_name_are_refused(monkeypatch):
    monkeypatch.setattr(Rarest, "word", "beta", raising=False)
    with pytest.raises(ValueError, match=r"`word` of .* must be unique; got 'beta'"):
        parse_sanitizer("k=5", "Mondrian", ILL)


@pytest.mark.parametrize(
    ("model", "algorithm", "expected"),
    [
        ("k=5, alpha=0.5:ill", "Mondrian", Mondrian(KAnonymity(5), AlphaKAnonymity(0.5, 5, "ill"))),
        ("k=5, p=2 k=8:ill", "Mondrian", Mondrian(KAnonymity(5), PSensitiveKAnonymity(2, 8, "ill"))),
        ("l=2:ill, k=5", "k-member clustering", KMember(5, models=(DistinctDiversity(2, "ill"),))),
        ("beta=1:ill", "Bucketize", Bucketize(Mondrian(BasicBetaLikeness(1, "ill")))),
        ("l=2:ill", "full-domain recoding", FullDomain(DistinctDiversity(2, "ill"), suppress=0.05)),
        ("l=2:ill", "Anatomy", Anatomy(2, "ill")),
        ("frequency-l=2:ill", "Anatomy", Anatomy(2, "ill")),
        (
            't=0.3:ill, t=0.2:"City, State"',
            "Mondrian",
            Mondrian(TCloseness(0.3, "ill"), TCloseness(0.2, "City, State")),
        ),
        (
            "confidence=0.5 value=no:ill, confidence=0.4 value=yes:ill",
            "Mondrian",
            Mondrian(ConfidenceBound(0.5, "ill", "no"), ConfidenceBound(0.4, "ill", "yes")),
        ),
        ("confidence=0.5 value=3:days", "Mondrian", Mondrian(ConfidenceBound(0.5, "days", 3))),
        ('confidence=0.5 value="0-4":days', "Mondrian", Mondrian(ConfidenceBound(0.5, "days", "0-4"))),
    ],
)
def test_models_go_together(model, algorithm, expected):
    assert parse_sanitizer(model, algorithm, ILL) == expected


@pytest.mark.parametrize(
    ("model", "algorithm", "message"),
    [
        ("k=5,", "Mondrian", "must be models with their bounds.*; got ''"),
        ("distinct=2:ill", "Mondrian", "got 'distinct=2:ill'.*Did you mean 'distinct-l'"),
        ("l=1.5:ill", "Mondrian", "must be a whole number.*Try frequency-l=1.5"),
        ("alpha=0.5:ill", "Mondrian", "alpha needs k; got alpha=0.5:ill. Try alpha=0.5 k=K"),
        ("recursive-l=2:ill", "Mondrian", "recursive-l needs c"),
        ("confidence=0.5 values=no:ill", "Mondrian", "confidence has no parameter 'values'; it has value"),
        ("k=5:ill", "Mondrian", "k must have no sensitive attribute; got k=5:ill. Try k=5"),
        ("l=2:ill, distinct-l=3:ill", "Mondrian", "once; got distinct-l twice"),
        ("epsilon=1, epsilon=2", "LaplaceNoise", "once; got epsilon twice"),
        ("recursive-l=2 c=many:ill", "Mondrian", "c of recursive-l must be a number; got 'many'"),
        (
            "l=2",
            "Mondrian",
            "l must name its sensitive attribute, because 'ward' has 3: City, State, ill, days; got l=2",
        ),
        ("distinct-l=2:ill", "Anatomy", "Anatomy cannot enforce distinct-l=2:ill. Try Mondrian"),
        ("k=5, epsilon=1", "Mondrian", "No sanitizer keeps all these models"),
        ("k-map=5 population=nowhere.csv", "Mondrian", "no file 'nowhere.csv'"),
    ],
)
def test_what_cannot_be_read_or_kept_is_said_with_a_cure(model, algorithm, message):
    with pytest.raises((ValueError, OSError), match=message):
        parse_sanitizer(model, algorithm, ILL)


def test_only_words_mean_distinct_diversity_by_l():
    """The letter l of notebooks, sliders and published studies stays what it was, so that their numbers do."""
    adult = load("adult", records=100)
    by_letter = catalogue.build_at_bound(adult, "l", 2, sensitive="salary", least=5)
    assert Mondrian(FrequencyDiversity(2, "salary")) in by_letter
    assert Mondrian(DistinctDiversity(2, "salary")) not in by_letter
    assert MODEL_BY_LETTER["l"] is FrequencyDiversity
    assert parse_sanitizer("l=2", "Mondrian", SALARY) == Mondrian(DistinctDiversity(2, "salary"))


def ill(rows=300, share=0.8):
    """A table of which one value has more than half of the people: (DataFrame, its commonest value)."""
    rng = np.random.default_rng(3)
    few = int(rows * (1 - share))
    table = {"age": rng.integers(20, 90, rows), "sex": rng.choice(["f", "m"], rows)}
    return pd.DataFrame(table | {"ill, or not": ["yes"] * few + ["no"] * (rows - few)})


def test_l_is_distinct_and_the_output_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    ill().to_csv("people.csv", index=False)
    given = ["sanitize", "people.csv", "--model", 'k=5, l=2:"ill, or not"', "--out", "out.csv"]
    assert cli.main(given) == 0
    said = capsys.readouterr().out
    reading = "was read as `distinct-l=2`: in each class 'ill, or not' has at least 2 different values"
    assert reading in said
    assert "`frequency-l=2` also bounds that" in said
    assert reading in json.loads((tmp_path / "out.csv.provenance.json").read_text())["note"]
    released = pd.read_csv("out.csv", dtype=str)
    classes = released.groupby(["age", "sex"])["ill, or not"]
    assert classes.nunique().min() == 2
    assert classes.size().min() >= 5
    assert "was read as" not in " ".join(sanitize("people.csv", 'distinct-l=2:"ill, or not"', "other.csv").sentences)


def test_where_l_is_the_parameter_of_a_sanitizer_the_output_says_so(tmp_path):
    made = sanitize(CLINIC, "l=2", tmp_path / "out.csv", algorithm="Anatomy", allow="made-up people")
    assert "was read as the l of Anatomy, which is by frequency" in " ".join(made.sentences)


def of_ills(counts):
    """A dataset with so many people of each value."""
    ills = [value for value, count in counts.items() for _ in range(count)]
    table = pd.DataFrame({"age": np.arange(len(ills)) % 90 + 1, "ill": ills})
    known = Attribute("age", Role.QUASI_IDENTIFIER, Numbers(1, 90))
    schema = Schema("ward", (known, Attribute("ill", Role.SENSITIVE, Categories(tuple(counts)))))
    return Dataset("ward", table, schema, {"age": flat(known)})


ONE_VALUE = [
    (FrequencyDiversity(2, "ill"), "reach 1.25,"),
    (AlphaKAnonymity(0.5, 2, "ill"), "reach 0.8,"),
    (ConfidenceBound(0.5, "ill", "no"), "reach 0.8,"),
]
ALL_VALUES = [(EntropyDiversity(2, "ill"), "reach 1.649,"), (RecursiveDiversity(2, 2, "ill"), "reach 4,")]


@pytest.mark.parametrize(("model", "level"), ONE_VALUE + ALL_VALUES)
def test_a_refusal_names_what_is_reached_and_which_value_is_why(model, level):
    with pytest.raises(SanitizationError, match=f"{level} because 80.0% of people have 'no'"):
        Mondrian(model).sanitize(of_ills({"no": 240, "yes": 60}), rng=None)


@pytest.mark.parametrize(("model", "level"), ONE_VALUE)
def test_a_rare_third_value_does_not_hide_what_is_reached(model, level):
    with pytest.raises(SanitizationError, match=f"{level} because 80.0% of people have 'no'"):
        Mondrian(model).sanitize(of_ills({"no": 240, "yes": 59, "rare": 1}), rng=None)


@pytest.mark.parametrize("model", [model for model, _ in ONE_VALUE + ALL_VALUES])
@pytest.mark.parametrize(
    ("counts", "named"),
    [({"no": 240, "yes": 3}, True), ({"no": 9, "yes": 2}, False), ({"no": 9}, False)],
)
def test_a_refusal_tells_of_no_few_people(model, counts, named):
    """Neither how few have another value than the most common, nor a value that fewer than ten have."""
    with pytest.raises(SanitizationError, match="break") as refused:
        Mondrian(model).sanitize(of_ills(counts), rng=None)
    said = str(refused.value).split("cannot be reached")[1]
    assert ("the most common value is 'no'" in said) == named
    assert "reach" not in said
    assert "%" not in said
    assert not {"yes", "3", "9"} & {*said.replace(".", " ").split()}


def test_the_buckets_of_anatomy_name_no_value_of_few_people():
    with pytest.raises(SanitizationError, match=r"have 'no', 80\.0% of all"):
        Anatomy(2, "ill").sanitize(of_ills({"no": 240, "yes": 60}), rng=None)
    with pytest.raises(SanitizationError, match=r"have one value\. ") as refused:
        Anatomy(2, "ill").sanitize(of_ills({"no": 9, "yes": 2}), rng=None)
    assert "'no'" not in str(refused.value)


def test_advice_on_l_works():
    with pytest.raises(ValueError, match="l must be") as error:
        parse_sanitizer("l=1", "Mondrian", load_schema("adult"))
    assert "frequency-l" not in str(error.value)
    with pytest.raises(ValueError, match="l must be") as error:
        parse_sanitizer("l=2.5", "Mondrian", load_schema("adult"))
    assert "Try frequency-l=2.5" in str(error.value)
    assert parse_sanitizer("frequency-l=2.5", "Mondrian", load_schema("adult"))


def test_buckets_are_called_buckets():
    (bucket,), (other,) = (
        explain_l("l=2", parse_sanitizer("l=2", kind, load_schema("adult"))) for kind in ("Bucketize", "Mondrian")
    )
    assert ("of a bucket" in bucket, "class" in bucket) == (True, False)
    assert ("bucket" in other, "of a class" in other) == (False, True)
