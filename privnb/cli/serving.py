"""A notebook as a page on this machine: the explorer, and the form for the columns of a table."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple


class Page(NamedTuple):
    """What is served: a notebook, and the parameters that it is asked for."""

    notebook: Path
    parameters: Mapping[str, object]


def begin() -> None:
    """Load the libraries of the server while the arguments are checked."""
    from privnb.explorer import LIBRARIES
    from privnb.runtime.processes import begin_to_serve

    begin_to_serve(*LIBRARIES)


def settings(args: Namespace) -> dict[str, Any]:
    """Return how a hub serves the page. Raise ReportError for what is no host or path."""
    from privnb.explorer.app import checked_host, checked_prefix

    return {"base_url": checked_prefix(args.base_url), "hosts": [*map(checked_host, args.allow_host)]}


def serve(page: Page, rest: list[str], **hub: Any) -> None:
    """Show a page: on this machine only, its token on, nothing asked of the network.

    Parameters
    ----------
    page : Page
    rest : list of str
        Arguments that are passed on to Voila.
    **hub
        As `settings` returns them.
    """
    from traitlets.config import Config  # seconds, in which the server does the same

    from privnb.explorer.app import served
    from privnb.runtime import unfinished

    templates = Path(__file__).parents[1] / "reporting" / "templates" / "app"
    os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, [str(templates), os.environ.get("JUPYTER_PATH")]))
    with unfinished.folder() as folder:  # that of a page which was killed goes with the next one
        voila, config = served(page.parameters, folder, **hub)
        voila.launch_instance([str(page.notebook), *rest], config=Config(config))
