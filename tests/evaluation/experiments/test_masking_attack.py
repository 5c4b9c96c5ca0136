"""Linkage to masked rows with and without knowledge of the method, on numbers that resemble those of companies."""

import numpy as np
import pandas as pd
import pytest
from support import person_key

from privnb.attacks import RankWindowLinkage
from privnb.datasets.dataset import Dataset
from privnb.evaluation.experiments import masking_attack
from privnb.evaluation.experiments.masking_attack import (
    EVERYBODY,
    IN_RELEASE,
    METHOD,
    OTHERS,
    ROWS,
    compare_linkage,
)
from privnb.evaluation.results import KEY_COLUMNS
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.sanitizers import (
    PRAM,
    KMember,
    Microaggregation,
    RankSwapping,
    UnivariateMicroaggregation,
)

PEOPLE, NAMES = 300, [f"x{place}" for place in range(5)]


@pytest.fixture(scope="module")
def firms():
    """300 records of five skewed numbers and five categories, which are independent."""
    rng = np.random.default_rng(1)
    attributes = [Attribute(name, Role.QUASI_IDENTIFIER, Numbers(0, 99_999)) for name in NAMES]
    kinds = [Attribute(f"c{place}", Role.QUASI_IDENTIFIER, Categories(tuple("abcd"))) for place in range(5)]
    table = pd.DataFrame(np.minimum(rng.lognormal(8, 1, (PEOPLE, 5)).astype(int), 99_999), columns=NAMES)
    table = table.assign(**{each.name: rng.choice(list("abcd"), PEOPLE) for each in kinds})
    schema = Schema("firms", (*attributes, *kinds))
    return Dataset("firms", table, schema, {each.name: flat(each) for each in schema.attributes})


@pytest.fixture(scope="module")
def results(firms):
    numbers = [UnivariateMicroaggregation(30), Microaggregation(3, (tuple(NAMES),)), RankSwapping(15)]
    return pd.concat(
        [
            compare_linkage(firms, numbers, tuple(NAMES), min_count=2),
            compare_linkage(firms, [PRAM(0.4)], tuple(f"c{place}" for place in range(5)), min_count=2),
        ],
        ignore_index=True,
    )


def linked(results, sanitizer):
    rows = results[(results.measure == "people_linked") & (results.sanitizer == sanitizer)]
    return rows.set_index("knows").value


def test_an_adversary_who_knows_the_method_links_more_people(results):
    assert linked(results, "RankSwapping")[METHOD] > linked(results, "RankSwapping")[ROWS] + 0.3
    single = results[(results.measure == "single_candidate") & (results.sanitizer == "RankSwapping")]
    assert single.set_index("variant").value[IN_RELEASE] > single.set_index("variant").value[OTHERS] + 0.3
    univariate = linked(results, "UnivariateMicroaggregation")
    assert univariate[ROWS] < univariate[METHOD] <= 1
    assert linked(results, "PRAM")[METHOD] > linked(results, "PRAM")[ROWS]


def test_a_method_that_is_repeated_leads_to_the_group(results):
    """MDAV makes 50 groups of three for the 150 people in the release, whose values do not tie."""
    found = linked(results, "Microaggregation")
    assert found[EVERYBODY] == pytest.approx(1 / 3)
    assert found[ROWS] == pytest.approx(found[METHOD], abs=0.05)
    assert found[METHOD] < found[EVERYBODY]


def test_rows_have_baselines_intervals_and_different_keys(results):
    assert not results.duplicated(KEY_COLUMNS).any()
    shown = results[results.status == ""]
    assert ((shown.low <= shown.value) & (shown.value <= shown.high)).all()
    assert (results[results.measure == "people_linked"].baseline == 1 / 150).all()
    assert set(results[results.knows == EVERYBODY].sanitizer) == {"UnivariateMicroaggregation", "Microaggregation"}


def test_a_false_exclusion_is_an_error(firms, monkeypatch):
    monkeypatch.setattr(masking_attack, "build_informed_attack", lambda *_: RankWindowLinkage(p=2))
    with pytest.raises(AssertionError, match="excluded a person's own row"):
        compare_linkage(firms, [RankSwapping(30)], tuple(NAMES))


def test_few_people_are_withheld(firms):
    found = compare_linkage(firms, [RankSwapping(15)], tuple(NAMES), min_count=PEOPLE)
    assert (found.status == "withheld").all()


def test_releases_that_cannot_be_made_state_the_reason(firms):
    found = compare_linkage(firms, [Microaggregation(200)])
    assert found.status.tolist() == ["refused"]
    assert "150 records" in found.reason.iloc[0]


def test_methods_and_tables_that_no_attack_knows_are_refused(firms):
    with pytest.raises(ValueError, match=r"must be methods that an attack knows; got KMember\(.*\)\. Try"):
        compare_linkage(firms, [KMember(10)])
    with pytest.raises(ValueError, match="must have one record per person"):
        compare_linkage(person_key.dataset(person_key.table(20)), [RankSwapping()])
