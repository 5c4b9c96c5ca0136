"""The explorer as a page that Voila serves: the board alone."""

import contextlib
import ipaddress
import json
import os
import re
import shutil
import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from privnb.datasets.dataset import load
from privnb.explorer.pins import STATE
from privnb.explorer.session import asked
from privnb.explorer.setting import checked
from privnb.reporting.notebooks import ReportError
from privnb.runtime import expect

EXTENSIONS = ["@jupyter-widgets/jupyterlab-manager", "@voila-dashboards/widgets-manager8", "anywidget"]


def check_setting(notebook: Any) -> None:
    """Raise ValueError for parameters of the explorer that it would refuse, before a server starts."""
    given = notebook.values
    bounds = (given[name] for name in ("K", "L", "T", "DELTA", "EPSILON"))
    others = ("sanitizer", "quasi_identifiers", "sensitive", "miner", "scenario", "seed")
    setting = asked(*bounds, **{name: given[name.upper()] for name in others})
    with contextlib.chdir(notebook.path.parent):  # from where the notebook reads it
        checked(setting, load(given["DATASET"], given["STUDY"] or None, records=given["RECORDS"] or None))


def checked_prefix(base_url: str) -> str:
    """Return the path below which a hub serves the page, with a slash at both ends. Raises ReportError for any other
    text.
    """
    if not re.fullmatch(r"/?(?:[\w.~%@+-]+/)*[\w.~%@+-]*", base_url, re.ASCII):
        raise ReportError(f"--base-url must be a path such as /user/me/page/; got {expect.found(base_url)}.")
    return f"/{base_url.strip('/')}/".replace("//", "/")


def checked_host(name: str) -> str:
    """Return the name of a host in lower case. Raises ReportError for any other text, such as an address with https."""
    if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?", name):
        raise ReportError(f"--allow-host must be the name of a host such as hub.example.org; got {expect.found(name)}.")
    return name.lower()


def served(
    parameters: Mapping[str, object], folder: Path, *, base_url: str = "/", hosts: Sequence[str] = ()
) -> tuple[type[Any], dict[str, Any]]:
    """Voila and its settings, for a notebook with these `parameters`. The kernel holds the records, so the page is
    for its owner alone; Voila by itself lets anybody in.

    Parameters
    ----------
    parameters : dict
    folder : Path
        In which the server keeps its files; whoever makes it removes it.
    base_url : str
        The path below which a hub serves the page.
    hosts : list of str
        Names besides localhost that a request may address, such as a hub's.
    """
    from jupyter_core.utils import run_sync
    from nbformat.v4 import new_code_cell
    from tornado.routing import Matcher, Rule
    from tornado.web import HTTPError, RequestHandler
    from voila.app import Voila
    from voila.static_file_handler import TemplateStaticFileHandler

    def prepare(handler: Any, *, notebook: Any, cwd: object) -> None:
        """The page's title and the board alone, with the parameters asked for."""
        _ = handler.xsrf_token  # to ask for it sets the cookie without which a closing page cannot end its kernel
        notebook.cells[0].source, *_ = notebook.cells[0].source.splitlines()
        notebook.metadata.title = notebook.cells[0].source.lstrip("# ")
        notebook.cells = _of_board(notebook.cells)
        place = next(i for i, cell in enumerate(notebook.cells) if "parameters" in _tags(cell))
        notebook.cells.insert(place + 1, new_code_cell("\n".join(f"{k} = {v!r}" for k, v in parameters.items())))

    class Elsewhere(Matcher):
        def match(self, request: Any) -> dict[str, Any] | None:
            """Whether a request addresses a name that is not this machine's nor one of `hosts`."""
            name = re.sub(r":\d+$", "", request.host).strip("[]").lower()
            try:
                is_own = ipaddress.ip_address(name).is_loopback
            except ValueError:
                is_own = name in {"localhost", *hosts}
            return None if is_own else {}

    class Refused(RequestHandler):
        def prepare(self) -> None:
            name = json.dumps(self.request.host_name[:100])
            self.set_status(403)
            self.set_header("Content-Type", "text/plain; charset=utf-8")
            self.finish(
                f"403: this page answers to localhost alone, and this request addresses {name}.\n"
                "If a hub serves the page by that name, start it with `privnb explore --allow-host NAME`.\n"
            )

    class Templates(TemplateStaticFileHandler):  # type: ignore[misc]
        async def get(self, path: str | os.PathLike[str], include_body: bool = True) -> None:
            """A path that cannot be one of a template is not found."""
            try:
                await super().get(path, include_body)
            except (ValueError, AssertionError):
                raise HTTPError(404) from None

    class Page(Voila):  # type: ignore[misc]
        def init_handlers(self) -> list[Any]:
            handlers = [
                (rule[0], Templates, *rule[2:]) if rule[1] is TemplateStaticFileHandler else rule
                for rule in super().init_handlers()
            ]
            return [Rule(Elsewhere(), Refused), *handlers]

        def initialize(self, argv: Any = None) -> None:
            super().initialize(argv)
            # Trust is about outputs that were saved; here each is made anew.
            self.log.addFilter(lambda record: record.msg != "Notebook %s is not trusted")

        def init_settings(self) -> Any:
            """A page that is loaded again goes on where it was: the kernels of this server share a file of its own, in
            the folder that `start` has just made and that goes with the server."""
            os.environ[STATE] = str(Path(self.connection_dir) / "board.json")
            return super().init_settings()

        def stop(self) -> None:
            """The kernels end before their folder goes, into which they write. One may end by itself meanwhile."""
            with contextlib.suppress(HTTPError):
                run_sync(self.kernel_manager.shutdown_all)()
            shutil.rmtree(self.connection_dir, ignore_errors=True)

        def launch_browser(self) -> None:
            """Voila opens its page without the token. A file holds it, since anybody sees a browser's arguments."""
            way = Path(self.connection_dir) / "open.html"
            way.write_text(f'<meta http-equiv="refresh" content="0; url={self.display_url}">', encoding="utf-8")
            webbrowser.open(way.as_uri())

    here = "'self' data: blob: 'unsafe-inline'"  # Lab and Vega need all of it
    others = "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
    return Page, {
        "Voila": {
            "ip": "127.0.0.1",
            "auto_token": True,
            "base_url": base_url,
            "connection_dir_root": str(folder),
            "config_file_paths": [],
            "tornado_settings": {
                "allow_remote_access": False,  # else it answers to any name that leads here
                "local_hostnames": ["localhost", *hosts],
                **({"allow_origin_pat": rf"https?://({'|'.join(map(re.escape, hosts))})(:\d+)?$"} if hosts else {}),
                "headers": {
                    "Content-Security-Policy": f"default-src {here}; script-src {here} 'unsafe-eval'; {others}"
                },
            },
        },
        "VoilaConfiguration": {
            "template": "privnb_app",
            "allow_template_override": "NO",
            "allow_theme_override": "NO",
            "file_allowlist": [],
            # Only what draws the page: any other extension of this JupyterLab may ask for parts that are not here.
            "extension_allowlist": EXTENSIONS,
            "prelaunch_hook": prepare,
        },
        "VoilaExecutor": {"cell_error_instruction": "The terminal that runs `privnb explore` says why."},
        # Between this server and its kernels, where both can: else any user of this machine could listen.
        "KernelManager": {"transport_encryption": "auto"},
        "MultiKernelManager": {"kernel_manager_class": "privnb.explorer.kernels.Kernel"},
        # A page that closes ends its kernel; this ends what a lost browser leaves.
        "MappingKernelManager": {"cull_idle_timeout": 300, "cull_interval": 60},
    }


def _of_board(cells: list[Any]) -> list[Any]:
    """The title, the board, and the code that the board is made with: the cells up to it, without further text."""
    board = next(i for i, cell in enumerate(cells) if "interactive" in _tags(cell))
    return cells[:1] + [cell for cell in cells[1 : board + 1] if cell.cell_type == "code"]


def _tags(cell: Any) -> list[str]:
    return cell.metadata.get("tags", [])
