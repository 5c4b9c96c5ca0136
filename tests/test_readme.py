"""The README is short, and what it names exists. `test_documented_steps.py` runs its examples."""

import re
from pathlib import Path

import pytest
from test_architecture import ORDER

from privnb.sanitizers.catalogue import kinds

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_short():
    assert len(TEXT.encode()) <= 6_000
    assert (ROOT / "CONTRIBUTING.md").stat().st_size <= 8_000


def test_contributing_lists_the_rooms_in_their_order():
    rooms = re.findall(r"^\| `(\w+)` \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert [*rooms, "__main__"] == ORDER


def test_ten_lines():
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(re.findall(r"^>>> ", code, re.MULTILINE)) <= 10


def test_its_picture_recommends_what_may_be_published():
    """No buckets of exact quasi-identifiers, whatever their losses: the policy's floor refuses them."""
    (recommended,) = re.findall(r"under the policy .*? ([a-z-]+) with \w+ = \d+ is recommended", TEXT)
    (treatment,) = (kind.treatment for kind in kinds().values() if kind.title.lower() == recommended)
    assert treatment in ("generalized", "perturbed")


def test_per_cent_stands_right_behind_its_number():
    """One way everywhere, as `numerals` writes it: a line does not end between the two."""
    texts = {ROOT / "README.md", ROOT / "privnb" / "papers" / "published.csv", *(ROOT / "notebooks").glob("*.ipynb")}
    assert {path.name: re.findall(r".{20}\d %(?! \d)", path.read_text(encoding="utf-8")) for path in texts} == {
        path.name: [] for path in texts
    }


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\((?!http)([^)#]+)\)", TEXT))))
def test_links_lead_somewhere(path):
    assert (ROOT / path).exists()


def test_the_places_of_the_books_sections_are_there():
    text = (ROOT / "docs" / "project" / "the-book.md").read_text(encoding="utf-8")
    table = re.search(r"\| section.*", text, re.DOTALL)[0]
    files = re.findall(r"`(\w+/[\w/.]+)`", table)
    assert len(files) > 50
    assert [name for name in files if not (ROOT / "privnb" / name).exists()] == []
    pages = re.findall(r"`(\d\d_\w+)`", table)
    assert [name for name in pages if not (ROOT / "notebooks" / f"{name}.ipynb").exists()] == []
    sections = re.findall(r"^\| ([^|]*)", table, re.MULTILINE)
    chapters = {int(number) for row in sections for number in re.findall(r"(?<![\d.])\d+", row)}
    assert chapters >= set(range(2, 21))
