"""Files of any length that nobody has described: what a release needs to know of them, read column by column.

It is a guess, and the release says so. An owner describes their table instead, by `privnb new` or `privnb app --new`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from privnb.datasets.column_types import Column
from privnb.datasets.inference import infer_description
from privnb.microdata.schema import Role, SchemaError
from privnb.runtime.names import meant, renamed_in, renaming
from privnb.tables import reading
from privnb.tables.long_tables import TIMES, File, LongTable
from privnb.tables.text_files import Layout

MANY = 1_000_000  # different values of a column that is read


def described(
    folder: Path, name: str, files: Sequence[File], table: LongTable, names: Sequence[str], sensitive: Sequence[str]
) -> tuple[Path, list[str]]:
    """Write the description of a table to a folder, with its hierarchies.

    Whatever may name a person is left out, as `privnb new` guesses it; what is not sensitive is a quasi-identifier.

    Parameters
    ----------
    folder : Path
    name : str
        Of the dataset.
    files : list of long_tables.File
    table : LongTable
    names : list of str
        Of all its columns.
    sensitive : list of str

    Returns
    -------
    path : Path
        Of the description.
    said : list of str
        What was guessed, sentences.

    Raises
    ------
    SchemaError
        For a sensitive column that is not there or has too many values, and for a table of one record.
    """
    if absent := [each for each in sensitive if each not in names]:
        raise SchemaError(
            f"{files[0].path.name} has no column {', '.join(map(repr, absent))}; it has {', '.join(names)}."
            f"{meant(absent, names)}"
        )
    counted = {each: table.counted([each], MANY) for each in names}
    long = [each for each, found in counted.items() if len(found) > MANY]
    if own := [each for each in sensitive if each in long]:
        raise SchemaError(f"'{own[0]}' has more than {MANY:,} different values. Round or group them in the file first.")
    texts = {each: reading.of_arrow(counted[each].select([each]))[each] for each in names if each not in long}
    times = {each: counted[each].column(TIMES).to_numpy() for each in texts}
    found = infer_description(texts, files[0].layout, times=times, sensitive=sensitive)
    renamed = renamed_in(names)
    found.columns.extend(
        Column(renamed.get(each, each), Role.UNUSED, f"more than {MANY:,} different values") for each in long
    )
    found = replace(found, renamed=renamed)
    found.write(folder)
    records = int(next(iter(times.values())).sum()) if times else table.record_count()
    if records < 2:
        raise SchemaError(
            f"{files[0].path.name} has 1 record. A table needs at least 2: there is nobody to hide among."
        )
    path, paths = folder / f"{name}.toml", [each.path for each in files]
    text = found.text(name, {each: [each] for each in paths}, records, checked=False)
    path.write_text(text.replace("\ndraft = true\n", "\n"), encoding="utf-8")
    odd = {each.name: found.values[each.name].records_with(each.odd) for each in found.columns if each.odd}
    return path, [*renaming(renamed), *_encoding_said(files[0].layout), *_said(found.columns, odd)]


def _encoding_said(layout: Layout | None) -> Iterator[str]:
    if layout and layout.is_proposed:
        yield (
            f"The text is not UTF-8 and was read as {layout.encoding}, a proposal. Look at letters with accents, and "
            "state another encoding if they are wrong."
        )


def _said(columns: Iterable[Column], odd: Mapping[str, int]) -> Iterator[str]:
    yield "Nobody has said what the columns are. Guessed, for you to check:"
    for role, what in {
        Role.QUASI_IDENTIFIER: "may be known to others and is generalized",
        Role.SENSITIVE: "is what nobody should learn of a person, and is published (a number in bands)",
        Role.PERSON: "is the key of people, whom k counts, and is left out",
        Role.IDENTIFIER: "may name a person and is left out",
        Role.UNUSED: "is left out",
    }.items():
        if own := [column.name for column in columns if column.role is role]:
            yield f"- {', '.join(own)}: {what}."
    for name, records in odd.items():
        yield f"- {name}: cells that are not of its type count as missing, {records:,} in all. Correct them if needed."
