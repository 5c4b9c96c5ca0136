"""From file to file: a release of a table of any length, whole or not at all, in the memory that it is given.

Sanitizers that work on combinations need no more of the records than how many have each. So an engine counts them, the
sanitizer is given the counts, what it makes of them is checked as every release is, and each row is written as often as
it stands.

One module: each step leaves what the next one needs in one folder of unfinished work.
"""

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from privnb.datasets import description, draft, undescribed
from privnb.datasets.dataset import Chosen, check_sum, data_file, find, in_role
from privnb.microdata.release import Release
from privnb.microdata.schema import Role, SchemaError
from privnb.microdata.treatment import KINDS
from privnb.publishing import in_parts, leaks, of_counts, own_cells
from privnb.publishing.gate import Rule, check_allow, gate
from privnb.publishing.in_words import readings, sensitive_names
from privnb.publishing.made import Made
from privnb.runtime import expect
from privnb.sanitizers.base import Sanitizer
from privnb.sanitizers.errors import SanitizationError
from privnb.tables import engine, long_tables, reading, spreadsheets, text_files, writing
from privnb.tables.memory import Memory
from privnb.tables.spreadsheets import Formulas

FIGURES = 7  # of a number that is looked for in what stands beside a release


@dataclass(frozen=True, kw_only=True)
class Written(Made):
    """What was written, to `path`."""

    path: Path

    @property
    def said(self):
        """The same in sentences: a list."""
        first, *more = super().said
        beside = "How it was made stands beside it. It says nothing of what attacks gain: `report` does."
        return [f"{self.path}: {first}", *more, beside]


class _Ready(NamedTuple):
    """A release that is to be written: its rows as `writing.write` takes them, what the gate looks at, what else is
    known of it."""

    release: Release
    rows: tuple
    seen: of_counts.Seen
    more: dict


def sanitize(
    source,
    model,
    out,
    *,
    algorithm: str = "Mondrian",
    dataset=None,
    study: str | None = None,
    memory: str = "2GB",
    beside=None,
    sample: int = 0,
    spreadsheet_safe: bool = False,
    roles: Mapping[str, Role] | None = None,
    rule: Rule | None = None,
    allow: str | None = None,
    encoding: str | None = None,
) -> Written:
    """Make a release of a table of any length, from file to file.

    Parameters
    ----------
    source : str or path-like
        A CSV or Parquet file, a folder of such parts, or the name of a described dataset.
    model : str or Sanitizer
        What its classes keep, `"k=10, t=0.2:salary"`, as `in_words.asked` reads it; or a sanitizer.
    out : str or path-like
        A file that ends in .parquet or .csv, or a folder. Its provenance is written beside it.
    algorithm : str
        The class of the sanitizer that keeps `model`, or its title: "local recoding".
    dataset : str or path-like, optional
        The dataset whose description says what the columns of a file are.
    study : str, optional
        As of `load`.
    memory : str
        What the whole may take at most, such as "800MB" or "2GB".
    beside : function, optional
        `beside(made, written, release)`: what else stands beside the file, texts by their endings, asked when it is
        whole and nobody else sees it: its path, a Written, a Release of it. What it raises leaves nothing at `out`.
    sample : int
        Of how many records the release is, drawn at random, if its sanitizer takes up each of them; 0: of all.
    spreadsheet_safe : bool
        Whether an apostrophe is put before each text in a CSV file that a spreadsheet would run as a formula.
    roles : dict of str to Role, optional
        As of `load`.
    rule : Rule, optional
        What a policy asks of a release that leaves; None: what its models promise.
    allow : str, optional
        The owner's reason for a release that the gate refuses; provenance and output repeat it.
    encoding : str, optional
        Of text files that are not UTF-8 and that no description is of; None: the one that is proposed, if no other one
        fits as well.

    Returns
    -------
    Written

    Raises
    ------
    SanitizationError
        As of `Sanitizer.sanitize`, and `gate.Refused` for a release that may not leave.
    SchemaError
        For a table that its description does not fit, or of more combinations than the memory holds.
    OSError
        For a file that cannot be read or written; nothing is left of it.
    """
    allow = check_allow(allow) or None
    if rule is not None:
        expect.kind("rule", rule, Rule)
    given = {"algorithm": algorithm, "dataset": dataset, "study": study, "memory": memory, "roles": roles}
    more = {"beside": beside, "sample": sample, "spreadsheet_safe": spreadsheet_safe, "encoding": encoding}
    return _made(source, model, out, given, **more, rule=rule, allow=allow, refuses=True)


def rehearse(
    source,
    model,
    out,
    *,
    algorithm="Mondrian",
    dataset=None,
    study=None,
    memory="2GB",
    sample=0,
    roles: Mapping[str, Role] | None = None,
    rule: Rule | None = None,
) -> Written:
    """Make a release that does not leave, for its card: the gate's verdict stands in its provenance, refused or not.

    Parameters
    ----------
    source, model, out, algorithm, dataset, study, memory, sample, roles, rule
        As of `sanitize`. `out` is a place that nobody keeps.

    Returns
    -------
    Written
    """
    given = {"algorithm": algorithm, "dataset": dataset, "study": study, "memory": memory, "roles": roles}
    return _made(source, model, out, given, sample=sample, rule=rule, refuses=False)


def _made(
    source,
    model,
    out,
    given,
    *,
    refuses,
    beside=None,
    sample=0,
    rule=None,
    allow=None,
    spreadsheet_safe=False,
    encoding=None,
):
    algorithm, dataset, study, memory, roles = given.values()
    expect.kind("model", model, str, Sanitizer, instead='Give one such as "k=10".')
    expect.kind("study", study, str, type(None), instead="Name a study of the description.")
    if beside is not None:
        expect.function("beside", beside)
    expect.whole("sample", sample, 0)
    expect.kind("spreadsheet_safe", spreadsheet_safe, bool)
    out, given = writing.output(expect.path("out", out), spreadsheet_safe=spreadsheet_safe), Memory.of(memory)
    with writing.staged(out) as folder:
        chosen, files, guessed = _described(source, model, dataset, study, roles, folder, given, encoding)
        renamed = chosen.text.get("renamed", {})
        sanitizer = of_counts.sanitizer_of(model, algorithm, chosen.schema, renamed)
        names, others = of_counts.columns(chosen.schema)
        before = [_fingerprint(file.path) for file in files]
        for file in files:
            if "sha256" in file.entry:
                check_sum(file.entry, description.checksum(file.path))
        made = folder / "release" / out.name
        made.parent.mkdir()  # of its own: whatever it is called, it is no file of the work
        opened = partial(long_tables.opened, files, [*names, *others], renamed, complete=chosen.dropped)
        with opened(**given.counting(folder / "engine") | {"held": True, "complete": None}) as table:
            read = table.record_count()
            table.check()
        long_tables.check_count(files, read)
        doubled = _copies(chosen, files, renamed, given.counting(folder / "engine"))
        _refuse_gaps(chosen, opened, read, given.counting(folder / "engine"))
        released = _of_counts if sanitizer.by_combinations else partial(_in_parts, sample=sample)
        release, rows, seen, more = released(chosen, opened, (names, others), sanitizer, given, folder)
        verdict = gate(seen.release, rule=rule, beside=seen.beside, allow=allow)
        if refuses:
            verdict.check()
        with writing.reported(out):
            formulas = writing.write(made, *rows, **more, spreadsheet_safe=spreadsheet_safe)
        if [_fingerprint(file.path) for file in files] != before:
            raise SchemaError(f"{source} was changed while it was read. Nothing is written: try again.")
        if release.buckets is not None:
            formulas = Formulas(
                tuple(dict.fromkeys([*formulas.names, *spreadsheets.in_buckets(release.buckets)])), spreadsheet_safe
            )
        said = (*filter(None, [doubled]), *guessed, *readings(model, sanitizer))
        written = Written.of(release, sanitizer, others, verdict, said, formulas, renamed, path=out, **more)
        written.provenance["records_read"] = read
        if files[0].layout and files[0].layout.is_proposed:
            written.provenance["encoding"] = f"{files[0].layout.encoding}, proposed"
        texts = {writing.FACTS: json.dumps(written.provenance, indent=1) + "\n"}
        if written.buckets is not None:
            buckets = spreadsheets.escaped_buckets(written.buckets) if spreadsheet_safe else written.buckets
            texts[writing.BUCKETS] = buckets.to_csv(index=False)
        _refuse_names(chosen, files, texts[writing.FACTS], given.counting(folder / "engine"))
        if beside is not None:
            made.with_name(made.name + writing.FACTS).write_text(texts[writing.FACTS], encoding="utf-8")
            texts |= beside(made, written, release)
        writing.finish(made, out, texts, [file.path for file in files] + [Path(source)] * Path(source).is_dir())
    return written


def _refuse_names(chosen, files, text, settings):
    """Raise SanitizationError if the provenance `text` names somebody of the table.

    Not seen: a name that is a word of the description or of ours, or short; a number of fewer than `FIGURES` figures.
    """
    renamed = chosen.text.get("renamed", {})
    there = {renamed.get(name, name) for name in long_tables.columns(files)}
    naming = sorted(in_role(chosen.text, Role.IDENTIFIER, Role.PERSON) & there)
    said = {**chosen.text, "columns": {name: "" for name in chosen.text["columns"]}}
    ours = leaks.spans(" ".join([str(said), *json.loads(text), *KINDS, *KINDS.values()]))
    tried = [each for each in leaks.spans(text) - ours if len(each) >= (FIGURES if each.isdigit() else leaks.SHORT)]
    for name in naming if tried else ():
        with long_tables.asked(files, [name], renamed, **settings) as (connection, queries, _):
            cell = f"lower(trim({engine.name(long_tables.numbered([name])[name])}::varchar))"
            some, rows = ", ".join(map(engine.quoted, tried)), " union all by name ".join(queries)
            if connection.sql(f"select 1 from ({rows}) where {cell} in ({some}) limit 1").fetchall():
                raise SanitizationError(
                    f"nothing is written: what would stand beside the release names somebody of the column '{name}'. "
                    "Leave names out of what the sanitizer says of itself: its parameters and its note."
                )


def _copies(chosen, files, renamed, settings):
    """A sentence if each record of the files occurs more than once; else an empty text."""
    there = {renamed.get(name, name) for name in long_tables.columns(files)}
    names = [name for name in chosen.columns.names() if name in there]
    with long_tables.opened(files, names, renamed, complete=chosen.dropped, **settings) as table:
        return of_counts.copies(chosen, table)


def _refuse_gaps(chosen, opened, records, settings):
    """Raise SchemaError for records with missing values in any column, where the description refuses them."""
    if chosen.refused is not None:
        with opened(**settings | {"complete": chosen.refused}) as table:
            of_counts.check_gaps(records, table.record_count())


def _of_counts(chosen, opened, columns, sanitizer, given, folder):
    """A release of counts."""
    names, others = columns
    with opened(**given.counting(folder / "engine")) as table:
        pairs = of_counts.merged(chosen, table, names, given)
        found = of_counts.counted(table.replaced(pairs), names, sanitizer, given)
    if long_tables.has_blank(found, names):
        opened = partial(opened, held=True)
        with opened(**given.counting(folder / "engine")) as table:
            found = of_counts.counted(table.replaced(pairs), names, sanitizer, given)
    counts, release = of_counts.released(chosen, found, names, sanitizer)
    with opened(**given.counting(folder / "engine")) as table:
        seen = of_counts.seen(chosen, table.replaced(pairs), counts, release, others, given)
    rows, times, place = release.counted_rows()
    again = opened(**given.engine(folder / "engine"))
    batches = _beside(chosen, again, pairs, counts, place, times, others) if others else None
    types = {name: own_cells.arrow_type(chosen.schema[name]) for name in others}
    return _Ready(release, (rows, times, batches, types), seen, {})


def _in_parts(chosen, opened, columns, sanitizer, given, folder, sample):
    """The same of a release in parts."""
    path, settings = folder / "parts.parquet", given.engine(folder / "engine")
    with opened(**settings, held=True) as table:
        release, records, found = in_parts.released(chosen, table, [*columns[0], *columns[1]], sanitizer, path, sample)
    published = [*release.cells]  # and not the key of people, which stands in the file of the parts
    seen = in_parts.seen(release, path, found, in_parts.key_of(chosen.schema), given, **settings)
    release = in_parts.graded(release, path, given, **settings)
    types, batches = in_parts.types(path, published), in_parts.in_order(path, published, **settings)
    return _Ready(release, ({}, None, batches, types), seen, {"records": records})


def _beside(chosen, opened, pairs, counts, place, times, names):
    """The rows of a release record by record, with the columns of many values: which row each is, and these cells.

    Sorted by the row, and among its records by a number that nobody can repeat. Raises SanitizationError, at the end,
    unless each row was given as often as `times` says.
    """
    import pyarrow as pa

    row = pa.array(np.append(place, -1)[counts.row], pa.int32())
    given = np.zeros_like(times)
    with opened as table:
        joined = table.replaced(pairs).joined(counts.found, pa.table({of_counts.ROW: row}), names).to_native()
        own = table.called(names)
        cells = ", ".join(map(engine.name, own))
        order = f"{engine.name(of_counts.ROW)}, hash({engine.quoted(secrets.token_hex(16))}, {cells})"
        for batch in joined.filter(f"{engine.name(of_counts.ROW)} >= 0").order(order).to_arrow_reader(writing.PIECE):
            kept, cells = own_cells.published(chosen, batch.select(own).rename_columns(names))
            rows = batch.column(of_counts.ROW).to_numpy()[kept]
            given += np.bincount(rows, minlength=len(given))
            yield rows, cells
    if (given != times).any():
        raise SanitizationError(
            f"{given.sum():,} records have the columns {', '.join(names)}, and {times.sum():,} were counted. Nothing "
            "is written, since classes may have lost records: leave these columns out."
        )


def _described(source, model, dataset, study, roles, folder, given, encoding):
    """The description of a source, its files, and what was guessed where nobody has described it, sentences."""
    expect.path("source", source)
    if "://" in str(source):
        raise SchemaError(f"'{source}' is an address, and files are read from folders here. Copy it there first.")
    path = Path(source)
    if dataset is None and (path.suffix == ".toml" or not path.exists()):
        chosen = Chosen.of(find(source), study, roles)
        layout, named, files = chosen.text.get("format", {}), tuple(chosen.text["columns"]), []
        for entry in chosen.text["files"]:
            own = text_files.Layout.of(layout | entry)
            files.append(long_tables.File(data_file(chosen.path.parent, entry), own, named, entry))
        reading.check_different([file.path for file in files])
        return chosen, files, ()
    paths = reading.parts(path)
    files = [long_tables.File(*each) for each in zip(paths, reading.layouts_of(paths, encoding), strict=True)]
    for file in files:
        text_files.check_encoding(file.path, file.layout)
    if dataset is not None:
        return Chosen.of(find(dataset), study, roles), files, ()
    if isinstance(model, Sanitizer):
        raise SchemaError(
            f"nobody has said what the columns of {path.name} are. Name the dataset whose description says it, or ask "
            'for a model in words, such as "k=10, t=0.2:salary".'
        )
    names, secret = long_tables.columns(files), sensitive_names(model)
    with long_tables.opened(files, names, {}, **given.counting(folder / "engine")) as table:
        toml, said = undescribed.described(folder / "description", draft.named(path), files, table, names, secret)
    return Chosen.of(toml, None), files, said


def _fingerprint(path):
    """What changes when a file does."""
    stat = os.stat(path)
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
