"""Draft the description of an owner's table, for the owner to correct.

A draft guesses roles and says why. It proposes domains as it saw them in the records, which no description may do in
the end (domains are public knowledge), and it names nothing sensitive. So a draft starts with `draft = true`, and
`dataset.load` refuses it until the owner has gone through it and deleted that line.

What it guesses of a column, `column_types` says.
"""

from __future__ import annotations

import functools
import re
import shutil
import stat
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import pandas as pd

from privnb.datasets.inference import infer_description
from privnb.datasets.roles import checked
from privnb.microdata.schema import SchemaError
from privnb.runtime import expect, validation
from privnb.runtime.names import like, offered, renamed_in
from privnb.runtime.validation import optional, validated
from privnb.tables import reading
from privnb.tables.notation import mark_of, marks_in, with_tails


def _check_missing(name: str, value: Any) -> None:
    """Raise TypeError or ValueError unless `value` gives by column texts that say that a value is missing."""
    expect.kind(name, value, Mapping, instead="Give by column the texts that say that a value is missing.")
    for column, texts in value.items():
        expect.texts(f"{name}[{column!r}]", texts, "texts that say that a value is missing")


Missing = Annotated[Mapping[str, Sequence[str]] | None, optional(_check_missing)]


def draft(
    file: validation.Path,
    name: str | None = None,
    folder: validation.Path = "data",
    missing: Missing = None,
    encoding: str | None = None,
) -> Path:
    """Write the folder `<folder>/<name>` for the owner to correct.

    The folder holds a copy of `file` (Parquet where it is neither text nor Parquet), `<name>.toml`,
    `hierarchies/default/<attribute>.csv`, and a `.gitignore` that keeps all of them out of git. The copy has the file's
    mode, and the folder is open only to whoever may read the file. All or nothing is written, and nothing that exists
    is changed.

    Parameters
    ----------
    file : path-like
        A file, or a folder of parts: see `reading.read_unknown`.
    name : str, optional
        None: the file's name, in lower case, with - for what is no letter or digit.
    folder : path-like
    missing : dict of str to list of str, optional
        By column the texts that say that a value is missing, as "97" may where it means that nobody answered: they are
        values of no other kind then. "q*" is each column whose name begins with q and that has the text. Marks such as
        "?" and "NA" need not be named.
    encoding : str, optional
        Of text files that are not UTF-8, as Python names it; None: a proposal, which the draft shows.

    Returns
    -------
    Path
        Of `<name>.toml`.

    Raises
    ------
    FileExistsError
        If the folder is there.
    OSError
        If it cannot be written.
    SchemaError
        For a table that cannot be read, or has one record.
    ValueError
        For a name that names no folder, and for `missing` texts that do not stand in the column, or in none.
    """
    return drafted(file, name, folder, missing, encoding=encoding)[0]


@validated
def drafted(
    file: validation.Path,
    name: str | None = None,
    folder: validation.Path = "data",
    missing: Missing = None,
    known: Mapping[str, Sequence[str]] = MappingProxyType({}),
    encoding: str | None = None,
) -> tuple[Path, pd.DataFrame]:
    """What `draft` returns, and the records that it read: a Categorical per column, by its name in the description.

    `known`: more texts as of `missing`, which need not stand in the file.
    """
    file = Path(file)
    table, layout, files = reading.read_unknown(file, encoding)
    name = name or named(file)
    if not re.fullmatch(r"\w[\w.-]*", name):
        raise ValueError(f"a dataset's name is a folder's name: letters, digits, - and _; got {name!r}.")
    if len(table) < 2:
        raise SchemaError(f"{file.name} has 1 record. A table needs at least 2: there is nobody to hide among.")
    place = Path(folder) / name
    if place.exists():
        raise FileExistsError(f"{place} exists already and is left as it is. Give another name, or move it away.")
    called = table.rename(columns=renamed_in(table))
    codes = [table[name].cat.codes.to_numpy() for name in table]
    found = infer_description(table, layout, missing=_missing(table, called, missing or {}, known), codes=codes)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=".") as unfinished:
            work = Path(unfinished) / name
            found.write(work)
            copies = _copied(files, table, work, name)
            modes = {
                copy: functools.reduce(int.__and__, (stat.S_IMODE(each.stat().st_mode) for each in own))
                for copy, own in copies.items()
            }
            (work / f"{name}.toml").write_text(found.text(name, copies, len(table)), encoding="utf-8")
            (work / ".gitignore").write_text("*\n", encoding="utf-8")  # people's data: no `git add .` takes it along
            # Open to whom all the files are open: values of their records stand in all of them.
            readers = functools.reduce(int.__and__, modes.values(), 0o044)
            for path in (work, *work.rglob("*")):
                path.chmod(0o700 | readers | readers >> 2 if path.is_dir() else 0o600 | readers)
            for copied, mode in modes.items():
                copied.chmod(mode)
            work.rename(place)
    except OSError as error:
        raise OSError(f"{place} cannot be written: {error.strerror or error}. Nothing is left of it.") from error
    return place / f"{name}.toml", called


def _copied(files: Sequence[Path], table: pd.DataFrame, work: Path, name: str) -> dict[Path, Sequence[Path]]:
    """The copies in the folder `work`, and which files each is of: `{Path: list of Path}`. What is neither text nor
    Parquet, such as a workbook, is copied as a Parquet file of its texts, from which releases are written to files.
    """
    if reading.kind(files[0]) in (reading.TEXT, reading.PARQUET):
        return {Path(shutil.copyfile(each, work / offered(each.name))): [each] for each in files}
    import pyarrow as pa
    from pyarrow import parquet

    copy = work / f"{name}.parquet"
    parquet.write_table(pa.table({each: pa.array(table[each].astype(object), pa.string()) for each in table}), copy)
    return {copy: files}


def _missing(
    table: pd.DataFrame, called: pd.DataFrame, missing: Mapping[str, Sequence[str]], known: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """By column the texts that say, beside the table's own mark, that a value is missing: `{column: list of str}`,
    those that are given by the names of `table` and those that are known by the names it is `called` here.
    """
    mark = mark_of([(called[name], None) for name in called])
    given: dict[str, list[str]] = defaultdict(list)
    found = {}
    renamed = dict(zip(table, called, strict=True))
    for name, texts in missing.items():
        alike = [checked(each, [*called]) for each in like(renamed.get(name, name), [*called])]
        for mean in texts:
            there = [each for each in alike if _holds(called[each], mean)]
            if not there:
                raise ValueError(f"no cell of '{name}' is {mean!r}. Write what means missing as the file does.")
            for each in there:
                given[each].append(mean)
    for name, column in called.items():
        there = [text for text in known.get(name, ()) if _holds(column, text)]
        means = dict.fromkeys([*given.get(name, ()), *there, *marks_in(column)])
        found[name] = [text for text in means if text != mark]
    return found


def _holds(column: pd.Series, text: str) -> bool:
    return column.cat.categories.isin(with_tails([text])).any()


def named(file: Path) -> str:
    """What a dataset is called after its file.

    >>> named(Path("Patients 2020.csv"))
    'patients-2020'
    """
    return re.sub(r"[^a-z0-9]+", "-", file.stem.lower()).strip("-")
