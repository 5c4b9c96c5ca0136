"""Refuse an output that holds an original record: a folder or file is searched before it leaves.

`leaks` says what is searched for and what is not found; `hiding_places`, where.
"""

import functools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from privnb.datasets import dataset
from privnb.datasets.dataset import Chosen
from privnb.microdata.schema import PUBLISHED, Role
from privnb.microdata.withholding import LIMIT, MinCount
from privnb.publishing.leaks import Leak, Names, Original, records_in, words_of
from privnb.runtime import validation
from privnb.runtime.validation import validated

PACKAGE = Path(__file__).resolve().parents[1]
TEXTS = (".py", ".js", ".css", ".j2", ".ipynb", ".toml")  # of ours, whose words name nobody
SAID = 8  # places that an error names


class LeakError(ValueError):
    """An output holds an original record, a name or an identifier. The message says where, and shows none.

    Attributes
    ----------
    leaks : list of Leak
    """

    def __init__(self, leaks: list[Leak], kept: str) -> None:
        self.leaks = leaks
        places = [f"  {leak}" for leak in leaks[:SAID]]
        more = [f"  and {len(leaks) - SAID:,} more places"] if len(leaks) > SAID else []
        done = "Show groups and counts there instead, or give a column that is public another role in the description."
        text = f"it holds what is of single people, in {len(leaks):,} places, and is not put into its place:"
        super().__init__("\n".join([text, *places, *more, f"{done} {kept}".strip()]))


@validated
def check(
    folder: validation.Path,
    described: Iterable[str | os.PathLike[str]],
    *,
    fewest: MinCount = LIMIT,
    kept: str = "",
    public: Sequence[str] = (),
) -> None:
    """Raise LeakError if a file below `folder` holds an original record of a dataset.

    Parameters
    ----------
    folder : path-like
        Of what is to be shown, or one file.
    described : sequence of path-like
        The description files of the datasets, or their names.
    fewest : int
        What this many people share reveals nobody.
    kept : str
        Where the work is kept, a sentence for the error.
    public : sequence of str
        Texts that everybody knows, see `leaks.records_in`.
    """
    leaks: dict[Leak, None] = {}
    for path in dict.fromkeys(dataset.find(name).resolve() for name in described):
        leaks |= dict.fromkeys(records_in(folder, *protected(path), fewest, public))
    if leaks:
        raise LeakError([*leaks], kept)


def protected(path: Path) -> tuple[list[Original], Names]:
    """Return what may not leave of the dataset of a description: its records, once per study, and names."""
    described = Chosen.of(path, None)
    text = described.text
    cells = dataset.cells(path.parent, text)
    table, originals = described.cleaned(cells), dict[Any, Original]()
    for study in text.get("studies", [None]):
        schema = Chosen.of(path, study).schema
        names = tuple(each.name for each in schema.attributes if each.role in PUBLISHED)
        own = [name for name in schema.quasi_identifiers if name in names]
        people = None if schema.person is None else pd.factorize(table[schema.person], use_na_sentinel=False)[0]
        originals.setdefault((names, tuple(own)), Original(table[[*names]], own, people))
    naming = {name: cells[name].cat.categories.tolist() for name in _naming(text, cells)}
    return [*originals.values()], Names(naming, _ours(path, text, naming) if naming else "")


def _naming(text: Mapping[str, Any], cells: pd.DataFrame) -> Iterator[str]:
    """Yield the columns that name people: by role in any study, and unused ones of nearly one value per person."""
    naming = dataset.in_role(text, Role.IDENTIFIER, Role.PERSON)
    unused = dataset.in_role(text, Role.UNUSED)
    for name in text["columns"]:
        alone = name in unused and len(cells[name].cat.categories) > len(cells) / 2
        if name in naming or alone:
            yield name


def _ours(path: Path, text: Mapping[str, Any], naming: Mapping[str, Any]) -> str:
    """Return the words that name nobody: of our own texts, and of the description without the columns `naming`."""
    public = {name: entry for name, entry in text["columns"].items() if name not in naming}
    said = str({**text, "columns": public}) + " ".join(map(str, text["columns"]))
    trees = (file.read_text(encoding="utf-8") for file in path.parent.glob("hierarchies/*/*.csv"))
    return f"{_words()} {words_of(said, *trees)}"


@functools.cache
def _words() -> str:
    files = [*PACKAGE.rglob("*"), *(dataset.PROJECT / "notebooks").glob("[0-9][0-9]_*.ipynb")]
    texts = (file.read_text(encoding="utf-8") for file in files if file.suffix in TEXTS)
    return words_of(*texts)
