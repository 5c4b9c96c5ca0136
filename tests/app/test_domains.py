"""The domain of a column is stated on the page: its values or its bounds, and which domains are still proposals."""

import re
from html import unescape
from pathlib import Path

import pytest
from support.columns_page import open_columns

from privnb.datasets.dataset import load

ROWS = [f"{20 + i % 30},{'FM'[i % 2]},{('flu', 'cold', 'rare')[min(i % 7, i % 3)]},{i % 9}.5" for i in range(60)]
SENTENCE = "still proposals that privnb read from the records: a domain is public"


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("\n".join(["age,sex,ill,dose", *ROWS]) + "\n")
    page = open_columns("people.csv")
    ask(page, ("sensitive", "2"), ("person", "each"), ("role 3", "neutral"), ("save", ""))
    return page


def ask(page, *messages):
    for name, value in messages:
        page._receive(page._page, {"name": name, "value": value}, None)


def shown(page):
    return " ".join(unescape(re.sub("<[^>]*>", " ", page._page.html)).split())


def test_a_list_of_values_is_confirmed_as_it_is(page):
    assert f"The domains of age, sex, ill, dose are {SENTENCE}" in shown(page)
    assert "F\nM" not in page._page.html, "the page holds no values that nobody asked for"
    ask(page, ("domain open 1", ""))
    assert "F\nM</textarea>" in page._page.html
    ask(page, ("domain state 1", ""))
    assert "The values of 'sex' are stated as public in people.toml." in shown(page)
    assert "the domain of sex (public)" in shown(page)
    assert f"The domains of age, ill, dose are {SENTENCE}" in shown(page)
    assert not load("people").schema["sex"].domain.of_records


def test_a_list_must_contain_the_values_of_the_records_and_may_have_more(page):
    ask(
        page,
        ("role 0", "unused"),
        ("domain open 2", ""),
        ("domain values 2", "flu\ncold\nasthma"),
        ("domain state 2", ""),
    )
    assert "the list lacks 1 value that records have in 'ill'." in shown(page)
    assert "flu\ncold\nasthma</textarea>" in page._page.html, "what was typed stays"
    ask(page, ("domain values 2", "flu\n cold\nrare\n\nasthma"), ("domain state 2", ""))
    assert "New values have no group in the hierarchy yet: 1." in shown(page)
    assert load("people").schema["ill"].domain.values == ("flu", "cold", "rare", "asthma")
    assert str(page.roles.chosen["age"]) == "unused", "a choice that is not saved yet stays"
    ask(page, ("domain values 2", "flu\ncold\nrare"), ("domain state 2", ""))
    assert load("people").schema["ill"].domain.values == ("flu", "cold", "rare")


def test_bounds_of_a_neutral_number_are_stated(page):
    assert "the domain of age" not in shown(page), "they are stated next to the cut points"
    ask(page, ("domain open 3", ""), ("domain high 3", "5"), ("domain state 3", ""))
    assert "Give wider bounds" in shown(page)
    ask(page, ("domain low 3", "0"), ("domain high 3", "50"), ("domain state 3", ""))
    assert "The bounds of 'dose' are stated as public in people.toml." in shown(page)
    domain = load("people").schema["dose"].domain
    assert (domain.low, domain.high) == (0, 50)
