"""The codebook of a release: the meaning of each column of the file, and of each label in the file.

The codebook is written next to each release, as a table for people (CSV) and, for programs, as a Frictionless data
resource with a Table Schema (JSON). The codebook consists of public facts: the schema, the hierarchies and the
published labels. The codebook contains no counts of records, and no labels that are not in the file.

For each label, the codebook lists the members, which are the values that the label covers. For a range of numbers, the
codebook states the lower and the upper end. The label `*` covers all values. If the values of a domain were read from
the records and the owner has not declared the values public, a value may be the words of a single person. The codebook
then lists only the members that ten or more people share, and states the number of other members. A domain that the
owner has described is public, so all members are listed.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from privnb.microdata.bands import Bands, name_treatment
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.hierarchy.generalization import Generalization, OnALine
from privnb.microdata.release import Release
from privnb.microdata.schema import Attribute, Categories, Numbers, SchemaError, to_text
from privnb.microdata.treatment import KINDS, MEANINGS, UNTRUE
from privnb.microdata.withholding import LIMIT
from privnb.runtime.names import join_names
from privnb.runtime.notices import Notice
from privnb.tables import bounds, spreadsheets
from privnb.tables.bounds import Bounded
from privnb.tables.writing import CODEBOOK, DESCRIPTOR

HEADINGS = ("column", "label", "members", "low", "high", "unit", "meaning", "missing")
SEPARATOR = "|"  # between members in the table; inside a member, a backslash precedes this sign and each backslash
BUCKET = "bucket"
MEDIA_TYPES = {".csv": ("csv", "text/csv"), ".parquet": ("parquet", "application/vnd.apache.parquet")}
Number = int | float


@dataclass(frozen=True)
class Label:
    """A label in a file, and the meaning of the label.

    Parameters
    ----------
    text : str
        The label as it is written in the file.
    meaning : str
    members : tuple of str
        The values that the label covers, in a column of categories.
    not_named : int
        The number of further values that the label covers, which are not listed.
    low, high : float, optional
        The lowest and the highest number that the label covers.
    missing : bool
        Whether the label may cover a missing value.
    """

    text: str
    meaning: str
    members: tuple[str, ...] = ()
    not_named: int = 0
    low: Number | None = None
    high: Number | None = None
    missing: bool = False

    def data(self) -> dict[str, Any]:
        """Return the label as plain values, without empty facts."""
        found: dict[str, Any] = {"label": self.text, "meaning": self.meaning}
        if self.members or self.not_named:
            found["members"] = [*self.members]
        if self.not_named:
            found["members_not_named"] = self.not_named
        if self.low is not None and self.high is not None:
            found |= {"low": self.low, "high": self.high}
        return found | ({"missing": True} if self.missing else {})


@dataclass(frozen=True)
class FileColumn:
    """A column of a file.

    Parameters
    ----------
    name : str
        The name of the column in the file.
    of : str
        The name of the original column.
    type : str
        The type of the column in a Table Schema: string, integer or number.
    role, treatment, meaning, unit : str
        The role of the column in the dataset, the treatment in the release, the meaning of a cell, and the unit of the
        numbers.
    low, high : float, optional
        The ends of the public domain of a column of numbers.
    missing : str, optional
        The text that marks a missing value; "" if missing values are empty cells, and None if no value is missing.
    labels : tuple of Label
    derived : str
        The rule by which the original column was computed from other columns; empty for a column of the file.
    """

    name: str
    of: str
    type: str
    role: str
    treatment: str
    meaning: str
    unit: str = ""
    low: Number | None = None
    high: Number | None = None
    missing: str | None = None
    labels: tuple[Label, ...] = ()
    derived: str = ""

    def field(self) -> dict[str, Any]:
        """Return the column as a field of a Table Schema, extended by `role` and the keys after `role`."""
        limits: dict[str, Any] = {}
        if self.type != "string":
            limits = {key: end for key, end in (("minimum", self.low), ("maximum", self.high)) if end is not None}
        elif self.labels:
            limits = {"enum": [each.text for each in self.labels if each.text]}
        return {
            "name": self.name,
            "title": self.of,
            "description": self.meaning,
            "type": self.type,
            **({"constraints": limits} if limits else {}),
            "role": self.role,
            "treatment": self.treatment,
            **({"unit": self.unit} if self.unit else {}),
            **({"derived": self.derived} if self.derived else {}),
            **({"missing": self.missing} if self.missing is not None else {}),
            **({"labels": [each.data() for each in self.labels]} if self.labels else {}),
        }


@dataclass(frozen=True)
class Codebook:
    """The meaning of the columns of a file and of the columns of its table of buckets.

    Parameters
    ----------
    file : str
        The name of the file.
    files : list of str
        The files that hold the rows, as paths relative to the folder of the release.
    columns : list of FileColumn
    bucketized : list of FileColumn
        The attributes in the table of buckets.
    buckets : str
        The name of the table of buckets; empty if there is no such table.
    is_escaped : bool
        Whether formulas are escaped in the release; if so, they are also escaped in the table of the codebook.
    """

    file: str
    files: Sequence[str]
    columns: Sequence[FileColumn]
    bucketized: Sequence[FileColumn] = ()
    buckets: str = ""
    is_escaped: bool = False

    @property
    def texts(self) -> dict[str, str]:
        """The texts of the two files of the codebook, by the endings of the file names."""
        # The JSON is not indented, because indenting long lists of labels takes most of the time.
        return {CODEBOOK: self.table(), DESCRIPTOR: json.dumps(self.resource(), ensure_ascii=False) + "\n"}

    @property
    def not_named(self) -> list[str]:
        """The columns with at least one label whose members are not all listed."""
        return [each.of for each in (*self.columns, *self.bucketized) if any(label.not_named for label in each.labels)]

    @property
    def notices(self) -> list[Notice]:
        """The notices for the owner about members that are not listed; empty if all members are listed."""
        if not self.not_named:
            return []
        says = (
            f"The codebook does not name every value that the labels of {join_names(self.not_named)} stand for. The "
            f"list of values was read from the records, and fewer than {LIMIT} people have each of the others. "
            "Describe the table and state its list of values to have all of them named."
        )
        return [Notice(says, "members-not-named")]

    def words(self, public: Collection[str]) -> set[str]:
        """Return the texts that come from the description or a hierarchy, except the texts in `public`."""
        columns = (*self.columns, *self.bucketized)
        said = {each for column in columns for each in (column.name, column.of, column.unit, column.derived)}
        labels = [label for column in columns for label in column.labels]
        return said.union(*((label.text, *label.members) for label in labels)) - {*public}

    def table(self) -> str:
        """Return the text of the CSV file: for each column, a row about the column and then a row per label."""
        lines = io.StringIO()
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(HEADINGS)
        for column in (*self.columns, *self.bucketized):
            said = f"{column.role}; {column.treatment}: {column.meaning}"
            said += f"; computed: {column.derived}" * bool(column.derived)
            ends = _shown(column.low), _shown(column.high)
            writer.writerow([column.name, "", "", *self._safe([*ends, column.unit, said, column.missing or ""])])
            for label in column.labels:
                members = SEPARATOR.join(re.sub(r"([\\|])", r"\\\1", each) for each in label.members)
                ends = _shown(label.low), _shown(label.high)
                missing = "yes" if label.missing else ""
                more = [members, *ends, column.unit, label.meaning, missing]
                writer.writerow([column.name, label.text, *self._safe(more)])
        return lines.getvalue()

    def _safe(self, cells: list[str]) -> list[str]:
        """Return cells with escaped formulas if the release escapes formulas.

        Names and labels have already been escaped.
        """
        return spreadsheets.escape(cells).to_pylist() if self.is_escaped else cells

    def resource(self) -> dict[str, Any]:
        """Return the content of the JSON file, which is a Frictionless data resource.

        Its key `buckets` holds another data resource, which describes the table of buckets.
        """
        found = _resource(self.file, self.files, [each.field() for each in self.columns], self.columns)
        if self.buckets:
            found["buckets"] = _resource(self.buckets, [self.buckets], [*_bucket_fields(self.bucketized)], ())
        return found


def _resource(
    file: str, files: Sequence[str], fields: list[dict[str, Any]], columns: Iterable[FileColumn]
) -> dict[str, Any]:
    path, *others = files
    form, media = MEDIA_TYPES[Path(path).suffix]
    marks = dict.fromkeys(["", *(each.missing for each in columns if each.missing is not None)])
    # A mark that has another meaning in another column cannot be a mark of the whole table.
    marks = {mark: None for mark in marks if mark == "" or _is_mark(mark, columns)}
    return {
        "profile": "tabular-data-resource",
        "name": re.sub(r"[^a-z0-9._-]+", "-", file.lower()).strip("-") or "release",
        "type": "table",
        "title": file,
        "path": path,
        **({"extrapaths": others} if others else {}),
        "format": form,
        "mediatype": media,
        **({"encoding": "utf-8"} if form == "csv" else {}),
        "schema": {"fields": fields, "missingValues": [*marks]},
    }


def _is_mark(mark: str, columns: Iterable[FileColumn]) -> bool:
    labels = (label for column in columns for label in column.labels if label.text == mark)
    return all(label.missing for label in labels)


def _bucket_fields(bucketized: Sequence[FileColumn]) -> Iterator[dict[str, Any]]:
    """Yield the fields of a table of buckets."""
    names = [each.name for each in bucketized]
    yield {
        "name": "attribute",
        "type": "string",
        "description": "the attribute whose values the row counts",
        "constraints": {"enum": names},
        "attributes": [each.field() for each in bucketized],
    }
    yield {"name": BUCKET, "type": "integer", "description": "the number of the bucket, as in the rows of the release"}
    yield {"name": "value", "type": "string", "description": "a value of the attribute in the bucket"}
    yield {"name": "count", "type": "integer", "description": "the number of rows of the bucket that have the value"}


@dataclass(frozen=True)
class CodebookFacts:
    """The facts that a codebook needs in addition to the labels of the file.

    Parameters
    ----------
    release : Release
        The release, of which only the schema, the hierarchies, the treatments and `shared` are used.
    treatments : dict of str to str
        The treatment of each column, as the provenance states it.
    values : dict of str to list
        For each column of the file, the distinct texts or numbers; see `writing.WrittenRows`.
    mark : str
        The text that marks a missing value in the original file; empty if there is no such text.
    is_text : bool
        Whether the file is a text file, in which cells have no types.
    is_escaped : bool
        Whether formulas in the file are escaped.
    bounded : dict of str to Bounded
        The columns of ranges of numbers that are written as two columns.
    """

    release: Release
    treatments: Mapping[str, str]
    values: Mapping[str, Sequence[Any] | None]
    mark: str = ""
    is_text: bool = True
    is_escaped: bool = False
    bounded: Mapping[str, Bounded] = field(default_factory=dict)


def make_codebook(
    file: str, files: Sequence[str], facts: CodebookFacts, buckets: pd.DataFrame | None = None, table: str = ""
) -> Codebook:
    """Return the codebook of a file.

    Parameters
    ----------
    file : str
        The name of the file.
    files : list of str
        The files that hold the rows, as paths relative to the folder of the release.
    facts : CodebookFacts
    buckets : DataFrame, optional
        The second table of a bucketized release.
    table : str
        The name of the file of the second table.
    """
    described = {each.name: each for each in facts.release.schema.attributes}
    ends = {end: own for own in facts.bounded.values() for end in own.names}
    columns = []
    for name, values in facts.values.items():
        if name in ends:
            columns.append(_end(facts, described[ends[name].name], ends[name], name))
        elif name not in described:
            columns.append(_number_of_bucket(name))
        else:
            columns.append(_column(facts, described[name], values))
    held = []
    for name, values in ({} if buckets is None else dict(_by_attribute(buckets))).items():
        held.append(_column(facts, described[name], values))
    return Codebook(file, files, columns, held, table if buckets is not None else "", facts.is_escaped)


def _by_attribute(buckets: pd.DataFrame) -> Iterator[tuple[str, list[str]]]:
    for name in sorted(set(buckets["attribute"])):
        held = buckets.loc[buckets["attribute"] == name, "value"]
        yield name, sorted({to_text(each) for each in held})


def _number_of_bucket(name: str) -> FileColumn:
    meaning = "the number of the bucket, whose sensitive values are in the table of buckets"
    return FileColumn(name, name, "integer", "of the release", "number", meaning, low=0)


def _end(facts: CodebookFacts, attribute: Attribute, own: Bounded, name: str) -> FileColumn:
    """Return the column that holds the lower ends, or the upper ends, of ranges of numbers."""
    which = "lower" if name == own.names[0] else "upper"
    gap = ", and an empty cell means that the value is missing" if own.domain.missing is not None else ""
    meaning = (
        f"the {which} end, included, of the interval that holds the record's value; a suppressed value has the ends of "
        f"the domain, {own.domain.low:g} and {own.domain.high:g}{gap}"
    )
    kind = "integer" if str(own.type) == "int64" else "number"
    missing = "" if own.domain.missing is not None else None
    # A range that is aligned at 0 may extend beyond the domain.
    stated = [each for each in (pair[name == own.names[1]] for pair in own.ends.values()) if each is not None]
    low, high = min([own.domain.low, *stated]), max([own.domain.high, *stated])
    return FileColumn(
        _in_file(name, facts), attribute.name, kind, str(attribute.role), _treatment(facts, attribute), meaning,
        attribute.unit, _plain(low), _plain(high), missing, derived=attribute.derived,
    )  # fmt: skip


def _column(facts: CodebookFacts, attribute: Attribute, values: Sequence[Any] | None) -> FileColumn:
    """Return a column of the file.

    `values` are the distinct values of the column; None if the column consists of numbers that are written record by
    record.
    """
    treatment, domain = _treatment(facts, attribute), attribute.domain
    kind = next((each for each in KINDS if treatment.startswith(each)), "generalized")
    treatment = name_treatment(treatment, domain)
    meaning = MEANINGS.get(treatment, KINDS[kind])
    present = [each for each in values or () if each is not None and each == each]
    own = dict(
        name=_in_file(attribute.name, facts), of=attribute.name, role=str(attribute.role), treatment=treatment,
        meaning=meaning, unit=attribute.unit, derived=attribute.derived,
    )  # fmt: skip
    mark = getattr(domain, "missing", None) or facts.mark
    if facts.is_text and kind in ("exact", *UNTRUE) and attribute.numeric and not isinstance(domain, Bands):
        read = [_number(each) for each in present if each != mark]
        if values is not None and None not in read:  # numbers are kept as texts if some are missing
            gap = mark if len(read) < len(present) else "" if len(present) < len(values) else None
            return _numbers(own, domain, read, gap, kind)
    if values is None or (present and not any(isinstance(each, str) for each in present)):
        lacks = getattr(domain, "missing", None) is not None and (values is None or len(present) < len(values))
        return _numbers(own, domain, present, "" if lacks else None, kind)
    nameable = _nameable(facts, attribute)
    labels = tuple(_label(facts, attribute, to_text(each), kind, nameable) for each in present)
    numbers = domain.numbers if isinstance(domain, Bands) else domain
    low, high = (numbers.low, numbers.high) if isinstance(numbers, Numbers) else (None, None)
    marks = [each.text for each in labels if each.missing and each.text != SUPPRESSED]
    missing = marks[0] if marks else "" if values and len(present) < len(values) else None
    return FileColumn(**own, type="string", low=_plain(low), high=_plain(high), missing=missing, labels=labels)


def _numbers(own: Mapping[str, Any], domain: Any, present: Sequence[Any], missing: str | None, kind: str) -> FileColumn:
    """Return a column of numbers.

    The ends of the domain are stated unless noise may have moved numbers out of the domain. For `missing`, see
    `FileColumn`.
    """
    domain = domain.numbers if isinstance(domain, Bands) else domain
    is_domain = isinstance(domain, Numbers)
    whole = is_domain and all(float(each).is_integer() for each in (domain.low, domain.step, *present))
    whole = whole and not (kind in UNTRUE and not present)  # not all of these numbers were read
    low, high = (domain.low, domain.high) if is_domain and kind not in UNTRUE else (None, None)
    return FileColumn(**own, type="integer" if whole else "number", low=_plain(low), high=_plain(high), missing=missing)


def _label(
    facts: CodebookFacts, attribute: Attribute, label: str, kind: str, nameable: Collection[str] | None
) -> Label:
    """Return a label of the file with its meaning; `nameable` is a result of `_nameable`."""
    said = _in_file(label, facts)
    domain, hierarchy = attribute.domain, facts.release.hierarchies.get(attribute.name)
    mark = getattr(domain, "missing", None) or facts.mark
    if label == SUPPRESSED:
        return _suppressed(facts, attribute, hierarchy, said, bool(mark))
    if mark and label == mark:
        return Label(said, "the value is missing", (label,), missing=True)
    if kind in UNTRUE:
        return Label(said, f"the value {label}, which need not be the record's own", (label,))
    if isinstance(domain, Bands):
        low, high = bounds.band_ends(domain, label)
        return _interval(said, low, high, False)
    if hierarchy is not None:
        try:
            return _covering(attribute, hierarchy, label, said, mark, nameable)
        except SchemaError:  # the sanitizer has made this label
            pass
    return Label(said, f"the value {label}", (label,))


def _interval(said: str, low: Number | None, high: Number | None, missing: bool) -> Label:
    gap = ", or a missing value" if missing else ""
    if low == high:
        return Label(said, f"the number {_shown(low)}{gap}", low=_plain(low), high=_plain(high), missing=missing)
    meaning = f"a number from {_shown(low)} to {_shown(high)}, both included{gap}"
    return Label(said, meaning, low=_plain(low), high=_plain(high), missing=missing)


def _covering(
    attribute: Attribute, hierarchy: Generalization, label: str, said: str, mark: str, nameable: Collection[str] | None
) -> Label:
    """Return a label of a hierarchy with its meaning."""
    if attribute.numeric and (isinstance(hierarchy, OnALine) or len(hierarchy.runs(label)) == 1):
        return _interval(said, *hierarchy.bounds(label), hierarchy.covers_missing(label))
    leaves = _leaves(hierarchy)
    members = tuple(leaves[place] for place in hierarchy.covered(label))
    named = members if nameable is None else tuple(each for each in members if each in nameable)
    members, others = named, len(members) - len(named)
    missing = mark in members and bool(mark)
    if not others and len(members) == 1:
        return Label(said, f"the value {members[0]}", members, missing=missing)
    few = f"; {others:,} are not named, because fewer than {LIMIT} people have each of them" if others else ""
    return Label(said, f"one of {len(members) + others:,} values{few}", members, others, missing=missing)


def _suppressed(
    facts: CodebookFacts, attribute: Attribute, hierarchy: Generalization | None, said: str, may_lack: bool
) -> Label:
    """Return the label `*` with its meaning.

    The label has the ends of a domain of numbers, or all members of a public domain of categories.
    """
    domain = attribute.domain
    numbers = domain.numbers if isinstance(domain, Bands) else domain
    if isinstance(numbers, Numbers):
        may_lack = numbers.missing is not None
        meaning = "suppressed: any number of the domain" + ", or a missing value" * may_lack
        return Label(said, meaning, low=_plain(numbers.low), high=_plain(numbers.high), missing=may_lack)
    values = domain.values if isinstance(domain, Categories) else ()
    if getattr(domain, "of_records", False):  # there is no public list of its values
        meaning = "suppressed: any value of the column; the list of values is not public"
        return Label(said, meaning, missing=may_lack and facts.mark in values)
    return Label(said, "suppressed: any value of the column", values, missing=may_lack and facts.mark in values)


def _nameable(facts: CodebookFacts, attribute: Attribute) -> set[str] | None:
    """Return the values of a column that may be listed as members; None if all values may be listed.

    If the domain was read from the records, the values that ten or more people share, and the values in the file, may
    be listed.
    """
    hierarchy = facts.release.hierarchies.get(attribute.name)
    if hierarchy is None or not getattr(attribute.domain, "of_records", False):
        return None
    leaves = _leaves(hierarchy)
    published = {to_text(each) for each in facts.values.get(attribute.name) or () if each is not None}
    return published.union(leaves[place] for place in facts.release.shared.get(attribute.name, ()))


def _leaves(hierarchy: Generalization) -> Sequence[str]:
    found: Sequence[str] = hierarchy.leaves  # type: ignore[attr-defined]  # categories, or trees of numbers
    return found


def _treatment(facts: CodebookFacts, attribute: Attribute) -> str:
    return facts.treatments.get(attribute.name, "generalized")


def _in_file(said: str, facts: CodebookFacts) -> str:
    """Return a text as it is written in the file, in which formulas may be escaped."""
    return str(spreadsheets.escape([said])[0]) if facts.is_escaped else said


def _number(cell: object) -> float | None:
    number = pd.to_numeric(str(cell), errors="coerce")
    return None if number != number else float(number)


def _shown(number: Number | None) -> str:
    return "" if number is None or number != number else to_text(float(number))


def _plain(number: Any) -> Number | None:
    """Return a number for JSON, with whole numbers as int; None for a missing number."""
    if number is None or number != number:
        return None
    number = number.item() if isinstance(number, np.generic) else number
    return int(number) if float(number).is_integer() else float(number)
