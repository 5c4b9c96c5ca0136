"""A description names files in its own folder alone."""

import pytest

from privnb.datasets.dataset import load
from privnb.microdata.schema import SchemaError

TEXT = """\
[dataset]
[[files]]
path = {path!r}
[columns.age]
role = "quasi-identifier"
domain = {{ low = 0, high = 99 }}
"""


@pytest.fixture
def place(tmp_path):
    """A folder for a description, beside a table that is somebody else's."""
    (tmp_path / "other.csv").write_text("age\n20\n30\n")
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine"


@pytest.mark.parametrize(
    "path", ["../other.csv", "{}/other.csv", "link.csv", "linked/other.csv", "x/../../other.csv", ""]
)
def test_files_elsewhere_are_not_read(place, path):
    (place / "link.csv").symlink_to(place.parent / "other.csv")
    (place / "linked").symlink_to(place.parent)
    (place / "mine.toml").write_text(TEXT.format(path=path.format(place.parent)))
    with pytest.raises(
        SchemaError, match=r"leads out of .* Copy the file into this folder|files.path must be the name of a file in"
    ):
        load(place / "mine.toml")


def test_a_taxonomy_elsewhere_is_not_read(place):
    (place / "mine.csv").write_text("age\n20\n30\n")
    (place / "mine.toml").write_text(TEXT.format(path="mine.csv"))
    assert len(load(place / "mine.toml")) == 2
    (place / "hierarchies" / "default").mkdir(parents=True)
    (place / "hierarchies" / "default" / "age.csv").symlink_to(place.parent / "other.csv")
    with pytest.raises(SchemaError, match=r"'age\.csv' leads out of"):
        load(place / "mine.toml")


def test_links_within_the_folder_are_read(place):
    (place / "mine.csv").write_text("age\n20\n30\n")
    (place / "again.csv").symlink_to("mine.csv")
    (place / "mine.toml").write_text(TEXT.format(path="again.csv"))
    assert len(load(place / "mine.toml")) == 2
