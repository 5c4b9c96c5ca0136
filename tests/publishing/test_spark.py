"""From frame to frame in Spark, in local mode: the release that files have, row for row as a multiset."""

import json
import re
from pathlib import Path

import duckdb
import numpy as np
import pytest
from pyarrow import parquet
from support import framed
from support.clinic import CLINIC

import privnb
from privnb.datasets import dataset
from privnb.datasets.dataset import load
from privnb.microdata.schema import SchemaError
from privnb.publishing.model_spec import parse_sanitizer
from privnb.sanitizers import KMember, SanitizationError


def facts(made):
    """What a provenance says of a release, whatever made it and when."""
    return {name: fact for name, fact in made.provenance.items() if name != "made"}


@pytest.fixture(scope="module")
def clinic(spark, tmp_path_factory):
    path = tmp_path_factory.mktemp("clinic") / "clinic.csv"
    load(CLINIC).table.assign(patient="x").to_csv(path, index=False)
    return spark.read.csv(str(path), header=True)


def test_a_frame_is_released_as_in_memory(clinic):
    """Mondrian's release stands beside that of a file, below."""
    data, model, algorithm = load(CLINIC), "k=3, t=0.4", "local recoding"
    made = privnb.sanitize(clinic, model, dataset=CLINIC, algorithm=algorithm)
    whole = parse_sanitizer(model, algorithm, data.schema).sanitize(data, rng=None)
    cells = whole.table.astype(object).where(whole.table.notna(), None)
    assert type(made.frame) is type(clinic)
    assert framed.rows(framed.read(made.frame)) == (
        [*cells],
        sorted(str(tuple(row)) for row in cells.to_numpy().tolist()),
    )
    assert made.provenance["columns"] == whole.provenance.public()["columns"]


def test_it_is_written_as_a_frame_is(clinic, tmp_path):
    made = privnb.sanitize(clinic, "k=5", dataset=CLINIC)
    made.frame.write.parquet(str(tmp_path / "release"))
    privnb.sanitize(CLINIC, "k=5", tmp_path / "out.parquet")
    with duckdb.connect() as connection:
        count = "select *, count(*) from read_parquet('{}') group by all order by all"
        one, other = (connection.sql(count.format(tmp_path / each)) for each in ("release/*.parquet", "out.parquet"))
        assert one.columns == other.columns
        assert one.fetchall() == other.fetchall()


def test_the_script_of_the_guide_runs(clinic, tmp_path, monkeypatch):
    """As it stands there, but for where the table and its description are."""
    monkeypatch.chdir(tmp_path)
    text = (dataset.PROJECT / "docs" / "how-to" / "cluster.md").read_text(encoding="utf-8")
    *_, code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    visits, release = str(tmp_path / "visits"), str(tmp_path / "release")  # Java has a current folder of its own
    clinic.write.parquet(visits)
    places = {"s3a://clinic/visits": visits, "s3a://clinic/release": release, '"visits.toml"': repr(str(CLINIC))}
    for there, here in {**places, "illness": "diagnosis", "k=10, t=0.2": "k=5, t=0.5"}.items():
        assert there in code
        code = code.replace(there, here)
    names = {}
    exec(compile(code, "cluster.md", "exec"), names)
    assert names["spark"].read.parquet(release).count() == 300
    facts = json.loads(Path("release.provenance.json").read_text())
    assert facts == json.loads(json.dumps(names["made"].provenance))


def test_columns_of_many_values_stay_with_their_records_in_an_order_of_what_the_rows_hold(spark, tmp_path):
    """Without a sort the records would stand in the order of the table."""
    table, path, found = framed.wide(), framed.described(tmp_path), []
    for order in (np.arange(300), np.random.default_rng(1).permutation(300)):
        given = {"dataset": path, "allow": "a test"}
        made = privnb.sanitize(spark.createDataFrame(table.take(order)), "k=5, frequency-l=1.2", **given)
        found.append(framed.in_order(made.frame))
    written, (_, rows) = framed.from_file(tmp_path, table, "k=5, frequency-l=1.2", path)
    assert sorted(map(str, found[0])) == rows
    assert found[0] == found[1]
    assert facts(made) | {"records_read": 300} == facts(written)
    assert made.frame.columns == parquet.read_schema(tmp_path / "out.parquet").names
    assert made.records == len(rows)


def test_records_that_lack_a_value_are_left_out(spark, tmp_path):
    path = framed.described(tmp_path, 'records_with_missing = "drop"')
    path.write_text(path.read_text().partition("[columns.nothing]")[0])
    table = framed.wide().drop_columns(["nothing"])
    made = privnb.sanitize(spark.createDataFrame(table), "k=5, frequency-l=1.2", dataset=path, allow="a test")
    written, rows = framed.from_file(tmp_path, table, "k=5, frequency-l=1.2", path)
    assert framed.rows(framed.read(made.frame)) == rows
    assert facts(made) | {"records_read": 300} == facts(written)
    assert made.records == len(rows[1]) < 300


def test_rows_that_stand_often_are_multiplied_in_the_engine(spark, tmp_path):
    rows = spark.createDataFrame(framed.wide().drop_columns(["score", "a `word`", "nothing"])[:40])
    many = rows.crossJoin(spark.range(5000).select())
    path = framed.described(tmp_path)
    path.write_text(path.read_text().partition("[columns.score]")[0])
    made = privnb.sanitize(many, "k=5", dataset=path)
    assert made.records == made.frame.count() == 200_000
    assert made.frame.distinct().count() <= made.combinations


def test_what_is_refused(clinic):
    with pytest.raises(SchemaError, match=r"no column 'ward'"):
        privnb.sanitize(clinic.drop("ward"), "k=5", dataset=CLINIC)
    with pytest.raises(SchemaError, match="`dataset` must name the description"):
        privnb.sanitize(clinic, "k=5")
    with pytest.raises(SanitizationError, match="works record by record"):
        privnb.sanitize(clinic, KMember(5), dataset=CLINIC)
    with pytest.raises(SchemaError, match=r"'age'.*outside"):
        privnb.sanitize(clinic.withColumn("age", clinic["age"] * 1000), "k=5", dataset=CLINIC)
