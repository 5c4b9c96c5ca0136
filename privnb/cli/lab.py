"""Open JupyterLab on your own copies of the notebooks."""

import os
import sys
from argparse import Namespace
from pathlib import Path

from privnb.cli.answer import Answer
from privnb.cli.arguments import Parser

# Import `privnb.reporting` first, so that JupyterLab does not load its slowest library.
LAB = "import privnb.reporting; from jupyterlab.labapp import main; main()"


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    command.epilog = "Arguments after -- are passed on to JupyterLab."
    command.examples("lab", "lab -- --no-browser --port=8890")


def run(args: Namespace) -> Answer:
    """Open JupyterLab only on this machine, protected by a token and without network access."""
    from privnb.reporting.notebooks import find_copies
    from privnb.runtime import progress

    folder, said = find_copies()
    for sentence in said:
        progress.warn_once(f"privnb: {sentence}")
    settings = Path(__file__).parents[1] / "reporting" / "templates" / "lab"  # no news, no question about them
    paths = [str(settings), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    os.execv(sys.executable, lab_command(folder) + args.rest)


def lab_command(folder: Path) -> list[str]:
    """Return the command that starts JupyterLab in `folder`."""
    command = [
        sys.executable, "-c", LAB, "--ip=127.0.0.1", f"--ServerApp.root_dir={folder}",
        "--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]  # fmt: skip
    return command + ["--allow-root"] * (hasattr(os, "geteuid") and os.geteuid() == 0)
