"""What a report can be asked for, as text, and where people find its notebooks and put it."""

import shutil
import textwrap
from collections.abc import Sequence
from pathlib import Path

from privnb.datasets import dataset
from privnb.reporting.notebooks import Notebook, Parameter, ReportError, notebooks_folder


def own_notebooks() -> tuple[Path, bool]:
    """`notebooks_folder()`, and whether it was made just now: where there are only those that an installed package
    brings, which are nobody's to change, a copy of them in the current folder. Raises ReportError where the place is
    taken.
    """
    folder = notebooks_folder()
    if folder.parent != dataset.SHIPPED:
        return folder, False
    own = Path.cwd() / "notebooks"
    if own.exists() and (own.is_file() or any(own.iterdir())):
        raise ReportError(f"{own} holds other things than these notebooks. Choose another folder to work in.")
    shutil.copytree(folder, own, copy_function=shutil.copyfile, dirs_exist_ok=True)
    return own, True


def reports_folder(notebooks: Path) -> Path:
    """Where reports of a folder of notebooks go unless somebody says otherwise: beside it, if the current folder is
    there too, else to the current folder.
    """
    beside = notebooks.parent
    return (beside if Path.cwd().resolve().is_relative_to(beside) else Path.cwd()) / "reports"


def offered(chosen: Sequence[Notebook]) -> str:
    """What notebooks can be asked for, as text: their questions, and their parameters with default and meaning."""
    width = max((len(notebook.name) for notebook in chosen), default=0)
    lines = ["notebooks:", *(f"  {each.name:<{width}}  {_question(each.path)}" for each in chosen)]
    lines += ["", "parameters, for -p NAME VALUE, by notebook, with their defaults in brackets:"]
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


def _question(path: Path) -> str:
    import nbformat

    title, *_ = (cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown")
    return title.partition("\n")[0].lstrip("# ")
