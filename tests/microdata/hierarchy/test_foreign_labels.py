"""Labels of other tools: each known form is read as the values that it covers, and no other form as a category."""

import pytest

from privnb.microdata.hierarchy.foreign_labels import LabelForm, LabelReader, UnreadLabel, show_form
from privnb.microdata.schema import Attribute, Categories, Numbers, Role

AGES = LabelReader(Attribute("age", Role.QUASI_IDENTIFIER, Numbers(17, 99)))
PRICES = LabelReader(Attribute("price", Role.QUASI_IDENTIFIER, Numbers(0, 10, step=0.5)))
CODES = tuple(f"{code}" for code in (13053, 13068, 13071, 14850, 14853))
ZIPS = LabelReader(Attribute("zip", Role.QUASI_IDENTIFIER, Categories(CODES)))
DAYS = LabelReader(Attribute("born", Role.QUASI_IDENTIFIER, Categories(("2021-01-31", "2021-02-01", "2021-03-01"))))
JOBS = LabelReader(
    Attribute("job", Role.QUASI_IDENTIFIER, Categories(("cook", "nurse", "clerk, senior", "driver"))),
    {"indoors": ("cook", "nurse", "clerk, senior"), "outdoors": ("driver",)},
)


@pytest.mark.parametrize(
    ("text", "label", "form"),
    [
        ("37", "37", LabelForm.VALUE),
        ("37.0", "37", LabelForm.VALUE),
        ("*", "*", LabelForm.SUPPRESSED),
        ("**", "*", LabelForm.SUPPRESSED),
        ("", "*", LabelForm.MISSING),
        ("NA", "*", LabelForm.MISSING),
        ("20-29", "20-29", LabelForm.RANGE),
        ("20 – 29", "20-29", LabelForm.RANGE),
        ("20..29", "20-29", LabelForm.RANGE),
        ("20:29", "20-29", LabelForm.RANGE),
        ("20 to 29", "20-29", LabelForm.RANGE),
        ("15-19", "17-19", LabelForm.RANGE),
        ("[20, 30[", "20-29", LabelForm.INTERVAL),
        ("[20, 30)", "20-29", LabelForm.INTERVAL),
        ("[20, 30]", "20-30", LabelForm.INTERVAL),
        ("(19, 29]", "20-29", LabelForm.INTERVAL),
        ("]19; 29]", "20-29", LabelForm.INTERVAL),
        ("(19.0, 29.0]", "20-29", LabelForm.INTERVAL),
        ("(19.999, 29.0]", "20-29", LabelForm.INTERVAL),  # pandas lowers the first end, so that 20 is inside
        ("[20:30)", "20-29", LabelForm.INTERVAL),
        ("[60,)", "60-99", LabelForm.INTERVAL),
        ("(-inf, 30)", "17-29", LabelForm.INTERVAL),
        ("20~29", "20-29", LabelForm.RANGE),
        ("20.0-29.0", "20-29", LabelForm.RANGE),
        ("[60, inf)", "60-99", LabelForm.INTERVAL),
        ("[20, 21)", "20", LabelForm.INTERVAL),
        (">=60", "60-99", LabelForm.AT_LEAST),
        ("> 60", "61-99", LabelForm.AT_LEAST),
        ("≥60", "60-99", LabelForm.AT_LEAST),
        ("60+", "60-99", LabelForm.AT_LEAST),
        ("60 and over", "60-99", LabelForm.AT_LEAST),
        ("<20", "17-19", LabelForm.AT_MOST),
        ("<= 19", "17-19", LabelForm.AT_MOST),
        ("under 20", "17-19", LabelForm.AT_MOST),
        ("{20, 21, 22}", "20-22", LabelForm.SET),
        ("2*", "20-29", LabelForm.MASK),
        (">=17", "*", LabelForm.AT_LEAST),
    ],
)
def test_a_label_of_a_number_covers_what_its_tool_means(text, label, form):
    assert AGES.read(text) == (label, form)


@pytest.mark.parametrize(
    ("reader", "text", "label", "form"),
    [
        (ZIPS, "13053", "13053", LabelForm.VALUE),
        (ZIPS, "130**", "13053|13068|13071", LabelForm.MASK),
        (ZIPS, "1305*", "13053", LabelForm.MASK),
        (ZIPS, "1485*", "14850|14853", LabelForm.MASK),
        (ZIPS, "*****", "*", LabelForm.SUPPRESSED),
        (ZIPS, "{13053, 14850}", "13053|14850", LabelForm.SET),
        (ZIPS, "13053~13071~14850", "13053|13071|14850", LabelForm.SET),
        (ZIPS, "***53", "13053|14853", LabelForm.MASK),
        (ZIPS, "[13053:13071]", "13053|13068|13071", LabelForm.INTERVAL),
        (ZIPS, "14850,14853", "14850|14853", LabelForm.RANGE),  # a range and a set of the same values
        (DAYS, "[2021-01-01,2021-02-01)", "2021-01-31", LabelForm.INTERVAL),
        (DAYS, ">=2021-02-01", "2021-02-01|2021-03-01", LabelForm.AT_LEAST),
        (DAYS, "2021-**-01", "2021-02-01|2021-03-01", LabelForm.MASK),
        (JOBS, "cook|nurse", "cook|nurse", LabelForm.SET),
        (JOBS, "nurse;cook", "cook|nurse", LabelForm.SET),
        (JOBS, "['cook', 'nurse']", "cook|nurse", LabelForm.SET),
        (JOBS, "clerk, senior", "clerk, senior", LabelForm.VALUE),
        (JOBS, "indoors", "cook|nurse|clerk, senior", LabelForm.HIERARCHY),
        (JOBS, "outdoors", "driver", LabelForm.HIERARCHY),
        (PRICES, "[1, 2[", "1-1.5", LabelForm.INTERVAL),
        (PRICES, "(1, 2]", "1.5-2", LabelForm.INTERVAL),
    ],
)
def test_a_label_of_a_category_covers_what_its_tool_means(reader, text, label, form):
    assert reader.read(text) == (label, form)
    assert reader.hierarchy.covered(label).size > 0  # the hierarchy has each label that is returned


def test_a_mark_of_the_domain_stays_a_mark():
    ages = LabelReader(Attribute("age", Role.QUASI_IDENTIFIER, Numbers(17, 99, missing="NA")))
    assert ages.read("NA").label == ages.read("").label == "NA"
    assert ages.read(">=17").label == "17-99"  # it does not cover a missing number


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (AGES, "young"), (AGES, "200"), (AGES, "100-120"), (AGES, "20-"), (AGES, "{20, 40}"), (AGES, "[20, 30"),
        (AGES, "30-20"), (AGES, "20, 30["), (AGES, "3x"), (ZIPS, "88***"), (ZIPS, "13054"), (ZIPS, "13053|99999"),
        (ZIPS, "13**"), (DAYS, "[2021, 2022)"), (DAYS, "[2021-02-30, 2021-03-01]"), (JOBS, "Cook"),
        (JOBS, "cook-nurse"), (AGES, "*7"), (AGES, "20,30"), (AGES, "20,0"), (AGES, "20, 21, 22"), (AGES, "(20, 30)"),
        (PRICES, "1,5"), (ZIPS, "13053~14850"), (ZIPS, "13053,14850"),
        (ZIPS, "[13053, 14850]"), (JOBS, "indoors|driver"), (AGES, "200+"), (AGES, "<17"),
    ],
)  # fmt: skip
def test_no_other_text_becomes_a_category(reader, text):
    with pytest.raises(UnreadLabel) as error:
        reader.read(text)
    assert text not in str(error.value)


def test_an_error_shows_the_form_and_not_the_cell():
    assert show_form("(1999-12-31, Smith)") == "(9999-99-99, aaaaa)"
    with pytest.raises(UnreadLabel, match=r"'job' must be values of its domain .* got the form 'aaaaaaa 9'"):
        JOBS.read("plumber 7")


def test_a_label_of_a_hierarchy_that_is_also_a_value_is_an_error():
    ages = LabelReader(AGES.attribute, {"20": ["20", "21", "22"], "30": ["30"]})
    assert ages.read("30") == ("30", LabelForm.VALUE)
    with pytest.raises(UnreadLabel, match=r"must differ from its values; got a value of the form '99'"):
        ages.read("20")


def test_a_label_with_two_separators_has_one_meaning_or_none():
    names = Categories(("a", "b,c", "a;b", "c", "d"))
    reader = LabelReader(Attribute("name", Role.QUASI_IDENTIFIER, names))
    assert reader.read("a;d").label == "a|d"
    with pytest.raises(UnreadLabel, match="must have one meaning"):
        reader.read("a;b,c")


def test_a_large_domain_of_numbers_is_not_listed():
    incomes = LabelReader(Attribute("income", Role.QUASI_IDENTIFIER, Numbers(0, 2 * 10**9)))
    assert incomes.read(">=1000").label == "1000-2000000000"
