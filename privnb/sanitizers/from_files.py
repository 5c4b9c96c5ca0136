"""From file to file: a release of a table of any length, whole or not at all, in the memory that it is given.

Sanitizers that work on combinations need no more of the records than how many have each. So an engine counts them, the
sanitizer is given the counts, what it makes of them is checked as every release is, and each row is written as often as
it stands.

One module: what is asked, counted, refused and written is one command.
"""

import json
import os
import re
import secrets
from pathlib import Path
from typing import NamedTuple

import numpy as np

from privnb.microdata import description, draft, engine, expect, long_tables, reading, text_files, undescribed, writing
from privnb.microdata.columns import plain
from privnb.microdata.dataset import Chosen, find
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.memory import Memory
from privnb.microdata.names import meant
from privnb.microdata.release import by_content
from privnb.microdata.rows import Counted
from privnb.microdata.schema import PUBLISHED, Role, SchemaError
from privnb.sanitizers.base import MODELS, SanitizationError, Sanitizer
from privnb.sanitizers.catalogue import kinds

ROW = "row of the release"
FEW = 100  # different values of a neutral column that is counted; one of more is written record by record


class Written(NamedTuple):
    """What was written.

    Of `records` in `combinations`: `classes`, the smallest of `smallest` people; how many records are `suppressed`;
    `notes`: what whoever publishes it should know, sentences.
    """

    path: Path
    sanitizer: Sanitizer
    records: int
    combinations: int
    classes: int
    smallest: int
    suppressed: int
    notes: tuple[str, ...]

    @property
    def said(self):
        """The same in sentences."""
        records = "record" if self.records == 1 else "records"
        lines = [
            f"{self.path}: {self.records:,} {records} in {self.classes:,} classes, the smallest of {self.smallest:,}, "
            f"by {self.sanitizer!r}. What it claims was checked again in the labels.",
        ]
        if self.suppressed:
            lines.append(f"{self.suppressed:,} of the records have {SUPPRESSED} for every quasi-identifier.")
        return [
            *lines,
            *self.notes,
            "How it was made stands beside it. It says nothing of what attacks gain: `report` does.",
        ]


def sanitize(source, model, out, *, algorithm="Mondrian", dataset=None, study=None, memory="2GB"):
    """Make a release of a table of any length, from file to file.

    Parameters
    ----------
    source : str or path-like
        A CSV or Parquet file, a folder of such parts, or the name of a described dataset.
    model : str or Sanitizer
        What its classes keep: letters with their bounds, `"k=10, t=0.2:salary"`, where the attribute after the colon
        may be left out if one is sensitive; or a sanitizer.
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

    Returns
    -------
    Written

    Raises
    ------
    SanitizationError
        As of `Sanitizer.sanitize`.
    SchemaError
        For a table that its description does not fit, or of more combinations than the memory holds.
    OSError
        For a file that cannot be read or written; nothing is left of it.
    """
    expect.kind("model", model, str, Sanitizer, instead='Give one such as "k=10".')
    out, given = writing.output(expect.path("out", out)), Memory.of(memory)
    with writing.staged(out) as folder:
        settings = given.engine(folder / "engine")
        chosen, files, guessed = _described(source, model, dataset, study, folder, settings)
        sanitizer = model if isinstance(model, Sanitizer) else asked(model, algorithm, chosen.schema)
        _check_counts(sanitizer)
        published = [each for each in chosen.schema.attributes if each.role in (*PUBLISHED, Role.PERSON)]
        names, others = ([each.name for each in published if _is_long(each) is long] for long in (False, True))
        before = [_fingerprint(file.path) for file in files]
        renamed, made = chosen.text.get("renamed", {}), folder / out.name
        with long_tables.opened(files, [*names, *others], renamed, _mark(chosen), **settings) as table:
            counts, release = _released(chosen, table, names, sanitizer, given)
            columns, times, place = release.counted_rows()
            batches = _beside(chosen, table, counts, place, others) if others else None
            types = {name: _type(chosen.schema[name]) for name in others}
            with writing.reported(out):
                writing.write(made, columns, times, batches, types)
        if [_fingerprint(file.path) for file in files] != before:
            raise SchemaError(f"{source} was changed while it was read. Nothing is written: try again.")
        notes = (*guessed, *_notes(release, others))
        beside = {writing.FACTS: json.dumps(_facts(release, others, notes), indent=1) + "\n"}
        if release.buckets is not None:
            beside[writing.BUCKETS] = by_content(release.buckets).to_csv(index=False)
        writing.finish(made, out, beside)
    sizes, records = release.people_alike, int(release.times.sum())
    return Written(out, sanitizer, records, len(release), len(sizes), int(sizes.min()), release.suppressed, notes)


class _Counts(NamedTuple):
    """The combinations of a table as its engine has them; which row of the release each is, -1 for none."""

    found: object
    row: np.ndarray


def _released(chosen, table, names, sanitizer, memory):
    """The release of a long table's combinations, and these."""
    found = table.counted(names, memory.combinations)
    memory.check(found, "Give such a column a coarser step, another role, or allow more memory.")
    texts = reading.of_arrow(found.drop_columns([long_tables.TIMES]))
    blank = np.logical_and.reduce([texts[name].cat.codes.to_numpy() < 0 for name in texts])
    cells = chosen.cleaned(texts[~blank], names)
    times = found.column(long_tables.TIMES).to_numpy()[cells.index]
    data, place = Counted.of(chosen.made(Counted, cells, names, times=times))
    row = np.full(len(found), -1)
    row[cells.index] = place
    release = sanitizer.sanitize(data, rng=None)
    _check_rows(release)
    return _Counts(found, row), release


def _beside(chosen, table, counts, place, names):
    """The rows of a release record by record, with the columns of many values: which row each is, and these cells.

    Sorted by the row, and among its records by a number that nobody can repeat.
    """
    import pyarrow as pa

    row = pa.array(np.append(place, -1)[counts.row], pa.int32())
    joined = table.joined(counts.found, pa.table({ROW: row}), names).to_native()
    cells = ", ".join(map(engine.name, names))
    order = f"{engine.name(ROW)}, hash({engine.quoted(secrets.token_hex(16))}, {cells})"
    for batch in joined.filter(f"{engine.name(ROW)} >= 0").order(order).to_arrow_reader(writing.PIECE):
        texts = reading.of_arrow(pa.table(batch).select(names))
        clean = chosen.cleaned(texts, names)
        kept = batch.column(ROW).to_numpy()[clean.index]
        yield kept, [pa.array(plain(clean[name]), _type(chosen.schema[name]), from_pandas=True) for name in names]


def _type(attribute):
    """How the cells of a column that is written record by record are kept: a type of Arrow's."""
    import pyarrow as pa

    if not attribute.numeric:
        return pa.string()
    whole = all(float(number).is_integer() for number in (attribute.domain.low, attribute.domain.step))
    return pa.int64() if whole else pa.float64()


def _facts(release, others, notes):
    """The provenance of a release with `others` beside its columns, and what is to be known of it."""
    facts = release.provenance.public()
    return facts | {"columns": facts["columns"] | dict.fromkeys(others, "exact"), "note": " ".join(notes)}


def _notes(release, others):
    """What whoever publishes a release should know, sentences."""
    if release.provenance.note:
        yield release.provenance.note
    if others:
        yield (
            f"{', '.join(others)} {'are' if others[1:] else 'is'} published record by record, as in the table: who "
            "knows such a value may find its row by it."
        )


def asked(model, algorithm, schema):
    """The sanitizer that a person asks for: see `sanitize`.

    >>> from privnb.microdata.dataset import schema_of
    >>> asked("k=10, t=0.2", "local recoding", schema_of("adult"))
    LocalRecoding(KAnonymity(k=10), TCloseness(t=0.2, sensitive='salary', distance='equal'))
    """
    kind, models = _kind(algorithm), {}
    for letter, bound, sensitive in _parsed(model):
        if letter in models:
            raise ValueError(f"{letter} is asked for twice. Give each letter once.")
        models[letter] = MODELS[letter](bound, *([] if letter == "k" else [_sensitive(sensitive, letter, schema)]))
    made = kind.keeping([models[letter] for letter in MODELS if letter in models], next(iter(schema.sensitive), None))
    if made is None:
        raise SanitizationError(f"{kind.__name__} cannot keep {model}. Choose one of {', '.join(_able())}.")
    return made


def _parsed(model):
    """The letters that a person asks for: each with its bound, a number, and its attribute, "" where none is named."""
    for part in model.split(","):
        found = re.fullmatch(r"\s*(\w+)\s*=\s*([^:\s]+)\s*(?::\s*(.*?)\s*)?", part)
        if not found or found[1] not in MODELS:
            raise ValueError(
                f"a model is a letter and its bound, as k=10 or t=0.2:salary; letters are {', '.join(MODELS)}, several "
                f"have commas between them. Got {part.strip()!r}."
            )
        letter, bound, sensitive = found.groups()
        try:
            yield letter, int(bound) if re.fullmatch(r"-?\d+", bound) else float(bound), sensitive or ""
        except ValueError:
            raise ValueError(f"the bound of {letter} must be a number, got {bound!r}.") from None


def _kind(algorithm):
    """The class of sanitizers that a person calls so."""
    known = {word: kind for kind in kinds().values() for word in (kind.__name__, kind.title)}
    plain = {re.sub(r"[\W_]", "", word).lower(): kind for word, kind in known.items()}
    found = plain.get(re.sub(r"[\W_]", "", algorithm).lower())
    if found is None:
        raise ValueError(
            f"there is no algorithm {algorithm!r}.{meant([algorithm], known)} Known: {', '.join(kinds())}."
        )
    return found


def _sensitive(name, letter, schema):
    if name:
        return schema[name].name
    if len(schema.sensitive) != 1:
        raise SanitizationError(
            f"{letter} is about a sensitive attribute, and there are {len(schema.sensitive)}"
            f"{schema.sensitive and ': '}{', '.join(schema.sensitive)}. Name one: {letter}=...:ATTRIBUTE."
        )
    return schema.sensitive[0]


def _able():
    return [name for name, kind in kinds().items() if kind.by_combinations and not kind.reference]


def _check_counts(sanitizer):
    if not sanitizer.by_combinations:
        raise SanitizationError(
            f"{sanitizer!r} works record by record, and a table of any length is counted. Choose one of "
            f"{', '.join(_able())}."
        )


def _described(source, model, dataset, study, folder, settings):
    """The description of a source, its files, and what was guessed where nobody has described it, sentences."""
    expect.path("source", source)
    if "://" in str(source):
        raise SchemaError(f"'{source}' is an address, and files are read from folders here. Copy it there first.")
    path = Path(source)
    if dataset is None and (path.suffix == ".toml" or not path.exists()):
        chosen = Chosen.of(find(source), study)
        layout, named = chosen.text.get("format", {}), tuple(chosen.text["columns"])
        return chosen, [
            long_tables.File(
                description.inside(chosen.path.parent, entry["path"]), text_files.Layout.of(layout | entry), named
            )
            for entry in chosen.text["files"]
        ], ()  # fmt: skip
    files = [
        long_tables.File(each, reading.guessed(each) if reading.kind(each) == reading.TEXT else None)
        for each in reading.parts(path)
    ]
    if dataset is not None:
        return Chosen.of(find(dataset), study), files, ()
    if isinstance(model, Sanitizer):
        raise SchemaError(
            f"nobody has said what the columns of {path.name} are. Name the dataset whose description says it, or ask "
            'for a model in words, such as "k=10, t=0.2:salary".'
        )
    names, secret = long_tables.columns(files), dict.fromkeys(each[2] for each in _parsed(model) if each[2])
    with long_tables.opened(files, names, {}, **settings) as table:
        toml, said = undescribed.described(folder / "description", draft.named(path), files, table, names, [*secret])
    return Chosen.of(toml, None), files, said


def _mark(chosen):
    """The mark of missing values where records that have one are left out."""
    layout = chosen.text.get("format", {})
    return layout.get("missing", "") if layout.get("records_with_missing") == "drop" else ""


def _is_long(attribute):
    """Whether a column is written record by record: a neutral one of many values."""
    domain = attribute.domain
    size = 0 if domain is None else len(domain.values) if hasattr(domain, "values") else domain.size
    return attribute.role is Role.NEUTRAL and not 0 < size <= FEW


def _check_rows(release):
    if release.has_unprotected_rows and release.buckets is None:
        raise SanitizationError(
            f"{release.provenance.sanitizer} is not written: in it somebody's record stands alone, with nothing to "
            "hide behind. Choose another sanitizer, or a larger k."
        )


def _fingerprint(path):
    """What changes when a file does."""
    stat = os.stat(path)
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
