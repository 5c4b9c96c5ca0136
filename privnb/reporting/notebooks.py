"""The choice of notebooks for a report, the parameters of notebooks, and a text that lists both.

The metadata of a notebook state to which tables the notebook applies. A notebook with `"privnb": {"reruns_papers":
true}` belongs to the report on the table of the papers; it belongs to a report on another table only if the user names
the notebook. A cell with the tag `paper` runs only on the table of the papers. A notebook with `"privnb": {"after":
"08_decision"}` starts after the notebook 08_decision has ended, if both notebooks run.
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
from privnb.runtime.names import suggest
from privnb.runtime.temporary import atomic_write

COPIES = "my_notebooks"  # the folder of the user's copies, next to that of the notebooks
OWN = ("OUT", "STORE")  # the parameters that the report sets itself
FILES = ("RELEASE", "HOLDOUT")  # the parameters that are always files; other parameters may be files with a description
# Checks before anything runs: `{parameter: function of its value and name that raises ValueError}`.
CHECKS: dict[str, Callable[[Any, str], object]] = {
    "MIN_COUNT": withholding.check_min_count,
    "WEIGHTS": lambda text, _: mining.parse_interest(text) if text else None,
}


def has_tag(cell: NotebookNode, tag: str) -> bool:
    """Return whether a cell has a tag."""
    return tag in cell.metadata.get("tags", [])


class ReportError(UsageError):
    """A request for a report is not valid, or a notebook has failed."""


@dataclass(frozen=True)
class Parameter:
    """One line of a notebook's `parameters` cell: a default, and a comment with the meaning and the range."""

    default: object
    meaning: str


@dataclass(frozen=True)
class Notebook:
    """A notebook to run: the path, the parameters of the `parameters` cell, and the values that the user sets."""

    path: Path
    parameters: Mapping[str, Parameter]
    asked: Mapping[str, object]

    @property
    def name(self) -> str:
        """The name of the notebook's file, without the ending."""
        return self.path.stem

    @property
    def papers(self) -> bool:
        """Whether the notebook runs on its default table, which is the papers', and not on an owner's table."""
        return all(self.values[name] == self.parameters[name].default for name in self.values if name == "DATASET")

    @functools.cached_property
    def after(self) -> str:
        """The name of an earlier notebook, for which this notebook waits; an empty text without such a notebook.

        Both notebooks use the same evaluations. If this notebook did not wait, both notebooks would run them.
        """
        after = self.says("after", "")
        return after if after < self.name else ""  # two never wait for each other

    @property
    def question(self) -> str:
        """The title of the notebook, which is a question."""
        title, *_ = (cell.source for cell in self.read().cells if cell.cell_type == "markdown")
        return title.partition("\n")[0].lstrip("# ")

    def says(self, key: str, default: Any) -> Any:
        """Return an entry of the metadata that the notebook has for privnb, or `default` if there is no such entry."""
        return self.read().metadata.get("privnb", {}).get(key, default)

    def read(self) -> NotebookNode:
        """Return, as an nbformat notebook, the notebook with only the cells that run on the table."""
        read = nbformat.read(self.path, 4)
        read.cells = [cell for cell in read.cells if self.papers or not has_tag(cell, "paper")]
        return read

    @property
    def values(self) -> dict[str, Any]:
        """The values of the parameters in this run, `{parameter: value}`, without parameters that the report sets."""
        values = {**{name: parameter.default for name, parameter in self.parameters.items()}, **self.asked}
        return {name: value for name, value in values.items() if name not in OWN}

    @property
    def described(self) -> Path | None:
        """The absolute path of the description of the dataset; None if there is no description."""
        try:
            with contextlib.chdir(self.path.parent):
                return dataset.find_description(str(self.values["DATASET"])).resolve()
        except (KeyError, FileNotFoundError):
            return None


def notebooks_folder(start: str | Path | None = None) -> Path:
    """Return the nearest folder `notebooks/` with numbered notebooks in `start` or in a folder above it.

    By default, `start` is the current folder. If there is no such folder, the result is the folder of the project or of
    the installed package. If `start` is the folder of the user's copies, the result is `start` itself. Raises
    ReportError if no notebook is found.
    """
    start = Path(start or Path.cwd()).resolve()
    above = (p / "notebooks" for p in start.parents)
    for folder in (start / "notebooks", start, *above, dataset.PROJECT / "notebooks"):
        if folder.name in ("notebooks", COPIES) and _numbered(folder):
            return folder
    raise ReportError(
        f"no notebook was found; privnb looked for notebooks/NN_name.ipynb in {start}, above that folder and in "
        f"{dataset.PROJECT}. "
        "Run this inside a checkout of the project."
    )


def _numbered(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted(folder.glob("[0-9][0-9]_*.ipynb"))}


def _called(name: str, known: Iterable[str]) -> str:
    """Return the only notebook whose name begins with `name` or whose number is `name`; otherwise, return `name`."""
    start = name.zfill(2) if name.isdigit() else name
    begin = [each for each in known if start and each.startswith(start)]
    return begin[0] if name not in known and len(begin) == 1 else name


def choose_notebooks(
    folder: str | Path, names: Iterable[str] | None = None, parameters: Mapping[str, object] | None = None
) -> list[Notebook]:
    """Return the chosen notebooks of a folder, in the order of their names, with their parameters set.

    Parameters
    ----------
    folder : str or Path
    names : list of str
        The names of files with or without `.ipynb`, or beginnings of names that only one notebook has. By default, all
        notebooks are chosen; for an owner's table, notebooks that reproduce papers are left out.
    parameters : dict
        The values of parameters, `{name: value}`, with their types or as text. Each value is set in all notebooks that
        have the parameter.

    Raises
    ------
    ReportError
        If a notebook is unknown, if none of the chosen notebooks has a parameter, if a value does not have the type of
        the default, or if a check in `CHECKS` refuses a value.
    """
    known = _numbered(Path(folder).resolve())
    wanted = [_called(str(name).removesuffix(".ipynb"), known) for name in names] if names else list(known)
    unknown = [name for name in wanted if name not in known]
    if unknown or not wanted:
        raise ReportError(
            f"there is no notebook {', '.join(map(repr, unknown)) or 'at all'} in {folder}.{suggest(unknown, known)} "
            f"There are: {', '.join(known) or 'none'}."
        )
    parameters = dict(parameters or {})
    for name in parameters.keys() & OWN:
        raise ReportError(f"{name} is set by the report itself. Choose the folder of the report with --out.")
    chosen = [_notebook(path, parameters) for name, path in known.items() if name in wanted]
    if not names:
        owners = not all(notebook.papers for notebook in chosen)
        chosen = [notebook for notebook in chosen if not (owners and notebook.says("reruns_papers", False))]
    offered = sorted({name for notebook in chosen for name in notebook.values})
    unknown = [name for name in parameters if name not in offered]
    if unknown:
        raise ReportError(
            f"there is no parameter {', '.join(map(repr, unknown))} in {', '.join(n.name for n in chosen)}."
            f"{suggest(unknown, offered)} There are: {', '.join(offered) or 'none'}."
        )
    return chosen


def check_notebooks(chosen: Iterable[Notebook]) -> dict[str, str]:
    """Check parameters before any notebook starts, and return the notebooks that do not apply to this table.

    The function runs the cells with the tag `setup` of those notebooks for which the user sets a value. These cells
    import modules, load the table, and check the parameters by the functions that use the parameters later. Any other
    error in these cells is ignored by this function and appears when the notebook runs.

    Parameters
    ----------
    chosen : list of Notebook

    Returns
    -------
    dict of str to str
        The name of each notebook that does not apply to the table (`NotForThisTable`), and the reason with a remedy.

    Raises
    ------
    ReportError
        If a notebook refuses a parameter. The error states the notebook and the reason.
    """
    silent = {}
    with dataset.load_once():
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
    return [cell.source for cell in nbformat.read(path, 4).cells if has_tag(cell, tag)]


def _notebook(path: Path, parameters: Mapping[str, object]) -> Notebook:
    sources = _sources(path, "parameters")
    if len(sources) != 1:
        raise ReportError(f"{path.name} has {len(sources)} cells tagged 'parameters'. Tag exactly one.")
    offered = _offered(path, sources[0])
    if "OUT" not in offered:
        raise ReportError(f'{path.name} has no parameter OUT. Add `OUT = ""` to its parameters cell.')
    given = [name for name in offered if name in parameters]
    asked = {name: _typed(path, name, offered[name].default, _find_file(name, parameters[name])) for name in given}
    return Notebook(path, offered, asked)


def _offered(path: Path, source: str) -> dict[str, Parameter]:
    lines = source.splitlines()
    offered = {}
    for node in ast.parse(source).body:
        name, default = _assigned(node)
        if type(default) not in (bool, int, float, str):
            raise ReportError(
                f"{path.name}: its parameters cell has the line `{lines[node.lineno - 1]}`. "
                "Assign one whole number, number, text, True or False to one name per line."
            )
        rest = lines[(node.end_lineno or node.lineno) - 1].encode()[node.end_col_offset :].decode()
        offered[name] = Parameter(default, rest.partition("#")[2].strip())
    return offered


def _assigned(node: ast.stmt) -> tuple[str, object]:
    """Return the name and the value of a statement that assigns a value to one name; otherwise, "" and None."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(target := node.targets[0], ast.Name):
        with contextlib.suppress(ValueError):
            return target.id, ast.literal_eval(node.value)
    return "", None


def _find_file(name: str, value: object) -> object:
    """Return the absolute path of a file that a parameter names, because a notebook runs in its own folder.

    Any other value is returned unchanged.
    """
    is_file = name in FILES or (name in ("DATASET", "POLICY") and str(value).endswith(".toml"))
    return str(Path(str(value)).resolve()) if is_file and value and Path(str(value)).exists() else value


def _typed(path: Path, name: str, default: object, value: object) -> object:
    kind: Any = type(default)
    try:
        typed = {"true": True, "false": False}[str(value).lower()] if kind is bool else kind(str(value))
    except (KeyError, ValueError):
        word = {bool: "True or False", int: "a whole number", float: "a number"}[kind]
        raise ReportError(
            f"parameter {name} of {path.name} must be {word} (default {default}); got {str(value)!r}. Give {word}."
        ) from None
    try:
        if check_value := CHECKS.get(name):
            check_value(typed, name)
    except ValueError as error:
        raise ReportError(f"parameter {name} of {path.name}: {error}") from None
    return typed


def find_notebooks() -> Path:
    """Return the folder of the notebooks that pages use.

    The folder is `notebooks_folder()` or, for an installed package, the folder of the user's copies.

    Copies are used because nobody should change the files of an installed package.
    """
    folder = notebooks_folder()
    return folder if folder.parent != dataset.SHIPPED else find_copies()[0]


def find_copies() -> tuple[Path, list[str]]:
    """Return the folder of the user's copies of the notebooks, which git ignores, and sentences about the copies.

    A notebook is copied if it is new or has changed since it was last copied, unless the user has changed the cells of
    the copy. Changes of outputs do not count as changes of a notebook.

    Raises
    ------
    ReportError
        If there is a file with the name of the folder.
    """
    folder = notebooks_folder()
    if folder.name == COPIES:
        return folder, []
    place = (folder.parent if folder.parent != dataset.SHIPPED else Path.cwd()) / COPIES
    if place.exists() and not place.is_dir():
        raise ReportError(f"{place} must be a folder for copies of the notebooks; got a file. Move the file away.")
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
    """Return the SHA-256 of a file; for a notebook, return the SHA-256 of the cells without their outputs."""
    content = file.read_bytes()
    if file.suffix == ".ipynb":
        with contextlib.suppress(ValueError, AttributeError, KeyError):
            cells = json.loads(content)["cells"]
            read = [[cell["cell_type"], "".join(cell["source"]), cell["metadata"].get("tags", [])] for cell in cells]
            content = json.dumps(read).encode()
    return hashlib.sha256(content).hexdigest()


def reports_folder(notebooks: Path) -> Path:
    """Return the default folder of reports for a folder of notebooks.

    The default folder is next to `notebooks` if the current folder is the parent folder of `notebooks` or is in this
    parent folder. Otherwise, the default folder is in the current folder.
    """
    parent = notebooks.parent
    return (parent if Path.cwd().resolve().is_relative_to(parent) else Path.cwd()) / "reports"


def describe_notebooks(chosen: Sequence[Notebook]) -> str:
    """Return a text that lists notebooks with their questions, and parameters with their defaults and meanings."""
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
