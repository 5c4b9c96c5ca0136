"""Whatever names a person of an owner's table, or is a rare combination of theirs, keeps an output from its place."""

import base64
import html
import json

import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from support.clinic import CLINIC, IDENTIFIER
from support.naming import naming

from privnb.datasets.dataset import load
from privnb.publishing import leaks
from privnb.publishing.leaks import Names
from privnb.reporting import rendering, report

NAME = f"{IDENTIFIER}0058"
RARE = {"age": 97, "weight": 187.5, "postcode": "04977", "region": "west"}
ROW = pd.DataFrame([RARE])
V6 = "application/vnd.vegalite.v6.json"


def notebook(output=None, **cell):
    code = new_code_cell("1 + 1", **cell)
    whole = new_notebook(cells=[new_markdown_cell("# A question"), code])
    code["outputs"] = [output] if output else []  # not sooner: nbformat refuses the type that Altair 6 writes
    return json.dumps(whole)


def shown(kind, data):
    return notebook({"output_type": "display_data", "data": {kind: data}, "metadata": {}})


def encoded(text):
    return base64.b64encode(text.encode()).decode()


NAMES = {
    "page": ("a.html", f"<p>of {NAME}</p>"),
    "comment": ("a.html", f"<!-- {NAME.lower()} --><p>x</p>"),
    "attribute": ("a.html", f"<p data-row='{NAME}'>x</p>"),
    "script": ("a.html", f"<script>const rows = [['{NAME}']];</script>"),
    "entities": ("a.html", "<p>" + "".join(f"&#{ord(c)};" for c in NAME) + "</p>"),
    "frame": ("a.html", f"<iframe srcdoc='{html.escape(f'<p>{NAME}</p>')}'></iframe>"),
    "address": ("a.html", f"<img src='data:image/svg+xml;base64,{encoded(f'<svg><text>{NAME}</text></svg>')}'>"),
    "drawing": ("a.svg", f"<svg><path aria-label='patient: {NAME}; x: 1'/></svg>"),
    "chart": ("a.ipynb", shown(V6, {"data": {"name": "d"}, "datasets": {"d": [{"x": 1, "unused": NAME}]}})),
    "output": ("a.ipynb", notebook(new_output("stream", name="stderr", text=f"reading {NAME}\n"))),
    "traceback": ("a.ipynb", notebook(new_output("error", ename="E", evalue="?", traceback=[f"\x1b[31m{NAME}"]))),
    "metadata": ("a.ipynb", notebook(metadata={"seen": {NAME: 1}})),
    "file name": (f"{NAME}.txt", "x"),
    "provenance": ("a.provenance.json", json.dumps({"note": f"without {NAME}"})),
    "table": ("a.csv", f"dataset,value\nx,{NAME}\n"),
}
RARE_IN = {
    "chart": ("a.ipynb", shown(V6, {"data": {"values": [RARE]}})),
    "frame": ("a.ipynb", shown("text/html", ROW.to_html())),
    "text": ("a.ipynb", shown("text/plain", ROW.to_string())),
    "three of them beside a number": ("a.html", ROW.drop(columns="age").assign(rate=0.5).to_html()),
    "label": ("a.svg", "<svg><path aria-label='age: 97; weight: 187.5; postcode: 04977; region: west'/></svg>"),
    "script": ("a.html", f"<script>draw({json.dumps({'values': [RARE]})})</script>"),
    "table": ("a.csv", ROW.to_csv(index=False)),
    "JSON": ("a.json", json.dumps({"group": RARE})),
    "upright": ("a.html", ROW.T.to_html()),
}


def refused(tmp_path, name, text, **asked):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(leaks.LeakError) as error:
        leaks.check_outputs(tmp_path, [CLINIC], **asked)
    return error.value


@pytest.mark.slow
@pytest.mark.parametrize(("name", "text"), NAMES.values(), ids=NAMES)
def test_a_name_is_found_wherever_it_hides_and_never_repeated(name, text, tmp_path):
    error = refused(tmp_path, name, text)
    assert {leak.what for leak in error.leaks} == {"name or identifier"}
    assert "column 'patient'" in str(error)
    assert NAME.casefold() not in str(error).casefold()


@pytest.mark.parametrize(("name", "text"), RARE_IN.values(), ids=RARE_IN)
def test_a_rare_combination_is_found_wherever_it_hides(name, text, tmp_path):
    error = refused(tmp_path, name, text)
    assert "rare combination of quasi-identifiers" in {leak.what for leak in error.leaks}
    assert "187.5" not in str(error)


def test_a_group_is_none(tmp_path):
    """Its values are rare nowhere, or it says of how many people it is, or it is of labels."""
    table = load(CLINIC).table
    groups = table.groupby(["region", "diagnosis"], observed=True).size().rename("people").reset_index()
    for name, text in {
        "a.html": groups[groups.people > 9].assign(rate=0.5).to_html(),
        "b.csv": table[["age", "weight"]].describe().to_csv(),
        "c.json": json.dumps({"age": "90-99", "weight": "170-190", "postcode": "04*", "region": "*"}),
        "d.txt": "the patient is CANARY-9999, and 0058 of them",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    leaks.check_outputs(tmp_path, [CLINIC])


@pytest.mark.parametrize(
    ("values", "text", "named"),
    [
        (["Mary Ann Doe"], "seen by mary ann doe.", True),
        (["Mary Ann Doe"], "Mary, Ann and Doe", False),
        (["Mary Ann Doe"], "Mary Doe", False),
        (["Chart"], "a chart", False),  # a word of ours
        (["Guess What?"], "by a guess: what it reaches", False),  # words that follow each other in ours
        (["Guess Chart"], "guess chart", True),
        (["Okafor"], "of Okafor's", True),
        (["Li"], "Li", False),  # too short to tell
        (["529-33-1180"], "no. 529-33-1180", True),
        (["529331180"], "x = 0.529331180", False),
        (["529331180"], "529331180", True),
        ([str(n) for n in range(1000, 2000)], "of 1234 people", False),  # a count as well
    ],
)
def test_what_names_a_person(values, text, named):
    assert bool([*Names({"who": values}, leaks.join_words("A chart. Guess: what?")).found(text)]) == named


@pytest.mark.slow
def test_a_report_that_holds_a_record_is_kept_elsewhere(tmp_path, monkeypatch):
    """No kernel: what is made is written as if notebooks had run."""
    work, out = tmp_path / "work", tmp_path / "reports" / "clinic"
    out.mkdir(parents=True)
    (out / "index.html").write_text("older", encoding="utf-8")

    class Ran:
        described, values = CLINIC, {"MIN_COUNT": 10}

    for number, text in enumerate((f"<p>{NAME}</p>", "<p>nobody</p>")):
        (work / "report").mkdir(parents=True)
        (work / "report" / "index.html").write_text(text, encoding="utf-8")
        kept = report.withheld_folder(out)
        with naming(text):
            if number == 0:
                with pytest.raises(leaks.LeakError, match="is not published") as error:
                    report._refuse_leaks([Ran], out, work, ["04 failed"])
                assert str(kept) in str(error.value)
                assert "04 failed" in str(error.value)
                assert kept.stat().st_mode & 0o077 == 0
                assert (kept / "index.html").read_text(encoding="utf-8") == text
            else:
                report._refuse_leaks([Ran], out, work, [])
                assert not kept.exists()
    assert (out / "index.html").read_text(encoding="utf-8") == "older"


@pytest.mark.slow
def test_a_librarys_script_names_nobody(tmp_path):
    """In Vega's script stand letters that are a country's name to who writes U.K."""
    script = rendering.vega_script()
    (tmp_path / "page.html").write_text(f"<script>{script}</script><p>No country.</p>", encoding="utf-8")
    names = leaks.Names({"country": ["U.K.", "U.S.A."]})
    assert [leak.what for leak in leaks.find_records(tmp_path, [], names)] != []
    assert leaks.find_records(tmp_path, [], names, public=(script,)) == []
    (tmp_path / "page.html").write_text(f"<script>{script}</script><p>The U.K.</p>", encoding="utf-8")
    assert {leak.what for leak in leaks.find_records(tmp_path, [], names, public=(script,))} == {"name or identifier"}
