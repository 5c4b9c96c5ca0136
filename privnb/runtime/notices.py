"""Sentences for people, each with a stable code by which a program knows what it is about."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Self

# Every code, and what its sentence says. Codes never change their meaning, and new ones may be added.
CODES: Mapping[str, str] = MappingProxyType(
    {
        # how the table was read
        "records-repeated": "every record of the table occurs more than once",
        "column-renamed": "a column has another name than in its file",
        "encoding-proposed": "the encoding of text files was proposed and not stated",
        "roles-guessed": "nobody has described the table, so that the roles of its columns were guessed",
        "column-read-as": "the role that was guessed for some columns",
        "cells-taken-as-missing": "cells that are not of the type of their column count as missing",
        "outside-taken-as-missing": "values outside of a described domain count as missing",
        "domain-widened": "a described domain was widened to what the records hold",
        "cells-suppressed": "how many cells of a widened column the release suppresses",
        "model-read-as": "how a model in words was understood",
        # what was made
        "sanitizer-note": "what the sanitizer says of the release",
        "columns-as-bounds": "which columns are written as two columns of bounds",
        "members-not-named": "labels stand for values that the codebook does not name",
        "formula-found": "a spreadsheet would run text of the file",
        "formula-escaped": "an apostrophe stands before text that a spreadsheet would run",
        # what the gate says
        "refused": "the gate refuses the release",
        "override": "the owner overrides the refusal",
        "small-groups": "too few people share a combination of published true values",
        "broken-policy": "the release breaks its policy",
        "not-counted": "combinations do not fit into the memory and were not counted",
        "certain-value": "a sensitive value is certain for some people",
        "found-in-altered-columns": "how often people are found by altered columns",
        "synthetic-rows": "how many people a synthetic row equals",
        "recorded": "what the provenance records of altered or synthetic rows",
        "cannot-be-known": "the owner states that columns cannot be known",
        "public-distribution": "the owner states that a distribution is public",
        "harmless-values": "the owner states that values harm nobody",
        "sensitive-values-together": "sensitive values single somebody out together",
        # what commands say
        "old-form": "the command is written as in the version before",
        "entry-point": "a method of another installed package cannot be used",
        "alert": "what stands out in a column",
        "no-sensitive-column": "it is assumed that no column is sensitive",
        "each-row-a-person": "it is assumed that each row is one person",
        "roles-assumed": "it is assumed that an adversary knows all columns",
        "not-in-the-file": "quasi-identifiers of the description are not in the file",
        "not-described": "columns of the file are not in its description",
        "claim-not-counted": "a claim cannot be counted again in the file",
        "people-not-counted": "records are counted and not people, whose key is not in the file",
        "counts-of-few": "counts of few people are shown, which are for the owner of the table",
        "what-would-help": "what would help where no release keeps a policy",
        "published-as-they-are": "which columns are published as they are",
        "left-out": "what is withheld from a report",
        "more-may-follow": "more values may follow from published totals than those that are listed",
    }
)  # fmt: skip


class Notice(str):
    """A sentence with a code of `CODES`: text to whoever prints it.

    >>> notice = Notice("The table has each record twice.", "records-repeated")
    >>> notice, notice.code
    ('The table has each record twice.', 'records-repeated')
    """

    __slots__ = ("code",)
    code: str

    def __new__(cls, says: str, code: str) -> Self:
        assert code in CODES, code
        notice = super().__new__(cls, says)
        notice.code = code
        return notice

    def __reduce__(self) -> tuple[type[Notice], tuple[str, str]]:
        return type(self), (str(self), self.code)

    def data(self) -> dict[str, str]:
        """Return the code and the sentence as plain values."""
        return {"code": self.code, "says": str(self)}
