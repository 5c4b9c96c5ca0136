"""The pages that this machine serves: the explorer, and the form for the roles of columns."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple


class Page(NamedTuple):
    """A page to serve: a notebook, its parameters, and the line for the terminal, which contains `{url}`."""

    notebook: Path
    parameters: Mapping[str, object]
    opened: str


def begin() -> None:
    """Load the libraries of the server in the background, while the arguments are checked."""
    from privnb.app import LIBRARIES
    from privnb.runtime.processes import preload_server

    preload_server(*LIBRARIES)


def list_options(args: Namespace) -> dict[str, Any]:
    """Return the options for serving a page behind a hub.

    Raises ReportError for a host or a path that is not valid.
    """
    from privnb.app.server import check_host, check_prefix

    return {"base_url": check_prefix(args.base_url), "hosts": [*map(check_host, args.allow_host)]}


def find_app() -> Path:
    """Return the notebook of the app, which begins with the columns of a table.

    Raises
    ------
    ReportError
        If there is no such notebook in the folder of notebooks.
    """
    from privnb.reporting.notebooks import ReportError, find_notebooks

    path = find_notebooks() / "your_table.ipynb"
    if not path.is_file():
        raise ReportError(f"{path.parent} lacks {path.name}. Copy the notebook there, or work in another folder.")
    return path


def describe_copy(path: Path) -> str:
    """Return a sentence, with braces for `Page.opened`, about the records next to the description `path`."""
    folder = str(path.parent).replace("{", "{{").replace("}", "}}")
    return (
        f"{folder} holds a copy of the records, the description and the hierarchies. Do not share this folder with a "
        "release, and delete it when you no longer need it."
    )


def serve(page: Page, rest: list[str], **hub: Any) -> None:
    """Serve a page only on this machine, protected by a token and without network access.

    Parameters
    ----------
    page : Page
    rest : list of str
        Further arguments for Voila.
    **hub
            The options of the hub, as `list_options` returns them.
    """
    from traitlets.config import Config  # this takes seconds, in which the server also starts

    from privnb.app.server import configure_page
    from privnb.runtime import temporary

    templates = Path(__file__).parents[1] / "reporting" / "templates" / "app"
    os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, [str(templates), os.environ.get("JUPYTER_PATH")]))
    with temporary.temporary_folder() as folder:  # the folder of a killed page is removed together with the next folder
        voila, config = configure_page(page.parameters, folder, opened=page.opened, **hub)
        voila.launch_instance([str(page.notebook), *rest], config=Config(config))
