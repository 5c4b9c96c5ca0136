"""Draft the description of an owner's table, for the owner to correct.

A draft guesses roles and says why. It proposes domains as it saw them in the records, which no description may do in
the end (domains are public knowledge), and it names nothing sensitive. So a draft starts with `draft = true`, and
`dataset.load` refuses it until the owner has gone through it and deleted that line.

What is guessed of a column, `column_types` says. A description of files that nobody has described is inferred in the
same way, and used as it is.
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
from privnb.datasets.column_types import GROUP, MOST_ROWS, OWNER, TIME, Column, published, recognized
from privnb.datasets.column_values import Values
from privnb.datasets.description import GUESS, PROPOSAL, quote
from privnb.datasets.roles import checked
from privnb.microdata import cuts
from privnb.microdata.schema import PUBLISHED, Categories, Numbers, Role, SchemaError
from privnb.runtime import expect, progress, validation
from privnb.runtime.arrays import IntArray
from privnb.runtime.errors import OutputExistsError, ResourceError, UsageError
from privnb.runtime.names import like, meant, offered, renamed_in, renaming
from privnb.runtime.notices import Notice
from privnb.runtime.validation import optional, validated
from privnb.tables import reading
from privnb.tables.long_tables import TIMES, File, LongTable
from privnb.tables.notation import Notation, mark_of, marks_in, with_tails
from privnb.tables.text_files import Layout

MANY = 1_000_000  # different values of a column of undescribed files that is read


LISTED = 200  # a longer domain stands in its hierarchy's file alone
BY_CHANCE, FIRST = 10, 10_000  # pairs of records; records that are compared before all
WHEN = ("dates", "years", "times")  # how a draft says that a column is a time


HEAD = """\
# Drafted by `privnb describe` from {file}: {records} records, {columns} columns. A guess, line by line.
#
# 1. Roles. identifier: names a person, dropped from every release. quasi-identifier: others may know it from elsewhere.
#    sensitive: what nobody should learn about a person. neutral: neither. unused: left out.
#    person: the key of the person or household whose record this is, dropped too; k then counts different people.
#    weight: for how many people of a population the record stands, dropped too.
#    One row per person? {assumed}
# 2. Nothing is sensitive until you say so: choose at least one column, or what an adversary learns is not measured.
# 3. A domain is public knowledge: what a value could be, whoever is in the table. Lines marked PROPOSAL were read from
#    the records; replace them. A bound read from the records tells about them and voids every promise of noise.
#    Numbers are rounded to their domain's step (1 where none stands) when they are loaded; choose another as you like.
#    missing is how labels write a number that is not there: a value of its own. Without it such a table is refused. A
#    column's own list of missing names texts that say the same there, such as "97" where nobody answered. Noise with
#    epsilon refuses numbers that may be missing, unless missing_is_public = true beside the mark says that everybody
#    may know whose numbers are missing.
# 4. cuts are where public intervals begin: 10 means every 10 from 0, [18, 65] at 18 and at 65. A published range ends
#    there where fewer than ten people share its end value. Choose them as one who does not know the records.
# 5. hierarchies/default/ holds one file per attribute of categories, leaf;level 1;...;*: put values that are alike
#    under one label. Rare values were grouped first, and how rare they are was read from the records: a PROPOSAL, too.
#    A value added to a domain needs its line there; of more than 200 values the file is the domain. Numbers have no
#    file: they become ranges that end at cuts.
# 6. While a line `draft = true` is below, nothing loads this description: delete it when 1 to 5 are done.
#    `privnb describe {stem} --form` does 1, 2 and 6 by menu.
{draft}
[dataset]
name = {name}
title = {name}
description = ""
source = ""
licence = ""
citation = ""
"""


ASSUMED = {  # whether people have several records each
    True: 'No, it seems: see role = "person" below. Without it a person\'s own records would hide that person.',
    False: 'Assumed. If a person may have several, give their key role = "person": records of one hide nobody.',
}


RENAMED = """
# The file's own names of these columns hold what no name may (slashes, angle brackets, invisible characters). Left: as
# in the file; right: as everywhere else. Another name on the right must stand at its [columns] and hierarchy as well.
[renamed]
"""


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
@progress.step("finding out what the columns are")
def drafted(
    file: validation.Path,
    name: str | None = None,
    folder: validation.Path = "data",
    missing: Missing = None,
    known: Mapping[str, Sequence[str]] = MappingProxyType({}),
    encoding: str | None = None,
    orders: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> tuple[Path, pd.DataFrame]:
    """What `draft` returns, and the records that it read: a Categorical per column, by its name in the description.

    `known`: further texts for missing values, which need not be in the file; `orders`: as of `infer_description`.
    """
    file = Path(file)
    table, layout, files = reading.read_unknown(file, encoding)
    name = checked_name(name or named(file))
    _check_several(file, len(table))
    place = Path(folder) / name
    if place.exists():
        raise OutputExistsError(f"{place} exists already and is left as it is. Give another name, or move it away.")
    called = table.rename(columns=renamed_in(table))
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
            (work / ".gitignore").write_text("*\n", encoding="utf-8")  # people's data: no `git add .` takes it along
            # Open to whom all the files are open: values of their records stand in all of them.
            readers = functools.reduce(int.__and__, modes.values(), 0o044)
            for path in (work, *work.rglob("*")):
                path.chmod(0o700 | readers | readers >> 2 if path.is_dir() else 0o600 | readers)
            for copied, mode in modes.items():
                copied.chmod(mode)
            work.rename(place)
    except OSError as error:
        raise ResourceError(f"{place} cannot be written: {error.strerror or error}. Nothing is left of it.") from error
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
                raise UsageError(f"no cell of '{name}' is {mean!r}. Write what means missing as the file does.")
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


def checked_name(name: str) -> str:
    """Return the name of a dataset. Raise UsageError for one that cannot be the name of a folder."""
    if not (isinstance(name, str) and re.fullmatch(r"\w[\w.-]*", name)):
        raise UsageError(f"the name of a dataset must be letters, digits, - and _; got {expect.found(name)}.")
    return name


def _check_several(file: Path, records: int) -> None:
    """Raise SchemaError for a table of one record."""
    if records < 2:
        raise SchemaError(f"{file.name} has 1 record. A table needs at least 2: there is nobody to hide among.")


def describe_files(
    folder: Path,
    name: str,
    files: Sequence[File],
    table: LongTable,
    names: Sequence[str],
    sensitive: Sequence[str],
    roles: Mapping[str, Role] = MappingProxyType({}),
) -> tuple[Path, list[Notice]]:
    """Write the description of files of any length that nobody has described to a folder, read column by column.

    It is a guess, and the release says so. Whatever may name a person is left out, as `privnb describe` guesses it;
    what is not sensitive is a quasi-identifier.

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
    roles : dict of str to Role, optional
        The roles that the owner gives, by the names that columns have here.

    Returns
    -------
    path : Path
        Of the description.
    said : list of Notice
        What was guessed, sentences.

    Raises
    ------
    SchemaError
        For a sensitive column that is not there or has too many values, and for a table of one record.
    """
    renamed = renamed_in(names)
    called = {renamed.get(each, each) for each in names}
    if absent := [*(each for each in sensitive if each not in names), *(each for each in roles if each not in called)]:
        raise SchemaError(
            f"{files[0].path.name} has no column {', '.join(map(repr, absent))}; it has {', '.join(names)}."
            f"{meant(absent, names)}"
        )
    counted = {each: table.counted([each], MANY) for each in names}
    long = [each for each, found in counted.items() if len(found) > MANY]
    shown = [each for each in long if roles.get(renamed.get(each, each)) in PUBLISHED]
    if own := [*(each for each in sensitive if each in long), *shown]:
        raise SchemaError(f"'{own[0]}' has more than {MANY:,} different values. Round or group them in the file first.")
    texts = {each: reading.of_arrow(counted[each].select([each]))[each] for each in names if each not in long}
    times = {each: counted[each].column(TIMES).to_numpy() for each in texts}
    found = infer_description(texts, files[0].layout, times=times, sensitive=sensitive, roles=roles)
    found.columns.extend(
        Column(own, roles.get(own, Role.UNUSED), f"more than {MANY:,} different values")
        for own in (renamed.get(each, each) for each in long)
    )
    found = replace(found, renamed=renamed)
    records = int(next(iter(times.values())).sum()) if times else table.record_count()
    _check_several(files[0].path, records)
    path = found.write(folder, name, {each.path: [each.path] for each in files}, records, draft=False)
    odd = {each.name: found.values[each.name].records_with(each.odd) for each in found.columns if each.odd}
    return path, [
        *(Notice(each, "column-renamed") for each in renaming(renamed)),
        *_encoding_said(files[0].layout),
        *_said([each for each in found.columns if each.name not in roles], odd),
    ]


def _encoding_said(layout: Layout | None) -> Iterator[Notice]:
    if layout and layout.is_proposed:
        yield Notice(
            f"The text is not UTF-8 and was read as {layout.encoding}, a proposal. Look at letters with accents, and "
            "state another encoding if they are wrong.",
            "encoding-proposed",
        )


def _said(columns: Iterable[Column], odd: Mapping[str, int]) -> Iterator[Notice]:
    if columns := [*columns]:
        said = "Nobody has said what the columns are. Their roles were guessed and are for you to check."
        yield Notice(said, "roles-guessed")
    for role, what in {
        Role.QUASI_IDENTIFIER: "others may know it, and it is generalized",
        Role.SENSITIVE: "nobody should learn it of a person, and it is published (a number in bands)",
        Role.PERSON: "it is the key of people, whom k counts, and it is left out",
        Role.IDENTIFIER: "it may name a person and is left out",
        Role.UNUSED: "it is left out",
    }.items():
        if own := [column.name for column in columns if column.role is role]:
            yield Notice(f"The role of {', '.join(own)} is {role}: {what}.", "column-read-as")
    for name, records in odd.items():
        yield Notice(
            f"{name}: cells that are not of its type count as missing, {records:,} in all. Correct them if needed.",
            "cells-taken-as-missing",
        )


@dataclass(frozen=True, eq=False)
class Inferred:
    """What a table's description may say.

    Parameters
    ----------
    columns : list of Column
    values : dict of str to Values
        By column.
    layout : Layout, optional
        Of text files.
    notation : Notation
    mark : str
        How most of the table says that a value is missing; "" if none is.
    missing : dict of str to list of str
        By column the other texts that say so.
    renamed : dict of str to str
        What columns are called here, by their names in the file, where these differ.
    """

    columns: list[Column]
    values: dict[str, Values]
    layout: Layout | None
    notation: Notation
    mark: str
    missing: Mapping[str, Sequence[str]]
    renamed: dict[str, str]

    def write(
        self, folder: Path, name: str, files: Mapping[Path, Sequence[Path]], records: int, *, draft: bool = True
    ) -> Path:
        """Write the description of a dataset, with its hierarchies, into a folder, and return its path.

        Parameters
        ----------
        folder
        name
            Of the dataset.
        files
            The described ones, and which files each is a copy of.
        records
            How many there are.
        draft
            Whether an owner goes through it: it says so, and names the checksum of each file.
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
            file=quote(offered(read[0].name)) + (f" and {len(read) - 1} more" if read[1:] else ""),
            records=records,
            columns=len(self.columns),
            name=quote(name),
            stem=shlex.quote(name),
            assumed=ASSUMED[any(column.role is Role.PERSON for column in self.columns)],
            draft="draft = true\n" * draft,
        )
        for file, own in files.items():
            said += f"\n[[files]]\npath = {quote(offered(file.name))}\n"
            said += _sums(file, own) if draft else ""
            if self.layout and self.layout.skip_lines:
                said += (
                    f"skip_lines = {self.layout.skip_lines} # a guess: a title, it seems, above the columns' names\n"
                )
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
            yield f"thousands = {quote(self.notation.thousands)} # signs of currency and per cent are left out, too\n"
        if self.mark:
            yield f"missing = {quote(self.mark)}\n"
            yield 'records_with_missing = "keep" # or "drop" those, or "refuse" the table\n'

    def _column(self, column: Column) -> str:
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
    """Infer what the columns of a table are.

    Parameters
    ----------
    cells
        A Categorical of texts for each column, by its name in the file.
    layout
        Of the text files that hold them.
    times
        For how many records each entry of a column stands; None: one.
    missing
        By the name that a column has here, the texts that say that a value is missing.
    codes
        The codes of each column, record by record, in which a key of people is looked for, see `of_people`.
    sensitive
        The columns whose owner says that nobody should learn them.
    roles
        The roles that the owner gives, by the name that a column has here.
    orders
        By the name that a column has in the file, its texts from the lowest to the highest, if its owner states that.
    """
    renamed, times, missing = renamed_in(cells), times or {}, missing or {}
    names = {own: renamed.get(own, own) for own in cells}
    mark = mark_of([(cells[own], times.get(own)) for own in cells])
    values = {
        name: Values.of(
            cells[own], mark or "NA", times.get(own), with_tails(missing.get(name, ())), tuple(orders.get(own, ()))
        )
        for own, name in names.items()
    }
    notation = Notation.found([each.numerals for each in values.values()], layout.separator if layout else None)
    values = {name: each.without_tails(notation) for name, each in values.items()}
    columns = of_people([recognized(name, each, notation) for name, each in values.items()], values, codes)
    stated = {names[own]: Role.SENSITIVE for own in sensitive} | dict(roles)
    if Role.PERSON in stated.values():  # there is one key
        keys = [each.name for each in columns if each.role is Role.PERSON]
        stated = dict.fromkeys(keys, Role.IDENTIFIER) | stated
    columns = [
        _stated(each, stated[each.name], values[each.name], notation) if each.name in stated else each
        for each in columns
    ]
    mark = mark or "NA" * any([*missing.values(), *(column.odd for column in columns)])
    return Inferred(columns, values, layout, notation, mark, missing, renamed)


def _stated(column: Column, role: Role, values: Values, notation: Notation) -> Column:
    """Return a column in the role that its owner states."""
    if role in PUBLISHED and (column.domain is None or role is Role.SENSITIVE):
        column = published(column.name, values, notation)
    return column._replace(role=role)


def of_people(
    columns: Sequence[Column], values: Mapping[str, Values], table: Sequence[IntArray] | None = None
) -> list[Column]:
    """The same columns, of which the first that looks like a key of people who have several records each is one: by its
    name, or as none of its values has two records of one time.

    `table`: the codes of each column, by record; without it names alone are looked at.
    """
    for place, column in enumerate(columns):
        each = values[column.name]
        if each.missing or not 1 < each.different < each.records:
            continue
        keyed = OWNER.search(column.name) and not GROUP.fullmatch(column.name)
        if keyed and each.records < each.different * MOST_ROWS:
            why = "k counts people; if it is no key, give another role"
        elif time := table and _panel(column, table[place], columns, table):
            why = f"none has two of one '{time}', so k counts them; if it is no key, give another role"
        else:
            continue
        reason = f"{each.different:,} people in {each.records:,} records: {why}"
        return [*columns[:place], Column(column.name, Role.PERSON, reason), *columns[place + 1 :]]
    return [*columns]


def _panel(column: Column, codes: IntArray, columns: Sequence[Column], table: Sequence[IntArray]) -> str | None:
    """The name of the column of times, each of which a value of `column` has at most once, though by chance at least
    ten pairs of records would share both; None without one. So has a rank within each year: a number also tells
    something that stays.
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
    """Whether records of one code are alike in another column, though by chance at least ten pairs would differ there.

    `alike`: how many pairs have the same code.
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
    """How many pairs of records have the same code."""
    counts = np.bincount(codes + 1).astype(float)
    return counts @ (counts - 1) / 2


def _doubt(layout: Layout) -> str:
    """The comment beside an encoding that nobody has stated."""
    if layout.others:
        fit = f"{' and '.join(layout.others)} {'fits' if len(layout.others) == 1 else 'fit'} as well"
        return f" # {PROPOSAL}: {fit}. If letters are wrong, draft it again with --encoding; else delete this comment"
    return " # a guess: see whether letters with accents are right" * layout.is_proposed


def _sums(file: Path, own: Sequence[Path]) -> str:
    """The lines of a file's checksum, and of those that it was made of where it is no copy."""
    whole, parts = description.checksum(file), [description.checksum(each) for each in own]
    made = f"made_of = {_list(parts)} # checksums\n" if whole not in parts else ""
    return f'sha256 = "{whole}"\n{made}'


def missing_line(texts: Iterable[str], odd: Sequence[str] = ()) -> str:
    """Return the line of a description that names the texts of a column that count as missing, some of them `odd`."""
    why = (
        f"{GUESS}: what is not of the column's type counts as missing"
        if odd
        else "texts that say that no value is there"
    )
    return f"missing = {_list(texts)} # {why}"


def domain_line(column: Column) -> str:
    """Return the line that proposes the domain of a `Column`. A long one is the leaves of its tree's file."""
    if column.tree and isinstance(column.domain, Categories) and len(column.domain.values) > LISTED:
        place = quote(f"hierarchies/default/{column.name}.csv")
        return f"domain = {place} # {PROPOSAL}, the leaves of that file, read from the records: replace"
    return f"domain = {_domain(column.domain)} # {PROPOSAL}, read from the records: replace"


def _domain(domain: Categories | Numbers | None) -> str:
    if not isinstance(domain, Numbers):
        return _list(domain.values if domain else ())
    step = "" if domain.step == 1 else f", step = {domain.step}"
    gap = "" if domain.missing is None else f", missing = {quote(domain.missing)}"
    own = cast(tuple[float, ...], domain.cuts)
    parted = cuts.grain(domain) if own == cuts.points(domain, None) else [*own]
    return f"{{ low = {domain.low}, high = {domain.high}{step}, cuts = {parted}{gap} }}"


def _list(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(quote, texts))}]"
