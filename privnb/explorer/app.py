"""The explorer as a page that Voila serves."""

import contextlib
import webbrowser
from pathlib import Path

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
    from nbformat.v4 import new_code_cell
    from voila.app import Voila

    def prepare(handler, *, notebook, cwd):
        """The page's title, and the parameters asked for below the cell that has their defaults."""
        _ = handler.xsrf_token  # to ask for it sets the cookie without which a closing page cannot end its kernel
        cells = notebook.cells
        notebook.metadata.title = cells[0].source.splitlines()[0].lstrip("# ")
        place = next(i for i, cell in enumerate(cells) if "parameters" in cell.metadata.get("tags", []))
        cells.insert(place + 1, new_code_cell("\n".join(f"{k} = {v!r}" for k, v in parameters.items())))

    class Page(Voila):
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
        # A page that closes ends its kernel; this ends what a lost browser leaves.
        "MappingKernelManager": {"cull_idle_timeout": 300, "cull_interval": 60},
    }
