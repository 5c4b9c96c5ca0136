"""The statements of the person who signs a card: what is refused, and where they stand on the card."""

import pytest

from privnb.decision.signature import Signature, read_signature
from privnb.runtime.errors import MissingFileError, UsageError, UsageTypeError


def test_empty_fields_are_listed():
    assert Signature(purpose="research", date="2026-01-01").missing == ["legal_basis", "retention_until", "name"]
    assert Signature("a", "b", "2030-01-01", "c").missing == []


def test_line_breaks_are_joined():
    assert Signature(purpose="two\n  lines").facts()["purpose"] == "two lines"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"retention_until": "in a year"},
            "`retention_until` must be a day such as 2027-12-31, or empty; got 'in a year'",
        ),
        ({"date": "31.12.2027"}, "`date` must be a day"),
        ({"name": "x" * 501}, "`name` must have at most 500 characters; got 501"),
    ],
)
def test_an_invalid_field_is_refused(given, words):
    with pytest.raises(UsageError, match=words):
        Signature(**given)


def test_a_retention_before_the_signature_is_refused():
    words = "`retention_until` must not be before the day of the signature, 2026-12-01; got 2019-12-31"
    with pytest.raises(UsageError, match=words):
        Signature(retention_until="2019-12-31", date="2026-12-01")
    assert Signature(retention_until="2026-12-01", date="2026-12-01").missing


def test_a_field_must_be_text():
    with pytest.raises(UsageTypeError, match="purpose"):
        Signature(purpose=1)


def test_statements_are_read_from_a_file(tmp_path):
    path = tmp_path / "statements.toml"
    path.write_text('purpose = "research"\nretention_until = 2030-01-01\n')
    assert (read_signature(path).purpose, read_signature(path).retention_until) == ("research", "2030-01-01")
    for text, words in (
        ("purposes = 'a'", "got purposes"),
        ("purpose", "cannot be read"),
        ("date = 'soon'", "must be a day"),
    ):
        path.write_text(text)
        with pytest.raises(UsageError, match=words):
            read_signature(path)
    with pytest.raises(MissingFileError, match="there is no file"):
        read_signature(tmp_path / "none.toml")
