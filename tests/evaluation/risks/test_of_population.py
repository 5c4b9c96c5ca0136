"""Identity with sampling weights: the literature's values, the printed forms, and a sum over the law itself."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import nbinom
from support import person_key
from support.questions import risks

from privnb.attacks import Linkage
from privnb.attacks.algorithms.nearest import sum_weights
from privnb.datasets.dataset import Dataset
from privnb.evaluation.evaluation_loop import Case
from privnb.evaluation.risks.identity import score_population
from privnb.measures.disclosure.individual_risk import individual_risk
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.sanitizers import Identity, RandomizedResponse, Suppress

# The eight records of sdcMicro's tests.
WEIGHTS = [18, 45.5, 39, 17, 92, 8, 123.5, 51]
COLUMNS = {"A": "2 3 2 2 3 3 1 2", "B": "3 3 3 3 3 3 4 3", "C": "1 3 1 2 1 1 1 1"}
SAMPLE, POPULATION = [3, 1, 3, 1, 2, 2, 1, 3], [108, 45.5, 108, 17, 100, 100, 123.5, 108]
APPROXIMATE = [0.01369863, 0.08579129, 0.01369863, 0.17707583, 0.01877883, 0.01877883, 0.03931625, 0.01369863]


@pytest.fixture(scope="module")
def eight():
    attributes = [Attribute(name, Role.QUASI_IDENTIFIER, Categories(tuple("1234"))) for name in COLUMNS]
    schema = Schema("eight", (*attributes, Attribute("w", Role.WEIGHT, Numbers(0, 1000, 0.5))))
    table = pd.DataFrame({name: column.split() for name, column in COLUMNS.items()} | {"w": WEIGHTS})
    return Dataset("eight", table, schema, {each.name: flat(each) for each in attributes})


def test_frequencies_and_risks_are_those_of_the_literatures_example(eight):
    case = Case(eight, Identity(), 1)
    found = score_population(case)["individual_risk"]
    assert found.chance == pytest.approx(
        np.where(np.isclose(APPROXIMATE, 0.01369863), 0.01355297, APPROXIMATE), abs=5e-9
    )
    assert found.before == pytest.approx(1 / sum(WEIGHTS))
    unique = score_population(case)["population_unique"]
    assert unique.chance == pytest.approx([0, 1 / 45.5, 0, 1 / 17, 0, 0, 1 / 123.5, 0])


def test_what_is_missing_fits_everything(eight):
    """C is missing in records 3 and 7: the sample's and the population's frequencies that sdcMicro states."""
    release = Identity().sanitize(eight, rng=0)
    cells = release.table.copy()
    cells.loc[[2, 6], "C"] = "*"
    published, key = replace(release, table=cells)._published(1)
    index, fit = Linkage().fit(published).fits(cells)
    assert sum_weights(fit, np.ones(8))[index].tolist() == [3, 1, 4, 2, 2, 2, 1, 3]
    assert sum_weights(fit, eight.weights[key])[index].tolist() == [108, 45.5, 125, 56, 100, 100, 123.5, 108]


@pytest.mark.parametrize("f", [1, 2, 3, 4, 11])
def test_the_risk_is_the_mean_of_one_in_f_under_the_law_and_the_printed_form(f):
    p = np.array([0.03, 0.2, 0.7])
    q = 1 - p
    law = [(nbinom(f, each).pmf(np.arange(20_000)) / (f + np.arange(20_000))).sum() for each in p]
    assert individual_risk(np.full(3, f), f / p) == pytest.approx(law, rel=1e-9)
    printed = {
        1: p / q * np.log(1 / p),
        2: p / q**2 * (p * np.log(p) + q),
        3: p / (2 * q**3) * (q * (3 * q - 2) - 2 * p**2 * np.log(p)),
    }
    if f in printed:
        assert individual_risk(np.full(3, f), f / p) == pytest.approx(printed[f], rel=1e-9)
    assert individual_risk([f], [f]) == pytest.approx(1 / f)


@pytest.mark.parametrize(("f", "p"), [(49, 0.004), (51, 0.004), (130, 0.5), (130, 0.004), (900, 0.0025)])
def test_the_risk_of_many_who_stand_for_many_more_is_the_mean_too(f, p):
    more = np.arange(1_000_000)
    law = (nbinom(f, p).pmf(more) / (f + more)).sum()
    assert individual_risk([f], [f / p]) == pytest.approx(law, rel=1e-8)


def test_rows_stand_beside_identity_and_moved_values_are_refused(eight):
    found = risks(eight, [Suppress(), RandomizedResponse(1.0)], min_count=2)
    plain = found[(found.measure == "individual_risk") & (found.group == "") & (found.sanitizer == "Suppress")]
    whole = individual_risk([8], [sum(WEIGHTS)])[0]
    assert plain.value.tolist() == pytest.approx([whole, whole])
    assert plain.baseline.tolist() == pytest.approx([1 / sum(WEIGHTS)] * 2)
    refused = found[(found.sanitizer == "RandomizedResponse") & (found.status == "refused")]
    assert {"individual_risk", "population_unique", "attribute_risk"} <= {*refused.measure}


def test_people_of_several_records_count_once_with_their_largest_weight():
    table = person_key.table(40)
    data = person_key.dataset(table)
    rng = np.random.default_rng(1)
    unknown = tuple(
        replace(each, cannot_be_known="of this test") if each.role is Role.NEUTRAL else each
        for each in data.schema.attributes
    )
    schema = replace(data.schema, attributes=(*unknown, Attribute("w", Role.WEIGHT, Numbers(0, 99))))
    weighted = Dataset("visits", table.assign(w=rng.integers(1, 50, len(table))), schema, data.hierarchies)
    found = score_population(Case(weighted, Suppress(), 1))["individual_risk"]
    most = weighted.table.groupby(weighted.people)["w"].max().sum()
    assert found.chance == pytest.approx(np.full(40, individual_risk([40], [most])[0]))
    exact = score_population(Case(weighted, Identity(), 1))["individual_risk"]
    names, whose = weighted.schema.quasi_identifiers, weighted.people
    for person in range(5):
        each = []
        for record in np.flatnonzero(whose == person):
            same = (weighted.table[names] == weighted.table[names].iloc[record]).all(axis=1).to_numpy()
            own = weighted.table["w"][same].groupby(whose[same]).max()
            each.append(individual_risk([len(own)], [own.sum()])[0])
        assert exact.chance[person] == pytest.approx(max(each))


@pytest.mark.parametrize(
    ("sample", "population"), [([0], [1.0]), ([1.5], [2.0]), ([1], [-1.0]), ([1, 1], [2.0]), ("x", [1])]
)
def test_what_is_no_count_is_refused(sample, population):
    with pytest.raises(ValueError, match="must be"):
        individual_risk(sample, population)
