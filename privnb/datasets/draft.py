"""Drafts of descriptions of tables, which the owners of the tables correct.

A draft proposes a role for each column and states the reason. A draft also proposes domains, which are read from the
records. A final description must not contain such domains, because domains are public knowledge. A draft does not give
the role sensitive to any column. For these reasons, a draft begins with the line `draft = true`, and `dataset.load`
raises an error for a draft. The owner must check the draft and then delete this line.

The module `column_types` contains the rules. For files without a description, privnb infers a description by the same
rules and uses it at once.
"""

from __future__ import annotations

import functools
import re
import shlex
import shutil
import stat
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, cast

import numpy as np
import pandas as pd

from privnb.datasets import description
from privnb.datasets.column_types import GROUP, MOST_ROWS, OWNER, TIME, ColumnProposal, recognize, recognize_published
from privnb.datasets.column_values import Values
from privnb.datasets.description import GUESS, PROPOSAL, quote
from privnb.datasets.roles import check_column
from privnb.datasets.sensitive_categories import find_sensitive
from privnb.microdata import cuts
from privnb.microdata.schema import PUBLISHED, Categories, Numbers, Role, SchemaError
from privnb.runtime import expect, progress, validation
from privnb.runtime.arrays import IntArray
from privnb.runtime.errors import OutputExistsError, UsageError, output_error
from privnb.runtime.names import clean_name, describe_renaming, match_names, rename_invalid, suggest
from privnb.runtime.notices import Notice
from privnb.runtime.validation import optional, validated
from privnb.tables import reading
from privnb.tables.long_tables import TIMES, File, LongTable
from privnb.tables.notation import Notation, add_decimal_tails, find_mark, find_marks
from privnb.tables.text_files import Layout

MANY = 1_000_000  # the maximum number of distinct values of a column; other columns of undescribed files are left out


LISTED = 200  # the maximum number of values in a description; a longer domain is only in its hierarchy's file
BY_CHANCE, FIRST = 10, 10_000  # the minimum number of pairs of records; the number of records that are compared first
WHEN = ("dates", "years", "times")  # the beginnings of the reason for a column of times


HEAD = """\
# Drafted by `privnb describe` from {file}: {records} records, {columns} columns. Every line is a guess.
#
# 1. Roles. identifier: names a person; dropped from every release. quasi-identifier: others may know it.
#    sensitive: nobody should learn it about a person. neutral: none of these. unused: left out.
#    person: the key of the person or household of a record; dropped as well, and k then counts people.
#    weight: the number of people of the population that a record represents; dropped as well.
#    One row per person? {assumed}
# 2. No column is sensitive until you choose one. Without a sensitive column, attribute disclosure is not measured.
#    "Sensitive?" after a role asks about a column that looks confidential, and states the legal reason.
# 3. A domain is public knowledge: the possible values of anybody, in the table or not. Lines marked PROPOSAL were read
#    from the records; replace them. A bound that is read from the records discloses something about them and voids
#    every promise of noise. Loading rounds numbers to the step of their domain (1 by default); change it as you like.
#    missing is the label of a missing number, which counts as a value; without it, missing numbers are refused. The
#    list `missing` of a column holds further texts that mean a missing value, such as "97" for no answer. Noise with
#    epsilon refuses numbers that may be missing, unless missing_is_public = true next to the mark states that
#    everybody may know whose numbers are missing.
# 4. Public intervals begin at cuts: 10 means every 10 from 0, [18, 65] means at 18 and at 65. A published range ends at
#    a cut if fewer than ten people share its end value. Choose cuts without looking at the records.
# 5. hierarchies/default/ holds one file per categorical attribute, leaf;level 1;...;*: put similar values under one
#    label. Rare values were grouped first; their counts were read from the records, so this is a PROPOSAL, too.
#    A new value of a domain needs a line there; a domain of more than 200 values is the leaves of its file. Numbers
#    have no file: they become ranges that end at cuts.
# 6. A description with the line `draft = true` cannot be loaded: delete the line when 1 to 5 are done.
#    `privnb describe {stem} --form` covers 1, 2 and 6 with menus.
{draft}
[dataset]
name = {name}
title = {name}
description = ""
source = ""
licence = ""
citation = ""
"""


ASSUMED = {  # whether people seem to have several records, and the comment for each case
    True: 'Probably not: see role = "person" below. Without it, k would count records instead of people.',
    False: 'Assumed. If a person may have several, give the key of people role = "person", so that k counts people.',
}


RENAMED = """
# The names of these columns in the file are not allowed (slashes, angle brackets, invisible characters). Left: the name
# in the file; right: the name everywhere else. If you change a name on the right, change its [columns] and hierarchy.
[renamed]
"""


def _check_missing(name: str, value: Any) -> None:
    """Raise an error unless `value` is a mapping of columns to lists of texts that mark a missing value."""
    expect.kind(name, value, Mapping, instead="Map columns to lists of texts that mark a missing value.")
    for column, texts in value.items():
        expect.texts(f"{name}[{column!r}]", texts, "texts that mark a missing value")


Missing = Annotated[Mapping[str, Sequence[str]] | None, optional(_check_missing)]


def draft(
    file: validation.Path,
    name: str | None = None,
    folder: validation.Path = "data",
    missing: Missing = None,
    encoding: str | None = None,
) -> Path:
    """Write the folder `<folder>/<name>` with the draft of a description, which the owner corrects.

    The folder holds a copy of `file`, the description `<name>.toml`, the hierarchies
    `hierarchies/default/<attribute>.csv`, and a file `.gitignore`, which keeps all these files out of git. The copy is
    a Parquet file if `file` is neither text nor Parquet. The copy has the permissions of `file`, and only users who may
    read `file` can open the folder. Either all of these files or none of them are written, and existing files are not
    changed.

    Parameters
    ----------
    file : path-like
        A file, or a folder whose files are the parts of the table; see `reading.read_undescribed`.
    name : str, optional
        The name of the folder. By default, it is the name of the file in lower case, in which - replaces all characters
        that are neither letters nor digits.
    folder : path-like
    missing : dict of str to list of str, optional
        The texts that mark a missing value, by column, such as "97" for no answer. The key "q*" applies to each column
        whose name begins with q and in which the text occurs. Common marks, such as "?" and "NA", need not be listed.
    encoding : str, optional
        The encoding of text files that are not in UTF-8, by the name that Python uses. By default, the draft proposes
        an encoding.

    Returns
    -------
    Path
        The path of `<name>.toml`.

    Raises
    ------
    FileExistsError
        If the folder exists already.
    OSError
        If the folder cannot be written.
    SchemaError
        For a table that cannot be read or has only one record.
    ValueError
        For an invalid name, and for a text in `missing` that does not occur in the stated column.
    """
    return draft_table(file, name, folder, missing, encoding=encoding)[0]


@validated
@progress.step("finding out what the columns are")
def draft_table(
    file: validation.Path,
    name: str | None = None,
    folder: validation.Path = "data",
    missing: Missing = None,
    known: Mapping[str, Sequence[str]] = MappingProxyType({}),
    encoding: str | None = None,
    orders: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> tuple[Path, pd.DataFrame]:
    """Draft a description as `draft` does, and return the path of the description and the records.

    The records are a DataFrame with Categorical columns.

    `known` holds further texts that mark a missing value, by column; these texts need not occur in the file. For
    `orders`, see `infer_description`.
    """
    file = Path(file)
    table, layout, files = reading.read_undescribed(file, encoding)
    name = check_dataset_name(name or dataset_name(file))
    _check_several(file, len(table))
    place = Path(folder) / name
    if place.exists():
        raise OutputExistsError(
            f"{place} exists already and is left as it is. Give another name, or move the folder away."
        )
    called = table.rename(columns=rename_invalid(table))
    codes = [table[name].cat.codes.to_numpy() for name in table]
    given = _missing(table, called, missing or {}, known)
    found = infer_description(table, layout, missing=given, codes=codes, orders=orders)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=".") as unfinished:
            work = Path(unfinished) / name
            work.mkdir()
            copies = _copied(files, table, work, name)
            found.write(work, name, copies, len(table))
            modes = {
                copy: functools.reduce(int.__and__, (stat.S_IMODE(each.stat().st_mode) for each in own))
                for copy, own in copies.items()
            }
            (work / ".gitignore").write_text("*\n", encoding="utf-8")  # keeps personal data out of `git add .`
            # Only users who may read all original files may read the new files, which all hold values of records.
            readers = functools.reduce(int.__and__, modes.values(), 0o044)
            for path in (work, *work.rglob("*")):
                path.chmod(0o700 | readers | readers >> 2 if path.is_dir() else 0o600 | readers)
            for copied, mode in modes.items():
                copied.chmod(mode)
            work.rename(place)
    except OSError as error:
        said = f"{place} cannot be written: {error.strerror or error}. Nothing is left there."
        raise output_error(said, error) from error
    return place / f"{name}.toml", called


def _copied(files: Sequence[Path], table: pd.DataFrame, work: Path, name: str) -> dict[Path, Sequence[Path]]:
    """Copy the files into the folder `work`, and return `{copy: originals}`.

    Files that are neither text nor Parquet, such as workbooks, become one Parquet file of texts, from which releases
    can be written.
    """
    if reading.file_kind(files[0]) in (reading.TEXT, reading.PARQUET):
        return {Path(shutil.copyfile(each, work / clean_name(each.name))): [each] for each in files}
    import pyarrow as pa
    from pyarrow import parquet

    copy = work / f"{name}.parquet"
    parquet.write_table(pa.table({each: pa.array(table[each].astype(object), pa.string()) for each in table}), copy)
    return {copy: files}


def _missing(
    table: pd.DataFrame, called: pd.DataFrame, missing: Mapping[str, Sequence[str]], known: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Return, for each column, the texts that mark a missing value in addition to the mark of the table.

    The keys of `missing` are column names in `table`, and the keys of `known` are column names in `called`, the table
    with the new names.
    """
    mark = find_mark([(called[name], None) for name in called])
    given: dict[str, list[str]] = defaultdict(list)
    found = {}
    renamed = dict(zip(table, called, strict=True))
    for name, texts in missing.items():
        alike = [check_column(each, [*called]) for each in match_names(renamed.get(name, name), [*called])]
        for mean in texts:
            there = [each for each in alike if _holds(called[each], mean)]
            if not there:
                raise UsageError(f"no cell of '{name}' is {mean!r}. Write the mark of a missing value as in the file.")
            for each in there:
                given[each].append(mean)
    for name, column in called.items():
        there = [text for text in known.get(name, ()) if _holds(column, text)]
        means = dict.fromkeys([*given.get(name, ()), *there, *find_marks(column)])
        found[name] = [text for text in means if text != mark]
    return found


def _holds(column: pd.Series, text: str) -> bool:
    return column.cat.categories.isin(add_decimal_tails([text])).any()


def dataset_name(file: Path) -> str:
    """Return the name that a dataset has by default if it is made from this file.

    >>> dataset_name(Path("Patients 2020.csv"))
    'patients-2020'
    """
    return re.sub(r"[^a-z0-9]+", "-", file.stem.lower()).strip("-")


def check_dataset_name(name: str) -> str:
    """Return the name of a dataset.

    Raises UsageError for a text that cannot be the name of a folder.
    """
    if not (isinstance(name, str) and re.fullmatch(r"\w[\w.-]*", name)):
        raise UsageError(
            f"the name of a dataset must consist of letters, digits, - and _; got {expect.describe_value(name)}."
        )
    return name


def _check_several(file: Path, records: int) -> None:
    """Raise SchemaError for a table with only one record."""
    if records < 2:
        raise SchemaError(f"{file.name} has 1 record. A table must have at least 2 records.")


def describe_files(
    folder: Path,
    name: str,
    files: Sequence[File],
    table: LongTable,
    names: Sequence[str],
    sensitive: Sequence[str],
    roles: Mapping[str, Role] = MappingProxyType({}),
) -> tuple[Path, list[Notice]]:
    """Write an inferred description of files of any length to a folder.

    The files are read column by column.

    A release that is made with this description states that the description was inferred. As in `privnb describe`,
    columns that may identify a person are left out. All other columns that are not sensitive are quasi-identifiers.

    Parameters
    ----------
    folder : Path
    name : str
        The name of the dataset.
    files : list of long_tables.File
    table : LongTable
    names : list of str
        The names of all columns.
    sensitive : list of str
    roles : dict of str to Role, optional
        The roles that the owner states, by the new names of the columns.

    Returns
    -------
    path : Path
        The path of the description.
    notices : list of Notice
        The notices that state which facts were inferred.

    Raises
    ------
    UsageError
        For a name in `sensitive` that is not a column of the table.
    SchemaError
        For a sensitive column with too many values, and for a table with only one record.
    """
    renamed = rename_invalid(names)
    called = {renamed.get(each, each) for each in names}
    if absent := [*(each for each in sensitive if each not in names), *(each for each in roles if each not in called)]:
        raise UsageError(
            f"{files[0].path.name} has no column {', '.join(map(repr, absent))}; the columns are {', '.join(names)}."
            f"{suggest(absent, names)}"
        )
    counted = {each: table.counted([each], MANY) for each in names}
    long = [each for each, found in counted.items() if len(found) > MANY]
    shown = [each for each in long if roles.get(renamed.get(each, each)) in PUBLISHED]
    if own := [*(each for each in sensitive if each in long), *shown]:
        raise SchemaError(
            f"'{own[0]}' has more than {MANY:,} different values. Round or group the values in the file first."
        )
    texts = {each: reading.from_arrow(counted[each].select([each]))[each] for each in names if each not in long}
    times = {each: counted[each].column(TIMES).to_numpy() for each in texts}
    found = infer_description(texts, files[0].layout, times=times, sensitive=sensitive, roles=roles)
    found.columns.extend(
        ColumnProposal(own, roles.get(own, Role.UNUSED), f"more than {MANY:,} different values")
        for own in (renamed.get(each, each) for each in long)
    )
    found = replace(found, renamed=renamed)
    records = int(next(iter(times.values())).sum()) if times else table.record_count()
    _check_several(files[0].path, records)
    path = found.write(folder, name, {each.path: [each.path] for each in files}, records, draft=False)
    odd = {each.name: found.values[each.name].records_with(each.odd) for each in found.columns if each.odd}
    return path, [
        *(Notice(each, "column-renamed") for each in describe_renaming(renamed)),
        *_encoding_said(files[0].layout),
        *_said([each for each in found.columns if each.name not in roles], odd),
    ]


def _encoding_said(layout: Layout | None) -> Iterator[Notice]:
    if layout and layout.is_proposed:
        yield Notice(
            f"The file is not UTF-8 text and was read as {layout.encoding}, which is a proposal. Check letters with "
            "accents, and state another encoding if these letters are wrong.",
            "encoding-proposed",
        )


def _said(columns: Iterable[ColumnProposal], odd: Mapping[str, int]) -> Iterator[Notice]:
    if columns := [*columns]:
        said = "The table has no description, so the roles of its columns were guessed. Check them."
        yield Notice(said, "roles-guessed")
    for role, what in {
        Role.QUASI_IDENTIFIER: "others may know it, so it is generalized",
        Role.SENSITIVE: "nobody should learn it about a person; it is published (numbers in bands)",
        Role.PERSON: "it is the key of the people that k counts, and it is left out",
        Role.IDENTIFIER: "it may name a person, so it is left out",
        Role.UNUSED: "it is left out",
    }.items():
        if own := [column.name for column in columns if column.role is role]:
            yield Notice(f"The role of {', '.join(own)} is {role}: {what}.", "column-read-as")
    for name, records in odd.items():
        yield Notice(
            f"{name}: {records:,} cells of another type count as missing. Correct these cells if needed.",
            "cells-taken-as-missing",
        )


@dataclass(frozen=True, eq=False)
class Inferred:
    """The content of a description that was inferred from the records.

    Parameters
    ----------
    columns : list of Column
    values : dict of str to Values
        The values of each column, by name.
    layout : Layout, optional
        The layout of text files.
    notation : Notation
    mark : str
        The most common mark of a missing value in the table; "" if no value is missing.
    missing : dict of str to list of str
        The other texts that mark a missing value, by column.
    renamed : dict of str to str
        The new name of each column whose name in the file differs, by the name in the file.
    """

    columns: list[ColumnProposal]
    values: dict[str, Values]
    layout: Layout | None
    notation: Notation
    mark: str
    missing: Mapping[str, Sequence[str]]
    renamed: dict[str, str]

    def write(
        self, folder: Path, name: str, files: Mapping[Path, Sequence[Path]], records: int, *, draft: bool = True
    ) -> Path:
        """Write the description of a dataset and the hierarchies into a folder, and return the path of the description.

        Parameters
        ----------
        folder
        name
            The name of the dataset.
        files
            The described files and, for each described file, the original files from which it was copied.
        records
            The number of records.
        draft
            Whether the description is a draft. A draft states the checksum of each file.
        """
        place = folder / "hierarchies" / "default"
        place.mkdir(parents=True)
        for column in self.columns:
            if column.tree:
                column.tree.write(place / f"{column.name}.csv")
        path = folder / f"{name}.toml"
        path.write_text(self._text(name, files, records, draft), encoding="utf-8")
        return path

    def _text(self, name: str, files: Mapping[Path, Sequence[Path]], records: int, draft: bool) -> str:
        read = [each for own in files.values() for each in own]
        said = HEAD.format(
            file=quote(clean_name(read[0].name)) + (f" and {len(read) - 1} more" if read[1:] else ""),
            records=records,
            columns=len(self.columns),
            name=quote(name),
            stem=shlex.quote(name),
            assumed=ASSUMED[any(column.role is Role.PERSON for column in self.columns)],
            draft="draft = true\n" * draft,
        )
        for file, own in files.items():
            said += f"\n[[files]]\npath = {quote(clean_name(file.name))}\n"
            said += _sums(file, own) if draft else ""
            if self.layout and self.layout.skip_lines:
                said += f"skip_lines = {self.layout.skip_lines} # a guess: title lines above the column names\n"
        said += "".join(["\n[format]\n", *self._format()])
        if self.renamed:
            said += RENAMED + "".join(f"{quote(own)} = {quote(name)}\n" for own, name in self.renamed.items())
        return "\n".join([said, *map(self._column, self.columns)])

    def _format(self) -> Iterable[str]:
        if layout := self.layout:
            yield f"separator = {quote(layout.separator)}\n"
            if layout.quote != '"':
                yield f"quote = {quote(layout.quote)}\n"
            if layout.encoding != "utf-8":
                yield f"encoding = {quote(layout.encoding)}{_doubt(layout)}\n"
        if self.notation.decimal != ".":
            yield f"decimal = {quote(self.notation.decimal)}\n"
        if self.notation.thousands:
            yield f"thousands = {quote(self.notation.thousands)} # signs of currency and percent are removed, too\n"
        if self.mark:
            yield f"missing = {quote(self.mark)}\n"
            yield 'records_with_missing = "keep" # or "drop" these records, or "refuse" the table\n'

    def _column(self, column: ColumnProposal) -> str:
        key = column.name if re.fullmatch(r"[\w-]+", column.name, re.ASCII) else quote(column.name)
        lines = [f"[columns.{key}]", f'role = "{column.role}" # {column.reason}']
        if texts := [*self.missing.get(column.name, ()), *column.odd]:
            lines.append(missing_line(texts, column.odd))
        if column.domain is not None:
            lines.append("# " * (column.role is Role.UNUSED) + domain_line(column))
        return "\n".join(lines) + "\n"


def infer_description(
    cells: Mapping[str, pd.Series],
    layout: Layout | None = None,
    *,
    times: Mapping[str, np.ndarray] | None = None,
    missing: Mapping[str, Sequence[str]] | None = None,
    codes: Sequence[IntArray] | None = None,
    sensitive: Iterable[str] = (),
    roles: Mapping[str, Role] = MappingProxyType({}),
    orders: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Inferred:
    """Infer the description of the columns of a table.

    Parameters
    ----------
    cells
        A Categorical of texts for each column, by its name in the file.
    layout
        The layout of the text files.
    times
        The number of records that each entry represents, by column; by default, each entry represents 1 record.
    missing
        The texts that mark a missing value, by the new name of a column.
    codes
        The code of each record in each column, which the search for a key of people needs; see `find_person_key`.
    sensitive
        The columns that the owner states to be sensitive.
    roles
        The roles that the owner states, by the new name of a column.
    orders
        The texts of a column from the lowest to the highest, if the owner states such an order, by the column's name in
        the file.
    """
    renamed, times, missing = rename_invalid(cells), times or {}, missing or {}
    names = {own: renamed.get(own, own) for own in cells}
    mark = find_mark([(cells[own], times.get(own)) for own in cells])
    values = {
        name: Values.of(
            cells[own],
            mark or "NA",
            times.get(own),
            add_decimal_tails(missing.get(name, ())),
            tuple(orders.get(own, ())),
        )
        for own, name in names.items()
    }
    notation = Notation.found([each.numerals for each in values.values()], layout.separator if layout else None)
    values = {name: each.without_tails(notation) for name, each in values.items()}
    columns = find_person_key([recognize(name, each, notation) for name, each in values.items()], values, codes)
    stated = {names[own]: Role.SENSITIVE for own in sensitive} | dict(roles)
    if Role.PERSON in stated.values():  # a table has only one key of people
        keys = [each.name for each in columns if each.role is Role.PERSON]
        stated = dict.fromkeys(keys, Role.IDENTIFIER) | stated
    columns = [
        _stated(each, stated[each.name], values[each.name], notation) if each.name in stated else each
        for each in columns
    ]
    questions = find_sensitive(values, {each.name: each.role for each in columns})
    columns = [
        each._replace(reason=f"{each.reason}. {questions[each.name].question}")
        if each.name in questions and each.name not in stated
        else each
        for each in columns
    ]
    mark = mark or "NA" * any([*missing.values(), *(column.odd for column in columns)])
    return Inferred(columns, values, layout, notation, mark, missing, renamed)


def _stated(column: ColumnProposal, role: Role, values: Values, notation: Notation) -> ColumnProposal:
    """Return the proposal for a column, with the role that the owner states."""
    if role in PUBLISHED and (column.domain is None or role is Role.SENSITIVE):
        column = recognize_published(column.name, values, notation)
    return column._replace(role=role)


def find_person_key(
    columns: Sequence[ColumnProposal], values: Mapping[str, Values], table: Sequence[IntArray] | None = None
) -> list[ColumnProposal]:
    """Return the columns, and give the role person to the first column that looks like a key of people.

    A column looks like a key because of its name, or because each value of the column occurs in at most one record for
    each point in time. `table` holds the code of each record in each column; without `table`, only names are used.
    """
    for place, column in enumerate(columns):
        each = values[column.name]
        if each.missing or not 1 < each.different < each.records:
            continue
        keyed = OWNER.search(column.name) and not GROUP.fullmatch(column.name)
        if keyed and each.records < each.different * MOST_ROWS:
            why = "k counts people; if it is not a key, give it another role"
        elif time := table and _panel(column, table[place], columns, table):
            why = f"nobody has two with the same '{time}', so k counts people; if it is not a key, give it another role"
        else:
            continue
        reason = f"{each.different:,} people in {each.records:,} records: {why}"
        return [*columns[:place], ColumnProposal(column.name, Role.PERSON, reason), *columns[place + 1 :]]
    return [*columns]


def _panel(
    column: ColumnProposal, codes: IntArray, columns: Sequence[ColumnProposal], table: Sequence[IntArray]
) -> str | None:
    """Return the name of a column of times such that no two records have the same time and value of `column`.

    The result is None if there is no such column.

    A column of times is returned only if, by chance, at least ten pairs of records would be expected to share both a
    value and a time. A rank within each year also has this property, so a column of numbers must, in addition,
    determine another column.
    """
    numbers = column.domain is not None and not isinstance(column.domain, Categories)
    if TIME.search(column.name) or column.reason.startswith(WHEN):
        return None
    alike = _alike(codes)
    if numbers and not any(_determined(codes, alike, other) for other in table if other is not codes):
        return None
    for other, times in zip(columns, table, strict=True):
        timed = other is not column and (TIME.search(other.name) or other.reason.startswith(WHEN))
        if timed and alike * _alike(times) >= BY_CHANCE * len(codes) ** 2 / 2:
            pairs = codes.astype(np.int64) * (int(times.max()) + 2) + times
            if all(len(np.unique(some)) == len(some) for some in (pairs[:FIRST], pairs)):
                return other.name
    return None


def _determined(codes: IntArray, alike: float, others: IntArray) -> bool:
    """Return whether records with the same code always have the same value in another column.

    The result is False if, by chance, fewer than ten pairs of records with the same code would be expected to differ in
    the other column.

    `alike` is the number of pairs of records with the same code.
    """
    pairs = len(codes) * (len(codes) - 1) / 2
    if alike * (1 - _alike(others) / pairs) < BY_CHANCE:
        return False
    own = np.empty(int(codes.max()) + 1, dtype=np.int64)
    for some, other in ((codes[:FIRST], others[:FIRST]), (codes, others)):
        own[some] = other
        if not np.array_equal(own[some], other):
            return False
    return True


def _alike(codes: IntArray) -> float:
    """Return the number of pairs of records whose codes are equal."""
    counts = np.bincount(codes + 1).astype(float)
    return counts @ (counts - 1) / 2


def _doubt(layout: Layout) -> str:
    """Return the comment that follows an encoding that the owner has not stated; empty for a stated encoding."""
    if layout.others:
        fit = f"{' and '.join(layout.others)} {'fits' if len(layout.others) == 1 else 'fit'} as well"
        return (
            f" # {PROPOSAL}: {fit}. If letters are wrong, draft the table again with --encoding; otherwise, delete "
            "this "
            "comment"
        )
    return " # a guess: check letters with accents" * layout.is_proposed


def _sums(file: Path, own: Sequence[Path]) -> str:
    """Return the lines with the checksum of a file and, if it differs from its originals, their checksums."""
    whole, parts = description.checksum(file), [description.checksum(each) for each in own]
    made = f"made_of = {_list(parts)} # checksums\n" if whole not in parts else ""
    return f'sha256 = "{whole}"\n{made}'


def missing_line(texts: Iterable[str], odd: Sequence[str] = ()) -> str:
    """Return the line of a description that lists the texts of a column that count as missing.

    If some of the texts are `odd`, that is, of a type other than the type of the column, the comment of the line states
    that this is a guess.
    """
    why = f"{GUESS}: texts of another type count as missing" if odd else "texts that mark a missing value"
    return f"missing = {_list(texts)} # {why}"


def domain_line(column: ColumnProposal, *, is_proposed: bool = True) -> str:
    """Return the line of a description that proposes or, if `is_proposed` is false, states the domain of a column.

    If the domain has many values, the line contains the path of the hierarchy's file instead of the values.
    """
    if column.tree and isinstance(column.domain, Categories) and len(column.domain.values) > LISTED:
        place = quote(f"hierarchies/default/{column.name}.csv")
        why = f" # {PROPOSAL}, the leaves of that file, read from the records: replace them"
        return f"domain = {place}{why * is_proposed}"
    return f"domain = {_domain(column.domain)}" + f" # {PROPOSAL}, read from the records: replace it" * is_proposed


def _domain(domain: Categories | Numbers | None) -> str:
    if not isinstance(domain, Numbers):
        return _list(domain.values if domain else ())
    step = "" if domain.step == 1 else f", step = {domain.step}"
    gap = "" if domain.missing is None else f", missing = {quote(domain.missing)}"
    own = cast(tuple[float, ...], domain.cuts)
    parted = cuts.grain(domain) if own == cuts.cut_points(domain, None) else [*own]
    return f"{{ low = {domain.low}, high = {domain.high}{step}, cuts = {parted}{gap} }}"


def _list(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(quote, texts))}]"
