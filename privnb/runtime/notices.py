"""Sentences for people; each sentence has a stable code, which programs can check."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Self

# Every code with the meaning of its sentence. Codes never change their meaning; new codes may be added.
CODES: Mapping[str, str] = MappingProxyType(
    {
        # reading of the table
        "records-repeated": "every record of the table occurs more than once",
        "column-renamed": "a column has another name than in its file",
        "encoding-proposed": "the encoding of text files was proposed and not stated",
        "roles-guessed": "the table has no description, so privnb guessed the roles of its columns",
        "column-read-as": "the role that was guessed for some columns",
        "cells-taken-as-missing": "cells of another type than their column count as missing",
        "outside-taken-as-missing": "values outside a described domain count as missing",
        "domain-widened": "a described domain was widened to include values of the records",
        "cells-suppressed": "how many cells of a widened column the release suppresses",
        "model-read-as": "how a model in words was understood",
        # the release
        "declared-invented": "the owner declares that the records are invented",
        "sanitizer-note": "a note of the sanitizer on the release",
        "columns-as-bounds": "which columns are written as two columns of bounds",
        "members-not-named": "labels stand for values that the codebook does not name",
        "formula-found": "a spreadsheet would run text of the file",
        "formula-escaped": "an apostrophe precedes text that a spreadsheet would run",
        # findings of the gate
        "refused": "the gate refuses the release",
        "override": "the owner overrides the refusal",
        "small-groups": "too few people share a combination of published true values",
        "broken-policy": "the release breaks its policy",
        "not-counted": "combinations do not fit into the memory and were not counted",
        "certain-value": "a sensitive value is certain for some people",
        "found-in-altered-columns": "how often people are re-identified by altered columns",
        "synthetic-rows": "how many people a synthetic row equals",
        "recorded": "the findings on altered or synthetic rows that the provenance records",
        "cannot-be-known": "the owner states that an adversary cannot know some columns",
        "public-distribution": "the owner states that a distribution is public",
        "harmless-values": "the owner states that values harm nobody",
        "sensitive-values-together": "a combination of sensitive values singles out a person",
        # messages of commands
        "old-form": "the command is written as in the version before",
        "entry-point": "a method of another installed package cannot be used",
        "alert": "a property of a column that its owner should know",
        "no-sensitive-column": "it is assumed that no column is sensitive",
        "each-row-a-person": "it is assumed that each row is one person",
        "roles-assumed": "it is assumed that an adversary knows all columns",
        "not-in-the-file": "quasi-identifiers of the description are not in the file",
        "not-described": "columns of the file are not in its description",
        "claim-not-counted": "a claim cannot be counted again in the file",
        "people-not-counted": "records are counted instead of people, because the person column is not in the file",
        "counts-of-few": "counts of few people are shown, which are for the owner of the table",
        "no-holdout": "membership was not measured, because no hold-out was given",
        "holdout-overlap": "some people of the hold-out are probably in the table",
        "rows-equal-records": "rows that are stated to be synthetic equal records",
        "what-would-help": "what to change if no release keeps a policy",
        "published-as-they-are": "which columns are published as they are",
        "left-out": "what a report withholds",
        "more-may-follow": "published totals may reveal more values than the listed ones",
    }
)  # fmt: skip


class Notice(str):
    """A sentence with a code from `CODES`; as a text, a notice is the sentence.

    >>> notice = Notice("The table has each record twice.", "records-repeated")
    >>> notice, notice.code
    ('The table has each record twice.', 'records-repeated')
    """

    __slots__ = ("code",)
    code: str

    def __new__(cls, says: str, code: str) -> Self:
        """Return a notice with this sentence and code."""
        assert code in CODES, code
        notice = super().__new__(cls, says)
        notice.code = code
        return notice

    def __reduce__(self) -> tuple[type[Notice], tuple[str, str]]:
        return type(self), (str(self), self.code)

    def data(self) -> dict[str, str]:
        """Return the code and the sentence as plain values."""
        return {"code": self.code, "says": str(self)}
