"""Any requirement, any algorithm: what each sanitizer claims is re-checked from the labels, by definition."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import event, given, settings, strategies as st
from support.naming import naming
from support.plain_models import keeps, published

from privnb import privacy_models as models
from privnb.datasets.dataset import Dataset
from privnb.microdata.hierarchy import Intervals, Ordered, Ranges, Sets, Taxonomy
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema, SchemaError
from privnb.sanitizers import FullDomain, KMember, LocalRecoding, Mondrian, SanitizationError, TopDownSpecialization

GRADES, TOWNS, PLACES = ("low", "mid", "high"), ("a", "b", "c", "?"), ("n", "s", "e", "w")
TREE = Taxonomy("place", (("n", "cold", "*"), ("e", "cold", "*"), ("s", "warm", "*"), ("w", "warm", "*")))
ILLS = Taxonomy("disease", (("flu", "lungs", "*"), ("cold", "lungs", "*"), ("gout", "joints", "*")))
SCHEMA = Schema(
    "toy",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 39)),
        Attribute("weight", Role.QUASI_IDENTIFIER, Numbers(50, 60, 0.5)),
        Attribute("grade", Role.QUASI_IDENTIFIER, Categories(GRADES)),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(TOWNS)),
        Attribute("place", Role.QUASI_IDENTIFIER, Categories(PLACES)),
        Attribute("disease", Role.SENSITIVE, Categories(("flu", "cold", "gout"))),
        Attribute("income", Role.SENSITIVE, Numbers(0, 5)),
    ),
)
HIERARCHIES = {
    "age": Intervals(SCHEMA["age"].domain, (5, 10, 20, 40)),
    "weight": Ranges(SCHEMA["weight"].domain),
    "grade": Ordered("grade", GRADES),
    "town": Sets("town", TOWNS),
    "place": TREE,
}


def people(rows, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 40, rows),
            "weight": 50 + rng.integers(0, 21, rows) / 2,
            "grade": rng.choice(GRADES, rows),
            "town": rng.choice(TOWNS, rows),
            "place": rng.choice(PLACES, rows),
            "disease": rng.choice(["flu", "cold", "gout"], rows),
            "income": rng.integers(0, 6, rows),
        }
    )


def dataset(rows, seed):
    return Dataset("toy", people(rows, seed), SCHEMA, HIERARCHIES)


REQUIREMENTS = [
    (models.KAnonymity(3),),
    (models.AlphaKAnonymity(0.6, 2, "disease"),),
    (models.PSensitiveKAnonymity(2, 3, "disease"),),
    (models.DistinctDiversity(2, "disease"), models.DistinctDiversity(3, "income")),
    (models.KAnonymity(2), models.EntropyDiversity(1.8, "disease")),
    (models.RecursiveDiversity(2, 2, "disease"),),
    (models.FrequencyDiversity(1.5, "disease"),),
    (models.KAnonymity(2), models.TCloseness(0.3, "disease"), models.TCloseness(0.25, "income", "ordered")),
    (models.TCloseness(0.3, "disease", ILLS),),
    (models.JensenShannonCloseness(0.1, "disease"),),
    (models.DeltaDisclosure(1.2, "disease"),),
    (models.BasicBetaLikeness(0.9, "disease"),),
    (models.EnhancedBetaLikeness(1.0, "disease"),),
    (models.KAnonymity(2), models.ConfidenceBound(0.5, "disease", "gout")),
]
ALGORITHMS = {
    "Mondrian": lambda *m: Mondrian(*m),
    "Mondrian by penalty": lambda *m: Mondrian(*m, split_attribute="penalty"),
    "Mondrian by gain": lambda *m: Mondrian(*m, split_attribute="gain", split_point="best", workload="income"),
    "LocalRecoding": lambda *m: LocalRecoding(*m),
    "KMember": lambda *m: KMember(2, models=m),
    "FullDomain": lambda *m: FullDomain(*m, suppress=0.3),
    "TopDownSpecialization": lambda *m: TopDownSpecialization(*m, workload="disease"),
}


@pytest.mark.slow
@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda m: ", ".join(map(repr, m)))
@settings(max_examples=8, deadline=None)
@given(rows=st.integers(6, 50), seed=st.integers(0, 10**6))
def test_every_model_holds_whatever_enforces_it(requirement, rows, seed):
    data, refused = dataset(rows, seed), []
    codes = {name: HIERARCHIES[name].codes(data.table[name]).tolist() for name in SCHEMA.quasi_identifiers}
    for algorithm, made in ALGORITHMS.items():
        with naming(algorithm):
            try:
                release = made(*requirement).sanitize(data, rng=0)
            except SanitizationError:
                refused.append(algorithm)
                continue
            assert set(requirement) <= set(release.provenance.claims)
            for model in release.provenance.claims:
                assert keeps(model, **published(release, model))
            for name in SCHEMA.quasi_identifiers:
                labels = release.table[name].tolist()
                covered = {label: set(HIERARCHIES[name].covered(label)) for label in set(labels)}
                assert all(code in covered[label] for code, label in zip(codes[name], labels, strict=True)), name
            assert release.table[["disease", "income"]].equals(data.table[["disease", "income"]])
    if refused:  # only where even everybody together does not keep the models
        everybody = data.table.assign(**dict.fromkeys(SCHEMA.quasi_identifiers, "*"))
        assert not all(keeps(m, everybody, SCHEMA.quasi_identifiers, order=order(m)) for m in requirement), refused


def order(model):
    """The values of the model's attribute as its domain lists them."""
    if model.sensitive is None or SCHEMA[model.sensitive].numeric:
        return None
    return list(SCHEMA[model.sensitive].domain.values)


@pytest.mark.parametrize("algorithm", [a for a in ALGORITHMS if a != "KMember"])
@settings(max_examples=8, deadline=None)
@given(rows=st.integers(4, 25), seed=st.integers(0, 10**6))
def test_nobody_is_singled_out_of_a_register(algorithm, rows, seed):
    """k-map and delta-presence count the people of a population whom the published labels cover."""
    register = pd.concat([people(rows, seed), people(60, seed + 1)], ignore_index=True)
    data = Dataset("toy", register.iloc[:rows], SCHEMA, HIERARCHIES)
    model = models.KMap(6, population=register)
    release = ALGORITHMS[algorithm](model).sanitize(data, rng=0)
    assert keeps(model, **published(release, model))
    assert models.grade_release(model, release) >= 6


@pytest.mark.parametrize("algorithm", [a for a in ALGORITHMS if a != "KMember"])
@pytest.mark.parametrize("bounds", [(0, 0.5), (0.1, 0.6)])
@settings(max_examples=8, deadline=None)
@given(rows=st.integers(4, 25), seed=st.integers(0, 10**6))
def test_presence_is_kept_in_the_labels_or_refused(algorithm, bounds, rows, seed):
    register = pd.concat([people(rows, seed), people(40, seed + 1)], ignore_index=True)
    data = Dataset("toy", register.iloc[:rows], SCHEMA, HIERARCHIES)
    model = models.DeltaPresence(*bounds, population=register)
    try:
        release = ALGORITHMS[algorithm](model).sanitize(data, rng=0)
    except SanitizationError:
        event("refused")
        release = None
    assert release is not None or bounds[0] > 0 or rows / len(register) > bounds[1]
    if release is None:
        return
    assert keeps(model, **published(release, model))


def test_a_population_is_not_for_clusters_of_records():
    with pytest.raises(ValueError, match=r"needs a population\. Try Mondrian"):
        KMember(2, models=(models.KMap(3, population=people(5, 0)),))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("name", "message"), [("age", "has the role 'quasi-identifier'"), ("no", "no attribute 'no'")])
def test_only_what_is_published_and_secret_is_protected(algorithm, name, message):
    with pytest.raises((SanitizationError, SchemaError), match=message):
        ALGORITHMS[algorithm](models.DistinctDiversity(2, name)).sanitize(dataset(20, 0), rng=0)


def test_people_of_a_population_alone_make_no_class(tries):
    """A register of many and a table of few, in a tree of four leaves."""
    attribute = Attribute("place", Role.QUASI_IDENTIFIER, Categories(PLACES))
    schema = Schema("few", (attribute, SCHEMA["disease"]))
    for seed in range(tries(100)):
        rng = np.random.default_rng(seed)
        register = pd.DataFrame({"place": rng.choice(PLACES, 8), "disease": rng.choice(["flu", "gout"], 8)})
        data = Dataset("few", register.iloc[:3], schema, {"place": TREE})
        model = models.KMap(3, population=register)
        release = LocalRecoding(model).sanitize(data, rng=0)
        assert keeps(model, **published(release, model))


@pytest.mark.parametrize("wrong", [{"start": 1.5}, {"start": True}])
def test_a_start_is_the_number_of_a_record(wrong):
    with pytest.raises(ValueError, match="start must be a whole number of at least 0"):
        KMember(2, **wrong)


def test_models_of_clusters_are_models():
    with pytest.raises(TypeError, match="models must be a PrivacyModel; got 'x'"):
        KMember(2, models=("x",))
    one = models.DistinctDiversity(2, "disease")
    assert KMember(2, models=one) == KMember(2, models=(one,))
