"""Open JupyterLab on the notebooks."""

import os
import sys
from argparse import Namespace
from pathlib import Path

from privnb.cli.arguments import Parser, filled
from privnb.cli.own_notebooks import own_notebooks

# Our reporting first, which spares JupyterLab the library that takes longer to load than all others together.
LAB = "import privnb.reporting; from jupyterlab.labapp import main; main()"


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    command.add_argument("rest", nargs="*", type=filled, metavar="-- ARGUMENT", help="passed on to JupyterLab")


def run(args: Namespace) -> None:
    """Open JupyterLab: on this machine only, its token on, nothing asked of the network."""
    settings = Path(__file__).parents[1] / "reporting" / "templates" / "lab"  # no news, no question about news
    paths = [str(settings), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    os.execv(sys.executable, lab_command(own_notebooks()) + args.rest)


def lab_command(folder: Path) -> list[str]:
    """Return the command that starts JupyterLab on `folder`."""
    command = [
        sys.executable, "-c", LAB, "--ip=127.0.0.1", f"--ServerApp.root_dir={folder}",
        "--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]  # fmt: skip
    return command + ["--allow-root"] * (hasattr(os, "geteuid") and os.geteuid() == 0)
