"""Categories and numbers that change by a public law: what is drawn, what is promised, what is refused."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from privnb.datasets.dataset import Dataset
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema
from privnb.microdata.treatment import Unreadable
from privnb.sanitizers import (
    MASK,
    PRAM,
    AdditiveNoise,
    GammaDiagonal,
    RandomizedResponse,
    RetentionReplacement,
    SanitizationError,
)
from privnb.sanitizers.noise.laws import Part, Transition
from privnb.sanitizers.noise.noise_channel import identification
from privnb.sanitizers.noise.pram import draw_categories, make_invariant

SCHEMA = Schema(
    "clinic",
    (
        Attribute("age", Role.QUASI_IDENTIFIER, Numbers(20, 70, 5)),
        Attribute("dose", Role.QUASI_IDENTIFIER, Numbers(0.5, 2.5, 0.25, missing="NA")),
        Attribute("town", Role.QUASI_IDENTIFIER, Categories(("a", "b", "c", "d"))),
        Attribute("sex", Role.QUASI_IDENTIFIER, Categories(("f", "m"))),
        Attribute("country", Role.QUASI_IDENTIFIER, Categories(("here",))),
        Attribute("ill", Role.SENSITIVE, Categories(("yes", "no"))),
    ),
)
ROWS = 20_000


def clinic(rows=ROWS, names=None, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(4, 15, rows) * 5,
            "dose": np.where(rng.random(rows) < 0.1, np.nan, 0.5 + 0.25 * rng.integers(0, 9, rows)),
            "town": rng.choice(["a", "b", "c"], rows, p=[0.6, 0.3, 0.1]),  # nobody is from d
            "sex": rng.choice(["f", "m"], rows, p=[0.4, 0.6]),
            "country": "here",
            "ill": rng.choice(["yes", "no"], rows),
        }
    )
    roles = dict.fromkeys(names or SCHEMA.quasi_identifiers, Role.QUASI_IDENTIFIER) | {"ill": Role.SENSITIVE}
    schema = SCHEMA.with_roles(roles)
    return Dataset(
        "clinic", table[schema.names()], schema, {name: flat(schema[name]) for name in schema.quasi_identifiers}
    )


DATA = clinic()


def shares(column, domain):
    return pd.Series(column).value_counts(normalize=True).reindex(domain).fillna(0).to_numpy()


def agree(before, after, matrix, values):
    """Whether what each value became is as likely under its row of the matrix as a draw of it is: chi-square, 1e-4."""
    for value, row in zip(values, matrix, strict=True):
        seen = pd.Series(after[before == value]).value_counts().reindex(values).fillna(0).to_numpy()
        if seen.sum():
            assert not seen[row == 0].any()
            possible = row > 0
            found = stats.chisquare(seen[possible], row[possible] * seen.sum()) if possible.sum() > 1 else None
            assert found is None or found.pvalue > 1e-4, value


def test_a_draw_is_of_its_row():
    matrix = np.array([[0.5, 0.5, 0, 0], [0, 1, 0, 0], [0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]])
    positions = np.random.default_rng(0).integers(0, 4, 50_000)
    agree(positions, draw_categories(positions, matrix, np.random.default_rng(1)), matrix, range(4))


@pytest.mark.parametrize("sanitizer", [PRAM(), PRAM(0.5, invariant=True), RetentionReplacement(0.3)], ids=repr)
def test_cells_are_drawn_by_the_law_that_is_published(sanitizer):
    release = sanitizer.sanitize(DATA, rng=1)
    for name in ("town", "sex"):
        values = SCHEMA[name].domain.values
        agree(DATA.table[name], release.table[name], release.columns[name].law.transition(len(values)), values)
    assert release.columns["country"].kind == "exact"


def test_invariant_pram_keeps_the_shares():
    """Gouweleeuw et al. 1998, section 4: p R = p, whatever the first matrix was."""
    counts = np.array([600, 300, 100, 0])
    first = np.array([[0.7, 0.1, 0.1, 0.1], [0.3, 0.3, 0.2, 0.2], [0, 0.5, 0.5, 0], [0, 0, 0, 1]])
    both = make_invariant(first, counts)
    assert counts @ both == pytest.approx(counts)
    assert both.sum(axis=1) == pytest.approx(1)
    assert both[:3, 3] == pytest.approx(0), "nobody becomes what nobody is"
    release = PRAM(0.5, invariant=True).sanitize(DATA, rng=1)
    for name in ("town", "sex"):
        values = SCHEMA[name].domain.values
        assert shares(release.table[name], values) == pytest.approx(shares(DATA.table[name], values), abs=0.015)
        moved = shares(PRAM(0.5).sanitize(DATA, rng=1).table[name], values)
        assert np.abs(moved - shares(DATA.table[name], values)).max() > 0.04
    assert "They depend on these shares and disclose them" in release.provenance.note


def test_a_matrix_over_a_joint_domain():
    """Of town and sex, the last counts fastest: row (a, f) leads to (b, m) alone, all others stay."""
    matrix = np.eye(8)
    matrix[0] = np.eye(8)[3]
    release = PRAM(matrices={"town, sex": matrix}).sanitize(DATA, rng=1)
    before, after = DATA.table, release.table
    moved = (before["town"] == "a") & (before["sex"] == "f")
    assert (after.loc[moved, ["town", "sex"]] == ["b", "m"]).all(axis=None)
    assert after.loc[~moved].astype(object).equals(before.loc[~moved].astype(object))
    assert isinstance(release.columns["town"].law, Part)
    assert isinstance(release.columns["town"].law.together.law, Transition)
    with pytest.raises(Unreadable, match="drawn together for town, sex has no closed form"):
        release.columns["town"].law.transition(4)
    assert release.treated("exact") == ("age", "dose", "country", "ill")


@pytest.mark.parametrize(
    ("sanitizer", "message"),
    [
        (PRAM(matrices={"sex": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}), "'sex' must have 2 rows and columns"),
        (PRAM(matrices={"age": [[1, 0], [0, 1]]}), "which are town, sex; got 'age'"),
        (PRAM(matrices={"ill": [[1, 0], [0, 1]]}), "must name quasi-identifiers .*; got 'ill'"),
        (PRAM(matrices={"sex": np.eye(2), "town,sex": np.eye(8)}), "sex must have one matrix"),
        (GammaDiagonal(1, attributes="age"), "must name quasi-identifiers .*; got 'age'"),
        (GammaDiagonal(9, 0.5), r"the diagonal is 0\.9991, which `spread` would raise above 1"),
        (AdditiveNoise(deviations={"town": 2}), r"must name numeric quasi-identifiers, .*; got \['town'\]"),
    ],
)
def test_what_an_attribute_cannot_have_is_refused(sanitizer, message):
    with pytest.raises(SanitizationError, match=message):
        sanitizer.sanitize(DATA, rng=1)


@pytest.mark.parametrize(
    ("sanitizer", "names", "message"),
    [
        (PRAM(), ["age", "country"], "two or more categories"),
        (GammaDiagonal(1), ["age"], "two or more categories"),
        (MASK(1), ["age"], "two or more categories"),
        (RetentionReplacement(), ["country"], "two or more values"),
        (AdditiveNoise(), ["town"], "'clinic' has no numeric quasi-identifier"),
    ],
)
def test_a_table_without_such_attributes_is_refused(sanitizer, names, message):
    with pytest.raises(SanitizationError, match=message):
        sanitizer.sanitize(clinic(30, names), rng=1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PRAM(0), "kept must be a share"),
        (lambda: PRAM(1.1), "kept must be a share"),
        (lambda: PRAM(invariant=1), "invariant"),
        (lambda: PRAM(matrices={"sex": [[0.5, 0.5]]}), "must be square"),
        (lambda: PRAM(matrices={"sex": [[0.5, 0.4], [0, 1]]}), "adds up to 0.9"),
        (lambda: PRAM(matrices=[[1, 0], [0, 1]]), "Give a matrix by attribute"),
        (lambda: RetentionReplacement(1), "kept"),
        (lambda: RetentionReplacement(0), "kept"),
        (lambda: GammaDiagonal(0), "epsilon must be a positive number"),
        (lambda: GammaDiagonal(1, 1.5), "spread must be a share from 0 to 1"),
        (lambda: MASK(-1), "epsilon must be a positive number"),
        (lambda: AdditiveNoise(0), "deviation must be a positive number"),
        (lambda: AdditiveNoise(kind="cauchy"), "kind must be"),
        (lambda: AdditiveNoise(deviations={"age": -2}), "deviations of 'age' must be a positive number"),
    ],
)
def test_parameters_out_of_range_are_refused(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_the_gamma_diagonal_matrix_draws_all_attributes_together():
    """Agrawal and Haritsa 2005: kept as a whole with gamma / (gamma + n - 1), any one other alike; here n = 8."""
    gamma = 19
    release = GammaDiagonal(math.log(gamma)).sanitize(DATA, rng=1)
    joint = release.columns["town"].law.together
    before, after = (
        joint.positions([SCHEMA[name].domain.codes(table[name]) for name in joint.names])
        for table in (DATA.table, release.table)
    )
    whole = joint.law.transition(8)
    assert whole[0, 0] == pytest.approx(19 / 26)
    agree(before, after, whole, range(8))
    for name in ("town", "sex"):
        values = SCHEMA[name].domain.values
        agree(DATA.table[name], release.table[name], release.columns[name].law.transition(len(values)), values)


def test_of_one_attribute_it_is_randomized_response():
    one, other = (each.sanitize(clinic(500, ["sex"]), rng=3) for each in (GammaDiagonal(1.0), RandomizedResponse(1.0)))
    assert one.columns["sex"].law.transition(2) == pytest.approx(other.columns["sex"].law.transition(2))
    assert one.table.astype(object).equals(other.table.astype(object))


def test_the_randomized_matrix_is_the_same_on_average():
    """RAN-GD: each record has its own diagonal, and what is drawn over all of them is the gamma-diagonal matrix."""
    release = GammaDiagonal(math.log(5), 1.0, "town,sex").sanitize(DATA, rng=1)
    joint = release.columns["sex"].law.together
    before, after = (
        joint.positions([SCHEMA[name].domain.codes(table[name]) for name in joint.names])
        for table in (DATA.table, release.table)
    )
    agree(before, after, joint.law.transition(8), range(8))
    assert GammaDiagonal(math.log(5), 1.0).sanitize(DATA, rng=None).provenance.promise is None


def test_rows_drawn_together_are_traced_together():
    """With columns drawn together a row is nobody's more than gamma times likelier, not gamma for each column."""
    data = clinic(60, ["town", "sex"])
    release = GammaDiagonal(2.0).sanitize(data, rng=1)
    share, low, high = identification(data, release, rng=0)
    true, seen = (t["town"] + t["sex"] for t in (data.table, release.table))
    likelihood = np.where(seen.to_numpy()[:, None] == true.to_numpy(), math.exp(2), 1)
    best = likelihood.max(axis=1) / likelihood.sum(axis=1)
    assert share == pytest.approx(best.mean())
    assert low <= share <= high


@pytest.mark.parametrize("rng", [1, None])
@pytest.mark.parametrize("sanitizer", [GammaDiagonal(1.5), MASK(1.5)], ids=repr)
def test_epsilon_is_spent_once_per_record_and_promised_without_a_seed(sanitizer, rng):
    release = sanitizer.sanitize(clinic(300), rng=rng)
    promise = release.provenance.promise
    if rng is None:
        assert promise.epsilon == 1.5
        assert set(promise.columns) == set(release.treated("noisy"))
        assert "Nothing is promised for age, dose, country, ill" in promise.statement
    else:
        assert promise is None
        assert release.provenance.simulation


@pytest.mark.parametrize(("number", "p"), [(1, 0.81339), (2, 0.67614), (3, 0.62028), (6, 0.56104), (7, 0.55239)])
def test_mask_keeps_a_bit_with_the_p_of_its_gamma(number, p):
    """Catalogue 10-11: gamma = 19 and M attributes."""
    schema = Schema(
        "many",
        (
            *(Attribute(f"c{i}", Role.QUASI_IDENTIFIER, Categories(("x", "y", "z"))) for i in range(number)),
            Attribute("ill", Role.SENSITIVE, Categories(("yes", "no"))),
        ),
    )
    table = pd.DataFrame({f"c{i}": ["x", "y"] * 10 for i in range(number)} | {"ill": ["yes", "no"] * 10})
    data = Dataset("many", table, schema, {name: flat(schema[name]) for name in schema.quasi_identifiers})
    release = MASK(math.log(19)).sanitize(data, rng=1)
    law = release.columns["c0=x"].law
    assert law.true == pytest.approx(p, abs=5e-6)
    assert law.amplification(2) ** (2 * number) == pytest.approx(19)
    assert release.treated("suppressed") == tuple(f"c{i}" for i in range(number))
    assert len(release.treated("noisy")) == 3 * number


def test_mask_flips_each_bit_by_itself():
    release = MASK(4.0).sanitize(DATA, rng=1)
    assert list(release.table)[-6:] == ["town=a", "town=b", "town=c", "town=d", "sex=f", "sex=m"]
    for value in "abcd":
        true, cell = (DATA.table["town"] == value).astype(int).astype(str), release.table[f"town={value}"]
        agree(true, cell, release.columns[f"town={value}"].law.transition(2), ("0", "1"))
    ones = (release.table[["sex=f", "sex=m"]] == "1").sum(axis=1)
    assert {*ones} == {0, 1, 2}, "a row may have several ones, or none"


def test_mask_refuses_two_columns_of_one_name():
    data = clinic(20)
    table = data.table.assign(ill=data.table["ill"]).rename(columns={"ill": "sex=f"})
    attributes = [a if a.name != "ill" else Attribute("sex=f", a.role, a.domain) for a in data.schema.attributes]
    with pytest.raises(SanitizationError, match="two columns would have the same name"):
        MASK(1.0).sanitize(Dataset("odd", table, Schema("odd", tuple(attributes)), data.hierarchies), rng=1)


@pytest.mark.parametrize("kind", ["gaussian", "uniform"])
def test_noise_has_the_deviation_that_is_asked_for(kind):
    release = AdditiveNoise(0.2, kind, {"dose": 0.5}).sanitize(DATA, rng=1)
    for name, deviation in {"age": 10, "dose": 0.5}.items():
        law = release.columns[name].law
        assert law.deviation == pytest.approx(deviation)
        noise = (release.table[name] - DATA.table[name]).dropna()
        assert noise.mean() == pytest.approx(0, abs=4 * deviation / ROWS**0.5)
        assert noise.std() == pytest.approx(deviation, rel=0.03)
        assert stats.kstest(noise, law.cumulative).pvalue > 1e-4
        if kind == "uniform":
            assert np.abs(noise).max() <= law.half + 1e-3
        steps = release.table[name].dropna() / (DATA.schema[name].domain.step / 1000)
        assert np.abs(steps - np.rint(steps)).max() < 1e-4, "no digit beyond a thousandth of a step"


def test_a_missing_number_stays_missing():
    for sanitizer in (AdditiveNoise(), RetentionReplacement(0.9)):
        release = sanitizer.sanitize(DATA, rng=1)
        assert release.table["dose"].isna().tolist() == DATA.table["dose"].isna().tolist()
        assert DATA.table["dose"].isna().any()
        assert release.columns["dose"].kind == "noisy"


def test_retention_replacement_keeps_to_the_domain():
    release = RetentionReplacement(0.4).sanitize(DATA, rng=1)
    for name in ("age", "dose"):
        domain = SCHEMA[name].domain
        there = DATA.table[name].notna()
        before, after = domain.codes(DATA.table[name][there]), domain.codes(release.table[name][there])
        size = domain.steps + 1
        agree(before, after, release.columns[name].law.transition(size), range(size))
        assert np.all(domain.has(release.table[name][there]))
    assert release.table["age"].dtype.kind == "i"
