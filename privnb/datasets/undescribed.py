"""Files of any length that nobody has described: what a release needs to know of them, read column by column.

It is a guess, and the release says so. An owner describes their table instead, by `privnb new` or `privnb app --new`.
"""

from privnb.datasets import draft_text
from privnb.datasets.column_types import Column, published, recognized
from privnb.datasets.column_values import Values
from privnb.datasets.owners import of_people
from privnb.microdata.missing_marks import mark_of
from privnb.microdata.schema import Role, SchemaError
from privnb.runtime.names import meant, renamed_in, renaming
from privnb.tables import reading
from privnb.tables.long_tables import TIMES
from privnb.tables.notation import Notation

MANY = 1_000_000  # different values of a column that is read


def described(folder, name, files, table, names, sensitive):
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
    renamed = renamed_in(names)
    mark = mark_of([(texts[each], times[each]) for each in texts])
    values = {renamed.get(each, each): Values.of(texts[each], mark or "NA", times[each]) for each in texts}
    layout = files[0].layout
    notation = Notation.found([each.numerals for each in values.values()], layout and layout.separator)
    values = {name: each.without_tails(notation) for name, each in values.items()}
    columns = of_people([recognized(each, found, notation) for each, found in values.items()], values)
    secret = [renamed.get(each, each) for each in sensitive]
    columns = [
        published(each.name, values[each.name], notation)._replace(role=Role.SENSITIVE) if each.name in secret else each
        for each in columns
    ]
    mark = mark or "NA" * any(column.odd for column in columns)
    columns += [Column(renamed.get(each, each), Role.UNUSED, f"more than {MANY:,} different values") for each in long]
    (folder / "hierarchies" / "default").mkdir(parents=True)
    for column in columns:
        if column.tree:
            column.tree.write(folder / "hierarchies" / "default" / f"{column.name}.csv")
    records = int(next(iter(times.values()), [0]).sum())
    if records < 2:
        raise SchemaError(
            f"{files[0].path.name} has 1 record. A table needs at least 2: there is nobody to hide among."
        )
    path, paths = folder / f"{name}.toml", [each.path for each in files]
    copies = {each: [each] for each in paths}
    text = draft_text.text(name, copies, layout, notation, records, mark, columns, renamed, checked=False)
    path.write_text(text.replace("\ndraft = true\n", "\n"), encoding="utf-8")
    odd = {each.name: values[each.name].records_with(each.odd) for each in columns if each.odd}
    return path, [*renaming(renamed), *_said(columns, odd)]


def _said(columns, odd):
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
