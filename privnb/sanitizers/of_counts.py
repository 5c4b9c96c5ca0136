"""The release of a table of any length, made of its combinations and how many records have each.

An engine counts them. Where the release goes stands elsewhere: see `from_files`.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from privnb.measures.information_loss import average_class_size, certainty_penalty, discernibility
from privnb.microdata import long_tables, reading
from privnb.microdata.bands import Bands
from privnb.microdata.columns import by_value
from privnb.microdata.counts import coded, distinct_codes, people_in
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.release import by_content
from privnb.microdata.rows import Counted
from privnb.microdata.schema import PUBLISHED, Role, SchemaError
from privnb.privacy_models import achieved
from privnb.sanitizers.algorithms import told_of_compiling
from privnb.sanitizers.base import SanitizationError, Sanitizer
from privnb.sanitizers.in_words import able, asked

COSTS = certainty_penalty, average_class_size, discernibility
FEW = 100  # different values of a neutral column that is counted; one of more is published record by record


@dataclass(frozen=True, kw_only=True)
class Made:
    """What was made.

    Attributes
    ----------
    sanitizer : Sanitizer
    records, combinations : int
        How many were published, and how many different ones were counted; 0 where they were not.
    classes, smallest : int
        How many classes there are, and how many people the smallest has. In buckets these are the classes, and their
        records are counted; of noise there are none, and both are 0.
    suppressed : int
        How many records have no quasi-identifier.
    provenance : dict
        How it was made, for who uses it.
    buckets : DataFrame or None
        The second table of a release in buckets.
    notes : tuple of str
        What whoever publishes it should know, sentences.
    """

    sanitizer: Sanitizer
    records: int
    combinations: int
    classes: int
    smallest: int
    suppressed: int
    provenance: dict
    buckets: pd.DataFrame | None
    notes: tuple[str, ...]

    @classmethod
    def of(cls, release, sanitizer, others, guessed=(), **more):
        """Of a release of counts with the columns `others` beside it. `guessed`: what nobody has said, sentences."""
        notes, sizes = (*guessed, *_notes(release, others)), _sizes(release)
        facts = release.provenance.public() | {"measured": _measured(release)}
        counted = {} if release.times is None else {"records": int(release.times.sum()), "combinations": len(release)}
        return cls(
            sanitizer=sanitizer,
            classes=len(sizes),
            smallest=int(min(sizes, default=0)),
            suppressed=release.suppressed,
            provenance=facts | {"columns": facts["columns"] | dict.fromkeys(others, "exact"), "note": " ".join(notes)},
            buckets=None if release.buckets is None else by_content(release.buckets),
            notes=notes,
            **{"combinations": 0} | counted | more,
        )

    @property
    def said(self):
        """The same in sentences: a list."""
        records = "record" if self.records == 1 else "records"
        sets = "classes" if self.buckets is None else "buckets"
        sizes = f" in {self.classes:,} {sets}, the smallest of {self.smallest:,}," * bool(self.classes)
        checked = " What it claims was checked again in the labels." * bool(self.provenance["claims"])
        lines = [f"{self.records:,} {records}{sizes} by {self.sanitizer!r}.{checked}"]
        if self.suppressed:
            lines.append(f"{self.suppressed:,} of the records have {SUPPRESSED} for every quasi-identifier.")
        if (cost := self.provenance["measured"].get("certainty_penalty")) is not None:
            lines.append(f"On average a quasi-identifier's cell stands for {certainty_penalty.facts.written(cost)}.")
        return [*lines, *self.notes]


def _sizes(release):
    """How many people are in each class, or records in each bucket: integer array; empty where there are none."""
    if release.buckets is not None:
        held = release.buckets
        held = held[held["attribute"] == held["attribute"].iloc[0]]
        return np.bincount(held["bucket"], held["count"]).astype(int)
    return np.empty(0, dtype=int) if release.without_classes else release.people_alike


def _measured(release):
    """What the labels keep, of a release of counts: by name of a measure, and the level of each claim."""
    if release.times is None or release.buckets is not None:
        return {}
    found = {repr(model): float(achieved(model, release)) for model in release.provenance.claims}
    levels = {model: level if math.isfinite(level) else str(level) for model, level in found.items()}  # as JSON can
    costs = {each.facts.name: each(release) for each in COSTS} if release.generalized else {}
    return {"records": release.record_count, "claims": levels} | costs


def _notes(release, others):
    """What whoever publishes a release should know, sentences."""
    if release.provenance.note:
        yield release.provenance.note
    neutral = [name for name in release.schema.names(Role.NEUTRAL) if name in release.treated("exact")]
    if neutral and release.buckets is None and _fewest(release, neutral) == 1:
        yield (
            f"By its labels together with {', '.join(neutral)}, as in the table, somebody's record stands alone. "
            "Nothing is promised of these columns."
        )
    if others:
        yield (
            f"{', '.join(others)} {'are' if others[1:] else 'is'} published record by record, as in the table: who "
            "knows such a value may find its row by it."
        )


def _fewest(release, neutral):
    """The fewest people who are alike in labels and neutral columns."""
    groups = release.equivalence_classes
    for codes, values in map(release.coded, neutral):
        _, groups = distinct_codes([groups, codes], [groups.max() + 1, len(values)])
    return people_in(groups, release.people, times=release.times).min()


def sanitizer_of(model, algorithm, schema):
    """The sanitizer that is asked for, in words or by itself."""
    return model if isinstance(model, Sanitizer) else asked(model, algorithm, schema)


def columns(schema):
    """The columns that are counted, and those that are published record by record: two lists of names."""
    published = [each for each in schema.attributes if each.role in (*PUBLISHED, Role.PERSON)]
    return tuple([each.name for each in published if _is_long(each) is long] for long in (False, True))


def _is_long(attribute):
    """Whether a column is published record by record: a neutral one of many values."""
    domain = attribute.domain
    size = 0 if domain is None else len(domain.values) if hasattr(domain, "values") else domain.size
    return attribute.role is Role.NEUTRAL and not 0 < size <= FEW


class Counts(NamedTuple):
    """The combinations of a table as its engine has them; which row of the release each is, -1 for none."""

    found: object
    row: np.ndarray


def merged(chosen, table, names, memory):
    """Which values of counted columns are published as one, however they are written: numbers on a step of their
    domain, and sensitive ones of a band. Without that, each of them is a combination by itself.

    Parameters
    ----------
    chosen : Chosen
    table : LongTable
    names : list of str
    memory : Memory

    Returns
    -------
    dict
        What `LongTable.replaced` takes.
    """
    import pyarrow as pa

    pairs = {}
    for attribute in (chosen.schema[name] for name in names):
        banded = attribute.role is Role.SENSITIVE
        if not attribute.numeric or not (banded or attribute.domain.step != 1):
            continue
        found = table.counted([attribute.name], memory.combinations)
        memory.check(found, "Round or group them in the file.")
        try:
            cells = cleaned(chosen, found, [attribute.name])[attribute.name]
        except SchemaError:  # it is said of all records, later
            continue
        if banded:
            cells = by_value(Bands.of(attribute.domain).labels, attribute.domain.marked(cells))
        codes, values = coded(cells)
        if len(values) < len(cells):
            own = found.column(attribute.name).take(cells.index.to_numpy())
            first = np.zeros(len(values), dtype=np.int64)
            first[codes[::-1]] = np.arange(len(codes))[::-1]
            pairs[attribute.name] = pa.table([own, own.take(first[codes])], ["old", "new"])
    return pairs


def counted(table, names, sanitizer, memory):
    """The combinations of a long table, as `LongTable.counted` gives them.

    Parameters
    ----------
    table : LongTable
    names : list of str
        The columns that are counted.
    sanitizer : Sanitizer
    memory : Memory

    Raises
    ------
    SanitizationError
        For a sanitizer that works record by record.
    SchemaError
        For more combinations than the memory holds.
    """
    if not sanitizer.by_combinations:
        raise SanitizationError(
            f"{sanitizer!r} works record by record, and this table is counted. Choose one of {', '.join(able())}."
        )
    found = table.counted(names, memory.combinations)
    memory.check(found, "Give such a column a coarser step, another role, or allow more memory.")
    return found


def released(chosen, found, names, sanitizer):
    """The release of combinations.

    Parameters
    ----------
    chosen : Chosen
        What the columns are.
    found : pyarrow.Table
        As of `counted`.
    names : list of str
    sanitizer : Sanitizer

    Returns
    -------
    Counts
    Release

    Raises
    ------
    SanitizationError
        As of `Sanitizer.sanitize`, and for a release in which a record stands alone.
    SchemaError
        For values outside their domains.
    """
    cells = cleaned(chosen, found, names)
    times = found.column(long_tables.TIMES).to_numpy()[cells.index]
    data, place = Counted.of(chosen.made(Counted, cells, names, times=times))
    row = np.full(len(found), -1)
    row[cells.index] = place
    with told_of_compiling():
        release = sanitizer.sanitize(data, rng=None)
    check_rows(release)
    return Counts(found, row), release


def cleaned(chosen, found, names):
    """The columns `names` of an engine's answer as the description says, without rows that are all missing."""
    texts = reading.of_arrow(found.select(names))
    blank = np.logical_and.reduce([texts[name].cat.codes.to_numpy() < 0 for name in texts])
    return chosen.cleaned(texts[~blank], names)


def check_rows(release):
    """Raise SanitizationError for a release in which a record stands alone."""
    if release.has_unprotected_rows and release.buckets is None:
        raise SanitizationError(
            f"{release.provenance.sanitizer} is not written: in it somebody's record stands alone, with nothing to "
            "hide behind. Choose another sanitizer, or a larger k."
        )
