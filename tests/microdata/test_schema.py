import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from privnb.microdata.schema import Attribute, Categories, Numbers, Role, Schema, SchemaError

AGE = Attribute("age", Role.QUASI_IDENTIFIER, Numbers(17, 99))
SEX = Attribute("sex", Role.QUASI_IDENTIFIER, Categories(("F", "M")))
NAME = Attribute("name", Role.IDENTIFIER)
SCHEMA = Schema("toy", (NAME, AGE, SEX))
TABLE = pd.DataFrame({"name": ["a", "b", "c"], "age": [17, 40, 99], "sex": ["F", "M", "F"]})

steps = st.sampled_from([1, 2, 0.5, 0.1, 0.01])


@given(st.integers(-50, 50), steps, st.integers(1, 10**5), st.data())
def test_numbers_and_their_codes_are_one_to_one(low, step, steps, data):
    domain = Numbers(low, low + step * steps, step)
    code = data.draw(st.integers(0, steps))
    number = domain.value(code)
    assert number == pytest.approx(low + step * code)
    assert domain.codes([number, str(number)]).tolist() == [code, code]
    assert domain.outside(pd.Series([number])).empty
    assert len(domain.outside(pd.Series([number + step / 2, low - step, domain.high + step]))) == 3


def test_numbers_print_without_needless_decimals():
    assert [str(Numbers(0, 2, 0.5).value(code)) for code in range(5)] == ["0", "0.5", "1", "1.5", "2"]
    assert str(Numbers(0, 1, 0.1).value(3)) == "0.3"


def test_sums_of_money_are_numbers_in_steps_of_a_cent():
    cents = np.random.default_rng(0).integers(0, 10**8, 1000)
    assert Numbers(0, 10**6, 0.01).outside(pd.Series([f"{c // 100}.{c % 100:02}" for c in cents])).empty


@pytest.mark.parametrize("column", [np.array([7, 7], dtype=np.int8), [7j, 7j], [np.inf, -np.inf], [1e308, -1e308]])
def test_numbers_of_any_kind_are_compared_with_a_domain(column):
    """Narrow kinds do not hold its ends, and others have no order or no end."""
    column = pd.Series(column)
    assert Numbers(1000, 2000, 0.5).outside(column).equals(column)


def test_the_highest_number_lies_on_a_step():
    with pytest.raises(SchemaError, match="`high` of a domain must be a whole number of steps above its `low`"):
        Numbers(0, 8, 3)


@pytest.mark.parametrize("domain", [(5, 5), (6, 5), (1, 2, 0), (1, 2, -1)])
def test_numbers_need_a_range(domain):
    with pytest.raises(SchemaError, match="low < high and step > 0"):
        Numbers(*domain)


def test_categories():
    domain = Categories(("F", "M"))
    assert domain.codes(["M", "F", "M"]).tolist() == [1, 0, 1]
    assert domain.outside(pd.Series(["F", "x", "M", None])).isna().tolist() == [False, True]
    for values in ((), ("F", "F")):
        with pytest.raises(SchemaError, match="at least one value, and no value twice"):
            Categories(values)


def test_names_by_role():
    neutral = Attribute("ward", Role.NEUTRAL, Categories(("n", "s")))
    secret = Attribute("disease", Role.SENSITIVE, Categories(("flu", "none")))
    schema = Schema("toy", (NAME, secret, AGE, neutral, SEX))
    assert schema.quasi_identifiers == ["age", "sex"]
    assert schema.sensitive == ["disease"]
    assert schema.published == ["disease", "age", "ward", "sex"]
    assert schema["age"] is AGE
    with pytest.raises(SchemaError, match=r"no attribute 'zip'; it has name, disease, age, ward, sex"):
        schema["zip"]


def test_other_roles_leave_out_what_they_do_not_name():
    chosen = SCHEMA.with_roles({"sex": "sensitive", "age": Role.QUASI_IDENTIFIER})
    assert [(a.name, a.role) for a in chosen.attributes] == [("age", Role.QUASI_IDENTIFIER), ("sex", Role.SENSITIVE)]
    with pytest.raises(SchemaError, match="no attribute 'zip'"):
        SCHEMA.with_roles({"zip": "sensitive"})


def test_a_column_has_one_role():
    twice = Attribute("age", Role.SENSITIVE, AGE.domain)
    with pytest.raises(
        SchemaError, match=r"column \['age'\] has more than one role.*cannot also be a quasi-identifier"
    ):
        Schema("toy", (AGE, SEX, twice))


def test_two_forms_of_one_attribute_are_not_used_together():
    years = Attribute("years", Role.QUASI_IDENTIFIER, Numbers(0, 9), form_of="school")
    school = Attribute("school", Role.QUASI_IDENTIFIER, Categories(("low", "high")))
    with pytest.raises(SchemaError, match="'years' is another form of 'school' and both are in use"):
        Schema("toy", (years, school))
    assert Schema("toy", (years, Attribute("school", Role.UNUSED, school.domain))).names(Role.UNUSED) == ["school"]


@pytest.mark.parametrize("role", [Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.NEUTRAL])
def test_published_columns_need_a_public_domain(role):
    with pytest.raises(
        SchemaError, match=r"column 'x' has no public domain\. State the values, or the low and the high of the domain"
    ):
        Schema("toy", (Attribute("x", role),))


def test_a_table_that_fits_passes():
    SCHEMA.check(TABLE)
    SCHEMA.check(TABLE[["sex", "age", "name"]])  # the order of columns is no matter
    SCHEMA.check(TABLE.set_axis([7, 7, 7]))
    SCHEMA.check(TABLE.astype({"age": str}))  # files are checked as text


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            TABLE.drop(columns="sex"),
            r"the schema names column \['sex'\], which the table lacks \(the table has name, age\)",
        ),
        (
            TABLE.assign(zip=1),
            r"the table has column \['zip'\], which the schema does not name.*'unused' leaves the column out",
        ),
        (TABLE[["name", "age", "age", "sex"]], r"more than one column \['age'\]\. Rename one"),
        (TABLE.iloc[:0], "at least 2 records; got 0"),
        (TABLE.iloc[:1], "at least 2 records; got 1"),
        (TABLE.assign(sex=["F", None, None]), "column 'sex' has 2 missing values, which its domain does not allow"),
        (TABLE.assign(age=[17, np.nan, 99]), "column 'age' has 1 missing values"),
        (TABLE.assign(age=[16, 100, 16]), r"column 'age' has 3 values outside its public domain: 16 \(2\), 100 \(1\)"),
        (TABLE.assign(age=[17.5, 40, 99]), r"outside its public domain: 17\.5 \(1\)"),
        (TABLE.assign(age=["17", "old", "99"]), r"outside its public domain: 'old' \(1\)"),
        (TABLE.assign(age=[17, 40, np.inf]), r"outside its public domain: inf \(1\)"),
        (TABLE.assign(sex=["F", "X", "X"]), r"column 'sex' has 2 values outside its public domain: 'X' \(2\)"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(table, message):
    before = table.copy()
    with pytest.raises(SchemaError, match=f"dataset 'toy': .*{message}"):
        SCHEMA.check(table)
    pd.testing.assert_frame_equal(table, before)


def test_at_most_three_values_are_shown():
    """A message may end in a log; a column of wrong values must not be listed there."""
    table = pd.DataFrame({"name": list("abcde"), "age": 20, "sex": list("vwxyz")})
    with pytest.raises(SchemaError) as error:
        SCHEMA.check(table)
    assert sum(f"'{value}'" in str(error.value) for value in "vwxyz") == 3


def test_identifiers_may_hold_anything():
    SCHEMA.check(TABLE.assign(name=[None, 3, "x"]))


@pytest.mark.parametrize("domain", [(0, 5e9, 1), (0, 1e17, 1e9), (0, 1e-9, 1e-12)])
def test_a_domain_too_fine_to_be_exact_is_refused(domain):
    """Positions are 32 bits long and labels have ten decimals: beyond that two values would become one."""
    with pytest.raises(SchemaError, match=r"Give a coarser step or another unit"):
        Numbers(*domain)


@pytest.mark.parametrize("cell", [["F"], {}, {"F"}])
def test_a_cell_that_holds_several_values_is_none_of_the_domain(cell):
    table = TABLE.astype(object)
    table.at[1, "sex"] = cell
    with pytest.raises(SchemaError, match="sex"):
        SCHEMA.check(table)


def test_numbers_are_rounded_to_a_step_of_their_domain_alone():
    domain = Numbers(0, 10, 0.5)
    rounded = domain.rounded(pd.Series(["0.2", "0.3", "7", "10.2", "-1", "x"], dtype=object))
    assert rounded.tolist() == [0, 0.5, 7, 10.2, -1, "x"], "what is outside is left for the domain to refuse"
    whole = pd.Series([3, 4])
    assert Numbers(0, 10).rounded(whole) is whole


def test_a_value_beyond_32_bits_is_that_of_its_code():
    assert Numbers(-5e8, 6.5e9, step=100).value(np.int32(70_000_000)) == 6_500_000_000


def test_a_large_number_is_rounded_to_its_step_exactly():
    """Ten decimal places of it are more digits than a float has."""
    domain = Numbers(0, 60_000_000_000_000, step=1_000_000)
    found = domain.rounded(pd.Series([533_189_000_001.4, 28_428_918_570_048.7]))
    assert found.tolist() == [533_189_000_000.0, 28_428_919_000_000.0]


@pytest.mark.parametrize("number", [2, 127, 128])  # of categories, whose codes are kept in one byte as long as they fit
def test_a_missing_value_has_its_mark_among_any_number_of_others(number):
    column = pd.Series(pd.Categorical([*range(number), None, 0], categories=range(number)))
    marked = Numbers(0, 200, missing="NA").marked(column)
    assert [*marked] == [*range(number), "NA", 0]
    assert Numbers(0, 200, missing="NA").marked(column.dropna()).isna().sum() == 0


def test_a_value_outside_the_domain_that_no_record_has_is_none():
    column = pd.Series(pd.Categorical([17, 40, 17, 99, 40], categories=[17, 40, 99, 3]))
    assert AGE.domain.outside(column).empty
    assert AGE.domain.outside(column.where(column != 17).astype(column.dtype)).isna().sum() == 2
