"""An adversary knows every neutral column whose true values are published, unless its owner states why nobody can."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privnb.datasets.dataset import Dataset, load
from privnb.evaluation.combination_sizes import measure_combinations
from privnb.evaluation.evaluation_loop import Case, evaluate
from privnb.evaluation.risks.identity import ReidentificationRisk
from privnb.evaluation.risks.linkability import LinkabilityRisk
from privnb.evaluation.risks.membership import MembershipRisk
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema, SchemaError
from privnb.privacy_models import KAnonymity
from privnb.sanitizers import Mondrian, Suppress

PEOPLE = 400


def bills(reason: str = "") -> Dataset:
    """400 people: an age group and an illness that say nothing, and a bill that is everybody's own."""
    rng = np.random.default_rng(3)
    attributes = (
        Attribute("group", Role.QUASI_IDENTIFIER, Categories(("young", "old"))),
        Attribute("bill", Role.NEUTRAL, Numbers(0, 9999), cannot_be_known=reason),
        Attribute("illness", Role.SENSITIVE, Categories(("flu", "cold"))),
    )
    table = pd.DataFrame(
        {
            "group": rng.choice(["young", "old"], PEOPLE),
            "bill": rng.permutation(10_000)[:PEOPLE],
            "illness": rng.choice(["flu", "cold"], PEOPLE),
        }
    )
    schema = Schema("bills", attributes)
    return Dataset("bills", table, schema, {"group": flat(schema["group"])})


@pytest.mark.parametrize("sanitizer", [Suppress(), Mondrian(KAnonymity(10))], ids=repr)
def test_a_neutral_column_of_own_values_singles_everybody_out(sanitizer):
    data = bills()
    found = measure_combinations(data, [sanitizer], min_count=2)
    assert found.high[found.measure == "smallest_combination"].tolist() == [1]
    assert found.value[found.measure == "alone"].tolist() == [1]
    assert ReidentificationRisk().scores(Case(data, sanitizer, 1)).risk[0] == 1
    assert MembershipRisk().scores(Case(data, sanitizer, 1)).risk[0] > 0.9


def test_a_column_that_cannot_be_known_counts_for_no_adversary():
    data, sanitizer = bills("The bill is written once, and shown to nobody."), Suppress()
    assert measure_combinations(data, [sanitizer]).value.tolist() == [PEOPLE, 0]
    case = Case(data, sanitizer, 1)
    assert ReidentificationRisk().scores(case).risk[0] == pytest.approx(1 / PEOPLE)
    assert MembershipRisk().scores(case).risk[0] < 0.2
    assert case.known is case
    assert evaluate(data, [sanitizer], measures=[LinkabilityRisk()]).value.notna().all()


def test_studies_of_papers_state_why_their_neutral_columns_cannot_be_known():
    for study in ("occupation", "marital"):
        schema = load("adult", study, records=50).schema
        assert schema.knowable == schema.quasi_identifiers
        assert {*schema.unknowable} == {*schema.names(Role.NEUTRAL)}
        assert {*schema.unknowable.values()} == {"as the paper assumes"}


def test_only_a_neutral_column_is_stated_as_one_that_cannot_be_known():
    with pytest.raises(SchemaError, match="'age' has the role quasi-identifier, and only a neutral column"):
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 9), cannot_be_known="never")
    schema = bills("once").schema.with_roles({"group": "quasi-identifier", "bill": "quasi-identifier"})
    assert schema.unknowable == {}


def test_harmless_values_are_of_a_sensitive_attribute_and_have_a_reason():
    domain = Categories(("none", "flu"))
    harmless = Attribute("ill", Role.SENSITIVE, domain, harmless={"none": "Nobody is harmed by being well."})
    assert replace(harmless, unit="").harmless == {"none": "Nobody is harmed by being well."}
    with pytest.raises(SchemaError, match="only values of a sensitive attribute"):
        Attribute("ill", Role.NEUTRAL, domain, harmless={"none": "a reason"})
    with pytest.raises(SchemaError, match="'none' must have a reason"):
        Attribute("ill", Role.SENSITIVE, domain, harmless={"none": " "})
    with pytest.raises(SchemaError, match="'harmless' names 'well', which is not in its domain"):
        Attribute("ill", Role.SENSITIVE, domain, harmless={"well": "a reason"})
