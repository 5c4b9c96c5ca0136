"""Made-up and partly made-up records: what each keeps by its construction, whose the rows are, and what is refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privnb.attacks import Linkage
from privnb.datasets.dataset import Dataset
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.microdata.treatment import Rows, Unreadable
from privnb.sanitizers import IPSO, HybridMasking, LatinHypercube, MultipleImputation, SanitizationError
from privnb.sanitizers.synthetic.ipso import draw_from_regression
from privnb.sanitizers.synthetic.latin_hypercube import arrange_ranks, draw_strata

SCHEMA = Schema(
    "measured",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(0, 100)),
        Attribute("height", Role.QUASI_IDENTIFIER, Numbers(140, 200, 0.5)),
        Attribute("weight", Role.QUASI_IDENTIFIER, Numbers(30, 150)),
        Attribute("sex", Role.QUASI_IDENTIFIER, Categories(("f", "m", "x"))),
        Attribute("illness", Role.SENSITIVE, Categories(("cough", "flu", "gout"))),
        Attribute("income", Role.SENSITIVE, Numbers(0, 500)),
    ),
)
NUMBERS = ["age", "height", "weight"]


def measured(rows=400, schema=SCHEMA, **columns):
    rng = np.random.default_rng(8)
    male, age = rng.random(rows) < 0.5, rng.integers(18, 90, rows)
    height = np.clip(np.round(2 * (164 + 12 * male + rng.normal(0, 6, rows))) / 2, 140, 200)
    table = {
        "age": age,
        "height": height,
        "weight": np.clip(np.round(height - 100 + rng.normal(0, 8, rows)), 30, 150).astype(int),
        "sex": np.where(male, "m", "f"),
        "illness": np.where(rng.random(rows) < age / 100, "gout", rng.choice(["cough", "flu"], rows)),
        "income": np.clip(np.round(rng.lognormal(4, 0.5, rows) + age / 2), 0, 500).astype(int),
    } | columns
    hierarchies = {name: flat(schema[name]) for name in schema.quasi_identifiers}
    return Dataset("measured", pd.DataFrame(table), schema, hierarchies)


DATA = measured()
NOBODYS = [LatinHypercube(), MultipleImputation()]
OF_RECORDS = [IPSO("A"), IPSO("B"), IPSO("C"), HybridMasking(), HybridMasking(0.2, "product")]
every = pytest.mark.parametrize("sanitizer", [*NOBODYS, *OF_RECORDS], ids=repr)


# Latin hypercube


def test_each_column_has_one_value_in_each_stratum():
    points = draw_strata(50, 3, np.random.default_rng(0))
    assert (np.sort(np.floor(points * 50), axis=0) == np.arange(50)[:, None]).all()
    order = arrange_ranks(points, np.eye(3), np.random.default_rng(1))
    assert (np.sort(order, axis=0) == np.sort(points, axis=0)).all(), "arranged, and not changed"


@pytest.mark.parametrize("size", [100, 5000])
def test_ranks_go_together_as_they_should(size):
    """Iman and Conover: the normal scores have these correlations exactly; ranks nearly, 6/pi asin(r/2) of a Gaussian.

    Without their correction shuffled columns of 100 go together by chance by 0.1.
    """
    wanted = np.array([[1, 0.8, -0.5], [0.8, 1, 0], [-0.5, 0, 1]])
    rng = np.random.default_rng(2)
    found = pd.DataFrame(arrange_ranks(draw_strata(size, 3, rng), wanted, rng)).corr("spearman").to_numpy()
    expected = 6 / np.pi * np.arcsin(wanted / 2)
    assert np.abs(found - expected).max() < (0.03 if size == 100 else 0.003)


def test_columns_that_say_the_same_stay_alike():
    """A correlation matrix without an inverse has its root all the same."""
    rng, same = np.random.default_rng(3), np.ones((2, 2))
    points = arrange_ranks(draw_strata(40, 2, rng), same, rng)
    assert (points.argsort(axis=0)[:, 0] == points.argsort(axis=0)[:, 1]).all()


def test_a_latin_hypercube_keeps_columns_and_what_rises_together():
    release = LatinHypercube().sanitize(DATA, rng=1)
    table = release.table
    assert len(table) == len(DATA)
    for name in ("sex", "illness"):
        counts = [
            each[name].value_counts().reindex(SCHEMA[name].domain.values, fill_value=0) for each in (table, DATA.table)
        ]
        assert (counts[0] - counts[1]).abs().max() <= 1
    for name in (*NUMBERS, "income"):
        assert SCHEMA[name].domain.has(table[name]).all()
        # One value in each of n equal shares: no quantile of the records is further than a share away.
        shares = np.linspace(0.05, 0.95, 10)
        low, high = (DATA.table[name].quantile(shares + side / len(DATA)).to_numpy() for side in (-1, 1))
        step = SCHEMA[name].domain.step
        assert ((low - step <= table[name].quantile(shares)) & (table[name].quantile(shares) <= high + step)).all()
    ranks = [each[[*NUMBERS, "income"]].corr("spearman").to_numpy() for each in (table, DATA.table)]
    assert np.abs(ranks[0] - ranks[1]).max() < 0.05
    tall = [each.groupby("sex").height.mean() for each in (table, DATA.table)]
    assert tall[0]["m"] - tall[0]["f"] == pytest.approx(tall[1]["m"] - tall[1]["f"], rel=0.25)


# IPSO


def estimates(known, numbers):
    """B and S by least squares, as whoever analyses the release finds them."""
    coefficients = np.linalg.lstsq(known, numbers, rcond=None)[0]
    residuals = numbers - known @ coefficients
    return coefficients, residuals.T @ residuals / len(numbers)


def design(table):
    columns = [(table["illness"] == value) for value in ("flu", "gout")]
    return np.column_stack([np.ones(len(table)), *columns, table["income"]]).astype(float)


def scale(numbers):
    return np.abs(numbers).max()


def test_method_c_reproduces_both_estimates_and_b_the_coefficients():
    """Burridge 2003; Aggarwal and Yu 2008, section 3.5.4: exactly, whatever was drawn."""
    before = estimates(design(DATA.table), DATA.table[NUMBERS].to_numpy(float))
    for seed in range(3):
        tables = {each.method: each.sanitize(DATA, rng=seed).table for each in OF_RECORDS[:3]}
        found = {name: estimates(design(table), table[NUMBERS].to_numpy(float)) for name, table in tables.items()}
        assert np.abs(found["C"][0] - before[0]).max() < 1e-9 * scale(before[0])
        assert np.abs(found["C"][1] - before[1]).max() < 1e-9 * scale(before[1])
        assert np.abs(found["B"][0] - before[0]).max() < 1e-9 * scale(before[0])
        assert np.abs(found["B"][1] - before[1]).max() > 0.01 * scale(before[1])
        assert np.abs(found["A"][0] - before[0]).max() > 0.001 * scale(before[0])
        assert np.abs(found["A"][1] - before[1]).max() < 0.3 * scale(before[1])
        assert np.abs(tables["C"][NUMBERS] - DATA.table[NUMBERS]).mean().min() > 3


def test_estimates_are_reproduced_where_columns_depend_on_each_other():
    rng = np.random.default_rng(4)
    known = np.column_stack([np.ones(60), *rng.normal(size=(2, 60))])
    known = np.column_stack([known, known[:, 1] - known[:, 2]])
    numbers = known[:, :3] @ rng.normal(size=(3, 2)) + rng.normal(size=(60, 2))
    numbers = np.column_stack([numbers, numbers.sum(axis=1)])
    made = draw_from_regression(known, numbers, "C", rng)
    for before, after in zip(estimates(known, numbers), estimates(known, made), strict=True):
        assert np.abs(before - after).max() < 1e-9
    assert np.abs(made[:, 2] - made[:, 0] - made[:, 1]).max() < 1e-9


def test_the_rows_of_ipso_are_still_the_records():
    for sanitizer in OF_RECORDS[:3]:
        release = sanitizer.sanitize(DATA, rng=1)
        assert release.provenance.rows is Rows.RECORDS
        assert release.treated("perturbed") == tuple(NUMBERS)
        assert release.treated("exact") == ("sex", "illness", "income")
    inside = IPSO("A").sanitize(DATA, rng=1).table
    assert all(SCHEMA[name].domain.has(inside[name]).all() for name in NUMBERS)
    assert IPSO(given=("sex",)).sanitize(DATA, rng=1).treated("perturbed") == tuple(NUMBERS)


# Multiple imputation


def test_parts_are_drawn_with_other_parameters_each():
    release = MultipleImputation(4).sanitize(DATA, rng=1)
    table = release.table
    assert table["imputation"].value_counts().to_dict() == dict.fromkeys((1, 2, 3, 4), 100)
    assert release.schema["imputation"].role is Role.NEUTRAL
    assert "imputation" not in MultipleImputation(1).sanitize(DATA, rng=1).table
    for name in SCHEMA.names():
        assert SCHEMA[name].domain.has(table[name]).all()


def test_what_columns_tell_of_each_other_is_modelled():
    large = measured(4000)
    table = MultipleImputation(2).sanitize(large, rng=1).table
    correlations = [each[[*NUMBERS, "income"]].corr().to_numpy() for each in (table, large.table)]
    assert np.abs(correlations[0] - correlations[1]).max() < 0.08
    for name in NUMBERS:
        assert table[name].mean() == pytest.approx(large.table[name].mean(), rel=0.03)
        assert table[name].std() == pytest.approx(large.table[name].std(), rel=0.1)
    old = [(each.illness[each.age > 70] == "gout").mean() for each in (table, large.table)]
    young = [(each.illness[each.age < 35] == "gout").mean() for each in (table, large.table)]
    assert old[0] == pytest.approx(old[1], abs=0.08)
    assert young[0] == pytest.approx(young[1], abs=0.08)
    assert set(table["sex"]) <= {"f", "m"}, "nobody has the third value, and no model learned it"


@pytest.mark.slow
def test_means_of_parts_vary_as_a_posterior_does():
    """Of the mean of a column that goes with nothing: the variance of its posterior, s^2 / n, and that of m draws."""
    means = []
    for seed in range(60):
        table = MultipleImputation(2).sanitize(DATA, rng=seed).table
        means += [table.income[table.imputation == part].mean() for part in (1, 2)]
    variance = DATA.table["income"].var()
    expected = variance / len(DATA) + variance / (len(DATA) / 2)
    assert np.var(means) == pytest.approx(expected, rel=0.4)


# Hybrid masking


def test_a_share_of_0_is_a_made_up_record_and_nearly_1_the_own():
    own = DATA.table[NUMBERS].to_numpy(float)
    moved = [
        np.abs(HybridMasking(share).sanitize(DATA, rng=1).table[NUMBERS].to_numpy() - own).mean()
        for share in (0, 0.5, 0.999)
    ]
    assert moved[0] > moved[1] > moved[2]
    assert moved[2] < 0.2
    release = HybridMasking(0.7).sanitize(DATA, rng=1)
    assert release.provenance.rows is Rows.RECORDS
    assert all(SCHEMA[name].domain.has(release.table[name]).all() for name in NUMBERS)


def test_sum_and_product_are_means_of_the_same_pair():
    """The geometric mean lies between the two and not above the arithmetic one."""
    made, both, product = (
        HybridMasking(*asked).sanitize(DATA, rng=5).table[NUMBERS].to_numpy(float)
        for asked in ((0,), (0.5, "sum"), (0.5, "product"))
    )
    own, step = DATA.table[NUMBERS].to_numpy(float), np.array([1, 0.5, 1])
    assert np.abs(both - (own + made) / 2).max() <= step.max() / 2
    assert (np.abs(product - np.sqrt(own * made)) <= step / 2 + 1e-9).all()
    assert (product <= both + step).all()


# All


@pytest.mark.parametrize("sanitizer", NOBODYS, ids=repr)
def test_rows_of_nobody_cannot_be_compared_row_by_row(sanitizer):
    release = sanitizer.sanitize(DATA, rng=1)
    assert release.provenance.rows is Rows.SYNTHETIC
    assert release.treated("synthetic") == tuple(release.columns)
    _, key = release._published(2)
    assert key is None
    with pytest.raises(Unreadable, match="synthetic"):
        release.originals(DATA)
    with pytest.raises(Unreadable):
        Linkage().fit(release._published(2)[0]).predict(DATA.table)


@every
def test_a_seed_gives_a_simulation_again(sanitizer):
    first, second = (sanitizer.sanitize(DATA, rng=3) for _ in range(2))
    pd.testing.assert_frame_equal(first.table, second.table)
    assert first.provenance.simulation
    assert not sanitizer.sanitize(DATA, rng=None).provenance.simulation
    assert type(sanitizer).from_bounds({}) == type(sanitizer)()


@every
def test_a_column_of_one_value_is_refused(sanitizer):
    with pytest.raises(
        SanitizationError, match=r"all records have the same value of 'height', which does not correlate with"
    ):
        sanitizer.sanitize(measured(height=np.full(400, 170.0)), rng=1)


@every
def test_too_few_records_are_refused(sanitizer):
    few = Dataset("few", DATA.table.iloc[:3], SCHEMA, DATA.hierarchies)
    with pytest.raises(SanitizationError, match=r"needs at least \d+ records, .*; 'few' has 3\. Try a longer table"):
        sanitizer.sanitize(few, rng=1)


@every
def test_missing_numbers_stay_missing_or_are_counted(sanitizer):
    schema = Schema("measured", (replace(SCHEMA["age"], domain=Numbers(0, 100, missing="NA")), *SCHEMA.attributes[1:]))
    holes = measured(schema=schema, age=DATA.table["age"].astype(float).mask(DATA.table["age"] > 80))
    release, gaps = sanitizer.sanitize(holes, rng=1), holes.table["age"].isna()
    if release.provenance.rows is Rows.SYNTHETIC:
        assert release.table["age"].notna().all()
        assert f"{gaps.sum()} of 'age'" in release.provenance.note
    else:
        assert release.table["age"].isna().tolist() == gaps.tolist()
        assert not release.provenance.note


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: IPSO("D"), "method"),
        (lambda: IPSO(given=()), "given must name at least one attribute"),
        (lambda: IPSO(given="income"), "given must be a list of attributes, each as text"),
        (lambda: HybridMasking(1), "share must be a number from 0 to below 1, because 1 would mask nothing; got 1"),
        (lambda: HybridMasking(-0.1), "share must be a number from 0"),
        (lambda: HybridMasking(0.5, "mean"), "how"),
        (lambda: MultipleImputation(0), "imputations must be a whole number of at least 1"),
    ],
)
def test_a_parameter_out_of_its_range(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_a_table_cannot_give():
    with pytest.raises(
        SanitizationError, match=r"`given` must name published attributes that are not replaced; got age"
    ):
        IPSO(given=("age", "sex")).sanitize(DATA, rng=1)
    with pytest.raises(SanitizationError, match=r"not replaced; got wage"):
        IPSO(given=("wage",)).sanitize(DATA, rng=1)
    with pytest.raises(SanitizationError, match=r"needs numbers above 0, and age has other numbers\. Try how='sum'"):
        HybridMasking(how="product").sanitize(measured(age=np.arange(400) % 100), rng=1)
    roles = {"sex": Role.QUASI_IDENTIFIER, "illness": Role.SENSITIVE}
    bare = Dataset("bare", DATA.table[["sex", "illness"]], SCHEMA.with_roles(roles), DATA.hierarchies)
    for sanitizer in (IPSO(), HybridMasking()):
        with pytest.raises(SanitizationError, match="'measured' has no numeric quasi-identifier; it has sex"):
            sanitizer.sanitize(bare, rng=1)
