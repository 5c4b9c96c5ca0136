"""No output of ours that is to be shown holds an original record: a folder is looked through before it leaves.

What is looked for, and what is not seen, stands in `microdata.leaks`; where, in `microdata.hiding_places`.
"""

import functools
from pathlib import Path

import pandas as pd

from privnb.datasets import dataset
from privnb.datasets.dataset import Chosen
from privnb.microdata.schema import PUBLISHED, Role
from privnb.microdata.withholding import LIMIT
from privnb.publishing.leaks import Names, Original, records_in, words_of
from privnb.reporting import rendering
from privnb.reporting.notebooks import ReportError
from privnb.runtime import expect

PACKAGE = Path(__file__).resolve().parents[1]
TEXTS = (".py", ".js", ".css", ".j2", ".ipynb", ".toml")  # of ours, whose words name nobody
SAID = 8  # places that an error names


class LeakError(ReportError):
    """What was to be shown holds an original record, a name or an identifier. The message says where, and shows none.

    Attributes
    ----------
    leaks : list of Leak
    """

    def __init__(self, leaks, kept):
        self.leaks = leaks
        places = [f"  {leak}" for leak in leaks[:SAID]]
        more = [f"  and {len(leaks) - SAID:,} more places"] if len(leaks) > SAID else []
        done = "Show groups and counts there instead, or give a column that is public another role in the description."
        text = f"it holds what is of single people, in {len(leaks):,} places, and is not put into its place:"
        super().__init__("\n".join([text, *places, *more, f"{done} {kept}".strip()]))


def check(folder, described, *, fewest=LIMIT, kept=""):
    """Raise LeakError if a file below `folder` holds an original record of a dataset.

    Parameters
    ----------
    folder : path-like
        Of what is to be shown, or one file.
    described : sequence of path-like
        The description files of the datasets, or their names.
    fewest : int
        What so many people share is nobody's.
    kept : str
        Where the work is kept, a sentence for the error.

    Raises
    ------
    LeakError
    SchemaError, OSError
        As of `load`.
    """
    expect.path("folder", folder)
    expect.these(fewest=fewest)
    leaks, public = {}, (str(rendering.vega_script()),)
    for path in dict.fromkeys(dataset.find(name).resolve() for name in described):
        leaks |= dict.fromkeys(records_in(folder, *protected(path), fewest, public))
    if leaks:
        raise LeakError([*leaks], kept)


def protected(path):
    """What may not leave of the dataset of a description: (list of Original, one per study; Names)."""
    text = Chosen.of(path, None).text
    cells = dataset.cells(path.parent, text)
    table, originals = Chosen.of(path, None).cleaned(cells), {}
    for study in text.get("studies", [None]):
        schema = Chosen.of(path, study).schema
        names = tuple(each.name for each in schema.attributes if each.role in PUBLISHED)
        own = [name for name in schema.quasi_identifiers if name in names]
        people = None if schema.person is None else pd.factorize(table[schema.person], use_na_sentinel=False)[0]
        originals.setdefault((names, tuple(own)), Original(table[[*names]], own, people))
    naming = {name: cells[name].cat.categories.tolist() for name in _naming(text, cells)}
    return [*originals.values()], Names(naming, _ours(path, text, naming) if naming else "")


def _naming(text, cells):
    """The columns that name people: by role in any study, and unused ones in which nearly everybody stands alone."""
    naming = dataset.in_role(text, Role.IDENTIFIER, Role.PERSON)
    unused = dataset.in_role(text, Role.UNUSED)
    for name in text["columns"]:
        alone = name in unused and len(cells[name].cat.categories) > len(cells) / 2
        if name in naming or alone:
            yield name


def _ours(path, text, naming):
    """Words that name nobody, as `words_of`: of our own texts, and of the description but for what it says of `naming`
    columns.
    """
    public = {name: entry for name, entry in text["columns"].items() if name not in naming}
    said = str({**text, "columns": public}) + " ".join(map(str, text["columns"]))
    trees = (file.read_text(encoding="utf-8") for file in path.parent.glob("hierarchies/*/*.csv"))
    return f"{_words()} {words_of(said, *trees)}"


@functools.cache
def _words():
    files = [*PACKAGE.rglob("*"), *(dataset.PROJECT / "notebooks").glob("[0-9][0-9]_*.ipynb")]
    texts = (file.read_text(encoding="utf-8") for file in files if file.suffix in TEXTS)
    return words_of(*texts)
