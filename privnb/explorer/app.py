"""The explorer as a page that Voila serves: the board alone."""

import contextlib
import os
import shutil
import webbrowser
from pathlib import Path

from privnb.explorer.keep import STATE
from privnb.explorer.session import asked
from privnb.explorer.setting import checked
from privnb.microdata.dataset import load

EXTENSIONS = ["@jupyter-widgets/jupyterlab-manager", "@voila-dashboards/widgets-manager8", "anywidget"]


def check_setting(notebook):
    """Raise ValueError for parameters of the explorer that it would refuse, before a server starts."""
    given = notebook.values
    bounds = (given[name] for name in ("K", "L", "T", "DELTA", "EPSILON"))
    others = ("sanitizer", "quasi_identifiers", "sensitive", "miner", "scenario", "seed")
    setting = asked(*bounds, **{name: given[name.upper()] for name in others})
    with contextlib.chdir(notebook.path.parent):  # from where the notebook reads it
        checked(setting, load(given["DATASET"], given["STUDY"] or None, records=given["RECORDS"] or None))


def served(parameters):
    """Voila and its settings, for a notebook with these `parameters`. The kernel holds the records, so the page is
    for who started it; Voila by itself lets anybody in."""
    from jupyter_core.utils import run_sync
    from nbformat.v4 import new_code_cell
    from tornado.web import HTTPError
    from voila.app import Voila

    def prepare(handler, *, notebook, cwd):
        """The page's title and the board alone, with the parameters asked for."""
        _ = handler.xsrf_token  # to ask for it sets the cookie without which a closing page cannot end its kernel
        notebook.cells[0].source, *_ = notebook.cells[0].source.splitlines()
        notebook.metadata.title = notebook.cells[0].source.lstrip("# ")
        notebook.cells = _of_board(notebook.cells)
        place = next(i for i, cell in enumerate(notebook.cells) if "parameters" in _tags(cell))
        notebook.cells.insert(place + 1, new_code_cell("\n".join(f"{k} = {v!r}" for k, v in parameters.items())))

    class Page(Voila):
        def initialize(self, argv=None):
            super().initialize(argv)
            # Trust is about outputs that were saved; here each is made anew.
            self.log.addFilter(lambda record: record.msg != "Notebook %s is not trusted")

        def init_settings(self):
            """A page that is loaded again goes on where it was: the kernels of this server share a file of its own, in
            the folder that `start` has just made and that goes with the server."""
            os.environ[STATE] = str(Path(self.connection_dir) / "board.json")
            return super().init_settings()

        def stop(self):
            """The kernels end before their folder goes, into which they write. One may end by itself meanwhile."""
            with contextlib.suppress(HTTPError):
                run_sync(self.kernel_manager.shutdown_all)()
            shutil.rmtree(self.connection_dir, ignore_errors=True)

        def launch_browser(self):
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
            "config_file_paths": [],
            "tornado_settings": {
                "allow_remote_access": False,  # else it answers to any name that leads here
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
        "VoilaExecutor": {"cell_error_instruction": "The terminal that runs `privnb app` says why."},
        # Between this server and its kernels, where both can: else any user of this machine could listen.
        "KernelManager": {"transport_encryption": "auto"},
        "MultiKernelManager": {"kernel_manager_class": "privnb.explorer.kernels.Kernel"},
        # A page that closes ends its kernel; this ends what a lost browser leaves.
        "MappingKernelManager": {"cull_idle_timeout": 300, "cull_interval": 60},
    }


def _of_board(cells):
    """The title, the board, and the code that the board is made with: the cells up to it, without further text."""
    board = next(i for i, cell in enumerate(cells) if "interactive" in _tags(cell))
    return cells[:1] + [cell for cell in cells[1 : board + 1] if cell.cell_type == "code"]


def _tags(cell):
    return cell.metadata.get("tags", [])
