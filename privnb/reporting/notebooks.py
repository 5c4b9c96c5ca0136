"""Which notebooks are run, by name, and with which parameters; and, as text, what can be asked for.

A notebook says itself for which tables it is. One whose metadata hold `"privnb": {"reruns_papers": true}` belongs to
the report on the papers' table, and to that on another table only when it is asked for by name; a cell tagged `paper`
runs on the papers' table alone. One with `"privnb": {"after": "08_frontier"}` begins when that has ended, if that runs.
"""

import ast
import contextlib
import functools
import hashlib
import json
import shutil
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from privnb.datasets import dataset
from privnb.measures.utility import mining
from privnb.microdata import withholding
from privnb.microdata.schema import NotForThisTable
from privnb.runtime.errors import PrivnbError, UsageError
from privnb.runtime.names import meant
from privnb.runtime.unfinished import atomic_write

COPIES = "my_notebooks"  # the folder of the user's copies, beside that of the notebooks
OWN = ("OUT", "STORE")  # the parameters that are the report's own business
# What is refused before anything runs: `{parameter: function of its value and name that raises ValueError}`.
CHECKS: dict[str, Callable[[Any, str], object]] = {
    "FEWEST": withholding.check,
    "WEIGHTS": lambda text, _: mining.interest_of(text) if text else None,
}


def tagged(cell: NotebookNode, tag: str) -> bool:
    return tag in cell.metadata.get("tags", [])


class ReportError(UsageError):
    """A report was asked for that cannot be made, or a notebook failed."""


@dataclass(frozen=True)
class Parameter:
    """One line of a notebook's `parameters` cell: its default, and the comment that says meaning and range."""

    default: object
    meaning: str


@dataclass(frozen=True)
class Notebook:
    """A notebook to run: its path, what its `parameters` cell offers, and the values asked for."""

    path: Path
    parameters: Mapping[str, Parameter]
    asked: Mapping[str, object]

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def papers(self) -> bool:
        """Whether it runs on the table that it names itself, which is that of the papers; else it is an owner's."""
        return all(self.values[name] == self.parameters[name].default for name in self.values if name == "DATASET")

    @functools.cached_property
    def after(self) -> str:
        """The name of an earlier notebook whose evaluations it needs too, so that side by side both would make them; ""
        without one.
        """
        after = self.says("after", "")
        return after if after < self.name else ""  # two never wait for each other

    @property
    def question(self) -> str:
        """Its title."""
        title, *_ = (cell.source for cell in self.read().cells if cell.cell_type == "markdown")
        return title.partition("\n")[0].lstrip("# ")

    def says(self, key: str, default: Any) -> Any:
        """What its metadata say of how it is run."""
        return self.read().metadata.get("privnb", {}).get(key, default)

    def read(self) -> NotebookNode:
        """The notebook with the cells that run, an nbformat notebook."""
        read = nbformat.read(self.path, 4)
        read.cells = [cell for cell in read.cells if self.papers or not tagged(cell, "paper")]
        return read

    @property
    def values(self) -> dict[str, Any]:
        """`{parameter: value}` of this run, less those that the report sets itself."""
        values = {**{name: parameter.default for name, parameter in self.parameters.items()}, **self.asked}
        return {name: value for name, value in values.items() if name not in OWN}

    @property
    def described(self) -> Path | None:
        """Path of the description file of its dataset, as it finds it from where it runs; None where there is none."""
        try:
            with contextlib.chdir(self.path.parent):
                return dataset.find(str(self.values["DATASET"])).resolve()
        except (KeyError, FileNotFoundError):
            return None


def notebooks_folder(start: str | Path | None = None) -> Path:
    """The nearest `notebooks/` with numbered notebooks, at or above `start` (the current folder), else the project's or
    those that the installed package brings; `start` itself, if it is the folder of the user's copies.

    Raises ReportError if there is none.
    """
    start = Path(start or Path.cwd()).resolve()
    above = (p / "notebooks" for p in start.parents)
    for folder in (start / "notebooks", start, *above, dataset.PROJECT / "notebooks"):
        if folder.name in ("notebooks", COPIES) and _numbered(folder):
            return folder
    raise ReportError(
        f"no notebooks found: looked for notebooks/NN_name.ipynb in {start}, above it and in {dataset.PROJECT}. "
        "Run this inside a checkout of the project."
    )


def _numbered(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted(folder.glob("[0-9][0-9]_*.ipynb"))}


def _called(name: str, known: Iterable[str]) -> str:
    """The one notebook whose name begins so, or has this number; else `name` as it is."""
    start = name.zfill(2) if name.isdigit() else name
    begin = [each for each in known if start and each.startswith(start)]
    return begin[0] if name not in known and len(begin) == 1 else name


def choose(
    folder: str | Path, names: Iterable[str] | None = None, parameters: Mapping[str, object] | None = None
) -> list[Notebook]:
    """The notebooks of a folder that are asked for, in order, with their parameters.

    Parameters
    ----------
    folder : str or Path
    names : list of str
        File names with or without `.ipynb`, or as much of their beginnings as one alone has; None: all, but of another
        table than the papers' those that re-run papers.
    parameters : dict
        `{name: value}`, typed or as text; each goes to all the notebooks that have it.

    Raises
    ------
    ReportError
        For an unknown notebook, a parameter that none of the chosen has, a value that is not of its default's type, and
        a value that `CHECKS` refuse.
    """
    known = _numbered(Path(folder).resolve())
    wanted = [_called(str(name).removesuffix(".ipynb"), known) for name in names] if names else list(known)
    unknown = [name for name in wanted if name not in known]
    if unknown or not wanted:
        raise ReportError(
            f"there is no notebook {', '.join(map(repr, unknown)) or 'at all'} in {folder}.{meant(unknown, known)} "
            f"There are: {', '.join(known) or 'none'}."
        )
    parameters = dict(parameters or {})
    for name in parameters.keys() & OWN:
        raise ReportError(f"{name} is set by the report itself. Say with --out where the report goes.")
    chosen = [_notebook(path, parameters) for name, path in known.items() if name in wanted]
    if not names:
        owners = not all(notebook.papers for notebook in chosen)
        chosen = [notebook for notebook in chosen if not (owners and notebook.says("reruns_papers", False))]
    offered = sorted({name for notebook in chosen for name in notebook.values})
    unknown = [name for name in parameters if name not in offered]
    if unknown:
        raise ReportError(
            f"no parameter {', '.join(map(repr, unknown))} in {', '.join(n.name for n in chosen)}."
            f"{meant(unknown, offered)} There are: {', '.join(offered) or 'none'}."
        )
    return chosen


def check(chosen: Iterable[Notebook]) -> dict[str, str]:
    """Refuse, before anything starts, what the notebooks themselves refuse at their beginning, and find those that have
    nothing to say about this table.

    Runs here the cells tagged `setup` of the notebooks that are asked for a value: they import, load the table, and
    check the parameters by the functions that read them later. What else may go wrong there, the notebook's own run
    shows where it stands.

    Parameters
    ----------
    chosen : list of Notebook

    Returns
    -------
    dict of str to str
        Of each notebook that has nothing to say (`NotForThisTable`), by its name: why, and what to change.

    Raises
    ------
    ReportError
        With the notebook and its reason.
    """
    silent = {}
    with dataset.loaded_once():
        for notebook in chosen:
            if not notebook.asked:
                continue
            names = {**{name: each.default for name, each in notebook.parameters.items()}, **notebook.asked}
            names |= dict.fromkeys(set(OWN) & set(names), "")
            with contextlib.chdir(notebook.path.parent):  # from where it reads its table
                try:
                    for source in _sources(notebook.path, "setup"):
                        exec(compile(source, notebook.path.name, "exec"), names)
                except NotForThisTable as reason:
                    silent[notebook.name] = str(reason)
                except PrivnbError as error:
                    raise ReportError(f"{notebook.name}: {error}") from None
                except Exception:
                    continue
    return silent


def _sources(path: Path, tag: str) -> list[str]:
    return [cell.source for cell in nbformat.read(path, 4).cells if tagged(cell, tag)]


def _notebook(path: Path, parameters: Mapping[str, object]) -> Notebook:
    sources = _sources(path, "parameters")
    if len(sources) != 1:
        raise ReportError(f"{path.name} has {len(sources)} cells tagged 'parameters'. Tag exactly one.")
    offered = _offered(path, sources[0])
    if "OUT" not in offered:
        raise ReportError(f'{path.name} has no parameter OUT. Add `OUT = ""` to its parameters cell.')
    given = [name for name in offered if name in parameters]
    asked = {name: _typed(path, name, offered[name].default, parameters[name]) for name in given}
    return Notebook(path, offered, asked)


def _offered(path: Path, source: str) -> dict[str, Parameter]:
    lines = source.splitlines()
    offered = {}
    for node in ast.parse(source).body:
        name, default = _assigned(node)
        if type(default) not in (bool, int, float, str):
            raise ReportError(
                f"{path.name}: its parameters cell says `{lines[node.lineno - 1]}`. "
                "Assign one whole number, number, text, True or False to one name per line."
            )
        rest = lines[(node.end_lineno or node.lineno) - 1].encode()[node.end_col_offset :].decode()
        offered[name] = Parameter(default, rest.partition("#")[2].strip())
    return offered


def _assigned(node: ast.stmt) -> tuple[str, object]:
    """The name and the value of a line that assigns a value to one name; "" and None for any other line."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(target := node.targets[0], ast.Name):
        with contextlib.suppress(ValueError):
            return target.id, ast.literal_eval(node.value)
    return "", None


def _typed(path: Path, name: str, default: object, value: object) -> object:
    kind: Any = type(default)
    try:
        typed = {"true": True, "false": False}[str(value).lower()] if kind is bool else kind(str(value))
    except (KeyError, ValueError):
        word = {bool: "True or False", int: "a whole number", float: "a number"}[kind]
        raise ReportError(
            f"parameter {name} of {path.name} is {word} (by default {default}), got {str(value)!r}. Give {word}."
        ) from None
    try:
        if check_value := CHECKS.get(name):
            check_value(typed, name)
    except ValueError as error:
        raise ReportError(f"parameter {name} of {path.name}: {error}") from None
    return typed


def own_notebooks() -> Path:
    """Return the folder of notebooks that a page is made of: `notebooks_folder()`, or copies of those that an installed
    package brings, which are nobody's to change.
    """
    folder = notebooks_folder()
    return folder if folder.parent != dataset.SHIPPED else copied_notebooks()[0]


def copied_notebooks() -> tuple[Path, list[str]]:
    """Return the folder of the user's copies of the notebooks, which git ignores, and what to know of it, sentences.

    A notebook that is new or was changed since it was copied is copied again, unless the user has changed the copy: its
    cells, not what they show.

    Raises
    ------
    ReportError
        Where a file is at the place of the folder.
    """
    folder = notebooks_folder()
    if folder.name == COPIES:
        return folder, []
    place = (folder.parent if folder.parent != dataset.SHIPPED else Path.cwd()) / COPIES
    if place.exists() and not place.is_dir():
        raise ReportError(f"{place} must be a folder for copies of the notebooks; it is a file. Move it away.")
    said = [] if place.exists() else [f"The notebooks are copied to {place}, where you can change them."]
    place.mkdir(exist_ok=True)
    (place / ".gitignore").write_text("*\n", encoding="utf-8")
    record = place / ".copied.json"
    known: dict[str, list[str]] = {}
    with contextlib.suppress(OSError, ValueError):
        known = json.loads(record.read_text(encoding="utf-8"))
    for file in sorted([*folder.glob("*.ipynb"), *folder.glob("*.py")]):
        copy, now = place / file.name, _digest(file)
        original, copied = known.get(file.name, ["", ""])
        if copy.exists() and original == now:
            continue
        if copy.exists() and _digest(copy) != copied:
            said.append(f"{copy} has your changes and is kept; {file} has changed since. Delete the copy to get that.")
            continue
        shutil.copyfile(file, copy)
        known[file.name] = [now, now]
    atomic_write(record, json.dumps(known, indent=1) + "\n")
    return place, said


def _digest(file: Path) -> str:
    """Return the SHA-256 of a file; of a notebook that of its cells, without what they show."""
    content = file.read_bytes()
    if file.suffix == ".ipynb":
        with contextlib.suppress(ValueError, AttributeError, KeyError):
            cells = json.loads(content)["cells"]
            read = [[cell["cell_type"], "".join(cell["source"]), cell["metadata"].get("tags", [])] for cell in cells]
            content = json.dumps(read).encode()
    return hashlib.sha256(content).hexdigest()


def reports_folder(notebooks: Path) -> Path:
    """Where reports of a folder of notebooks go unless somebody says otherwise: beside it, if the current folder is
    there too, else to the current folder.
    """
    beside = notebooks.parent
    return (beside if Path.cwd().resolve().is_relative_to(beside) else Path.cwd()) / "reports"


def offered(chosen: Sequence[Notebook]) -> str:
    """What notebooks can be asked for, as text: their questions, and their parameters with default and meaning."""
    width = max((len(notebook.name) for notebook in chosen), default=0)
    lines = ["notebooks:", *(f"  {each.name:<{width}}  {each.question}" for each in chosen)]
    lines += ["", "parameters, for -p NAME=VALUE, by notebook, with their defaults in brackets:"]
    meanings: dict[str, dict[Parameter, list[str]]] = {}
    for notebook in chosen:
        for name in notebook.values:
            meanings.setdefault(name, {}).setdefault(notebook.parameters[name], []).append(notebook.name[:2])
    for name, found in meanings.items():
        lines.append(f"  {name}")
        for parameter, where in found.items():
            of = "all" if len(where) == len(chosen) else ", ".join(where)
            default = "" if parameter.default == "" else f" [{parameter.default}]"
            text = f"{of}: {parameter.meaning}{default}"
            lines += textwrap.wrap(text, 100, initial_indent="    ", subsequent_indent="        ")
    return "\n".join(lines) + "\n"
