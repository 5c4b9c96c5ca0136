"""The explorer as a page of Voila, which shows only the board."""

import contextlib
import ipaddress
import json
import logging
import os
import re
import shutil
import sys
import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from privnb.datasets.dataset import load
from privnb.explorer.pins import STATE
from privnb.explorer.session import parse_setting
from privnb.explorer.setting import check_setting
from privnb.reporting.notebooks import ReportError
from privnb.runtime import expect

EXTENSIONS = ["@jupyter-widgets/jupyterlab-manager", "@voila-dashboards/widgets-manager8", "anywidget"]


def check_explorer_parameters(notebook: Any) -> None:
    """Raise ValueError for invalid parameters of the explorer, before a server starts."""
    values = notebook.values
    bounds = (values[name] for name in ("K", "L", "T", "DELTA", "EPSILON"))
    fields = ("sanitizer", "quasi_identifiers", "sensitive", "miner", "scenario", "seed")
    setting = parse_setting(*bounds, **{name: values[name.upper()] for name in fields})
    with contextlib.chdir(notebook.path.parent):  # the folder from which the notebook reads the dataset
        check_setting(setting, load(values["DATASET"], values["STUDY"] or None, records=values["RECORDS"] or None))


def check_prefix(base_url: str) -> str:
    """Return the path under which a hub serves the page, with a slash at both ends.

    Raises ReportError for a text that is not a path.
    """
    if not re.fullmatch(r"/?(?:[\w.~%@+-]+/)*[\w.~%@+-]*", base_url, re.ASCII):
        raise ReportError(f"--base-url must be a path such as /user/me/page/; got {expect.describe_value(base_url)}.")
    return f"/{base_url.strip('/')}/".replace("//", "/")


def check_host(name: str) -> str:
    """Return the name of a host in lower case.

    Raises ReportError for a text that is not the name of a host, such as an address with https.
    """
    if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?", name):
        raise ReportError(
            f"--allow-host must be the name of a host such as hub.example.org; got {expect.describe_value(name)}."
        )
    return name.lower()


def configure_page(
    parameters: Mapping[str, object],
    folder: Path,
    *,
    opened: str = "The page is open at {url}",
    base_url: str = "/",
    hosts: Sequence[str] = (),
) -> tuple[type[Any], dict[str, Any]]:
    """Return a subclass of Voila and its settings, for a notebook with these `parameters`.

    The kernel holds the records, so only the owner may open the page. Without these settings, Voila would let anybody
    open the page.

    Parameters
    ----------
    parameters : dict
    folder : Path
        The folder for the files of the server; the caller creates and removes it.
    opened : str
        The line that is printed on stderr when the page is open; `{url}` is replaced by the address of the page. The
        server itself reports only warnings and errors.
    base_url : str
        The path under which a hub serves the page.
    hosts : list of str
        Names of hosts, in addition to localhost, that a request may address, such as the name of a hub.
    """
    from jupyter_core.utils import run_sync
    from nbformat.v4 import new_code_cell
    from tornado.ioloop import IOLoop
    from tornado.routing import Matcher, Rule
    from tornado.web import HTTPError, RequestHandler
    from voila.app import Voila
    from voila.static_file_handler import TemplateStaticFileHandler

    def prepare(handler: Any, *, notebook: Any, cwd: object) -> None:
        """Keep only the title of the page and the board, and insert the parameters."""
        _ = handler.xsrf_token  # reading it sets the cookie that a closing page needs to end its kernel
        notebook.cells[0].source, *_ = notebook.cells[0].source.splitlines()
        notebook.metadata.title = notebook.cells[0].source.lstrip("# ")
        notebook.cells = _board_cells(notebook.cells)
        place = next(i for i, cell in enumerate(notebook.cells) if "parameters" in _tags(cell))
        notebook.cells.insert(place + 1, new_code_cell("\n".join(f"{k} = {v!r}" for k, v in parameters.items())))

    class Elsewhere(Matcher):
        def match(self, request: Any) -> dict[str, Any] | None:
            """Match a request that addresses neither this machine nor one of `hosts`."""
            name = re.sub(r":\d+$", "", request.host).strip("[]").lower()
            try:
                is_own = ipaddress.ip_address(name).is_loopback
            except ValueError:
                is_own = name in {"localhost", *hosts}
            return None if is_own else {}

    class Refused(RequestHandler):
        def prepare(self) -> None:
            """Refuse the request."""
            name = json.dumps(self.request.host_name[:100])
            self.set_status(403)
            self.set_header("Content-Type", "text/plain; charset=utf-8")
            self.finish(
                f"403: this page accepts only requests to localhost; this request addresses {name}.\n"
                "If a hub serves the page under that name, start it with `privnb explore --allow-host NAME`.\n"
            )

    class Templates(TemplateStaticFileHandler):  # type: ignore[misc]
        async def get(self, path: str | os.PathLike[str], include_body: bool = True) -> None:
            """Answer with the status 404 for a path that cannot belong to a template."""
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
            # Trust concerns saved outputs; here every output is new.
            self.log.addFilter(lambda record: record.msg != "Notebook %s is not trusted")

        def init_settings(self) -> Any:
            """Set the file from which a reloaded page restores its state.

            The kernels of this server share the file. The folder of the file is removed when the server ends.
            """
            os.environ[STATE] = str(Path(self.connection_dir) / "board.json")
            return super().init_settings()

        def stop(self) -> None:
            """End the kernels, some of which may have ended already, before their folder is removed."""
            with contextlib.suppress(HTTPError):
                run_sync(self.kernel_manager.shutdown_all)()
            shutil.rmtree(self.connection_dir, ignore_errors=True)

        def listen(self) -> None:
            """Serve the page, and print its address and its token when the server answers."""
            IOLoop.current().add_callback(lambda: sys.stderr.write(f"{opened.format(url=self.display_url)}\n"))
            super().listen()

        def launch_browser(self) -> None:
            """Open the page with its token, which is passed in a file, because any user can see the arguments."""
            redirect = Path(self.connection_dir) / "open.html"
            redirect.write_text(f'<meta http-equiv="refresh" content="0; url={self.display_url}">', encoding="utf-8")
            webbrowser.open(redirect.as_uri())

    sources = "'self' data: blob: 'unsafe-inline'"  # JupyterLab and Vega need all of them
    rules = "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
    return Page, {
        "Voila": {
            "log_level": logging.WARNING,
            "ip": "127.0.0.1",
            "auto_token": True,
            "base_url": base_url,
            "connection_dir_root": str(folder),
            "config_file_paths": [],
            "tornado_settings": {
                "allow_remote_access": False,  # otherwise, the server answers to any name that leads to this machine
                "local_hostnames": ["localhost", *hosts],
                **({"allow_origin_pat": rf"https?://({'|'.join(map(re.escape, hosts))})(:\d+)?$"} if hosts else {}),
                "headers": {
                    "Content-Security-Policy": f"default-src {sources}; script-src {sources} 'unsafe-eval'; {rules}"
                },
            },
        },
        "VoilaConfiguration": {
            "template": "privnb_app",
            "allow_template_override": "NO",
            "allow_theme_override": "NO",
            "file_allowlist": [],
            # Only extensions that draw the page; others of this JupyterLab may need parts that are missing here.
            "extension_allowlist": EXTENSIONS,
            "prelaunch_hook": prepare,
        },
        "VoilaExecutor": {"cell_error_instruction": "The terminal that runs `privnb explore` shows the error."},
        # Encryption between server and kernels, if both support it; otherwise any user of this machine could listen.
        "KernelManager": {"transport_encryption": "auto"},
        "MultiKernelManager": {"kernel_manager_class": "privnb.app.kernels.Kernel"},
        # A page that closes ends its kernel; this setting ends the kernels of lost browsers.
        "MappingKernelManager": {"cull_idle_timeout": 300, "cull_interval": 60},
    }


def _board_cells(cells: list[Any]) -> list[Any]:
    """Return the title, the board, and the code cells before the board."""
    board = next(i for i, cell in enumerate(cells) if "interactive" in _tags(cell))
    return cells[:1] + [cell for cell in cells[1 : board + 1] if cell.cell_type == "code"]


def _tags(cell: Any) -> list[str]:
    return cell.metadata.get("tags", [])
