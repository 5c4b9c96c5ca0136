"""The independent reader of releases finds what is wrong with one, and the truth of the public tables is readable."""

import pandas as pd
from benchmarks import bench_tables

TOML = """\
[[files]]
path = "t.csv"
[format]
missing = "?"
[columns.age]
role = "quasi-identifier"
domain = { low = 0, high = 99, missing = "?" }
[columns.town]
role = "quasi-identifier"
domain = ["Ulm", "Bonn"]
[columns.id]
role = "person"
"""
AGES = ["30", "34", "", "41", "30"] * 2


def test_the_reader_finds_what_is_wrong_with_a_release(tmp_path):
    rows = "".join(f"{age},{'Ulm' if n else 'Bonn'},{n}\n" for n, age in enumerate(AGES))
    (tmp_path / "t.csv").write_text("age,town,id\n" + rows)
    (tmp_path / "t.toml").write_text(TOML)
    (tmp_path / "hierarchies/default").mkdir(parents=True)
    (tmp_path / "hierarchies/default/town.csv").write_text("Ulm;south;*\nBonn;west;*\n")
    reader = bench_tables.Reader(tmp_path / "t.toml")

    def fault(ages, towns):
        return reader.fault(pd.DataFrame({"age": ages, "town": towns}), {"age": "generalized", "town": "generalized"})

    towns, good = ["*"] * 10, ["30-34" if age in ("30", "34") else "*" for age in AGES]
    south = ["west", *["south"] * 9]
    assert fault(good, towns) == "k is 4, not 5"
    assert fault(["*"] * 10, towns) == ""
    assert fault(["*"] * 10, south) == "k is 1, not 5"
    assert fault(["*"] * 10, ["south"] * 10) == "the label 'south' of 'town' does not cover 'Bonn'"
    assert fault(["30-40"] * 2 + ["?"] + ["30-40"] * 7, towns).startswith("the label '30-40' of 'age' does not cover")
    assert fault([float(age or "nan") for age in AGES], towns) == "k is 2, not 5"
    assert fault([1e-7] * 10, towns).startswith("the label 1e-07 of 'age' does not cover")
    assert fault(["*"] * 9, towns[:9]) == "9 rows for 10 records; it publishes no key"
    assert reader.fault(pd.DataFrame({"id": range(10)}), {"id": "exact"}).endswith("it publishes {'id'}")
    reader.records["id"] = "one"
    assert fault(["*"] * 10, towns) == "k is 1, not 5"  # of people, not of rows


def test_the_truth_says_what_each_column_is():
    truth = pd.read_csv(bench_tables.HERE / "public_tables.csv", dtype=str)
    assert (truth.table.nunique(), truth.duplicated(["table", "column"]).any()) == (100, False)
    columns = truth[truth["column"] != "*"]
    kinds = "number category boolean date time year code text identifier coordinate constant".split()
    assert {*columns.kinds.str.split("|").explode()} <= {*kinds}
    keys = truth[truth["column"] == "*"].set_index("table").kinds
    for table, kind in keys.items():
        named = {key for each in kind.split("|") for key in each.removeprefix("person:").split("+")} - {"one row each"}
        assert named <= {*columns["column"][columns.table == table]}, table
