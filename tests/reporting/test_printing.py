"""A report as one PDF."""

import re

import pytest

from privnb.reporting import printing
from privnb.runtime.errors import ResourceError


def write(folder, **pages):
    for name, main in pages.items():
        (folder / f"{name}.html").write_text(f"<html><head><title>{name}</title></head><body><nav></nav>{main}</body>")


def test_the_pages_are_printed_in_the_order_of_the_index_and_link_to_each_other_alone(tmp_path):
    write(
        tmp_path,
        index='<main><a href="02_b.html">b</a> <a href="01_a.html">a</a> <a href="ledger.html">l</a></main>',
        ledger="<main>ledger</main>",
        **{
            "01_a": '<main>first<a href="results.csv">all</a><script>draw()</script></main>',
            "02_b": '<main>second <a href="01_a.html#term">back</a></main>',
        },
    )
    html = printing.join_pages(tmp_path)
    assert re.findall(r"<main>(\w*)", html) == ["", "second", "first"]
    assert re.findall(r'href="([^"]*)"', html) == ["#02_b.html", "#01_a.html", "#term"]
    assert "script" not in html
    for target in ("02_b.html", "01_a.html"):
        assert f'id="{target}"' in html


def test_a_browser_prints_one_file_that_is_as_open_as_the_index(tmp_path, browser):
    write(tmp_path, index='<main><h1>Summary</h1><a href="01_a.html">a</a></main>', **{"01_a": "<main>more</main>"})
    (tmp_path / "index.html").chmod(0o640)
    path = printing.pdf(tmp_path)
    assert path == tmp_path / "report.pdf"
    assert path.read_bytes().startswith(b"%PDF-")
    assert str(tmp_path).encode() not in path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o640


def test_without_a_browser_the_report_is_refused_before_anything_runs(tmp_path, monkeypatch, capsys):
    from privnb import cli
    from privnb.reporting import report

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(report, "build", None)
    assert cli.main(["report", "--pdf"]) == 5
    assert "neither is installed" in capsys.readouterr().err
    with pytest.raises(ResourceError, match="Install Chromium or Chrome"):
        printing.browser()
