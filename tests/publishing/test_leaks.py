"""Whatever shows a single person is found in every place where it can hide; what shows groups passes."""

import base64
import html
import json
from itertools import chain
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from support.leak_audit import scan
from support.naming import naming

from privnb.publishing import leaks
from privnb.publishing.leaks import Leak

CANARY = "CANARY-0042"
REGIONS = ["north", "east", "south", "west"]
EDUCATION = ["primary", "secondary", "college degree", "doctorate"]
JOBS = ["baker", "clerk", "nurse", "farmer", "tech support"]
V5 = "application/vnd.vegalite.v5+json"
WIDGETS = "application/vnd.jupyter.widget-state+json"


def people(n=400):
    rng = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "sex": rng.choice(["Female", "Male"], n),
            "region": rng.choice(REGIONS, n),
            "education": rng.choice(EDUCATION, n),
            "job": rng.choice(JOBS, n),
            "income": rng.integers(100, 900, n) * 100,
        }
    )


ORIGINAL = people()
RELEASED = ORIGINAL.assign(
    age=(ORIGINAL.age // 20 * 20).map(lambda low: f"{low}-{low + 19}"), region="*", education="*", sex="*"
).drop(columns="income")
ROWS = ORIGINAL.head(20)
RECORDS = ROWS.to_dict("records")
AGES = ORIGINAL.age.value_counts().sort_index().rename_axis("age").rename("people").reset_index()
GRID = ORIGINAL.groupby(["age", "education"]).size().rename("people").reset_index()
GROUP_VALUES = {name: sorted(ORIGINAL[name].unique().tolist()) for name in ("age", "sex", "region", "education", "job")}
GROUPS = ORIGINAL.groupby(["sex", "region"]).size().rename("people").reset_index()
RESULTS = pd.DataFrame(
    {
        "dataset": "made-up", "sanitizer": "KMember", "parameters": [f"k={k}" for k in range(2, 42)], "seed": 1,
        "measure": "good_utility", "miner": "NaiveBayes", "target": "job", "value": np.linspace(1, 7, 40),
        "low": 1.0, "high": 9.0, "baseline": 3.0, "better": "higher",
    }
)  # fmt: skip
assert (AGES.people < 10).any()
assert (GRID.people < 10).all()
assert (GROUPS.people >= 10).all()


@pytest.fixture
def found(tmp_path):
    """`found(name, text)`: what a scan finds in such a file; planted values and the original are known to it."""

    def write_and_scan(name, text, **options):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return scan(path, **({"original": ORIGINAL, "released": [RELEASED], "canaries": [CANARY]} | options))

    return write_and_scan


def kinds(leaks):
    return {leak.what for leak in leaks}


CROWD, RAW, FEW = "more than 12 record-like rows", "raw record", "fewer than 10 people"
WORD, TOGETHER = "planted value", "planted combination of values"


# --- Notebooks and pages, each with something hidden in one place ---


def notebook(output=None, *, source="1 + 1", cell=None, metadata=None, attachments=None):
    code = new_code_cell(source, metadata=cell or {})
    text = new_markdown_cell("# A question")
    if attachments:
        text["attachments"] = attachments
    whole = new_notebook(cells=[text, code], metadata=metadata or {})
    code["outputs"] = [output] if output else []  # not sooner: nbformat refuses the type that Altair 6 writes
    return json.dumps(whole)


def mime(kind, data):
    return notebook({"output_type": "display_data", "data": {kind: data}, "metadata": {}})


def chart(records):
    return {"mark": "bar", "data": {"name": "data-3"}, "datasets": {"data-3": records}, "encoding": {}}


def widgets(state):
    models = {"4f1": {"model_name": "HTMLModel", "model_module": "@jupyter-widgets/controls", "state": state}}
    return {"widgets": {WIDGETS: {"state": models, "version_major": 2}}}


def page(body):
    return f"<!DOCTYPE html><html><head><title>Report</title></head><body>{body}</body></html>"


def encoded(text):
    return base64.b64encode(text.encode()).decode()


RAW_JSON = json.dumps(RECORDS)
TEXT_PLACES = {
    "source": ("a.ipynb", lambda t: notebook(source=f"row = '{t}'")),
    "cell metadata": ("a.ipynb", lambda t: notebook(cell={"note": {"deep": [t]}})),
    "notebook metadata": ("a.ipynb", lambda t: notebook(metadata={"authors": [{"name": t}]})),
    "papermill parameters": ("a.ipynb", lambda t: notebook(metadata={"papermill": {"parameters": {"WHO": t}}})),
    "papermill path": ("a.ipynb", lambda t: notebook(metadata={"papermill": {"input_path": f"/data/{t}.ipynb"}})),
    "metadata key": ("a.ipynb", lambda t: notebook(metadata={"seen": {t: 1}})),
    "attachment": ("a.ipynb", lambda t: notebook(attachments={"a.txt": {"text/plain": encoded(f"a note about {t}")}})),
    "stream": ("a.ipynb", lambda t: notebook(new_output("stream", name="stderr", text=f"reading {t}\n"))),
    "traceback": (
        "a.ipynb",
        lambda t: notebook(new_output("error", ename="KeyError", evalue="?", traceback=["x", f"\x1b[31m{t}\x1b[0m"])),
    ),
    "error value": ("a.ipynb", lambda t: notebook(new_output("error", ename="KeyError", evalue=t, traceback=[]))),
    "output metadata": (
        "a.ipynb", lambda t: notebook(new_output("display_data", data={"text/plain": ""}, metadata={"about": t}))
    ),
    "text/plain": ("a.ipynb", lambda t: mime("text/plain", f"name    {t}")),
    "text/html": ("a.ipynb", lambda t: mime("text/html", f"<p>of <b>{t}</b></p>")),
    "table": ("a.ipynb", lambda t: mime("text/html", f"<table><tr><td>1</td><td>{t}</td></tr></table>")),
    "chart": ("a.ipynb", lambda t: mime(V5, chart([{"x": 1, "unused": t}]))),
    "chart of another version": ("a.ipynb", lambda t: mime("application/vnd.vega.v9.json", chart([{"x": t}]))),
    "chart of inline text": ("a.ipynb", lambda t: mime(V5, {"data": {"values": f"x,y\n1,{t}"}})),
    "chart data name": ("a.ipynb", lambda t: mime(V5, {"datasets": {t: [{"x": f"much more about {t}"}]}})),
    "chart description": ("a.ipynb", lambda t: mime(V5, {"description": t, "mark": "bar"})),
    "widget state": ("a.ipynb", lambda t: notebook(metadata=widgets({"value": t}))),
    "widget JSON": ("a.ipynb", lambda t: notebook(metadata=widgets({"value": json.dumps({"rows": [{"a": t}]})}))),
    "widget HTML": ("a.ipynb", lambda t: notebook(metadata=widgets({"value": f"<p title='{t}'>x</p>"}))),
    "widget buffer": (
        "a.ipynb", lambda t: notebook(metadata=widgets({"buffers": [{"data": encoded(f"some\0bytes\0{t}\0\0\0")}]}))
    ),
    "binary widget buffer": (
        "a.ipynb",
        lambda t: notebook(metadata=widgets({"b": base64.b64encode(b"\xff\xfe\x00ARROW1\x00" + t.encode()).decode()})),
    ),
    "SVG label": ("a.ipynb", lambda t: mime("image/svg+xml", f'<svg><path aria-label="name: {t}; x: 1"/></svg>')),
    "SVG title": ("a.svg", lambda t: f"<svg><g><title>{t}</title></g></svg>"),
    "SVG text": ("a.svg", lambda t: f"<svg><text x='1'><tspan>{t}</tspan></text></svg>"),
    "script": ("a.html", lambda t: page(f"<script>const rows = [['{t}']];</script>")),
    "script JSON": ("a.html", lambda t: page(f'<script type="application/json">{{"a": ["{t}"]}}</script>')),
    "style": ("a.html", lambda t: page(f"<style>p::after {{ content: '{t}' }}</style>")),
    "comment": ("a.html", lambda t: page(f"<!-- made from {t} -->")),
    "attribute": ("a.html", lambda t: page(f"<p data-row='{t}'>x</p>")),
    "class": ("a.html", lambda t: page(f"<p class='x {t}'>x</p>")),
    "link": ("a.html", lambda t: page(f"<a href='rows/{t}.html'>more</a>")),
    "frame": ("a.html", lambda t: page(f"<iframe srcdoc='{html.escape(f'<p>{t}</p>')}'></iframe>")),
    "data address": ("a.html", lambda t: page(f"<img src='data:image/svg+xml;base64,{encoded(f'<svg>{t}</svg>')}'>")),
    "data address, escaped": ("a.html", lambda t: page(f"<a href='data:text/csv,{quote(f'a,b;{t}', safe='')}'>x</a>")),
    "declaration": ("a.html", lambda t: f'<!DOCTYPE html SYSTEM "{t}"><p>x</p>'),
    "CDATA": ("a.svg", lambda t: f"<svg><metadata><![CDATA[ {t} ]]></metadata></svg>"),
    "unfinished table": ("a.html", lambda t: f"<table><tr><td>{t}"),
    "CSV": ("a.csv", lambda t: f"dataset,value\nx,{t}\n"),
    "JSON": ("a.json", lambda t: json.dumps({"a": {"b": [t]}})),
    "text": ("a.txt", lambda t: f"see {t}"),
    "old notebook": ("a.ipynb", lambda t: json.dumps({"worksheets": [{"cells": [{"input": t}]}]})),
    "unknown key": ("a.ipynb", lambda t: json.dumps({"cells": [{"outputs": [{"png": t}], "prompt": 1}]})),
    "broken notebook": ("a.ipynb", lambda t: f'{{"cells": [{t}'),
}  # fmt: skip


@pytest.mark.parametrize(("name", "hide"), TEXT_PLACES.values(), ids=TEXT_PLACES)
def test_planted_value_is_found_wherever_it_hides(name, hide, found):
    leaks = found(name, hide(CANARY), original=None)
    assert WORD in kinds(leaks)
    assert all(leak.file == name for leak in leaks)
    assert not any(CANARY.casefold() in str(leak).casefold() for leak in leaks), "the report repeats the leak"
    assert found(name, hide("harmless-7"), original=None) == []


ENCODINGS = {
    "HTML decimal": lambda t: "".join(f"&#{ord(c)};" for c in t),
    "HTML hexadecimal": lambda t: "".join(f"&#x{ord(c):X};" for c in t),
    "JSON escapes": lambda t: "".join(f"\\u{ord(c):04x}" for c in t),
    "escaped escapes": lambda t: "".join(f"\\\\u{ord(c):04X}" for c in t),
    "Python escapes": lambda t: "".join(f"\\x{ord(c):02x}" for c in t),
    "address": lambda t: "".join(f"%{ord(c):02X}" for c in t),
    "base64": lambda t: encoded(f"this says {t} and more"),
    "base64 for addresses": lambda t: base64.urlsafe_b64encode(f"?>?>?> {t} ~~~".encode()).decode(),
    "base64 twice": lambda t: encoded(encoded(f"this says {t} and more")),
    "base64 of escapes": lambda t: encoded("".join(f"\\u{ord(c):04x}" for c in t)),
    "escapes of entities": lambda t: "".join(f"\\u0026#{ord(c)};" for c in t),
    "lower case": str.lower,
}


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
def test_planted_value_is_found_however_it_is_written(encode, found):
    for name in ("text/html", "stream", "script", "comment", "attribute", "widget state", "chart", "text"):
        file, hide = TEXT_PLACES[name]
        with naming(name):
            assert WORD in kinds(found(file, hide(encode(CANARY)), original=None))


def test_numbers_as_planted_values_stand_alone(found):
    assert WORD in kinds(found("a.json", '{"id": 104233}', canaries=["104233"]))
    assert found("a.json", '{"x": [1042331, 10.104233, "104233.7"]}', canaries=["104233"]) == []


RARE = (79, "doctorate", "farmer")
TOGETHER_IN = {
    "record": ("a.json", json.dumps([{"who": 1, "age": 79, "education": "doctorate", "job": "farmer"}])),
    "chart": ("a.ipynb", mime(V5, chart([{"years": 79.0, "e": "doctorate", "job": "farmer"}]))),
    "HTML row": ("a.html", page("<table><tr><td>79<td>doctorate<td>north<td>farmer</table>")),
    "CSV row": ("a.csv", "x,y,z,age\nfarmer,4,doctorate,79\n"),
    "text": ("a.ipynb", mime("text/plain", "0   79  Female   doctorate   farmer")),
    "tuple": ("a.ipynb", notebook(new_output("stream", text="(np.int64(79), 'doctorate', 'farmer')"))),
    "one of many tuples": ("a.txt", str([(np.int64(79), "doctorate", "farmer"), *[(20, "primary", "nurse")] * 50])),
    "label": ("a.svg", "<svg><path aria-label='age: 79; education: doctorate; job: farmer'/></svg>"),
    "text mark": ("a.svg", "<svg><text>farmer, 79, doctorate</text></svg>"),
    "series": ("a.json", json.dumps({"age": 79, "education": "doctorate", "job": "farmer"})),
}


@pytest.mark.parametrize(("name", "text"), TOGETHER_IN.values(), ids=TOGETHER_IN)
def test_planted_combination_is_found_in_one_row(name, text, found):
    assert TOGETHER in kinds(found(name, text, canaries=[RARE], original=None))
    assert TOGETHER not in kinds(found(name, text, canaries=[(*RARE, "west")], original=None))


def test_values_of_a_planted_combination_may_stand_apart(found):
    rows = [{"group": value, "people": 100} for value in RARE]
    assert found("a.ipynb", mime(V5, chart(rows)), canaries=[RARE]) == []
    assert found("a.json", json.dumps({"domain": [*RARE]}), canaries=[(179, "doctorate")]) == []


# --- Records ---


def wrapped(frame):
    with pd.option_context("display.width", 30, "display.max_columns", 20, "display.max_rows", 100):
        return repr(frame)


RENAMED = ROWS.set_axis(["Years", "Gender", "Where", "School", "Work", "Pay"], axis=1)
NOTES = pd.DataFrame({f"note {name}": "a note" for name in ROWS}, index=ROWS.index)
MIXED = [*chain.from_iterable(zip(ROWS, NOTES, strict=True))]
RECORD_PLACES = {
    "chart dataset": ("a.ipynb", mime(V5, chart(RECORDS))),
    "chart values": ("a.ipynb", mime("application/vnd.vegalite.v6.json", {"data": {"values": RECORDS}})),
    "chart in a layer": ("a.ipynb", mime(V5, {"vconcat": [{"layer": [{"data": {"values": RECORDS}}]}]})),
    "chart as CSV": ("a.ipynb", mime(V5, {"data": {"values": ROWS.to_csv(index=False)}})),
    "chart as an address": (
        "a.ipynb", mime(V5, {"data": {"url": f"data:text/csv;base64,{encoded(ROWS.to_csv(index=False))}"}})
    ),
    "chart as an escaped address": (
        "a.ipynb", mime(V5, {"data": {"url": f"data:text/csv,{quote(ROWS.to_csv(index=False))}"}})
    ),
    "by column": ("a.json", json.dumps(ROWS.to_dict("list"))),
    "by column and label": ("a.json", ROWS.to_json()),
    "by row": ("a.json", ROWS.to_json(orient="index")),
    "split": ("a.json", ROWS.to_json(orient="split")),
    "values": ("a.json", ROWS.to_json(orient="values")),
    "lines": ("a.txt", ROWS.to_json(orient="records", lines=True)),
    "features": ("a.json", json.dumps({"features": [{"type": "Feature", "properties": row} for row in RECORDS]})),
    "widget state": ("a.ipynb", notebook(metadata=widgets({"rows": RECORDS}))),
    "widget JSON": ("a.ipynb", notebook(metadata=widgets({"value": json.dumps(RECORDS)}))),
    "widget buffer": ("a.ipynb", notebook(metadata=widgets({"buffers": [{"data": encoded(RAW_JSON)}]}))),
    "cell metadata": ("a.ipynb", notebook(cell={"cache": RECORDS})),
    "to_html": ("a.ipynb", mime("text/html", ROWS.to_html())),
    "to_html without index": ("a.html", page(ROWS.to_html(index=False))),
    "to_html turned": ("a.html", page(ROWS.T.to_html())),
    "to_html stacked": ("a.html", page(ROWS.stack().to_frame("made up").assign(other="*").to_html())),
    "to_html renamed": ("a.html", page(RENAMED.to_html())),
    "style": ("a.ipynb", mime("text/html", ROWS.style.to_html())),
    "to_string": ("a.ipynb", mime("text/plain", ROWS.to_string())),
    "to_string renamed": ("a.ipynb", mime("text/plain", RENAMED.to_string(header=False))),
    "broken into blocks": ("a.ipynb", notebook(new_output("stream", text=f"the rows:\n\n{wrapped(ROWS)}\n"))),
    "broken into blocks, mixed": ("a.txt", wrapped(pd.concat([ROWS, NOTES], axis=1)[MIXED])),
    "to_csv": ("a.ipynb", notebook(new_output("stream", text=ROWS.to_csv()))),
    "pre": ("a.html", page(f"<pre>{html.escape(ROWS.to_string())}</pre>")),
    "markdown": ("a.ipynb", notebook(source="\n".join("| " + " | ".join(map(str, row)) + " |" for row in ROWS.values))),
    "LaTeX": ("a.ipynb", mime("text/latex", "\n".join(" & ".join(map(str, row)) + r" \\" for row in ROWS.values))),
    "data attributes": (
        "a.html",
        page("".join("<p " + " ".join(f"data-{k}='{v}'" for k, v in row.items()) + "></p>" for row in RECORDS)),
    ),
    "tuples": ("a.ipynb", notebook(new_output("stream", text=str([*ROWS.itertuples(name=None)])))),
    "dictionaries": ("a.ipynb", notebook(source=f"rows = {RECORDS}")),
    "script JSON": ("a.html", page(f'<script type="application/json">{RAW_JSON}</script>')),
    "script": ("a.html", page(f"<script>const spec = {json.dumps(chart(RECORDS))}; draw(spec);</script>")),
    "frame": ("a.html", page(f'<iframe srcdoc="{html.escape(ROWS.to_html())}"></iframe>')),
    "attribute": ("a.html", page(f'<div data-rows="{html.escape(RAW_JSON)}"></div>')),
    "comment": ("a.html", page(f"<!-- {ROWS.to_html()} -->")),
    "data address": ("a.html", page(f"<img src='data:text/html;base64,{encoded(ROWS.to_html())}'>")),
    "CSV": ("a.csv", ROWS.to_csv(index=False)),
    "CSV with semicolons": ("a.csv", ROWS.to_csv(sep=";")),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text"), RECORD_PLACES.values(), ids=RECORD_PLACES)
def test_twenty_records_are_found_wherever_they_hide(name, text, found):
    leaks = found(name, text)
    assert {CROWD, RAW} <= kinds(leaks)
    assert not any(value in str(leak) for leak in leaks for value in ROWS.income.astype(str))


@pytest.mark.parametrize("name", ["chart dataset", "to_html", "to_string", "CSV", "split", "by row", "widget JSON"])
def test_records_are_found_without_the_original(name, found):
    file, text = RECORD_PLACES[name]
    assert CROWD in kinds(found(file, text, original=None, released=()))


ONE = ORIGINAL.iloc[33]
ONE_RECORD = {
    "traceback, tuple": new_output("error", ename="E", evalue=str(tuple(ONE)), traceback=[]),
    "traceback, named": new_output(
        "error", ename="E", evalue="", traceback=["failed at", str(next(ORIGINAL.itertuples()))]
    ),
    "traceback, series": new_output("error", ename="E", evalue="", traceback=["---", f"KeyError: {ONE}\n"]),
    "stream": new_output("stream", text=" ".join(map(str, ONE))),
    "head": new_output("execute_result", data={"text/html": ORIGINAL.head(3).to_html()}),
    "vertical": new_output("execute_result", data={"text/html": ONE.to_frame().to_html()}),
    "dictionary": new_output("stream", text=json.dumps(ONE.to_dict(), default=int)),
    "list of terms": new_output(
        "display_data",
        data={"text/html": "<dl>" + "".join(f"<dt>{k}</dt><dd>{v}</dd>" for k, v in ONE.items()) + "</dl>"},
    ),
    "chart": new_output("display_data", data={V5: chart([ONE.astype(str).to_dict()])}),
    "with a predicted value": new_output("stream", text=(ORIGINAL.assign(predicted="baker").head(2).to_string())),
    "most of it": new_output("execute_result", data={"text/html": ORIGINAL.iloc[:2, 2:].to_html()}),
    "with its class size": new_output(
        "execute_result", data={"text/html": ORIGINAL.head(4).assign(people=25).to_html()}
    ),
}


@pytest.mark.parametrize("output", ONE_RECORD.values(), ids=ONE_RECORD)
def test_one_raw_record_is_a_leak(output, found, tmp_path):
    assert RAW in kinds(found("a.ipynb", notebook(output)))
    own = leaks.find_records(tmp_path / "a.ipynb", [leaks.Original(ORIGINAL, [])], leaks.Names({}))
    assert RAW in kinds(own), "what refuses an output finds it, too"


def test_a_dozen_released_rows_may_be_shown_but_no_more(found):
    shown = notebook(new_output("execute_result", data={
        "text/html": RELEASED.head(12).to_html(), "text/plain": RELEASED.head(12).to_string(),
    }))  # fmt: skip
    assert found("a.ipynb", shown) == []
    shown = notebook(new_output("execute_result", data={"text/html": RELEASED.head(13).to_html()}))
    assert kinds(found("a.ipynb", shown)) == {CROWD}
    assert found("a.ipynb", shown, rows=13) == []


def test_a_release_that_kept_a_record_as_it_is_may_show_it_if_many_released_rows_are_like_it(found):
    kept = ORIGINAL.head(5)
    alone, among = [RELEASED, kept], [RELEASED, pd.concat([kept] * 10)]
    renamed = page(kept.set_axis(list("uvwxyz"), axis=1).to_html())
    for shown in (page(kept.to_html()), renamed):
        for released in ([], alone):
            assert RAW in kinds(found("a.html", shown, released=released))
        assert found("a.html", shown, released=among) == []


def test_rows_of_a_release_with_many_sensitive_values_beside_them_are_records(found):
    """Two people share each combination of quasi-identifiers, as k = 2 asks, and nobody their sensitive values."""
    pairs = ORIGINAL.assign(age=ORIGINAL.age // 2 * 2, region="*").iloc[:12]
    assert RAW in kinds(found("a.html", page(pairs.to_html()), original=pairs.assign(region="north"), released=[pairs]))


def test_the_number_of_a_released_row_is_no_age(found):
    kept = ORIGINAL.drop(columns="age").head(12)
    for shown in (kept.set_index(kept.index * 0 + ORIGINAL.age[:12]), kept.set_index(ORIGINAL.age[:12].rename(None))):
        for text in (shown.to_string(header=False), shown.to_csv(header=False)):
            assert found("a.txt", text, released=[pd.concat([kept] * 10)]) == []


@pytest.mark.parametrize("columns", [["age"], ["age", "job"], ["region", "education", "job"]], ids="-".join)
def test_a_few_columns_of_all_records_are_records(columns, found):
    shown = ORIGINAL[columns].to_dict("records")
    assert CROWD in kinds(found("a.ipynb", mime(V5, chart(shown))))


def test_a_list_of_pairs_that_occur_is_none(found):
    pairs = ORIGINAL[["region", "job"]].drop_duplicates()
    assert len(pairs) > 12
    assert found("a.html", page(pairs.to_html())) == []


def test_numbers_alone_prove_little_without_names(found):
    numbers = pd.DataFrame({name: range(10, 50) for name in "abcd"})
    assert RAW in kinds(found("a.html", page(numbers.head().to_html()), original=numbers))
    assert found("a.txt", "12 12 12 12\n13, 13, 13, 13\n", original=numbers) == []


def test_of_many_attributes_three_may_stand_beside_a_measure(found):
    wide = pd.DataFrame({name: np.arange(101) for name in "abcdefgh"})
    assert found("a.html", page(wide[["a", "b", "c"]].assign(rate=0.5).to_html()), original=wide) == []
    assert found("a.html", page(wide[["a", "b", "c"]].describe().to_html()), original=wide) == []
    assert {CROWD, RAW} == kinds(found("a.html", page(wide[["a", "b", "c"]].to_html()), original=wide))
    assert {CROWD, RAW} == kinds(
        found("a.html", page(wide[["a", "b", "c", "d"]].assign(rate=0.5).to_html()), original=wide)
    )


def altair_chart(frame, **encoding):
    import altair as alt

    return alt.Chart(frame).mark_point().encode(**encoding).to_dict()


def drawn(spec):
    import vl_convert

    return vl_convert.vegalite_to_svg(spec)


def test_a_chart_of_raw_records_is_found_in_its_data_and_in_its_drawing(found):
    spec = altair_chart(ORIGINAL.head(60), x="age", y="income", color="sex", shape="job")
    leaks = found("a.ipynb", mime(V5, spec))
    assert {CROWD, RAW} == kinds(leaks)  # the columns that are not drawn included
    assert all("chart data 'data-" in leak.place for leak in leaks)
    svg = drawn(spec)
    for name, text in (
        ("a.svg", svg),
        ("b.html", page(f"<figure>{svg}</figure>")),
        ("c.ipynb", mime("image/svg+xml", svg)),
    ):
        leaks = found(name, text)
        assert {CROWD, RAW} == kinds(leaks), name
        assert all("labels" in leak.place for leak in leaks)


@pytest.mark.slow
def test_a_chart_of_two_raw_columns_is_found(found):
    spec = altair_chart(ORIGINAL[["age", "job"]], x="age", y="job")
    assert CROWD in kinds(found("a.ipynb", mime(V5, spec)))
    assert CROWD in kinds(found("a.svg", drawn(spec)))


def test_counts_that_vega_makes_are_read_from_its_labels(found):
    import altair as alt

    few = alt.Chart(ORIGINAL[["age"]].head(30)).mark_bar().encode(x=alt.X("age", bin=True), y="count()").to_dict()
    assert FEW in kinds(found("a.svg", drawn(few)))
    many = alt.Chart(ORIGINAL[["sex"]]).mark_bar().encode(x="sex", y="count()").to_dict()
    assert found("a.svg", drawn(many)) == []


# --- Small counts ---

SMALL = [{"age": 85, "people": 120}, {"age": 86, "people": 1}]
AGED = ORIGINAL.groupby("age")
SMALL_COUNTS = {
    "chart": ("a.ipynb", mime(V5, chart(SMALL))),
    "widget state": ("a.ipynb", notebook(metadata=widgets({"cells": GRID.head(365).to_dict("records")}))),
    "widget JSON": ("a.ipynb", notebook(metadata=widgets({"v": json.dumps({"cells": GRID.to_dict("records")})}))),
    "grid": ("a.html", page(GRID.to_html())),
    "label": ("a.svg", "<svg><path aria-label='age: 86; people: 1'/></svg>"),
    "label in a page": ("a.html", page("<svg><path aria-label='years: 86; number of people: 9'/></svg>")),
    "title": ("a.svg", "<svg><g><title>age: 86; Count of Records: 3</title></g></svg>"),
    "lonely label": ("a.svg", "<svg><path aria-label='persons: 4'/></svg>"),
    "HTML": ("a.html", page(pd.DataFrame(SMALL).to_html())),
    "HTML, indexed": ("a.html", page(pd.DataFrame(SMALL).set_index("age").to_html())),
    "styled": ("a.html", page("<table><tr><th>group</th><th>People</th></tr><tr><th>x</th><td>3.0</td></tr></table>")),
    "turned": ("a.html", page(pd.DataFrame(SMALL).set_index("age").T.to_html())),
    "rate beside people": ("a.csv", "group,rate,people\nx,0.5,4\n"),
    "CSV": ("a.csv", "group,n\nx,4\ny,400\n"),
    "text": ("a.ipynb", mime("text/plain", pd.DataFrame(SMALL).to_string())),
    "text, indexed": ("a.ipynb", mime("text/plain", AGED.agg(people=("sex", "size")).to_string())),
    "value_counts": ("a.ipynb", mime("text/plain", repr(ORIGINAL.age.value_counts()))),
    "value_counts of pairs": ("a.ipynb", mime("text/plain", repr(ORIGINAL[["age", "job"]].value_counts()))),
    "size": ("a.ipynb", mime("text/plain", repr(AGED.size()))),
    "size, as a frame": ("a.json", AGED.size().reset_index().to_json(orient="records")),
    "size of pairs": ("a.ipynb", mime("text/html", ORIGINAL.groupby(["age", "sex"]).agg(n=("job", "size")).to_html())),
    "crosstab": ("a.ipynb", mime("text/html", pd.crosstab(ORIGINAL.age, ORIGINAL.education).to_html())),
    "crosstab in text": ("a.ipynb", mime("text/plain", pd.crosstab(ORIGINAL.job, ORIGINAL.age // 1).T.to_string())),
    "crosstab with totals": ("a.html", page(pd.crosstab(ORIGINAL.age, ORIGINAL.sex, margins=True).to_html())),
    "by column": ("a.json", json.dumps({"age": [85, 86], "people": [120, 1]})),
    "results": ("a.csv", "dataset,measure,value\nx,records,7\n"),
    "split": ("a.json", pd.DataFrame(SMALL).to_json(orient="split", index=False)),
    "wide heading": ("a.html", page("<table><tr><th>People<th colspan=2>Rate</tr><tr><td>3<td>.1<td>.2</table>")),
    "summary in text": ("a.txt", "suppressed records    3\nclasses    20\n"),
    "summary": ("a.html", page("<table><tr><td>suppressed records</td><td>3</td></tr></table>")),
    "markdown": ("a.ipynb", notebook(source="| age | people |\n|---|---|\n| 86 | 1 |")),
}


@pytest.mark.parametrize(("name", "text"), SMALL_COUNTS.values(), ids=SMALL_COUNTS)
def test_a_count_of_a_few_people_is_found(name, text, found):
    assert FEW in kinds(found(name, text))


@pytest.mark.parametrize(("people", "leak"), [(0, False), (1, True), (9, True), (10, False), ("fewer than 10", False)])
def test_where_a_few_people_begin(people, leak, found):
    shown = mime(V5, chart([{"age": 86, "people": people}]))
    assert (FEW in kinds(found("a.ipynb", shown))) == leak
    assert found("a.ipynb", shown, min_count=1) == []


# --- What may be shown ---

BANDS = pd.DataFrame({"group": [f"{a}-{a + 4}" for a in range(17, 92)], "people": range(10, 85)})
LEDGER = pd.DataFrame(
    {
        "source": "sramka-2010", "item": [f"table1/row{i}" for i in range(40)], "published": "5", "measured": 4.0,
        "difference": -1.0, "tolerance": 0.0, "status": "differs", "note": "Male and Female in the north; 3 seeds",
    }
)  # fmt: skip
MATRIX = pd.DataFrame(
    np.arange(60).reshape(15, 4),
    index=[f"miner {i}" for i in range(15)],
    columns=[f"KMember k={k}" for k in (2, 5, 9, 20)],
)
DESCRIPTION = [
    {"name": name, "role": "quasi-identifier", "domain": sorted(map(str, ORIGINAL[name].unique())), "unit": ""}
    for name in ORIGINAL
]
LEGITIMATE = {
    "results": ("results.csv", RESULTS.to_csv(index=False)),
    "results in a page": ("a.html", page(RESULTS.to_html())),
    "results in text": ("a.ipynb", mime("text/plain", RESULTS.to_string())),
    "ledger": ("ledger.csv", LEDGER.to_csv(index=False)),
    "ledger in a page": ("index.html", page(LEDGER.to_html())),
    "chart of 75 bands": ("a.ipynb", mime(V5, chart(BANDS.to_dict("records")))),
    "chart of two groups": ("a.ipynb", mime(V5, chart(GROUPS.to_dict("records")))),
    "two groups in text": ("a.ipynb", mime("text/plain", GROUPS.to_string())),
    "two groups, indexed": ("a.ipynb", mime("text/plain", repr(ORIGINAL.groupby(["sex", "region"]).size()))),
    "crosstab": ("a.html", page(pd.crosstab(ORIGINAL.sex, ORIGINAL.region).to_html())),
    "three groups with counts": (
        "a.html", page(people(20_000).groupby(["sex", "region", "job"]).size().rename("people").reset_index().to_html())
    ),
    "rates by group": ("a.html", page(GROUPS.assign(rate=1.0, people=50).to_html())),
    "spread of numbers": ("a.html", page(ORIGINAL.assign(years=ORIGINAL.age).describe().to_html())),
    "spread of numbers, turned": ("a.ipynb", mime("text/plain", ORIGINAL.describe().T.to_string())),
    "sizes of marks": (
        "a.ipynb", mime(V5, {"layer": [{"mark": {"type": t, "size": 2}} for t in ("bar", "tick")], "config": {"n": 2}})
    ),
    "matrix of results": ("a.html", page(MATRIX.to_html())),
    "parameters": (
        "a.ipynb", notebook(metadata={"papermill": {"parameters": {"RECORDS": 5, "N": 3, "K": "2,10", "SEEDS": 2}}})
    ),
    "parameters in a page": (
        "a.html",
        page("<table><tr><th>Name<th>Value<th>Meaning</tr>" + "<tr><td>RECORDS<td>5<td>all</tr>" * 20 + "</table>"),
    ),
    "domain sizes": ("a.ipynb", mime("text/plain", repr(ORIGINAL.nunique()))),
    "domain sizes, chart": (
        "a.ipynb", mime(V5, chart([{"attribute": name, "values": 4} for name in ORIGINAL]))
    ),
    "description": ("a.json", json.dumps(DESCRIPTION)),
    "description in text": ("a.ipynb", notebook(new_output("stream", text=str(DESCRIPTION)))),
    "all values in a line": ("a.txt", ", ".join(map(str, chain.from_iterable(GROUP_VALUES.values())))),
    "unfinished markup": ("a.ipynb", notebook(new_output("stream", text="smaller <p and smaller <table x"))),
    "taxonomy": ("a.csv", "".join(f"{e};{'higher' if 'd' in e[-6:] else 'school'};*\n" for e in EDUCATION)),
    "summary": ("a.html", page("<table><tr><td>records<td>45,222</tr><tr><td>people<td>0</table>")),
    "withheld": ("a.html", page("<table><tr><th>age<th>people</tr><tr><td>86<td>fewer than 10</tr></table>")),
    "share of people": ("a.svg", "<svg><path aria-label='known: 8; share of people who are unique: 1'/></svg>"),
    "axis": (
        "a.svg",
        "<svg><g aria-label=\"Y-axis titled 'people' for a discrete scale with 1 value: 5\"><text>5</text></g></svg>",
    ),
    "prose": ("a.html", page("<p>A guess reaches 40 % of the 18 people; a nurse, Female, in the north is none.</p>")),
    "code": ("a.ipynb", notebook(source="charts.people(dataset.table.age.value_counts(), 'age')\nk = [2, 10]")),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text"), LEGITIMATE.values(), ids=LEGITIMATE)
def test_groups_and_results_pass(name, text, found):
    known = people(20_000) if "three groups" in text or text.count("<tr") == 41 else ORIGINAL
    assert found(name, text, original=known) == []


@pytest.mark.parametrize("name", [name for name in LEGITIMATE if name != "three groups with counts"])
def test_groups_and_results_pass_without_the_original(name, found):
    assert found(*LEGITIMATE[name], original=None, released=()) == []


def test_a_drawn_chart_of_groups_passes(found):
    spec = altair_chart(BANDS, x="group", y="people")
    assert found("a.ipynb", mime(V5, spec)) == []
    assert found("a.svg", drawn(spec)) == []


@st.composite
def aggregates(draw):
    names = draw(st.lists(st.sampled_from([*GROUP_VALUES]), min_size=1, max_size=2, unique=True))
    keys = draw(
        st.lists(st.tuples(*(st.sampled_from(GROUP_VALUES[n]) for n in names)), min_size=1, max_size=30, unique=True)
    )
    counts = draw(st.lists(st.integers(10, 50_000), min_size=len(keys), max_size=len(keys)))
    share = draw(st.floats(0, 1))
    return pd.DataFrame(keys, columns=names).assign(people=counts, rate=share)


@given(aggregates(), st.sampled_from(["chart", "html", "text", "csv"]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_groups_of_ten_and_more_are_never_reported(found, table, form):
    name, text = {
        "chart": lambda: ("a.ipynb", mime(V5, chart(table.to_dict("records")))),
        "html": lambda: ("a.html", page(table.to_html())),
        "text": lambda: ("a.ipynb", mime("text/plain", table.to_string())),
        "csv": lambda: ("a.csv", table.to_csv(index=False)),
    }[form]()
    assert found(name, text) == []


# --- The call itself ---


def test_a_folder_is_scanned_file_by_file(tmp_path):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "a.ipynb").write_text(TEXT_PLACES["stream"][1](CANARY), encoding="utf-8")
    (tmp_path / "index.html").write_text(page("nothing"), encoding="utf-8")
    (tmp_path / f"{CANARY}.png").write_bytes(b"\x89PNG\r\n" + CANARY.encode())
    leaks = scan(tmp_path, canaries=[CANARY])
    assert [(leak.file, leak.place) for leak in leaks] == [
        ("….png", "file name"),
        ("….png", "text"),
        ("notebooks/a.ipynb", "cell 2, output 1, stderr"),
    ]


def test_the_place_is_named(found):
    leak = found("a.ipynb", mime(V5, chart(SMALL)))[0]
    assert leak == Leak(
        "a.ipynb", f"cell 2, output 1, {V5}, chart data 'data-3'", FEW, "1 counts of 'people', first in row 2"
    )
    assert "chart data 'data-3'" in str(leak)


def test_wrong_requests_are_refused(tmp_path):
    for canary in ("", (), ("x", "")):
        with pytest.raises(ValueError, match="must not be empty"):
            scan(tmp_path, canaries=[canary])
    with pytest.raises(FileNotFoundError, match="nothing to scan"):
        scan(tmp_path / "absent.html")


def test_missing_and_mixed_cells_in_the_original_do_no_harm(found):
    original = ORIGINAL.astype(object).assign(region=ORIGINAL.region.replace("north", None))
    original.index = [7] * len(original)
    assert RAW in kinds(found("a.html", page(original.head(3).to_html(index=False)), original=original))


def test_counts_by_attribute_are_no_record_although_their_numbers_are_ones(tmp_path):
    """One person has (3, 4, 2, 5). A column of these beside names is theirs only if no word of theirs is a number."""
    draw, words = np.random.default_rng(2), [f"word {n}" for n in range(6)]
    table = pd.DataFrame(draw.integers(1, 7, (200, 4)), columns=[*"abcd"])
    table = table[(table != [3, 4, 2, 5]).any(axis=1)]
    table.loc[0] = [3, 4, 2, 5]
    table = table.assign(**{name: draw.choice(["f", "m"], len(table)) for name in words})
    original = leaks.Original(table, [*"abcd"])
    for said, head, expected in (
        ([2] * 6, "values", []), (table.loc[0, words].tolist(), "values", ["raw record"]),
        (table.loc[0, words].tolist(), "different values", []),
    ):  # fmt: skip
        shown = pd.Series([3, 4, 2, 5, *said], [*"abcd", *words], name=head).to_frame()
        for name, text in (("a.html", page(shown.to_html())), ("a.ipynb", mime("text/plain", shown.to_string()))):
            (tmp_path / name).write_text(text)
            assert [leak.what for leak in leaks.find_records(tmp_path, [original], leaks.Names({}))] == expected
            (tmp_path / name).unlink()


def test_records_of_one_person_are_one_person():
    """Twelve records that are alike are nobody's own, unless they are of fewer than ten people."""
    table = pd.DataFrame({"town": ["Aton"] * 12, "sex": ["F"] * 12, "illness": ["gout"] * 12, "age": [41] * 12})
    for people, own in ((None, False), (np.arange(12), False), (np.repeat([0, 1, 2, 3], 3), True)):
        original = leaks.Original(table, ["town", "sex", "age"], people)
        assert leaks.find_personal_rows(table[:1], [original]).tolist() == [own]


@pytest.mark.parametrize("kind", [kind for kind in ENCODINGS if "base64" not in kind])
def test_a_name_is_found_however_it_is_written(kind):
    names = leaks.Names({"name": ["Zofie Hypothetica"]})
    assert [*names.found(f"of {ENCODINGS[kind]('Zofie')} Hypothetica, as asked")] == [
        ("name or identifier", "of the column 'name'")
    ]
    assert [*names.found(f"of {ENCODINGS[kind]('Zofia')} Hypothetica, as asked")] == []
