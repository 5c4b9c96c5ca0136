"""Which notebooks are run, by name, and with which parameters.

A notebook says itself for which tables it is. One whose metadata hold `"privnb": {"reruns_papers": true}` belongs to
the report on the papers' table, and to that on another table only when it is asked for by name; a cell tagged `paper`
runs on the papers' table alone. One with `"privnb": {"after": "08_frontier"}` begins when that has ended, if that runs.

One module, since all of it reads the same cells: what is offered, what is asked, and what the first cells refuse.
"""

import ast
import contextlib
import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from privnb.datasets import dataset
from privnb.measures.utility import mining
from privnb.microdata import withholding
from privnb.microdata.schema import NotForThisTable
from privnb.runtime.names import meant
from privnb.runtime.refusals import is_ours

OWN = ("OUT", "STORE")  # the parameters that are the report's own business
# What is refused before anything runs: `{parameter: function of its value and name that raises ValueError}`.
CHECKS: dict[str, Callable[[Any, str], object]] = {
    "FEWEST": withholding.check,
    "WEIGHTS": lambda text, _: mining.interest_of(text) if text else None,
}


class ReportError(ValueError):
    """A report was asked for that cannot be made, or a notebook failed."""


@dataclass(frozen=True)
class Parameter:
    """One line of a notebook's `parameters` cell: its default, and the comment that says meaning and range."""

    default: object
    meaning: str


@dataclass(frozen=True)
class Notebook:
    """A notebook to run: its path, what its `parameters` cell offers, the values asked for, and how many cells run."""

    path: Path
    parameters: Mapping[str, Parameter]
    asked: Mapping[str, object]
    cells: int

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
        after = self.read().metadata.get("privnb", {}).get("after", "")
        return after if after < self.name else ""  # two never wait for each other

    def read(self) -> NotebookNode:
        """The notebook with the cells that run, an nbformat notebook."""
        import nbformat

        read = nbformat.read(self.path, 4)
        read.cells = [cell for cell in read.cells if self.papers or "paper" not in cell.metadata.get("tags", [])]
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
    those that the installed package brings.

    Raises ReportError if there is none.
    """
    start = Path(start or Path.cwd()).resolve()
    above = (p / "notebooks" for p in start.parents)
    for folder in (start / "notebooks", start, *above, dataset.PROJECT / "notebooks"):
        if folder.name == "notebooks" and _numbered(folder):
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
    for name in OWN:
        if name in parameters:
            raise ReportError(f"{name} is set by the report itself. Say with --out where the report goes.")
    chosen = [_notebook(path, parameters) for name, path in known.items() if name in wanted]
    if not names:
        owners = not all(notebook.papers for notebook in chosen)
        chosen = [notebook for notebook in chosen if not (owners and _reruns_papers(notebook))]
    offered = sorted({name for notebook in chosen for name in notebook.values})
    unknown = [name for name in parameters if name not in offered]
    if unknown:
        raise ReportError(
            f"no parameter {', '.join(map(repr, unknown))} in {', '.join(n.name for n in chosen)}."
            f"{meant(unknown, offered)} "
            f"There are: {', '.join(offered) or 'none'}."
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
                    for source in _tagged(notebook.path, "setup"):
                        exec(compile(source, notebook.path.name, "exec"), names)
                except NotForThisTable as reason:
                    silent[notebook.name] = str(reason)
                except (ValueError, OSError) as error:
                    if is_ours(error):
                        raise ReportError(f"{notebook.name}: {error}") from None
                except Exception:
                    continue
    return silent


def _tagged(path: Path, tag: str) -> list[str]:
    import nbformat

    return [cell.source for cell in nbformat.read(path, 4).cells if tag in cell.metadata.get("tags", [])]


def _reruns_papers(notebook: Notebook) -> bool:
    return notebook.read().metadata.get("privnb", {}).get("reruns_papers", False)


def _notebook(path: Path, parameters: Mapping[str, object]) -> Notebook:
    import nbformat

    cells = nbformat.read(path, 4).cells
    tagged = [cell.source for cell in cells if "parameters" in cell.metadata.get("tags", [])]
    if len(tagged) != 1:
        raise ReportError(f"{path.name} has {len(tagged)} cells tagged 'parameters'. Tag exactly one.")
    offered = _offered(path, tagged[0])
    if "OUT" not in offered:
        raise ReportError(f'{path.name} has no parameter OUT. Add `OUT = ""` to its parameters cell.')
    asked = {
        name: _typed(path, name, parameter.default, parameters[name])
        for name, parameter in offered.items()
        if name in parameters
    }
    notebook = Notebook(path, offered, asked, 0)
    return replace(notebook, cells=len(notebook.read().cells) + 1)  # papermill adds the cell with the values


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
