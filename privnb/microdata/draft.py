"""Draft the description of an owner's table, for the owner to correct.

A draft guesses roles and says why. It proposes domains as it saw them in the records, which no description may do in
the end (domains are public knowledge), and it names nothing sensitive. So a draft starts with `draft = true`, and
`dataset.load` refuses it until the owner has gone through it and deleted that line.

What it guesses of a column, `column_types` says.
"""

import functools
import itertools
import re
import shlex
import shutil
import stat
import tempfile
from pathlib import Path

from privnb.microdata import cuts, description, expect, reading
from privnb.microdata.column_types import recognized
from privnb.microdata.column_values import Values
from privnb.microdata.counts import people_among
from privnb.microdata.names import offered, refused
from privnb.microdata.owners import of_people
from privnb.microdata.schema import Categories, Role, SchemaError
from privnb.microdata.toml_lines import quoted

MISSING = ("?", "NA", "N/A", "NaN", "NULL")  # marks of a missing value, beside the empty cell
LISTED = 200  # a longer domain stands in its hierarchy's file alone


def draft(file, name=None, folder="data"):
    """Write the folder `<folder>/<name>` for the owner to correct.

    The folder holds a copy of `file`, `<name>.toml`, `hierarchies/default/<attribute>.csv`, and a `.gitignore` that
    keeps all of them out of git. The copy has the file's mode, and the folder is open only to whoever may read the
    file. All or nothing is written, and nothing that exists is changed.

    Parameters
    ----------
    file : path-like
        A file, or a folder of parts: see `reading.read_unknown`.
    name : str, optional
        None: the file's name, in lower case, with - for what is no letter or digit.
    folder : path-like

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
        For a name that names no folder.
    """
    return drafted(file, name, folder)[0]


def drafted(file, name=None, folder="data"):
    """What `draft` returns, and the records that it read: a Categorical per column, by its name in the description."""
    file, folder = Path(expect.path("file", file)), expect.path("folder", folder)
    if name is not None:
        expect.kind("name", name, str)
    table, layout, files = reading.read_unknown(file)
    name = name or named(file)
    if not re.fullmatch(r"\w[\w.-]*", name):
        raise ValueError(f"a dataset's name is a folder's name: letters, digits, - and _; got {name!r}.")
    if len(table) < 2:
        raise SchemaError(f"{file.name} has 1 record. A table needs at least 2: there is nobody to hide among.")
    place = Path(folder) / name
    if place.exists():
        raise FileExistsError(f"{place} exists already and is left as it is. Give another name, or move it away.")
    renamed = renamed_in(table)
    mark = mark_of([(table[name], None) for name in table])
    values = {renamed.get(name, name): Values.of(table[name], mark) for name in table}
    decimal = "," if any(each.decimal_comma() for each in values.values()) else "."
    columns = [recognized(name, each.with_points() if decimal == "," else each) for name, each in values.items()]
    columns = of_people(columns, values, [table[name].cat.codes.to_numpy() for name in table])
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=".") as unfinished:
            work = Path(unfinished) / name
            (work / "hierarchies" / "default").mkdir(parents=True)
            modes = {
                shutil.copyfile(each, work / offered(each.name)): stat.S_IMODE(each.stat().st_mode) for each in files
            }
            for column in columns:
                if column.tree:
                    column.tree.write(work / "hierarchies" / "default" / f"{column.name}.csv")
            head = text(name, files, layout, decimal, len(table), mark, columns, renamed)
            (work / f"{name}.toml").write_text(head, encoding="utf-8")
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
    return place / f"{name}.toml", table.rename(columns=renamed)


def named(file):
    """What a dataset is called after its file.

    >>> named(Path("Patients 2020.csv"))
    'patients-2020'
    """
    return re.sub(r"[^a-z0-9]+", "-", file.stem.lower()).strip("-")


def renamed_in(names):
    """`{column: another name}` for the columns whose own names may not be used or can name no file of a hierarchy."""
    unfit = [column for column in names if refused(column) or re.search(r"[/\\]|^\.", column)]
    taken, renamed = set(names) - set(unfit), {}
    for column in unfit:
        name = offered(re.sub(r"[/\\]|^\W+", " ", column))
        numbered = (f"{name} {number}" for number in itertools.count(2))
        renamed[column] = next(each for each in itertools.chain([name], numbered) if each not in taken)
        taken.add(renamed[column])
    return renamed


def mark_of(columns):
    """The commonest mark of missing values in a table; "" if none is missing.

    `columns`: of each its Categorical of texts, and how many records each entry stands for, or None.
    """
    counts = dict.fromkeys(MISSING, 0)
    empty = False
    for column, times in columns:
        codes, categories = column.cat.codes.to_numpy(), column.cat.categories
        empty = empty or bool((codes < 0).any())
        for mark in set(MISSING).intersection(categories):
            counts[mark] += people_among(codes == categories.get_loc(mark), times=times)
    mark = max(counts, key=counts.get)
    return mark if empty or counts[mark] else ""


HEAD = """\
# Drafted by `privnb new` from {file}: {records} records, {columns} columns. A guess, line by line.
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
#    missing is how labels write a number that is not there: a value of its own. Without it such a table is refused.
# 4. cuts are where public intervals begin: 10 means every 10 from 0, [18, 65] at 18 and at 65. A published range ends
#    there where fewer than ten people share its end value. Choose them as one who does not know the records.
# 5. hierarchies/default/ holds one file per attribute of categories, leaf;level 1;...;*: put values that are alike
#    under one label. Rare values were grouped first, and how rare they are was read from the records: a PROPOSAL, too.
#    A value added to a domain needs its line there; of more than 200 values the file is the domain. Numbers have no
#    file: they become ranges that end at cuts.
# 6. Then delete the line below that says draft; until then nothing loads this description. `privnb app --describe
#    {stem}` does 1, 2 and 6 by menu.
draft = true

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


def text(name, files, layout, decimal, records, mark, columns, renamed, checked=True):
    """What a description says; `checked`: with the checksum of each file."""
    head = HEAD.format(
        file=quoted(offered(files[0].name)) + (f" and {len(files) - 1} more" if files[1:] else ""),
        records=records,
        columns=len(columns),
        name=quoted(name),
        stem=shlex.quote(name),
        assumed=ASSUMED[any(column.role is Role.PERSON for column in columns)],
    )
    for file in files:
        head += f"\n[[files]]\npath = {quoted(offered(file.name))}\n"
        head += f'sha256 = "{description.checksum(file)}"\n' if checked else ""
    head += "\n[format]\n"
    if layout:
        head += f"separator = {quoted(layout.separator)}\n"
    if layout and layout.encoding != "utf-8":
        head += f"encoding = {quoted(layout.encoding)} # a guess: see whether letters with accents are right\n"
    if decimal != ".":
        head += f"decimal = {quoted(decimal)}\n"
    if mark:
        head += f'missing = {quoted(mark)}\nrecords_with_missing = "keep" # or "drop" those, or "refuse" the table\n'
    if renamed:
        head += RENAMED + "".join(f"{quoted(own)} = {quoted(name)}\n" for own, name in renamed.items())
    parts = [head]
    for column in columns:
        key = column.name if re.fullmatch(r"[\w-]+", column.name, re.ASCII) else quoted(column.name)
        lines = [f"[columns.{key}]", f'role = "{column.role}" # {column.reason}']
        if column.domain is not None:
            hidden = "# " if column.role is Role.UNUSED else ""
            lines.append(f"{hidden}{proposal(column)}")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def proposal(column):
    """The line of a description that proposes the domain of a `Column`. A long one is the leaves of its tree's file."""
    if column.tree and len(column.domain.values) > LISTED:
        place = quoted(f"hierarchies/default/{column.name}.csv")
        return f"domain = {place} # PROPOSAL, the leaves of that file, read from the records: replace"
    return f"domain = {_domain(column.domain)} # PROPOSAL, read from the records: replace"


def _domain(domain):
    if isinstance(domain, Categories):
        return f"[{', '.join(map(quoted, domain.values))}]"
    step = "" if domain.step == 1 else f", step = {domain.step}"
    missing = "" if domain.missing is None else f", missing = {quoted(domain.missing)}"
    return f"{{ low = {domain.low}, high = {domain.high}{step}, cuts = {cuts.grain(domain)}{missing} }}"
