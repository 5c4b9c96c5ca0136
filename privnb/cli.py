"""The command `privnb`: each subcommand reads its arguments and calls the package."""

import argparse
import os
import sys
import traceback
from pathlib import Path


def main(arguments=None):
    """Run one subcommand; returns the exit status: 0 done, 2 refused or failed (one message on stderr), 130 stopped."""
    args = _parser().parse_args(arguments)
    try:
        return args.run(args) or 0
    except (ValueError, OSError) as error:
        if not _is_ours(error):
            raise
        print(f"privnb: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("privnb: stopped.", file=sys.stderr)
        return 130


def report(args):
    """Run the notebooks and say where the report is."""
    from privnb.report import build
    from privnb.runs import choose, notebooks_folder

    parameters = dict(args.parameter)
    if args.dataset:
        parameters["DATASET"] = _dataset(args.dataset)
    folder = notebooks_folder()
    chosen = choose(folder, args.notebook, parameters)
    print(build(args.out or _default(folder, chosen, args.notebook), args.notebook, parameters, jobs=args.jobs))


def lab(args):
    """Open JupyterLab on the notebooks: on this machine only, its token on, nothing asked of the network."""
    from privnb.runs import notebooks_folder

    settings = Path(__file__).parent / "templates" / "lab"  # no news, no question about news
    paths = [str(settings), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    os.execv(sys.executable, lab_command(notebooks_folder()) + args.rest)


def lab_command(folder):
    """The command that starts JupyterLab on `folder`."""
    command = [
        sys.executable, "-m", "jupyterlab", "--ip=127.0.0.1", f"--ServerApp.root_dir={folder}",
        "--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]  # fmt: skip
    return command + ["--allow-root"] * (hasattr(os, "geteuid") and os.geteuid() == 0)


def _parser():
    parser = argparse.ArgumentParser(prog="privnb", description="Privacy and utility of sanitized microdata.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    command = commands.add_parser("report", help="run the notebooks and make a report of them")
    command.add_argument(
        "--notebook", nargs="+", action="extend", metavar="NAME", help="only these, such as 04_attack"
    )
    command.add_argument(
        "-p", "--parameter", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"),
        help="set a parameter of the notebooks, such as -p K 25",
    )  # fmt: skip
    command.add_argument("--dataset", metavar="NAME", help="folder under data/, or a .toml file")
    command.add_argument("--out", metavar="DIR", help="where the report goes (reports/<dataset>)")
    command.add_argument("--jobs", type=int, metavar="N", help="notebooks run at a time (one a core)")
    command.set_defaults(run=report)

    command = commands.add_parser("lab", help="open JupyterLab on the notebooks")
    command.add_argument("rest", nargs="*", metavar="-- ARGUMENT", help="passed on to JupyterLab")
    command.set_defaults(run=lab)

    return parser


def _dataset(name):
    """A path means the same in the notebooks' folder as here."""
    return str(Path(name).resolve()) if name.endswith(".toml") else name


def _default(folder, chosen, named):
    """`reports/<dataset>`; a report of some notebooks goes beside the whole one, not in its place."""
    dataset = next((n.values["DATASET"] for n in chosen if "DATASET" in n.values), "notebooks")
    name = "-".join([Path(dataset).stem, *(n.name for n in chosen if named)])
    return folder.parent / "reports" / name


def _is_ours(error):
    """Whether the package itself raised it, in words meant for people; all else is a fault and shows its traceback."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_globals["__name__"].startswith("privnb")


if __name__ == "__main__":
    sys.exit(main())
