"""An owner's condition: read as pandas would, and nothing in it runs."""

import numpy as np
import pandas as pd
import pytest

from privnb.decision import owner_choice
from privnb.measures.conditions import parse_condition
from privnb.measures.utility import mining

TABLE = pd.DataFrame(
    {"age": [60, 20, 33], "sex": ["F", "M", "F"], "marital-status": ["a", "b", "a"], "class": [1.5, 2.0, 3.0]}
)


@pytest.mark.parametrize(
    "text",
    [
        "age > 55", "55 < age", "20 <= age < 60", "`marital-status` == 'a'", "sex == 'F' & age > 40",
        "sex=='F' | age<30", "~(sex=='F')", "not sex == 'F'", "age in [20, 33]", "sex not in ['F']", "`class` == 2",
        "age % 2 == 1", "age / 2 > 20", "-age < -30", "(age + 10) ** 2 > 900", "age // `class` >= 11",
        "sex == 'a & `b`'", 'sex == "F" and (age > 40 or `class` > 2.5)', "age in []", "age * 2 - 7 != `class` * 20",
    ],
)  # fmt: skip
def test_a_condition_is_read_as_pandas_reads_it(text):
    found = parse_condition(text)(TABLE)
    assert found.dtype == bool
    np.testing.assert_array_equal(found, TABLE.eval(text))


@pytest.mark.parametrize(
    "text",
    [
        '@pd.io.common.os.system("touch ran") == 0', "@np.ones(3) == 1", 'age.to_csv("ran")', "sex.str.len() == 1",
        "__import__('os').system('touch ran') == 0", "open('ran', 'w') == 1", "age[0] == 1", "lambda: 1",
        "[x for x in 'ab'] == age", "age if True else sex", "f'{age}' == 'F'", "(age := 3) == 3", "age is 5",
        "age == None", "age == 1j", "sex == b'F'", "age << 3 == 1", "{1, 2} == age", "{**age} == 1", "age in [sex]",
        "age in [x for x in [1]]", "[age] == 1", "age >", "age == `", "a\0b", "(" * 500, "not " * 9999 + "True",
        "-" * 99999 + "1 == age", "age" + "+age" * 30000 + " > 1",
    ],
)  # fmt: skip
def test_anything_else_is_refused_when_it_is_read(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for read in (
        parse_condition,
        lambda text: mining.parse_interest(f"{text} :2"),
        lambda t: owner_choice.check_scenarios("W", 0.9, weights=t),
    ):
        with pytest.raises(ValueError, match=r"cannot be read as a condition: [^.]|interest weights must be written"):
            read(text)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "nobody == 1",
            "there is no column 'nobody'. Write the .* with names of age, sex, marital-status, class",
        ),
        ("age == '60'", "the condition compares numbers with texts"),
        ("sex > 3", "the condition compares numbers with texts"),
        ("age in ['x']", "the condition compares numbers with texts"),
        ("sex + 1 == 'F'", "cannot be read as a condition"),
        ("'a' * 999999999 == sex", "cannot be read as a condition"),
        ("'%99999999d' % 5 == sex", "`'%99999999d' % 5` calculates with something that is not a number"),
        ("sex * age == 'F'", "`sex \\* age` calculates with something that is not a number"),
        ("9 ** 9 ** 9 ** 9 == age", "cannot be read as a condition"),
        ("age and sex == 'F'", "`age` is not true or false for each record"),
        ("age in 5", "`in` must follow a column and precede a list of values"),
        ("[1] == age", "`in` must follow a column"),
        ("1 < 2", "is not a condition, because the result is not true or false for each record"),
        ("age + 1", "is not a condition"),
    ],
)
def test_what_does_not_fit_the_table_is_refused(text, said):
    with pytest.raises(ValueError, match=said):
        parse_condition(text)(TABLE)


@pytest.mark.parametrize("numbers", ["nan", "-1", "inf", "1, nan", "1, -2"])
def test_weights_are_numbers_from_0(numbers):
    with pytest.raises(ValueError, match="must be an interest weight, a number of at least 0; got"):
        mining.parse_interest(f"age > 55: {numbers}")
